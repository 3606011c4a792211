// The plan of error diffusion: checks, levels, order of sums, the choice of the backend.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/no_backend.hpp>
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace holotone {
namespace {

using diffusion::Job;
using diffusion::Levels;
constexpr std::string_view where = "ErrorDiffusionPlan";

void check_levels(const ErrorDiffusionOptions& options) {
  const auto& table = options.levels;
  if (table.empty()) return;
  const std::size_t most = std::size_t{1} << options.bits;
  if (table.size() < 2 || table.size() > most) {
    throw_argument(where, "levels", fmt::format("2 to {} for {} bits", most, options.bits),
                   fmt::format("{}", table.size()));
  }
  const bool amplitude = options.modulation == Modulation::amplitude;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bool rises = i == 0 || table[i] > table[i - 1];
    if (amplitude ? !(table[i] >= 0 && table[i] <= 1 && rises) : !std::isfinite(table[i])) {
      throw_argument(where, "levels", amplitude ? "rising amplitudes from 0 to 1" : "finite radians",
                     fmt::format("{} for code {}", table[i], i));
    }
  }
}

double fraction(double turns) { return turns - std::floor(turns); }

/// Sets the boundaries between neighbouring phases on the circle, rising from 0.
void set_phase_table(const std::vector<double>& phases, Levels& levels) {
  std::vector<std::pair<double, std::uint8_t>> sorted;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    sorted.emplace_back(fraction(phases[i] / (2 * std::numbers::pi)), static_cast<std::uint8_t>(i));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Keeps the lowest of codes with the same phase.
  sorted.erase(
      std::unique(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      sorted.end());
  std::vector<std::pair<float, std::uint8_t>> steps;  // boundary, code from there on
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool last = i + 1 == sorted.size();
    const double next = last ? sorted[0].first + 1 : sorted[i + 1].first;
    const double middle = (sorted[i].first + next) / 2;
    steps.emplace_back(static_cast<float>(fraction(middle)), last ? sorted[0].second : sorted[i + 1].second);
  }
  std::sort(steps.begin(), steps.end());
  levels.code.push_back(steps.back().second);
  for (const auto& [boundary, code] : steps) {
    levels.boundary.push_back(boundary);
    levels.code.push_back(code);
  }
}

Levels levels_of(const ErrorDiffusionOptions& options) {
  const std::size_t all = std::size_t{1} << options.bits;
  Levels levels{options.modulation, static_cast<float>(all), {}, {}, {}, {}, false, 1, 0};
  const bool phase = options.modulation == Modulation::phase;
  std::vector<double> shown = options.levels;
  if (shown.empty()) {
    for (std::size_t i = 0; i < all; ++i) {
      const auto code = static_cast<double>(i);
      shown.push_back(phase ? 2 * std::numbers::pi * code / static_cast<double>(all)
                            : code / static_cast<double>(all - 1));
    }
  } else if (phase) {
    set_phase_table(shown, levels);
  } else {
    levels.code.push_back(0);
    for (std::size_t i = 1; i < shown.size(); ++i) {
      levels.boundary.push_back(static_cast<float>((shown[i - 1] + shown[i]) / 2));
      levels.code.push_back(static_cast<std::uint8_t>(i));
    }
  }
  for (const double level : shown) {
    levels.re.push_back(static_cast<float>(phase ? std::cos(level) : level));
    levels.im.push_back(static_cast<float>(phase ? std::sin(level) : 0));
  }
  if (shown.size() == 2 && phase) {
    const double re = std::cos(shown[1]) - std::cos(shown[0]);
    const double im = std::sin(shown[1]) - std::sin(shown[0]);
    const double length = std::hypot(re, im);
    levels.line = true;
    levels.line_re = length > 0 ? static_cast<float>(re / length) : 1;
    levels.line_im = length > 0 ? static_cast<float>(im / length) : 0;
  }
  return levels;
}

void check_weights(const DiffusionWeights& weights, std::int64_t hogels) {
  const auto [sets, taps] = weights.values.shape();
  if (taps != std::ssize(weights.taps) || (taps > 0 && sets != 1 && sets != hogels)) {
    throw_argument(where, "weights", fmt::format("one set or {}, of {} taps", hogels, weights.taps.size()),
                   fmt::format("{} of {}", sets, taps));
  }
  constexpr int farthest = 1024;
  for (std::size_t i = 0; i < weights.taps.size(); ++i) {
    const auto& tap = weights.taps[i];
    const bool later = tap.dy > 0 || (tap.dy == 0 && tap.dx > 0);
    const bool in_order = i == 0 || weights.taps[i - 1].dy > tap.dy ||
                          (weights.taps[i - 1].dy == tap.dy && weights.taps[i - 1].dx > tap.dx);
    if (!later || !in_order || tap.dy > farthest || std::abs(tap.dx) > farthest) {
      throw_argument(where, "weights", "taps later in raster order, no farther than 1024, from far to near",
                     fmt::format("dx {}, dy {}", tap.dx, tap.dy));
    }
  }
  if (!weights.backward.empty() && weights.backward.shape() != weights.values.shape()) {
    throw_argument(where, "weights.backward", fmt::format("{} sets of {}", sets, taps),
                   fmt::format("{} of {}", weights.backward.shape()[0], weights.backward.shape()[1]));
  }
  for (const auto& values : {weights.values.view(), weights.backward.view()}) {
    for (std::int64_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values.data()[i])) throw_argument(where, "weights", "finite numbers", "one that is not");
    }
  }
}

