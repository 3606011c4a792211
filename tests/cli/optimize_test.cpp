// holotone optimize: phases whose light is a picture, and what it refuses.
#include <cmath>
#include <tests/cli/program.hpp>

namespace holotone::test {
namespace {

class OptimizeTest : public ProgramTest {
 protected:
  /// Soft bright discs in three colours.
  void write_picture(const std::string& name, std::int64_t ny, std::int64_t nx, double brightness = 1) const {
    Array<std::uint8_t, 3> pixels({ny, nx, 3});
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        for (std::int64_t c = 0; c < 3; ++c) {
          const double dx = static_cast<double>(col) / static_cast<double>(nx) - 0.3 - 0.2 * static_cast<double>(c);
          const double dy = static_cast<double>(row) / static_cast<double>(ny) - 0.5;
          pixels(row, col, c) = static_cast<std::uint8_t>(brightness * 230 * std::exp(-(dx * dx + dy * dy) * 20));
        }
      }
    }
    write_image(path(name), Image{std::move(pixels), {}});
  }
  [[nodiscard]] std::vector<std::string> optimize(const std::string& input, const std::string& output) const {
    return {"optimize", path(input),  "-o",  path(output),   "--resolution", "96x64",           "--pitch",
            "8um",      "--distance", "2cm", "--iterations", "20",           "--signal-region", "75%"};
  }
};

/// Correlation of a reconstructed intensity with that of a picture.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ma = 0;
  double mb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ma += a[i] / static_cast<double>(a.size());
    mb += b[i] / static_cast<double>(b.size());
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

TEST_F(OptimizeTest, ThePictureIsInFocusAtItsDistance) {
  write_picture("photo.png", 48, 72);
  const auto report = run_json(optimize("photo.png", "slm.png"));
  EXPECT_EQ(report["signal_region"], nlohmann::json({12, 8, 72, 48}));
  const auto& hologram = report["holograms"][0];
  EXPECT_GT(hologram["psnr_worst_db"], 25);
  EXPECT_LE(hologram["psnr_worst_db"], hologram["psnr_db"]);
  EXPECT_LE(hologram["gradients"], 2 * hologram["iterations"].get<int>() + 2);
  // The distance is read from the file.
  EXPECT_EQ(run({"reconstruct", path("slm.png"), "-o", path("seen.png")}).exit_code, 0);
  const auto seen = to_float(read_image(path("seen.png")));
  const auto picture = to_float(read_image(path("photo.png")));
  std::vector<double> light;
  std::vector<double> wanted;
  constexpr double luminance[] = {0.2126, 0.7152, 0.0722};
  for (std::int64_t row = 0; row < 48; ++row) {
    for (std::int64_t col = 0; col < 72; ++col) {
      light.push_back(std::pow(static_cast<double>(seen(row + 8, col + 12, 0)), 2.2));
      double sum = 0;
      for (std::int64_t c = 0; c < 3; ++c) {
        sum += luminance[c] * std::pow(static_cast<double>(picture(row, col, c)), 2.2);
      }
      wanted.push_back(sum);
    }
  }
  EXPECT_GT(correlation(light, wanted), 0.98);
}

TEST_F(OptimizeTest, ThreeColoursAndTheSameBitsForASeed) {
  write_picture("photo.png", 32, 48);
  auto colours = optimize("photo.png", "a_%c.png");
  colours.insert(colours.end(), {"--rgb", "638nm,520nm,450nm"});
  const auto report = run_json(colours);
  EXPECT_EQ(report["outputs"].size(), 3u);
  for (const auto* name : {"r", "g", "b"}) EXPECT_TRUE(fs::exists(path(std::string("a_") + name + ".png")));
  EXPECT_EQ(run(optimize("photo.png", "one.png")).exit_code, 0);
  EXPECT_EQ(run(optimize("photo.png", "two.png")).exit_code, 0);
  EXPECT_EQ(content_of(path("one.png")), content_of(path("two.png")));
  auto seeded = optimize("photo.png", "three.png");
  seeded.insert(seeded.end(), {"--seed", "7", "--phase", "random"});
  EXPECT_EQ(run(seeded).exit_code, 0);
  EXPECT_NE(content_of(path("one.png")), content_of(path("three.png")));
}

TEST_F(OptimizeTest, CodesOfFewBitsAreMeasuredAsShown) {
  write_picture("photo.png", 32, 48);
  const auto quality = [&](const std::string& bits) {
    auto arguments = optimize("photo.png", "b" + bits + ".png");
    arguments.insert(arguments.end(), {"--bits", bits});
    return run_json(arguments)["holograms"][0]["psnr_worst_db"].get<double>();
  };
  EXPECT_GT(quality("8"), quality("2") + 3);
}

TEST_F(OptimizeTest, BadInput) {
  write_picture("photo.png", 32, 48);
  write_picture("black.png", 32, 48, 0);
  write("text.png", "no picture");
  expect_refused(optimize("black.png", "slm.png"), {"black.png: expected a picture with some light, got a black one"});
  expect_refused(optimize("text.png", "slm.png"), {"text.png"});
  expect_refused(optimize("none.png", "slm.png"), {"none.png: file not found"});
  expect_refused(optimize("photo.png", "slm.h5"), {"--output", ".png"});
  expect_refused(optimize("photo.png", "photo.png"), {"--output", "input"});
  const auto with = [&](const std::string& option, const std::string& value) {
    auto arguments = optimize("photo.png", "slm.png");
    const auto at = std::find(arguments.begin(), arguments.end(), option);
    if (at != arguments.end()) {
      *(at + 1) = value;
    } else {
      arguments.insert(arguments.end(), {option, value});
    }
    return arguments;
  };
  expect_refused(with("--signal-region", "0"), {"--signal-region: expected a number from 1 to 100, got '0'"});
  expect_refused(with("--signal-region", "wide"), {"--signal-region: expected a number"});
  expect_refused(with("--iterations", "0"), {"--iterations: expected a whole number from 1 to 100000, got '0'"});
  expect_refused(with("--phase", "flat"), {"--phase: expected smooth or random, got 'flat'"});
  expect_refused(with("--distance", "nan"), {"--distance"});
  expect_refused(with("--bits", "1"), {"--bits"});
  expect_refused(with("--rgb", "638nm"), {"--rgb: expected three wavelengths"});
}

}  // namespace
}  // namespace holotone::test
