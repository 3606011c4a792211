#include <algorithm>
#include <cctype>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/option_value.hpp>
#include <cli/options/panel_options.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

// Options that rows bind, errors ask for and reconstruct's commands show.
constexpr std::string_view wavelength_name = "--wavelength";
constexpr std::string_view pitch_name = "--pitch";
constexpr std::string_view panel_name = "--panel";
constexpr std::string_view bits_name = "--bits";
constexpr std::string_view phase_range_name = "--phase-range";
constexpr std::string_view correction_name = "--correction";
constexpr std::string_view focal_length_name = "--focal-length";
constexpr std::string_view amplitude_range_name = "--amplitude-range";
constexpr std::string_view object_energy_name = "--object-energy";
constexpr std::string_view reference_angle_name = "--reference-angle";
constexpr std::string_view carrier_name = "--carrier";
constexpr std::string_view packed_name = "--packed16";
constexpr std::string_view phase_file_name = "--phase-file";
constexpr std::string_view imaginary_file_name = "--imaginary-file";

double value_of(const Metadata& metadata, const std::string& key) {
  return std::strtod(metadata_text(metadata, key).c_str(), nullptr);
}

void set_pair(Metadata& metadata, const std::string& first, const std::string& second, const std::array<double, 2>& v) {
  set_metadata(metadata, first, v[0]);
  set_metadata(metadata, second, v[1]);
}

/// Sets a preset's pitch, bits and phases of unequal steps.
void apply_panel(Metadata& metadata, const Panel& panel) {
  set_metadata(metadata, "panel", panel.name);
  set_metadata(metadata, "pitch_m", panel.pitch_m);
  set_metadata(metadata, "bits", panel.bits);
  metadata.erase("level_phase_rad");
  if (!panel.level_phase_rad.empty()) set_metadata(metadata, "level_phase_rad", panel.level_phase_rad);
}

void apply_levels(Metadata& metadata, const HologramOverrides& overrides) {
  if (!overrides.lut.empty()) {
    set_metadata(metadata, "level_phase_rad", read_phase_table(overrides.lut, overrides.lut_unit));
  } else if (overrides.phase_range_rad) {
    metadata.erase("level_phase_rad");
    set_metadata(metadata, "phase_range_rad", *overrides.phase_range_rad);
  }
}

double parse_phase_range(std::string_view option, const std::string& text) {
  return parse_value(option, text, ValueUnit::angle, {min_phase_range_rad, max_phase_rad});
}

std::vector<std::array<double, 2>> parse_ranges(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "MIN,MAX for all of three files, or three of them";
  const auto pieces = list(option, text, expected);
  if (pieces.size() != 6) return {rising_pair(option, text)};
  std::vector<std::array<double, 2>> ranges;
  for (std::size_t i = 0; i < 6; i += 2) ranges.push_back(rising_pair(option, pieces[i] + "," + pieces[i + 1]));
  return ranges;
}

std::vector<double> parse_energies(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "three numbers for three files";
  std::vector<double> energies;
  for (const auto& piece : list(option, text, expected)) {
    energies.push_back(number_between(option, piece, 0, largest_energy));
  }
  if (energies.size() != 3) reject(option, expected, text);
  if (std::ranges::max(energies) == 0) reject(option, "at least one energy above 0", text);
  return energies;
}

/// Part of the metadata that a file format stores.
enum class Keeps { all, grid, none };

Keeps kept_by(const std::string& path) {
  if (io::has_format(path, io::FileFormat::bmp | io::FileFormat::npy)) return Keeps::none;
  return io::has_format(path, io::FileFormat::ohc) ? Keeps::grid : Keeps::all;
}

void add_code_flags(Flags& flags, const Metadata& metadata, const AsTyped& typed) {
  const auto encoding = parse_encoding(metadata_text(metadata, "encoding"));
  if (encoding != Encoding::phase) flags.emplace_back("--encode", to_string(encoding));
  const bool packed16 = metadata_text(metadata, "packed16") == "1";
  if (packed16) flags.emplace_back(packed_name, "");
  const bool has_levels = metadata.count("level_phase_rad") != 0;
  const bool of_panel = has_levels && typed.lut.empty();
  if (has_levels)
    flags.emplace_back(of_panel ? panel_name : "--lut", of_panel ? metadata_text(metadata, "panel") : typed.lut);
  if (has_levels && !of_panel && typed.lut_unit != PhaseUnit::automatic) {
    flags.emplace_back("--lut-unit", std::string(name_of(typed.lut_unit)));
  }
  const std::string bits = metadata_text(metadata, "bits");
  if (bits != (packed16 ? "16" : "8") && !of_panel) flags.emplace_back(bits_name, bits);
  if (!typed.phase_range.empty()) flags.emplace_back(phase_range_name, typed.phase_range);
  if (!needs_phase_modulator(encoding)) {
    flags.emplace_back(amplitude_range_name,
                       fmt::format("{},{}", static_cast<float>(value_of(metadata, "amplitude_min")),
                                   static_cast<float>(value_of(metadata, "amplitude_max"))));
  }
  if (!typed.reference_angle.empty()) flags.emplace_back(reference_angle_name, typed.reference_angle);
  if (!typed.carrier.empty() && is_filtered_at_carrier(encoding_traits(encoding))) {
    flags.emplace_back(carrier_name, typed.carrier);
  }
}

}  // namespace

