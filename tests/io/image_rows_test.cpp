// Pictures written and read by rows, and PNG files compressed in bands by several threads.
#include <algorithm>
#include <bit>
#include <csignal>
#include <filesystem>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/io/images/png_huffman_detail.hpp>
#include <omp.h>
#include <optional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tests/io/image_fixtures.hpp>
#include <tests/support/io_support.hpp>
#include <unistd.h>
#include <utility>
#include <zlib.h>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

const Metadata metadata = {{"wavelength_m", "5.32e-07"}, {"note", "gr\xc3\xbc\xc3\x9f"}, {"text:Title", "somebody's"}};

/// Half fringes, half noise: compressible and incompressible data.
template <class T>
Array<T, 3> make_pixels(Shape<3> shape) {
  Array<T, 3> pixels(shape);
  for (std::int64_t i = 0; i < pixels.size(); ++i) {
    const auto noise = random_bits(11, static_cast<std::uint64_t>(i));
    pixels.data()[i] = static_cast<T>(i < pixels.size() / 2 ? 3 * i : noise);
  }
  return pixels;
}

template <class T>
void write_by_rows(const std::string& path, const Array<T, 3>& pixels, std::int64_t step,
                   std::optional<int> compression) {
  const auto [ny, nx, channels] = pixels.shape();
  ImageRowsWriter writer(path, pixels.shape(), 8 * sizeof(T), metadata, {compression});
  for (std::int64_t row = 0; row < ny; row += step) {
    EXPECT_EQ(writer.rows_done(), row);
    const std::int64_t count = std::min(step, ny - row);
    writer.write(View<const T, 3>(pixels.data() + row * nx * channels, {count, nx, channels}));
  }
  writer.finish();
}

template <class T>
Array<T, 3> read_by_rows(const std::string& path, std::int64_t step) {
  ImageRowsReader reader(path);
  const auto [ny, nx, channels] = reader.shape();
  Array<T, 3> pixels(reader.shape());
  for (std::int64_t row = 0; row < ny; row += step) {
    reader.read(row, View<T, 3>(pixels.data() + row * nx * channels, {std::min(step, ny - row), nx, channels}));
  }
  return pixels;
}

