#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// Encoding of a complex field for a phase or amplitude modulator.
enum class Encoding {
  phase,            ///< arg U on a phase modulator (kinoform): Lesem, Hirsch, Jordan 1969
  amplitude,        ///< real part with an on-axis or tilted reference beam
  double_phase,     ///< two phases whose mean is U, in a checkerboard: Hsueh and Sawchuk 1978
  single_sideband,  ///< half the spectrum removed, real part: Bryngdahl and Lohmann 1968
  burckhardt,       ///< three non-negative amplitudes in a cell of three pixels: Burckhardt 1970
};
template <>
inline constexpr auto enum_names<Encoding> =
    std::array{EnumName{Encoding::phase, "phase"}, EnumName{Encoding::amplitude, "amplitude"},
               EnumName{Encoding::double_phase, "double-phase"}, EnumName{Encoding::single_sideband, "single-sideband"},
               EnumName{Encoding::burckhardt, "burckhardt"}};

std::string_view to_string(Encoding encoding);

/// What an encoding needs and gives: the only list of it.
struct EncodingTraits {
  /// Values of the field that the range maps to codes.
  enum class Range {
    none,       ///< the phase alone
    positive,   ///< 0 .. max
    symmetric,  ///< -max .. max
  };
  bool phase_modulator = false;  ///< a phase modulator shows it; the others need an amplitude modulator
  bool encodes_beam = false;     ///< codes are made against a reference beam, which may be tilted
  bool lit_by_beam = false;      ///< modulation_of gives the light of codes that this beam lights
  Range range = Range::none;
  bool by_rows = true;             ///< rows can be encoded without the others
  std::int64_t cell_columns = 1;   ///< pixels of a row that stand for one value
  std::string_view stop = "none";  ///< that fourier_filter applies
};

constexpr EncodingTraits encoding_traits(Encoding encoding) {
  using Range = EncodingTraits::Range;
  switch (encoding) {  // without `default`: compilers report an encoding without a row
    case Encoding::phase: return {.phase_modulator = true, .lit_by_beam = true};
    case Encoding::amplitude: return {.encodes_beam = true, .lit_by_beam = true, .range = Range::symmetric};
    case Encoding::double_phase: return {.phase_modulator = true, .range = Range::positive, .stop = "diamond"};
    case Encoding::single_sideband: return {.range = Range::symmetric, .by_rows = false, .stop = "half plane"};
    case Encoding::burckhardt: return {.range = Range::positive, .cell_columns = 3, .stop = "first order of cells"};
  }
  return {};
}

/// Names of all encodings, or of those whose traits suit, for messages: "phase, amplitude or burckhardt".
std::string list_encodings(const std::function<bool(const EncodingTraits&)>& suits = {});

/// Encoding of a name in enum_names<Encoding>; `_` counts as `-`. Throws invalid_argument naming the nearest.
Encoding parse_encoding(std::string_view name);

/// True for the encodings that a phase modulator shows (phase, double_phase); the others need an amplitude modulator.
constexpr bool needs_phase_modulator(Encoding encoding) { return encoding_traits(encoding).phase_modulator; }

struct EncodeOptions {
  Encoding encoding = Encoding::phase;
  int bits = 8;  ///< bits per code, 2 to 16 (amplitude encodings: 1 to 16); codes are 0 .. 2^bits - 1

  // Phase modulators (phase, double_phase).
  /// Full stroke in radians, 1e-3 to 0.999 * 2 pi 2^bits: code l shows l / 2^bits * phase_range_rad. Above 2 pi only
  /// the codes below 2 pi are used. Below 2 pi a phase beyond the stroke gets the end of the stroke that is nearer on
  /// the circle.
  double phase_range_rad = 6.283185307179586;
  /// Phases in radians of codes 0, 1, 2, ..., for unequal steps (TI PLM) or a measured response (read_phase_lut):
  /// 2 to 2^bits entries, NaN for a code that must not be used. Replaces phase_range_rad. Each phase gets the code
  /// whose phase is nearest on the circle. Of codes with equal phases only the lowest is used.
  std::vector<double> level_phase_rad{};
  double carrier_x_rad = 0;  ///< steering angle toward +x of a blazed grating added to the phase
  double carrier_y_rad = 0;  ///< the same toward +y; |sin(angle)| <= lambda / (2 pitch) for each
  /// Wavefront map in radians added to the phase modulo 2 pi, shape {ny, nx} in host memory, or empty. Copied.
  View<const float, 2> correction_rad{};

