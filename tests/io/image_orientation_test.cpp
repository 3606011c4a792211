#include <array>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/io/images/orientation_detail.hpp>
#include <string>
#include <tests/io/orientation_fixtures.hpp>
#include <tests/io/png_checksums.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::append;
using io_fixtures::append_entry;
using io_fixtures::png_chunk;
using io_support::read_raw;
using io_support::TemporaryFolder;
using io_support::write_raw;

/// How "ABC" above "DEF" is shown under orientation 1 to 8; Pillow's exif_transpose yields the same.
const std::array<std::vector<std::string>, 8> shown_letters = {{{"ABC", "DEF"},
                                                                {"CBA", "FED"},
                                                                {"FED", "CBA"},
                                                                {"DEF", "ABC"},
                                                                {"AD", "BE", "CF"},
                                                                {"DA", "EB", "FC"},
                                                                {"FC", "EB", "DA"},
                                                                {"CF", "BE", "AD"}}};

/// An EXIF block: a resolution unit and the orientation.
std::string exif_of(std::uint32_t orientation, bool little) {
  std::string bytes = little ? "II" : "MM";
  append(bytes, 42, 2, little);
  append(bytes, 8, 4, little);
  append(bytes, 2, 2, little);
  append_entry(bytes, 296, 3, 2, little);
  append_entry(bytes, 274, 3, orientation, little);
  append(bytes, 0, 4, little);
  return bytes;
}

/// A grey TIFF of 3 x 2 pixels of `bits`, the letters in their high bytes.
std::string letters_tiff(std::uint32_t orientation, std::uint32_t bits) {
  std::string bytes = "II";
  append(bytes, 42, 2);
  append(bytes, 8, 4);
  append(bytes, 9, 2);
  append_entry(bytes, 256, 3, 3);
  append_entry(bytes, 257, 3, 2);
  append_entry(bytes, 258, 3, bits);
  append_entry(bytes, 259, 3, 1);
  append_entry(bytes, 262, 3, 1);
  append_entry(bytes, 273, 4, 8 + 2 + 9 * 12 + 4);
  append_entry(bytes, 274, 3, orientation);
  append_entry(bytes, 278, 3, 2);
  append_entry(bytes, 279, 4, 6 * bits / 8);
  append(bytes, 0, 4);
  for (const char letter : std::string("ABCDEF")) {
    if (bits == 16) bytes += '\0';
    bytes += letter;
  }
  return bytes;
}

std::string letters_png(std::uint32_t orientation, bool behind_pixels) {
  const std::string end = png_chunk("IEND", "");
  std::string bytes = io_fixtures::turned_png;
  const std::size_t exif = bytes.find("eXIf") - 4;
  bytes.erase(exif, 12 + 26);
  io_fixtures::repair_checksums(bytes);
  bytes.insert(behind_pixels ? bytes.size() - end.size() : exif,
               png_chunk("eXIf", exif_of(orientation, behind_pixels)));
  return bytes;
}

/// The letters with a chunk in the place of eXIf.
std::string annotated_png(const std::string& type, const std::string& data) {
  std::string bytes = io_fixtures::turned_png;
  const std::size_t exif = bytes.find("eXIf") - 4;
  bytes.erase(exif, 12 + 26);
  return bytes.insert(exif, png_chunk(type, data));
}

/// Text of ImageMagick's raw profiles: a name, the number of bytes, and these in hexadecimal.
std::string raw_profile(const std::string& name, const std::string& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\n" + name + "\n      " + std::to_string(bytes.size()) + "\n";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
    if (i % 36 == 35) text += '\n';
  }
  return text + "\n";
}

/// A zlib stream of one stored block; its sum is not looked at.
std::string stored_block(const std::string& text) {
  std::string bytes = "\x78\x01\x01";
  append(bytes, static_cast<std::uint32_t>(text.size()), 2);
  append(bytes, ~static_cast<std::uint32_t>(text.size()) & 0xffff, 2);
  return bytes + text;
}

std::string adler_of(const std::string& text) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : text) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  std::string sum;
  append(sum, b << 16 | a, 4, false);
  return sum;
}

