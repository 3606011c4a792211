// What headers of astropy, Octave, pandas and COLMAP say of the columns of a table.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/recipes/spot_camera.hpp>
#include <holotone/recipes/spots.hpp>
#include <string>
#include <tests/io/declared/table_file_test.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;

/// As astropy 8 writes it, with `columns` of the datatype and `meta`.
std::string ecsv(const std::string& columns, const std::string& rows, const std::string& meta = {}) {
  return "# %ECSV 1.0\n# ---\n# datatype:\n" + columns + meta + "# schema: astropy-2.0\n" + rows;
}

const std::string plain_places =
    "# - {name: x, datatype: float64}\n# - {name: y, datatype: float64}\n# - {name: z, datatype: float64}\n";
const std::string um_places =
    "# - {name: x, unit: um, datatype: float64}\n# - {name: y, unit: um, datatype: float64}\n"
    "# - {name: z, unit: um, datatype: float64}\n";
const std::string wavelength =
    "# meta: !!omap\n# - wavelength: !astropy.units.Quantity\n"
    "#     unit: !astropy.units.Unit {unit: nm}\n#     value: 532.0\n";

class TableTexts : public io_support::TableFileTest {
 protected:
  void expect_first(const std::string& text, float x, float y, float z, const std::string& ignored = {}) const {
    const Mesh mesh = scene(text);
    EXPECT_FLOAT_EQ(mesh.position.at(0)[0], x) << text;
    EXPECT_FLOAT_EQ(mesh.position.at(0)[1], y) << text;
    EXPECT_FLOAT_EQ(mesh.position.at(0)[2], z) << text;
    EXPECT_EQ(mesh.ignored, ignored);
  }
};

TEST_F(TableTexts, UnitsOfEcsvBelongToTheirColumns) {
  // Of metadata and of columns without use.
  expect_first(ecsv(plain_places, "x y z\n0.0001 5e-05 -0.2\n", wavelength), 1e-4F, 5e-5F, -0.2F);
  expect_first(ecsv(plain_places + "# - {name: diameter, unit: um, datatype: float64}\n",
                    "x y z diameter\n0.0001 5e-05 -0.2 5\n"),
               1e-4F, 5e-5F, -0.2F, "diameter[um]");
  expect_first(ecsv(um_places + "# - {name: t, unit: s, datatype: float64}\n"
                                "# - {name: snr, unit: dB, datatype: float64}\n",
                    "x y z t snr\n100 50 -2e5 0.1 20\n", wavelength),
               1e-4F, 5e-5F, -0.2F, "t[s], snr[dB]");
}

TEST_F(TableTexts, EcsvInLinesAndWithOtherSigns) {
  const std::string lines =
      "# - name: x\n#   unit: mm\n#   datatype: float64\n#   meta: !!omap\n#   - {unit: nm}\n"
      "# - name: y\n#   unit: 'um'\n#   datatype: float64\n"
      "# - name: z\n#   unit: \"cm\"\n#   datatype: float64\n"
      "# - {name: phase, unit: deg, datatype: float64,\n#   description: a long text}\n";
  const Mesh mesh = scene("# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n" + lines +
                          "# schema: astropy-2.0\nx,y,z,phase\n0.1,50,-20,90\n");
  EXPECT_FLOAT_EQ(mesh.position.at(0)[0], 1e-4F);
  EXPECT_FLOAT_EQ(mesh.position.at(0)[1], 5e-5F);
  EXPECT_FLOAT_EQ(mesh.position.at(0)[2], -0.2F);
  EXPECT_FLOAT_EQ(mesh.phase_rad.at(0), 1.5707964F);
}

TEST_F(TableTexts, UnitsMayHaveNumbers) {
  std::string tens = um_places;
  for (auto at = tens.find("unit: um"); at != std::string::npos; at = tens.find("unit: um")) {
    tens.replace(at, 8, "unit: 10 um");
  }
  expect_first(ecsv(tens, "x y z\n10 5 -20000\n"), 1e-4F, 5e-5F, -0.2F);
  expect_first("x[10um],y [10 um],z (0.1 m)\n10,5,-2\n", 1e-4F, 5e-5F, -0.2F);
  EXPECT_NE(refusal("x[0um],y[0um],z[0um]\n10,5,-2\n").find("'x[0um]'"), std::string::npos);
  write_raw(path_, "x [10um],y [10um]\n10,5\n");
  EXPECT_FLOAT_EQ(read_spots(path_).position_m.at(0)[0], 1e-4F);
}

TEST_F(TableTexts, LogarithmsOfEcsvAreRefused) {
  for (const std::string unit : {"mag", "dex", "dB", "Np", "mag(ct / s)"}) {
    const auto column = fmt::format("# - {{name: intensity, unit: {}, datatype: float64}}\n", unit);
    EXPECT_NE(refusal(ecsv(um_places + column, "x y z intensity\n1 2 3 4\n")).find("without dB or logarithm"),
              std::string::npos)
        << unit;
    write_raw(path_, ecsv("# - {name: x_um, datatype: float64}\n# - {name: y_um, datatype: float64}\n" + column,
                          "x_um y_um intensity\n100 50 1\n"));
    EXPECT_NE(error_of([&] { (void)read_spots(path_); }).find("without dB or logarithm as intensity"),
              std::string::npos)
        << unit;
    write_raw(path_, ecsv(fmt::format("# - {{name: measured, unit: {}, datatype: float64}}\n", unit), "measured\n1\n"));
    EXPECT_NE(error_of([&] { (void)read_measured_spots(path_, 1); }).find("without dB or logarithm as measured"),
              std::string::npos)
        << unit;
  }
  EXPECT_NE(refusal("# intensity in mag\nx y z intensity\n1 2 3 4\n").find("without dB"), std::string::npos);
}

