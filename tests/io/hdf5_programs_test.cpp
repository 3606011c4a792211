// What HDF5 files of Julia, Igor Pro, NWB, NeXus and CXI state of a dataset by attributes and datasets beside it.
#include <gtest/gtest.h>
#if HOLOTONE_HDF5
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <numbers>
#include <tests/support/guarded_survival.hpp>
#include <tests/support/hdf5_writer.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using hdf5_support::Hdf5Object;
using io_support::error_of;
using io_support::TemporaryFolder;

/// 0.1 row + 0.01 column.
std::vector<double> make_phases() {
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back(0.1 * (i / 6) + 0.01 * (i % 6));
  return values;
}

class Hdf5Programs : public testing::Test {
 protected:
  /// A group "data" with the dataset "phase" {4, 6} of make_phases, stored as (phase - offset) / scale.
  void write(const std::function<void(Hdf5Object& group, Hdf5Object& data)>& add, double scale = 1, double offset = 0) {
    auto file = Hdf5Object::create_file(path_);
    auto group = file.group("data");
    auto values = make_phases();
    for (double& value : values) value = (value - offset) / scale;
    auto data = group.dataset("phase", {4, 6}, values);
    add(group, data);
  }
  [[nodiscard]] FieldFile read(FieldContent content = FieldContent::phase) const {
    return read_field(path_ + ":/data/phase", {.read = content});
  }
  [[nodiscard]] std::string refusal() const {
    return error_of([&] { (void)read(); });
  }
  static void expect_phases(const FieldFile& field) {
    const auto phases = make_phases();
    ASSERT_EQ(field.values.shape(), (Shape<2>{4, 6}));
    for (std::size_t i = 0; i < phases.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(std::arg(field.values.data()[i])), phases[i], 1e-6) << i;
    }
  }

  /// Of phases that do not fill a turn.
  [[nodiscard]] std::string no_unit() const {
    return path_ + ":/data/phase: phases from 0 to 0.35 without a unit, taken as radians, not waves";
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("p.h5");
};

TEST_F(Hdf5Programs, JuliaStoresMatricesByColumns) {
  for (const auto& [head, program] :
       {std::pair<std::string, std::string>{"HDF5-based Julia Data Format, version 0.1.1", "Julia (JLD2)"},
        {"Julia data file (HDF5), version 0.1.3", "Julia (JLD)"}}) {
    {
      auto file = Hdf5Object::create_file(path_, 512);
      std::vector<double> columns;
      const auto phases = make_phases();
      for (std::size_t i = 0; i < phases.size(); ++i) columns.push_back(phases[i % 4 * 6 + i / 4]);
      file.complex_dataset("field", {6, 4}, columns);
      file.group("_types").dataset("other", {2, 2}, {1, 2, 3, 4});
    }
    std::string bytes = io_support::read_raw(path_);
    bytes.replace(0, head.size(), head);
    io_support::write_raw(path_, bytes);
    const FieldFile field = read_field(path_);
    ASSERT_EQ(field.values.shape(), (Shape<2>{4, 6}));
    EXPECT_NEAR(static_cast<double>(field.values(1, 5).real()), 0.15, 1e-6);
    EXPECT_EQ(field.notes, (std::vector{path_ + ": " + program +
                                        " stores dimensions reversed: /field is read as 4 x 6 (rows x columns)"}));
    const FieldRowsReader rows(path_, guarded_program());
    Array<std::complex<float>, 2> one({1, 6});
    rows.read(1, one.view());
    EXPECT_NEAR(static_cast<double>(one(0, 5).real()), 0.15, 1e-6);
  }
}

