// Error diffusion on the CPU, several rows at a time, each some columns behind the row above.
// Needs -ffp-contract=off: codes are the same bits on every backend (phase_math.h).
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/quantize/error_diffusion_cpu.hpp>
#include <holotone/quantize/phase_math.h>
#include <limits>
#include <memory>
#include <thread>

// Sixteen rows of a hogel side by side, one per lane of a vector. At step T lane l of rows r .. r + 15 is at column T -
// (r + l) lead. A tap is then the same number of steps and lanes back for every lane, and its errors are contiguous.
// The following rows run at the same steps, so several threads work on one hogel if each waits for the rows above.
// Every pixel's sum has the order of the scalar loop, so the codes are the same.
namespace holotone::diffusion {
namespace {

constexpr std::int64_t lanes = 16;
constexpr std::int64_t steps_at_once = 64;
constexpr std::int64_t plane = 2 * lanes;  ///< errors of one step: of the rows above, then the lanes' own
constexpr std::int64_t pitch = 2 * plane;  ///< real parts, then imaginary ones
constexpr std::int64_t longest_memory = 4096;

/// Position of the taps in errors ordered by steps and lanes.
struct Skew {
  std::int64_t lead = 0;    ///< lead of a row over the next, in columns
  std::int64_t memory = 0;  ///< maximum number of steps that a tap reaches back
  std::int64_t above = 0;   ///< maximum number of rows that a tap reaches up

  explicit Skew(const std::vector<DiffusionTap>& taps) {
    for (const auto& tap : taps) {
      above = std::max<std::int64_t>(above, tap.dy);
      // One column more than necessary: errors from above are then never those of the previous step, which are known
      // late.
      if (tap.dy > 0) lead = std::max<std::int64_t>(lead, (1 - tap.dx + tap.dy - 1) / tap.dy + 1);
    }
    for (const auto& tap : taps) memory = std::max(memory, tap.dy * lead + tap.dx);
  }
};

struct LaneTap {
  std::int64_t offset;  ///< offset in floats from a step's first error to the first one collected
  float weight;
};

/// Input and output of a block of steps.
struct Block {
  float* errors;         ///< of its first step, {steps, pitch}; preceded by those of `memory` steps
  const float* values;   ///< h, {steps, 2, lanes}
  std::uint8_t* codes;   ///< {steps, lanes}
  const LaneTap* taps;   ///< in the order of sums: rows above, then the own row
  const float* weights;  ///< {taps, lanes}, if the lanes have sets of weights of their own
  std::size_t above_count;
  std::size_t tap_count;
  std::int32_t first[lanes];  ///< step at which a lane enters its row
  std::int32_t last[lanes];   ///< step at which it leaves the row
};

/// Finds the nearest levels of all lanes.
HOLOTONE_ALWAYS_INLINE void find_nearest(const float* re, const float* im, const Levels& levels, std::int32_t* level) {
  const bool phase = levels.modulation == Modulation::phase;
  const float count = levels.count;
  if (!levels.boundary.empty()) {
    alignas(64) float place[lanes];
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      const float turns = phase_math::phase_of(re[lane], im[lane], 1);
      place[lane] = !phase ? re[lane] : turns < 0 ? turns + 1 : turns;
    }
    for (int lane = 0; lane < lanes; ++lane) level[lane] = code_within(levels, place[lane]);
  } else if (phase) {
    const auto all = static_cast<std::int32_t>(count);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      level[lane] = phase_math::nearest_level(phase_math::phase_of(re[lane], im[lane], count), all);
    }
  } else {
    const float last = count - 1;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      const float code = std::floor(re[lane] * last + 0.5F);
      level[lane] = static_cast<std::int32_t>(code > 0 ? (code < last ? code : last) : 0);
    }
  }
}

