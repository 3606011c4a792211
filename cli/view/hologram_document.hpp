#pragma once
#include <cli/reconstruct/reconstruct_job.hpp>
#include <cli/view/document.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace holotone::cli {

/// A hologram, three as colours, or a complex field: its light in focus at any distance through any pupil, its
/// spectrum, its codes. Pictures are those of `holotone reconstruct` with the same options.
class HologramDocument final : public Document {
 public:
  /// Reads the files. Throws as `holotone reconstruct`.
  /// `given`: options of the file's values as typed, for commands that make the same picture.
  explicit HologramDocument(ReconstructJob job, std::string given = {});

  [[nodiscard]] nlohmann::json description() const override;
  ViewAnswer show(const ViewRequest& request, Progress& progress) override;
  Raster raster(const ViewRequest& request, Progress& progress) override;
  [[nodiscard]] std::string compared_view() const override { return "light"; }
  Image thumbnail(Progress& progress) override;

 private:
  void set_light(const State& state, std::string& command);
  void set_pupil(const State& state, std::string& command);
  void set_tones(const State& state, std::string& command);
  void open();
  [[nodiscard]] Raster light(const ViewRequest& request, Progress& progress);
  [[nodiscard]] Raster codes() const;
  [[nodiscard]] ViewAnswer levels() const;
  [[nodiscard]] double middle_distance_m() const;
  [[nodiscard]] std::string command_start() const;
  [[nodiscard]] nlohmann::json controls() const;

  ReconstructJob job_;
  std::string given_;
  std::optional<double> given_distance_m_;  ///< instead of the file's
  std::unique_ptr<HologramView> view_;
  Metadata metadata_;  ///< of the first file
  FieldGrid grid_;
  std::string encoding_;
  std::optional<Image> codes_;  ///< of one file of codes
  double usual_white_ = 0;      ///< of the first picture
  bool behind_lens_ = false;
  bool near_eye_ = false;   ///< made for an eye so near that its pupil is not paraxial
  std::string opened_for_;  ///< pupil of the eye that view_ was opened for; empty: a plane
  std::string aperture_;    ///< of view_ in a plane; "unknown" after one was refused
  std::string values_for_;  ///< what `values_` shows
  LightPicture values_;
};

}  // namespace holotone::cli
