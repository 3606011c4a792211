// Needs -ffp-contract=off: codes are the same bits on every backend (encode_math.h).
#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/hologram/encode_engine.hpp>
#include <holotone/hologram/encode_math.h>
#include <optional>

namespace holotone::encoding {
namespace {

constexpr std::int64_t block_rows = 8;

Complex32 plain(Complex u) { return {u.real(), u.imag()}; }

/// One row's inputs.
struct Row {
  const Complex32* field;
  std::int64_t nx;
  std::int32_t odd;  ///< parity of the row, for the checkerboard
  PhaseShift shift;  ///< row: one element
  const Complex32* beam_column;
  Complex32 beam_row;
};

struct Levels {
  PhaseLevels phase;
  AmplitudeRange amplitude;
  float peak;
};

// Loops over one row. Always inlined, so that they are compiled for each vector unit below.

enum class Shift { none, separable, map };

template <Shift shift>
HOLOTONE_ENCODE_INLINE void shift_turns(float* __restrict turns, const Row& row, std::int64_t first,
                                        std::int32_t count) {
  if constexpr (shift == Shift::separable) {
    const float* const column = row.shift.column + first;
    const float of_row = row.shift.row[0];
#pragma omp simd
    for (std::int32_t i = 0; i < count; ++i) turns[i] = add_turns(turns[i], add_turns(column[i], of_row));
  }
  if constexpr (shift == Shift::map) {
    const float* const map = row.shift.map + first;
#pragma omp simd
    for (std::int32_t i = 0; i < count; ++i) turns[i] = add_turns(turns[i], map[i]);
  }
}

// `const Row row` and `const Levels levels` are copies: through references the stores to `codes`, which may be bytes,
// could change them, and nothing would be vectorised.

constexpr std::int64_t chunk = 512;  // turns between the two loops of phase_row: 2 KiB, in the first cache

template <bool doubled, Shift shift, class Code>
HOLOTONE_ENCODE_INLINE void phase_row(const Row row, const Levels levels, Code* __restrict codes) {
  float turns[chunk];
  for (std::int64_t first = 0; first < row.nx; first += chunk) {
    const std::int64_t end = std::min(row.nx, first + chunk);
    const Complex32* const field = row.field + first;
    const auto count = static_cast<std::int32_t>(end - first);
#pragma omp simd
    for (std::int32_t i = 0; i < count; ++i) {
      if constexpr (doubled) {
        turns[i] = double_phase_turns(field[i], levels.peak, checkerboard(i + row.odd));  // chunks are even
      } else {
        turns[i] = turns_of(field[i]);
      }
    }
    shift_turns<shift>(turns, row, first, count);
    if (levels.phase.boundary != nullptr) {
      for (std::int64_t x = first; x < end; ++x) {
        codes[x] = static_cast<Code>(table_code(turns[x - first], levels.phase));
      }
    } else {
#pragma omp simd
      for (std::int64_t x = first; x < end; ++x) {
        codes[x] = static_cast<Code>(equal_step_code(turns[x - first], levels.phase));
      }
    }
  }
}

template <bool doubled, class Code>
HOLOTONE_ENCODE_INLINE void any_shift_row(const Row& row, const Levels& levels, Code* codes) {
  if (row.shift.map != nullptr) return phase_row<doubled, Shift::map>(row, levels, codes);
  if (row.shift.column != nullptr) return phase_row<doubled, Shift::separable>(row, levels, codes);
  phase_row<doubled, Shift::none>(row, levels, codes);
}

template <class Code>
HOLOTONE_ENCODE_INLINE void amplitude_row(const Row row, const Levels levels, Code* __restrict codes) {
#pragma omp simd
  for (std::int64_t x = 0; x < row.nx; ++x) {
    const float v = beam_real_part(row.field[x], row.beam_column[x], row.beam_row);
    codes[x] = static_cast<Code>(amplitude_code(v, levels.amplitude));
  }
}

template <class Code>
HOLOTONE_ENCODE_INLINE void burckhardt_row(const Row row, const Levels levels, Code* __restrict codes) {
  const auto nx = static_cast<std::int32_t>(row.nx);
#pragma omp simd
  for (std::int32_t x = 0; x < nx; ++x) {
    codes[x] = static_cast<Code>(amplitude_code(burckhardt_amplitude(row.field[x], x), levels.amplitude));
  }
}

template <class Code>
HOLOTONE_ENCODE_INLINE void encode_row(Encoding encoding, const Row& row, const Levels& levels, Code* codes) {
  switch (encoding) {
    case Encoding::phase: return any_shift_row<false>(row, levels, codes);
    case Encoding::double_phase: return any_shift_row<true>(row, levels, codes);
    case Encoding::amplitude:
    case Encoding::single_sideband: return amplitude_row(row, levels, codes);
    case Encoding::burckhardt: return burckhardt_row(row, levels, codes);
  }
}

/// Returns the maximum of `peak` and the magnitudes that determine the range. Ignores NaN.
HOLOTONE_ENCODE_INLINE float peak_of_row(Encoding encoding, const Row row, float peak) {
  const auto count = static_cast<std::int32_t>(row.nx);
  switch (encoding) {
    case Encoding::phase: break;
    case Encoding::double_phase:
#pragma omp simd reduction(max : peak)
      for (std::int64_t x = 0; x < row.nx; ++x) {
        const float a = absolute(octant_of(row.field[x]));
        peak = a > peak ? a : peak;
      }
      break;
    case Encoding::burckhardt:
#pragma omp simd reduction(max : peak)
      for (std::int32_t x = 0; x < count; ++x) {
        const float a = burckhardt_amplitude(row.field[x], x);
        peak = a > peak ? a : peak;
      }
      break;
    case Encoding::amplitude:
    case Encoding::single_sideband:
#pragma omp simd reduction(max : peak)
      for (std::int64_t x = 0; x < row.nx; ++x) {
        const float a = magnitude(beam_real_part(row.field[x], row.beam_column[x], row.beam_row));
        peak = a > peak ? a : peak;
      }
      break;
  }
  return peak;
}

// Compiled once for each vector unit.

HOLOTONE_SIMD_CLONES
void encode_any_row(Encoding encoding, const Row& row, const Levels& levels, std::uint16_t* codes) {
  encode_row(encoding, row, levels, codes);
}

HOLOTONE_SIMD_CLONES
void encode_any_row(Encoding encoding, const Row& row, const Levels& levels, std::uint8_t* codes) {
  encode_row(encoding, row, levels, codes);
}

HOLOTONE_SIMD_CLONES
float peak_of_any_row(Encoding encoding, const Row& row, float peak) { return peak_of_row(encoding, row, peak); }

/// Removes the frequencies of a row that a third of the panel's resolution cannot hold: |f_x| >= 1/6 cycle a pixel.
class BandLimit {
 public:
  explicit BandLimit(std::int64_t nx)
      : nx_(nx),
        distance_(fft::line_distance(nx)),
        forward_(nx, 1, distance_, FftDirection::forward),
        inverse_(nx, 1, distance_, FftDirection::inverse) {
    reserve();
  }