/// Keeps the part of an error along the line through two phases.
HOLOTONE_ALWAYS_INLINE void keep_along_line(float* re, float* im, float line_re, float line_im) {
#pragma omp simd
  for (int lane = 0; lane < lanes; ++lane) {
    const float along = re[lane] * line_re + im[lane] * line_im;
    re[lane] = along * line_re;
    im[lane] = along * line_im;
  }
}

/// Adds weight * errors of the taps [first, last) to the sums of all lanes. many_sets: each lane has its own weight.
template <bool is_real, bool many_sets>
HOLOTONE_ALWAYS_INLINE void collect(float* re, float* im, const float* error, const Block& block, std::size_t first,
                                    std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    const float weight = block.taps[i].weight;
    const float* const weights = many_sets ? block.weights + i * lanes : nullptr;
    const float* const from = error + block.taps[i].offset;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      const float by = many_sets ? weights[lane] : weight;
      re[lane] = std::fma(by, from[lane], re[lane]);
      if (!is_real) im[lane] = std::fma(by, from[plane + lane], im[lane]);
    }
  }
}

/// Steps [begin, end) of a block.
template <bool is_real, bool many_sets>
HOLOTONE_ALWAYS_INLINE void quantize_steps(const Block& block, const Job& job, std::int32_t begin, std::int32_t end) {
  const Levels& levels = job.levels;
  const float* const shown_re = job.level_re.data();
  const float* const shown_im = job.level_im.data();
  const std::int32_t* const first = block.first;
  const std::int32_t* const last = block.last;
  for (std::int32_t t = begin; t < end; ++t) {
    alignas(64) float re[lanes] = {};
    alignas(64) float im[lanes] = {};
    alignas(64) std::int32_t level[lanes];
    float* const errors = block.errors + t * pitch;
    const float* const value = block.values + t * 2 * lanes;
    collect<is_real, many_sets>(re, im, errors, block, 0, block.above_count);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      re[lane] += value[lane];
      im[lane] = is_real ? 0 : im[lane] + value[lanes + lane];
    }
    collect<is_real, many_sets>(re, im, errors, block, block.above_count, block.tap_count);
    find_nearest(re, im, levels, level);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      re[lane] -= shown_re[level[lane]];
      if (!is_real) im[lane] -= shown_im[level[lane]];
    }
    if (!is_real && levels.line) keep_along_line(re, im, levels.line_re, levels.line_im);
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) {
      const bool inside = (t >= first[lane]) & (t < last[lane]);
      errors[lanes + lane] = inside ? re[lane] : 0;
      if (!is_real) errors[plane + lanes + lane] = inside ? im[lane] : 0;
    }
    // Codes in a separate loop: in one loop the vectors of floats would be as short as those of bytes.
    std::uint8_t* const codes = block.codes + t * lanes;
#pragma omp simd
    for (int lane = 0; lane < lanes; ++lane) codes[lane] = static_cast<std::uint8_t>(level[lane]);
  }
}

HOLOTONE_SIMD_CLONES void complex_steps(const Block& block, const Job& job) {
  quantize_steps<false, false>(block, job, 0, steps_at_once);
}
HOLOTONE_SIMD_CLONES void real_steps(const Block& block, const Job& job) {
  quantize_steps<true, false>(block, job, 0, steps_at_once);
}
HOLOTONE_SIMD_CLONES void complex_steps_of_sets(const Block& block, const Job& job, std::int32_t begin,
                                                std::int32_t end) {
  quantize_steps<false, true>(block, job, begin, end);
}
HOLOTONE_SIMD_CLONES void real_steps_of_sets(const Block& block, const Job& job, std::int32_t begin, std::int32_t end) {
  quantize_steps<true, true>(block, job, begin, end);
}

/// State shared by the groups of rows of one hogel.
struct HogelState {
  HogelPlace place;
  std::int64_t groups;
  std::vector<float>
      edge;  ///< errors of a group's last rows, {2, 2, above, width}: even and odd groups, real and imaginary parts
  std::unique_ptr<std::atomic<std::int64_t>[]> done;  ///< step before which a group's errors are known

