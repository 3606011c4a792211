#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <holotone/optics/eye.hpp>
#include <nlohmann/json_fwd.hpp>

// reconstruct --viewer DISTANCE:SIZE[@X,Y]: the image in an eye at that position (holotone/optics/eye.hpp).
namespace holotone::cli {

/// "-2 mm, 0 mm"
std::string place_text(const EyePupil& pupil, double like_m);

/// Writes the metadata keys of the eye.
void describe_eye(Metadata& metadata, const EyePupil& pupil);

/// The same as JSON, with the share of the hologram's light that enters the pupil.
nlohmann::json json_of_eye(const EyePupil& pupil, double light_share);

/// Images in the eyes of a job. Holograms are read by rows, once per eye position. Pictures are cached up to 1 GiB in
/// total.
class EyeView final : public HologramView {
 public:
  /// Reads the files' metadata. Throws io, invalid_argument, or out_of_memory if the host's memory is insufficient.
  explicit EyeView(const ReconstructJob& job);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double /*distance_m*/) const override {
    return PropagationMethod::angular_spectrum;
  }
  [[nodiscard]] std::vector<double> light_shares() const override { return shares_; }

 private:
  struct Channel {
    HologramRows rows;
    FieldGrid grid;
    double sum = 0;  ///< of squared moduli; < 0: unknown
    std::unique_ptr<EyePlan> plan;
    Exposure exposure;
    bool is_exposed = false;  ///< the whole field has been read once
  };

  [[nodiscard]] EyeOptions options_for(const Channel& channel, const EyePupil& pupil) const;
  void require_possible() const;
  void gather(const EyePupil& pupil, Progress& progress);
  void gather(Channel& channel, const EyePupil& pupil, Progress& progress);
  float add_light(Channel& channel, const EyePupil& pupil, Progress& progress);
  [[nodiscard]] double weight(const Channel& channel) const;

  const ReconstructJob& job_;
  Queue queue_;
  std::vector<Channel> channels_;
  const EyePupil* gathered_ = nullptr;
  std::vector<Picture> kept_;  ///< cache by frame; empty if not computed
  std::vector<double> shares_;
  double kept_bytes_ = 0;
};

}  // namespace holotone::cli
