#pragma once
// Two-dimensional transforms made of single lines on the CPU: the same bits for any number of threads. Not for users.
#include <algorithm>
#include <complex>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/lines_cpu.hpp>

namespace holotone::electrostatic {

/// Number of columns gathered and transformed together.
constexpr std::int64_t column_block = 16;

/// Unscaled transforms in place of the first `columns` columns of a row-major array; its rows are `row_step` numbers
/// apart.
template <class Real>
void transform_columns(std::complex<Real>* data, std::int64_t ny, std::int64_t columns, std::int64_t row_step,
                       FftDirection direction) {
  ThreadMemory<std::complex<Real>> memory;
  const std::int64_t distance = fft::gathered_distance(ny);
  const fft::LinePlan<Real> plan(ny, column_block, distance, direction);
  memory.reserve(column_block * distance);
  parallel_for(0, (columns + column_block - 1) / column_block, [&](std::int64_t block) {
    auto* const scratch = memory.thread_block();
    const std::int64_t first = block * column_block;
    const std::int64_t count = std::min(column_block, columns - first);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t i = 0; i < column_block; ++i) {
        scratch[i * distance + y] = i < count ? data[y * row_step + first + i] : std::complex<Real>();
      }
    }
    plan.execute(scratch);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t i = 0; i < count; ++i) data[y * row_step + first + i] = scratch[i * distance + y];
    }
  });
}

/// Unscaled transform in place of a row-major {ny, nx} array.
template <class Real>
void transform_2d(std::complex<Real>* data, std::int64_t ny, std::int64_t nx, FftDirection direction) {
  ThreadMemory<std::complex<Real>> memory;
  const std::int64_t row_distance = fft::line_distance(nx);
  const fft::LinePlan<Real> row(nx, 1, row_distance, direction);
  memory.reserve(row_distance);
  parallel_for(0, ny, [&](std::int64_t y) {
    std::copy_n(data + y * nx, nx, memory.thread_block());
    row.execute(memory.thread_block());
    std::copy_n(memory.thread_block(), nx, data + y * nx);
  });
  transform_columns(data, ny, nx, nx, direction);
}

}  // namespace holotone::electrostatic
