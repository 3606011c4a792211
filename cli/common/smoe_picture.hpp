#pragma once
#include <cli/common/smoe_file.hpp>
#include <holotone/io/image.hpp>
#include <holotone/smoe/render.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// The size that a model's box has in its own pixels: {ny, nx}, each at least 1.
Shape<2> own_size(const SmoeModel& model);

/// Where a model of more than two dimensions is looked at from: "u,v", one number for each coordinate beyond x and y;
/// their middle if `text` is empty. Throws invalid_argument naming `option`.
std::vector<double> view_of(const SmoeModel& model, const std::string& text, std::string_view option = "--view");

/// The model's colours in float32 {ny, nx, channels} in host memory, as the model has them; `device` is the renderer's.
Array<float, 3> rendered(SmoeRenderer& renderer, const SmoeView& view, Device device = {});

/// Colours as codes of 8 bits, or of 10, 12 or 16 in files of 16 bits a pixel: c of 0 to 2^bits - 1, written as the
/// nearest of c 65535 / (2^bits - 1) so that white is white. Those of linear light become sRGB codes; colours outside 0
/// to 1 are cut off.
Image coded(const Array<float, 3>& colours, bool linear, int bits);

/// -10 log10 of the mean squared difference of all codes over their largest; infinite where there is none.
double psnr_of(const Array<float, 3>& a, const Array<float, 3>& b);

}  // namespace holotone::cli
