#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <vector>

namespace holotone {

/// Quantization noise and light in the viewing window: means over squares of the panel, as shares of the incident light
/// (WindowNoise).
struct WindowMeasure {
  int squares = 0;             ///< number of squares; 0: nothing was measured
  double noise = 0;            ///< quantization noise in the window
  double truncated = 0;        ///< noise of truncation: each pixel at its nearest level
  double light = 0;            ///< light in the window: the diffraction efficiency
  double truncated_light = 0;  ///< light in the window of truncation
};

/// Measures the codes of a panel for a viewer during their computation: window_noise in up to 3 x 3 squares of at most
/// 512 pixels a side. The squares are in the centres of as many hogels spread over the panel. Without hogels (hogel_px
/// = 0) they are in the centres of its ninths. Each is measured for the window as seen from its own centre
/// (reached_window). Squares without a reached_window are omitted.
class WindowMeter {
 public:
  /// `options`: those of the codes, including hogel_px; the scale is an argument of add_rows. Throws as signal_window.
  WindowMeter(ErrorDiffusionOptions options, const FieldGrid& grid, const Viewer& viewer);

  /// Measures the squares that lie wholly in rows first_row to first_row + n - 1. `field` and its `codes`: {n, nx} in
  /// host memory. `scale`: divisor of the field. Throws as window_noise. Cost O(m log m) for a square of m pixels.
  void add_rows(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes, double scale);

  /// Returns the means over the squares measured so far.
  [[nodiscard]] WindowMeasure measured() const;

 private:
  struct Square {
    std::int64_t row;
    std::int64_t column;
    std::int64_t height;
    std::int64_t width;
    SignalWindow window;
  };

  ErrorDiffusionOptions options_;
  std::vector<Square> squares_;
  WindowMeasure sums_;
};

}  // namespace holotone
