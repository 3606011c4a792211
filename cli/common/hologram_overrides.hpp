#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/options/option_table.hpp>
#include <functional>
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/optics/panel.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/phase_table.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Flags of reconstruct that stand for keys of a hologram file's metadata: they replace the file's values, and supply
// those that a format without metadata lacks.
namespace holotone::cli {

/// Values given instead of, or in addition to, those of the file; empty: not given. Lists hold one value, or three for
/// three files.
struct HologramOverrides {
  std::optional<Panel> panel;
  std::vector<double> wavelengths_m;
  std::optional<double> pitch_m;
  std::optional<Encoding> encoding;
  std::optional<int> bits;
  std::string lut;
  PhaseUnit lut_unit = PhaseUnit::automatic;
  std::optional<double> phase_range_rad;
  std::vector<std::array<double, 2>> amplitude_ranges;
  std::vector<double> object_energies;
  std::optional<std::array<double, 2>> reference_angle_rad;
  std::string carrier;  ///< angles, or periods whose angles depend on wavelength and pitch
  std::optional<double> focal_length_m;
  std::string correction;
  FieldReadOptions numbers;                        ///< what real numbers are
  std::function<void(const std::string&)> note{};  ///< takes lines about the file
  bool packed16 = false;
  bool distance_given = false;  ///< the file's distance is not needed
  bool zero_order = false;      ///< amplitude encodings: with the undiffracted beam
  bool no_filter = false;       ///< field as it leaves the panel, without the stop that an encoding needs
};

/// Options for the light and the codes of a file: --wavelength, --pitch, --panel, --encode, --bits, --phase-range,
/// --lut, --correction.
std::vector<OptionRow> override_options(HologramOverrides& overrides);

/// --lut-unit beside --lut.
OptionRow lut_unit_option(PhaseUnit& unit, const std::string& lut);
/// --read, --phase-file and --imaginary-file, for real numbers that are a field.
std::vector<OptionRow> number_options(HologramOverrides& overrides);

/// Those that reconstruct has too: --focal-length to --zero-order.
std::vector<OptionRow> further_override_options(HologramOverrides& overrides);

/// One wavelength, or three for three files.
std::vector<double> parse_wavelengths(std::string_view option, const std::string& text);

/// Prints lines about the file as warnings.
void warn_of_notes(HologramOverrides& overrides, const ConsoleOptions& console);

/// Overrides of each of `names.size()` files. Throws invalid_argument for lists of another length.
std::vector<HologramOverrides> overrides_of_files(const HologramOverrides& overrides,
                                                  const std::vector<std::string>& names);

/// The files of --phase-file and --imaginary-file.
std::vector<InputFile> number_inputs(const HologramOverrides& overrides);

/// Replaces metadata by the given overrides. Throws invalid_argument naming the option.
void apply_overrides(Metadata& metadata, const HologramOverrides& overrides);

/// True for codes that pass a stop where a carrier moves their light; the light of others already has it.
constexpr bool is_filtered_at_carrier(const EncodingTraits& of) { return of.phase_modulator && of.stop != "none"; }

/// Throws invalid_argument naming every missing flag: its value is needed, and neither file nor flags give it.
void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field);

/// Options of reconstruct and their values.
using Flags = OptionTexts;

/// Option texts as typed, shorter than the values in the metadata; empty: not given.
struct AsTyped {
  std::string lut;  ///< empty: phases of the codes from the panel's preset
  std::string phase_range;
  std::string reference_angle;
  std::string carrier;
  PhaseUnit lut_unit = PhaseUnit::automatic;
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
