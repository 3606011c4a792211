#pragma once
#include <cli/reconstruct/reconstruct_job.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/image.hpp>
#include <holotone/optics/tone.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Intensities in linear light, host memory, shape {ny, nx}: one, or red, green and blue.
struct Picture {
  std::vector<Array<float, 2>> channels;
};

/// The intensity that pictures show white by a rule.
float white_of(std::span<const View<const float, 2>> pictures, WhiteRule rule);
float white_of(const Picture& picture, WhiteRule rule);

/// 8-bit pixels under the tone curve that docs/command_line.md states.
Image toned(const Picture& picture, const ToneOptions& tone);

/// The intensities themselves as float32 pixels.
Image untoned(const Picture& picture);

/// Pixels {ny, nx, n} from n planes of the same shape.
template <class T>
Array<T, 3> interleaved(const std::vector<Array<T, 2>>& planes) {
  const auto shape = planes.front().shape();
  const std::size_t count = planes.size();
  Array<T, 3> pixels({shape[0], shape[1], static_cast<std::int64_t>(count)});
  for (std::size_t c = 0; c < count; ++c) {
    const auto plane = planes[c].host();
    for (std::size_t i = 0; i < plane.size(); ++i) pixels.data()[i * count + c] = plane[i];
  }
  return pixels;
}

/// Pictures of one hologram, or of three together in colour, focused at any distance.
class HologramView {
 public:
  virtual ~HologramView() = default;

  /// The picture of a frame of the job's, in focus at its distance.
  virtual Picture picture(double distance_m, std::size_t frame, Progress& progress) = 0;
  [[nodiscard]] virtual PropagationMethod method_for(double distance_m) const = 0;
  /// Of the pictures.
  [[nodiscard]] const FieldGrid& grid() const { return grid_; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] const std::string& encoding() const { return encoding_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }
  /// The distance the file states. Throws invalid_argument naming --distance if it states none.
  [[nodiscard]] double stated_distance_m() const;
  /// The part of the hologram's light that goes through the pupil of each frame looked at; none without an eye.
  [[nodiscard]] virtual std::vector<double> light_shares() const { return {}; }

 protected:
  /// Takes what the first of the files says of itself.
  void describe(const HologramLight& light);

  FieldGrid grid_;
  std::string path_;

 private:
  Metadata metadata_;
  std::string encoding_;
  std::string filter_;
};

/// What is told of each of the job's files: three wavelengths for three files.
std::vector<HologramOverrides> overrides_of(const ReconstructJob& job);

/// In the order red, green, blue that the files state, else as typed. Throws io where they say that they do not belong
/// together.
void put_in_order(std::vector<const HologramLight*>& lights);

/// What a channel's light has to be multiplied by among three, for the sum of its squared moduli. A phase hologram shows
/// every object equally bright: the object's own energy, which the file states, sets the channels' balance.
float weight_of(const HologramLight& light, double sum);

/// The plane itself, or through a circular aperture in the paraxial way.
class PlaneView final : public HologramView {
 public:
  /// Reads the files. Throws io, or invalid_argument if three of them do not belong together.
  explicit PlaneView(const ReconstructJob& job);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
  [[nodiscard]] PropagationMethod method_for(double distance_m) const override {
    return channels_.front().plan.method_for(distance_m);
  }

 private:
  struct Channel {
    ReconstructionPlan plan;
    float weight = 1;  ///< of its intensity among three
  };

  void add(const HologramLight& light, const ReconstructJob& job, bool colour);

  Queue queue_;
  Array<float, 2> intensity_;  ///< on the queue's device
  std::vector<Channel> channels_;
};

}  // namespace holotone::cli
