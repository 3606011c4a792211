#include <algorithm>
#include <bit>
#include <cli/common/device_option.hpp>
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/recipes/phase_map.hpp>

namespace holotone::cli {
namespace {

constexpr auto code_formats = io::formats::written_pictures;
constexpr auto field_formats = io::formats::fields;

/// Chosen encoding; nullopt for the complex field.
std::optional<Encoding> chosen_encoding(const HologramJob& job, const Panel& panel) {
  if (job.encoding.given) return job.encoding.encoding;
  if (io::has_format(job.output, field_formats)) return std::nullopt;
  return panel.modulation == Modulation::phase ? Encoding::phase : Encoding::amplitude;
}

std::optional<Encoding> chosen_encoding(const HologramJob& job) {
  return chosen_encoding(job, chosen_panel(job.panel_choice));
}

std::string_view encoding_name(const std::optional<Encoding>& encoding) {
  return encoding ? to_string(*encoding) : "complex";
}

bool is_of_phase(const EncodingTraits& traits) { return traits.phase_modulator; }

Applies for_phase(const HologramJob& job) { return for_encodings(job, "a phase encoding", is_of_phase); }

/// Throws for an unsuitable extension.
void check_extension(const HologramJob& job) {
  const auto& output = job.output;
  const bool complex_field = job.complex_field;
  if (output.empty()) return;  // codes that were made before
  if (names_monitor(output)) {
    if (complex_field) reject<&HologramJob::encoding>("an encoding for a modulator on a monitor", "complex");
    return;
  }
  if (complex_field && !io::has_format(output, field_formats)) {
    reject_output(io::name_ending_in(field_formats) + " for the complex field", output);
  }
  if (!complex_field && !io::has_format(output, code_formats)) {
    // Without --encode the name alone decides, so both kinds are open.
    const auto codes = io::name_ending_in(code_formats);
    reject_output(job.encoding.given ? fmt::format("{} for --encode {}", codes, encoding_name(job.encoding.encoding))
                                     : fmt::format("{} for modulator codes, or in {} for the complex field", codes,
                                                   io::any_extension(field_formats)),
                  output);
  }
}

/// Sets the number of bits of a code and the phases of the codes.
void set_levels(HologramJob& job) {
  auto& encode = job.encode;
  const bool phase = needs_phase_modulator(encode.encoding);
  encode.bits = job.packed16 ? 16 : job.panel.bits;
  if (!job.lut.empty()) {
    encode.level_phase_rad = read_phase_table(job.lut, job.lut_unit);
    const auto last = static_cast<unsigned>(encode.level_phase_rad.size() - 1);
    if (!job.packed16) encode.bits = std::clamp(static_cast<int>(std::bit_width(last)), 2, 16);
  }
  if (job.bits) encode.bits = *job.bits;
  if (phase && encode.bits < 2) reject<&HologramJob::bits>("2 to 16 for a phase encoding", std::to_string(encode.bits));
  if (job.phase_range_rad.given()) {
    encode.phase_range_rad = job.phase_range_rad.value;
  } else if (phase && job.lut.empty() && encode.bits == job.panel.bits) {
    encode.level_phase_rad = job.panel.level_phase_rad;
  }
  if (encode.level_phase_rad.size() > std::size_t{1} << encode.bits) {
    reject<&HologramJob::bits>(fmt::format("enough for the {} codes of {}", encode.level_phase_rad.size(), job.lut),
                               std::to_string(encode.bits));
  }
}

/// Mirrors have a fixed number of states; the bits of a liquid crystal panel depend on its cable.
void check_panel(const HologramJob& job) {
  const Panel& panel = job.panel;
  if (panel.name == "custom") return;
  constexpr std::string_view other = "; --resolution and --pitch instead of --panel describe a panel without a preset";
  const bool on_off = panel.modulation == Modulation::amplitude;
  if (on_off && needs_phase_modulator(job.encode.encoding)) {
    if (job.encoding.given && !job.given.contains("--encode")) {  // a command of phases alone
      reject("--panel", "a phase modulator (for mirrors: hologram --image, or quantize --encode amplitude)",
             panel.name);
    }
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--encode: expected {} for {}, whose mirrors are on or off, got '{}'{}",
                            list_encodings([](const auto& traits) { return !traits.phase_modulator; }), panel.name,
                            to_string(job.encode.encoding), other));
  }
  if (!(on_off || !panel.level_phase_rad.empty()) || job.encode.bits <= panel.bits) return;
  const std::string_view option = job.bits ? "--bits" : job.packed16 ? "--packed16" : "--lut";
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected at most {} for {}, whose mirrors have {} states, got {}{}", option,
                          counted(panel.bits, "bit"), panel.name, 1 << panel.bits, job.encode.bits, other));
}

