// Results of the readers of points and meshes for well-formed files.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/io/points/points.hpp>
#include <tests/io/scene_builders.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;
using namespace scene_builders;

Mesh read_text(const std::string& bytes, const std::string& name) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  return read_scene(folder.file(name));
}

void expect_near(const Vec3f& got, const Vec3f& expected, float tolerance = 0) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "component " << i;
}

// PLY ---------------------------------------------------------------------------------------------------------------

// Every scalar type, a list before the coordinates, unknown elements and properties: the same in three formats.
TEST(ScenePly, AllTypesListsAndUnknownElementsInThreeFormats) {
  for (const PlyKind kind : {PlyKind::ascii, PlyKind::little, PlyKind::big}) {
    const Mesh mesh = read_text(rich_ply(kind), "x.ply");
    ASSERT_EQ(mesh.position.size(), 4u);
    expect_near(mesh.position[0], {-1.5f, 2, 3});
    expect_near(mesh.position[3], {1.5f, 5, 3});
    ASSERT_EQ(mesh.colour.size(), 4u);
    expect_near(mesh.colour[1], {1, static_cast<float>(srgb_to_linear(128 / 255.0)), 0}, 1e-7f);
    ASSERT_EQ(mesh.normal.size(), 4u);
    expect_near(mesh.normal[2], {0, 0, 1});
    ASSERT_EQ(mesh.phase_rad.size(), 4u);
    EXPECT_EQ(mesh.phase_rad[2], 0.25f * 2);
    ASSERT_EQ(mesh.amplitude.size(), 4u);
    EXPECT_FLOAT_EQ(mesh.amplitude[1], std::sqrt(0.5f));
    // A quad and a triangle; a polygon of two corners is no face.
    const std::vector<std::array<std::uint32_t, 3>> expected = {{0, 1, 2}, {0, 2, 3}, {3, 2, 1}};
    EXPECT_EQ(mesh.triangle, expected);
  }
}

TEST(ScenePly, PointsOnlyAndFloatColoursAreLinear) {
  const Mesh mesh = read_text(
      "ply\r\nformat ascii 1.0\r\ncomment a\r\nobj_info b\r\nelement vertex 2\r\nproperty float x\r\nproperty float "
      "y\r\n"
      "property float z\r\nproperty float red\r\nproperty float green\r\nproperty float blue\r\nend_header\r\n"
      "+1e-3 -2.5E+2 .5 0.25 0.5 1\r\n\r\n 3 4 5 0 0 0 \r\n",
      "x.ply");
  ASSERT_EQ(mesh.position.size(), 2u);
  expect_near(mesh.position[0], {1e-3f, -250, 0.5f});
  expect_near(mesh.colour[0], {0.25f, 0.5f, 1});
  EXPECT_TRUE(mesh.triangle.empty());
  EXPECT_TRUE(mesh.amplitude.empty());
}

TEST(ScenePly, OpenHoloCloud) {
  const Mesh mesh = read_text(
      "ply\nformat ascii 1.0\ncomment Openholo Point Cloud Format\nelement color 1\nproperty int channel\n"
      "element vertex 2\nproperty double x\nproperty double y\nproperty double z\nproperty uchar red\n"
      "property uchar green\nproperty uchar blue\nproperty double phase\nend_header\n3\n"
      "0.1 0.2 0.3 255 0 0 1.5\n0.4 0.5 0.6 0 0 255 -0.5\n",
      "x.ply");
  ASSERT_EQ(mesh.position.size(), 2u);
  expect_near(mesh.position[1], {0.4f, 0.5f, 0.6f});
  expect_near(mesh.colour[1], {0, 0, 1});
  EXPECT_EQ(mesh.phase_rad, (std::vector<float>{1.5f, -0.5f}));
}

TEST(ScenePly, AmplitudeWinsOverIntensity) {
  const Mesh mesh = read_text(
      ply_header("ascii", 1, "property float intensity\nproperty float amplitude\n") + "1 2 3 4 5\n", "x.ply");
  EXPECT_EQ(mesh.amplitude, std::vector<float>{5});
}

