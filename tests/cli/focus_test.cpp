// Depth: each slice of an object is sharpest at its own distance.
#include <cmath>
#include <holotone/core/geometry.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/io/points/points.hpp>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class FocusTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<Pixels> sweep(const std::string& hologram, const std::string& distances, int count) const {
    (void)run_json({"reconstruct", path(hologram), "-o", path("look_%d.npy"), "--linear", "--sweep",
                    distances + ":" + std::to_string(count)});
    std::vector<Pixels> pictures;
    for (int i = 0; i < count; ++i) pictures.push_back(pixels_of(path(fmt::format("look_{}.npy", i))));
    return pictures;
  }
};

/// Sharpness sum I^2 / (sum I)^2 over a box: maximal if the light is concentrated in the fewest pixels.
double sharpness(const Pixels& picture, std::int64_t first_col, std::int64_t last_col) {
  double sum = 0;
  double squares = 0;
  for (std::int64_t row = 0; row < picture.ny; ++row) {
    for (std::int64_t col = first_col; col < last_col; ++col) {
      sum += picture.at(row, col);
      squares += picture.at(row, col) * picture.at(row, col);
    }
  }
  return squares / (sum * sum);
}

// Three flat patches of dots side by side, 46, 50 and 54 mm behind the panel.
TEST_F(FocusTest, ThreePatchesAreSharpestAtTheirDistances) {
  constexpr double pitch_m = 8e-6;
  constexpr double distance_m[] = {0.046, 0.050, 0.054};
  std::vector<std::array<double, 4>> points;
  for (int patch = 0; patch < 3; ++patch) {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 7; ++j) {
        const double x_m = (patch - 1) * 0.9e-3 + (i - 1.5) * 0.13e-3 + 0.01e-3 * j;
        points.push_back({x_m, (j - 3) * 0.17e-3, -distance_m[patch], 1});
      }
    }
  }
  write_cloud("patches.csv", points);
  (void)run_json({"hologram", path("patches.csv"), "-o", path("patches.png"), "--resolution", "400x225", "--pitch",
                  "8um", "--keep-coordinates", "--random-phase", "--seed", "3"});
  const auto pictures = sweep("patches.png", "42mm:58mm", 9);  // every 2 mm
  for (int patch = 0; patch < 3; ++patch) {
    const auto middle = static_cast<std::int64_t>(199.5 + (patch - 1) * 0.9e-3 / pitch_m);
    std::vector<double> values;
    for (const auto& picture : pictures) values.push_back(sharpness(picture, middle - 45, middle + 46));
    const auto best = std::max_element(values.begin(), values.end()) - values.begin();
    const double expected_m = distance_m[patch];
    EXPECT_NEAR(0.042 + 0.002 * static_cast<double>(best), expected_m, 1e-9) << "patch " << patch;
    std::printf("patch at %.0f mm: sharpness", expected_m * 1e3);
    for (const double value : values) std::printf(" %.2e", value);
    std::printf("\n");
  }
}

// The sample object in slices of depth: the light on a slice's points is strongest with the focus in that slice.
TEST_F(FocusTest, EachSliceOfTheSampleIsSharpestAtItsDistance) {
  constexpr double pitch_m = 4e-6;
  constexpr std::int64_t nx = 512;
  constexpr std::int64_t ny = 384;
  (void)run_json({"sample", "teapot", "-o", path("teapot.ply"), "--points", "240", "--seed", "5"});
  (void)run_json({"hologram", path("teapot.ply"), "-o", path("teapot.png"), "--resolution",
                  fmt::format("{}x{}", nx, ny), "--pitch", "4um", "--distance", "2cm", "--size", "1.6mm",
                  "--random-phase"});
  PointCloud cloud = vertices_of(read_scene(path("teapot.ply")));
  place(cloud, {.size_m = 1.6e-3, .distance_m = 0.02});
  // Five slices over the teapot's depth of 1 mm.
  constexpr int slices = 5;
  constexpr double first_m = 0.0196;
  constexpr double step_m = 0.0002;
  const auto pictures = sweep("teapot.png", "19.6mm:20.4mm", slices);
  for (int slice = 0; slice < slices; ++slice) {
    std::vector<double> light(slices, 0.0);
    int members = 0;
    for (const auto& point : cloud.position) {
      const double distance_m = -static_cast<double>(point[2]);
      if (std::abs(distance_m - (first_m + step_m * slice)) > step_m / 2) continue;
      ++members;
      const Spot spot = pixel_of(static_cast<double>(point[0]), static_cast<double>(point[1]), nx, ny, pitch_m);
      for (int focus = 0; focus < slices; ++focus) {
        light[static_cast<std::size_t>(focus)] += pictures[static_cast<std::size_t>(focus)].at(spot.row, spot.col);
      }
    }
    ASSERT_GE(members, 15) << "slice " << slice;
    EXPECT_EQ(std::max_element(light.begin(), light.end()) - light.begin(), slice);
    std::printf("slice at %.1f mm, %d points:", 1e3 * (first_m + step_m * slice), members);
    for (const double value : light) std::printf(" %.2f", value / light[static_cast<std::size_t>(slice)]);
    std::printf("\n");
  }
}

}  // namespace
}  // namespace holotone::test
