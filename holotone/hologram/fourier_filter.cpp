#include <array>
#include <cmath>
#include <complex>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/fourier_filter.hpp>

namespace holotone {
namespace {

/// Frequency of bin k of n in cycles a sample, -1/2 <= f < 1/2.
double frequency(std::int64_t k, std::int64_t n) {
  return static_cast<double>(2 * k < n ? k : k - n) / static_cast<double>(n);
}

/// Returns the alias of a frequency of a sampled field in -1/2 .. 1/2.
double wrapped(double f) { return f - std::round(f); }

bool passes(Encoding encoding, double fx, double fy) {
  switch (encoding) {
    case Encoding::single_sideband: return fy > 0;
    case Encoding::double_phase: return std::abs(fx) + std::abs(fy) < 0.5;
    case Encoding::burckhardt: return std::abs(fx) < 1.0 / 6;
    case Encoding::phase:
    case Encoding::amplitude: return true;
  }
  return true;
}

/// Moves the order at f_x = 1/3 to the axis: multiplies by exp(-2 pi i column / 3).
void centre_first_order(View<Complex, 2> field) {
  const float half = std::sqrt(0.75F);
  const std::array<Complex, 3> turn = {Complex{1, 0}, Complex{-0.5F, -half}, Complex{-0.5F, half}};
  const std::int64_t nx = field.shape()[1];
  parallel_for(0, field.shape()[0], [&](std::int64_t row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      field(row, column) *= turn[static_cast<std::size_t>(column % 3)];
    }
  });
}

}  // namespace

void fourier_filter(View<Complex, 2> field, const EncodeOptions& options, const FieldGrid& grid) {
  require_view("fourier_filter", "field", field, grid.shape(), Device{});
  const Encoding encoding = options.encoding;
  if (fourier_filter_name(encoding) == "none") return;
  if (encoding == Encoding::burckhardt) centre_first_order(field);
  const bool carried = encoding == Encoding::double_phase;
  const double carrier_x = carried ? std::sin(options.carrier_x_rad) * grid.pitch_m / grid.wavelength_m : 0;
  const double carrier_y = carried ? std::sin(options.carrier_y_rad) * grid.pitch_m / grid.wavelength_m : 0;
  const FftPlan fft(field.shape());
  fft.execute(field, FftDirection::forward);
  parallel_for(0, grid.ny, [&](std::int64_t row) {
    const double fy = wrapped(-frequency(row, grid.ny) - carrier_y);  // rows run down, y runs up
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double fx = wrapped(frequency(column, grid.nx) - carrier_x);
      if (!passes(encoding, fx, fy)) field(row, column) = 0;
    }
  });
  fft.execute(field, FftDirection::inverse);
}

std::string_view fourier_filter_name(Encoding encoding) { return encoding_traits(encoding).stop; }

}  // namespace holotone
