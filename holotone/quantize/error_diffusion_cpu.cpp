// Error diffusion on the CPU: the scale of a hologram, the loop over pixels in their order, the engine.
// Needs -ffp-contract=off: codes are the same bits on every backend (phase_math.h).
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/quantize/error_diffusion_cpu.hpp>
#include <holotone/quantize/modulus_share.hpp>
#include <holotone/quantize/phase_math.h>

namespace holotone::diffusion {
namespace {

/// Adds weight * errors to sum, along a row.
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
  if (phase && levels.boundary.empty()) {
    return static_cast<std::uint8_t>(
        phase_math::nearest_level(phase_math::phase_of(re, im, levels.count), static_cast<std::int32_t>(levels.count)));
  }
  float place = phase ? phase_math::phase_of(re, im, 1) : re;
  if (!levels.boundary.empty()) {
    if (phase && place < 0) place += 1;
    return code_within(levels, place);
  }
  const float last = levels.count - 1;
  const float code = std::floor(place * last + 0.5F);
  return static_cast<std::uint8_t>(code > 0 ? std::min(code, last) : 0);
}

/// Taps within a row, and their weights.
struct RowTaps {
  const DiffusionTap* tap;
  const float* value;
  std::size_t count;
};

/// Quantizes a row. Each pixel adds the sum collected from the rows above, then the weighted errors of pixels before it
/// in its row, and stores its own error. `step`: 1 from left to right, -1 from right to left.
HOLOTONE_SIMD_CLONES void along_row(const Parts parts, const Parts sum, const Parts errors, const RowTaps taps,
                                    const Job& job, std::int64_t count, std::int64_t step, std::uint8_t* codes) {
  const Levels& levels = job.levels;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t x = step > 0 ? i : count - 1 - i;
    float re = parts.re[x] + sum.re[x];
    float im = parts.im[x] + sum.im[x];
    for (std::size_t tap = 0; tap < taps.count; ++tap) {
      const std::int64_t from = x - step * taps.tap[tap].dx;
      re = std::fma(taps.value[tap], errors.re[from], re);
      im = std::fma(taps.value[tap], errors.im[from], im);
    }
    const std::uint8_t code = nearest(re, im, levels);
    codes[x] = code;
    re -= job.level_re[code];
    im -= job.level_im[code];
    if (levels.line) {
      const float along = re * levels.line_re + im * levels.line_im;
      re = along * levels.line_re;
      im = along * levels.line_im;
    }
    errors.re[x] = re;
    errors.im[x] = im;
  }
}

/// Reach of the taps.
struct Reach {
  std::int64_t columns = 0;
  std::int64_t rows = 1;  ///< including the own row

  explicit Reach(const std::vector<DiffusionTap>& taps) {
    for (const auto& tap : taps) {
      columns = std::max<std::int64_t>(columns, std::abs(tap.dx));
      rows = std::max<std::int64_t>(rows, tap.dy + 1);
    }
  }
};

