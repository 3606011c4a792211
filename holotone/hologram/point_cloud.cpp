#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/point_cloud/checks.hpp>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <holotone/hologram/point_cloud_detail.hpp>
#include <holotone/optics/field.hpp>
#include <optional>
#include <utility>

namespace holotone {
namespace {

constexpr const char* where_execute = "PointCloudPlan::execute";
/// Direct sums of exact waves that would take longer, of clouds too deep for a grid, are none that auto takes.
constexpr double max_automatic_s = 60;
/// Where both waves will do and `fast` sums either, auto takes the exact one below this share of the other's estimated
/// time.
constexpr double exact_share = 0.5;
constexpr const char* where_adjoint = "PointCloudPlan::adjoint";

/// The options with the wave that amplitudes with falloff ask for.
PointCloudOptions with_wave(PointCloudOptions options) {
  if (options.falloff) options.wave = Wave::spherical;
  return options;
}

/// Creates the engine of a method on a device; the one dispatch.
point_cloud::EnginePointer make_engine(PointMethod method, const PointCloudOptions& options,
                                       [[maybe_unused]] std::int64_t rows_at_once, const Queue& queue) {
  const auto backend = queue.device().backend;
  if (backend == Backend::cpu) {
    switch (method) {
      case PointMethod::direct: return point_cloud::direct_cpu(options);
      case PointMethod::recurrence: return point_cloud::recurrence_cpu(options);
      case PointMethod::separable: return point_cloud::separable_cpu(options);
      case PointMethod::fast:
        return options.wave == Wave::spherical ? point_cloud::spectrum_cpu(options) : point_cloud::fast_cpu(options);
      case PointMethod::automatic: break;
    }
  }
#if HOLOTONE_CUDA
  if (backend == Backend::cuda) {
    switch (method) {
      case PointMethod::direct: return point_cloud::direct_cuda(options, queue);
      case PointMethod::recurrence: return point_cloud::recurrence_cuda(options, queue);
      case PointMethod::separable: return point_cloud::separable_cuda(options, rows_at_once, queue);
      case PointMethod::fast:
        return options.wave == Wave::spherical ? point_cloud::exact_cuda(options, rows_at_once, queue)
                                               : point_cloud::fast_cuda(options, rows_at_once, queue);
      case PointMethod::automatic: break;
    }
  }
#endif
#if HOLOTONE_OPENCL
  if (backend == Backend::opencl) {
    switch (method) {
      case PointMethod::direct: return point_cloud::direct_opencl(options, queue);
      case PointMethod::recurrence: return point_cloud::recurrence_opencl(options, queue);
      case PointMethod::separable:
      case PointMethod::fast:
      case PointMethod::automatic: break;
    }
  }
#endif
  throw_unsupported(point_cloud::where_made, "method", "direct, recurrence or auto on " + to_string(queue.device()),
                    to_string(method));
}

point_cloud::PointSummary summarise_points(const PointSources& points, const Queue& queue) {
#if HOLOTONE_CUDA
  if (queue.device().backend == Backend::cuda) return point_cloud::summarise_points_cuda(points, queue);
#endif
#if HOLOTONE_OPENCL
  if (queue.device().backend == Backend::opencl) return point_cloud::summarise_points_opencl(points, queue);
#endif
  (void)queue;
  return point_cloud::summarise_points_cpu(points);
}

bool has_adjoint(Backend backend) { return backend != Backend::opencl; }

/// One point of amplitude 0 replaces an empty cloud: engines need no special case.
PointSources or_dark_point(const PointSources& points) {
  static constexpr float position[3] = {0, 0, -1};
  static constexpr float dark = 0;
  return points.amplitude.size() > 0 ? points : PointSources{{position, {1, 3}}, {&dark, {1}}, {}};
}

void require_set(const char* where, const std::optional<std::int64_t>& count) {
  if (!count) throw_argument(where, "points", "a call of set_points before", "none");
}

bool masks_on_chip([[maybe_unused]] const PointCloudOptions& options, [[maybe_unused]] const Queue& queue) {
#if HOLOTONE_CUDA
  const bool fast = options.method == PointMethod::fast || options.method == PointMethod::automatic;
  if (fast && queue.device().backend == Backend::cuda) return point_cloud::fast_masks_on_chip(options.tolerance, queue);
#endif
  return false;
}

}  // namespace

std::string_view to_string(PointMethod method) { return name_of(method); }

std::string_view to_string(Wave wave) { return name_of(wave); }

std::string_view to_string(PointDerivative by) { return name_of(by); }

struct PointCloudPlan::State {
  State(const PointCloudOptions& given, std::int64_t rows, Queue given_queue)
      : options(given), used(given), rows_at_once(rows), queue(std::move(given_queue)) {}

