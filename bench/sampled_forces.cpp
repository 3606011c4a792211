#include <bench/sampled_forces.hpp>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>

namespace bench {
namespace {

using holotone::ImageForce;
using holotone::View;

constexpr int samples = 500;

std::int64_t sample(int i, std::int64_t among) {
  return static_cast<std::int64_t>(holotone::random_bits(7, static_cast<std::uint64_t>(i)) >> 1) % among;
}

/// Weight of a table's entry at a distance in pixels along an axis.
double compute_weight(ImageForce image, double distance) {
  const double d = std::abs(distance);
  if (image == ImageForce::points) return d < 1 ? 1 - d : 0;
  if (d >= 2) return 0;
  return d >= 1 ? (2 - d) * (2 - d) * (2 - d) / 6 : 2.0 / 3 - d * d * (1 - d / 2);
}

/// The table of attraction_table at (x, y), for a total charge of 1.
std::array<double, 2> attraction_at(const std::vector<double>& table, std::int64_t columns, ImageForce image, double x,
                                    double y) {
  const auto column = static_cast<std::int64_t>(std::floor(x - 0.5));
  const auto row = static_cast<std::int64_t>(std::floor(y - 0.5));
  std::array<double, 2> sum{};
  for (std::int64_t j = row - 1; j <= row + 2; ++j) {
    for (std::int64_t i = column - 1; i <= column + 2; ++i) {
      const double weight = compute_weight(image, x - 0.5 - static_cast<double>(i)) *
                            compute_weight(image, y - 0.5 - static_cast<double>(j));
      const auto entry = static_cast<std::size_t>(((j + 2) * (columns + 4) + i + 2) * 2);
      if (weight == 0) continue;
      sum[0] += weight * table[entry];
      sum[1] += weight * table[entry + 1];
    }
  }
  return sum;
}

}  // namespace

SampledForces::SampledForces(View<const float, 2> ink, View<const float, 2> dots, ImageForce image)
    : count_(dots.shape()[0]), force_(2 * samples) {
  const auto table = holotone::electrostatic::attraction_table(ink.shape(), ink.data(), image);
  holotone::parallel_for(0, samples, [&](std::int64_t i) {
    const std::int64_t place = sample(static_cast<int>(i), count_);
    const auto x = static_cast<double>(dots(place, 0));
    const auto y = static_cast<double>(dots(place, 1));
    auto sum = attraction_at(table, ink.shape()[1], image, x, y);
    for (double& value : sum) value *= static_cast<double>(count_);
    for (std::int64_t j = 0; j < count_; ++j) {
      const double dx = x - static_cast<double>(dots(j, 0));
      const double dy = y - static_cast<double>(dots(j, 1));
      const double square = dx * dx + dy * dy;
      if (j == place || square == 0) continue;
      sum[0] += dx / square;
      sum[1] += dy / square;
    }
    force_[static_cast<std::size_t>(2 * i)] = sum[0];
    force_[static_cast<std::size_t>(2 * i + 1)] = sum[1];
  });
}

std::array<double, 2> SampledForces::error(View<const float, 2> forces) const {
  double difference = 0;
  double norm = 0;
  for (int i = 0; i < samples; ++i) {
    for (std::int64_t axis = 0; axis < 2; ++axis) {
      const double expected = force_[static_cast<std::size_t>(2 * i + axis)];
      difference += std::pow(static_cast<double>(forces(sample(i, count_), axis)) - expected, 2);
      norm += expected * expected;
    }
  }
  return {std::sqrt(difference / norm), std::sqrt(difference / samples)};
}

}  // namespace bench