TEST_F(TableTexts, SpotsOfEcsvHaveTheUnitsOfTheirColumns) {
  const std::string columns =
      "# - {name: x, unit: um, datatype: float64}\n# - {name: y, unit: mm, datatype: float64}\n"
      "# - {name: intensity, unit: ct, datatype: float64}\n";
  write_raw(path_, ecsv(columns, "x y intensity\n100 0.05 1\n", wavelength));
  const auto spots = read_spots(path_);
  EXPECT_FLOAT_EQ(spots.position_m.at(0)[0], 1e-4F);
  EXPECT_FLOAT_EQ(spots.position_m.at(0)[1], 5e-5F);
  write_raw(path_,
            ecsv("# - {name: x, datatype: float64}\n# - {name: y, datatype: float64}\n", "x y\n100 50\n", wavelength));
  EXPECT_NE(error_of([&] { (void)read_spots(path_); }).find("a unit of x, y and z"), std::string::npos);
  EXPECT_FLOAT_EQ(read_spots(path_, 1e-6).position_m.at(0)[0], 1e-4F);
}

TEST_F(TableTexts, DotsOfEcsvAreInPixels) {
  const auto columns = [](const std::string& unit) {
    return fmt::format(
        "# - {{name: x, unit: {0}, datatype: float64}}\n# - {{name: y, unit: {0}, datatype: float64}}\n"
        "# - {{name: flux, unit: W, datatype: float64}}\n",
        unit);
  };
  const auto file = dots(ecsv(columns("pix"), "x y flux\n10 20 1\n30 40 1\n", wavelength));
  EXPECT_EQ(file.dots.position, (std::vector<float>{10, 20, 30, 40}));
  EXPECT_NE(error_of([&] { (void)dots(ecsv(columns("mm"), "x y flux\n10 20 1\n")); }).find("columns in pixels"),
            std::string::npos);
}

TEST_F(TableTexts, NamesOfEcsvAreThoseOfItsHeader) {
  EXPECT_NE(refusal(ecsv(um_places, "x y\n1 2\n")).find("3 columns of its header's datatype"), std::string::npos);
  EXPECT_NE(refusal(ecsv(um_places, "x y u\n1 2 3\n")).find("'u'"), std::string::npos);
}

std::string octave(const std::string& name, const std::string& rows, const std::string& type = "matrix") {
  return fmt::format("# name: {}\n# type: {}\n# rows: 2\n# columns: 3\n{}\n\n", name, type, rows);
}
const std::string created = "# Created by Octave 8.4.0, Mon Nov 30 16:00:00 2026 UTC <me@host>\n";

TEST_F(TableTexts, OctaveTextIsOneMatrix) {
  const std::string rows = " 10 20 2\n 30 40 2";
  const auto file = dots(created + octave("D", rows));
  EXPECT_EQ(file.dots.position, (std::vector<float>{10, 20, 30, 40}));
  EXPECT_TRUE(file.notes.empty()) << file.notes[0];
  const auto two = created + octave("P", rows) + octave("N", rows);
  const std::string expected = path_ + ": expected one variable of Octave, got 2, P and N; save one";
  EXPECT_EQ(refusal(two), expected);
  EXPECT_EQ(error_of([&] { (void)dots(two); }), expected);
  write_raw(path_, two);
  EXPECT_EQ(error_of([&] { (void)read_spots(path_); }), expected);
  EXPECT_EQ(refusal(created + octave("S", rows, "sparse matrix")),
            path_ + ": expected a variable of Octave of type matrix, got 'sparse matrix'");
}

TEST_F(TableTexts, LabelsOfColumnsAreNoPoint) {
  const std::string labels = "0,1,2\n0.0001,5e-05,-0.2\n-0.0001,2e-05,-0.21\n";
  const std::string expected = path_ +
                               ": expected names of columns, or numbers with a point such as 0.0 in its first "
                               "line, got 0,1,2, which may be a header";
  EXPECT_EQ(refusal(labels), expected);
  EXPECT_EQ(scene("0.0,1,2\n0.0001,5e-05,-0.2\n").position.size(), 2U);
  EXPECT_EQ(error_of([&] { (void)dots("0,1,2\n10,20,1\n"); }), expected);
  write_raw(path_, "0,1\n100.5,50\n");
  EXPECT_NE(error_of([&] { (void)read_spots(path_, 1e-6); }).find("0,1, which may be a header"), std::string::npos);
  // Pixels may lie there.
  const auto file = dots("0,1\n10,20\n");
  EXPECT_EQ(file.dots.position, (std::vector<float>{0, 1, 10, 20}));
  ASSERT_EQ(file.notes.size(), 1U);
  EXPECT_EQ(file.notes[0], path_ + ": its first line, '0,1', may be a header; it is read as a dot");
}

TEST_F(TableTexts, PointsOfColmapAreAskedForAsPly) {
  const std::string head =
      "# 3D point list with one line of data per point:\n"
      "#   POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n";
  EXPECT_NE(refusal(head + "1 0.1 0.2 0.3 1 2 3 0.5 1 7 2 9\n").find("expected a PLY file of COLMAP's points"),
            std::string::npos);
}

TEST_F(TableTexts, Survive) {
  io_support::expect_survival("ecsv", ecsv(um_places, "x y z\n1 2 3\n4 5 6\n", wavelength), ".txt", 2000,
                              [](const std::string& path) { (void)read_scene(path); });
  io_support::expect_survival("octave", created + octave("P", " 1 2 3\n 4 5 6"), ".txt", 2000,
                              [](const std::string& path) { (void)read_scene(path); });
}

}  // namespace
}  // namespace holotone
