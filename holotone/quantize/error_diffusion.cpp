#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/quantize/error_diffusion_engine.hpp>
#include <holotone/quantize/modulus_share.hpp>
#include <limits>
#include <numbers>

namespace holotone {
namespace {

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

/// Boundaries between neighbours on the circle, from 0 on.
void set_phase_table(const std::vector<double>& phases, Levels& levels) {
  std::vector<std::pair<double, std::uint8_t>> sorted;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    sorted.emplace_back(fraction(phases[i] / (2 * std::numbers::pi)), static_cast<std::uint8_t>(i));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // Of codes with the same phase the lowest.
  sorted.erase(
      std::unique(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      sorted.end());
  std::vector<std::pair<float, std::uint8_t>> steps;  // from this place on, this code
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
  for (const double own : shown) {
    levels.re.push_back(static_cast<float>(phase ? std::cos(own) : own));
    levels.im.push_back(static_cast<float>(phase ? std::sin(own) : 0));
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
    const auto& own = weights.taps[i];
    const bool later = own.dy > 0 || (own.dy == 0 && own.dx > 0);
    const bool in_order = i == 0 || weights.taps[i - 1].dy > own.dy ||
                          (weights.taps[i - 1].dy == own.dy && weights.taps[i - 1].dx > own.dx);
    if (!later || !in_order || own.dy > farthest || std::abs(own.dx) > farthest) {
      throw_argument(where, "weights", "taps later in raster order, no farther than 1024, from far to near",
                     fmt::format("dx {}, dy {}", own.dx, own.dy));
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

/// What the field is divided by; 1 where that would be 0.
float scale_of(View<const Complex, 2> field, const ErrorDiffusionOptions& options) {
  if (options.scale > 0) return static_cast<float>(options.scale);
  ModulusShare share(options.modulation, options.clip);
  do share.add(field);
  while (share.another_pass());
  if (const std::int64_t broken = share.broken(); broken >= 0) {
    const std::int64_t nx = field.shape()[1];
    const Complex value = field(broken / nx, broken % nx);
    throw_argument(where, "field", "finite values",
                   fmt::format("{}{:+}i at row {}, column {}", value.real(), value.imag(), broken / nx, broken % nx));
  }
  return share.modulus() > 0 ? share.modulus() : 1;
}

}  // namespace

Shape<2> hogels_of(Shape<2> shape, std::int64_t hogel_px) {
  if (hogel_px == 0) return {1, 1};
  return {(shape[0] + hogel_px - 1) / hogel_px, (shape[1] + hogel_px - 1) / hogel_px};
}

struct ErrorDiffusionPlan::State {
  ErrorDiffusionOptions options;
  DiffusionWeights weights;
  Shape<2> shape;
  Queue queue;
  Levels levels;
  ErrorDiffusionReport report;
};

ErrorDiffusionPlan::ErrorDiffusionPlan(const ErrorDiffusionOptions& options, DiffusionWeights weights, Shape<2> shape,
                                       Queue queue) {
  for (const std::int64_t side : shape) {
    require_range(where, "shape", static_cast<double>(side), 1, static_cast<double>(largest_grid_side));
  }
  require_range(where, "bits", options.bits, 1, 8);
  require_range(where, "hogel_px", static_cast<double>(options.hogel_px), 0, static_cast<double>(largest_grid_side));
  require_range(where, "clip", options.clip, 0.01, 1);
  require_range(where, "scale", options.scale, 0, std::numeric_limits<float>::max());
  check_levels(options);
  const auto hogels = hogels_of(shape, options.hogel_px);
  check_weights(weights, hogels[0] * hogels[1]);
  if (queue.device().backend != Backend::cpu) {
    throw Error(ErrorCode::unsupported, "ErrorDiffusionPlan: expected the CPU, got " + to_string(queue.device()));
  }
  state_ = std::make_unique<State>(State{options, std::move(weights), shape, std::move(queue), levels_of(options), {}});
}
ErrorDiffusionPlan::~ErrorDiffusionPlan() = default;
ErrorDiffusionPlan::ErrorDiffusionPlan(ErrorDiffusionPlan&&) noexcept = default;
ErrorDiffusionPlan& ErrorDiffusionPlan::operator=(ErrorDiffusionPlan&&) noexcept = default;

void ErrorDiffusionPlan::execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  State& state = *state_;
  require_view(where, "field", field, state.shape, state.queue.device());
  require_view(where, "codes", codes, state.shape, state.queue.device());
  state.report.scale = scale_of(field, state.options);
  const std::int64_t side =
      state.options.hogel_px > 0 ? state.options.hogel_px : std::max(state.shape[0], state.shape[1]);
  diffusion::diffuse_cpu({state.shape, side, hogels_of(state.shape, state.options.hogel_px), state.weights,
                          state.levels, state.report.scale, state.options.serpentine},
                         field, codes);
}

ErrorDiffusionReport ErrorDiffusionPlan::report() const { return state_->report; }

}  // namespace holotone
