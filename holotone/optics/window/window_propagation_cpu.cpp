#include <algorithm>
#include <holotone/core/simd.hpp>
#include <holotone/core/thread_memory.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/fft/lines_cpu.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/window/window_propagation.hpp>
#include <vector>

namespace holotone::window {
namespace {

inline Complex turned(double turns) {
  float sine = 0;
  float cosine = 0;
  sincos_turns(reduce_turns(turns), sine, cosine);
  return {cosine, sine};
}

/// Sums over the samples of a line at the bins' frequencies: see input_turns.
class ChirpLines {
 public:
  explicit ChirpLines(const RouteAxis& axis)
      : kernel_(chirp_spectrum(axis)),
        distance_(fft::gathered_distance(axis.length)),
        forward_(axis.length, 1, distance_, FftDirection::forward),
        inverse_(axis.length, 1, distance_, FftDirection::inverse) {}

  /// Sets the factors of a tile.
  void set(const TileAxis& axis) {
    input_.resize(static_cast<std::size_t>(axis.count));
    output_.resize(static_cast<std::size_t>(axis.bins));
    for (std::int64_t n = 0; n < axis.count; ++n) input_[static_cast<std::size_t>(n)] = turned(input_turns(axis, n));
    for (std::int64_t i = 0; i < axis.bins; ++i) output_[static_cast<std::size_t>(i)] = turned(output_turns(axis, i));
  }

  /// Complex numbers of memory for a line.
  [[nodiscard]] std::int64_t distance() const { return distance_; }

  /// In place, aligned: from `input_.size()` samples to `output_.size()` bins.
  void execute(Complex* line) const { convolve<false>(line, input_, output_); }
  /// In place: from bins to samples. The kernel's spectrum is that of a circular convolution, whose adjoint has the
  /// conjugate spectrum.
  void adjoint(Complex* line) const { convolve<true>(line, output_, input_); }

 private:
  template <bool conjugate>
  void convolve(Complex* line, const std::vector<Complex>& before, const std::vector<Complex>& after) const {
    const auto times = [](Complex a, Complex b) { return product(a, conjugate ? std::conj(b) : b); };
    const std::int64_t length = kernel_.size();
    for (std::size_t n = 0; n < before.size(); ++n) line[n] = times(line[n], before[n]);
    std::fill(line + before.size(), line + length, Complex{});
    forward_.execute(line);
    const Complex* const kernel = kernel_.data();
    for (std::int64_t i = 0; i < length; ++i) line[i] = times(line[i], kernel[i]);
    inverse_.execute(line);
    for (std::size_t i = 0; i < after.size(); ++i) line[i] = times(line[i], after[i]);
  }

  Array<Complex, 1> kernel_;
  std::int64_t distance_;
  fft::LinePlan<float> forward_;
  fft::LinePlan<float> inverse_;
  std::vector<Complex> input_;
  std::vector<Complex> output_;
};

/// Factors of the bins of a line along axis 0; real parts and imaginary parts.
struct Factors {
  float* re;
  float* im;
  float* out_down;   ///< scratch
  float* out_right;  ///< scratch
};

HOLOTONE_SIMD_CLONES
void transfer_line(const TileWay& way, std::int64_t right, const Factors& to) {
  const TileAxis& down = way.axis[0];
  const double fx = frequency(way.axis[1], right);
  for (std::int64_t i = 0; i < down.bins; ++i) {
    const double fy = frequency(down, i);
    const double rest = way.inverse_wavelength_squared - fx * fx - fy * fy;
    const double w = std::sqrt(rest > 0 ? rest : 1.0);
    to.re[i] = reduce_turns(way.distance_m * w + fx * way.axis[1].shift + fy * down.shift);
    const float gone = rest > 0 ? 0.0F : 1e3F;  // evanescent: as if far outside the window
    to.out_down[i] = static_cast<float>(beyond(way, down, fy / w)) + gone;
    to.out_right[i] = static_cast<float>(beyond(way, way.axis[1], fx / w)) + gone;
  }
  for (std::int64_t i = 0; i < down.bins; ++i) {
    float sine = 0;
    float cosine = 0;
    sincos_turns(to.re[i], sine, cosine);
    to.re[i] = cosine * way.gain;
    to.im[i] = sine * way.gain;
  }
}

/// Most light lands well inside or outside; the edge function is evaluated only near the edge.
void soften(std::int64_t bins, const Factors& to) {
  constexpr auto inner = static_cast<float>(edge_middle - edge_tail);
  constexpr auto outer = static_cast<float>(edge_middle + edge_tail);
  for (std::int64_t i = 0; i < bins; ++i) {
    const float farthest = std::max(to.out_down[i], to.out_right[i]);
    if (farthest <= inner) continue;
    float part = 0;
    if (farthest < outer) part = static_cast<float>(edge(to.out_down[i]) * edge(to.out_right[i]));
    to.re[i] *= part;
    to.im[i] *= part;
  }
}

class CpuEngine final : public AdjointEngine {
 public:
  explicit CpuEngine(const Route& route)
      : down_(route.axis[0]),
        right_(route.axis[1]),
        field_({route.axis[0].period, route.axis[1].period}),
        between_({route.axis[0].tile, route.axis[1].bins}),
        bins_(route.axis[0].bins) {
    reserve();
    clear();
  }

