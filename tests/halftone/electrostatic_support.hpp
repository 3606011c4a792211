#pragma once
// Pictures, dots and a plan with data in host memory, for the tests of electrostatic halftoning.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <string>
#include <tests/reference/electrostatic.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace support {

struct Picture {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::vector<float> ink;
};

/// A ramp, edges and a disc.
inline Picture picture(std::int64_t ny, std::int64_t nx) {
  Picture result{ny, nx, {}};
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const double x = (static_cast<double>(column) + 0.5) / static_cast<double>(nx);
      const double y = (static_cast<double>(row) + 0.5) / static_cast<double>(ny);
      double ink = 0.1 + 0.8 * x;
      if (y > 0.5) ink = static_cast<int>(6 * x) % 2 == 0 ? 0.9 : 0.2;
      if (std::hypot(x - 0.5, y - 0.6) < 0.2) ink = 0.6;
      result.ink.push_back(static_cast<float>(ink));
    }
  }
  return result;
}

inline Picture grey(std::int64_t ny, std::int64_t nx) {
  return {ny, nx, std::vector<float>(static_cast<std::size_t>(ny * nx), 0.5F)};
}

/// Independent dots with the density of the ink.
inline std::vector<float> random_dots(const Picture& on, std::int64_t count, std::uint64_t seed) {
  std::vector<double> sum(on.ink.size() + 1, 0.0);
  for (std::size_t i = 0; i < on.ink.size(); ++i) sum[i + 1] = sum[i] + static_cast<double>(on.ink[i]);
  std::vector<float> position;
  for (std::int64_t j = 0; j < count; ++j) {
    const auto draw = static_cast<std::uint64_t>(3 * j);
    const double place = holotone::random_uniform64(seed, draw) * sum.back();
    const auto pixel = std::upper_bound(sum.begin() + 1, sum.end() - 1, place) - sum.begin() - 1;
    position.push_back(
        static_cast<float>(static_cast<double>(pixel % on.nx) + holotone::random_uniform64(seed, draw + 1)));
    position.push_back(
        static_cast<float>(static_cast<double>(pixel / on.nx) + holotone::random_uniform64(seed, draw + 2)));
  }
  return position;
}

/// ||got - expected|| / ||expected|| over all components.
inline double force_error(const std::vector<float>& got, const std::vector<reference::Force>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t a = 0; a < 2; ++a) {
      difference += std::pow(static_cast<double>(got[2 * i + a]) - expected[i][a], 2);
      norm += expected[i][a] * expected[i][a];
    }
  }
  const double error = std::sqrt(difference / norm);
  return std::isnan(error) ? INFINITY : error;
}

/// A plan, its picture and its dots.
class Halftone {
 public:
  Halftone(const Picture& on, const std::vector<float>& dots, holotone::Device device,
           const holotone::ElectrostaticOptions& options = {})
      : queue_(holotone::Queue::create(device)),
        plan_({on.ny, on.nx}, static_cast<std::int64_t>(dots.size() / 2), queue_, options) {
    set_ink(on);
    set_positions(dots);
  }

  void set_ink(const Picture& on) {
    holotone::Array<float, 2> ink({on.ny, on.nx}, queue_);
    put(ink, on.ink);
    plan_.set_ink(ink.view());
    queue_.synchronize();
  }
  void set_positions(const std::vector<float>& dots) {
    holotone::Array<float, 2> device_dots({static_cast<std::int64_t>(dots.size() / 2), 2}, queue_);
    put(device_dots, dots);
    plan_.set_positions(device_dots.view());
    queue_.synchronize();
  }
  [[nodiscard]] std::vector<float> positions() {
    holotone::Array<float, 2> force({plan_.count(), 2}, queue_);
    plan_.positions(force.view());
    return get(force);
  }
  [[nodiscard]] std::vector<float> forces() {
    holotone::Array<float, 2> force({plan_.count(), 2}, queue_);
    plan_.forces(force.view());
    return get(force);
  }
  void move(const std::vector<float>& forces, const holotone::StepRule& rule = {}) {
    holotone::Array<float, 2> force({plan_.count(), 2}, queue_);
    put(force, forces);
    plan_.move(force.view(), rule);
    queue_.synchronize();
  }
  holotone::ElectrostaticPlan& plan() { return plan_; }

 private:
  void put(holotone::Array<float, 2>& target, const std::vector<float>& source) {
    holotone::copy<float, 2>(target.view(), holotone::View<const float, 2>(source.data(), target.shape()), queue_);
    queue_.synchronize();
  }
  std::vector<float> get(const holotone::Array<float, 2>& source) {
    const auto host = source.to(holotone::Device{});
    return {host.data(), host.data() + host.size()};
  }

  holotone::Queue queue_;
  holotone::ElectrostaticPlan plan_;
};

/// Distance from each dot to its nearest neighbour.
inline std::vector<double> nearest_distances(const std::vector<float>& position) {
  const std::size_t count = position.size() / 2;
  std::vector<double> nearest(count, INFINITY);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i == j) continue;
      const double dx = static_cast<double>(position[2 * i]) - static_cast<double>(position[2 * j]);
      const double dy = static_cast<double>(position[2 * i + 1]) - static_cast<double>(position[2 * j + 1]);
      nearest[i] = std::min(nearest[i], std::hypot(dx, dy));
    }
  }
  return nearest;
}

}  // namespace support
