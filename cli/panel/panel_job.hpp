#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// What the patterns have in common. The options are bound to it.
struct PanelPictureJob {
  HologramJob hologram;  ///< output, panel, light and levels
  std::vector<std::string> add;
};

/// A hologram whose phase is added.
struct AddedHologram {
  std::string path;
  HologramRows rows;
};

/// A picture of codes to be made, checked as far as possible before the pattern.
struct PanelJob {
  HologramJob hologram;
  std::vector<AddedHologram> added;
  Metadata kept;  ///< of the first added hologram

  [[nodiscard]] FieldGrid grid() const { return hologram.grid(hologram.channels.front()); }
  [[nodiscard]] Shape<2> shape() const { return {hologram.panel.ny, hologram.panel.nx}; }
};

/// Job with the panel, wavelength and levels of the first added hologram where the options do not state them. Throws
/// invalid_argument or io naming the option or the file.
PanelJob panel_job(PanelPictureJob& shared);

/// Shared rows: --output, --add and --wavelength.
std::vector<OptionRow> panel_picture_options(PanelPictureJob& shared);
/// Rows of the codes: --encode, --bits, --lut, --phase-range, --correction, --packed16.
std::vector<OptionRow> panel_code_options(PanelPictureJob& shared);
/// --output of one picture of codes, --bits and --packed16, for patterns of codes.
OptionRow panel_output_option(HologramJob& job);
OptionRow panel_bits_option(HologramJob& job);
OptionRow panel_packed_option(HologramJob& job);

/// Completes the panel and its codes. Throws for an output that is no picture, and for a panel of more than
/// largest_picture_side pixels a side.
void complete_codes(HologramJob& job);

/// Metadata of a picture of codes: software, panel, pitch, levels and `pattern`.
Metadata code_metadata(const HologramJob& job, const EncodeReport& report, const std::string& pattern);

}  // namespace holotone::cli
