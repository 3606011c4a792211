#include <algorithm>
#include <cmath>
#include <holotone/recipes/viewing/wanted_light.hpp>

namespace holotone {
namespace {

template <class Body>
Array<float, 2> cropped(View<const float, 2> picture, const SignalRegion& region, const Body& body) {
  Array<float, 2> part({region.rows, region.columns});
  for (std::int64_t row = 0; row < region.rows; ++row) {
    for (std::int64_t x = 0; x < region.columns; ++x) {
      part(row, x) = body(picture(region.row + row, region.column + x));
    }
  }
  return part;
}

/// The worse of two values; NaN, which is no value, remains.
double lower(double a, double b) { return a <= b || std::isnan(a) ? a : b; }
double higher(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

}  // namespace

WantedLight::WantedLight(View<const float, 2> amplitude, const SignalRegion& region, std::optional<double> peak)
    : region_(region), peak_(peak.value_or(0)) {
  const auto positions = at_half_pixels(amplitude);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    wanted_[p] = cropped(positions[p].view(), region, [](float value) { return value * value; });
  }
  if (!peak) peak_ = std::sqrt(static_cast<double>(*std::ranges::max_element(wanted_.front().host())));
}

LightComparison WantedLight::compare(View<const float, 2> intensity, std::size_t position,
                                     View<std::uint8_t, 2> difference) const {
  const auto seen = cropped(intensity, region_, [](float value) { return value; });
  const View<const float, 2> wanted = wanted_[position].view();
  return difference.empty() ? compare_light(seen.view(), wanted, peak_)
                            : compare_light(seen.view(), wanted, peak_, difference);
}

void take_worse(WorstLight& worst, const WorstLight& other) {
  worst.psnr_db = lower(worst.psnr_db, other.psnr_db);
  worst.psnr_worst_db = lower(worst.psnr_worst_db, other.psnr_worst_db);
  worst.ssim = lower(worst.ssim, other.ssim);
  worst.ssim_worst = lower(worst.ssim_worst, other.ssim_worst);
  worst.speckle_contrast = higher(worst.speckle_contrast, other.speckle_contrast);
  worst.speckle_contrast_worst = higher(worst.speckle_contrast_worst, other.speckle_contrast_worst);
}

WorstLight find_worst(const PositionComparisons& positions) {
  const auto& samples = positions.front();
  WorstLight worst;
  for (const auto& light : positions) {
    take_worse(worst, {samples.psnr_db, light.psnr_db, samples.ssim, light.ssim, samples.speckle_contrast,
                       light.speckle_contrast});
  }
  return worst;
}

}  // namespace holotone
