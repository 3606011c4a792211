#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/hologram/point_cloud/point_cloud_math.h>
#include <limits>
#include <optional>

namespace holotone {
namespace {

constexpr const char* where_made = "PointCloudPlan";
constexpr const char* where_points = "PointCloudPlan::set_points";
constexpr const char* where_execute = "PointCloudPlan::execute";
/// Pixel indices are 32-bit and exact in the engines' arithmetic.
constexpr std::int64_t largest_extent = 1 << 24;

void validate(const PointCloudOptions& options) {
  require_positive(where_made, "wavelength_m", options.wavelength_m);
  require_positive(where_made, "pitch_m", options.pitch_m);
  if (!(options.cone_wavelength_m >= 0 && options.cone_wavelength_m <= options.wavelength_m)) {
    throw_argument(where_made, "cone_wavelength_m",
                   fmt::format("0, or > 0 and at most wavelength_m, {:g}", options.wavelength_m),
                   fmt::format("{:g}", options.cone_wavelength_m));
  }
  for (const auto extent : options.shape) {
    if (extent < 1 || extent > largest_extent) {
      throw_argument(where_made, "shape", fmt::format("{{ny, nx}}, each 1 to {}", largest_extent),
                     to_string<2>(options.shape));
    }
  }
  if (!(options.tolerance >= point_cloud_tolerance_floor && options.tolerance <= 1)) {
    throw_argument(where_made, "tolerance",
                   fmt::format("{} (the floor of float32 sums) to 1", point_cloud_tolerance_floor),
                   fmt::format("{}", options.tolerance));
  }
}

[[noreturn]] void throw_unsupported(const std::string& expected, const std::string& got) {
  throw Error(ErrorCode::unsupported, fmt::format("{}: method: expected {}, got {}", where_made, expected, got));
}

void require_method(const PointCloudOptions& options) {
  if (options.method == PointMethod::fast && options.tolerance < point_cloud_fast_tolerance_floor) {
    throw_unsupported(fmt::format("another one for tolerances below {}", point_cloud_fast_tolerance_floor), "fast");
  }
  if (options.wave == Wave::spherical && options.method != PointMethod::direct &&
      options.method != PointMethod::automatic) {
    throw_unsupported("direct or automatic for the spherical wave", std::string(to_string(options.method)));
  }
}

/// The one place where a method on a device becomes an engine.
point_cloud::EnginePointer make_engine(PointMethod method, const PointCloudOptions& options, const Queue& queue) {
  const auto backend = queue.device().backend;
  if (backend == Backend::cpu) {
    switch (method) {
      case PointMethod::direct: return point_cloud::direct_cpu(options);
      case PointMethod::recurrence: return point_cloud::recurrence_cpu(options);
      case PointMethod::separable: return point_cloud::separable_cpu(options);
      case PointMethod::fast: return point_cloud::fast_cpu(options);
      case PointMethod::automatic: break;
    }
  }
#if HOLOTONE_CUDA
  if (backend == Backend::cuda) {
    switch (method) {
      case PointMethod::direct: return point_cloud::direct_cuda(options, queue);
      case PointMethod::recurrence: return point_cloud::recurrence_cuda(options, queue);
      case PointMethod::separable: return point_cloud::separable_cuda(options, queue);
      case PointMethod::fast: return point_cloud::fast_cuda(options, queue);
      case PointMethod::automatic: break;
    }
  }
#endif
  throw_unsupported("a method that device " + to_string(queue.device()) + " has", std::string(to_string(method)));
}

point_cloud::PointSummary summarise_points(const PointSources& points, const Queue& queue) {
#if HOLOTONE_CUDA
  if (queue.device().backend == Backend::cuda) return point_cloud::summarise_points_cuda(points, queue);
#endif
  (void)queue;
  return point_cloud::summarise_points_cpu(points);
}

/// Measured cost of one method: seconds = pixels (fixed + points * pair), in picoseconds.
struct MethodCost {
  PointMethod method;
  double fixed_ps;
  double pair_ps;
};

/// CPU: one thread with AVX-512 (docs/performance.md); more threads and other machines change all of them alike. The
/// product is cheapest there from the first point on.
constexpr MethodCost cpu_costs[] = {
    {PointMethod::direct, 2900, 287}, {PointMethod::recurrence, 2500, 270}, {PointMethod::separable, 1900, 60}};
/// CUDA: one H200; separable at its default precision and, below this tolerance, at its finest.
constexpr double cuda_fine_tolerance = 5e-4;
constexpr MethodCost cuda_costs[] = {
    {PointMethod::direct, 5, 0.53}, {PointMethod::recurrence, 5, 0.6}, {PointMethod::separable, 15, 0.011}};
constexpr MethodCost cuda_fine_costs[] = {
    {PointMethod::direct, 5, 0.6}, {PointMethod::recurrence, 5, 0.6}, {PointMethod::separable, 20, 0.17}};

PointMethod cheapest(const PointCloudOptions& options, std::int64_t points, Backend backend) {
  if (options.method != PointMethod::automatic) return options.method;
  if (options.wave == Wave::spherical) return PointMethod::direct;
  const auto& costs = backend == Backend::cpu                    ? cpu_costs
                      : options.tolerance >= cuda_fine_tolerance ? cuda_costs
                                                                 : cuda_fine_costs;
  const auto price = [points](const MethodCost& cost) {
    return cost.fixed_ps + static_cast<double>(points) * cost.pair_ps;
  };
  const auto best = std::min_element(std::begin(costs), std::end(costs), [&](const auto& a, const auto& b) {
                      return price(a) < price(b);
                    })->method;
  // Its engine sees the points and takes the cheaper of fast and separable sums.
  const bool fast = best == PointMethod::separable && options.tolerance >= point_cloud_fast_tolerance_floor;
  return fast ? PointMethod::fast : best;
}

/// Checks shapes and devices and returns the number of points.
std::int64_t checked_count(const PointSources& points, Device plan_device) {
  const auto count = points.position_m.shape()[0];
  if (count < 0 || (count > 0 && (points.position_m.shape()[1] != 3 || points.position_m.data() == nullptr))) {
    throw_argument(where_points, "position_m", "shape {n, 3}", to_string<2>(points.position_m.shape()));
  }
  if (points.amplitude.shape()[0] != count || (count > 0 && points.amplitude.data() == nullptr)) {
    throw_argument(where_points, "amplitude", fmt::format("shape {{{}}}, one for each position", count),
                   to_string<1>(points.amplitude.shape()));
  }
  if (points.phase_rad.data() != nullptr && points.phase_rad.shape()[0] != count) {
    throw_argument(where_points, "phase_rad", fmt::format("shape {{{}}} or an empty view", count),
                   to_string<1>(points.phase_rad.shape()));
  }
  if (!std::isfinite(points.shift_y_m)) {
    throw_argument(where_points, "shift_y_m", "a finite length in metres", fmt::format("{}", points.shift_y_m));
  }
  if (count == 0) return 0;
  const Device source = points.position_m.device();
  if (source != plan_device && source.backend != Backend::cpu) {
    throw_argument(where_points, "position_m", fmt::format("an array on device {} or cpu", to_string(plan_device)),
                   "one on device " + to_string(source));
  }
  require_device(where_points, "amplitude", source, points.amplitude.device());
  if (!points.phase_rad.empty()) require_device(where_points, "phase_rad", source, points.phase_rad.device());
  return count;
}

template <class T, std::size_t Rank>
T element(const View<const T, Rank>& view, std::int64_t index) {
  const View<const T, 1> one(view.data() + index, {1}, view.device());
  return copy_of(one, Device{})(0);
}

[[noreturn]] void throw_bad_point(const PointSources& points, std::int64_t index) {
  const auto value = [&](int axis) { return element(points.position_m, 3 * index + axis); };
  std::string got = fmt::format("x = {}, y = {}, z = {}, amplitude = {}", value(0), value(1), value(2),
                                element(points.amplitude, index));
  if (!points.phase_rad.empty()) got += fmt::format(", phase = {}", element(points.phase_rad, index));
  throw_argument(where_points, fmt::format("point {}", index), "finite values and z other than 0 (the panel's plane)",
                 got);
}

point_cloud::PanelFrame frame_of(const PointCloudOptions& options) {
  return {options.wavelength_m, options.pitch_m,    options.shape[1],
          options.shape[0],     options.band_limit, point_cloud::cone_wavelength_m(options)};
}

}  // namespace

std::string_view to_string(PointMethod method) {
  switch (method) {
    case PointMethod::automatic: return "auto";
    case PointMethod::direct: return "direct";
    case PointMethod::recurrence: return "recurrence";
    case PointMethod::separable: return "separable";
    case PointMethod::fast: return "fast";
  }
  return "?";
}

std::string_view to_string(Wave wave) { return wave == Wave::fresnel ? "fresnel" : "spherical"; }

struct PointCloudPlan::State {
  PointCloudOptions options;
  Queue queue;
  PointMethod method = PointMethod::automatic;  ///< of `engine`
  point_cloud::EnginePointer engine;
  std::optional<std::int64_t> count;  ///< none before set_points
  /// Host points on their way up; kept so that a new cloud of the same size every frame allocates nothing.
  Array<float, 2> position_m;
  Array<float, 1> amplitude;
  Array<float, 1> phase_rad;

