// Codes of a panel whose light is spots, and what to say of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/spots.hpp>
#include <holotone/recipes/spots/even_levels.hpp>
#include <holotone/recipes/spots/spot_loop.hpp>
#include <holotone/recipes/spots/spot_remarks.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <holotone/retrieval/spots/spot_neighbours.hpp>
#include <holotone/retrieval/spots/spot_waves.hpp>
#include <numbers>
#include <utility>

namespace holotone {
namespace {

/// Pairs are counted to here: spots in one place have as many as the square of their number.
constexpr std::int64_t max_counted = 1'000'000;

std::int64_t count_merged(const std::vector<spots::PlaceInWidths>& places, std::array<double, 2> order) {
  std::int64_t pairs = 0;
  spots::for_each_near_pair(places, 1, order, [&](std::size_t, std::size_t, double) { return ++pairs < max_counted; });
  return pairs;
}

}  // namespace

int even_levels(const EncodeOptions& encoding) {
  const bool whole = std::abs(encoding.phase_range_rad - 2 * std::numbers::pi) < 1e-9;
  return encoding.level_phase_rad.empty() && whole ? 1 << encoding.bits : 0;
}

spots::RemarksByKind spots::remarks_by_kind(const SpotList& spots, const SpotOptions& options,
                                            View<const Complex, 2> light) {
  const auto width_m = spot_width_m(options, light);
  const auto& grid = options.grid;
  const double order_m = grid.wavelength_m * options.focal_length_m / grid.pitch_m;
  std::vector<PlaceInWidths> places;
  for (const auto& position : spots.position_m) {
    auto& place = places.emplace_back();
    for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = static_cast<double>(position[axis]) / width_m[axis];
  }
  RemarksByKind remarks;
  const auto width =
      fmt::format("a width of {} across and {} along the axis", format_length(width_m[0]), format_length(width_m[2]));
  if (const auto pairs = count_merged(places, {order_m / width_m[0], order_m / width_m[1]}); pairs > 0) {
    remarks[0] = fmt::format("{}{} of spots nearer than {}: they merge", pairs < max_counted ? "" : "at least ",
                             io::counted(static_cast<std::uint64_t>(pairs), "pair"), width);
  }
  const auto central =
      std::ranges::count_if(places, [](const auto& p) { return p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 1; });
  if (central > 0) {
    remarks[1] = fmt::format("{} within {} of the zero order, whose light adds to it",
                             io::counted(static_cast<std::uint64_t>(central), "spot"), width);
  }
  const double half_m = 0.5 * grid.pitch_m * static_cast<double>(std::max(grid.nx, grid.ny));
  const auto fine = std::ranges::count_if(spots.position_m, [&](const std::array<float, 3>& p) {
    const double aside = std::max(std::abs(p[0]), std::abs(p[1]));
    const double spread_m =
        std::abs(static_cast<double>(p[2])) * half_m / (options.refractive_index * options.focal_length_m);
    return aside + spread_m > 0.5 * order_m;
  });
  const double lit_m = grid.pitch_m * std::sqrt(farthest_lit_squared(grid.shape(), light));
  const double limit_m = options.refractive_index * options.focal_length_m;
  if (lit_m >= limit_m) {
    remarks[3] = fmt::format(
        "light at {} from the middle of the panel's image, where no lens of n f = {} has an "
        "aperture: a smaller image or a pupil is missing",
        format_length(lit_m), format_length(limit_m));
  }
  if (fine > 0) {
    remarks[2] = fmt::format("{} so far aside and deep that their waves have fringes finer than two pixels",
                             io::counted(static_cast<std::uint64_t>(fine), "spot"));
  }
  return remarks;
}

std::vector<std::string> spot_remarks(const SpotList& spots, const SpotOptions& options, View<const Complex, 2> light) {
  std::vector<std::string> remarks;
  for (auto& text : spots::remarks_by_kind(spots, options, light)) {
    if (!text.empty()) remarks.push_back(std::move(text));
  }
  return remarks;
}

SpotPlan plan_for_codes(const SpotList& spots, SpotOptions options, const EncodeOptions& encoding,
                        View<const Complex, 2> light, const Queue& queue) {
  constexpr std::string_view where = "make_spots";
  if (encoding.encoding != Encoding::phase) throw_argument(where, "encoding", "phase", to_string(encoding.encoding));
  if (encoding.carrier_x_rad != 0 || encoding.carrier_y_rad != 0) {
    throw_argument(where, "carrier", "none, as spots have places", "one");
  }
  // A correction moves the levels of each pixel.
  options.levels = encoding.correction_rad.data() == nullptr ? even_levels(encoding) : 0;
  SpotPlan plan(options, queue);
  if (light.data() != nullptr) plan.set_light(light);
  const auto count = std::ssize(spots.position_m);
  plan.set_spots({count > 0 ? spots.position_m.front().data() : nullptr, {count, 3}},
                 {spots.intensity.data(), {std::ssize(spots.intensity)}});
  if (!spots.phase_rad.empty()) plan.set_phases({spots.phase_rad.data(), {std::ssize(spots.phase_rad)}});
  return plan;
}

SpotHologram show_spots(const SpotPlan& plan, const SpotReport& report, const EncodeOptions& encoding) {
  const auto& options = plan.options();
  SpotHologram made;
  made.report = report;
  Array<float, 2> phase_rad(options.grid.shape());
  plan.phase(phase_rad.view());
  auto shown = phase_codes(phase_rad.view(), encoding, options.grid);
  made.codes = std::move(shown.codes);
  made.report.light = plan.light_in_spots(shown.shown_rad.view());
  made.shown_rad = std::move(shown.shown_rad);
  set_metadata(made.metadata, "distance_m", 0.0);
  set_metadata(made.metadata, "seed", static_cast<double>(options.seed));
  return made;
}

SpotSteps stricter(const SpotSteps& steps) {
  constexpr double share = 0.3;
  auto within = steps;
  within.max_deviation = std::max(share * steps.max_deviation, bounds_of<&SpotSteps::max_deviation>.low);
  within.max_worst = std::max(share * steps.max_worst, bounds_of<&SpotSteps::max_worst>.low);
  return within;
}

SpotHologram show_evenly(SpotPlan& plan, const SpotReport& report, const EncodeOptions& encoding,
                         const SpotSteps& steps, Progress& progress) {
  constexpr int rounds = 10;
  constexpr double gain = 1;
  auto best = show_spots(plan, report, encoding);
  const bool is_rounded = plan.options().levels > 0;
  auto light = best.report.light.intensity;
  for (int round = 0; round < rounds && !is_rounded && !spots::reaches(best.report.light, steps); ++round) {
    progress.step("rounding", round, rounds);
    const std::vector<float> measured(light.begin(), light.end());
    plan.set_measured({measured.data(), {std::ssize(measured)}}, gain);
    auto taken = plan.refine(stricter(steps), progress);
    taken.free_steps = report.free_steps;
    taken.kept_steps = report.kept_steps;
    taken.rounded_steps = round + 1;
    auto shown = show_spots(plan, taken, encoding);
    light = shown.report.light.intensity;
    if (shown.report.light.deviation < best.report.light.deviation) best = std::move(shown);
  }
  best.report.reached = spots::reaches(best.report.light, steps);
  return best;
}

SpotHologram make_spots(const SpotList& spots, SpotOptions options, const EncodeOptions& encoding,
                        View<const Complex, 2> light, const SpotSteps& steps, Progress& progress, const Queue& queue) {
  auto plan = plan_for_codes(spots, options, encoding, light, queue);
  return show_evenly(plan, plan.solve(steps, progress), encoding, steps, progress);
}

}  // namespace holotone
