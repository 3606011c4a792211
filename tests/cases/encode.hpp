#pragma once
// Fields and options shared by the encoding tests.
#include <algorithm>
#include <cmath>
#include <complex>
#include <holotone/core/random.hpp>
#include <holotone/hologram/encode.hpp>
#include <numbers>
#include <vector>

namespace cases {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::EncodeOptions;
using holotone::EncodePlan;
using holotone::EncodeReport;
using holotone::Encoding;
using holotone::FieldGrid;
using holotone::Queue;

constexpr double two_pi = 2 * std::numbers::pi;

inline FieldGrid grid_of(std::int64_t ny, std::int64_t nx) { return {nx, ny, 8e-6, 532e-9}; }

/// All directions and magnitudes of a field: random magnitudes over nine decades, some exact axes and diagonals,
/// zeros, and numbers whose squares overflow or underflow float32.
inline std::vector<Complex> mixed_field(const FieldGrid& grid, std::uint64_t seed) {
  std::vector<Complex> field(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double size = std::pow(10.0, 6 * holotone::random_uniform64(seed, 2 * i) - 3);
    field[i] = Complex(std::polar(size, two_pi * holotone::random_uniform64(seed, 2 * i + 1)));
  }
  const Complex special[] = {{0, 0},       {1, 0},           {0, 1},       {-1, 0},    {0, -1},    {1, 1},
                             {-1, 1},      {-1, -1},         {1, -1},      {-0.0f, 0}, {1, -0.0f}, {1, -1e-30f},
                             {1e-30f, -1}, {3e-39f, 2e-39f}, {-2, 1e-20f}, {5, -5},    {0.5f, 0},  {0, -7}};
  for (std::size_t i = 0; i < std::size(special) && 3 * i < field.size(); ++i) field[3 * i] = special[i];
  return field;
}

/// A field that fills one magnitude range evenly, for encodings that keep amplitude.
inline std::vector<Complex> disc_field(const FieldGrid& grid, std::uint64_t seed) {
  std::vector<Complex> field(static_cast<std::size_t>(grid.nx * grid.ny));
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double size = 3 * std::sqrt(holotone::random_uniform64(seed, 2 * i));
    field[i] = Complex(std::polar(size, two_pi * holotone::random_uniform64(seed, 2 * i + 1)));
  }
  return field;
}

template <class T>
Array<T, 2> upload(const std::vector<T>& values, const FieldGrid& grid, Device device) {
  Array<T, 2> host(grid.shape());
  std::copy(values.begin(), values.end(), host.data());
  return host.to(device);
}

struct Encoded {
  std::vector<std::uint16_t> codes;
  EncodeReport report;
};

inline Encoded run(const std::vector<Complex>& field, const EncodeOptions& options, const FieldGrid& grid,
                   Device device) {
  const Queue queue(device);
  const auto input = upload(field, grid, device);
  EncodePlan plan(options, grid, queue);
  Array<std::uint16_t, 2> codes(grid.shape(), queue);
  plan.execute(input.view(), codes.view());
  queue.synchronize();
  const auto host = codes.to(Device{});
  return {{host.data(), host.data() + host.size()}, plan.report()};
}

/// Options of every encoding, with beams and tables.
inline std::vector<EncodeOptions> one_of_each() {
  std::vector<EncodeOptions> all;
  for (const auto& [encoding, name] : holotone::enum_names<Encoding>) {
    EncodeOptions options;
    options.encoding = encoding;
    options.bits = 8;
    all.push_back(options);
    if (holotone::encoding_traits(encoding).encodes_beam) all.back().reference_angle_x_rad = 0.02;
    if (!holotone::needs_phase_modulator(encoding)) continue;
    options.carrier_x_rad = 0.013;
    options.carrier_y_rad = 0.004;
    all.push_back(options);
    for (int i = 0; i < 200; ++i) options.level_phase_rad.push_back(0.03 * i + 0.4 * std::sin(0.05 * i));
    all.push_back(options);
  }
  return all;
}

}  // namespace cases
