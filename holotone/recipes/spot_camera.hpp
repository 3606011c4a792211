#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/recipes/spots.hpp>
#include <string>
#include <vector>

// Measured light of spots: from pictures of a camera, and from tables. For SpotPlan::set_measured.
namespace holotone {

/// Side in pixels of the square around a spot whose light measure_spots adds: four widths of a spot (spot_width_m), or
/// 0.8 of the distance of the nearest two spots if that is less. Throws invalid_argument if that is below 3 pixels.
double spot_window_px(const SpotList& spots, const CameraMap& map, const SpotOptions& options,
                      View<const Complex, 2> light = {});

/// Light {n} of each spot in a picture {rows, columns} of a camera, values proportional to light: the sum over the
/// square of `window_px` pixels, 1 to 1000, around the spot's place by `map`, parts of pixels by their area, less the
/// median of the frame of two pixels around it as background; 0 where that is negative. The camera looks at z = 0.
/// `full`: value of a pixel that is saturated; 0: none is. Throws invalid_argument naming the first spot whose square
/// leaves the picture or holds a saturated pixel, and for a map without an inverse.
std::vector<float> measure_spots(View<const float, 2> picture, const SpotList& spots, const CameraMap& map,
                                 double window_px, double full = 0);

/// Reads measured intensities {count}, one a spot in the order of the list: CSV with a column "measured" (rows in any
/// order with a column id, index, number, spot, spot_id, trap, label or n of 0 to count - 1; measured_notes names
/// others), CSV of one column without a name, or a JSON list of numbers. Throws io naming file and line for what is no
/// number >= 0, for another number of them, and for ids that do not count the spots.
std::vector<float> read_measured_spots(const std::string& path, std::int64_t count);

/// Reads measured intensities {n}, one for each spot: by places, if the table has x and y (or kx and ky), with columns
/// and units as in read_spots and a column "measured", otherwise as read_measured_spots. Rows come in any order and
/// belong to the spot within a quarter of a width (spot_width_m), the nearest one; without z to that of the same x and
/// y. Throws io as both, and naming the row without its spot or the spot without its row.
std::vector<float> read_measured_light(const std::string& path, const SpotList& spots, const SpotOptions& options,
                                       double unit_m = 0, const SpotLens& lens = {}, const CameraMap& camera = {});

/// A note of the columns of a table for read_measured_spots or read_measured_light that are ignored: "m.csv: ignored:
/// 'std'"; none for other files. Throws io as those.
std::vector<std::string> measured_notes(const std::string& path);

/// How a signal S grows with the light I of a spot, up to a factor of all spots:
/// S = I^exponent / (1 + I^exponent / saturation). Of two levels exponent 1 (Foot 2005, Atomic Physics,
/// section 7.6), of two-photon excitation 2.
struct SpotSignal {
  double exponent = 1;    ///< 0.1 to 10
  double saturation = 0;  ///< S of unlimited light, > 0, in the unit of the measured values; 0: none
};
template <>
inline constexpr Bounds bounds_of<&SpotSignal::exponent>{0.1, 10};
template <>
inline constexpr Bounds bounds_of<&SpotSignal::saturation>{0, 1e30};

/// Light {n} of measured signals {n}: I = (S / (1 - S / saturation))^(1 / exponent). Throws invalid_argument for
/// numbers out of range, a saturation that is not above the signals, and naming the first spot of another signal or of
/// light beyond float32.
std::vector<float> light_from_signal(const std::vector<float>& measured, const SpotSignal& signal);

/// Spots that lack light.
struct DarkSpots {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< number of the first, if there is one
};

/// Spots with less than `share` >= 0 of the mean measured light over intensity, or without any. Throws
/// invalid_argument for another number of values than spots.
DarkSpots find_dark_spots(const std::vector<float>& measured, const SpotList& spots, double share = 0.05);

}  // namespace holotone
