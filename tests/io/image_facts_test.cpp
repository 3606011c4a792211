// Pixels that are not square, and animations: what is not honoured is named.
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <string>
#include <tests/io/png_checksums.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

std::vector<std::string> notes_of(const std::string& name, const std::string& bytes) {
  const io_support::TemporaryFolder folder;
  io_support::write_raw(folder.file(name), bytes);
  auto notes = read_image(folder.file(name)).notes;
  for (auto& note : notes) note = note.substr(note.find(name));
  return notes;
}

using Notes = std::vector<std::string>;

Image black() {
  Image image{Array<std::uint8_t, 3>({2, 2, 1}), {}};
  for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = 0;
  return image;
}

/// `chunk` follows the header of 33 bytes.
std::string png_with(std::string_view type, const std::string& data) {
  return png_bytes(black()).insert(33, io_fixtures::png_chunk(type, data));
}

std::string density_chunk(std::uint32_t columns, std::uint32_t rows) {
  std::string data;
  io_fixtures::append(data, columns, 4, false);
  io_fixtures::append(data, rows, 4, false);
  return png_with("pHYs", data + '\x01');
}

const std::string not_square =
    ": its pixels are not square, 8031 columns and 3858 rows on the same length: taken as square";

TEST(ImageFacts, ACalibrationOfPngIsNamed) {
  std::string data(
      "height\0"
      "\0\0\0\0"
      "\0\0\0\xff"
      "\0\2"
      "mm\0"
      "0\0"
      "25.5",
      26);
  EXPECT_EQ(notes_of("x.png", png_with("pCAL", data)),
            Notes{"x.png: its calibration 'height' in 'mm' (pCAL) is not applied to the values"});
}

TEST(ImageFacts, PixelsThatAreNotSquareAreNamed) {
  EXPECT_EQ(notes_of("x.png", density_chunk(8031, 3858)), Notes{"x.png" + not_square});
  EXPECT_EQ(notes_of("x.png", density_chunk(3000, 3001)), Notes{});  // rounded
  const std::string same_length(
      ": its pixels are not square, 1e+06 columns and 5e+05 rows on the same length: taken as ");
  EXPECT_EQ(notes_of("x.png", png_with("sCAL", std::string("\1"
                                                           "1e-6\0"
                                                           "2e-6",
                                                           10))),
            Notes{"x.png" + same_length + "square"});
  // Gwyddion's is that of the picture: 2 x 2 pixels over 3 x 1 um, and 2 x 1 um.
  const auto gwyddion = [](const char* width) {
    const std::string sides = std::string("\1") + width +
                              std::string(
                                  "\0"
                                  "1e-6",
                                  5);
    return notes_of("x.png", png_bytes(black()).insert(33, io_fixtures::png_chunk("sCAL", sides) +
                                                               io_fixtures::png_chunk("tEXt", std::string("Gwy::XReal\0"
                                                                                                          "1",
                                                                                                          12))));
  };
  EXPECT_EQ(gwyddion("1e-6"), Notes{});
  ASSERT_EQ(gwyddion("3e-6").size(), 1U);
  EXPECT_NE(gwyddion("3e-6").front().find("6.6667e+05 columns and 2e+06 rows"), std::string::npos);
  std::string jpeg = jpeg_bytes(black(), 90);  // JFIF: densities of two bytes behind the marker's first 12
  EXPECT_EQ(notes_of("x.jpg", jpeg), Notes{});
  jpeg.replace(14, 4, std::string("\x1f\x5f\x0f\x12", 4));
  EXPECT_EQ(notes_of("x.jpg", jpeg), Notes{"x.jpg" + not_square});
  const io_support::TemporaryFolder folder;
  write_image(folder.file("x.bmp"), black());
  std::string bmp = io_support::read_raw(folder.file("x.bmp"));
  EXPECT_EQ(notes_of("x.bmp", bmp), Notes{});
  bmp.replace(38, 8, std::string("\x5f\x1f\0\0\x12\x0f\0\0", 8));
  EXPECT_EQ(notes_of("x.bmp", bmp), Notes{"x.bmp" + not_square});
}

