#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/common/viewer_option.hpp>
#include <cli/optimize/optimize_job.hpp>
#include <cmath>
#include <numbers>

namespace holotone::cli {
namespace {

constexpr int max_staged_bits = 4;  ///< above, rounding costs less than the steps that avoid it

/// "80%" or "80": a part of the panel; "1600x880+160+100": columns x rows + first column + first row.
void set_region(OptimizeJob& job, const std::string& text) {
  constexpr std::string_view option = "--signal-region";
  if (text.find('x') == std::string::npos) {
    const auto percent = text.substr(0, text.find_last_not_of('%') + 1);
    job.part = number_between(option, percent, signal_region_range) / 100;
    return;
  }
  const SignalRegion region = parse_region(text, "a percentage or COLUMNSxROWS+COLUMN+ROW such as 1600x880+160+100");
  const auto& panel = job.hologram.panel;
  require_within(region, {panel.ny, panel.nx}, text);
  job.region = region;
}

void set_pictures(OptimizeJob& job, const OptimizeArguments& arguments) {
  const auto& pictures = arguments.pictures;
  const auto& input = job.hologram.input;
  if (!pictures.stack.empty()) {
    PictureOptions stack = pictures;
    stack.picture.distance_given = job.hologram.given.contains("--distance");
    job.pictures = stack_jobs(stack);
    if (std::ssize(job.pictures) > max_planes) {
      reject("--stack", fmt::format("at most {} pictures", max_planes), fmt::format("{}", job.pictures.size()));
    }
  } else {
    PictureJob picture = pictures.picture;
    if (picture.image.empty()) picture.image = input;
    picture.distance_given = job.hologram.given.contains("--distance");
    picture.distance_m = job.hologram.scene.placement.distance_m;
    if (job.model.focal_length_m > 0 && !picture.distance_given) picture.distance_m = 0;
    job.pictures = {std::move(picture)};
  }
  if (job.model.focal_length_m > 0 && !job.pictures.front().depth.empty()) {
    reject("--depth", "a picture without a lens", "--focal-length");
  }
  for (const auto& picture : job.pictures) {
    if (frame_pattern("IN", picture.image)) {
      if (job.pictures.size() > 1 || picture.image != input) {
        reject(pictures.stack.empty() ? "--image" : "--stack", "a name without a counter", picture.image);
      }
      job.frames = find_frames(*frame_pattern("IN", input), input);
    } else {
      require_input(picture.image);
    }
  }
}

void set_model(OptimizeJob& job, const OptimizeArguments& arguments) {
  static constexpr Choice<RetrievalLoss> losses[] = {{"amplitude", RetrievalLoss::amplitude},
                                                     {"intensity", RetrievalLoss::intensity}};
  static constexpr Choice<bool> phases[] = {{"smooth", false}, {"random", true}};
  auto& model = job.model;
  model.loss = choose("--loss", arguments.loss, losses);
  model.frames = whole_number("--subframes", arguments.subframes, subframes_range);
  if (!arguments.focal_length.empty()) {
    model.focal_length_m = length_between("--focal-length", arguments.focal_length, 1e-3, 100);
  }
  if (!arguments.fill_factor.empty()) {
    model.response.fill_factor = number_between("--fill-factor", arguments.fill_factor, fill_factor_range);
  }
  model.response.zero_order = number_between("--zero-order", arguments.zero_order, zero_order_range);
  job.random = choose("--phase", arguments.phase, phases);
  job.pupil_m = length_between("--pupil", arguments.pupil, 1e-6, 1);
  for (const auto& text : arguments.apertures) job.apertures.push_back(aperture_of("--aperture", text));
  if (!job.apertures.empty() && model.focal_length_m > 0)
    reject("--aperture", "a picture without a lens", "--focal-length");
  job.viewer_m = length_between("--viewer-distance", arguments.viewer_distance, 1e-3, max_distance_m);
  for (auto& aperture : job.apertures) aperture.distance_m = job.viewer_m;
}

void set_beam(OptimizeJob& job, const std::string& text) {
  constexpr std::string_view gaussian = "gaussian:";
  if (text == "flat") return;
  if (text.starts_with(gaussian)) {
    job.beam = GaussianBeam{length_between("--source", text.substr(gaussian.size()), 1e-6, 10)};
    return;
  }
  require_input(text);
  job.beam = MeasuredBeam{text};
}

void set_solver(OptimizeJob& job, const OptimizeArguments& arguments) {
  static constexpr Choice<RetrievalSolver> solvers[] = {{"lbfgs", RetrievalSolver::lbfgs},
                                                        {"adam", RetrievalSolver::adam},
                                                        {"gs", RetrievalSolver::gerchberg_saxton},
                                                        {"wgs", RetrievalSolver::weighted_gerchberg_saxton}};
  job.camera = arguments.camera;
  job.camera_timeout_s = number_between("--camera-timeout", arguments.camera_timeout, camera_timeout_range);
  auto& solver = job.solver;
  solver.iterations = static_cast<int>(whole_number("--iterations", arguments.iterations, optimize_steps_range));
  solver.solver = job.camera.empty() ? RetrievalSolver::lbfgs : RetrievalSolver::adam;
  if (!arguments.solver.empty()) solver.solver = choose("--solver", arguments.solver, solvers);
  const bool projects = solver.solver != RetrievalSolver::lbfgs && solver.solver != RetrievalSolver::adam;
  if (projects) solver.relaxation = solver.solver == RetrievalSolver::gerchberg_saxton ? 2 : 1;
  if (projects && job.model.loss == RetrievalLoss::intensity) {
    reject("--loss", "amplitude with --solver gs and wgs", arguments.loss);
  }
  if (!job.camera.empty()) {
    if (solver.solver == RetrievalSolver::lbfgs) reject("--solver", "adam, gs or wgs with --camera", "lbfgs");
    if (job.camera.find("%s") == std::string::npos) {
      reject("--camera", "a command with %s, which stands for the file of the codes", job.camera);
    }
    if (job.model.frames > 1) reject("--camera", "one subframe", arguments.subframes);
    if (job.pictures.size() > 1 || !job.pictures.front().depth.empty() || job.apertures.size() > 1)
      reject("--camera", "one plane", "several");
  }
  static constexpr Choice<bool> roundings[] = {{"stages", true}, {"last", false}};
  const bool can = !projects && !job.has_offset();
  job.by_levels = can && job.hologram.encode.bits <= max_staged_bits;
  if (arguments.rounding.empty()) return;
  job.by_levels = choose("--rounding", arguments.rounding, roundings);
  if (job.by_levels && !can) {
    reject("--rounding", "last with --carrier, --correction and --solver gs and wgs", "stages");
  }
}

}  // namespace

std::vector<double> OptimizeJob::levels() const {
  const auto& encode = hologram.encode;
  constexpr double turn = 2 * std::numbers::pi;
  std::vector<double> phases;
  if (!encode.level_phase_rad.empty()) {
    std::ranges::copy_if(encode.level_phase_rad, std::back_inserter(phases), [](double p) { return !std::isnan(p); });
    return phases;
  }
  const int count = 1 << encode.bits;
  for (int code = 0; code < count; ++code) {
    const double phase = encode.phase_range_rad * code / count;
    if (phase < turn) phases.push_back(phase);
  }
  return phases;
}

OptimizeJob optimize_job(OptimizeArguments& arguments) {
  OptimizeJob job;
  job.hologram = std::move(arguments.hologram);
  complete(job.hologram);
  job.hologram.device = device_option(job.hologram.device_name, job.hologram.console, "picture to phase: retrieval");
  set_region(job, arguments.region);
  set_model(job, arguments);
  set_pictures(job, arguments);
  set_beam(job, arguments.source);
  set_solver(job, arguments);
  job.start = arguments.start;
  job.against = arguments.against;
  job.difference = arguments.difference;
  const bool planes = job.apertures.size() > 1 || job.pictures.size() > 1 || !job.pictures.front().depth.empty();
  if (!job.against.empty()) require_input(job.against);
  if (planes && !job.against.empty()) reject("--against", "one picture in one plane", "several planes");
  if (planes && !job.difference.empty()) reject("--difference", "one picture in one plane", "several planes");
  job.keep_best = arguments.keep_best;
  return job;
}

std::string numbered_name(const std::string& name, const Frame* frame, const Channel& channel, std::int64_t subframe) {
  std::string filled = name;
  if (const auto at = filled.find("%t"); at != std::string::npos) filled.replace(at, 2, std::to_string(subframe));
  if (!channel.name.empty()) filled = channel_path(filled, channel.name);
  const auto pattern = frame_pattern("--output", filled);
  return frame != nullptr && pattern ? pattern->name(frame->number) : filled;
}

}  // namespace holotone::cli