/// Rows of a picture of letters, in 8-bit codes or the high bytes of 16-bit codes.
std::vector<std::string> letters_of(const Image& image) {
  std::vector<std::string> rows;
  std::visit(
      [&](const auto& pixels) {
        using T = std::remove_cvref_t<decltype(*pixels.data())>;
        const auto [ny, nx, channels] = pixels.shape();
        for (std::int64_t y = 0; y < ny; ++y) {
          rows.emplace_back();
          for (std::int64_t x = 0; x < nx; ++x) {
            rows.back() += static_cast<char>(static_cast<int>(pixels(y, x, 0)) >> 8 * (sizeof(T) - 1));
          }
        }
      },
      image.pixels);
  return rows;
}

Image read_as(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  write_raw(folder.file(name), bytes);
  return read_image(folder.file(name));
}

std::vector<std::string> letters_by_rows(const std::string& bytes) {
  const TemporaryFolder folder;
  write_raw(folder.file("x.png"), bytes);
  ImageRowsReader reader(folder.file("x.png"));
  const auto [ny, nx, channels] = reader.shape();
  Image image{Array<std::uint8_t, 3>({ny, nx, 1}), {}};
  auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
  for (std::int64_t y = ny - 1; y >= 0; --y) {
    reader.read(y, View<std::uint8_t, 3>(pixels.data() + y * nx, {1, nx, 1}));
  }
  return letters_of(image);
}

