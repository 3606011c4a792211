// Errors say what the numbers in the tags of a picture mean.
#include <gtest/gtest.h>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/tag_words_detail.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>

namespace holotone {
namespace {

using io_support::TemporaryFolder;
using io_support::write_raw;

TEST(TagWords, NameTheirNumbers) {
  EXPECT_EQ(io::describe_photometric(5), "CMYK (PhotometricInterpretation 5)");
  EXPECT_EQ(io::describe_sample_format(2), "signed integers (SampleFormat 2)");
  EXPECT_EQ(io::describe_tiff_compression(34712), "JPEG 2000 (compression 34712)");
  EXPECT_EQ(io::describe_tiff_compression(12345), "an unknown one (compression 12345)");
  EXPECT_EQ(io::describe_bmp_compression(1), "run-length coding of 8 bits (compression 1)");
}

/// Error for a grey TIFF of 2 x 2 pixels whose tag has another value.
std::string tiff_error(std::uint32_t tag, std::uint32_t value, std::uint32_t bits = 8, bool floats = false) {
  std::string bytes = io_fixtures::tiff_of(2, 2, 1, bits, floats, -1, std::string(32, 'x'));
  std::string head;
  io_fixtures::append(head, tag, 2);
  const auto at = bytes.find(head + std::string("\3\0\1\0\0\0", 6));
  EXPECT_NE(at, std::string::npos);
  bytes[at + 8] = static_cast<char>(value);
  bytes[at + 9] = static_cast<char>(value >> 8U);
  const TemporaryFolder folder;
  write_raw(folder.file("x.tif"), bytes);
  try {
    (void)read_image(folder.file("x.tif"));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TagWords, StandInErrorsOfTiff) {
  if (tiff_error(262, 1) != "no error") GTEST_SKIP() << "built without libtiff";
  EXPECT_MENTIONS(tiff_error(262, 8),
                  "grey, RGB, palette or CMYK pixels, got CIE L*a*b* (PhotometricInterpretation 8)");
  EXPECT_MENTIONS(tiff_error(262, 5), "4 samples a CMYK pixel, got 1 sample");
  EXPECT_MENTIONS(tiff_error(262, 32803), "got a colour filter array (raw) (PhotometricInterpretation 32803)");
  EXPECT_MENTIONS(tiff_error(339, 2), "unsigned integers or floats, got signed integers (SampleFormat 2)");
  EXPECT_MENTIONS(tiff_error(259, 34712), "a compression that this build of libtiff decodes, got JPEG 2000");
  EXPECT_MENTIONS(tiff_error(277, 5), "1 or 2 samples a grey pixel, got 5 samples");
}

}  // namespace
}  // namespace holotone
