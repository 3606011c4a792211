#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/smoe/render.hpp>

namespace holotone {

/// Aperture of a camera that looks at a light field: views within a circle, or on a line for a model of three
/// dimensions.
struct SmoeAperture {
  double diameter = 0.5;    ///< in units of u and v, 0.001 to 100: 2 reaches from the first captured view to the last
  double disparity_px = 0;  ///< pixels by which what is in focus moves to the right for 1 in u, downward for 1 in v
  int views_across = 7;     ///< views along the diameter, 1 to 64
};
template <>
inline constexpr Bounds bounds_of<&SmoeAperture::diameter>{1e-3, 100};
template <>
inline constexpr Bounds bounds_of<&SmoeAperture::disparity_px>{-1e6, 1e6};
template <>
inline constexpr Bounds bounds_of<&SmoeAperture::views_across>{1, 64};

/// Renders the picture of a camera with this aperture at view.at = (u, v): the mean of the light of its views,
///   I(x, y) = 1/n sum_k C(x + s (u_k - u), y + s (v_k - v); u_k, v_k),   s = disparity_px,
/// in focus where the scene's own disparity is s, blurred elsewhere. The views k are on a square grid within the
/// aperture. Colours that are codes are averaged as linear light, and are codes again afterwards; alpha is averaged as
/// it is.
///
/// `image`: {ny, nx, channels} in host memory. `device`: the renderer's. Throws invalid_argument for an aperture out of
/// range, a model of fewer than three dimensions, and as SmoeRenderer::render; cancelled. Cost: n pictures.
/// Source: Isaksen, McMillan and Gortler, "Dynamically reparameterized light fields", SIGGRAPH 2000, section 3.
void render_aperture(SmoeRenderer& renderer, const SmoeView& view, const SmoeAperture& aperture, View<float, 3> image,
                     Device device = {}, Progress& progress = Progress::none());

}  // namespace holotone
