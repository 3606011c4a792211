// holotone reconstruct --against: agreement with holotone optimize, the difference picture, and what it refuses.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <limits>
#include <tests/cli/optimize_program.hpp>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

using nlohmann::json;

class AgainstTest : public DiscsTest {
 protected:
  [[nodiscard]] json optimize(const std::string& output, const std::vector<std::string>& more = {},
                              const std::string& region = "75%") const {
    std::vector<std::string> arguments{
        "optimize", path("photo.png"), "-o",  path(output),   "--resolution", "96x63",           "--pitch",
        "8um",      "--distance",      "5mm", "--iterations", "15",           "--signal-region", region};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  }

  [[nodiscard]] std::vector<std::string> against(const std::string& hologram, const std::string& picture,
                                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"reconstruct", path(hologram), "-o",       path("seen.png"),
                                       "--against",   path(picture),  "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// Copies a hologram with another signal region in its metadata.
  void write_with(const std::string& hologram, const std::string& name, const std::string& text) const {
    Image image = read_image(path(hologram));
    image.metadata.insert_or_assign("signal_region", text);
    write_image(path(name), image);
  }
};

/// Largest difference of what optimize and reconstruct measured, dB.
double deviation(const json& hologram, const json& seen) {
  return std::max(std::abs(hologram["psnr_worst_db"].get<double>() - seen["psnr_worst_db"].get<double>()),
                  std::abs(hologram["psnr_db"].get<double>() - seen["psnr_db"].get<double>()));
}

TEST_F(AgainstTest, AgreesWithWhatOptimizeMeasured) {
  struct Case {
    const char* region;
    bool white;  // up to its edge
  };
  for (const auto& [region, white] : {Case{"75%", false}, {"100%", false}, {"61%", false}, {"75%", true}}) {
    write_picture("photo.png", 50, 70, white ? -1 : 1);
    const auto made = optimize("slm.png", {}, region);
    const auto seen = run_json(against("slm.png", "photo.png"))["against"];
    EXPECT_EQ(seen["picture"], path("photo.png"));
    ASSERT_EQ(seen["pictures"].size(), 1u);
    const auto& picture = seen["pictures"][0];
    EXPECT_EQ(picture["signal_region"], made["signal_region"]);
    const double db = deviation(made["holograms"][0], picture);
    std::printf("region %s: %.1f dB, deviation %.3f dB of 0.3\n", region, picture["psnr_worst_db"].get<double>(), db);
    EXPECT_LT(db, 0.3);
    EXPECT_LE(picture["ssim_worst"], picture["ssim"]);
    EXPECT_LE(picture["psnr_worst_db"], picture["psnr_db"]);
    EXPECT_GE(picture["speckle_contrast_worst"], picture["speckle_contrast"]);
  }
}

// Behind a lens both take the samples of the panel's transform: nothing is resampled or padded.
TEST_F(AgainstTest, AgreesBehindALens) {
  write_picture("photo.png", 50, 70);
  for (const auto* region : {"100%", "75%", "50x30+3+5"}) {
    const auto made = optimize("slm.png", {"--focal-length", "25cm"}, region);
    const auto compared =
        run_json(against("slm.png", "photo.png", {"--difference", path("d.png")}))["against"]["pictures"][0];
    EXPECT_EQ(compared["signal_region"], made["signal_region"]);
    const double db = deviation(made["holograms"][0], compared);
    std::printf("region %s: %.1f dB, deviation %.6f dB of 0.001\n", region, compared["psnr_worst_db"].get<double>(),
                db);
    EXPECT_LT(db, 1e-3);
    EXPECT_GT(compared["psnr_worst_db"], 20);
    const auto difference = pixels_of(path("d.png"));
    EXPECT_EQ(json({difference.nx, difference.ny}), json({compared["signal_region"][2], compared["signal_region"][3]}));
  }
  // 96 x 63 pixels are a square: a square picture fills all of them. Beyond the focus it is worse.
  write_picture("square.png", 40, 40);
  Image image = read_image(path("slm.png"));
  for (const auto* key : {"signal_region", "focal_length_m"}) image.metadata.erase(key);
  write_image(path("plain.png"), image);
  const std::vector<std::string> lens{"--focal-length", "25cm"};
  const auto plain = run_json(against("plain.png", "square.png", lens))["against"]["pictures"][0];
  EXPECT_EQ(plain["signal_region"], json({0, 0, 96, 63}));
  // The region of a file that does not state it.
  const auto stated = run_json(against("slm.png", "photo.png"))["against"]["pictures"][0];
  const auto& region = stated["signal_region"];
  const auto text = fmt::format("{}x{}+{}+{}", region[2].get<int>(), region[3].get<int>(), region[0].get<int>(),
                                region[1].get<int>());
  auto named = lens;
  named.insert(named.end(), {"--signal-region", text, "--distance", "5mm"});  // else in the focal plane
  const auto as_named = run_json(against("plain.png", "photo.png", named))["against"]["pictures"][0];
  EXPECT_EQ(as_named["signal_region"], region);
  EXPECT_NEAR(as_named["psnr_db"].get<double>(), stated["psnr_db"].get<double>(), 1e-3);
  const auto sweep = run_json(against("slm.png", "photo.png", {"--sweep", "0cm:20cm:2"}))["against"]["pictures"];
  ASSERT_EQ(sweep.size(), 2u);
  EXPECT_GT(sweep[0]["psnr_db"].get<double>(), sweep[1]["psnr_db"].get<double>() + 3);
}

// Amplitude codes at distance 0 are the picture itself: its place is known to the pixel.
TEST_F(AgainstTest, ThePictureLiesInTheStatedRegion) {
  constexpr std::int64_t left = 7, top = 33, width = 30, height = 20;
  Array<std::uint8_t, 3> picture({height, width, 1});
  Array<std::uint8_t, 3> codes({64, 96, 1});
  std::fill_n(codes.data(), codes.size(), std::uint8_t{0});
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t col = 0; col < width; ++col) {
      const auto x = static_cast<double>(col - 18);
      const auto y = static_cast<double>(row - 9);
      picture(row, col, 0) = static_cast<std::uint8_t>(255 * std::exp(-x * x / 18 - y * y / 12));
      const double light = srgb_to_linear(picture(row, col, 0) / 255.0);
      codes(top + row, left + col, 0) = static_cast<std::uint8_t>(std::lround(255 * std::sqrt(light)));
    }
  }
  write_image(path("photo.png"), Image{std::move(picture), {}});
  const Metadata metadata{
      {"encoding", "amplitude"},  {"amplitude_min", "0"}, {"amplitude_max", "1"},         {"pitch_m", "8e-6"},
      {"wavelength_m", "532e-9"}, {"distance_m", "0"},    {"signal_region", "7,33,30,20"}};
  write_image(path("slm.png"), Image{std::move(codes), metadata});
  auto arguments = against("slm.png", "photo.png", {"--json"});
  const auto in_colour = nlohmann::json::parse(run(arguments).output)["against"]["pictures"][0];
  EXPECT_GT(in_colour["psnr_db"], 50);
  EXPECT_GT(in_colour["psnr_worst_db"], 45);
  EXPECT_GT(in_colour["ssim_worst"], 0.99);
  EXPECT_LT(in_colour["speckle_contrast_worst"], 0.05);
}

