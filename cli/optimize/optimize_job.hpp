#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/beam_option.hpp>
#include <cli/options/picture_options.hpp>
#include <holotone/hologram/focal_stack.hpp>
#include <holotone/recipes/retrieval.hpp>

namespace holotone::cli {

/// What --signal-region takes: a part of the panel, or a region of its pixels.
struct RegionChoice {
  double part = PictureRetrievalOptions{}.part;
  std::optional<SignalRegion> region;
};

/// Job of `holotone optimize`. Options are bound to its members; `complete` sets those below.
struct OptimizeJob {
  HologramJob hologram;
  PictureOptions input;
  RegionChoice region;
  PictureRetrievalOptions options;  ///< but for what a colour and its pictures set: see options_for
  std::optional<RetrievalSolver> solver;
  BeamChoice beam;
  std::vector<Aperture> apertures;  ///< through which the picture is seen; none: all light
  FocalStackOptions eye;
  std::optional<TargetChoice> target;  ///< instead of pictures
  std::string start;
  std::string against;     ///< picture to compare with; empty: the targets
  std::string difference;  ///< file of the difference picture; empty: none
  std::string camera;
  double camera_timeout_s = 60;

  std::vector<Frame> frames;            ///< numbered pictures; empty: one run of `pictures`
  std::vector<PlacedPicture> pictures;  ///< one, or a stack of flat ones

  /// The options with a colour's grid and encoding.
  [[nodiscard]] PictureRetrievalOptions options_for(const Channel& channel) const;
  [[nodiscard]] bool has_depth() const { return !pictures.front().depth.empty(); }
};

/// The solver of --solver, or that which suits the job. Valid when all options are stored.
RetrievalSolver chosen_solver(const OptimizeJob& job);

/// Sets the members that follow from the options. Throws invalid_argument or io naming the option.
void complete(OptimizeJob& job);

/// A file's name with counter, colour and subframe filled in.
std::string numbered_name(const std::string& name, const Frame* frame, const Channel& channel, std::int64_t subframe);

}  // namespace holotone::cli
