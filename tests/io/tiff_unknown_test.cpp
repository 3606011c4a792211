// Tags and descriptions of TIFF files that the reader does not apply.
#include <bit>
#include <string>
#include <tests/io/tiff_reading.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::Page;
using io_fixtures::Tag;
using io_fixtures::tiff_file;
using io_support::TemporaryFolder;
using io_support::write_raw;

Tag number_tag(std::uint32_t tag, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return {tag, 12, {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}};
}

class TiffUnknown : public io_fixtures::TiffTest {
 protected:
  /// The notes of two codes with these tags, without the file's name before them.
  [[nodiscard]] std::vector<std::string> notes(const std::vector<Tag>& tags) const {
    const auto path = folder_.file("x.tif");
    write_raw(path, tiff_file({{2, 1, 8, 1, 1, {"ab"}, tags}}));
    std::vector<std::string> result;
    for (const auto& note : read_image(path).notes) result.push_back(note.substr(path.size() + 2));
    return result;
  }
  [[nodiscard]] std::vector<std::string> described(const std::string& description) const {
    return notes({Tag{270, 2, {}, description}});
  }

  TemporaryFolder folder_;
};

using Notes = std::vector<std::string>;

TEST_F(TiffUnknown, TagsAreNamedInOneLine) {
  EXPECT_EQ(notes({{60000, 3, {7}}}), Notes{"ignored: tag 60000"});
  EXPECT_EQ(notes({{33445, 4, {2}}, {60001, 2, {}, "text"}}), (Notes{"ignored: tags 33445, 60001"}));
  std::vector<Tag> many;
  for (std::uint32_t i = 0; i < 11; ++i) many.push_back({60000 + i, 3, {1}});
  EXPECT_EQ(notes(many), Notes{"ignored: tags 60000, 60001, 60002, 60003, 60004, 60005, 60006, 60007 and 3 more"});
}

TEST_F(TiffUnknown, ACroppedPictureIsSaidToBe) {
  EXPECT_EQ(notes({{33300, 4, {128}}, {33301, 4, {96}}}),
            Notes{"a cropped picture of 2 x 1 pixels, whose place on its canvas of 128 x 96 is ignored"});
  EXPECT_EQ(notes({{33300, 4, {2}}, {33301, 4, {1}}}), Notes{});
}

TEST_F(TiffUnknown, HarmlessTagsAreNot) {
  // Make, model, software, date, artist, copyright, XMP, IPTC, Windows' title, ImageJ's, DNG's.
  EXPECT_EQ(notes({{271, 2, {}, "Maker"},
                   {272, 2, {}, "Model"},
                   {305, 2, {}, "Program 1.0"},
                   {306, 2, {}, "2026:01:01 00:00:00"},
                   {315, 2, {}, "Name"},
                   {33432, 2, {}, "Name"},
                   {40091, 2, {}, "Title"},
                   {50708, 2, {}, "Model"},
                   {50838, 4, {12}},
                   {59932, 2, {}, "padding"}}),
            Notes{});
}

TEST_F(TiffUnknown, ScalesOfInstrumentsAreNamed) {
  EXPECT_EQ(
      notes({{32931, 2, {}, "LinearScaling"}, number_tag(32932, 2e-9), number_tag(32933, -1e-6), {32896, 4, {3}}}),
      Notes{"its scale 2e-09 and offset -1e-06 (JPK) are not applied to the values"});
  const auto gatan = notes({number_tag(65009, 0.1),
                            number_tag(65010, 0.2),
                            number_tag(65024, 5),
                            number_tag(65025, 3),
                            {65012, 2, {}, "counts"}});
  ASSERT_EQ(gatan.size(), 2U);
  EXPECT_EQ(gatan[0], "its pixels are not square, 0.2 columns and 0.1 rows on the same length: taken as square");
  EXPECT_EQ(gatan[1], "its scale 3 and offset 5 (Gatan DigitalMicrograph) are not applied to the values");
  EXPECT_EQ(notes({number_tag(65009, 0.1), number_tag(65010, 0.1), number_tag(65024, 0), number_tag(65025, 1)}),
            Notes{});
  const std::string fei = "[User]\r\n[Scan]\r\nPixelWidth=1e-009\r\nPixelHeight=2e-009\r\n";
  EXPECT_EQ(notes({{34682, 2, {}, fei}}),
            Notes{"its pixels are not square, 1 columns and 0.5 rows on the same length: taken as square"});
  EXPECT_EQ(notes({{290, 3, {3}}, {291, 3, std::vector<std::uint32_t>(256, 100)}}),
            Notes{"its GrayResponseCurve is not applied to the values"});
}

