#include <algorithm>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/reconstruction_engine.hpp>
#include <vector>

namespace holotone::reconstruction {
namespace {

class CpuPupil final : public PupilEngine {
 public:
  CpuPupil(const FieldGrid& grid, const Aperture& aperture)
      : grid_(grid),
        pupil_(make_pupil(grid, aperture)),
        fft_({pupil_.ly, pupil_.lx}, {}, {.scale_inverse = false, .rows = pupil_.ny}),
        down_(chirp(pupil_.ny)),
        across_(chirp(pupil_.nx)) {}

  void set_aperture(const Aperture& aperture) override {
    pupil_ = make_pupil(grid_, aperture);
    down_ = chirp(pupil_.ny);
    across_ = chirp(pupil_.nx);
  }

  void apply(View<const Complex, 2> input, View<Complex, 2> output) override {
    Array<Complex, 2> padded({pupil_.ly, pupil_.lx});
    std::fill_n(padded.data(), padded.size(), Complex{});
    parallel_rows(pupil_.ny, pupil_.nx, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const Complex* const in = input.data() + y * pupil_.nx;
        Complex* const row = padded.data() + y * pupil_.lx;
        for (std::int64_t x = 0; x < pupil_.nx; ++x) row[x] = product(in[x], q(x, y));
      }
    });
    fft_.execute(padded.view(), FftDirection::forward);
    parallel_rows(pupil_.ly, pupil_.lx, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) block_row(padded.data() + y * pupil_.lx, y);
    });
    fft_.execute(padded.view(), FftDirection::inverse);
    parallel_rows(pupil_.ny, pupil_.nx, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) {
        const Complex* const row = padded.data() + y * pupil_.lx;
        Complex* const out = output.data() + y * pupil_.nx;
        for (std::int64_t x = 0; x < pupil_.nx; ++x) out[x] = product(row[x], std::conj(q(x, y))) * pupil_.gain;
      }
    });
  }

 private:
  [[nodiscard]] std::vector<Complex> chirp(std::int64_t count) const {
    std::vector<Complex> values(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; n < count; ++n) {
      float sine = 0;
      float cosine = 0;
      sincos_turns(chirp_turns(pupil_, n, count), sine, cosine);
      values[static_cast<std::size_t>(n)] = {cosine, sine};
    }
    return values;
  }

  [[nodiscard]] Complex q(std::int64_t x, std::int64_t y) const {
    return product(across_[static_cast<std::size_t>(x)], down_[static_cast<std::size_t>(y)]);
  }

  void block_row(Complex* row, std::int64_t ky) const {
    for (std::int64_t kx = 0; kx < pupil_.lx; ++kx) {
      if (!passes(pupil_, kx, ky)) row[kx] = {};
    }
  }

  FieldGrid grid_;
  Pupil pupil_;
  FftPlan fft_;
  std::vector<Complex> down_;
  std::vector<Complex> across_;
};

}  // namespace

PupilPointer pupil_cpu(const FieldGrid& grid, const Aperture& aperture) {
  return std::make_unique<CpuPupil>(grid, aperture);
}

}  // namespace holotone::reconstruction