  void choose(PointMethod wanted) {
    if (engine && method == wanted) return;
    engine.reset();  // gives its memory back first
    engine = make_engine(wanted, options, queue);
    method = wanted;
  }

  PointSources on_device(const PointSources& points) {
    if (points.position_m.device() == queue.device()) return points;
    const auto upload = [this](auto& target, const auto& source) {
      using Target = std::remove_reference_t<decltype(target)>;
      if (target.data() == nullptr || target.shape() != source.shape()) target = Target(source.shape(), queue);
      copy(target.view(), source, queue);
    };
    upload(position_m, points.position_m);
    upload(amplitude, points.amplitude);
    PointSources uploaded{position_m.view(), amplitude.view(), {}, points.shift_y_m};
    if (!points.phase_rad.empty()) {
      upload(phase_rad, points.phase_rad);
      uploaded.phase_rad = phase_rad.view();
    }
    return uploaded;
  }
};

PointCloudPlan::PointCloudPlan(const PointCloudOptions& options, Queue queue) : state_(std::make_unique<State>()) {
  validate(options);
  require_method(options);
  state_->options = options;
  state_->queue = std::move(queue);
  // A chosen method is made at once, so that what this device lacks is known before any points are read.
  if (options.method != PointMethod::automatic) state_->choose(options.method);
}

PointCloudPlan::~PointCloudPlan() = default;
PointCloudPlan::PointCloudPlan(PointCloudPlan&&) noexcept = default;
PointCloudPlan& PointCloudPlan::operator=(PointCloudPlan&&) noexcept = default;

void PointCloudPlan::set_points(const PointSources& points) {
  auto& state = *state_;
  const auto count = checked_count(points, state.queue.device());
  // A cloud of no points is one dark point: no engine needs a case of its own.
  constexpr float position[3] = {0, 0, -1};
  constexpr float dark = 0;
  const auto own = state.on_device(count > 0 ? points : PointSources{{position, {1, 3}}, {&dark, {1}}, {}});
  const auto summary = summarise_points(own, state.queue);
  if (summary.first_bad >= 0) throw_bad_point(points, summary.first_bad);
  state.count.reset();  // should the engine fail, execute must not use what was there before
  state.choose(cheapest(state.options, count, state.queue.device().backend));
  state.engine->set_points(own, summary);
  state.count = count;
}

void PointCloudPlan::execute(const PointCloudOutput& output, Progress& progress) const {
  const auto& state = *state_;
  if (!state.count) {
    throw_argument(where_execute, "points", "a call of set_points before", "none");
  }
  const auto check = [&](std::string_view name, const auto& view) {
    if (view.data() != nullptr) require_view(where_execute, name, view, state.options.shape, state.queue.device());
    return view.data() != nullptr;
  };
  const bool field = check("field", output.field);
  const bool real = check("real", output.real);
  const bool phase = check("phase", output.phase);
  if (!field && !real && !phase) {
    throw_argument(where_execute, "output", "a field, real or phase view to write", "none");
  }
  state.engine->execute(output, progress);
}

const PointCloudOptions& PointCloudPlan::options() const { return state_->options; }

PointCloudInfo PointCloudPlan::info() const {
  if (state_->engine) return state_->engine->info();
  return {};  // automatic, and no points yet
}

std::int64_t PointCloudPlan::point_count() const { return state_->count.value_or(0); }

Array<std::complex<float>, 2> point_cloud_field(const PointSources& points, const PointCloudOptions& options,
                                                Device device, Progress& progress) {
  const Queue queue(device);
  PointCloudPlan plan(options, queue);
  plan.set_points(points);
  Array<std::complex<float>, 2> field(options.shape, queue);
  plan.execute({field.view(), {}, {}}, progress);
  queue.synchronize();
  return field;
}

double fresnel_deviation_rad(const PointSources& host_points, const PointCloudOptions& options) {
  validate(options);
  const auto count = checked_count(host_points, Device{});
  if (count > 0) require_device("fresnel_deviation_rad", "host_points", Device{}, host_points.position_m.device());
  const auto frame = frame_of(options);
  double largest = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double distance_m = -static_cast<double>(host_points.position_m(j, 2));
    const auto point = point_cloud::to_pixels(frame, host_points.position_m(j, 0),
                                              static_cast<double>(host_points.position_m(j, 1)) + host_points.shift_y_m,
                                              -distance_m, 1, 0);
    if (point.column_begin == point.column_end) continue;
    // The deviation grows with the distance from the point's axis: the farthest lit corner has it all.
    const double u =
        std::max(std::abs(point.column_begin - point.column), std::abs(point.column_end - 1 - point.column));
    const double v = std::max(std::abs(point.row_begin - point.row), std::abs(point.row_end - 1 - point.row));
    const double fresnel_turns = std::abs(point.curvature) * (u * u + v * v);
    const double slope = options.pitch_m / distance_m;
    const double s = (u * u + v * v) * slope * slope;  // (rho / d)^2
    const double root = 1 + std::sqrt(1 + s);          // (r + |d|) / |d|
    largest = std::max(largest, point_cloud::two_pi * fresnel_turns * s / (root * root));
  }
  return largest;
}

