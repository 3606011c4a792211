// Errors of the readers of points and meshes for files of false format.
#include <chrono>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <tests/io/scene_builders.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::expect_survival;
using io_support::expect_truncations_refused;
using io_support::TemporaryFolder;
using io_support::write_raw;
using namespace scene_builders;

std::string refusal(const std::string& bytes, const std::string& name) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  std::string text = error_of([&] { read_scene(folder.file(name)); });
  EXPECT_TRUE(text.starts_with(folder.file(name) + ": expected ")) << text;
  return text;
}

std::string floats(int count) { return std::string(static_cast<std::size_t>(4 * count), '\0'); }

TEST(SceneBadInput, MissingEmptyFolderUnknown) {
  const TemporaryFolder folder;
  EXPECT_MENTIONS(error_of([&] { read_scene(folder.file("absent.ply")); }), "got none");
  EXPECT_MENTIONS(error_of([&] { read_scene(folder.file(".")); }), "expected a file, got a folder without files");
  write_raw(folder.file("b.xyz"), "0 0 1\n");
  write_raw(folder.file("a.xyz"), "0 0 1\n");
  EXPECT_MENTIONS(error_of([&] { read_scene(folder.file(".")); }), "got a folder of 2 files such as 'a.xyz'");
  EXPECT_MENTIONS(error_of([&] { io::require_input(folder.file(".")); }), "got a folder of 2 files such as 'a.xyz'");
  for (const std::string name : {"x.ply", "x.stl", "x.xyz", "x.npy", "x.csv", "x.obj"}) {
    EXPECT_MENTIONS(refusal("", name), "an empty file");
    EXPECT_MENTIONS(refusal(std::string("\x01\x02\xfe garbage \x00 here", 18), name), "expected");
  }
  EXPECT_MENTIONS(refusal("something", "x.docx"), ".docx");
  EXPECT_MENTIONS(refusal("something", "plain"), "no extension");
  EXPECT_MENTIONS(error_of([] { read_scene("x.glb"); }, ErrorCode::unsupported), "read_scene_assimp");
}

TEST(SceneBadInput, PlyThatDeclaresFourBillionVertices) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string format : {"ascii", "binary_little_endian"}) {
    const std::string text = refusal(ply_header(format, 4000000000u) + floats(9), "x.ply");
    EXPECT_MENTIONS(text, "4000000000 vertices");
    EXPECT_MENTIONS(text, format == "ascii" ? "lines for 1" : "room for 3");
  }
  EXPECT_MENTIONS(refusal(ply_header("binary_little_endian", 18446744073709551615u) + floats(9), "x.ply"),
                  "room for 3");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1, "element face 4000000000\nproperty list uchar int vertex_indices\n") +
                              "0 0 0\n3 0 0 0\n",
                          "x.ply"),
                  "4000000000 faces");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 5.0);
}

TEST(SceneBadInput, PlyThatHoldsMoreOrFewerThanDeclared) {
  EXPECT_MENTIONS(refusal(ply_header("ascii", 2) + "1 2 3\n4 5 6\n7 8 9\n", "x.ply"),
                  "expected 2 vertices, got 3 lines of data, 1 too many");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 3) + "1 2 3\n", "x.ply"), "expected 3 vertices, got lines for 1");
  EXPECT_MENTIONS(refusal(ply_header("binary_little_endian", 2) + floats(12), "x.ply"),
                  "expected 2 vertices (12 bytes each), got bytes for 4");
  EXPECT_MENTIONS(refusal(ply_header("binary_big_endian", 5) + floats(12), "x.ply"),
                  "expected 5 vertices (12 bytes each), got room for 4");
  EXPECT_MENTIONS(refusal(ply_header("binary_big_endian", 1) + floats(3) + "rest", "x.ply"), "4 more bytes");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 0), "x.ply"), "at least 1 vertex, got 0");
}