  PointCloudOptions options;
  PointCloudOptions used;  ///< `options` with the wave of the points
  std::int64_t rows_at_once;
  Queue queue;
  std::optional<point_cloud::MethodChooser> choosers[2];  ///< Fresnel's and the exact wave's
  PointMethod method = PointMethod::automatic;            ///< method of `engine`
  point_cloud::EnginePointer engine;
  std::optional<std::int64_t> count;  ///< none before set_points
  /// Device copies of host points; kept so that a new cloud of the same size every frame needs no allocation.
  Array<float, 2> position_m;
  Array<float, 1> amplitude;
  Array<float, 1> phase_rad;
  Array<float, 2> set_position_m;  ///< of the points that were set, for the adjoint
  point_cloud::PointSummary summary;

  /// Chooses the method of a wave, and makes the points' pixels for it where an engine reads them.
  const point_cloud::MethodChoice& choose_method(Wave wave, point_cloud::EnginePoints& points) {
    PointCloudOptions of_wave = options;
    of_wave.wave = wave;
    const auto backend = queue.device().backend;
    if (backend == Backend::cpu) points.pixels = point_cloud::pixel_points(points.sources, of_wave);
    auto& chooser = choosers[wave == Wave::spherical ? 1 : 0];
    if (!chooser) chooser.emplace(of_wave, rows_at_once, backend, masks_on_chip(of_wave, queue));
    return chooser->choose(points);
  }

  /// Chooses wave and method.
  const point_cloud::MethodChoice& choose(point_cloud::EnginePoints& points) {
    Wave wave = point_cloud::choose_wave(options, queue.device().backend, points.summary);
    if (wave == Wave::automatic) {
      wave = Wave::fresnel;
      const auto& choice = choose_method(Wave::fresnel, points);
      if (choice.method == PointMethod::fast) {
        const auto& exact = choose_method(Wave::spherical, points);
        if (exact.method == PointMethod::fast && exact.seconds < exact_share * choice.seconds) wave = Wave::spherical;
      }
    }
    const auto* choice = &choose_method(wave, points);
    if (options.wave == Wave::automatic && wave == Wave::spherical && choice->method == PointMethod::direct &&
        choice->seconds > max_automatic_s) {
      wave = Wave::fresnel;
      choice = &choose_method(wave, points);
    }
    use(wave);
    return *choice;
  }

  void use(PointMethod wanted) {
    if (engine && method == wanted) return;
    engine.reset();  // frees its memory first
    engine = make_engine(wanted, used, rows_at_once, queue);
    method = wanted;
  }

  void use(Wave wave) {
    if (used.wave == wave) return;
    used.wave = wave;
    engine.reset();
  }

  template <std::size_t Rank>
  void keep(Array<float, Rank>& target, const View<const float, Rank>& source) const {
    if (target.data() == nullptr || target.shape() != source.shape()) {
      target = Array<float, Rank>(source.shape(), queue);
    }
    copy<float, Rank>(target.view(), source, queue);
  }

