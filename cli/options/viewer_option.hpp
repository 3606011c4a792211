#pragma once
#include <array>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <string>
#include <string_view>

namespace holotone::cli {

/// Viewing window from "DISTANCE:SIZE[@X,Y]", such as 36mm:9.2mm or 36mm:9.2x6mm@2,0mm: DISTANCE in front of the panel,
/// SIZE (or WIDTHxHEIGHT) its width and height, X,Y its centre (default: on the axis). The first number of a pair may
/// omit its unit: that of the second applies. Throws invalid_argument naming `option`.
Viewer viewer_of(std::string_view option, std::string_view text);

/// Width and height in metres from "SIZE" or "WIDTHxHEIGHT". Throws invalid_argument naming `option` and `text`, which
/// holds the size.
std::array<double, 2> window_size(std::string_view option, std::string_view size, std::string_view text);

/// Place beside the axis in metres from "X,Y". Throws invalid_argument naming `option` and `text`, which holds it.
std::array<double, 2> parse_place(std::string_view option, std::string_view place, std::string_view text);

/// Option text of a viewer; viewer_of reads the same viewer back.
std::string to_text(const Viewer& viewer);

/// Pupil from "X,Y:DIAMETER" or "DIAMETER", at the default distance. Throws invalid_argument naming `option`.
Aperture aperture_of(std::string_view option, const std::string& text);

}  // namespace holotone::cli
