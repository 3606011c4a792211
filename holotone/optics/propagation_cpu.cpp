#include <algorithm>
#include <holotone/fft/padded_filter_cpu.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <optional>

namespace holotone::propagation {
namespace {

/// v *= (re, im); std::complex's own product tests for infinities and does not vectorise.
inline void multiply(Complex& v, float re, float im) {
  v = {v.real() * re - v.imag() * im, v.real() * im + v.imag() * re};
}

inline float squared_modulus(Complex v) { return v.real() * v.real() + v.imag() * v.imag(); }

void store_row(const Complex* row, const Target& target, std::int64_t y) {
  const std::int64_t nx = target.field.data() ? target.field.shape()[1] : target.intensity.shape()[1];
  if (target.field.data()) {
    std::copy_n(row, nx, target.field.data() + y * nx);
  } else {
    float* const out = target.intensity.data() + y * nx;
    for (std::int64_t x = 0; x < nx; ++x) out[x] = squared_modulus(row[x]);
  }
}

/// Memory, transform and layout of one padded shape.
struct Workspace {
  Workspace(const Layout& where, std::int64_t rows)
      : layout(where),
        values(where.padded),
        fft(where.padded, {}, {.scale_inverse = false, .first_row = where.row, .rows = rows}) {}

  [[nodiscard]] Complex* row(std::int64_t y) { return values.data() + y * layout.padded[1]; }

  Layout layout;
  Array<Complex, 2> values;
  FftPlan fft;
};

/// One axis of a Fresnel transform at one distance.
struct AxisTable {
  explicit AxisTable(std::int64_t count)
      : sample(static_cast<std::size_t>(count)), taps(static_cast<std::size_t>(count * tap_count)) {}
  void fill(const FresnelAxis& axis) {
    for (std::int64_t m = 0; m < axis.count; ++m) {
      sample[static_cast<std::size_t>(m)] = fresnel_sample(axis, m, &taps[static_cast<std::size_t>(m * tap_count)]);
    }
  }
  std::vector<FresnelSample> sample;
  std::vector<float> taps;
};

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(const PropagationOptions& options) : options_(options) {
    const auto [ny, nx] = options.grid.shape();
    if (uses_angular_spectrum(options)) {
      filter_.emplace(options.grid.shape(), angular_spectrum_layout(options).padded);
    }
    if (uses_fresnel(options)) {
      const Layout layout = fresnel_layout(options);
      fresnel_ = std::make_unique<Workspace>(layout, ny);
      compensation_y_ = tap_compensation(ny, layout.padded[0]);
      compensation_x_ = tap_compensation(nx, layout.padded[1]);
      rows_ = std::make_unique<AxisTable>(ny);
      columns_ = std::make_unique<AxisTable>(nx);
    }
  }

  void copy(View<const Complex, 2> input, const Target& target) override {
    const auto [ny, nx] = input.shape();
    if (target.field.data()) {
      if (target.field.data() != input.data()) std::copy_n(input.data(), ny * nx, target.field.data());
      return;
    }
    for (std::int64_t y = 0; y < ny; ++y) store_row(input.data() + y * nx, target, y);
  }

  void angular_spectrum(View<const Complex, 2> input, const Target& target, double distance_m,
                        Spectrum spectrum) override {
    const Transfer transfer = make_transfer(options_, distance_m);
    if (spectrum == Spectrum::keep) filter_->keep();
    if (spectrum != Spectrum::kept) filter_->forward(input.data());
    filter_->multiply([&](std::int64_t x, fft::EvenLine line) { fill_transfer(transfer, x, line); },
                      spectrum == Spectrum::kept);
    filter_->inverse([&](std::int64_t y, const Complex* row) { store_row(row, target, y); });
  }

  void fresnel(View<const Complex, 2> input, const Target& target, double distance_m) override {
    Workspace& work = *fresnel_;
    const FresnelAxis vertical = make_fresnel_axis(options_, distance_m, 0);
    const FresnelAxis horizontal = make_fresnel_axis(options_, distance_m, 1);
    pad(work, input);
    chirp(work, vertical, horizontal);
    work.fft.execute(work.values.view(), FftDirection::forward);
    rows_->fill(vertical);
    columns_->fill(horizontal);
    resample(work, target);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return (filter_ ? filter_->workspace_bytes() : 0) + (fresnel_ ? fresnel_->values.bytes() : 0);
  }

 private:
  static void pad(Workspace& work, View<const Complex, 2> input) {
    const auto [ny, nx] = input.shape();
    const auto [ly, lx] = work.layout.padded;
    parallel_rows(ly, lx, [&, rows = ny, columns = nx, width = lx](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        Complex* const row = work.row(y);
        const std::int64_t from = y - work.layout.row;
        if (from < 0 || from >= rows) {
          std::fill_n(row, width, Complex{});
          continue;
        }
        std::fill_n(row, work.layout.col, Complex{});
        std::copy_n(input.data() + from * columns, columns, row + work.layout.col);
        std::fill(row + work.layout.col + columns, row + width, Complex{});
      }
    });
  }

