#pragma once
#include <cstdint>
#include <deque>
#include <future>
#include <holotone/core/array.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <vector>

namespace holotone {

/// Light in the viewing window: means over squares of the panel, as shares of the incident light.
struct WindowMeasure {
  int squares = 0;             ///< number of squares; 0: nothing was measured
  double noise = 0;            ///< quantization noise in the window; counts a change of gain as noise (WindowNoise)
  double truncated = 0;        ///< the same of truncation: each pixel at its nearest level
  double light = 0;            ///< light in the window: the diffraction efficiency
  double truncated_light = 0;  ///< light in the window of truncation
  WindowSignal seen{};         ///< signal and noise at the eye: `projected` of the squares' sums, with one gain for all
  WindowSignal truncated_seen{};  ///< the same of truncation
  double twin = 0;                ///< makes_twin: the twin image's light in the window, relative to the signal; else 0
  double zero_order = 0;          ///< makes_twin: the zero order's light in the window
};

/// Measures the codes of a panel for a viewer during their computation: window_noise in the plane of the viewing window
/// (window_lens). The panel is divided into squares of up to 576 pixels a side that overlap by 64 or more. Over the
/// overlap a square fades as a sine: the squares' light is that of the panel, and their edges diffract nothing. Panels
/// of up to 4160 pixels a side are measured as a whole, larger ones in 8 x 8 squares spread over the panel. Each is
/// measured for the window as seen from its own centre (reached_window). Squares without a reached_window are omitted.
class WindowMeter {
 public:
  /// `options`: those of the codes; the scale is an argument of add_rows. `beam` lights the panel; the fields measured
  /// are without it (remove_beam). Throws as signal_window.
  WindowMeter(const ErrorDiffusionOptions& options, const FieldGrid& grid, const Viewer& viewer,
              const ReferenceBeam& beam = {});
  ~WindowMeter();
  WindowMeter(WindowMeter&&) noexcept;
  WindowMeter& operator=(WindowMeter&&) noexcept;

  /// Adds rows first_row to first_row + n - 1, each row of the panel once; a square is measured when it is complete, by
  /// other threads. `field` and its `codes`: {n, nx} in host memory; they are copied. `scale`: divisor of the field.
  /// Throws as window_noise, what an earlier square threw too. Cost O(m log m) for a square of m pixels; memory of the
  /// squares that are not complete, and of those of up to four calls that are being measured.
  void add_rows(std::int64_t first_row, View<const Complex, 2> field, View<const std::uint8_t, 2> codes, double scale);

  /// Returns the means over the squares completed so far; waits for them. Throws as window_noise.
  [[nodiscard]] WindowMeasure measured();

 private:
  struct Square;
  /// Noise of one square, and the light on it.
  struct SquareNoise {
    WindowNoise codes;
    WindowNoise truncated;
    double incident = 0;
  };
  static SquareNoise measure(const Square& square, const ErrorDiffusionOptions& options, const FieldGrid& grid,
                             const Viewer& viewer);
  void add_oldest();

  ErrorDiffusionOptions truncation_;  ///< to the levels of the codes
  FieldGrid grid_;
  Viewer viewer_;
  std::vector<Square> squares_;
  std::deque<std::future<std::vector<SquareNoise>>> measuring_;
  int measured_ = 0;     ///< number of squares in the sums
  double incident_ = 0;  ///< light on them
  WindowNoise sums_;     ///< times the incident light
  WindowNoise truncated_;
};

}  // namespace holotone