TEST_F(AgainstTest, ThreeColoursAndTheWorstOfThem) {
  write_picture("photo.png", 50, 70);
  const auto made = optimize("slm_%c.png", {"--rgb", "638nm,520nm,450nm"});
  const auto compared =
      run_json(against("slm_%c.png", "photo.png", {"--difference", path("d.png")}))["against"]["pictures"][0];
  ASSERT_EQ(compared["channels"].size(), 3u);
  double worst = INFINITY;
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_LT(deviation(made["holograms"][c], compared["channels"][c]), 0.3) << c;
    EXPECT_EQ(made["holograms"][c]["wavelength_m"], compared["channels"][c]["wavelength_m"]);
    worst = std::min(worst, compared["channels"][c]["psnr_worst_db"].get<double>());
  }
  EXPECT_EQ(compared["psnr_worst_db"], worst);
  EXPECT_EQ(pixels_of(path("d.png")).channels, 3);
  // One of them alone is compared with its compared colour.
  const auto alone = run_json(against("slm_b.png", "photo.png"))["against"]["pictures"][0];
  EXPECT_EQ(alone["psnr_worst_db"], compared["channels"][2]["psnr_worst_db"]);
}

TEST_F(AgainstTest, TheDifferencePictureHoldsTheError) {
  write_picture("photo.png", 50, 70);
  const auto made = optimize("slm.png");
  const auto seen = run_json(against("slm.png", "photo.png", {"--difference", path("d.png")}));
  const auto& picture = seen["against"]["pictures"][0];
  EXPECT_EQ(picture["difference"], path("d.png"));
  EXPECT_EQ(seen["outputs"], json({path("seen.png")}));
  const auto difference = pixels_of(path("d.png"));
  EXPECT_EQ(difference.channels, 1);
  EXPECT_EQ(json({difference.nx, difference.ny}), json({made["signal_region"][2], made["signal_region"][3]}));
  double squares = 0;
  for (const double value : difference.value) {
    const double error = (value * 255 - 128) / 254;
    squares += error * error / static_cast<double>(difference.value.size());
  }
  EXPECT_NEAR(-10 * std::log10(squares), picture["psnr_db"].get<double>(), 0.1);
  // It is no hologram.
  expect_refused({"reconstruct", path("d.png"), "-o", path("x.png"), "--distance", "5mm"}, {"d.png"});
}