TEST(ScenePly, NumbersAtTheEdgeOfTheirRange) {
  const Mesh mesh = read_text(ply_header("ascii", 2) + "nan inf -infinity\n1e999 -1e999 1e-999\n", "x.ply");
  EXPECT_TRUE(std::isnan(mesh.position[0][0]));
  EXPECT_EQ(mesh.position[0][1], INFINITY);
  EXPECT_EQ(mesh.position[0][2], -INFINITY);
  EXPECT_EQ(mesh.position[1][0], INFINITY);
  EXPECT_EQ(mesh.position[1][1], -INFINITY);
  EXPECT_EQ(mesh.position[1][2], 0);
}

TEST(ScenePly, ContentBeatsTheExtension) {
  EXPECT_EQ(read_text(ply_header("ascii", 1) + "1 2 3\n", "x.data").position.size(), 1u);
}

TEST(ScenePly, WrittenCloudsReadBackExactly) {
  const TemporaryFolder folder;
  for (int attributes = 0; attributes < 8; ++attributes) {
    PointCloud cloud;
    for (std::uint64_t i = 0; i < 57; ++i) {
      const auto draw = [&](std::uint64_t k) { return random_uniform(3, 16 * i + k) - 0.5f; };
      cloud.position.push_back({draw(0), draw(1), draw(2)});
      cloud.amplitude.push_back(draw(3));
      if (attributes & 1) cloud.colour.push_back({draw(4) + 0.5f, draw(5) + 0.5f, draw(6) + 0.5f});
      if (attributes & 2) cloud.normal.push_back({draw(7), draw(8), draw(9)});
      if (attributes & 4) cloud.phase_rad.push_back(draw(10));
    }
    write_points(folder.file("x.ply"), cloud);
    const Mesh mesh = read_scene(folder.file("x.ply"));
    EXPECT_EQ(mesh.position, cloud.position);
    EXPECT_EQ(mesh.amplitude, cloud.amplitude);
    EXPECT_EQ(mesh.colour, cloud.colour);
    EXPECT_EQ(mesh.normal, cloud.normal);
    EXPECT_EQ(mesh.phase_rad, cloud.phase_rad);
  }
}

TEST(ScenePly, WritingRefusesUnequalLengths) {
  const TemporaryFolder folder;
  PointCloud cloud;
  constexpr auto code = ErrorCode::invalid_argument;
  EXPECT_MENTIONS(error_of([&] { write_points(folder.file("x.ply"), cloud); }, code), "at least 1 point");
  cloud.position = {{0, 0, 0}, {1, 1, 1}};
  cloud.amplitude = {1};
  EXPECT_MENTIONS(error_of([&] { write_points(folder.file("x.ply"), cloud); }, code), "amplitude");
  cloud.amplitude = {1, 1};
  cloud.normal = {{0, 0, 1}};
  EXPECT_MENTIONS(error_of([&] { write_points(folder.file("x.ply"), cloud); }, code), "normal");
  EXPECT_TRUE(folder.names().empty());
}

const std::string float_colours = "property float red\nproperty float green\nproperty float blue\n";

// Linear light of an sRGB code (IEC 61966-2-1).
float expected_light(double code, double most) {
  const double v = code / most;
  return static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
}

TEST(ScenePly, FloatColoursAboveOneAreCodes) {
  const auto colours = [&](const std::string& first, const std::string& second) {
    return read_text(ply_header("ascii", 2, float_colours) + "1 2 3 " + first + "\n4 5 6 " + second + "\n", "x.ply")
        .colour;
  };
  expect_near(colours("0.25 1 0", "0 0 0")[0], {0.25f, 1, 0});
  const auto bytes = colours("255 128 1", "0.5 0 0");
  expect_near(bytes[0], {1, expected_light(128, 255), expected_light(1, 255)}, 1e-7f);
  expect_near(bytes[1], {expected_light(0.5, 255), 0, 0}, 1e-7f);
  expect_near(colours("65535 256 128", "0 0 0")[0], {1, expected_light(256, 65535), expected_light(128, 65535)}, 1e-7f);
}

