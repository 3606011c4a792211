#pragma once
#include <holotone/core/metadata.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// reconstruct's flags stand for keys of a hologram file's metadata: they replace what the file says, and say what a
// format without metadata cannot.
namespace holotone::cli {

/// What reconstruct was told instead of, or in addition to, what the file says; as typed, empty: not given.
struct HologramOverrides {
  std::string panel;
  std::string wavelength;
  std::string pitch;
  std::string encoding;
  std::string bits;
  std::string lut;
  std::string phase_range;
  std::string amplitude_range;
  std::string object_energy;
  std::string reference_angle;
  std::string carrier;
  std::string correction;
  bool packed16 = false;
  bool distance_given = false;  ///< the file need not say where to focus
  bool zero_order = false;      ///< of amplitude encodings: with the beam that goes straight through
  bool no_filter = false;       ///< as it leaves the panel, without the stop that an encoding needs
};

/// The phase of each code from a text file (read_phase_lut), whose name its errors begin with.
std::vector<double> phase_table(const std::string& path);

/// An encoding of codes by its name. Throws invalid_argument naming `option`.
Encoding chosen_encoding(std::string_view option, std::string_view name);

/// Puts what was told in the place of what the file says. Throws invalid_argument naming the option.
void apply_overrides(Metadata& metadata, const HologramOverrides& overrides);

/// Throws invalid_argument naming every flag that would say what reconstruction needs and neither file nor flags said.
void require_stated(const std::string& path, const Metadata& metadata, const HologramOverrides& overrides,
                    bool is_field);

/// Options and their values as typed; an option without one has "".
using Flags = std::vector<std::pair<std::string, std::string>>;

/// What stands in the line as it was typed, which says it more shortly than metadata; empty: not given.
struct AsTyped {
  std::string lut;  ///< else the phase of each code is the panel's preset's
  std::string phase_range;
  std::string reference_angle;
  std::string carrier;
};

/// The flags that say what the file of this name cannot hold of its metadata: "--pitch 8um --wavelength 532nm ...";
/// empty if it holds all.
Flags flags_for(const std::string& path, const Metadata& metadata, const AsTyped& typed);

/// The flags of three channels' files together: what differs is listed, R,G,B.
Flags merged(const std::vector<Flags>& channels);

/// Whether a flag balances three channels, which is nothing to the file of one.
bool is_balance(const std::string& option);

/// One line of them.
std::string line_of(const Flags& flags);

/// "BMP" of "a.bmp".
std::string format_name(const std::string& path);

/// How to look at `files`, whose format (that of `output`) cannot say of itself what reconstruction needs.
std::string no_metadata_remark(const std::string& output, const std::string& files, const std::string& flags,
                               bool first_of_several);

}  // namespace holotone::cli
