#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/retrieval/spots/spot_checks.hpp>
#include <numeric>

namespace holotone::spots {

void validate(const SpotOptions& options) {
  constexpr const char* where = "SpotPlan";
  require_grid(where, options.grid);
  require_bounds(where, "focal_length_m", options.focal_length_m, bounds_of<&SpotOptions::focal_length_m>);
  require_bounds(where, "refractive_index", options.refractive_index, bounds_of<&SpotOptions::refractive_index>);
  require_bounds(where, "response.fill_factor", options.response.fill_factor, bounds_of<&PanelResponse::fill_factor>);
  require_bounds(where, "response.zero_order", options.response.zero_order, bounds_of<&PanelResponse::zero_order>);
  require_bounds(where, "levels", options.levels, bounds_of<&SpotOptions::levels>);
  if (options.levels == 1) throw_argument(where, "levels", "0, or at least 2", "1");
  if (!std::isfinite(options.zero_order_phase_rad)) {
    throw_argument(where, "zero_order_phase_rad", "a finite angle", fmt::format("{}", options.zero_order_phase_rad));
  }
}

void require_steps(const char* where, const SpotSteps& steps) {
  if (steps.free_steps) {
    require_bounds(where, "free_steps", *steps.free_steps, bounds_of<&SpotSteps::free_steps>);
  }
  if (steps.kept_steps) {
    require_bounds(where, "kept_steps", *steps.kept_steps, bounds_of<&SpotSteps::kept_steps>);
  }
  require_bounds(where, "max_deviation", steps.max_deviation, bounds_of<&SpotSteps::max_deviation>);
  require_bounds(where, "max_worst", steps.max_worst, bounds_of<&SpotSteps::max_worst>);
}

std::vector<double> checked_targets(View<const float, 1> intensity, std::size_t count, const char* where) {
  std::vector<double> target(count, 1.0);
  if (intensity.data() == nullptr) return target;
  if (intensity.shape()[0] != static_cast<std::int64_t>(count)) {
    throw_argument(where, "intensity", fmt::format("shape {{{}}}, one for each spot", count),
                   to_string<1>(intensity.shape()));
  }
  require_device(where, "intensity", Device{}, intensity.device());
  double largest = 0;
  for (std::size_t m = 0; m < count; ++m) {
    const double value = intensity(static_cast<std::int64_t>(m));
    if (!(value > 0 && std::isfinite(value))) {
      throw_argument(where, fmt::format("spot {}", m), "a finite intensity > 0", fmt::format("{:g}", value));
    }
    target[m] = std::sqrt(value);
    largest = std::max(largest, target[m]);
  }
  for (double& value : target) value /= largest;
  return target;
}

std::vector<std::int64_t> checked_ids(View<const std::int64_t, 1> id, std::size_t count, const char* where) {
  std::vector<std::int64_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0);
  if (id.data() == nullptr) return ids;
  if (id.shape()[0] != static_cast<std::int64_t>(count)) {
    throw_argument(where, "id", fmt::format("shape {{{}}}, one for each spot", count), to_string<1>(id.shape()));
  }
  require_device(where, "id", Device{}, id.device());
  for (std::size_t m = 0; m < count; ++m) ids[m] = id(static_cast<std::int64_t>(m));
  auto sorted = ids;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) throw_argument(where, "id", "each id once", fmt::format("{} twice", *twice));
  return ids;
}

std::vector<Wave> checked_units(View<const float, 1> phase_rad, std::size_t count, const char* where) {
  std::vector<Wave> unit;
  if (phase_rad.data() != nullptr) {
    if (phase_rad.shape()[0] != static_cast<std::int64_t>(count)) {
      throw_argument(where, "phase_rad", fmt::format("shape {{{}}}, one for each spot", count),
                     to_string<1>(phase_rad.shape()));
    }
    require_device(where, "phase_rad", Device{}, phase_rad.device());
    for (const float phase : phase_rad.host()) {
      if (!std::isfinite(phase)) {
        throw_argument(where, fmt::format("spot {}", unit.size()), "a finite phase", fmt::format("{:g}", phase));
      }
      unit.push_back(std::polar(1.0, static_cast<double>(phase)));
    }
  }
  return unit;
}

}  // namespace holotone::spots
