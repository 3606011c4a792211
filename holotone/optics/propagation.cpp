#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <numbers>

namespace holotone {
namespace {

propagation::EnginePointer make_engine(const PropagationOptions& options, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return propagation::engine_cpu(options);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return propagation::engine_cuda(options, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return propagation::engine_opencl(options, queue);
#else
      break;
#endif
  }
  throw_no_backend("PropagationPlan", queue.device());
}

bool other_output_pitch(const PropagationOptions& options) {
  return options.output_pitch_m != 0 && options.output_pitch_m != options.grid.pitch_m;
}

void validate(const PropagationOptions& options) {
  require_grid("PropagationPlan", options.grid);
  if (options.output_pitch_m != 0) require_positive("PropagationPlan", "output_pitch_m", options.output_pitch_m);
  if (other_output_pitch(options) && options.method == PropagationMethod::angular_spectrum) {
    throw_unsupported("PropagationPlan", "output_pitch_m",
                      fmt::format("the input's {} for angular-spectrum", format_length(options.grid.pitch_m)),
                      format_length(options.output_pitch_m));
  }
}

}  // namespace

std::string_view to_string(PropagationMethod method) { return name_of(method); }

double fresnel_distance_m(const FieldGrid& grid) {
  require_grid("fresnel_distance_m", grid);
  return static_cast<double>(std::max(grid.nx, grid.ny)) * grid.pitch_m * grid.pitch_m / grid.wavelength_m;
}

PropagationErrors propagation_errors(const PropagationOptions& options, double distance_m) {
  const auto& grid = options.grid;
  require_grid("propagation_errors", grid);
  const double distance = std::abs(distance_m);
  const double wavelength = grid.wavelength_m;
  const auto [ly, lx] = propagation::angular_spectrum_layout(options).padded;
  const auto samples = [&](std::int64_t length) {
    return std::pow(static_cast<double>(length) * grid.pitch_m, 2) / (2 * wavelength * distance);
  };
  const double corner = (std::pow(static_cast<double>(grid.nx), 2) + std::pow(static_cast<double>(grid.ny), 2)) *
                        grid.pitch_m * grid.pitch_m / 4;
  const double phase = std::numbers::pi * corner * corner / (4 * wavelength * distance * distance * distance);
  const auto steep = [&](std::int64_t count) {
    const double reach = wavelength * distance / (static_cast<double>(count) * grid.pitch_m * grid.pitch_m);
    return std::pow(std::max(0.0, 1 - reach / 2), 2);
  };
  return {.angular_spectrum = 1.25 * (1 / samples(lx) + 1 / samples(ly)),
          .fresnel = 0.8 * phase + 0.7 * (steep(grid.nx) + steep(grid.ny))};
}

namespace propagation {
namespace {

/// At least twice the size, long enough for the taps, with the centre pixel at the array's centre.
Layout padded_layout(const FieldGrid& grid) {
  constexpr std::int64_t shortest = 2 * tap_count;
  const std::int64_t ly = fft_friendly_size(std::max(2 * grid.ny, shortest));
  const std::int64_t lx = fft_friendly_size(std::max(2 * grid.nx, shortest));
  return {{ly, lx}, ly / 2 - grid.ny / 2, lx / 2 - grid.nx / 2};
}

}  // namespace

bool uses_angular_spectrum(const PropagationOptions& options) {
  return options.method != PropagationMethod::fresnel && !other_output_pitch(options);
}

bool uses_fresnel(const PropagationOptions& options) { return options.method != PropagationMethod::angular_spectrum; }

Layout angular_spectrum_layout(const PropagationOptions& options) {
  if (options.zero_pad) return padded_layout(options.grid);
  return {options.grid.shape(), 0, 0};
}

Layout fresnel_layout(const PropagationOptions& options) { return padded_layout(options.grid); }

double output_pitch_m(const PropagationOptions& options) {
  return options.output_pitch_m != 0 ? options.output_pitch_m : options.grid.pitch_m;
}

Transfer make_transfer(const PropagationOptions& options, double distance_m) {
  const auto& grid = options.grid;
  const auto [ly, lx] = angular_spectrum_layout(options).padded;
  Transfer t;
  t.distance_m = distance_m;
  t.inverse_wavelength_squared = 1 / (grid.wavelength_m * grid.wavelength_m);
  t.step_x = 1 / (static_cast<double>(lx) * grid.pitch_m);
  t.step_y = 1 / (static_cast<double>(ly) * grid.pitch_m);
  if (options.band_limit) {
    t.limit_x = std::pow(2 * t.step_x * distance_m, 2);
    t.limit_y = std::pow(2 * t.step_y * distance_m, 2);
  }
  t.gain = static_cast<float>(1 / (static_cast<double>(lx) * static_cast<double>(ly)));
  return t;
}

FresnelAxis make_fresnel_axis(const PropagationOptions& options, double distance_m, int axis) {
  const auto& grid = options.grid;
  const double pitch = grid.pitch_m;
  const double out = output_pitch_m(options);
  const double lambda_d = grid.wavelength_m * distance_m;
  FresnelAxis result;
  result.count = grid.shape()[static_cast<std::size_t>(axis)];
  result.length = fresnel_layout(options).padded[static_cast<std::size_t>(axis)];
  result.input_rate = pitch * pitch / (2 * lambda_d);
  result.output_rate = out * out / (2 * lambda_d);
  result.step = pitch * out / lambda_d;
  if (axis == 0) {
    // exp(ikd) / i, and 1/d is negative for d < 0
    const double carrier = distance_m / grid.wavelength_m;
    result.offset_turns = (carrier - std::round(carrier)) - (distance_m < 0 ? -0.25 : 0.25);
    result.gain = static_cast<float>(pitch * pitch / std::abs(lambda_d));
  }
  return result;
}

std::vector<float> tap_compensation(std::int64_t count, std::int64_t length) {
  // phihat(f) = integral of phi(t) cos(2 pi f t), with t = (w/2) sin(a): smooth, so the midpoint rule converges fast.
  constexpr int nodes = 256;
  double position[nodes];
  double weight[nodes];
  for (int i = 0; i < nodes; ++i) {
    const double a = std::numbers::pi / 2 * ((i + 0.5) / nodes);
    position[i] = 0.5 * tap_count * std::sin(a);
    weight[i] = tap_kernel(position[i]) * tap_count * std::cos(a) * std::numbers::pi / (2 * nodes);
  }
  std::vector<float> result(static_cast<std::size_t>(count));
  for (std::int64_t n = 0; n < count; ++n) {
    const double frequency = static_cast<double>(n - count / 2) / static_cast<double>(length);
    double sum = 0;
    for (int i = 0; i < nodes; ++i) sum += weight[i] * std::cos(2 * std::numbers::pi * frequency * position[i]);
    result[static_cast<std::size_t>(n)] = static_cast<float>(1 / sum);
  }
  return result;
}

}  // namespace propagation

namespace {

PropagationMethod chosen_method(const PropagationOptions& options, double distance_m) {
  if (options.method != PropagationMethod::automatic) return options.method;
  if (other_output_pitch(options)) return PropagationMethod::fresnel;
  if (std::abs(distance_m) <= fresnel_distance_m(options.grid)) return PropagationMethod::angular_spectrum;
  const auto errors = propagation_errors(options, distance_m);
  return errors.angular_spectrum <= errors.fresnel ? PropagationMethod::angular_spectrum : PropagationMethod::fresnel;
}

}  // namespace

struct PropagationPlan::State {
  PropagationOptions options;
  Queue queue;
  propagation::EnginePointer engine;

