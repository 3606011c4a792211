#include <algorithm>
#include <cli/common/bands_words.hpp>
#include <cli/common/code_levels.hpp>
#include <cli/common/command.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/common/memory_estimate.hpp>
#include <cli/hologram/points/panel_coverage.hpp>
#include <cli/hologram/points/points_bands.hpp>
#include <cli/hologram/points/points_holograms.hpp>
#include <cli/hologram/points/points_panel.hpp>
#include <cli/hologram/points/points_run.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/recipes/panel_limits.hpp>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// A sixtieth of a wave at the panel's edge; less is invisible in a picture.
constexpr double min_reported_deviation_rad = 0.1;
/// From here on points blur: the peak of one falls below 0.9 of the spherical wave's.
constexpr double blurring_deviation_rad = 3;

nlohmann::json make_json(const HologramJob& job, const PointsRecord& row) {
  nlohmann::json object{{"input", row.input},
                        {"output", row.output},
                        {"wavelength_m", job.channels[row.channel].wavelength_m},
                        {"points", row.points},
                        {"wave", to_string(row.info.wave)},
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
    object["bands_s"] = row.rates.seconds;
    object["device_s"] = row.rates.device_seconds;
    object["write_s"] = row.rates.write_seconds;
    if (job.rows.rows > 0) object["rows"] = {job.rows.first_row, job.rows.end() - 1};
  }
  return object;
}

