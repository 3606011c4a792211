#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/window/window_propagation.hpp>
#include <numbers>

namespace holotone {
namespace {

using window::Route;

constexpr std::string_view where = "EyePlan";
/// Largest side of a default picture at the panel's pitch.
constexpr std::int64_t max_pixels = 2048;
/// Side of the parts of the pupil propagated back at once.
constexpr std::int64_t pupil_tile = 2048;

double whole(std::int64_t count) { return static_cast<double>(count); }

/// Axis 0 runs down.
std::array<double, 2> pupil_middle_m(const EyePupil& pupil) { return {-pupil.y_m, pupil.x_m}; }
std::array<double, 2> pupil_half_m(const EyePupil& pupil) { return {pupil.height_m / 2, pupil.width_m / 2}; }

/// Coordinate of the first of `count` samples centred on the axis.
double first_sample_m(std::int64_t count, double pitch_m) { return -0.5 * whole(count - 1) * pitch_m; }

/// Smallest angle of a ray from the panel to the pupil along an axis.
double min_angle(double panel_half_m, double middle_m, double half_m, double distance_m) {
  return std::atan(std::max(0.0, std::abs(middle_m) - half_m - panel_half_m) / distance_m);
}

void require_light(const EyeOptions& options) {
  const auto& grid = options.grid;
  const double sine = grid.wavelength_m / (2 * grid.pitch_m);
  if (sine >= 1) return;
  const double limit = std::asin(sine);
  const auto middle = pupil_middle_m(options.pupil);
  const auto half = pupil_half_m(options.pupil);
  const std::int64_t counts[] = {grid.ny, grid.nx};
  for (std::size_t i = 0; i < 2; ++i) {
    const double angle = min_angle(whole(counts[i]) * grid.pitch_m / 2, middle[i], half[i], options.pupil.distance_m);
    if (angle < limit) continue;
    const auto degrees = [](double radians) { return radians * 180 / std::numbers::pi; };
    throw_argument(
        where, "pupil",
        fmt::format("within {:.2f} degrees of the panel {}, its diffraction angle at {} and a pitch of {}",
                    degrees(limit), i == 0 ? "vertically" : "horizontally", format_length(grid.wavelength_m),
                    format_length(grid.pitch_m)),
        fmt::format("{:.2f}: no light comes there, by {:.2f} degrees", degrees(angle), degrees(angle - limit)));
  }
}

void validate(const EyeOptions& options) {
  require_grid(where, options.grid);
  const auto& pupil = options.pupil;
  require_positive(where, "pupil.width_m", pupil.width_m);
  require_positive(where, "pupil.height_m", pupil.height_m);
  require_positive(where, "pupil.distance_m", pupil.distance_m);
  if (!std::isfinite(pupil.x_m) || !std::isfinite(pupil.y_m)) {
    throw_argument(where, "pupil.x_m, y_m", "finite numbers", fmt::format("{}, {}", pupil.x_m, pupil.y_m));
  }
  if (options.tile[0] < 1 || options.tile[1] < 1) {
    throw_argument(where, "tile", "extents of at least 1", to_string<2>(options.tile));
  }
  require_light(options);
}

/// Samples along a length of the window: two a cycle of the finest fringe. Throws unless the number is finite.
double count_samples(const Route& route, int axis, double length_m, std::string_view argument) {
  const window::Band band = find_band(route, axis);
  const double samples = std::ceil(length_m * std::max(band.high - band.low, 0.0)) + 1;
  if (samples <= whole(largest_picture_side)) return samples;
  throw_argument(where, argument, fmt::format("what at most {} samples a side hold", largest_picture_side),
                 fmt::format("{:.0f}: a smaller pupil, panel or picture needs fewer", samples));
}

/// Route from the panel to the pupil.
Route forward_route(const EyeOptions& options) {
  const auto& grid = options.grid;
  const std::int64_t counts[] = {grid.ny, grid.nx};
  Route route{grid.wavelength_m, options.pupil.distance_m};
  for (std::size_t i = 0; i < 2; ++i) {
    auto& axis = route.axis[i];
    axis.pitch_m = grid.pitch_m;
    axis.source = {0, 0.5 * whole(counts[i]) * grid.pitch_m};
    axis.tile = std::min(options.tile[i], counts[i]);
    axis.band_half = 1 / (2 * grid.pitch_m);
    axis.target = {pupil_middle_m(options.pupil)[i], pupil_half_m(options.pupil)[i]};
  }
  set_blur(route);
  for (int i = 0; i < 2; ++i) {
    auto& axis = route.axis[static_cast<std::size_t>(i)];
    axis.target_pitch_m = 2 * axis.target.half_m / count_samples(route, i, 2 * axis.target.half_m, "pupil");
    axis.target_first_m = axis.target.middle_m - axis.target.half_m + 0.5 * axis.target_pitch_m;
  }
  complete(route, where, "pupil");
  return route;
}

/// Mask of the pupil on the first samples of its window.
window::Mask mask_of(const Route& forward, PupilShape shape) {
  const auto count = [&](std::size_t i) {
    return std::llround(2 * forward.axis[i].target.half_m / forward.axis[i].target_pitch_m);
  };
  return {{count(0), count(1)}, shape == PupilShape::ellipse};
}

/// Route from the pupil back to the plane of focus, and the number of samples per pixel.
struct BackwardRoute {
  Route route;
  std::array<std::int64_t, 2> every;
};

BackwardRoute backward_route(std::string_view function, const Route& forward, const window::Mask& mask,
                             const FieldGrid& picture, double focus_m) {
  const double distance_m = forward.distance_m + focus_m;
  if (!(distance_m > 0) || !std::isfinite(distance_m)) {
    throw_argument(
        function, "focus_m",
        fmt::format("a focus in front of the eye, which is {} before the panel", format_length(forward.distance_m)),
        fmt::format("{}{}", std::isfinite(focus_m) ? format_length(focus_m) : fmt::format("{}", focus_m),
                    distance_m == 0 ? ": in the eye's own plane" : ""));
  }
  BackwardRoute back{{forward.wavelength_m, -distance_m}, {}};
  const std::int64_t pixels[] = {picture.ny, picture.nx};
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto& from = forward.axis[at];
    auto& axis = back.route.axis[at];
    axis.pitch_m = from.target_pitch_m;
    axis.source = from.target;
    axis.tile = std::min(mask.count[i], pupil_tile);
    const window::Band band = find_band(forward, i);
    axis.band_middle = 0.5 * (band.low + band.high);
    axis.band_half = 1 / (2 * from.target_pitch_m);
    axis.target = {0, 0.5 * whole(pixels[i]) * picture.pitch_m};
  }
  set_blur(back.route);
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    auto& axis = back.route.axis[at];
    const double samples = count_samples(back.route, i, 2 * axis.target.half_m, "focus_m, output_pitch_m");
    back.every[at] = static_cast<std::int64_t>(std::ceil(samples / whole(pixels[i])));
    axis.target_pitch_m = picture.pitch_m / whole(back.every[at]);
    axis.target_first_m = first_sample_m(pixels[i] * back.every[at], axis.target_pitch_m);
  }
  complete(back.route, function, "focus_m, output_pitch_m");
  return back;
}

