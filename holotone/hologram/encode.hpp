#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <memory>
#include <string_view>
#include <vector>

namespace holotone {

/// What a modulator is made to show for a complex field.
enum class Encoding {
  phase,            ///< arg U
  amplitude,        ///< real part with an on-axis or tilted reference beam
  double_phase,     ///< two phase pixels in a checkerboard: Hsueh and Sawchuk 1978
  single_sideband,  ///< half the spectrum removed, real part: Bryngdahl and Lohmann 1968
  burckhardt,       ///< three non-negative amplitudes a cell: Burckhardt 1970
};
std::string_view to_string(Encoding encoding);
/// "phase", "amplitude", "double-phase", "single-sideband", "burckhardt"; throws naming the nearest.
Encoding parse_encoding(std::string_view name);

struct EncodeOptions {
  Encoding encoding = Encoding::phase;
  int bits = 8;                          ///< 2 to 16 (1 allowed for amplitude)
  double phase_range_rad = 6.283185307179586;  ///< full stroke of the modulator for levels 0 .. 2^bits (exclusive)
  std::vector<double> level_phase_rad;   ///< phase of each level where the steps are unequal (2^bits entries), or empty
  std::vector<std::uint16_t> lut;        ///< device code for each of 2^bits levels (measured response), or empty
  double reference_angle_x_rad = 0;      ///< tilt of the reference beam (amplitude) in x
  double reference_angle_y_rad = 0;
  double carrier_x_rad = 0;              ///< blazed grating added to the phase: steering angle in x
  double carrier_y_rad = 0;
  View<const float, 2> correction_rad;   ///< wavefront map added to the phase modulo 2 pi (host), or empty
  /// Amplitude range mapped to 0 .. 2^bits-1; both zero: taken from the field (and reported).
  float amplitude_min = 0;
  float amplitude_max = 0;
};

/// The range an amplitude hologram was mapped with.
struct EncodeReport {
  float amplitude_min = 0;
  float amplitude_max = 0;
};

/// Complex field to device codes (0 .. 2^bits-1 unless a LUT says otherwise).
class EncodePlan {
 public:
  EncodePlan(const EncodeOptions& options, const FieldGrid& grid, Queue queue = {});
  ~EncodePlan();
  EncodePlan(EncodePlan&&) noexcept;
  EncodePlan& operator=(EncodePlan&&) noexcept;
  /// `field` and `codes` have shape {ny, nx} and live on the plan's device.
  void execute(View<const Complex, 2> field, View<std::uint16_t, 2> codes);
  [[nodiscard]] EncodeReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The complex transmission a panel with these codes has: exp(i phase) for phase encodings, the amplitude for the
/// others. The inverse of the modulator's part of encoding; what reconstruction starts from.
Array<Complex, 2> modulation_of(View<const std::uint16_t, 2> codes, const EncodeOptions& options,
                                const FieldGrid& grid, const EncodeReport& report);

/// Phase to 16-bit codes packed as two 8-bit channels (red = high byte, green = low byte), shape {ny, nx, 3}.
Array<std::uint8_t, 3> pack_16bit(View<const std::uint16_t, 2> codes);

}  // namespace holotone
