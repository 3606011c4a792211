#pragma once
// Interface between the plan of error diffusion and its engines. Not for users.
#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/quantize/error_diffusion.hpp>
#include <limits>
#include <string>

namespace holotone::diffusion {

/// Levels of a modulator. Phases: the code of a phase is that of the last boundary at or below it, in turns; without
/// boundaries: equal steps.
struct Levels {
  Modulation modulation;
  float count;
  std::vector<float> re;  ///< real parts of the values that the codes show
  std::vector<float> im;
  std::vector<float> boundary;
  std::vector<std::uint8_t> code;  ///< {boundaries + 1}
  bool line;                       ///< two phases: only the part of an error along the line through them is kept
  float line_re;                   ///< unit vector along the line
  float line_im;
};

/// Work on one hologram, common to all engines. Phases are computed in units of a power of two near the scale, so that
/// no rounding depends on the scale.
struct Job {
  Shape<2> shape;
  std::int64_t side;  ///< side of hogels, pixels
  Shape<2> hogels;
  DiffusionWeights weights;  ///< in the order of sums
  Levels levels;
  bool serpentine = false;
  Shape<2> hogels_at_once{};  ///< most hogels of a part
  RowRange part{};            ///< rows of the panel that the field and the codes hold
  /// HogelBorders::carry: side of the squares with sets of weights of their own, within the one hogel; 0: one set a
  /// hogel.
  std::int64_t set_side = 0;
  std::int64_t sets_across = 1;
  float scale = 1;
  float unit = 1;                 ///< phase: factor of the field, a power of two
  float radius = 1;               ///< phase: scale * unit, the modulus of the shown values
  std::vector<float> level_re{};  ///< values that the codes show, times the radius
  std::vector<float> level_im{};

  /// Set of weights of a pixel.
  [[nodiscard]] std::int64_t set_at(std::int64_t row, std::int64_t column) const {
    return row / set_side * sets_across + column / set_side;
  }
  /// Numbers of the part's hogels: first_hogel() to end_hogel() - 1.
  [[nodiscard]] std::int64_t first_hogel() const { return part.first_row / side * hogels[1]; }
  [[nodiscard]] std::int64_t end_hogel() const { return (part.end() + side - 1) / side * hogels[1]; }
};

/// The modulus that a share of the pixels do not exceed (amplitude: |Re h|), and the first pixel that is not finite;
/// -1: none.
struct ScaleFound {
  float modulus;
  std::int64_t broken;
};

/// Returns the modulus whose square in float64 has these upper 32 bits and all lower bits set.
inline float modulus_of(std::uint32_t bits) {
  const double square = std::bit_cast<double>(std::uint64_t{bits} << 32 | 0xFFFFFFFFU);
  return static_cast<float>(std::min(std::sqrt(square), double{std::numeric_limits<float>::max()}));
}

class Engine {
 public:
  virtual ~Engine() = default;
  virtual ScaleFound scale(View<const Complex, 2> field, Modulation modulation, double share) = 0;
  virtual void diffuse(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) = 0;
  /// Replaces the weights by those of the job, which have the same shape.
  virtual void set_weights(const Job& job) = 0;
  /// Waits. Returns the first pixel of the last field that is not finite; -1: none.
  virtual std::int64_t broken() = 0;
};

std::unique_ptr<Engine> cpu_engine();
/// Returns the engine for plans of the job's shape, weights and levels; compiles the kernel.
std::unique_ptr<Engine> cuda_engine(const Job& job, const std::string& cache_folder, const Queue& queue);

}  // namespace holotone::diffusion
