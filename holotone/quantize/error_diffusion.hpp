#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <memory>
#include <string>
#include <vector>

namespace holotone {

struct ErrorDiffusionOptions {
  Modulation modulation = Modulation::phase;
  int bits = 8;  ///< 1 to 8; codes are 0 .. 2^bits - 1
  /// What codes 0, 1, 2, ... show where steps are unequal: 2 to 2^bits phases in radians, or rising amplitudes from 0
  /// to 1. Empty: equal steps, phases code / 2^bits of a turn, amplitudes code / (2^bits - 1).
  std::vector<double> levels{};
  /// Side of the squares that have weights of their own and pass no error on; 0: one for all.
  std::int64_t hogel_px = 0;
  double clip = 0.999;  ///< share of pixels whose modulus is at most 1 after scaling; the others are clipped
  /// What the field is divided by; 0: the modulus that the share asks for (of fields that come in blocks:
  /// ModulusShare).
  double scale = 0;
  /// Every second row of a hogel from right to left (Ulichney 1987). All that such a row's pixels err goes the other
  /// way: dx columns to the left, also in the rows below, by the weights `backward`. On the CPU, one pixel at a time.
  bool serpentine = false;
  /// CUDA: where machine code made for a pattern of taps is kept for other processes; empty: nowhere.
  std::string cache_folder{};
};

struct ErrorDiffusionReport {
  float scale = 1;  ///< what the field was divided by
};

/// A complex field in levels of a panel, whose errors are passed on to pixels that come later. With h = field / scale,
/// |h| <= 1 (amplitude: (1 + Re h) / 2, Re h / scale clipped to -1 .. 1), in raster order within each hogel
///   u(x, y) = h(x, y) + sum over taps of w e(x - dx, y - dy),   q = the level nearest to u,   e = u - q
/// (phase: q = exp(i phase) nearest in phase, of equal ones the lower). So noise q - h = -(e - sum of w e) has the
/// spectrum (1 - W) E. Errors outside the hogel count as 0. Without taps it is truncation. Two phases reach no more
/// than a line: of e the part along it counts, and in a window of one bit of phase stands half of the field, with the
/// conjugate order in the mirror image.
///
/// float32 with every rounding fixed: sums by fused multiply-adds in an order that depends on the taps alone, phases
/// within 2.5e-6 turns by multiply-adds (phase_math.h). The same codes on every processor and for any number of
/// threads, as long as errors stay below 1e30 times the scale. Cost O(pixels taps); rows and hogels run side by side.
/// CUDA: a kernel compiled for the pattern of taps when the plan is made (about a second, unless the cache has it), 4.0
/// to 4.6 ms for 24,576 x 24,576 pixels with 27 taps on an H200, where a scale that is not given takes 4.6 ms more.
/// Sources: Floyd, Steinberg 1976; Heggarty, Chevallier, J. Opt. Soc. Am. A
/// 15, 625 (1998), one window for all (SWED); Lagrange et al. 2024, one for each hogel (VDED).
class ErrorDiffusionPlan {
 public:
  /// For fields {ny, nx}, weights of one set or of one for each hogel, row by row. Throws invalid_argument naming the
  /// option, its range and the value; unsupported for a device that this build has not and, on CUDA, for serpentine
  /// order and taps farther than 31 rows or than shared memory reaches.
  ErrorDiffusionPlan(const ErrorDiffusionOptions& options, const DiffusionWeights& weights, Shape<2> shape,
                     Queue queue = {});
  ~ErrorDiffusionPlan();
  ErrorDiffusionPlan(ErrorDiffusionPlan&&) noexcept;
  ErrorDiffusionPlan& operator=(ErrorDiffusionPlan&&) noexcept;

  /// Other weights over the same taps, as many sets: of another part of a panel. Throws invalid_argument for other
  /// taps or another number of sets. CUDA: waits for what has been enqueued.
  void set_weights(const DiffusionWeights& weights);

  /// {ny, nx}. Throws invalid_argument for another shape or a pixel that is not finite, which it names. CUDA: waits for
  /// the scale; where that is given it only enqueues, and report throws.
  void execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes);
  /// Waits for the last execute.
  [[nodiscard]] ErrorDiffusionReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Hogels of a panel of this size, {rows, columns}; those at the right and at the bottom may be smaller.
Shape<2> hogels_of(Shape<2> shape, std::int64_t hogel_px);

}  // namespace holotone