// Numbers that are not followed are named, of all groups above: pixels of VTK, binning of detectors.
TEST_F(Hdf5Programs, OtherNumbersAreNamed) {
  write([](auto& group, auto& data) {
    group.matrix("Spacing", {1, 3}, {1e-5, 2e-5, 1});
    group.matrix("Direction", {3, 3}, {-1, 0, 0, 0, 1, 0, 0, 0, 1});
    data.number("NDArrayDimBinning", 2);
    data.number("NDArrayTimeStamp", 12.5);
    data.number("uniqueId", 7);
    data.text("units", "rad");
  });
  EXPECT_EQ(read().notes,
            (std::vector{path_ + ":/data/phase: ignored: attributes NDArrayDimBinning, Direction, Spacing"}));
}

// So are few numbers in datasets beside the array: pixels of ITK, ptypy, Wofry and CXI, but not its coordinates.
TEST_F(Hdf5Programs, FewNumbersBesideTheArrayAreNamed) {
  write([](auto& group, auto& data) {
    group.dataset("Spacing", {2}, {1e-2, 2e-2});
    group.dataset("Directions", {2, 2}, {-1, 0, 0, 1});
    group.dataset("x_pixel_size", {1}, {1e-5});
    group.dataset("x", {6}, {0, 1, 2, 3, 4, 5});
    group.dataset("edges", {5}, {0, 1, 2, 3, 4});
    group.dataset("frame_number", {1}, {7});
    group.dataset("curve", {17}, std::vector<double>(17, 1));
    data.text("units", "rad");
  });
  EXPECT_EQ(read().notes, (std::vector{path_ + ":/data/phase: ignored: datasets Directions, Spacing, x_pixel_size"}));
}

TEST_F(Hdf5Programs, VeloxPutsFramesLast) {
  auto file = Hdf5Object::create_file(path_);
  auto image = file.group("Data").group("Image").group("7f");
  image.dataset("Data", {4, 3, 2}, make_phases());
  const auto refused = [&] { return error_of([&] { (void)read_field(path_ + ":/Data/Image/7f/Data:1"); }); };
  EXPECT_TRUE(refused().ends_with("float64 of shape {3, 2}")) << refused();
  image.dataset("Metadata", {4, 1}, {1, 2, 3, 4});
  EXPECT_EQ(refused(), path_ +
                           ":/Data/Image/7f/Data:1: expected arrays {frames, ny, nx}, got /Data/Image/7f/Data, "
                           "which is {4, 3, 2} float64, {ny, nx, frames} of Velox");
}

TEST_F(Hdf5Programs, IgorStatesUnitsOfTheWaveAndItsAxes) {
  const auto write_wave = [&](const std::string& unit, double scale, double dy, double dx) {
    write(
        [&](auto&, auto& data) {
          data.matrix("IGORWaveScaling", {3, 2}, {0, 0, dy, -1e-5, dx, 2e-5});
          data.texts("IGORWaveUnits", {unit, "m", "m"});
          data.number("IGORWaveType", 2, H5T_STD_I32LE);
        },
        scale);
  };
  write_wave("deg", std::numbers::pi / 180, 8e-6, 8e-6);
  const FieldFile field = read();
  expect_phases(field);
  EXPECT_EQ(field.notes, (std::vector{path_ + ":/data/phase: phases in deg, as the file states"}));
  EXPECT_EQ(field.metadata.at("pitch_m"), "8e-06");
  write_wave("", 1, 4e-6, 8e-6);
  EXPECT_EQ(read().notes, (std::vector{path_ + ":/data/phase: its pixels of 4 um x 8 um (height x width) are not "
                                               "square: taken as square",
                                       no_unit()}));
  write_wave("V", 1, 8e-6, 8e-6);
  EXPECT_MENTIONS(refusal(), "expected phases in rad, deg, mrad, waves or pi, as the file's unit, got 'V'");
}

