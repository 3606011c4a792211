// Real numbers read as fields, datasets and variables chosen by FILE:PART, files of MATLAB and Octave.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <tests/io/field_builders.hpp>
#include <tests/io/hdf5_fixtures.hpp>
#include <tests/io/matlab_fixtures.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/io/tiff_directory.hpp>
#include <tests/support/guarded_survival.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using field_builders::has_hdf5;
using field_builders::npy_field;
using io_support::bytes_of;
using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;

#define SKIP_WITHOUT_HDF5() \
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5"

bool has_matio() {
  const TemporaryFolder folder;
  write_raw(folder.file("x.mat"), matlab_fixtures::plain);
  try {
    (void)read_field(folder.file("x.mat"));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

using Value = std::complex<double>;

/// u of the fixtures.
Value stored(std::int64_t row, std::int64_t column) {
  return {static_cast<double>(10 * row + column), -(static_cast<double>(row) + 0.5)};
}

/// Expects {5, 3} values of a function of row and column, to float32's precision.
template <class Function>
void expect_values(const Array<std::complex<float>, 2>& values, const Function& expected) {
  ASSERT_EQ(values.shape(), (Shape<2>{5, 3}));
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 3; ++column) {
      const Value value = expected(row, column);
      EXPECT_NEAR(std::abs(Value(values(row, column)) - value), 0, 1e-6 * (1 + std::abs(value)))
          << row << " " << column;
    }
  }
}

std::string invalid(const std::string& path, const FieldReadOptions& options) {
  return error_of([&] { read_field(path, options); }, ErrorCode::invalid_argument);
}

TEST(FieldNumbers, RealNumbersHaveToBeNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  for (const std::string type : {"<f8", ">f8"}) {
    for (const bool fortran : {false, true}) {
      write_raw(path, npy_field(type, fortran, 5, 3));
      EXPECT_MENTIONS(error_of([&] { read_field(path); }),
                      "x.npy: expected complex numbers, or real ones that are read as phase, amplitude, intensity or "
                      "field, got float64 of shape {5, 3}");
      EXPECT_MENTIONS(error_of([&] { FieldRowsReader reader(path); }), "got float64 of shape {5, 3}");
      const auto real = [](std::int64_t row, std::int64_t column) { return stored(row, column).real(); };
      using enum FieldContent;
      expect_values(read_field(path, {.read = field}).values, [&](auto r, auto c) { return Value(real(r, c)); });
      expect_values(read_field(path, {.read = amplitude}).values, [&](auto r, auto c) { return Value(real(r, c)); });
      expect_values(read_field(path, {.read = intensity}).values,
                    [&](auto r, auto c) { return Value(std::sqrt(real(r, c))); });
      const FieldFile phases = read_field(path, {.read = phase});
      expect_values(phases.values, [&](auto r, auto c) { return std::polar(1.0, real(r, c)); });
      EXPECT_EQ(phases.notes, (std::vector{path + ": phases from 0 to 42, taken as radians"}));
      const FieldRowsReader rows(path, {}, {.read = phase});
      Array<std::complex<float>, 2> last({2, 3});
      rows.read(3, last.view());
      EXPECT_EQ(last(1, 2), phases.values(4, 2));
      EXPECT_EQ(rows.notes(), phases.notes);
    }
  }
}

TEST(FieldNumbers, PhasesKeepFloat64UntilTheyAreLight) {
  const TemporaryFolder folder;
  std::string bytes = npy_field("<f8", false, 1, 1);
  const double turns = 1e6 * 2 * 3.14159265358979323846 + 0.25;
  bytes.replace(bytes.size() - 8, 8, bytes_of(turns));
  write_raw(folder.file("x.npy"), bytes);
  const auto value = read_field(folder.file("x.npy"), {.read = FieldContent::phase}).values(0, 0);
  EXPECT_NEAR(std::arg(std::complex<double>(value)), 0.25, 1e-6);
}

