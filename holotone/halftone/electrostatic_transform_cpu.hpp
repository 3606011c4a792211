#pragma once
// Two-dimensional transforms made of single lines on the CPU: the same bits for any number of threads. Not for users.
#include <algorithm>
#include <complex>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <vector>

namespace holotone::electrostatic {

/// Columns that are gathered and transformed together.
constexpr std::int64_t column_block = 16;

/// Distance between the gathered columns: not a power of two, or they would share a few sets of the cache.
constexpr std::int64_t column_distance(std::int64_t length) { return (length + 7) / 8 * 8 + 8; }

/// Unscaled transform in place of a row-major {ny, nx} array.
template <class Real>
void transform_2d(std::complex<Real>* data, std::int64_t ny, std::int64_t nx, FftDirection direction) {
  const fft::LinePlan<Real> row(nx, 1, nx, direction);
  parallel_for(0, ny, [&](std::int64_t y) { row.execute(data + y * nx); });
  const std::int64_t distance = column_distance(ny);
  const fft::LinePlan<Real> columns(ny, column_block, distance, direction);
  std::vector<std::vector<std::complex<Real>>> memory(static_cast<std::size_t>(thread_count()));
  parallel_for(0, (nx + column_block - 1) / column_block, [&](std::int64_t block) {
    auto& own = memory[static_cast<std::size_t>(omp_get_thread_num())];
    own.resize(static_cast<std::size_t>(column_block * distance));
    const std::int64_t first = block * column_block;
    const std::int64_t count = std::min(column_block, nx - first);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t i = 0; i < count; ++i) {
        own[static_cast<std::size_t>(i * distance + y)] = data[y * nx + first + i];
      }
    }
    columns.execute(own.data());
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t i = 0; i < count; ++i) {
        data[y * nx + first + i] = own[static_cast<std::size_t>(i * distance + y)];
      }
    }
  });
}

}  // namespace holotone::electrostatic
