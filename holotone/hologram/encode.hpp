#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <string_view>
#include <vector>

namespace holotone {

/// What a modulator is made to show for a complex field.
enum class Encoding {
  phase,            ///< arg U on a phase modulator (kinoform): Lesem, Hirsch, Jordan 1969
  amplitude,        ///< real part with an on-axis or tilted reference beam
  double_phase,     ///< two phases whose mean is U, in a checkerboard: Hsueh and Sawchuk 1978
  single_sideband,  ///< half the spectrum removed, real part: Bryngdahl and Lohmann 1968
  burckhardt,       ///< three non-negative amplitudes in a cell of three pixels: Burckhardt 1970
};
std::string_view to_string(Encoding encoding);

/// "phase", "amplitude", "double-phase", "single-sideband", "burckhardt". Throws invalid_argument naming the nearest.
Encoding parse_encoding(std::string_view name);

/// True for the encodings that a phase modulator shows (phase, double_phase); the others need an amplitude modulator.
constexpr bool needs_phase_modulator(Encoding encoding) {
  return encoding == Encoding::phase || encoding == Encoding::double_phase;
}

struct EncodeOptions {
  Encoding encoding = Encoding::phase;
  int bits = 8;  ///< 2 to 16; 1 too for the amplitude encodings. Codes are 0 .. 2^bits - 1

  // Phase modulators (phase, double_phase).
  /// Full stroke in radians: code l shows l / 2^bits * phase_range_rad. Above 2 pi only the codes below 2 pi are used;
  /// below 2 pi a phase out of reach gets the nearer end of the stroke on the circle.
  double phase_range_rad = 6.283185307179586;
  /// Phase in radians of codes 0, 1, 2, ... where the steps are unequal (TI PLM) or the response was measured
  /// (read_phase_lut): 2 to 2^bits entries, NaN for a code that must not be used. Replaces phase_range_rad.
  /// Each phase gets the code that is nearest on the circle; of equal ones the lowest.
  std::vector<double> level_phase_rad{};
  double carrier_x_rad = 0;  ///< blazed grating added to the phase: steers the light by this angle toward +x
  double carrier_y_rad = 0;  ///< and toward +y. Finest: sin(angle) = lambda / (2 pitch)
  /// Wavefront map in radians added to the phase modulo 2 pi, shape {ny, nx} in host memory, or empty. Copied.
  View<const float, 2> correction_rad{};

  // Amplitude modulators (amplitude, single_sideband, burckhardt).
  double reference_angle_x_rad = 0;  ///< amplitude: direction of the reference beam, toward +x
  double reference_angle_y_rad = 0;  ///< and toward +y

  /// Values mapped to codes 0 and 2^bits - 1. Both zero: taken from the field at every execute and reported:
  /// amplitude, single_sideband: -max|v| .. max|v|, so that 0 is mid-level; double_phase, burckhardt: 0 .. max, the
  /// normalisation (give amplitude_max alone, amplitude_min stays 0). Not used by phase.
  float amplitude_min = 0;
  float amplitude_max = 0;
};

/// The range the last hologram was mapped with; both zero for Encoding::phase. A field that is zero everywhere is
/// mapped as if its largest value were 1.
struct EncodeReport {
  float amplitude_min = 0;
  float amplitude_max = 0;
};

/// Complex field to device codes. With t = frac(arg(U) / 2 pi + carrier + correction) in turns and L = 2^bits:
///   phase            floor(t L + 1/2) mod L (stroke 2 pi; level_phase_rad: the nearest code on the circle)
///   double_phase     the same of arg U + d where row + col is even and of arg U - d where odd, d = arccos(|U| / max)
///   amplitude        floor((v - min) / (max - min) (L - 1) + 1/2) of v = Re(U conj R),
///                    R = exp(2 pi i (x sin ax + y sin ay) / lambda)
///   single_sideband  the same of v = Re of U without its spatial frequencies f_y <= 0 (of the panel as a torus)
///   burckhardt       the same of A_k >= 0, k = 0, 1, 2 the pixel in its cell of three columns, with
///                    A_0 + A_1 exp(-2 pi i/3) + A_2 exp(-4 pi i/3) = the cell's mean of U;
///                    columns beyond the last whole cell get code 0
/// Values out of [min, max] are clamped. A pixel that is not a number gets the code of phase 0, or code 0.
/// docs/encoding.md says what each is for. Sources: Hsueh, Sawchuk, Appl. Opt. 17, 3874 (1978); Bryngdahl, Lohmann,
/// J. Opt. Soc. Am. 58, 620 (1968); Burckhardt, Appl. Opt. 9, 1949 (1970).
///
/// Cost O(nx ny), single_sideband O(nx ny log(nx ny)). One pass over the field, a pass for the range before it unless
/// it is given. Workspace: the correction map; single_sideband one complex field.
/// The arithmetic is float32 with every rounding fixed, so the CPU and CUDA give the same codes (single_sideband: up
/// to its FFT). Phase error before rounding to a level: at most 2.5e-7 turns.
class EncodePlan {
 public:
  /// Validates and allocates. Throws invalid_argument naming the option, its range and the value.
  EncodePlan(const EncodeOptions& options, const FieldGrid& grid, Queue queue = {});
  ~EncodePlan();
  EncodePlan(EncodePlan&&) noexcept;
  EncodePlan& operator=(EncodePlan&&) noexcept;