/// Error diffusion of one hogel, with the sets of weights within it if errors cross borders. The errors of its last
/// rows are in a ring, with margins on both sides for taps that reach beyond the hogel.
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
        sums_(static_cast<std::size_t>(4 * place.width)) {}

  void run(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
    for (std::int64_t row = 0; row < place_.height; ++row) {
      const Parts sum{sums_.data(), sums_.data() + place_.width};
      const Parts parts{sum.re + 2 * place_.width, sum.im + 2 * place_.width};
      read_row(&field(place_.top + row, place_.left), job_, parts, place_.width);
      std::fill_n(sum.re, 2 * place_.width, 0.0F);
      const std::int64_t set_side = job_.set_side > 0 ? job_.set_side : place_.width;
      for (std::int64_t left = 0; left < place_.width; left += set_side) {
        run_columns(row, left, std::min(set_side, place_.width - left), parts, sum, codes);
      }
    }
  }

 private:
  /// Columns of a row that use one set of weights.
  void run_columns(std::int64_t row, std::int64_t left, std::int64_t width, Parts error, Parts sum,
                   View<std::uint8_t, 2> codes) {
    const auto& taps = job_.weights.taps;
    const auto from_left = [left](Parts parts, std::int64_t dx) {
      return Parts{parts.re + left - dx, parts.im + left - dx};
    };
    const auto values = [&](std::int64_t from) {
      return job_.set_side > 0 ? &job_.weights.values(job_.set_at(row, left), 0) : of_row(from);
    };
    std::size_t i = 0;
    for (; i < taps.size() && taps[i].dy > 0; ++i) {
      const std::int64_t from = row - taps[i].dy;
      if (from < 0 || values(from)[i] == 0) continue;
      collect(from_left(sum, 0), from_left(errors(from), step(from) * taps[i].dx), values(from)[i], width);
    }
    along_row(from_left(error, 0), from_left(sum, 0), from_left(errors(row), 0),
              {taps.data() + i, values(row) + i, taps.size() - i}, job_, width, step(row),
              &codes(place_.top + row, place_.left + left));
  }

  static const float* set_of(const Array<float, 2>& values, const HogelPlace& place) {
    return &values(values.shape()[0] > 1 ? place.number : 0, 0);  // carry: place.number is 0
  }
  /// Direction of a row, in which its errors are passed on.
  [[nodiscard]] std::int64_t step(std::int64_t row) const { return job_.serpentine && row % 2 == 1 ? -1 : 1; }
  [[nodiscard]] const float* of_row(std::int64_t row) const { return step(row) > 0 ? forward_ : backward_; }
  /// Errors of a row, from the hogel's first column on. The margins on both sides are never written.
  Parts errors(std::int64_t row) {
    float* const errors = errors_.data() + 2 * (row % reach_.rows) * pitch_ + reach_.columns;
    return {errors, errors + pitch_};
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

/// Computes h of a row.
HOLOTONE_SIMD_CLONES void read_row(const Complex* field, const Job& job, Parts sum, std::int64_t count) {
  float* __restrict const to_re = sum.re;
  float* __restrict const to_im = sum.im;
  if (job.levels.modulation == Modulation::amplitude) {
    const float scale = job.scale;
    for (std::int64_t x = 0; x < count; ++x) {
      to_re[x] = phase_math::lightness_of(field[x].real(), scale);
      to_im[x] = 0;
    }
    return;
  }
  const float unit = job.unit;
  const float radius = job.radius;
  const float most = radius * radius;
  for (std::int64_t x = 0; x < count; ++x) {
    to_re[x] = field[x].real() * unit;
    to_im[x] = field[x].imag() * unit;
  }
  // Clips the few values beyond the radius, in a separate loop so that the one above is vectorized.
  for (std::int64_t x = 0; x < count; ++x) {
    const phase_math::Parts32 value{to_re[x], to_im[x]};
    if (!phase_math::beyond(value, most)) continue;
    const auto shorter = phase_math::clipped(value, radius);
    to_re[x] = shorter.re;
    to_im[x] = shorter.im;
  }
}

namespace {

std::int64_t first_broken(View<const Complex, 2> field) {
  const auto values = field.host();
  const auto broken = [](Complex value) { return !std::isfinite(value.real()) || !std::isfinite(value.imag()); };
  const std::int64_t nx = field.shape()[1];
  std::vector<std::int64_t> first(static_cast<std::size_t>(field.shape()[0]), -1);
  parallel_for(0, field.shape()[0], [&](std::int64_t row) {
    const auto begin = values.begin() + row * nx;
    const auto at = std::find_if(begin, begin + nx, broken);
    if (at != begin + nx) first[static_cast<std::size_t>(row)] = at - values.begin();
  });
  const auto at = std::find_if(first.begin(), first.end(), [](std::int64_t i) { return i >= 0; });
  return at != first.end() ? *at : -1;
}

}  // namespace

HogelPlace HogelPlace::of(const Job& job, std::int64_t number) {
  const std::int64_t top = number / job.hogels[1] * job.side - job.part.first_row;
  const std::int64_t left = number % job.hogels[1] * job.side;
  return {number, top, left, std::min(job.side, job.shape[1] - left), std::min(job.side, job.part.rows - top)};
}

namespace {

class CpuEngine : public Engine {
 public:
  ScaleFound scale(View<const Complex, 2> field, Modulation modulation, double share) override {
    ModulusShare found(modulation, share);
    do found.add(field);
    while (found.another_pass());
    return {found.modulus(), found.broken()};
  }
  void set_weights(const Job& /*job*/) override {}  // read from the job at every diffuse
  void diffuse(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) override {
    broken_ = first_broken(field);
    if (broken_ >= 0) return;
    if (skewed_can(job)) return diffuse_skewed(job, field, codes);
    parallel_for(job.first_hogel(), job.end_hogel(),
                 [&](std::int64_t number) { Hogel(job, HogelPlace::of(job, number)).run(field, codes); });
  }
  std::int64_t broken() override { return broken_; }

 private:
  std::int64_t broken_ = -1;
};

}  // namespace

std::unique_ptr<Engine> cpu_engine() { return std::make_unique<CpuEngine>(); }

}  // namespace holotone::diffusion
