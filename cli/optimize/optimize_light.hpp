#pragma once
#include <cli/optimize/optimize_job.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone::cli {

/// Amplitudes {ny, nx} that are asked for, the largest scaled to 1.
struct Targets {
  std::vector<Array<float, 2>> amplitudes;
  float largest = 1;  ///< before
};

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
  [[nodiscard]] Targets targets(const Channel& channel, Progress& progress) const;
  /// Amplitude {ny, nx} of the picture of --against, of one colour, in the place of the target's.
  [[nodiscard]] Array<float, 2> against(const Channel& channel) const;
  /// Number of pixels without a depth, filled from their neighbours.
  [[nodiscard]] std::int64_t holes() const { return holes_; }

 private:
  [[nodiscard]] RgbdPicture depth_picture(const Array<float, 2>& light) const;

  const OptimizeJob& job_;
  std::vector<std::string> paths_;
  std::vector<Image> images_;
  SignalRegion region_;         ///< on the pixels of the shortest wavelength
  Array<float, 2> distance_m_;  ///< of each pixel of the only picture; empty: flat ones
  LayerSpacing spacing_ = LayerSpacing::distance;
  std::vector<double> layer_distances_m_;
  std::int64_t holes_ = 0;
};

/// Light {ny, nx} that falls on the panel; empty: the same everywhere. Throws io naming the file of --source.
Array<Complex, 2> beam_light(const OptimizeJob& job, const Channel& channel);

/// Phase {ny, nx} that the codes add to the hologram's: carrier and correction; empty for none.
Array<float, 2> added_phase(const OptimizeJob& job, const Channel& channel);

}  // namespace holotone::cli