  void clear() override { std::fill_n(field_.data(), field_.size(), Complex{}); }

  void add(const Samples& tile, const TileWay& way) override {
    const TileAxis& down = way.axis[0];
    const TileAxis& right = way.axis[1];
    right_.set(right);
    down_.set(down);
    reserve();
    parallel_for(0, down.count, [&](std::int64_t row) {
      Complex* const line = lines_.thread_block();
      std::copy_n(tile.data + row * tile.stride, right.count, line);
      right_.execute(line);
      std::copy_n(line, right.bins, between_.data() + row * right.bins);
    });
    in_blocks(right.bins, [&](std::int64_t first, std::int64_t count) { add_columns(way, first, count); });
  }

  void take(const TargetSamples& tile, const TileWay& way) override {
    const TileAxis& down = way.axis[0];
    const TileAxis& right = way.axis[1];
    if (down.bins == 0 || right.bins == 0) {
      for (std::int64_t row = 0; row < down.count; ++row) {
        std::fill_n(tile.data + row * tile.stride, right.count, Complex{});
      }
      return;
    }
    right_.set(right);
    down_.set(down);
    reserve();
    in_blocks(right.bins, [&](std::int64_t first, std::int64_t count) { take_columns(way, first, count); });
    parallel_for(0, down.count, [&](std::int64_t row) {
      Complex* const line = lines_.thread_block();
      std::copy_n(between_.data() + row * right.bins, right.bins, line);
      right_.adjoint(line);
      std::copy_n(line, right.count, tile.data + row * tile.stride);
    });
  }

  void get_samples(View<Complex, 2> samples) const override {
    const auto [rows, columns] = samples.shape();
    for (std::int64_t row = 0; row < rows; ++row) std::copy_n(&field_(row, 0), columns, &samples(row, 0));
  }

  void set_samples(View<const Complex, 2> samples, const Mask& mask) override {
    clear();
    const auto [rows, columns] = samples.shape();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < columns; ++col) {
        field_(row, col) = samples(row, col) * mask_value(mask, row, col);
      }
    }
    const FftPlan fft(field_.shape(), {}, {.scale_inverse = false, .rows = rows});
    fft.execute(field_.view(), FftDirection::forward);
  }

  void transform(std::int64_t rows) override {
    const FftPlan fft(field_.shape(), {}, {.scale_inverse = false, .rows = rows});
    fft.execute(field_.view(), FftDirection::inverse);
  }

