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

std::string ome(const std::string& pixels) {
  return R"(<?xml version="1.0"?><OME><Image ID="Image:0"><Pixels ID="Pixels:0" )" + pixels + "/></Image></OME>";
}

TEST_F(TiffCameras, PlanesOfVolumesAndOfSetsOfFilesAreCounted) {
  Page page{2, 1, 8, 1, 1, {"ab"}, {{32997, 4, {3}}}};
  EXPECT_EQ(find_note(read_tif(tiff_file({page}) + "cdef").notes),
            "x.tif: ImageDepth states 3 pictures, of which 1 can be read");
  const auto stated = [](const std::string& pixels) {
    return find_note(read_tif(tiff_file({words_page({1}, ome(pixels))})).notes);
  };
  EXPECT_EQ(stated(R"(SizeX="1" SizeY="1" SizeZ="2" SizeC="3" SizeT="4")"),
            "x.tif: OME-XML states 24 pictures, of which 1 can be read");
  EXPECT_EQ(stated(R"(SizeZ="1" SizeC="1" SizeT="1"/><Pixels SizeZ="1" SizeC="1" SizeT="1")"),
            "x.tif: OME-XML states 2 pictures, of which 1 can be read");
  EXPECT_EQ(stated(R"(SizeZ="1" SizeC="1" SizeT="1")"), "none");
  Page colours{1, 1, 8, 3, 2, {"abc"}, {{270, 2, {}, ome(R"(SizeZ="1" SizeC="3" SizeT="1")")}}};
  EXPECT_EQ(find_note(read_tif(tiff_file({colours})).notes), "none");
}

TEST_F(TiffCameras, MetadataInAnotherFileAreNamed) {
  const Page page = words_page({1}, R"(<OME><BinaryOnly MetadataFile="set.companion.ome" UUID="urn:uuid:1"/></OME>)");
  EXPECT_EQ(find_note(read_tif(tiff_file({page})).notes),
            "x.tif: its OME-XML stands in 'set.companion.ome', which is not read");
}

TEST_F(TiffCameras, PixelsOfOmeThatAreNotSquareAreNamed) {
  const auto note = [](const std::string& sizes) {
    return find_note(read_tif(tiff_file({words_page({1}, ome(sizes))})).notes);
  };
  EXPECT_EQ(note(R"(PhysicalSizeX="0.1" PhysicalSizeY="0.2")"),
            "x.tif: its pixels are not square, 10 columns and 5 rows on the same length: taken as square");
  EXPECT_EQ(note(R"(PhysicalSizeX="0.1" PhysicalSizeXUnit="mm" PhysicalSizeY="0.1" PhysicalSizeYUnit="mm")"), "none");
  EXPECT_EQ(note(R"(PhysicalSizeX="100" PhysicalSizeXUnit="nm" PhysicalSizeY="0.1")"), "none");
}

TEST_F(TiffCameras, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  io_support::expect_survival("stack.tif", metamorph(3), "stack.tif", 2000, read);
  io_support::expect_survival("mm.tif", tiff_file({micro_manager({1, 2}, "{\"BitDepth\":12}")}), "mm.tif", 2000, read);
  const std::string pixels = R"(SizeZ="1" SizeC="1" SizeT="2" PhysicalSizeX="1" PhysicalSizeY="2")";
  io_support::expect_survival("o.tif", tiff_file({words_page({1}, ome(pixels))}), "o.tif", 2000, read);
}

}  // namespace
}  // namespace holotone
