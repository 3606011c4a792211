#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <vector>

namespace holotone {

/// Noise and light in the viewing window, means over some squares of the panel; shares as WindowNoise states them.
struct WindowMeasure {
  int squares = 0;             ///< 0: nothing was measured
  double noise = 0;            ///< into the window
  double truncated = 0;        ///< noise if every pixel took its nearest level by itself
  double light = 0;            ///< into the window: the diffraction efficiency
  double truncated_light = 0;  ///< the same of truncation
};

/// Measures the codes of a panel for a viewer while they are made: window_noise in up to 3 x 3 squares of at most 512
/// pixels a side in the middles of as many hogels spread over the panel (of one hogel: of its ninths), each for the
/// window as seen from its own middle (reached_window). Squares that the window's light does not reach are left out.
class WindowMeter {
 public:
  /// `options` as the codes are made with, hogel_px among them; scale is given to add_rows. Throws as signal_window.
  WindowMeter(ErrorDiffusionOptions options, const FieldGrid& grid, const Viewer& viewer);

  /// Rows of the field {n, nx} from first_row on, and their codes, in host memory; squares that lie in them wholly
  /// are measured. `scale`: what the field was divided by. Throws as window_noise. Cost O(m log m) a square of m
  /// pixels.
  void add_rows(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes, double scale);

  /// Of the squares so far.
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
