#include <fmt/format.h>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/fft/planner_cpu.hpp>

namespace holotone::fft {
namespace {

// FFTW's estimate depends on the alignment of an address, not on the data.
constexpr unsigned flags = FFTW_ESTIMATE;

void require_lines(std::int64_t length, std::int64_t distance) {
  if (length < 1 || length > (std::int64_t{1} << 30)) {
    throw_argument("LinePlan", "length", "1 to 2^30", fmt::format("{}", length));
  }
  if (distance != line_distance(distance)) {
    throw_argument("LinePlan", "distance", "a multiple of 8", fmt::format("{}", distance));
  }
}

void require_aligned(const void* data) {
  if (reinterpret_cast<std::uintptr_t>(data) % line_alignment != 0) {
    throw_argument("LinePlan", "data", fmt::format("lines at multiples of {} bytes", line_alignment), "others");
  }
}

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
  plan_with_threads(1);
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
  plan_with_threads(1);
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

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define HOLOTONE_LINES(Plan)                   \
  template <class Real>                        \
  Plan<Real>::~Plan() = default;               \
  template <class Real>                        \
  Plan<Real>::Plan(Plan&&) noexcept = default; \
  template <class Real>                        \
  Plan<Real>& Plan<Real>::operator=(Plan&&) noexcept = default;
HOLOTONE_LINES(LinePlan)
HOLOTONE_LINES(RealLinePlan)
#undef HOLOTONE_LINES
// NOLINTEND(bugprone-macro-parentheses)

template class LinePlan<float>;
template class LinePlan<double>;
template class RealLinePlan<float>;
template class RealLinePlan<double>;

}  // namespace holotone::fft
