// reconstruct --focal-length: where a grating's light falls in the focal plane of a lens, and what is refused.
#include <algorithm>
#include <tests/cli/picture.hpp>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class LensTest : public SmallPanelTest {
 protected:
  /// Phase codes of 64 x 48 pixels of 8 um that steer the light by `right` and `down` of a period across the panel.
  std::string grating(const std::string& name, double right, double down, const std::string& wavelength_m = "532e-9",
                      Metadata more = {}) const {
    more.insert({{"wavelength_m", wavelength_m}, {"pitch_m", "8e-06"}});
    Image image = grey(64, 48, more);
    auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
    for (std::int64_t row = 0; row < 48; ++row) {
      for (std::int64_t column = 0; column < 64; ++column) {
        const double turns = right * static_cast<double>(column) / 64 + down * static_cast<double>(row) / 48;
        pixels(row, column, 0) = static_cast<std::uint8_t>(std::lround(256 * (turns - std::floor(turns))) % 256);
      }
    }
    write_image(path(name), image);
    return path(name);
  }

  /// Centre of the light of a picture, in pixels from its middle: right and down.
  static std::array<double, 2> centre(const Pixels& picture) {
    double sum = 0;
    std::array<double, 2> moment{};
    for (std::int64_t row = 0; row < picture.ny; ++row) {
      for (std::int64_t column = 0; column < picture.nx; ++column) {
        const double light = std::pow(picture.at(row, column), 2);  // the peak, not the wide sidelobes
        sum += light;
        moment[0] += light * (static_cast<double>(column) - static_cast<double>(picture.nx - 1) / 2);
        moment[1] += light * (static_cast<double>(row) - static_cast<double>(picture.ny - 1) / 2);
      }
    }
    return {moment[0] / sum, moment[1] / sum};
  }
};

// 8.5 periods to the right and 6.5 down: on a sample of the focal plane, 48 of which become 64 square pixels.
TEST_F(LensTest, AGratingLightsItsPlaceInSquarePixels) {
  grating("grating.png", 8.5, 6.5);
  const auto json =
      run_json({"reconstruct", path("grating.png"), "-o", path("seen.npy"), "--linear", "--focal-length", "20cm"});
  EXPECT_EQ(json["focal_length_m"], 0.2);
  EXPECT_EQ(json["distances_m"], std::vector<double>{0});
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_NEAR(json["pitch_m"], 532e-9 * 0.2 / (64 * 8e-6), 1e-12);
  const auto picture = pixels_of(path("seen.npy"));
  EXPECT_EQ(picture.nx, 64);
  EXPECT_EQ(picture.ny, 64);
  const auto [right, down] = centre(picture);
  EXPECT_NEAR(right, 8.5, 0.02);
  EXPECT_NEAR(down, 6.5 * 64 / 48, 0.05);
}

// The file's own words give the same picture as the options; its distance is that beyond the focal plane.
TEST_F(LensTest, TheFileStatesTheLens) {
  grating("bare.png", 3, 0);
  grating("stated.png", 3, 0, "532e-9", {{"focal_length_m", "0.2"}, {"distance_m", "0.01"}});
  grating("object.png", 3, 0, "532e-9", {{"distance_m", "0.01"}});
  const auto seen = [&](const char* input, const std::vector<std::string>& more) {
    std::vector<std::string> words{"reconstruct", path(input), "-o", path("seen.npy"), "--linear"};
    words.insert(words.end(), more.begin(), more.end());
    (void)run_json(words);
    return content_of(path("seen.npy"));
  };
  const auto beyond = seen("bare.png", {"--focal-length", "20cm", "--distance", "1cm"});
  const auto at_focus = seen("bare.png", {"--focal-length", "20cm"});
  EXPECT_NE(beyond, at_focus);
  EXPECT_EQ(seen("stated.png", {}), beyond);
  EXPECT_EQ(seen("stated.png", {"--distance", "0cm"}), at_focus);
  EXPECT_EQ(seen("object.png", {"--focal-length", "20cm"}), at_focus);
  (void)run_json({"reconstruct", path("stated.png"), "-o", path("seen.png")});
  const auto metadata = read_image(path("seen.png")).metadata;
  EXPECT_EQ(metadata.at("focal_length_m"), "0.2");
  EXPECT_EQ(metadata.at("distance_m"), "0.01");
}

// Red light is steered farther: 10 periods are 10 x 638 / 450 pixels of the square that blue fills.
TEST_F(LensTest, ColoursShareTheSquareOfTheShortestWavelength) {
  const auto red = grating("r.png", 10, 0, "638e-9");
  const auto green = grating("g.png", 10, 0, "520e-9");
  const auto blue = grating("b.png", 10, 0, "450e-9");
  const auto json = run_json({"reconstruct", blue, red, green, "-o", path("seen_%d.npy"), "--linear", "--focal-length",
                              "20cm", "--sweep", "0mm:1mm:2"});
  EXPECT_NEAR(json["pitch_m"], 450e-9 * 0.2 / (64 * 8e-6), 1e-12);
  const auto picture = pixels_of(path("seen_0.npy"));
  ASSERT_EQ(picture.channels, 3);
  const double expected[] = {10, 10 * 638.0 / 450, 10 * 520.0 / 450};  // as typed
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    std::int64_t best = 0;
    for (std::int64_t column = 0; column < 64; ++column) {
      if (picture.at(31, column, channel) > picture.at(31, best, channel)) best = column;
    }
    EXPECT_NEAR(static_cast<double>(best) - 31.5, expected[channel], 1) << channel;
  }
}

TEST_F(LensTest, RefusesWhatALensExcludes) {
  const std::string bare = grating("bare.png", 3, 0);
  const std::string stated = grating("stated.png", 3, 0, "532e-9", {{"focal_length_m", "0.2"}});
  const auto refused = [&](std::vector<std::string> more, std::initializer_list<const char*> words) {
    more.insert(more.begin(), {"reconstruct", "-o", path("seen.png")});
    expect_refused(more, words);
  };
  refused({bare, "--focal-length", "0cm"}, {"--focal-length"});
  refused({bare, "--focal-length", "nan"}, {"--focal-length"});
  refused({bare, "--focal-length", "20cm", "--aperture", "3mm"}, {"--focal-length", "--aperture"});
  refused({bare, "--focal-length", "20cm", "--viewer", "20cm:3mm"}, {"--focal-length", "--viewer"});
  refused({stated, "--aperture", "3mm"}, {"--aperture", "focal_length_m", "stated.png"});
  refused({stated, "--viewer", "20cm:3mm", "--distance", "1cm"}, {"--viewer", "focal_length_m", "stated.png"});
  refused({stated, "--method", "angular-spectrum"}, {"--method", "lens"});
  refused({stated, "--distance", "100m"}, {"--distance", "focal plane"});
  refused({stated, "--sweep", "-100m:1m:3"}, {"--sweep", "focal plane"});
  refused({grating("zero.png", 3, 0, "532e-9", {{"focal_length_m", "0"}})}, {"zero.png", "focal_length_m"});
}

}  // namespace
}  // namespace holotone::test
