// Reconstructions of holograms for an eye in front of the panel.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <numeric>
#include <tests/cli/picture.hpp>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

constexpr double pitch_m = 8e-6;

class ViewerTest : public SmallPanelTest {
 protected:
  /// Makes a hologram of points {x, y, depth, amplitude} on 201 x 151 pixels.
  void make(const std::string& output, const std::vector<std::array<double, 4>>& points,
            std::vector<std::string> more = {}) const {
    auto cloud = points;
    for (auto& point : cloud) point[2] = -point[2];
    write_cloud("points.csv", cloud);
    more.insert(more.begin(), {"hologram", path("points.csv"), "-o", path(output), "--resolution", "201x151", "--pitch",
                               "8um", "--keep-coordinates", "--device", "cpu"});
    (void)run_json(more);
  }

  [[nodiscard]] std::vector<std::string> look(const std::string& input, const std::string& output,
                                              std::vector<std::string> more) const {
    more.insert(more.begin(), {"reconstruct", path(input), "-o", path(output), "--device", "cpu"});
    return more;
  }

  /// The mean column and row of the light.
  static std::pair<double, double> middle(const Pixels& picture) {
    double sum = 0;
    double at_row = 0;
    double at_col = 0;
    for (std::int64_t row = 0; row < picture.ny; ++row) {
      for (std::int64_t col = 0; col < picture.nx; ++col) {
        sum += picture.at(row, col);
        at_row += picture.at(row, col) * static_cast<double>(row);
        at_col += picture.at(row, col) * static_cast<double>(col);
      }
    }
    return {at_row / sum, at_col / sum};
  }
};

TEST_F(ViewerTest, MetadataAndReportTellOfTheEye) {
  make("a.png", {{0, 0, 0.1, 1}});
  const auto json =
      run_json(look("a.png", "b.png",
                    {"--viewer", "100mm:2x1.5mm@0.2,-0.1mm", "--pupil-shape", "ellipse", "--output-pitch", "16um"}));
  const auto& eye = json["viewers"][0];
  EXPECT_EQ(eye["distance_m"].get<double>(), 0.1);
  EXPECT_EQ(eye["width_m"].get<double>(), 2e-3);
  EXPECT_EQ(eye["height_m"].get<double>(), 1.5e-3);
  EXPECT_EQ(eye["x_m"].get<double>(), 0.2e-3);
  EXPECT_EQ(eye["y_m"].get<double>(), -0.1e-3);
  EXPECT_EQ(eye["shape"], "ellipse");
  // Light of a point 0.1 m behind 1.6 x 1.2 mm of panel spreads over twice those lengths at the eye.
  EXPECT_GT(eye["light_share"].get<double>(), 0.1);
  EXPECT_LT(eye["light_share"].get<double>(), 0.5);
  EXPECT_EQ(json["distances_m"][0].get<double>(), 0.1);  // as the file states
  const auto metadata = run_json({"info", path("b.png")})["metadata"];
  EXPECT_EQ(metadata["viewer_distance_m"].get<double>(), 0.1);
  EXPECT_EQ(metadata["viewer_x_m"].get<double>(), 0.2e-3);
  EXPECT_EQ(metadata["viewer_y_m"].get<double>(), -0.1e-3);
  EXPECT_EQ(metadata["viewer_width_m"].get<double>(), 2e-3);
  EXPECT_EQ(metadata["viewer_height_m"].get<double>(), 1.5e-3);
  EXPECT_EQ(metadata["pupil_shape"], "ellipse");
  EXPECT_EQ(metadata["pitch_m"].get<double>(), 16e-6);
  EXPECT_EQ(pixels_of(path("b.png")).nx, 101);  // 201 / 2, rounded
}

// White is the mean plus the standard deviation unless another rule is given.
TEST_F(ViewerTest, PicturesAreNormalisedAsThePaperDoes) {
  make("a.png", {{0, 0, 0.1, 1}, {3e-4, 2e-4, 0.11, 1}});
  const std::vector<std::string> eye{"--viewer", "100mm:1mm"};
  auto linear = eye;
  linear.emplace_back("--linear");
  (void)run_json(look("a.png", "b.npy", linear));
  const auto picture = pixels_of(path("b.npy"));
  const auto count = static_cast<double>(picture.value.size());
  const double mean = std::accumulate(picture.value.begin(), picture.value.end(), 0.0) / count;
  double squares = 0;
  for (const double value : picture.value) squares += (value - mean) * (value - mean);
  const double white = mean + std::sqrt(squares / count);
  const auto white_with = [&](const std::vector<std::string>& more) {
    auto arguments = eye;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(look("a.png", "b.png", arguments))["tone"]["white"].get<double>();
  };
  EXPECT_NEAR(white_with({}) / white, 1, 1e-5);
  EXPECT_NEAR(white_with({"--white", "mean+deviation"}) / white, 1, 1e-5);
  EXPECT_GT(white_with({"--white", "percentile"}), 2 * white);
  EXPECT_EQ(white_with({"--white", "3.5"}), 3.5);
}

