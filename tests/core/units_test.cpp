#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <numbers>
#include <string>
#include <string_view>

namespace holotone {
namespace {

constexpr double pi = std::numbers::pi;

/// what() of the error that `call` throws; a failure if it throws none or one of another code.
template <class Call>
std::string error_text(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Units, EveryLengthUnit) {
  EXPECT_DOUBLE_EQ(parse_length("--wavelength", "532nm"), 532e-9);
  EXPECT_DOUBLE_EQ(parse_length("--pitch", "8um"), 8e-6);
  EXPECT_DOUBLE_EQ(parse_length("--pitch", "3.74\u00b5m"), 3.74e-6);  // the micro sign
  EXPECT_DOUBLE_EQ(parse_length("--pitch", "3.74\u03bcm"), 3.74e-6);  // the Greek letter
  EXPECT_DOUBLE_EQ(parse_length("--size", "8mm"), 8e-3);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "20cm"), 0.2);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "0.2m"), 0.2);
  EXPECT_DOUBLE_EQ(parse_length("--size", "2in"), 0.0508);
  EXPECT_DOUBLE_EQ(parse_length("--size", "2inch"), 0.0508);
}

TEST(Units, DecimalUnitsAreExact) {
  EXPECT_EQ(parse_length("--rgb", "638nm"), 638e-9);
  EXPECT_EQ(parse_length("--rgb", "450nm"), 450e-9);
  EXPECT_EQ(parse_length("--pitch", "3.74um"), 3.74e-6);
  EXPECT_EQ(parse_length("--pitch", "13.68um"), 13.68e-6);
  EXPECT_EQ(parse_length("--pitch", "6.4um"), 6.4e-6);
  EXPECT_EQ(parse_length("--pitch", "10.8 um"), 10.8e-6);
  EXPECT_EQ(parse_length("--distance", "-1.7E1cm"), -0.17);
  EXPECT_EQ(parse_length("--distance", "0x1p3mm"), 8e-3);
  EXPECT_EQ(parse_angle("--carrier", "7mrad"), 7e-3);
}

TEST(Units, EveryAngleUnit) {
  EXPECT_DOUBLE_EQ(parse_angle("--spin", "180deg"), pi);
  EXPECT_DOUBLE_EQ(parse_angle("--spin", "90\u00b0"), pi / 2);
  EXPECT_DOUBLE_EQ(parse_angle("--carrier", "50mrad"), 0.05);
  EXPECT_DOUBLE_EQ(parse_angle("--carrier", "0.1rad"), 0.1);
  EXPECT_DOUBLE_EQ(parse_angle("--range", "2pi"), 2 * pi);
}

TEST(Units, SignsSpacesAndExponents) {
  EXPECT_DOUBLE_EQ(parse_length("--distance", "-20cm"), -0.2);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "+20cm"), 0.2);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "20 cm"), 0.2);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "2e1cm"), 0.2);
  EXPECT_DOUBLE_EQ(parse_length("--distance", "0m"), 0.0);
  EXPECT_DOUBLE_EQ(parse_number("--tolerance", "1e-3"), 1e-3);
  EXPECT_DOUBLE_EQ(parse_number("--tolerance", "-0.5"), -0.5);
}

TEST(Units, WhatIsNoLengthIsRefused) {
  for (const std::string_view bad :
       {"", "20", "cm", "20 parsec", "20cmx", "20cm 3", "nanm", "infm", "1e999m", "--20cm", "20CM", "3deg", "2,5cm"}) {
    EXPECT_EQ(error_text([&] { parse_length("--distance", bad); }),
              "--distance: expected a length with its unit such as 532nm, 8um, 8mm, 20cm or 1m, got '" +
                  std::string(bad) + "'");
  }
}

TEST(Units, WhatIsNoAngleIsRefused) {
  for (const std::string_view bad : {"", "3", "deg", "3m", "3degrees", "nanrad"}) {
    EXPECT_EQ(error_text([&] { parse_angle("--carrier", bad); }),
              "--carrier: expected an angle with its unit such as 3deg, 50mrad, 0.1rad or 2pi, got '" +
                  std::string(bad) + "'");
  }
}