TEST(ImageFacts, ChunksOfAPngThatAreNotKnownAreNamed) {
  const auto notes = [](const std::string& chunks) { return notes_of("x.png", png_bytes(black()).insert(33, chunks)); };
  EXPECT_EQ(notes(io_fixtures::png_chunk("heIt", "1") + io_fixtures::png_chunk("heIt", "2") +
                  io_fixtures::png_chunk("unIt", "mm")),
            Notes{"x.png: ignored: chunks heIt, unIt"});
  EXPECT_EQ(notes(io_fixtures::png_chunk("tIME", "\x07\xea\1\2\3\4\5") + io_fixtures::png_chunk("caBX", "history")),
            Notes{});
}

TEST(ImageFacts, AnAnimationIsNamed) {
  EXPECT_EQ(notes_of("x.png", png_with("acTL", std::string("\0\0\0\x03\0\0\0\0", 8))),
            Notes{"x.png: an animation of 3 frames (APNG): its still picture is read"});
  EXPECT_EQ(notes_of("x.png", png_with("acTL", std::string("\0\0\0\x01\0\0\0\0", 8))), Notes{});
  for (const char mode : {'\0', '\1'}) {
    EXPECT_EQ(notes_of("x.png", png_with("sTER", std::string(1, mode))),
              Notes{"x.png: two views side by side (sTER) are read as one picture"});
  }
}

TEST(ImageFacts, ACroppedPictureIsNamed) {
  const auto sides = [](char width, char height) { return std::string{0, 0, 0, width, 0, 0, 0, height}; };
  const auto notes = [](const std::string& chunk, const std::string& data) {
    return notes_of("x.png", png_with(chunk, data));
  };
  const Notes cropped{"x.png: a cropped picture of 2 x 2 pixels, whose place on its canvas of 9 x 7 is ignored"};
  EXPECT_EQ(notes("vpAg", sides(9, 7) + '\0'), cropped);                  // ImageMagick
  EXPECT_EQ(notes("caNv", sides(9, 7) + std::string(8, '\0')), cropped);  // its newer chunk
  EXPECT_EQ(notes("vpAg", sides(2, 2) + '\0'), Notes{});
  EXPECT_EQ(notes("vpAg", "ab"), Notes{});
}

/// A JPEG with a segment APP1 or APP2 before all others.
std::string jpeg_with(char number, const std::string& data) {
  std::string length;
  io_fixtures::append(length, static_cast<std::uint32_t>(data.size() + 2), 2, false);
  return jpeg_bytes(black(), 90).insert(2, std::string("\xff") + static_cast<char>(0xe0 + number) + length + data);
}

/// The index of a multi-picture file (CIPA DC-007): entries of these types.
std::string mpo_index(const std::vector<std::uint32_t>& types, bool little) {
  using io_fixtures::append;
  const auto count = static_cast<std::uint32_t>(types.size());
  std::string bytes = little ? "II" : "MM";
  append(bytes, 42, 2, little);
  append(bytes, 8, 4, little);
  append(bytes, 2, 2, little);
  io_fixtures::append_entry(bytes, 0xb001, 4, count, little);
  append(bytes, 0xb002, 2, little);
  append(bytes, 7, 2, little);
  append(bytes, 16 * count, 4, little);
  append(bytes, 8 + 2 + 24 + 4, 4, little);
  append(bytes, 0, 4, little);
  for (const auto type : types) {
    append(bytes, type, 4, little);
    append(bytes, 0, 4, little);
    append(bytes, 0, 4, little);
    append(bytes, 0, 4, little);
  }
  return std::string("MPF\0", 4) + bytes;
}

