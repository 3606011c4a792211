#pragma once
// Not for users. A camera that looks at the codes on a panel as the camera of a solver.
#include <functional>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/retrieval.hpp>
#include <string>

namespace holotone {

/// Shows codes {ny, nx} on the panel and returns the amplitude of the light, in any unit: at the panel's pixels, or at
/// twice as many along each axis.
using PanelCamera = std::function<Array<float, 2>(View<const std::uint16_t, 2> codes)>;

/// Amplitude {ny, nx} of a camera's picture, whose values are proportional to light: one colour, or the mean of all for
/// -1. Throws io naming `path` for light that is negative or not finite.
Array<float, 2> camera_amplitude(const std::string& path, const Image& image, int colour);

/// Camera of the solver. Takes a first picture, of a smooth phase, whose number of pixels all others must have.
/// Pictures of the panel's pixels are completed between the samples by what is simulated. Throws io naming `name` for
/// another number of pixels and for dark pictures, and what `take` throws.
RetrievalCamera make_camera(PanelCamera take, const PictureRetrievalOptions& options, const std::string& name);

}  // namespace holotone