void set_encoding(HologramJob& job) {
  const auto encoding = chosen_encoding(job, job.panel);
  job.complex_field = !encoding.has_value();
  check_extension(job);
  if (!encoding) return;
  job.encode.encoding = *encoding;
  if (job.amplitude_range) {
    job.encode.amplitude_min = static_cast<float>((*job.amplitude_range)[0]);
    job.encode.amplitude_max = static_cast<float>((*job.amplitude_range)[1]);
  }
  job.encode.reference_angle_x_rad = job.reference_angle_rad.value[0];
  job.encode.reference_angle_y_rad = job.reference_angle_rad.value[1];
  job.encode.bits = job.panel.bits;
  check_panel(job);  // before set_levels: an on/off panel has too few bits for a phase
  set_levels(job);
  check_panel(job);
  job.writing.scaled_bits = scaled_bits_of(job.scale_codes, job.encode.bits);
  if (names_monitor(job.output) && (job.encode.bits > 8 || job.packed16)) {
    constexpr std::string_view expected = "at most 8 bits on a monitor; `holotone display` shows files of more";
    if (job.packed16) reject<&HologramJob::packed16>(expected, std::to_string(job.encode.bits));
    reject<&HologramJob::bits>(expected, std::to_string(job.encode.bits));
  }
  if (job.encode.bits > 8 && !job.packed16 && io::has_format(job.output, io::FileFormat::bmp)) {
    reject_output(io::name_ending_in(io::formats::pictures_with_metadata) + " for codes of more than 8 bits",
                  job.output);
  }
}

}  // namespace

std::vector<Channel> channels_of(const HologramJob& job) {
  if (!job.rgb_m) return {{"", -1, job.wavelength_m.value_or(default_wavelength_m)}};
  const auto& [red, green, blue] = *job.rgb_m;
  return {{"r", 0, red}, {"g", 1, green}, {"b", 2, blue}};
}

Applies for_encodings(const HologramJob& job, std::string_view expected,
                      const std::function<bool(const EncodingTraits&)>& suits) {
  return {[&job, suits] {
            const auto encoding = chosen_encoding(job);
            return encoding && suits(encoding_traits(*encoding));
          },
          expected, [&job] { return std::string(encoding_name(chosen_encoding(job))); }};
}

std::vector<OptionRow> wavelength_options(HologramJob& job) {
  const auto three = [](std::string_view option, const std::string& text) {
    constexpr std::string_view expected = "three wavelengths such as 638nm,520nm,450nm";
    const auto pieces = list(option, text, expected);
    if (pieces.size() != 3) reject(option, expected, text);
    return std::array{wavelength_of(option, pieces[0]), wavelength_of(option, pieces[1]),
                      wavelength_of(option, pieces[2])};
  };
  return {{.names = "--wavelength",
           .target = number(job.wavelength_m, ValueUnit::length, {min_wavelength_m, max_wavelength_m}),
           .value = "LENGTH",
           .help = "Wavelength of the light",
           .otherwise = "532nm",
           .common = true,
           .feeds = "PointCloudPlan.wavelength_m"},
          {.names = "--rgb",
           .target = parsed(job.rgb_m, three),
           .value = "R,G,B",
           .help = "Three wavelengths for three colour holograms, such as 638nm,520nm,450nm",
           .common = true,
           .excludes = "--wavelength",
           .feeds = "PointCloudPlan.wavelength_m"}};
}

OptionRow encoding_option(HologramJob& job, std::initializer_list<Encoding> only) {
  std::vector<Choice<EncodingChoice>> choices;
  for (const auto& known : enum_names<Encoding>) {
    const bool taken = only.size() == 0 || std::ranges::find(only, known.value) != only.end();
    if (taken) choices.push_back({known.name, {true, known.value}});
  }
  if (only.size() == 0) choices.push_back({"complex", {true, std::nullopt}});
  static const std::string help = "Encoding: complex, " + list_encodings();
  return {.names = "--encode,--encoding",
          .target = choice(job.encoding, std::move(choices)),
          .value = "NAME",
          .help = help,
          .otherwise = "by OUT and the panel",
          .common = true,
          .feeds = "HologramJob.encoding|code_levels.modulation"};
}

std::vector<std::string> unit_warnings(const HologramJob& job) {
  std::vector<double> wavelengths_m;
  for (const auto& channel : job.channels) wavelengths_m.push_back(channel.wavelength_m);
  auto warnings = phase_table_notes(job.lut, job.lut_unit, wavelengths_m);
  std::ranges::move(correction_notes(job.correction, wavelengths_m), std::back_inserter(warnings));
  for (const double wavelength_m : wavelengths_m) warnings.push_back(wavelength_warning(wavelength_m));
  std::erase(warnings, "");
  return warnings;
}

