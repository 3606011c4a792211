// Codes written by rows in any order: the pictures that write_image stores, also of several writers.
#include <algorithm>
#include <filesystem>
#include <holotone/io/images/code_rows.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/tiff/tiff_header_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;

const Metadata metadata = {{"wavelength_m", "5.32e-07"}, {"note", "gr\xc3\xbc\xc3\x9f"}, {"encoding", "phase"}};

template <class Code>
Array<Code, 2> make_codes(Shape<2> shape) {
  Array<Code, 2> codes(shape);
  for (std::int64_t i = 0; i < codes.size(); ++i) codes.data()[i] = static_cast<Code>(2654435761U * (i + 1) >> 7);
  return codes;
}

template <class Code>
View<const Code, 2> slice_rows(const Array<Code, 2>& codes, std::int64_t first, std::int64_t count) {
  return {codes.data() + first * codes.shape()[1], {count, codes.shape()[1]}};
}

template <class Code>
void write_from_below(CodeRowsWriter& writer, const Array<Code, 2>& codes) {
  for (std::int64_t end = codes.shape()[0]; end > 0; end -= 7) {
    const std::int64_t first = std::max<std::int64_t>(end - 7, 0);
    writer.write(first, slice_rows(codes, first, end - first));
  }
  writer.finish();
}

template <class Code>
class CodeRows : public testing::Test {};
using Codes = testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(CodeRows, Codes);

