// The plan of electrostatic halftoning: checks and the choice of the backend.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/electrostatic/engine.hpp>

namespace holotone {
namespace {

constexpr auto where = "ElectrostaticPlan";

electrostatic::EnginePointer make_engine(const electrostatic::Setup& setup, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return electrostatic::engine_cpu(setup);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return electrostatic::engine_cuda(setup, queue);
#endif
    case Backend::opencl: break;
  }
  throw_no_backend(where, queue.device());
}

void check(const StepRule& rule) {
  require_positive("StepRule", "tau", rule.tau);
  require_positive("StepRule", "largest_move", rule.largest_move);
  require_bounds("StepRule", "edge_correction", rule.edge_correction, bounds_of<&StepRule::edge_correction>);
  if (rule.descent == Descent::momentum) require_range("StepRule", "momentum", rule.momentum, 0, 0.999);
}

}  // namespace

namespace electrostatic {

void throw_bad_ink(const Shape<2>& page, std::int64_t index, float value) {
  if (index < 0) throw_argument(where, "ink", "a picture with ink", "one that is white everywhere");
  throw_argument(where, "ink", "finite values >= 0",
                 fmt::format("{:g} at row {}, column {}", value, index / page[1], index % page[1]));
}

void throw_bad_position(std::int64_t dot) {
  throw_argument(where, "positions", "finite coordinates", fmt::format("one that is not, at dot {}", dot));
}

}  // namespace electrostatic

struct ElectrostaticPlan::State {
  electrostatic::Setup setup;
  Queue queue;
  std::int64_t count = 0;
  bool has_ink = false;
  electrostatic::EnginePointer engine;

  template <class T>
  void require_dots(std::string_view argument, const View<T, 2>& view) const {
    // An empty view may have no memory.
    if (count == 0 && view.shape() == Shape<2>{0, 2}) return;
    require_view(where, argument, view, Shape<2>{count, 2}, queue.device());
  }
  void require_ink() const {
    if (!has_ink) throw_argument(where, "ink", "set_ink before forces and moves", "none");
  }
};

ElectrostaticPlan::ElectrostaticPlan(Shape<2> page, std::int64_t maximum_dots, Queue queue,
                                     const ElectrostaticOptions& options) {
  auto setup = electrostatic::make_setup(page, maximum_dots, options, queue.device().backend);
  auto engine = make_engine(setup, queue);
  state_ = std::make_unique<State>(State{std::move(setup), std::move(queue), 0, false, std::move(engine)});
}

ElectrostaticPlan::~ElectrostaticPlan() = default;
ElectrostaticPlan::ElectrostaticPlan(ElectrostaticPlan&&) noexcept = default;
ElectrostaticPlan& ElectrostaticPlan::operator=(ElectrostaticPlan&&) noexcept = default;

void ElectrostaticPlan::set_ink(View<const float, 2> ink) {
  require_view(where, "ink", ink, state_->setup.page, state_->queue.device());
  state_->has_ink = false;
  state_->engine->set_ink(ink);
  state_->has_ink = true;
}

void ElectrostaticPlan::set_positions(View<const float, 2> positions) {
  const std::int64_t count = positions.shape()[0];
  if (count < 0 || count > state_->setup.maximum_dots) {
    throw_argument(where, "positions", fmt::format("at most {} dots", state_->setup.maximum_dots),
                   fmt::format("{}", count));
  }
  if (count > 0 || positions.shape()[1] != 2) {
    require_view(where, "positions", positions, Shape<2>{count, 2}, state_->queue.device());
  }
  state_->count = 0;
  state_->engine->set_positions(positions);
  state_->count = count;
}

void ElectrostaticPlan::positions(View<float, 2> positions) {
  state_->require_dots("positions", positions);
  if (state_->count > 0) state_->engine->positions(positions);
}

void ElectrostaticPlan::forces(View<float, 2> forces) {
  state_->require_ink();
  state_->require_dots("forces", forces);
  if (state_->count > 0) state_->engine->forces(forces);
}

void ElectrostaticPlan::step(const StepRule& rule) {
  check(rule);
  state_->require_ink();
  if (state_->count > 0) state_->engine->step(rule);
}

void ElectrostaticPlan::move(View<const float, 2> forces, const StepRule& rule) {
  check(rule);
  state_->require_ink();
  state_->require_dots("forces", forces);
  if (state_->count > 0) state_->engine->move(forces, rule);
}

void ElectrostaticPlan::shake(double radius, std::uint64_t seed) {
  require_range(where, "radius", radius, 0, 1e6);
  if (state_->count > 0 && radius > 0) state_->engine->shake(static_cast<float>(radius), seed);
}

ForceStatistics ElectrostaticPlan::statistics() {
  return state_->count > 0 ? state_->engine->statistics() : ForceStatistics{};
}

std::int64_t ElectrostaticPlan::missed_neighbours() {
  return state_->count > 0 && state_->setup.options.near == NearField::map ? state_->engine->missed_neighbours() : 0;
}

const Shape<2>& ElectrostaticPlan::page() const { return state_->setup.page; }
std::int64_t ElectrostaticPlan::count() const { return state_->count; }
std::int64_t ElectrostaticPlan::maximum_dots() const { return state_->setup.maximum_dots; }
const Queue& ElectrostaticPlan::queue() const { return state_->queue; }

ElectrostaticInfo ElectrostaticPlan::info() const {
  const auto& setup = state_->setup;
  ElectrostaticInfo info;
  info.width = setup.window.width;
  info.cutoff_px = setup.cutoff;
  switch (setup.options.sum) {
    case ForceSum::ewald:
      info.grid = setup.grid;
      info.splitting_px = setup.cutoff;
      info.expected_error = setup.expected_error;
      break;
    case ForceSum::taylor:
      info.grid = {2 * setup.modes, 2 * setup.modes};
      info.splitting_px = setup.cutoff;
      break;
    case ForceSum::direct: break;
  }
  info.bytes = state_->engine->bytes();
  info.arithmetic = state_->engine->arithmetic();
  return info;
}

}  // namespace holotone