TEST_F(AgainstTest, SweepsAndSequencesAreComparedPictureByPicture) {
  write_picture("photo.png", 50, 70);
  (void)optimize("slm_1.png");
  (void)optimize("slm_2.png", {"--seed", "3"});
  const auto sweep =
      run_json(against("slm_1.png", "photo.png", {"--sweep", "4mm:6mm:3", "--difference", path("d%d.png")}));
  const auto& focus = sweep["against"]["pictures"];
  ASSERT_EQ(focus.size(), 3u);
  for (const std::size_t beside : {0, 2}) EXPECT_LT(focus[beside]["psnr_db"], focus[1]["psnr_db"]);
  EXPECT_EQ(focus[2]["difference"], path("d2.png"));
  std::vector<std::string> frames = against("slm_%d.png", "photo.png", {"--difference", path("f%02d.png")});
  frames[3] = path("seen_%d.png");
  const auto pictures = run_json(frames)["against"]["pictures"];
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[1]["input"], path("slm_2.png"));
  EXPECT_EQ(pictures[1]["difference"], path("f02.png"));
  EXPECT_TRUE(fs::exists(path("f01.png")) && fs::exists(path("f02.png")));
  const auto text = run(frames).output;
  EXPECT_NE(text.find("slm_1.png against "), std::string::npos) << text;
  EXPECT_NE(text.find("dB at worst of four half-pixel positions ("), std::string::npos) << text;
}

TEST_F(AgainstTest, NumberedPicturesAreThoseOfTheFrames) {
  write_picture("photo_1.png", 50, 70);
  write_picture("photo_2.png", 50, 70, -1);
  const auto made = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"optimize",     path("photo_%d.png"),
                                  "-o",           path("slm_%d.png"),
                                  "--resolution", "96x63",
                                  "--pitch",      "8um",
                                  "--distance",   "5mm",
                                  "--iterations", "5"};
    line.insert(line.end(), more.begin(), more.end());
    return run_json(line)["holograms"];
  };
  const auto by_optimize = made({"--against", path("photo_%d.png")});
  const auto without = made({});
  const auto first = made({"--against", path("photo_1.png")});
  const auto psnr_db = [](const json& hologram) { return hologram["psnr_db"].get<double>(); };
  EXPECT_GT(std::abs(psnr_db(first[1]) - psnr_db(without[1])), 1);
  for (const std::size_t i : {0, 1}) EXPECT_NEAR(psnr_db(by_optimize[i]), psnr_db(without[i]), 1e-4);
  auto line = against("slm_%d.png", "photo_%d.png");
  line[3] = path("seen_%d.png");
  const auto both = run_json(line)["against"]["pictures"];
  ASSERT_EQ(both.size(), 2u);
  for (const std::size_t i : {0, 1}) {
    const auto number = std::to_string(i + 1);
    const auto one = run_json(against("slm_" + number + ".png", "photo_" + number + ".png"))["against"]["pictures"][0];
    EXPECT_EQ(both[i]["psnr_db"], one["psnr_db"]) << number;
    EXPECT_NE(run(line).output.find("slm_" + number + ".png against " + path("photo_" + number + ".png")),
              std::string::npos);
  }
  auto over = line;
  over[3] = path("photo_%d.png");
  expect_refused(over, {"--output: expected another file than that of --against"});
  fs::remove(path("photo_2.png"));
  expect_refused(line, {"photo_2.png: file not found"});
  expect_refused(against("slm_1.png", "photo_%d.png"),
                 {"--against: expected a name without a counter, as IN has none"});
  expect_refused(against("slm_1.png", "photo_%t.png"), {"--against: expected a counter such as %04d after %, got"});
}

