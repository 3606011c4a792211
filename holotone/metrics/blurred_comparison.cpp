#include <algorithm>
#include <cmath>
#include <complex>
#include <holotone/fft/fft.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/region.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/nufft/nufft.hpp>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

namespace holotone {
namespace {

using Complex = std::complex<float>;

constexpr double padded_sigmas = 6;
constexpr double smallest_kept = 1e-6;  ///< of the Gaussian's transform
constexpr std::int64_t ssim_side = 11;

void require_options(const BlurOptions& options) {
  constexpr std::string_view where = "BlurredComparisonPlan";
  constexpr double most = 64;
  require_range(where, "number of sigmas", static_cast<double>(options.sigma.size()), 1, most);
  for (const double sigma : options.sigma) require_range(where, "sigma", sigma, 0.3, 1000);
  require_range(where, "tolerance", options.tolerance, nufft_tolerance_floor_float, 0.1);
  require_range(where, "margin", options.margin, 0, 1e9);
}

/// Band limit of a blur, in cycles per pixel: the largest frequency above smallest_kept.
double band_limit(double sigma) {
  return std::sqrt(-std::log(smallest_kept) / (2 * std::numbers::pi * std::numbers::pi)) / sigma;
}

/// One axis of the padded page.
struct Axis {
  std::int64_t pixels = 0;  ///< of the page
  std::int64_t padded = 0;
  std::int64_t half = 0;  ///< modes are -half .. half

  /// exp(-2 pi^2 sigma^2 f^2) of mode k.
  [[nodiscard]] double gaussian(std::int64_t k, double sigma) const {
    const double f = static_cast<double>(k) / static_cast<double>(padded);
    return std::exp(-2 * std::numbers::pi * std::numbers::pi * sigma * sigma * f * f);
  }
  /// exp(i pi k / padded): shift from the pixels' corners to their centres.
  [[nodiscard]] std::complex<double> to_centres(std::int64_t k) const {
    return std::polar(1.0, std::numbers::pi * static_cast<double>(k) / static_cast<double>(padded));
  }
  [[nodiscard]] std::int64_t modes_kept(double sigma) const {
    return std::min(half, static_cast<std::int64_t>(std::ceil(band_limit(sigma) * static_cast<double>(padded))));
  }
  [[nodiscard]] std::int64_t wrapped(std::int64_t k) const { return ((k % padded) + padded) % padded; }
};

Axis make_axis(std::int64_t pixels, const std::vector<double>& sigma) {
  const auto [least, most] = std::minmax_element(sigma.begin(), sigma.end());
  Axis axis;
  axis.pixels = pixels;
  axis.padded = fft_friendly_size(pixels + static_cast<std::int64_t>(std::ceil(padded_sigmas * *most)));
  axis.half = static_cast<std::int64_t>(std::ceil(band_limit(*least) * static_cast<double>(axis.padded)));
  return axis;
}

}  // namespace

struct BlurredComparisonPlan::State {
  BlurOptions options;
  Axis x;
  Axis y;
  Array<float, 2> ink;
  double total_ink = 0;
  std::optional<FftPlan> fft;
  std::optional<NufftPlan<float, 2>> nufft;
  Array<Complex, 2> image;  // transform of the ink on the padded page
  Array<Complex, 2> dots;   // half modes of the charges, shifted to the pixels' centres
  Array<Complex, 2> fields;
  bool executed = false;

