#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace holotone::cli {

/// One hologram of a sequence: a file, or red, green and blue.
struct SequenceFrame {
  std::int64_t number = 0;
  std::vector<std::string> inputs;
};

/// Files of IN: as typed, the three of a name with %c, those that match a counter, or the subframes 0, 1, ... of a name
/// with %t.
struct HologramInputs {
  std::vector<std::string> inputs;                  ///< one, or red, green and blue
  std::vector<SequenceFrame> sequence;              ///< numbered holograms; `inputs` are then those of the first
  std::vector<std::vector<std::string>> subframes;  ///< shown in turn; `inputs` are then those of the first
};

/// Throws invalid_argument naming IN, or io for a file that cannot be read.
HologramInputs hologram_inputs(const std::vector<std::string>& typed);

}  // namespace holotone::cli
