#include <algorithm>
#include <cli/common/command.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/hologram/layers/layers_run.hpp>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/hologram/points/points_bands.hpp>
#include <cli/hologram/stereogram/stereogram_run.hpp>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// A sixtieth of a wave at the panel's edge; less is invisible in a picture.
constexpr double least_reported_deviation_rad = 0.1;

std::vector<OptionRow> light_options(HologramArguments& a) {
  return {
      {.names = "--wavelength",
       .target = &a.wavelength,
       .value = "LENGTH",
       .help = "Wavelength of the light",
       .common = true,
       .feeds = "PointCloudPlan.wavelength_m"},
      {.names = "--rgb",
       .target = &a.rgb,
       .value = "R,G,B",
       .help = "Three wavelengths for three colour holograms, such as 638nm,520nm,450nm",
       .common = true,
       .excludes = "--wavelength",
       .feeds = "PointCloudPlan.wavelength_m"},
      {.names = "--device", .target = &a.device, .value = "NAME", .help = "auto, cpu or cuda:N", .feeds = ".device"}};
}

std::vector<OptionRow> sum_options(HologramArguments& a) {
  return {{.names = "--method",
           .target = &a.method,
           .value = "NAME",
           .help = "Summation: auto, direct, recurrence, separable or fast",
           .feeds = "PointCloudPlan.method"},
          {.names = "--wave",
           .target = &a.wave,
           .value = "NAME",
           .help = "Wave of a point: fresnel, or spherical (exact, slower)",
           .feeds = "PointCloudPlan.method"},
          {.names = "--tolerance",
           .target = &a.tolerance,
           .value = "T",
           .help = "Maximum relative l2 error of the field",
           .feeds = "PointCloudPlan.tolerance"},
          {.names = "--no-band-limit",
           .target = &a.no_band_limit,
           .help = "Include fringes finer than two pixels, which alias"},
          {.names = "--spin",
           .target = &a.spin,
           .value = "ANGLE:FRAMES",
           .help = "Turntable animation, such as 360deg:120",
           .feeds = "turn.angle_rad"},
          {.names = "--rows-at-once",
           .target = &a.rows_at_once,
           .value = "N",
           .help = "Rows of the complex field that are summed and written at once",
           .otherwise = "all, fewer if memory is short"}};
}

std::vector<OptionRow> encoding_options(HologramArguments& a) {
  return {{.names = "--encode,--encoding",
           .target = &a.encoding,
           .value = "NAME",
           .help = "Encoding: phase, amplitude, complex, double-phase, single-sideband or burckhardt",
           .otherwise = "by OUT and the panel",
           .common = true},
          {.names = "--bits",
           .target = &a.bits,
           .value = "N",
           .help = "Bits of a code; phase encodings from 2",
           .range = code_bits_range,
           .otherwise = "the panel's",
           .feeds = "EncodePlan.bits|EncodePlan.level_phase_rad"},
          {.names = "--lut,--levels",
           .target = &a.lut,
           .value = "FILE",
           .help = "Text file with the measured phase in radians of each code",
           .feeds = "EncodePlan.level_phase_rad"},
          {.names = "--phase-range",
           .target = &a.phase_range,
           .value = "ANGLE",
           .help = "Phase stroke of the panel over all codes, such as 1.8pi",
           .otherwise = "2pi",
           .feeds = "EncodePlan.phase_range_rad|EncodePlan.level_phase_rad and phase_range_rad"},
          {.names = "--amplitude-range",
           .target = &a.amplitude_range,
           .value = "MIN,MAX",
           .help = "Field values of the lowest and highest code",
           .otherwise = "from the field",
           .feeds = "EncodePlan.amplitude_min"},
          {.names = "--reference-angle",
           .target = &a.reference_angle,
           .value = "X[,Y]",
           .help = "Tilt of the reference beam of --encode amplitude",
           .otherwise = "0deg",
           .feeds = "EncodePlan.reference_angle"},
          {.names = "--carrier",
           .target = &a.carrier,
           .value = "X[,Y]",
           .help = "Blazed grating that steers the light: angles (0.5deg) or periods (64um, 8px)",
           .feeds = "EncodePlan.carrier|steering_angle_rad."},
          {.names = "--correction",
           .target = &a.correction,
           .value = "FILE",
           .help = "Wavefront map added to the phase: picture (full range 2 pi) or NPY (radians)",
           .feeds = "EncodePlan.correction_rad"},
          {.names = "--packed16",
           .target = &a.packed16,
           .help = "Write 16-bit codes as red (high byte) and green (low byte)"}};
}