/// Returns the taps' indices in the order of sums. Taps of rows above come first, by decreasing distance to the left of
/// the latest tap of their row, the upper row first at equal distance. Taps of the own row follow, from far to near.
/// Errors arrive in this order if all rows of a panel are processed in parallel, each a little behind the one above.
std::vector<std::size_t> order_of_sums(const std::vector<DiffusionTap>& taps) {
  const auto latest = [&](int dy) {
    int least = std::numeric_limits<int>::max();
    for (const auto& tap : taps) least = tap.dy == dy ? std::min(least, tap.dx) : least;
    return least;
  };
  std::vector<std::size_t> order(taps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](const DiffusionTap& tap) {
      return std::array{tap.dy > 0 ? 1 : 0, tap.dy > 0 ? tap.dx - latest(tap.dy) : tap.dx, tap.dy};
    };
    return key(taps[a]) > key(taps[b]);
  });
  return order;
}

/// Copies the weights in the given order of taps.
void put_in_order(const Array<float, 2>& from, const std::vector<std::size_t>& order, Array<float, 2>& to) {
  if (from.empty()) return;
  for (std::int64_t set = 0; set < from.shape()[0]; ++set) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      to(set, static_cast<std::int64_t>(i)) = from(set, static_cast<std::int64_t>(order[i]));
    }
  }
}

DiffusionWeights in_order(const DiffusionWeights& weights, const std::vector<std::size_t>& order) {
  DiffusionWeights ordered{{}, Array<float, 2>(weights.values.shape()), Array<float, 2>(weights.backward.shape())};
  for (const std::size_t i : order) ordered.taps.push_back(weights.taps[i]);
  put_in_order(weights.values, order, ordered.values);
  put_in_order(weights.backward, order, ordered.backward);
  return ordered;
}

/// Sets the units of a job. Phases: the scale is 1 to 2 units.
void set_units(Job& job) {
  if (job.levels.modulation == Modulation::phase) {
    job.unit = std::ldexp(1.0F, -std::clamp(std::ilogb(job.scale), -127, 126));
    job.radius = job.scale * job.unit;
  }
  job.level_re.clear();
  job.level_im.clear();
  for (std::size_t i = 0; i < job.levels.re.size(); ++i) {
    job.level_re.push_back(job.levels.re[i] * job.radius);
    job.level_im.push_back(job.levels.im[i] * job.radius);
  }
}

std::unique_ptr<diffusion::Engine> make_engine(const Job& job, const ErrorDiffusionOptions& options,
                                               const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return diffusion::cpu_engine();
    case Backend::cuda:
      if (job.serpentine) {
        throw Error(ErrorCode::unsupported,
                    "ErrorDiffusionPlan: serpentine: expected raster order on a GPU, got serpentine");
      }
#if HOLOTONE_CUDA
      return diffusion::cuda_engine(job, options.cache_folder, queue);
#else
      (void)job;
      (void)options;
      break;
#endif
    case Backend::opencl: break;
  }
  throw_no_backend(where, queue.device());
}

}  // namespace

Shape<2> hogels_of(Shape<2> shape, std::int64_t hogel_px) {
  if (hogel_px == 0) return {1, 1};
  return {(shape[0] + hogel_px - 1) / hogel_px, (shape[1] + hogel_px - 1) / hogel_px};
}

struct ErrorDiffusionPlan::State {
  ErrorDiffusionOptions options;
  Queue queue;
  std::vector<DiffusionTap> taps;
  std::vector<std::size_t> order;  ///< of sums
  Job job;
  std::unique_ptr<diffusion::Engine> engine;
  ErrorDiffusionReport report{};

  void require_part(const RowRange& part) const {
    const std::int64_t rows = job.shape[0];
    const std::int64_t most = options.rows_at_once > 0 ? options.rows_at_once : rows;
    require_rows(where, part, rows);
    const bool whole = part.first_row % job.side == 0 && (part.end() % job.side == 0 || part.end() == rows);
    if (!whole || part.rows > most) {
      throw_argument(where, "part", fmt::format("whole rows of hogels of {} pixels, at most {} rows", job.side, most),
                     fmt::format("rows {} to {}", part.first_row, part.end() - 1));
    }
    if (part.rows < rows && options.scale == 0) throw_argument(where, "scale", "above 0 for parts of a panel", "0");
  }