std::vector<double> parse_wavelengths(std::string_view option, const std::string& text) {
  constexpr std::string_view expected = "three wavelengths such as 638nm,520nm,450nm for three files";
  std::vector<double> wavelengths;
  for (const auto& piece : list(option, text, expected)) wavelengths.push_back(wavelength_of(option, piece));
  if (wavelengths.size() != 1 && wavelengths.size() != 3) reject(option, expected, text);
  return wavelengths;
}

OptionRow lut_unit_option(PhaseUnit& unit, const std::string& lut) {
  return {.names = "--lut-unit",
          .target = choice(unit),
          .value = "NAME",
          .help = "Unit of the phases in --lut: rad, deg, waves or pi; auto: as the file states, else by its stroke",
          .applies = {[&lut] { return !lut.empty(); }, "a table of --lut", [] { return "none"; }}};
}

std::vector<OptionRow> override_options(HologramOverrides& o) {
  static const std::string encodings = "Encoding: " + list_encodings();
  return {{.names = wavelength_name,
           .target = parsed_member<&HologramOverrides::wavelengths_m>(o, parse_wavelengths),
           .value = "LENGTH",
           .help = "Wavelength; R,G,B of three files",
           .common = true,
           .feeds = "modulation_of.grid.wavelength_m"},
          {.names = pitch_name,
           .target = parsed_member<&HologramOverrides::pitch_m>(o, pitch_of),
           .value = "LENGTH",
           .help = "Pixel pitch",
           .common = true,
           .feeds = "modulation_of.grid.pitch_m"},
          {.names = panel_name,
           .target = parsed_member<&HologramOverrides::panel>(o, parse_panel),
           .value = "NAME",
           .help = "Preset whose pitch, bits and levels are used"},
          {.names = "--encode,--encoding",
           .target = member<&HologramOverrides::encoding>(o),
           .value = "NAME",
           .help = encodings,
           .feeds = "parse_encoding.encoding"},
          {.names = bits_name,
           .target = member<&HologramOverrides::bits>(o, bounds_of<&EncodeOptions::bits>),
           .value = "N",
           .help = "Bits of a code",
           .feeds = "modulation_of.bits|modulation_of.codes"},
          {.names = phase_range_name,
           .target = parsed_member<&HologramOverrides::phase_range_rad>(o, parse_phase_range),
           .value = "ANGLE",
           .help = "Phase stroke over all codes"},
          {.names = "--lut,--levels",
           .target = member<&HologramOverrides::lut>(o),
           .value = "FILE",
           .help = "Text file with the phase of each code",
           .excludes = phase_range_name},
          lut_unit_option(o.lut_unit, o.lut),
          {.names = correction_name,
           .target = member<&HologramOverrides::correction>(o),
           .value = "FILE",
           .help = "Wavefront map to subtract, as the panel it was measured for does"}};
}

std::vector<OptionRow> number_options(HologramOverrides& o) {
  return {{.names = "--read",
           .target = choice(o.numbers.read),
           .value = "KIND",
           .help = "What real numbers of a TIFF, NPY, HDF5 or MAT are: field, phase in radians, amplitude or intensity",
           .otherwise = "complex numbers",
           .feeds = "read_field.read"},
          {.names = phase_file_name,
           .target = &o.numbers.phase_file,
           .value = "FILE",
           .help = "Phase in radians of an amplitude or intensity"},
          {.names = imaginary_file_name,
           .target = &o.numbers.imaginary_file,
           .value = "FILE",
           .help = "Imaginary part of a field whose real part is the first file",
           .excludes = phase_file_name,
           .feeds = "read_field.imaginary_file"}};
}

std::vector<InputFile> number_inputs(const HologramOverrides& overrides) {
  std::vector<InputFile> inputs;
  if (!overrides.numbers.phase_file.empty()) inputs.push_back({phase_file_name, overrides.numbers.phase_file});
  if (!overrides.numbers.imaginary_file.empty()) {
    inputs.push_back({imaginary_file_name, overrides.numbers.imaginary_file});
  }
  for (const auto& input : inputs) io::require_input(input.path);
  return inputs;
}

