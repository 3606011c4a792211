#pragma once
// Units that a table of phases states. Not for users.
#include <holotone/hologram/phase_lut.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace holotone {

struct StatedUnit {
  std::optional<PhaseUnit> unit{};
  std::string other{};  ///< another unit, such as mrad, or several
};

/// Text in small letters, with signs such as Greek ones as words of ASCII.
std::string in_plain_letters(std::string_view text);

/// Unit among the words of a heading: phase_deg, "phase (rad)", phase/pi, phase [2pi].
StatedUnit unit_in_heading(std::string_view text);

/// Unit in a comment, which may speak of other angles: in brackets of its own, after "in" or "unit", or in a name such
/// as phase_deg.
StatedUnit unit_in_comment(std::string_view text);

/// A quantity that is no phase, such as "intensity" or "voltage", in a heading without one that is; empty if none.
/// `is_comment`: the text may be prose, and is a heading if its first word is that of codes.
std::string other_quantity(std::string_view text, bool is_comment);

}  // namespace holotone