TEST(SceneBadInput, PlyHeaders) {
  const auto with = [](const std::string& lines) { return "ply\nformat ascii 1.0\n" + lines + "end_header\n1 2 3\n"; };
  EXPECT_MENTIONS(refusal("plyx\n", "x.ply"), "'ply' on the first line (line 1)");
  EXPECT_MENTIONS(refusal("ply\nend_header\n", "x.ply"), "'format'");
  EXPECT_MENTIONS(refusal("ply\nformat binary 1.0\n", "x.ply"), "'binary'");
  EXPECT_MENTIONS(refusal("ply\nformat ascii 2.0\n", "x.ply"), "'2.0'");
  EXPECT_MENTIONS(refusal("ply\nformat ascii 1.0\nelement vertex 1\n", "x.ply"),
                  "'end_header', got the end of the file");
  EXPECT_MENTIONS(refusal(with("element vertex\n"), "x.ply"), "line 3");
  EXPECT_MENTIONS(refusal(with("element vertex -1\n"), "x.ply"), "'-1'");
  EXPECT_MENTIONS(refusal(with("element vertex 99999999999999999999\n"), "x.ply"), "line 3");
  EXPECT_MENTIONS(refusal(with("property float x\n"), "x.ply"), "an element before");
  EXPECT_MENTIONS(refusal(with("element vertex 1\nproperty quad x\n"), "x.ply"), "'quad'");
  EXPECT_MENTIONS(refusal(with("element vertex 1\nproperty list float int x\n"), "x.ply"), "integer type");
  EXPECT_MENTIONS(refusal(with("element vertex 1\nproperty float\n"), "x.ply"), "property name");
  EXPECT_MENTIONS(refusal(with("nonsense\n"), "x.ply"), "'nonsense'");
  EXPECT_MENTIONS(refusal(with("element vertex 1\nproperty float x\nproperty float y\n"), "x.ply"), "property 'z'");
  EXPECT_MENTIONS(refusal(with("element face 1\nproperty float x\n"), "x.ply"), "one element 'vertex', got 0");
  EXPECT_MENTIONS(refusal("ply\nformat ascii 1.0\n" + std::string(100000, 'c'), "x.ply"), "got");
}

TEST(SceneBadInput, PlyRows) {
  const std::string faces = "element face 1\nproperty list uchar int vertex_indices\n";
  const auto with_face = [&](const std::string& row) {
    return refusal(ply_header("ascii", 3, faces) + "0 0 0\n1 0 0\n0 1 0\n" + row + "\n", "x.ply");
  };
  EXPECT_MENTIONS(with_face("3 0 1 3"), "vertex indices below 3 in face 0 (line 4 of the data), got 3");
  EXPECT_MENTIONS(with_face("3 0 1 -1"), "got -1");
  EXPECT_MENTIONS(with_face("3 0 1 1.5"), "got 1.5");
  EXPECT_MENTIONS(with_face("3 0 1 nan"), "got nan");
  EXPECT_MENTIONS(with_face("3 0 1"), "the end of the line");
  EXPECT_MENTIONS(with_face("-3 0 1 2"), "a list length");
  EXPECT_MENTIONS(with_face("4294967295 0 1 2"), "the end of the line");
  EXPECT_MENTIONS(with_face("3 0 1 2 2"), "expected the end of the line in face 0");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1) + "1 2\n", "x.ply"), "number for 'z' in vertex 0");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1) + "1 2 x3\n", "x.ply"), "'x3'");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1) + "1 2 3 4\n", "x.ply"), "expected the end of the line in vertex 0");
  const std::string colours = "property float red\nproperty float green\nproperty float blue\n";
  EXPECT_MENTIONS(refusal(ply_header("ascii", 2, colours) + "1 2 3 255 0 0\n1 2 3 0 -1 0\n", "x.ply"),
                  "colours of 0 to 1, 255 or 65535, got -1 (vertex 1)");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 3, "element face 1\nproperty list uchar int corners\n") +
                              "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                          "x.ply"),
                  "a list 'vertex_indices' of element 'face', got none");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1, "property uchar red\nproperty float green\nproperty uchar blue\n") +
                              "1 2 3 255 0 0\n",
                          "x.ply"),
                  "red, green and blue of one type, got several types");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1, "element tristrips 1\nproperty list int int vertex_indices\n") +
                              "1 2 3\n3 0 0 0\n",
                          "x.ply"),
                  "expected faces as element 'face', got triangle strips (element 'tristrips')");
  EXPECT_MENTIONS(refusal(ply_header("ascii", 1,
                                     "property float f_dc_0\nproperty float opacity\nproperty float scale_0\n"
                                     "property float rot_0\n") +
                              "1 2 3 0 0 0 1\n",
                          "x.ply"),
                  "expected points or a mesh, got a 3-D Gaussian splat");
  // A concave polygon whose splitting would take minutes.
  std::string zigzag;
  for (int i = 0; i < 4001; ++i) zigzag += fmt::format("{} {} 0\n", i, i == 4000 ? 9000 : i % 2);
  std::string corners = "4001";
  for (int i = 0; i < 4001; ++i) corners += fmt::format(" {}", i);
  EXPECT_MENTIONS(refusal(ply_header("ascii", 4001, "element face 1\nproperty list int int vertex_indices\n") + zigzag +
                              corners + "\n",
                          "x.ply"),
                  "at most 4000 corners of a concave polygon, got 4001 in face 0");
  // A list longer than the file.
  EXPECT_MENTIONS(
      refusal(ply_header("binary_little_endian", 1, "element face 1\nproperty list uint int vertex_index\n") +
                  floats(3) + "\xff\xff\xff\x7f",
              "x.ply"),
      "face 0");
}

