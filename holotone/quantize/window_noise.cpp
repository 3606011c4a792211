#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <numbers>
#include <vector>

namespace holotone {
namespace {

constexpr std::string_view where = "window_noise";

/// Light of the codes, without the constant of amplitudes.
std::vector<Complex> shown_by(const ErrorDiffusionOptions& options) {
  const int all = 1 << options.bits;
  std::vector<Complex> shown;
  const auto add = [&](double level) {
    const bool phase = options.modulation == Modulation::phase;
    shown.emplace_back(phase ? std::polar(1.0, level) : std::complex<double>(level - 0.5));
  };
  for (const double level : options.levels) add(level);
  if (!shown.empty()) return shown;
  for (int code = 0; code < all; ++code) {
    add(options.modulation == Modulation::phase ? 2 * std::numbers::pi * code / all : code / (all - 1.0));
  }
  return shown;
}

Complex wanted(Complex value, Modulation modulation, float scale) {
  const Complex h = value / scale;
  if (modulation == Modulation::amplitude) return std::clamp(h.real(), -1.0F, 1.0F) / 2;
  return h / std::max(1.0F, std::abs(h));
}

/// Share of the light within the window; transforms `plane` in place.
double share_within(Array<Complex, 2>& plane, const FftPlan& transform, const SignalWindow& window) {
  transform.execute(plane.view(), FftDirection::forward);
  const auto [ny, nx] = plane.shape();
  const auto inside = [](std::int64_t i, std::int64_t n, double middle, double side) {
    const double frequency = static_cast<double>(i < n - n / 2 ? i : i - n) / static_cast<double>(n);
    return std::abs(frequency - middle) <= side / 2;
  };
  double sum = 0;
  for (std::int64_t row = 0; row < ny; ++row) {
    if (!inside(row, ny, window.eta, window.height)) continue;
    for (std::int64_t column = 0; column < nx; ++column) {
      if (inside(column, nx, window.xi, window.width)) sum += static_cast<double>(std::norm(plane(row, column)));
    }
  }
  const auto pixels = static_cast<double>(plane.size());
  return sum / pixels / pixels;
}

}  // namespace

WindowNoise window_noise(View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                         const ErrorDiffusionOptions& options, double scale, const SignalWindow& window) {
  require_positive(where, "scale", scale);
  require_view(where, "codes", codes, field.shape(), Device{});
  const auto shown = shown_by(options);
  Array<Complex, 2> noise(field.shape());
  Array<Complex, 2> light(field.shape());
  const auto values = field.host();
  const auto levels = codes.host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (levels[i] >= shown.size()) {
      throw_argument(where, "codes", fmt::format("at most {}", shown.size() - 1), fmt::format("{}", levels[i]));
    }
    light.host()[i] = shown[levels[i]];
    noise.host()[i] = shown[levels[i]] - wanted(values[i], options.modulation, static_cast<float>(scale));
  }
  const FftPlan transform(field.shape());
  return {share_within(noise, transform, window), share_within(light, transform, window)};
}

}  // namespace holotone
