#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <numbers>

namespace holotone {
namespace {

using Complex64 = std::complex<double>;
constexpr std::string_view where = "window_noise";

/// Light of the codes, without the constant of amplitudes.
std::vector<Complex> shown_by(const ErrorDiffusionOptions& options) {
  const int all = 1 << options.bits;
  std::vector<Complex> shown;
  const auto add = [&](double level) {
    const bool phase = options.modulation == Modulation::phase;
    shown.emplace_back(phase ? std::polar(1.0, level) : Complex64(level - 0.5));
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
  return std::norm(h) <= 1 ? h : h / std::max(1.0F, std::abs(h));  // few pixels need the slow root
}

bool inside(double frequency, double middle, double side) { return std::abs(frequency - middle) <= side / 2; }

/// Calls sum(row, column) for the elements of a transform whose frequencies are in the window.
template <class Sum>
void over_window(Shape<2> shape, const SignalWindow& window, const Sum& sum) {
  const auto frequency = [](std::int64_t i, std::int64_t n) {
    return static_cast<double>(i < n - n / 2 ? i : i - n) / static_cast<double>(n);
  };
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    if (!inside(frequency(row, shape[0]), window.eta, window.height)) continue;
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      if (inside(frequency(column, shape[1]), window.xi, window.width)) sum(row, column);
    }
  }
}

/// A product without the tests for NaN of std::complex.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Zero order of codes on a line: its middle, which `shown_by` omits for amplitudes.
double zero_order_of(const ErrorDiffusionOptions& options, const std::vector<Complex>& shown) {
  if (options.modulation == Modulation::amplitude) return 0.25;
  return std::norm((Complex64(shown[0]) + Complex64(shown[1])) / 2.0);
}

}  // namespace

WindowNoise& WindowNoise::operator+=(const WindowNoise& other) {
  noise += other.noise;
  light += other.light;
  field += other.field;
  product += other.product;
  twin += other.twin;
  zero_order += other.zero_order;
  return *this;
}

bool makes_twin(const ErrorDiffusionOptions& options) {
  const std::size_t count = options.levels.empty() ? std::size_t{1} << options.bits : options.levels.size();
  return options.modulation == Modulation::amplitude || count == 2;
}

WindowSignal projected(const WindowNoise& sums) {
  if (!(sums.field > 0)) return {0, sums.light};
  const double signal = std::norm(sums.product) / sums.field;
  return {signal, std::max(0.0, sums.light - signal)};
}

Array<Complex, 2> window_lens(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m, Shape<2> shape) {
  (void)signal_window(grid, viewer, x_m, y_m);  // checks
  const double x0 = viewer.x_m - x_m;
  const double y0 = viewer.y_m - y_m;
  const double z = viewer.distance_m;
  const double r0 = std::hypot(x0, y0, z);
  Array<Complex, 2> lens(shape);
  parallel_for(0, shape[0], [&](std::int64_t row) {
    const double y = (static_cast<double>(shape[0] - 1) / 2 - static_cast<double>(row)) * grid.pitch_m;
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const double x = (static_cast<double>(column) - static_cast<double>(shape[1] - 1) / 2) * grid.pitch_m;
      const double r = std::sqrt((x0 - x) * (x0 - x) + (y0 - y) * (y0 - y) + z * z);
      const double turns = (r - r0 + (x0 * x + y0 * y) / r0) / grid.wavelength_m;
      const auto phase = static_cast<float>(2 * std::numbers::pi * (turns - std::floor(turns + 0.5)));
      lens(row, column) = {std::cos(phase), std::sin(phase)};
    }
  });
  return lens;
}

std::vector<WindowNoise> window_noise(View<const Complex, 2> field, std::span<const View<const std::uint8_t, 2>> codes,
                                      const ErrorDiffusionOptions& options, double scale, const SignalWindow& window,
                                      View<const Complex, 2> lens) {
  require_positive(where, "scale", scale);
  if (options.levels.empty()) require_range(where, "bits", options.bits, 1, 8);
  const auto shape = field.shape();
  if (!lens.empty()) require_view(where, "lens", lens, shape, Device{});
  const FftPlan transform(shape);
  const auto compute_spectrum = [&](const auto& values, const auto& convert) {
    Array<Complex, 2> plane(shape);
    parallel_for(0, shape[0], [&](std::int64_t row) {
      const auto* const from = &values(row, 0);
      auto* const to = &plane(row, 0);
      std::transform(from, from + shape[1], to, convert);
      if (!lens.empty()) std::transform(to, to + shape[1], &lens(row, 0), to, times);
    });
    transform.execute(plane.view(), FftDirection::forward);
    return plane;
  };
  const auto divisor = static_cast<float>(scale);
  const bool twins = makes_twin(options);
  const auto whole = compute_spectrum(field, [&](Complex value) { return value / divisor; });
  const auto clipped =
      compute_spectrum(field, [&](Complex value) { return wanted(value, options.modulation, divisor); });
  Array<Complex, 2> conjugate;
  if (twins) conjugate = compute_spectrum(field, [&](Complex value) { return std::conj(value) / divisor; });
  const auto shown = shown_by(options);
  const auto find_light = [&](std::uint8_t code) {
    if (code < shown.size()) return shown[code];
    throw_argument(where, "codes", fmt::format("at most {}", shown.size() - 1), fmt::format("{}", code));
  };
  const double share = 1 / (static_cast<double>(field.size()) * static_cast<double>(field.size()));
  std::vector<WindowNoise> all;
  for (const auto& picture : codes) {
    require_view(where, "codes", picture, shape, Device{});
    const auto light = compute_spectrum(picture, find_light);
    WindowNoise sums;
    over_window(shape, window, [&](std::int64_t row, std::int64_t column) {
      const Complex64 h(whole(row, column));
      const Complex64 q(light(row, column));
      const double noise = std::norm(q - Complex64(clipped(row, column)));
      const double twin = twins ? std::norm(Complex64(conjugate(row, column))) : 0;
      sums += {share * noise, share * std::norm(q), share * std::norm(h), share * std::conj(h) * q, share * twin, 0};
    });
    const bool on_axis = inside(0, window.xi, window.width) && inside(0, window.eta, window.height);
    if (twins && on_axis) sums.zero_order = zero_order_of(options, shown);
    all.push_back(sums);
  }
  return all;
}

WindowNoise window_noise(View<const Complex, 2> field, View<const std::uint8_t, 2> codes,
                         const ErrorDiffusionOptions& options, double scale, const SignalWindow& window) {
  return window_noise(field, std::span(&codes, 1), options, scale, window)[0];
}

}  // namespace holotone
