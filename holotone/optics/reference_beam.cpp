#include <cmath>
#include <holotone/core/error.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/optics/row_range.hpp>
#include <numbers>

namespace holotone {
namespace {

using Complex64 = std::complex<double>;

std::vector<Complex64> phasors(const std::vector<double>& turns, double sign) {
  std::vector<Complex64> values;
  values.reserve(turns.size());
  for (const double t : turns) values.push_back(std::polar(1.0, sign * 2 * std::numbers::pi * t));
  return values;
}

void multiply(const ReferenceBeam& beam, const FieldGrid& grid, std::int64_t first_row, View<Complex, 2> rows,
              double sign) {
  require_grid("ReferenceBeam", grid);
  require_rows("ReferenceBeam", {first_row, rows.shape()[0]}, grid.ny);
  require_view("ReferenceBeam", "rows", rows, {rows.shape()[0], grid.nx}, Device{});
  if (beam == ReferenceBeam{}) return;
  const auto column = phasors(plane_wave_turns(grid.nx, beam.angle_x_rad, grid, 1), sign);
  const auto row = phasors(plane_wave_turns(grid.ny, beam.angle_y_rad, grid, -1), sign);
  parallel_rows(rows.shape()[0], grid.nx, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t y = first; y < last; ++y) {
      const Complex64 down = row[static_cast<std::size_t>(first_row + y)];
      Complex* const values = &rows(y, 0);
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        // Written out: a product of std::complex tests each result for NaN.
        const Complex64 across = column[static_cast<std::size_t>(x)];
        const double re = across.real() * down.real() - across.imag() * down.imag();
        const double im = across.real() * down.imag() + across.imag() * down.real();
        const Complex64 value(values[x]);
        values[x] = Complex(static_cast<float>(value.real() * re - value.imag() * im),
                            static_cast<float>(value.real() * im + value.imag() * re));
      }
    }
  });
}

}  // namespace

std::vector<double> plane_wave_turns(std::int64_t count, double angle_rad, const FieldGrid& grid, double direction) {
  const double cycles = direction * grid.pitch_m * std::sin(angle_rad) / grid.wavelength_m;
  std::vector<double> turns(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double cycle_count = cycles * (static_cast<double>(i) - static_cast<double>(count - 1) / 2);
    turns[static_cast<std::size_t>(i)] = cycle_count - std::floor(cycle_count);
  }
  return turns;
}

void add_beam(const ReferenceBeam& beam, const FieldGrid& grid, std::int64_t first_row, View<Complex, 2> rows) {
  multiply(beam, grid, first_row, rows, 1);
}

void remove_beam(const ReferenceBeam& beam, const FieldGrid& grid, std::int64_t first_row, View<Complex, 2> rows) {
  multiply(beam, grid, first_row, rows, -1);
}

}  // namespace holotone