double lit_energy(const PointSources& host_points, const PointCloudOptions& options) {
  validate(options);
  const auto count = checked_count(host_points, Device{});
  if (count > 0) require_device("lit_energy", "host_points", Device{}, host_points.position_m.device());
  const auto frame = frame_of(options);
  double energy = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const double amplitude = host_points.amplitude(j);
    const auto point = point_cloud::to_pixels(frame, host_points.position_m(j, 0),
                                              static_cast<double>(host_points.position_m(j, 1)) + host_points.shift_y_m,
                                              host_points.position_m(j, 2), 1, 0);
    energy += amplitude * amplitude * (point.column_end - point.column_begin) *
              static_cast<double>(point.row_end - point.row_begin);
  }
  return energy / static_cast<double>(element_count(options.shape));
}

std::int64_t unlit_points(const PointSources& host_points, const PointCloudOptions& options) {
  validate(options);
  const auto count = checked_count(host_points, Device{});
  if (count > 0) require_device("unlit_points", "host_points", Device{}, host_points.position_m.device());
  const auto frame = frame_of(options);
  std::int64_t unlit = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const auto point = point_cloud::to_pixels(frame, host_points.position_m(j, 0),
                                              static_cast<double>(host_points.position_m(j, 1)) + host_points.shift_y_m,
                                              host_points.position_m(j, 2), 1, 0);
    unlit += point.column_begin == point.column_end || point.row_begin == point.row_end ? 1 : 0;
  }
  return unlit;
}

}  // namespace holotone
