#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/retrieval/spots/carried_spots.hpp>
#include <holotone/retrieval/spots/spot_checks.hpp>
#include <holotone/retrieval/spots/spot_engine.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <holotone/retrieval/spots/spot_targets.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <span>
#include <string>
#include <utility>

namespace holotone {
namespace {

using spots::reaches;
using spots::SpotPlace;
using spots::Step;
using spots::StepKind;
using spots::Wave;

constexpr const char* where_made = "SpotPlan";
constexpr const char* where_set = "SpotPlan::set_spots";
constexpr const char* where_move = "SpotPlan::move";

/// Free steps that `none` takes, at most, and the relative growth of light that is worth another one.
constexpr int max_free_steps = 30;
constexpr double worthwhile_growth = 5e-4;
constexpr int max_kept_steps = 40;
constexpr int max_rounded_steps = 8;
/// Share of what spots lack that a kept step adds: 2 would overshoot.
constexpr double kept_gain = 1.5;
/// Phases of free spots turn by at most so much a moving step, and a frame that has some takes so many times the steps:
/// weights of two spots that meet must follow the light that their phases add.
constexpr double max_turn_rad = 0.1;
constexpr int free_steps_factor = 2;
/// A moving frame takes further steps, at most so many, while a locked spot is farther than that from its target.
constexpr int max_more_steps = 8;
constexpr double far_from_target = 0.05;
/// Turns of a wave by its depth at the panel's corner, which float32 has to 0.01: far more than pixels resolve.
constexpr double max_depth_turns = 1e5;
/// Steps at a time while their number is open, where waiting for one costs more than taking it.
constexpr int open_batch = 4;

std::unique_ptr<spots::Engine> make_engine(const SpotOptions& options, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return spots::make_engine_cpu(options);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return spots::make_engine_cuda(options, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return spots::make_engine_opencl(options, queue);
#else
      break;
#endif
  }
  throw_no_backend(where_made, queue.device());
}

}  // namespace

struct SpotPlan::State {
  State(const SpotOptions& given, const Queue& queue)
      : options(given), device(queue.device()), engine(make_engine(given, queue)), near(given, {}) {}

  SpotOptions options;
  Device device;
  std::unique_ptr<spots::Engine> engine;
  spots::NearSpots near;
  double lit_rho_squared = 0;  ///< of the farthest pixel with light
  double lone_light = 1;       ///< |u|^2 of a spot that has all light, the unmodulated counted
  spots::SpotScene scene;
  std::vector<std::int64_t> id;
  std::vector<Wave> asked_unit;         ///< exp(i phase) of set_phases; empty: any
  std::vector<double> before_measured;  ///< targets that set_measured has replaced; empty: none
  bool is_solved = false;
  bool has_shares = false;  ///< those of the scene are of its spots

  [[nodiscard]] std::size_t count() const { return scene.place.size(); }

