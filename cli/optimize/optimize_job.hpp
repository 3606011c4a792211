#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/picture_options.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <variant>

namespace holotone::cli {

/// Arguments of `holotone optimize`, as typed.
struct OptimizeArguments {
  HologramJob hologram;  ///< input and output, panel, light, encoding
  PictureOptions pictures;
  std::string region = "100%";
  std::string focal_length;
  std::string phase = "smooth";
  std::string subframes = "1";
  std::string loss = "amplitude";
  std::string solver;
  std::string iterations = "30";
  std::string rounding;
  std::string source = "flat";
  std::string fill_factor;
  std::string zero_order = "0";
  std::vector<std::string> apertures;
  std::string pupil = "4mm";
  std::string viewer_distance = "50cm";
  std::string start;
  std::string against;
  std::string difference;
  std::string camera;
  std::string camera_timeout = "60";
  bool keep_best = false;
};

inline constexpr std::int64_t max_planes = 256;
inline constexpr Range signal_region_range = number_range(1, 100);
inline constexpr Range optimize_steps_range = count_range(1, 100'000);
inline constexpr Range subframes_range = count_range(1, 256);
inline constexpr Range fill_factor_range = number_range(0.01, 1);
inline constexpr Range zero_order_range = number_range(0, 10);
inline constexpr Range camera_timeout_range = number_range(0.1, 86'400);

/// Light that falls on the panel.
struct FlatBeam {};
struct GaussianBeam {
  double diameter_m = 0;  ///< at 1/e^2 of the largest intensity
};
struct MeasuredBeam {
  std::string path;  ///< picture of its intensity on the panel
};
using Beam = std::variant<FlatBeam, GaussianBeam, MeasuredBeam>;

/// Job of `holotone optimize`, checked as far as possible before the input is read.
struct OptimizeJob {
  HologramJob hologram;
  std::vector<Frame> frames;           ///< numbered pictures; empty: one run of `pictures`
  std::vector<PictureJob> pictures;    ///< one, or a stack of flat ones
  double part = 1;                     ///< of the panel's width and height that the picture fills
  std::optional<SignalRegion> region;  ///< instead of `part`
  PhaseRetrievalOptions model;         ///< without grid, region and the distances of planes
  SolverOptions solver;                ///< without levels and camera
  bool by_levels = false;              ///< solver.level_phase_rad of the codes
  bool random = false;
  Beam beam;
  std::vector<Aperture> apertures;  ///< through which the picture is seen; none: all light
  double pupil_m = 0;
  double viewer_m = 0;
  std::string start;
  std::string against;     ///< picture to compare with; empty: the targets
  std::string difference;  ///< file of the difference picture; empty: none
  std::string camera;
  double camera_timeout_s = 0;
  bool keep_best = false;

  /// Phases of the levels that the panel's codes show.
  [[nodiscard]] std::vector<double> levels() const;
  [[nodiscard]] bool has_offset() const { return !hologram.carrier.empty() || !hologram.correction.empty(); }
};

/// Throws invalid_argument or io naming the option.
OptimizeJob optimize_job(OptimizeArguments& arguments);

/// A file's name with counter, colour and subframe filled in.
std::string numbered_name(const std::string& name, const Frame* frame, const Channel& channel, std::int64_t subframe);

}  // namespace holotone::cli
