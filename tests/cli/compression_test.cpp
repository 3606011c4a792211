// --compression of the commands that write pictures.
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class CompressionTest : public ProgramTest {
 protected:
  /// The value of --compression is refused before anything is read.
  void expect_levels_refused(const std::vector<std::string>& arguments) const {
    for (const char* level : {"10", "-1", "1.5", "fast", "9k"}) {
      auto words = arguments;
      words.insert(words.end(), {"--compression", level});
      expect_refused(words, {"--compression", "0 to 9", level});
    }
  }
};

TEST_F(CompressionTest, EveryLevelHoldsTheSameCodes) {
  write_cloud("points.csv", {{1e-4, 0, -0.05, 1}, {0, -2e-4, -0.06, 0.5}, {-3e-4, 1e-4, -0.055, 0.7}});
  const auto make = [&](const std::string& level, const std::string& output) {
    std::vector<std::string> arguments{"hologram",          path("points.csv"), "-o",  path(output), "--resolution",
                                       "400x300",           "--pitch",          "8um", "--device",   "cpu",
                                       "--keep-coordinates"};
    if (!level.empty()) arguments.insert(arguments.end(), {"--compression", level});
    (void)run_json(arguments);
    return content_of(path(output)).size();
  };
  for (const std::string ending : {"png", "tif"}) {
    const auto name = [&](const char* level) { return fmt::format("h{}.{}", level, ending); };
    const auto none = make("0", name("0"));
    const auto usual = make("", name(""));
    EXPECT_GT(none, 120'000U);
    EXPECT_LT(usual, none);
    EXPECT_EQ(make("auto", name("auto")), usual);
    EXPECT_LT(make("9", name("9")), none);
    for (const char* level : {"0", "9"}) {
      EXPECT_EQ(pixels_of(path(name(level))).value, pixels_of(path(name(""))).value);
    }
  }
}

TEST_F(CompressionTest, OfEveryCommand) {
  write_cloud("points.csv", {{1e-4, 0, -0.05, 1}, {0, -2e-4, -0.06, 0.5}});
  (void)run_json({"hologram", path("points.csv"), "-o", path("h.png"), "--resolution", "64x48", "--pitch", "8um",
                  "--device", "cpu", "--keep-coordinates", "--compression", "0"});
  (void)run_json({"hologram", path("points.csv"), "-o", path("h.npy"), "--resolution", "64x48", "--pitch", "8um",
                  "--device", "cpu", "--keep-coordinates"});
  struct Kind {
    std::vector<std::string> arguments;
    std::string output;  ///< of which level 0 is larger
  };
  const std::string h = path("h.png");
  const Kind kinds[] = {
      {{"hologram", "--image", h, "--size", "0.3mm", "--resolution", "64x48", "--pitch", "8um", "--encode",
        "amplitude"},
       "layers.png"},
      {{"optimize", h, "--resolution", "64x48", "--pitch", "8um", "--iterations", "1"}, "optimized.png"},
      {{"quantize", path("h.npy"), "--wavelength", "532nm", "--pitch", "8um", "--bits", "1"}, "codes.png"},
      {{"reconstruct", h}, "seen.png"},
      {{"halftone", h, "--dots", "40", "--method", "floyd-steinberg"}, "dots.png"},
      {{"smoe", "fit", h, "--components", "9", "--iterations", "1"}, "h.smoe"},
      {{"smoe", "render", path("h.smoe")}, "rendered.png"},
  };
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.arguments.front() + " " + kind.output);
    auto arguments = kind.arguments;
    arguments.insert(arguments.end(), {"-o", path(kind.output)});
    if (arguments[1] != "fit") expect_levels_refused(arguments);
    (void)run_json(arguments);
    if (arguments[1] == "fit") continue;
    const auto usual = content_of(path(kind.output)).size();
    const auto pixels = pixels_of(path(kind.output)).value;
    arguments.insert(arguments.end(), {"--compression", "0"});
    (void)run_json(arguments);
    EXPECT_GT(content_of(path(kind.output)).size(), usual);
    EXPECT_EQ(pixels_of(path(kind.output)).value, pixels);
  }
  (void)run_json({"panel", "grating", "--period", "8", "-o", path("grating.png"), "--compression", "0"});
  EXPECT_GT(content_of(path("grating.png")).size(), 1920U * 1080);
  expect_levels_refused({"panel", "chart", "-o", path("chart.png")});
  expect_levels_refused({"scene", "dice", "-o", path("dice")});
  (void)run_json({"scene", "dice", "-o", path("dice"), "--resolution", "32", "--views", "1x1", "--points", "10",
                  "--compression", "0"});
  EXPECT_GT(content_of(path("dice/image.png")).size(), 32U * 32 * 3);
}

}  // namespace
}  // namespace holotone::test
