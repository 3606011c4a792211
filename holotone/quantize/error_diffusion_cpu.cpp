#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/optics/turns_math.h>
#include <holotone/quantize/error_diffusion_cpu.hpp>

namespace holotone::diffusion {
namespace {

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

HOLOTONE_ALWAYS_INLINE std::uint8_t nearest(float re, float im, const Levels& levels) {
  const bool phase = levels.modulation == Modulation::phase;
  const float place = phase ? turns_math::turns_of({re, im}) : re;
  if (!levels.boundary.empty()) return code_within(levels, place);
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

/// Each pixel collects from those before it in its row, then errs itself. `step`: 1 from left to right, -1 back.
HOLOTONE_SIMD_CLONES void along_row(const Parts sum, const Parts errors, const RowTaps taps, const Levels& levels,
                                    std::int64_t count, std::int64_t step, std::uint8_t* codes) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = step > 0 ? i : count - 1 - i;
    float re = sum.re[x];
    float im = sum.im[x];
    for (std::size_t tap = 0; tap < taps.count; ++tap) {
      re = std::fma(taps.value[tap], errors.re[x - step * taps.tap[tap].dx], re);
      im = std::fma(taps.value[tap], errors.im[x - step * taps.tap[tap].dx], im);
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

/// How far taps reach.
struct Reach {
  std::int64_t columns = 0;
  std::int64_t rows = 1;  ///< their own among them

  explicit Reach(const std::vector<DiffusionTap>& taps) {
    for (const auto& tap : taps) {
      columns = std::max<std::int64_t>(columns, std::abs(tap.dx));
      rows = std::max<std::int64_t>(rows, tap.dy + 1);
    }
  }
};

/// One hogel: the errors of its last rows in a ring, with room to both sides for taps that reach out of it.
class Hogel {
 public:
  Hogel(const Job& job, const HogelPlace& place)
      : job_(job),
        forward_(set_of(job.weights.values, place)),
        backward_(job.weights.backward.empty() ? forward_ : set_of(job.weights.backward, place)),
        place_(place),
        reach_(job.weights.taps),
        pitch_(place.width + 2 * reach_.columns),
        errors_(static_cast<std::size_t>(2 * reach_.rows * pitch_)),
        sums_(static_cast<std::size_t>(2 * place.width)) {}

  void run(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
    for (std::int64_t row = 0; row < place_.height; ++row) {
      const Parts sum{sums_.data(), sums_.data() + place_.width};
      read_row(&field(place_.top + row, place_.left), job_, sum, place_.width);
      const auto& taps = job_.weights.taps;
      std::size_t i = 0;
      for (; i < taps.size() && taps[i].dy > 0; ++i) {
        const std::int64_t from = row - taps[i].dy;
        if (from < 0 || values(from)[i] == 0) continue;
        const Parts above = errors(from);
        const std::int64_t dx = step(from) * taps[i].dx;
        collect(sum, {above.re - dx, above.im - dx}, values(from)[i], place_.width);
      }
      along_row(sum, errors(row), {taps.data() + i, values(row) + i, taps.size() - i}, job_.levels, place_.width,
                step(row), &codes(place_.top + row, place_.left));
    }
  }

 private:
  static const float* set_of(const Array<float, 2>& values, const HogelPlace& place) {
    return &values(values.shape()[0] > 1 ? place.number : 0, 0);
  }
  /// The way of a row: its errors go on along it.
  [[nodiscard]] std::int64_t step(std::int64_t row) const { return job_.serpentine && row % 2 == 1 ? -1 : 1; }
  [[nodiscard]] const float* values(std::int64_t row) const { return step(row) > 0 ? forward_ : backward_; }
  /// Of the hogel's first column. Those to both sides of it are never written.
  Parts errors(std::int64_t row) {
    float* const own = errors_.data() + 2 * (row % reach_.rows) * pitch_ + reach_.columns;
    return {own, own + pitch_};
  }

  const Job& job_;
  const float* forward_;
  const float* backward_;
  HogelPlace place_;
  Reach reach_;
  std::int64_t pitch_;
  std::vector<float> errors_;
  std::vector<float> sums_;
};

}  // namespace

/// h of a row: the field over its scale, no longer than 1.
HOLOTONE_SIMD_CLONES void read_row(const Complex* field, const Job& job, Parts sum, std::int64_t count) {
  const float scale = job.scale;
  float* __restrict const to_re = sum.re;
  float* __restrict const to_im = sum.im;
  if (job.levels.modulation == Modulation::amplitude) {
    for (std::int64_t x = 0; x < count; ++x) {
      const float re = field[x].real() / scale;
      const float limited = re < -1 ? -1 : re > 1 ? 1 : re;
      to_re[x] = (1 + limited) * 0.5F;
      to_im[x] = 0;
    }
    return;
  }
  for (std::int64_t x = 0; x < count; ++x) {
    const float re = field[x].real() / scale;
    const float im = field[x].imag() / scale;
    const float square = re * re + im * im;
    const float length = square > 1 ? std::sqrt(square) : 1;
    to_re[x] = re / length;
    to_im[x] = im / length;
  }
}

HogelPlace HogelPlace::of(const Job& job, std::int64_t number) {
  const std::int64_t top = number / job.hogels[1] * job.side;
  const std::int64_t left = number % job.hogels[1] * job.side;
  return {number, top, left, std::min(job.side, job.shape[1] - left), std::min(job.side, job.shape[0] - top)};
}

void diffuse_cpu(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  if (skewed_can(job)) return diffuse_skewed(job, field, codes);
  parallel_for(0, job.hogels[0] * job.hogels[1],
               [&](std::int64_t number) { Hogel(job, HogelPlace::of(job, number)).run(field, codes); });
}

}  // namespace holotone::diffusion
