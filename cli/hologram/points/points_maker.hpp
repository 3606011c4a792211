#pragma once
#include <cli/common/hologram_encoder.hpp>
#include <holotone/recipes/point_hologram.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Points of a frame, and their properties known before the sum.
struct PreparedFrame {
  std::int64_t number = 0;
  std::string input;
  ScenePoints points;
  std::vector<double> fresnel_deviation_rad;  ///< per channel
  std::vector<std::int64_t> unlit;            ///< per channel: points that light no pixel
  std::vector<std::string> remedy;            ///< per channel: see remedy_of
  std::vector<std::string> dark;              ///< per channel: reason for no light; empty: it has light
};

PreparedFrame prepare_frame(const HologramJob& job, const PlacedScene& scene, std::int64_t number, double turn_rad);

/// Metadata of a hologram's file without those of its sum and its encoding.
Metadata scene_metadata(const HologramJob& job, std::size_t channel, const PreparedFrame& frame);

/// See flags_for.
Flags flags_of(const HologramJob& job, const Metadata& metadata);

/// Hologram of points, and the properties of its sum.
struct PointsHologram : MadeHologram {
  PointCloudInfo info;
  double fresnel_deviation_rad = 0;
  double compute_s = 0;
};

/// Sums and encodes one channel; keeps its plans and device memory from frame to frame.
class PointsMaker {
 public:
  PointsMaker(const HologramJob& job, std::size_t channel, Wave wave, const Queue& queue);
  PointsHologram make(const PreparedFrame& frame, Progress& progress);
  /// Only the codes, of up to 8 bits, on the queue's device until the next call.
  View<const std::uint8_t, 2> codes(const PreparedFrame& frame, Progress& progress);
  [[nodiscard]] const Queue& queue() const { return plan_.queue(); }

 private:
  const HologramJob& job_;
  std::size_t channel_index_;
  Channel channel_;
  PointHologramPlan plan_;
  Array<std::uint8_t, 2> bytes_;   ///< codes of up to 8 bits
  Array<std::uint16_t, 2> words_;  ///< codes of more than 8 bits, or to be packed
  Array<Complex, 2> field_;
};

}  // namespace holotone::cli
