#pragma once
// One-dimensional transforms of many lines on the CPU, for plans that prune and interleave passes. Not for users.
#include <array>
#include <complex>
#include <cstdint>
#include <holotone/fft/fft.hpp>
#include <memory>

namespace holotone::fft {

/// Alignment of lines in bytes. FFTW uses vector instructions only for aligned lines, which halves its time.
inline constexpr std::size_t line_alignment = 64;

/// Distance between lines, in complex numbers, that keeps every line aligned.
constexpr std::int64_t line_distance(std::int64_t length) { return (length + 7) / 8 * 8; }

/// Distance between lines gathered from columns: not a power of two, because such lines would share a few cache sets.
constexpr std::int64_t gathered_distance(std::int64_t length) { return line_distance(length) + 8; }

/// In-place transforms of `lines` contiguous lines of `length` samples; line i begins at data + i * distance.
/// Unscaled, in float32 or float64, in the calling thread. Many threads may execute one plan at once.
template <class Real>
class LinePlan {
 public:
  /// Throws invalid_argument for a length below 1 or above 2^30, or a distance that is not a line_distance;
  /// out_of_memory.
  LinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction);
  ~LinePlan();
  LinePlan(LinePlan&&) noexcept;
  LinePlan& operator=(LinePlan&&) noexcept;

  /// Throws invalid_argument unless `data` is aligned to line_alignment.
  void execute(std::complex<Real>* data) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Of one line, forward and inverse.
using LinePlans = std::array<LinePlan<float>, 2>;
inline LinePlans line_plans(std::int64_t length) {
  const std::int64_t distance = line_distance(length);
  return {LinePlan<float>{length, 1, distance, FftDirection::forward},
          LinePlan<float>{length, 1, distance, FftDirection::inverse}};
}

/// Below this many elements, starting threads costs more than they save.
inline constexpr std::int64_t threaded_elements = std::int64_t{1} << 17;

/// In-place transforms between `length` real samples and their length / 2 + 1 coefficients of non-negative frequency. A
/// line of `distance` complex numbers holds either. The inverse treats the forward's output as Hermitian.
template <class Real>
class RealLinePlan {
 public:
  RealLinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction);
  ~RealLinePlan();
  RealLinePlan(RealLinePlan&&) noexcept;
  RealLinePlan& operator=(RealLinePlan&&) noexcept;
  void execute(std::complex<Real>* data) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Throws for what no plan takes.
void require_lines(std::int64_t length, std::int64_t distance);
void require_aligned(const void* data);

// NOLINTBEGIN(bugprone-macro-parentheses): types
/// Ends a file that defines State, the constructor and execute of a plan of lines.
#define HOLOTONE_LINES(Plan)                                    \
  template <class Real>                                         \
  Plan<Real>::~Plan() = default;                                \
  template <class Real>                                         \
  Plan<Real>::Plan(Plan&&) noexcept = default;                  \
  template <class Real>                                         \
  Plan<Real>& Plan<Real>::operator=(Plan&&) noexcept = default; \
  template class Plan<float>;                                   \
  template class Plan<double>;
// NOLINTEND(bugprone-macro-parentheses)

/// Copies adjacent columns into lines: sample l of column b is at columns[l * step + b], line b begins at
/// lines + b * distance.
template <class Real>
void gather_columns(const std::complex<Real>* columns, std::int64_t step, std::int64_t length, std::int64_t count,
                    std::complex<Real>* lines, std::int64_t distance) {
  for (std::int64_t l = 0; l < length; ++l) {
    for (std::int64_t b = 0; b < count; ++b) lines[b * distance + l] = columns[l * step + b];
  }
}

/// The way back of gather_columns.
template <class Real>
void scatter_columns(const std::complex<Real>* lines, std::int64_t distance, std::int64_t length, std::int64_t count,
                     std::complex<Real>* columns, std::int64_t step) {
  for (std::int64_t l = 0; l < length; ++l) {
    for (std::int64_t b = 0; b < count; ++b) columns[l * step + b] = lines[b * distance + l];
  }
}

}  // namespace holotone::fft
