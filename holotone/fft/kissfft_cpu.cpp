#include <algorithm>
#include <complex>
#include <holotone/fft/kissfft.hpp>
#include <kissfft.hh>
#include <new>
#include <vector>

namespace holotone::fft::kiss {
namespace {

/// Lines that are gathered at once: a cache line of neighbouring columns in float32.
constexpr std::ptrdiff_t gathered = 8;

int threads_of_next_plan = 1;  // under the planner's lock

}  // namespace

enum class Kind { complex, forward_real, inverse_real };

/// Lines of one length: `lines` at `distance` in each of `groups` at `group_distance`, counted in complex numbers.
struct Pass {
  kissfft<double> transform;
  std::ptrdiff_t length;
  std::ptrdiff_t stride;
  std::ptrdiff_t lines;
  std::ptrdiff_t distance;
  std::ptrdiff_t groups = 1;
  std::ptrdiff_t group_distance = 0;
};

template <class Real>
struct Plan {
  Kind kind = Kind::complex;
  int threads = 1;
  std::vector<Pass> passes;
};

namespace {

Pass pass_of(int length, bool inverse, std::ptrdiff_t stride, std::ptrdiff_t lines, std::ptrdiff_t distance) {
  return {kissfft<double>(static_cast<std::size_t>(length), inverse), length, stride, lines, distance};
}

/// Sample i of a line before the transform.
template <class Real>
std::complex<double> load(const Pass& pass, Kind kind, const std::complex<Real>* line, std::ptrdiff_t i) {
  if (kind == Kind::forward_real) return static_cast<double>(reinterpret_cast<const Real*>(line)[i]);
  const bool mirrored = kind == Kind::inverse_real && 2 * i > pass.length;
  const std::complex<double> value(line[(mirrored ? pass.length - i : i) * pass.stride]);
  return mirrored ? std::conj(value) : value;
}

/// Stores sample i of a line after the transform, if the line keeps it.
template <class Real>
void store(const Pass& pass, Kind kind, std::complex<Real>* line, std::ptrdiff_t i, std::complex<double> value) {
  if (kind == Kind::inverse_real) {
    reinterpret_cast<Real*>(line)[i] = static_cast<Real>(value.real());
  } else if (kind == Kind::complex || 2 * i <= pass.length) {
    line[i * pass.stride] = std::complex<Real>(value);
  }
}

template <class Real>
void run(const Pass& pass, Kind kind, [[maybe_unused]] int threads, std::complex<Real>* data) {
  const std::ptrdiff_t n = pass.length;
  const std::ptrdiff_t blocks = (pass.lines + gathered - 1) / gathered;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    const kissfft<double> transform = pass.transform;  // its scratch memory is one thread's
    std::vector<std::complex<double>> in(static_cast<std::size_t>(gathered * n));
    std::vector<std::complex<double>> out(in.size());
#pragma omp for schedule(static)
    for (std::ptrdiff_t block = 0; block < blocks * pass.groups; ++block) {
      const std::ptrdiff_t first = block % blocks * gathered;
      const std::ptrdiff_t count = std::min(gathered, pass.lines - first);
      std::complex<Real>* const lines = data + block / blocks * pass.group_distance + first * pass.distance;
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        for (std::ptrdiff_t j = 0; j < count; ++j) in[j * n + i] = load(pass, kind, lines + j * pass.distance, i);
      }
      for (std::ptrdiff_t j = 0; j < count; ++j) transform.transform(&in[j * n], &out[j * n]);
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        for (std::ptrdiff_t j = 0; j < count; ++j) store(pass, kind, lines + j * pass.distance, i, out[j * n + i]);
      }
    }
  }
}

template <class Real>
void run_all(const Plan<Real>& plan, void* data) {
  for (const Pass& pass : plan.passes) run(pass, plan.kind, plan.threads, static_cast<std::complex<Real>*>(data));
}

template <class Real>
Plan<Real>* real_lines(Kind kind, int rank, const int* extents, int count, bool plain, int distance) {
  if (rank != 1 || !plain) return nullptr;
  return new Plan<Real>{kind, 1, {pass_of(*extents, kind == Kind::inverse_real, 1, count, distance)}};
}

}  // namespace

