#pragma once
// Point-cloud cases shared by the tests and the benchmarks: every result is checked before it is timed.
#include <cmath>
#include <complex>
#include <cstdint>
#include <holotone/core/random.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <string>
#include <tests/reference/point_cloud.hpp>
#include <vector>

namespace cases {

/// Every method for sums of Fresnel waves.
constexpr holotone::PointMethod point_methods[] = {holotone::PointMethod::direct, holotone::PointMethod::recurrence,
                                                   holotone::PointMethod::separable, holotone::PointMethod::fast};

/// True if the device has the method, and the method supports this tolerance (docs/holograms.md).
inline bool has_method(holotone::PointMethod method, double tolerance, holotone::Device device = {}) {
  const bool sum = method == holotone::PointMethod::direct || method == holotone::PointMethod::recurrence;
  if (device.backend == holotone::Backend::opencl && !sum) return false;
  return method != holotone::PointMethod::fast || tolerance >= holotone::point_cloud_fast_tolerance_floor;
}

/// A cloud on a panel: input and check of a result.
struct PointCloudCase {
  std::string name;
  holotone::PointCloudOptions options{.wave = holotone::Wave::fresnel};  ///< with the tolerance of the result
  std::int64_t count = 1;
  double near_m = 0.5;  ///< signed distances of the points: behind the panel is positive
  double far_m = 0.6;
  double extent = 0.8;  ///< width and height of the cloud, as a share of the panel's
  double offset = 0;    ///< offset of the cloud's centre from the axis, as a share of the panel's width and height
  bool phases = false;  ///< points with individual phases
  std::uint64_t seed = 1;

  [[nodiscard]] std::int64_t pixels() const { return options.shape[0] * options.shape[1]; }
  /// Operations of the sum as a product of real matrices: 8 per point and pixel, 4 for the real part alone.
  [[nodiscard]] double flops(bool real_only = false) const {
    return (real_only ? 4.0 : 8.0) * static_cast<double>(count) * static_cast<double>(pixels());
  }
  /// Least bytes moved: points in, complex field and 8-bit phase out.
  [[nodiscard]] double bytes() const { return 16.0 * static_cast<double>(count) + 9.0 * static_cast<double>(pixels()); }
};

/// Uniform in the case's box, amplitudes uniform in 0..1 with random signs. Without the signs a large cloud's field
/// becomes coherent: its mean grows as n and every relative error appears sqrt(n) times smaller.
inline reference::PointWaves make_points(const PointCloudCase& c) {
  reference::PointWaves points;
  std::uint64_t counter = 0;
  const auto uniform = [&] { return holotone::random_uniform64(c.seed, counter++); };
  const double width_m = c.options.pitch_m * static_cast<double>(c.options.shape[1]);
  const double height_m = c.options.pitch_m * static_cast<double>(c.options.shape[0]);
  for (std::int64_t j = 0; j < c.count; ++j) {
    const double x = width_m * ((uniform() - 0.5) * c.extent + c.offset);
    const double y = height_m * ((uniform() - 0.5) * c.extent + c.offset);
    const double d = c.near_m + (c.far_m - c.near_m) * uniform();
    const double size = uniform();
    const double sign = uniform() < 0.5 ? -1 : 1;
    points.position_m.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(-d)});
    points.amplitude.push_back(static_cast<float>(sign * size));
    if (c.phases) points.phase_rad.push_back(static_cast<float>(20 * (uniform() - 0.5)));
  }
  return points;
}

/// All of the case's points at one position near the axis, in phase: the largest possible field.
inline reference::PointWaves equal_points(const PointCloudCase& c) {
  const auto count = static_cast<std::size_t>(c.count);
  return {.position_m = std::vector<std::array<float, 3>>(count, {1e-5F, -2e-5F, static_cast<float>(-c.near_m)}),
          .amplitude = std::vector<float>(count, 0.9F),
          .phase_rad = {}};
}