TEST(ImageFacts, FurtherPicturesOfAJpegAreNamed) {
  for (const bool little : {true, false}) {
    EXPECT_EQ(notes_of("x.jpg", jpeg_with(2, mpo_index({0x20030000, 0x020002, 0x020002}, little))),
              Notes{"x.jpg: the first of 3 pictures is read (MPO)"});
    // Previews of the first, of VGA and of HD.
    EXPECT_EQ(notes_of("x.jpg", jpeg_with(2, mpo_index({0x20030000, 0x010001, 0x010002}, little))), Notes{});
  }
  const std::string xmp = std::string("http://ns.adobe.com/xap/1.0/\0", 29) + "<rdf hdrgm:Version=\"1.0\"/>";
  std::string gain = jpeg_with(1, xmp);
  EXPECT_EQ(notes_of("x.jpg", gain), Notes{"x.jpg: its gain map is not applied"});
  const std::string index = jpeg_with(2, mpo_index({0x030000, 0}, false));
  gain.insert(2, index.substr(2, index.size() - jpeg_bytes(black(), 90).size()));
  EXPECT_EQ(notes_of("x.jpg", gain), Notes{"x.jpg: its gain map is not applied"});
  const std::string iso = std::string("urn:iso:std:iso:ts:21496:-1\0\0\0\0\0", 32);
  EXPECT_EQ(notes_of("x.jpg", jpeg_with(2, iso)), Notes{"x.jpg: its gain map is not applied"});
}

TEST(ImageFacts, SegmentsOfAJpegThatAreNotKnownAreNamed) {
  EXPECT_EQ(notes_of("x.jpg", jpeg_with(3, "_JPSJPS_\0\0")),
            Notes{"x.jpg: two views side by side (JPS) are read as one picture"});
  EXPECT_EQ(notes_of("x.jpg", jpeg_with(1, std::string("FLIR\0\1", 6))), Notes{"x.jpg: ignored: segment APP1 FLIR"});
  EXPECT_EQ(notes_of("x.jpg", jpeg_with(11, "HDR_RI ver=11\n")), Notes{"x.jpg: ignored: segment APP11 HDR_RI"});
  EXPECT_EQ(notes_of("x.jpg", jpeg_with(9, std::string("\0\0", 2))), Notes{"x.jpg: ignored: segment APP9"});
  const std::string history = std::string("JP\0\1\0\0\0\1\0\0\0\x20jumb", 16) + std::string(24, '\0');
  for (const auto& [number, data] : std::vector<std::pair<char, std::string>>{{1, "http://ns.adobe.com/xmp/extension/"},
                                                                              {2, "FPXR"},
                                                                              {11, history},
                                                                              {12, "Ducky"},
                                                                              {13, "Photoshop 3.0"}}) {
    EXPECT_EQ(notes_of("x.jpg", jpeg_with(number, data)), Notes{}) << data;
  }
}

TEST(ImageFacts, SegmentsSurviveMutations) {
  const auto read = [](const std::string& path) { read_image(path, {.as_light = true}); };
  io_support::expect_survival("mpo.jpg", jpeg_with(2, mpo_index({0x030000, 0x020002}, true)), "mpo.jpg", 2000, read);
}

/// BMP of version 4 with a mask of alpha: 2 x 1 pixels of blue, green, red and alpha.
std::string alpha_bmp(const std::string& pixels) {
  std::string bytes = "BM";
  const auto put = [&](std::initializer_list<std::uint32_t> numbers) {
    for (const auto number : numbers) io_fixtures::append(bytes, number, 4);
  };
  put({122 + 8, 0, 122, 108, 2, 1, 1 | 32 << 16, 3, 8, 0, 0, 0, 0, 0xff0000, 0xff00, 0xff, 0xff000000});
  bytes += "BGRs";
  bytes.resize(122);
  return bytes + pixels;
}

TEST(ImageFacts, ABmpWithoutAnyOpaquePixelIsOpaque) {
  const io_support::TemporaryFolder folder;
  const auto read = [&](const std::string& pixels) {
    io_support::write_raw(folder.file("x.bmp"), alpha_bmp(pixels));
    Image image = read_image(folder.file("x.bmp"));
    const auto codes = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
    return std::pair(std::string(codes.begin(), codes.end()), image.notes.size());
  };
  EXPECT_EQ(read(std::string("abc\0def\0", 8)), std::pair(std::string("cbafed"), std::size_t{1}));
  EXPECT_EQ(notes_of("x.bmp", alpha_bmp(std::string("abc\0def\0", 8))),
            Notes{"x.bmp: its alpha is 0 everywhere: taken as opaque"});
  EXPECT_EQ(read(std::string("abc\0def\1", 8)), std::pair(std::string("cba\0fed\1", 8), std::size_t{0}));
}

}  // namespace
}  // namespace holotone