  [[nodiscard]] std::vector<SpotPlace> checked_places(View<const float, 2> position_m, const char* where) const;
  void place(std::vector<SpotPlace> found);
  /// Sets the shares of spots that are near others.
  void share_gain();
  [[nodiscard]] SpotLight light_against(std::span<const double> target) const;
  /// Against the targets of steps.
  [[nodiscard]] SpotLight light() const { return light_against(scene.target); }
  /// Steps that keep the panel's field.
  [[nodiscard]] Step kept_step(double gain, int levels = 0) const {
    return {asked_unit.empty() ? StepKind::kept : StepKind::held, gain, levels};
  }
  /// Steps that leave it.
  [[nodiscard]] Step free_step() const { return {asked_unit.empty() ? StepKind::free : StepKind::locked}; }
  void start() const {
    if (asked_unit.empty()) return engine->start(options.seed);
    engine->start(scene.target, asked_unit, std::vector<std::uint8_t>(count(), 1));
  }
  /// Amplitudes that set_spots has asked for.
  [[nodiscard]] std::span<const double> asked() const {
    return before_measured.size() == count() ? before_measured : scene.target;
  }
  int take_free_steps(const SpotSteps& steps, Progress& progress) const;
  int take_kept_steps(const SpotSteps& steps, SpotLight& seen, Progress& progress) const;
  void take_stated_steps(std::span<const Step> steps, Progress& progress) const;
  int take_rounded_steps(const SpotSteps& steps, SpotLight& seen) const;
  std::vector<SpotPlace> places_of_move(View<const float, 2> position_m, int steps) const;
  SpotReport move(std::vector<SpotPlace> found, std::vector<std::int64_t> ids, std::vector<double> target, int steps);
  void take_moving_steps(int steps, const std::vector<std::uint8_t>& is_free) const;
  [[nodiscard]] double worst_of_locked(const SpotLight& light, const std::vector<std::uint8_t>& is_free) const;
  [[nodiscard]] spots::CarriedSpots carried() const;
  void finish(const SpotSteps& steps, SpotReport& report);
};

std::vector<SpotPlace> SpotPlan::State::checked_places(View<const float, 2> position_m, const char* where) const {
  const auto count = position_m.shape()[0];
  if (count < 1 || position_m.shape()[1] != 3 || position_m.data() == nullptr) {
    throw_argument(where, "position_m", "shape {n, 3}, n >= 1", to_string<2>(position_m.shape()));
  }
  require_device(where, "position_m", Device{}, position_m.device());
  const double per_m = options.grid.pitch_m / (options.grid.wavelength_m * options.focal_length_m);
  const double corner = 0.25 * (std::pow(options.grid.nx, 2) + std::pow(options.grid.ny, 2));
  const double max_z_m = max_depth_turns / (spots::DepthWave(options).chirp(1) * corner);
  std::vector<SpotPlace> found;
  found.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = position_m(i, 0);
    const double y = position_m(i, 1);
    const double z = position_m(i, 2);
    const auto got = [&] { return fmt::format("x = {:g}, y = {:g}, z = {:g}", x, y, z); };
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) {
      throw_argument(where, fmt::format("spot {}", i), "finite coordinates", got());
    }
    if (!(std::abs(x * per_m) <= 0.5 && std::abs(y * per_m) <= 0.5)) {
      throw_argument(where, fmt::format("spot {}", i),
                     fmt::format("|x| and |y| of at most {:g} m, half the diffraction order", 0.5 / per_m), got());
    }
    if (!(std::abs(z) <= max_z_m)) {
      throw_argument(
          where, fmt::format("spot {}", i),
          fmt::format("|z| of at most {:g} m, {:g} turns of its wave at the panel's corner", max_z_m, max_depth_turns),
          got());
    }
    found.push_back({x * per_m, y * per_m, z});
  }
  const bool has_depth = std::ranges::any_of(found, [](const SpotPlace& spot) { return spot.z_m != 0; });
  if (has_depth && spots::DepthWave(options).square * lit_rho_squared >= 1) {
    throw_argument(where, "focal_length_m",
                   "light within n f of the panel's middle, by a smaller image or a pupil, for spots of z other than 0",
                   fmt::format("light at {:g} m, n f of {:g} m", options.grid.pitch_m * std::sqrt(lit_rho_squared),
                               options.refractive_index * options.focal_length_m));
  }
  return found;
}

void SpotPlan::State::place(std::vector<SpotPlace> found) {
  const double side = std::sqrt(options.response.fill_factor);  // in pitches
  scene.shade.clear();
  for (const auto& spot : found) scene.shade.push_back(spots::sinc(side * spot.fx) * spots::sinc(side * spot.fy));
  scene.place = std::move(found);
  scene.share.clear();
  has_shares = false;
  engine->set_spots(scene);
}

void SpotPlan::State::share_gain() {
  if (std::exchange(has_shares, true)) return;
  auto found = near.shares(scene.place);
  if (found == scene.share) return;
  scene.share = std::move(found);
  engine->set_spots(scene);
}

SpotLight SpotPlan::State::light_against(std::span<const double> target) const {
  std::vector<Wave> value(count());
  engine->read(value);
  std::vector<double> intensity(count());
  std::ranges::transform(value, intensity.begin(), [this](const Wave& u) { return std::norm(u) / lone_light; });
  auto light = spots::compare_light(std::move(intensity), target);
  if (!asked_unit.empty()) light.phase_error_rad = spots::phase_error(value, asked_unit);
  return light;
}

