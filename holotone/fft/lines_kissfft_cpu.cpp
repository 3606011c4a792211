// Lines by KISS FFT, for builds that are passed on without FFTW (docs/licences.md). Computed in float64 for either
// type; a length with a prime factor p takes time in proportion to p. Executing allocates two lines of memory.
#include <algorithm>
#include <holotone/fft/lines_cpu.hpp>
#include <kissfft.hh>
#include <vector>

namespace holotone::fft {
namespace {

/// `lines` transforms of one length.
struct Lines {
  kissfft<double> transform;
  std::int64_t length;
  std::int64_t lines;
  std::int64_t distance;
};

Lines make_lines(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction) {
  require_lines(length, distance);
  const bool inverse = direction == FftDirection::inverse;
  return {kissfft<double>(static_cast<std::size_t>(length), inverse), length, lines, distance};
}

/// Replaces each line by store(line, transform of load(line, i)).
template <class Real, class Load, class Store>
void transform(const Lines& plan, std::complex<Real>* data, const Load& load, const Store& store) {
  require_aligned(data);
  const kissfft<double> line_plan = plan.transform;  // its scratch memory is one thread's
  std::vector<std::complex<double>> in(static_cast<std::size_t>(plan.length));
  std::vector<std::complex<double>> out(in.size());
  for (std::int64_t line = 0; line < plan.lines; ++line) {
    std::complex<Real>* const values = data + line * plan.distance;
    for (std::int64_t i = 0; i < plan.length; ++i) in[static_cast<std::size_t>(i)] = load(values, i);
    line_plan.transform(in.data(), out.data());
    for (std::int64_t i = 0; i < plan.length; ++i) store(values, i, out[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

template <class Real>
struct LinePlan<Real>::State : Lines {};

template <class Real>
LinePlan<Real>::LinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction)
    : state_(std::make_unique<State>(State{make_lines(length, lines, distance, direction)})) {}

template <class Real>
void LinePlan<Real>::execute(std::complex<Real>* data) const {
  transform(
      *state_, data, [](const auto* line, std::int64_t i) { return std::complex<double>(line[i]); },
      [](auto* line, std::int64_t i, std::complex<double> value) { line[i] = std::complex<Real>(value); });
}

template <class Real>
struct RealLinePlan<Real>::State : Lines {
  bool forward;
};

template <class Real>
RealLinePlan<Real>::RealLinePlan(std::int64_t length, std::int64_t lines, std::int64_t distance, FftDirection direction)
    : state_(std::make_unique<State>(
          State{make_lines(length, lines, distance, direction), direction == FftDirection::forward})) {}

template <class Real>
void RealLinePlan<Real>::execute(std::complex<Real>* data) const {
  const std::int64_t length = state_->length;
  if (state_->forward) {
    transform(
        *state_, data,
        [](const auto* line, std::int64_t i) {
          return std::complex<double>(static_cast<double>(reinterpret_cast<const Real*>(line)[i]));
        },
        [length](auto* line, std::int64_t i, std::complex<double> value) {
          if (2 * i <= length) line[i] = std::complex<Real>(value);
        });
  } else {
    transform(
        *state_, data,
        [length](const auto* line, std::int64_t i) {
          return 2 * i > length ? std::conj(std::complex<double>(line[length - i])) : std::complex<double>(line[i]);
        },
        [](auto* line, std::int64_t i, std::complex<double> value) {
          reinterpret_cast<Real*>(line)[i] = static_cast<Real>(value.real());
        });
  }
}

HOLOTONE_LINES(LinePlan)
HOLOTONE_LINES(RealLinePlan)

}  // namespace holotone::fft
