#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <holotone/optics/eye.hpp>
#include <nlohmann/json_fwd.hpp>

// reconstruct --viewer DISTANCE:SIZE[@X,Y]: what an eye there sees (holotone/optics/eye.hpp).
namespace holotone::cli {

/// "-2 mm, 0 mm"
std::string place_text(const EyePupil& pupil, double like_m);

/// The keys of a picture's metadata that tell of the eye.
void describe_eye(Metadata& metadata, const EyePupil& pupil);

/// The same for --json, with the part of the hologram's light that goes through the pupil.
nlohmann::json json_of_eye(const EyePupil& pupil, double light_share);

/// What the eyes of a job see. Holograms are read by rows, once for each place of the eye; pictures are kept while they
/// take less than a gigabyte.
class EyeView final : public HologramView {
 public:
  /// Reads what the files say of themselves. Throws io, invalid_argument, or out_of_memory for what the host has not.
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
    double sum = 0;  ///< of squared moduli; < 0: not known yet
    std::unique_ptr<EyePlan> plan;
    Exposure exposure;
    bool is_exposed = false;  ///< all of the field was read once
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
  std::vector<Picture> kept_;  ///< of frames already seen, or empty
  std::vector<double> shares_;
  double kept_bytes_ = 0;
};

}  // namespace holotone::cli
