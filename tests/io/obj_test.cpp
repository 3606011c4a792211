// Wavefront OBJ: vertices, normals, colours and polygons in float64, and errors of false files.
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/io/points/points.hpp>
#include <random>
#include <tests/io/polygon_builders.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;

Mesh read_text(const std::string& text, Coordinates coordinates = Coordinates::stored) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.obj"), text);
  return read_scene(folder.file("x.obj"), coordinates);
}

std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.obj"), text);
  std::string error = error_of([&] { (void)read_scene(folder.file("x.obj")); });
  EXPECT_TRUE(error.starts_with(folder.file("x.obj") + ": expected ")) << error;
  return error;
}

void expect_near(const Vec3f& got, const Vec3f& expected) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], expected[i], 1e-6f) << "component " << i;
}

using Triangles = std::vector<std::array<std::uint32_t, 3>>;

const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

const std::string rich =
    "# four coloured vertices\nmtllib my colours.mtl\no thing\nv 0 0 0 1 0.5 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\n"
    "v 0 0 1 1 1 1\nvt 0 0\nvt 1 0 0\nvn 0 0 2\nvn 3 0 0\ng part\nusemtl red\ns off\nf 1//1 2//1 3//1\n"
    "f 1/1/1 2/2/1 4/1/1 3/1/1\n";

TEST(SceneObj, ColoursNormalsAndTriangles) {
  const Mesh mesh = read_text(rich);
  ASSERT_EQ(mesh.position.size(), 4u);
  EXPECT_EQ(mesh.triangle.size(), 3u);
  ASSERT_EQ(mesh.colour.size(), 4u);
  expect_near(mesh.colour[0], {1, 0.21404114f, 0});  // sRGB 0.5
  ASSERT_EQ(mesh.normal.size(), 4u);
  expect_near(mesh.normal[0], {0, 0, 1});
  EXPECT_EQ(mesh.ignored, "mtllib, vt, usemtl");
}

TEST(SceneObj, CornersWithTwoNormalsAreTwoVertices) {
  const Mesh mesh = read_text(square + "vn 0 0 1\nvn 1 0 0\nf 1//1 2//1 3//1\nf 1//1 3//2 4//1\nf 3//1 1//1 2//1\n");
  EXPECT_EQ(mesh.position.size(), 5u);
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}, {0, 3, 4}, {2, 0, 1}}));
  // A vertex that stands twice in the file is one.
  const Mesh twice = read_text(square + "v 1 0 0\nf 1 2 3\nf 5 3 4\n");
  EXPECT_EQ(twice.position.size(), 4u);
  EXPECT_EQ(twice.triangle, (Triangles{{0, 1, 2}, {1, 2, 3}}));
}

TEST(SceneObj, NormalsOfSomeCornersAreLeftOutByName) {
  const Mesh mesh = read_text(square + "vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n");
  EXPECT_TRUE(mesh.normal.empty());
  EXPECT_EQ(mesh.position.size(), 4u);
  EXPECT_EQ(mesh.ignored, "vn");
}

TEST(SceneObj, PointsAlone) {
  const std::string four = "v 0 0 0\nv 1 2 3\nv 1 2 3\nv 0 1e0 +5\n";
  const Mesh mesh = read_text(four + "l 1 2 -1\n");
  ASSERT_EQ(mesh.position.size(), 4u);
  EXPECT_EQ(mesh.position[1], (Vec3f{1, 2, 3}));
  EXPECT_EQ(mesh.position[3], (Vec3f{0, 1, 5}));
  EXPECT_TRUE(mesh.triangle.empty());
  EXPECT_EQ(mesh.ignored, "l");
  const Mesh some = read_text("p 4 1\n" + four + "p -4 -4\n");  // a vertex may be named twice and before it stands
  EXPECT_EQ(some.position, (std::vector<Vec3f>{{0, 0, 0}, {0, 1, 5}}));
  EXPECT_EQ(some.ignored, "2 vertices that no 'p' names");
}

