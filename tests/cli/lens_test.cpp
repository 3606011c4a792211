// reconstruct --focal-length: options and metadata that state a lens, and what is refused. Places of light:
// tests/recipes/viewing_test.cpp.
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
};

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
  const auto json = run_json({"reconstruct", path("stated.png"), "-o", path("again.png")});
  EXPECT_EQ(json["focal_length_m"], 0.2);
  EXPECT_EQ(json["distances_m"], std::vector<double>{0.01});
  EXPECT_EQ(json["device"], "cpu");
  const auto metadata = read_image(path("seen.png")).metadata;
  EXPECT_EQ(metadata.at("focal_length_m"), "0.2");
  EXPECT_EQ(metadata.at("distance_m"), "0.01");
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
