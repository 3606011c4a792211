#include <algorithm>
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/optics/turns_math.h>
#include <holotone/quantize/error_diffusion_cpu.hpp>

namespace holotone::diffusion {
namespace {

/// Columns whose sums stay in a first-level cache from tap to tap.
constexpr std::int64_t columns_at_once = 32;

/// sums += weight * errors: `count` columns of all lanes, each with its own weight.
HOLOTONE_SIMD_CLONES void collect(float* __restrict sums, const float* __restrict errors,
                                  const float* __restrict weight, std::int64_t count) {
  for (std::int64_t x = 0; x < count; ++x) {
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      sums[x * lanes + lane] = std::fma(weight[lane], errors[x * lanes + lane], sums[x * lanes + lane]);
    }
  }
}

/// What quantises a column: equal steps.
struct Steps {
  bool phase;
  float count;
  const float* re;
  const float* im;
};

/// A tap in the row itself.
struct RowTap {
  std::int64_t back;  ///< floats to the errors it collects
  const float* weight;
};

/// Each column of all lanes collects from those before it in its row, then errs itself.
HOLOTONE_SIMD_CLONES void along_row(const Parts sum, const Parts errors, const RowTap* taps, std::size_t tap_count,
                                    const Steps steps, std::int64_t count, std::uint8_t* __restrict codes) {
  for (std::int64_t x = 0; x < count; ++x) {
    alignas(64) float re[lanes];
    alignas(64) float im[lanes];
    const float* const sum_re = sum.re + x * lanes;
    const float* const sum_im = sum.im + x * lanes;
    float* const own_re = errors.re + x * lanes;
    float* const own_im = errors.im + x * lanes;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      re[lane] = sum_re[lane];
      im[lane] = sum_im[lane];
    }
    for (std::size_t i = 0; i < tap_count; ++i) {
      const float* const weight = taps[i].weight;
      const float* const from_re = own_re - taps[i].back;
      const float* const from_im = own_im - taps[i].back;
#pragma omp simd
      for (int lane = 0; lane < lanes; ++lane) {
        re[lane] = std::fma(weight[lane], from_re[lane], re[lane]);
        im[lane] = std::fma(weight[lane], from_im[lane], im[lane]);
      }
    }
    alignas(64) std::int32_t level[lanes];
    if (steps.phase) {
#pragma omp simd
      for (int lane = 0; lane < lanes; ++lane) {
        const float code = std::floor(turns_math::turns_of({re[lane], im[lane]}) * steps.count + 0.5F);
        level[lane] = static_cast<std::int32_t>(code < steps.count ? code : 0);
      }
    } else {
      const float last = steps.count - 1;
#pragma omp simd
      for (int lane = 0; lane < lanes; ++lane) {
        const float code = std::floor(re[lane] * last + 0.5F);
        level[lane] = static_cast<std::int32_t>(code > 0 ? (code < last ? code : last) : 0);
      }
    }
    // Bytes apart from floats: else vectors are as short as theirs.
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      own_re[lane] = re[lane] - steps.re[level[lane]];
      own_im[lane] = im[lane] - steps.im[level[lane]];
    }
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) codes[x * lanes + lane] = static_cast<std::uint8_t>(level[lane]);
  }
}

/// Errors and sums of the group, lane beside lane; lanes without a hogel have zeros.
class Group {
 public:
  Group(const Job& job, std::span<const HogelPlace> hogels)
      : job_(job),
        hogels_(hogels),
        width_(hogels[0].width),
        reach_(Reach::of(job.weights)),
        pitch_((width_ + 2 * reach_.columns) * lanes),
        errors_(static_cast<std::size_t>(2 * reach_.rows * pitch_)),
        sums_(static_cast<std::size_t>(2 * width_ * lanes)),
        row_(static_cast<std::size_t>(2 * width_)),
        codes_(static_cast<std::size_t>(width_ * lanes)),
        weights_(job.weights.taps.size() * lanes) {
    const bool shared = job.weights.values.shape()[0] == 1;
    for (std::size_t lane = 0; lane < hogels.size(); ++lane) {
      for (std::size_t i = 0; i < job.weights.taps.size(); ++i) {
        weights_[i * lanes + lane] = job.weights.values(shared ? 0 : hogels[lane].number, static_cast<std::int64_t>(i));
      }
    }
  }

