// What HDF5 files state in texts and groups, and what else they hold beside the dataset that is read.
#include <gtest/gtest.h>
#if HOLOTONE_HDF5
#include <fmt/format.h>
#include <holotone/io/fields/field_file.hpp>
#include <string>
#include <tests/support/guarded_survival.hpp>
#include <tests/support/hdf5_writer.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using hdf5_support::Hdf5Object;
using io_support::error_of;
using io_support::TemporaryFolder;
using Notes = std::vector<std::string>;

std::vector<double> count_up(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
  return values;
}

class Hdf5Declared : public testing::Test {
 protected:
  [[nodiscard]] Notes notes(const std::string& part = "", FieldContent content = FieldContent::intensity) const {
    return read_field(path_ + part, {.read = content}).notes;
  }
  [[nodiscard]] std::string refusal(FieldContent content = FieldContent::intensity) const {
    return error_of([&] { (void)notes("", content); });
  }
  /// Of a dataset "data" whose attribute "properties" has this text.
  [[nodiscard]] Notes with_properties(const std::string& text) const {
    {
      const auto file = Hdf5Object::create_file(path_);
      file.dataset("data", {4, 6}, count_up(24)).text("properties", text);
    }
    return notes();
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("d.h5");
};

TEST_F(Hdf5Declared, NumbersInTextsAreNamed) {
  // Nion Swift: a value is offset + scale * data, 1 + 0.25 data.
  EXPECT_EQ(with_properties(R"({"version": 13, "title": "HAADF", "data_shape": [4, 6],
      "intensity_calibration": {"offset": 1, "scale": 0.25, "units": "e"},
      "dimensional_calibrations": [{"offset": -20, "scale": 1, "units": "nm"},
                                   {"offset": 0, "scale": 1, "units": "nm"}]})"),
            Notes{path_ + ": ignored: attribute properties (intensity_calibration.offset 1, "
                          "intensity_calibration.scale 0.25, intensity_calibration.units e)"});
  EXPECT_EQ(with_properties(R"({"intensity_calibration": {"offset": 0, "scale": 1, "units": ""},
      "dimensional_calibrations": [{"scale": 1, "units": "nm"}, {"scale": 2, "units": "nm"}]})"),
            Notes{path_ + ": ignored: attribute properties (dimensional_calibrations.scale 1, 2)"});
  EXPECT_EQ(with_properties("name: a\nslope: 3\n"), Notes{path_ + ": ignored: attribute properties (slope 3)"});
  EXPECT_EQ(with_properties("<meta><data unit=\"mV\" scale=\"1\"/></meta>"),
            Notes{path_ + ": ignored: attribute properties (data.unit mV)"});
  EXPECT_EQ(with_properties(R"({"title": "scale 2", "data_shape": [4, 6]})"), Notes{});
  EXPECT_EQ(with_properties("scale of a fish: 3"), Notes{});
}

TEST_F(Hdf5Declared, AttributesOfAllGroupsAboveCount) {
  {
    const auto file = Hdf5Object::create_file(path_);
    file.text("author", "name");
    const auto outer = file.group("outer");
    outer.number("gain", 2);
    outer.text("slope", "0.5");
    outer.group("inner").dataset("data", {4, 6}, count_up(24));
  }
  EXPECT_EQ(notes(), Notes{path_ + ": ignored: attributes gain, slope"});
}

/// As Imaris 5.5 stores a picture of 5 x 3 pixels in one plane: chunks fill the rest of {2, 4, 6} with 0.
void write_imaris(const std::string& path, const std::vector<std::string>& columns) {
  const auto file = Hdf5Object::create_file(path);
  const auto channel = file.group("DataSet").group("Channel 0");
  channel.texts("ImageSizeX", columns);
  channel.texts("ImageSizeY", {"3"});
  channel.texts("ImageSizeZ", {"1"});
  channel.dataset("Data", {2, 4, 6}, count_up(48));
  file.group("Thumbnail").dataset("Data", {4, 8}, count_up(32));
}

TEST_F(Hdf5Declared, PaddingIsNamed) {
  write_imaris(path_, {"5"});
  const std::string data = ":/DataSet/Channel 0/Data";
  EXPECT_EQ(notes(data + ":1"), Notes{path_ + data +
                                      ":1: /DataSet/Channel 0/Data of 6 x 4 pixels is padded: its group "
                                      "states 5 x 3 (ImageSizeX, ImageSizeY)"});
  EXPECT_EQ(notes(data + ":2"), Notes{path_ + data +
                                      ":2: array 2 of /DataSet/Channel 0/Data is padding: its group "
                                      "states 1 (ImageSizeZ)"});
  write_imaris(path_, {"1", "2"});
  EXPECT_EQ(notes(data + ":1").front(), path_ + data +
                                            ":1: /DataSet/Channel 0/Data of 6 x 4 pixels is padded: its "
                                            "group states 12 x 3 (ImageSizeX, ImageSizeY)");
}

