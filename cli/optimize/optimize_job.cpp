#include <cli/common/device_option.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/optimize/optimize_job.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>

namespace holotone::cli {
namespace {

void set_pictures(OptimizeJob& job) {
  const auto& input = job.hologram.input;
  PictureOptions pictures = job.input;
  const bool given = job.hologram.given.contains("--distance");
  pictures.picture.distance_given = given;
  if (!pictures.stack.empty()) {
    for (const auto& picture : pictures.stack) {
      if (frame_pattern("--stack", picture)) reject("--stack", "a name without a counter", picture);
    }
    job.pictures = stack_jobs(pictures);
    constexpr auto max_planes = static_cast<std::size_t>(bounds_of<&PhaseRetrievalOptions::planes>.high);
    if (job.pictures.size() > max_planes) {
      reject("--stack", fmt::format("at most {} pictures", max_planes), fmt::format("{}", job.pictures.size()));
    }
  } else {
    PlacedPicture& picture = pictures.picture;
    if (picture.image.empty() && !job.target) picture.image = input;
    picture.distance_m = job.hologram.scene.placement.distance_m;
    if (job.options.model.focal_length_m > 0 && !given) picture.distance_m = 0;
    job.pictures = {std::move(picture)};
  }
  if (job.options.model.focal_length_m > 0 && job.has_depth()) {
    reject("--depth", "a picture without a lens", "--focal-length");
  }
  if (job.target) return;
  for (const auto& picture : job.pictures) {
    const auto pattern = frame_pattern("IN", picture.image);
    if (!pattern) {
      io::require_input(picture.image);
    } else if (job.pictures.size() > 1 || picture.image != input) {
      reject("--image", "a name without a counter", picture.image);
    } else {
      job.frames = find_frames(*pattern, input);
    }
  }
}

void set_solver(OptimizeJob& job) {
  auto& solver = job.options.solver;
  solver.solver = chosen_solver(job);
  if (solver.solver == RetrievalSolver::gerchberg_saxton) solver.relaxation = 2;
  job.options.simulates_first = job.start.empty();
  if (job.camera.empty()) return;
  solver.camera = [](auto&&...) {};  // stands for the camera until it is opened
  if (job.camera.find("%s") == std::string::npos) {
    reject("--camera", "a command with %s, which stands for the file of the codes", job.camera);
  }
}

}  // namespace

PictureRetrievalOptions OptimizeJob::options_for(const Channel& channel) const {
  PictureRetrievalOptions filled = options;
  filled.model.grid = hologram.grid(channel);
  filled.encoding = hologram.encode_options(channel);
  return filled;
}

RetrievalSolver chosen_solver(const OptimizeJob& job) {
  return job.solver.value_or(job.camera.empty() ? RetrievalSolver::lbfgs : RetrievalSolver::adam);
}

void complete(OptimizeJob& job) {
  complete(job.hologram);
  auto& hologram = job.hologram;
  hologram.device = device_option(hologram.device_name, hologram.console, OperationId::phase_retrieval);
  auto& options = job.options;
  options.part = job.region.part;
  if (job.region.region) {
    require_within(*job.region.region, {hologram.panel.ny, hologram.panel.nx});
    options.model.region = *job.region.region;
  }
  for (auto& aperture : job.apertures) aperture.distance_m = job.eye.viewer_m;
  set_pictures(job);
  if (job.target) {
    constexpr int steps_of_beam = 200;
    constexpr double share_of_beam = 0.97;
    if (!hologram.given.contains("--iterations")) options.solver.iterations = steps_of_beam;
    const bool is_free = job.camera.empty() && job.apertures.empty();
    if (!hologram.given.contains("--efficiency") && is_free) options.model.efficiency = share_of_beam;
  }
  options.beam_diameter_m = job.beam.diameter_m;
  if (!job.beam.path.empty()) io::require_input(job.beam.path);
  set_solver(job);
  if (!job.against.empty()) {
    if (job.frames.empty()) require_numbered_input("--against", job.against, {});
    for (const auto& frame : job.frames) require_numbered_input("--against", job.against, frame.number);
  }
  const bool planes = job.apertures.size() > 1 || job.pictures.size() > 1 || job.has_depth();
  if (!planes) return require_retrieval(job.options_for(hologram.channels.front()));
  if (!job.against.empty()) reject("--against", "one picture in one plane", "several planes");
  if (!job.difference.empty()) reject("--difference", "one picture in one plane", "several planes");
  auto several = job.options_for(hologram.channels.front());
  several.model.planes.resize(2);
  require_retrieval(several);
}

std::string numbered_name(const std::string& name, const Frame* frame, const Channel& channel, std::int64_t subframe) {
  std::string filled = name;
  if (const auto at = filled.find("%t"); at != std::string::npos) filled.replace(at, 2, std::to_string(subframe));
  if (!channel.name.empty()) filled = channel_path(filled, channel.name);
  return frame != nullptr ? numbered(filled, frame->number) : filled;
}

}  // namespace holotone::cli