nlohmann::json json_of(const HologramJob& job, const HologramRow& row) {
  nlohmann::json object{{"input", row.input},
                        {"output", row.output},
                        {"wavelength_m", job.channels[row.channel].wavelength_m},
                        {"points", row.points},
                        {"method", to_string(row.info.method)},
                        {"arithmetic", row.info.arithmetic},
                        {"unlit_points", row.unlit},
                        {"expected_error", row.info.expected_error},
                        {"fresnel_deviation_rad", row.fresnel_deviation_rad},
                        {"compute_s", row.compute_s}};
  if (!job.channels[row.channel].name.empty()) object["channel"] = job.channels[row.channel].name;
  Flags flags = row.reconstruct_flags;
  std::erase_if(flags, [](const auto& flag) { return is_balance(flag.first); });
  if (!flags.empty()) object["reconstruct_flags"] = line_of(flags);
  if (row.bands > 0) {
    object["rows_at_once"] = job.rows_at_once;
    object["bands"] = row.bands;
    object["resumed_rows"] = row.resumed;
  }
  return object;
}

/// The flags of each frame's channels together, of those frames whose files cannot say it themselves.
std::vector<Flags> flags_of_frames(const HologramJob& job, const std::vector<HologramRow>& rows) {
  std::vector<Flags> frames;
  const std::size_t channels = job.channels.size();
  for (std::size_t first = 0; first + channels <= rows.size() && !rows[first].reconstruct_flags.empty();
       first += channels) {
    std::vector<Flags> together;
    for (std::size_t c = 0; c < channels; ++c) together.push_back(rows[first + c].reconstruct_flags);
    frames.push_back(merged(together));
  }
  return frames;
}

/// The options whose values differ from frame to frame: one line of flags cannot say them.
std::string differing(const std::vector<Flags>& frames) {
  std::string names;
  for (std::size_t i = 0; !frames.empty() && i < frames.front().size(); ++i) {
    const bool alike = std::all_of(frames.begin(), frames.end(), [&](const Flags& f) { return f[i] == frames[0][i]; });
    if (!alike) names += (names.empty() ? "" : ", ") + frames[0][i].first;
  }
  return names;
}

/// What is asked for and hardly meant, as far as it is known before the sum, a line each.
std::vector<std::string> early_warnings(const HologramJob& job, const std::vector<HologramRow>& rows) {
  std::vector<std::string> warnings;
  std::size_t dark = 0;
  for (const auto& row : rows) {
    if (row.dark.empty()) continue;
    if (dark++ == 0) warnings.push_back(fmt::format("{} holds no light: {}", row.output, row.dark));
  }
  if (dark > 1) warnings.back() += fmt::format(" ({} of {} holograms hold none)", dark, rows.size());
  if (dark == 0) warnings = lit_zone_warnings(job, rows);
  for (const auto& channel : job.channels) {
    if (auto words = wavelength_warning(channel.wavelength_m); !words.empty()) warnings.push_back(std::move(words));
  }
  return warnings;
}

std::vector<std::string> late_warnings(const HologramJob& job, const std::vector<HologramRow>& rows) {
  std::vector<std::string> warnings;
  if (const auto names = differing(flags_of_frames(job, rows)); !names.empty()) {
    warnings.push_back(fmt::format(
        "each frame has its own {}, which {} does not store; the options below are those of the first frame; PNG "
        "stores "
        "them{}",
        names, format_name(job.output),
        names.find("--amplitude-range") == std::string::npos ? ""
                                                             : ", or --amplitude-range gives all frames one range"));
  }
  return warnings;
}

std::vector<std::string> warnings_of(const HologramJob& job, const std::vector<HologramRow>& rows) {
  auto warnings = early_warnings(job, rows);
  for (auto& words : late_warnings(job, rows)) warnings.push_back(std::move(words));
  return warnings;
}