/// Adds a piece of a plane's samples at its position.
void add_piece(window::Engine& engine, const Route& route, const window::Samples& piece,
               const std::array<double, 2>& first_m) {
  const auto way = way_of(route, piece.shape, first_m);
  if (way.axis[0].bins > 0 && way.axis[1].bins > 0) engine.add(piece, way);
}

/// Calls piece(row, col, shape) for the tiles of an area.
template <class Piece>
void in_tiles(const Shape<2>& area, const Shape<2>& tile, const Piece& piece) {
  for (std::int64_t row = 0; row < area[0]; row += tile[0]) {
    for (std::int64_t col = 0; col < area[1]; col += tile[1]) {
      piece(row, col, Shape<2>{std::min(tile[0], area[0] - row), std::min(tile[1], area[1] - col)});
    }
  }
}

/// The adjoint of adding a plane's samples, in tiles, transforming to the window's samples and cropping: writes the
/// plane's.
void take_back(window::AdjointEngine& engine, View<const Complex, 2> window, const window::Mask& mask,
               const Route& route, View<Complex, 2> plane, const std::array<double, 2>& first_m) {
  const auto& [down, right] = route.axis;
  engine.set_samples(window, mask);
  const std::int64_t stride = plane.shape()[1];
  in_tiles(plane.shape(), {down.tile, right.tile}, [&](std::int64_t row, std::int64_t col, const Shape<2>& shape) {
    const auto way =
        way_of(route, shape,
               {first_m[0] + whole(row) * route.axis[0].pitch_m, first_m[1] + whole(col) * route.axis[1].pitch_m});
    engine.take({plane.data() + row * stride + col, stride, shape}, way);
  });
}

}  // namespace

