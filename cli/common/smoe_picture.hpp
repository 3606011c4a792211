#pragma once
#include <cli/common/smoe_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures/colours_detail.hpp>
#include <holotone/smoe/aperture.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// The numbers of a view, "u,v" or "u".
std::vector<double> view_numbers(std::string_view option, const std::string& text);

/// Colours of the model, unconverted, as float32 {ny, nx, channels} in host memory. `device`: the renderer's.
Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view, Device device = {},
                         Progress& progress = Progress::none());
/// The same through an aperture, if there is one.
Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view, Device device,
                         const std::optional<SmoeAperture>& aperture, Progress& progress);

/// Colours as codes of `bits` (mixtures::coded).
inline Image coded(const Array<float, 3>& colours, bool linear, int bits) {
  return mixtures::coded(colours.view(), linear, bits);
}

}  // namespace holotone::cli
