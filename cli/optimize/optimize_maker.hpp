#pragma once
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/optimize/optimize_light.hpp>

namespace holotone::cli {

/// Values of one plane's light against its picture, beside RetrievalQuality.
struct SeenPicture {
  double ssim = 0;  ///< NaN on less than 11 x 11 pixels
  double ssim_worst = 0;
  double speckle_contrast = 0;
  double speckle_contrast_worst = 0;
};

/// Record of the holograms of a colour, one a subframe.
struct OptimizedRow {
  std::vector<std::string> outputs;
  double wavelength_m = 0;
  RetrievalResult result;
  std::vector<RetrievalPlane> planes;
  std::vector<RetrievalQuality> quality;  ///< in each plane, of the phases that the codes show
  std::vector<SeenPicture> seen;          ///< in each plane
  std::string difference;                 ///< file of the difference picture; empty: none
  double object_energy = 0;  ///< light that the whole panel would have to show the picture as bright as it is
  double compute_s = 0;      ///< of the solver's steps
  bool stopped = false;      ///< by a signal, with --keep-best
  Flags reconstruct_flags;   ///< see flags_for
};

/// Optimizes and writes the holograms of frames and colours; keeps a colour's phases as the start of the next frame.
class OptimizeMaker {
 public:
  OptimizeMaker(const OptimizeJob& job, ProgressBar& bar);
  /// `frame`: null for one without a number.
  OptimizedRow make(const TargetPictures& pictures, const Targets& targets, const Frame* frame, const Channel& channel);

 private:
  [[nodiscard]] PhaseRetrievalOptions model(const TargetPictures& pictures, const Channel& channel) const;
  [[nodiscard]] Array<float, 3> start(const PhaseRetrievalOptions& model, const Frame* frame, const Channel& channel);
  void watch(SolverOptions& solver, const PhaseRetrievalOptions& model, const Channel& channel) const;
  void optimize(PhaseRetrievalPlan& plan, const SolverOptions& solver, OptimizedRow& row, View<float, 3> phase);
  void compare(const Frame* frame, const Channel& channel, PhaseRetrievalPlan& plan, View<const float, 3> phase,
               const std::vector<Array<float, 2>>& amplitudes, OptimizedRow& row) const;
  /// `row`: what the file states of the light; null for a camera's. Returns the flags for what the format does not
  /// hold.
  Flags write(const Channel& channel, View<const float, 2> phase, const PhaseRetrievalOptions& model,
              const OptimizedRow* row, const std::string& output) const;

  const OptimizeJob& job_;
  ProgressBar& bar_;
  std::map<std::string, Array<float, 3>> last_;  ///< phases of the frame before, by the name of the colour
};

}  // namespace holotone::cli
