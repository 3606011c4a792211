// A feedback loop through a panel's window and a camera: panel_camera MONITOR. The panel makes spots behind a lens;
// the loop finds weights that make them equally bright on a bench with a lens that the model does not know. The bench
// is simulated from what the window sends; with a monitor, read a camera in place of `spots`.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <holotone/display/panel_window.hpp>
#include <holotone/fft/fft.hpp>
#include <numbers>
#include <vector>

namespace {

using namespace holotone;
using Complex = std::complex<float>;

constexpr std::int64_t n = 128;
const std::vector<std::array<std::int64_t, 2>> places{{9, 14}, {20, 100}, {33, 40}, {110, 17}, {97, 90}};

/// Brightness of the spots in the focal plane of a lens that is darker toward its edge, 70 % at 64 pixels.
std::vector<double> spots(const Array<std::uint8_t, 3>& sent) {
  Array<Complex, 2> light({n, n});
  for (std::int64_t i = 0; i < n * n; ++i) {
    light.data()[i] = Complex(std::polar(1.0, 2 * std::numbers::pi * sent.data()[3 * i] / 256));
  }
  FftPlan({n, n}).execute(light.view(), FftDirection::forward);
  std::vector<double> brightness;
  for (const auto& [y, x] : places) {
    const auto from_axis = [](std::int64_t k) { return static_cast<double>((k + n / 2) % n - n / 2) / 64; };
    const double shade = 1 - 0.7 * (std::pow(from_axis(y), 2) + std::pow(from_axis(x), 2));
    brightness.push_back(shade * std::norm(std::complex<double>(light(y, x))));
  }
  return brightness;
}

double unevenness(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*high - *low) / (*high + *low);
}

}  // namespace

int main(int argc, char** argv) try {
  PanelWindowOptions options{.centre = true};  // the rest of a larger panel shows code 0
  if (argc > 1) options.monitor = argv[1];
  if (argc == 1) options.offscreen = {n, n};
  PanelWindow window(options);
  Array<std::uint8_t, 2> codes({n, n});
  std::vector<double> weight(places.size(), 1);
  std::vector<double> phase(places.size());
  for (std::size_t i = 0; i < phase.size(); ++i) phase[i] = 2.4 * static_cast<double>(i * i);
  double first = 0;
  double last = 0;
  for (int step = 0; step < 30; ++step) {
    for (std::int64_t y = 0; y < n; ++y) {
      for (std::int64_t x = 0; x < n; ++x) {
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
          const double turns = static_cast<double>(places[i][0] * y + places[i][1] * x) / n;
          sum += std::polar(weight[i], phase[i] + 2 * std::numbers::pi * turns);
        }
        const double turns = std::arg(sum) / (2 * std::numbers::pi);
        codes(y, x) = static_cast<std::uint8_t>(std::lround((turns + 1) * 256) % 256);
      }
    }
    window.show(codes.view());
    const auto seen = spots(window.sent());
    double mean = 0;
    for (const double value : seen) mean += std::sqrt(value) / static_cast<double>(seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i) weight[i] *= mean / std::sqrt(seen[i]);
    (step == 0 ? first : last) = unevenness(seen);
  }
  std::printf("spots differ by %.0f %% at first, by %.1f %% after 30 pictures\n", 100 * first, 100 * last);
  return last < 0.05 && last < first / 3 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.code() == holotone::ErrorCode::unsupported ? 77 : 2;
}
