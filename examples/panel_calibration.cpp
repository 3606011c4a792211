// Measures the phase response of a panel: panel_calibration MONITOR. Half of the panel stays at code 0, the other half
// takes each level in turn; the fringes of both halves' light shift with the phase. A panel with another response is
// simulated here, and its window is drawn in memory; with a monitor, take a picture in place of `fringes`.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <holotone/display/panel_window.hpp>
#include <numbers>
#include <vector>

namespace {

using namespace holotone;

/// What the simulated panel makes of a code: 1.7 pi over all codes, bent.
double true_phase_rad(int code) {
  const double part = code / 255.0;
  return 1.7 * std::numbers::pi * (0.8 * part + 0.2 * part * part);
}

/// Light along a line behind a double slit, one slit on each half of what the panel shows.
std::vector<double> fringes(const Array<std::uint8_t, 3>& sent) {
  const auto [ny, nx, channels] = sent.shape();
  const double left = true_phase_rad(sent(ny / 2, nx / 4, 0));
  const double right = true_phase_rad(sent(ny / 2, 3 * nx / 4, 0));
  std::vector<double> light;
  light.reserve(256);
  for (int x = 0; x < 256; ++x) {
    light.push_back(1 + std::cos(2 * std::numbers::pi * 8 * x / 256.0 + right - left));
  }
  return light;
}

/// Phase of the fringes: the argument of their eighth Fourier coefficient.
double fringe_phase_rad(const std::vector<double>& light) {
  std::complex<double> sum = 0;
  for (std::size_t x = 0; x < light.size(); ++x) {
    sum += light[x] * std::polar(1.0, -2 * std::numbers::pi * 8 * static_cast<double>(x) / 256);
  }
  return std::arg(sum);
}

}  // namespace

int main(int argc, char** argv) try {
  PanelWindowOptions options;
  if (argc > 1) options.monitor = argv[1];
  if (argc == 1) options.offscreen = {108, 192};
  PanelWindow window(options);
  Array<std::uint8_t, 2> codes({window.monitor().ny, window.monitor().nx});
  double unwrapped = 0;
  double largest_error = 0;
  for (int level = 0; level < 256; ++level) {
    const std::int64_t nx = codes.shape()[1];
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      codes.data()[i] = static_cast<std::uint8_t>(i % nx < nx / 2 ? 0 : level);
    }
    window.show(codes.view());
    const double phase = fringe_phase_rad(fringes(window.sent()));
    unwrapped += std::remainder(phase - unwrapped, 2 * std::numbers::pi);
    largest_error = std::max(largest_error, std::abs(unwrapped - true_phase_rad(level)));
    if (level % 51 == 0) std::printf("code %3d: %.4f rad\n", level, unwrapped);
  }
  std::printf("largest error %.1e rad; one phase a line is a file for --lut\n", largest_error);
  return largest_error < 1e-9 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code() == holotone::ErrorCode::unsupported ? 77 : 2;
}
