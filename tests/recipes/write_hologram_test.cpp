// Files written in one call, read back by read_hologram and as plain pictures.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

constexpr FieldGrid grid{65, 48, 8e-6, 532e-9};

class WriteHologramTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }

  static Field field() {
    Field field{Array<Complex, 2>(grid.shape()), grid};
    for (std::int64_t i = 0; i < field.values.size(); ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      const double modulus = 0.2 + random_uniform64(3, 2 * at);
      field.values.data()[i] = Complex(std::polar(modulus, 2 * M_PI * random_uniform64(3, 2 * at + 1)));
    }
    return field;
  }

 private:
  io_support::TemporaryFolder folder_;
};

TEST_F(WriteHologramTest, PhaseCodesShowThePhaseOfTheField) {
  const Field written = field();
  write_hologram(path("a.png"), written, {.bits = 10}, {.metadata = {{"distance_m", "0.2"}}});
  const auto light = read_hologram(path("a.png"));
  EXPECT_EQ(light.encoding, "phase");
  EXPECT_EQ(light.grid.pitch_m, grid.pitch_m);
  EXPECT_EQ(light.grid.wavelength_m, grid.wavelength_m);
  EXPECT_EQ(light.metadata.at("distance_m"), "0.2");
  ASSERT_EQ(light.field.shape(), grid.shape());
  const double step_rad = 2 * M_PI / 1024;
  for (std::int64_t i = 0; i < light.field.size(); ++i) {
    const auto expected = std::complex<double>(written.values.data()[i]);
    const auto got = std::complex<double>(light.field.data()[i]);
    EXPECT_NEAR(std::abs(got), 1, 1e-6);
    EXPECT_LE(std::abs(std::arg(got / expected)), 0.5 * step_rad + 1e-5);
  }
}

TEST_F(WriteHologramTest, AmplitudeCodesKeepTheirRange) {
  const Field written = field();
  write_hologram(path("a.tif"), written, {.encoding = Encoding::amplitude});
  const auto light = read_hologram(path("a.tif"));
  double largest = 0;
  for (const auto value : written.values.host()) largest = std::max(largest, std::abs<double>(value.real()));
  for (std::int64_t i = 0; i < light.field.size(); ++i) {
    // Codes of -max .. max; the beam that is shown is brighter by max (modulation_of).
    const double got = light.field.data()[i].real();
    EXPECT_NEAR(got, written.values.data()[i].real(), 1.01 * largest / 255) << i;
  }
}

TEST_F(WriteHologramTest, ANameOfAFieldKeepsTheField) {
  const Field written = field();
  write_hologram(path("a.ohc"), written);
  const auto light = read_hologram(path("a.ohc"));
  EXPECT_EQ(light.encoding, "complex");
  EXPECT_TRUE(std::ranges::equal(light.field.host(), written.values.host()));
}

TEST_F(WriteHologramTest, PackedCodesAreThoseOfTheSameBits) {
  const Field written = field();
  const EncodeOptions encoding{.bits = 16};
  write_hologram(path("packed.png"), written, encoding, {.packed16 = true});
  write_hologram(path("plain.png"), written, encoding);
  EXPECT_EQ(shape_of(read_image(path("packed.png")))[2], 3);
  EXPECT_TRUE(std::ranges::equal(read_hologram(path("packed.png")).field.host(),
                                 read_hologram(path("plain.png")).field.host()));
}

TEST_F(WriteHologramTest, WhatDoesNotFitIsRefused) {
  const Field written = field();
  Array<std::uint16_t, 2> codes(grid.shape());
  std::ranges::fill(codes.host(), std::uint16_t{15});
  codes(3, 7) = 16;
  expect_error(ErrorCode::invalid_argument,
               "write_hologram: codes: expected codes of 4 bits, below 16, got 16 at row 3, column 7",
               [&] { write_hologram(path("a.png"), codes.view(), grid, {.bits = 4}); });
  expect_error(ErrorCode::invalid_argument, "path: expected the name of a picture for codes",
               [&] { write_hologram(path("a.h5"), codes.view(), grid); });
  expect_error(ErrorCode::invalid_argument, "bits: expected 1 to 16, got 17",
               [&] { write_hologram(path("a.png"), codes.view(), grid, {.bits = 17}); });
  FieldGrid other = grid;
  other.nx = 64;
  expect_error(ErrorCode::invalid_argument, "codes: expected the grid's shape",
               [&] { write_hologram(path("a.png"), codes.view(), other); });
  other = grid;
  other.pitch_m = 8;
  expect_error(ErrorCode::invalid_argument, "write_hologram: pitch_m: expected",
               [&] { write_hologram(path("a.png"), codes.view(), other); });
}

}  // namespace
}  // namespace holotone
