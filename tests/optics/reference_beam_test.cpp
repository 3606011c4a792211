// The beam that lights a panel, against its formula in float64.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::Complex64;
using support::expect_error;
using support::expect_within;

constexpr FieldGrid grid{37, 23, 2e-6, 532e-9};
constexpr ReferenceBeam beam{0.09, -0.05};

Array<Complex, 2> random_field() {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    field.data()[i] = Complex(std::polar(random_uniform64(1, 2 * at), 2 * M_PI * random_uniform64(1, 2 * at + 1)));
  }
  return field;
}

std::vector<Complex64> lit(const Array<Complex, 2>& field, double sign) {
  std::vector<Complex64> all;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const double x = (static_cast<double>(column) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
      const double y = (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(row)) * grid.pitch_m;
      const double turns = (x * std::sin(beam.angle_x_rad) + y * std::sin(beam.angle_y_rad)) / grid.wavelength_m;
      all.push_back(Complex64(field(row, column)) * std::polar(1.0, sign * 2 * M_PI * turns));
    }
  }
  return all;
}

TEST(ReferenceBeam, IsThePlaneWaveOfItsFormula) {
  const auto field = random_field();
  auto got = field.to(Device{});
  add_beam(beam, grid, 0, got.view());
  expect_within("with the beam", support::relative_error(got.data(), lit(field, 1)), 1e-7);
  got = field.to(Device{});
  remove_beam(beam, grid, 0, got.view());
  expect_within("without the beam", support::relative_error(got.data(), lit(field, -1)), 1e-7);
}

TEST(ReferenceBeam, RowsAreThoseOfTheWholePanel) {
  const auto field = random_field();
  auto whole = field.to(Device{});
  add_beam(beam, grid, 0, whole.view());
  auto parts = field.to(Device{});
  for (std::int64_t row = 0; row < grid.ny; row += 5)
    add_beam(beam, grid, row, {&parts(row, 0), {std::min<std::int64_t>(5, grid.ny - row), grid.nx}});
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), parts.data()));
  auto same = field.to(Device{});
  add_beam({}, grid, 0, same.view());
  EXPECT_TRUE(std::equal(same.data(), same.data() + same.size(), field.data()));
}

TEST(ReferenceBeam, RowsBeyondThePanelAreRefused) {
  auto field = random_field();
  expect_error(ErrorCode::invalid_argument, "ReferenceBeam: part: expected 1 or more rows within rows 0 to 22",
               [&] { add_beam(beam, grid, 1, field.view()); });
  Array<Complex, 2> narrow({3, 5});
  expect_error(ErrorCode::invalid_argument, "ReferenceBeam: rows", [&] { add_beam(beam, grid, 0, narrow.view()); });
}

}  // namespace
}  // namespace holotone