  /// Before a loop: there may be more threads than when the plan was made.
  void reserve() { memory_.reserve(distance_); }

  /// The band-limited row, in the calling thread's memory until its next call.
  const Complex* of(const Complex* row) {
    Complex* const line = memory_.thread_block();
    std::copy_n(row, nx_, line);
    forward_.execute(line);
    const auto removed = removed_bins(nx_);
    std::fill_n(line + removed.first, removed.count, Complex{});
    inverse_.execute(line);
    const float scale = 1.0f / static_cast<float>(nx_);
    for (std::int64_t x = 0; x < nx_; ++x) line[x] *= scale;
    return line;
  }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }

 private:
  std::int64_t nx_;
  std::int64_t distance_;
  fft::LinePlan<float> forward_;
  fft::LinePlan<float> inverse_;
  ThreadMemory<Complex> memory_;
};

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(Tables tables) : tables_(std::move(tables)) {
    low_ = tables_.low;
    high_ = tables_.high;
    if (tables_.encoding == Encoding::single_sideband) {
      spectrum_ = Array<Complex, 2>(tables_.shape);
      fft_.emplace(tables_.shape);
    }
    if (tables_.encoding == Encoding::burckhardt) band_limit_.emplace(tables_.shape[1]);
  }

  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint16_t, 2> codes) override {
    run(first_row, field, codes);
  }
  void execute(std::int64_t first_row, View<const Complex, 2> field, View<std::uint8_t, 2> codes) override {
    run(first_row, field, codes);
  }
  float peak(std::int64_t first_row, View<const Complex, 2> field) override {
    if (tables_.encoding == Encoding::phase) return 0;
    return peak_of(first_row, field.shape()[0], field.data());
  }
  [[nodiscard]] EncodeReport report() const override { return {low_, high_}; }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return tables_.shift_map.size() * sizeof(float) + spectrum_.bytes() + (fft_ ? fft_->workspace_bytes() : 0) +
           (band_limit_ ? band_limit_->bytes() : 0);
  }

 private:
  /// Returns the inputs of row y of the panel; `field` points to its first pixel.
  [[nodiscard]] Row make_row(const Complex* field, std::int64_t y) {
    if (band_limit_) field = band_limit_->of(field);
    const std::int64_t nx = tables_.shape[1];
    Row row{};
    row.field = reinterpret_cast<const Complex32*>(field);
    row.nx = nx;
    row.odd = static_cast<std::int32_t>(y % 2);
    if (!tables_.shift_map.empty()) row.shift.map = tables_.shift_map.data() + y * nx;
    if (!tables_.shift_column.empty()) {
      row.shift.column = tables_.shift_column.data();
      row.shift.row = tables_.shift_row.data() + y;
    }
    if (!tables_.beam_column.empty()) {
      row.beam_column = reinterpret_cast<const Complex32*>(tables_.beam_column.data());
      row.beam_row = plain(tables_.beam_row[static_cast<std::size_t>(y)]);
    }
    return row;
  }

  /// Calls body(block, y) for every row y of ny; the threads share the blocks.
  template <class Body>
  static void for_rows(std::int64_t ny, const Body& body) {
    const auto block_body = [&](std::int64_t block) {
      for (std::int64_t y = block * block_rows; y < std::min(ny, (block + 1) * block_rows); ++y) body(block, y);
    };
    if (ny <= block_rows) return block_body(0);  // waking threads costs more than a few rows
    parallel_for(0, block_count(ny), block_body);
  }

  static std::int64_t block_count(std::int64_t ny) { return (ny + block_rows - 1) / block_rows; }

  [[nodiscard]] float peak_of(std::int64_t first_row, std::int64_t rows, const Complex* field) {
    const std::int64_t nx = tables_.shape[1];
    std::vector<float> peaks(static_cast<std::size_t>(block_count(rows)));
    if (band_limit_) band_limit_->reserve();
    for_rows(rows, [&](std::int64_t block, std::int64_t y) {
      float& peak = peaks[static_cast<std::size_t>(block)];
      peak = peak_of_any_row(tables_.encoding, make_row(field + y * nx, first_row + y), peak);
    });
    return *std::max_element(peaks.begin(), peaks.end());
  }

  /// Returns the field without its lower sideband.
  const Complex* upper_sideband(View<const Complex, 2> field) {
    std::copy_n(field.data(), field.size(), spectrum_.data());
    fft_->execute(spectrum_.view(), FftDirection::forward);
    std::fill_n(spectrum_.data(), removed_rows(tables_.shape[0]) * tables_.shape[1], Complex{});
    fft_->execute(spectrum_.view(), FftDirection::inverse);
    return spectrum_.data();
  }

  template <class Code>
  void run(std::int64_t first_row, View<const Complex, 2> field, View<Code, 2> codes) {
    const Complex* source = tables_.encoding == Encoding::single_sideband ? upper_sideband(field) : field.data();
    if (tables_.measured_range) {
      const auto range = range_of_peak(peak_of(first_row, field.shape()[0], source), tables_.symmetric_range);
      low_ = range.amplitude_min;
      high_ = range.amplitude_max;
    }
    Levels levels{};
    levels.phase = {tables_.scale, tables_.last, tables_.threshold, 0, nullptr, nullptr, nullptr};
    if (!tables_.boundary.empty()) {
      levels.phase.boundary = tables_.boundary.data();
      levels.phase.code = tables_.code.data();
      levels.phase.bucket = tables_.bucket.data();
      levels.phase.buckets = static_cast<float>(tables_.bucket.size() - 1);
    }
    levels.amplitude = amplitude_range(low_, high_, tables_.levels);
    levels.peak = high_;
    const auto [rows, nx] = field.shape();
    if (band_limit_) band_limit_->reserve();
    for_rows(rows, [&, nx = nx](std::int64_t, std::int64_t y) {
      encode_any_row(tables_.encoding, make_row(source + y * nx, first_row + y), levels, codes.data() + y * nx);
    });
  }

  Tables tables_;
  float low_ = 0;
  float high_ = 0;
  Array<Complex, 2> spectrum_;
  std::optional<FftPlan> fft_;
  std::optional<BandLimit> band_limit_;
};

}  // namespace

std::unique_ptr<Engine> cpu_engine(Tables tables) { return std::make_unique<CpuEngine>(std::move(tables)); }

}  // namespace holotone::encoding