TEST(FieldNumbers, PairsOfFiles) {
  const TemporaryFolder folder;
  const std::string real = folder.file("a.npy");
  const std::string other = folder.file("b.npy");
  write_raw(real, npy_field("<f8", false, 5, 3));
  write_raw(other, npy_field("<f8", true, 5, 3));
  const auto part = [](std::int64_t row, std::int64_t column) { return stored(row, column).real(); };
  using enum FieldContent;
  expect_values(read_field(real, {.imaginary_file = other}).values,
                [&](auto r, auto c) { return Value(part(r, c), part(r, c)); });
  expect_values(read_field(real, {.read = amplitude, .phase_file = other}).values,
                [&](auto r, auto c) { return std::polar(part(r, c), part(r, c)); });
  expect_values(read_field(real, {.read = intensity, .phase_file = other}).values,
                [&](auto r, auto c) { return std::polar(std::sqrt(part(r, c)), part(r, c)); });
  EXPECT_MENTIONS(invalid(real, {.phase_file = other}),
                  "read_field: read: expected amplitude or intensity with a phase_file, got none");
  EXPECT_MENTIONS(invalid(real, {.read = phase, .phase_file = other}), "got 'phase'");
  EXPECT_MENTIONS(invalid(real, {.read = phase, .imaginary_file = other}), "field with an imaginary_file, got 'phase'");
  EXPECT_MENTIONS(invalid(real, {.read = amplitude, .phase_file = other, .imaginary_file = other}),
                  "none beside a phase_file");
  write_raw(other, npy_field("<f8", false, 3, 5));
  EXPECT_MENTIONS(error_of([&] { read_field(real, {.imaginary_file = other}); }),
                  "b.npy: expected the {5, 3} of " + real + ", got {3, 5}");
  write_raw(other, npy_field("<c8", false, 5, 3));
  EXPECT_MENTIONS(error_of([&] { read_field(real, {.imaginary_file = other}); }),
                  "b.npy: expected real numbers, got complex ones");
  EXPECT_MENTIONS(error_of([&] { read_field(other, {.read = phase}); }),
                  "b.npy: expected real numbers, read as phase, got complex ones");
  EXPECT_EQ(read_field(other, {.read = field}).values.shape(), (Shape<2>{5, 3}));
}

TEST(FieldNumbers, WrongNumbersAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.npy");
  std::string bytes = npy_field("<f8", false, 5, 3);
  bytes.replace(bytes.size() - 16, 8, bytes_of(-0.5));
  write_raw(path, bytes);
  using enum FieldContent;
  EXPECT_MENTIONS(error_of([&] { read_field(path, {.read = amplitude}); }),
                  "x.npy: expected amplitudes of at least 0, got -0.5 at row 4, column 1");
  EXPECT_MENTIONS(error_of([&] { read_field(path, {.read = intensity}); }), "intensities of at least 0");
  bytes = npy_field("<f8", false, 5, 3);
  bytes.replace(bytes.find("<f8"), 3, "<i8");
  write_raw(path, bytes);
  EXPECT_MENTIONS(error_of([&] { read_field(path, {.read = phase}); }),
                  "x.npy: expected phases in radians as floating point numbers, got int64 numbers");
}

TEST(FieldNumbers, LogarithmsAreRefusedByName) {
  const TemporaryFolder folder;
  using enum FieldContent;
  for (const std::string name : {"amplitude_dB", "log10_intensity", "Power (dBm)"}) {
    const std::string path = folder.file(name + ".npy");
    write_raw(path, npy_field("<f8", false, 5, 3));
    for (const auto content : {amplitude, intensity, field}) {
      EXPECT_EQ(error_of([&] { read_field(path, {.read = content}); }),
                fmt::format("{}: expected numbers without dB or logarithm, got the name '{}'", path, name));
    }
  }
  for (const std::string name : {"amplitude", "log_2024", "photo_db", "catalogue_intensity", "ampoule"}) {
    const std::string path = folder.file(name + ".npy");
    write_raw(path, npy_field("<f8", false, 5, 3));
    EXPECT_EQ(read_field(path, {.read = amplitude}).values(4, 2), 42.0F) << name;
  }
}