  /// `field` and `codes` have shape {ny, nx} and live on the plan's device. CUDA: only enqueues.
  /// Throws invalid_argument for another shape or device, or 8-bit codes of a plan with more bits.
  void execute(View<const Complex, 2> field, View<std::uint16_t, 2> codes);
  void execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes);
  /// The same of some rows of the panel, `field` and `codes` of shape {part.rows, nx}: the codes that these rows have
  /// in the whole panel, bit for bit, with its checkerboard, carrier, correction and reference beam. Throws
  /// invalid_argument for rows beyond the panel and, unless the part is the whole, for a range that is not given;
  /// unsupported for single_sideband, whose filter needs all rows.
  void execute(const RowRange& part, View<const Complex, 2> field, View<std::uint16_t, 2> codes);
  void execute(const RowRange& part, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

  /// The range the last execute used; waits for it where it was taken from the field.
  [[nodiscard]] EncodeReport report() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One shot: plan, execute, wait. `field` may live on any device; the codes are in host memory.
Array<std::uint16_t, 2> encode(View<const Complex, 2> field, const EncodeOptions& options, const FieldGrid& grid,
                               EncodeReport* report = nullptr);

/// The complex field that leaves a panel showing these codes under its reading beam, shape {ny, nx}, host memory.
///   phase encodings      exp(i phase of the code), level table, carrier and correction as they are in the codes
///   amplitude encodings  (min + code / (2^bits - 1) (max - min)) R with the reported range; `zero_order` subtracts
///                        min first, as a panel that cannot transmit less than nothing does, which adds the bright
///                        undiffracted beam
/// R is the reference beam for `amplitude` and 1 for the others. Throws invalid_argument for a code beyond the table
/// or of a NaN entry (naming the pixel).
Array<Complex, 2> modulation_of(View<const std::uint16_t, 2> codes, const EncodeOptions& options, const FieldGrid& grid,
                                const EncodeReport& report, bool zero_order = false);

/// Measured phase response from text: the phase in radians of codes 0, 1, 2, ..., for EncodeOptions::level_phase_rad.
/// One phase a line (codes 0, 1, 2, ... in order), or `code,phase` with rising codes 0 to 65535 (comma, semicolon, tab
/// or blank between). Blank lines, text after # and one heading line are skipped. Codes left out between two given ones
/// are interpolated linearly (their phases must differ by at most pi: unwrap the curve); those before the first are
/// NaN. Throws invalid_argument naming the line.
std::vector<double> read_phase_lut(std::string_view text);

/// Angle by which a blazed grating of this period steers: arcsin(lambda / period); the sign is the period's.
/// Throws invalid_argument unless |period_m| >= wavelength_m > 0.
double steering_angle_rad(double period_m, double wavelength_m);

/// `count` phases uniform in [0, 2 pi), one a point, from core/random.hpp: the same seed gives the same bits anywhere.
/// An object with random phases scatters over the whole panel as a rough surface does.
std::vector<float> random_phases(std::int64_t count, std::uint64_t seed);

/// 16-bit codes as two 8-bit channels for modulators that take them so: red the high byte, green the low byte, blue 0.
/// Shape {ny, nx, 3}, host memory.
Array<std::uint8_t, 3> pack_16bit(View<const std::uint16_t, 2> codes);

/// Inverse of pack_16bit (blue is not looked at).
Array<std::uint16_t, 2> unpack_16bit(View<const std::uint8_t, 3> packed);

}  // namespace holotone