TEST(ScenePly, UnusedPropertiesAreNamed) {
  const auto ignored = [&](const std::string& properties, const std::string& row) {
    return read_text(ply_header("ascii", 1, properties) + "1 2 3 " + row + "\n", "x.ply").ignored;
  };
  EXPECT_EQ(ignored("property float nx\nproperty float ny\nproperty float nz\n", "0 0 1"), "");
  std::string many = "property float opacity\n";
  std::string numbers = "1";
  for (int i = 0; i < 45; ++i) {
    many += fmt::format("property float f_rest_{}\n", i);
    numbers += " 0";
  }
  EXPECT_EQ(ignored(many, numbers), "opacity, f_rest_0 to f_rest_44");
  EXPECT_EQ(ignored("property float nx\nproperty uchar red\nproperty float s2\nproperty float s4\n", "0 0 1 1"),
            "nx, red, s2, s4");
  EXPECT_EQ(ignored("property float intensity\nproperty float amplitude\n", "1 1"), "intensity");
  // MeshLab's: alpha that is opaque everywhere and flags say nothing.
  EXPECT_EQ(ignored("property uchar alpha\nproperty int flags\n", "255 3"), "");
  EXPECT_EQ(ignored("property uchar alpha\nproperty int flags\n", "254 0"), "alpha");
  EXPECT_EQ(ignored("property float alpha\n", "1"), "alpha");
  std::string letters;
  numbers.clear();
  for (char c = 'A'; c <= 'P'; ++c) {
    letters += fmt::format("property float {}\n", c);
    numbers += " 0";
  }
  EXPECT_EQ(ignored(letters, numbers), "A, B, C, D, E, F, G, H, I, J, K, L and 4 more");
}

TEST(ScenePly, UnusedElementsAndPropertiesOfFacesAreNamed) {
  const std::string more =
      "element edge 1\nproperty int a\nelement nothing 0\nproperty int a\nelement face 1\nproperty uchar red\n"
      "property list uchar int vertex_index\nproperty list uchar float texcoord\n";
  const Mesh mesh = read_text(ply_header("ascii", 3, more) + "0 0 0\n1 0 0\n0 1 0\n7\n9 3 0 1 2 2 0 1\n", "x.ply");
  EXPECT_EQ(mesh.triangle.size(), 1u);
  EXPECT_EQ(mesh.ignored, "element edge, face red, face texcoord");
}

TEST(ScenePly, VerticesWithoutAFaceAreLeftOutByName) {
  const std::string vertices = "0 0 0 1\n9 9 9 2\n1 0 0 3\n1 1 0 4\nnan 0 0 5\n";
  const auto head = [](const std::string& elements) { return "ply\nformat ascii 1.0\n" + elements + "end_header\n"; };
  const std::string vertex =
      "element vertex 5\nproperty float x\nproperty float y\nproperty float z\nproperty float amplitude\n";
  const std::string face = "element face 1\nproperty list uchar int vertex_indices\n";
  for (const std::string& bytes :
       {head(vertex + face) + vertices + "3 0 2 3\n", head(face + vertex) + "3 0 2 3\n" + vertices}) {
    const Mesh mesh = read_text(bytes, "x.ply");
    EXPECT_EQ(mesh.position, (std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}}));
    EXPECT_EQ(mesh.amplitude, (std::vector<float>{1, 3, 4}));
    EXPECT_EQ(mesh.triangle, (std::vector<std::array<std::uint32_t, 3>>{{0, 1, 2}}));
    EXPECT_EQ(mesh.ignored, "2 vertices without a face");
  }
  const Mesh cloud =
      read_text(head(vertex + "element face 0\nproperty list uchar int vertex_indices\n") + vertices, "x.ply");
  EXPECT_EQ(cloud.position.size(), 5U);
  EXPECT_EQ(cloud.ignored, "");
}

TEST(ScenePly, ThePropertyNamedFirstCounts) {
  const Mesh mesh = read_text(ply_header("ascii", 1,
                                         "property float x\nproperty float intensity\n"
                                         "property float scalar_Intensity\n") +
                                  "1 2 3 7 0.25 9\n",
                              "x.ply");
  expect_near(mesh.position[0], {1, 2, 3});
  EXPECT_EQ(mesh.amplitude, std::vector<float>{0.5f});
  EXPECT_EQ(mesh.ignored, "x, scalar_Intensity");
}

