#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/optimize/optimize_maker.hpp>
#include <cli/optimize/optimize_run.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/panel_limits.hpp>
#include <holotone/recipes/viewing/wanted_light.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

namespace holotone::cli {
namespace {

/// Names of a frame's files: those of each colour's subframes.
std::vector<std::string> list_names(const OptimizeJob& job, const std::string& name, const Frame* frame,
                                    std::int64_t subframes) {
  std::vector<std::string> names;
  for (const auto& channel : job.hologram.channels) {
    for (std::int64_t t = 0; t < subframes; ++t) names.push_back(numbered_name(name, frame, channel, t));
  }
  return names;
}

/// Every file of a name with counters, in the order in which they are written.
std::vector<std::string> all_names(const OptimizeJob& job, const std::string& name, std::int64_t subframes) {
  std::vector<std::string> names;
  for (const auto& frame : job.frames) {
    std::ranges::move(list_names(job, name, &frame, subframes), std::back_inserter(names));
  }
  return job.frames.empty() ? list_names(job, name, nullptr, subframes) : names;
}

/// Files that are read and must not be written.
std::vector<InputFile> inputs_of(const OptimizeJob& job) {
  std::vector<InputFile> inputs{{"--correction", job.hologram.correction}, {"--lut", job.hologram.lut}};
  for (const auto& frame : job.frames) {
    inputs.push_back({"IN", frame.path});
    inputs.push_back({"--against", numbered(job.against, frame.number)});
  }
  for (const auto& picture : job.pictures) {
    if (job.frames.empty() && !job.target) inputs.push_back({"IN", picture.image});
    if (!picture.depth.empty()) inputs.push_back({"--depth", picture.depth});
  }
  if (job.frames.empty()) inputs.push_back({"--against", job.against});
  if (!job.beam.path.empty()) inputs.push_back({"--source", job.beam.path});
  if (job.start.empty()) return inputs;
  // Later frames start from the frame before.
  for (const auto& start :
       list_names(job, job.start, job.frames.empty() ? nullptr : &job.frames.front(), job.options.model.frames)) {
    io::require_input(start);
    inputs.push_back({"--start", start});
  }
  return inputs;
}

void check_names(const OptimizeJob& job) {
  if (job.hologram.shown) {
    if (!job.difference.empty()) reject("--difference", "a file as --output", job.hologram.output);
    return static_cast<void>(inputs_of(job));
  }
  const auto& output = job.hologram.output;
  const bool subframes = job.options.model.frames > 1;
  const auto at = output.find("%t");
  if (subframes && at == std::string::npos) reject("--output", "a name with %t, which stands for the subframe", output);
  if (at != std::string::npos && output.find("%t", at + 2) != std::string::npos) reject("--output", "one %t", output);
  if (!subframes && at != std::string::npos) reject("--output", "no %t, which stands for the subframe", output);
  std::string others = output;
  if (subframes) others.erase(at, 2);
  require_known_counters("--output", others, job.hologram.channels.size() > 1);
  const bool counted = frame_pattern("--output", others).has_value();
  if (!counted && !job.frames.empty()) reject("--output", "a counter such as %04d, as in IN", output);
  if (counted && job.frames.empty()) reject("--output", "a name without a counter for one picture", output);
  const auto names = all_names(job, output, job.options.model.frames);
  const auto differences = all_names(job, job.difference, 1);
  const auto name = [&](std::int64_t i) { return names[static_cast<std::size_t>(i)]; };
  const auto difference = [&](std::int64_t i) { return differences[static_cast<std::size_t>(i)]; };
  std::vector<OutputFiles> outputs{{"--output", std::ssize(names), name}};
  if (!job.difference.empty()) outputs.push_back({"--difference", std::ssize(differences), difference});
  require_outputs(outputs, inputs_of(job));
}

/// Throws if the host's memory, or that of the device, is too small.
void require_memory_for(const OptimizeJob& job, Device device) {
  const auto& panel = job.hologram.panel;
  PhaseRetrievalOptions model = job.options.model;
  model.grid = job.hologram.grid(job.hologram.channels.front());
  const std::size_t pupils = std::max<std::size_t>(1, job.apertures.size());
  const auto& picture = job.pictures.front();
  const std::size_t layers = picture.depth.empty() ? job.pictures.size() : static_cast<std::size_t>(picture.layers);
  model.planes.resize(pupils * layers);
  constexpr double other_bytes = 40;  // a pixel: targets, codes, what is read
  const double pixels = static_cast<double>(panel.nx) * static_cast<double>(panel.ny);
  const char* const option = job.pictures.size() > 1  ? "--stack"
                             : !picture.depth.empty() ? "--layers"
                             : panel.name == "custom" ? "--resolution"
                                                      : "--panel";
  const auto what =
      fmt::format("{} x {} pixels, {}, {}", panel.nx, panel.ny,
                  counted(static_cast<std::int64_t>(model.planes.size()), "plane"), counted(model.frames, "subframe"));
  const Device plans = job.hologram.device;
  const double plan_bytes =
      plans == device ? static_cast<double>(retrieval_bytes(model, job.options.solver, device)) : 0;
  const double others = pixels * (other_bytes + 4 * static_cast<double>(model.planes.size()));
  require_memory(option, plan_bytes + (device == Device{} ? others : 0), what, "", device);
}

WorstLight worst_seen(const std::vector<WorstLight>& planes) {
  WorstLight worst = planes.front();
  for (const auto& plane : planes) take_worse(worst, plane);
  return worst;
}

nlohmann::json make_json(const OptimizedRecord& row) {
  const auto& made = row.made;
  nlohmann::json object{{"output", row.outputs.front()},
                        {"wavelength_m", row.wavelength_m},
                        {"iterations", made.steps.iterations},
                        {"compute_s", made.solve_s},
                        {"stopped", made.stopped}};
  if (!made.stopped) object["gradients"] = made.steps.evaluations;
  if (row.outputs.size() > 1) object["outputs"] = row.outputs;
  const auto facts = [](const RetrievalQuality& quality) {
    return nlohmann::json{
        {"psnr_db", quality.psnr_db}, {"psnr_worst_db", quality.psnr_worst_db}, {"efficiency", quality.efficiency}};
  };
  const auto picture = [](const WorstLight& seen) {
    return nlohmann::json{{"ssim", seen.ssim},
                          {"ssim_worst", seen.ssim_worst},
                          {"speckle_contrast", seen.speckle_contrast},
                          {"speckle_contrast_worst", seen.speckle_contrast_worst}};
  };
  object.update(facts(worst_of(made.quality)));
  object["vortices"] = std::accumulate(made.vortices.begin(), made.vortices.end(), std::int64_t{0});
  if (!std::isnan(made.unevenness)) object["unevenness"] = made.unevenness;
  object["lit_efficiency"] = std::ranges::min(made.lit_efficiency);
  object.update(picture(worst_seen(made.seen)));
  if (!row.difference.empty()) object["difference"] = row.difference;
  for (std::size_t plane = 0; plane < made.planes.size(); ++plane) {
    auto plane_json = facts(made.quality[plane]);
    plane_json.update(picture(made.seen[plane]));
    plane_json["distance_m"] = made.planes[plane].distance_m;
    object["planes"].push_back(plane_json);
  }
  return object;
}

nlohmann::json make_json(const OptimizeJob& job, const SignalRegion& region, const std::vector<OptimizedRecord>& rows,
                         double seconds) {
  const auto& hologram = job.hologram;
  nlohmann::json object{{"input", job.target ? job.target->text : job.pictures.front().image},
                        {"software", "holotone " HOLOTONE_VERSION},
                        {"device", to_string(hologram.device)},
                        {"panel", hologram.panel.name},
                        {"resolution", {hologram.panel.nx, hologram.panel.ny}},
                        {"pitch_m", hologram.panel.pitch_m},
                        {"bits", hologram.encode.bits},
                        {"signal_region", {region.column, region.row, region.columns, region.rows}},
                        {"phase", name_of(rows.front().made.start)},
                        {"subframes", job.options.model.frames},
                        {"rounding", name_of(rows.front().made.rounding)},
                        {"seed", job.options.seed},
                        {"time_s", seconds}};
  if (job.pictures.size() == 1 && job.pictures.front().depth.empty()) {
    object["distance_m"] = job.pictures.front().distance_m;
  }
  if (job.options.model.focal_length_m > 0) object["focal_length_m"] = job.options.model.focal_length_m;
  for (const auto& row : rows) {
    for (const auto& output : row.outputs) object["outputs"].push_back(output);
    object["holograms"].push_back(make_json(row));
  }
  return object;
}

std::string words_of(const OptimizeJob& job, const OptimizedRecord& row, const SignalRegion& region) {
  const auto& panel = job.hologram.panel;
  const auto& made = row.made;
  const auto quality = worst_of(made.quality);
  const auto seen = worst_seen(made.seen);
  const std::string planes = made.planes.size() > 1 ? fmt::format(" in {} planes", made.planes.size()) : std::string();
  const std::string frames = row.outputs.size() > 1 ? fmt::format(" to {}", row.outputs.back()) : std::string();
  std::string text = fmt::format(
      "{}{}: {} x {} pixels, picture of {} x {}{}; {} on {}{}: {:.1f} dB at worst ({:.1f} dB at the samples), "
      "efficiency {:.2f}",
      row.outputs.front(), frames, panel.nx, panel.ny, region.columns, region.rows, planes,
      counted(made.steps.iterations, "step"), to_string(job.hologram.device), made.stopped ? ", stopped" : "",
      quality.psnr_worst_db, quality.psnr_db, quality.efficiency);
  // Of spots nearly all of the region is dark, where light is lost.
  if (const double lit = std::ranges::min(made.lit_efficiency); lit < quality.efficiency - 0.005) {
    text += fmt::format(" ({:.2f} in the lit pixels)", lit);
  }
  if (!std::isnan(made.unevenness)) text += fmt::format(", even to {:.2g} %", 100 * made.unevenness);
  if (!std::isnan(seen.ssim_worst)) text += fmt::format(", SSIM {:.3f}", seen.ssim_worst);
  text += fmt::format(", speckle contrast {:.2f}", seen.speckle_contrast_worst);
  const auto vortices = std::accumulate(made.vortices.begin(), made.vortices.end(), std::int64_t{0});
  if (vortices > 0) text += fmt::format(", {} optical {}", vortices, vortices == 1 ? "vortex" : "vortices");
  return text;
}

/// Prints the reconstruct command for files of a format without metadata.
void tell_flags(const OptimizeJob& job, const std::vector<OptimizedRecord>& rows) {
  remark_few_bits(job.hologram.console, job.hologram.encode.bits, job.hologram.writing, job.hologram.output);
  const std::size_t channels = std::min(rows.size(), job.hologram.channels.size());
  std::string files;
  std::vector<Flags> flags;
  for (std::size_t c = 0; c < channels; ++c) {
    files += (c == 0 ? "" : " ") + rows[c].outputs.front();
    flags.push_back(rows[c].reconstruct_flags);
  }
  const bool several = rows.size() > channels || rows.front().outputs.size() > 1;
  if (flags.front().empty()) return;
  remark(job.hologram.console, no_metadata_remark(job.hologram.output, files, line_of(merged(flags)), several));
}

/// Words for a plane in which a phase cannot make a picture of the panel's pixels; empty: it can.
std::string plane_warning(const FieldGrid& grid, double distance_m) {
  const auto sharpness = find_plane_sharpness(grid, distance_m);
  const std::string distance = format_length(std::abs(distance_m));
  if (sharpness.is_too_near) {
    return fmt::format(
        "light spreads over {:.2g} pixels of {} in {}: a phase cannot become a picture; a larger distance",
        sharpness.spread_px, format_length(grid.pitch_m), distance);
  }
  if (!sharpness.is_too_far) return {};
  return fmt::format(
      "a panel {} wide makes no detail finer than {:.0f} pixels in {}; --distance or --depth-range nearer",
      format_length(static_cast<double>(std::min(grid.nx, grid.ny)) * grid.pitch_m), sharpness.detail_px, distance);
}

void warn_of_light(const OptimizeJob& job, const std::vector<RetrievalPlane>& planes) {
  for (const auto& words : unit_warnings(job.hologram)) warn(job.hologram.console, words);
  if (job.options.model.focal_length_m > 0) return;
  const auto grid = job.hologram.grid(job.hologram.channels.front());
  for (const auto& plane : planes) {
    const auto words = plane_warning(grid, plane.distance_m);
    if (words.empty()) continue;
    warn(job.hologram.console, words);
    return;
  }
}

/// Names the options whose effect is in the printed figures but not in what reconstruct shows.
void tell_what_reconstruct_lacks(const OptimizeJob& job) {
  std::string names;
  const auto name = [&](bool is_given, std::string_view option) {
    if (is_given) names += fmt::format("{}{}", names.empty() ? "" : ", ", option);
  };
  name(job.beam.diameter_m > 0 || !job.beam.path.empty(), "--source");
  name(job.options.model.response.zero_order > 0, "--zero-order");
  name(job.options.model.response.fill_factor > 0, "--fill-factor");
  if (!names.empty()) {
    remark(job.hologram.console,
           fmt::format("reconstruct takes the codes alone, without {}: it shows other light", names));
  }
  if (!job.hologram.carrier.empty() || !job.hologram.correction.empty()) {
    remark(job.hologram.console, "the figures are without --carrier and --correction, which reconstruct shows");
  }
}

/// Of light that misses the picture, and of spots, which another command places better.
void warn_of_solution(const OptimizeJob& job, const std::vector<OptimizedRecord>& rows, const SignalRegion& region) {
  constexpr double hardly_any = 0.05;
  constexpr double share_of_spots = 0.02;
  const auto& console = job.hologram.console;
  const bool weighted = chosen_solver(job) == RetrievalSolver::weighted_gerchberg_saxton;
  const auto efficiency = [](const OptimizedRecord& row) { return worst_of(row.made.quality).efficiency; };
  const auto darkest = std::ranges::min_element(rows, {}, efficiency);
  if (!darkest->made.stopped && efficiency(*darkest) < hardly_any) {
    warn(console, fmt::format("{}: {:.2g} % of the light falls into the picture, the rest beside it; {}",
                              darkest->outputs.front(), 100 * efficiency(*darkest),
                              weighted ? "--solver gs keeps more" : "a larger --signal-region has more"));
  }
  const auto& made = rows.front().made;
  const double pixels = static_cast<double>(region.columns) * static_cast<double>(region.rows);
  if (weighted && job.options.model.focal_length_m > 0 &&
      static_cast<double>(made.lit_pixels) < share_of_spots * pixels) {
    warn(console, fmt::format("{}: {} lit: holotone spots (--from PICTURE) makes spots at any place, evenly and with "
                              "more light",
                              job.pictures.front().image, counted(made.lit_pixels, "pixel")));
  }
}

/// Of a beam of even light that is all edge.
void warn_of_beam(const OptimizeJob& job, const OptimizedRecord& row) {
  if (!job.target || job.target->beam.shape == BeamShape::gaussian || !std::isnan(row.made.unevenness)) return;
  warn(job.hologram.console,
       fmt::format("--target: soft edges of some 5 pixels fill {}; a shorter --focal-length has smaller pixels",
                   job.target->text));
}

/// Frames, colours and subframes in turn; a stopped run keeps what it has.
std::vector<OptimizedRecord> make_all(const OptimizeJob& job, SignalRegion& region) {
  const UnfinishedRun run;
  if (job.options.keeps_best) stop_without_limit();
  ProgressBar bar(job.hologram.console);
  OptimizeMaker maker(job, bar);
  std::vector<OptimizedRecord> rows;
  const auto make = [&](const Frame* frame, const std::string& image) {
    const TargetPictures pictures(job, image);
    region = pictures.region(job.hologram.channels.front());
    if (job.hologram.shown && rows.empty()) job.hologram.shown->open();
    for (const auto& channel : job.hologram.channels) {
      if (!rows.empty() && rows.back().made.stopped) break;
      const auto amplitudes = pictures.amplitudes(channel, bar);
      // Waits for the device's context, which is created meanwhile.
      if (rows.empty() && job.hologram.device != Device{}) require_memory_for(job, job.hologram.device);
      const auto warn_once = [&] {
        if (rows.empty()) warn_of_light(job, pictures.planes());
      };
      rows.push_back(maker.make(pictures, amplitudes, frame, channel, warn_once));
    }
    if (pictures.holes() > 0 && frame == nullptr) {
      remark(job.hologram.console, fmt::format("{}: {} without a depth, filled from their neighbours",
                                               job.pictures.front().depth, counted(pictures.holes(), "pixel")));
    }
  };
  for (const auto& frame : job.frames) {
    if (!rows.empty() && rows.back().made.stopped) break;
    make(&frame, frame.path);
  }
  if (job.frames.empty()) make(nullptr, job.pictures.front().image);
  const auto all = std::max<std::size_t>(1, job.frames.size()) * job.hologram.channels.size();
  if (rows.size() < all) {
    warn(job.hologram.console, fmt::format("stopped: {} of {} holograms made", rows.size(), all));
  }
  if (!job.options.keeps_best) check_cancelled("writing");
  UnfinishedRun::keep();
  return rows;
}

}  // namespace

int run_optimize(OptimizeJob& job) {
  const Stopwatch watch;
  complete(job);
  check_names(job);
  require_memory_for(job, Device{});
  SignalRegion region;
  const auto rows = make_all(job, region);
  warn_of_solution(job, rows, region);
  warn_of_beam(job, rows.front());
  report_json(job.hologram.console, make_json(job, region, rows, watch.seconds()));
  tell_flags(job, rows);
  tell_what_reconstruct_lacks(job);
  for (const auto& row : rows) report(job.hologram.console, words_of(job, row, region));
  report(job.hologram.console, format_duration(watch.seconds()));
  if (!job.hologram.shown) return exit_ok;
  // Subframes are one picture: their light adds in the eye.
  const bool once = !job.frames.empty() && !job.hologram.shown->loops();
  return until_closed([&] { job.hologram.shown->play(once); });
}

}  // namespace holotone::cli
