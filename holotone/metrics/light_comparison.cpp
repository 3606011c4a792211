#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/similarity.hpp>
#include <limits>
#include <vector>

namespace holotone {
namespace {

constexpr std::string_view where = "compare_light";
constexpr double min_of_speckle = 0.05;  ///< of the largest wanted light; darker pixels only divide by little

double amplitude(float intensity) { return std::sqrt(static_cast<double>(intensity)); }

void require_light(std::string_view argument, View<const float, 2> light) {
  const auto values = light.host();
  const auto wrong = std::ranges::find_if(values, [](float value) { return !(std::isfinite(value) && value >= 0); });
  if (wrong == values.end()) return;
  const auto at = wrong - values.begin();
  const auto nx = light.shape()[1];
  throw_argument(where, argument, "finite values >= 0",
                 fmt::format("{} in column {}, row {}", *wrong, at % nx, at / nx));
}

/// Adds body(row) of all rows, in order: the same bits with any number of threads.
template <class Body>
double sum_of_rows(const Shape<2>& shape, const Body& body) {
  std::vector<double> rows(static_cast<std::size_t>(shape[0]));
  metrics::loop(shape[0], shape[0] * shape[1],
                [&](std::int64_t row) { rows[static_cast<std::size_t>(row)] = body(row * shape[1]); });
  double sum = 0;
  for (const double value : rows) sum += value;
  return sum;
}

double best_scale(View<const float, 2> seen, View<const float, 2> wanted) {
  const auto nx = seen.shape()[1];
  const double light = sum_of_rows(seen.shape(), [&](std::int64_t first) {
    double sum = 0;
    for (auto i = first; i < first + nx; ++i) sum += static_cast<double>(seen.data()[i]);
    return sum;
  });
  const double agreement = sum_of_rows(seen.shape(), [&](std::int64_t first) {
    double sum = 0;
    for (auto i = first; i < first + nx; ++i) sum += amplitude(seen.data()[i]) * amplitude(wanted.data()[i]);
    return sum;
  });
  return light > 0 ? agreement / light : 0;
}

double speckle_contrast(View<const float, 2> seen, View<const float, 2> wanted, double largest) {
  std::vector<double> ratios;
  for (std::int64_t i = 0; i < seen.size(); ++i) {
    const auto asked = static_cast<double>(wanted.data()[i]);
    if (asked >= min_of_speckle * largest) ratios.push_back(static_cast<double>(seen.data()[i]) / asked);
  }
  const auto count = static_cast<double>(ratios.size());
  double mean = 0;
  for (const double ratio : ratios) mean += ratio / count;
  double variance = 0;
  for (const double ratio : ratios) variance += (ratio - mean) * (ratio - mean) / count;
  return std::sqrt(variance) / mean;
}

LightComparison compare(View<const float, 2> seen, View<const float, 2> wanted, double peak,
                        View<std::uint8_t, 2> difference) {
  if (seen.empty()) throw_argument(where, "seen", "a picture", "none");
  require_device(where, "seen", Device{}, seen.device());
  require_view(where, "wanted", wanted, seen.shape(), Device{});
  require_light("seen", seen);
  require_light("wanted", wanted);
  const double largest = static_cast<double>(*std::ranges::max_element(wanted.host()));
  if (largest == 0) throw_argument(where, "wanted", "a picture with some light", "zeros");
  if (peak == 0) peak = std::sqrt(largest);
  require_positive(where, "peak", peak);
  LightComparison result;
  result.scale = best_scale(seen, wanted);
  const auto nx = seen.shape()[1];
  Array<float, 2> scaled(seen.shape());
  Array<float, 2> target(seen.shape());
  const double squares = sum_of_rows(seen.shape(), [&](std::int64_t first) {
    double sum = 0;
    for (auto i = first; i < first + nx; ++i) {
      const double shown = result.scale * amplitude(seen.data()[i]);
      const double t = amplitude(wanted.data()[i]);
      sum += (shown - t) * (shown - t);
      scaled.data()[i] = static_cast<float>(shown / peak);
      target.data()[i] = static_cast<float>(t / peak);
      if (difference.empty()) continue;
      const double grey = std::round(128 + 254 * (shown - t) / peak);
      difference.data()[i] = static_cast<std::uint8_t>(std::clamp(grey, 1.0, 255.0));
    }
    return sum;
  });
  result.psnr_db = psnr_db(squares / static_cast<double>(seen.size()), peak);
  constexpr std::int64_t window = 2 * SsimOptions().radius + 1;
  const bool measurable = std::min(seen.shape()[0], nx) >= window;
  result.ssim = measurable ? ssim(scaled.view(), target.view()) : std::numeric_limits<double>::quiet_NaN();
  result.speckle_contrast = speckle_contrast(seen, wanted, largest);
  return result;
}

}  // namespace

LightComparison compare_light(View<const float, 2> seen, View<const float, 2> wanted, double peak) {
  return compare(seen, wanted, peak, {});
}

LightComparison compare_light(View<const float, 2> seen, View<const float, 2> wanted, double peak,
                              View<std::uint8_t, 2> difference) {
  require_view(where, "difference", difference, seen.shape(), Device{});
  return compare(seen, wanted, peak, difference);
}

}  // namespace holotone
