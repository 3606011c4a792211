#include <algorithm>
#include <cli/common/camera_program.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <cli/spots/spot_bench.hpp>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/retrieval/panel_camera.hpp>
#include <holotone/recipes/retrieval/panel_light.hpp>
#include <holotone/recipes/spot_camera.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <utility>
#include <variant>

namespace holotone::cli {
namespace {

/// Value of a saturated pixel, 1 of codes; 0: real numbers have none.
double full_value(const Image& image) { return std::holds_alternative<Array<float, 3>>(image.pixels) ? 0 : 1; }

/// Light of the spots in a camera's picture, whose codes are proportional to it.
std::vector<float> measure(const std::string& name, const Image& image, const SpotList& spots, const CameraMap& map,
                           double window_px) {
  auto light = camera_amplitude(name, image, -1);
  for (float& value : light.host()) value *= value;
  try {
    return measure_spots(light.view(), spots, map, window_px, full_value(image));
  } catch (const Error& error) {
    throw_of(name, error);
  }
}

std::vector<float> measured_by(const SpotBench& bench, const HologramJob& job, const SpotList& spots,
                               const CameraMap& map, const SpotOptions& options, double window_px) {
  if (bench.picture.empty()) {
    for (const auto& note : measured_notes(bench.measured)) warn(job.console, note);
    return light_from_signal(read_measured_light(bench.measured, spots, options, bench.unit_m, bench.lens, map),
                             bench.signal);
  }
  const auto picture = read_measured_picture(job.console, bench.picture);
  return light_from_signal(measure(bench.picture, picture, spots, map, window_px), bench.signal);
}

constexpr std::string_view map_question = "does --camera-map fit the picture (turned, mirrored)?";

/// Warns of spots that a measurement does not see.
void warn_of_dark(const SpotBench& bench, const ConsoleOptions& console, const SpotList& spots,
                  const std::vector<float>& measured) {
  const bool is_table = !bench.measured.empty();
  const auto dark = is_table ? find_dark_spots(measured, spots, 0) : find_dark_spots(measured, spots);
  // Of no light at all the plan has its own word.
  if (dark.count == 0 || std::ranges::all_of(measured, [](float value) { return value == 0; })) return;
  const auto m = static_cast<std::size_t>(dark.first);
  const auto& place = spots.position_m[m];
  const auto& name = is_table ? bench.measured : bench.picture.empty() ? "--camera" : bench.picture;
  const auto which = fmt::format("{}, the first spot {} at x = {}, y = {}", counted(dark.count, "spot"), m,
                                 format_length(place[0]), format_length(place[1]));
  if (is_table) {
    warn(console, fmt::format("{}: measured 0 of {}", name, which));
  } else {
    warn(console, fmt::format("{}: less than a twentieth of the mean light in {}; {}", name, which, map_question));
  }
}

void warn_of_start(const SpotBench& bench, const ConsoleOptions& console, double light_over_usual) {
  constexpr double little = 0.1;
  if (light_over_usual >= little) return;
  warn(console, fmt::format("{}: {:.2g} of the usual light in these spots: its codes seem to be of another list",
                            bench.start, light_over_usual));
}

}  // namespace

void check_bench(const SpotBench& bench, bool has_map) {
  const bool is_stored = !bench.start.empty();
  if (is_stored && !bench.camera.empty()) reject("--start", "no --camera", "both");
  if (is_stored == (bench.measured.empty() && bench.picture.empty())) {
    reject("--start", "the codes that were measured, and --measured or --camera-picture",
           is_stored ? "--start alone" : "none");
  }
  if (!bench.measured.empty() && !bench.picture.empty()) reject("--measured", "no --camera-picture", "both");
  const bool has_pictures = !bench.camera.empty() || !bench.picture.empty();
  if (has_pictures && !has_map) {
    reject("--camera-map", "a map from the camera's pixels to the spots, for --camera and --camera-picture", "none");
  }
  for (const auto& file : {bench.start, bench.measured, bench.picture}) {
    if (!file.empty()) io::require_input(file);
  }
  if (!bench.camera.empty() && bench.camera.find("%s") == std::string::npos) {
    reject("--camera", "a command with %s, which stands for the file of the codes", bench.camera);
  }
}

SpotHologram make_spots_by(const SpotBench& bench, const HologramJob& job, const SpotList& spots, const CameraMap& map,
                           const SpotOptions& options, View<const Complex, 2> light, const SpotSteps& steps,
                           const Metadata& metadata, std::optional<MeasuredSpots>& seen, Progress& progress) {
  const auto& channel = job.channels.front();
  const auto encoding = job.encode_options(channel);
  const auto queue = Queue::create(job.device);
  if (!bench.is_used()) return make_spots(spots, options, encoding, light, steps, progress, queue);
  const bool has_pictures = !bench.camera.empty() || !bench.picture.empty();
  const double window_px = !has_pictures     ? 0
                           : bench.window_px ? *bench.window_px
                                             : spot_window_px(spots, map, options, light);
  if (has_pictures && std::ranges::any_of(spots.position_m, [](const auto& place) { return place[2] != 0; })) {
    warn(job.console,
         "the camera sees the plane z = 0: spots of other z are measured out of focus; --measured has any");
  }
  if (!bench.start.empty()) {
    seen.emplace();
    const auto of_bench = [&](const StatedHologram& stated) {
      require_phase_codes(stated);
      require_same_optics(stated, bench.lens);
    };
    const auto phases = stored_phases({bench.start}, job.grid(channel), encoding, {.adjust = of_bench});
    const View<const float, 2> phase(phases.data(), options.grid.shape());
    seen->measured = measured_by(bench, job, spots, map, options, window_px);
    warn_of_dark(bench, job.console, spots, seen->measured);
    seen->light = compare_measured(spots, seen->measured);
    seen->first = seen->light.deviation;
    seen->reached = spots::reaches(seen->light, steps);
    warn_of_start(bench, job.console, light_over_usual(spots, options, encoding, light, phase, queue));
    return refine_spots(spots, options, encoding, light, steps, phase, seen->measured, bench.gain, progress, queue);
  }
  const CameraProgram program(bench.camera, bench.camera_timeout_s, job.console);
  bool is_first = true;
  const auto meter = [&](View<const std::uint16_t, 2> codes) {
    check_cancelled("waiting for the camera");
    write_hologram(program.codes_path(), codes, job.grid(channel), encoding, {},
                   {.metadata = metadata, .packed16 = job.packed16, .image = job.writing});
    auto seen_light = light_from_signal(measure("--camera", program.take(), spots, map, window_px), bench.signal);
    if (std::exchange(is_first, false)) warn_of_dark(bench, job.console, spots, seen_light);
    return seen_light;
  };
  const auto tell = [&job](int round, const SpotLight& measured) {
    remark(job.console, fmt::format("measurement {}: deviation {:.2g} %, worst {:.2g} %", round,
                                    100 * measured.deviation, 100 * measured.worst));
  };
  seen = make_measured_spots(spots, options, encoding, light, steps, meter, {bench.rounds, bench.gain, tell}, progress,
                             queue);
  seen->hologram.report.reached = seen->reached;
  if (!seen->stopped.empty()) {
    warn(job.console, fmt::format("--camera: ended after round {}, whose codes are written: {}; {}", seen->round,
                                  seen->stopped, map_question));
  } else if (seen->round == 0 && !seen->reached) {
    warn(job.console, fmt::format("--camera: no round is better than the first picture; {}", map_question));
  }
  return std::move(seen->hologram);
}

std::vector<OptionRow> bench_options(SpotBench& bench) {
  const auto with_camera = [&bench] {
    return Applies{[&bench] { return !bench.camera.empty(); }, "a command at --camera",
                   [] { return std::string("none"); }};
  };
  const auto with_measurement = [&bench] {
    return Applies{[&bench] { return bench.is_used(); }, "what is measured, --camera or --start",
                   [] { return std::string("none"); }};
  };
  return {{.names = "--camera",
           .target = &bench.camera,
           .value = "COMMAND",
           .help = "Shell command that shows the codes of file %s and writes a picture of the spots to standard output",
           .feeds = "SpotPlan.measured"},
          {.names = "--camera-timeout",
           .target = number(bench.camera_timeout_s, ValueUnit::none, {0.1, 86'400}),
           .value = "SECONDS",
           .help = "Maximum time of a picture",
           .applies = with_camera()},
          {.names = "--feedback",
           .target = number(bench.rounds, ValueUnit::count, {1, 1000}),
           .value = "N",
           .help = "Rounds of pictures and new targets; the best one's codes are written",
           .applies = with_camera()},
          {.names = "--start",
           .target = &bench.start,
           .value = "FILE",
           .help = "Codes of these spots that were measured, to be improved by --measured or --camera-picture"},
          {.names = "--measured",
           .target = &bench.measured,
           .value = "FILE",
           .help = "Measured intensities of the spots of --start: CSV with a column measured and x and "
                   "y of each spot, or in the order of the list",
           .feeds = "SpotPlan.measured"},
          {.names = "--camera-picture",
           .target = &bench.picture,
           .value = "FILE",
           .help = "Picture of the spots of --start, whose codes are proportional to light",
           .feeds = "SpotPlan.measured"},
          {.names = "--gain",
           .target = number(bench.gain, ValueUnit::none, {0.01, 1}),
           .value = "SHARE",
           .help = "Share of a measured difference that a round makes up for",
           .feeds = "SpotPlan.gain",
           .applies = with_measurement()},
          {.names = "--window",
           .target = number(bench.window_px, ValueUnit::none, {1, 1000}),
           .value = "PX",
           .help = "Side of the square of the camera's pixels whose light is a spot's",
           .otherwise = "4 widths of a spot, at most 0.8 of the nearest distance",
           .feeds = "measure_spots.window_px",
           .applies = with_measurement()},
          {.names = "--signal-exponent",
           .target = member<&SpotSignal::exponent>(bench.signal),
           .value = "P",
           .help = "Power of the light that what is measured grows with: 2 for two-photon fluorescence",
           .feeds = "light_from_signal.measured",
           .applies = with_measurement()},
          {.names = "--signal-saturation",
           .target = member<&SpotSignal::saturation>(bench.signal),
           .value = "VALUE",
           .help = "What would be measured of unlimited light, as of atoms whose fluorescence saturates; 0: any value",
           .feeds = "light_from_signal.saturation",
           .applies = with_measurement()}};
}

}  // namespace holotone::cli
