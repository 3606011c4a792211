#pragma once
// The hologram of Lagrange et al. 2024 (Tables 1 and 2) and its quantization.
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <string>

namespace bench {

inline constexpr std::int64_t lagrange_hogel_px = 2048;
inline constexpr std::int64_t lagrange_whole_px = 24576;
inline constexpr int lagrange_taps = 27;
inline constexpr holotone::Viewer lagrange_viewer{9.2e-3, 9.2e-3, 3.6e-2};

/// Central `size` x `size` pixels of the panel.
holotone::FieldGrid lagrange_grid(std::int64_t size);

/// The scene in the luminance of its colours.
holotone::DiceScene lagrange_scene();

/// Its stereogram on a device, with depth inside hogels and light only to the viewing window.
class LagrangeField {
 public:
  LagrangeField(std::int64_t size, std::uint64_t seed, holotone::Device device);
  [[nodiscard]] const holotone::Array<holotone::Complex, 2>& there() const { return there_; }
  [[nodiscard]] const holotone::Array<holotone::Complex, 2>& host() const { return host_.empty() ? there_ : host_; }
  [[nodiscard]] std::int64_t size() const { return there_.shape()[0]; }

 private:
  holotone::Array<holotone::Complex, 2> there_;
  holotone::Array<holotone::Complex, 2> host_;  ///< empty if `there_` is in host memory
};

/// A quantization method: 8 bits of phase, weights for each hogel.
struct LagrangeMethod {
  std::string name;
  int parallelism = 0;    ///< p; 0: any
  bool diffusion = true;  ///< off: truncation
  bool cpu = false;       ///< on the CPU for any device
  int taps = lagrange_taps;
  int kept = 0;  ///< WeightOptions::kept
};

struct Quantised {
  holotone::Array<std::uint8_t, 2> codes;  ///< in host memory
  float scale = 1;                         ///< divisor of the field
  double seconds = 0;                      ///< with field and codes on the device and the scale known; 0: not timed
};

/// Quantizes the field on its device (LagrangeMethod::cpu: on the CPU). `cache_folder`: of compiled kernels.
Quantised quantised(const LagrangeField& field, const LagrangeMethod& method, holotone::WeightRule rule, bool timed,
                    const std::string& cache_folder);

/// Signal to noise in the viewing window, dB.
struct LagrangeSignal {
  double codes_db = 0;
  double truncated_db = 0;
};

/// Measures the codes in squares of the panel (WindowMeter).
LagrangeSignal signal_of(const LagrangeField& field, const Quantised& made);

/// Seconds of the steps from a field on the device to its codes there.
struct LagrangeSteps {
  double weights_s = 0;  ///< windows and weights of all hogels, on the host
  double plan_s = 0;     ///< ErrorDiffusionPlan, or set_weights of an existing one
  double codes_s = 0;    ///< the scale and the codes
  [[nodiscard]] double sum_s() const { return weights_s + plan_s + codes_s; }
};

struct LagrangeRuns {
  LagrangeSteps first;  ///< the kernel is compiled
  LagrangeSteps later;  ///< a new plan, its kernel from the cache folder
  LagrangeSteps frame;  ///< the same plan with new weights
  double codes_s = 0;   ///< the codes alone, with the scale known
};

/// Times whole runs. `cache_folder`: empty before.
LagrangeRuns timed_runs(const LagrangeField& field, const LagrangeMethod& method, holotone::WeightRule rule,
                        const std::string& cache_folder);

}  // namespace bench
