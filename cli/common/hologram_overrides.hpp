#pragma once
#include <cli/common/hologram_file.hpp>
#include <holotone/core/metadata.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// reconstruct's flags stand for keys of a hologram file's metadata: they replace what the file says, and say what a
// format without metadata cannot.
namespace holotone::cli {

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
