#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace holotone::cli {

/// One hologram of moving pictures: a file, or red, green and blue.
struct SequenceFrame {
  std::int64_t number = 0;
  std::vector<std::string> inputs;
};

/// The files meant by IN: as typed, the three that a name with %c stands for, or those that match a counter.
struct HologramInputs {
  std::vector<std::string> inputs;      ///< one, or red, green and blue
  std::vector<SequenceFrame> sequence;  ///< numbered holograms instead, whose first `inputs` then are
};

/// Throws invalid_argument naming IN, or io for a file that cannot be read.
HologramInputs hologram_inputs(const std::vector<std::string>& typed);

}  // namespace holotone::cli
