#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/light_path_cpu.hpp>
#include <numbers>

namespace holotone::retrieval {
namespace {

/// Fourier transform by a lens, with a quadratic phase on the panel for planes beside the focal plane.
class LensPath final : public LightPath {
 public:
  explicit LensPath(const PhaseRetrievalOptions& options)
      : options_(options),
        shape_(options.grid.shape()),
        work_(shape_),
        panel_(shape_),
        fft_(shape_, {}, {.scale_inverse = false}) {
    const auto& grid = options.grid;
    const double per_square = grid.pitch_m * grid.pitch_m / (2 * grid.wavelength_m);
    const double scale = 1 / std::sqrt(static_cast<double>(shape_[0]) * static_cast<double>(shape_[1]));
    for (const auto& plane : options.planes) {
      const double focal = options.focal_length_m;
      const double turns = -per_square * plane.distance_m / (focal * focal);
      for (std::size_t half = 0; half < 2; ++half) {
        const double move = 0.5 * static_cast<double>(half);
        down_.push_back(panel_factors(shape_[0], turns, move, scale));
        across_.push_back(panel_factors(shape_[1], turns, move, 1));
      }
    }
    for (std::size_t half = 0; half < 2; ++half) {
      aperture_y_[half] = picture_gains(options.region.row, options.region.rows, shape_[0], half);
      aperture_x_[half] = picture_gains(options.region.column, options.region.columns, shape_[1], half);
    }
  }

  void start_panel() override {}
  Complex* panel_row(std::int64_t row) override { return &panel_(row, 0); }
  void send_panel() override {}

  void receive(std::size_t plane, std::size_t position) override {
    const auto [down, across] = factors(plane, position);
    parallel_for(0, shape_[0], [&, down = down, across = across](std::int64_t y) {
      const Complex along_y = (*down)[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < shape_[1]; ++x) {
        work_(y, x) = product(panel_(y, x), product(along_y, (*across)[static_cast<std::size_t>(x)]));
      }
    });
    fft_.execute(work_.view(), FftDirection::forward);
    apply_aperture(position);
  }
  Complex* picture_row(std::int64_t row) override { return &work_(options_.region.row + row, options_.region.column); }

  void start_back() override { clear_rows(panel_); }
  void start_picture() override { clear_rows(work_); }
  void send_back(std::size_t plane, std::size_t position) override {
    apply_aperture(position);
    fft_.execute(work_.view(), FftDirection::inverse);
    const auto [down, across] = factors(plane, position);
    parallel_for(0, shape_[0], [&, down = down, across = across](std::int64_t y) {
      const Complex along_y = (*down)[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < shape_[1]; ++x) {
        panel_(y, x) += product_conjugate(work_(y, x), product(along_y, (*across)[static_cast<std::size_t>(x)]));
      }
    });
  }
  void receive_back() override {}

 private:
  /// Factors on the panel: exp(2 pi i (turns x^2 - m j / n)) for pixel j at x pixels from the middle. m, the picture's
  /// first pixel, is moved so that the middle of the picture is on the axis.
  static std::vector<Complex> panel_factors(std::int64_t n, double turns, double move, double scale) {
    std::vector<Complex> factors(static_cast<std::size_t>(n));
    const double first = move - 0.5 * static_cast<double>(n - 1);
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = static_cast<double>(j) - 0.5 * static_cast<double>(n - 1);
      const double own = turns * x * x - first * static_cast<double>(j) / static_cast<double>(n);
      const double angle = 2 * std::numbers::pi * (own - std::rint(own));
      factors[static_cast<std::size_t>(j)] = {static_cast<float>(scale * std::cos(angle)),
                                              static_cast<float>(scale * std::sin(angle))};
    }
    return factors;
  }

  [[nodiscard]] std::vector<float> picture_gains(std::int64_t first, std::int64_t count, std::int64_t n,
                                                 std::size_t half) const {
    std::vector<float> gains;
    for (std::int64_t m = first; m < first + count; ++m) {
      const double from_axis =
          static_cast<double>(m) + 0.5 * static_cast<double>(half) - 0.5 * static_cast<double>(n - 1);
      gains.push_back(static_cast<float>(aperture_gain(options_.response, from_axis / static_cast<double>(n))));
    }
    return gains;
  }

  [[nodiscard]] std::pair<const std::vector<Complex>*, const std::vector<Complex>*> factors(
      std::size_t plane, std::size_t position) const {
    const auto [down, right] = half_pixels[position];
    return {&down_[2 * plane + static_cast<std::size_t>(down)], &across_[2 * plane + static_cast<std::size_t>(right)]};
  }

  void apply_aperture(std::size_t position) {
    if (options_.response.fill_factor == 0) return;
    const auto& gain_y = aperture_y_[static_cast<std::size_t>(half_pixels[position][0])];
    const auto& gain_x = aperture_x_[static_cast<std::size_t>(half_pixels[position][1])];
    parallel_for(0, options_.region.rows, [&](std::int64_t row) {
      Complex* const values = picture_row(row);
      for (std::size_t x = 0; x < gain_x.size(); ++x) values[x] *= gain_y[static_cast<std::size_t>(row)] * gain_x[x];
    });
  }

  PhaseRetrievalOptions options_;
  Shape<2> shape_;
  Array<Complex, 2> work_;
  Array<Complex, 2> panel_;  ///< light of the panel; then sum of the derivatives
  FftPlan fft_;
  std::vector<std::vector<Complex>> down_;  ///< two a plane: by no and by half a pixel
  std::vector<std::vector<Complex>> across_;
  std::array<std::vector<float>, 2> aperture_y_;  ///< over the region
  std::array<std::vector<float>, 2> aperture_x_;
};

}  // namespace

std::unique_ptr<LightPath> lens_path(const PhaseRetrievalOptions& options) {
  return std::make_unique<LensPath>(options);
}

}  // namespace holotone::retrieval