TEST(FieldNumbers, AUnitInDecibelsOfATiffIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.tif");
  const std::string metadata =
      "<GDALMetadata>\n<Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">dB</Item>\n</GDALMetadata>";
  write_raw(path,
            io_fixtures::tiff_file({{1, 1, 32, 1, 1, {bytes_of(2.0F)}, {{339, 3, {3}}, {42112, 2, {}, metadata}}}}));
  try {
    (void)read_image(path);
  } catch (const Error&) {
    GTEST_SKIP() << "built without libtiff";
  }
  EXPECT_MENTIONS(error_of([&] { read_field(path, {.read = FieldContent::intensity}); }),
                  "p.tif: expected numbers without dB or logarithm, got text:unittype 'dB'");
}

TEST(FieldNumbers, FloatTiffAndCodes) {
  const TemporaryFolder folder;
  const std::string path = folder.file("p.tif");
  std::string pixels;
  for (int i = 0; i < 15; ++i) pixels += bytes_of(0.25F * static_cast<float>(i));
  write_raw(path, io_fixtures::tiff_of(3, 5, 1, 32, true, -1, pixels));
  std::string text;
  try {
    read_field(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported) GTEST_SKIP() << "built without libtiff";
    text = error.what();
  }
  EXPECT_MENTIONS(text, "p.tif: expected complex numbers, or real ones that are read as");
  expect_values(read_field(path, {.read = FieldContent::phase}).values,
                [](auto r, auto c) { return std::polar(1.0, 0.25 * static_cast<double>(3 * r + c)); });
  Array<std::uint8_t, 3> codes({1, 2, 1});
  codes.data()[0] = 0;
  codes.data()[1] = 255;
  write_image(folder.file("i.png"), {std::move(codes), {}});
  EXPECT_EQ(read_field(folder.file("i.png"), {.read = FieldContent::intensity}).values(0, 1), 1.0F);
  EXPECT_MENTIONS(error_of([&] { read_field(folder.file("i.png"), {.read = FieldContent::phase}); }),
                  "floating point numbers, got codes numbers");
  write_image(folder.file("c.png"), {Array<std::uint8_t, 3>({1, 1, 3}), {}});
  EXPECT_MENTIONS(error_of([&] { read_field(folder.file("c.png"), {.read = FieldContent::intensity}); }),
                  "a picture of one channel, got 3");
}

// HDF5 --------------------------------------------------------------------------------------------------------------

TEST(Hdf5Datasets, TheErrorListsThemAndAPartChooses) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  write_raw(path, matlab_fixtures::pairs);
  EXPECT_MENTIONS(error_of([&] { read_field(path); }),
                  "expected one array of shape {ny, nx}, or its name as FILE:NAME, got /g/amplitude {5, 3} float32, "
                  "/g/phase {5, 3} float64, /stack {2, 5, 3} complex64");
  expect_values(read_field(path + ":/stack:1").values, stored);
  expect_values(read_field(path + ":stack:2").values, [](auto r, auto c) { return -std::conj(stored(r, c)); });
  const FieldReadOptions pair{.read = FieldContent::amplitude, .phase_file = path + ":/g/phase"};
  expect_values(read_field(path + ":/g/amplitude", pair).values,
                [](auto r, auto c) { return std::polar(stored(r, c).real(), -stored(r, c).imag()); });
  for (const std::string& program : {std::string(), guarded_program()}) {
    const FieldRowsReader rows(path + ":/stack:2", program);
    Array<std::complex<float>, 2> two({2, 3});
    rows.read(2, two.view());
    EXPECT_EQ(two(1, 2), std::complex<float>(-32, -3.5F));
    EXPECT_EQ(read_field_guarded(path + ":/g/amplitude", guarded_program(), {}, pair).values(4, 2),
              read_field(path + ":/g/amplitude", pair).values(4, 2));
  }
  const auto refused = [&](const std::string& part) { return error_of([&] { read_field(path + ":" + part); }); };
  EXPECT_MENTIONS(refused("/stack"),
                  "expected one of the arrays, /stack:1 to /stack:2, got /stack, which is {2, 5, 3}");
  EXPECT_MENTIONS(refused("/stack:3"), "expected one of the arrays 1 to 2 as the part, got '3'");
  EXPECT_MENTIONS(refused("/g/phase:1"), "expected an array of shape {ny, nx}, got /g/phase, which is {5, 3} float64");
  EXPECT_MENTIONS(refused("/nowhere"), "expected the name of an array in the file as the part, got '/nowhere'; the ");
  EXPECT_MENTIONS(refused("/g/phase"), "or real ones that are read as");
}

