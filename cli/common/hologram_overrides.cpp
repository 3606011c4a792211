#include <algorithm>
#include <cctype>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/option_value.hpp>
#include <cli/common/panel_options.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>

namespace holotone::cli {
namespace {

double value_of(const Metadata& metadata, const std::string& key) {
  return std::strtod(metadata_text(metadata, key).c_str(), nullptr);
}

void set_pair(Metadata& metadata, const std::string& first, const std::string& second, const std::array<double, 2>& v) {
  set_metadata(metadata, first, v[0]);
  set_metadata(metadata, second, v[1]);
}

/// Sets a preset's pitch, bits and phases of unequal steps.
void apply_panel(Metadata& metadata, const std::string& name) {
  const Panel panel = parse_panel("--panel", name);
  set_metadata(metadata, "panel", panel.name);
  set_metadata(metadata, "pitch_m", panel.pitch_m);
  set_metadata(metadata, "bits", panel.bits);
  metadata.erase("level_phase_rad");
  if (!panel.level_phase_rad.empty()) set_metadata(metadata, "level_phase_rad", panel.level_phase_rad);
}

void apply_levels(Metadata& metadata, const HologramOverrides& overrides) {
  if (!overrides.lut.empty()) {
    set_metadata(metadata, "level_phase_rad", phase_table(overrides.lut));
  } else if (!overrides.phase_range.empty()) {
    const double range = parse_angle("--phase-range", overrides.phase_range);
    if (!(range >= min_phase_range_rad && range <= max_phase_rad)) {
      reject("--phase-range", fmt::format("an angle from {:g} to {:g} rad", min_phase_range_rad, max_phase_rad),
             overrides.phase_range);
    }
    metadata.erase("level_phase_rad");
    set_metadata(metadata, "phase_range_rad", range);
  }
}

/// Part of the metadata that a file format stores.
enum class Keeps { all, grid, none };

Keeps kept_by(const std::string& path) {
  const auto extension = extension_of(path);
  if (extension == ".bmp" || extension == ".npy") return Keeps::none;
  return extension == ".ohc" ? Keeps::grid : Keeps::all;
}

void add_code_flags(Flags& flags, const Metadata& metadata, const AsTyped& typed) {
  const auto encoding = parse_encoding(metadata_text(metadata, "encoding"));
  if (encoding != Encoding::phase) flags.emplace_back("--encode", to_string(encoding));
  const bool packed16 = metadata_text(metadata, "packed16") == "1";
  if (packed16) flags.emplace_back("--packed16", "");
  const bool has_levels = metadata.count("level_phase_rad") != 0;
  const bool of_panel = has_levels && typed.lut.empty();
  if (has_levels)
    flags.emplace_back(of_panel ? "--panel" : "--lut", of_panel ? metadata_text(metadata, "panel") : typed.lut);
  const std::string bits = metadata_text(metadata, "bits");
  if (bits != (packed16 ? "16" : "8") && !of_panel) flags.emplace_back("--bits", bits);
  if (!typed.phase_range.empty()) flags.emplace_back("--phase-range", typed.phase_range);
  if (!needs_phase_modulator(encoding)) {
    flags.emplace_back("--amplitude-range",
                       fmt::format("{},{}", static_cast<float>(value_of(metadata, "amplitude_min")),
                                   static_cast<float>(value_of(metadata, "amplitude_max"))));
  }
  if (!typed.reference_angle.empty()) flags.emplace_back("--reference-angle", typed.reference_angle);
  if (!typed.carrier.empty()) flags.emplace_back("--carrier", typed.carrier);
}

}  // namespace

std::vector<OptionRow> override_options(HologramOverrides& o) {
  return {
      {.names = "--wavelength",
       .target = &o.wavelength,
       .value = "LENGTH",
       .help = "Wavelength; R,G,B of three files",
       .common = true,
       .feeds = "modulation_of.grid.wavelength_m"},
      {.names = "--pitch",
       .target = &o.pitch,
       .value = "LENGTH",
       .help = "Pixel pitch",
       .common = true,
       .feeds = "modulation_of.grid.pitch_m"},
      {.names = "--panel", .target = &o.panel, .value = "NAME", .help = "Preset whose pitch, bits and levels are used"},
      {.names = "--encode,--encoding",
       .target = &o.encoding,
       .value = "NAME",
       .help = "Encoding: phase, amplitude, double-phase, single-sideband or burckhardt",
       .feeds = "parse_encoding.encoding"},
      {.names = "--bits",
       .target = number(o.bits, ValueUnit::count, bounds_of<&EncodeOptions::bits>),
       .value = "N",
       .help = "Bits of a code",
       .feeds = "modulation_of.bits|modulation_of.codes"},
      {.names = "--phase-range", .target = &o.phase_range, .value = "ANGLE", .help = "Phase stroke over all codes"},
      {.names = "--lut,--levels",
       .target = &o.lut,
       .value = "FILE",
       .help = "Text file with the phase in radians of each code",
       .excludes = "--phase-range"},
      {.names = "--correction",
       .target = &o.correction,
       .value = "FILE",
       .help = "Wavefront map to subtract, as the panel it was measured for does"}};
}

std::vector<double> phase_table(const std::string& path) {
  try {
    auto table = read_phase_lut(text_file(path));
    for (std::size_t code = 0; code < table.size(); ++code) {
      if (std::abs(table[code]) <= max_phase_rad || std::isnan(table[code])) continue;
      throw_io(path, fmt::format("phases of at most {:g} rad", max_phase_rad),
               fmt::format("{:g} for code {}", table[code], code));
    }
    return table;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw FileError(path, error);
  }
}

Encoding chosen_encoding(std::string_view option, std::string_view name) {
  Encoding encoding{};
  choice(encoding).store(option, std::string(name));
  return encoding;
}

void apply_overrides(Metadata& metadata, const HologramOverrides& overrides) {
  if (!overrides.panel.empty()) apply_panel(metadata, overrides.panel);
  if (!overrides.pitch.empty()) set_metadata(metadata, "pitch_m", pitch_of("--pitch", overrides.pitch));
  if (!overrides.wavelength.empty()) {
    set_metadata(metadata, "wavelength_m", wavelength_of("--wavelength", overrides.wavelength));
  }
  if (!overrides.encoding.empty()) {
    set_metadata(metadata, "encoding", to_string(chosen_encoding("--encode", overrides.encoding)));
  }
  if (overrides.packed16) {
    set_metadata(metadata, "packed16", 1);
    set_metadata(metadata, "bits", 16);
  }
  if (overrides.bits) set_metadata(metadata, "bits", *overrides.bits);
  if (!overrides.focal_length.empty()) {
    set_metadata(metadata, "focal_length_m",
                 length_between("--focal-length", overrides.focal_length, min_length_m, max_distance_m));
    metadata.erase("distance_m");  // an object's distance from the panel is none from the focal plane
  }
  apply_levels(metadata, overrides);
  if (!overrides.object_energy.empty()) {
    set_metadata(metadata, "object_energy",
                 number_between("--object-energy", overrides.object_energy, 0, largest_energy));
  }
  if (!overrides.amplitude_range.empty()) {
    set_pair(metadata, "amplitude_min", "amplitude_max", rising_pair("--amplitude-range", overrides.amplitude_range));
  }
  if (!overrides.reference_angle.empty()) {
    set_pair(metadata, "reference_angle_x_rad", "reference_angle_y_rad",
             angle_pair("--reference-angle", overrides.reference_angle));
  }
  if (!overrides.carrier.empty() && metadata.count("pitch_m") != 0 && metadata.count("wavelength_m") != 0) {
    set_pair(metadata, "carrier_x_rad", "carrier_y_rad",
             grating_pair("--carrier", overrides.carrier, value_of(metadata, "wavelength_m"),
                          value_of(metadata, "pitch_m")));
  }
}

void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field) {
  std::vector<std::string_view> missing;
  if (metadata.count("pitch_m") == 0) missing.emplace_back("--pitch");
  if (metadata.count("wavelength_m") == 0) missing.emplace_back("--wavelength");
  const bool at_focus = metadata.count("focal_length_m") != 0;  // of a lens, unless a distance is stated
  if (!overrides.distance_given && !at_focus && metadata.count("distance_m") == 0) missing.emplace_back("--distance");
  const std::string encoding = metadata_text(metadata, "encoding");
  const bool needs_range = !is_field && (encoding == "amplitude" || encoding == "single-sideband");
  if (needs_range && (metadata.count("amplitude_min") == 0 || metadata.count("amplitude_max") == 0)) {
    missing.emplace_back("--amplitude-range");
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

bool is_balance(const std::string& option) { return option == "--object-energy"; }

Flags flags_for(const std::string& path, const Metadata& metadata, const AsTyped& typed) {
  const Keeps keeps = kept_by(path);
  if (keeps == Keeps::all) return {};
  Flags flags;
  if (keeps == Keeps::none) {
    flags.emplace_back("--pitch", length_text(value_of(metadata, "pitch_m")));
    flags.emplace_back("--wavelength", length_text(value_of(metadata, "wavelength_m")));
  }
  flags.emplace_back("--distance", length_text(value_of(metadata, "distance_m")));
  if (metadata.count("focal_length_m") != 0) {
    flags.emplace_back("--focal-length", length_text(value_of(metadata, "focal_length_m")));
  }
  if (metadata_text(metadata, "encoding") != "complex") add_code_flags(flags, metadata, typed);
  if (const auto correction = metadata_text(metadata, "correction"); !correction.empty()) {
    flags.emplace_back("--correction", correction);
  }
  if (metadata.count("object_energy") != 0 && metadata.count("channel") != 0) {
    flags.emplace_back("--object-energy", fmt::format("{}", value_of(metadata, "object_energy")));
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
  std::string format = extension_of(path).substr(1);
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
