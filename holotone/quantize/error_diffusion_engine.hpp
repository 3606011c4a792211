#pragma once
// Between the plan of error diffusion and what computes. Not for users.
#include <holotone/quantize/error_diffusion.hpp>

namespace holotone::diffusion {

/// What levels are. Phases: the code is that of the last boundary at or below the phase in turns; no boundaries: equal steps.
struct Levels {
  Modulation modulation;
  float count;
  std::vector<float> re;  ///< of what the codes show
  std::vector<float> im;
  std::vector<float> boundary;
  std::vector<std::uint8_t> code;  ///< {boundaries + 1}
  bool line;                       ///< two levels: errors along the line through them count
  float line_re;                   ///< its direction, of length 1
  float line_im;
};

struct Job {
  Shape<2> shape;
  std::int64_t side;  ///< of hogels
  Shape<2> hogels;
  const DiffusionWeights& weights;
  const Levels& levels;
  float scale;
  bool serpentine;
};

void diffuse_cpu(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes);

}  // namespace holotone::diffusion