TEST(Hdf5Datasets, MatlabStoresDimensionsReversed) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  const std::string path = folder.file("m.mat");
  write_raw(path, matlab_fixtures::matlab73);
  const FieldFile field = read_field(path);  // the only complex one
  expect_values(field.values, stored);
  EXPECT_EQ(field.notes, (std::vector{path + ":/u is read; " + path +
                                          " also has /A {5, 3} float64, /P {5, 3} float32, /stack {2, 5, 3} float64",
                                      path + ": MATLAB stores dimensions reversed: /u is read as 5 x 3 (rows x "
                                             "columns)"}));
  EXPECT_TRUE(field.metadata.empty());
  for (const std::string& program : {std::string(), guarded_program()}) {
    const FieldRowsReader rows(path, program);
    EXPECT_EQ(rows.notes(), field.notes);
    Array<std::complex<float>, 2> two({2, 3});
    rows.read(1, two.view());
    EXPECT_EQ(two(1, 1), std::complex<float>(21, -2.5F));
  }
  const FieldReadOptions as_field{.read = FieldContent::field};
  expect_values(read_field(path + ":A", {.imaginary_file = path + ":/P"}).values,
                [](auto r, auto c) { return std::conj(stored(r, c)); });
  expect_values(read_field(path + ":stack:2", as_field).values,  // stack(:, :, 2)
                [](auto r, auto c) { return Value(100 + stored(r, c).real()); });
  EXPECT_MENTIONS(error_of([&] { read_field(path + ":s"); }), "expected an array of numbers, got /s, which is {1, 2} ");
  write_raw(folder.file("m.h5"), matlab_fixtures::matlab73);  // a user block before the signature
  EXPECT_TRUE(is_hdf5(folder.file("m.h5")));
  std::filesystem::rename(folder.file("m.h5"), folder.file("m"));
  EXPECT_TRUE(is_hdf5(folder.file("m")));
}

TEST(Hdf5Datasets, OctaveStoresDimensionsReversed) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  const std::string path = folder.file("o.h5");
  write_raw(path, matlab_fixtures::octave);
  const FieldFile field = read_field(path);
  expect_values(field.values, stored);
  EXPECT_EQ(field.notes.front(), path + ": Octave stores dimensions reversed: /u is read as 5 x 3 (rows x columns)");
  expect_values(read_field(path + ":u").values, stored);
  Array<std::complex<float>, 2> row({1, 3});
  FieldRowsReader(path, guarded_program()).read(4, row.view());
  EXPECT_EQ(row(0, 2), std::complex<float>(42, -4.5F));
}

