#pragma once
#include "reconstruct_job.hpp"
#include <holotone/io/image.hpp>
#include <holotone/optics/tone.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Intensities in linear light, host memory, shape {ny, nx}: one, or red, green and blue.
struct Picture {
  std::vector<Array<float, 2>> channels;
};

/// The intensity that a picture shows white unless told: see default_reference.
float white_of(const Picture& picture);

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

/// Looks at one hologram, or at three together in colour, focused at any distance.
class Reconstructor {
 public:
  /// Reads the files. Throws io, or invalid_argument if three of them do not belong together.
  explicit Reconstructor(const ReconstructJob& job);

  [[nodiscard]] Picture look(double distance_m);
  [[nodiscard]] PropagationMethod method_for(double distance_m) const {
    return eyes_.front().plan.method_for(distance_m);
  }
  [[nodiscard]] const FieldGrid& grid() const { return grid_; }
  [[nodiscard]] const Metadata& metadata() const { return metadata_; }
  [[nodiscard]] const std::string& encoding() const { return encoding_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }
  /// The distance the file states. Throws invalid_argument naming --distance if it states none.
  [[nodiscard]] double stated_distance_m() const;

 private:
  struct Eye {
    ReconstructionPlan plan;
    float weight = 1;  ///< of its intensity among three
  };

  void add(HologramLight light, const ReconstructJob& job, bool colour);

  std::string path_;
  FieldGrid grid_;
  Metadata metadata_;
  std::string encoding_;
  std::string filter_;
  Queue queue_;
  Array<float, 2> intensity_;  ///< on the queue's device
  std::vector<Eye> eyes_;
};

}  // namespace holotone::cli
