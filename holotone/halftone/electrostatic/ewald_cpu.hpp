#pragma once
// The grid of the Ewald split on the CPU. Not for users.
#include <array>
#include <complex>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <holotone/nufft/spread_cpu.hpp>
#include <vector>

namespace holotone::electrostatic {

/// Neutral grid (dots minus ink), real: one row of the padded grid for each used row.
class ChargeGrid {
 public:
  explicit ChargeGrid(const Setup& setup);

  /// `ink`: {used[0], used[1]}, for total charge 1.
  void set_ink(std::vector<float> ink) { ink_ = std::move(ink); }
  /// Spreads dots that are in the order of these cells.
  void spread(const DotList& dots, const Cells& order);
  /// Density of ink of total charge 1, not below min_density of its mean, 1/px^2.
  void densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const;

  /// Distance between rows, in floats; a row can be transformed in place.
  [[nodiscard]] std::int64_t row_length() const { return row_length_; }
  [[nodiscard]] float* data() { return cells_.data(); }
  [[nodiscard]] const nufft::SpreadKernel<float>& kernel() const { return kernel_; }
  [[nodiscard]] std::size_t bytes() const { return cells_.bytes() + ink_.capacity() * sizeof(float); }

 private:
  Setup setup_;
  nufft::SpreadKernel<float> kernel_;
  std::int64_t row_length_;
  float density_scale_;
  float min_density_;
  Array<float, 1> cells_;
  std::vector<float> ink_;
};

/// Far force at the nodes, from the neutral grid.
class FarField {
 public:
  explicit FarField(const Setup& setup);

  /// Computes the far force from `grid`, which it overwrites.
  void transform(ChargeGrid& grid);
  /// force = far force at the dots [begin, end).
  void interpolate(const ChargeGrid& grid, const DotList& dots, std::int64_t begin, std::int64_t end, float* force_x,
                   float* force_y) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  using Complex = std::complex<float>;
  void columns(const Complex* rows, std::int64_t row_step, std::int64_t first, std::int64_t count, Complex* memory);

  Setup setup_;
  std::int64_t distance_;
  std::int64_t force_step_;
  fft::RealLinePlan<float> rows_;
  fft::LinePlan<float> forward_;
  fft::LinePlan<float> inverse_;
  fft::LinePlan<float> rows_back_;
  std::vector<float> spectrum_;  ///< {grid[0] / 2 + 1, grid[1] / 2 + 1, 2}
  Array<Complex, 1> force_;      ///< rows of grid[1] numbers, force_step_ apart
  ThreadMemory<Complex> memory_;
};

}  // namespace holotone::electrostatic
