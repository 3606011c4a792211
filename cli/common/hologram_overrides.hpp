#pragma once
#include <cli/common/option_table.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Flags of reconstruct that stand for keys of a hologram file's metadata: they replace the file's values, and supply
// those that a format without metadata lacks.
namespace holotone::cli {

/// Values given to reconstruct instead of, or in addition to, those of the file; as typed, but bits; empty: not given.
struct HologramOverrides {
  std::string panel;
  std::string wavelength;
  std::string pitch;
  std::string encoding;
  std::optional<int> bits;
  std::string lut;
  std::string phase_range;
  std::string amplitude_range;
  std::string object_energy;
  std::string reference_angle;
  std::string carrier;
  std::string focal_length;
  std::string correction;
  bool packed16 = false;
  bool distance_given = false;  ///< the file's distance is not needed
  bool zero_order = false;      ///< amplitude encodings: with the undiffracted beam
  bool no_filter = false;       ///< field as it leaves the panel, without the stop that an encoding needs
};

/// Options for the light and the codes of a file: --wavelength, --pitch, --panel, --encode, --bits, --phase-range,
/// --lut, --correction.
std::vector<OptionRow> override_options(HologramOverrides& overrides);

/// Phase of each code from a text file (read_phase_lut). Errors begin with the file's name.
std::vector<double> phase_table(const std::string& path);

/// An encoding of codes by its name. Throws invalid_argument naming `option`.
Encoding chosen_encoding(std::string_view option, std::string_view name);

/// Replaces metadata by the given overrides. Throws invalid_argument naming the option.
void apply_overrides(Metadata& metadata, const HologramOverrides& overrides);

/// Throws invalid_argument naming every missing flag: its value is needed, and neither file nor flags give it.
void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field);

/// Options and their values as typed; an option without one has "".
using Flags = std::vector<std::pair<std::string, std::string>>;

/// Option texts as typed, shorter than the values in the metadata; empty: not given.
struct AsTyped {
  std::string lut;  ///< empty: phases of the codes from the panel's preset
  std::string phase_range;
  std::string reference_angle;
  std::string carrier;
};

/// Flags for the metadata that the format of this file name does not store: "--pitch 8um --wavelength 532nm ..."; empty
/// if it stores all.
Flags flags_for(const std::string& path, const Metadata& metadata, const AsTyped& typed);

/// Combined flags of three channels' files: values that differ, and those of balance, become lists R,G,B.
Flags merged(const std::vector<Flags>& channels);

/// True for flags that balance three channels; the file of one channel does not need them.
bool is_balance(const std::string& option);

/// Flags as one command line text.
std::string line_of(const Flags& flags);

/// "BMP" of "a.bmp".
std::string format_name(const std::string& path);

/// Remark with the reconstruct command for `files`, whose format (that of `output`) does not store the values it needs.
std::string no_metadata_remark(const std::string& output, const std::string& files, const std::string& flags,
                               bool first_of_several);

}  // namespace holotone::cli
