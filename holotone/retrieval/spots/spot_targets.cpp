#include <algorithm>
#include <cmath>
#include <holotone/retrieval/spots/spot_targets.hpp>
#include <limits>
#include <utility>

namespace holotone::spots {

SpotLight compare_light(std::vector<double> intensity, std::span<const double> target) {
  SpotLight result;
  double sum = 0;
  double least = std::numeric_limits<double>::max();
  double most = 0;
  for (std::size_t m = 0; m < intensity.size(); ++m) {
    result.efficiency += intensity[m];
    const double ratio = intensity[m] / (target[m] * target[m]);
    sum += ratio;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  const auto n = static_cast<double>(intensity.size());
  const double mean = sum / n;
  double square = 0;
  for (std::size_t m = 0; m < intensity.size(); ++m) {
    square += std::pow(intensity[m] / (target[m] * target[m]) - mean, 2);
  }
  result.intensity = std::move(intensity);
  if (!(mean > 0)) {  // no light at all
    result.deviation = result.worst = result.contrast = 1;
    return result;
  }
  result.deviation = std::sqrt(square / n) / mean;
  result.worst = std::max(most - mean, mean - least) / mean;
  result.contrast = (most - least) / (most + least);
  return result;
}

namespace {
/// sum value conj(unit)
Wave product_sum(std::span<const Wave> value, std::span<const Wave> unit) {
  Wave sum;
  for (std::size_t m = 0; m < value.size(); ++m) sum += value[m] * std::conj(unit[m]);
  return sum;
}
}  // namespace

std::vector<Wave> turned_to(std::span<const Wave> unit, std::span<const Wave> value) {
  const Wave sum = product_sum(value, unit);
  const Wave common = sum == Wave() ? Wave(1) : sum / std::abs(sum);
  std::vector<Wave> turned;
  for (const auto& u : unit) turned.push_back(common * u);
  return turned;
}

double phase_error(std::span<const Wave> value, std::span<const Wave> unit) {
  const Wave common = product_sum(value, unit);
  double square = 0;
  for (std::size_t m = 0; m < value.size(); ++m) {
    square += std::pow(std::arg(value[m] * std::conj(unit[m] * common)), 2);
  }
  return std::sqrt(square / static_cast<double>(value.size()));
}

std::vector<double> targets_by_measured(std::span<const Wave> value, std::span<const double> asked,
                                        View<const float, 1> measured, double gain) {
  const std::size_t count = value.size();
  const auto ratio = [&](std::size_t m) {
    return static_cast<double>(measured(static_cast<std::int64_t>(m))) / (asked[m] * asked[m]);
  };
  double mean = 0;
  double power = 0;
  for (std::size_t m = 0; m < count; ++m) {
    mean += ratio(m) / static_cast<double>(count);
    power += std::norm(value[m]) / static_cast<double>(count);
  }
  std::vector<double> target(count);
  double largest = 0;
  for (std::size_t m = 0; m < count; ++m) {
    const double wanted = ratio(m) > 0 ? std::pow(mean / ratio(m), gain) : max_measured_change;
    const double change = std::clamp(wanted, 1 / max_measured_change, max_measured_change);
    // A spot that got no light at all has a target nevertheless.
    target[m] = std::sqrt(std::max(std::norm(value[m]), 1e-6 * power) * change);
    largest = std::max(largest, target[m]);
  }
  for (double& one : target) one /= largest;
  return target;
}

}  // namespace holotone::spots