template <class Real>
Plan<Real>* many(int rank, const int* extents, int count, Complex<Real>* in, const int* in_embedding, int in_stride,
                 int in_distance, Complex<Real>* out, const int* out_embedding, int out_stride, int out_distance,
                 int sign, unsigned /*flags*/) {
  const bool plain = in == out && in_embedding == nullptr && out_embedding == nullptr && in_stride == out_stride &&
                     in_distance == out_distance;
  if (!plain || rank < 1 || rank > 2 || (rank == 2 && in_stride != 1)) return nullptr;
  const bool inverse = sign == 1;
  const int threads = sizeof(Real) == sizeof(float) ? threads_of_next_plan : 1;
  if (rank == 1) return new Plan<Real>{{}, threads, {pass_of(*extents, inverse, in_stride, count, in_distance)}};
  const std::ptrdiff_t ny = extents[0];
  const std::ptrdiff_t nx = extents[1];
  Pass columns = pass_of(extents[0], inverse, nx, nx, 1);
  columns.groups = count;
  columns.group_distance = ny * nx;
  return new Plan<Real>{{}, threads, {pass_of(extents[1], inverse, 1, ny * count, nx), std::move(columns)}};
}

template <class Real>
Plan<Real>* many_forward_real(int rank, const int* extents, int count, Real* in, const int* in_embedding, int in_stride,
                              int in_distance, Complex<Real>* out, const int* out_embedding, int out_stride,
                              int out_distance, unsigned /*flags*/) {
  const bool plain = in == *out && in_embedding == nullptr && out_embedding == nullptr && in_stride == 1 &&
                     out_stride == 1 && in_distance == 2 * out_distance;
  return real_lines<Real>(Kind::forward_real, rank, extents, count, plain, out_distance);
}

template <class Real>
Plan<Real>* many_inverse_real(int rank, const int* extents, int count, Complex<Real>* in, const int* in_embedding,
                              int in_stride, int in_distance, Real* out, const int* out_embedding, int out_stride,
                              int out_distance, unsigned /*flags*/) {
  const bool plain = *in == out && in_embedding == nullptr && out_embedding == nullptr && in_stride == 1 &&
                     out_stride == 1 && 2 * in_distance == out_distance;
  return real_lines<Real>(Kind::inverse_real, rank, extents, count, plain, in_distance);
}

template <class Real>
void execute(const Plan<Real>* plan, Complex<Real>* in, Complex<Real>* /*out*/) {
  run_all(*plan, in);
}

template <class Real>
void execute_forward_real(const Plan<Real>* plan, Real* in, Complex<Real>* /*out*/) {
  run_all(*plan, in);
}

template <class Real>
void execute_inverse_real(const Plan<Real>* plan, Complex<Real>* in, Real* /*out*/) {
  run_all(*plan, in);
}

template <class Real>
void destroy(Plan<Real>* plan) {
  delete plan;
}

Plan<float>* plane(int ny, int nx, Complex<float>* in, Complex<float>* out, int sign, unsigned flags) {
  const int extents[] = {ny, nx};
  return many<float>(2, extents, 1, in, nullptr, 1, 0, out, nullptr, 1, 0, sign, flags);
}

void plan_with_threads(int threads) { threads_of_next_plan = threads; }

Complex<float>* allocate(std::size_t count) {
  return static_cast<Complex<float>*>(::operator new(count * sizeof(Complex<float>), std::nothrow));
}

void deallocate(void* memory) { ::operator delete(memory); }

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define HOLOTONE_KISS(Real)                                                                                         \
  template Plan<Real>* many(int, const int*, int, Complex<Real>*, const int*, int, int, Complex<Real>*, const int*, \
                            int, int, int, unsigned);                                                               \
  template Plan<Real>* many_forward_real(int, const int*, int, Real*, const int*, int, int, Complex<Real>*,         \
                                         const int*, int, int, unsigned);                                           \
  template Plan<Real>* many_inverse_real(int, const int*, int, Complex<Real>*, const int*, int, int, Real*,         \
                                         const int*, int, int, unsigned);                                           \
  template void execute(const Plan<Real>*, Complex<Real>*, Complex<Real>*);                                         \
  template void execute_forward_real(const Plan<Real>*, Real*, Complex<Real>*);                                     \
  template void execute_inverse_real(const Plan<Real>*, Complex<Real>*, Real*);                                     \
  template void destroy(Plan<Real>*);
HOLOTONE_KISS(float)
HOLOTONE_KISS(double)
#undef HOLOTONE_KISS
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace holotone::fft::kiss
