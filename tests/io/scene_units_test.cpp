// Units of coordinates that comments of scenes state.
#include <cstdint>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/io/points/points.hpp>
#include <string>
#include <tests/support/io_support.hpp>
#include <utility>
#include <vector>

namespace holotone {
namespace {

using io_support::TemporaryFolder;
using io_support::write_raw;

TEST(SceneUnits, CommentsStateThem) {
  const TemporaryFolder folder;
  const auto expect_metres = [&](const std::string& name, const std::string& bytes, double metres) {
    SCOPED_TRACE(bytes.substr(0, 80));
    write_raw(folder.file(name), bytes);
    const Mesh mesh = read_scene(folder.file(name));
    ASSERT_GE(mesh.position.size(), 1U);
    EXPECT_FLOAT_EQ(mesh.position[0][0], static_cast<float>(10 * metres));
    EXPECT_FLOAT_EQ(mesh.position[0][2], static_cast<float>(-20 * metres));
    EXPECT_EQ(mesh.ignored, "");
  };
  const std::string row = "10 5 -20\n";
  for (const auto& [comment, metres] :
       std::vector<std::pair<std::string, double>>{{"# units: mm", 1e-3},
                                                   {"# unit = um", 1e-6},
                                                   {"# x y z in mm", 1e-3},
                                                   {"// Coordinates in millimeters.", 1e-3},
                                                   {"# points in \u00b5m, measured in 2 h", 1e-6},
                                                   {"# Unit of length: 1e-3 m", 1e-3},
                                                   {"# Unit of measure: cm", 1e-2},
                                                   {"# File units = inches", 0.0254},
                                                   {"# units are in nm (SI)", 1e-9},
                                                   {"# x y z (units: mm)", 1e-3},
                                                   {"# 3 units wide, wavelength in nm, unitsize: mm", 1},
                                                   {"# taken as units of a cell", 1},
                                                   {"# The units used in this file are inches.", 0.0254},
                                                   {"# angles in deg", 1}}) {
    expect_metres("t.xyz", fmt::format("{}\n{}", comment, row), metres);
  }
  expect_metres("t.csv", "x [microns],y [microns],z [microns]\n10,5,-20\n", 1e-6);
  expect_metres("t.csv", "# units: mm\nx_mm,y_mm,z_mm\n10,5,-20\n", 1e-3);
  expect_metres("o.obj", "# Exported\n# File units = feet\nv 10 5 -20\n", 0.3048);
  // Maya's.
  expect_metres("o.obj", "# This file uses centimeters as units for non-parametric coordinates.\n\nv 10 5 -20\n", 0.01);
  const std::string head = "ply\nformat ascii 1.0\n";
  const std::string rest = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n" + row;
  expect_metres("p.ply", head + "comment Units: millimeters\n" + rest, 1e-3);
  expect_metres("p.ply", head + "obj_info unit mm\n" + rest, 1e-3);
  const std::string facet =
      " facet normal 0 0 1 outer loop vertex 10 5 -20 vertex 1 0 0 vertex 0 1 0 endloop endfacet\n";
  expect_metres("s.stl", "solid part units=mm\n" + facet + "endsolid\n", 1e-3);
  expect_metres("s.stl", "solid unit_cube mm\n" + facet + "endsolid\n", 1);
  std::string binary = "Part UNITS=mm";
  binary.resize(80);
  binary += io_support::bytes_of(std::uint32_t{1});
  for (const float value : {0.F, 0.F, 1.F, 10.F, 5.F, -20.F, 1.F, 0.F, 0.F, 0.F, 1.F, 0.F}) {
    binary += io_support::bytes_of(value);
  }
  expect_metres("b.stl", binary + std::string(2, '\0'), 1e-3);
}

TEST(SceneUnits, OfOtherKindsAreNamed) {
  const TemporaryFolder folder;
  const auto ignored = [&](const std::string& name, const std::string& bytes) {
    write_raw(folder.file(name), bytes);
    const Mesh mesh = read_scene(folder.file(name));
    EXPECT_EQ(mesh.position[0], (Vec3f{1, 2, 3}));
    return mesh.ignored;
  };
  EXPECT_EQ(ignored("t.xyz", "# units: voxels\n1 2 3\n"), "the unit 'voxels'");
  EXPECT_EQ(ignored("t.xyz", "# phase unit: deg\n1 2 3\n"), "the unit 'phase unit: deg'");
  EXPECT_EQ(ignored("t.xyz", "# phases in degrees\n1 2 3\n"), "the unit 'phases in degrees'");
  EXPECT_EQ(ignored("t.xyz", "# phase in radians\n1 2 3\n"), "");
  EXPECT_EQ(ignored("p.ply",
                    "ply\nformat ascii 1.0\ncomment phase in degrees\nelement vertex 1\nproperty float x\n"
                    "property float y\nproperty float z\nend_header\n1 2 3\n"),
            "the unit 'phase in degrees'");
  EXPECT_EQ(ignored("o.obj", "# units: px\nv 1 2 3\nvt 0 0\n"), "vt, the unit 'px'");
  const auto refusal = [&](const std::string& bytes) {
    write_raw(folder.file("t.csv"), bytes);
    return io_support::error_of([&] { read_scene(folder.file("t.csv")); });
  };
  EXPECT_MENTIONS(refusal("# units: mm\nx_um,y_um,z_um\n1,2,3\n"),
                  "expected one unit of x, y and z, got 'x_um' and a comment's 'mm'");
  EXPECT_MENTIONS(refusal("# units: mm\n# points in um\n1,2,3\n"),
                  "expected one unit in its comments, got 'mm' and 'um'");
  EXPECT_MENTIONS(refusal("1,2,3\n# units: mm\n"),
                  "expected the unit of its comments before the first point, got 'mm' (line 2)");
}

TEST(SceneUnits, ShapeIsKeptFarFromZero) {
  const TemporaryFolder folder;
  write_raw(folder.file("t.csv"), "# units: mm\n1000000000,0,0\n1000000001,0,0\n");
  const Mesh mesh = read_scene(folder.file("t.csv"), Coordinates::centred);
  EXPECT_NEAR(static_cast<double>(mesh.position[1][0] - mesh.position[0][0]), 1e-3, 1e-9);
  EXPECT_NEAR(mesh.origin[0] + static_cast<double>(mesh.position[0][0]), 1e6, 1e-6);
  write_raw(folder.file("o.obj"), "# units: mm\nv 1000000000 0 0\nv 1000000001 0 0\n");
  const Mesh obj = read_scene(folder.file("o.obj"), Coordinates::centred);
  EXPECT_NEAR(static_cast<double>(obj.position[1][0] - obj.position[0][0]), 1e-3, 1e-9);
  EXPECT_NEAR(obj.origin[0] + static_cast<double>(obj.position[0][0]), 1e6, 1e-6);
}

TEST(SceneUnits, SurviveMutations) {
  const auto read = [](const std::string& path) { read_scene(path); };
  io_support::expect_survival("u.csv", "# units: mm\n# x y z in 1e-3 m\n1,2,3\n", "u.csv", 2000, read);
  io_support::expect_survival("u.obj", "# File units = inches\n# unit: mm\nv 1 2 3\n", "u.obj", 2000, read);
}

}  // namespace
}  // namespace holotone
