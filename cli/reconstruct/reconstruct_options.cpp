#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/options/viewer_option.hpp>
#include <cli/reconstruct/reconstruct_job.hpp>

// The rows of reconstruct's options, and the texts that they take.
namespace holotone::cli {
namespace {

/// Arguments of the library that a distance sets.
constexpr std::string_view distance_feeds = "open_hologram.distances_m|open_hologram.distances_m, output_pitch_m";

/// The three parts of "FROM:TO:COUNT".
struct Sweep {
  std::string from;
  std::string to;
  std::int64_t count = 1;
};

Sweep sweep_parts(std::string_view option, const std::string& text, std::string_view expected) {
  const auto first = text.find(':');
  const auto second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) reject(option, expected, text);
  return {text.substr(0, first), text.substr(first + 1, second - first - 1),
          whole_number(option, text.substr(second + 1), 1, 10'000)};
}

/// Distances from "FROM:TO:COUNT", both ends included.
std::vector<double> parse_distances(std::string_view option, const std::string& text) {
  const auto sweep = sweep_parts(option, text, "FROM:TO:COUNT such as 18cm:22cm:9");
  const double from = distance_of(option, sweep.from);
  const double to = distance_of(option, sweep.to);
  std::vector<double> distances;
  for (std::int64_t i = 0; i < sweep.count; ++i) {
    const double steps = static_cast<double>(sweep.count - 1);
    distances.push_back(sweep.count == 1 ? from : from + (to - from) * static_cast<double>(i) / steps);
  }
  return distances;
}

/// {x, y} from "X,Y"; the last unit applies to a number without one.
std::array<double, 2> parse_place(std::string_view option, const std::string& text, std::string_view expected) {
  auto parts = list(option, text, expected);
  if (parts.size() != 2) reject(option, expected, text);
  if (parts[0].find_first_not_of("+-.0123456789eE") == std::string::npos) {
    const auto unit = parts[1].find_last_of("0123456789.");
    if (unit != std::string::npos) parts[0] += parts[1].substr(unit + 1);
  }
  return {distance_of(option, parts[0]), distance_of(option, parts[1])};
}

/// Positions on a line, both ends included.
std::vector<std::array<double, 2>> parse_places(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "X,Y:X,Y:COUNT such as -3,0mm:3,0mm:7";
  const auto sweep = sweep_parts(option, text, expected);
  const auto from = parse_place(option, sweep.from, expected);
  const auto to = parse_place(option, sweep.to, expected);
  std::vector<std::array<double, 2>> places;
  for (std::int64_t i = 0; i < sweep.count; ++i) {
    const double share = sweep.count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(sweep.count - 1);
    places.push_back({from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share});
  }
  return places;
}

std::variant<std::monostate, double, Viewer> parse_viewer(std::string_view option, const std::string& text) {
  if (text.find(':') == std::string::npos) return length_between(option, text, min_length_m, max_distance_m);
  return viewer_of(option, text);
}

GivenWhite parse_white(std::string_view option, const std::string& text) {
  if (const auto rule = find_value<WhiteRule>(text)) return *rule;
  if (text.find_first_of("0123456789") == std::string::npos) {
    reject(option, "an intensity, percentile or mean+deviation", text);
  }
  return parse_value(option, text, ValueUnit::none, bounds_of<&PictureTones::white>);
}

std::vector<OptionRow> focus_options(ReconstructJob& job) {
  return {{.names = "--distance,--focus",
           .target = parsed(job.viewing.distances_m,
                            [](std::string_view option, const std::string& text) {
                              return std::vector<double>{distance_of(option, text)};
                            }),
           .value = "LENGTH",
           .help = "Distance of the focus plane behind the panel; negative: in front",
           .otherwise = "the file's",
           .common = true,
           .feeds = distance_feeds},
          {.names = "--sweep",
           .target = parsed_member<&ReconstructJob::sweep_m>(job, parse_distances),
           .value = "FROM:TO:COUNT",
           .help = "Focal stack on a contact sheet, such as 18cm:22cm:9",
           .common = true,
           .excludes = "--distance",
           .feeds = distance_feeds},
          {.names = "--frames",
           .target = parsed_member<&ReconstructJob::frame_names>(job, parse_counter),
           .value = "NAME",
           .help = "Pictures of a sweep, one file each beside the contact sheet, such as out_%03d.png"},
          {.names = "--tile-width",
           .target = number(job.tile_width, ValueUnit::count, {32, 65536}),
           .value = "N",
           .help = "Pixels across one picture of a contact sheet",
           .feeds = "contact_sheet.tile_width|area_average.",
           .applies = {[&job] { return job.is_sweep(); }, "--sweep or --sweep-viewer", [] { return "none"; }}},
          {.names = "--method",
           .target = member<&ViewingOptions::method>(job.viewing),
           .value = "NAME",
           .help = "Propagation: auto, angular-spectrum or fresnel",
           .feeds = "open_hologram.method"},
          compression_option(job.writing.compression, &job.output),
          device_row({.target = &job.device_name,
                      .help = "auto, cpu, cuda:N or opencl:N; several or all for --sweep-viewer",
                      .common = true})};
}

std::vector<OptionRow> eye_options(ReconstructJob& job) {
  const Applies eye{[&job] { return job.has_eye(); }, "--viewer DISTANCE:SIZE[@X,Y], an eye", [] { return "none"; }};
  return {{.names = "--aperture",
           .target = parsed(job.viewing.aperture, aperture_of),
           .value = "PUPIL",
           .help = "Paraxial pupil X,Y:DIAMETER or DIAMETER, such as 5mm,0mm:3mm; --viewer is its distance",
           .common = true,
           .feeds = "open_hologram.aperture"},
          {.names = "--viewer",
           .target = parsed_member<&ReconstructJob::viewer>(job, parse_viewer),
           .value = "WINDOW",
           .help = "Pupil of an eye DISTANCE:SIZE[@X,Y] in front of the panel, such as 36mm:9.2mm@2,0mm; with "
                   "--aperture only the distance",
           .otherwise = "50cm with --aperture",
           .common = true,
           .feeds = "open_hologram.aperture.distance_m|open_hologram.pupils"},
          {.names = "--sweep-viewer",
           .target = parsed_member<&ReconstructJob::places_m>(job, parse_places),
           .value = "FROM:TO:COUNT",
           .help = "Positions of the eye on a contact sheet, such as -3,0mm:3,0mm:7",
           .excludes = "--sweep",
           .feeds = "open_hologram.pupils",
           .applies = eye},
          {.names = "--pupil-shape",
           .target = choice(job.pupil_shape),
           .value = "NAME",
           .help = "Shape of the eye's pupil: rectangle or ellipse",
           .applies = eye},
          {.names = "--picture-size",
           .target =
               parsed(job.viewing.picture_size_m,
                      [](std::string_view option, const std::string& text) { return window_size(option, text, text); }),
           .value = "SIZE",
           .help = "Part of the focus plane that the eye's picture shows, as width or WIDTHxHEIGHT, such as 20mm",
           .otherwise = "the panel's",
           .feeds = "open_hologram.distances_m, output_pitch_m|open_hologram.picture_size_m",
           .applies = eye},
          {.names = "--output-pitch",
           .target = member<&ViewingOptions::output_pitch_m>(job.viewing),
           .value = "LENGTH",
           .help = "Pixel pitch of the eye's picture",
           .otherwise = "the panel's, or a multiple for at most 2048 pixels",
           .feeds = "open_hologram.output_pitch_m|open_hologram.distances_m, output_pitch_m",
           .applies = eye}};
}

std::vector<OptionRow> comparison_options(ReconstructJob& job) {
  const auto compares = [&job] { return !job.against.empty(); };
  const auto none = [] { return "none"; };
  return {{.names = "--against",
           .target = member<&ReconstructJob::against>(job),
           .value = "FILE",
           .help = "Picture that the hologram is to show, fitted into its signal region: PSNR, SSIM and speckle "
                   "contrast at four half-pixel positions",
           .common = true,
           .feeds = "compare_holograms.files"},
          {.names = "--signal-region",
           .target = parsed(job.region, [](auto option, const auto& text) { return parse_region(option, text); }),
           .value = "REGION",
           .help = "Pixels that the picture of --against fills, COLUMNSxROWS+COLUMN+ROW",
           .otherwise = "as the file states, or the whole panel",
           .applies = {compares, "--against, the picture that fills it", none}},
          {.names = "--difference",
           .target = parsed_member<&ReconstructJob::difference>(job, parse_counter),
           .value = "FILE",
           .help = "Picture of the error: 128 none, 1 and 255 half of the largest amplitude; a counter for several",
           .applies = {compares, "--against, the picture to compare with", none}}};
}

std::vector<OptionRow> tone_options(ReconstructJob& job) {
  const auto shown = [&job] {
    return job.tones.linear ? "--linear" : fmt::format("--show {}", name_of(job.tones.show));
  };
  const auto toned = [&job] { return !job.tones.linear && job.tones.show != ShownLight::phase; };
  const Applies tones{toned, "a picture with tones", shown};
  const Applies exponent{[&job, toned] { return toned() && job.tones.show != ShownLight::spectrum; },
                         "a picture with tones, not logarithmic ones", shown};
  return {{.names = "--white",
           .target = parsed(job.white, parse_white),
           .value = "I",
           .help = "Intensity shown as white, or a rule: percentile (99.9 %) or mean+deviation",
           .otherwise = "percentile; mean+deviation through an eye's pupil",
           .common = true,
           .feeds = "tone_map.reference",
           .applies = tones},
          {.names = "--gamma",
           .target = member<&PictureTones::gamma>(job.tones),
           .value = "G",
           .help = "Exponent of the tones; above 1: lighter shadows",
           .common = true,
           .feeds = "tone_map.gamma",
           .applies = exponent},
          {.names = "--decades",
           .target = member<&PictureTones::decades>(job.tones),
           .value = "N",
           .help = "Logarithmic tones: black is 10^-N of white",
           .otherwise = "none; 4 for a spectrum",
           .excludes = "--gamma",
           .feeds = "tone_map.decades",
           .applies = tones},
          {.names = "--show",
           .target = member<&PictureTones::show>(job.tones),
           .value = "NAME",
           .help = "intensity, amplitude or phase of the light in focus, or spectrum, that of the light at the panel",
           .common = true,
           .feeds = "open_hologram.show"},
          {.names = "--linear",
           .target = member<&PictureTones::linear>(job.tones),
           .help = "Write the values as float32 TIFF or NPY: intensity, amplitude, or phase in radians",
           .common = true}};
}

std::vector<OptionRow> file_options(ReconstructJob& job) {
  auto rows = override_options(job.overrides);
  append(rows, number_options(job.overrides));
  append(rows, further_override_options(job.overrides));
  return rows;
}

}  // namespace

std::vector<OptionGroup> reconstruct_options(ReconstructJob& job) {
  return {{"",
           {{.names = "IN",
             .target = &job.names,
             .help = "Hologram; three for red, green and blue (or knot_%c.png); a counter (spin/%04d.png) for frames; "
                     "%t for subframes",
             .required = true},
            output_option({.target = &job.output,
                           .help = "PNG, TIFF or BMP; a counter such as %03d for one picture a distance or frame"})}},
          {"Focus", focus_options(job)},
          {"Pupil", eye_options(job)},
          {"Comparison", comparison_options(job)},
          {"Tones", tone_options(job)},
          {"Values instead of the file's", file_options(job)},
          console_options(job.console)};
}

}  // namespace holotone::cli
