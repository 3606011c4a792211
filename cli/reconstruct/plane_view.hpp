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

/// Fields are multiplied by a power of two where float32 does not hold their squares, and their intensities are then
/// in units of `unit`.
struct Exposure {
  float gain = 1;   ///< of the field
  double unit = 1;  ///< 1 / gain^2
};

/// For a field whose largest real or imaginary part is `largest`: none from 2^-40 to 2^30 and for 0.
Exposure exposure_for(float largest);

/// The largest modulus of a real or an imaginary part.
float largest_part(View<const Complex, 2> field);

/// The unit of a picture whose channels' intensities have to be multiplied by these factors: 1 where float32 holds
/// the products, else the largest of them.
double common_unit(std::span<const double> factors);

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
  /// The intensity that a value of 1 in a picture stands for: 1 unless float32 does not hold the intensities. Known
  /// when one was looked at.
  [[nodiscard]] double unit() const { return unit_; }
  /// Files without any light. Known when a picture was looked at.
  [[nodiscard]] const std::vector<std::string>& dark() const { return dark_; }

 protected:
  /// Takes what the first of the files says of itself.
  void describe(const HologramLight& light);

  FieldGrid grid_;
  std::string path_;
  double unit_ = 1;
  std::vector<std::string> dark_;

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

/// What a channel's light has to be multiplied by among three, for the sum of its squared moduli. A phase hologram
/// shows every object equally bright: the object's own energy, which the file states, sets the channels' balance.
double weight_of(const HologramLight& light, double sum);

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
    double factor = 1;  ///< of its intensity: its unit, and its weight among three
  };

  void add(HologramLight& light, const ReconstructJob& job, bool colour);

  Queue queue_;
  Array<float, 2> intensity_;  ///< on the queue's device
  std::vector<Channel> channels_;
};

}  // namespace holotone::cli
