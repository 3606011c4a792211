#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/reconstruct/reconstruct_run.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

void warn_of(const ConsoleOptions& console, const Reconstruction& seen) {
  for (const double wavelength_m : seen.wavelengths_m) {
    if (const auto words = wavelength_warning(wavelength_m); !words.empty()) warn(console, words);
  }
  if (!seen.dark.empty()) {
    const auto more = std::ssize(seen.dark) - 1;
    warn(console, fmt::format("{}{} holds no light: its picture is black", seen.dark.front(),
                              more > 0 ? fmt::format(" (and {})", counted(more, "other file")) : ""));
  }
  if (seen.beyond_float > 0) {
    warn(console, fmt::format("intensities such as {:.3g} are beyond float32, 1.2e-38 to 3.4e38, in which --linear "
                              "writes them; a picture without --linear shows them",
                              seen.beyond_float));
  }
}

/// An eye, with the share of the hologram's light that enters its pupil.
nlohmann::json json_of_eye(const EyePupil& pupil, double light_share) {
  return {{"distance_m", pupil.distance_m}, {"x_m", pupil.x_m},           {"y_m", pupil.y_m},
          {"width_m", pupil.width_m},       {"height_m", pupil.height_m}, {"shape", name_of(pupil.shape)},
          {"light_share", light_share}};
}

/// The device that computed, which may be another than the one chosen, or several.
std::string device_text(const ReconstructJob& job) {
  return job.devices.size() > 1 ? names_of(job.devices) : to_string(device_in_use());
}

nlohmann::json make_json(const ReconstructJob& job, const Reconstruction& seen, double seconds) {
  nlohmann::json object{{"software", "holotone " HOLOTONE_VERSION},
                        {"inputs", seen.inputs},
                        {"outputs", seen.outputs},
                        {"device", device_text(job)},
                        {"pitch_m", seen.grid.pitch_m},
                        {"distances_m", seen.distances_m},
                        {"methods", seen.methods},
                        {"method", seen.methods.front()},
                        {"encoding", seen.encoding},
                        {"filter", seen.filter},
                        {"time_s", seconds}};
  object["wavelengths_m"] = seen.wavelengths_m;
  if (seen.wavelengths_m.size() == 1) object["wavelength_m"] = seen.wavelengths_m.front();
  if (job.viewing.aperture) {
    object["aperture"] = {{"x_m", job.viewing.aperture->x_m},
                          {"y_m", job.viewing.aperture->y_m},
                          {"diameter_m", job.viewing.aperture->diameter_m},
                          {"viewer_distance_m", job.viewing.aperture->distance_m}};
  }
  if (seen.focal_length_m) object["focal_length_m"] = *seen.focal_length_m;
  for (std::size_t i = 0; i < seen.light_shares.size(); ++i) {
    object["viewers"].push_back(json_of_eye(pupil_of(job.viewing, i), seen.light_shares[i]));
  }
  if (!seen.comparisons.empty()) {
    object["against"]["picture"] = job.against;
    for (const auto& comparison : seen.comparisons) object["against"]["pictures"].push_back(make_json(comparison));
  }
  if (job.tones.show != ShownLight::intensity) object["show"] = name_of(job.tones.show);
  if (!job.tones.linear && job.tones.show != ShownLight::phase) {
    object["tone"] = {{"curve", tone_curve(job.tones)}, {"white", seen.white}, {"gamma", job.tones.gamma}};
    if (job.tones.decades) object["tone"]["decades"] = *job.tones.decades;
  }
  return object;
}

/// "focus at 20 cm", "9 distances at 18 cm to 22 cm", "7 positions of the eye"
std::string distances_text(const ReconstructJob& job, const std::vector<double>& distances_m) {
  if (job.viewing.pupils.size() > 1) return fmt::format("{} positions of the eye", job.viewing.pupils.size());
  const auto [near, far] = std::minmax_element(distances_m.begin(), distances_m.end());
  if (*near == *far) return fmt::format("focus at {}", format_length(*near));
  return fmt::format("{} distances at {} to {}", distances_m.size(), format_length(distances_m.front()),
                     format_length(distances_m.back()));
}

/// Prints a line for each compared picture; of several with its file or distance.
void report_comparisons(const ReconstructJob& job, const std::vector<ComparedPicture>& comparisons) {
  for (const auto& comparison : comparisons) {
    std::string which;
    if (comparisons.size() > 1) {
      which = job.holograms.sequence.empty() ? fmt::format("at {}, ", format_length(comparison.comparison.distance_m))
                                             : comparison.input + " ";
    }
    report(job.console, fmt::format("{}against {}: {}", which, comparison.picture, to_text(comparison.comparison)));
  }
}