/// The stated number, or while light grows; of given phases two.
int SpotPlan::State::take_free_steps(const SpotSteps& steps, Progress& progress) const {
  constexpr int with_phases = 2;
  if (steps.free_steps || !asked_unit.empty()) {
    const int stated = steps.free_steps.value_or(with_phases);
    take_stated_steps(std::vector<Step>(static_cast<std::size_t>(stated), free_step()), progress);
    return stated;
  }
  double before = 0;
  for (int taken = 0;;) {
    const int batch = std::min(taken == 0 ? 2 : std::min(engine->batch(), open_batch), max_free_steps - taken);
    engine->take(std::vector<Step>(static_cast<std::size_t>(batch), {StepKind::free}));
    const auto light = engine->light();
    taken += batch;
    progress.step("free steps", taken, max_free_steps);
    const double last = light.size() > 1 ? light[light.size() - 2] : before;
    before = light.back();
    if (taken == max_free_steps || before <= (1 + worthwhile_growth) * last) return taken;
  }
}

/// The stated number, or until both limits hold.
int SpotPlan::State::take_kept_steps(const SpotSteps& steps, SpotLight& seen, Progress& progress) const {
  const Step step = kept_step(kept_gain);
  if (steps.kept_steps) {
    take_stated_steps(std::vector<Step>(static_cast<std::size_t>(*steps.kept_steps), step), progress);
    seen = light();
    return *steps.kept_steps;
  }
  int taken = 0;
  for (seen = light(); taken < max_kept_steps && !reaches(seen, steps); seen = light()) {
    const int batch = std::min(std::min(engine->batch(), open_batch), max_kept_steps - taken);
    engine->take(std::vector<Step>(static_cast<std::size_t>(batch), step));
    taken += batch;
    progress.step("kept steps", taken, max_kept_steps);
  }
  return taken;
}

/// A stated number of steps, as many at a time as the engine likes.
void SpotPlan::State::take_stated_steps(std::span<const Step> steps, Progress& progress) const {
  for (std::size_t taken = 0; taken < steps.size();) {
    const auto batch = std::min(static_cast<std::size_t>(engine->batch()), steps.size() - taken);
    engine->take(steps.subspan(taken, batch));
    taken += batch;
    progress.step("steps", static_cast<std::int64_t>(taken), static_cast<std::int64_t>(steps.size()));
  }
}

/// Rounds the phase at last. While a limit is missed, kept steps before add what the spots of the rounded phase lack;
/// the best phase stays.
int SpotPlan::State::take_rounded_steps(const SpotSteps& steps, SpotLight& seen) const {
  engine->look(options.levels);
  seen = light();
  Array<float, 2> best(options.grid.shape());
  engine->phase(best.data());
  int taken = 0;
  const std::array<Step, 1> step{kept_step(1, options.levels)};
  for (; taken < max_rounded_steps && !reaches(seen, steps); ++taken) {
    engine->take(step);
    auto now = light();
    if (now.deviation >= seen.deviation) continue;
    seen = std::move(now);
    engine->phase(best.data());
  }
  engine->set_phase(best.data());
  engine->round(options.levels);
  engine->look(0);
  return taken;
}

std::vector<SpotPlace> SpotPlan::State::places_of_move(View<const float, 2> position_m, int steps) const {
  if (!is_solved) throw_argument(where_move, "spots", "a call of solve before", "none");
  require_bounds(where_move, "steps", steps, Bounds{1, 1000});
  return checked_places(position_m, where_move);
}

spots::CarriedSpots SpotPlan::State::carried() const {
  spots::CarriedSpots now{id, scene.target, std::vector<double>(count()), std::vector<Wave>(count())};
  engine->read_state(now.weight, now.unit);
  return now;
}

SpotReport SpotPlan::State::move(std::vector<SpotPlace> found, std::vector<std::int64_t> ids,
                                 std::vector<double> target, int steps) {
  auto is_free = near.mark(found);
  if (ids == id && target == scene.target) {
    place(std::move(found));
  } else {
    std::vector<std::uint8_t> is_new;
    auto now = spots::carry_spots(carried(), std::move(ids), std::move(target), options.seed, is_new);
    for (std::size_t m = 0; m < is_free.size(); ++m) is_free[m] |= is_new[m];
    id = std::move(now.id);
    asked_unit.clear();
    scene.target = std::move(now.target);
    before_measured.clear();
    place(std::move(found));
    engine->start(now.weight, now.unit, is_free);
  }
  SpotReport report;
  report.free_spots = static_cast<int>(std::ranges::count(is_free, 1));
  take_moving_steps(steps, is_free);
  report.light = light();
  for (int more = 0; more < max_more_steps && worst_of_locked(report.light, is_free) > far_from_target; ++more) {
    take_moving_steps(1, is_free);
    report.light = light();
  }
  if (options.levels > 0) {
    engine->round(options.levels);
    engine->look(0);
    report.light = light();
  }
  report.reached = reaches(report.light, {});
  if (!before_measured.empty()) report.light = light_against(asked());
  return report;
}

