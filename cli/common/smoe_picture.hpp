#pragma once
#include <holotone/recipes/mixtures/colours_detail.hpp>

namespace holotone::cli {

/// Colours as codes of `bits` (mixtures::coded).
inline Image coded(const Array<float, 3>& colours, bool linear, int bits) {
  return mixtures::coded(colours.view(), linear, bits);
}

}  // namespace holotone::cli
