#pragma once
#include <array>
#include <holotone/quantize/diffusion_weights.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// A viewing window from "DISTANCE:SIZE[@X,Y]", such as 36mm:9.2mm or 36mm:9.2x6mm@2,0mm: DISTANCE in front of the
/// panel, SIZE (or WIDTHxHEIGHT) wide and high, its middle at X,Y (else on the axis). Of a pair the last unit counts
/// for one without. Throws invalid_argument naming `option`.
Viewer viewer_of(std::string_view option, std::string_view text);

/// Width and height in metres from "SIZE" or "WIDTHxHEIGHT". Throws invalid_argument naming `option` and `text`, which
/// holds the size.
std::array<double, 2> window_size(std::string_view option, std::string_view size, std::string_view text);

/// The option's text for a viewer: read back to the same one.
std::string text_of(const Viewer& viewer);

}  // namespace holotone::cli
