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
using field_builders::OhcKind;
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

TEST(FieldOhc, LayoutsCodesAndTypes) {
  const TemporaryFolder folder;
  const double pi = std::numbers::pi;
  for (const OhcKind kind : {OhcKind::aligned, OhcKind::packed, OhcKind::former}) {
    for (const std::uint8_t type : {std::uint8_t{9}, std::uint8_t{10}}) {
      for (const std::uint8_t arrangement : {std::uint8_t{1}, std::uint8_t{2}}) {
        // 1 + 2i and 3 + 4i, then 2 at a quarter of a turn and 3 at half a turn.
        const bool planes = kind != OhcKind::former;
        const std::vector<double> parts = planes ? std::vector<double>{1, 3, 2, 4} : std::vector<double>{1, 2, 3, 4};
        const std::vector<double> polar =
            planes ? std::vector<double>{2, 3, pi / 2, pi} : std::vector<double>{2, pi / 2, 3, pi};
        OhcOptions options = {.type = type, .code = 2, .kind = kind, .arrangement = arrangement};
        write_raw(folder.file("x.ohc"), ohc_file(2, 1, parts, options));
        const FieldFile field = read_field(folder.file("x.ohc"));
        ASSERT_EQ(field.values.shape(), (Shape<2>{1, 2}));
        EXPECT_EQ(field.values(0, 0), (std::complex<float>{1, 2}));
        EXPECT_EQ(field.values(0, 1), (std::complex<float>{3, 4}));
        EXPECT_EQ(field.metadata.at("wavelength_m"), fmt::format("{}", 532 * 1e-9));
        EXPECT_EQ(field.metadata.at("pitch_m"), fmt::format("{}", 8 * 1e-6));
        options.code = 1;
        write_raw(folder.file("x.ohc"), ohc_file(2, 1, polar, options));
        const FieldFile turned = read_field(folder.file("x.ohc"));
        EXPECT_LT(std::abs(turned.values(0, 0) - std::complex<float>{0, 2}), 1e-6f);
        EXPECT_LT(std::abs(turned.values(0, 1) - std::complex<float>{-3, 0}), 1e-6f);
      }
    }
  }
}

TEST(FieldOhc, RowsLieOneAfterAnother) {
  const TemporaryFolder folder;
  // Two rows of three: real parts 10 row + column, imaginary ones their negatives.
  write_raw(folder.file("x.ohc"), ohc_file(3, 2, {0, 1, 2, 10, 11, 12, 0, -1, -2, -10, -11, -12}, {.type = 10}));
  const FieldFile field = read_field(folder.file("x.ohc"));
  ASSERT_EQ(field.values.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(field.values(1, 2), (std::complex<float>{12, -12}));
  EXPECT_EQ(field.values(0, 1), (std::complex<float>{1, -1}));
}

// What is written is what OpenHolo's structures are on x86-64, number by number.
TEST(FieldOhc, WritesTheLayoutOfOpenHolo) {
  const TemporaryFolder folder;
  FieldFile field = make_field({2, 3});
  field.metadata = {{"wavelength_m", "5.32e-07"}, {"pitch_m", "8e-06"}};
  write_field(folder.file("x.ohc"), field);
  const std::string bytes = read_raw(folder.file("x.ohc"));
  ASSERT_EQ(bytes.size(), 32u + 80 + 8 + 2 * 6 * 4);
  const auto at = [&](std::size_t position, std::string_view expected) {
    EXPECT_EQ(bytes.substr(position, expected.size()), expected) << position;
  };
  at(8, bytes_of(std::uint64_t{bytes.size()}));
  at(28, bytes_of(std::uint32_t{120}));                             // fileOffBytes
  at(32, bytes_of(std::uint32_t{88}));                              // headerSize
  at(36, bytes_of(std::uint32_t{3}) + bytes_of(std::uint32_t{2}));  // pxNumX, pxNumY
  at(48, bytes_of(8e-6) + bytes_of(8e-6) + "\x01");                 // pxPitchX, pxPitchY, pitchUnit
  at(68,
     bytes_of(std::uint32_t{1}) + "\x02\x02\x01\x09\x01\x02" + bytes_of(std::uint8_t{0}));  // wavlenNum to bPhaseCode
  at(80, bytes_of(-1.0) + bytes_of(1.0) + bytes_of(std::uint64_t{48}) +
             bytes_of(std::uint8_t{0}));  // phaseCodeMin to comprsType
  at(112, bytes_of(5.32e-7));
  for (std::size_t i = 0; i < 6; ++i) {
    const auto value = field.values.host()[i];
    at(120 + 4 * i, bytes_of(value.real()));
    at(144 + 4 * i, bytes_of(value.imag()));
  }
}

TEST(FieldOhc, PitchThatIsNotStated) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.ohc"), ohc_file(2, 1, {1, 2, 3, 4}, {.pitch_unit = 0, .pitch_x = -1, .pitch_y = -1}));
  EXPECT_EQ(read_field(folder.file("x.ohc")).metadata.count("pitch_m"), 0u);
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
  const std::uint32_t before = 0xffffffff - 49;
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.offset_added = before}), "x.ohc"), "an offset of 70");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.offset_added = 4000000000}), "x.ohc"), "got bytes for 0");
  EXPECT_MENTIONS(refusal(ohc_file(2, 1, four, {.bytes_added = 8}), "x.ohc"), "field size 16, got 24");
}