/// Number of threads of the calling thread's loops.
class Threads {
 public:
  explicit Threads(int count) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

template <class T>
void expect_round_trips(Shape<3> shape, std::int64_t step) {
  const TemporaryFolder folder;
  const auto pixels = make_pixels<T>(shape);
  for (const std::optional<int> compression : {std::optional<int>(), {0}, {1}, {3}, {9}}) {
    write_by_rows(folder.file("x.png"), pixels, step, compression);
    const Image image = read_image(folder.file("x.png"));
    EXPECT_EQ(image.metadata, metadata);
    ASSERT_EQ(shape_of(image), shape);
    const auto& got = std::get<Array<T, 3>>(image.pixels);
    EXPECT_TRUE(std::ranges::equal(got.host(), pixels.host())) << "level " << compression.value_or(-1);
    EXPECT_TRUE(std::ranges::equal(read_by_rows<T>(folder.file("x.png"), step + 1).host(), pixels.host()));
    // The file equals the one written at once, and the one from another number of threads.
    write_image(folder.file("whole.png"), image, {compression});
    EXPECT_EQ(read_raw(folder.file("whole.png")), read_raw(folder.file("x.png")));
    for (const int threads : {1, 2, 5}) {
      const Threads guard(threads);
      write_by_rows(folder.file("x.png"), pixels, shape[0], compression);
      EXPECT_EQ(read_raw(folder.file("whole.png")), read_raw(folder.file("x.png"))) << threads << " threads";
    }
    EXPECT_EQ(folder.names().size(), 2u);
  }
}

TEST(ImageRows, RoundTrip) {
  expect_round_trips<std::uint8_t>({13, 37, 1}, 5);
  expect_round_trips<std::uint8_t>({1, 1, 1}, 1);
  expect_round_trips<std::uint8_t>({7, 5, 4}, 2);
  expect_round_trips<std::uint8_t>({300, 1000, 3}, 17);
  expect_round_trips<std::uint16_t>({13, 37, 1}, 4);
  expect_round_trips<std::uint16_t>({5, 3, 2}, 1);
}

// Bands have 128 KiB, and 16 or more are compressed at once: bands that refer to one of an earlier call, and rows
// longer than a band.
TEST(ImageRows, SeveralBands) {
  expect_round_trips<std::uint8_t>({1100, 4001, 1}, 100);
  expect_round_trips<std::uint16_t>({700, 701, 3}, 699);
  expect_round_trips<std::uint8_t>({3, 1500000, 1}, 2);
}

std::size_t file_bytes(const Array<std::uint8_t, 3>& pixels, std::optional<int> compression) {
  const TemporaryFolder folder;
  write_by_rows(folder.file("x.png"), pixels, pixels.shape()[0], compression);
  return read_raw(folder.file("x.png")).size();
}

Array<std::uint8_t, 3> make_codes(const auto& code) {
  Array<std::uint8_t, 3> pixels({600, 800, 1});
  for (std::int64_t i = 0; i < pixels.size(); ++i) {
    pixels.data()[i] = static_cast<std::uint8_t>(code(i / 800, i % 800, random_bits(3, static_cast<std::uint64_t>(i))));
  }
  return pixels;
}

// 480,000 codes. Without a level, each picture takes the filter and the coder that suit it.
TEST(ImageRows, ChosenCompression) {
  const auto noise = make_codes([](auto, auto, std::uint64_t bits) { return bits; });
  EXPECT_LT(file_bytes(noise, {}), 481'500U);
  EXPECT_LE(file_bytes(noise, {}), file_bytes(noise, 6));
  // Noise of 32 levels on columns that repeat downward, or on rows that repeat to the right: 5 bits of 8.
  const auto down = make_codes([](auto, auto column, std::uint64_t bits) { return 37 * column * column + bits % 32; });
  const auto right = make_codes([](auto row, auto, std::uint64_t bits) { return 37 * row * row + bits % 32; });
  for (const auto* const pixels : {&down, &right}) {
    EXPECT_LT(file_bytes(*pixels, {}), 360'000U);
    EXPECT_LE(file_bytes(*pixels, {}), file_bytes(*pixels, 3));
  }
  // Noise that repeats is not coded byte by byte.
  const auto tile = make_codes([](auto row, auto column, std::uint64_t) {
    return random_bits(1, static_cast<std::uint64_t>(row % 4 * 50 + column % 50));
  });
  EXPECT_LT(file_bytes(tile, {}), 48'000U);
  EXPECT_LT(file_bytes(tile, {}), file_bytes(tile, 3) * 11 / 10);  // bands do not refer to each other
  // Repetitions reach across the borders of bands.
  const auto rows = make_codes([](auto row, auto column, std::uint64_t) {
    return random_bits(1, static_cast<std::uint64_t>(row % 30 * 800 + column));
  });
  EXPECT_LT(file_bytes(rows, 6), 40'000U);
}

// Codes of bytes that occur very differently often, up to the longest that deflate permits, in bands of several blocks.
TEST(ImageRows, CodesOfSingleBytes) {
  const auto rare = make_codes([](auto, auto, std::uint64_t bits) { return std::countl_zero(bits | 1); });
  const auto skewed = make_codes([](auto, auto, std::uint64_t bits) {
    return bits % 16 == 0 ? static_cast<int>(bits >> 8 & 255U) : 200 + 3 * std::countl_zero(bits | 1);
  });
  const auto two = make_codes([](auto, auto, std::uint64_t bits) { return bits % 2 * 255; });
  const std::pair<const Array<std::uint8_t, 3>*, double> pictures[] = {{&rare, 2}, {&skewed, 2.85}, {&two, 1.5}};
  // Of two codes one takes 2 bits: the end of a block has a code too.
  for (const auto& [pixels, bits] : pictures) {
    const TemporaryFolder folder;
    write_by_rows(folder.file("x.png"), *pixels, 600, {});
    EXPECT_TRUE(std::ranges::equal(read_by_rows<std::uint8_t>(folder.file("x.png"), 600).host(), pixels->host()));
    const auto bytes = static_cast<double>(read_raw(folder.file("x.png")).size());
    EXPECT_LT(bytes, 1.02 * bits / 8 * 480000 + 2000);
    std::printf("%.3f bits a byte\n", 8 * bytes / 480000);
  }
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{65536}, std::size_t{65539}}) {
    std::string bytes(count, '\0');
    std::uint64_t weight = 1;  // counts by Fibonacci's numbers make the longest codes
    std::uint64_t before = 1;
    for (std::size_t i = 0, code = 0; i < count; ++code) {
      for (std::uint64_t k = 0; k < weight && i < count; ++k) bytes[i++] = static_cast<char>(code);
      before = std::exchange(weight, weight + before);
    }
    const std::string piece = io::huffman_coded(bytes, false) + io::huffman_coded(bytes, true);
    std::string back(2 * count + 1, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    stream.next_out = reinterpret_cast<Bytef*>(back.data());
    stream.avail_out = static_cast<uInt>(back.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END) << count << " " << (stream.msg != nullptr ? stream.msg : "");
    EXPECT_EQ(stream.avail_in, 0U);
    EXPECT_EQ(back.substr(0, stream.total_out), bytes + bytes);
    inflateEnd(&stream);
  }
}

TEST(ImageRows, ReadingJumpsAndGoesBack) {
  const TemporaryFolder folder;
  const auto pixels = make_pixels<std::uint8_t>({40, 9, 1});
  write_by_rows(folder.file("x.png"), pixels, 40, 3);
  ImageRowsReader reader(folder.file("x.png"));
  EXPECT_EQ(reader.bits(), 8);
  EXPECT_EQ(reader.metadata(), metadata);
  Array<std::uint8_t, 3> row({2, 9, 1});
  for (const std::int64_t first : {5, 7, 30, 2, 38, 0}) {
    reader.read(first, row.view());
    EXPECT_TRUE(std::equal(row.data(), row.data() + 18, pixels.data() + first * 9)) << first;
  }
  reader.read(40, View<std::uint8_t, 3>(row.data(), {0, 9, 1}));
}

// Pictures that cannot be read row by row are read at once, with the same values.
TEST(ImageRows, OtherPictures) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> files = {{"palette", io_fixtures::palette_png},
                                                                  {"alpha", io_fixtures::palette_alpha_png},
                                                                  {"bit", io_fixtures::bit_png},
                                                                  {"interlaced", io_fixtures::interlaced_png},
                                                                  {"jpeg", io_fixtures::colour_jpeg}};
  for (const auto& [name, bytes] : files) {
    write_raw(folder.file("x"), bytes);
    const Image image = read_image(folder.file("x"));
    EXPECT_EQ(ImageRowsReader(folder.file("x")).shape(), shape_of(image)) << name;
    const auto rows = read_by_rows<std::uint8_t>(folder.file("x"), 1);
    EXPECT_TRUE(std::ranges::equal(rows.host(), std::get<Array<std::uint8_t, 3>>(image.pixels).host())) << name;
  }
  write_image(folder.file("x.bmp"), {make_pixels<std::uint8_t>({4, 5, 1}), {}});
  EXPECT_EQ(read_by_rows<std::uint8_t>(folder.file("x.bmp"), 3).shape(), (Shape<3>{4, 5, 1}));
}

TEST(ImageRows, BadArguments) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.png");
  const auto invalid = [](const auto& action) { return error_of(action, ErrorCode::invalid_argument); };
  for (const Shape<3> shape : {Shape<3>{0, 3, 1}, Shape<3>{3, 0, 1}, Shape<3>{3, 3, 5}, Shape<3>{1, INT64_MAX, 1}}) {
    EXPECT_MENTIONS(invalid([&] { ImageRowsWriter(path, shape, 8, {}); }), "shape: expected {ny, nx, 1 to 4}");
  }
  EXPECT_MENTIONS(invalid([&] { ImageRowsWriter(path, {1, 1 << 30, 1}, 8, {}); }), "rows of less than 1 GiB");
  EXPECT_MENTIONS(invalid([&] { ImageRowsWriter(path, {1, 1, 1}, 32, {}); }), "bits: expected 8 or 16, got 32");
  EXPECT_MENTIONS(invalid([&] { ImageRowsWriter(path, {1, 1, 1}, 8, {}, {10}); }), "compression");
  EXPECT_MENTIONS(invalid([&] { ImageRowsWriter(path, {1, 1, 1}, 8, {{std::string(90, 'a'), ""}}); }), "70 printable");
  for (const std::string name : {"x.tif", "x.bmp", "x"}) {
    EXPECT_MENTIONS(error_of(
                        [&] {
                          ImageRowsWriter(folder.file(name), {1, 1, 1}, 8, {});
                        },
                        ErrorCode::unsupported),
                    "expected .png for a picture written by rows, got ");
  }
  const auto pixels = make_pixels<std::uint8_t>({5, 3, 1});
  ImageRowsWriter writer(path, {4, 3, 1}, 8, {});
  EXPECT_MENTIONS(invalid([&] { writer.write(pixels.view()); }), "expected shape {0 to 4, 3, 1}, got {5, 3, 1}");
  const auto wide = make_pixels<std::uint16_t>({1, 3, 1});
  EXPECT_MENTIONS(invalid([&] { writer.write(wide.view()); }), "expected 8-bit codes, got 16-bit");
  writer.write(View<const std::uint8_t, 3>(pixels.data(), {3, 3, 1}));
  EXPECT_MENTIONS(invalid([&] { writer.finish(); }), "expected 4 written, got 3");
  writer.write(View<const std::uint8_t, 3>(pixels.data(), {1, 3, 1}));
  writer.finish();
  EXPECT_MENTIONS(invalid([&] { writer.finish(); }), "expected one, got two");
  EXPECT_MENTIONS(invalid([&] {
                    writer.write(View<const std::uint8_t, 3>(pixels.data(), {0, 3, 1}));
                  }),
                  "after finish");
  ImageRowsReader reader(path);
  Array<std::uint8_t, 3> rows({2, 3, 1});
  EXPECT_MENTIONS(invalid([&] { reader.read(3, rows.view()); }), "expected shape {0 to 1, 3, 1}");
  EXPECT_MENTIONS(invalid([&] { reader.read(-1, rows.view()); }), "first_row: expected 0 to 4, got -1");
  EXPECT_MENTIONS(invalid([&] { reader.read(5, rows.view()); }), "got 5");
  Array<std::uint16_t, 3> other({2, 3, 1});
  EXPECT_MENTIONS(invalid([&] { reader.read(0, other.view()); }), "expected 8-bit codes, got 16-bit");
}

TEST(ImageRows, NothingIsLeftUnfinished) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.png"), "old");
  {
    ImageRowsWriter writer(folder.file("x.png"), {4000, 4000, 1}, 8, {}, {0});
    writer.write(make_pixels<std::uint8_t>({1000, 4000, 1}).view());
    EXPECT_EQ(folder.names().size(), 2u);
  }
  EXPECT_EQ(read_raw(folder.file("x.png")), "old");
  EXPECT_EQ(folder.names().size(), 1u);
  const pid_t child = fork();
  if (child == 0) {
    omp_set_num_threads(1);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto pixels = make_pixels<std::uint8_t>({2000, 2000, 1});
    const std::string text = error_of([&] { write_by_rows(folder.file("x.png"), pixels, 100, 0); });
    const bool said = text.starts_with(folder.file("x.png") + ": expected ") && text.ends_with("File too large");
    _exit(said ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_raw(folder.file("x.png")), "old");
  EXPECT_EQ(folder.names().size(), 1u);
}

TEST(ImageRows, DamagedFilesAreRefused) {
  const TemporaryFolder folder;
  write_by_rows(folder.file("x.png"), make_pixels<std::uint8_t>({20, 30, 1}), 20, 3);
  const std::string seed = read_raw(folder.file("x.png"));
  const auto read = [](const std::string& path) {
    ImageRowsReader reader(path);
    const auto [ny, nx, channels] = reader.shape();
    Array<std::uint8_t, 3> row({1, nx, channels});
    Array<std::uint16_t, 3> wide({1, nx, channels});
    for (std::int64_t y = 0; y < ny; ++y) reader.bits() == 8 ? reader.read(y, row.view()) : reader.read(y, wide.view());
  };
  io_support::expect_survival("rows.png", seed, ".png", 400, read);
  io_support::expect_truncations_refused(seed, ".png", true, read);
  std::string huge = seed;
  huge.replace(16, 4, "\x7f\xff\xff\xff");
  write_raw(folder.file("huge.png"), huge);
  EXPECT_MENTIONS(error_of([&] { read(folder.file("huge.png")); }), "huge.png: expected ");
  // A file truncated while it is read, and a transient error.
  const auto pixels = make_pixels<std::uint8_t>({1500, 2000, 1});
  write_by_rows(folder.file("x.png"), pixels, 100, 0);
  ImageRowsReader reader(folder.file("x.png"));
  Array<std::uint8_t, 3> row({1, 2000, 1});
  const std::string whole = read_raw(folder.file("x.png"));
  std::filesystem::resize_file(folder.file("x.png"), 2000000);
  EXPECT_MENTIONS(error_of([&] { reader.read(1400, row.view()); }), "the end of the file");
  write_raw(folder.file("x.png"), whole);
  reader.read(1400, row.view());
  EXPECT_TRUE(std::equal(row.data(), row.data() + 2000, pixels.data() + 1400 * 2000));
}

}  // namespace
}  // namespace holotone