TEST(Hdf5Datasets, AttributesSayWhatTheNumbersAre) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  const std::string path = folder.file("m.h5");
  write_raw(path, hdf5_fixtures::meaning);
  const FieldReadOptions as_phase{.read = FieldContent::phase};
  const auto v = [](std::int64_t row, std::int64_t column) { return stored(row, column).real(); };
  const auto phases = [&](const std::string& name, double scale, double offset, const std::string& note) {
    const std::string file = path + ":/" + name;
    for (const FieldFile& field :
         {read_field(file, as_phase), read_field_guarded(file, guarded_program(), {}, as_phase)}) {
      expect_values(field.values, [&](auto r, auto c) { return std::polar(1.0, scale * v(r, c) + offset); });
      EXPECT_EQ(field.notes, (std::vector{fmt::format("{}: {}", file, note)}));
      EXPECT_TRUE(field.metadata.empty());
    }
  };
  constexpr double degree = 0.017453292519943295;
  phases("degrees", degree, 0, "phases in degrees, as the file states");
  phases("whole", 1e-3, 0, "phases in mrad, as the file states");
  phases("packed", 0.5, -1, "/packed is read times 0.5 plus -1 (scale_factor or unitSI, add_offset)");
  expect_values(read_field(path + ":degrees", {.read = FieldContent::amplitude, .phase_file = path + ":whole"}).values,
                [&](auto r, auto c) { return std::polar(v(r, c), 1e-3 * v(r, c)); });
  expect_values(read_field(path + ":packed", {.read = FieldContent::field}).values,
                [&](auto r, auto c) { return Value(0.5 * v(r, c) - 1); });
  EXPECT_EQ(read_field(path + ":metres", {.read = FieldContent::field}).metadata, (Metadata{{"units", "m"}}));
  const auto refused = [&](const std::string& name) {
    return error_of([&] { read_field(path + ":" + name, as_phase); });
  };
  EXPECT_MENTIONS(refused("metres"), "phases in rad, deg, mrad, waves or pi, as the file's unit, got 'm'");
  EXPECT_MENTIONS(refused("gaps"), "a number at every place, got 1 of 15 missing (_FillValue or missing_value -9)");
  EXPECT_MENTIONS(refused("range"), "stored numbers of the valid range, 0 to 41, got 1 of 15 outside");
  EXPECT_MENTIONS(refused("bytes"), "unsigned numbers as an unsigned type, got int8 with the attribute _Unsigned");
  EXPECT_MENTIONS(refused("times"), "complex numbers without scale_factor or unitSI, add_offset, got 2 and 0");
  EXPECT_MENTIONS(refused("other"), "UL, LL, UR or LR as DISPLAY_ORIGIN, got 'CC'");
  EXPECT_MENTIONS(refused("stack:1"), "dimensions n, y, x, got y, x, n");
}

TEST(Hdf5Datasets, NamesOfDimensionsAndTheOriginTurnThem) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  const std::string path = folder.file("m.h5");
  write_raw(path, hdf5_fixtures::meaning);
  const std::vector<std::pair<std::string, std::string>> complex{
      {"scaled", "dimensions named 'x', 'y': /scaled is read as 5 x 3 (rows x columns)"},
      {"lower", "/lower is read from its DISPLAY_ORIGIN, lower left"}};
  for (const auto& [name, note] : complex) {
    const std::string file = fmt::format("{}:{}", path, name);
    const FieldFile field = read_field(file);
    expect_values(field.values, stored);
    EXPECT_EQ(field.notes, (std::vector{fmt::format("{}: {}", file, note)}));
    EXPECT_EQ(field.metadata.count("DISPLAY_ORIGIN"), 0U);  // else a copy of the field would be turned again
    for (const std::string& program : {std::string(), guarded_program()}) {
      const FieldRowsReader rows(file, program);
      EXPECT_EQ(rows.notes(), field.notes);
      Array<std::complex<float>, 2> two({2, 3});
      for (const std::int64_t first : {0, 1, 3}) {
        rows.read(first, two.view());
        for (std::int64_t i = 0; i < 6; ++i) {
          EXPECT_EQ(two(i / 3, i % 3), std::complex<float>(stored(first + i / 3, i % 3))) << name << first;
        }
      }
    }
  }
  const FieldReadOptions as_field{.read = FieldContent::field};
  for (const char* name : {"labelled", "right"}) {
    expect_values(read_field(path + ":" + name, as_field).values,
                  [](auto r, auto c) { return Value(stored(r, c).real()); });
  }
}