double SpotPlan::State::worst_of_locked(const SpotLight& light, const std::vector<std::uint8_t>& is_free) const {
  std::vector<double> ratio;
  for (std::size_t m = 0; m < count(); ++m) {
    if (is_free[m] == 0) ratio.push_back(light.intensity[m] / (scene.target[m] * scene.target[m]));
  }
  if (ratio.empty()) return 0;
  const std::vector<double> equal(ratio.size(), 1.0);
  return spots::compare_light(std::move(ratio), equal).worst;
}

/// Locked steps but for some spots, whose phases turn to those of their light after each.
void SpotPlan::State::take_moving_steps(int steps, const std::vector<std::uint8_t>& is_free) const {
  if (std::ranges::count(is_free, 1) == 0) {
    engine->take(std::vector<Step>(static_cast<std::size_t>(steps), {StepKind::locked}));
    return;
  }
  const std::array<Step, 1> step{{{StepKind::locked}}};
  std::vector<Wave> value(count());
  for (int taken = 0; taken < free_steps_factor * steps; ++taken) {
    engine->take(step);
    engine->read(value);
    auto now = carried();
    for (std::size_t m = 0; m < count(); ++m) {
      if (is_free[m] == 0 || value[m] == Wave()) continue;
      now.unit[m] *= std::polar(1.0, std::clamp(std::arg(value[m] / now.unit[m]), -max_turn_rad, max_turn_rad));
    }
    engine->start(now.weight, now.unit, is_free);
  }
}

/// Rounds to levels and says what was reached.
void SpotPlan::State::finish(const SpotSteps& steps, SpotReport& report) {
  if (options.levels > 0) report.rounded_steps = take_rounded_steps(steps, report.light);
  report.reached = reaches(report.light, steps);
  if (!before_measured.empty()) report.light = light_against(asked());
  is_solved = true;
}

SpotPlan::SpotPlan(const SpotOptions& options, const Queue& queue) {
  spots::validate(options);
  state_ = std::make_unique<State>(options, queue);
  set_light({});
}

SpotPlan::~SpotPlan() = default;
SpotPlan::SpotPlan(SpotPlan&&) noexcept = default;
SpotPlan& SpotPlan::operator=(SpotPlan&&) noexcept = default;

void SpotPlan::set_light(View<const Complex, 2> light) {
  auto& state = *state_;
  const auto shape = state.options.grid.shape();
  double sum = 0;
  double square = 0;
  if (light.data() != nullptr) {
    constexpr const char* where = "SpotPlan::set_light";
    if (light.shape() != shape) throw_argument(where, "light", to_string<2>(shape), to_string<2>(light.shape()));
    require_device(where, "light", Device{}, light.device());
    for (std::int64_t i = 0; i < light.size(); ++i) {
      const Complex value = light.data()[i];
      if (!std::isfinite(value.real()) || !std::isfinite(value.imag())) {
        throw_argument(where, "light", "finite values", fmt::format("one that is not, at pixel {}", i));
      }
      sum += std::abs(Wave(value));
      square += std::norm(Wave(value));
    }
  }
  const double farthest = spots::farthest_lit_squared(shape, light);
  if (farthest == 0) throw_argument("SpotPlan::set_light", "light", "light in some pixel", "none");
  state.engine->set_light(light.data());
  const double zero_order = state.options.response.zero_order;
  state.lone_light = 1 + zero_order * zero_order;
  if (square > 0) state.lone_light *= sum * sum / (square * static_cast<double>(light.size()));
  state.near = spots::NearSpots(state.options, light);
  state.has_shares = false;
  state.lit_rho_squared = farthest;
  state.is_solved = false;
}

