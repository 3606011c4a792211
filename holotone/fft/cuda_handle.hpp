#pragma once
// For CUDA engines only: cuFFT, loaded when the first plan is made. Not for users.
#include <cufft.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/core/cuda_library.hpp>
#include <string>

namespace holotone::fft {

#define HOLOTONE_CUFFT(apply)                                                                     \
  apply(cufftCreate) apply(cufftDestroy) apply(cufftSetAutoAllocation) apply(cufftMakePlanMany64) \
      apply(cufftSetWorkArea) apply(cufftSetStream) apply(cufftExecC2C) apply(cufftExecR2C) apply(cufftExecC2R)
struct Cufft {
  HOLOTONE_LIBRARY_FUNCTIONS(Cufft, HOLOTONE_CUFFT)
};

inline const Cufft& cufft() {
  static const Cufft functions(cuda::versions_of(CudaLibrary::cufft));
  return functions;
}

inline void check_fft(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS) {
    throw Error(status == CUFFT_ALLOC_FAILED ? ErrorCode::out_of_memory : ErrorCode::device,
                std::string(call) + ": cuFFT error " + std::to_string(static_cast<int>(status)));
  }
}

/// A cuFFT plan whose work area the engine provides.
class Handle {
 public:
  Handle() {
    check_fft(cufft().cufftCreate(&handle_), "cufftCreate");
    check_fft(cufft().cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
  }
  ~Handle() { cufft().cufftDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// Lines of a transform: extents of the array that holds them (null: no gaps), distance between samples, and between
  /// transforms.
  struct Layout {
    long long* extents;
    long long stride;
    long long distance;
  };
  /// Makes the plan; returns the bytes of its work area.
  std::size_t plan(int rank, long long* extents, Layout in, Layout out, cufftType type, long long batch) const {
    std::size_t bytes = 0;
    check_fft(cufft().cufftMakePlanMany64(handle_, rank, extents, in.extents, in.stride, in.distance, out.extents,
                                          out.stride, out.distance, type, batch, &bytes),
              "cufftMakePlanMany64");
    return bytes;
  }
  void set_work_area(void* area) const { check_fft(cufft().cufftSetWorkArea(handle_, area), "cufftSetWorkArea"); }
  void set_stream(cudaStream_t stream) const { check_fft(cufft().cufftSetStream(handle_, stream), "cufftSetStream"); }

  /// `sign` is CUFFT_FORWARD or CUFFT_INVERSE.
  void execute(float2* in, float2* out, int sign) const {
    check_fft(cufft().cufftExecC2C(handle_, in, out, sign), "cufftExecC2C");
  }
  void execute(float* in, float2* out) const { check_fft(cufft().cufftExecR2C(handle_, in, out), "cufftExecR2C"); }
  void execute(float2* in, float* out) const { check_fft(cufft().cufftExecC2R(handle_, in, out), "cufftExecC2R"); }

 private:
  cufftHandle handle_ = 0;
};

}  // namespace holotone::fft
