#pragma once
// The part of FFTW's interface that Holotone uses, by KISS FFT: for builds that are passed on without FFTW
// (docs/licences.md). Not for users.
#include <cstddef>

namespace holotone::fft::kiss {

/// Transforms in place, computed in float64 for either type. A line whose length has a prime factor p takes time in
/// proportion to p; executing allocates a few lines of memory.
template <class Real>
struct Plan;
template <class Real>
using Complex = Real[2];

/// As fftw_plan_many_dft for one array: `in` is `out`, without embeddings, with equal strides and distances. Null
/// otherwise.
template <class Real>
Plan<Real>* many(int rank, const int* extents, int count, Complex<Real>* in, const int* in_embedding, int in_stride,
                 int in_distance, Complex<Real>* out, const int* out_embedding, int out_stride, int out_distance,
                 int sign, unsigned flags);
template <class Real>
Plan<Real>* many_forward_real(int rank, const int* extents, int count, Real* in, const int* in_embedding, int in_stride,
                              int in_distance, Complex<Real>* out, const int* out_embedding, int out_stride,
                              int out_distance, unsigned flags);
template <class Real>
Plan<Real>* many_inverse_real(int rank, const int* extents, int count, Complex<Real>* in, const int* in_embedding,
                              int in_stride, int in_distance, Real* out, const int* out_embedding, int out_stride,
                              int out_distance, unsigned flags);
template <class Real>
void execute(const Plan<Real>* plan, Complex<Real>* in, Complex<Real>* out);
template <class Real>
void execute_forward_real(const Plan<Real>* plan, Real* in, Complex<Real>* out);
template <class Real>
void execute_inverse_real(const Plan<Real>* plan, Complex<Real>* in, Real* out);
template <class Real>
void destroy(Plan<Real>* plan);

Plan<float>* plane(int ny, int nx, Complex<float>* in, Complex<float>* out, int sign, unsigned flags);
void plan_with_threads(int threads);
Complex<float>* allocate(std::size_t count);
void deallocate(void* memory);

}  // namespace holotone::fft::kiss

// NOLINTBEGIN(readability-identifier-naming): FFTW's own names
using fftwf_plan = holotone::fft::kiss::Plan<float>*;
using fftw_plan = holotone::fft::kiss::Plan<double>*;
using fftwf_complex = float[2];
using fftw_complex = double[2];

inline constexpr int FFTW_FORWARD = -1;
inline constexpr int FFTW_BACKWARD = 1;
inline constexpr unsigned FFTW_MEASURE = 0;
inline constexpr unsigned FFTW_UNALIGNED = 2;
inline constexpr unsigned FFTW_ESTIMATE = 64;

inline constexpr auto fftwf_plan_dft_2d = holotone::fft::kiss::plane;
inline constexpr auto fftwf_plan_many_dft = holotone::fft::kiss::many<float>;
inline constexpr auto fftwf_plan_many_dft_r2c = holotone::fft::kiss::many_forward_real<float>;
inline constexpr auto fftwf_plan_many_dft_c2r = holotone::fft::kiss::many_inverse_real<float>;
inline constexpr auto fftwf_execute_dft = holotone::fft::kiss::execute<float>;
inline constexpr auto fftwf_execute_dft_r2c = holotone::fft::kiss::execute_forward_real<float>;
inline constexpr auto fftwf_execute_dft_c2r = holotone::fft::kiss::execute_inverse_real<float>;
inline constexpr auto fftwf_destroy_plan = holotone::fft::kiss::destroy<float>;
inline constexpr auto fftw_plan_many_dft = holotone::fft::kiss::many<double>;
inline constexpr auto fftw_plan_many_dft_r2c = holotone::fft::kiss::many_forward_real<double>;
inline constexpr auto fftw_plan_many_dft_c2r = holotone::fft::kiss::many_inverse_real<double>;
inline constexpr auto fftw_execute_dft = holotone::fft::kiss::execute<double>;
inline constexpr auto fftw_execute_dft_r2c = holotone::fft::kiss::execute_forward_real<double>;
inline constexpr auto fftw_execute_dft_c2r = holotone::fft::kiss::execute_inverse_real<double>;
inline constexpr auto fftw_destroy_plan = holotone::fft::kiss::destroy<double>;
inline constexpr auto fftwf_plan_with_nthreads = holotone::fft::kiss::plan_with_threads;
inline constexpr auto fftwf_alloc_complex = holotone::fft::kiss::allocate;
inline constexpr auto fftwf_free = holotone::fft::kiss::deallocate;
inline int fftwf_init_threads() { return 1; }
inline int fftwf_alignment_of(const float* /*any*/) { return 0; }
// NOLINTEND(readability-identifier-naming)
