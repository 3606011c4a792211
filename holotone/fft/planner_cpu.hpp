#pragma once
// FFTW's interface in both precisions under one set of names: of FFTW, of MKL or over KISS FFT. Not for users.
#if HOLOTONE_KISSFFT
#include <holotone/fft/kissfft.hpp>
#else
#include <fftw3.h>
#endif
#if HOLOTONE_MKL
#include <mkl_service.h>
#endif
#include <memory>
#include <mutex>

namespace holotone::fft {

/// Lock of the planner, which has global state: every call except execution must hold it.
inline std::mutex& planner_lock() {
  static std::mutex lock;
  return lock;
}

/// Sets the threads of the float32 plans made next; hold the lock. Float64 plans run in the calling thread.
inline void plan_with_threads(int threads) {
#if HOLOTONE_MKL
  // The threads of this program's own loops: two pools would wait for each other. No effect once MKL is in use.
  static const int layer = mkl_set_threading_layer(MKL_THREADING_GNU);
  static_cast<void>(layer);
#endif
  static const bool ready = fftwf_init_threads() != 0;
  fftwf_plan_with_nthreads(ready ? threads : 1);
}

template <class Real>
struct Fftw;

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto many = fftwf_plan_many_dft;
  static constexpr auto many_forward_real = fftwf_plan_many_dft_r2c;
  static constexpr auto many_inverse_real = fftwf_plan_many_dft_c2r;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto execute_forward_real = fftwf_execute_dft_r2c;
  static constexpr auto execute_inverse_real = fftwf_execute_dft_c2r;
  static constexpr auto destroy = fftwf_destroy_plan;
};

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto many = fftw_plan_many_dft;
  static constexpr auto many_forward_real = fftw_plan_many_dft_r2c;
  static constexpr auto many_inverse_real = fftw_plan_many_dft_c2r;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto execute_forward_real = fftw_execute_dft_r2c;
  static constexpr auto execute_inverse_real = fftw_execute_dft_c2r;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <class Real>
struct FftwDeleter {
  void operator()(typename Fftw<Real>::Plan plan) const {
    const std::lock_guard guard(planner_lock());
    Fftw<Real>::destroy(plan);
  }
};
template <class Real>
using FftwPlan = std::unique_ptr<std::remove_pointer_t<typename Fftw<Real>::Plan>, FftwDeleter<Real>>;

}  // namespace holotone::fft