TEST_F(Hdf5Declared, SmallCopiesAndMasksAreNotChosen) {
  write_imaris(path_, {"5"});
  const std::string list = "expected one array of shape {ny, nx}, or its name as FILE:NAME, got ";
  EXPECT_EQ(refusal(),
            path_ + ": " + list + "/DataSet/Channel 0/Data {2, 4, 6} float64, /Thumbnail/Data {4, 8} float64");
  {
    const auto file = Hdf5Object::create_file(path_);
    file.dataset("pixel_mask", {4, 6}, count_up(24));
    file.dataset("z", {2, 4, 6}, count_up(48));
  }
  EXPECT_EQ(refusal(), path_ + ": " + list + "/pixel_mask {4, 6} float64, /z {2, 4, 6} float64");
  {
    const auto file = Hdf5Object::create_file(path_);
    file.dataset("phase_mask", {4, 6}, count_up(24));
    file.dataset("x", {6}, count_up(6));
  }
  EXPECT_EQ(notes(), Notes{});
}

TEST_F(Hdf5Declared, OtherDatasetsAreNamed) {
  {
    const auto file = Hdf5Object::create_file(path_);
    file.dataset("a", {4, 6}, count_up(24));
    file.dataset("a_errors", {2, 4, 6}, count_up(48));
    file.dataset("b", {2, 4, 6}, count_up(48));
    file.dataset("c", {1, 2, 4, 6}, count_up(48));
    file.dataset("column", {1, 6, 1}, count_up(6));
    file.dataset("palette", {3, 256, 1}, {});
  }
  EXPECT_EQ(notes(), (Notes{path_ + ":/a is read; " + path_ + " also has /b {2, 4, 6} float64, /c {1, 2, 4, 6} float64",
                            path_ + ": ignored: dataset a_errors"}));
  EXPECT_EQ(notes(":/a"), Notes{path_ + ":/a: ignored: dataset a_errors"});
}

TEST_F(Hdf5Declared, LargestValuesAreCounted) {
  const auto with = [&](hid_t type, double first, double second) {
    const auto file = Hdf5Object::create_file(path_);
    auto values = count_up(24);
    values[7] = first;
    values[8] = second;
    file.dataset("data", {4, 6}, values, type);
  };
  with(H5T_STD_U32LE, 4294967295.0, 4294967295.0);
  EXPECT_EQ(notes(),
            Notes{path_ + ": 2 values are 4294967295, the largest of uint32, as detectors mark masked pixels"});
  with(H5T_STD_I32LE, 2147483647.0, 1);
  EXPECT_EQ(notes(), Notes{path_ + ": 1 value is 2147483647, the largest of int32, as detectors mark masked pixels"});
  with(H5T_STD_U16LE, 65535, 65535);
  EXPECT_EQ(notes(), Notes{});
  with(H5T_STD_I32LE, -1, -2);
  EXPECT_EQ(refusal(), path_ +
                           ": expected intensities of at least 0, got -1 at row 1, column 1; do -1 and -2 mark "
                           "masked pixels?");
  with(H5T_STD_I16LE, -1, -30000);
  EXPECT_EQ(refusal(), path_ +
                           ": expected intensities of at least 0, got -1 at row 1, column 1; codes above 32767 that "
                           "are stored as int16?");
  with(H5T_IEEE_F64LE, -1, -2);
  EXPECT_EQ(refusal(), path_ + ": expected intensities of at least 0, got -1 at row 1, column 1");
}

TEST_F(Hdf5Declared, DamagedFilesEndTheChildAtMost) {
  {
    const auto file = Hdf5Object::create_file(path_);
    file.texts("ImageSizeX", {"5"});
    file.texts("ImageSizeY", {"3"});
    file.dataset("data", {4, 6}, count_up(24), H5T_STD_U32LE)
        .text("properties", R"({"a": {"scale": 2}, "axes": [{"scale": 1}, {"scale": 2}]})");
    file.dataset("b", {2, 4, 6}, count_up(48));
  }
  io_support::expect_guarded_survival("declared.h5", io_support::read_raw(path_), 700, {""}, FieldContent::intensity);
}

}  // namespace
}  // namespace holotone
#endif