TEST(FieldUnits, OfPhases) {
  constexpr double pi = 3.14159265358979323846;
  const std::vector<std::pair<std::string, double>> units{
      {"rad", 1},     {" Radians ", 1},    {"1", 1},          {"deg", pi / 180},  {"\u00B0", pi / 180},
      {"mrad", 1e-3}, {"\u00B5rad", 1e-6}, {"Waves", 2 * pi}, {"cycles", 2 * pi}, {"2 pi rad", 2 * pi},
      {"\u03C0", pi}};
  for (const auto& [unit, rad] : units) EXPECT_NEAR(io::parse_phase_unit(unit).value_or(0), rad, 1e-15) << unit;
  for (const char* unit : {"", "m", "nm", "a.u.", "rad/s", "degC"}) EXPECT_FALSE(io::parse_phase_unit(unit)) << unit;
}

// MATLAB 5 ----------------------------------------------------------------------------------------------------------

TEST(Matlab5, VariablesAreReadByMatio) {
  const TemporaryFolder folder;
  const std::string path = folder.file("v.mat");
  write_raw(path, matlab_fixtures::plain);
  if (!has_matio()) {
    EXPECT_MENTIONS(error_of([&] { read_field(path); }, ErrorCode::unsupported), "a MATLAB 5 file; save with -v7.3");
    return;
  }
  for (const auto& bytes : {matlab_fixtures::plain, matlab_fixtures::packed}) {
    write_raw(path, bytes);
    for (const std::string name : {"", ":u"}) {
      expect_values(read_field(path + name).values, stored);
      expect_values(read_field_guarded(path + name, guarded_program()).values, stored);
    }
    ASSERT_EQ(read_field(path).notes.size(), 1U);
    EXPECT_MENTIONS(read_field(path).notes.front(), ":u is read; " + path + " also has ");
    EXPECT_TRUE(read_field(path + ":u").notes.empty());
    Array<std::complex<float>, 2> row({1, 3});
    FieldRowsReader(path, guarded_program()).read(4, row.view());
    EXPECT_EQ(row(0, 2), std::complex<float>(42, -4.5F));
    expect_values(read_field(path + ":A", {.imaginary_file = path + ":P"}).values,
                  [](auto r, auto c) { return std::conj(stored(r, c)); });
    const FieldReadOptions as_field{.read = FieldContent::field};
    const auto real = [](auto r, auto c) { return Value(stored(r, c).real()); };
    expect_values(read_field(path + ":k", as_field).values, real);
    expect_values(read_field(path + ":stack:2", as_field).values, [&](auto r, auto c) { return 100.0 + real(r, c); });
    EXPECT_MENTIONS(error_of([&] { read_field(path + ":k", {.read = FieldContent::phase}); }), "got uint8 numbers");
    EXPECT_MENTIONS(error_of([&] { read_field(path + ":s"); }), "expected an array of numbers, got s, which is");
    EXPECT_MENTIONS(error_of([&] { read_field(path + ":no"); }),
                    "got 'no'; the file has u {5, 3} complex float64, A {5, 3} float64, P {5, 3} float32, k {5, 3} "
                    "uint8, stack {2, 5, 3} float64");
  }
}

