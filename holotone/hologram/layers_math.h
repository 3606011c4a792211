#pragma once
// One pixel of a layer, shared by the CPU loops and the CUDA kernels. Not for users.
#include <cfloat>
#include <cmath>
#include <holotone/hologram/layers_engine.hpp>
#include <holotone/optics/phase_math.h>

namespace holotone::layers {

/// Opacity of a pixel to the light from behind (mask), and the light it adds.
struct Pixel {
  float mask = 0;
  float re = 0;
  float im = 0;
};

HOLOTONE_HOST_DEVICE inline Pixel layer_pixel(const Source& source, std::int64_t index) {
  Pixel pixel;
  if (source.number != nullptr && source.number[index] != source.wanted) return pixel;
  const float intensity = source.intensity[index];
  const bool lit = intensity > 0 && intensity <= FLT_MAX;
  pixel.mask = source.number != nullptr ? 1.0F : source.mask != nullptr ? source.mask[index] : lit ? 1.0F : 0.0F;
  if (!lit || source.dark) return pixel;
  const float amplitude = std::sqrt(intensity);
  pixel.re = amplitude;
  if (!source.random) return pixel;
  const float turns = random_uniform(source.seed, source.first_draw + static_cast<std::uint64_t>(index));
  float sine = 0;
  float cosine = 0;
  sincos_turns(turns > 0.5F ? turns - 1.0F : turns, sine, cosine);
  pixel.re = amplitude * cosine;
  pixel.im = amplitude * sine;
  return pixel;
}

/// Factor of the incident light.
HOLOTONE_HOST_DEVICE inline float kept(float mask, Carry carry) { return carry == Carry::passed ? 1.0F - mask : -mask; }

}  // namespace holotone::layers