  // Amplitude modulators (amplitude, single_sideband, burckhardt).
  /// Angle of the reference beam toward +x: amplitude only; modulation_of also of phase codes, which were made of a
  /// field without the beam (remove_beam).
  double reference_angle_x_rad = 0;
  double reference_angle_y_rad = 0;  ///< the same toward +y; |sin(angle)| <= lambda / (2 pitch) for each

  /// Values mapped to codes 0 and 2^bits - 1. Both zero: every execute measures them in the field and reports them.
  /// amplitude, single_sideband: -max|v| .. max|v|, so that 0 is mid-level. double_phase, burckhardt: 0 .. max, the
  /// normalisation (amplitude_min must be 0). phase does not use them; both must be 0.
  float amplitude_min = 0;
  float amplitude_max = 0;
};

template <>
inline constexpr Bounds bounds_of<&EncodeOptions::bits>{1, 16};

/// Range that the last execute mapped to the codes; both zero for Encoding::phase. A field that is zero everywhere is
/// mapped as if its largest value were 1.
struct EncodeReport {
  float amplitude_min = 0;
  float amplitude_max = 0;
};

/// Plan that converts a complex field to device codes. With t = frac(arg(U) / 2 pi + carrier + correction) in turns and
/// L = 2^bits:
///   phase            floor(t L + 1/2) mod L (stroke 2 pi; level_phase_rad: the nearest code on the circle)
///   double_phase     the same for arg U + d if row + col is even, arg U - d if odd, d = arccos(|U| / max)
///   amplitude        floor((v - min) / (max - min) (L - 1) + 1/2) of v = Re(U conj R),
///                    R = exp(2 pi i (x sin ax + y sin ay) / lambda)
///   single_sideband  the same, v = Re of U without its spatial frequencies f_y <= 0 (panel periodic)
///   burckhardt       the same, v = A_k >= 0, k = column mod 3, with A_j = p_j - min(p_0, p_1, p_2),
///                    p_j = (2/3) Re(V exp(2 pi i j / 3)), so that
///                    A_0 + A_1 exp(-2 pi i/3) + A_2 exp(-4 pi i/3) = V;
///                    V is U at this very pixel without its spatial frequencies |f_x| >= 1/6 cycle a pixel (rows
///                    periodic)
/// Values out of [min, max] are clamped. NaN pixels get the code of phase 0 (phase encodings) or code 0; so do, with
/// burckhardt, their whole row, with single_sideband the whole panel.
/// docs/encoding.md compares the encodings. Sources: Hsueh, Sawchuk, Appl. Opt. 17, 3874 (1978); Bryngdahl, Lohmann,
/// J. Opt. Soc. Am. 58, 620 (1968); Burckhardt, Appl. Opt. 9, 1949 (1970).
///
/// Cost O(nx ny), single_sideband O(nx ny log(nx ny)), burckhardt O(nx ny log nx). One pass over the field; a range
/// that is not given costs another pass before it. Workspace: the correction map; single_sideband one complex field;
/// burckhardt a row a thread, on CUDA and OpenCL 32 MiB of rows.
/// The arithmetic is float32 with every rounding fixed, so that every device gives the same codes (single_sideband and
/// burckhardt: up to their FFT; OpenCL: on devices with correctly rounded division and subnormal numbers). Phase error
/// before rounding to a level: at most 2.5e-7 turns.
class EncodePlan {
 public:
  /// Validates and allocates. Throws invalid_argument naming the option, its range and the value.
  EncodePlan(const EncodeOptions& options, const FieldGrid& grid, Queue queue = {});
  ~EncodePlan();
  EncodePlan(EncodePlan&&) noexcept;
  EncodePlan& operator=(EncodePlan&&) noexcept;