TEST(SceneObj, IndicesCountFromEitherEnd) {
  const Triangles expected{{0, 1, 2}};
  EXPECT_EQ(read_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 9 9 9\n").triangle, expected);
  EXPECT_EQ(read_text("vn 0 0 1\nv 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -3/-1/-1 -2/2/-1 -1//1\n").triangle, expected);
}

TEST(SceneObj, FacesMayComeBeforeTheirVertices) {
  const Mesh mesh = read_text("f 1//1 2//1 3//1\nv 0 0 0\nv 1 0 0\nvn 0 0 1\nv 0 1 0\n");
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}}));
  EXPECT_EQ(mesh.normal, (std::vector<Vec3f>(3, {0, 0, 1})));
}

TEST(SceneObj, VerticesWithoutAFaceAreNamed) {
  const Mesh mesh = read_text("v 5 5 5\n" + square + "f 2 3 4\nl 1 2\n");
  EXPECT_EQ(mesh.position.size(), 3u);
  EXPECT_EQ(mesh.ignored, "l, 2 vertices without a face");
  EXPECT_EQ(read_text(square + "f 2 3 4\np 1\n").ignored, "p, 1 vertex without a face");
  EXPECT_EQ(read_text(square + "f 1 2 3\n").ignored, "1 vertex without a face");
}

TEST(SceneObj, LinesContinueAndEndInEveryWay) {
  const Triangles expected{{0, 1, 2}, {0, 2, 3}};
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string text =
        "\xEF\xBB\xBF# made by C:\\tools\\\nv 0 0 0\nv 1 \\\n0 0\\\n\n \tv 1 1 0 # a remark\n\nv 0 1 0\n"
        "usemtl C:\\m\\\nf 1 2 \\\n3\\\n 4";
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += end.size())
      text.replace(at, 1, end);
    const Mesh mesh = read_text(text);
    EXPECT_EQ(mesh.triangle, expected);
    EXPECT_EQ(mesh.position, (std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  }
  EXPECT_MENTIONS(refusal("v 0 0 \\\n0\nf 1 2 x\n"), "(line 3), got 'x'");
}

TEST(SceneObj, ColoursAboveOneAreCodes) {
  const auto read = [](const std::string& colour) {
    return read_text("v 0 0 0 0 0 0\nv 1 0 0 " + colour + "\nv 0 1 0 1 1 1\nf 1 2 3\n").colour.at(1);
  };
  expect_near(read("0.5 1 0"), {0.21404114f, 1, 0});
  expect_near(read("127.5 255 0"), {0.21404114f, 1, 0});
  expect_near(read("32767.5 65535 0"), {0.21404114f, 1, 0});
  EXPECT_MENTIONS(refusal("v 0 0 0 0 -1 0\n"), "colours of 0 to 1, 255 or 65535 (line 1), got -1");
  EXPECT_MENTIONS(refusal("v 0 0 0 0 nan 0\n"), "got nan");
}

TEST(SceneObj, VerticesWithoutColourAreWhiteAmongOthers) {
  const Mesh mesh = read_text("v 0 0 0\nv 1 0 0 0 255 0\nv 0 1 0\n");
  EXPECT_EQ(mesh.colour, (std::vector<Vec3f>{{1, 1, 1}, {0, 1, 0}, {1, 1, 1}}));
}

double area_of_triangles(const Mesh& mesh) {
  double sum = 0;
  for (const auto& t : mesh.triangle) {
    std::array<double, 3> u{};
    std::array<double, 3> v{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      u[axis] = double{mesh.position[t[1]][axis]} - double{mesh.position[t[0]][axis]};
      v[axis] = double{mesh.position[t[2]][axis]} - double{mesh.position[t[0]][axis]};
    }
    sum += std::hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]) / 2;
  }
  return sum;
}

// Triangles that overlap or leave a polygon would add area.
TEST(SceneObj, PolygonsKeepTheirArea) {
  std::mt19937 bits(5);
  for (int i = 0; i < 1000; ++i) {
    const auto polygon = polygon_builders::random_simple_polygon(bits, i % 2 == 0);
    std::string text;
    for (const auto& [x, y, z] : polygon_builders::slanted(polygon)) text += fmt::format("v {} {} {}\n", x, y, z);
    text += "f";
    for (std::size_t k = 1; k <= polygon.size(); ++k) text += fmt::format(" {}", k);
    const double area = std::abs(polygon_builders::signed_area(polygon));
    EXPECT_NEAR(area_of_triangles(read_text(text + "\n")), area, 1e-6 * area) << "polygon " << i;
  }
}

