// Calibrations of ImageJ and significant bits of OME-XML, which stand in the first directory's ImageDescription.
#include <cmath>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <string>
#include <tests/io/tiff_reading.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using io_fixtures::find_note;
using io_fixtures::Page;
using io_fixtures::read_tif;
using io_fixtures::tiff_file;
using io_fixtures::words_page;
using io_support::TemporaryFolder;
using io_support::write_raw;

std::string ome(const std::string& pixels) {
  return "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image "
         "ID=\"Image:0\">" +
         pixels + "</Image></OME>";
}

std::string ome_bits(const std::string& bits) {
  return "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"uint16\" SignificantBits=\"" + bits +
         "\" SizeX=\"3\" SizeY=\"1\"/>";
}

class TiffDescription : public io_fixtures::TiffTest {};

TEST_F(TiffDescription, SignedNumbersOfImagejAreRefused) {
  const std::string shifted = "ImageJ=1.53t\ncf=0\nc0=-32768\nc1=1\nvunit=gray value\nmin=0\n";
  for (const std::string part : {"", ":2"}) {
    support::expect_error(
        ErrorCode::io, "expected unsigned integers or floats, got signed integers plus 32768 (ImageJ, c0=-32768)", [&] {
          read_tif(tiff_file({words_page({33768}, shifted), words_page({1}, "")}), part);
        });
  }
  // Of 8 bits the same numbers are a calibration.
  EXPECT_EQ(find_note(read_tif(tiff_file({{1, 1, 8, 1, 1, {"a"}, {{270, 2, {}, shifted}}}})).notes),
            "x.tif: its scale 1 and offset -32768 (ImageJ) are not applied to the values");
}

TEST_F(TiffDescription, CalibrationsOfImagejAreNamed) {
  const auto note = [](const std::string& lines) {
    return find_note(read_tif(tiff_file({words_page({1000}, "ImageJ=1.53t\n" + lines)})).notes);
  };
  EXPECT_EQ(note("cf=0\nc0=0.5\nc1=0.0001\nvunit=m\n"),
            "x.tif: its scale 0.0001 and offset 0.5 in 'm' (ImageJ) are not applied to the values");
  EXPECT_EQ(note("cf=3\nc0=0\nc1=2\nc2=1\nvunit=OD\n"),
            "x.tif: its calibration in 'OD' (ImageJ, cf=3) is not applied to the values");
  EXPECT_EQ(note("cf=0\nc0=0\nc1=1\nvunit=gray value\n"), "none");
  EXPECT_EQ(note("unit=micron\nmin=0\n"), "none");
  EXPECT_EQ(note("cf=0\nc0=0\nc1=1\nvunit=degrees\n"), "x.tif: its unit 'degrees' is not applied to the values");
}

TEST_F(TiffDescription, TheUnitOfImagejIsThatOfDepths) {
  const TemporaryFolder folder;
  PlacedPicture job;
  job.depth = folder.file("d.tif");
  job.size_m = 1;
  write_raw(job.depth, tiff_file({words_page({200, 220}, "ImageJ=1.53t\ncf=0\nc0=0\nc1=1\nvunit=mm\n")}));
  EXPECT_NEAR(read_depth(job, {1, 2}).farthest_m, 0.22, 1e-9);
}

TEST_F(TiffDescription, SignificantBitsAreThoseOfTheCodes) {
  const auto page = words_page({0, 1234, 4095}, ome(ome_bits("12")));
  const Image image = read_tif(tiff_file({page, words_page({4095}, "")}), ":1");
  EXPECT_EQ(code_bits(image), 12);
  EXPECT_TRUE(image.notes.empty());
  const auto shares = to_float(image);
  EXPECT_FLOAT_EQ(shares.data()[1], 1234.0F / 4095);
  EXPECT_FLOAT_EQ(shares.data()[2], 1);
  const double share = (1234.0 / 4095 + 0.055) / 1.055;  // IEC 61966-2-1
  EXPECT_NEAR(static_cast<double>(to_linear(image).data()[1]), std::pow(share, 2.4), 1e-6);
  EXPECT_EQ(code_bits(read_tif(tiff_file({page, words_page({4095}, "")}), ":2")), 12);  // described by the first
  EXPECT_EQ(code_bits(read_tif(tiff_file({words_page({7}, ome(ome_bits("16")))}))), 16);
  // In 8 bits, with alpha.
  const Page bytes{1, 1, 8, 2, 1, {"\x15\x3f"}, {{270, 2, {}, ome(ome_bits("6"))}, {338, 3, {2}}}};
  const auto few = to_float(read_tif(tiff_file({bytes})));
  EXPECT_FLOAT_EQ(few.data()[0], 21.0F / 63);
  EXPECT_FLOAT_EQ(few.data()[1], 1);
}

TEST_F(TiffDescription, SignificantBitsThatDoNotFitAreNamed) {
  const Image larger = read_tif(tiff_file({words_page({1, 4096}, ome(ome_bits("12")))}));
  EXPECT_EQ(code_bits(larger), 16);
  EXPECT_EQ(find_note(larger.notes),
            "x.tif: its 12 significant bits (OME-XML) are not taken: codes up to 4096 are read as of 16 bits");
  EXPECT_EQ(find_note(read_tif(tiff_file({words_page({1, 2}, ome(ome_bits("12") + ome_bits("10")))})).notes),
            "x.tif: its significant bits (OME-XML), which differ, are not taken: codes up to 2 are read as of 16 bits");
  EXPECT_TRUE(read_tif(tiff_file({words_page({1}, "SignificantBits=\"12\"")})).notes.empty());
}

TEST_F(TiffDescription, CodesOfOddBitsAreWrittenFromBlackToWhite) {
  const TemporaryFolder folder;
  const Image image = read_tif(tiff_file({words_page({0, 1234, 4095}, ome(ome_bits("12")))}));
  for (const std::string name : {"y.png", "y.tif"}) {
    write_image(folder.file(name), image);
    const Image written = read_image(folder.file(name));
    const auto codes = std::get<Array<std::uint16_t, 3>>(written.pixels).host();
    EXPECT_EQ(std::vector<int>(codes.begin(), codes.end()), (std::vector<int>{0, 19749, 65535}));  // 1234 65535 / 4095
  }
  const Page bytes{2, 1, 8, 1, 1, {"\x15\x3f"}, {{270, 2, {}, ome(ome_bits("6"))}}};
  write_image(folder.file("z.png"), read_tif(tiff_file({bytes})));
  const Image few = read_image(folder.file("z.png"));
  const auto codes = std::get<Array<std::uint8_t, 3>>(few.pixels).host();
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.end()), (std::vector<int>{85, 255}));
}

TEST_F(TiffDescription, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path, {.as_light = true}); };
  io_support::expect_survival("ome.tif", tiff_file({words_page({1, 2}, ome(ome_bits("12")))}), "ome.tif", 2000, read);
  io_support::expect_survival("imagej.tif",
                              tiff_file({words_page({1, 2}, "ImageJ=1.53t\nimages=2\ncf=0\nc0=0.5\nc1=2\nvunit=m\n")}),
                              "imagej.tif", 2000, read);
}

}  // namespace
}  // namespace holotone