void SpotPlan::set_spots(View<const float, 2> position_m, View<const float, 1> intensity,
                         View<const std::int64_t, 1> id) {
  auto& state = *state_;
  auto found = state.checked_places(position_m, where_set);
  auto target = spots::checked_targets(intensity, found.size(), where_set);
  state.id = spots::checked_ids(id, found.size(), where_set);
  state.scene.target = std::move(target);
  state.asked_unit.clear();
  state.before_measured.clear();
  state.place(std::move(found));
  state.is_solved = false;
}

void SpotPlan::set_phases(View<const float, 1> phase_rad) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::set_phases";
  if (state.count() == 0) throw_argument(where, "spots", "a call of set_spots before", "none");
  state.asked_unit = spots::checked_units(phase_rad, state.count(), where);
  state.is_solved = false;
}

SpotReport SpotPlan::solve(const SpotSteps& steps, Progress& progress) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::solve";
  if (state.count() == 0) throw_argument(where, "spots", "a call of set_spots before", "none");
  spots::require_steps(where, steps);
  state.share_gain();
  state.start();
  SpotReport report;
  if (steps.free_steps && steps.kept_steps) {  // at once, where the engine waits for nothing between
    std::vector<Step> stated(static_cast<std::size_t>(*steps.free_steps), state.free_step());
    stated.insert(stated.end(), static_cast<std::size_t>(*steps.kept_steps), state.kept_step(kept_gain));
    state.take_stated_steps(stated, progress);
    report.free_steps = *steps.free_steps;
    report.kept_steps = *steps.kept_steps;
    if (state.options.levels == 0) report.light = state.light();
  } else {
    report.free_steps = state.take_free_steps(steps, progress);
    report.kept_steps = state.take_kept_steps(steps, report.light, progress);
  }
  state.finish(steps, report);
  return report;
}

void SpotPlan::start_from(View<const float, 2> phase_rad) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::start_from";
  const auto shape = state.options.grid.shape();
  if (phase_rad.shape() != shape) {
    throw_argument(where, "phase_rad", to_string<2>(shape), to_string<2>(phase_rad.shape()));
  }
  require_device(where, "phase_rad", Device{}, phase_rad.device());
  if (state.count() == 0) throw_argument(where, "spots", "a call of set_spots before", "none");
  state.engine->set_phase(phase_rad.data());
  state.engine->look(0);
  std::vector<Wave> unit(state.count());
  state.engine->read(unit);
  for (auto& u : unit) u = std::abs(u) > 0 ? u / std::abs(u) : Wave(1);
  if (!state.asked_unit.empty()) unit = spots::turned_to(state.asked_unit, unit);
  state.engine->start(state.scene.target, unit, {});
  state.is_solved = true;
}

void SpotPlan::set_measured(View<const float, 1> measured, double gain) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::set_measured";
  if (!state.is_solved) throw_argument(where, "spots", "a call of solve or start_from before", "none");
  require_bounds(where, "gain", gain, Bounds{0.01, 1});
  if (measured.data() == nullptr || measured.shape()[0] != static_cast<std::int64_t>(state.count())) {
    throw_argument(where, "measured", fmt::format("shape {{{}}}, one for each spot", state.count()),
                   to_string<1>(measured.shape()));
  }
  require_device(where, "measured", Device{}, measured.device());
  double sum = 0;
  for (std::int64_t m = 0; m < measured.size(); ++m) {
    const double value = measured(m);
    if (!(value >= 0 && std::isfinite(value))) {
      throw_argument(where, fmt::format("spot {}", m), "a finite intensity >= 0", fmt::format("{:g}", value));
    }
    sum += value;
  }
  if (!(sum > 0)) throw_argument(where, "measured", "some light", "none");
  std::vector<Wave> value(state.count());
  state.engine->look(0);
  state.engine->read(value);
  const std::vector<double> asked(state.asked().begin(), state.asked().end());
  state.scene.target = spots::targets_by_measured(value, asked, measured, gain);
  state.before_measured = asked;
  state.engine->set_spots(state.scene);
  state.engine->look(0);
}

SpotReport SpotPlan::refine(const SpotSteps& steps, Progress& progress) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::refine";
  if (!state.is_solved) throw_argument(where, "spots", "a call of solve or start_from before", "none");
  spots::require_steps(where, steps);
  state.share_gain();
  SpotReport report;
  report.kept_steps = state.take_kept_steps(steps, report.light, progress);
  state.finish(steps, report);
  return report;
}

