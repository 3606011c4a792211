#pragma once
// What is compiled for a plan, and how it is launched. Not for users.
#include <holotone/core/runtime_compiler_cuda.hpp>
#include <holotone/quantize/error_diffusion_pattern.hpp>

namespace holotone::diffusion {

struct WavefrontKernel {
  WavefrontPattern pattern;
  int levels = 2;
  int warps = 8;  ///< of a block of threads, one on a multiprocessor: as many for each of its schedulers

  /// For a plan's weights and levels, on a device whose blocks of threads may have so much shared memory. Throws
  /// unsupported for taps that reach too far.
  static WavefrontKernel of(const Job& job, std::int64_t most_shared_bytes);

  /// `scaled`: the field is multiplied by a unit first. `packed`: codes are written eight at once.
  [[nodiscard]] cuda::KernelSource source(const Job& job, bool scaled, bool packed) const;
  [[nodiscard]] std::int64_t shared_bytes() const { return 8 * levels + warps * pattern.tile_bytes(); }
  /// Its name in the source.
  [[nodiscard]] const char* name() const { return pattern.taps > 0 ? "diffuse" : "truncate_levels"; }
};

}  // namespace holotone::diffusion