  View<const Complex, 2> input{};  ///< of set_input, or none
  int executed = 0;                ///< angular spectra of this input since another was computed: 0, 1, or more

  void run(View<const Complex, 2> view, const propagation::Target& target, double distance_m) {
    require_view("PropagationPlan::execute", "input", view, options.grid.shape(), queue.device());
    executed = 0;
    run(view, target, distance_m, [] { return propagation::Spectrum::none; });
  }

  void run_kept(const propagation::Target& target, double distance_m) {
    if (input.data() == nullptr) throw_argument("PropagationPlan::execute", "input", "set_input before", "none");
    // A single distance needs no memory for a spectrum.
    run(input, target, distance_m, [&] {
      constexpr propagation::Spectrum uses[] = {propagation::Spectrum::none, propagation::Spectrum::keep,
                                                propagation::Spectrum::kept};
      const auto use = uses[executed];
      executed = std::min(executed + 1, 2);
      return use;
    });
  }

  template <class Use>
  void run(View<const Complex, 2> field, const propagation::Target& target, double distance_m, const Use& use) const {
    if (!std::isfinite(distance_m)) {
      throw_argument("PropagationPlan", "distance_m", "a finite number", fmt::format("{}", distance_m));
    }
    if (distance_m == 0 && !other_output_pitch(options)) return engine->copy(field, target);
    if (chosen_method(options, distance_m) == PropagationMethod::fresnel) {
      require_fresnel(distance_m);
      return engine->fresnel(field, target, distance_m);
    }
    engine->angular_spectrum(field, target, distance_m, use());
  }

