#pragma once
// Factors along the axes of the panel and of the picture, for the engines. Not for users.
#include <holotone/optics/propagation.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <vector>

namespace holotone::retrieval {

/// Amplitude sinc(w f) of a pixel's aperture, `cycles` a pixel.
double aperture_gain(const PanelResponse& response, double cycles);

/// The same at the frequencies 0 to length / 2 of an axis.
std::vector<float> aperture_gains(const PanelResponse& response, std::int64_t length);

/// Free space: the propagation that carries light to the planes.
PropagationOptions propagation_options(const PhaseRetrievalOptions& options);

/// Factors of a lens along both axes, of a plane and a position.
struct LensFactors {
  std::vector<Complex> down;  ///< on the panel, with the transform's scale
  std::vector<Complex> across;
  std::vector<float> gain_down;  ///< of the pixels' aperture, over the signal region
  std::vector<float> gain_across;
};
LensFactors lens_factors(const PhaseRetrievalOptions& options, double distance_m, std::size_t position);

}  // namespace holotone::retrieval