OptionRow bits_option(HologramJob& job) {
  return {.names = "--bits",
          .target = member<&HologramJob::bits>(job, bounds_of<&EncodeOptions::bits>),
          .value = "N",
          .help = "Bits of a code; phase encodings from 2",
          .otherwise = "the panel's",
          .feeds = "EncodePlan.bits|EncodePlan.level_phase_rad|code_levels.bits",
          .applies = for_encodings(job, "an encoding for a modulator", [](const EncodingTraits&) { return true; })};
}

std::vector<OptionRow> phase_code_options(HologramJob& job) {
  const auto range = [](std::string_view option, const std::string& text) {
    return parse_value(option, text, ValueUnit::angle, {min_phase_range_rad, max_phase_rad});
  };
  return {{.names = "--lut,--levels",
           .target = &job.lut,
           .value = "FILE",
           .help = "Text file with the measured phase of each code",
           .feeds = "EncodePlan.level_phase_rad",
           .applies = for_phase(job)},
          lut_unit_option(job.lut_unit, job.lut),
          {.names = "--phase-range",
           .target = parsed(job.phase_range_rad, range),
           .value = "ANGLE",
           .help = "Phase stroke R of the panel, such as 1.8pi: code c shows R c / 2^bits",
           .otherwise = "2pi",
           .feeds = "EncodePlan.phase_range_rad|EncodePlan.level_phase_rad and phase_range_rad",
           .applies = for_encodings(job, "a phase encoding without --lut",
                                    [&job](const auto& traits) { return is_of_phase(traits) && job.lut.empty(); })},
          {.names = "--carrier",
           .target = &job.carrier,
           .value = "X[,Y]",
           .help = "Blazed grating that steers the light: angles (0.5deg) or periods (64um, 8px)",
           .feeds = "EncodePlan.carrier|steering_angle_rad.",
           .applies = for_phase(job)},
          {.names = "--correction",
           .target = &job.correction,
           .value = "FILE",
           .help = "Wavefront map added to the phase: picture (full range 2 pi) or NPY (radians)",
           .feeds = "EncodePlan.correction_rad",
           .applies = for_phase(job)},
          {.names = "--packed16",
           .target = member<&HologramJob::packed16>(job),
           .help = "Write 16-bit codes as red (high byte) and green (low byte)",
           .applies = for_phase(job)}};
}

PointCloudOptions HologramJob::sum_options(const Channel& channel) const {
  PointCloudOptions options = sum;
  options.wavelength_m = channel.wavelength_m;
  return options;
}

FieldGrid HologramJob::grid(const Channel& channel) const {
  return {panel.nx, panel.ny, panel.pitch_m, channel.wavelength_m};
}

EncodeOptions HologramJob::encode_options(const Channel& channel) const {
  EncodeOptions options = encode;
  if (!carrier.empty()) {
    const auto [x, y] = grating_pair("--carrier", carrier, channel.wavelength_m, panel.pitch_m);
    options.carrier_x_rad = x;
    options.carrier_y_rad = y;
  }
  options.correction_rad = correction_rad.view();
  return options;
}

void complete(HologramJob& job) {
  job.panel = chosen_panel(job.panel_choice);
  job.channels = channels_of(job);
  job.sum.pitch_m = job.panel.pitch_m;
  job.sum.shape = {job.panel.ny, job.panel.nx};
  // One cone for all colours: a point that lit fewer pixels in blue than in red would be tinted, most near the middle.
  job.sum.cone_wavelength_m = std::ranges::min(job.channels, {}, &Channel::wavelength_m).wavelength_m;
  set_encoding(job);
  const bool summed = job.sum.method == PointMethod::separable || job.sum.method == PointMethod::fast;
  job.devices =
      devices_option(job.device_name, job.console, summed ? OperationId::fast_point_sum : OperationId::point_sum);
  job.device = job.devices.front();
  for (const auto& channel : job.channels) (void)job.encode_options(channel);  // a bad --carrier is refused here
  if (!job.correction.empty()) {
    io::require_input(job.correction);
    job.correction_rad = read_correction(job.correction, {job.panel.ny, job.panel.nx},
                                         [&](const std::string& line) { warn(job.console, line); });
  }
  if (names_monitor(job.output)) job.shown = std::make_shared<MonitorOutput>(job.output, job.panel, job.showing);
}

}  // namespace holotone::cli