// Integers of 32 bits hold codes of 8 or of 16 bits.
TEST(ScenePly, ColoursOfWideIntegersAreCodes) {
  const auto read = [](const std::string& type, const std::string& colour) {
    const std::string three = "property " + type + " red\nproperty " + type + " green\nproperty " + type + " blue\n";
    return read_text(ply_header("ascii", 1, three) + "1 2 3 " + colour + "\n", "x.ply").colour[0];
  };
  for (const std::string type : {"int", "uint", "short"}) {
    expect_near(read(type, "255 128 1"), {1, expected_light(128, 255), expected_light(1, 255)}, 1e-7f);
    expect_near(read(type, "1 0 1"), {expected_light(1, 255), 0, expected_light(1, 255)}, 1e-7f);
    EXPECT_MENTIONS(error_of([&] { (void)read(type, "255 -1 0"); }),
                    "colours of 0 to 1, 255 or 65535, got -1 (vertex 0)");
  }
  expect_near(read("int", "65535 256 0"), {1, expected_light(256, 65535), 0}, 1e-7f);
  expect_near(read("ushort", "255 0 65535"), {expected_light(255, 65535), 0, 1}, 1e-7f);
}

TEST(ScenePly, NormalsThatAreAllZeroAreLeftOut) {
  const std::string header = ply_header("ascii", 2, "property float nx\nproperty float ny\nproperty float nz\n");
  EXPECT_TRUE(read_text(header + "1 2 3 0 0 0\n4 5 6 0 0 0\n", "x.ply").normal.empty());
  EXPECT_EQ(read_text(header + "1 2 3 0 0 0\n4 5 6 0 0 1\n", "x.ply").normal.size(), 2u);
}

/// The letter C: 8 corners, area 7.
std::string c_ply(bool faces_first) {
  const std::string vertices = "element vertex 8\nproperty float x\nproperty float y\nproperty float z\n";
  const std::string face = "element face 1\nproperty list uchar int vertex_indices\n";
  const std::string rows = "0 0 1\n3 0 1\n3 1 1\n1 1 1\n1 2 1\n3 2 1\n3 3 1\n0 3 1\n";
  const std::string corners = "8 0 1 2 3 4 5 6 7\n";
  return "ply\nformat ascii 1.0\n" + (faces_first ? face + vertices : vertices + face) + "end_header\n" +
         (faces_first ? corners + rows : rows + corners);
}

TEST(ScenePly, ConcavePolygonsKeepTheirArea) {
  for (const bool faces_first : {false, true}) {
    const Mesh mesh = read_text(c_ply(faces_first), "x.ply");
    EXPECT_EQ(mesh.triangle.size(), 6u);
    double area = 0;
    for (const auto& [a, b, c] : mesh.triangle) {
      const auto& p = mesh.position;
      area += std::abs((p[b][0] - p[a][0]) * (p[c][1] - p[a][1]) - (p[b][1] - p[a][1]) * (p[c][0] - p[a][0])) / 2;
    }
    EXPECT_EQ(area, 7);
  }
}

// STL ---------------------------------------------------------------------------------------------------------------

TEST(SceneStl, AsciiAndBinaryAreToldByLengthAndWelded) {
  const std::vector<std::array<std::uint32_t, 3>> triangles = {{0, 1, 2}, {2, 1, 3}};
  // The binary file begins with "solid" too, as some programs write it.
  for (const auto& bytes : {ascii_stl(), binary_stl()}) {
    const Mesh mesh = read_text(bytes, "x.stl");
    ASSERT_EQ(mesh.position.size(), 4u);
    expect_near(mesh.position[3], {1, 1, 0.5f});
    EXPECT_EQ(mesh.triangle, triangles);
  }
}

TEST(SceneStl, AttributeBytesAreNamed) {
  std::string bytes = binary_stl();
  EXPECT_EQ(read_text(bytes, "x.stl").ignored, "");
  bytes.back() = '\x80';
  EXPECT_EQ(read_text(bytes, "x.stl").ignored, "colours of facets (attribute bytes)");
  bytes.back() = '\0';
  bytes.replace(0, 10, "COLOR=\xFF\x80\x40\xFF");  // Magics: of all facets
  EXPECT_EQ(read_text(bytes, "x.stl").ignored, "colours of facets (attribute bytes)");
}