  void transform_image();
  void transform_dots(View<const float, 2> position, View<const float, 1> charge);
  void blur(double sigma);
  [[nodiscard]] Fields cut(std::int64_t margin) const;
  [[nodiscard]] BlurredSimilarity compare(double sigma) const;
};

BlurredComparisonPlan::BlurredComparisonPlan(View<const float, 2> ink, const BlurOptions& options)
    : state_(std::make_unique<State>()) {
  constexpr std::string_view where = "BlurredComparisonPlan";
  require_options(options);
  if (ink.empty()) throw_argument(where, "ink", "a picture", "none");
  require_device(where, "ink", Device{}, ink.device());
  const auto [ny, nx] = ink.shape();
  for (std::int64_t i = 0; i < ink.size(); ++i) {
    const float value = ink.data()[i];
    if (!std::isfinite(value)) {
      throw_argument(
          where, "ink", "finite values",
          std::to_string(value) + " (row " + std::to_string(i / nx) + ", column " + std::to_string(i % nx) + ")");
    }
    state_->total_ink += static_cast<double>(value);
  }
  if (2 * options.margin >= static_cast<double>(std::min(nx, ny))) {
    throw_argument(where, "margin", "less than half of the " + to_string<2>(ink.shape()) + " pixels",
                   std::to_string(options.margin));
  }
  State& state = *state_;
  state.options = options;
  state.x = make_axis(nx, options.sigma);
  state.y = make_axis(ny, options.sigma);
  const double modes = (2.0 * static_cast<double>(state.x.half) + 1) * (2.0 * static_cast<double>(state.y.half) + 1);
  constexpr double max_modes = 1 << 28;
  if (modes > max_modes) {
    throw_argument(where, "sigma", "blurs that 2^28 frequencies hold on " + to_string<2>(ink.shape()) + " pixels",
                   "smallest sigma " + std::to_string(*std::min_element(options.sigma.begin(), options.sigma.end())));
  }
  const Shape<2> all{2 * state.y.half + 1, 2 * state.x.half + 1};
  const Shape<2> page{state.y.padded, state.x.padded};
  state.ink = copy_of(ink, Device{});
  state.fft.emplace(page);
  state.nufft.emplace(all, Queue{}, NufftOptions{options.tolerance});
  state.dots = Array<Complex, 2>(half_modes_shape(all));
  state.image = Array<Complex, 2>(page);
  state.fields = Array<Complex, 2>(page);
  state.transform_image();
}

BlurredComparisonPlan::~BlurredComparisonPlan() = default;
BlurredComparisonPlan::BlurredComparisonPlan(BlurredComparisonPlan&&) noexcept = default;
BlurredComparisonPlan& BlurredComparisonPlan::operator=(BlurredComparisonPlan&&) noexcept = default;

void BlurredComparisonPlan::State::transform_image() {
  std::fill_n(image.data(), image.size(), Complex{});
  for (std::int64_t row = 0; row < y.pixels; ++row) {
    for (std::int64_t column = 0; column < x.pixels; ++column) image(row, column) = ink(row, column);
  }
  fft->execute(image.view(), FftDirection::forward);
}

void BlurredComparisonPlan::State::transform_dots(View<const float, 2> position, View<const float, 1> charge) {
  const std::int64_t count = position.shape()[0];
  std::fill_n(dots.data(), dots.size(), Complex{});
  std::vector<float> strength(static_cast<std::size_t>(count), 0);
  std::vector<float> periods(static_cast<std::size_t>(2 * count), 0);
  std::int64_t on_page = 0;
  for (std::size_t j = 0; j < strength.size(); ++j) {
    const auto px = static_cast<double>(position.data()[2 * j]);
    const auto py = static_cast<double>(position.data()[2 * j + 1]);
    if (px < 0 || py < 0 || px > static_cast<double>(x.pixels) || py > static_cast<double>(y.pixels)) continue;
    ++on_page;
    periods[2 * j] = static_cast<float>(px / static_cast<double>(x.padded));
    periods[2 * j + 1] = static_cast<float>(py / static_cast<double>(y.padded));
    strength[j] = charge.empty() ? 1 : charge.data()[j];
  }
  if (on_page == 0) return;
  const auto each = charge.empty() ? static_cast<float>(total_ink / static_cast<double>(on_page)) : 1.0F;
  nufft->set_points({periods.data(), {count, 2}});
  nufft->type1(view_of(std::span<const float>(strength)), dots.view());
  const std::int64_t columns = dots.shape()[1];
  std::vector<Complex> turn(static_cast<std::size_t>(columns));
  for (std::int64_t k = 0; k < columns; ++k) turn[static_cast<std::size_t>(k)] = Complex(x.to_centres(k));
  metrics::loop(dots.shape()[0], dots.size(), [&](std::int64_t row) {
    const Complex vertical = each * Complex(y.to_centres(row - y.half));
    for (std::int64_t k = 0; k < columns; ++k) dots(row, k) *= vertical * turn[static_cast<std::size_t>(k)];
  });
}

/// Computes fields = h + i u at the pixels' centres: both are real, so one complex transform inverts both.
void BlurredComparisonPlan::State::blur(double sigma) {
  const std::int64_t kept_x = x.modes_kept(sigma);
  const std::int64_t kept_y = y.modes_kept(sigma);
  std::vector<float> gaussian(static_cast<std::size_t>(kept_x + 1));
  for (std::int64_t k = 0; k <= kept_x; ++k)
    gaussian[static_cast<std::size_t>(k)] = static_cast<float>(x.gaussian(k, sigma));
  std::vector<std::int64_t> column_of;
  for (std::int64_t k = -kept_x; k <= kept_x; ++k) column_of.push_back(x.wrapped(k));
  const std::int64_t padded_y = y.padded;
  metrics::loop(padded_y, fields.size(), [&](std::int64_t row) {
    Complex* const target = &fields(row, 0);
    std::fill_n(target, x.padded, Complex{});
    // Sums all modes that alias to this row of the pixels' frequencies.
    const std::int64_t first = -kept_y + y.wrapped(row + kept_y);
    for (std::int64_t ky = first; ky <= kept_y; ky += padded_y) {
      const auto vertical = static_cast<float>(y.gaussian(ky, sigma));
      const Complex* const up = &dots(y.half + ky, 0);
      const Complex* const down = &dots(y.half - ky, 0);
      const Complex* const source = &image(row, 0);
      for (std::int64_t k = -kept_x; k <= kept_x; ++k) {
        const auto at = static_cast<std::size_t>(std::abs(k));
        const Complex charge = k >= 0 ? up[at] : std::conj(down[at]);
        const std::int64_t column = column_of[static_cast<std::size_t>(k + kept_x)];
        const Complex picture = source[column];
        target[column] +=
            gaussian[at] * vertical * Complex(charge.real() - picture.imag(), charge.imag() + picture.real());
      }
    }
  });
  fft->execute(fields.view(), FftDirection::inverse);
}

BlurredComparisonPlan::Fields BlurredComparisonPlan::State::cut(std::int64_t margin) const {
  const Shape<2> shape{y.pixels - 2 * margin, x.pixels - 2 * margin};
  Fields result{Array<float, 2>(shape), Array<float, 2>(shape)};
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t column = 0; column < shape[1]; ++column) {
      const Complex value = fields(row + margin, column + margin);
      result.dots(row, column) = value.real();
      result.image(row, column) = value.imag();
    }
  }
  return result;
}

