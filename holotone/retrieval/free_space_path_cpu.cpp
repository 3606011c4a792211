#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/optics/propagation_engine.hpp>
#include <holotone/optics/reconstruction_engine.hpp>
#include <holotone/retrieval/light_factors.hpp>
#include <holotone/retrieval/light_path_cpu.hpp>
#include <holotone/retrieval/retrieval_math.h>

namespace holotone::retrieval {
namespace {

/// Band-limited angular spectrum on an array of twice the panel. All planes and positions share the panel's transform.
class FreeSpacePath final : public LightPath {
 public:
  explicit FreeSpacePath(const PhaseRetrievalOptions& options)
      : options_(options),
        padded_(propagation::angular_spectrum_layout(propagation_options(options)).padded),
        work_(padded_),
        spectrum_(padded_),
        fft_(padded_, {}, {.scale_inverse = false, .first_row = 0, .rows = options.grid.ny}) {
    for (const auto& plane : options.planes) {
      transfers_.push_back(transfer_to(plane.distance_m));
      pupils_.push_back(plane.pupil ? reconstruction::pupil_cpu(options.grid, *plane.pupil) : nullptr);
      if (plane.pupil) panel_ = Array<Complex, 2>(options.grid.shape());
    }
    if (!panel_.empty()) seen_ = Array<Complex, 2>(options.grid.shape());
    for (std::size_t half = 0; half < 2; ++half) {
      shift_y_[half] = shift_factors(padded_[0], 0.5 * static_cast<double>(half));
      shift_x_[half] = shift_factors(padded_[1], 0.5 * static_cast<double>(half));
    }
  }

  void start_panel() override { clear_rows(spectrum_); }
  Complex* panel_row(std::int64_t row) override { return &spectrum_(row, 0); }
  void send_panel() override {
    if (!panel_.empty()) {
      for_rows([&](std::int64_t row) { std::copy_n(&spectrum_(row, 0), options_.grid.nx, &panel_(row, 0)); });
    }
    pupil_ = nullptr;
    fft_.execute(spectrum_.view(), FftDirection::forward);
  }

  void receive(std::size_t plane, std::size_t position) override {
    look_through(pupils_[plane].get());
    parallel_for(0, padded_[0], [&](std::int64_t row) {
      with_factors(plane, position, row,
                   [&](std::int64_t x, Complex factor) { work_(row, x) = product(spectrum_(row, x), factor); });
    });
    fft_.execute(work_.view(), FftDirection::inverse);
  }
  Complex* picture_row(std::int64_t row) override { return &work_(options_.region.row + row, options_.region.column); }

  void start_back() override {
    clear_rows(spectrum_);
    if (!panel_.empty()) clear_rows(panel_);
    pupil_ = nullptr;
  }
  void start_picture() override { clear_rows(work_); }
  void send_back(std::size_t plane, std::size_t position) override {
    if (pupils_[plane].get() != pupil_) {
      send_through();
      pupil_ = pupils_[plane].get();
    }
    fft_.execute(work_.view(), FftDirection::forward);
    parallel_for(0, padded_[0], [&](std::int64_t row) {
      with_factors(plane, position, row, [&](std::int64_t x, Complex factor) {
        spectrum_(row, x) += product_conjugate(work_(row, x), factor);
      });
    });
  }
  void receive_back() override {
    if (panel_.empty()) {
      fft_.execute(spectrum_.view(), FftDirection::inverse);
      return;
    }
    send_through();
    for_rows([&](std::int64_t row) { std::copy_n(&panel_(row, 0), options_.grid.nx, &spectrum_(row, 0)); });
  }

 private:
  template <class Body>
  void for_rows(const Body& body) const {
    parallel_for(0, options_.grid.ny, body);
  }

