#pragma once
// The hologram of Lagrange et al. 2024 (Tables 1 and 2) and its quantization.
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>

namespace bench {

inline constexpr std::int64_t lagrange_hogel_px = 2048;
inline constexpr std::int64_t lagrange_whole_px = 24576;
inline constexpr int lagrange_taps = 27;
inline constexpr holotone::Viewer lagrange_viewer{9.2e-3, 9.2e-3, 3.6e-2};

/// Central `size` x `size` pixels of the panel.
holotone::FieldGrid lagrange_grid(std::int64_t size);

/// The scene in the luminance of its colours.
holotone::DiceScene lagrange_scene();

/// Its stereogram on `device`, with depth inside hogels and light only to the viewing window.
holotone::Array<holotone::Complex, 2> lagrange_field(std::int64_t size, std::uint64_t seed, holotone::Device device);

/// A quantization method: 8 bits of phase, weights for each hogel.
struct LagrangeMethod {
  std::string name;
  int parallelism = 0;    ///< p; 0: any
  bool diffusion = true;  ///< off: truncation
  bool cpu = false;       ///< on the CPU for any device
};

struct Quantised {
  holotone::Array<std::uint8_t, 2> codes;  ///< in host memory
  float scale = 1;                         ///< divisor of the field
  double seconds = 0;                      ///< with field and codes on the device and the scale known; 0: not timed
};

/// Quantizes `field` on its device (LagrangeMethod::cpu: on the CPU).
Quantised quantised(const holotone::Array<holotone::Complex, 2>& field, const LagrangeMethod& method,
                    holotone::WeightRule rule, bool timed);

}  // namespace bench
