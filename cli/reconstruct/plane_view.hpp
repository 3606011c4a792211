#pragma once
#include <cli/reconstruct/reconstruct_job.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/tone.hpp>
#include <span>
#include <string>
#include <vector>

namespace holotone::cli {

/// Intensities in linear light, shape {ny, nx}: one channel, or red, green and blue. In host memory, or on CUDA as long
/// as their codes alone are wanted.
struct Picture {
  std::vector<Array<float, 2>> channels;
  Queue queue{};  ///< of the channels
};

/// The picture in host memory.
Picture on_host(const Picture& picture);

/// Intensity shown as white under a rule. Only percentiles can be of pictures on CUDA.
float white_of(std::span<const View<const float, 2>> pictures, WhiteRule rule, const Queue& queue = {});
float white_of(const Picture& picture, WhiteRule rule);

/// 8-bit pixels under the tone curve stated in docs/commands_codes.md.
Image toned(const Picture& picture, const ToneOptions& tone);

/// Intensities as float32 pixels, without a tone curve.
Image untoned(const Picture& picture);

/// Pixels {ny, nx, n} from n planes of the same shape.
template <class T>
Array<T, 3> interleaved(const std::vector<Array<T, 2>>& planes) {
  const auto shape = planes.front().shape();
  const auto count = std::ssize(planes);
  Array<T, 3> pixels({shape[0], shape[1], count});
  if (count == 1) {
    parallel_blocks(shape[0] * shape[1], [&](std::int64_t begin, std::int64_t end) {
      std::copy(planes.front().data() + begin, planes.front().data() + end, pixels.data() + begin);
    });
    return pixels;
  }
  parallel_blocks(shape[0] * shape[1], [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = 0; c < count; ++c) {
      const T* const plane = planes[static_cast<std::size_t>(c)].data();
      for (std::int64_t i = begin; i < end; ++i) pixels.data()[i * count + c] = plane[i];
    }
  });
  return pixels;
}

/// Scale factor for fields whose squares exceed the range of float32: a power of two. Intensities are then in units of
/// `unit`.
struct Exposure {
  float gain = 1;   ///< of the field
  double unit = 1;  ///< 1 / gain^2
};

/// For a field whose largest real or imaginary part is `largest`: gain 1 from 2^-40 to 2^30 and for 0.
Exposure exposure_for(float largest);

/// Sum of squared moduli, and maximum absolute value of real and imaginary parts.
struct FieldSize {
  double energy = 0;
  float largest = 0;
};
FieldSize size_of(View<const Complex, 2> field);

/// Intensity unit of a picture whose channels are multiplied by `factors`: 1 if float32 holds the products, else the
/// largest factor.
double common_unit(std::span<const double> factors);

/// Pictures of one hologram, or of three together in colour, focused at any distance.
class HologramView {
 public:
  virtual ~HologramView() = default;

  /// Picture of a frame of the job, focused at its distance.
  virtual Picture picture(double distance_m, std::size_t frame, Progress& progress) = 0;
  /// Makes the pictures of all frames at once, each focused at its distance, where several devices share them.
  virtual void prepare(std::span<const double> /*distances_m*/, Progress& /*progress*/) {}
  /// Complex field in focus at a distance, on the host; at 0 that of the panel. Throws invalid_argument naming --show
  /// for several holograms, an eye or a lens.
  virtual Array<Complex, 2> field(double distance_m);
  /// Another pupil instead of the job's, or none. False: this view has to be made anew for it.
  virtual bool set_aperture(const std::optional<Aperture>& /*aperture*/) { return false; }
  [[nodiscard]] virtual PropagationMethod method_for(double distance_m) const = 0;
  /// Grid of the pictures.
  [[nodiscard]] const FieldGrid& grid() const { return grid_; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] const std::string& encoding() const { return encoding_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }
  /// Distance stated by the file. Throws invalid_argument naming --distance if it states none.
  [[nodiscard]] double stated_distance_m() const;
  /// Share of the hologram's light through the pupil of each computed frame; empty without an eye.
  [[nodiscard]] virtual std::vector<double> light_shares() const { return {}; }
  /// Light of the channels, red, green and blue, in host memory; empty unless the job compares it.
  [[nodiscard]] virtual std::span<const HologramLight> lights() const { return {}; }
  /// Of each file, in the order of the channels.
  [[nodiscard]] std::span<const double> wavelengths_m() const { return wavelengths_m_; }
  /// Intensity of a picture value of 1: not 1 only if float32 does not hold the intensities. Valid after the first
  /// picture.
  [[nodiscard]] double unit() const { return unit_; }
  /// Files without any light. Valid after the first picture.
  [[nodiscard]] const std::vector<std::string>& dark() const { return dark_; }

 protected:
  /// Copies the first file's grid and metadata.
  void describe(const HologramLight& light);
  /// Copies those of another view.
  void describe(const HologramView& view);
  /// Scales a file's light to the range of float32. Returns the factor of its intensities: their unit times the weight
  /// among three.
  double expose(HologramLight& light, bool colour);

  FieldGrid grid_;
  std::string path_;
  double unit_ = 1;
  std::vector<std::string> dark_;

 private:
  std::vector<double> wavelengths_m_;
  Metadata metadata_;
  std::string encoding_;
  std::string filter_;
};

/// Overrides of each of the job's files: three wavelengths for three files.
std::vector<HologramOverrides> overrides_of(const ReconstructJob& job);

/// Sorts into red, green, blue as the files state, else keeps the order typed. Throws io if the files do not belong
/// together.
void put_in_order(std::vector<const HologramLight*>& lights);

/// Weight of a channel's light among three; `sum` is the sum of its squared moduli. A phase hologram shows every object
/// equally bright: the object's own energy, which the file states, sets the channels' balance.
double weight_of(const HologramLight& light, double sum);

/// Reads the job's files; three in the order of put_in_order. Throws io, or invalid_argument if three of them do not
/// belong together.
std::vector<HologramLight> lights_of(const ReconstructJob& job);

/// Intensity in a plane, without or with a circular aperture in the paraxial approximation.
class PlaneView final : public HologramView {
 public:
  /// `lights`: of lights_of.
  PlaneView(const ReconstructJob& job, std::vector<HologramLight> lights);

  Picture picture(double distance_m, std::size_t frame, Progress& progress) override;
  Array<Complex, 2> field(double distance_m) override;
  bool set_aperture(const std::optional<Aperture>& aperture) override;
  [[nodiscard]] PropagationMethod method_for(double distance_m) const override {
    return channels_.front().plan.method_for(distance_m);
  }
  [[nodiscard]] std::span<const HologramLight> lights() const override { return lights_; }

 private:
  struct Channel {
    ReconstructionPlan plan;
    Array<Complex, 2> field;  ///< that leaves the panel, on the queue's device
    double factor = 1;        ///< intensity factor: its unit times its weight among three
  };

  void add(HologramLight& light, const ReconstructJob& job, bool colour);
  [[nodiscard]] PropagationMethod method_of(const ReconstructJob& job, const FieldGrid& grid) const;

  Queue queue_;
  Array<float, 2> intensity_;  ///< on the queue's device
  std::vector<Channel> channels_;
  std::vector<HologramLight> lights_;
};

}  // namespace holotone::cli