  double crop(const Mask& mask) override {
    std::vector<double> sums(static_cast<std::size_t>(mask.count[0]));
    parallel_rows(mask.count[0], mask.count[1], [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t row = from; row < to; ++row) {
        double sum = 0;
        for (std::int64_t col = 0; col < mask.count[1]; ++col) {
          Complex& value = field_(row, col);
          value *= mask_value(mask, row, col);
          sum += static_cast<double>(std::norm(value));
        }
        sums[static_cast<std::size_t>(row)] = sum;
      }
    });
    double sum = 0;
    for (const double one : sums) sum += one;
    return sum;
  }

  void intensity(View<float, 2> output, std::array<std::int64_t, 2> every) override {
    const auto [ny, nx] = output.shape();
    const auto part = 1 / static_cast<float>(every[0] * every[1]);
    parallel_rows(ny, nx * every[0] * every[1], [&, nx = nx](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t col = 0; col < nx; ++col) {
          float sum = 0;
          for (std::int64_t i = 0; i < every[0]; ++i) {
            const Complex* const from = &field_(row * every[0] + i, col * every[1]);
            for (std::int64_t j = 0; j < every[1]; ++j) sum += std::norm(from[j]);
          }
          output(row, col) = sum * part;
        }
      }
    });
  }

  [[nodiscard]] const Complex* samples() const override { return field_.data(); }

 private:
  /// Before loops: there may be more threads than when the plan was made.
  void reserve() {
    lines_.reserve(std::max(right_.distance(), lines_at_once * down_.distance()));
    factors_.reserve(4 * bins_);
  }

  template <class Columns>
  static void in_blocks(std::int64_t bins, const Columns& columns) {
    parallel_for(0, (bins + lines_at_once - 1) / lines_at_once, [&](std::int64_t block) {
      const std::int64_t first = block * lines_at_once;
      columns(first, std::min(lines_at_once, bins - first));
    });
  }

  /// Factors of the route to the window for the bins of a column.
  Factors compute_factors(const TileWay& way, std::int64_t column) {
    const std::int64_t bins = way.axis[0].bins;
    float* const memory = factors_.thread_block();
    const Factors factors{memory, memory + bins, memory + 2 * bins, memory + 3 * bins};
    transfer_line(way, column, factors);
    soften(bins, factors);
    return factors;
  }

  /// Transforms the columns of the rows' result to frequencies, applies the route to the window, adds to its spectrum.
  void add_columns(const TileWay& way, std::int64_t first, std::int64_t count) {
    const TileAxis& down = way.axis[0];
    const TileAxis& right = way.axis[1];
    Complex* const lines = lines_.thread_block();
    const std::int64_t distance = down_.distance();
    for (std::int64_t row = 0; row < down.count; ++row) {
      const Complex* const from = between_.data() + row * right.bins + first;
      for (std::int64_t i = 0; i < count; ++i) lines[i * distance + row] = from[i];
    }
    for (std::int64_t i = 0; i < count; ++i) {
      Complex* const line = lines + i * distance;
      down_.execute(line);
      const Factors factors = compute_factors(way, first + i);
      for (std::int64_t k = 0; k < down.bins; ++k) line[k] = product(line[k], {factors.re[k], factors.im[k]});
    }
    each_bin(way, first, count, [&](Complex& bin, std::int64_t at) { bin += lines[at]; });
  }

  /// The adjoint of add_columns.
  void take_columns(const TileWay& way, std::int64_t first, std::int64_t count) {
    const TileAxis& down = way.axis[0];
    Complex* const lines = lines_.thread_block();
    const std::int64_t distance = down_.distance();
    each_bin(way, first, count, [&](const Complex& bin, std::int64_t at) { lines[at] = bin; });
    for (std::int64_t i = 0; i < count; ++i) {
      Complex* const line = lines + i * distance;
      const Factors factors = compute_factors(way, first + i);
      for (std::int64_t k = 0; k < down.bins; ++k) line[k] = product(line[k], {factors.re[k], -factors.im[k]});
      down_.adjoint(line);
    }
    for (std::int64_t row = 0; row < down.count; ++row) {
      Complex* const to = between_.data() + row * way.axis[1].bins + first;
      for (std::int64_t i = 0; i < count; ++i) to[i] = lines[i * distance + row];
    }
  }

  /// Calls body(number of the window's spectrum, its index in the lines) for the bins of columns.
  template <class Body>
  void each_bin(const TileWay& way, std::int64_t first, std::int64_t count, const Body& body) {
    const std::int64_t width = field_.shape()[1];
    std::int64_t columns[lines_at_once];
    for (std::int64_t i = 0; i < count; ++i) columns[i] = place(way.axis[1], first + i);
    for (std::int64_t k = 0; k < way.axis[0].bins; ++k) {
      Complex* const row = field_.data() + place(way.axis[0], k) * width;
      for (std::int64_t i = 0; i < count; ++i) body(row[columns[i]], i * down_.distance() + k);
    }
  }

  ChirpLines down_;
  ChirpLines right_;
  Array<Complex, 2> field_;    ///< the window's spectrum, then its samples
  Array<Complex, 2> between_;  ///< of a tile after the rows' transform
  std::int64_t bins_;
  ThreadMemory<Complex> lines_;
  ThreadMemory<float> factors_;
};

}  // namespace

AdjointEnginePointer engine_cpu(const Route& route) { return std::make_unique<CpuEngine>(route); }

}  // namespace holotone::window