TEST(SceneBadInput, Stl) {
  std::string stl = binary_stl();
  stl[80] = 9;
  EXPECT_MENTIONS(refusal(stl, "x.stl"), "expected 534 bytes for 9 triangles, got 184 bytes");
  stl[83] = static_cast<char>(0xff);
  EXPECT_MENTIONS(refusal(stl, "x.stl"), "triangles, got 184 bytes");
  EXPECT_MENTIONS(refusal(binary_stl().substr(0, 84), "x.stl"), "184 bytes for 2 triangles, got 84");
  EXPECT_MENTIONS(refusal(std::string(84, '\0'), "x.stl"), "at least 1 triangle");
  EXPECT_MENTIONS(refusal("solid x\nendsolid\n", "x.stl"), "at least 1 facet");
  EXPECT_MENTIONS(refusal("solid x\nfacet normal 0 0 1\n", "x.stl"), "'endsolid' at the end");
  EXPECT_MENTIONS(refusal("solid x\nfacet normal 0 0 z\n", "x.stl"), "a number (line 2), got 'z'");
  EXPECT_MENTIONS(refusal("solid x\nfacet shape\n", "x.stl"), "'normal' (line 2), got 'shape'");
  EXPECT_MENTIONS(refusal(ascii_stl() + "\nfacet normal 0 0 1\n", "x.stl"),
                  "'solid' or the end of the file (line 18), got 'facet'");
  EXPECT_MENTIONS(refusal(ascii_stl() + "solid\n", "x.stl"), "'endsolid' at the end");
}

