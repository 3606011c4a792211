#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/optics/row_range.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <memory>
#include <string>
#include <vector>

namespace holotone {

/// What becomes of errors at the borders of hogels.
enum class HogelBorders {
  separate,  ///< they are dropped: hogels are independent
  carry,     ///< they cross, and the pixel that collects them uses its own hogel's weights: noise without seams
};
template <>
inline constexpr auto enum_names<HogelBorders> = std::array{EnumName<HogelBorders>{HogelBorders::separate, "separate"},
                                                            EnumName<HogelBorders>{HogelBorders::carry, "carry"}};

struct ErrorDiffusionOptions {
  Modulation modulation = Modulation::phase;
  int bits = 8;  ///< 1 to 8; codes are 0 .. 2^bits - 1
  /// Values of codes 0, 1, 2, ... with unequal steps: 2 to 2^bits phases in radians, or rising amplitudes from 0 to 1.
  /// Empty: equal steps, phases code / 2^bits of a turn, amplitudes code / (2^bits - 1).
  std::vector<double> levels{};
  /// Side of a hogel in pixels, which has its own weights; 0: one for all pixels.
  std::int64_t hogel_px = 0;
  double clip = 0.999;  ///< share of pixels of modulus at most 1 after scaling, 0.01 to 1; the others are clipped
  /// Divisor of the field; 0: the modulus that a share `clip` of the pixels do not exceed (for fields in blocks:
  /// ModulusShare).
  double scale = 0;
  /// True: every second row of a hogel runs from right to left (Ulichney 1987). The errors of its pixels move dx
  /// columns to the left, also in the rows below, with the weights `backward`. CPU only, one pixel at a time.
  bool serpentine = false;
  /// CUDA: folder in which kernels compiled for a pattern of taps are kept for other processes; empty: none.
  std::string cache_folder{};
  /// Maximum number of rows of a part of the panel that `execute` computes, whole rows of hogels; 0: the panel. Fewer
  /// rows take less memory on a GPU.
  std::int64_t rows_at_once = 0;
  /// carry: the whole panel is one wavefront, computed as a whole; raster order only.
  HogelBorders borders = HogelBorders::separate;
};
template <>
inline constexpr Bounds bounds_of<&ErrorDiffusionOptions::bits>{1, 8};
template <>
inline constexpr Bounds bounds_of<&ErrorDiffusionOptions::clip>{0.01, 1};

struct ErrorDiffusionReport {
  float scale = 1;  ///< divisor of the field
};

/// Quantizes a complex field to the levels of a panel and passes the errors on to later pixels. With h = field / scale
/// clipped to |h| <= 1 (amplitude: (1 + Re h) / 2, Re h clipped to -1 .. 1), in raster order within each hogel
///   u(x, y) = h(x, y) + sum over taps of w e(x - dx, y - dy),   q = the level nearest to u,   e = u - q
/// (phase: q = exp(i phase) nearest in phase; of codes with equal phases the lowest). So noise q - h = -(e - sum of
/// w e) has the spectrum (1 - W) E. Errors outside the hogel count as 0; with HogelBorders::carry outside the panel,
/// and w are those of the hogel of (x, y). Without taps it is truncation. Values of two phases lie on a line: only the
/// part of e along it is passed on. With one bit of phase, the window contains half of the field, and its mirror image
/// the conjugate order.
///
/// float32 with every rounding fixed: sums by fused multiply-adds in an order that depends on the taps alone, phases
/// within 2.5e-6 turns by multiply-adds (phase_math.h). Codes are the same on every processor and for any number of
/// threads if errors stay below 1e30 times the scale. Cost O(pixels taps); rows and hogels are processed in parallel.
/// CUDA: the plan compiles a kernel for its pattern of taps (about 1 s, unless cached). 24,576 x 24,576 pixels with 27
/// taps take 4.0 to 4.6 ms on an H200, and 4.6 ms more if the scale is not given.
/// Sources: Floyd, Steinberg 1976; Heggarty, Chevallier, J. Opt. Soc. Am. A
/// 15, 625 (1998), one window for all (SWED); Lagrange et al. 2024, one for each hogel (VDED).
class ErrorDiffusionPlan {
 public:
  /// Plan for fields of shape {ny, nx}. weights: one set, or one for each hogel, row by row. Throws invalid_argument
  /// naming the option, its range and the value; unsupported for a device that this build does not support. On CUDA
  /// also unsupported: serpentine order, taps more than 31 rows above, and taps whose rows exceed the shared memory.
  ErrorDiffusionPlan(const ErrorDiffusionOptions& options, const DiffusionWeights& weights, Shape<2> shape,
                     Queue queue = {});
  ~ErrorDiffusionPlan();
  ErrorDiffusionPlan(ErrorDiffusionPlan&&) noexcept;
  ErrorDiffusionPlan& operator=(ErrorDiffusionPlan&&) noexcept;

  /// Replaces the weights, for example for a viewer who has moved: same taps (WeightOptions::given_taps), same number
  /// of sets. Only copies: compiles and allocates nothing. CUDA: enqueues the copy, behind earlier work. Throws
  /// invalid_argument for other taps or another number of sets.
  void set_weights(const DiffusionWeights& weights);

  /// Computes the codes of a field, both {ny, nx} on the plan's device. Throws invalid_argument for another shape or
  /// device, and naming the first pixel that is not finite. CUDA: waits for the scale. If the scale is given it only
  /// enqueues, and report throws for the pixel.
  void execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes);
  /// Computes the codes of some rows of the panel, both {part.rows, nx}: the same as in the whole panel. Throws also if
  /// the part does not begin and end with a row of hogels, for more rows than rows_at_once, and without a given scale.
  void execute(const RowRange& part, View<const Complex, 2> field, View<std::uint8_t, 2> codes);
  /// Waits for the last execute. Throws invalid_argument naming the first pixel that is not finite.
  [[nodiscard]] ErrorDiffusionReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Hogels of a panel of this size, {rows, columns}; those at the right and at the bottom may be smaller.
Shape<2> hogels_of(Shape<2> shape, std::int64_t hogel_px);

}  // namespace holotone
