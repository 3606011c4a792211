#include <algorithm>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/layers/layers_options.hpp>

namespace holotone::cli {
namespace {

constexpr const char* layer_option_names[] = {"--depth",     "--layers",     "--layer-spacing", "--depth-range",
                                              "--disparity", "--depth-hole", "--phase"};
constexpr const char* point_options[] = {
    "--keep-coordinates", "--turn",          "--tilt",   "--points", "--hide",      "--hide-cell",     "--light",
    "--random-phase",     "--skip-bad",      "--method", "--wave",   "--tolerance", "--no-band-limit", "--spin",
    "--rows-at-once",     "--deterministic", "--block"};

bool is_picture(const std::string& path) {
  constexpr std::string_view known[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"};
  return std::ranges::find(known, extension_of(path)) != std::end(known);
}

bool is_given(const LayerArguments& arguments, const char* option) { return arguments.given.contains(option); }

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

/// The pictures with the placement of the scene's options.
std::vector<PictureJob> placed(std::vector<PictureJob> jobs, const HologramArguments& arguments) {
  const auto placement = scene_options(arguments.scene).placement;
  for (auto& job : jobs) job.size_m = placement.size_m;
  return jobs;
}

}  // namespace

std::vector<OptionRow> layer_options(LayerArguments& a) {
  auto rows = picture_option_rows(a);
  rows.push_back({.names = "--phase",
                  .target = &a.phase,
                  .value = "NAME",
                  .help = "Phase of the layers: random (fills the pupil, with speckle) or smooth"});
  return rows;
}

void refuse_layer_options(const LayerArguments& arguments, const std::string& input) {
  for (const char* option : layer_option_names) {
    if (is_given(arguments, option)) {
      reject(option, is_picture(input) ? "--image " + input : std::string("a picture with --image"),
             input.empty() ? "none" : "IN, " + input);
    }
  }
  if (is_picture(input)) reject("IN", "points or a mesh, or --image " + input, input);
}

void refuse_point_options(const LayerArguments& arguments, const std::string& source) {
  for (const char* option : point_options) {
    if (is_given(arguments, option)) reject(option, "points or a mesh", source);
  }
}

PictureJob picture_job(const HologramArguments& arguments, const LayerArguments& layers) {
  refuse_point_options(layers, "--image " + layers.image);
  PictureJob job = picture_job(layers);
  const auto placement = scene_options(arguments.scene).placement;
  job.size_m = placement.size_m;
  job.distance_m = placement.distance_m;
  return job;
}

LayerJob layer_job(const HologramArguments& arguments, const LayerArguments& layers) {
  LayerJob job;
  if (layers.stack.empty()) {
    job.pictures = {picture_job(arguments, layers)};
  } else {
    refuse_point_options(layers, "--stack");
    job.pictures = placed(stack_jobs(layers), arguments);
  }
  job.hologram = hologram_job(arguments);
  static constexpr Choice<LayerPhase> phases[] = {{"random", LayerPhase::random}, {"smooth", LayerPhase::smooth}};
  job.phase = choose("--phase", layers.phase, phases);
  require_memory_for_layers(job.hologram, job.pictures.size());
  return job;
}

}  // namespace holotone::cli