void warn_of_notes(HologramOverrides& overrides, const ConsoleOptions& console) {
  overrides.note = [console](const std::string& note) { warn(console, note); };
}

std::vector<OptionRow> further_override_options(HologramOverrides& o) {
  const auto focal_length = [](std::string_view option, const std::string& text) {
    return length_between(option, text, min_length_m, max_distance_m);
  };
  return {{.names = focal_length_name,
           .target = parsed_member<&HologramOverrides::focal_length_m>(o, focal_length),
           .value = "LENGTH",
           .help = "Lens before the panel: show its focal plane, and --distance beyond it (default 0)",
           .excludes = "--aperture --viewer"},
          {.names = amplitude_range_name,
           .target = parsed_member<&HologramOverrides::amplitude_ranges>(o, parse_ranges),
           .value = "MIN,MAX",
           .help = "Field values of the lowest and highest code; one or three pairs of three files"},
          {.names = object_energy_name,
           .target = parsed_member<&HologramOverrides::object_energies>(o, parse_energies),
           .value = "R,G,B",
           .help = "Energy of the object in each of three files, which balances the colours"},
          {.names = reference_angle_name,
           .target = parsed_member<&HologramOverrides::reference_angle_rad>(o, angle_pair),
           .value = "X[,Y]",
           .help = "Tilt of the reference beam in x and y, such as 1.5deg",
           .otherwise = "the file's"},
          {.names = carrier_name,
           .target = member<&HologramOverrides::carrier>(o),
           .value = "X[,Y]",
           .help = "Blazed grating in the codes: angles (0.5deg) or periods (64um, 8px)",
           .feeds = "steering_angle_rad."},
          {.names = packed_name,
           .target = member<&HologramOverrides::packed16>(o),
           .help = "Read 16-bit codes as red (high byte) and green (low byte)"},
          {.names = "--no-filter",
           .target = member<&HologramOverrides::no_filter>(o),
           .help = "Show all diffraction orders, without the encoding's filter",
           .feeds = "read_hologram.unfiltered"},
          {.names = "--zero-order",
           .target = member<&HologramOverrides::zero_order>(o),
           .help = "Include the zero order of amplitude holograms",
           .feeds = "read_hologram.zero_order"}};
}

std::vector<HologramOverrides> overrides_of_files(const HologramOverrides& overrides,
                                                  const std::vector<std::string>& names) {
  const std::size_t count = names.size();
  std::vector<HologramOverrides> each(count, overrides);
  for (const auto& input : number_inputs(overrides)) {
    if (count > 1) reject(input.option, "one file as IN", fmt::format("{} files", count));
  }
  if (count == 1) {
    constexpr std::string_view expected = "three files for three values";
    if (overrides.wavelengths_m.size() > 1) reject<&HologramOverrides::wavelengths_m>(expected, names.front());
    if (overrides.amplitude_ranges.size() > 1) reject<&HologramOverrides::amplitude_ranges>(expected, names.front());
    if (!overrides.object_energies.empty()) reject<&HologramOverrides::object_energies>("three files", names.front());
    return each;
  }
  if (overrides.wavelengths_m.size() == 1) {
    reject<&HologramOverrides::wavelengths_m>("three wavelengths such as 638nm,520nm,450nm for three files",
                                              length_text(overrides.wavelengths_m.front()));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!overrides.wavelengths_m.empty()) each[i].wavelengths_m = {overrides.wavelengths_m[i]};
    if (!overrides.object_energies.empty()) each[i].object_energies = {overrides.object_energies[i]};
    if (overrides.amplitude_ranges.size() > 1) each[i].amplitude_ranges = {overrides.amplitude_ranges[i]};
  }
  return each;
}