  /// `field` and `codes` have shape {ny, nx} and live on the plan's device. CUDA, OpenCL: only enqueues.
  /// Throws invalid_argument for another shape or device, or 8-bit codes of a plan with more bits.
  void execute(View<const Complex, 2> field, View<std::uint16_t, 2> codes);
  void execute(View<const Complex, 2> field, View<std::uint8_t, 2> codes);
  /// The same for some rows of the panel; `field` and `codes` have shape {part.rows, nx}. The codes are those of the
  /// whole panel in these rows, bit for bit, with its checkerboard, carrier, correction and reference beam. Throws
  /// invalid_argument for rows beyond the panel. Unless the part is the whole panel, a range that is not given throws
  /// invalid_argument, and single_sideband, whose filter needs all rows, throws unsupported.
  void execute(const RowRange& part, View<const Complex, 2> field, View<std::uint16_t, 2> codes);
  void execute(const RowRange& part, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

  /// Returns the range of some rows by themselves; waits. That of a panel in parts is the largest of its parts: a first
  /// pass measures it, and a second plan with this amplitude_min and amplitude_max makes the codes of the whole panel.
  /// Both are zero for rows without light and for Encoding::phase. A range that is given is ignored. Throws unsupported
  /// for single_sideband, else as execute does.
  [[nodiscard]] EncodeReport measure(const RowRange& part, View<const Complex, 2> field);
  /// Returns the range of the last execute; waits for it if it was measured in the field.
  [[nodiscard]] EncodeReport report() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One shot: plan, execute, wait. `field` may live on any device; the codes, uint16 for any bits, are in host memory.
Array<std::uint16_t, 2> encode(View<const Complex, 2> field, const EncodeOptions& options, const FieldGrid& grid,
                               EncodeReport* report = nullptr);

/// Computes the complex field that leaves a panel showing these codes under its reading beam, {ny, nx} in host memory.
///   phase encodings      exp(i phase of the code) R by stroke or level table; the codes contain carrier and correction
///   amplitude encodings  (min + code / (2^bits - 1) (max - min)) R with the reported range; `zero_order` omits the
///                        first min, because a panel transmits no negative amplitudes: this adds the bright
///                        undiffracted beam
/// R is the reference beam (ReferenceBeam) for `amplitude` and `phase`, and 1 for the others. Throws invalid_argument
/// for a code beyond the table or with a NaN entry (naming the pixel).
Array<Complex, 2> modulation_of(View<const std::uint16_t, 2> codes, const EncodeOptions& options, const FieldGrid& grid,
                                const EncodeReport& report, bool zero_order = false);

/// Steering angle of a blazed grating: arcsin(lambda / period), with the sign of the period.
/// Throws invalid_argument unless |period_m| >= wavelength_m > 0.
double steering_angle_rad(double period_m, double wavelength_m);

/// Returns `count` phases uniform in [0, 2 pi), one per point, from core/random.hpp: the same seed gives the same bits
/// on every machine. An object with random phases scatters over the whole panel like a rough surface.
std::vector<float> random_phases(std::int64_t count, std::uint64_t seed);

/// Packs 16-bit codes into 8-bit channels, for modulators with that input: red high byte, green low byte, blue 0.
/// Shape {ny, nx, 3}, host memory.
Array<std::uint8_t, 3> pack_16bit(View<const std::uint16_t, 2> codes);

/// Inverse of pack_16bit; ignores blue.
Array<std::uint16_t, 2> unpack_16bit(View<const std::uint8_t, 3> packed);

}  // namespace holotone
