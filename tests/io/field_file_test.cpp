#include <cmath>
#include <complex>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/fields/field_file.hpp>
#include <numbers>
#include <tests/io/field_builders.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using field_builders::has_hdf5;
using field_builders::make_field;
using field_builders::ohc_file;
using field_builders::OhcOptions;
using io_support::bytes_of;
using io_support::error_of;
using io_support::expect_survival;
using io_support::expect_truncations_refused;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

#define SKIP_WITHOUT_HDF5() \
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5"

const Metadata metadata = {{"wavelength_m", "5.32e-07"},   {"pitch_m", "8e-06"},
                           {"distance_m", "-0.2"},         {"encoding", "complex"},
                           {"software", "0.10"},           {"seed", "18446744073709551615"},
                           {"note", "gr\xc3\xbc\xc3\x9f"}, {"reference_angle_x_rad", "0"}};

void expect_same(const FieldFile& got, const FieldFile& expected) {
  ASSERT_EQ(got.values.shape(), expected.values.shape());
  EXPECT_EQ(std::memcmp(got.values.data(), expected.values.data(), expected.values.bytes()), 0);
}

TEST(FieldFile, RoundTripsExactly) {
  const TemporaryFolder folder;
  for (const std::string name : {"x.h5", "x.hdf5", "x.npy", "x.ohc", "x.NPY"}) {
    if (name.find('h') == 2 && name != "x.ohc" && !has_hdf5()) continue;
    for (const Shape<2> shape : {Shape<2>{13, 37}, Shape<2>{1, 1}, Shape<2>{64, 3}}) {
      FieldFile field = make_field(shape);
      field.metadata = {{"wavelength_m", "5.32e-07"}, {"pitch_m", "8e-06"}};
      write_field(folder.file(name), field);
      const FieldFile back = read_field(folder.file(name));
      expect_same(back, field);
      EXPECT_EQ(back.metadata, name == "x.npy" || name == "x.NPY" ? Metadata{} : field.metadata) << name;
    }
  }
}

TEST(FieldHdf5, MetadataRoundTrips) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  FieldFile field = make_field({3, 5});
  field.metadata = metadata;
  field.metadata["level_phase_rad"] = std::string(1500000, '7');  // the table of a 16-bit modulator
  write_field(folder.file("x.h5"), field);
  EXPECT_EQ(read_field(folder.file("x.h5")).metadata, field.metadata);
  // Numbers are stored as such: the text is not in the file.
  EXPECT_EQ(read_raw(folder.file("x.h5")).find("5.32e-07"), std::string::npos);
  EXPECT_NE(read_raw(folder.file("x.h5")).find(bytes_of(5.32e-7)), std::string::npos);
}

TEST(FieldHdf5, RewritingReplacesAndLeavesNoTemporary) {
  SKIP_WITHOUT_HDF5();
  const TemporaryFolder folder;
  write_field(folder.file("x.h5"), make_field({3, 5}));
  const FieldFile second = make_field({4, 2});
  write_field(folder.file("x.h5"), second);
  expect_same(read_field(folder.file("x.h5")), second);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"x.h5"});
}

TEST(FieldNpy, TypesAndOrders) {
  const TemporaryFolder folder;
  for (const std::string type : {"<c8", ">c8", "<c16", ">c16"}) {
    for (const bool fortran : {false, true}) {
      write_raw(folder.file("x.npy"), field_builders::npy_field(type, fortran, 2, 3));
      const FieldFile field = read_field(folder.file("x.npy"));
      ASSERT_EQ(field.values.shape(), (Shape<2>{2, 3}));
      // Entry (row, column) is (10 row + column) - i (row + 0.5).
      EXPECT_EQ(field.values(1, 2), (std::complex<float>{12, -1.5f})) << type << fortran;
      EXPECT_EQ(field.values(0, 1), (std::complex<float>{1, -0.5f})) << type << fortran;
    }
  }
}

TEST(FieldOhc, AmplitudeAndPhaseUnitsAndDoubles) {
  const TemporaryFolder folder;
  const double pi = std::numbers::pi;
  struct Case {
    OhcOptions options;
    std::vector<double> numbers;
    std::vector<std::complex<float>> expected;
  };
  const std::vector<Case> cases = {
      {{.type = 9, .code = 2}, {1, 2, 3, 4}, {{1, 2}, {3, 4}}},
      {{.type = 10, .code = 2}, {1, 2, 3, 4}, {{1, 2}, {3, 4}}},
      {{.type = 10, .code = 1}, {2, pi / 2, 3, pi}, {{0, 2}, {-3, 0}}},
      {{.type = 10, .code = 1, .phase_coded = 1, .phase_max = 255}, {2, 63.75, 3, 127.5}, {{0, 2}, {-3, 0}}},
  };
  for (const auto& one : cases) {
    write_raw(folder.file("x.ohc"), ohc_file(2, 1, one.numbers, one.options));
    const FieldFile field = read_field(folder.file("x.ohc"));
    ASSERT_EQ(field.values.shape(), (Shape<2>{1, 2}));
    for (std::int64_t i = 0; i < 2; ++i) {
      EXPECT_LT(std::abs(field.values(0, i) - one.expected[static_cast<std::size_t>(i)]), 1e-6f);
    }
    EXPECT_EQ(field.metadata.at("wavelength_m"), fmt::format("{}", 532 * 1e-9));
    EXPECT_EQ(field.metadata.at("pitch_m"), fmt::format("{}", 8 * 1e-6));
  }
  write_raw(folder.file("x.ohc"), ohc_file(2, 1, {1, 2, 3, 4}, {.pitch_y = 4}));
  try {
    read_field(folder.file("x.ohc"));
    ADD_FAILURE() << "pixels that are not square are read";
  } catch (const Error& error) {
    EXPECT_MENTIONS(std::string(error.what()), "square pixels (pxPitchX = pxPitchY), got 8e-06 m x 4e-06 m");
  }
}