TEST(Units, WhatIsNoNumberIsRefused) {
  for (const std::string_view bad : {"", "nan", "inf", "1e999", "1x", "1 ", "one"}) {
    EXPECT_EQ(error_text([&] { parse_number("--tolerance", bad); }),
              "--tolerance: expected a number, got '" + std::string(bad) + "'");
  }
}

TEST(Units, LengthsReadWell) {
  EXPECT_EQ(format_length(532e-9), "532 nm");
  EXPECT_EQ(format_length(8e-6), "8 um");
  EXPECT_EQ(format_length(3.74e-6), "3.74 um");
  EXPECT_EQ(format_length(8e-3), "8 mm");
  EXPECT_EQ(format_length(0.2), "20 cm");
  EXPECT_EQ(format_length(0.2, 1.7), "0.2 m");
  EXPECT_EQ(format_length(0, -3e-3), "0 mm");
  EXPECT_EQ(format_length(-5e-4, 3e-3), "-0.5 mm");
  EXPECT_EQ(format_length(0, 0), "0 m");
  EXPECT_EQ(format_length(-0.2), "-20 cm");
  EXPECT_EQ(format_length(1.5), "1.5 m");
  EXPECT_EQ(format_length(0), "0 m");
}

TEST(Units, WhatIsPrintedIsReadBack) {
  for (const double metres : {405e-9, 1e-6, 3.74e-6, 1e-3, 9.2e-3, 1e-2, 0.123456, 1.0, 2.5, -0.05}) {
    EXPECT_NEAR(parse_length("length", format_length(metres)), metres, 1e-6 * std::abs(metres)) << metres;
  }
}

TEST(Units, BytesAndDurationsReadWell) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.5 GiB");
  EXPECT_EQ(format_bytes(2048.0 * 1024 * 1024 * 1024 * 1024), "2048.0 TiB");
  EXPECT_EQ(format_duration(2.5e-6), "2.5 us");
  EXPECT_EQ(format_duration(0.69e-3), "690 us");
  EXPECT_EQ(format_duration(0.0123), "12.3 ms");
  EXPECT_EQ(format_duration(3.2), "3.2 s");
  EXPECT_EQ(format_duration(125), "2 min 5 s");
  EXPECT_EQ(format_duration(3725), "1 h 2 min");
}

TEST(Units, TheUnitIsChosenAfterRounding) {
  EXPECT_EQ(format_length(0.99999999e-6), "1 um");
  EXPECT_EQ(format_length(0.99999999), "1 m");
  EXPECT_EQ(format_duration(59.97), "1 min 0 s");
  EXPECT_EQ(format_duration(59.4), "59.4 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 0 min");
  EXPECT_EQ(format_duration(0.9997), "1 s");
}

TEST(Units, NearestNameIsSuggestedOnlyWhenNear) {
  constexpr std::string_view panels[] = {"holoeye-pluto-2.1", "holoeye-gaea-2", "meadowlark-1920"};
  EXPECT_EQ(nearest_name("holoeye-pluto-2", panels, std::size(panels)), "holoeye-pluto-2.1");
  EXPECT_EQ(nearest_name("holoeye-gaia-2", panels, std::size(panels)), "holoeye-gaea-2");
  EXPECT_EQ(nearest_name("meadowlark1920", panels, std::size(panels)), "meadowlark-1920");
  EXPECT_EQ(nearest_name("xyz", panels, std::size(panels)), "");
  EXPECT_EQ(nearest_name("x", nullptr, 0), "");
  EXPECT_EQ(nearest_name("gaea", panels, std::size(panels)), "holoeye-gaea-2") << "the only name that holds it";
  EXPECT_EQ(nearest_name("holoeye", panels, std::size(panels)), "") << "two names hold it";
  constexpr std::string_view options[] = {"help", "wave", "bits", "tilt"};
  EXPECT_EQ(nearest_name("panel", options, std::size(options)), "");
  EXPECT_EQ(nearest_name("waev", options, std::size(options)), "wave") << "neighbours exchanged are one slip";
  EXPECT_EQ(nearest_name("time", options, std::size(options)), "");
}

}  // namespace
}  // namespace holotone
