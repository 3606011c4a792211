#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/layers/layers_options.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/values.hpp>

namespace holotone::cli {
namespace {

constexpr int max_layers = 4096;

/// Bytes per pixel of the panel in addition to the written data: the field, its padded copy, the picture, the plane of
/// a layer in front, the codes.
constexpr double picture_bytes = 6;
constexpr double layer_bytes = 8 + 32 + picture_bytes + 8 + 2;

void require_memory_for_layers(const HologramJob& job, std::size_t pictures) {
  const auto& panel = job.panel;
  const double pixels = static_cast<double>(panel.nx) * static_cast<double>(panel.ny);
  const double others = picture_bytes * static_cast<double>(pictures - 1);
  const double layers = pixels * (others + (job.device.backend == Backend::cpu ? layer_bytes : 0));
  require_memory(panel.name == "custom" ? "--resolution" : "--panel", layers + written_bytes_for(job),
                 fmt::format("layers of {} x {} pixels", panel.nx, panel.ny),
                 pictures == 1 ? "--hogel 512 computes it hogel by hogel in little memory" : "");
}

}  // namespace

std::vector<OptionRow> layer_options(SceneJob& scene) {
  auto rows = picture_option_rows(scene.pictures, {0, max_layers});
  for (auto& row : rows) {
    if (row.names == "--depth") row.applies = scene.for_image();
    if (row.names == "--layers") {  // of the depth in views too
      row.applies.holds = [&scene, holds = row.applies.holds] { return scene.of_views() || holds(); };
    }
  }
  rows.push_back({.names = "--phase",
                  .target = choice(scene.phase),
                  .value = "NAME",
                  .help = "Phase of the layers: random (fills the pupil, with speckle) or smooth",
                  .applies = scene.for_layers()});
  return rows;
}

PlacedPicture placed_picture(const SceneJob& scene) {
  PlacedPicture job = scene.pictures.picture;
  if (job.layers < 1) reject<&PlacedPicture::layers>(fmt::format("1 to {}", max_layers), "0");
  job.distance_given = scene.hologram.given.contains("--distance");
  job.size_m = scene.hologram.scene.placement.size_m;
  job.distance_m = scene.hologram.scene.placement.distance_m;
  return job;
}

LayerJob layer_job(SceneJob& scene) {
  LayerJob job{scene.hologram, {}, scene.phase};
  if (scene.pictures.stack.empty()) {
    job.pictures = {placed_picture(scene)};
  } else {
    scene.pictures.picture.distance_given = scene.hologram.given.contains("--distance");
    job.pictures = stack_jobs(scene.pictures);
    for (auto& picture : job.pictures) picture.size_m = scene.hologram.scene.placement.size_m;
  }
  complete(job.hologram);
  require_memory_for_layers(job.hologram, job.pictures.size());
  return job;
}

}  // namespace holotone::cli
