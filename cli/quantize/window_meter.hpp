#pragma once
#include <cli/quantize/quantize_job.hpp>
#include <holotone/optics/field.hpp>
#include <vector>

namespace holotone::cli {

/// What was found of noise and light in the viewing window, over some squares of the panel.
struct WindowMeasure {
  int squares = 0;             ///< 0: nothing was measured
  double noise = 0;            ///< into the window, mean share of the light on the panel
  double truncated = 0;        ///< noise if every pixel took its nearest level by itself
  double light = 0;            ///< into the window: the diffraction efficiency
  double truncated_light = 0;  ///< the same of truncation
};

/// Measures squares of at most 512 pixels a side in the middle of some hogels, each for the window as seen from there.
class WindowMeter {
 public:
  /// For hogels of `side` pixels (0: the panel).
  WindowMeter(ErrorDiffusionOptions options, const FieldGrid& grid, const Viewer& viewer, std::int64_t side);

  /// Rows of the field from first_row on, and their codes; squares that lie in them are measured.
  void look(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes, double scale);

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

}  // namespace holotone::cli
