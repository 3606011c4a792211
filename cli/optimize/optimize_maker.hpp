#pragma once
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/optimize/target_pictures.hpp>
#include <functional>

namespace holotone::cli {

/// Record of the holograms of a colour, one a subframe.
struct OptimizedRecord {
  std::vector<std::string> outputs;
  double wavelength_m = 0;
  PictureRetrieval made;    ///< without its arrays
  std::string difference;   ///< file of the difference picture; empty: none
  Flags reconstruct_flags;  ///< see flags_for
};

/// Optimizes and writes the holograms of frames and colours; keeps a colour's phases as the start of the next frame.
class OptimizeMaker {
 public:
  OptimizeMaker(const OptimizeJob& job, ProgressBar& bar) : job_(job), bar_(bar) {}
  /// `frame`: null for one without a number. Calls `checked` when all inputs are read, ahead of the work.
  OptimizedRecord make(const TargetPictures& pictures, const std::vector<Array<float, 2>>& amplitudes,
                       const Frame* frame, const Channel& channel, const std::function<void()>& checked);

 private:
  [[nodiscard]] RetrievalCamera camera(const PictureRetrievalOptions& options, const Channel& channel) const;
  void write(const Channel& channel, const PictureRetrievalOptions& options, const Frame* frame,
             OptimizedRecord& row) const;

  const OptimizeJob& job_;
  ProgressBar& bar_;
  std::map<std::string, Array<float, 3>> last_;  ///< phases of the frame before, by the name of the colour
};

}  // namespace holotone::cli
