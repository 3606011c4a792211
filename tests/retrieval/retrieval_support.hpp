#pragma once
// Pictures, a beam and grids for the tests of phase retrieval.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <tests/support/on_each_device.hpp>
#include <utility>
#include <vector>

namespace support {

using holotone::Array;
using holotone::Device;
using holotone::PhaseRetrievalPlan;
using holotone::random_uniform64;
using holotone::Shape;

inline constexpr double pitch_m = 8e-6;
inline constexpr double wavelength_m = 532e-9;

inline holotone::FieldGrid make_grid(std::int64_t ny, std::int64_t nx) { return {nx, ny, pitch_m, wavelength_m}; }

/// Soft discs of several brightnesses on a grey ground.
inline Array<float, 2> draw_picture(Shape<2> shape) {
  Array<float, 2> picture(shape);
  const auto [ny, nx] = shape;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      double value = 0.2;
      for (int disc = 0; disc < 4; ++disc) {
        const auto place = [&](int axis) { return random_uniform64(9, static_cast<std::uint64_t>(3 * disc + axis)); };
        const double dx = static_cast<double>(col) / static_cast<double>(nx) - place(0);
        const double dy = static_cast<double>(row) / static_cast<double>(ny) - place(1);
        value += (0.3 + 0.2 * disc) * std::exp(-(dx * dx + dy * dy) * 30);
      }
      picture(row, col) = static_cast<float>(value);
    }
  }
  return picture;
}

inline std::vector<double> doubles_of(const Array<float, 2>& values) {
  return {values.data(), values.data() + values.size()};
}

inline std::vector<double> doubles_of(const Array<float, 3>& values) {
  return {values.data(), values.data() + values.size()};
}

inline Shape<3> frames_of(std::int64_t count, Shape<2> shape) { return {count, shape[0], shape[1]}; }

/// A beam that is brighter in the middle and tilted.
inline Array<Complex, 2> beam_of(Shape<2> shape) {
  Array<Complex, 2> beam(shape);
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      const double dx = static_cast<double>(col) / static_cast<double>(shape[1]) - 0.4;
      const double dy = static_cast<double>(row) / static_cast<double>(shape[0]) - 0.5;
      beam(row, col) = std::polar(static_cast<float>(std::exp(-2 * (dx * dx + dy * dy))), static_cast<float>(3 * dx));
    }
  }
  return beam;
}

/// Loss and derivative in host memory.
inline std::pair<double, Array<float, 3>> gradient_at(PhaseRetrievalPlan& plan, const Array<float, 3>& phase,
                                                      Device device) {
  const auto copy = phase.to(device);
  Array<float, 3> derivative(phase.shape(), device);
  const double loss = plan.gradient(copy.view(), derivative.view());
  return {loss, derivative.to(Device{})};
}

}  // namespace support