TEST_F(Hdf5Programs, NwbHasAConversionAndAnOffset) {
  write([](auto&, auto& data) { data.number("conversion", 0.01); }, 0.01);
  expect_phases(read());
  EXPECT_EQ(
      read().notes,
      (std::vector{path_ + ":/data/phase: /data/phase is read times 0.01 plus 0 (conversion, offset)", no_unit()}));
  write(
      [](auto&, auto& data) {
        data.number("conversion", 0.5, H5T_IEEE_F32LE);
        data.number("offset", -0.25, H5T_IEEE_F32LE);
        data.text("unit", "rad");
      },
      0.5, -0.25);
  expect_phases(read());
  write([](auto&, auto& data) { data.number("conversion", std::nan("")); });
  EXPECT_MENTIONS(refusal(), "expected a finite conversion, got nan");
  for (const std::string name : {"slope", "Slope", "multiplier", "ScaleFactor"}) {
    write([&](auto&, auto& data) { data.number(name, 2); });
    EXPECT_MENTIONS(refusal(), "expected scale_factor or unitSI as the numbers' factor, got " + name + " 2");
  }
  write([](auto&, auto& data) { data.number("intercept", 3); });
  EXPECT_MENTIONS(refusal(), "expected add_offset as the numbers' offset, got intercept 3");
}

TEST_F(Hdf5Programs, NexusHasFieldsOfScaleAndOffset) {
  // corrected = (stored + offset) * scaling factor
  const auto add_fields = [](Hdf5Object& group, const std::string& scale, const std::string& offset) {
    group.text("signal", "phase");
    group.dataset(scale, {}, {0.01}, H5T_IEEE_F32LE);
    group.dataset(offset, {1}, {-5});
  };
  write([&](auto& group, auto&) { add_fields(group, "phase_scaling_factor", "phase_offset"); }, 0.01, -0.05);
  expect_phases(read());
  EXPECT_MENTIONS(read().notes.front(), "/data/phase is read times 0.01 plus -0.05 (scaling_factor, offset)");
  write([&](auto& group, auto&) { add_fields(group, "scaling_factor", "offset"); }, 0.01, -0.05);
  expect_phases(read());
  // Of another signal.
  write([](auto& group, auto&) {
    group.text("signal", "counts");
    group.dataset("scaling_factor", {1}, {0.01});
  });
  expect_phases(read());
  write([](auto& group, auto& data) {
    data.number("scale_factor", 2);
    group.dataset("phase_scaling_factor", {1}, {0.01});
  });
  EXPECT_MENTIONS(
      refusal(),
      "expected one scale and offset, got those of scale_factor or unitSI, add_offset, and a scaling_factor");
}

TEST_F(Hdf5Programs, CxiMayExchangeQuadrantsOrBeInAnotherSpace) {
  write([](auto& group, auto&) { group.dataset("is_fft_shifted", {}, {1}, H5T_STD_I32LE); });
  EXPECT_MENTIONS(refusal(), "expected a picture whose quadrants are in their places, got is_fft_shifted 1");
  for (const auto form : {hdf5_support::Text::variable, hdf5_support::Text::fixed}) {
    write([&](auto& group, auto&) { group.text_dataset("data_space", "diffraction", form); });
    EXPECT_MENTIONS(refusal(), "expected a picture in real space, got data_space 'diffraction'");
  }
  write([](auto& group, auto&) {
    group.dataset("is_fft_shifted", {}, {0}, H5T_STD_I32LE);
    group.text_dataset("data_space", "real");
  });
  expect_phases(read());
}

TEST_F(Hdf5Programs, ChunksThatWereNeverWrittenAreNamed) {
  const auto phases = make_phases();
  for (const bool has_fill : {false, true}) {
    {
      auto file = Hdf5Object::create_file(path_);
      file.group("data").chunked_dataset("phase", {4, 6}, {2, 3}, {0, 3}, {1, 2, 3, 4, 5, 6},
                                         has_fill ? std::optional(-1.0) : std::nullopt);
    }
    const FieldFile field = read(FieldContent::field);
    EXPECT_EQ(field.values(1, 5), 6.0F);
    EXPECT_EQ(field.values(3, 0), has_fill ? -1.0F : 0.0F);
    EXPECT_EQ(field.notes, (std::vector{fmt::format("{}:/data/phase: 3 of 4 chunks of /data/phase are not in the file: "
                                                    "read as {}",
                                                    path_, has_fill ? -1 : 0)}));
  }
}