nlohmann::json json_of(const HologramJob& job, const std::vector<HologramRow>& rows, double seconds) {
  nlohmann::json object = json_of(job, rows.front());
  object.erase("output");
  object.erase("channel");
  object.erase("reconstruct_flags");
  if (const auto frames = flags_of_frames(job, rows); frames.size() == 1) {
    object["reconstruct_flags"] = line_of(frames.front());
  }
  object["software"] = "holotone " HOLOTONE_VERSION;
  object["device"] = to_string(job.device);
  object["panel"] = job.panel.name;
  object["resolution"] = {job.panel.nx, job.panel.ny};
  object["pitch_m"] = job.panel.pitch_m;
  object["wave"] = to_string(job.sum.wave);
  object["tolerance"] = job.sum.tolerance;
  object["encoding"] = job.complex_field ? "complex" : std::string(to_string(job.encode.encoding));
  object["dropped_points"] = rows.front().dropped;
  object["hidden_points"] = rows.front().hidden;
  object["time_s"] = seconds;
  object["warnings"] = warnings_of(job, rows);
  object["outputs"] = nlohmann::json::array();
  object["holograms"] = nlohmann::json::array();
  for (const auto& row : rows) {
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(json_of(job, row));
  }
  return object;
}

/// How to look at files of a format that cannot say of itself what reconstruction needs.
void tell_flags(const HologramJob& job, const std::vector<HologramRow>& rows) {
  const auto frames = flags_of_frames(job, rows);
  if (frames.empty()) return;
  std::string files;
  for (std::size_t c = 0; c < job.channels.size(); ++c) files += (c == 0 ? "" : " ") + rows[c].output;
  remark(job.console, no_metadata_remark(job.output, files, line_of(frames.front()), frames.size() > 1));
}

/// "12 points", or "10 to 12 points" of moving pictures.
std::string range_of(const std::vector<HologramRow>& rows, std::int64_t HologramRow::*count) {
  const auto [low, high] = std::minmax_element(
      rows.begin(), rows.end(), [&](const HologramRow& a, const HologramRow& b) { return a.*count < b.*count; });
  const std::string most = counted((*high).*count, "point");
  return (*low).*count == (*high).*count ? most : fmt::format("{} to {}", (*low).*count, most);
}

/// Where a double-phase hologram's own orders meet the object's: docs/encoding.md, double phase.
void tell_ghosts(const HologramJob& job, const HologramRow& row) {
  if (job.complex_field || job.encode.encoding != Encoding::double_phase || row.distance_m == 0) return;
  constexpr double clean = 0.25;  // cycles a pixel
  const double pitch = job.panel.pitch_m;
  const double width = std::max(static_cast<double>(job.panel.nx) * pitch + row.extent_m[0],
                                static_cast<double>(job.panel.ny) * pitch + row.extent_m[1]);
  const double wavelength = job.channels[row.channel].wavelength_m;
  const double nearest = width * pitch / (2 * wavelength * clean);
  if (row.distance_m >= nearest) return;
  remark(
      job.console,
      fmt::format(
          "note: a double-phase hologram on this panel shows ghosts of objects nearer than {}, shifted by {} in x and "
          "y; this object is at {}",
          format_length(parse_number("length", fmt::format("{:.3g}", nearest))),
          format_length(parse_number("length", fmt::format("{:.3g}", wavelength * row.distance_m / (2 * pitch)))),
          format_length(parse_number("length", fmt::format("{:.3g}", row.distance_m)))));
}

/// What is known before the sum; of moving pictures, whose frames are read meanwhile, after it.
void tell_early(const HologramJob& job, const std::vector<HologramRow>& rows) {
  const auto& first = rows.front();
  for (const auto& warning : early_warnings(job, rows)) warn(job.console, warning);
  tell_ghosts(job, first);
  if (first.dropped > 0)
    remark(job.console, fmt::format("dropped {} of {}", counted(first.dropped, "bad point"), first.input));
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.hidden > 0; })) {
    const auto hidden = range_of(rows, &HologramRow::hidden);
    remark(job.console,
           fmt::format("{} {} hidden behind a nearer surface", hidden, hidden == "1 point" ? "is" : "are"));
  }
}