TEST(SceneStl, AllSolidsAreReadInEitherCase) {
  std::string upper = ascii_stl();
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string moved = ascii_stl();
  for (auto at = moved.find("vertex"); at != std::string::npos; at = moved.find("vertex", at + 9)) {
    moved.insert(at + 7, 1, '2');  // x = 0 and 1 become 20 and 21
  }
  const Mesh mesh = read_text(ascii_stl() + "\n \n" + moved + upper + "solid\nendsolid\n\t\n", "x.stl");
  EXPECT_EQ(mesh.position.size(), 8u);  // the last two triangles are the first two
  ASSERT_EQ(mesh.triangle.size(), 6u);
  EXPECT_EQ(mesh.position[mesh.triangle[3][2]], (Vec3f{21, 1, 0.5f}));
  EXPECT_EQ(mesh.triangle[4], mesh.triangle[0]);
  EXPECT_EQ(mesh.triangle[5], mesh.triangle[1]);
}

TEST(SceneText, AByteOrderMarkIsSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  for (const std::string name : {"x.ply", "x.data"}) {
    EXPECT_EQ(read_text(mark + ply_header("ascii", 2) + "1 2 3\n4 5 6\n", name).position.size(), 2u) << name;
    EXPECT_EQ(read_text(mark + rich_ply(PlyKind::little), name).position.size(), 4u) << name;
  }
  EXPECT_EQ(read_text(mark + ascii_stl(), "x.stl").triangle.size(), 2u);
  for (const std::string name : {"x.csv", "x.xyz", "x.txt"}) {
    EXPECT_EQ(read_text(mark + "1 2 3\n4 5 6\n", name).position[0], (Vec3f{1, 2, 3})) << name;
    EXPECT_EQ(read_text(mark + "x,y,z\n1,2,3\n", name).position[0], (Vec3f{1, 2, 3})) << name;
  }
}

// Tables ------------------------------------------------------------------------------------------------------------

TEST(SceneTable, SeparatorsCommentsAndNames) {
  const Vec3f second = {4, -5.5f, 6e-3f};
  for (const std::string text : {
           "1 2 3\n4 -5.5 6e-3\n",
           "# comment\n1\t2\t3\r\n\r\n4\t-5.5\t6e-3",
           "1,2,3\n4, -5.5 ,6e-3\n",
           "1;2;3\n// comment\n4;-5.5;6e-3\n",
           "X,Y,Z\n1,2,3\n4,-5.5,6e-3\n",
           "\"z\";\"y\";\"x\"\n3;2;1\n6e-3;-5.5;4\n",
           "# x y z\n1 2 3\n4 -5.5 6e-3\n",
           "id,x,y,z,label\n7,1,2,3,a\n8,4,-5.5,6e-3,b\n",
       }) {
    const Mesh mesh = read_text(text, "x.csv");
    ASSERT_EQ(mesh.position.size(), 2u) << text;
    expect_near(mesh.position[0], {1, 2, 3});
    expect_near(mesh.position[1], second);
    EXPECT_TRUE(mesh.amplitude.empty());
    EXPECT_TRUE(mesh.colour.empty());
  }
}

TEST(SceneTable, AmplitudeIntensityPhaseNormalsAndColours) {
  EXPECT_EQ(read_text("1 2 3 0.5\n", "x.xyz").amplitude, std::vector<float>{0.5f});
  const Mesh named = read_text("x,y,z,intensity,phase,nx,ny,nz,r,g,b\n1,2,3,0.25,1.5,0,0,1,255,128,0\n", "x.csv");
  EXPECT_EQ(named.amplitude, std::vector<float>{0.5f});
  EXPECT_EQ(named.phase_rad, std::vector<float>{1.5f});
  expect_near(named.normal[0], {0, 0, 1});
  expect_near(named.colour[0], {1, static_cast<float>(srgb_to_linear(128 / 255.0)), 0}, 1e-7f);
  expect_near(read_text("x y z r g b\n1 2 3 0.5 0.25 1\n", "x.txt").colour[0], {0.5f, 0.25f, 1});
  expect_near(read_text("1 2 3 255 0 1\n", "x.xyz").colour[0], {1, 0, static_cast<float>(srgb_to_linear(1 / 255.0))},
              1e-7f);
}

TEST(SceneTable, ColumnsWithoutUseAreNamed) {
  const auto ignored = [](const std::string& names) {
    const auto columns = static_cast<std::size_t>(std::count(names.begin(), names.end(), ',')) + 1;
    std::string row;
    for (std::size_t i = 0; i < columns; ++i) row += fmt::format("{}{}", i == 0 ? "" : ",", i % 2);
    return read_text(names + "\n" + row + "\n", "x.csv").ignored;
  };
  EXPECT_EQ(ignored("x,y,z,r,g,b"), "");
  EXPECT_EQ(ignored("id,x,y,\"label\",z,f_1,f_2,f_3,"), "id, label, f_1 to f_3, ''");
  EXPECT_EQ(ignored("x,y,z,nx,ny,amplitude,intensity,r"), "nx, ny, intensity, r");
  EXPECT_EQ(ignored("x,y,z,x_world"), "x_world");
  EXPECT_EQ(read_text("1 2 3\n", "x.xyz").ignored, "");
}

