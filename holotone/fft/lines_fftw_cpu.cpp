// Lines by FFTW or by MKL through FFTW's interface.
#include <fftw3.h>
#include <fmt/format.h>
#include <holotone/fft/lines_cpu.hpp>
#if HOLOTONE_MKL
#include <mkl_service.h>
#endif
#include <mutex>

namespace holotone::fft {
namespace {

/// Lock of the planner, which has global state: every call except execution must hold it.
std::mutex& planner_lock() {
  static std::mutex lock;
  return lock;
}

/// Lets plans made next run in the thread that executes them; hold the lock.
void plan_without_threads() {
#if HOLOTONE_MKL
  // The threads of this program's own loops: two pools would wait for each other. No effect once MKL is in use.
  static const int layer = mkl_set_threading_layer(MKL_THREADING_GNU);
  static_cast<void>(layer);
  fftwf_plan_with_nthreads(1);
  fftw_plan_with_nthreads(1);
#endif
}

/// FFTW's interface in both precisions under one set of names.
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

// FFTW's estimate depends on the alignment of an address, not on the data.
constexpr unsigned flags = FFTW_ESTIMATE;

template <class Real>
void require_plan(const FftwPlan<Real>& plan, std::int64_t length) {
  if (!plan) throw Error(ErrorCode::out_of_memory, fmt::format("LinePlan: FFTW made no plan for length {}", length));
}

}  // namespace

template <class Real>
struct LinePlan<Real>::State {
  FftwPlan<Real> plan;
};

template <class Real>
LinePlan<Real>::LinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction) {
  require_lines(length, distance);
  const int n = static_cast<int>(length);
  const int between = static_cast<int>(distance);
  alignas(line_alignment) typename Fftw<Real>::Complex memory[2];
  const std::lock_guard guard(planner_lock());
  plan_without_threads();
  FftwPlan<Real> plan(Fftw<Real>::many(1, &n, static_cast<int>(lines), memory, nullptr, 1, between, memory, nullptr, 1,
                                       between, direction == FftDirection::forward ? FFTW_FORWARD : FFTW_BACKWARD,
                                       flags));
  require_plan<Real>(plan, length);
  state_ = std::make_unique<State>(State{std::move(plan)});
}

template <class Real>
void LinePlan<Real>::execute(std::complex<Real>* data) const {
  require_aligned(data);
  auto* const memory = reinterpret_cast<typename Fftw<Real>::Complex*>(data);
  Fftw<Real>::execute(state_->plan.get(), memory, memory);
}

template <class Real>
struct RealLinePlan<Real>::State {
  FftwPlan<Real> plan;
  bool forward;
};

template <class Real>
RealLinePlan<Real>::RealLinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance,
                                 FftDirection direction) {
  require_lines(length, distance);
  const int n = static_cast<int>(length);
  const int count = static_cast<int>(lines);
  const int between = static_cast<int>(distance);
  alignas(line_alignment) typename Fftw<Real>::Complex memory[2];
  auto* const real = reinterpret_cast<Real*>(memory);
  const bool forward = direction == FftDirection::forward;
  const std::lock_guard guard(planner_lock());
  plan_without_threads();
  FftwPlan<Real> plan(forward ? Fftw<Real>::many_forward_real(1, &n, count, real, nullptr, 1, 2 * between, memory,
                                                              nullptr, 1, between, flags)
                              : Fftw<Real>::many_inverse_real(1, &n, count, memory, nullptr, 1, between, real, nullptr,
                                                              1, 2 * between, flags));
  require_plan<Real>(plan, length);
  state_ = std::make_unique<State>(State{std::move(plan), forward});
}

template <class Real>
void RealLinePlan<Real>::execute(std::complex<Real>* data) const {
  require_aligned(data);
  auto* const memory = reinterpret_cast<typename Fftw<Real>::Complex*>(data);
  auto* const real = reinterpret_cast<Real*>(data);
  if (state_->forward) {
    Fftw<Real>::execute_forward_real(state_->plan.get(), real, memory);
  } else {
    Fftw<Real>::execute_inverse_real(state_->plan.get(), memory, real);
  }
}

HOLOTONE_LINES(LinePlan)
HOLOTONE_LINES(RealLinePlan)

}  // namespace holotone::fft
