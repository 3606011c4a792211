#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone::retrieval {
namespace {

constexpr std::int64_t part_size = 16384;  ///< of a vector, summed by one thread in float64

/// std::complex's own product tests for infinities and does not vectorise.
inline Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline Complex product_conjugate(Complex a, Complex b) { return product(a, std::conj(b)); }

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const PhaseRetrievalOptions& options)
      : options_(options),
        ny_(options.grid.ny),
        nx_(options.grid.nx),
        padded_(propagation::angular_spectrum_layout(propagation_options()).padded),
        work_(padded_),
        spectrum_(padded_),
        fft_(padded_, {}, {.scale_inverse = false, .first_row = 0, .rows = ny_}),
        transfer_({padded_[0] / 2 + 1, padded_[1] / 2 + 1}) {
    make_transfer();
    for (auto& light : light_) light = Array<Complex, 2>({options.region.rows, options.region.columns});
    for (std::size_t half = 0; half < 2; ++half) {
      shift_y_[half] = shift_factors(padded_[0], 0.5 * static_cast<double>(half));
      shift_x_[half] = shift_factors(padded_[1], 0.5 * static_cast<double>(half));
    }
  }

  void set_target(const float* amplitude) override {
    targets_ = at_half_pixels(View<const float, 2>(amplitude, {ny_, nx_}));
  }

  std::vector<RegionSums> propagate(const float* phase, std::size_t positions) override {
    clear(spectrum_);
    parallel_for(0, ny_, [&](std::int64_t row) {
      Complex* const out = &spectrum_(row, 0);
      for (std::int64_t x = 0; x < nx_; ++x) out[x] = std::polar(1.0F, phase[row * nx_ + x]);
    });
    fft_.execute(spectrum_.view(), FftDirection::forward);
    positions_ = positions;
    std::vector<RegionSums> sums;
    for (std::size_t p = 0; p < positions; ++p) sums.push_back(light_at(p));
    return sums;
  }

  void differentiate(const float* phase, double s, float* derivative) override {
    const auto& region = options_.region;
    const auto scale = static_cast<float>(s);
    clear(spectrum_);
    for (std::size_t p = 0; p < positions_; ++p) {
      clear(work_);
      parallel_for(0, region.rows, [&](std::int64_t row) {
        const Complex* const light = &light_[p](row, 0);
        const float* const target = &targets_[p](region.row + row, region.column);
        Complex* const out = &work_(region.row + row, region.column);
        for (std::int64_t x = 0; x < region.columns; ++x) {
          const float amplitude = std::sqrt(std::norm(light[x]));
          const float excess = scale * (scale * amplitude - target[x]);
          out[x] = amplitude > 0 ? light[x] * (excess / amplitude) : Complex{};
        }
      });
      fft_.execute(work_.view(), FftDirection::forward);
      parallel_for(0, padded_[0], [&](std::int64_t row) {
        with_factors(p, row, [&](std::int64_t x, Complex factor) {
          spectrum_(row, x) += product_conjugate(work_(row, x), factor);
        });
      });
    }
    fft_.execute(spectrum_.view(), FftDirection::inverse);
    parallel_for(0, ny_, [&](std::int64_t row) {
      for (std::int64_t x = 0; x < nx_; ++x) {
        const Complex wave = std::polar(1.0F, phase[row * nx_ + x]);
        derivative[row * nx_ + x] = product_conjugate(spectrum_(row, x), wave).imag();
      }
    });
  }

  double dot(const float* a, const float* b) override {
    const std::int64_t count = ny_ * nx_;
    std::vector<double> parts(static_cast<std::size_t>((count + part_size - 1) / part_size));
    parallel_for(0, std::ssize(parts), [&](std::int64_t part) {
      double sum = 0;
      for (std::int64_t i = part * part_size; i < std::min(count, (part + 1) * part_size); ++i) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
      }
      parts[static_cast<std::size_t>(part)] = sum;
    });
    double all = 0;
    for (const double part : parts) all += part;  // in order: the same bits with any number of threads
    return all;
  }

  void add(double factor, const float* x, float* y) override {
    const auto own = static_cast<float>(factor);
    parallel_for(0, ny_, [&](std::int64_t row) {
      for (std::int64_t i = row * nx_; i < (row + 1) * nx_; ++i) y[i] += own * x[i];
    });
  }

  void scale(double factor, float* x) override {
    const auto own = static_cast<float>(factor);
    parallel_for(0, ny_, [&](std::int64_t row) {
      for (std::int64_t i = row * nx_; i < (row + 1) * nx_; ++i) x[i] *= own;
    });
  }

 private:
  [[nodiscard]] PropagationOptions propagation_options() const {
    return {.grid = options_.grid, .method = PropagationMethod::angular_spectrum};
  }

  static void clear(Array<Complex, 2>& values) {
    parallel_for(0, values.shape()[0],
                 [&](std::int64_t row) { std::fill_n(&values(row, 0), values.shape()[1], Complex{}); });
  }

  /// A quarter: the function is even along both axes.
  void make_transfer() {
    const auto t = propagation::make_transfer(propagation_options(), -options_.distance_m);
    parallel_for(0, transfer_.shape()[0], [&](std::int64_t ky) {
      const double fy = static_cast<double>(ky) * t.step_y;
      for (std::int64_t kx = 0; kx < transfer_.shape()[1]; ++kx) {
        const double fx = static_cast<double>(kx) * t.step_x;
        const double rest = propagation::transfer_rest(t, fx * fx, fy * fy);
        float sine = 0;
        float cosine = 0;
        sincos_turns(propagation::transfer_turns(t, rest), sine, cosine);
        const float gain = propagation::transfer_kept(t, rest, fx * fx, fy * fy) ? t.gain : 0.0F;
        transfer_(ky, kx) = {gain * cosine, gain * sine};
      }
    });
  }

  /// Calls body(x, transfer function times the shift) for a row of frequencies.
  template <class Body>
  void with_factors(std::size_t position, std::int64_t row, const Body& body) const {
    const auto [ly, lx] = padded_;
    const Complex* const quarter = &transfer_(std::min(row, ly - row), 0);
    const Complex along_y = shift_y_[static_cast<std::size_t>(half_pixels[position][0])][static_cast<std::size_t>(row)];
    const Complex* const along_x = shift_x_[static_cast<std::size_t>(half_pixels[position][1])].data();
    for (std::int64_t x = 0; x <= lx / 2; ++x) body(x, product(quarter[x], product(along_y, along_x[x])));
    for (std::int64_t x = lx / 2 + 1; x < lx; ++x) body(x, product(quarter[lx - x], product(along_y, along_x[x])));
  }

  /// Light of the spectrum in the region at a position, and its sums.
  RegionSums light_at(std::size_t p) {
    const auto& region = options_.region;
    parallel_for(0, padded_[0], [&](std::int64_t row) {
      with_factors(p, row, [&](std::int64_t x, Complex factor) { work_(row, x) = product(spectrum_(row, x), factor); });
    });
    fft_.execute(work_.view(), FftDirection::inverse);
    std::vector<RegionSums> rows(static_cast<std::size_t>(region.rows));
    parallel_for(0, region.rows, [&](std::int64_t row) {
      const Complex* const light = &work_(region.row + row, region.column);
      const float* const target = &targets_[p](region.row + row, region.column);
      std::copy_n(light, region.columns, &light_[p](row, 0));
      RegionSums sums;
      for (std::int64_t x = 0; x < region.columns; ++x) {
        const auto square = static_cast<double>(std::norm(light[x]));
        const auto wanted = static_cast<double>(target[x]);
        sums.light += square;
        sums.agreement += std::sqrt(square) * wanted;
        sums.target += wanted * wanted;
      }
      rows[static_cast<std::size_t>(row)] = sums;
    });
    RegionSums all;
    for (const auto& own : rows) all += own;
    return all;
  }

  PhaseRetrievalOptions options_;
  std::int64_t ny_;
  std::int64_t nx_;
  Shape<2> padded_;
  Array<Complex, 2> work_;
  Array<Complex, 2> spectrum_;  ///< of the panel's light; then sums of the derivatives' spectra
  FftPlan fft_;
  Array<Complex, 2> transfer_;
  std::array<std::vector<Complex>, 2> shift_y_;  ///< by no and by half a pixel
  std::array<std::vector<Complex>, 2> shift_x_;
  std::array<Array<float, 2>, most_positions> targets_;
  std::array<Array<Complex, 2>, most_positions> light_;
  std::size_t positions_ = 0;  ///< of the last propagate
};

}  // namespace

std::unique_ptr<Engine> engine_cpu(const PhaseRetrievalOptions& options) {
  return std::make_unique<CpuEngine>(options);
}

}  // namespace holotone::retrieval