TEST(SceneTable, ColoursOf16Bits) {
  for (const std::string text : {"x,y,z,r,g,b\n1,2,3,65535,256,128\n", "1 2 3 65535 256 128\n"}) {
    expect_near(read_text(text, "x.csv").colour[0], {1, expected_light(256, 65535), expected_light(128, 65535)}, 1e-7f);
  }
}

TEST(SceneTable, UnitsOfColumns) {
  for (const std::string text :
       {"x [mm];y [mm];z [mm]\n1000;2000;3000\n", "x_mm y_m z_cm\n1000 2 300\n", "x/mm,y/cm,z/m\n1000,200,3\n",
        "x (m)\ty (mm)\tz [\xC2\xB5m]\n1\t2000\t3e6\n", "# \"X [m]\",Y[m],z_um\n1,2,3e6\n"}) {
    expect_near(read_text(text, "x.csv").position.at(0), {1, 2, 3});
  }
  for (const std::string name : {"phase [deg]", "phase_deg"}) {
    const Mesh mesh = read_text("x,y,z,amplitude [V]," + name + "\n1,2,3,0.5,180\n", "x.csv");
    EXPECT_NEAR(mesh.phase_rad.at(0), 3.14159265, 1e-6);
    EXPECT_EQ(mesh.amplitude, std::vector<float>{0.5f});
  }
}

// NPY ---------------------------------------------------------------------------------------------------------------

TEST(SceneNpy, TypesOrdersAndColumns) {
  for (const std::string type : {"<f4", ">f4", "<f8", ">f8", "|i1", "<i2", ">i4", "<u8", "<i8"}) {
    for (const bool fortran : {false, true}) {
      const Mesh mesh = read_text(npy_points(type, fortran, 3, 4), "x.npy");
      ASSERT_EQ(mesh.position.size(), 3u) << type;
      // Entry (row, column) is 10 row + column.
      expect_near(mesh.position[2], {20, 21, 22});
      EXPECT_EQ(mesh.amplitude, (std::vector<float>{3, 13, 23}));
    }
  }
  EXPECT_TRUE(read_text(npy_points("<f4", false, 2, 3), "x.npy").amplitude.empty());
}

// Coordinates -------------------------------------------------------------------------------------------------------

TEST(SceneCoordinates, StoredUnlessCentredAndFar) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.csv");
  write_raw(path, "500000.125,4,5\n500002.125,6,7\n");  // float32 has steps of 1/32 there
  EXPECT_EQ(read_scene(path).position[0], (Vec3f{500000.125F, 4, 5}));
  EXPECT_EQ(read_scene(path).origin, (std::array<double, 3>{}));
  const Mesh mesh = read_scene(path, Coordinates::centred);
  EXPECT_EQ(mesh.origin, (std::array<double, 3>{500001.125, 0, 0}));  // 6 is within 4 sizes of 2
  EXPECT_EQ(mesh.position, (std::vector<Vec3f>{{-1, 4, 5}, {1, 6, 7}}));
  write_raw(path, "1,2,3\n2,3,4\n");
  EXPECT_EQ(read_scene(path, Coordinates::centred).origin, (std::array<double, 3>{}));
}

// Colour ------------------------------------------------------------------------------------------------------------

TEST(Colour, SrgbIsTheStandards) {
  EXPECT_DOUBLE_EQ(srgb_to_linear(0), 0);
  EXPECT_NEAR(srgb_to_linear(1), 1, 1e-15);
  EXPECT_NEAR(srgb_to_linear(0.5), 0.21404114048223255, 1e-15);  // IEC 61966-2-1
  for (int code = 0; code < 256; ++code) {
    EXPECT_NEAR(linear_to_srgb(srgb_to_linear(code / 255.0)), code / 255.0,
                3e-7);  // the two pieces of the standard meet within 1e-7
  }
}

}  // namespace
}  // namespace holotone
