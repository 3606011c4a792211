#pragma once
// The kernel compiled for a plan, and its launch parameters. Not for users.
#include <holotone/core/runtime_compiler_cuda.hpp>
#include <holotone/quantize/error_diffusion_pattern.hpp>

namespace holotone::diffusion {

struct WavefrontKernel {
  WavefrontPattern pattern;
  int levels = 2;
  int warps = 8;  ///< warps per block, one block per multiprocessor: equally many for each of its schedulers

  /// Chooses the kernel for a plan's weights and levels. `max_shared_bytes`: maximum shared memory of a block on the
  /// device. Throws unsupported for taps that reach too far.
  static WavefrontKernel of(const Job& job, std::int64_t max_shared_bytes);

  /// `scaled`: the field is multiplied by a unit first. `packed`: codes are written eight at once.
  [[nodiscard]] cuda::KernelSource source(const Job& job, bool scaled, bool packed) const;
  [[nodiscard]] std::int64_t shared_bytes() const { return 8 * levels + warps * pattern.tile_bytes(); }
  /// Name of the kernel in the source.
  [[nodiscard]] const char* name() const { return pattern.taps > 0 ? "diffuse" : "truncate_levels"; }
};

}  // namespace holotone::diffusion
