#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/light_factors.hpp>
#include <holotone/retrieval/light_path_cpu.hpp>

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
    for (const auto& plane : options.planes) {
      for (std::size_t position = 0; position < max_positions; ++position) {
        factors_.push_back(lens_factors(options, plane.distance_m, position));
      }
    }
  }

  void start_panel() override {}
  Complex* panel_row(std::int64_t row) override { return &panel_(row, 0); }
  void send_panel() override {}

  void receive(std::size_t plane, std::size_t position) override {
    const LensFactors& lens = factors(plane, position);
    parallel_for(0, shape_[0], [&](std::int64_t y) {
      const Complex along_y = lens.down[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < shape_[1]; ++x) {
        work_(y, x) = product(panel_(y, x), product(along_y, lens.across[static_cast<std::size_t>(x)]));
      }
    });
    fft_.execute(work_.view(), FftDirection::forward);
    apply_aperture(lens);
  }
  Complex* picture_row(std::int64_t row) override { return &work_(options_.region.row + row, options_.region.column); }

  void start_back() override { clear_rows(panel_); }
  void start_picture() override { clear_rows(work_); }
  void send_back(std::size_t plane, std::size_t position) override {
    const LensFactors& lens = factors(plane, position);
    apply_aperture(lens);
    fft_.execute(work_.view(), FftDirection::inverse);
    parallel_for(0, shape_[0], [&](std::int64_t y) {
      const Complex along_y = lens.down[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < shape_[1]; ++x) {
        panel_(y, x) += product_conjugate(work_(y, x), product(along_y, lens.across[static_cast<std::size_t>(x)]));
      }
    });
  }
  void receive_back() override {}

 private:
  [[nodiscard]] const LensFactors& factors(std::size_t plane, std::size_t position) const {
    return factors_[plane * max_positions + position];
  }

  void apply_aperture(const LensFactors& lens) {
    if (options_.response.fill_factor == 0) return;
    parallel_for(0, options_.region.rows, [&](std::int64_t row) {
      Complex* const values = picture_row(row);
      const float gain = lens.gain_down[static_cast<std::size_t>(row)];
      for (std::size_t x = 0; x < lens.gain_across.size(); ++x) values[x] *= gain * lens.gain_across[x];
    });
  }

  PhaseRetrievalOptions options_;
  Shape<2> shape_;
  Array<Complex, 2> work_;
  Array<Complex, 2> panel_;  ///< light of the panel; then sum of the derivatives
  FftPlan fft_;
  std::vector<LensFactors> factors_;  ///< plane by plane
};

}  // namespace

std::unique_ptr<LightPath> lens_path(const PhaseRetrievalOptions& options) {
  return std::make_unique<LensPath>(options);
}

}  // namespace holotone::retrieval
