#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <holotone/display/opengl/canvas.hpp>
#include <holotone/display/opengl/surface.hpp>
#include <holotone/display/panel_window.hpp>

namespace holotone {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int to_channel(char name) {
  constexpr std::string_view channels = "rgb";
  return static_cast<int>(channels.find(name));
}

void validate(const PanelWindowOptions& options) {
  const auto& packing = options.packing;
  const bool is_pair = packing.size() == 2 && packing[0] != packing[1];
  if (!packing.empty() && (!is_pair || to_channel(packing[0]) < 0 || to_channel(packing[1]) < 0)) {
    throw_argument("PanelWindow", "packing", "two different letters of rgb", fmt::format("'{}'", packing));
  }
  if (!options.display_lut.empty() && options.display_lut.size() != 256) {
    throw_argument("PanelWindow", "display_lut", "256 values or none", fmt::format("{}", options.display_lut.size()));
  }
}

std::unique_ptr<display::Surface> make_surface(const PanelWindowOptions& options) {
  const auto [ny, nx] = options.offscreen;
  if (ny == 0 && nx == 0) {
    return display::window_surface(find_monitor(options.monitor, monitors()), options.refresh_hz);
  }
  if (ny < 1 || nx < 1 || ny > 16384 || nx > 16384) {
    throw_argument("PanelWindow", "offscreen", "extents from 1 to 16384", to_string<2>(options.offscreen));
  }
  const bool named = options.device.backend == Backend::cuda;
  return display::offscreen_surface(options.offscreen, named ? options.device.index : -1);
}

display::CanvasOptions canvas_options(const PanelWindowOptions& options, const Monitor& monitor) {
  display::CanvasOptions canvas{.shape = {monitor.ny, monitor.nx}, .lut = options.display_lut};
  if (!options.packing.empty()) {
    canvas.high_channel = to_channel(options.packing[0]);
    canvas.low_channel = to_channel(options.packing[1]);
  }
  return canvas;
}

}  // namespace

struct PanelWindow::State {
  explicit State(const PanelWindowOptions& requested)
      : options(requested),
        surface(make_surface(requested)),
        gl([this](const char* name) { return surface->find_address(name); }),
        canvas(gl, canvas_options(requested, surface->monitor())),
        safe(gl),
        shown(gl) {
    const Array<std::uint8_t, 2> codes = safe_pattern(requested.safe, shape());
    safe.write({codes.data(), codes.shape()}, {});
    present(safe);
  }
  ~State() {
    try {
      present(safe);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the window closes all the same
    }
  }

  [[nodiscard]] Shape<2> shape() const { return {surface->monitor().ny, surface->monitor().nx}; }
  [[nodiscard]] double now() const { return options.clock ? options.clock() : steady_seconds(); }

  double present(display::Texture& texture) {
    texture.expect_draw();
    canvas.draw(texture);
    surface->present(gl);
    const double time = now();
    shown.expect_write();
    drawn = &texture;
    return time;
  }

  double show(const display::Codes& codes, const Queue& queue) {
    require_shape(codes.shape);
    require_device("PanelWindow::show", "codes", queue.device(), codes.device);
    shown.write(codes, queue);
    has_codes = true;
    poll();
    return present(withheld ? safe : shown);
  }

  void require_shape(Shape<2> got) const {
    const auto [ny, nx] = shape();
    const bool fits = options.centre ? got[0] >= 1 && got[1] >= 1 && got[0] <= ny && got[1] <= nx : got == shape();
    if (fits) return;
    throw_argument("PanelWindow::show", "codes",
                   fmt::format("{}{} x {} pixels, as monitor {} has", options.centre ? "at most " : "", nx, ny,
                               surface->monitor().name),
                   fmt::format("{} x {}", got[1], got[0]));
  }

  void poll() {
    const display::SurfaceEvents events = surface->poll();
    if (events.vanished) {
      throw Error(ErrorCode::io, fmt::format("monitor {} is gone, or has another size", surface->monitor().name));
    }
    if (events.closed) throw Error(ErrorCode::cancelled, "the panel's window was closed");
    const bool withholds = options.safe_without_focus && (events.lost_focus || (withheld && !events.gained_focus));
    if (withholds != withheld) {
      withheld = withholds;
      if (has_codes) present(withheld ? safe : shown);
    } else if (events.exposed) {
      present(*drawn);
    }
  }

  PanelWindowOptions options;
  std::unique_ptr<display::Surface> surface;
  display::Gl gl;
  display::Canvas canvas;
  display::Texture safe;
  display::Texture shown;
  display::Texture* drawn = &safe;
  bool has_codes = false;
  bool withheld = false;  ///< another window has the keyboard
};

PanelWindow::PanelWindow(const PanelWindowOptions& options) {
  validate(options);
  state_ = std::make_unique<State>(options);
}

PanelWindow::~PanelWindow() = default;

double PanelWindow::show(View<const std::uint8_t, 2> codes, const Queue& queue) {
  return state_->show({codes.data(), codes.shape(), 1, 1, codes.device()}, queue);
}

double PanelWindow::show(View<const std::uint16_t, 2> codes, const Queue& queue) {
  if (state_->options.packing.empty()) {
    throw_argument("PanelWindow::show", "codes", "8-bit codes, or the option packing for 16-bit ones", "16-bit codes");
  }
  return state_->show({codes.data(), codes.shape(), 1, 2, codes.device()}, queue);
}

double PanelWindow::show(View<const std::uint8_t, 3> codes, const Queue& queue) {
  const auto [ny, nx, channels] = codes.shape();
  if (channels != 3) throw_argument("PanelWindow::show", "codes", "three channels", fmt::format("{}", channels));
  return state_->show({codes.data(), {ny, nx}, 3, 1, codes.device()}, queue);
}

double PanelWindow::show_safe() {
  state_->has_codes = false;
  return state_->present(state_->safe);
}

void PanelWindow::poll() { state_->poll(); }

Array<std::uint8_t, 3> PanelWindow::sent() const {
  state_->drawn->expect_draw();
  state_->canvas.draw(*state_->drawn);
  return state_->canvas.read();
}

const Monitor& PanelWindow::monitor() const { return state_->surface->monitor(); }
double PanelWindow::now_s() const { return state_->now(); }
bool PanelWindow::direct() const { return state_->shown.direct(); }

}  // namespace holotone
