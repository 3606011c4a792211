#pragma once
// Shared by the CUDA engines of the point-cloud plan: points in pixel units, phases in turns, output pixels.
#include <cstdint>
#include <cuda_runtime.h>
#include <holotone/core/array.hpp>
#include <holotone/core/cuda_check.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>

namespace holotone::point_cloud {

/// Arrays of points in the units of the kernels: pixels, turns per square pixel.
struct PointRecords {
  /// {x whole, x rest, y whole, y rest}: position in pixels (column, row) as nearest integer and remainder.
  const float4* position;
  /// {a high, a low, amplitude, phase in turns}: a = pitch^2 / (2 lambda d), signed, as an unevaluated sum.
  const float4* wave;
  /// {first column, last column, first row, last row} that the point lights, as floats.
  const float4* lit;
  /// Bits of the largest |amplitude| as an unsigned integer.
  const unsigned* amplitude_max;
};

/// Device copies of the points as records, padded with dark points to a multiple of `padding`.
class PreparedPoints {
 public:
  PreparedPoints(const PointCloudOptions& options, Queue queue, std::int64_t padding);
  /// Converts points on the queue's device to records in coordinates of the whole panel. Allocates only if the count
  /// exceeds the capacity.
  void set(const PointSources& points);
  [[nodiscard]] PointRecords records() const;
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t padded_count() const;
  [[nodiscard]] std::size_t bytes() const { return storage_.bytes(); }

 private:
  PointCloudOptions options_;
  Queue queue_;
  std::int64_t padding_;
  std::int64_t count_ = 0;
  std::int64_t capacity_ = 0;
  Array<float4, 1> storage_;    ///< position, wave, lit
  Array<unsigned, 1> largest_;  ///< bits of max |A|
};

/// Raw output pointers; null for outputs not requested.
struct OutputPointers {
  float2* field = nullptr;
  float* real = nullptr;
  std::uint8_t* phase = nullptr;