bool has_tiff() {
  try {
    read_as("x.tif", letters_tiff(1, 8));
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
  return true;
}

TEST(ImageOrientation, AllEightArePngsOfTheSameLetters) {
  EXPECT_EQ(letters_of(read_as("x.png", io_fixtures::turned_png)), shown_letters[4]);
  for (std::uint32_t n = 1; n <= 8; ++n) {
    for (const bool behind : {false, true}) {
      EXPECT_EQ(letters_of(read_as("x.png", letters_png(n, behind))), shown_letters[n - 1]) << n << behind;
      EXPECT_EQ(letters_by_rows(letters_png(n, behind)), shown_letters[n - 1]) << n << behind;
    }
  }
}

TEST(ImageOrientation, RawProfilesOfPngAreExif) {
  const std::string exif = std::string("Exif\0\0", 6) + exif_of(6, true);
  for (const std::string key : {"Raw profile type exif", "Raw profile type APP1"}) {
    const std::string text = raw_profile(key.substr(17), exif);
    const std::string plain = annotated_png("tEXt", std::string(key).append(1, '\0').append(text));
    const std::string stream = stored_block(text).append(adler_of(text));
    const std::string packed = annotated_png("zTXt", std::string(key).append(2, '\0').append(stream));
    for (const auto& bytes : {plain, packed}) {
      const Image image = read_as("x.png", bytes);
      EXPECT_EQ(letters_of(image), shown_letters[5]) << key;
      EXPECT_TRUE(image.notes.empty());
      EXPECT_EQ(letters_by_rows(bytes), shown_letters[5]) << key;
    }
  }
  // eXIf comes first.
  std::string both = letters_png(3, true);
  both.insert(33, png_chunk("tEXt", "Raw profile type exif" + std::string(1, '\0') + raw_profile("exif", exif)));
  EXPECT_EQ(letters_of(read_as("x.png", both)), shown_letters[2]);
  const auto read = [](const std::string& path) { read_image(path); };
  const std::string text = raw_profile("exif", exif);
  io_support::expect_survival(
      "raw.png",
      annotated_png("zTXt", "Raw profile type exif" + std::string(2, '\0') + stored_block(text) + adler_of(text)),
      "raw.png", 2000, read, io_fixtures::repair_checksums);
}

TEST(ImageOrientation, ThatOfXmpAloneIsNamed) {
  const std::string packet = "<x:xmpmeta><rdf:Description tiff:Orientation=\"6\"/></x:xmpmeta>";
  const std::string name = "http://ns.adobe.com/xap/1.0/" + std::string(1, '\0');
  const auto find_note = [](const std::string& file, const std::string& bytes) {
    const Image image = read_as(file, bytes);
    return image.notes.size() == 1 ? image.notes[0].substr(image.notes[0].find(file)) : "none";
  };
  const std::string expected = ": its orientation 6 (XMP) is not applied";
  EXPECT_EQ(find_note("x.png", annotated_png("iTXt", "XML:com.adobe.xmp" + std::string(5, '\0') + packet)),
            "x.png" + expected);
  EXPECT_EQ(find_note("x.png", annotated_png(
                                   "tEXt", "Raw profile type xmp" + std::string(1, '\0') + raw_profile("xmp", packet))),
            "x.png" + expected);
  std::string jpeg = jpeg_bytes({Array<std::uint8_t, 3>({1, 1, 1}), {}}, 90);
  std::string length;
  append(length, static_cast<std::uint32_t>(2 + name.size() + packet.size()), 2, false);
  jpeg.insert(2, "\xff\xe1" + length + name + packet);
  EXPECT_EQ(find_note("x.jpg", jpeg), "x.jpg" + expected);
  using enum io::Orientation;
  EXPECT_EQ(io::xmp_orientation("<tiff:Orientation>8</tiff:Orientation>"), left_bottom);
  EXPECT_EQ(io::xmp_orientation("<tiff:Orientation>"), top_left);
  EXPECT_EQ(io::xmp_orientation("tiff:Orientation='9'"), top_left);
  // As applied: no note.
  std::string both = letters_png(6, true);
  both.insert(33, png_chunk("iTXt", "XML:com.adobe.xmp" + std::string(5, '\0') + packet));
  EXPECT_EQ(find_note("x.png", both), "none");
}

TEST(ImageOrientation, AllEightInTiff) {
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  for (std::uint32_t n = 1; n <= 8; ++n) {
    EXPECT_EQ(letters_of(read_as("x.tif", letters_tiff(n, 8))), shown_letters[n - 1]) << n;
    EXPECT_EQ(letters_of(read_as("x.tif", letters_tiff(n, 16))), shown_letters[n - 1]) << n;
  }
}

/// Colour of the pixel nearest to a corner, four pixels from its sides: that of a whole quarter.
std::array<int, 3> corner(const Image& image, bool bottom, bool right) {
  const auto& pixels = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const auto [ny, nx, channels] = pixels.shape();
  const std::int64_t y = bottom ? ny - 4 : 4;
  const std::int64_t x = right ? nx - 4 : 4;
  return {pixels(y, x, 0), pixels(y, x, 1), pixels(y, x, 2)};
}

TEST(ImageOrientation, AJpegOfTag6StandsUpright) {
  const Image image = read_as("x.jpg", io_fixtures::turned_jpeg);
  ASSERT_EQ(shape_of(image), (Shape<3>{48, 32, 3}));
  const auto expect_colour = [&](bool bottom, bool right, const std::array<int, 3>& colour) {
    const auto got = corner(image, bottom, right);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(got[c], colour[c], 2);
  };
  expect_colour(false, false, {42, 200, 43});
  expect_colour(false, true, {255, 255, 255});
  expect_colour(true, false, {31, 60, 222});
  expect_colour(true, true, {230, 40, 42});
}

TEST(ImageOrientation, TheCallerSeesTheShapeAsShown) {
  const TemporaryFolder folder;
  const auto shape_of_head = [&](const std::string& name, const std::string& bytes) {
    write_raw(folder.file(name), bytes);
    Shape<3> shape{};
    read_image(folder.file(name), {.accept = [&](const Shape<3>& head) { shape = head; }});
    return shape;
  };
  EXPECT_EQ(shape_of_head("x.jpg", io_fixtures::turned_jpeg), (Shape<3>{48, 32, 3}));
  EXPECT_EQ(shape_of_head("x.png", io_fixtures::turned_png), (Shape<3>{3, 2, 1}));
  if (!has_tiff()) GTEST_SKIP() << "built without libtiff";
  EXPECT_EQ(shape_of_head("x.tif", letters_tiff(8, 8)), (Shape<3>{3, 2, 1}));
}

// Exiv2 and QGIS write numbers of other types than Exif's SHORT.
TEST(ImageOrientation, AnyIntegerTypeCounts) {
  using enum io::Orientation;
  const std::string little = exif_of(6, true);
  const std::string big = exif_of(6, false);
  constexpr std::size_t type = 8 + 2 + 12 + 2;  // of the second entry
  constexpr std::size_t value = type + 6;
  const auto as = [](std::string bytes, std::size_t low, char number, const std::string& stored) {
    bytes[low] = number;
    return io::exif_orientation(bytes.replace(value, 4, stored));
  };
  const std::string none(3, '\0');
  EXPECT_EQ(as(little, type, 4, "\6" + none), right_top);
  EXPECT_EQ(as(little, type, 1, "\6" + none), right_top);
  EXPECT_EQ(as(big, type + 1, 4, none + "\6"), right_top);
  EXPECT_EQ(as(big, type + 1, 1, "\6" + none), right_top);
  EXPECT_EQ(as(little, type, 5, "\6" + none), top_left);  // RATIONAL
}

TEST(ImageOrientation, DamagedBlocksCountAsNone) {
  using enum io::Orientation;
  const std::string good = exif_of(6, true);
  EXPECT_EQ(io::exif_orientation(good), right_top);
  EXPECT_EQ(io::exif_orientation(exif_of(8, false)), left_bottom);
  for (std::size_t bytes = 0; bytes + 5 < good.size(); ++bytes) {
    const auto got = io::exif_orientation(std::string_view(good).substr(0, bytes));
    EXPECT_EQ(got, bytes < 8 + 2 + 24 ? top_left : right_top) << bytes;
  }
  EXPECT_EQ(io::exif_orientation(exif_of(0, true)), top_left);
  EXPECT_EQ(io::exif_orientation(exif_of(9, true)), top_left);
  for (const std::uint32_t directory : {0xffffffffU, 0xfffffffeU, 36U, 37U, 38U, 1000U}) {
    std::string bytes = good.substr(0, 4);
    append(bytes, directory, 4);
    EXPECT_EQ(io::exif_orientation(bytes + good.substr(8)), top_left) << directory;
  }
  std::string jpeg = io_fixtures::turned_jpeg;
  jpeg[io_fixtures::turned_jpeg_tag] = 0x77;
  EXPECT_EQ(shape_of(read_as("x.jpg", jpeg)), (Shape<3>{32, 48, 3}));
  std::string png = letters_png(1, false);
  png.insert(33, png_chunk("eXIf", "not TIFF"));
  EXPECT_EQ(letters_of(read_as("x.png", png)), shown_letters[0]);
}

TEST(ImageOrientation, LargePicturesTurnTheSame) {
  const TemporaryFolder folder;
  constexpr std::int64_t ny = 901;
  constexpr std::int64_t nx = 1203;
  Image stored{Array<std::uint8_t, 3>({ny, nx, 1}), {}};
  auto& codes = std::get<Array<std::uint8_t, 3>>(stored.pixels);
  const auto code = [](std::int64_t y, std::int64_t x) { return static_cast<std::uint8_t>((7 * y + 31 * x) % 251); };
  for (std::int64_t i = 0; i < ny * nx; ++i) codes.data()[i] = code(i / nx, i % nx);
  write_image(folder.file("x.png"), stored);
  std::string bytes = read_raw(folder.file("x.png"));
  bytes.insert(33, png_chunk("eXIf", exif_of(6, true)));
  write_raw(folder.file("x.png"), bytes);
  const Image shown = read_image(folder.file("x.png"));
  ASSERT_EQ(shape_of(shown), (Shape<3>{nx, ny, 1}));
  const auto& got = std::get<Array<std::uint8_t, 3>>(shown.pixels);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < ny * nx; ++i) wrong += got.data()[i] != code(ny - 1 - i % ny, i / ny);
  EXPECT_EQ(wrong, 0);
}

TEST(ImageOrientation, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  io_support::expect_survival("turned.jpg", io_fixtures::turned_jpeg, "turned.jpg", 2000, read);
  io_support::expect_survival("turned.png", letters_png(6, true), "turned.png", 2000, read,
                              io_fixtures::repair_checksums);
  io_support::expect_survival("before.png", letters_png(7, false), "before.png", 2000, read,
                              io_fixtures::repair_checksums);
  if (has_tiff()) io_support::expect_survival("turned.tif", letters_tiff(5, 16), "turned.tif", 2000, read);
  // Blocks alone: a process that survives has read nothing outside of them.
  const std::string block = exif_of(6, false);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::string bytes = io_support::mutated(block, i);
    const auto got = static_cast<int>(io::exif_orientation(bytes));
    EXPECT_TRUE(got >= 1 && got <= 8);
  }
}

}  // namespace
}  // namespace holotone
