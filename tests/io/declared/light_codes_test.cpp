// Pictures whose codes are proportional to light, unless the file declares a curve.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/declared/profile_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::big;
using io_fixtures::gamma_curve;
using io_fixtures::make_png;
using io_fixtures::png_chunk;
using io_fixtures::profile_chunk;
using io_fixtures::profile_of;
using io_fixtures::tiff_of;
using io_fixtures::xyz;

constexpr double code = 100 / 255.0;
/// IEC 61966-2-1, of code 100.
const double of_srgb = std::pow((code + 0.055) / 1.055, 2.4);

Image read_measured(const std::string& name, const std::string& bytes) {
  const io_support::TemporaryFolder folder;
  io_support::write_raw(folder.file(name), bytes);
  return read_image(folder.file(name), {.as_measured = true});
}

/// Value of the first pixel, as camera_amplitude takes it.
double first(const Image& image) { return static_cast<double>(to_float(image)(0, 0, 0)); }

std::string png_with(const std::string& chunks) { return make_png(2, 0, "dd", chunks); }

bool has_lcms() {
  const auto profile = profile_of("Gamma 1.5", "GRAY", {}, gamma_curve(1.5));
  const auto image = read_measured("x.png", png_with(profile_chunk(profile)));
  return image.notes.empty() || image.notes.front().find("no Little CMS") == std::string::npos;
}

void expect_light(const std::string& bytes, double light, const std::string& by, const std::string& name = "x.png") {
  const Image image = read_measured(name, bytes);
  EXPECT_NEAR(first(image), light, 1e-5) << by;
  ASSERT_EQ(image.notes.size(), 1U) << by;
  EXPECT_NE(image.notes[0].find(name + ": its codes become light by " + by), std::string::npos) << image.notes[0];
}

TEST(LightCodes, WhatDeclaresNothingOrALineKeepsItsCodes) {
  for (const auto& chunks :
       {std::string(), png_chunk("gAMA", big(100000, 4)), png_chunk("cICP", std::string("\x01\x08\0\x01", 4))}) {
    const Image image = read_measured("x.png", png_with(chunks));
    EXPECT_TRUE(image.notes.empty()) << image.notes[0];
    EXPECT_TRUE((std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels)));
    EXPECT_NEAR(first(image), code, 1e-6);
  }
}

TEST(LightCodes, DeclaredCurvesBecomeLight) {
  expect_light(png_with(png_chunk("sRGB", std::string(1, '\0'))), of_srgb, "sRGB");
  expect_light(png_with(png_chunk("cICP", std::string("\x01\x0d\0\x01", 4))), of_srgb, "sRGB");
  expect_light(png_with(png_chunk("gAMA", big(50000, 4))), code * code, "gAMA 0.5");
  expect_light(png_with(png_chunk("gAMA", big(45455, 4))), std::pow(code, 1 / 0.45455), "gAMA 0.45455");
  const Image other = read_measured("x.png", png_with(png_chunk("cICP", std::string("\x09\x10\0\x01", 4))));
  EXPECT_NEAR(first(other), code, 1e-6);
  ASSERT_EQ(other.notes.size(), 1U);
  EXPECT_NE(other.notes[0].find("cICP 9,16,0,1 ignored: its codes are taken as proportional to light"),
            std::string::npos);
}

TEST(LightCodes, CurvesOfProfilesCount) {
  if (!has_lcms()) GTEST_SKIP() << "built without Little CMS";
  const auto with_curve = [](double gamma) { return profile_of("G", "GRAY", {}, gamma_curve(gamma)); };
  expect_light(png_with(profile_chunk(with_curve(1.5))), std::pow(code, 1.5), "profile 'G'");
  const Image linear = read_measured("x.png", png_with(profile_chunk(with_curve(1))));
  EXPECT_TRUE(linear.notes.empty());
  EXPECT_NEAR(first(linear), code, 1e-6);
  // Primaries far from sRGB's: red light alone stays red, and is not cut.
  const auto wide =
      profile_of("W", "RGB ", {xyz(0.6734, 0.279, -0.0019), xyz(0.1657, 0.6753, 0.03), xyz(0.125, 0.0456, 0.7968)},
                 gamma_curve(2));
  const Image red = read_measured("x.png", make_png(1, 2, "d\x0a\x05", profile_chunk(wide)));
  const auto light = to_float(red);
  for (const auto& [channel, value] : {std::pair{0, 100}, {1, 10}, {2, 5}}) {
    EXPECT_NEAR(static_cast<double>(light(0, 0, channel)), std::pow(value / 255.0, 2), 1e-5) << channel;
  }
  try {
    expect_light(tiff_of(2, 1, 1, 8, false, -1, "dd", with_curve(1.5)), std::pow(code, 1.5), "profile 'G'", "x.tif");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
  }
}

TEST(LightCodes, ProfilesWithoutCurvesAreNamed) {
  const auto damaged = profile_of("Table", "RGB ", {}, gamma_curve(1));
  const Image image = read_measured("x.png", make_png(1, 2, "abc", profile_chunk(damaged)));
  EXPECT_NEAR(first(image), 97 / 255.0, 1e-6);
  ASSERT_EQ(image.notes.size(), 1U);
  EXPECT_NE(image.notes[0].find("profile 'Table' ignored: its codes are taken as proportional to light"),
            std::string::npos)
      << image.notes[0];
}

}  // namespace
}  // namespace holotone
