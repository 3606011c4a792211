// Stacks of MetaMorph and significant bits of Micro-Manager, which stand in tags of their own.
#include <string>
#include <tests/io/tiff_reading.hpp>

namespace holotone {
namespace {

using io_fixtures::find_note;
using io_fixtures::Page;
using io_fixtures::read_tif;
using io_fixtures::tiff_file;
using io_fixtures::words_page;

/// A stack of MetaMorph: one directory, whose UIC2Tag counts the planes; the pixels of the others
/// follow the first's.
std::string metamorph(std::uint32_t planes) {
  io_fixtures::Tag uic2{33629, 5};
  uic2.numbers.assign(2 * planes, 1);
  return tiff_file({Page{2, 1, 8, 1, 1, {"ab"}, {uic2}}}) + "cdef";
}

Page micro_manager(const std::vector<std::uint16_t>& codes, const std::string& metadata) {
  Page page = words_page(codes);
  page.tags.push_back({51123, 2, {}, metadata});
  return page;
}

class TiffCameras : public io_fixtures::TiffTest {};

TEST_F(TiffCameras, PlanesOfMetamorphAreCounted) {
  const Image image = read_tif(metamorph(3));
  EXPECT_EQ(find_note(image.notes), "x.tif: MetaMorph states 3 pictures, of which 1 can be read");
  EXPECT_EQ(std::get<0>(image.pixels).data()[1], 'b');
  EXPECT_EQ(find_note(read_tif(metamorph(1)).notes), "none");
}

TEST_F(TiffCameras, BitsOfMicroManagerAreThoseOfTheCodes) {
  for (const std::string stated : {"\"BitDepth\":12", "\"BitDepth\": \"12\""}) {
    const Image image = read_tif(tiff_file({micro_manager({0, 1234, 4095}, "{\"Width\":3," + stated + "}")}));
    EXPECT_EQ(code_bits(image), 12);
    EXPECT_FLOAT_EQ(to_float(image).data()[1], 1234.0F / 4095);
    EXPECT_EQ(find_note(image.notes), "none");
  }
  const Image larger = read_tif(tiff_file({micro_manager({1, 4096}, "{\"BitDepth\":12}")}));
  EXPECT_EQ(code_bits(larger), 16);
  EXPECT_EQ(find_note(larger.notes),
            "x.tif: its 12 significant bits (Micro-Manager) are not taken: codes up to 4096 are read as of 16 bits");
  EXPECT_EQ(code_bits(read_tif(tiff_file({micro_manager({1}, "{\"BitDepth\":16}")}))), 16);
  EXPECT_EQ(code_bits(read_tif(tiff_file({micro_manager({1}, "{\"BitDepth\":}")}))), 16);
}

TEST_F(TiffCameras, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  io_support::expect_survival("stack.tif", metamorph(3), "stack.tif", 2000, read);
  io_support::expect_survival("mm.tif", tiff_file({micro_manager({1, 2}, "{\"BitDepth\":12}")}), "mm.tif", 2000, read);
}

}  // namespace
}  // namespace holotone