BlurredSimilarity BlurredComparisonPlan::State::compare(double sigma) const {
  const auto both = cut(static_cast<std::int64_t>(std::floor(options.margin)));
  BlurredSimilarity result;
  result.sigma = sigma;
  result.mean_square_error = mean_square_error(both.dots.view(), both.image.view());
  result.psnr_db = psnr_db(result.mean_square_error);
  const auto& shape = both.dots.shape();
  const bool fits = shape[0] >= ssim_side && shape[1] >= ssim_side;
  result.ssim =
      options.structure && fits ? ssim(both.dots.view(), both.image.view()) : std::numeric_limits<double>::quiet_NaN();
  return result;
}

std::vector<BlurredSimilarity> BlurredComparisonPlan::execute(View<const float, 2> position,
                                                              View<const float, 1> charge, Progress& progress) {
  constexpr std::string_view where = "BlurredComparisonPlan::execute";
  require_positions(where, position);
  if (!charge.empty()) {
    require_view(where, "charge", charge, {position.shape()[0]}, Device{});
    for (const float value : charge.host()) {
      if (!std::isfinite(value)) throw_argument(where, "charge", "finite values", std::to_string(value));
    }
  }
  State& state = *state_;
  const auto steps = static_cast<std::int64_t>(state.options.sigma.size()) + 1;
  progress.step("blurring", 0, steps);
  state.transform_dots(position, charge);
  state.executed = true;
  std::vector<BlurredSimilarity> results;
  for (const double sigma : state.options.sigma) {
    progress.step("blurring", static_cast<std::int64_t>(results.size()) + 1, steps);
    state.blur(sigma);
    results.push_back(state.compare(sigma));
  }
  return results;
}

BlurredComparisonPlan::Fields BlurredComparisonPlan::blurred(std::size_t index) {
  constexpr std::string_view where = "BlurredComparisonPlan::blurred";
  State& state = *state_;
  if (index >= state.options.sigma.size()) {
    throw_argument(where, "index", "below " + std::to_string(state.options.sigma.size()), std::to_string(index));
  }
  if (!state.executed) throw_argument(where, "index", "execute before it", "none");
  state.blur(state.options.sigma[index]);
  return state.cut(0);
}

std::vector<BlurredSimilarity> compare_blurred(View<const float, 2> position, View<const float, 2> ink,
                                               const BlurOptions& options, View<const float, 1> charge,
                                               Progress& progress) {
  return BlurredComparisonPlan(ink, options).execute(position, charge, progress);
}

}  // namespace holotone
