#pragma once
#include <array>
#include <cli/reconstruct/plane_view.hpp>
#include <functional>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// reconstruct --against: how near a hologram's light comes to the picture that it is to show, at its pixels and between
// them.
namespace holotone::cli {

/// Comparison of one channel at the half_pixels.
struct ChannelComparison {
  double wavelength_m = 0;
  std::array<LightComparison, half_pixels.size()> positions;
};

/// Comparison of one picture of one hologram, or of three as colours.
struct PictureComparison {
  std::string input;
  double distance_m = 0;
  SignalRegion region;       ///< part of the picture that is compared
  std::string difference{};  ///< file of the difference picture; empty: none
  std::vector<ChannelComparison> channels{};
};

/// Writes the intensity {ny, nx} of a channel at a distance and one of the half_pixels.
using LightAt = std::function<void(double distance_m, std::size_t position, View<float, 2> intensity)>;

/// Compares a view's light with the picture of --against. Behind a lens it is that of the panel's pixels, not of the
/// square ones.
class Comparison {
 public:
  /// Reads the picture and finds its place on the panel. Throws io, or out_of_memory if the host's memory is
  /// insufficient. The view must outlive the comparison.
  Comparison(const ReconstructJob& job, const HologramView& view);

  /// Compares the light at a distance.
  PictureComparison at(double distance_m, Progress& progress);

  /// Difference picture of the region at the pixels, 8 bits, of the last comparison.
  [[nodiscard]] Image difference() const;

 private:
  struct Channel {
    LightAt light;
    double wavelength_m = 0;
    std::array<Array<float, 2>, half_pixels.size()> wanted;  ///< intensity in the region
  };

  void add(const ReconstructJob& job, const HologramLight& light, const Image& image, int colour);

  std::string input_;
  std::int64_t done_ = 0;   ///< compared positions of all channels and pictures
  std::int64_t total_ = 0;  ///< positions of all channels and pictures
  SignalRegion region_;
  Array<float, 2> intensity_;  ///< of the whole panel
  std::vector<Channel> channels_;
  std::vector<Array<std::uint8_t, 2>> differences_;
};

/// Values at the samples and the worst of all positions, and for three colours of each; of several channels the worst.
nlohmann::json json_of(const PictureComparison& comparison);

/// "30.1 dB at worst of four half-pixel positions (31 dB at the samples), SSIM 0.95, speckle contrast 0.1"
std::string text_of(const PictureComparison& comparison);

}  // namespace holotone::cli