TEST(FieldFile, ArgumentsThatCannotBeWritten) {
  const TemporaryFolder folder;
  const FieldFile field = make_field({2, 2});
  constexpr auto code = ErrorCode::invalid_argument;
  EXPECT_MENTIONS(error_of([&] { write_field(folder.file("x.npy"), {}); }, code), "empty field");
  EXPECT_MENTIONS(error_of([&] { write_field(folder.file("x.ohc"), field); }, code), "wavelength_m");
  EXPECT_MENTIONS(error_of([&] { write_field(folder.file("x.png"), field); }, ErrorCode::unsupported), ".png");
  EXPECT_MENTIONS(error_of([&] { write_field(folder.file("absent/x.npy"), field); }), folder.file("absent"));
  EXPECT_TRUE(folder.names().empty());
  EXPECT_TRUE(is_field_name("a/b.H5"));
  EXPECT_FALSE(is_field_name("a/b.png"));
}

// Bad input ---------------------------------------------------------------------------------------------------------

std::string refusal(const std::string& bytes, const std::string& name) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  std::string text = error_of([&] { read_field(folder.file(name)); });
  EXPECT_TRUE(text.starts_with(folder.file(name) + ": expected ")) << text;
  return text;
}

TEST(FieldBadInput, MissingEmptyGarbage) {
  const TemporaryFolder folder;
  for (const std::string name : {"absent.h5", "absent.npy", "absent.ohc", "absent"}) {
    if (name == "absent.h5" && !has_hdf5()) continue;
    EXPECT_MENTIONS(error_of([&] { read_field(folder.file(name)); }), "got none");
    EXPECT_MENTIONS(refusal("", name), "an empty file");
    EXPECT_MENTIONS(refusal("garbage \x01\x02\xff and so on", name), "expected");
  }
}

TEST(FieldBadInput, OhcCounts) {
  const std::vector<double> four = {1, 2, 3, 4};
  EXPECT_MENTIONS(refusal(ohc_file(3, 1, four, {}), "x.ohc"), "3 values of shape {1, 3}, got bytes for 2");
  EXPECT_MENTIONS(refusal(ohc_file(1, 1, four, {}), "x.ohc"), "1 values of shape {1, 1}, got bytes for 2");
  EXPECT_MENTIONS(refusal(ohc_file(0xffffffff, 0xffffffff, four, {}), "x.ohc"), "got bytes for 2");
  EXPECT_MENTIONS(refusal(ohc_file(0, 0, {}, {}), "x.ohc"), "shape {0, 0}");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.wavelengths = 3}), "x.ohc"), "number of wavelengths 1, got 3");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.type = 11}), "x.ohc"), "got type 11");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.code = 3}), "x.ohc"), "got code 3");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.pitch_unit = 6}), "x.ohc"), "got 6");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.offset = 50}), "x.ohc"), "an offset of 50");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.offset = 4000000000}), "x.ohc"), "got bytes for 0");
}

TEST(FieldBadInput, NpyKinds) {
  EXPECT_MENTIONS(refusal(field_builders::npy_field("<f8", false, 2, 3), "x.npy"), "got float64 of shape {2, 3}");
  std::string bytes = field_builders::npy_field("<c8", false, 2, 3);
  bytes.replace(bytes.find("(2, 3)"), 6, "(0, 3)");
  EXPECT_MENTIONS(refusal(bytes, "x.npy"), "0 bytes of data");
  EXPECT_MENTIONS(refusal(field_builders::npy_field("<c8", false, 0, 3), "x.npy"), "shape {0, 3}");
}

const auto read = [](const std::string& path) { read_field(path); };

TEST(FieldBadInput, NpyAndOhcTruncatedOrMutated) {
  const std::string npy = field_builders::npy_field(">c16", true, 3, 5);
  const std::string ohc = ohc_file(2, 2, {1, 2, 3, 4, 5, 6, 7, 8}, {.type = 10, .code = 1});
  for (const auto& [name, bytes] : {std::pair{"x.npy", npy}, std::pair{"x.ohc", ohc}}) {
    expect_truncations_refused(bytes, name, true, read);
    expect_survival(name, bytes, name, 200, read);
  }
}

}  // namespace
}  // namespace holotone
