#pragma once
// Files of codes as a panel shows them. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holotone {

/// Codes of a panel {ny, nx}, or of three channels {ny, nx, 3}.
using PanelCodes = std::variant<Array<std::uint8_t, 2>, Array<std::uint16_t, 2>, Array<std::uint8_t, 3>>;

Shape<2> panel_shape(const PanelCodes& codes);

/// How files become codes.
struct PictureRules {
  bool packed16 = false;        ///< 16-bit grey files are split into two channels; others are refused
  std::string bit_planes{};     ///< order of channels for frames that are packed by 24; empty: not packed
  bool field_sequence = false;  ///< the channels of RGB files, or files of one colour each, one after the other
  std::int64_t trigger_px = 0;  ///< side of a trigger's square; 0: none
  bool scale_codes = false;     ///< codes of fewer than 8 bits become 8 bits from 0 to 255
};

/// One picture that the panel shows.
struct PanelPicture {
  std::string name;  ///< of its file
  PanelCodes codes;
  /// The same with a lit trigger in the corner: shown once the panel has settled. Without a trigger: none.
  std::optional<PanelCodes> lit;
  std::vector<std::string> notes = {};  ///< how its files were read
};

inline constexpr std::size_t planes_a_picture = 24;

/// Pictures that the panel shows for one or several files: three with field_sequence, one otherwise, of up to
/// planes_a_picture files with bit_planes. Throws io, or invalid_argument naming the file.
std::vector<PanelPicture> read_panel_pictures(const std::vector<std::string>& files, const PictureRules& rules);

}  // namespace holotone
