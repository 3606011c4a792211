#pragma once
#include <holotone/recipes/beam_target.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// Light that falls on the panel; even light without both.
struct BeamChoice {
  double diameter_m = 0;  ///< of a Gaussian beam
  std::string path;       ///< picture of its intensity on the panel
};

/// "flat", "gaussian:DIAMETER" or a file.
BeamChoice parse_beam(std::string_view option, const std::string& text);

/// Beam to be made.
struct TargetChoice {
  BeamTarget beam;
  std::string text;  ///< as it was typed
};

/// From "flat-top:300x200um", "disc:DIAMETER", "ring:OUTERxINNER", "line:LENGTHxWIDTH" or
/// "gaussian:DIAMETER", each with "@X,Y" from the axis. Throws invalid_argument naming `option`.
TargetChoice parse_target(std::string_view option, const std::string& text);

}  // namespace holotone::cli
