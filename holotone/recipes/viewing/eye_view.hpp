#pragma once
// Not for users. The image in an eye at one or several positions (optics/eye.hpp).
#include <holotone/optics/eye.hpp>
#include <holotone/recipes/viewing/hologram_view.hpp>
#include <mutex>

namespace holotone {

/// Images in the eyes of the options. Holograms are read by rows: once for every device, or for every eye if the device
/// has no room to keep them. Pictures are cached up to 1 GiB in total.
class EyeView final : public HologramView {
 public:
  /// Reads the files' metadata. Throws io, invalid_argument, and the errors of on_memory.
  EyeView(const HologramSources& sources, const HologramViewOptions& options);

  LightPicture picture(double distance_m, std::size_t frame, Progress& progress) override;
  void prepare(std::span<const double> distances_m, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double /*distance_m*/) const override {
    return PropagationMethod::angular_spectrum;
  }
  [[nodiscard]] std::vector<double> light_shares() const override { return shares_; }

 private:
  struct Channel {
    HologramRows rows;
    FieldGrid grid;
    LightSize size;
    LightExposure exposure;
  };
  /// Light of a channel on one device.
  struct ChannelLight {
    std::unique_ptr<EyePlan> plan;
    std::vector<Array<Complex, 2>> strips;  ///< of the whole field, for the next eyes
  };
  struct EyeDevice {
    Queue queue;
    std::vector<ChannelLight> channels;
    std::optional<std::size_t> gathered{};  ///< number of the pupil
  };

  [[nodiscard]] EyeOptions options_for(const Channel& channel, const EyePupil& pupil) const;
  void require_possible(const HologramViewOptions& options) const;
  LightPicture make(EyeDevice& device, double distance_m, std::size_t frame, Progress& progress);
  void keep(const LightPicture& picture, std::size_t frame);
  void gather(EyeDevice& device, std::size_t place, Progress& progress);
  void add_light(EyeDevice& device, std::size_t c, const EyePupil& pupil, Progress& progress);
  [[nodiscard]] bool keeps_light(Device device) const;
  [[nodiscard]] double weight(const Channel& channel) const;

  bool any_distance_ = false;
  std::vector<Channel> channels_;
  bool exposed_ = false;  ///< the whole field has been read once
  std::vector<EyeDevice> devices_;
  std::mutex reading_;
  std::mutex keeping_;
  std::vector<LightPicture> kept_;  ///< cache by frame; empty if not computed
  std::vector<double> shares_;
  double kept_bytes_ = 0;
};

}  // namespace holotone