  void require_fresnel(double distance_m) const {
    // Rounding in the last digit must not refuse the distance that the message recommends.
    const double shortest = fresnel_distance_m(options.grid);
    if (std::abs(distance_m) >= shortest * (1 - 1e-6)) return;
    throw_argument("PropagationPlan", "distance_m",
                   fmt::format("at least {} either way for {} (N pitch^2 / lambda)", format_length(shortest),
                               other_output_pitch(options) ? "another output pitch" : "fresnel"),
                   format_length(std::abs(distance_m)));
  }
};

PropagationPlan::PropagationPlan(const PropagationOptions& options, Queue queue) {
  validate(options);
  auto engine = make_engine(options, queue);
  state_ = std::make_unique<State>(State{options, std::move(queue), std::move(engine), {}, 0});
}

PropagationPlan::~PropagationPlan() = default;
PropagationPlan::PropagationPlan(PropagationPlan&&) noexcept = default;
PropagationPlan& PropagationPlan::operator=(PropagationPlan&&) noexcept = default;

void PropagationPlan::execute(View<const Complex, 2> input, View<Complex, 2> output, double distance_m) {
  require_view("PropagationPlan::execute", "output", output, state_->options.grid.shape(), state_->queue.device());
  state_->run(input, {output, {}}, distance_m);
}

void PropagationPlan::execute(View<Complex, 2> output, double distance_m) {
  require_view("PropagationPlan::execute", "output", output, state_->options.grid.shape(), state_->queue.device());
  state_->run_kept({output, {}}, distance_m);
}

void PropagationPlan::execute_intensity(View<const Complex, 2> input, View<float, 2> intensity, double distance_m) {
  require_view("PropagationPlan::execute_intensity", "intensity", intensity, state_->options.grid.shape(),
               state_->queue.device());
  state_->run(input, {{}, intensity}, distance_m);
}

void PropagationPlan::execute_intensity(View<float, 2> intensity, double distance_m) {
  require_view("PropagationPlan::execute_intensity", "intensity", intensity, state_->options.grid.shape(),
               state_->queue.device());
  state_->run_kept({{}, intensity}, distance_m);
}

void PropagationPlan::set_input(View<const Complex, 2> input) {
  require_view("PropagationPlan::set_input", "input", input, state_->options.grid.shape(), state_->queue.device());
  state_->input = input;
  state_->executed = 0;
}

PropagationMethod PropagationPlan::method_for(double distance_m) const {
  return chosen_method(state_->options, distance_m);
}
const PropagationOptions& PropagationPlan::options() const { return state_->options; }
std::size_t PropagationPlan::workspace_bytes() const { return state_->engine->workspace_bytes(); }

PropagationMethod propagation_method(const PropagationOptions& options, double distance_m) {
  validate(options);
  return chosen_method(options, distance_m);
}

Field propagate(const Field& input, double distance_m, PropagationOptions options) {
  options.grid = input.grid;
  if (std::isfinite(distance_m)) options.method = propagation_method(options, distance_m);
  const Queue queue(input.values.device());
  PropagationPlan plan(options, queue);
  Field result{Array<Complex, 2>(input.grid.shape(), queue), input.grid};
  result.grid.pitch_m = propagation::output_pitch_m(options);
  plan.execute(input.values.view(), result.values.view(), distance_m);
  queue.synchronize();
  return result;
}

}  // namespace holotone
