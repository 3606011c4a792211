// Fields read by rows: values equal to reading at once, and no data from damaged files.
#include <complex>
#include <filesystem>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <tests/io/hdf5_fixtures.hpp>
#include <tests/io/row_builders.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using field_builders::has_hdf5;
using field_builders::make_field;
using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;
using row_builders::expect_same;
using row_builders::formats;
using row_builders::read_by_rows;

TEST(FieldRowsReader, EveryLayoutGivesWhatReadFieldGives) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string type : {"<c8", ">c8", "<c16", ">c16"}) {
    for (const bool fortran : {false, true}) {
      files.emplace_back(type + (fortran ? " columns first" : ""), field_builders::npy_field(type, fortran, 5, 3));
    }
  }
  files.emplace_back("ohc", field_builders::ohc_file(3, 5, std::vector<double>(30, 0.25), {}));
  if (has_hdf5()) {
    files.insert(
        files.end(),
        {{"chunked.h5", hdf5_fixtures::chunked}, {"wide.h5", hdf5_fixtures::wide}, {"block.h5", hdf5_fixtures::block}});
  }
  for (const auto& [name, bytes] : files) {
    const std::string path = folder.file(name.ends_with(".h5") ? "x.h5" : "x");  // a user block hides the file's
                                                                                 // signature
    write_raw(path, bytes);
    const FieldFile expected = read_field(path);
    ASSERT_EQ(expected.values.shape(), (Shape<2>{5, 3})) << name;
    if (name != "ohc") {
      EXPECT_EQ(expected.values(4, 2), std::complex<float>(42, -4.5)) << name;
    }
    for (const std::int64_t step : {1, 2, 5}) {
      for (const std::string& program : {std::string(), guarded_program()}) {
        if (!program.empty() && step != 2) continue;
        const FieldFile got = read_by_rows(path, step, program);
        expect_same(got, expected);
        EXPECT_EQ(got.metadata, expected.metadata) << name;
      }
    }
  }
}

TEST(FieldRowsReader, RowsOutsideAndFilesCutLater) {
  const TemporaryFolder folder;
  for (const std::string& name : formats()) {
    const std::string path = folder.file(name);
    write_field(path, make_field({6, 4}));
    const FieldRowsReader reader(path);
    Array<std::complex<float>, 2> rows({3, 4});
    const auto invalid = [](const auto& action) { return error_of(action, ErrorCode::invalid_argument); };
    EXPECT_MENTIONS(invalid([&] { reader.read(4, rows.view()); }), "first_row: expected 3 rows from one of 0 to 3");
    EXPECT_MENTIONS(invalid([&] { reader.read(-1, rows.view()); }), "got -1");
    EXPECT_MENTIONS(invalid([&] { reader.read(0, {rows.data(), {4, 3}}); }), "shape {n, 4}");
    reader.read(0, {rows.data(), {0, 4}});
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    EXPECT_MENTIONS(error_of([&] { reader.read(3, rows.view()); }), "a shorter file");
  }
}

void read_ends(const std::string& path, const std::string& program) {
  const FieldRowsReader reader(path, program);
  Array<std::complex<float>, 2> row({1, reader.shape()[1]});
  for (const std::int64_t at : {std::int64_t{0}, reader.shape()[0] - 1}) reader.read(at, row.view());
}

