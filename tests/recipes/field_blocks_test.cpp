// Blocks of rows of a field that is quantized: their values, the field's scale, hogels and beams by hand.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/recipes/codes/field_blocks_detail.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

constexpr FieldGrid grid{12, 10, 8e-6, 532e-9};

Array<Complex, 2> random_field() {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    field.data()[i] =
        Complex(std::polar(0.2 + random_uniform64(3, 2 * at), 2 * M_PI * random_uniform64(3, 2 * at + 1)));
  }
  return field;
}

/// Blocks of a field in memory; counts how often rows are read.
FieldBlocks blocks_of(const Array<Complex, 2>& field, std::int64_t rows, int& reads, const ReferenceBeam& beam = {}) {
  return {[&](std::int64_t first_row, View<Complex, 2> part) {
            ++reads;
            for (std::int64_t y = 0; y < part.shape()[0]; ++y) {
              for (std::int64_t x = 0; x < grid.nx; ++x) part(y, x) = field.view()(first_row + y, x);
            }
          },
          grid, beam, rows};
}

TEST(FieldBlocks, CoverTheFieldOnceInRows) {
  const auto field = random_field();
  int reads = 0;
  auto blocks = blocks_of(field, 4, reads);
  EXPECT_EQ(blocks.rows(), 4);
  ASSERT_EQ(blocks.count(), 3);
  std::int64_t row = 0;
  for (std::int64_t block = 0; block < 3; ++block) {
    EXPECT_EQ(blocks.first_row(block), row);
    const auto part = blocks.at(block);
    EXPECT_EQ(part.shape()[0], block < 2 ? 4 : 2);
    for (std::int64_t y = 0; y < part.shape()[0]; ++y, ++row) {
      for (std::int64_t x = 0; x < grid.nx; ++x) EXPECT_EQ(part(y, x), field.view()(row, x));
    }
    (void)blocks.at(block);  // held
  }
  EXPECT_EQ(row, grid.ny);
  EXPECT_EQ(reads, 3);
}

TEST(FieldBlocks, AreWithoutTheBeam) {
  const auto field = random_field();
  int reads = 0;
  const ReferenceBeam beam{0.01, -0.02};
  auto blocks = blocks_of(field, 3, reads, beam);
  const auto part = blocks.at(1);
  // Neighbours differ by the beam's phase step and by the field's.
  const double step = 2 * M_PI * std::sin(beam.angle_x_rad) * grid.pitch_m / grid.wavelength_m;
  const auto turned = part(1, 5) / part(1, 4);
  const auto alone = field.view()(4, 5) / field.view()(4, 4) * Complex(std::polar(1.0, -step));
  EXPECT_NEAR(std::abs(turned - alone), 0, 1e-5 * std::abs(alone));
}

TEST(FieldBlocks, TheScaleIsTheModulusThatTheShareDoesNotExceed) {
  const auto field = random_field();
  std::vector<float> moduli;
  double squares = 0;
  for (std::int64_t i = 0; i < field.size(); ++i) {
    moduli.push_back(std::abs(field.data()[i]));
    squares += std::norm(std::complex<double>(field.data()[i]));
  }
  std::sort(moduli.begin(), moduli.end());
  int reads = 0;
  auto blocks = blocks_of(field, 4, reads);
  std::int64_t seen = 0;
  FieldScaleOptions options{.clip = 0.75, .each = [&](View<const Complex, 2> block) { seen += block.size(); }};
  const auto found = find_scale("field", blocks, grid, options, Progress::none());
  EXPECT_NEAR(found.scale, moduli[moduli.size() * 3 / 4 - 1], 1e-6);
  EXPECT_NEAR(found.energy, squares / static_cast<double>(field.size()), 1e-12);
  EXPECT_EQ(seen, field.size());
  options.scale = 3;
  const auto given = find_scale("field", blocks, grid, options, Progress::none());
  EXPECT_EQ(given.scale, 3);
  EXPECT_EQ(given.energy, found.energy);
}

TEST(FieldBlocks, ValuesThatAreNotFiniteAreRefusedWithTheirPlace) {
  auto field = random_field();
  field.data()[4 * grid.nx + 7] = Complex(NAN, 0);
  int reads = 0;
  auto blocks = blocks_of(field, 4, reads);
  expect_error(ErrorCode::io, "f.h5: expected finite values",
               [&] { (void)find_scale("f.h5", blocks, grid, {}, Progress::none()); });
  expect_error(ErrorCode::io, "row 4, column 7", [&] { (void)find_scale("f.h5", blocks, grid, {}, Progress::none()); });
  field.data()[4 * grid.nx + 7] = Complex(1e17F, 0);
  auto large = blocks_of(field, 4, reads);
  expect_error(ErrorCode::io, "values of at most 1e+15",
               [&] { (void)find_scale("f.h5", large, grid, {}, Progress::none()); });
}

TEST(FieldBlocks, HogelsFollowTheWindow) {
  EXPECT_EQ(default_hogel_px({.width_m = 9.2e-3, .height_m = 9.2e-3, .distance_m = 36e-3}, 750e-9), 2048);
  EXPECT_EQ(default_hogel_px({.width_m = 9.2e-3, .height_m = 4e-3, .distance_m = 36e-3}, 8e-6), 64);
  EXPECT_EQ(default_hogel_px({.width_m = 9.2e-3, .height_m = 4.2e-3, .distance_m = 36e-3}, 8e-6), 128);
}

TEST(FieldBlocks, ABlockIsRowsOfWholeHogels) {
  constexpr FieldGrid large{8192, 8192, 1e-6, 532e-9};
  EXPECT_EQ(find_block_rows(grid, 4, 1), grid.ny);
  EXPECT_EQ(find_block_rows(large, 0, 1), large.ny);
  EXPECT_EQ(find_block_rows(large, 64, 1), 512);  // 2^22 pixels
  EXPECT_EQ(find_block_rows(large, 64, 8), 256);  // 128 rows of hogels for 32 blocks
  EXPECT_EQ(find_block_rows(large, 1024, 64), 1024);
}

TEST(FieldBlocks, ABeamHasTwoPixelsAFringe) {
  require_fringes({0.03, -0.03}, grid);
  expect_error(ErrorCode::invalid_argument, "beam: expected at most 1.90544 deg either way", [] {
    require_fringes({0.04, 0}, grid);
  });
}

}  // namespace
}  // namespace holotone