  __device__ void write(std::int64_t index, float re, float im) const;
  /// Writes four neighbouring pixels of a row with `left` pixels remaining; one wide store if `index` permits it.
  __device__ void write(std::int64_t index, float4 re, float4 im, int left) const;
};

inline OutputPointers pointers_of(const PointCloudOutput& output) {
  return {reinterpret_cast<float2*>(output.field.data()), output.real.data(), output.phase.data()};
}

#if defined(__CUDACC__)

/// One point's records (PointRecords).
struct PointRecord {
  float4 position;
  float4 wave;
  float4 lit;
};

/// Returns the records of a point at column x and row y; curvature is turns_metre / distance, reach the lit half width
/// in pixels.
__device__ __forceinline__ PointRecord record_of(double x, double y, double curvature, double reach, float amplitude,
                                                 double turns) {
  const double x_whole = rint(x);
  const double y_whole = rint(y);
  const auto a_high = static_cast<float>(curvature);
  return {
      make_float4(static_cast<float>(x_whole), static_cast<float>(x - x_whole), static_cast<float>(y_whole),
                  static_cast<float>(y - y_whole)),
      make_float4(a_high, static_cast<float>(curvature - a_high), amplitude, static_cast<float>(turns - rint(turns))),
      make_float4(static_cast<float>(ceil(x - reach)), static_cast<float>(floor(x + reach)),
                  static_cast<float>(ceil(y - reach)), static_cast<float>(floor(y + reach)))};
}

/// Returns a u^2 in turns reduced to [-0.5, 0.5], with u = pixel - (whole + rest) and a = high + low. Exact to about
/// 1e-7 turns at every distance: fused multiply-adds carry the rounding errors of the products.
__device__ __forceinline__ float reduced_turns(float pixel, float whole, float rest, float a_high, float a_low) {
  const float difference = pixel - whole;  // exact below 2^24 pixels
  const float u = difference - rest;
  const float u_error = (difference - u) - rest;
  const float square = u * u;
  const float square_error = fmaf(u, u, -square) + 2.0F * u * u_error;
  const float turns = a_high * square;
  float low = fmaf(a_high, square, -turns);
  low = fmaf(a_high, square_error, low);
  low = fmaf(a_low, square, low);
  // Adding and subtracting 1.5 * 2^23 rounds to an integer without the special-function unit. Above 2^22 turns (a point
  // within 1 mm of the panel, no band limit) the phase is lost in any case.
  const float whole_turns = (turns + 12582912.0F) - 12582912.0F;
  return (turns - whole_turns) + low;
}

/// Converts turns to fixed point, modulo one turn, without the slow conversion instructions: near 1.5 * 2^52 a double
/// has no fraction, near 1.5 * 2^20 its low word counts 2^-32.
__device__ __forceinline__ unsigned fixed_turns(double turns) {
  const double whole = (turns + 6755399441055744.0) - 6755399441055744.0;
  return static_cast<unsigned>(__double2loint((turns - whole) + 1572864.0));
}

/// Adds a wave of `weight` at a phase in radians to re and, unless RealAlone, to im.
template <bool RealAlone>
__device__ __forceinline__ void add_wave(float phase, float weight, float& re, float& im) {
  if constexpr (RealAlone) {
    re = fmaf(weight, __cosf(phase), re);
  } else {
    float sine;
    float cosine;
    __sincosf(phase, &sine, &cosine);
    re = fmaf(weight, cosine, re);
    im = fmaf(weight, sine, im);
  }
}

/// Adds value to sum and carries the rounding error in `lost` (Kahan 1965).
__device__ __forceinline__ void add_compensated(float& sum, float& lost, float value) {
  const float corrected = value - lost;
  const float total = sum + corrected;
  lost = (total - sum) - corrected;
  sum = total;
}

/// Returns round(arg(re + i im) / 2 pi * 256) mod 256 by a degree-11 odd polynomial of the arctangent (error 1e-5 rad).
__device__ __forceinline__ std::uint8_t phase_level(float re, float im) {
  const float ax = fabsf(re);
  const float ay = fabsf(im);
  const float t = __fdividef(fminf(ax, ay), fmaxf(fmaxf(ax, ay), 1e-30F));
  const float s = t * t;
  float angle = fmaf(s, -0.0117212F, 0.05265332F);
  angle = fmaf(angle, s, -0.11643287F);
  angle = fmaf(angle, s, 0.19354346F);
  angle = fmaf(angle, s, -0.33262347F);
  angle = fmaf(angle, s, 0.99997726F) * t;
  if (ay > ax) angle = 1.57079637F - angle;
  if (re < 0) angle = 3.14159274F - angle;
  if (im < 0) angle = -angle;
  return static_cast<std::uint8_t>(__float2int_rn(angle * 40.7436654F) & 255);
}

__device__ __forceinline__ void OutputPointers::write(std::int64_t index, float re, float im) const {
  if (field != nullptr) field[index] = make_float2(re, im);
  if (real != nullptr) real[index] = re;
  if (phase != nullptr) phase[index] = phase_level(re, im);
}

__device__ __forceinline__ void OutputPointers::write(std::int64_t index, float4 re, float4 im, int left) const {
  if (left < 4 || index % 4 != 0) {
    const float res[4] = {re.x, re.y, re.z, re.w};
    const float ims[4] = {im.x, im.y, im.z, im.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i < left) write(index + i, res[i], ims[i]);
    }
    return;
  }
  if (field != nullptr) {
    auto* target = reinterpret_cast<float4*>(field + index);
    target[0] = make_float4(re.x, im.x, re.y, im.y);
    target[1] = make_float4(re.z, im.z, re.w, im.w);
  }
  if (real != nullptr) *reinterpret_cast<float4*>(real + index) = re;
  if (phase != nullptr) {
    *reinterpret_cast<uchar4*>(phase + index) =
        make_uchar4(phase_level(re.x, im.x), phase_level(re.y, im.y), phase_level(re.z, im.z), phase_level(re.w, im.w));
  }
}

#endif

}  // namespace holotone::point_cloud
