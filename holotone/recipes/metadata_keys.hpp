#pragma once
#include <cstdint>
#include <holotone/core/metadata.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Metadata keys of holograms, fields and pictures: one table for writers and readers. docs/files.md lists them for
// users.
namespace holotone {

/// Type of the value of a key.
enum class MetadataType {
  text,
  flag,     ///< "0" or "1"
  count,    ///< whole number
  number,   ///< number with 17 significant digits, which reads back as the same double
  numbers,  ///< several numbers, comma-separated
};

struct MetadataKey {
  std::string_view name;
  MetadataType type = MetadataType::text;
  std::string_view unit{};     ///< unit: "m", "rad" or "px"; empty: none
  double low = 0;              ///< smallest number allowed, inclusive; low = high: any finite number
  double high = 0;             ///< largest number allowed, inclusive
  std::string_view writers{};  ///< commands of the program that write the key, such as "hologram, quantize"
};

/// Limits of lengths: no modulator has a pitch outside 1 nm to 1 m, no hologram a scene of more than 100 km.
inline constexpr double min_length_m = 1e-9;
inline constexpr double max_length_m = 1;
inline constexpr double max_distance_m = 1e5;
/// Range of strokes of a phase modulator; others are rejected as mistakes.
inline constexpr double min_phase_range_rad = 1e-3;
inline constexpr double max_phase_rad = 1000;
/// Largest value of a field and largest amplitude; larger ones are rejected as mistakes.
inline constexpr double max_field_value = 1e15;
/// Largest energy of an object or a field.
inline constexpr double largest_energy = 1e30;

/// Returns all keys, sorted by name.
std::span<const MetadataKey> metadata_keys();

/// Returns the key of this name, or nullptr.
const MetadataKey* find_metadata_key(std::string_view name);

/// Returns numbers as text with 17 significant digits, which read back as the same double; several with commas between.
std::string number_text(double value);
std::string numbers_text(const std::vector<double>& values);

/// Sets the value of a key of the table. Its range is checked only on reading. Throws invalid_argument naming the key:
/// for a name outside the table, a number for a text key, several numbers for a key of one value, or text that is not a
/// number for a numeric key.
void set_metadata(Metadata& metadata, std::string_view key, double value);
void set_metadata(Metadata& metadata, std::string_view key, const std::vector<double>& values);
void set_metadata(Metadata& metadata, std::string_view key, std::string_view value);

/// Returns the text of `key`; empty without the key.
std::string metadata_text(const Metadata& metadata, std::string_view key);

/// Returns the number of `key` in the metadata of the file `path`, or nullopt without the key. Throws io naming the
/// file and the key unless the text is one finite decimal number. The range is not checked.
std::optional<double> number_of(const std::string& path, const Metadata& metadata, const std::string& key);

/// Returns number_of a key within the table's range. Throws io naming the file, the key and the range.
std::optional<double> checked_number(const std::string& path, const Metadata& metadata, std::string_view key);

/// Returns the numbers of `key`, separated by commas or blanks; empty without the key. NaN is an unknown level. Throws
/// io naming the file and the key for other text, numbers out of the table's range, or more than 65536 numbers.
std::vector<double> checked_numbers(const std::string& path, const Metadata& metadata, std::string_view key);

/// Throws io naming the file and the first key whose value does not match the table. Keys outside the table are
/// ignored.
void check_metadata(const std::string& path, const Metadata& metadata);

}  // namespace holotone
