#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/recipes/spot_camera.hpp>
#include <holotone/recipes/spots/spot_loop.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// What has measured the spots of `holotone spots`, or measures them.
struct SpotBench {
  std::string camera;  ///< command
  double camera_timeout_s = 60;
  int rounds = SpotLoopOptions{}.rounds;
  double gain = SpotLoopOptions{}.gain;
  std::optional<double> window_px;
  std::string start;     ///< codes that were measured
  std::string measured;  ///< table of their spots
  std::string picture;   ///< of a camera, of them
  SpotSignal signal{};   ///< of the light that is measured
  double unit_m = 0;     ///< of places in `measured` without a unit
  SpotLens lens{};       ///< of them and of the codes

  [[nodiscard]] bool is_used() const { return !camera.empty() || !start.empty(); }
};

/// Throws invalid_argument naming an option that lacks another.
void check_bench(const SpotBench& bench, bool has_map);

/// Codes of spots that are measured; make_spots without a bench. `metadata`: of files of codes; `seen`: the measured
/// light.
SpotHologram make_spots_by(const SpotBench& bench, const HologramJob& job, const SpotList& spots, const CameraMap& map,
                           const SpotOptions& options, View<const Complex, 2> light, const SpotSteps& steps,
                           const Metadata& metadata, std::optional<MeasuredSpots>& seen, Progress& progress);

std::vector<OptionRow> bench_options(SpotBench& bench);

}  // namespace holotone::cli
