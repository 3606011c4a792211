#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/units.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/optics/reconstruction_engine.hpp>

namespace holotone {
namespace {

reconstruction::PupilPointer make_pupil_engine(const FieldGrid& grid, const Aperture& aperture, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return reconstruction::pupil_cpu(grid, aperture);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return reconstruction::pupil_cuda(grid, aperture, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return reconstruction::pupil_opencl(grid, aperture, queue);
#else
      break;
#endif
  }
  throw_no_backend("ReconstructionPlan", queue.device());
}

}  // namespace

double viewing_zone_half_width_m(const FieldGrid& grid, double viewer_distance_m) {
  require_grid("viewing_zone_half_width_m", grid);
  return grid.wavelength_m * viewer_distance_m / (2 * grid.pitch_m);
}

namespace reconstruction {

void require_aperture(const FieldGrid& grid, const Aperture& aperture) {
  constexpr std::string_view where = "ReconstructionPlan";
  require_positive(where, "aperture.diameter_m", aperture.diameter_m);
  require_positive(where, "aperture.distance_m", aperture.distance_m);
  if (aperture.distance_m < fresnel_distance_m(grid) * (1 - 1e-6)) {
    throw_argument(where, "aperture.distance_m",
                   fmt::format("at least {} (N pitch^2 / lambda)", format_length(fresnel_distance_m(grid))),
                   format_length(aperture.distance_m));
  }
  const double zone = viewing_zone_half_width_m(grid, aperture.distance_m);
  if (!(std::abs(aperture.x_m) <= zone && std::abs(aperture.y_m) <= zone)) {
    throw_argument(where, "aperture.x_m, y_m",
                   fmt::format("within {} of the axis, the viewing zone at {}", format_length(zone),
                               format_length(aperture.distance_m)),
                   fmt::format("{}, {}", format_length(aperture.x_m), format_length(aperture.y_m)));
  }
  const auto pupil = make_pupil(grid, aperture);
  const double miss_x = std::remainder(pupil.x, pupil.step_x);
  const double miss_y = std::remainder(pupil.y, pupil.step_y);
  if (miss_x * miss_x + miss_y * miss_y > pupil.radius_squared) {
    const double enough = std::hypot(pupil.step_x, pupil.step_y);
    const double unit = std::pow(10.0, std::floor(std::log10(enough)) - 1);
    throw_argument(
        where, "aperture.diameter_m",
        fmt::format("at least {}, or no sample of the viewer's plane at {} lies within (lambda v / (N pitch) "
                    "apart)",
                    format_length(std::ceil(enough / unit) * unit), format_length(aperture.distance_m)),
        format_length(aperture.diameter_m));
  }
}

Pupil make_pupil(const FieldGrid& grid, const Aperture& aperture) {
  const double lambda_v = grid.wavelength_m * aperture.distance_m;
  Pupil pupil;
  pupil.ny = grid.ny;
  pupil.nx = grid.nx;
  pupil.ly = fft_friendly_size(2 * grid.ny);
  pupil.lx = fft_friendly_size(2 * grid.nx);
  pupil.chirp_rate = grid.pitch_m * grid.pitch_m / (2 * lambda_v);
  pupil.period = lambda_v / grid.pitch_m;
  pupil.step_x = pupil.period / static_cast<double>(pupil.lx);
  pupil.step_y = pupil.period / static_cast<double>(pupil.ly);
  pupil.x = aperture.x_m;
  pupil.y = aperture.y_m;
  pupil.radius_squared = aperture.diameter_m * aperture.diameter_m / 4;
  pupil.gain = static_cast<float>(1 / (static_cast<double>(pupil.lx) * static_cast<double>(pupil.ly)));
  return pupil;
}

}  // namespace reconstruction

struct ReconstructionPlan::State {
  ReconstructionOptions options;
  Queue queue;
  PropagationPlan propagation;
  reconstruction::PupilPointer pupil;  ///< null without aperture
  Array<Complex, 2> field;
  bool has_field = false;
};

void ReconstructionPlan::require_field(const State& state) {
  if (!state.has_field) throw_argument("ReconstructionPlan::execute", "field", "set_field before execute", "no field");
}

ReconstructionPlan::ReconstructionPlan(const ReconstructionOptions& options, Queue queue) {
  require_grid("ReconstructionPlan", options.grid);
  if (options.aperture) reconstruction::require_aperture(options.grid, *options.aperture);
  PropagationPlan propagation(
      {.grid = options.grid, .method = options.method, .output_pitch_m = options.output_pitch_m}, queue);
  auto pupil = options.aperture ? make_pupil_engine(options.grid, *options.aperture, queue) : nullptr;
  Array<Complex, 2> field(options.grid.shape(), queue);
  state_ = std::make_unique<State>(
      State{options, std::move(queue), std::move(propagation), std::move(pupil), std::move(field)});
}

ReconstructionPlan::~ReconstructionPlan() = default;
ReconstructionPlan::ReconstructionPlan(ReconstructionPlan&&) noexcept = default;
ReconstructionPlan& ReconstructionPlan::operator=(ReconstructionPlan&&) noexcept = default;

void ReconstructionPlan::set_field(View<const Complex, 2> field) {
  State& state = *state_;
  require_view("ReconstructionPlan::set_field", "field", field, state.options.grid.shape(), state.queue.device());
  if (state.pupil) {
    state.pupil->apply(field, state.field.view());
  } else {
    copy<Complex, 2>(state.field.view(), field, state.queue);
  }
  state.propagation.set_input(state.field.view());
  state.has_field = true;
}

void ReconstructionPlan::set_aperture(const std::optional<Aperture>& aperture) {
  State& state = *state_;
  if (aperture) {
    reconstruction::require_aperture(state.options.grid, *aperture);
    if (state.pupil) {
      state.pupil->set_aperture(*aperture);
    } else {
      state.pupil = make_pupil_engine(state.options.grid, *aperture, state.queue);
    }
  } else {
    state.pupil.reset();
  }
  state.options.aperture = aperture;
  state.has_field = false;
}

void ReconstructionPlan::execute(double distance_m, View<float, 2> intensity) {
  require_field(*state_);
  // Propagating the field back by d focuses a point d behind the panel.
  state_->propagation.execute_intensity(intensity, -distance_m);
}

void ReconstructionPlan::execute_field(double distance_m, View<Complex, 2> field) {
  require_field(*state_);
  state_->propagation.execute(field, -distance_m);
}

PropagationMethod ReconstructionPlan::method_for(double distance_m) const {
  return state_->propagation.method_for(distance_m);
}

const ReconstructionOptions& ReconstructionPlan::options() const { return state_->options; }

std::size_t ReconstructionPlan::workspace_bytes() const {
  return state_->propagation.workspace_bytes() + state_->field.bytes();
}

}  // namespace holotone
