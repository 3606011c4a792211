// Pictures that `spots` takes as light, --source, --camera-picture and --camera, by what they declare of their codes.
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/io/images/image.hpp>
#include <tests/io/declared/profile_bytes.hpp>
#include <tests/io/png_checksums.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

using io_fixtures::big;
using io_fixtures::png_chunk;

double srgb_code(double light) { return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055; }

class SpotsLightTest : public ProgramTest {
 protected:
  using Light = std::function<double(std::int64_t row, std::int64_t column)>;

  /// PNG of 16 bits of `code` of the light, with a chunk behind its header.
  std::string write_codes(const std::string& name, std::int64_t side, const Light& light,
                          const std::function<double(double)>& code, const std::string& chunk) const {
    Array<std::uint16_t, 3> codes({side, side, 1});
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      codes.data()[i] = static_cast<std::uint16_t>(std::lround(65535 * code(light(i / side, i % side))));
    }
    write_image(path(name), Image{std::move(codes), {}});
    constexpr std::size_t behind_header = 8 + 25;
    std::string bytes = content_of(path(name));
    bytes.insert(behind_header, chunk);
    return write(name, bytes);
  }

  [[nodiscard]] std::vector<std::string> spots(const std::string& side, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{
        "spots",        path("spots.csv"), "-o",      path("slm.png"), "--resolution",   side,
        "--wavelength", "532nm",           "--pitch", "8um",           "--focal-length", "10cm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  const std::string of_srgb_ = png_chunk("sRGB", std::string(1, '\0'));
  const std::string linear_ = png_chunk("gAMA", big(100000, 4));
};

TEST_F(SpotsLightTest, ABeamIsTheLightThatItsPictureDeclares) {
  write("spots.csv", "x_um,y_um\n400,100\n-300,200\n");
  const Light beam = [](std::int64_t row, std::int64_t column) {
    const double y = static_cast<double>(row) - 31.5;
    const double x = static_cast<double>(column) - 31.5;
    return std::exp(-(x * x + y * y) / (2 * 9.0 * 9.0));
  };
  const auto same = [](double light) { return light; };
  const auto width_m = [&](const std::string& picture) {
    return run_json(spots("64x64", {"--source", picture}))["spot_width_m"][0].get<double>();
  };
  const double width = width_m(write_codes("plain.png", 64, beam, same, {}));
  EXPECT_NEAR(width, 157.72e-6, 0.1e-6);  // by numpy: sum(E)^2 / sum(E^2) pixels of amplitude E
  EXPECT_NEAR(width_m(write_codes("linear.png", 64, beam, same, linear_)), width, 1e-6 * width);
  EXPECT_NEAR(width_m(write_codes("srgb.png", 64, beam, srgb_code, of_srgb_)), width, 1e-3 * width);
  const auto said = run(spots("64x64", {"--source", path("srgb.png")}));
  EXPECT_NE(said.error.find("srgb.png: its codes become light by sRGB"), std::string::npos) << said.error;
}

TEST_F(SpotsLightTest, ACameraMeasuresTheLightThatItsPictureDeclares) {
  write("spots.csv", "x_um,y_um\n400,100\n-300,200\n100,-400\n");
  write("map.csv", "x_um,10,0,-640\ny_um,0,-10,640\n");
  const Light light = [](std::int64_t row, std::int64_t column) {
    constexpr std::array<std::array<double, 3>, 3> seen{{{104, 54, 0.9}, {34, 44, 0.5}, {74, 104, 0.3}}};
    double sum = 0.01;
    for (const auto& [x, y, value] : seen) {
      const double square = std::pow(static_cast<double>(column) - x, 2) + std::pow(static_cast<double>(row) - y, 2);
      sum += value * std::exp(-square / 8);
    }
    return 0.9 * sum;
  };
  const auto same = [](double value) { return value; };
  ASSERT_EQ(run(spots("128x128", {})).exit_code, 0);
  fs::copy_file(path("slm.png"), path("start.png"));
  const auto deviation = [&](const std::string& picture) {
    return run_json(spots("128x128", {"--start", path("start.png"), "--camera-picture", picture, "--camera-map",
                                      path("map.csv")}))["measured"]["deviation"]
        .get<double>();
  };
  // Of 0.9, 0.5 and 0.3 the standard deviation is 0.44 of the mean.
  EXPECT_NEAR(deviation(write_codes("plain.png", 128, light, same, {})), 0.44, 0.005);
  EXPECT_NEAR(deviation(write_codes("linear.png", 128, light, same, linear_)), 0.44, 0.005);
  EXPECT_NEAR(deviation(write_codes("srgb.png", 128, light, srgb_code, of_srgb_)), 0.44, 0.005);
  const auto said = run(spots("128x128", {"--camera", fmt::format("cat '{}' # %s", path("srgb.png")), "--camera-map",
                                          path("map.csv"), "--feedback", "2"}));
  const std::string note = "--camera: standard output: its codes become light by sRGB";
  const auto first = said.error.find(note);
  ASSERT_NE(first, std::string::npos) << said.error;
  EXPECT_EQ(said.error.find(note, first + 1), std::string::npos) << said.error;
}

}  // namespace
}  // namespace holotone::test
