#pragma once
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

}  // namespace holotone::cli