TEST_F(TiffUnknown, NumbersOfADescriptionAreNamed) {
  EXPECT_EQ(described("offset = 9.00000E-03\nslope = 1.00000E-07\n"),
            Notes{"not applied to the values: numbers offset 9.00000E-03, slope 1.00000E-07 of its ImageDescription"});
  EXPECT_EQ(described("z_scale: 2.5"), Notes{"not applied to the values: number z_scale 2.5 of its ImageDescription"});
  EXPECT_EQ(described("unit=um"), Notes{"not applied to the values: number unit um of its ImageDescription"});
  for (const auto* quiet :
       {"offset = 0\nslope = 1", "A photograph, scale 1:50 of a house", "{\"shape\": [1, 2]}",
        "Aperio v1\nMPP = 0.5|offset = 3", "exposure = 0.5\ntemperature = 20", "ImageJ=1.53\nunit=um"}) {
    EXPECT_EQ(described(quiet), Notes{}) << quiet;
  }
}

TEST_F(TiffUnknown, YamlJsonAndXmlAreRead) {
  const auto number = [](const std::string& found) {
    return Notes{"not applied to the values: number " + found + " of its ImageDescription"};
  };
  // HoloPy: a hologram of 0.6 to 1.4 that is stored as 0 to 1.
  EXPECT_EQ(described("_image_scaling: '[0.6, 1.4]'\nmedium_index: '1.33'\nname: im\nspacing: [0.1, 0.1]\n"),
            number("_image_scaling [0.6, 1.4]"));
  EXPECT_EQ(described("_image_scaling:\n- 0.6\n- 1.4\nspacing:\n- 0.1\n- 0.1\n"), number("_image_scaling 0.6 1.4"));
  EXPECT_EQ(described("{_attr_coords: '{_image_scaling: false}\n\n  ', _image_scaling: '[0.6, 1.4]\n\n  ',\n"
                      "  spacing: [0.1, 0.1]}\n"),
            number("_image_scaling [0.6, 1.4]"));
  EXPECT_EQ(described("_image_scaling: null\nspacing: [0.1, 0.2]\n"), number("spacing [0.1, 0.2]"));
  EXPECT_EQ(described(R"({"shape": [1, 2], "calibration": {"slope": 0.5, "intercept": 0}})"),
            number("calibration.slope 0.5"));
  EXPECT_EQ(described("<image><Scale>0.25</Scale><item name='offset' value=\"0\"/></image>"), number("Scale 0.25"));
  EXPECT_EQ(described("<image><p name=\"z-offset\" value=\"3\"/></image>"), number("z-offset 3"));
  EXPECT_EQ(notes({{285, 2, {}, "gain = 2"}}), Notes{"not applied to the values: number gain 2 of its PageName"});
  for (const auto* quiet :
       {"_image_scaling: '[0, 1]'\nspacing: [0.1, 0.1]", "{\"axes\": \"YX\", \"timezone_offset\": \"+0100\"}",
        "{scale: 1}", "<OME><Pixels PhysicalSizeXUnit=\"um\"/></OME>", "<a unit=\"ms\" exposure=\"3\"/>",
        "{\"gray_scale\": 8}"}) {
    EXPECT_EQ(described(quiet), Notes{}) << quiet;
  }
}

TEST_F(TiffUnknown, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  const Page page{2,
                  1,
                  8,
                  1,
                  1,
                  {"ab"},
                  {{270, 2, {}, "offset = 3\nslope = 2"},
                   number_tag(32932, 2),
                   {34682, 2, {}, "PixelWidth=1\nPixelHeight=2"},
                   number_tag(65009, 1),
                   number_tag(65010, 1)}};
  io_support::expect_survival("unknown.tif", tiff_file({page}), ".tif", 2000, read);
  for (const auto* description :
       {"{\"a\": [{\"scale\": 1}, {\"scale\": 2}], \"offset\": 3}", "{a: {scale: '2'}, offset: [1, 2]}",
        "scale:\n- 1\n- 2\nb: {offset: 3}", "<a scale=\"2\"><!-- b --><offset>3</offset></a>"}) {
    io_support::expect_survival("text.tif", tiff_file({{2, 1, 8, 1, 1, {"ab"}, {{270, 2, {}, description}}}}), ".tif",
                                2000, read);
  }
}

}  // namespace
}  // namespace holotone