  void require_finite(std::int64_t broken) const {
    if (broken < 0) return;
    throw_argument(where, "field", "finite values",
                   fmt::format("one that is not at row {}, column {}", job.part.first_row + broken / job.shape[1],
                               broken % job.shape[1]));
  }
};

ErrorDiffusionPlan::ErrorDiffusionPlan(const ErrorDiffusionOptions& options, const DiffusionWeights& weights,
                                       Shape<2> shape, Queue queue) {
  for (const std::int64_t side : shape) {
    require_range(where, "shape", static_cast<double>(side), 1, static_cast<double>(largest_grid_side));
  }
  require_bounds(where, "bits", options.bits, bounds_of<&ErrorDiffusionOptions::bits>);
  require_range(where, "hogel_px", static_cast<double>(options.hogel_px), 0, static_cast<double>(largest_grid_side));
  require_bounds(where, "clip", options.clip, bounds_of<&ErrorDiffusionOptions::clip>);
  require_range(where, "scale", options.scale, 0, static_cast<double>(std::numeric_limits<float>::max()));
  require_range(where, "rows_at_once", static_cast<double>(options.rows_at_once), 0,
                static_cast<double>(largest_grid_side));
  check_levels(options);
  const auto hogels = hogels_of(shape, options.hogel_px);
  check_weights(weights, hogels[0] * hogels[1]);
  const bool carry = options.borders == HogelBorders::carry;
  if (carry && options.serpentine) {
    throw_unsupported(where, "serpentine", "raster order if errors cross the borders of hogels", "serpentine");
  }
  auto order = order_of_sums(weights.taps);
  const std::int64_t rows_at_once = options.rows_at_once > 0 ? std::min(options.rows_at_once, shape[0]) : shape[0];
  Job job{shape,
          options.hogel_px > 0 && !carry ? options.hogel_px : std::max(shape[0], shape[1]),
          carry ? Shape<2>{1, 1} : hogels,
          in_order(weights, order),
          levels_of(options),
          options.serpentine,
          carry ? Shape<2>{1, 1} : hogels_of({rows_at_once, shape[1]}, options.hogel_px),
          {0, shape[0]},
          carry && weights.values.shape()[0] > 1 ? options.hogel_px : 0,
          hogels[1]};
  auto engine = make_engine(job, options, queue);
  state_ = std::make_unique<State>(
      State{options, std::move(queue), weights.taps, std::move(order), std::move(job), std::move(engine)});
}
ErrorDiffusionPlan::~ErrorDiffusionPlan() = default;
ErrorDiffusionPlan::ErrorDiffusionPlan(ErrorDiffusionPlan&&) noexcept = default;
ErrorDiffusionPlan& ErrorDiffusionPlan::operator=(ErrorDiffusionPlan&&) noexcept = default;

void ErrorDiffusionPlan::set_weights(const DiffusionWeights& weights) {
  Job& job = state_->job;
  check_weights(weights, job.weights.values.shape()[0]);
  auto& replaced = job.weights;
  if (weights.taps != state_->taps || weights.values.shape() != replaced.values.shape() ||
      weights.backward.empty() != replaced.backward.empty()) {
    throw_argument(where, "weights",
                   fmt::format("{} sets of the same {} taps", replaced.values.shape()[0], replaced.taps.size()),
                   fmt::format("{} of {}", weights.values.shape()[0], weights.taps.size()));
  }
  put_in_order(weights.values, state_->order, replaced.values);
  put_in_order(weights.backward, state_->order, replaced.backward);
  state_->engine->set_weights(job);
}

void ErrorDiffusionPlan::execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  execute({0, state_->job.shape[0]}, field, codes);
}

void ErrorDiffusionPlan::execute(const RowRange& part, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  State& state = *state_;
  state.require_part(part);
  state.job.part = part;
  require_view(where, "field", field, {part.rows, state.job.shape[1]}, state.queue.device());
  require_view(where, "codes", codes, {part.rows, state.job.shape[1]}, state.queue.device());
  auto scale = static_cast<float>(state.options.scale);
  if (scale == 0) {
    const auto found = state.engine->scale(field, state.options.modulation, state.options.clip);
    state.require_finite(found.broken);
    scale = found.modulus > 0 ? found.modulus : 1;
  }
  state.job.scale = scale;
  state.report.scale = scale;
  set_units(state.job);
  state.engine->diffuse(state.job, field, codes);
  if (state.queue.device().backend == Backend::cpu) state.require_finite(state.engine->broken());
}

ErrorDiffusionReport ErrorDiffusionPlan::report() const {
  state_->require_finite(state_->engine->broken());
  return state_->report;
}

}  // namespace holotone
