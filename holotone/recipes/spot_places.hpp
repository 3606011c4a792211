#pragma once
#include <array>
#include <string>

// Places of spots in other units than lengths: spatial frequencies of a panel, angles, pixels of a camera.
namespace holotone {

/// Panel and lens by which frequencies, angles and focal powers become places behind the lens:
///   x = lambda f k / M,   z = n f^2 D / M^2
/// k in cycles a metre on the panel, which is sin(angle) / lambda, D the curvature 1/m of a spot's wave on the panel
/// beside its tilt, M of the panel's image in the lens's back focal plane. y and ky point up.
struct SpotLens {
  double wavelength_m = 0;
  double focal_length_m = 0;
  double pitch_m = 0;  ///< of the panel itself; for frequencies in cycles a pixel
  double magnification = 1;
  double refractive_index = 1;  ///< of the medium of the spots
};

/// Affine map from the pixels of a camera to the spots' plane: (x, y) = to_spots_m (column, row, 1), in metres, columns
/// to the right and rows down from the middle of the top left pixel.
struct CameraMap {
  std::array<std::array<double, 3>, 2> to_spots_m{};  ///< all 0: none
  bool has_angles = false;                            ///< read as angles or frequencies, lengths by a SpotLens
};

/// True of a map that was set.
bool has_map(const CameraMap& map);

/// Reads a map: a table of two lines, each the name of a coordinate and three numbers,
///   x_um, a, b, c
///   y_um, d, e, f         x = a column + b row + c, y = d column + e row + f
/// or JSON, {"x_um": [a, b, c], "y_um": [d, e, f]}. Names and units are those of read_spots, kx_norm and ky_norm too,
/// of which `lens` makes lengths. JSON with "M" {2, 2}, "b" {2} and "a" {2} is slmsuite's Fourier calibration,
/// pixel = M (k - a) + b with k = (sin right, sin down): its ky has the other sign. Throws io naming file and line for
/// what is no such map, a coordinate missing or named twice, and a map without an inverse; invalid_argument for a lens
/// that lacks what is needed.
CameraMap read_camera_map(const std::string& path, const SpotLens& lens = {});

/// Place {x, y} in metres of a pixel {column, row}.
std::array<double, 2> place_of_pixel(const CameraMap& map, std::array<double, 2> pixel);
/// Pixel {column, row} of a place {x, y} in metres. Throws invalid_argument for a map without an inverse.
std::array<double, 2> pixel_of_place(const CameraMap& map, std::array<double, 2> place_m);

}  // namespace holotone