TEST_F(ViewerTest, SweepsOverFocusAndPlaceGiveFramesAndASheet) {
  make("a.png", {{0, 0, 0.1, 1}});
  const auto focus = run_json(
      look("a.png", "sheet.png",
           {"--viewer", "100mm:2mm", "--sweep", "8cm:12cm:3", "--frames", path("f%d.png"), "--tile-width", "100"}));
  EXPECT_EQ(focus["outputs"].size(), 4u);
  EXPECT_EQ(focus["viewers"].size(), 1u);
  EXPECT_EQ(pixels_of(path("f1.png")).nx, 201);
  const auto places = run_json(
      look("a.png", "p%d.npy",
           {"--viewer", "100mm:1mm@9,9mm", "--sweep-viewer", "-1,0mm:1,0.4mm:3", "--focus", "12cm", "--linear"}));
  ASSERT_EQ(places["viewers"].size(), 3u);
  EXPECT_EQ(places["viewers"][1]["x_m"].get<double>(), 0);
  EXPECT_EQ(places["viewers"][1]["y_m"].get<double>(), 0.2e-3);
  const auto left = middle(pixels_of(path("p0.npy")));
  const auto right = middle(pixels_of(path("p2.npy")));
  EXPECT_NEAR(left.second - right.second, 0.2e-3 / pitch_m, 4);
  (void)run_json(look("a.png", "sheet.png", {"--viewer", "100mm:1mm", "--sweep-viewer", "-1,0mm:1,0mm:3"}));
  const auto metadata = run_json({"info", path("sheet.png")})["metadata"];
  EXPECT_EQ(metadata["viewer_x_m"], "-0.001,0,0.001");
  // A single position gives the same picture.
  (void)run_json(look("a.png", "one.npy", {"--viewer", "100mm:1mm@1,0.4mm", "--focus", "12cm", "--linear"}));
  EXPECT_EQ(pixels_of(path("one.npy")).value, pixels_of(path("p2.npy")).value);
}

TEST_F(ViewerTest, SeveralDevicesShareTheEyesOfASweep) {
  make("a.png", {{0, 0, 0.1, 1}, {3e-4, 2e-4, 0.11, 1}});
  const std::vector<std::string> sweep{"--viewer", "100mm:1mm", "--sweep-viewer", "-1,0mm:1,0.4mm:5", "--linear"};
  const auto alone = run_json(look("a.png", "a%d.npy", sweep));
  constexpr std::size_t device = 5;
  auto shared = look("a.png", "b%d.npy", sweep);
  shared[device] = "cpu,cpu,cpu";
  const auto together = run_json(shared);
  EXPECT_EQ(together["device"], "cpu,cpu,cpu");
  EXPECT_EQ(together["viewers"], alone["viewers"]);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(pixels_of(path(fmt::format("a{}.npy", i))).value, pixels_of(path(fmt::format("b{}.npy", i))).value) << i;
  }
  auto single = look("a.png", "c.png", {"--viewer", "100mm:1mm"});
  single[device] = "cpu,cpu";
  expect_refused(single, {"--device", "--sweep-viewer"});
}

// Codes and fields, in strips or as a whole.
TEST_F(ViewerTest, EveryEncodingIsSeen) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"a.h5", {}},
      {"a.png", {"--bits", "4"}},
      {"a.png", {"--encode", "double-phase"}},
      {"a.png", {"--encode", "amplitude", "--reference-angle", "0.8deg,0.5deg"}},
      {"a.png", {"--encode", "single-sideband"}},
      {"a.png", {"--packed16"}}};
  for (const auto& [name, options] : cases) {
    if (!can_write(name)) continue;
    make(name, {{2e-4, -1e-4, 0.1, 1}}, options);
    (void)run_json(look(name, "b.npy", {"--linear", "--viewer", "100mm:2mm", "--focus", "10cm"}));
    const Spot got = brightest(pixels_of(path("b.npy")));
    const Spot expected = pixel_of(2e-4, -1e-4, 201, 151, pitch_m);
    EXPECT_LE(std::abs(got.row - expected.row), 1) << name << (options.empty() ? "" : options.back());
    EXPECT_LE(std::abs(got.col - expected.col), 1) << name << (options.empty() ? "" : options.back());
  }
}

