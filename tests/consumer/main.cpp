// Uses a symbol of every dependency, so that a package that omits one does not link.
#include <cstdio>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/optics/reconstruction.hpp>

namespace {

/// One point behind the middle of a small panel, in focus: the brightest pixel is the middle one.
bool brightest_in_the_middle() {
  using namespace holotone;
  const FieldGrid grid{.nx = 65, .ny = 65, .pitch_m = 8e-6, .wavelength_m = 532e-9};
  Array<float, 2> position({1, 3});
  position(0, 0) = position(0, 1) = 0;
  position(0, 2) = -0.01F;
  Array<float, 1> amplitude({1});
  amplitude(0) = 1;
  FieldFile file{point_cloud_field({.position_m = position.view(), .amplitude = amplitude.view()},
                                   {.wavelength_m = grid.wavelength_m,
                                    .pitch_m = grid.pitch_m,
                                    .shape = grid.shape(),
                                    .method = PointMethod::separable}),
                 {{"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}}};
  write_field("point.npy", file);

  ReconstructionPlan camera({.grid = grid});
  camera.set_field(read_field("point.npy").values.view());
  Array<float, 2> intensity(grid.shape());
  camera.execute(0.01, intensity.view());
  Array<std::uint8_t, 3> picture({65, 65, 1});
  bool middle = true;
  for (std::int64_t row = 0; row < 65; ++row) {
    for (std::int64_t col = 0; col < 65; ++col) {
      middle = middle && intensity(row, col) <= intensity(32, 32);
      picture(row, col, 0) = static_cast<std::uint8_t>(255 * intensity(row, col) / intensity(32, 32));
    }
  }
  write_image("point.png", {std::move(picture), {}});
  return middle && shape_of(read_image("point.png")) == Shape<3>{65, 65, 1};
}

}  // namespace

int main() try {
  if (!brightest_in_the_middle()) return 1;
  // Must only link: HDF5, TIFF and assimp if the library was built with them.
  try {
    (void)holotone::read_field("absent.h5");
    (void)holotone::read_image("absent.tif");
    (void)holotone::read_scene_assimp("absent.glb");
  } catch (const holotone::Error& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 1;
} catch (const holotone::Error& error) {
  std::printf("%s\n", error.what());
  return 2;
}
