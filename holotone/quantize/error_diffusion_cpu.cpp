#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/optics/turns_math.h>
#include <holotone/quantize/error_diffusion_cpu.hpp>
#include <limits>
#include <map>

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
  Hogel(const Job& job, const HogelPlace& place)
      : job_(job),
        values_(&job.weights.values(job.weights.values.shape()[0] > 1 ? place.number : 0, 0)),
        place_(place),
        reach_(Reach::of(job.weights)),
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
        if (values_[i] != 0 && taps[i].dy <= row) {
          const Parts above = errors(row - taps[i].dy);
          collect(sum, {above.re - taps[i].dx, above.im - taps[i].dx}, values_[i], place_.width);
        }
      }
      along_row(sum, errors(row), {taps.data() + i, values_ + i, taps.size() - i}, job_.levels, place_.width,
                &codes(place_.top + row, place_.left));
    }
  }

 private:
  /// Of the hogel's first column. Those to both sides of it are never written.
  Parts errors(std::int64_t row) {
    float* const own = errors_.data() + 2 * (row % reach_.rows) * pitch_ + reach_.columns;
    return {own, own + pitch_};
  }

  const Job& job_;
  const float* values_;
  HogelPlace place_;
  Reach reach_;
  std::int64_t pitch_;
  std::vector<float> errors_;
  std::vector<float> sums_;
};

/// Hogels that a group may take: of one size, as many as keep all threads busy.
std::vector<std::vector<HogelPlace>> groups_of(const Job& job) {
  const std::int64_t count = job.hogels[0] * job.hogels[1];
  const std::int64_t a_thread = (count + thread_count() - 1) / thread_count();
  const auto most = static_cast<std::size_t>(groups_can(job) ? std::min<std::int64_t>(lanes, a_thread) : 1);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<HogelPlace>> by_size;
  std::vector<std::vector<HogelPlace>> groups;
  for (std::int64_t number = 0; number < count; ++number) {
    const auto place = HogelPlace::of(job, number);
    auto& own = by_size[{place.height, place.width}];
    own.push_back(place);
    if (own.size() < most) continue;
    groups.push_back(std::move(own));
    own.clear();
  }
  for (auto& [size, rest] : by_size) {
    if (!rest.empty()) groups.push_back(std::move(rest));
  }
  return groups;
}

}  // namespace

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

ScaleFound scale_cpu(View<const Complex, 2> field, Modulation modulation, double share) {
  // Squares of moduli in float64, which holds all of them. Their bits are in their order: of the upper 32 the first half, then the other of
  // those where the share ends. What lies below is rounded up, by 2^-21 at most.
  constexpr std::size_t bins = 65536;
  constexpr std::int64_t chunks = 64;
  const auto values = field.host();
  const auto count = static_cast<std::int64_t>(values.size());
  const auto of_chunk = [&](std::int64_t chunk, auto&& body) {
    for (std::int64_t i = chunk * count / chunks; i < (chunk + 1) * count / chunks; ++i) {
      const Complex own = values[static_cast<std::size_t>(i)];
      const auto re = static_cast<double>(own.real());
      const auto im = modulation == Modulation::phase ? static_cast<double>(own.imag()) : 0.0;
      const double square = re * re + im * im;
      const bool finite = std::isfinite(own.real()) && std::isfinite(own.imag());
      body(i, finite, static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(square) >> 32));
    }
  };
  const auto histogram = [&](std::int64_t& broken, const auto& bin_of) {
    std::vector<std::vector<std::uint32_t>> parts(chunks);
    std::vector<std::int64_t> broken_parts(chunks, -1);
    parallel_for(0, chunks, [&](std::int64_t chunk) {
      auto& own = parts[static_cast<std::size_t>(chunk)];
      auto& first = broken_parts[static_cast<std::size_t>(chunk)];
      own.assign(bins + 1, 0);  // the last one takes those that do not count
      of_chunk(chunk, [&](std::int64_t i, bool finite, std::uint32_t bits) {
        if (!finite && first < 0) first = i;
        ++own[finite ? bin_of(bits) : bins];
      });
    });
    const auto at = std::find_if(broken_parts.begin(), broken_parts.end(), [](std::int64_t i) { return i >= 0; });
    broken = at != broken_parts.end() ? *at : -1;
    std::vector<std::int64_t> all(bins);
    for (const auto& own : parts) {
      for (std::size_t bin = 0; bin < bins; ++bin) all[bin] += own[bin];
    }
    return all;
  };
  auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count)));
  rank = std::clamp<std::int64_t>(rank, 1, count);
  const auto bin_at = [&](const std::vector<std::int64_t>& own) {
    std::size_t bin = 0;
    for (; bin + 1 < bins && own[bin] < rank; ++bin) rank -= own[bin];
    return static_cast<std::uint32_t>(bin);
  };
  std::int64_t broken = -1;
  const auto upper = bin_at(histogram(broken, [](std::uint32_t bits) { return std::size_t{bits >> 16}; }));
  if (broken >= 0) return {0, broken};
  const auto lower = bin_at(histogram(
      broken, [upper](std::uint32_t bits) { return bits >> 16 == upper ? std::size_t{bits & 0xFFFFU} : bins; }));
  const double square = std::bit_cast<double>(std::uint64_t{upper << 16 | lower} << 32 | 0xFFFFFFFFU);
  return {static_cast<float>(std::min(std::sqrt(square), double{std::numeric_limits<float>::max()})), -1};
}

HogelPlace HogelPlace::of(const Job& job, std::int64_t number) {
  const std::int64_t top = number / job.hogels[1] * job.side;
  const std::int64_t left = number % job.hogels[1] * job.side;
  return {number, top, left, std::min(job.side, job.shape[1] - left), std::min(job.side, job.shape[0] - top)};
}

Reach Reach::of(const DiffusionWeights& weights) {
  Reach reach;
  for (const auto& tap : weights.taps) {
    reach.columns = std::max<std::int64_t>(reach.columns, std::abs(tap.dx));
    reach.rows = std::max<std::int64_t>(reach.rows, tap.dy + 1);
  }
  return reach;
}

void diffuse_cpu(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  constexpr std::size_t enough = 4;  // lanes, from which on a group takes less time than its hogels one by one
  const auto groups = groups_of(job);
  parallel_for(0, std::ssize(groups), [&](std::int64_t i) {
    const auto& own = groups[static_cast<std::size_t>(i)];
    if (own.size() >= enough) return diffuse_group(job, own, field, codes);
    for (const auto& place : own) Hogel(job, place).run(field, codes);
  });
}

}  // namespace holotone::diffusion
