#pragma once
// One axis of a pruned transform between an oversampled grid and the modes of a plan, on the CPU. Not for users.
#include <algorithm>
#include <holotone/fft/lines_cpu.hpp>
#include <vector>

namespace holotone::nufft {

/// Modes that are contiguous in the output and on the grid's frequency axis.
struct ModeRun {
  std::int64_t mode;       ///< first mode, in the output's order
  std::int64_t frequency;  ///< first frequency, on the grid
  std::int64_t count;
};

/// Runs of the modes k = -floor(n/2) .. of an axis of `grid` samples in rising order, or k = 0 .. floor(n/2).
inline std::vector<ModeRun> mode_runs(std::int64_t modes, std::int64_t grid, bool half) {
  if (half) return {{0, 0, modes / 2 + 1}};
  const std::int64_t negative = modes / 2;
  if (negative == 0) return {{0, 0, modes}};
  return {{0, grid - negative, negative}, {negative, 0, modes - negative}};
}

/// Transforms lines along the columns of an array, sixteen adjacent columns at a time. They are gathered into a block
/// that fits the cache, transformed, and scattered with the factors of their modes. Only the requested columns and
/// modes are read or written.
template <class Real>
class AxisPass {
 public:
  using Complex = std::complex<Real>;

  /// Plans transforms between lines of `grid` samples and their modes, which have a `factor` each.
  AxisPass(std::int64_t grid, std::vector<ModeRun> runs, const std::vector<double>& factor)
      : grid_(grid),
        runs_(std::move(runs)),
        factor_(factor.begin(), factor.end()),
        forward_(grid, block, distance(), FftDirection::forward),
        inverse_(grid, block, distance(), FftDirection::inverse) {}

  /// Adjacent columns: sample l at samples[l * sample_step], mode m at modes[m * mode_step]; `count` columns.
  struct Lines {
    Complex* samples;
    std::int64_t sample_step;
    Complex* modes;
    std::int64_t mode_step;
    const Real* factor;  ///< one factor for each column, or null
    std::int64_t count;
  };

  static constexpr std::int64_t block = 16;

  [[nodiscard]] std::int64_t block_size() const { return block * distance(); }

  /// modes = factor * forward transform of the samples. count <= block; `memory` holds block_size() numbers.
  void forward(const Lines& lines, Complex* memory) const {
    fft::gather_columns(lines.samples, lines.sample_step, grid_, lines.count, memory, distance());
    clear_unused(lines.count, memory);
    forward_.execute(memory);
    for (const auto& run : runs_) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        Complex* const row = lines.modes + (run.mode + i) * lines.mode_step;
        const Real factor = factor_[static_cast<std::size_t>(run.mode + i)];
        const Complex* const from = memory + run.frequency + i;
        for (std::int64_t b = 0; b < lines.count; ++b) {
          row[b] = from[b * distance()] * (lines.factor ? factor * lines.factor[b] : factor);
        }
      }
    }
  }

  /// samples = inverse transform of factor * modes, zero at the other frequencies.
  void inverse(const Lines& lines, Complex* memory) const {
    std::fill_n(memory, block_size(), Complex());
    for (const auto& run : runs_) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        const Complex* const row = lines.modes + (run.mode + i) * lines.mode_step;
        const Real factor = factor_[static_cast<std::size_t>(run.mode + i)];
        Complex* const to = memory + run.frequency + i;
        for (std::int64_t b = 0; b < lines.count; ++b) {
          to[b * distance()] = row[b] * (lines.factor ? factor * lines.factor[b] : factor);
        }
      }
    }
    inverse_.execute(memory);
    fft::scatter_columns(memory, distance(), grid_, lines.count, lines.samples, lines.sample_step);
  }

 private:
  [[nodiscard]] std::int64_t distance() const { return fft::gathered_distance(grid_); }
  void clear_unused(std::int64_t count, Complex* memory) const {
    std::fill(memory + count * distance(), memory + block * distance(), Complex());
  }

  std::int64_t grid_;
  std::vector<ModeRun> runs_;
  std::vector<Real> factor_;
  fft::LinePlan<Real> forward_;
  fft::LinePlan<Real> inverse_;
};

}  // namespace holotone::nufft