TEST(SceneBadInput, Tables) {
  EXPECT_MENTIONS(refusal("# nothing\n", "x.csv"), "at least 1 point");
  EXPECT_MENTIONS(refusal("x,y\n1,2\n", "x.csv"), "column names with x, y and z (line 1)");
  EXPECT_MENTIONS(refusal("1 2 3\n4 5\n", "x.xyz"), "3 columns (line 2), got 2 columns");
  EXPECT_MENTIONS(refusal("1 2 3\n4 5 6 7\n", "x.xyz"), "3 columns (line 2), got 4 columns");
  EXPECT_MENTIONS(refusal("1 2 3\n4 five 6\n", "x.xyz"), "a number in column 2 (line 2), got 'five'");
  EXPECT_MENTIONS(refusal("1,2,\n", "x.csv"), "column 3");
  const std::string point = "expected numbers with a decimal point (line ";
  EXPECT_MENTIONS(refusal("x;y;z\n0,5;0,25;1,5\n", "x.csv"), point + "2), got '0,5;0,25;1,5'");
  EXPECT_MENTIONS(refusal("x\ty\tz\n0,5\t0,25\t1,5\n", "x.tsv"), point + "2)");
  EXPECT_MENTIONS(refusal("0,5 0,25 1,5\n", "x.txt"), point + "1)");
  EXPECT_MENTIONS(refusal("1\t2\t1,5\n", "x.txt"), point + "1)");
  EXPECT_MENTIONS(refusal("0;0;1\n0;0;1,5\n", "x.csv"), point + "2)");
  EXPECT_MENTIONS(refusal("x [px],y [px],z [px]\n1,2,3\n", "x.csv"), "m, mm or um as a column's unit (line 1)");
  EXPECT_MENTIONS(refusal("x,y,z,phase [waves]\n1,2,3,4\n", "x.csv"), "rad or deg as a column's unit (line 1)");
  EXPECT_MENTIONS(refusal("1 2 3 4 5\n", "x.xyz"), "got 5 columns");
  EXPECT_MENTIONS(refusal("2\n1 2 3\n4 5 6\n", "x.xyz"),
                  "got a line with the number of points alone (line 1); remove it");
  EXPECT_MENTIONS(refusal("1.5\n1 2 3\n", "x.xyz"), "got 1 column");
  EXPECT_MENTIONS(refusal("% x y z\n1 2 3\n", "x.txt"),
                  "comments that begin with # or // (line 1), got the comment sign % in '% x y z'");
  EXPECT_MENTIONS(refusal("1 2 3\n% and\n4 5 6\n", "x.txt"), "(line 2), got the comment sign % in '% and'");
  const std::string ask = "a line of column names before six columns, 'x y z nx ny nz' or 'x y z r g b', unless";
  EXPECT_MENTIONS(refusal("1 2 3 0 0 1.5\n", "x.xyz"), ask);
  EXPECT_MENTIONS(refusal("1 2 3 0 0 1\n4 5 6 0 -1 0\n", "x.xyz"), "got -1 (point 1)");
  EXPECT_MENTIONS(refusal("1 2 3 0 0 1\n4 5 6 0 1 0\n", "x.xyz"), ask);  // of a box
  EXPECT_MENTIONS(refusal("1 2 3 0 0 1\n4 5 6 0 1 0\n", "x.xyz"), "got numbers of 0 and 1 alone");
  EXPECT_MENTIONS(refusal("x,y,z\nmm,mm,mm\n1,2,3\n", "x.csv"),
                  "numbers behind the names of columns, which may have units, as x_mm (line 2), got 'mm,mm,mm'");
  EXPECT_MENTIONS(refusal("x y z x\n1 2 3 4\n", "x.xyz"), "one column 'x' (line 1), got 'x'");
  EXPECT_MENTIONS(refusal("x,y,z,amp,a\n1,2,3,4,5\n", "x.csv"), "one column 'amplitude' (line 1), got 'a'");
  EXPECT_MENTIONS(refusal("x_mm,y,z\n1,2,3\n", "x.csv"), "units of x, y and z, or of none (line 1), got 1 of them");
  for (const auto* name : {"intensity [dB]", "intensity_dB", "amplitude (dBm)", "amp/dB", "a (log10)"}) {
    EXPECT_MENTIONS(refusal(fmt::format("x,y,z,{}\n1,2,3,20\n", name), "x.csv"),
                    fmt::format("numbers without dB or logarithm as a column's unit (line 1), got '{}'", name));
  }
  for (const auto* text : {"# x y z, intensity in dB\nx y z i\n1 2 3 20\n", "// amplitude: log10\n1 2 3 4\n",
                           "1 2 3 4\n# power (dBm)\n", "# x y z intensity [dB]\n1 2 3 4\n"}) {
    EXPECT_MENTIONS(refusal(text, "x.xyz"), "numbers without dB or logarithm");
  }
  EXPECT_MENTIONS(refusal("ply\nformat ascii 1.0\ncomment intensity unit: dB\nelement vertex 1\nproperty float x\n"
                          "property float y\nproperty float z\nend_header\n1 2 3\n",
                          "x.ply"),
                  "numbers without dB or logarithm in its comments, got 'intensity unit: dB'");
  EXPECT_MENTIONS(refusal("x/mm,y/px,z/mm\n1,2,3\n", "x.csv"), "as a column's unit (line 1), got 'y/px'");
  EXPECT_MENTIONS(refusal(std::string("\xFF\xFEx\0,\0", 6), "x.csv"), "text in UTF-8 or ASCII, got UTF-16");
  EXPECT_MENTIONS(refusal(std::string("# a\0b\n1 2 3\n", 12), "x.csv"), "text, got binary data");
  EXPECT_MENTIONS(refusal("x y z r g b\n1 2 3 0 0 65536\n", "x.xyz"), "colours of 0 to 1, 255 or 65535");
  EXPECT_MENTIONS(refusal("x y z r g b\n1 2 3 0 0 -1\n", "x.xyz"), "colours of 0 to 1, 255 or 65535");
  EXPECT_MENTIONS(refusal("x y z r g b\n1 2 3 0 0 nan\n", "x.xyz"), "got nan (point 0)");
}