  HogelState(const HogelPlace& given_place, std::int64_t above)
      : place(given_place),
        groups((given_place.height + lanes - 1) / lanes),
        edge(static_cast<std::size_t>(4 * above * given_place.width)),
        done(new std::atomic<std::int64_t>[static_cast<std::size_t>(groups)]) {
    for (std::int64_t i = 0; i < groups; ++i) done[static_cast<std::size_t>(i)].store(-1, std::memory_order_relaxed);
  }
};

/// Processes groups of rows one after the other, on one thread.
class RowGroup {
 public:
  RowGroup(const Job& job, const Skew& skew, View<const Complex, 2> field, View<std::uint8_t, 2> codes)
      : job_(job),
        skew_(skew),
        field_(field),
        codes_(codes),
        is_real_(job.levels.modulation == Modulation::amplitude),
        errors_(static_cast<std::size_t>((skew.memory + steps_at_once) * pitch)),
        values_(static_cast<std::size_t>(steps_at_once * 2 * lanes)),
        row_(static_cast<std::size_t>(2 * steps_at_once)),
        block_codes_(static_cast<std::size_t>(steps_at_once * lanes)) {
    taps_.reserve(job.weights.taps.size());
    if (job.set_side > 0) lane_weights_.resize(job.weights.taps.size() * lanes);
  }

