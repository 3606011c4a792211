#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <limits>
#include <string>

namespace holotone {
namespace {

template <class Call>
std::string error_text(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Error, TextsNameWhereWhatAndBothValues) {
  EXPECT_EQ(error_text(ErrorCode::invalid_argument, [] { throw_argument("PointCloudPlan", "bits", "2 to 16", "17"); }),
            "PointCloudPlan: bits: expected 2 to 16, got 17");
  EXPECT_EQ(error_text(ErrorCode::io, [] { throw_io("a.png", "a PNG image", "an empty file"); }),
            "a.png: expected a PNG image, got an empty file");
}

TEST(Error, FieldsNameFunctionArgumentAndBothValues) {
  try {
    throw_unsupported("EncodePlan", "queue", "a queue of cpu", "cuda:0");
  } catch (const Error& error) {
    const Error copy = error;
    EXPECT_EQ(copy.code(), ErrorCode::unsupported);
    EXPECT_EQ(copy.function(), "EncodePlan");
    EXPECT_EQ(copy.argument(), "queue");
    EXPECT_EQ(copy.expected(), "a queue of cpu");
    EXPECT_EQ(copy.got(), "cuda:0");
    EXPECT_STREQ(copy.what(), "EncodePlan: queue: expected a queue of cpu, got cuda:0");
  }
  const Error plain(ErrorCode::device, "the device was lost");
  EXPECT_EQ(plain.function() + plain.argument() + plain.expected() + plain.got(), "");
}

TEST(Error, PositiveMeansFiniteAndAboveZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -532e-9, infinity, -infinity, std::nan("")}) {
    EXPECT_NE(error_text(ErrorCode::invalid_argument, [bad] { require_positive("Plan", "wavelength_m", bad); })
                  .find("Plan: wavelength_m: expected > 0, got "),
              std::string::npos)
        << bad;
  }
  EXPECT_EQ(error_text(ErrorCode::invalid_argument, [] { require_positive("Plan", "wavelength_m", -5.32e-07); }),
            "Plan: wavelength_m: expected > 0, got -5.32e-07");
  EXPECT_NO_THROW(require_positive("Plan", "wavelength_m", 5e-324));
}

TEST(Error, RangesIncludeTheirEnds) {
  EXPECT_NO_THROW(require_range("Plan", "tolerance", 1e-6, 1e-6, 0.1));
  EXPECT_NO_THROW(require_range("Plan", "tolerance", 0.1, 1e-6, 0.1));
  EXPECT_EQ(error_text(ErrorCode::invalid_argument, [] { require_range("Plan", "tolerance", 0.2, 1e-6, 0.1); }),
            "Plan: tolerance: expected 1e-06 to 0.1, got 0.2");
  EXPECT_EQ(
      error_text(ErrorCode::invalid_argument, [] { require_range("Plan", "tolerance", std::nan(""), 1e-6, 0.1); }),
      "Plan: tolerance: expected 1e-06 to 0.1, got nan");
}

}  // namespace
}  // namespace holotone
