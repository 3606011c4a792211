#pragma once
#include <holotone/core/metadata.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <string_view>

namespace holotone {

/// How a field was quantized to codes.
struct Quantization {
  std::string_view method;                 ///< "truncate", "floyd-steinberg", "swed" or "vded"
  ErrorDiffusionOptions diffusion{};       ///< with its hogel_px; 0 is not stored
  double scale = 1;                        ///< divisor of the field
  const WeightOptions* windows = nullptr;  ///< of weights for a viewing window; null: other weights
  const HogelWeights* weights = nullptr;   ///< statistics of these weights
  ReferenceBeam beam{};                    ///< lights the codes, which are those of the field without it
};

/// Writes into `metadata` what read_hologram needs to undo the quantization, and how the codes were made. Replaces an
/// earlier encoding's levels and beam.
void describe_quantization(Metadata& metadata, const Quantization& quantization);

}  // namespace holotone