// More rows than a strip: a reference beam tilted upward continues from strip to strip. With a zero correction the
// program reads the hologram as a whole.
TEST_F(ViewerTest, StripsGiveTheLightOfTheWhole) {
  write_cloud("point.csv", {{0, 3e-3, -0.3, 1}});
  (void)run_json({"hologram", path("point.csv"), "-o", path("tall.png"), "--resolution", "12x2500", "--pitch", "8um",
                  "--keep-coordinates", "--encode", "amplitude", "--reference-angle", "0deg,0.7deg", "--device",
                  "cpu"});
  Image flat{Array<std::uint8_t, 3>({2500, 12, 1}), {}};
  for (auto& code : std::get<Array<std::uint8_t, 3>>(flat.pixels).host()) code = 0;
  write_image(path("flat.png"), flat);
  const std::vector<std::string> eye{"--linear", "--viewer", "300mm:2mm", "--focus", "30cm"};
  (void)run_json(look("tall.png", "strips.npy", eye));
  auto whole = eye;
  whole.insert(whole.end(), {"--correction", path("flat.png")});
  (void)run_json(look("tall.png", "whole.npy", whole));
  const auto a = pixels_of(path("strips.npy"));
  const auto b = pixels_of(path("whole.npy"));
  const double most = *std::max_element(b.value.begin(), b.value.end());
  double difference = 0;
  for (std::size_t i = 0; i < b.value.size(); ++i) difference = std::max(difference, std::abs(a.value[i] - b.value[i]));
  std::printf("strips against the whole: %.2e of the brightest\n", difference / most);
  EXPECT_LT(difference, 1e-5 * most);
}

TEST_F(ViewerTest, WhatCannotBeSeenIsRefused) {
  ASSERT_EQ(run(hologram("good.csv", "out.png")).exit_code, 0);
  const auto refused = [&](std::vector<std::string> more, std::initializer_list<const char*> words) {
    expect_refused(look("out.png", "f.png", std::move(more)), words);
  };
  const std::string eye = "100mm:2mm";
  refused({"--viewer", "100mm:0mm"}, {"--viewer", "window"});
  refused({"--viewer", "100mm"}, {"--viewer", "DISTANCE:SIZE[@X,Y]", "--aperture"});
  refused({"--viewer", "100:2mm"}, {"--viewer", "unit"});
  // 64 pixels of 8 um: arctan((20 - 1 - 0.256) / 100) = 10.616 degrees; light reaches 1.905 degrees.
  refused({"--viewer", "100mm:2mm@20,0mm"}, {"--viewer: expected", "1.91 degrees", "by 8.71 degrees"});
  refused({"--viewer", "100mm:2mm@0,20mm"}, {"--viewer: expected", "vertically"});
  refused({"--viewer", eye, "--focus", "-10cm"}, {"--focus: expected", "in the eye's own plane"});
  refused({"--viewer", eye, "--focus", "-30cm"}, {"--focus: expected", "in front of the eye"});
  refused({"--viewer", eye, "--sweep", "-8cm:-12cm:3"}, {"--sweep: expected", "in the eye's own plane"});
  refused({"--viewer", eye, "--method", "fresnel"}, {"--method", "angular-spectrum"});
  refused({"--viewer", eye, "--pupil-shape", "round"}, {"--pupil-shape", "ellipse"});
  refused({"--viewer", eye, "--output-pitch", "9"}, {"--output-pitch", "unit"});
  refused({"--viewer", eye, "--output-pitch", "1nm"}, {"--output-pitch", "65536"});
  refused({"--viewer", eye, "--aperture", "5mm"}, {"--viewer"});
  refused({"--viewer", eye, "--sweep-viewer", "1,0mm:2"}, {"--sweep-viewer", "-3,0mm:3,0mm:7"});
  refused({"--viewer", eye, "--sweep-viewer", "1mm:2mm:3"}, {"--sweep-viewer"});
  refused({"--viewer", eye, "--sweep-viewer", "0,0mm:50,0mm:3"}, {"--sweep-viewer: expected", "degrees"});
  refused({"--viewer", eye, "--sweep-viewer", "0,0mm:1,0mm:3", "--sweep", "1cm:2cm:2"}, {"--sweep"});
  refused({"--sweep-viewer", "0,0mm:1,0mm:3"}, {"--sweep-viewer", "--viewer DISTANCE:SIZE"});
  refused({"--pupil-shape", "ellipse"}, {"--pupil-shape", "--viewer DISTANCE:SIZE"});
  refused({"--output-pitch", "8um"}, {"--output-pitch", "--viewer DISTANCE:SIZE"});
  refused({"--white", "bright"}, {"--white", "mean+deviation"});
  // A field is read by rows: an error in it appears during the run and leaves no file.
  if (can_write("f.h5")) {
    FieldFile field{Array<std::complex<float>, 2>({40, 30}),
                    {{"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}, {"distance_m", "0.1"}}};
    std::fill_n(field.values.data(), field.values.size(), std::complex<float>(1, 0));
    field.values(33, 7) = {NAN, 0};
    write_field(path("nan.h5"), field);
    expect_refused(look("nan.h5", "f.png", {"--viewer", eye}), {"nan.h5", "row 33, column 7"});
  }
}

}  // namespace
}  // namespace holotone::test