TYPED_TEST(CodeRows, AreTheirPicture) {
  const TemporaryFolder folder;
  for (const Shape<2> shape : {Shape<2>{13, 37}, Shape<2>{1, 1}, Shape<2>{700, 1001}, Shape<2>{2, 300'001}}) {
    const auto codes = make_codes<TypeParam>(shape);
    const auto path = folder.file("x.tif");
    CodeRowsWriter writer(path, shape, 8 * sizeof(TypeParam), metadata);
    EXPECT_EQ(writer.shape(), shape);
    write_from_below(writer, codes);
    Image image;
    try {
      image = read_image(path);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      GTEST_SKIP() << "a build without libtiff";
    }
    EXPECT_EQ(image.metadata, metadata);
    const auto& pixels = std::get<Array<TypeParam, 3>>(image.pixels);
    ASSERT_EQ(pixels.shape(), (Shape<3>{shape[0], shape[1], 1}));
    EXPECT_TRUE(std::ranges::equal(pixels.host(), codes.host()));
    EXPECT_EQ(folder.names().size(), 1u);
  }
}

TYPED_TEST(CodeRows, AreTheirArray) {
  const TemporaryFolder folder;
  const auto codes = make_codes<TypeParam>({50, 33});
  CodeRowsWriter writer(folder.file("x.npy"), codes.shape(), 8 * sizeof(TypeParam), {});
  write_from_below(writer, codes);
  const auto header = io::read_npy_header(folder.file("x.npy"));
  EXPECT_EQ(header.kind, 'u');
  EXPECT_EQ(header.item_bytes, sizeof(TypeParam));
  EXPECT_EQ(header.shape, (std::vector<std::uint64_t>{50, 33}));
  const auto bytes = read_raw(folder.file("x.npy"));
  EXPECT_TRUE(std::ranges::equal(std::string_view(bytes).substr(header.data_begin),
                                 std::span(reinterpret_cast<const char*>(codes.data()), codes.bytes())));
}

// The head alone: the file would have 4.9 GB.
TEST(CodeRowsHead, LargeFilesAreBigTiff) {
  const Shape<2> shape{70'000, 70'001};
  const auto head = io::tiff_header(shape, 8, metadata);
  const auto number = [&](std::uint64_t at, int bytes) {
    std::uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(head.at(at + i));
    return value;
  };
  EXPECT_EQ(head.substr(0, 2), "II");
  EXPECT_EQ(number(2, 2), 43u);
  EXPECT_EQ(number(4, 2), 8u);
  const auto directory = number(8, 8);
  const auto count = number(directory, 8);
  std::uint16_t last = 0;
  std::map<std::uint64_t, std::array<std::uint64_t, 3>> entries;  // type, count, value
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = directory + 8 + 20 * i;
    const auto tag = static_cast<std::uint16_t>(number(at, 2));
    EXPECT_GT(tag, last);
    last = tag;
    entries[tag] = {number(at + 2, 2), number(at + 4, 8), number(at + 12, 8)};
  }
  EXPECT_EQ(entries.at(256)[2], 70'001u);
  EXPECT_EQ(entries.at(257)[2], 70'000u);
  const auto strips = entries.at(273)[1];
  const auto rows = entries.at(278)[2];
  EXPECT_EQ(entries.at(279)[1], strips);
  EXPECT_EQ(strips, (70'000 + rows - 1) / rows);
  std::uint64_t end = head.size();
  for (std::uint64_t i = 0; i < strips; ++i) {
    EXPECT_EQ(number(entries.at(273)[2] + 8 * i, 8), end);
    end += number(entries.at(279)[2] + 4 * i, 4);
  }
  EXPECT_EQ(end - head.size(), std::uint64_t{70'000} * 70'001);
}

// Two writers of one file, as two processes have.
TEST(CodeRowsJoined, WriteOneFile) {
  const TemporaryFolder folder;
  const auto codes = make_codes<std::uint8_t>({60, 41});
  const auto path = folder.file("x.npy");
  const RowsOptions first{"points 7", true, false};
  const RowsOptions second{"points 7", true, true};
  EXPECT_NE(error_of([&] { CodeRowsWriter(path, codes.shape(), 8, {}, second); }).find("x.npy: expected the rows"),
            std::string::npos);
  CodeRowsWriter whole(folder.file("whole.npy"), codes.shape(), 8, {});
  write_from_below(whole, codes);
  {
    CodeRowsWriter writer(path, codes.shape(), 8, {}, first);
    const auto token = writer.token();
    CodeRowsWriter other(path, codes.shape(), 8, {}, second);
    EXPECT_EQ(other.token(), token);
    const RowsOptions strange{"points 8", true, true};
    EXPECT_NE(error_of([&] { CodeRowsWriter(path, codes.shape(), 8, {}, strange); }).find("of other options"),
              std::string::npos);
    writer.write(0, slice_rows(codes, 0, 20));
    other.write(20, slice_rows(codes, 20, 25));
    EXPECT_NE(error_of([&] { writer.finish(); }, ErrorCode::invalid_argument).find("row 20 missing"),
              std::string::npos);
    other.finish();
    EXPECT_EQ(writer.rows_done(), 20);
  }
  // What both have written is kept, and found by the next run.
  CodeRowsWriter writer(path, codes.shape(), 8, {}, first);
  EXPECT_EQ(writer.rows_done(), 45);
  (void)writer.token();
  CodeRowsWriter other(path, codes.shape(), 8, {}, second);
  other.write(45, slice_rows(codes, 45, 15));
  other.finish();
  writer.set_done(45, 15);
  writer.finish();
  EXPECT_TRUE(read_raw(path) == read_raw(folder.file("whole.npy")));
  EXPECT_EQ(folder.names().size(), 2u);
}

// zlib.crc32(bytes(range(256))) of Python is 0x29058c73.
TEST(CodeRowsChecksum, IsThatOfAllRowsInAnyOrder) {
  const TemporaryFolder folder;
  Array<std::uint8_t, 2> codes({16, 16});
  for (int i = 0; i < 256; ++i) codes.data()[i] = static_cast<std::uint8_t>(i);
  Metadata described = metadata;
  described["source"] = "00000000.ply";  // as what stands for the checksum until the rows are complete
  RowsOptions options{"key", true, false, "crc32"};
  const auto path = folder.file("x.tif");
  {
    CodeRowsWriter writer(path, codes.shape(), 8, described, options);
    writer.write(12, slice_rows(codes, 12, 4));
    EXPECT_EQ(writer.checksum(12, 0), 0u);
    EXPECT_NE(error_of([&] { (void)writer.checksum(0, 16); }, ErrorCode::invalid_argument).find("row 0 missing"),
              std::string::npos);
  }
  CodeRowsWriter writer(path, codes.shape(), 8, described, options);
  EXPECT_TRUE(writer.is_done(15));
  (void)writer.token();
  options.joined = true;
  CodeRowsWriter other(path, codes.shape(), 8, described, options);
  other.write(3, slice_rows(codes, 3, 9));
  other.finish();
  writer.write(0, slice_rows(codes, 5, 3));
  writer.write(0, slice_rows(codes, 0, 3));
  writer.set_done(3, 9);
  EXPECT_EQ(writer.checksum(0, 16), 0x29058c73u);
  writer.finish();
  described["crc32"] = "29058c73";
  CodeRowsWriter plain(folder.file("plain.tif"), codes.shape(), 8, described);
  write_from_below(plain, codes);
  EXPECT_TRUE(read_raw(path) == read_raw(folder.file("plain.tif")));
  options = {{}, false, false, "crc32"};
  EXPECT_NE(error_of([&] {
              CodeRowsWriter(folder.file("x.npy"), codes.shape(), 8, {}, options);
            }).find("x.npy: expected a format that stores metadata"),
            std::string::npos);
}

TEST(CodeRowsChecked, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& name, Shape<2> shape, int bits, std::string_view expected,
                           ErrorCode code = ErrorCode::io) {
    const auto text = error_of([&] { CodeRowsWriter(folder.file(name), shape, bits, {}); }, code);
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  };
  refused("x.png", {4, 4}, 8, "expected .tif, .tiff or .npy", ErrorCode::unsupported);
  refused("x", {4, 4}, 8, "got no extension", ErrorCode::unsupported);
  refused("x.tif", {4, 4}, 12, "8 or 16", ErrorCode::invalid_argument);
  refused("x.tif", {0, 4}, 8, "1 to 2^26", ErrorCode::invalid_argument);
  refused("missing/x.tif", {4, 4}, 8, "missing");
  refused("x.tif", {1 << 26, 1 << 26}, 16, "free space");
  CodeRowsWriter writer(folder.file("x.tif"), {4, 5}, 8, {});
  const auto words = make_codes<std::uint16_t>({4, 5});
  EXPECT_NE(error_of([&] { writer.write(0, words.view()); }, ErrorCode::invalid_argument).find("8 bits a code"),
            std::string::npos);
  const auto wide = make_codes<std::uint8_t>({4, 6});
  EXPECT_NE(error_of([&] { writer.write(0, wide.view()); }, ErrorCode::invalid_argument).find("values"),
            std::string::npos);
  const auto long_one = make_codes<std::uint8_t>({3, 5});
  EXPECT_NE(error_of([&] { writer.write(2, long_one.view()); }, ErrorCode::invalid_argument).find("first_row"),
            std::string::npos);
  EXPECT_NE(error_of([&] { writer.set_done(4, 1); }, ErrorCode::invalid_argument).find("first_row"), std::string::npos);
}

}  // namespace
}  // namespace holotone
