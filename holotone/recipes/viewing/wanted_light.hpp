#pragma once
// Not for users. The light that is wanted of a picture, at the samples and between them, to compare seen light with.
#include <array>
#include <cstdint>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/recipes/viewing.hpp>
#include <optional>

namespace holotone {

using PositionComparisons = std::array<LightComparison, half_pixels.size()>;

/// A wanted picture in a region, at each of the half_pixels.
class WantedLight {
 public:
  /// `amplitude`: {ny, nx} in host memory. `region`: within it. `peak`: largest amplitude; none: that of the samples in
  /// the region, so that the positions differ by their errors alone.
  WantedLight(View<const float, 2> amplitude, const SignalRegion& region, std::optional<double> peak = {});

  /// True without any light at the samples: there is nothing to compare with.
  [[nodiscard]] bool is_dark() const { return peak_ == 0; }

  /// Compares the region of seen light {ny, nx} at one of the half_pixels (compare_light). `difference` {rows,
  /// columns}: the error; none if empty.
  [[nodiscard]] LightComparison compare(View<const float, 2> intensity, std::size_t position,
                                        View<std::uint8_t, 2> difference = {}) const;

 private:
  SignalRegion region_;
  double peak_ = 0;                                         ///< largest amplitude
  std::array<Array<float, 2>, half_pixels.size()> wanted_;  ///< intensity in the region
};

/// Values of all positions; the first is that of the samples.
WorstLight find_worst(const PositionComparisons& positions);

/// Takes what is worse of another comparison.
void take_worse(WorstLight& worst, const WorstLight& other);

}  // namespace holotone