  void run(View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
    const auto& taps = job_.weights.taps;
    const auto in_row = static_cast<std::size_t>(
        std::find_if(taps.begin(), taps.end(), [](const DiffusionTap& tap) { return tap.dy == 0; }) - taps.begin());
    std::vector<RowTap> row_taps;
    for (std::size_t i = in_row; i < taps.size(); ++i) row_taps.push_back({taps[i].dx * lanes, &weights_[i * lanes]});
    const Steps steps{job_.levels.modulation == Modulation::phase, job_.levels.count, job_.levels.re.data(),
                      job_.levels.im.data()};
    for (std::int64_t row = 0; row < hogels_[0].height; ++row) {
      read(field, row);
      const Parts own = errors(row);
      for (std::int64_t x = 0; x < width_; x += columns_at_once) {
        const std::int64_t count = std::min(columns_at_once, width_ - x);
        const Parts sum{sums_.data() + x * lanes, sums_.data() + (width_ + x) * lanes};
        for (std::size_t i = 0; i < in_row; ++i) {
          if (taps[i].dy > row) continue;
          const Parts above = errors(row - taps[i].dy);
          const std::int64_t from = (x - taps[i].dx) * lanes;
          collect(sum.re, above.re + from, &weights_[i * lanes], count);
          collect(sum.im, above.im + from, &weights_[i * lanes], count);
        }
        along_row(sum, {own.re + x * lanes, own.im + x * lanes}, row_taps.data(), row_taps.size(), steps, count,
                  codes_.data() + x * lanes);
      }
      write(codes, row);
    }
  }

 private:
  /// Of the group's first column. Those to both sides of the hogels are never written.
  Parts errors(std::int64_t row) {
    float* const own = errors_.data() + 2 * (row % reach_.rows) * pitch_ + reach_.columns * lanes;
    return {own, own + pitch_};
  }
  void read(View<const Complex, 2> field, std::int64_t row) {
    const Parts own{row_.data(), row_.data() + width_};
    for (std::size_t lane = 0; lane < hogels_.size(); ++lane) {
      read_row(&field(hogels_[lane].top + row, hogels_[lane].left), job_, own, width_);
      float* const re = sums_.data() + lane;
      float* const im = re + width_ * lanes;
      for (std::int64_t x = 0; x < width_; ++x) {
        re[x * lanes] = own.re[x];
        im[x * lanes] = own.im[x];
      }
    }
  }
  void write(View<std::uint8_t, 2> codes, std::int64_t row) const {
    for (std::size_t lane = 0; lane < hogels_.size(); ++lane) {
      std::uint8_t* const to = &codes(hogels_[lane].top + row, hogels_[lane].left);
      for (std::int64_t x = 0; x < width_; ++x) to[x] = codes_[static_cast<std::size_t>(x) * lanes + lane];
    }
  }

  const Job& job_;
  std::span<const HogelPlace> hogels_;
  std::int64_t width_;
  Reach reach_;
  std::int64_t pitch_;
  std::vector<float> errors_;
  std::vector<float> sums_;
  std::vector<float> row_;
  std::vector<std::uint8_t> codes_;
  std::vector<float> weights_;  ///< {taps, lanes}
};

}  // namespace

bool groups_can(const Job& job) { return job.levels.boundary.empty() && !job.levels.line; }

void diffuse_group(const Job& job, std::span<const HogelPlace> hogels, View<const Complex, 2> field,
                   View<std::uint8_t, 2> codes) {
  Group(job, hogels).run(field, codes);
}

}  // namespace holotone::diffusion
