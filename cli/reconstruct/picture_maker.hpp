#pragma once
#include <cli/reconstruct/plane_view.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

std::string_view name_of(Shown show);

/// Formula of the job's tones, as pictures state it.
std::string tone_curve(const ReconstructJob& job);

/// Makes the pictures of a job from what a view computes.
class PictureMaker {
 public:
  /// Both must outlive the maker; the job's tones, distances and what it shows may change.
  PictureMaker(const ReconstructJob& job, HologramView& view) : job_(job), view_(view) {}

  /// Values that the job shows, focused at a distance: intensities, or the phase in turns.
  Picture values(double distance_m, std::size_t frame, Progress& progress);

  /// Intensity that the job shows as white.
  [[nodiscard]] double white_of(const Picture& values) const;

  /// Pixels under the job's tones, or as float32, with metadata.
  Image image(const Picture& values, double white, double distance_m, std::size_t frame);

  /// What every picture of the job states.
  [[nodiscard]] Metadata source_metadata() const;
  [[nodiscard]] Metadata metadata_of(double white, std::size_t frame) const;

  /// Tone curve with this intensity as white.
  [[nodiscard]] ToneOptions tone(double white) const;

  /// An intensity of --linear outside the range of float32; 0: none.
  [[nodiscard]] double beyond_float() const { return beyond_float_; }

 private:
  [[nodiscard]] float in_units(double intensity) const;
  void take_units_out(Image& image);

  const ReconstructJob& job_;
  HologramView& view_;
  double beyond_float_ = 0;
};

}  // namespace holotone::cli