TEST(FieldRowsReader, DamagedFilesAreRefused) {
  const TemporaryFolder folder;
  for (const bool fortran : {false, true}) {
    const std::string seed = field_builders::npy_field("<c8", fortran, 7, 5);
    io_support::expect_survival("npy", seed, ".npy", 400, [](const std::string& path) { read_ends(path, {}); });
    io_support::expect_truncations_refused(seed, ".npy", true, [](const std::string& path) { read_ends(path, {}); });
  }
  for (const std::string shape :
       {"(4611686018427387904, 8)", "(2305843009213693952, 8)", "(0, 8)", "(1099511627776, 8)",
        "(99999999999999999999, 1)", "(8,)", "(9223372036854775808, 0)"}) {
    const std::string header = "{'descr': '<c8', 'fortran_order': False, 'shape': " + shape + "}\n";
    const auto length = static_cast<std::uint16_t>(header.size());
    write_raw(folder.file("x.npy"), std::string("\x93NUMPY\x01\x00", 8) + io_support::bytes_of(length) + header +
                                        std::string(shape.starts_with("(0") || shape.ends_with(" 0)") ? 0 : 64, 'x'));
    EXPECT_MENTIONS(error_of([&] { read_ends(folder.file("x.npy"), {}); }), "x.npy: expected ") << shape;
  }
  for (const std::string bytes : {"", "garbage", "\x93NUMPY", "\x89HDF\r\n\x1a\n and no more"}) {
    write_raw(folder.file("x.dat"), bytes);
    error_of([&] { read_ends(folder.file("x.dat"), guarded_program()); });
  }
  EXPECT_MENTIONS(error_of([&] { read_ends(folder.file("none.h5"), guarded_program()); }), "expected a readable file");
  EXPECT_MENTIONS(error_of([&] { read_ends(folder.file(""), guarded_program()); }), "a folder");
}

TEST(FieldRowsReader, DamagedHdf5EndsTheChildAtMost) {
  if (!has_hdf5()) GTEST_SKIP() << "built without HDF5";
  const TemporaryFolder folder;
  FieldFile field = make_field({4, 6});
  field.metadata = {{"wavelength_m", "5.32e-07"}};
  write_field(folder.file("seed.h5"), field);
  int read = 0;
  int refused = 0;
  for (const std::string& seed : {read_raw(folder.file("seed.h5")), hdf5_fixtures::chunked}) {
    for (std::uint64_t i = 0; i < 25; ++i) {  // each pass starts at least one child
      write_raw(folder.file("x.h5"), io_support::mutated(seed, i));
      try {
        read_ends(folder.file("x.h5"), guarded_program());
        ++read;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
        EXPECT_TRUE(std::string(error.what()).starts_with(folder.file("x.h5"))) << error.what();
        ++refused;
      }
    }
  }
  std::printf("HDF5 by rows: %d read, %d refused\n", read, refused);
  EXPECT_GT(refused, 0);
}

// An untrustworthy child: its reported layout is checked against the file.
TEST(FieldRowsReader, LayoutsMustLieInTheFile) {
  io::FieldLayout good;
  good.shape = {4, 6};
  good.data_begin = 100;
  io::check_layout(good, 292, "x");
  const auto refused = [&](const auto& change) {
    io::FieldLayout bad = good;
    change(bad);
    const auto round_trip = io::parse_layout(io::dump_layout(bad), "x");
    return error_of([&] { io::check_layout(round_trip, 292, "x"); });
  };
  EXPECT_MENTIONS(refused([](auto& l) { l.data_begin = 101; }), "in a file of 292 bytes");
  refused([](auto& l) { l.data_begin = UINT64_MAX; });
  refused([](auto& l) { l.shape = {0, 6}; });
  refused([](auto& l) { l.shape = {-4, -6}; });
  refused([](auto& l) { l.shape = {std::int64_t{1} << 62, 4}; });
  refused([](auto& l) { l.shape = {std::int64_t{1} << 40, std::int64_t{1} << 20}; });
  refused([](auto& l) { l.value_bytes = 0; });
  refused([](auto& l) { l.value_bytes = 9; });
  refused([](auto& l) { l.value_bytes = UINT64_MAX; });
  refused([](auto& l) { l.real_at = 5; });
  refused([](auto& l) { l.imaginary_at = UINT64_MAX; });
  refused([](auto& l) { l.number_bytes = 3; });
  const std::string dump = io::dump_layout(good);
  for (std::size_t size = 0; size < dump.size(); ++size) {
    EXPECT_THROW(io::parse_layout(dump.substr(0, size), "x"), Error) << size;
  }
  EXPECT_MENTIONS(error_of([&] { io::parse_layout(dump + "x", "x"); }), "the end");
}

}  // namespace
}  // namespace holotone
