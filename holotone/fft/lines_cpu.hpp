#pragma once
// One-dimensional transforms of many lines on the CPU, for plans that prune and interleave their own passes. Not for users.
#include <complex>
#include <cstdint>
#include <holotone/fft/fft.hpp>
#include <memory>

namespace holotone::fft {

/// What lines begin at a multiple of, in bytes: FFTW takes vector instructions for such lines alone, which halves its time.
inline constexpr std::size_t line_alignment = 64;

/// Complex numbers from line to line so that all of them are aligned.
constexpr std::int64_t line_distance(std::int64_t length) { return (length + 7) / 8 * 8; }

/// The same for lines that are gathered from columns: not a power of two, or they would share a few sets of the cache.
constexpr std::int64_t gathered_distance(std::int64_t length) { return line_distance(length) + 8; }

/// In-place transforms of `lines` contiguous lines of `length` samples, line i beginning at data + i * distance. Unscaled, by
/// FFTW in float32 or float64 in the calling thread; one plan may be executed by many threads at once.
template <class Real>
class LinePlan {
 public:
  /// Throws invalid_argument for a length below 1 or above 2^30 or a distance that is no line_distance, out_of_memory.
  LinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction);
  ~LinePlan();
  LinePlan(LinePlan&&) noexcept;
  LinePlan& operator=(LinePlan&&) noexcept;

  /// Throws invalid_argument where `data` is not aligned to line_alignment.
  void execute(std::complex<Real>* data) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same between `length` real samples and their length / 2 + 1 coefficients of non-negative frequency, in place: a line of
/// `distance` complex numbers holds either. The inverse takes the forward's output as Hermitian.
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

}  // namespace holotone::fft