  void run(HogelState& hogel, std::int64_t group) {
    hogel_ = &hogel;
    group_ = group;
    first_row_ = group * lanes;
    rows_ = std::min(lanes, hogel.place.height - first_row_);
    set_taps();
    lane_set_.fill(-1);
    auto& done = hogel.done[static_cast<std::size_t>(group)];
    const std::int64_t begin = first_row_ * skew_.lead / steps_at_once * steps_at_once;
    const std::int64_t end = (first_row_ + rows_ - 1) * skew_.lead + hogel.place.width;
    std::fill(errors_.begin(), errors_.end(), 0.0F);
    for (std::int64_t step = begin; step < end; step += steps_at_once) {
      await_above(step + steps_at_once);
      if (step == begin) take_edge(begin - skew_.memory, begin, errors_.data());
      take_edge(step, step + steps_at_once, errors_.data() + skew_.memory * pitch);
      do_block(step);
      give_edge(step);
      done.store(step + steps_at_once, std::memory_order_release);
      std::copy(errors_.end() - skew_.memory * pitch, errors_.end(), errors_.begin());
    }
    done.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_release);
  }

 private:
  void set_taps() {
    const auto& weights = job_.weights;
    const std::int64_t set =
        weights.values.shape()[0] > 1 ? hogel_->place.number : 0;  // unused if lanes have their own
    taps_.clear();
    above_count_ = 0;
    for (std::size_t i = 0; i < weights.taps.size(); ++i) {
      const auto [dx, dy] = weights.taps[i];
      const float weight = weights.values(set, static_cast<std::int64_t>(i));
      if (weight == 0 && job_.set_side == 0) continue;
      above_count_ += dy > 0 ? 1 : 0;
      taps_.push_back({lanes - dy - (dy * skew_.lead + dx) * pitch, weight});
    }
  }

  /// Sets the weights of all lanes for a step. Returns the step of the next change.
  std::int64_t set_lane_weights(std::int64_t step) {
    const auto& place = hogel_->place;
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t row = std::min(first_row_ + lane, place.height - 1);
      const std::int64_t start = (first_row_ + lane) * skew_.lead;  // step at column 0
      const std::int64_t column = std::clamp<std::int64_t>(step - start, 0, place.width - 1);
      const std::int64_t end = (column / job_.set_side + 1) * job_.set_side;
      if (end < place.width) next = std::min(next, start + end);
      const std::int64_t set = job_.set_at(row, column);
      auto& lane_state = lane_set_[static_cast<std::size_t>(lane)];
      if (lane_state == set) continue;
      lane_state = set;
      for (std::size_t i = 0; i < taps_.size(); ++i) {
        lane_weights_[i * lanes + static_cast<std::size_t>(lane)] =
            job_.weights.values(set, static_cast<std::int64_t>(i));
      }
    }
    return next;
  }

  void run_steps(const Block& block, std::int64_t step) {
    if (job_.set_side == 0) return is_real_ ? real_steps(block, job_) : complex_steps(block, job_);
    for (std::int64_t from = step; from < step + steps_at_once;) {
      const std::int64_t to = std::min(set_lane_weights(from), step + steps_at_once);
      const auto begin = static_cast<std::int32_t>(from - step);
      const auto end = static_cast<std::int32_t>(to - step);
      is_real_ ? real_steps_of_sets(block, job_, begin, end) : complex_steps_of_sets(block, job_, begin, end);
      from = to;
    }
  }

  void await_above(std::int64_t step) const {
    if (group_ == 0 || skew_.above == 0) return;
    const auto& above = hogel_->done[static_cast<std::size_t>(group_ - 1)];
    while (above.load(std::memory_order_acquire) < step) std::this_thread::yield();
  }

  /// Returns the edge's row that is `back` rows above row (group + 1) lanes.
  float* edge_of(std::int64_t group, std::int64_t part, std::int64_t back) const {
    return hogel_->edge.data() + ((group % 2 * 2 + part) * skew_.above + back - 1) * hogel_->place.width;
  }

  /// Columns [from, to) of a row at steps [begin, end).
  struct Columns {
    std::int64_t from;
    std::int64_t to;
  };
  [[nodiscard]] Columns columns_at(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    const std::int64_t shift = row * skew_.lead;
    const std::int64_t from = std::clamp<std::int64_t>(begin - shift, 0, hogel_->place.width);
    return {from, std::clamp<std::int64_t>(end - shift, from, hogel_->place.width)};
  }

  /// Copies the errors of the rows above at steps [begin, end) to the places before the lanes.
  void take_edge(std::int64_t begin, std::int64_t end, float* to) const {
    if (group_ == 0) return;
    for (std::int64_t back = 1; back <= skew_.above; ++back) {
      const std::int64_t row = first_row_ - back;
      const auto [first, last] = columns_at(row, begin, end);
      for (std::int64_t part = 0; part < (is_real_ ? 1 : 2); ++part) {
        const float* const from = edge_of(group_ - 1, part, back);
        float* const lane = to + part * plane + lanes - back;
        for (std::int64_t t = begin; t < end; ++t) lane[(t - begin) * pitch] = 0;
        for (std::int64_t x = first; x < last; ++x) lane[(x + row * skew_.lead - begin) * pitch] = from[x];
      }
    }
  }

  void give_edge(std::int64_t step) const {
    if (group_ + 1 == hogel_->groups) return;
    for (std::int64_t back = 1; back <= skew_.above; ++back) {
      const std::int64_t row = first_row_ + lanes - back;
      const auto [first, last] = columns_at(row, step, step + steps_at_once);
      for (std::int64_t part = 0; part < (is_real_ ? 1 : 2); ++part) {
        float* const to = edge_of(group_, part, back);
        const float* const lane = errors_.data() + skew_.memory * pitch + part * plane + 2 * lanes - back;
        for (std::int64_t x = first; x < last; ++x) to[x] = lane[(x + row * skew_.lead - step) * pitch];
      }
    }
  }

  void do_block(std::int64_t step) {
    Block block{errors_.data() + skew_.memory * pitch,
                values_.data(),
                block_codes_.data(),
                taps_.data(),
                lane_weights_.data(),
                above_count_,
                taps_.size(),
                {},
                {}};
    const auto& place = hogel_->place;
    for (std::int64_t lane = 0; lane < rows_; ++lane) {
      const std::int64_t row = first_row_ + lane;
      const auto [first, last] = columns_at(row, step, step + steps_at_once);
      const std::int64_t at = first + row * skew_.lead - step;
      block.first[lane] = static_cast<std::int32_t>(at);
      block.last[lane] = static_cast<std::int32_t>(at + last - first);
      if (first == last) continue;
      const Parts parts{row_.data(), row_.data() + steps_at_once};
      read_row(&field_(place.top + row, place.left + first), job_, parts, last - first);
      float* const to = values_.data() + at * 2 * lanes + lane;
      for (std::int64_t x = 0; x < last - first; ++x) {
        to[x * 2 * lanes] = parts.re[x];
        to[x * 2 * lanes + lanes] = parts.im[x];
      }
    }
    run_steps(block, step);
    for (std::int64_t lane = 0; lane < rows_; ++lane) {
      const std::int64_t count = block.last[lane] - block.first[lane];
      if (count == 0) continue;
      const std::int64_t row = first_row_ + lane;
      std::uint8_t* const to = &codes_(place.top + row, place.left + block.first[lane] + step - row * skew_.lead);
      const std::uint8_t* const from = block_codes_.data() + block.first[lane] * lanes + lane;
      for (std::int64_t x = 0; x < count; ++x) to[x] = from[x * lanes];
    }
  }

  const Job& job_;
  const Skew& skew_;
  View<const Complex, 2> field_;
  View<std::uint8_t, 2> codes_;
  bool is_real_;
  std::vector<float> errors_;  ///< {memory + steps, pitch}
  std::vector<float> values_;
  std::vector<float> row_;
  std::vector<std::uint8_t> block_codes_;
  std::vector<LaneTap> taps_;
  std::vector<float> lane_weights_;             ///< {taps, lanes}
  std::array<std::int64_t, lanes> lane_set_{};  ///< sets in lane_weights_; -1: none
  std::size_t above_count_ = 0;
  HogelState* hogel_ = nullptr;
  std::int64_t group_ = 0;
  std::int64_t first_row_ = 0;
  std::int64_t rows_ = 0;
};