  PointSources on_device(const PointSources& points) {
    if (points.position_m.device() == queue.device()) return points;
    keep(position_m, points.position_m);
    keep(amplitude, points.amplitude);
    PointSources uploaded{position_m.view(), amplitude.view(), {}};
    if (!points.phase_rad.empty()) {
      keep(phase_rad, points.phase_rad);
      uploaded.phase_rad = phase_rad.view();
    }
    return uploaded;
  }
};

PointCloudPlan::PointCloudPlan(const PointCloudOptions& given, Queue queue, std::int64_t rows_at_once) {
  point_cloud::validate(given);
  const PointCloudOptions options = with_wave(given);
  const auto backend = queue.device().backend;
  const bool any = options.method == PointMethod::automatic;
  if (options.falloff && !any && !point_cloud::has_exact_wave(options.method, options, backend)) {
    throw_unsupported(point_cloud::where_made, "falloff", "a method with exact waves, direct or with a band limit fast",
                      std::string(to_string(options.method)));
  }
  (void)point_cloud::possible_methods(options, queue.device().backend);  // refuses what no method can do
  if (rows_at_once < 0 || rows_at_once > options.shape[0]) {
    throw_argument(point_cloud::where_made, "rows_at_once", fmt::format("1 to {}, or 0 for all rows", options.shape[0]),
                   std::to_string(rows_at_once));
  }
  if (rows_at_once == 0) rows_at_once = options.shape[0];
  state_ = std::make_unique<State>(options, rows_at_once, std::move(queue));
  // The engine of a given method is created at once, so that a method which this device lacks is reported before any
  // points are read; unless they decide on the wave.
  if (options.wave == Wave::automatic && !point_cloud::may_be_exact(options, state_->queue.device().backend)) {
    state_->use(Wave::fresnel);
  }
  if (options.method != PointMethod::automatic && state_->used.wave != Wave::automatic) state_->use(options.method);
}

PointCloudPlan::~PointCloudPlan() = default;
PointCloudPlan::PointCloudPlan(PointCloudPlan&&) noexcept = default;
PointCloudPlan& PointCloudPlan::operator=(PointCloudPlan&&) noexcept = default;

void PointCloudPlan::set_points(const PointSources& points) {
  auto& state = *state_;
  const auto count = point_cloud::checked_count(points, state.queue.device());
  point_cloud::EnginePoints sorted;
  sorted.sources = state.on_device(or_dark_point(points));
  sorted.summary = summarise_points(sorted.sources, state.queue);
  if (sorted.summary.first_bad >= 0) point_cloud::throw_bad_point(points, sorted.summary.first_bad);
  if (state.options.falloff) point_cloud::require_falling(points, sorted.summary);
  state.count.reset();  // if the engine fails, execute must not use the previous points
  if (has_adjoint(state.queue.device().backend)) state.keep(state.set_position_m, sorted.sources.position_m);
  state.summary = sorted.summary;
  const auto& choice = state.choose(sorted);
  state.use(choice.method);
  state.engine->set_points(std::move(sorted), choice);
  state.count = count;
}

void PointCloudPlan::execute(const PointCloudOutput& output, Progress& progress) const {
  execute({0, state_->options.shape[0]}, output, progress);
}

void PointCloudPlan::execute(const RowRange& part, const PointCloudOutput& output, Progress& progress) const {
  const auto& state = *state_;
  require_rows(where_execute, part, state.options.shape[0]);
  const Shape<2> shape{part.rows, state.options.shape[1]};
  require_set(where_execute, state.count);
  const auto check = [&](std::string_view name, const auto& view) {
    if (view.data() != nullptr) require_view(where_execute, name, view, shape, state.queue.device());
    return view.data() != nullptr;
  };
  const bool field = check("field", output.field);
  const bool real = check("real", output.real);
  const bool phase = check("phase", output.phase);
  if (!field && !real && !phase) {
    throw_argument(where_execute, "output", "a field, real or phase view to write", "none");
  }
  state.engine->execute(part, output, progress);
}

void PointCloudPlan::adjoint(View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values,
                             PointDerivative by, Progress& progress) const {
  const auto& state = *state_;
  const bool exact = state.used.wave == Wave::spherical;
  if (!has_adjoint(state.queue.device().backend)) throw_no_backend(where_adjoint, state.queue.device());
  if (exact && !state.used.band_limit) {
    throw_unsupported(where_adjoint, "band_limit", "true for wave spherical", "false");
  }
  if (exact && state.used.tolerance < point_cloud_fast_tolerance_floor) {
    throw_unsupported(where_adjoint, "tolerance",
                      fmt::format("at least {} for wave spherical", point_cloud_fast_tolerance_floor),
                      fmt::format("{}", state.used.tolerance));
  }
  if (!exact && by != PointDerivative::none) {
    throw_unsupported(where_adjoint, "by", "none for wave fresnel", std::string(to_string(by)));
  }
  require_set(where_adjoint, state.count);
  require_view(where_adjoint, "field", field, state.options.shape, state.queue.device());
  if (*state.count == 0 && values.empty()) return;
  require_view(where_adjoint, "values", values, {*state.count}, state.queue.device());
  const auto position_m = std::as_const(state.set_position_m).view();
#if HOLOTONE_CUDA
  if (state.queue.device().backend == Backend::cuda) {
    if (exact) {
      return point_cloud::spectrum_adjoint_cuda(state.used, by, state.summary, position_m, field, values, state.queue,
                                                progress);
    }
    return point_cloud::adjoint_cuda(state.used, position_m, field, values, state.queue, progress);
  }
#endif
  if (exact) return point_cloud::spectrum_adjoint_cpu(state.used, by, position_m, field, values, progress);
  point_cloud::adjoint_cpu(state.used, position_m, field, values, progress);
}

Wave PointCloudPlan::find_wave(const PointSources& host_points, const PointCloudOptions& options, Device device) {
  point_cloud::validate(options);
  (void)point_cloud::possible_methods(with_wave(options), device.backend);
  if (point_cloud::checked_count(host_points, Device{}) > 0) {
    require_device("PointCloudPlan::find_wave", "host_points", Device{}, host_points.position_m.device());
  }
  State state(with_wave(options), options.shape[0], Queue(device));
  point_cloud::EnginePoints points;
  points.sources = state.on_device(or_dark_point(host_points));
  points.summary = summarise_points(points.sources, state.queue);
  if (points.summary.first_bad >= 0) point_cloud::throw_bad_point(host_points, points.summary.first_bad);
  state.choose(points);
  return state.used.wave;
}

const PointCloudOptions& PointCloudPlan::options() const { return state_->options; }

PointCloudInfo PointCloudPlan::info() const {
  PointCloudInfo info;
  info.method = state_->options.method;  // no points yet
  if (state_->engine) info = state_->engine->info();
  info.wave = state_->used.wave;
  return info;
}

std::int64_t PointCloudPlan::point_count() const { return state_->count.value_or(0); }

std::size_t point_cloud_workspace_bytes(const PointCloudOptions& options, PointMethod method, std::int64_t count) {
  point_cloud::validate(options);
  if (count < 0) throw_argument("point_cloud_workspace_bytes", "count", ">= 0", std::to_string(count));
  switch (method) {
    case PointMethod::direct: return point_cloud::direct_cpu_bytes(options, count);
    case PointMethod::recurrence: return point_cloud::recurrence_cpu_bytes(options, count);
    case PointMethod::separable: return point_cloud::separable_cpu_bytes(options, count);
    case PointMethod::fast: return point_cloud::fast_cpu_bytes(options, count);
    case PointMethod::automatic: break;
  }
  PointCloudOptions any = options;
  any.method = PointMethod::automatic;
  std::size_t bytes = 0;
  for (const PointMethod possible : point_cloud::possible_methods(any, Backend::cpu)) {
    bytes = std::max(bytes, point_cloud_workspace_bytes(options, possible, count));
  }
  return bytes;
}

double sum_bytes_a_pixel(const PointCloudOptions& options, Backend backend) {
  constexpr double product_bytes = 12;  // sums and halves of the matrix product
  const auto possible = point_cloud::possible_methods(options, backend);
  return std::ranges::find(possible, PointMethod::separable) == possible.end() ? 0 : product_bytes;
}

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

}  // namespace holotone
