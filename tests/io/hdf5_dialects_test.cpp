// What HDF5 files of programs and conventions declare of their numbers: written here by libhdf5.
#include <gtest/gtest.h>
#if HOLOTONE_HDF5
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <tests/support/guarded_survival.hpp>
#include <tests/support/hdf5_writer.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using hdf5_support::Hdf5Object;
using io_support::error_of;
using io_support::TemporaryFolder;

constexpr Shape<2> shape{4, 6};

/// 10 row + column.
std::vector<double> make_values(std::int64_t rows, std::int64_t columns) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(static_cast<double>(10 * (i / columns) + i % columns));
  return values;
}

class Hdf5Dialects : public testing::Test {
 protected:
  /// Writes a file with the dataset "u" of 10 row + column, and what `add` puts beside it.
  void write(const std::function<void(Hdf5Object& file, Hdf5Object& u)>& add, Shape<2> extents = shape,
             const std::string& name = "u") {
    auto file = Hdf5Object::create_file(path_);
    auto u = file.dataset(name, {extents[0], extents[1]}, make_values(extents[0], extents[1]));
    add(file, u);
  }
  [[nodiscard]] FieldFile read(FieldContent content = FieldContent::field) const {
    return read_field(path_, {.read = content});
  }
  [[nodiscard]] std::string refusal(FieldContent content = FieldContent::amplitude) const {
    return error_of([&] { (void)read_field(path_, {.read = content}); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("d.h5");
};

TEST_F(Hdf5Dialects, LogarithmsAreNoLight) {
  for (const std::string unit :
       {"dB", "dBm", "DECIBELS", "log10", "20*log10(V)", "log", "ln(counts)", "Np", "dB re 1 mW"}) {
    for (const std::string key : {"units", "Unit"}) {
      write([&](auto&, auto& u) { u.text(key, unit); });
      for (const auto content : {FieldContent::amplitude, FieldContent::intensity, FieldContent::field}) {
        EXPECT_MENTIONS(refusal(content),
                        fmt::format("d.h5: expected numbers without dB or logarithm, got {} '{}'", key, unit));
      }
    }
  }
  // As a list of one, of fixed length, and of fixed length with blanks.
  for (const auto form : {hdf5_support::Text::list_of_one, hdf5_support::Text::fixed, hdf5_support::Text::blanks}) {
    write([&](auto&, auto& u) { u.text("units", "dB", form); });
    EXPECT_MENTIONS(refusal(), "got units 'dB'");
  }
  write([](auto&, auto& u) { u.text("long_name", "Amplitude (dB)"); });
  EXPECT_MENTIONS(refusal(), "got long_name 'Amplitude (dB)'");
  EXPECT_MENTIONS(error_of([&] { (void)read_field(path_, {.read = FieldContent::field, .imaginary_file = path_}); }),
                  "numbers without dB or logarithm");
  for (const std::string name : {"intensity_dB", "log_amplitude", "IntensityDB", "power-dBm"}) {
    write([](auto&, auto&) {}, shape, name);
    EXPECT_EQ(refusal(), fmt::format("{}: expected numbers without dB or logarithm, got the name '{}'", path_, name));
  }
  for (const std::string unit : {"counts", "a.u.", "%", "V/m", "W/m^2", "dimensionless", "bits"}) {
    write([&](auto&, auto& u) { u.text("units", unit); });
    EXPECT_EQ(read(FieldContent::amplitude).values(3, 5), 35.0F) << unit;
  }
}

TEST_F(Hdf5Dialects, ComplexNumbersInDecibelsAreRefusedByBothReaders) {
  {
    auto file = Hdf5Object::create_file(path_);
    auto u = file.complex_dataset("u", {4, 6}, make_values(4, 6));
    u.text("units", "dB");
  }
  EXPECT_MENTIONS(error_of([&] { (void)read_field(path_); }),
                  "expected numbers without dB or logarithm, got units 'dB'");
  EXPECT_MENTIONS(error_of([&] { (void)FieldRowsReader(path_, guarded_program()); }), "got units 'dB'");
}

TEST_F(Hdf5Dialects, ImagesOfOtherMeaningsAreRefused) {
  const auto refused = [&](const std::function<void(Hdf5Object&)>& add, const std::string& words) {
    write([&](auto& file, auto& u) {
      file.dataset("palette", {2, 3}, {0, 0, 0, 255, 0, 0}, H5T_STD_U8LE);
      u.text("CLASS", "IMAGE", hdf5_support::Text::fixed);
      add(u);
    });
    for (const auto content : {FieldContent::amplitude, FieldContent::phase}) {
      EXPECT_MENTIONS(error_of([&] { (void)read_field(path_ + ":u", {.read = content}); }), words);
    }
  };
  const std::string white = "numbers of which 0 is black (IMAGE_WHITE_IS_ZERO 0), got IMAGE_WHITE_IS_ZERO 1";
  refused([](auto& u) { u.number("IMAGE_WHITE_IS_ZERO", 1, H5T_STD_U8LE); }, white);
  refused([](auto& u) { u.number("IMAGE_WHITE_IS_ZERO", 1, H5T_STD_I32BE); }, white);
  refused([](auto& u) { u.numbers("IMAGE_WHITE_IS_ZERO", {1}); }, white);
  refused([](auto& u) { u.boolean("IMAGE_WHITE_IS_ZERO", true); }, white);
  refused([](auto& u) { u.text("IMAGE_WHITE_IS_ZERO", "true"); }, white);
  const std::string indices = "numbers that are no indices of colours, got indices of a PALETTE (IMAGE_INDEXED)";
  refused([](auto& u) { u.reference("PALETTE", "/palette"); }, indices);
  refused(
      [](auto& u) {
        u.reference("PALETTE", "/palette");
        u.text("IMAGE_SUBCLASS", "image_indexed");
      },
      indices);
  refused([](auto& u) { u.number("IMAGE_TRANSPARENCY", 3); }, "got the attribute IMAGE_TRANSPARENCY");
  refused(
      [](auto& u) {
        u.text("IMAGE_SUBCLASS", "IMAGE_TRUECOLOR");
        u.text("IMAGE_COLORMODEL", "YCbCr");
      },
      "colours of the model RGB as IMAGE_COLORMODEL, got 'YCBCR'");
  {
    auto file = Hdf5Object::create_file(path_);
    auto u = file.dataset("u", {2, 2, 3}, make_values(4, 3));
    u.text("INTERLACE_MODE", "INTERLACE_PIXEL");
  }
  EXPECT_MENTIONS(error_of([&] { (void)read_field(path_ + ":u:1", {.read = FieldContent::amplitude}); }),
                  "colours in planes {n, ny, nx} (INTERLACE_PLANE), got INTERLACE_PIXEL");
  for (const bool grey : {true, false}) {
    write([&](auto& file, auto& u) {
      if (grey) file.dataset("palette", {2, 3, 1, 1}, {0, 0, 0, 255, 0, 0}, H5T_STD_U8LE);
      u.boolean("IMAGE_WHITE_IS_ZERO", false);
      u.text("IMAGE_SUBCLASS", "IMAGE_GRAYSCALE");
      if (grey) u.reference("PALETTE", "/palette");
    });
    const FieldFile field = read(FieldContent::amplitude);
    EXPECT_EQ(field.values(3, 5), 35.0F);
    EXPECT_EQ(field.notes,
              grey ? std::vector{path_ + ": the PALETTE of /u is not applied"} : std::vector<std::string>());
  }
}

/// Which value of "u" lies at the upper left and at the lower right.
struct Corners {
  float first;
  float last;
};

/// How the dialects state the places of a dimension.
class Hdf5Places : public Hdf5Dialects {
 protected:
  struct Places {
    std::string name;
    std::vector<double> at;
    std::string unit = {};
    std::string axis = {};  ///< attribute of CF
    hid_t type = H5T_IEEE_F64LE;
  };

  static std::vector<double> steps(std::int64_t count, double step, double first = 0) {
    std::vector<double> at;
    for (std::int64_t i = 0; i < count; ++i) at.push_back(first + step * static_cast<double>(i));
    return at;
  }

  static void describe(Hdf5Object& scale, const Places& places) {
    if (!places.unit.empty()) scale.text("units", places.unit);
    if (!places.axis.empty()) scale.text("axis", places.axis);
  }

  /// As netCDF-4 and h5py store dimension scales.
  void write_scales(const Places& rows, const Places& columns, const std::function<void(Hdf5Object&)>& add = {}) {
    write(
        [&](auto& file, auto& u) {
          for (const auto& places : {rows, columns}) {
            auto scale =
                file.dataset(places.name, {static_cast<std::int64_t>(places.at.size())}, places.at, places.type);
            scale.text("CLASS", "DIMENSION_SCALE", hdf5_support::Text::fixed);
            describe(scale, places);
          }
          u.scales({"/" + rows.name, "/" + columns.name});
          if (add) add(u);
        },
        {static_cast<std::int64_t>(rows.at.size()), static_cast<std::int64_t>(columns.at.size())});
  }

  void write_hyperspy(const Places& rows, const Places& columns, bool is_listed = false) {
    auto file = Hdf5Object::create_file(path_);
    auto experiments = file.group("Experiments");
    auto signal = experiments.group("wave");
    const auto ny = static_cast<std::int64_t>(rows.at.size());
    const auto nx = static_cast<std::int64_t>(columns.at.size());
    signal.dataset("data", {ny, nx}, make_values(ny, nx));
    int number = 0;
    for (const auto& places : {rows, columns}) {
      auto axis = signal.group(fmt::format("axis-{}", number));
      axis.text("name", places.name);
      axis.text("units", places.unit.empty() ? "<undefined>" : places.unit);
      axis.number("size", static_cast<double>(places.at.size()), H5T_STD_I64LE);
      if (is_listed) {
        axis.dataset("axis", {static_cast<std::int64_t>(places.at.size())}, places.at);
      } else {
        axis.number("scale", places.at[1] - places.at[0], places.type);
        axis.number("offset", places.at[0]);
      }
      axis.number("index_in_array", number++, H5T_STD_I64LE);
    }
  }

  /// Of Berkeley from dim1 on; `first` 0: of emdfile.
  void write_emd(const Places& rows, const Places& columns, int first = 1) {
    auto file = Hdf5Object::create_file(path_);
    auto data = file.group("data");
    data.number("emd_group_type", 1);
    const auto ny = static_cast<std::int64_t>(rows.at.size());
    const auto nx = static_cast<std::int64_t>(columns.at.size());
    data.dataset("data", {ny, nx}, make_values(ny, nx));
    for (const auto& places : {rows, columns}) {
      const auto count = first == 0 ? 2 : static_cast<std::int64_t>(places.at.size());
      auto dimension = data.dataset(fmt::format("dim{}", first++), {count},
                                    {places.at.begin(), places.at.begin() + count}, places.type);
      dimension.text("name", places.name, hdf5_support::Text::fixed);
      dimension.text("units", places.unit, hdf5_support::Text::fixed);
      if (count == 2) first = 1;
    }
  }

  [[nodiscard]] FieldFile read_data() const { return read_field(path_ + ":data/data", {.read = FieldContent::field}); }
  static Corners corners(const FieldFile& field) {
    const auto size = field.values.shape();
    return {field.values(0, 0).real(), field.values(size[0] - 1, size[1] - 1).real()};
  }
  static void expect_corners(const FieldFile& field, Corners expected) {
    EXPECT_EQ(corners(field).first, expected.first);
    EXPECT_EQ(corners(field).last, expected.last);
  }
  static std::string pitch(const FieldFile& field) {
    return field.metadata.contains("pitch_m") ? field.metadata.at("pitch_m") : "none";
  }
  [[nodiscard]] FieldFile read_scaled() const { return read_field(path_ + ":u", {.read = FieldContent::field}); }
  [[nodiscard]] std::string scaled_refusal() const {
    return error_of([&] { (void)read_scaled(); });
  }
};

TEST_F(Hdf5Places, AttachedScalesAreThePitch) {
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F32BE}) {
    write_scales({"y", steps(4, -8, 24), "um", {}, type}, {"x", steps(6, 8), "um", {}, type});
    const FieldFile field = read_scaled();
    EXPECT_TRUE(field.notes.empty());
    expect_corners(field, {0, 35});
    EXPECT_EQ(pitch(field), "8e-06");
  }
  write_scales({"y", steps(4, -8, 24), "micrometers"}, {"x", steps(6, 0.008), "mm"});
  EXPECT_EQ(pitch(read_scaled()), "8e-06");
  // Large numbers in float32 are as even as they can be; packed ones have a factor.
  write_scales({"y", steps(4, -10, 5e6), "m", {}, H5T_IEEE_F32LE}, {"x", steps(6, 10, 5e5), "m", {}, H5T_IEEE_F32LE});
  expect_corners(read_scaled(), {0, 35});
  // Edges of pixels in place of centres.
  write([](auto& file, auto& u) {
    file.dataset("x", {7}, steps(7, 4)).text("units", "um");
    file.dataset("y", {5}, steps(5, -4)).text("units", "um");
    u.scales({"/y", "/x"});
  });
  EXPECT_EQ(pitch(read_scaled()), "4e-06");
}

TEST_F(Hdf5Places, PixelsThatAreNotSquareAreNamed) {
  const std::string um = "its pixels of 4 um x 8 um (height x width) are not square: taken as square";
  write_scales({"y", steps(4, -4), "um"}, {"x", steps(6, 8), "um"});
  EXPECT_MENTIONS(read_scaled().notes.back(), um);
  EXPECT_EQ(pitch(read_scaled()), "none");
  write_scales({"x", steps(6, 8), "um"}, {"y", steps(4, -4), "um"});  // transposed
  EXPECT_MENTIONS(read_scaled().notes.back(), um);
  write_scales({"y", steps(4, -4), "arb"}, {"x", steps(6, 8), "arb"});
  EXPECT_MENTIONS(read_scaled().notes.back(), "its pixels of 4 x 8 arb (height x width) are not square");
  write_hyperspy({"y", steps(4, 4), "um"}, {"x", steps(6, 8), "um"});
  EXPECT_EQ(read().notes, (std::vector{path_ + ": " + um}));
  write_emd({"y", steps(4, 4000), "[n_m]"}, {"x", steps(6, 8000), "[n_m]"});
  EXPECT_EQ(read_data().notes, (std::vector{path_ + ":data/data: " + um}));
}

TEST_F(Hdf5Places, CoordinatesThatFallOrRiseAreFollowed) {
  const std::string rise = "its coordinates 'y' rise from row to row: the first row is read as the top";
  write_scales({"y", steps(4, -8)}, {"x", steps(6, -8)});
  EXPECT_EQ(read_scaled().notes, (std::vector{path_ + ":u: /u is read from its coordinates, upper right"}));
  expect_corners(read_scaled(), {5, 30});
  write_scales({"y", steps(4, 8)}, {"x", steps(6, 8)});
  EXPECT_MENTIONS(read_scaled().notes.back(), rise);
  expect_corners(read_scaled(), {0, 35});
  for (const std::string axis : {"Y", "y"}) {
    write_scales({"j", steps(4, 8), "m", axis}, {"i", steps(6, -8), "m", "X"});
    EXPECT_EQ(read_scaled().notes, (std::vector{path_ + ":u: /u is read from its coordinates, lower right"}));
    expect_corners(read_scaled(), {35, 0});
    write_scales({"j", steps(4, -8), "m", axis}, {"i", steps(6, 8), "m", "X"});
    EXPECT_TRUE(read_scaled().notes.empty());
  }
  // Transposed and mirrored: dimensions x, y.
  write_scales({"lon", steps(6, -1), "degrees_east"}, {"lat", steps(4, 1), "degrees_north"});
  expect_corners(read_scaled(), {53, 0});
  EXPECT_EQ(read_scaled().values(0, 1), 43.0F);
  // The image's own origin comes first; numbers of rows run down.
  write_scales({"y", steps(4, 8)}, {"x", steps(6, -8)},
               [](auto& u) { u.text("DISPLAY_ORIGIN", "UL", hdf5_support::Text::fixed); });
  EXPECT_TRUE(read_scaled().notes.empty());
  expect_corners(read_scaled(), {0, 35});
  write_scales({"row", steps(4, 1)}, {"column", steps(6, 1)});
  EXPECT_TRUE(read_scaled().notes.empty());
}

TEST_F(Hdf5Places, RowsOfComplexNumbersFollowThem) {
  {
    auto file = Hdf5Object::create_file(path_);
    file.dataset("y", {4}, steps(4, 8)).text("axis", "Y");
    file.dataset("x", {6}, steps(6, -8)).text("axis", "X");
    auto u = file.complex_dataset("u", {4, 6}, make_values(4, 6));
    u.scales({"/y", "/x"});
  }
  const FieldRowsReader rows(path_, guarded_program());
  EXPECT_EQ(rows.notes(), (std::vector{path_ + ": /u is read from its coordinates, lower right"}));
  Array<std::complex<float>, 2> one({1, 6});
  rows.read(1, one.view());
  EXPECT_EQ(one(0, 0), 25.0F);
  EXPECT_EQ(read_field(path_).values(1, 0), 25.0F);
}

TEST_F(Hdf5Places, UnevenCoordinatesAreRefused) {
  auto squares = steps(6, 1);
  for (double& at : squares) at *= at;
  write_scales({"y", steps(4, -1)}, {"x", squares});
  EXPECT_EQ(scaled_refusal(), path_ + ":u: expected evenly spaced coordinates 'x', got steps from 1 to 9");
  write_scales({"y", {0, 1, 3, 4}}, {"x", steps(6, 1)});
  EXPECT_MENTIONS(scaled_refusal(), "coordinates 'y', got steps from 1 to 2");
  write_scales({"y", {5, 5, 5, 5}}, {"x", steps(6, 1)});
  EXPECT_MENTIONS(scaled_refusal(), "coordinates 'y', got steps from 0 to 0");
  write_scales({"y", steps(4, 1)}, {"x", {0, 1, 2, std::nan(""), 4, 5}});
  EXPECT_MENTIONS(scaled_refusal(), "finite coordinates 'x', got nan");
  write_hyperspy({"y", steps(4, 1)}, {"x", squares}, true);
  EXPECT_MENTIONS(refusal(FieldContent::field), "coordinates 'x', got steps from 1 to 9");
  write_emd({"y", steps(4, 1), "[n_m]"}, {"x", squares, "[n_m]"});
  EXPECT_MENTIONS(error_of([&] { (void)read_data(); }), "coordinates 'x', got steps from 1 to 9");
  // Rounded places are even: each within a twentieth of a step.
  write_scales({"y", steps(4, -1)}, {"x", {0, 1.03, 2, 2.98, 4, 5}});
  expect_corners(read_scaled(), {0, 35});
  // Dimensions of netCDF without a coordinate, and scales that were not written.
  write([](auto& file, auto& u) {
    file.dataset("y", {4}, {1, 0, 0, 3})
        .text("NAME", "This is a netCDF dimension but not a netCDF variable.         4");
    file.dataset("x", {6}, steps(6, 0));
    u.scales({"/y", "/x"});
  });
  EXPECT_TRUE(read_scaled().notes.empty());
}

TEST_F(Hdf5Places, HyperSpyNamesItsAxes) {
  write_hyperspy({"y", steps(4, 8), "\u00B5m"}, {"x", steps(6, 8), "um"});
  EXPECT_TRUE(read().notes.empty());
  EXPECT_EQ(pitch(read()), "8e-06");
  write_hyperspy({"x", steps(6, 8), "um"}, {"y", steps(4, 8), "um"});
  EXPECT_EQ(read().notes, (std::vector{path_ + ": dimensions named 'x', 'y': /Experiments/wave/data is read as 4 x 6 "
                                               "(rows x columns)"}));
  EXPECT_EQ(read().values(1, 5), 51.0F);
  write_hyperspy({"y", steps(4, -8), "um", {}, H5T_IEEE_F32BE}, {"x", steps(6, -8), "um"});
  EXPECT_MENTIONS(read().notes.front(), "is read from its coordinates, upper right");
  EXPECT_MENTIONS(read().notes.back(), "its coordinates 'y' fall from row to row: the first row is read as the top");
  expect_corners(read(), {5, 30});
  write_hyperspy({"<undefined>", steps(4, 1)}, {"<undefined>", steps(6, 1)});
  EXPECT_TRUE(read().notes.empty());
}

TEST_F(Hdf5Places, EmdNamesItsDimensions) {
  for (const int first : {0, 1}) {
    write_emd({"y", steps(4, 8), "[u_m]"}, {"x", steps(6, 8), "um"}, first);
    EXPECT_TRUE(read_data().notes.empty());
    EXPECT_EQ(pitch(read_data()), "8e-06");
    for (const auto& [x, y] : {std::pair{"x", "y"}, {"R_x", "R_y"}, {"Qx", "Qy"}, {"X [nm]", "Y [nm]"}}) {
      write_emd({x, steps(6, 8), "nm"}, {y, steps(4, 8), "nm"}, first);
      EXPECT_EQ(read_data().notes.size(), 1U) << x;
      EXPECT_MENTIONS(read_data().notes.front(), "/data/data is read as 4 x 6 (rows x columns)");
      EXPECT_EQ(read_data().values(1, 5), 51.0F);
    }
  }
}

TEST_F(Hdf5Places, NexusAndCxiNameTheirAxes) {
  const auto write_group = [&](const std::function<void(Hdf5Object & group, Hdf5Object & data)>& add) {
    auto file = Hdf5Object::create_file(path_);
    auto group = file.group("data");
    auto data = group.dataset("data", {6, 4}, make_values(6, 4));
    group.dataset("x", {6}, steps(6, 8)).text("units", "um");
    group.dataset("y", {4}, steps(4, -8)).text("units", "um");
    add(group, data);
  };
  const auto expect_turned = [&] {
    EXPECT_MENTIONS(read_data().notes.front(), "dimensions named 'x', 'y': /data/data is read as 4 x 6");
    EXPECT_EQ(pitch(read_data()), "8e-06");
    EXPECT_FALSE(read_data().metadata.contains("axes"));  // else a copy of the field would be turned again
  };
  write_group([](auto&, auto& data) { data.text("axes", "x:y"); });
  expect_turned();
  write_group([](auto&, auto& data) { data.text("axes", "[x, y]"); });
  expect_turned();
  write_group([](auto& group, auto&) {
    group.text("signal", "data");
    group.texts("axes", {"y", "x"});
    group.number("x_indices", 0, H5T_STD_I32LE);
    group.number("y_indices", 1, H5T_STD_I32LE);
  });
  expect_turned();
  write_group([](auto&, auto& data) { data.texts("_ARRAY_DIMENSIONS", {"x", "y"}); });
  expect_turned();
}

TEST_F(Hdf5Places, LinksWithinTheFileAreFollowed) {
  {
    auto file = Hdf5Object::create_file(path_);
    auto group = file.group("data");
    auto data = group.dataset("data", {4, 6}, make_values(4, 6));
    data.texts("axes", {"y", "x"});
    file.dataset("columns", {6}, steps(6, -8));
    group.soft_link("x", "/columns");
    group.soft_link("y", "/nowhere");
  }
  EXPECT_EQ(read_data().notes,
            (std::vector{path_ + ":data/data: /data/data is read from its coordinates, upper right"}));
  for (const bool is_soft : {false, true}) {
    {
      auto file = Hdf5Object::create_file(path_);
      auto group = file.group("data");
      group.dataset("data", {4, 6}, make_values(4, 6)).texts("axes", {"y", "x"});
      group.external_link(is_soft ? "z" : "x", path_, "/data/data");
      if (is_soft) group.soft_link("x", "/data/z");
    }
    if (is_soft) {
      EXPECT_TRUE(read_data().notes.empty());
    } else {
      EXPECT_MENTIONS(error_of([&] { (void)read_data(); }), "coordinates in the file itself, got the link 'x'");
    }
  }
  // Datasets of these names alone are no dimensions of EMD.
  {
    auto file = Hdf5Object::create_file(path_);
    auto group = file.group("data");
    group.dataset("data", {4, 6}, make_values(4, 6));
    group.dataset("dim1", {4}, {0, 1, 4, 9});
  }
  EXPECT_TRUE(read_data().notes.empty());
}

TEST_F(Hdf5Places, CoordinatesElsewhereAreRefused) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  ASSERT_GE(H5Pset_external(list, "other.bin", 0, 48), 0);
  write([&](auto& file, auto& u) {
    file.dataset("x", {6}, {}, H5T_IEEE_F64LE, list);
    u.scales({"", "/x"});
  });
  H5Pclose(list);
  EXPECT_MENTIONS(scaled_refusal(), "coordinates in the file itself, got external or virtual ones");
}

// libhdf5 itself writes and reads beyond its memory where files are damaged.
TEST_F(Hdf5Places, DamagedFilesEndTheChildAtMost) {
  const auto expect_survival = [&](const std::string& name, const std::string& part) {
    io_support::expect_guarded_survival(name, io_support::read_raw(path_), 700, {part}, FieldContent::field);
  };
  write_scales({"y", steps(4, 8), "um", "Y"}, {"x", steps(6, 8), "um", "X"});
  expect_survival("scales.h5", ":u");
  write_hyperspy({"y", steps(4, 8), "um"}, {"x", steps(6, 8), "um"}, true);
  expect_survival("hyperspy.h5", ":Experiments/wave/data");
  write_emd({"y", steps(4, 8), "[n_m]"}, {"x", steps(6, 8), "[n_m]"});
  expect_survival("emd.h5", ":data/data");
}

}  // namespace
}  // namespace holotone
#endif