/// Flags of each frame, its channels combined, for frames whose files do not store them.
std::vector<Flags> flags_of_frames(const HologramJob& job, const std::vector<PointsRecord>& rows) {
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

/// Names of the options whose values differ between frames: one line of flags cannot hold them.
std::string differing(const std::vector<Flags>& frames) {
  std::string names;
  for (std::size_t i = 0; !frames.empty() && i < frames.front().size(); ++i) {
    const bool alike = std::all_of(frames.begin(), frames.end(), [&](const Flags& f) { return f[i] == frames[0][i]; });
    if (!alike) names += (names.empty() ? "" : ", ") + frames[0][i].first;
  }
  return names;
}

/// Warnings of probably unintended settings, as far as known before the sum, one line each.
std::vector<std::string> early_warnings(const HologramJob& job, const std::vector<PointsRecord>& rows) {
  std::vector<std::string> warnings;
  std::size_t dark = 0;
  for (const auto& row : rows) {
    if (row.dark.empty()) continue;
    if (dark++ == 0) warnings.push_back(fmt::format("{} holds no light: {}", row.output, row.dark));
  }
  if (dark > 1) warnings.back() += fmt::format(" ({} of {} holograms hold none)", dark, rows.size());
  if (dark == 0) warnings = lit_zone_warnings(job, rows);
  std::ranges::move(unit_warnings(job), std::back_inserter(warnings));
  constexpr double far_m = 10;  // coordinates in millimetres
  if (job.scene.placement.keep && rows.front().distance_m > far_m) {
    warnings.push_back(fmt::format("{} lies {} from the panel: --keep-coordinates takes coordinates as metres",
                                   rows.front().input, format_length(rows.front().distance_m)));
  }
  return warnings;
}

std::vector<std::string> late_warnings(const HologramJob& job, const std::vector<PointsRecord>& rows) {
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
  const double deviation = rows.front().fresnel_deviation_rad;
  if (rows.front().info.wave == Wave::fresnel && deviation >= blurring_deviation_rad) {
    warnings.push_back(fmt::format(
        "Fresnel approximation: {:.2g} rad error at the panel's edge, which blurs points; --wave spherical is exact",
        deviation));
  }
  return warnings;
}

nlohmann::json make_json(const HologramJob& job, const std::vector<PointsRecord>& rows, double seconds) {
  nlohmann::json object = make_json(job, rows.front());
  object.erase("output");
  object.erase("channel");
  object.erase("reconstruct_flags");
  if (const auto frames = flags_of_frames(job, rows); frames.size() == 1) {
    object["reconstruct_flags"] = line_of(frames.front());
  }
  object["software"] = "holotone " HOLOTONE_VERSION;
  object["device"] = names_of(job.devices);
  object["panel"] = job.panel.name;
  object["resolution"] = {job.panel.nx, job.panel.ny};
  object["pitch_m"] = job.panel.pitch_m;
  object["wave"] = to_string(rows.front().info.wave);
  object["tolerance"] = job.sum.tolerance;
  object["falloff"] = job.sum.falloff;
  object["encoding"] = job.complex_field ? "complex" : std::string(to_string(job.encode.encoding));
  object["dropped_points"] = rows.front().dropped;
  object["hidden_points"] = rows.front().hidden;
  object["time_s"] = seconds;
  object["outputs"] = nlohmann::json::array();
  object["holograms"] = nlohmann::json::array();
  for (const auto& row : rows) {
    object["outputs"].push_back(row.output);
    object["holograms"].push_back(make_json(job, row));
  }
  return object;
}

/// Prints the reconstruct command for files of a format that does not store the values it needs.
void tell_flags(const HologramJob& job, const std::vector<PointsRecord>& rows) {
  if (!job.complex_field) remark_few_bits(job.console, job.encode.bits, job.writing, job.output);
  const auto frames = flags_of_frames(job, rows);
  if (frames.empty()) return;
  std::string files;
  for (std::size_t c = 0; c < job.channels.size(); ++c) files += (c == 0 ? "" : " ") + rows[c].output;
  remark(job.console, no_metadata_remark(job.output, files, line_of(frames.front()), frames.size() > 1));
}

/// "12 points", or "10 to 12 points" of moving pictures.
std::string range_of(const std::vector<PointsRecord>& rows, std::int64_t PointsRecord::*count) {
  const auto [low, high] = std::minmax_element(
      rows.begin(), rows.end(), [&](const PointsRecord& a, const PointsRecord& b) { return a.*count < b.*count; });
  const std::string most = counted((*high).*count, "point");
  return (*low).*count == (*high).*count ? most : fmt::format("{} to {}", (*low).*count, most);
}

/// Notes what an encoding's smaller band costs an object so near: docs/encoding.md, double phase and Burckhardt.
void tell_band(const HologramJob& job, const PointsRecord& row) {
  const Encoding encoding = job.encode.encoding;
  const bool columns = encoding == Encoding::burckhardt;
  const FieldGrid grid = job.grid(job.channels[row.channel]);
  const auto found = nearest_undisturbed_m(grid, encoding, row.extent_m);
  if (job.complex_field || row.distance_m == 0 || !found) return;
  const double nearest = *found;
  if (row.distance_m >= nearest) return;
  const std::string here = short_length(row.distance_m);
  remark(job.console,
         columns
             ? fmt::format("note: burckhardt holds no fringes finer than 6 pixels in x: objects nearer than {} lose "
                           "resolution in x on this panel; this object is at {}",
                           short_length(nearest), here)
             : fmt::format("note: a double-phase hologram on this panel shows ghosts of objects nearer than {}, "
                           "shifted by {} in x and y; this object is at {}",
                           short_length(nearest), short_length(grid.wavelength_m * row.distance_m / (2 * grid.pitch_m)),
                           here));
}

/// Prints the facts known before the sum; for moving pictures, read during the sum, after it.
void tell_early(const HologramJob& job, const std::vector<PointsRecord>& rows) {
  const auto& first = rows.front();
  for (const auto& warning : early_warnings(job, rows)) warn(job.console, warning);
  tell_band(job, first);
  if (!first.ignored.empty()) remark(job.console, fmt::format("{}: ignored: {}", first.input, first.ignored));
  if (!first.phase_note.empty()) remark(job.console, fmt::format("{}: {}", first.input, first.phase_note));
  if (first.dropped > 0)
    remark(job.console, fmt::format("dropped {} of {}", counted(first.dropped, "bad point"), first.input));
  constexpr std::int64_t few_points = 20'000;
  if (first.triangles > 0 && first.points < few_points) {
    remark(job.console, fmt::format("{}: the points are the vertices of {}; --points 100k samples their surface",
                                    first.input, counted(first.triangles, "triangle")));
  }
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.hidden > 0; })) {
    const auto hidden = range_of(rows, &PointsRecord::hidden);
    remark(job.console,
           fmt::format("{} {} hidden behind a nearer surface", hidden, hidden == "1 point" ? "is" : "are"));
  }
}

