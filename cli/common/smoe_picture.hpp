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

/// Size of a model's box in its own pixels: {ny, nx}, each 1 to 65536.
Shape<2> own_size(const SmoeModel& model);

/// The numbers of a view, "u,v" or "u".
std::vector<double> view_numbers(std::string_view option, const std::string& text);

/// Viewpoint of a model of more than two dimensions: one number for each coordinate beyond x and y; the middle of the
/// box if there are none. Throws invalid_argument naming `option` for another count.
std::vector<double> view_of(const SmoeModel& model, const std::vector<double>& numbers,
                            std::string_view option = "--view");

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
