// Comments that name the columns of a table, and names between tabs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/points/points.hpp>
#include <string>
#include <tests/io/declared/table_file_test.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;
using Notes = std::vector<std::string>;

/// The first line of rapidSTORM's table of these fields.
std::string storm_line(const std::vector<std::string>& identifiers) {
  std::string line = "# <localizations insequence=\"true\" repetitions=\"variable\">";
  for (const auto& one : identifiers) {
    const std::string unit = one.starts_with("Position") ? " unit=\"nanometer\" min=\"0 m\"" : "";
    line += fmt::format("<field identifier=\"{}\" syntax=\"floating point with . for decimals\"{} />", one, unit);
  }
  return line + "</localizations>\n";
}

class ColumnComments : public io_support::TableFileTest {};

TEST_F(ColumnComments, FieldsOfRapidStorm) {
  EXPECT_EQ(
      refusal(storm_line({"Position-0-0", "Position-1-0", "ImageNumber-0-0", "Amplitude-0-0"}) + "1000 2 7 500\n"),
      path_ +
          ": expected columns x, y and z in the fields of its comment (line 1), got 'x [nanometer], y "
          "[nanometer], ImageNumbe...'");
  const Mesh mesh =
      scene(storm_line({"Position-0-0", "Position-1-0", "Position-2-0", "ImageNumber-0-0", "Amplitude-0-0"}) +
            "1000 500 -250 7 90\n");
  EXPECT_FLOAT_EQ(mesh.position.at(0)[0], 1e-6F);
  EXPECT_FLOAT_EQ(mesh.position.at(0)[1], 5e-7F);
  EXPECT_FLOAT_EQ(mesh.position.at(0)[2], -2.5e-7F);
  EXPECT_TRUE(mesh.amplitude.empty());
  EXPECT_EQ(mesh.ignored, "ImageNumber-0-0, Amplitude-0-0");
}

TEST_F(ColumnComments, NamesWithoutZAreRefused) {
  EXPECT_EQ(refusal("# x y frame intensity\n1 2 3 4\n"),
            path_ + ": expected columns x, y and z in the comment before, got '# x y frame intensity'");
  EXPECT_EQ(refusal("# x [nm], y [nm], t\n1,2,3\n"),
            path_ + ": expected columns x, y and z in the comment before, got '# x [nm], y [nm], t'");
}

TEST_F(ColumnComments, NamesBehindAColonAreTaken) {
  const Mesh mesh = scene("# Columns: x y z frame amplitude\n1 2 3 9 0.5\n");
  EXPECT_EQ(mesh.amplitude, std::vector<float>{0.5F});
  EXPECT_EQ(mesh.ignored, "frame");
}

TEST_F(ColumnComments, OthersAreNamedIfTheyMayNameColumns) {
  for (const std::string comment : {"#X [nm]", "# column 4 is the frame", "# x and y of each spot, then a frame"}) {
    EXPECT_EQ(scene(comment + "\n1 2 3 4\n").ignored,
              fmt::format("the comment '{}' (columns are taken as x, y, z, amplitude)", comment));
  }
  EXPECT_EQ(scene("# the x, the y and the frame\n1 2 3 4 5 255\n").ignored,
            "the comment '# the x, the y and the frame' (columns are taken as x, y, z, r, g, b)");
  for (const std::string comment :
       {"# made by a scanner", "# coordinates (x, y, z), right-handed", "# 3 points of a box"}) {
    EXPECT_EQ(scene(comment + "\n1 2 3 4\n").ignored, "") << comment;
  }
}

TEST_F(ColumnComments, AlphaBehindColoursIsNoAmplitude) {
  const Mesh mesh = scene("//X Y Z R G B A\n0 0 0 255 255 255 255\n1 0 0 0 0 0 255\n");  // CloudCompare
  EXPECT_TRUE(mesh.amplitude.empty());
  EXPECT_EQ(mesh.colour.at(1), (Vec3f{0, 0, 0}));
  EXPECT_EQ(mesh.ignored, "A");
  EXPECT_EQ(scene("x,y,z,a\n0,0,0,2\n").amplitude, std::vector<float>{2});
  EXPECT_EQ(scene("x,y,z,r,g,b,amp\n0,0,0,1,1,1,2\n").amplitude, std::vector<float>{2});
}

TEST_F(ColumnComments, NamesBetweenTabsMayHoldBlanks) {
  const Mesh mesh = scene("x\ty\tz\tCentroid X\tFile name\n1\t2\t3\t4\tan image\n5\t6\t7\t8\tanother\n");
  ASSERT_EQ(mesh.position.size(), 2U);
  EXPECT_EQ(mesh.position[1], (Vec3f{5, 6, 7}));
  EXPECT_EQ(mesh.ignored, "Centroid X, File name");
  EXPECT_EQ(scene("x y\tz\n1 2\t3\n").position.size(), 1U);
  EXPECT_EQ(dots("x\ty\tTrack id\n1\t2\t7\n").notes, Notes{path_ + ": ignored: 'Track id'"});
}

TEST_F(ColumnComments, OfDots) {
  const auto named = dots("# x y frame\n1 2 3\n4 5 6\n");
  EXPECT_TRUE(named.dots.radius.empty());
  EXPECT_EQ(named.notes, Notes{path_ + ": ignored: 'frame'"});
  const auto noted = dots("# x, y of a spot, then its frame\n1 2 3\n4 5 6\n");
  EXPECT_EQ(noted.notes, Notes{path_ + ": columns are taken as x, y, radius; its comment is not read: 'x, y of a spot, "
                                       "then its frame'"});
  EXPECT_EQ(dots("# made by a program\n1 2 3\n").notes, Notes{});
}

TEST_F(ColumnComments, SurvivesMutations) {
  const auto read_mesh = [](const std::string& path) { (void)read_scene(path); };
  const auto read_dots = [](const std::string& path) { (void)read_dots_file(path); };
  const auto storm = storm_line({"Position-0-0", "Position-1-0", "Position-2-0"}) + "1000 500 -250\n";
  io_support::expect_survival("storm.txt", storm, ".txt", 2000, read_mesh);
  io_support::expect_survival("names.txt", "# fields: x y z\n1 2 3\n", ".txt", 2000, read_mesh);
  io_support::expect_survival("tabs.txt", "A b\tx\ty\n1\t2\t3\n# x y frame\n", ".txt", 2000, read_dots);
}

}  // namespace
}  // namespace holotone