FieldGrid picture_grid(const EyeOptions& options) {
  const auto& grid = options.grid;
  require_grid(where, grid);
  if (options.output_pitch_m != 0) require_positive(where, "output_pitch_m", options.output_pitch_m);
  FieldGrid picture = grid;
  if (options.output_pitch_m > 0) {
    picture.pitch_m = options.output_pitch_m;
  } else {
    picture.pitch_m *= whole((std::max(grid.nx, grid.ny) + max_pixels - 1) / max_pixels);
  }
  const auto covering = [&](std::int64_t pixels) {
    return std::max(1.0, std::round(whole(pixels) * grid.pitch_m / picture.pitch_m));
  };
  const auto [ny, nx] = options.output_shape;
  const double height = ny != 0 ? whole(ny) : covering(grid.ny);
  const double width = nx != 0 ? whole(nx) : covering(grid.nx);
  if (!(height >= 1 && width >= 1 && std::max(height, width) <= whole(largest_picture_side))) {
    throw_argument(where, "output_pitch_m, output_shape", fmt::format("1 to {} pixels a side", largest_picture_side),
                   fmt::format("{:.0f} x {:.0f}", width, height));
  }
  picture.ny = static_cast<std::int64_t>(height);
  picture.nx = static_cast<std::int64_t>(width);
  return picture;
}

struct EyePlan::State {
  EyeOptions options;
  Queue queue;
  FieldGrid picture;
  Route forward;
  window::Mask mask;
  window::EnginePointer engine;
  bool closed = false;
  double sum = 0;  ///< of squared moduli in the pupil

  void close() {
    if (closed) return;
    engine->transform(mask.count[0]);
    sum = engine->crop(mask);
    closed = true;
  }

  [[nodiscard]] BackwardRoute backward(std::string_view function, double focus_m) const {
    return backward_route(function, forward, mask, picture, focus_m);
  }

  [[nodiscard]] Shape<2> samples(const BackwardRoute& back) const {
    return {picture.ny * back.every[0], picture.nx * back.every[1]};
  }

  /// Propagates the pupil's field back to the samples of the picture, to a new engine.
  void see(const BackwardRoute& back, window::Engine& result) {
    close();
    const auto& from = forward.axis;
    in_tiles({mask.count[0], mask.count[1]}, {pupil_tile, pupil_tile},
             [&](std::int64_t row, std::int64_t col, const Shape<2>& shape) {
               add_piece(result, back.route, {engine->samples() + row * from[1].period + col, from[1].period, shape},
                         {from[0].target_first_m + whole(row) * from[0].target_pitch_m,
                          from[1].target_first_m + whole(col) * from[1].target_pitch_m});
             });
    result.transform(samples(back)[0]);
  }

  void add(const window::Samples& tile, std::int64_t row, std::int64_t col) const {
    const auto& grid = options.grid;
    if (closed) throw_argument("EyePlan::add_tile", "tile", "clear after look, before another hologram", "none");
    const std::array<double, 2> first_m{first_sample_m(grid.ny, grid.pitch_m) + whole(row) * grid.pitch_m,
                                        first_sample_m(grid.nx, grid.pitch_m) + whole(col) * grid.pitch_m};
    add_piece(*engine, forward, tile, first_m);
  }
};

EyePlan::EyePlan(const EyeOptions& options, Queue queue) {
  validate(options);
  const FieldGrid picture = picture_grid(options);
  const Route forward = forward_route(options);
  auto engine = make_engine(where, forward, queue);
  state_ = std::make_unique<State>(
      State{options, std::move(queue), picture, forward, mask_of(forward, options.pupil.shape), std::move(engine)});
}

EyePlan::~EyePlan() = default;
EyePlan::EyePlan(EyePlan&&) noexcept = default;
EyePlan& EyePlan::operator=(EyePlan&&) noexcept = default;

void EyePlan::add_tile(View<const Complex, 2> tile, std::int64_t row, std::int64_t col) {
  constexpr std::string_view here = "EyePlan::add_tile";
  const auto& grid = state_->options.grid;
  require_device(here, "tile", state_->queue.device(), tile.device());
  const auto shape = tile.shape();
  const Shape<2> most{state_->forward.axis[0].tile, state_->forward.axis[1].tile};
  if (tile.empty() || shape[0] > most[0] || shape[1] > most[1]) {
    throw_argument(here, "tile", "at least one pixel and at most " + to_string<2>(most), to_string<2>(shape));
  }
  if (row < 0 || col < 0 || row > grid.ny - shape[0] || col > grid.nx - shape[1]) {
    throw_argument(here, "row, col", "a tile within the panel of " + to_string<2>(grid.shape()),
                   fmt::format("{}, {} for {}", row, col, to_string<2>(shape)));
  }
  state_->add({tile.data(), shape[1], shape}, row, col);
}