TEST(Matlab5, OtherFilesOfMatlabAndOctaveAreNamed) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& bytes) {
    write_raw(folder.file("x.mat"), bytes);
    std::string text = error_of([&] { read_field(folder.file("x.mat")); });
    EXPECT_EQ(error_of([&] { read_field_guarded(folder.file("x.mat"), guarded_program()); }), text);
    EXPECT_EQ(error_of([&] { FieldRowsReader(folder.file("x.mat"), guarded_program()); }), text);
    return text;
  };
  EXPECT_MENTIONS(refused(matlab_fixtures::level4), "got a MATLAB 4 file; save with -v7.3");
  EXPECT_MENTIONS(refused("# Created by Octave 7.3.0, Mon Jan 01 00:00:00 2024 UTC\n# name: u\n"),
                  "got a text file of Octave; save with -v7 or -hdf5");
  EXPECT_MENTIONS(refused(std::string("Octave-1-L\0\1\0\0\0u", 16)),
                  "got a binary file of Octave; save with -v7 or -hdf5");
  if (has_hdf5()) {
    EXPECT_MENTIONS(refused("   1.0000000e+00   2.0000000e+00\n"), "expected an HDF5 file");
  }
}

TEST(FieldNumbersBadInput, DamagedFilesEndTheChildAtMost) {
  SKIP_WITHOUT_HDF5();
  using io_support::expect_guarded_survival;
  expect_guarded_survival("m.mat", matlab_fixtures::matlab73, 500, {""}, FieldContent::field);
  expect_guarded_survival("o.h5", matlab_fixtures::octave, 500, {""}, FieldContent::field);
  expect_guarded_survival("a.h5", hdf5_fixtures::meaning, 800, {":degrees", ":packed", ":labelled", ":right"},
                          FieldContent::phase);
  expect_guarded_survival("s.h5", hdf5_fixtures::meaning, 200, {":scaled"}, FieldContent::field);
}

TEST(FieldNumbersBadInput, DamagedMatlab5FilesEndTheChildAtMost) {
  if (!has_matio()) GTEST_SKIP() << "built without matio";
  using io_support::expect_guarded_survival;
  expect_guarded_survival("v.mat", matlab_fixtures::plain, 1000, {""}, FieldContent::field);
  expect_guarded_survival("p.mat", matlab_fixtures::packed, 1000, {""}, FieldContent::field);
}

TEST(FieldNumbersBadInput, DamagedArraysAndPicturesAreRefused) {
  const auto read = [](const std::string& path) { (void)read_field(path, {.read = FieldContent::intensity}); };
  io_support::expect_survival("x.npy", npy_field("<f8", true, 3, 5), "x.npy", 2000, read);
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), io_fixtures::tiff_of(1, 1, 1, 32, true, -1, "abcd"));
  try {
    (void)read_image(folder.file("x.tif"));
  } catch (const Error&) {
    return;  // built without libtiff
  }
  io_support::expect_survival("x.tif", io_fixtures::tiff_of(3, 2, 1, 32, true, -1, std::string(24, '\x3e')), "x.tif",
                              2000, read);
}

TEST(GuardedDump, NumbersAndNotesRoundTrip) {
  io::FieldNumbers numbers;
  numbers.real = Array<double, 2>({1, 2});
  numbers.real.data()[0] = 0.5;
  numbers.real.data()[1] = -3;
  numbers.type = "uint8";
  numbers.whole = true;
  numbers.metadata = {{"a", "b"}};
  numbers.notes = {"one", "two\nlines"};
  const std::string dump = io::dump_numbers(numbers);
  const auto back = io::parse_numbers(dump, "x");
  EXPECT_EQ(back.real(0, 1), -3);
  EXPECT_EQ(back.type, "uint8");
  EXPECT_TRUE(back.whole && back.values.empty());
  EXPECT_EQ(back.metadata, numbers.metadata);
  EXPECT_EQ(back.notes, (std::vector<std::string>{"one", "two lines"}));
  for (std::size_t size = 0; size < dump.size(); ++size) {
    EXPECT_THROW(io::parse_numbers(dump.substr(0, size), "x"), Error) << size;
  }
  io_support::expect_survival("numbers", dump, ".dump", 2000, [](const std::string& path) {
    (void)io::parse_numbers(io_support::read_raw(path), path);
  });
}

}  // namespace
}  // namespace holotone
