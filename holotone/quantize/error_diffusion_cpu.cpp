// Compiled with -ffp-contract=off (holotone/CMakeLists.txt): see turns_math.h.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/optics/turns_math.h>
#include <holotone/quantize/error_diffusion_engine.hpp>

namespace holotone::diffusion {
namespace {

/// A row of complex numbers, real and imaginary parts apart.
struct Parts {
  float* re;
  float* im;
};

/// sum += weight * errors, all along a row.
HOLOTONE_SIMD_CLONES void collect(Parts sum, const Parts errors, float weight, std::int64_t count) {
  float* __restrict const re = sum.re;
  float* __restrict const im = sum.im;
  const float* __restrict const from_re = errors.re;
  const float* __restrict const from_im = errors.im;
  for (std::int64_t x = 0; x < count; ++x) {
    re[x] = std::fma(weight, from_re[x], re[x]);
    im[x] = std::fma(weight, from_im[x], im[x]);
  }
}

/// h of a row: the field over its scale, no longer than 1.
void read_row(const Complex* field, const Job& job, Parts sum, std::int64_t count) {
  for (std::int64_t x = 0; x < count; ++x) {
    const float re = field[x].real() / job.scale;
    if (job.levels.modulation == Modulation::amplitude) {
      sum.re[x] = (1 + std::clamp(re, -1.0F, 1.0F)) * 0.5F;
      sum.im[x] = 0;
      continue;
    }
    const float im = field[x].imag() / job.scale;
    const float square = re * re + im * im;
    const float length = square > 1 ? std::sqrt(square) : 1;
    sum.re[x] = re / length;
    sum.im[x] = im / length;
  }
}

HOLOTONE_ALWAYS_INLINE std::uint8_t nearest(float re, float im, const Levels& levels) {
  const bool phase = levels.modulation == Modulation::phase;
  const float place = phase ? turns_math::turns_of({re, im}) : re;
  if (!levels.boundary.empty()) {
    const auto above = std::upper_bound(levels.boundary.begin(), levels.boundary.end(), place);
    return levels.code[static_cast<std::size_t>(above - levels.boundary.begin())];
  }
  if (phase) {
    const float code = std::floor(place * levels.count + 0.5F);
    return static_cast<std::uint8_t>(code < levels.count ? code : 0);
  }
  const float last = levels.count - 1;
  const float code = std::floor(place * last + 0.5F);
  return static_cast<std::uint8_t>(code > 0 ? std::min(code, last) : 0);
}

/// Taps in a row, and what they weigh.
struct RowTaps {
  const DiffusionTap* tap;
  const float* value;
  std::size_t count;
};

/// Each pixel collects from those before it in its row, then errs itself.
HOLOTONE_SIMD_CLONES void along_row(const Parts sum, const Parts errors, const RowTaps taps, const Levels& levels,
                                    std::int64_t count, std::uint8_t* codes) {
  for (std::int64_t x = 0; x < count; ++x) {
    float re = sum.re[x];
    float im = sum.im[x];
    for (std::size_t i = 0; i < taps.count; ++i) {
      re = std::fma(taps.value[i], errors.re[x - taps.tap[i].dx], re);
      im = std::fma(taps.value[i], errors.im[x - taps.tap[i].dx], im);
    }
    const std::uint8_t code = nearest(re, im, levels);
    codes[x] = code;
    re -= levels.re[code];
    im -= levels.im[code];
    if (levels.line) {
      const float along = re * levels.line_re + im * levels.line_im;
      re = along * levels.line_re;
      im = along * levels.line_im;
    }
    errors.re[x] = re;
    errors.im[x] = im;
  }
}

/// One hogel: the errors of its last rows in a ring, with room to both sides for taps that reach out of it.
class Hogel {
 public:
  Hogel(const Job& job, std::int64_t number)
      : job_(job),
        values_(&job.weights.values(job.weights.values.shape()[0] > 1 ? number : 0, 0)),
        top_(number / job.hogels[1] * job.side),
        left_(number % job.hogels[1] * job.side),
        width_(std::min(job.side, job.shape[1] - left_)),
        height_(std::min(job.side, job.shape[0] - top_)) {
    for (const auto& tap : job.weights.taps) {
      room_ = std::max<std::int64_t>(room_, std::abs(tap.dx));
      rows_ = std::max<std::int64_t>(rows_, tap.dy + 1);
    }
    pitch_ = width_ + 2 * room_;
    errors_.assign(static_cast<std::size_t>(2 * rows_ * pitch_), 0.0F);
    sums_.resize(static_cast<std::size_t>(2 * width_));
  }

  void run(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
    for (std::int64_t row = 0; row < height_; ++row) {
      const Parts sum{sums_.data(), sums_.data() + width_};
      read_row(&field(top_ + row, left_), job_, sum, width_);
      const auto& taps = job_.weights.taps;
      std::size_t i = 0;
      for (; i < taps.size() && taps[i].dy > 0; ++i) {
        if (values_[i] != 0 && taps[i].dy <= row) {
          const Parts above = errors(row - taps[i].dy);
          collect(sum, {above.re - taps[i].dx, above.im - taps[i].dx}, values_[i], width_);
        }
      }
      const Parts own = errors(row);
      for (float* const part : {own.re, own.im}) {
        std::fill_n(part - room_, room_, 0.0F);
        std::fill_n(part + width_, room_, 0.0F);
      }
      along_row(sum, own, {taps.data() + i, values_ + i, taps.size() - i}, job_.levels, width_,
                &codes(top_ + row, left_));
    }
  }

 private:
  Parts errors(std::int64_t row) {
    float* const own = errors_.data() + 2 * (row % rows_) * pitch_ + room_;
    return {own, own + pitch_};
  }

  const Job& job_;
  const float* values_;
  std::int64_t top_;
  std::int64_t left_;
  std::int64_t width_;
  std::int64_t height_;
  std::int64_t room_ = 0;
  std::int64_t rows_ = 1;
  std::int64_t pitch_ = 0;
  std::vector<float> errors_;
  std::vector<float> sums_;
};

}  // namespace

void diffuse_cpu(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  parallel_for(0, job.hogels[0] * job.hogels[1], [&](std::int64_t number) { Hogel(job, number).run(field, codes); });
}

}  // namespace holotone::diffusion
