#pragma once
// Not for users. How near the light of a view comes to a picture. viewing.hpp compares at once.
#include <functional>
#include <holotone/recipes/viewing/hologram_view.hpp>
#include <holotone/recipes/viewing/wanted_light.hpp>
#include <vector>

namespace holotone {

/// Compares a view's light with a picture. Behind a lens it is that of the panel's pixels, not of the square ones.
class ViewComparison {
 public:
  /// `amplitudes`: of the view's channels, {ny, nx} of the panel. The view must keep its light and outlive the
  /// comparison. Throws invalid_argument naming the function `compare_holograms`.
  ViewComparison(const HologramView& view, const std::vector<View<const float, 2>>& amplitudes,
                 const SignalRegion& region, Device device);

  /// Compares the light at a distance.
  PictureComparison at(double distance_m, Progress& progress);

  /// Signed errors {rows, columns} of the region at the pixels, one for each channel, of the last comparison, as
  /// compare_light writes them.
  [[nodiscard]] const std::vector<Array<std::uint8_t, 2>>& differences() const { return differences_; }

 private:
  /// Writes the intensity {ny, nx} of a channel at a distance and one of the half_pixels.
  using LightAt = std::function<void(double distance_m, std::size_t position, View<float, 2> intensity)>;
  struct Channel {
    LightAt light;
    double wavelength_m = 0;
    WantedLight wanted;
  };

  static LightAt light_of(const ViewingOptions& options, const HologramLight& light, Device device);

  SignalRegion region_;
  Array<float, 2> intensity_;  ///< of the whole panel
  std::vector<Channel> channels_;
  std::vector<Array<std::uint8_t, 2>> differences_;
  std::int64_t done_ = 0;   ///< compared positions of all channels and pictures
  std::int64_t total_ = 0;  ///< positions of all channels and pictures
};

/// Host memory in bytes that the comparison of `channels` lights of this grid needs.
double comparison_bytes(const FieldGrid& grid, std::size_t channels, bool lens, Device device);

}  // namespace holotone