TEST(SceneBadInput, Npy) {
  const std::string good = npy_points("<f4", false, 3, 4);
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string bytes = good;
    bytes.replace(bytes.find(old), old.size(), now);
    return refusal(bytes, "x.npy");
  };
  EXPECT_MENTIONS(with("(3, 4)", "(9, 4)"), "144 bytes of data for {9, 4} of <f4, got 48 bytes");
  EXPECT_MENTIONS(with("(3, 4)", "(2, 4)"), "32 bytes");
  EXPECT_MENTIONS(with("(3, 4), }        ", "(9999999999,4), }"), "got 48 bytes");
  EXPECT_MENTIONS(with("<f4", "<f2"), "'<f2'");
  EXPECT_MENTIONS(with("<f4", "<c8"), "96 bytes");
  EXPECT_MENTIONS(with("'descr': '<f4'", "'descr': [('x'"), "a structured one");
  EXPECT_MENTIONS(with("fortran_order", "fortran_ardor"), "keys descr");
  EXPECT_MENTIONS(with("False", "Maybe"), "True or False");
  EXPECT_MENTIONS(with("'shape': (3, 4), }", "}                 "), "keys descr");
  EXPECT_MENTIONS(refusal(npy_points("<f4", false, 3, 5), "x.npy"), "shape {n, 3}");
  EXPECT_MENTIONS(refusal("\x93NUMPY\x09 ", "x.npy"), "version");
  EXPECT_MENTIONS(refusal(good.substr(0, 7), "x.npy"), "NPY version");
}

const auto read = [](const std::string& path) { read_scene(path); };

// Two concave faces, before their vertices.
std::string concave_ply() {
  return "ply\nformat ascii 1.0\nelement face 2\nproperty list uchar int vertex_index\nelement vertex 8\n"
         "property float x\nproperty float y\nproperty float z\nend_header\n8 0 1 2 3 4 5 6 7\n5 0 4 2 1 3\n"
         "0 0 1\n3 0 1\n3 1 1\n1 1 2\n1 2 1\n3 2 1\n3 3 0\n0 3 1\n";
}

// Colours of 8 bits as floats, and properties without use.
std::string float_colours_ply() {
  return ply_header("ascii", 2,
                    "property float red\nproperty float green\nproperty float blue\nproperty float s_1\n"
                    "property float s_2\nproperty float nx\n") +
         "1 2 3 255 0 12.5 1 2 3\n4 5 6 0 0.5 99 1 2 3\n";
}

struct Seed {
  std::string name;
  std::string bytes;
  bool strict;  // every truncation is detected
};

std::vector<Seed> seeds() {
  return {
      {"ascii.ply", rich_ply(PlyKind::ascii), false},
      {"little.ply", rich_ply(PlyKind::little), true},
      {"big.ply", rich_ply(PlyKind::big), true},
      {"concave.ply", concave_ply(), false},
      {"colours.ply", float_colours_ply(), false},
      {"ascii.stl", ascii_stl(), true},
      {"solids.stl", "\xEF\xBB\xBF" + ascii_stl() + ascii_stl() + "SOLID\nENDSOLID\n", false},
      {"binary.stl", binary_stl(), true},
      {"points.npy", npy_points(">f8", true, 5, 4), true},
      {"points.xyz", "# a comment\n1 2 3\n4e-1 5 6\n-7 8.25 9\n", false},
      {"points.csv", "x,y,z,intensity,r,g,b\n1,2,3,0.5,10,20,30\n4,5,6,0.25,255,0,0\n", false},
  };
}

TEST(SceneBadInput, TruncatedFilesAreRefused) {
  for (const auto& seed : seeds()) expect_truncations_refused(seed.bytes, seed.name, seed.strict, read);
}

TEST(SceneBadInput, TwoThousandMutationsOfEachFormat) {
  for (const auto& seed : seeds()) expect_survival(seed.name, seed.bytes, seed.name, 2000, read);
}

// 437,645 vertices (the size of a well-known scan) in well under a second.
TEST(SceneSpeed, LargeFilesReadInUnderASecond) {
  constexpr int count = 437645;
  const TemporaryFolder folder;
  std::string text = ply_header("ascii", count);
  for (int i = 0; i < count; ++i)
    text += fmt::format("{:.7g} {:.7g} {:.7g}\n", i * 1e-7, -0.05 + i * 2e-7, 1.0 / (i + 1));
  write_raw(folder.file("ascii.ply"), text);
  write_raw(folder.file("binary.ply"), ply_header("binary_little_endian", count) + floats(3 * count));
  for (const std::string name : {"ascii.ply", "binary.ply"}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(read_scene(folder.file(name)).position.size(), static_cast<std::size_t>(count));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%s: %d vertices in %.0f ms\n", name.c_str(), count, 1e3 * seconds.count());
    RecordProperty(name, std::to_string(seconds.count()));
    EXPECT_LT(seconds.count(), 5.0);  // room for a sanitizer and a busy machine
  }
}

}  // namespace
}  // namespace holotone
