#pragma once
// A small panel seen through a pupil, for the tests of EyePlan.
#include <cmath>
#include <holotone/optics/eye.hpp>
#include <tests/reference/eye.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>
#include <vector>

namespace eye {

using holotone::Array;
using holotone::Device;
using holotone::EyeOptions;
using holotone::EyePlan;
using holotone::EyePupil;
using holotone::FieldGrid;
using holotone::PupilShape;
using reference::Plane;
using support::Complex;
using support::Complex64;
using support::reference_plane;
using Values = std::vector<Complex64>;
using Picture = std::vector<double>;

constexpr double green = 532e-9;
constexpr double micro = 1e-6;
constexpr double milli = 1e-3;

/// Deterministic values without structure, of modulus 0.5 to 1.5.
inline Values noise(const FieldGrid& grid) {
  Values values(reference_plane(grid).size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto n = static_cast<double>(i) + 1;
    values[i] = std::polar(1.0, 7.31 * n * n + std::sin(3.7 * n)) * (1 + 0.5 * std::sin(1.3 * n));
  }
  return values;
}

struct SmallCase {
  FieldGrid grid{32, 24, 2 * micro, green};
  EyeOptions options{.grid = grid,
                     .pupil = {200 * micro, 150 * micro, 5 * milli, 50 * micro, -30 * micro},
                     .output_pitch_m = 4 * micro,  // so fine that a pixel is one sample
                     .output_shape = {9, 12}};
  double focus_m = 7 * milli;
  Values field = noise(grid);
};

inline reference::Eye reference_eye(const EyePupil& pupil) {
  return {pupil.x_m, pupil.y_m, pupil.width_m, pupil.height_m, pupil.distance_m, pupil.shape == PupilShape::ellipse};
}

inline Picture look(EyePlan& plan, double focus_m, Device device) {
  Array<float, 2> intensity(plan.output_grid().shape(), device);
  plan.look(focus_m, intensity.view());
  const auto host = intensity.to(Device{});
  return {host.host().begin(), host.host().end()};
}

inline void add(EyePlan& plan, const Values& field, const FieldGrid& grid, Device device) {
  plan.add_rows(support::upload(field, grid.shape(), device).view(), 0);
}

inline double relative_difference(const Picture& got, const Picture& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(got[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  const double error = std::sqrt(difference / norm);
  return std::isnan(error) ? INFINITY : error;
}

/// Twice the bound of the field: truncation of the soft edges in both passes, and six transforms of `samples` samples.
inline double intensity_tolerance(double samples) {
  const double traces = 2 * 2 * std::exp(-reference::pi * 2.75 * 2.75 / 2);
  return 2 * (traces + 6 * 6e-8 * (2 + std::log2(samples)));
}

}  // namespace eye