TEST_F(Hdf5Programs, WhatIsNotFollowedIsNamed) {
  write([](auto& group, auto& data) {
    data.number("gain", 2);
    data.number("CalibrationFactor", 0.5);
    data.text("zunits", "nm");
    group.number("phase_offset", 3);
    group.dataset("phase_errors", {4, 6}, make_phases());
    group.dataset("phase_mask", {4, 6}, make_phases());
  });
  EXPECT_EQ(read().notes, (std::vector{path_ + ":/data/phase: ignored: attributes CalibrationFactor, gain, zunits, "
                                               "phase_offset; datasets phase_errors, phase_mask",
                                       no_unit()}));
  expect_phases(read());
  write([](auto& group, auto& data) {
    data.number("gain", 1);
    data.number("baseline", 0);
    data.text("title", "scale of a fish");
    data.text("description", "offset");
    data.number("wavelength_m", 5.32e-7);
    data.text("units", "rad");
    group.number("timeOffset", 3);
    group.text("NX_class", "NXdata");
    group.dataset("x", {6}, {0, 1, 2, 3, 4, 5});
  });
  EXPECT_EQ(read().notes, std::vector<std::string>());
}

TEST_F(Hdf5Programs, RisingYOfOpenPmdIsNamed) {
  const auto with_grid = [this](const std::vector<std::string>& labels, const std::vector<double>& spacing) {
    write([&](auto& group, auto& data) {
      group.texts("axisLabels", labels);
      group.numbers("gridSpacing", spacing);
      group.number("gridUnitSI", 1);
      group.numbers("gridUnitDimension", {1, 0, 0});
      data.text("units", "rad");
    });
    return read();
  };
  const std::string rises =
      path_ + ":/data/phase: its coordinates 'y' rise from row to row: the first row is read as the top";
  const FieldFile field = with_grid({"y", "x"}, {8e-6, 8e-6});
  EXPECT_EQ(field.notes, std::vector{rises});
  EXPECT_EQ(field.metadata.at("pitch_m"), "8e-06");
  expect_phases(field);
  EXPECT_TRUE(with_grid({"y", "x"}, {-8e-6, 8e-6}).notes.empty());
}

TEST_F(Hdf5Programs, FieldsOfFrequenciesAreRefused) {
  const auto refused = [&](const std::string& name, const std::string& value, bool of_group) {
    write([&](auto& group, auto& data) { (of_group ? group : data).text(name, value); });
    EXPECT_MENTIONS(refusal(), fmt::format("expected a field in space (spatialDomain r), got {} '{}'", name, value));
  };
  refused("spatialDomain", "k", true);
  refused("spatialDomain", "k", false);
  refused("spatialDomain", "other", true);
  refused("domain", "Fourier", false);
  refused("space", "reciprocal", false);
  write([](auto& group, auto& data) {
    group.text("spatialDomain", "r");
    group.text("temporalDomain", "frequency");
    data.text("colorSpace", "Q");
    data.text("units", "rad");
    data.number("_Netcdf4Dimid", 3);
    data.numbers("_Netcdf4Coordinates", {0, 1});
    group.number("nblocks", 2);
    group.number("ndim", 2);
  });
  EXPECT_EQ(read().notes, std::vector<std::string>());
}

TEST_F(Hdf5Programs, DamagedFilesEndTheChildAtMost) {
  write([](auto& group, auto& data) {
    data.matrix("IGORWaveScaling", {3, 2}, {0, 0, 1, 0, 1, 0});
    data.texts("IGORWaveUnits", {"deg", "m", "m"});
    group.dataset("phase_scaling_factor", {1}, {0.01});
    group.dataset("is_fft_shifted", {}, {0}, H5T_STD_I32LE);
    group.text_dataset("data_space", "real");
  });
  io_support::expect_guarded_survival("programs.h5", io_support::read_raw(path_), 700, {":/data/phase"},
                                      FieldContent::phase);
}

}  // namespace
}  // namespace holotone
#endif