void apply_overrides(Metadata& metadata, const HologramOverrides& overrides) {
  if (overrides.panel) apply_panel(metadata, *overrides.panel);
  if (overrides.pitch_m) set_metadata(metadata, "pitch_m", *overrides.pitch_m);
  if (!overrides.wavelengths_m.empty()) set_metadata(metadata, "wavelength_m", overrides.wavelengths_m.front());
  if (overrides.encoding) set_metadata(metadata, "encoding", to_string(*overrides.encoding));
  if (overrides.packed16) {
    set_metadata(metadata, "packed16", 1);
    set_metadata(metadata, "bits", 16);
  }
  if (overrides.bits) set_metadata(metadata, "bits", *overrides.bits);
  if (overrides.focal_length_m) {
    set_metadata(metadata, "focal_length_m", *overrides.focal_length_m);
    metadata.erase("distance_m");  // an object's distance from the panel is none from the focal plane
  }
  apply_levels(metadata, overrides);
  if (!overrides.object_energies.empty()) set_metadata(metadata, "object_energy", overrides.object_energies.front());
  if (!overrides.amplitude_ranges.empty()) {
    set_pair(metadata, "amplitude_min", "amplitude_max", overrides.amplitude_ranges.front());
  }
  if (overrides.reference_angle_rad) {
    set_pair(metadata, "reference_angle_x_rad", "reference_angle_y_rad", *overrides.reference_angle_rad);
  }
  if (!overrides.carrier.empty() && metadata.count("pitch_m") != 0 && metadata.count("wavelength_m") != 0) {
    set_pair(metadata, "carrier_x_rad", "carrier_y_rad",
             grating_pair(carrier_name, overrides.carrier, value_of(metadata, "wavelength_m"),
                          value_of(metadata, "pitch_m")));
  }
}

void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field) {
  std::vector<std::string_view> missing;
  if (metadata.count("pitch_m") == 0) missing.emplace_back(pitch_name);
  if (metadata.count("wavelength_m") == 0) missing.emplace_back(wavelength_name);
  const bool at_focus = metadata.count("focal_length_m") != 0;  // of a lens, unless a distance is stated
  if (!overrides.distance_given && !at_focus && metadata.count("distance_m") == 0) missing.emplace_back("--distance");
  const std::string encoding = metadata_text(metadata, "encoding");
  const bool needs_range = !is_field && (encoding == "amplitude" || encoding == "single-sideband");
  if (needs_range && (metadata.count("amplitude_min") == 0 || metadata.count("amplitude_max") == 0)) {
    missing.emplace_back(amplitude_range_name);
  }
  if (missing.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ", missing[i]);
  }
  const bool guessed = !is_field && encoding.empty();
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected {}, because {} does not state {}, got none{}", names,
                          missing.size() == 1 ? "a value" : "values", path, missing.size() == 1 ? "it" : "them",
                          guessed ? "; --encode too, unless its codes are phases" : ""));
}

bool is_balance(const std::string& option) { return option == object_energy_name; }

Flags flags_for(const std::string& path, const Metadata& metadata, const AsTyped& typed) {
  const Keeps keeps = kept_by(path);
  if (keeps == Keeps::all) return {};
  Flags flags;
  if (keeps == Keeps::none) {
    flags.emplace_back(pitch_name, length_text(value_of(metadata, "pitch_m")));
    flags.emplace_back(wavelength_name, length_text(value_of(metadata, "wavelength_m")));
  }
  flags.emplace_back("--distance", length_text(value_of(metadata, "distance_m")));
  if (metadata.count("focal_length_m") != 0) {
    flags.emplace_back(focal_length_name, length_text(value_of(metadata, "focal_length_m")));
  }
  if (metadata_text(metadata, "encoding") != "complex") add_code_flags(flags, metadata, typed);
  if (const auto correction = metadata_text(metadata, "correction"); !correction.empty()) {
    flags.emplace_back(correction_name, correction);
  }
  if (metadata.count("object_energy") != 0 && metadata.count("channel") != 0) {
    flags.emplace_back(object_energy_name, fmt::format("{}", value_of(metadata, "object_energy")));
  }
  return flags;
}

Flags merged(const std::vector<Flags>& channels) {
  Flags all = channels.front();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool alike = std::all_of(channels.begin(), channels.end(), [&](const Flags& f) { return f[i] == all[i]; });
    if (alike && !is_balance(all[i].first)) continue;
    for (std::size_t c = 1; c < channels.size(); ++c) all[i].second += "," + channels[c][i].second;
  }
  return all;
}

std::string line_of(const Flags& flags) {
  std::string line;
  for (const auto& [option, value] : flags) {
    line += fmt::format("{}{}{}{}", line.empty() ? "" : " ", option, value.empty() ? "" : " ", value);
  }
  return line;
}

std::string format_name(const std::string& path) {
  std::string format = io::extension_of(path).substr(1);
  for (char& c : format) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return format;
}

std::string no_metadata_remark(const std::string& output, const std::string& files, const std::string& flags,
                               bool first_of_several) {
  const std::string format = format_name(output);
  return fmt::format("{} holds {} metadata; reconstruct {} with: holotone reconstruct {} -o PICTURE.png {}", format,
                     format == "OHC" ? "little" : "no", first_of_several ? "the first" : "it", files, flags);
}

}  // namespace holotone::cli