void tell(const HologramJob& job, const std::vector<PointsRecord>& rows, double seconds) {
  const auto& first = rows.front();
  tell_flags(job, rows);
  for (const auto& row : rows) {
    if (row.resumed > 0) remark(job.console, fmt::format("{}: resumed after {} rows", row.output, row.resumed));
  }
  const auto frames = rows.size() / job.channels.size();
  const std::string what = rows.size() == 1 ? first.output : fmt::format("{} to {}", first.output, rows.back().output);
  const std::string part =
      job.rows.rows > 0 ? fmt::format(" (rows {} to {})", job.rows.first_row, job.rows.end() - 1) : std::string();
  report(job.console,
         fmt::format("{}: {} x {} pixels{}, {}, {} {} ({}) on {}, {}", what, job.panel.nx, job.panel.ny, part,
                     range_of(rows, &PointsRecord::points), to_string(first.info.wave), to_string(first.info.method),
                     first.info.arithmetic, all_names_of(job.devices), format_duration(seconds)));
  for (const auto& row : rows) {
    if (const auto text = to_text(row.rates, job.devices); !text.empty()) report(job.console, text);
  }
  if (frames > 1)
    report(job.console, fmt::format("{} frames, {:.3g} a second", frames, static_cast<double>(frames) / seconds));
  if (first.info.wave == Wave::fresnel && first.fresnel_deviation_rad >= min_reported_deviation_rad &&
      first.fresnel_deviation_rad < blurring_deviation_rad) {
    report(
        job.console,
        fmt::format("Fresnel approximation: {:.2g} rad error at the panel's edge, hardly visible; --wave spherical is "
                    "exact",
                    first.fresnel_deviation_rad));
  }
  if (job.sum.method == PointMethod::fast && first.info.method == PointMethod::separable) {
    remark(job.console, "--method fast: for this cloud and panel products of factors (separable) are cheaper");
  }
  if (job.sum.method == PointMethod::fast && first.info.method == PointMethod::direct) {
    remark(job.console, "--method fast: no grid holds light of such depths and distances; direct sums it");
  }
  if (encoding_traits(job.encode.encoding).encodes_beam && !job.complex_field &&
      job.encode.reference_angle_x_rad == 0 && job.encode.reference_angle_y_rad == 0) {
    remark(job.console,
           fmt::format("{} codes on the axis show a zero order and a twin image over the picture; --reference-angle "
                       "moves the picture aside",
                       to_string(job.encode.encoding)));
  }
}

}  // namespace

int run_points(SceneJob& scene) {
  const Stopwatch watch;
  HologramJob& job = scene.hologram;
  if (io::has_format(job.input, io::formats::pictures)) {
    reject("IN", "points or a mesh, or --image " + job.input, job.input);
  }
  complete(job);
  if (job.shown && job.band_rows) reject("--rows-at-once", "a file as --output", job.output);
  if (job.shown && job.block.given()) reject("--block", "a file as --output", job.output);
  if (!job.shown) set_bands(job);
  require_memory_for(job);
  FrameSource source(job);
  const bool products = job.sum.method != PointMethod::direct && job.sum.method != PointMethod::recurrence;
  if (products && source.moving() && job.sum.wave != Wave::spherical) load_early(job.device, CudaLibrary::cublaslt);
  if (job.shown) return show_points(job, source);
  const auto before = [&](const std::vector<PointsRecord>& early) { tell_early(job, early); };
  const auto rows = job.rows_at_once > 0 ? make_bands(job, source, before) : make_holograms(job, source, before);
  if (source.moving()) tell_early(job, rows);
  for (const auto& warning : late_warnings(job, rows)) warn(job.console, warning);
  report_json(job.console, make_json(job, rows, watch.seconds()));
  tell(job, rows, watch.seconds());
  return exit_ok;
}

}  // namespace holotone::cli