/// True if an eye at the distance of the hologram's window reaches beyond that window.
bool leaves_window(const std::string& made_for, const std::vector<EyePupil>& pupils) {
  Viewer window;
  try {
    window = viewer_of("viewer", made_for);
  } catch (const Error&) {
    return false;  // no valid window
  }
  constexpr double alike = 0.05;
  return std::ranges::any_of(pupils, [&](const EyePupil& eye) {
    const auto leaves = [](double at, double size, double middle, double width) {
      return std::abs(at - middle) + size / 2 > width / 2 * (1 + 1e-9);
    };
    return std::abs(eye.distance_m - window.distance_m) <= alike * window.distance_m &&
           (leaves(eye.x_m, eye.width_m, window.x_m, window.width_m) ||
            leaves(eye.y_m, eye.height_m, window.y_m, window.height_m));
  });
}

/// Prints notes on viewing that follow from the files' metadata.
void report_file_notes(const ReconstructJob& job, const Reconstruction& seen) {
  for (const auto& note : seen.notes) remark(job.console, note);
  if (job.viewing.pupils.empty() && !job.viewing.aperture && !seen.made_for.empty()) {
    remark(job.console, fmt::format("the hologram was computed for --viewer {}; without that option the picture "
                                    "includes the quantization noise "
                                    "outside the window",
                                    seen.made_for));
  }
  if (leaves_window(seen.made_for, job.viewing.pupils)) {
    remark(job.console,
           fmt::format(
               "the hologram was computed for --viewer {}; outside that window there is little light and much noise",
               seen.made_for));
  }
  std::string others;
  for (const double plane_m : seen.planes_m) {
    if (plane_m != seen.distances_m.front()) others += (others.empty() ? "" : ", ") + format_length(plane_m);
  }
  if (job.viewing.distances_m.empty() && !others.empty()) {
    remark(job.console, fmt::format("other pictures of the hologram are in focus at {}: --distance", others));
  }
  if (seen.encoding == to_string(Encoding::amplitude) && !job.overrides.zero_order) {
    remark(job.console, "the zero order of the amplitude codes is left out; --zero-order includes it");
  }
  if (!seen.correction.empty() && job.overrides.correction.empty()) {
    remark(job.console,
           fmt::format("the codes contain the correction {}; --correction FILE subtracts it, as the panel does",
                       seen.correction));
  }
  if (seen.correction.empty() && !job.overrides.correction.empty() && seen.describes_itself) {
    remark(job.console, fmt::format("{} states no correction in its codes; --correction was subtracted nevertheless",
                                    job.holograms.inputs.front()));
  }
}

/// ", angular-spectrum", or the methods of several distances; empty with an eye, to which no plane is propagated.
std::string methods_text(const ReconstructJob& job, const Reconstruction& seen) {
  if (!job.viewing.pupils.empty()) return {};
  const std::set<std::string> all(seen.methods.begin(), seen.methods.end());
  return fmt::format(", {}", fmt::join(all, " and "));
}

int run_reconstruct(ReconstructJob& job) {
  const Stopwatch watch;
  complete(job);
  const UnfinishedRun unfinished;
  const Reconstruction seen = reconstruct(job, [&](const Reconstruction& opened) { report_file_notes(job, opened); });
  check_cancelled("writing");
  UnfinishedRun::keep();
  auto light_notes = phase_table_notes(job.overrides.lut, job.overrides.lut_unit, seen.wavelengths_m);
  std::ranges::move(correction_notes(job.overrides.correction, seen.wavelengths_m), std::back_inserter(light_notes));
  for (const auto& words : light_notes) warn(job.console, words);
  warn_of(job.console, seen);
  report_json(job.console, make_json(job, seen, watch.seconds()));
  const auto& outputs = seen.outputs;
  report(job.console, fmt::format("{}: {}{} on {}, {}",
                                  outputs.size() == 1 ? outputs.front() : outputs.front() + " to " + outputs.back(),
                                  distances_text(job, seen.distances_m), methods_text(job, seen), device_text(job),
                                  format_duration(watch.seconds())));
  report_comparisons(job, seen.comparisons);
  return exit_ok;
}

}  // namespace

Command reconstruct_command() {
  const auto job = std::make_shared<ReconstructJob>();
  return {.name = "reconstruct",
          .purpose = "Reconstruct numerically what a camera or an eye sees of a hologram",
          .examples = {"holotone reconstruct teapot.png -o focus.png",
                       "holotone reconstruct teapot.png -o stack.png --sweep 18cm:22cm:9",
                       "holotone reconstruct teapot.png -o eye.png --viewer 50cm:4mm@5,0mm"},
          .groups = reconstruct_options(*job),
          .run = [job] { return run_reconstruct(*job); }};
}

}  // namespace holotone::cli