// Positions k / 1024 (exact in binary), moved by 1e6 sizes: the differences stay exact; float32 at 1e6 steps by 1/16.
TEST(SceneObj, ShapeIsKeptFarFromZero) {
  std::string near;
  std::string far;
  for (int k = 0; k < 50; ++k) {
    const double x = ((k * 37) % 1024) / 1024.0;
    const double y = ((k * 211) % 1024) / 1024.0;
    near += fmt::format("v {} {} 0.5\n", x, y);
    far += fmt::format("v {:.10f} {:.10f} -999999.5\n", x + 1e6, y - 2e6);
  }
  for (const std::string faces : {"", "f 1 2 3\nf 4 5 6 7\n"}) {
    const Mesh a = read_text(near + faces);
    const Mesh b = read_text(far + faces, Coordinates::centred);
    ASSERT_EQ(a.position.size(), b.position.size());
    for (std::size_t i = 0; i < a.position.size(); ++i) {
      EXPECT_EQ(double{b.position[i][0]} + b.origin[0], double{a.position[i][0]} + 1e6) << i;
      EXPECT_EQ(double{b.position[i][1]} + b.origin[1], double{a.position[i][1]} - 2e6) << i;
      EXPECT_EQ(double{b.position[i][2]} + b.origin[2], -999999.5) << i;
    }
  }
}

TEST(SceneObj, RefusalsNameTheLine) {
  EXPECT_MENTIONS(refusal("# nothing\n"), "at least 1 vertex, got 0");
  EXPECT_MENTIONS(refusal("v 1 2\n"),
                  "3 numbers of a vertex (x y z), 4 (and a weight) or 6 (and r g b) (line 1), got 2");
  EXPECT_MENTIONS(refusal("v 1 2 3 4 5\n"), "got 5");
  EXPECT_MENTIONS(refusal("v 1 2 3 1 0 0 1\n"), "got 7");
  EXPECT_MENTIONS(refusal("\nv 1 2 3 0.5\n"), "the weight 1 of a vertex (line 2), got 0.5");
  EXPECT_EQ(read_text("v 1 2 3 1.0\n").position.size(), 1u);
  EXPECT_MENTIONS(refusal("v 1 2 3x\n"), "a number (line 1), got '3x'");
  EXPECT_MENTIONS(refusal("v 1,5 2 3\n"), "got '1,5'");
  EXPECT_MENTIONS(refusal("vn 1 2\n"), "3 numbers of a normal (line 1), got fewer");
  EXPECT_MENTIONS(refusal("vn 1 2 3 4\n"), "3 numbers of a normal (line 1), got more");
  EXPECT_MENTIONS(refusal(square + "f 1 2\n"), "at least 3 corners of a face (line 5), got 2");
  EXPECT_MENTIONS(refusal(square + "f 1 2 0\n"), "the number of a vertex: 1 or more, or -1 to -4 (line 5), got '0'");
  EXPECT_MENTIONS(refusal(square + "f 1 2 -5\n"), "got '-5'");
  EXPECT_MENTIONS(refusal(square + "f 1 2 1.5\n"), "got '1.5'");
  EXPECT_MENTIONS(refusal(square + "f 1 2 99999999999999999999\n"), "got '99999999999999999999'");
  EXPECT_MENTIONS(refusal(square + "f 1 2 4294967295\n"), "got '4294967295'");
  EXPECT_MENTIONS(refusal(square + "f 1 2 5\nf 1 2 3\n"), "the number of a vertex: at most 4 (line 5), got 5");
  EXPECT_MENTIONS(refusal(square + "l 1 7\n"), "the number of a vertex: at most 4 (line 5), got 7");
  EXPECT_MENTIONS(refusal(square + "f 1//1 2//1 3//1\n"), "the number of a normal: at most 0 (line 5), got 1");
  EXPECT_MENTIONS(refusal(square + "vn 0 0 1\nf 1//-2 2//1 3//1\n"), "the number of a normal: 1 or more, or -1 to -1");
  EXPECT_MENTIONS(refusal(square + "vn 0 0 1\nf 1/1/1/1 2 3\n"), "a corner as v, v/vt, v//vn or v/vt/vn (line 6)");
  for (const std::string word : {"curv", "curv2", "surf", "vp", "cstype", "parm"}) {
    EXPECT_MENTIONS(refusal(square + word + " 1 2 3\n"),
                    "vertices and faces (line 5), got '" + word + "' of a free-form curve or surface");
  }
  EXPECT_MENTIONS(refusal(square + "call other.obj\n"), "a keyword of OBJ such as v, vn or f (line 5), got 'call'");
  EXPECT_MENTIONS(refusal("V 1 2 3\n"), "got 'V'");
  // A concave polygon whose splitting would take minutes.
  std::string zigzag;
  for (int i = 0; i < 4001; ++i) zigzag += fmt::format("v {} {} 0\n", i, i == 4000 ? 9000 : i % 2);
  zigzag += "f";
  for (int i = 1; i <= 4001; ++i) zigzag += fmt::format(" {}", i);
  EXPECT_MENTIONS(refusal(zigzag), "at most 4000 corners of a concave polygon, got 4001 in face 1");
}

