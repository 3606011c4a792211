#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/hologram/stereogram/stereogram_engine.hpp>
#include <numbers>

namespace holotone {
namespace {

constexpr std::string_view where = "StereogramPlan";

stereogram::EnginePointer make_engine(const stereogram::Geometry& geometry, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return stereogram::engine_cpu(geometry);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return stereogram::engine_cuda(geometry, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return stereogram::engine_opencl(geometry, queue);
#else
      break;
#endif
  }
  throw_no_backend(where, queue.device());
}

void validate(const StereogramOptions& options) {
  require_grid(where, options.grid);
  require_bounds(where, "hogel_px", static_cast<double>(options.hogel_px), bounds_of<&StereogramOptions::hogel_px>);
  // Slack for pitches and fringes entered in decimals.
  if (!(options.fringe_m == 0 || options.fringe_m >= 2 * options.grid.pitch_m * (1 - 1e-9)) ||
      !std::isfinite(options.fringe_m)) {
    throw_argument(where, "fringe_m", fmt::format("at least {}, two pixels", format_length(2 * options.grid.pitch_m)),
                   format_length(options.fringe_m));
  }
  require_bounds(where, "layers", options.layers, bounds_of<&StereogramOptions::layers>);
  if (!options.viewer) return;
  require_positive(where, "viewer.width_m", options.viewer->width_m);
  require_positive(where, "viewer.height_m", options.viewer->height_m);
  require_positive(where, "viewer.distance_m", options.viewer->distance_m);
  for (const double middle : {options.viewer->x_m, options.viewer->y_m}) {
    if (!std::isfinite(middle)) throw_argument(where, "viewer", "finite lengths", fmt::format("{}", middle));
  }
}

double fringe_of(const StereogramOptions& options) {
  return options.fringe_m > 0 ? options.fringe_m : 2 * options.grid.pitch_m;
}

double to_angle(double sine) { return std::asin(std::min(sine, 1.0)); }

/// Returns the larger angle to the axis, in x or in y, of light from (x, y) on the panel to a point of the viewer's
/// plane.
double angle_to(const Viewer& viewer, double x, double y, double to_x, double to_y) {
  const double dx = std::abs(to_x - x);
  const double dy = std::abs(to_y - y);
  return to_angle(std::max(dx, dy) / std::hypot(dx, dy, viewer.distance_m));
}

/// Returns at most `most` of 0 .. count - 1, evenly spaced, with the first and the last.
std::vector<std::int64_t> picked(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> result;
  const std::int64_t take = std::min(count, most);
  for (std::int64_t i = 0; i < take; ++i) result.push_back(take == 1 ? 0 : i * (count - 1) / (take - 1));
  return result;
}

/// Measures the part of the viewing window that lies beyond the diffraction angle.
void measure_window(const stereogram::Geometry& geometry, StereogramInfo& info) {
  const Viewer& viewer = *geometry.options.viewer;
  constexpr int samples = 17;  // per axis of the window, its rim included
  std::int64_t outside = 0;
  std::int64_t all = 0;
  for (const auto row : picked(geometry.hogels[0], 16)) {
    for (const auto column : picked(geometry.hogels[1], 16)) {
      const auto hogel = geometry.hogel(row, column);
      for (int i = 0; i < samples * samples; ++i) {
        const double to_x = viewer.x_m + viewer.width_m * (static_cast<double>(i % samples) / (samples - 1) - 0.5);
        const double to_y = viewer.y_m + viewer.height_m * (static_cast<double>(i / samples) / (samples - 1) - 0.5);
        const double beyond = angle_to(viewer, hogel.x_m, hogel.y_m, to_x, to_y) - info.diffraction_angle_rad;
        ++all;
        if (beyond <= 0) continue;
        ++outside;
        info.outside_rad = std::max(info.outside_rad, beyond);
      }
    }
  }
  info.outside_share = static_cast<double>(outside) / static_cast<double>(all);
}

/// Returns the distance of an interval from the hogels' centres, which lie within +-half.
double gap(double middle, double width, double half) { return std::max(0.0, std::abs(middle) - width / 2 - half); }

/// Throws unless some hogel sends light to the viewing window.
void require_reached(const stereogram::Geometry& geometry, double limit_rad) {
  for (std::int64_t row = 0; row < geometry.hogels[0]; ++row) {
    for (std::int64_t column = 0; column < geometry.hogels[1]; ++column) {
      const auto hogel = geometry.hogel(row, column);
      if (hogel.rows > 0 && hogel.columns > 0) return;
    }
  }
  const Viewer& viewer = *geometry.options.viewer;
  const auto first = geometry.hogel(0, 0);
  const double aside_x = gap(viewer.x_m, viewer.width_m, std::abs(first.x_m));
  const double aside_y = gap(viewer.y_m, viewer.height_m, std::abs(first.y_m));
  const double beyond = angle_to(viewer, 0, 0, aside_x, aside_y) - limit_rad;
  constexpr double degrees = 180 / std::numbers::pi;
  const double reach = viewer.distance_m * std::tan(limit_rad);
  throw_argument(where, "viewer",
                 fmt::format("a window within the diffraction angle of {:.3g} degrees", limit_rad * degrees),
                 fmt::format("one whose nearest part is {:.3g} degrees beyond it from the nearest hogel, {:.3g} mm too "
                             "far aside",
                             beyond * degrees, 1e3 * (std::max(aside_x, aside_y) - reach)));
}

}  // namespace

std::string_view to_string(StereogramMethod method) { return name_of(method); }

StereogramReport& StereogramReport::operator+=(const StereogramReport& other) {
  rays += other.rays;
  computed += other.computed;
  lit += other.lit;
  too_near += other.too_near;
  cut += other.cut;
  hogels += other.hogels;
  layers += other.layers;
  curvature_error_rad = std::max(curvature_error_rad, other.curvature_error_rad);
  astigmatism_rad = std::max(astigmatism_rad, other.astigmatism_rad);
  return *this;
}

struct StereogramPlan::State {
  stereogram::Geometry geometry;
  Queue queue;
  StereogramInfo info;
  stereogram::EnginePointer engine;
};

StereogramPlan::StereogramPlan(const StereogramOptions& options, Queue queue) {
  validate(options);
  stereogram::Geometry geometry(options);
  StereogramInfo info;
  info.hogels = geometry.hogels;
  info.padding = {geometry.hogels[0] * options.hogel_px - options.grid.ny,
                  geometry.hogels[1] * options.hogel_px - options.grid.nx};
  info.diffraction_angle_rad = to_angle(options.grid.wavelength_m / fringe_of(options));
  if (options.viewer) {
    require_reached(geometry, info.diffraction_angle_rad);
    measure_window(geometry, info);
  }
  auto engine = make_engine(geometry, queue);
  state_ = std::make_unique<State>(State{geometry, std::move(queue), info, std::move(engine)});
}

StereogramPlan::~StereogramPlan() = default;
StereogramPlan::StereogramPlan(StereogramPlan&&) noexcept = default;
StereogramPlan& StereogramPlan::operator=(StereogramPlan&&) noexcept = default;

RowRange StereogramPlan::rows_of_hogels(std::int64_t first_hogel_row, std::int64_t hogel_rows) const {
  const auto& options = state_->geometry.options;
  const std::int64_t all = state_->info.hogels[0];
  if (hogel_rows < 1 || hogel_rows > all || first_hogel_row < 0 || first_hogel_row > all - hogel_rows) {
    throw_argument("StereogramPlan::rows_of_hogels", "hogel_rows",
                   fmt::format("at least 1 of the {} rows of hogels", all),
                   fmt::format("{} from row {}", hogel_rows, first_hogel_row));
  }
  const std::int64_t first = first_hogel_row * options.hogel_px;
  return {first, std::min(options.grid.ny, first + hogel_rows * options.hogel_px) - first};
}

StereogramReport StereogramPlan::execute(const ViewSource& source, int channel, const RowRange& part,
                                         View<Complex, 2> output, Progress& progress) {
  constexpr std::string_view here = "StereogramPlan::execute";
  const auto& grid = state_->geometry.options.grid;
  require_rows(here, part, grid.ny);
  require_view(here, "output", output, {part.rows, grid.nx}, state_->queue.device());
  if (channel < 0 || channel >= source.channels()) {
    throw_argument(here, "channel", fmt::format("0 to {}", source.channels() - 1), fmt::format("{}", channel));
  }
  if (state_->geometry.options.method == StereogramMethod::layered && !source.has_distances()) {
    throw_argument(here, "source", "views with distances for layers", "one without");
  }
  return state_->engine->execute(source, channel, part, output, progress);
}

const StereogramOptions& StereogramPlan::options() const { return state_->geometry.options; }

StereogramInfo StereogramPlan::info() const {
  StereogramInfo info = state_->info;
  info.workspace_bytes = state_->engine->workspace_bytes();
  return info;
}

Array<Complex, 2> stereogram_field(const ViewSource& source, int channel, const StereogramOptions& options,
                                   Device device, Progress& progress) {
  const Queue queue(device);
  StereogramPlan plan(options, queue);
  Array<Complex, 2> field(options.grid.shape(), queue);
  plan.execute(source, channel, {0, options.grid.ny}, field.view(), progress);
  return field;
}

}  // namespace holotone