void EyePlan::add_rows(View<const Complex, 2> rows, std::int64_t first_row) {
  constexpr std::string_view here = "EyePlan::add_rows";
  const auto& grid = state_->options.grid;
  const std::int64_t count = rows.shape()[0];
  require_view(here, "rows", rows, {count, grid.nx}, state_->queue.device());
  if (first_row < 0 || first_row > grid.ny - count) {
    throw_argument(here, "first_row", fmt::format("rows within the panel's {}", grid.ny),
                   fmt::format("{} of {}", first_row, count));
  }
  const Shape<2> tile{state_->forward.axis[0].tile, state_->forward.axis[1].tile};
  in_tiles(rows.shape(), tile, [&](std::int64_t row, std::int64_t col, const Shape<2>& shape) {
    state_->add({rows.data() + row * grid.nx + col, grid.nx, shape}, first_row + row, col);
  });
}

void EyePlan::clear() {
  state_->engine->clear();
  state_->closed = false;
}

double EyePlan::power() {
  state_->close();
  return state_->sum * state_->forward.axis[0].target_pitch_m * state_->forward.axis[1].target_pitch_m;
}

void EyePlan::look(double focus_m, View<float, 2> intensity) {
  constexpr std::string_view here = "EyePlan::look";
  State& state = *state_;
  require_view(here, "intensity", intensity, state.picture.shape(), state.queue.device());
  const auto back = state.backward(here, focus_m);
  const auto engine = make_engine(here, back.route, state.queue);
  state.see(back, *engine);
  engine->intensity(intensity, back.every);
  state.queue.synchronize();
}

Shape<2> EyePlan::field_shape(double focus_m) const {
  return state_->samples(state_->backward("EyePlan::field_shape", focus_m));
}

void EyePlan::look_field(double focus_m, View<Complex, 2> field) {
  constexpr std::string_view here = "EyePlan::look_field";
  State& state = *state_;
  const auto back = state.backward(here, focus_m);
  require_view(here, "field", field, state.samples(back), state.queue.device());
  const auto engine = make_adjoint_engine(here, back.route, state.queue);
  state.see(back, *engine);
  engine->get_samples(field);
  state.queue.synchronize();
}

void EyePlan::adjoint(double focus_m, View<const Complex, 2> field, View<Complex, 2> panel) const {
  constexpr std::string_view here = "EyePlan::adjoint";
  const State& state = *state_;
  const auto back = state.backward(here, focus_m);
  const auto& grid = state.options.grid;
  require_view(here, "field", field, state.samples(back), state.queue.device());
  require_view(here, "panel", panel, grid.shape(), state.queue.device());
  const auto& mask = state.mask;
  const auto& [down, right] = state.forward.axis;
  auto engine = make_adjoint_engine(here, back.route, state.queue);
  Array<Complex, 2> pupil({mask.count[0], mask.count[1]}, state.queue);
  take_back(*engine, field, {}, back.route, pupil.view(), {down.target_first_m, right.target_first_m});
  state.queue.synchronize();  // before the engine is freed
  engine.reset();
  engine = make_adjoint_engine(here, state.forward, state.queue);
  take_back(*engine, pupil.view(), mask, state.forward, panel,
            {first_sample_m(grid.ny, grid.pitch_m), first_sample_m(grid.nx, grid.pitch_m)});
  state.queue.synchronize();
}

const FieldGrid& EyePlan::output_grid() const { return state_->picture; }

FieldGrid EyePlan::pupil_grid() const {
  return {state_->mask.count[1], state_->mask.count[0], state_->forward.axis[1].target_pitch_m,
          state_->options.grid.wavelength_m};
}

const EyeOptions& EyePlan::options() const { return state_->options; }

std::size_t EyePlan::workspace_bytes() const { return engine_bytes(state_->forward, state_->queue.device()); }

std::size_t eye_bytes(const EyeOptions& options, double focus_m, Device device) {
  validate(options);
  const FieldGrid picture = picture_grid(options);
  const Route forward = forward_route(options);
  const auto back = backward_route("EyePlan::look", forward, mask_of(forward, options.pupil.shape), picture, focus_m);
  return engine_bytes(forward, device) + engine_bytes(back.route, device);
}

}  // namespace holotone