// Fitted into the region, or the panel: keeping proportions.
TEST_F(AgainstTest, PicturesOfOtherProportionsAreFitted) {
  write_picture("photo.png", 50, 70);
  (void)optimize("slm.png");  // a region of 66 x 47
  write_picture("tall.png", 40, 20);
  Array<std::uint8_t, 3> grey({1, 1, 1});
  grey(0, 0, 0) = 100;
  write_image(path("one.png"), Image{std::move(grey), {}});
  const auto region = [&](const std::string& picture, const std::string& hologram = "slm.png") {
    return run_json(against(hologram, picture))["against"]["pictures"][0]["signal_region"];
  };
  EXPECT_EQ(region("photo.png"), json({15, 8, 66, 47}));
  EXPECT_EQ(region("tall.png"), json({36, 8, 24, 47}));
  EXPECT_EQ(region("one.png"), json({24, 8, 47, 47}));
  write_with("slm.png", "corner.png", "0,40,30,20");
  EXPECT_EQ(region("tall.png", "corner.png"), json({10, 40, 10, 20}));
  Image image = read_image(path("slm.png"));
  image.metadata.erase("signal_region");
  write_image(path("plain.png"), image);
  EXPECT_EQ(region("tall.png", "plain.png"), json({32, 0, 32, 63}));
  // SSIM needs 11 pixels a side.
  write_with("slm.png", "small.png", "40,30,9,20");
  const auto small = run_json(against("small.png", "photo.png"))["against"]["pictures"][0];
  EXPECT_TRUE(small["ssim"].is_null() && small["ssim_worst"].is_null());
}

TEST_F(AgainstTest, BadInput) {
  write_picture("photo.png", 50, 70);
  (void)optimize("slm.png");
  write_picture("black.png", 32, 48, 0);
  write("text.png", "no picture");
  expect_refused(against("slm.png", "black.png"), {"black.png: expected a picture with some light, got a black one"});
  expect_refused(against("slm.png", "text.png"), {"text.png"});
  expect_refused(against("slm.png", "none.png"), {"none.png: file not found"});
  if (can_write("nan.tif")) {
    Array<float, 3> pixels({4, 5, 1});
    std::fill_n(pixels.data(), pixels.size(), 0.5F);
    pixels(2, 3, 0) = std::numeric_limits<float>::quiet_NaN();
    write_image(path("nan.tif"), Image{std::move(pixels), {}});
    expect_refused(against("slm.png", "nan.tif"), {"nan.tif: expected light from 0 to", "row 2, column 3"});
  }
  const std::string whole = "four whole numbers under signal_region: column,row,columns,rows, got ";
  for (const auto* text : {"1,2,3", "1.5,2,3,4", "1,2,3,4,5", "nan,0,4,4"}) {
    write_with("slm.png", "bad.png", text);
    expect_refused(against("bad.png", "photo.png"), {"bad.png", whole.c_str(), text});
  }
  for (const auto* text : {"0,0,97,63", "90,0,7,63", "0,62,4,2", "0,0,0,5", "4,4,5,0"}) {
    write_with("slm.png", "bad.png", text);
    expect_refused(against("bad.png", "photo.png"),
                   {"bad.png: expected a signal_region within the panel of 96 x 63 pixels, got", text});
  }
  for (const auto* text : {"wide", "-1,0,4,4", "0,0,1e9,4"}) {
    write_with("slm.png", "bad.png", text);
    expect_refused(against("bad.png", "photo.png"), {"bad.png: expected", "signal_region"});
    EXPECT_EQ(run({"reconstruct", path("bad.png"), "-o", path("seen.png")}).exit_code, 0) << text;
    fs::remove(path("seen.png"));
  }
  expect_refused({"reconstruct", path("slm.png"), "-o", path("seen.png"), "--signal-region", "8x8+0+0"},
                 {"--signal-region: expected --against, the picture that fills it, got none"});
  expect_refused(against("slm.png", "photo.png", {"--signal-region", "8x8"}),
                 {"--signal-region: expected COLUMNSxROWS+COLUMN+ROW such as 1600x880+160+100, got '8x8'"});
  expect_refused(against("slm.png", "photo.png", {"--signal-region", "90x8+7+0"}),
                 {"--signal-region: expected a part of 96 x 63 pixels, got '90x8+7+0'"});
  expect_refused({"reconstruct", path("slm.png"), "-o", path("seen.png"), "--difference", path("d.png")},
                 {"--difference: expected --against"});
  const auto with = [&](const std::vector<std::string>& more) { return against("slm.png", "photo.png", more); };
  expect_refused(with({"--difference", path("seen.png")}),
                 {"--difference: expected another file than the one --output"});
  expect_refused(with({"--difference", path("photo.png")}),
                 {"--difference: expected another file than that of --against"});
  expect_refused(with({"--difference", path("slm.png")}), {"--difference: expected another file than the input"});
  expect_refused(with({"--difference", path("d.npy")}), {"--difference: expected a name ending in .png"});
  expect_refused(with({"--difference", path("d.png"), "--sweep", "4mm:6mm:3"}),
                 {"--difference: expected a name with a counter"});
  expect_refused(with({"--viewer", "30mm:2mm"}), {"--against: expected pictures in a plane"});
  expect_refused({"reconstruct", path("slm.png"), "-o", path("photo.png"), "--against", path("photo.png")},
                 {"--output: expected another file than that of --against"});
}

}  // namespace
}  // namespace holotone::test