void tell(const HologramJob& job, const std::vector<HologramRow>& rows, double seconds) {
  const auto& first = rows.front();
  for (const auto& warning : late_warnings(job, rows)) warn(job.console, warning);
  tell_flags(job, rows);
  for (const auto& row : rows) {
    if (row.resumed > 0) remark(job.console, fmt::format("{}: resumed after {} rows", row.output, row.resumed));
  }
  const auto frames = rows.size() / job.channels.size();
  const std::string what = rows.size() == 1 ? first.output : fmt::format("{} to {}", first.output, rows.back().output);
  report(job.console, fmt::format("{}: {} x {} pixels, {}, {} ({}) on {}, {}", what, job.panel.nx, job.panel.ny,
                                  range_of(rows, &HologramRow::points), to_string(first.info.method),
                                  first.info.arithmetic, to_string(job.device), format_duration(seconds)));
  if (frames > 1)
    report(job.console, fmt::format("{} frames, {:.3g} a second", frames, static_cast<double>(frames) / seconds));
  if (job.sum.wave == Wave::fresnel && first.fresnel_deviation_rad >= least_reported_deviation_rad) {
    report(job.console,
           fmt::format(
               "Fresnel approximation: {:.2g} rad error at the panel's edge, harmless for viewing; --wave spherical is "
               "exact and slower",
               first.fresnel_deviation_rad));
  }
}

int run_hologram(const HologramArguments& arguments) {
  const Stopwatch watch;
  HologramJob job = hologram_job(arguments);
  job.rows_at_once = rows_at_once_for(job, arguments.rows_at_once);
  require_memory_for(job);
  FrameSource source(job);
  const auto before = [&](const std::vector<HologramRow>& early) { tell_early(job, early); };
  const auto rows = job.rows_at_once > 0 ? make_bands(job, source, before) : make_holograms(job, source, before);
  if (source.moving()) tell_early(job, rows);
  report_json(job.console, json_of(job, rows, watch.seconds()));
  tell(job, rows, watch.seconds());
  return exit_ok;
}

}  // namespace

Command hologram_command() {
  const auto arguments = std::make_shared<HologramArguments>();
  const auto layers = std::make_shared<LayerArguments>();
  const auto stereogram = std::make_shared<StereogramArguments>();
  auto& a = *arguments;
  std::vector<OptionRow> general{
      {.names = "IN",
       .target = &a.input,
       .help = "Points or mesh: PLY, STL, XYZ, CSV, NPY, OBJ, glTF; a counter (frames/%04d.ply) for frames",
       .required = true},
      {.names = "-o,--output",
       .target = &a.output,
       .value = "FILE",
       .help = "Codes as PNG, TIFF or BMP; complex field as HDF5, NPY or OHC",
       .required = true}};
  append(general, placement_options(a.scene));
  append(general, light_options(a));
  general.push_back(seed_option(a.scene));
  auto points = scene_option_rows(a.scene);
  append(points, sum_options(a));
  return {.name = "hologram",
          .purpose = "Compute a hologram from points, a mesh, a picture with depth or the views of a light field",
          .examples = {"holotone hologram teapot.ply -o teapot.png --distance 20cm --size 8mm",
                       "holotone hologram --image left.png --depth depth.png --depth-range 18cm,22cm -o scene.h5",
                       "holotone hologram --views 'chess/view_%v_%u.png' -o chess.h5 --viewer 36mm:9.2mm"},
          .groups = {{"", std::move(general)},
                     {"Panel", panel_options(a.panel)},
                     {"Points and meshes", std::move(points)},
                     {"Pictures with depth", layer_options(*layers)},
                     {"Light fields, and pictures computed hogel by hogel", stereogram_options(*stereogram)},
                     {"Encoding for the panel", encoding_options(a)},
                     console_options(a.console)},
          .run =
              [arguments, layers, stereogram] {
                stereogram->given = layers->given;
                if (asks_for_hogels(*stereogram, *layers)) return run_stereogram(*arguments, *stereogram, *layers);
                refuse_stereogram_options(*stereogram);
                if (!layers->image.empty() || !layers->stack.empty()) return run_layers(*arguments, *layers);
                refuse_layer_options(*layers, arguments->input);
                return run_hologram(*arguments);
              },
          .given = &layers->given};
}

}  // namespace holotone::cli
