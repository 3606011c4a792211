#pragma once
// For CUDA engines only: cuFFT handles and error checks. Not for users.
#include <cufft.h>
#include <holotone/core/cuda_check.hpp>
#include <string>

namespace holotone::fft {

inline void check_fft(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS) {
    throw Error(status == CUFFT_ALLOC_FAILED ? ErrorCode::out_of_memory : ErrorCode::device,
                std::string(call) + ": cuFFT error " + std::to_string(static_cast<int>(status)));
  }
}

/// A cuFFT handle whose work area the engine provides.
class Handle {
 public:
  Handle() {
    check_fft(cufftCreate(&handle_), "cufftCreate");
    check_fft(cufftSetAutoAllocation(handle_, 0), "cufftSetAutoAllocation");
  }
  ~Handle() { cufftDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] cufftHandle get() const { return handle_; }

 private:
  cufftHandle handle_ = 0;
};

}  // namespace holotone::fft