  /// H along column x. No table is kept between distances: reading it from memory takes about as long as computing it.
  static void fill_transfer(const Transfer& t, std::int64_t x, fft::EvenLine line) {
    const double fx = static_cast<double>(x) * t.step_x;
    const double fx2 = fx * fx;
    const auto half = static_cast<int>(line.real.size());
    for (int y = 0; y < half; ++y) {
      const double fy = static_cast<double>(y) * t.step_y;
      const double fy2 = fy * fy;
      const double rest = transfer_rest(t, fx2, fy2);
      line.real[static_cast<std::size_t>(y)] = transfer_turns(t, rest);
      line.imaginary[static_cast<std::size_t>(y)] = transfer_kept(t, rest, fx2, fy2) ? t.gain : 0.0F;
    }
    for (std::size_t y = 0; y < line.real.size(); ++y) {
      float sine = 0;
      float cosine = 0;
      sincos_turns(line.real[y], sine, cosine);
      line.real[y] = cosine * line.imaginary[y];
      line.imaginary[y] *= sine;
    }
  }

  /// input times exp(i pi (x^2 + y^2) / (lambda d)), divided by the transform of the taps.
  void chirp(Workspace& work, const FresnelAxis& vertical, const FresnelAxis& horizontal) const {
    std::vector<Complex> across(static_cast<std::size_t>(horizontal.count));
    for (std::int64_t x = 0; x < horizontal.count; ++x) {
      across[static_cast<std::size_t>(x)] = chirp_factor(horizontal, x, compensation_x_);
    }
    parallel_rows(vertical.count, horizontal.count, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const Complex down = chirp_factor(vertical, y, compensation_y_);
        Complex* const row = work.row(work.layout.row + y) + work.layout.col;
        for (std::size_t x = 0; x < across.size(); ++x) {
          multiply(row[x], across[x].real(), across[x].imag());
          multiply(row[x], down.real(), down.imag());
        }
      }
    });
  }

  static Complex chirp_factor(const FresnelAxis& axis, std::int64_t n, const std::vector<float>& compensation) {
    float sine = 0;
    float cosine = 0;
    sincos_turns(input_chirp_turns(axis, n), sine, cosine);
    const float gain = compensation[static_cast<std::size_t>(n)];
    return {cosine * gain, sine * gain};
  }

  /// Interpolates the transform at the output's pixels: combines eight rows first, then eight columns of the result.
  void resample(Workspace& work, const Target& target) const {
    const auto [ly, lx] = work.layout.padded;
    parallel_rows(static_cast<std::int64_t>(rows_->sample.size()), lx,
                  [&, height = ly, width = lx](std::int64_t first, std::int64_t last) {
                    // The first taps repeat at the end, so that a column's eight are always adjacent.
                    std::vector<Complex> line(static_cast<std::size_t>(width + tap_count));
                    std::vector<Complex> out(columns_->sample.size());
                    for (std::int64_t y = first; y < last; ++y) {
                      combine_rows(work, y, height, line);
                      std::copy_n(line.begin(), tap_count, line.begin() + width);
                      read_columns(line, rows_->sample[static_cast<std::size_t>(y)], out);
                      store_row(out.data(), target, y);
                    }
                  });
  }

  void combine_rows(Workspace& work, std::int64_t y, std::int64_t height, std::vector<Complex>& line) const {
    const std::int64_t width = work.layout.padded[1];
    std::fill(line.begin(), line.end(), Complex{});
    for (int j = 0; j < tap_count; ++j) {
      const float weight = rows_->taps[static_cast<std::size_t>(y * tap_count + j)];
      const Complex* const row = work.row((rows_->sample[static_cast<std::size_t>(y)].first + j) % height);
      for (std::int64_t x = 0; x < width; ++x) line[static_cast<std::size_t>(x)] += row[x] * weight;
    }
  }

  void read_columns(const std::vector<Complex>& line, const FresnelSample& down, std::vector<Complex>& out) const {
    for (std::size_t x = 0; x < out.size(); ++x) {
      const FresnelSample& across = columns_->sample[x];
      Complex sum{};
      for (std::size_t j = 0; j < tap_count; ++j) {
        sum += line[static_cast<std::size_t>(across.first) + j] * columns_->taps[x * tap_count + j];
      }
      multiply(sum, across.cosine, across.sine);
      multiply(sum, down.cosine, down.sine);
      out[x] = sum;
    }
  }

  PropagationOptions options_;
  std::optional<fft::CpuPaddedFilter> filter_;
  std::unique_ptr<Workspace> fresnel_;
  std::vector<float> compensation_y_;
  std::vector<float> compensation_x_;
  std::unique_ptr<AxisTable> rows_;
  std::unique_ptr<AxisTable> columns_;
};

}  // namespace

EnginePointer engine_cpu(const PropagationOptions& options) { return std::make_unique<CpuEngine>(options); }

}  // namespace holotone::propagation
