#pragma once
#include <cstdint>
#include <holotone/core/metadata.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The keys of a hologram's, a field's or a picture's metadata: one table for who writes and who reads them.
// docs/files.md lists them for people.
namespace holotone {

/// What stands under a key.
enum class MetadataType {
  text,
  flag,     ///< "0" or "1"
  count,    ///< a whole number
  number,   ///< with 17 significant digits: read back to the same double
  numbers,  ///< several of these, comma-separated
};

struct MetadataKey {
  std::string_view name;
  MetadataType type = MetadataType::text;
  std::string_view unit{};  ///< "m", "rad", "px"; empty: none
  double low = 0;           ///< of numbers, both ends included; low = high: any finite number
  double high = 0;
  std::string_view writers{};  ///< commands of the program, such as "hologram, quantize"
};

/// Strokes of a phase modulator beyond these are taken for a mistake.
inline constexpr double least_phase_range_rad = 1e-3;
inline constexpr double most_phase_rad = 1000;
/// Values of a field and amplitudes beyond it are taken for a mistake.
inline constexpr double largest_field_value = 1e15;
/// Object and field energies.
inline constexpr double largest_energy = 1e30;

/// All keys, sorted by name.
std::span<const MetadataKey> metadata_keys();

/// The key of this name, or nullptr.
const MetadataKey* find_metadata_key(std::string_view name);

/// 17 significant digits: read back to the same double.
std::string number_text(double value);
std::string numbers_text(const std::vector<double>& values);

/// Puts a value under a key of the table; its range is the reader's to check. Throws invalid_argument naming the key
/// for a name that the table does not have and for a number under a key of text or a text that is no number under one
/// of numbers.
void set_metadata(Metadata& metadata, std::string_view key, double value);
void set_metadata(Metadata& metadata, std::string_view key, const std::vector<double>& values);
void set_metadata(Metadata& metadata, std::string_view key, std::string_view value);

/// The text under `key`; empty without one.
std::string metadata_text(const Metadata& metadata, std::string_view key);

/// The number under `key` of what the file `path` states, or nullopt. Throws io naming the file and the key unless it
/// is one finite decimal number; a range is not looked at.
std::optional<double> number_of(const std::string& path, const Metadata& metadata, const std::string& key);

/// The same within the table's range. Throws io naming the file, the key and the range.
std::optional<double> checked_number(const std::string& path, const Metadata& metadata, std::string_view key);

/// The numbers under `key`, apart by commas or blanks; empty without the key. NaN stands for a level that is not
/// known. Throws io naming the file and the key for anything else, and for numbers out of the table's range.
std::vector<double> checked_numbers(const std::string& path, const Metadata& metadata, std::string_view key);

/// Throws io naming the file and the first key of the table under which there is something else than the table says.
/// Keys that the table does not have are let alone.
void check_metadata(const std::string& path, const Metadata& metadata);

}  // namespace holotone
