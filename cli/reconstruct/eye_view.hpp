#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <holotone/optics/eye.hpp>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

// reconstruct --viewer DISTANCE:SIZE[@X,Y]: the image in an eye at that position (holotone/optics/eye.hpp).
namespace holotone::cli {

/// "-2 mm, 0 mm"
std::string place_text(const EyePupil& pupil, double like_m);

/// Writes the metadata keys of the eye.
void describe_eye(Metadata& metadata, const EyePupil& pupil);

/// The same as JSON, with the share of the hologram's light that enters the pupil.
nlohmann::json json_of_eye(const EyePupil& pupil, double light_share);

/// Images in the eyes of a job. Holograms are read by rows: once for every device, or for every eye if the device has
/// no room to keep them. Pictures are cached up to 1 GiB in total.
class EyeView final : public HologramView {
 public:
  /// Reads the files' metadata. Throws io, invalid_argument, or out_of_memory if the host's memory is insufficient.
  explicit EyeView(const ReconstructJob& job);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
  void prepare(std::span<const double> distances_m, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double /*distance_m*/) const override {
    return PropagationMethod::angular_spectrum;
  }
  [[nodiscard]] std::vector<double> light_shares() const override { return shares_; }

 private:
  struct Channel {
    HologramRows rows;
    FieldGrid grid;
    FieldSize size;
    Exposure exposure;
  };
  /// Light of a channel on one device.
  struct ChannelLight {
    std::unique_ptr<EyePlan> plan;
    std::vector<Array<Complex, 2>> strips;  ///< of the whole field, for the next eyes
  };
  struct EyeDevice {
    Queue queue;
    std::vector<ChannelLight> channels;
    const EyePupil* gathered = nullptr;
  };

  [[nodiscard]] EyeOptions options_for(const Channel& channel, const EyePupil& pupil) const;
  void require_possible() const;
  Picture make(EyeDevice& device, double distance_m, std::size_t frame, Progress& progress);
  void keep(const Picture& picture, std::size_t frame);
  void gather(EyeDevice& device, const EyePupil& pupil, Progress& progress);
  void add_light(EyeDevice& device, std::size_t c, const EyePupil& pupil, Progress& progress);
  [[nodiscard]] bool keeps_light(Device device) const;
  [[nodiscard]] double weight(const Channel& channel) const;

  const ReconstructJob& job_;
  std::vector<Channel> channels_;
  bool exposed_ = false;  ///< the whole field has been read once
  std::vector<EyeDevice> devices_;
  std::mutex reading_;
  std::mutex keeping_;
  std::vector<Picture> kept_;  ///< cache by frame; empty if not computed
  std::vector<double> shares_;
  double kept_bytes_ = 0;
};

}  // namespace holotone::cli