  /// Makes the spectrum that of the panel's light through a pupil; null: of all its light.
  void look_through(reconstruction::PupilEngine* pupil) {
    if (pupil == pupil_) return;
    pupil_ = pupil;
    if (pupil != nullptr) pupil->apply(panel_.view(), seen_.view());
    const auto& light = pupil != nullptr ? seen_ : panel_;
    clear_rows(spectrum_);
    for_rows([&](std::int64_t row) { std::copy_n(&light(row, 0), options_.grid.nx, &spectrum_(row, 0)); });
    fft_.execute(spectrum_.view(), FftDirection::forward);
  }

  /// Adds what came back to the panel, through the present pupil, which is its own adjoint; clears the spectrum.
  void send_through() {
    fft_.execute(spectrum_.view(), FftDirection::inverse);
    for_rows([&](std::int64_t row) { std::copy_n(&spectrum_(row, 0), options_.grid.nx, &seen_(row, 0)); });
    if (pupil_ != nullptr) pupil_->apply(seen_.view(), seen_.view());
    for_rows([&](std::int64_t row) {
      for (std::int64_t x = 0; x < options_.grid.nx; ++x) panel_(row, x) += seen_(row, x);
    });
    clear_rows(spectrum_);
  }

  /// A quarter: the function is even along both axes.
  [[nodiscard]] Array<Complex, 2> transfer_to(double distance_m) const {
    const auto t = propagation::make_transfer(propagation_options(options_), -distance_m);
    Array<Complex, 2> quarter({padded_[0] / 2 + 1, padded_[1] / 2 + 1});
    const auto down = aperture_gains(options_.response, padded_[0]);
    const auto across = aperture_gains(options_.response, padded_[1]);
    parallel_for(0, quarter.shape()[0], [&](std::int64_t ky) {
      for (std::int64_t kx = 0; kx < quarter.shape()[1]; ++kx) {
        const float aperture = down[static_cast<std::size_t>(ky)] * across[static_cast<std::size_t>(kx)];
        float real = 0;
        float imaginary = 0;
        light_transfer(t, ky, kx, aperture, real, imaginary);
        quarter(ky, kx) = {real, imaginary};
      }
    });
    return quarter;
  }

  /// Calls body(x, transfer function times the shift) for a row of frequencies.
  template <class Body>
  void with_factors(std::size_t plane, std::size_t position, std::int64_t row, const Body& body) const {
    const auto [ly, lx] = padded_;
    const Complex* const quarter = &transfers_[plane](std::min(row, ly - row), 0);
    const Complex along_y = shift_y_[static_cast<std::size_t>(half_pixels[position][0])][static_cast<std::size_t>(row)];
    const Complex* const along_x = shift_x_[static_cast<std::size_t>(half_pixels[position][1])].data();
    for (std::int64_t x = 0; x <= lx / 2; ++x) body(x, product(quarter[x], product(along_y, along_x[x])));
    for (std::int64_t x = lx / 2 + 1; x < lx; ++x) body(x, product(quarter[lx - x], product(along_y, along_x[x])));
  }

  PhaseRetrievalOptions options_;
  Shape<2> padded_;
  Array<Complex, 2> work_;
  Array<Complex, 2> spectrum_;  ///< of the panel's light; then sums of the derivatives' spectra
  FftPlan fft_;
  std::vector<Array<Complex, 2>> transfers_;
  std::vector<reconstruction::PupilPointer> pupils_;  ///< one a plane, or null
  Array<Complex, 2> panel_;                           ///< light of the panel, then of the way back; empty: no pupil
  Array<Complex, 2> seen_;
  reconstruction::PupilEngine* pupil_ = nullptr;  ///< through which the spectrum is
  std::array<std::vector<Complex>, 2> shift_y_;   ///< by no and by half a pixel
  std::array<std::vector<Complex>, 2> shift_x_;
};

}  // namespace

std::unique_ptr<LightPath> free_space_path(const PhaseRetrievalOptions& options) {
  return std::make_unique<FreeSpacePath>(options);
}

void clear_rows(Array<Complex, 2>& values) {
  parallel_for(0, values.shape()[0],
               [&](std::int64_t row) { std::fill_n(&values(row, 0), values.shape()[1], Complex{}); });
}

}  // namespace holotone::retrieval
