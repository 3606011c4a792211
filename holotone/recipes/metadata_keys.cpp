#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/recipes/metadata_keys.hpp>

namespace holotone {
namespace {

constexpr double max_tilt_rad = 1.5;
constexpr double max_count = 9e15;
constexpr double largest_rows = 1 << 26;
constexpr std::size_t max_levels = 65536;  ///< of 16 bits
constexpr std::size_t longest_quote = 40;  ///< of a file's text in an error

using enum MetadataType;

constexpr MetadataKey table[] = {
    {"amplitude_max", number, {}, -max_field_value, max_field_value, "hologram, panel, quantize"},
    {"amplitude_min", number, {}, -max_field_value, max_field_value, "hologram, panel, quantize"},
    {"aperture_diameter_m", number, "m", 0, max_distance_m, "reconstruct"},
    {"aperture_x_m", number, "m", -max_distance_m, max_distance_m, "reconstruct"},
    {"aperture_y_m", number, "m", -max_distance_m, max_distance_m, "reconstruct"},
    {"arithmetic", text, {}, 0, 0, "hologram"},
    {"band_limit", flag, {}, 0, 1, "hologram"},
    {"bits", count, {}, 1, 16, "hologram, optimize, panel, quantize"},
    {"block_crc32", text, {}, 0, 0, "hologram"},
    {"block_first_row", count, {}, 0, largest_rows, "hologram"},
    {"block_of_rows", count, {}, 1, largest_rows, "hologram"},
    {"block_source", text, {}, 0, 0, "hologram"},
    {"camera_pitch_m", number, "m", 0, max_distance_m, "hologram"},
    {"carrier_x_rad", number, "rad", -max_tilt_rad, max_tilt_rad, "hologram, optimize"},
    {"carrier_y_rad", number, "rad", -max_tilt_rad, max_tilt_rad, "hologram, optimize"},
    {"channel", text, {}, 0, 0, "hologram, optimize, quantize"},
    {"clip", number, {}, 0, 1, "quantize"},
    {"cone_wavelength_m", number, "m", min_wavelength_m, max_wavelength_m, "hologram"},
    {"correction", text, {}, 0, 0, "hologram, optimize, panel"},
    {"decades", number, {}, 0.1, 40, "reconstruct"},
    {"deterministic", flag, {}, 0, 1, "hologram"},
    {"distance_m", number, "m", -max_distance_m, max_distance_m,
     "hologram, optimize, panel, propagate, quantize, reconstruct"},
    {"distance_max_m", number, "m", -max_distance_m, max_distance_m, "hologram, propagate"},
    {"distance_min_m", number, "m", -max_distance_m, max_distance_m, "hologram, propagate"},
    {"distances_m", numbers, "m", -max_distance_m, max_distance_m, "hologram, optimize, propagate, reconstruct"},
    {"encoding", text, {}, 0, 0, "hologram, optimize, panel, propagate, quantize"},
    {"falloff", flag, {}, 0, 1, "hologram"},
    {"field_energy", number, {}, 0, largest_energy, "quantize"},
    {"focal_length_m", number, "m", min_length_m, max_distance_m, "optimize, reconstruct"},
    {"fresnel_deviation_rad", number, "rad", 0, 0, "hologram"},
    {"fringe_m", number, "m", 0, max_distance_m, "hologram"},
    {"gamma", number, {}, 0.01, 100, "reconstruct"},
    {"hogel_borders", text, {}, 0, 0, "quantize"},
    {"hogel_px", count, "px", 1, largest_picture_side, "hologram, quantize"},
    {"kappa", number, {}, 0, 1, "quantize"},
    {"kappa_x", number, {}, 0, 1, "quantize"},
    {"kappa_y", number, {}, 0, 1, "quantize"},
    {"layer_spacing", text, {}, 0, 0, "hologram"},
    {"layers", count, {}, 1, max_count, "hologram"},
    {"level_amplitude", numbers, {}, 0, 1, "quantize"},
    {"level_phase_rad", numbers, "rad", -max_phase_rad, max_phase_rad, "hologram, optimize, panel, quantize"},
    {"method", text, {}, 0, 0, "hologram"},
    {"moved_m", number, "m", 0, 0, "propagate"},
    {"object_energy", number, {}, 0, largest_energy, "hologram, optimize"},
    {"packed16", flag, {}, 0, 1, "hologram, optimize, panel"},
    {"panel", text, {}, 0, 0, "hologram, optimize, panel"},
    {"pattern", text, {}, 0, 0, "panel"},
    {"phase", text, {}, 0, 0, "hologram, optimize"},
    {"phase_range_rad", number, "rad", min_phase_range_rad, max_phase_rad, "hologram, optimize, panel, quantize"},
    {"pitch_m", number, "m", min_pitch_m, max_pitch_m, "hologram, optimize, panel, propagate, quantize, reconstruct"},
    {"points", count, {}, 0, max_count, "hologram"},
    {"pupil_shape", text, {}, 0, 0, "reconstruct"},
    {"quantize_method", text, {}, 0, 0, "quantize"},
    {"random_phase", flag, {}, 0, 1, "hologram"},
    {"reference_angle_x_rad", number, "rad", -max_tilt_rad, max_tilt_rad, "hologram, quantize"},
    {"reference_angle_y_rad", number, "rad", -max_tilt_rad, max_tilt_rad, "hologram, quantize"},
    {"rows_at_once", count, {}, 1, max_count, "hologram"},
    {"scale", number, {}, 1e-37, max_field_value, "quantize"},
    {"scaled_codes", flag, {}, 0, 1, "hologram, optimize, panel, quantize"},
    {"seed", count, {}, 0, 0, "hologram, optimize"},
    {"serpentine", flag, {}, 0, 1, "quantize"},
    {"show", text, {}, 0, 0, "reconstruct"},
    {"signal_region", numbers, "px", 0, largest_grid_side, "hologram, optimize"},
    {"software", text, {}, 0, 0, "hologram, optimize, panel, propagate, quantize, reconstruct"},
    {"source", text, {}, 0, 0, "quantize, reconstruct"},
    {"tolerance", number, {}, 0, 0, "hologram"},
    {"tone", text, {}, 0, 0, "reconstruct"},
    {"view_distance_m", number, "m", 0, max_distance_m, "hologram"},
    {"viewer", text, {}, 0, 0, "hologram, quantize"},
    {"viewer_distance_m", number, "m", 0, max_distance_m, "reconstruct"},
    {"viewer_height_m", number, "m", 0, max_distance_m, "reconstruct"},
    {"viewer_width_m", number, "m", 0, max_distance_m, "reconstruct"},
    {"viewer_x_m", numbers, "m", -max_distance_m, max_distance_m, "reconstruct"},
    {"viewer_y_m", numbers, "m", -max_distance_m, max_distance_m, "reconstruct"},
    {"wave", text, {}, 0, 0, "hologram"},
    {"wavelength_m", number, "m", min_wavelength_m, max_wavelength_m,
     "hologram, optimize, panel, propagate, quantize, reconstruct"},
    {"weights", count, {}, 0, max_count, "quantize"},
    {"weights_kept", count, {}, 0, max_count, "quantize"},
    {"weights_normalization", text, {}, 0, 0, "quantize"},
    {"weights_p", text, {}, 0, 0, "quantize"},
    {"weights_rule", text, {}, 0, 0, "quantize"},
    {"weights_sum", number, {}, 0, 0, "quantize"},
    {"white", number, {}, 0, 0, "reconstruct"},
};

std::string in_quotes(const std::string& value) { return fmt::format("'{}'", value.substr(0, longest_quote)); }

const MetadataKey& require_key(std::string_view name) {
  const MetadataKey* const key = find_metadata_key(name);
  if (key == nullptr) throw_argument("set_metadata", "key", "one of metadata_keys()", in_quotes(std::string(name)));
  return *key;
}

bool has_range(const MetadataKey& key) { return key.low < key.high; }
bool is_number(const MetadataKey& key) { return key.type != text; }

/// Range of a key, for error messages.
std::string range_text(const MetadataKey& key) {
  if (key.type == flag) return fmt::format("0 or 1 under {}", key.name);
  return fmt::format("{}{} from {:g} to {:g}", key.type == count ? "a whole " : "", key.name, key.low, key.high);
}

void check_number(const std::string& path, const MetadataKey& key, double value) {
  const bool whole = key.type != count || value == std::floor(value);
  if (whole && (!has_range(key) || (value >= key.low && value <= key.high))) return;
  throw_io(path, range_text(key), fmt::format("{}", value));
}

}  // namespace

std::span<const MetadataKey> metadata_keys() { return table; }

const MetadataKey* find_metadata_key(std::string_view name) {
  const auto* const key = std::ranges::lower_bound(table, name, {}, &MetadataKey::name);
  return key != std::end(table) && key->name == name ? key : nullptr;
}

std::string number_text(double value) { return fmt::format("{:.17g}", value); }

std::string numbers_text(const std::vector<double>& values) {
  std::string all;
  for (const double value : values) all += fmt::format("{}{:.17g}", all.empty() ? "" : ",", value);
  return all;
}

void set_metadata(Metadata& metadata, std::string_view key, double value) {
  const MetadataKey& entry = require_key(key);
  if (!is_number(entry)) throw_argument("set_metadata", entry.name, "a text", fmt::format("{}", value));
  metadata.insert_or_assign(std::string(key), number_text(value));
}

void set_metadata(Metadata& metadata, std::string_view key, const std::vector<double>& values) {
  const MetadataKey& entry = require_key(key);
  if (entry.type != numbers)
    throw_argument("set_metadata", entry.name, "one value", fmt::format("{} numbers", values.size()));
  metadata.insert_or_assign(std::string(key), numbers_text(values));
}

void set_metadata(Metadata& metadata, std::string_view key, std::string_view value) {
  const MetadataKey& entry = require_key(key);
  if (is_number(entry) && (value.empty() || value.find_first_not_of("+-.,0123456789einfa") != std::string_view::npos)) {
    throw_argument("set_metadata", entry.name, "a number", in_quotes(std::string(value)));
  }
  metadata.insert_or_assign(std::string(key), std::string(value));
}

std::string metadata_text(const Metadata& metadata, std::string_view key) {
  const auto entry = metadata.find(std::string(key));
  return entry == metadata.end() ? std::string() : entry->second;
}

std::optional<double> number_of(const std::string& path, const Metadata& metadata, const std::string& key) {
  if (metadata.count(key) == 0) return std::nullopt;
  const std::string stated = metadata_text(metadata, key);
  char* end = nullptr;
  const double value = std::strtod(stated.c_str(), &end);
  const bool decimal = !stated.empty() && stated.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (!decimal || end != stated.c_str() + stated.size() || !std::isfinite(value)) {
    throw_io(path, fmt::format("a number under {}", key), in_quotes(stated));
  }
  return value;
}

std::optional<double> checked_number(const std::string& path, const Metadata& metadata, std::string_view key) {
  const MetadataKey& entry = require_key(key);
  if (entry.type == flag) {
    const std::string stated = metadata_text(metadata, key);
    if (metadata.count(std::string(key)) == 0) return std::nullopt;
    if (stated != "0" && stated != "1") throw_io(path, range_text(entry), in_quotes(stated));
    return stated == "1" ? 1 : 0;
  }
  const auto value = number_of(path, metadata, std::string(key));
  if (value) check_number(path, entry, *value);
  return value;
}

std::vector<double> checked_numbers(const std::string& path, const Metadata& metadata, std::string_view key) {
  const MetadataKey& entry = require_key(key);
  const std::string stated = metadata_text(metadata, key);
  const auto refuse = [&] { throw_io(path, fmt::format("numbers under {}", key), in_quotes(stated)); };
  if (metadata.count(std::string(key)) != 0 && stated.find_first_of("0123456789") == std::string::npos) refuse();
  if (stated.find_first_of("xX") != std::string::npos) refuse();
  std::vector<double> values;
  const char* at = stated.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at || std::isinf(value)) refuse();
    values.push_back(value);
    at = end;
    while (*at == ' ' || *at == ',') ++at;
  }
  if (values.size() > max_levels) {
    throw_io(path, fmt::format("at most {} numbers under {}", max_levels, key), fmt::format("{}", values.size()));
  }
  for (const double value : values) {
    if (!std::isnan(value)) check_number(path, entry, value);
  }
  return values;
}

void check_metadata(const std::string& path, const Metadata& metadata) {
  for (const auto& [name, stated] : metadata) {
    const MetadataKey* const key = find_metadata_key(name);
    if (key == nullptr || !is_number(*key)) continue;
    if (key->type == numbers) {
      (void)checked_numbers(path, metadata, name);
    } else {
      (void)checked_number(path, metadata, name);
    }
  }
}

}  // namespace holotone
