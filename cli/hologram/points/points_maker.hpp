#pragma once
#include <cli/common/hologram_encoder.hpp>
#include <optional>
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

/// Sources of one channel of a cloud: with the cloud's own amplitudes, or those of a colour.
class ChannelPoints {
 public:
  ChannelPoints(const PointCloud& cloud, int colour);
  [[nodiscard]] PointSources sources() const;
  [[nodiscard]] double energy() const;  ///< sum of squared amplitudes

 private:
  [[nodiscard]] const std::vector<float>& amplitude() const { return colour_ < 0 ? cloud_.amplitude : own_; }

  const PointCloud& cloud_;
  int colour_;
  std::vector<float> own_;
};

/// Metadata of a hologram's file without those of its encoding.
Metadata points_metadata(const HologramJob& job, std::size_t channel, const PreparedFrame& frame,
                         const ChannelPoints& points, const PointCloudInfo& info);

/// True if the point sum's own 8-bit phase output is the chosen encoding.
bool sum_gives_codes(const HologramJob& job, const EncodeOptions& encode);

/// Hologram of points, and the properties of its sum.
struct PointsHologram : MadeHologram {
  PointCloudInfo info;
  double fresnel_deviation_rad = 0;
  double compute_s = 0;
};

/// Sums and encodes one channel; keeps its plans and device memory from frame to frame.
class PointsMaker {
 public:
  PointsMaker(const HologramJob& job, std::size_t channel, const Queue& queue);
  PointsHologram make(const PreparedFrame& frame, Progress& progress);
  /// Only the codes, of up to 8 bits, on the queue's device until the next call.
  View<const std::uint8_t, 2> codes(const PreparedFrame& frame, Progress& progress);
  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  void sum_and_encode(const PointSources& points, PointsHologram& made, Progress& progress);

  const HologramJob& job_;
  std::size_t channel_index_;
  Channel channel_;
  EncodeOptions encode_options_;
  Queue queue_;
  PointCloudPlan plan_;
  bool phase_from_sum_;  ///< 8-bit phase without tables: written by the sum itself
  Array<std::uint8_t, 2> phase_;
  Array<Complex, 2> field_;
  std::optional<HologramEncoder> encoder_;
};

}  // namespace holotone::cli