/// Processes all groups of the hogels [first, last), their first groups first. A thread waits only for a group that was
/// started before its own.
void diffuse_batch(const Job& job, const Skew& skew, std::int64_t first, std::int64_t last,
                   View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  std::vector<HogelState> hogels;
  std::int64_t max_groups = 0;
  for (std::int64_t number = first; number < last; ++number) {
    hogels.emplace_back(HogelPlace::of(job, number), skew.above);
    max_groups = std::max(max_groups, hogels.back().groups);
  }
  const std::int64_t count = last - first;
  std::atomic<std::int64_t> next = 0;
  parallel_for(0, std::min<std::int64_t>(thread_count(), max_groups * count), [&](std::int64_t) {
    RowGroup group(job, skew, field, codes);
    for (std::int64_t ticket = next++; ticket < max_groups * count; ticket = next++) {
      auto& hogel = hogels[static_cast<std::size_t>(ticket % count)];
      if (ticket / count < hogel.groups) group.run(hogel, ticket / count);
    }
  });
}

}  // namespace

bool skewed_can(const Job& job) {
  const Skew skew(job.weights.taps);
  return !job.serpentine && skew.above <= lanes && skew.memory <= longest_memory;
}

void diffuse_skewed(const Job& job, View<const Complex, 2> field, View<std::uint8_t, 2> codes) {
  constexpr std::int64_t pixels_at_once = 1 << 22;
  const Skew skew(job.weights.taps);
  const std::int64_t end = job.end_hogel();
  const std::int64_t batch = std::max<std::int64_t>(
      4 * thread_count(),
      pixels_at_once / std::max<std::int64_t>(1, std::min(job.side, job.shape[0]) * std::min(job.side, job.shape[1])));
  for (std::int64_t first = job.first_hogel(); first < end; first += batch) {
    diffuse_batch(job, skew, first, std::min(first + batch, end), field, codes);
  }
}

}  // namespace holotone::diffusion
