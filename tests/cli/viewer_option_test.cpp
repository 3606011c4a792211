// --viewer DISTANCE:SIZE[@X,Y], as parsed by quantize, reconstruct and hologram.
#include <cli/options/viewer_option.hpp>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <string>
#include <vector>

namespace holotone::cli {
namespace {

void expect_viewer(const std::string& text, const Viewer& expected) {
  const Viewer got = viewer_of("--viewer", text);
  EXPECT_EQ(got.distance_m, expected.distance_m) << text;
  EXPECT_EQ(got.width_m, expected.width_m) << text;
  EXPECT_EQ(got.height_m, expected.height_m) << text;
  EXPECT_EQ(got.x_m, expected.x_m) << text;
  EXPECT_EQ(got.y_m, expected.y_m) << text;
}

TEST(ViewerOption, DistanceSizeAndPlace) {
  expect_viewer("36mm:9.2mm", {9.2e-3, 9.2e-3, 36e-3, 0, 0});
  expect_viewer("3.6cm:9.2x6mm", {9.2e-3, 6e-3, 36e-3, 0, 0});
  expect_viewer("0.5m:1cmx6mm", {1e-2, 6e-3, 0.5, 0, 0});
  expect_viewer("36mm:9.2mm@2,0mm", {9.2e-3, 9.2e-3, 36e-3, 2e-3, 0});
  expect_viewer("36mm:9.2mm@-2,1.5mm", {9.2e-3, 9.2e-3, 36e-3, -2e-3, 1.5e-3});
  expect_viewer("36mm:9.2x9.2mm@1cm,-50um", {9.2e-3, 9.2e-3, 36e-3, 1e-2, -50e-6});
  expect_viewer("36mm:9.2mm@2e0,1e-1mm", {9.2e-3, 9.2e-3, 36e-3, 2e-3, 1e-4});
}

TEST(ViewerOption, WhatIsWrittenReadsBackTheSame) {
  for (const std::string text : {"36mm:9.2mm", "0.333333333m:1.1x2.3mm@-7,0.1um", "1in:3um"}) {
    const Viewer viewer = viewer_of("--viewer", text);
    expect_viewer(to_text(viewer), viewer);
  }
}

TEST(ViewerOption, WhatIsNoneIsRefusedByName) {
  const std::vector<std::string> wrong = {"",
                                          "36mm",
                                          ":",
                                          "36mm:",
                                          ":9mm",
                                          "36:9mm",
                                          "36mm:9",
                                          "-36mm:9mm",
                                          "0mm:9mm",
                                          "36mm:0mm",
                                          "36mm:-9mm",
                                          "36mm:9x",
                                          "36mm:x9mm",
                                          "36mm:9mm@",
                                          "36mm:9mm@2",
                                          "36mm:9mm@2,0",
                                          "36mm:9mm@,0mm",
                                          "36mm:9mm@2mm,",
                                          "36mm:9mm@2mm,0",
                                          "36mm:9xxmm",
                                          "36mm:nanmm",
                                          "infmm:9mm",
                                          "36mm:9mm:9mm",
                                          "36mm:9mm@1,2,3mm",
                                          "36mm:9mm@1e9m,0m",
                                          "1e9m:9mm",
                                          "36mm@2,0mm:9mm"};
  for (const auto& text : wrong) {
    try {
      (void)viewer_of("--viewer", text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
      EXPECT_EQ(std::string(error.what()).rfind("--viewer: expected ", 0), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace holotone::cli