SpotReport SpotPlan::move(View<const float, 2> position_m, int steps) {
  auto& state = *state_;
  auto found = state.places_of_move(position_m, steps);
  if (found.size() != state.count()) {
    throw_argument(where_move, "position_m", fmt::format("shape {{{}, 3}}, as set_spots", state.count()),
                   to_string<2>(position_m.shape()));
  }
  return state.move(std::move(found), state.id, state.scene.target, steps);
}

SpotReport SpotPlan::move(View<const float, 2> position_m, View<const std::int64_t, 1> id,
                          View<const float, 1> intensity, int steps) {
  auto& state = *state_;
  auto found = state.places_of_move(position_m, steps);
  auto target = spots::checked_targets(intensity, found.size(), where_move);
  auto ids = spots::checked_ids(id, found.size(), where_move);
  return state.move(std::move(found), std::move(ids), std::move(target), steps);
}

void SpotPlan::step(int free_steps, int kept_steps) {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::step";
  if (state.count() == 0) throw_argument(where, "spots", "a call of set_spots before", "none");
  require_bounds(where, "free_steps", free_steps, Bounds{0, bounds_of<&SpotSteps::free_steps>.high});
  require_bounds(where, "kept_steps", kept_steps, bounds_of<&SpotSteps::kept_steps>);
  if (!state.is_solved && free_steps == 0) throw_argument(where, "free_steps", "at least 1 after set_spots", "0");
  if (!state.is_solved) state.start();
  std::vector<Step> steps(static_cast<std::size_t>(free_steps), state.free_step());
  steps.insert(steps.end(), static_cast<std::size_t>(kept_steps), state.kept_step(kept_gain));
  state.engine->take(steps);
  state.is_solved = true;
}

void SpotPlan::follow(View<const float, 2> position_m, int steps) {
  auto& state = *state_;
  auto found = state.places_of_move(position_m, steps);
  if (found.size() != state.count()) {
    throw_argument(where_move, "position_m", fmt::format("shape {{{}, 3}}, as set_spots", state.count()),
                   to_string<2>(position_m.shape()));
  }
  state.place(std::move(found));
  state.engine->take(std::vector<Step>(static_cast<std::size_t>(steps), {StepKind::locked}));
}

SpotLight SpotPlan::light() const {
  if (!state_->is_solved) throw_argument("SpotPlan::light", "spots", "a call of solve or step before", "none");
  return state_->light();
}

void SpotPlan::codes(View<std::uint8_t, 2> codes) const {
  constexpr const char* where = "SpotPlan::codes";
  const auto shape = state_->options.grid.shape();
  if (codes.shape() != shape) throw_argument(where, "codes", to_string<2>(shape), to_string<2>(codes.shape()));
  if (codes.device() != state_->device) require_device(where, "codes", Device{}, codes.device());
  state_->engine->codes(codes);
}

void SpotPlan::phase(View<float, 2> phase_rad) const {
  const auto shape = state_->options.grid.shape();
  if (phase_rad.shape() != shape) {
    throw_argument("SpotPlan::phase", "phase_rad", to_string<2>(shape), to_string<2>(phase_rad.shape()));
  }
  require_device("SpotPlan::phase", "phase_rad", Device{}, phase_rad.device());
  state_->engine->phase(phase_rad.data());
}

SpotLight SpotPlan::light_in_spots(View<const float, 2> phase_rad) const {
  auto& state = *state_;
  constexpr const char* where = "SpotPlan::light_in_spots";
  const auto shape = state.options.grid.shape();
  if (phase_rad.shape() != shape) {
    throw_argument(where, "phase_rad", to_string<2>(shape), to_string<2>(phase_rad.shape()));
  }
  require_device(where, "phase_rad", Device{}, phase_rad.device());
  if (state.count() == 0) throw_argument(where, "spots", "a call of set_spots before", "none");
  Array<float, 2> kept(shape);
  state.engine->phase(kept.data());
  state.engine->set_phase(phase_rad.data());
  state.engine->look(0);
  auto seen = state.light_against(state.asked());
  state.engine->set_phase(kept.data());
  state.engine->look(0);
  return seen;
}

const SpotOptions& SpotPlan::options() const { return state_->options; }

std::int64_t SpotPlan::spots() const { return static_cast<std::int64_t>(state_->count()); }

}  // namespace holotone