TEST(SceneObj, OtherFilesAreNotOpenedAndRemarksOfZBrushAreNamed) {
  EXPECT_EQ(read_text("mtllib /etc/absent.mtl\n#MRGB ffff0000\n#MRGB ffff0000\n" + square).ignored, "mtllib, #MRGB");
}

TEST(SceneObj, TextOfTwoBytesACharacterIsNamed) {
  EXPECT_MENTIONS(refusal(std::string("\xFF\xFEv\0 \0", 6) + std::string("1\0", 2)),
                  "text in UTF-8 or ASCII, got UTF-16; save it as UTF-8");
  EXPECT_MENTIONS(refusal(std::string("\xFE\xFF\0v\0 ", 6)), "got UTF-16");
  EXPECT_MENTIONS(refusal(std::string("\xFF\xFE\0\0v\0\0\0", 8)), "got UTF-32");
  EXPECT_MENTIONS(refusal(std::string("# a\0b\nv 1 2 3\n", 14)), "text, got binary data");
}

TEST(SceneObj, SurvivesTwoThousandMutations) {
  const auto read = [](const std::string& path) { (void)read_scene(path); };
  io_support::expect_survival("rich.obj", rich, "x.obj", 2000, read);
  io_support::expect_survival("points.obj",
                              "\xEF\xBB\xBFv 0 0 2 255 0 0\r\nv 1e3 \\\r\n.5 -2\rv 1 1 1 1\nl 1 -1\np 1 2\n#MRGB a\n",
                              "x.obj", 2000, read);
  io_support::expect_survival("concave.obj", "v 0 0 0\nv 2 0 0\nv 1 1 0\nv 2 2 0\nv 0 2 0\nf -5 -4 -3 -2 -1\n", "x.obj",
                              2000, read);
}

TEST(SceneObj, LargeFilesReadInUnderASecond) {
  constexpr int count = 200'000;
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("v {:.7g} {:.7g} {:.7g}\nvn 0 0 1\nvt 0.5 0.25\n", i * 1e-7, -0.05 + i * 2e-7, 1.0 / (i + 1));
  }
  for (int i = 3; i <= count; ++i) text += fmt::format("f {0}/{0}/{0} {1}/{1}/{1} {2}/{2}/{2}\n", i - 2, i - 1, i);
  const TemporaryFolder folder;
  write_raw(folder.file("x.obj"), text);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read_scene(folder.file("x.obj")).triangle.size(), static_cast<std::size_t>(count - 2));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("x.obj: %.1f MB in %.0f ms\n", 1e-6 * static_cast<double>(text.size()), 1e3 * seconds.count());
  EXPECT_LT(seconds.count(), 5.0);  // room for a sanitizer and a busy machine
}

}  // namespace
}  // namespace holotone
