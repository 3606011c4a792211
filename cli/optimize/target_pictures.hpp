#pragma once
#include <cli/optimize/optimize_job.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>

namespace holotone::cli {

/// What is asked for, of one frame and all of its colours: regions and pictures.
class TargetPictures {
 public:
  /// Reads the pictures. `image` replaces the name of a single one. Throws io naming a file.
  TargetPictures(const OptimizeJob& job, const std::string& image);

  /// Region of the pictures on a colour's pixels: behind a lens these grow with the wavelength.
  [[nodiscard]] SignalRegion region(const Channel& channel) const;
  /// A plane for each picture, or each layer of one, and each pupil.
  [[nodiscard]] std::vector<RetrievalPlane> planes() const;
  /// Amplitudes {ny, nx} of the pictures or layers, of one colour; the same for each pupil.
  [[nodiscard]] std::vector<Array<float, 2>> amplitudes(const Channel& channel, Progress& progress) const;
  /// Amplitude {ny, nx} of another picture, of one colour, in the place of the target's.
  [[nodiscard]] Array<float, 2> amplitude(const std::string& path, const Image& image, const Channel& channel) const;
  /// The beam of --target on a colour's pixels; none without.
  [[nodiscard]] std::optional<DrawnBeam> beam(const Channel& channel) const;
  /// Number of pixels without a depth, filled from their neighbours.
  [[nodiscard]] std::int64_t holes() const { return depth_.holes; }

 private:
  [[nodiscard]] Shape<2> sides(const Image& image) const;
  [[nodiscard]] RgbdPicture depth_picture(const Array<float, 2>& light) const;

  const OptimizeJob& job_;
  std::vector<std::string> paths_;
  std::vector<Image> images_;
  SignalRegion region_;  ///< on the pixels of the shortest wavelength
  DepthMap depth_;       ///< of the only picture
  LayerSpacing spacing_ = LayerSpacing::distance;
  std::vector<double> distances_m_;  ///< of pictures or layers
};

}  // namespace holotone::cli
