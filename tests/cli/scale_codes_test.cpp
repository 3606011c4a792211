// Codes of few bits in the program: as they are, from black to white, and read back.
#include <tests/cli/quantize_program.hpp>

namespace holotone {
namespace {

class ScaleCodesTest : public test::QuantizeTest {
 protected:
  /// Light of the codes in a plane, as the bytes of an array.
  std::string make_picture(const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> look{"reconstruct", path(name), "-o", path("seen.npy"), "--linear", "--distance", "1mm"};
    look.insert(look.end(), more.begin(), more.end());
    const auto made = run(look);
    EXPECT_EQ(made.exit_code, 0) << made.error;
    error_ = made.error;
    return test::content_of(path("seen.npy"));
  }

  std::string error_;
};

TEST_F(ScaleCodesTest, BinaryCodesAreReadBack) {
  speckle("s.npy", 48, 40);
  for (const std::string name : {"raw.png", "raw.tif", "raw.bmp"}) {
    ASSERT_EQ(run(line("s.npy", name, {"--bits", "1"})).exit_code, 0);
  }
  const auto plain = decode_codes("raw.png");
  EXPECT_EQ(std::ranges::max(plain), 1);
  const std::vector<std::string> stated{"--pitch", "1um", "--wavelength", "532nm"};
  const auto expected = make_picture("raw.png");
  for (const std::string name : {"x.png", "x.tif", "x.bmp"}) {
    SCOPED_TRACE(name);
    const auto made = run(line("s.npy", name, {"--bits", "1", "--scale-codes"}));
    ASSERT_EQ(made.exit_code, 0) << made.error;
    EXPECT_EQ(made.error.find("look black"), std::string::npos);
    const auto scaled = decode_codes(name);
    ASSERT_EQ(scaled.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(scaled[i], 255 * plain[i]);
    if (name != "x.bmp") {
      EXPECT_EQ(make_picture(name), expected);
      EXPECT_EQ(error_.find("are read as"), std::string::npos);
      continue;
    }
    auto flags = stated;
    expect_refused(
        {"reconstruct", path(name), "-o", path("f.png"), "--distance", "1mm", "--pitch", "1um", "--wavelength",
         "532nm"},
        {"x.bmp: expected bits, 1 or 8, of codes that are all 0 or 255, got none stated; --bits states them"});
    flags.insert(flags.end(), {"--bits", "1"});
    EXPECT_EQ(make_picture(name, flags), expected);
    EXPECT_NE(error_.find("x.bmp: codes 0 to 255 are read as 0 to 1 of 1 bit"), std::string::npos);
  }
}

TEST_F(ScaleCodesTest, FewBitsAloneAreScaled) {
  speckle("s.npy", 48, 40);
  expect_refused(line("s.npy", "x.png", {"--scale-codes"}),
                 {"--scale-codes: expected codes of at most 7 bits, got '8'"});
  expect_refused(line("s.npy", "x.npy", {"--bits", "1", "--scale-codes"}),
                 {"--scale-codes: expected an output ending in .png, .tif or .bmp"});
  make_scene();
  const std::vector<std::string> codes{"hologram",      path("points.csv"), "-o",  path("h.png"),       "--resolution",
                                       "32x32",         "--pitch",          "1um", "--encode",          "amplitude",
                                       "--scale-codes", "--bits",           "1",   "--keep-coordinates"};
  const auto made = run(codes);
  ASSERT_EQ(made.exit_code, 0) << made.error;
  for (const auto code : decode_codes("h.png")) EXPECT_TRUE(code == 0 || code == 255);
  EXPECT_EQ(image("h.png").metadata.at("bits"), "1");
}

TEST_F(ScaleCodesTest, SumsOfPanelPatterns) {
  const auto pattern = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"panel", "grating", "--period", "8px", "-o", path(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto made = run(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.error;
  };
  const std::vector<std::string> panel{"--resolution", "32x16", "--pitch", "8um", "--bits", "2"};
  auto scaled = panel;
  scaled.emplace_back("--scale-codes");
  pattern("raw.png", panel);
  pattern("x.png", scaled);
  EXPECT_EQ(std::ranges::max(decode_codes("x.png")), 255);
  pattern("sum.png", {"--add", path("raw.png")});
  pattern("same.png", {"--add", path("x.png")});
  EXPECT_EQ(decode_codes("same.png"), decode_codes("sum.png"));
  EXPECT_FALSE(image("same.png").metadata.contains("scaled_codes"));
}

TEST_F(ScaleCodesTest, InfoNamesTheBits) {
  Array<std::uint8_t, 3> pixels({2, 3, 1});
  std::ranges::fill(pixels.host(), std::uint8_t{1});
  write_image(path("x.png"), {std::move(pixels), {}, {}, 1});
  const auto info = run({"info", path("x.png")});
  EXPECT_NE(info.output.find("picture, 3 x 2 pixels, 1 channel, 1-bit"), std::string::npos) << info.output;
  EXPECT_NE(run({"info", path("x.png"), "--json"}).output.find("\"pixel_type\": \"1-bit\""), std::string::npos);
}

}  // namespace
}  // namespace holotone
