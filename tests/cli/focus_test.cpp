// Depth: each slice of an object is sharpest at its own distance. Single points: tests/recipes/viewing_test.cpp.
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