TEST(FieldBadInput, OhcKindsOfOtherMeaning) {
  for (const OhcKind kind : {OhcKind::aligned, OhcKind::packed, OhcKind::former}) {
    const auto expect_refusal = [&](OhcOptions options, std::string_view message) {
      options.kind = kind;
      EXPECT_MENTIONS(refusal(ohc_file(2, 1, {1, 2, 3, 4}, options), "x.ohc"), std::string(message));
    };
    expect_refusal({.wavelengths = 3}, "number of wavelengths 1, got 3");
    expect_refusal({.type = 11}, "got type 11 (pictures)");
    expect_refusal({.type = 2}, "got type 2 (int16)");
    expect_refusal({.type = 99}, "got type 99");
    expect_refusal({.code = 3}, "got code 3 (amplitude alone)");
    expect_refusal({.code = 4}, "got code 4 (phase alone)");
    expect_refusal({.phase_coded = 1}, "phase code 0, got 1");
    expect_refusal({.pitch_unit = 6}, "of the pitch, got 6");
    expect_refusal({.pitch_unit = 0}, "of the pitch, got 0");
    expect_refusal({.pitch_y = 4}, "square pixels (pxPitchX = pxPitchY), got 8e-06 m x 4e-06 m");
    expect_refusal({.wavelength_unit = 0}, "of the wavelength, got 0");
    expect_refusal({.colours = 3}, "colour type 0 to 2, got 3");
    expect_refusal({.arrangement = 0}, "colour arrangement 1 or 2 (by pixel or by plane), got 0");
    expect_refusal({.store = 2}, "field store 1, got 2");
    expect_refusal({.compression = 4}, "compression 0, got 4");
    expect_refusal({.size_added = 4}, "binary headers of 32 + 80 or 24 + 65 bytes, got a field header of");
  }
  const std::string text =
      "OH\n1000\n1\n0\n0\n0\n120\n88\n16\n8\n8e-06\n8e-06\n1\n1\n2\n2\n1\n10\n1\n2\n0\n-1\n1\n2048\n0\n";
  EXPECT_MENTIONS(refusal(text, "x.ohc"), "got the text of another version of OpenHolo");
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
  expect_truncations_refused(npy, "x.npy", true, read);
  expect_survival("x.npy", npy, "x.npy", 200, read);
  for (const OhcKind kind : {OhcKind::aligned, OhcKind::packed, OhcKind::former}) {
    const std::string ohc = ohc_file(2, 2, {1, 2, 3, 4, 5, 6, 7, 8}, {.type = 10, .code = 1, .kind = kind});
    expect_truncations_refused(ohc, "x.ohc", true, read);
    expect_survival("x.ohc", ohc, "x.ohc", 2000, read);
  }
}

}  // namespace
}  // namespace holotone