inline holotone::PointSources sources(const reference::PointWaves& points) {
  const auto count = static_cast<std::int64_t>(points.amplitude.size());
  holotone::PointSources result{
      {count > 0 ? points.position_m[0].data() : nullptr, {count, 3}}, {points.amplitude.data(), {count}}, {}};
  if (!points.phase_rad.empty()) result.phase_rad = {points.phase_rad.data(), {count}};
  return result;
}

inline reference::PointPanel panel_of(const holotone::PointCloudOptions& options) {
  return {options.wavelength_m,      options.pitch_m,    options.shape[0],
          options.shape[1],          options.band_limit, options.wave == holotone::Wave::spherical,
          options.cone_wavelength_m, options.falloff};
}

/// The reference at the panel's corners and at random pixels; at all pixels if there are no more than requested.
struct PixelSample {
  std::vector<std::int64_t> index;  ///< row * nx + col
  std::vector<std::complex<double>> value;
};

inline PixelSample sample_reference(const PointCloudCase& c, const reference::PointWaves& points,
                                    std::int64_t samples) {
  PixelSample sample;
  const auto nx = c.options.shape[1];
  if (c.pixels() <= samples) {
    for (std::int64_t i = 0; i < c.pixels(); ++i) sample.index.push_back(i);
  } else {
    sample.index = {0, nx - 1, c.pixels() - nx, c.pixels() - 1};
    for (std::uint64_t k = 0; std::ssize(sample.index) < samples; ++k) {
      sample.index.push_back(
          static_cast<std::int64_t>(holotone::random_bits(77, k) % static_cast<std::uint64_t>(c.pixels())));
    }
  }
  sample.value.resize(sample.index.size());
  const auto panel = panel_of(c.options);
#pragma omp parallel for
  for (std::size_t i = 0; i < sample.index.size(); ++i) {
    sample.value[i] = reference::point_cloud_pixel(points, panel, sample.index[i] / nx, sample.index[i] % nx);
  }
  return sample;
}

/// ||got - expected|| / ||expected|| over the sample.
inline double relative_error(const PixelSample& expected, const std::complex<float>* field) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.index.size(); ++i) {
    error += std::norm(std::complex<double>(field[expected.index[i]]) - expected.value[i]);
    norm += std::norm(expected.value[i]);
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

/// The largest |got - expected| of the sample, relative to the field's root mean square there.
inline double largest_error(const PixelSample& expected, const std::complex<float>* field) {
  double largest = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.index.size(); ++i) {
    largest = std::max(largest, std::norm(std::complex<double>(field[expected.index[i]]) - expected.value[i]));
    norm += std::norm(expected.value[i]);
  }
  return std::sqrt(largest * static_cast<double>(expected.index.size()) / norm);
}

/// relative_error of a real part: against the real part's own norm.
inline double relative_error(const PixelSample& expected, const float* real) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected.index.size(); ++i) {
    const double difference = static_cast<double>(real[expected.index[i]]) - expected.value[i].real();
    error += difference * difference;
    norm += expected.value[i].real() * expected.value[i].real();
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

/// Root mean square distance in levels between 8-bit phases and the reference's argument, on the circle. Each pixel is
/// weighted by |U|^2, because the phase of a dark pixel is undefined. Rounding alone gives 0.289; a field with
/// relative error e adds at most 256 / 2 pi e = 40.8 e.
inline double phase_error_levels(const PixelSample& expected, const std::uint8_t* phase) {
  double sum = 0;
  double light = 0;
  for (std::size_t i = 0; i < expected.index.size(); ++i) {
    const double level = std::arg(expected.value[i]) / 6.283185307179586 * 256;
    double difference = static_cast<double>(phase[expected.index[i]]) - level;
    difference -= 256 * std::round(difference / 256);
    sum += std::norm(expected.value[i]) * difference * difference;
    light += std::norm(expected.value[i]);
  }
  return light > 0 ? std::sqrt(sum / light) : 0.0;
}

}  // namespace cases
