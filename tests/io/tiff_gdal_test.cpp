// Units and sides of pixels that GDAL and GeoTIFF state.
#include <bit>
#include <cstring>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <string>
#include <tests/io/tiff_reading.hpp>
#include <vector>

namespace holotone {
namespace {

using io_fixtures::find_note;
using io_fixtures::Page;
using io_fixtures::read_tif;
using io_fixtures::Tag;
using io_fixtures::tiff_file;
using io_support::TemporaryFolder;
using io_support::write_raw;

Tag doubles(std::uint32_t tag, const std::vector<double>& values) {
  Tag result{tag, 12};
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    result.numbers.push_back(static_cast<std::uint32_t>(bits));
    result.numbers.push_back(static_cast<std::uint32_t>(bits >> 32));
  }
  return result;
}

Tag unit_tag(const std::string& unit) {
  return {
      42112,
      2,
      {},
      "<GDALMetadata>\n<Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">" + unit + "</Item>\n</GDALMetadata>"};
}

Page metres(const std::vector<float>& values, const std::vector<Tag>& tags) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  Page page{static_cast<std::uint32_t>(values.size()), 1, 32, 1, 1, {bytes}, tags};
  page.tags.push_back({339, 3, {3}});
  return page;
}

class TiffGdal : public io_fixtures::TiffTest {
 protected:
  /// The depths of a file of one row.
  [[nodiscard]] DepthMap depths(const Page& page, PlacedPicture job = {}) const {
    job.depth = folder_.file("x.tif");
    job.size_m = 1;
    write_raw(job.depth, tiff_file({page}));
    return read_depth(job, {1, page.nx});
  }

  TemporaryFolder folder_;
};

TEST_F(TiffGdal, PixelsOfUnequalSidesAreNamed) {
  const auto page = [](const Tag& tag) { return tiff_file({{2, 1, 8, 1, 1, {"ab"}, {tag}}}); };
  EXPECT_EQ(find_note(read_tif(page(doubles(33550, {2, 1, 0}))).notes),
            "x.tif: its pixels are not square, 1 columns and 2 rows on the same length: taken as square");
  EXPECT_EQ(find_note(read_tif(page(doubles(33550, {0.5, 0.5, 0}))).notes), "none");
  // Pixels of 3 x 4 turned by 30 degrees: the columns of the matrix are steps to the right and downward.
  const double cosine = 0.8660254037844386;
  EXPECT_EQ(
      find_note(
          read_tif(page(doubles(34264, {3 * cosine, 2, 0, 7, 1.5, -4 * cosine, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1}))).notes),
      "x.tif: its pixels are not square, 4 columns and 3 rows on the same length: taken as square");
}

TEST_F(TiffGdal, TheUnitOfDepthsIsTaken) {
  const std::pair<std::string, double> units[] = {
      {"ft", 0.3048}, {"m", 1},          {"Metre", 1},          {"cm", 0.01},
      {"um", 1e-6},   {"\u00b5m", 1e-6}, {"millimeters", 1e-3}, {"US survey foot", 1200.0 / 3937}};
  for (const auto& [name, size_m] : units) {
    const DepthMap map = depths(metres({0.5F, 0.65F}, {unit_tag(name)}));
    EXPECT_NEAR(map.farthest_m, 0.65 * size_m, 1e-7 * size_m) << name;
    EXPECT_NEAR(map.nearest_m, 0.5 * size_m, 1e-7 * size_m) << name;
    EXPECT_TRUE(map.notes.empty()) << map.notes[0];
  }
  // Codes become lengths.
  const Page codes{2, 1, 16, 1, 1, {std::string("\xc8\x00\xdc\x00", 4)}, {unit_tag("mm")}};
  EXPECT_NEAR(depths(codes).farthest_m, 0.22, 1e-9);
}

TEST_F(TiffGdal, TheUnitOfHeightsIsTaken) {
  const auto keys = [](std::uint32_t code) { return Tag{34735, 3, {1, 1, 0, 2, 1024, 0, 1, 1, 4099, 0, 1, code}}; };
  for (const auto& [code, size_m] :
       {std::pair{9001U, 1.0}, std::pair{9002U, 0.3048}, std::pair{9003U, 1200.0 / 3937}}) {
    EXPECT_NEAR(depths(metres({0.5F, 0.65F}, {keys(code)})).farthest_m, 0.65 * size_m, 1e-7) << code;
  }
  EXPECT_EQ(find_note(depths(metres({0.5F, 0.65F}, {keys(9037)})).notes),
            "x.tif: its unit 'EPSG 9037' is not applied to the values");
  EXPECT_NEAR(depths(metres({0.5F, 0.65F}, {keys(9002), unit_tag("cm")})).farthest_m, 0.0065, 1e-9);  // the values' own
  EXPECT_TRUE(read_tif(tiff_file({metres({3}, {keys(9001)})})).notes.empty());
}

TEST_F(TiffGdal, VerticalSystemsOfEpsgStateTheUnit) {
  const auto keys = [](std::uint32_t code) { return Tag{34735, 3, {1, 1, 0, 2, 1024, 0, 1, 1, 4096, 0, 1, code}}; };
  constexpr double us_foot = 1200.0 / 3937;
  for (const auto& [code, size_m] : {std::pair{5703U, 1.0},
                                     {5773U, 1.0},
                                     {6360U, us_foot},
                                     {6358U, us_foot},
                                     {5702U, us_foot},
                                     {8052U, us_foot},
                                     {8228U, 0.3048},
                                     {8050U, 0.3048}}) {
    const DepthMap map = depths(metres({0.5F, 0.65F}, {keys(code)}));
    EXPECT_NEAR(map.farthest_m, 0.65 * size_m, 1e-7) << code;
    EXPECT_TRUE(map.notes.empty()) << map.notes[0];
  }
  const DepthMap other = depths(metres({0.5F, 0.65F}, {keys(5030)}));
  EXPECT_EQ(find_note(other.notes), "x.tif: its vertical system EPSG:5030 is not known: taken as metres");
  EXPECT_NEAR(other.farthest_m, 0.65, 1e-7);
  EXPECT_EQ(find_note(read_tif(tiff_file({metres({3}, {keys(5030)})})).notes), "none");
  // A system of the file's own, by its name.
  const std::string name = "NAVD88 height (ftUS)|";
  const Tag of_user{34735, 3, {1, 1, 0, 2, 4096, 0, 1, 32767, 4097, 34737, static_cast<std::uint32_t>(name.size()), 0}};
  const Tag text{34737, 2, {}, name};
  EXPECT_NEAR(depths(metres({0.5F, 0.65F}, {of_user, text})).farthest_m, 0.65 * us_foot, 1e-7);
}

TEST_F(TiffGdal, ScaleAndOffsetOfHeightsAreNamed) {
  const auto notes = [](const std::vector<Tag>& tags) { return read_tif(tiff_file({metres({3}, tags)})).notes; };
  EXPECT_EQ(find_note(notes({doubles(33550, {1, 1, 1}), doubles(33922, {0, 0, 0, 5, 6, 0.1})})),
            "x.tif: its scale 1 and offset 0.1 of heights (GeoTIFF) are not applied to the values");
  EXPECT_EQ(find_note(notes({doubles(33550, {1, 1, 0.3048}), doubles(33922, {0, 0, 10, 5, 6, 4})})),
            "x.tif: its scale 0.3048 and offset 0.952 of heights (GeoTIFF) are not applied to the values");
  EXPECT_EQ(find_note(notes({doubles(34264, {1, 0, 0, 7, 0, -1, 0, 9, 0, 0, 2, 3, 0, 0, 0, 1})})),
            "x.tif: its scale 2 and offset 3 of heights (GeoTIFF) are not applied to the values");
  EXPECT_EQ(find_note(notes({doubles(33550, {1, 1, 0}), doubles(33922, {0, 0, 0, 5, 6, 0})})), "none");
  EXPECT_EQ(find_note(notes({doubles(33550, {1, 1, 1}), doubles(33922, {0, 0, 0, 5, 6, 0})})), "none");
}

TEST_F(TiffGdal, RowsThatGoNorthAreNamed) {
  const std::string north = "x.tif: its rows go from south to north (GeoTIFF): the first row is read as the top";
  const auto note = [](const Tag& tag) { return find_note(read_tif(tiff_file({metres({3}, {tag})})).notes); };
  EXPECT_EQ(note(doubles(33550, {1, -1, 0})), north);
  EXPECT_EQ(note(doubles(34264, {1, 0, 0, 7, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1})), north);
  EXPECT_EQ(note(doubles(34264, {1, 0, 0, 7, 0, -1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1})), "none");
}

TEST_F(TiffGdal, OptionsComeBeforeTheUnit) {
  const Page feet = metres({0.5F, 0.65F}, {unit_tag("ft")});
  PlacedPicture job;
  job.unit = parse_depth_unit("1cm");
  EXPECT_NEAR(depths(feet, job).farthest_m, 0.0065, 1e-9);
  job = {};
  job.depth_range_m = {{0.1, 0.2}};
  const DepthMap ranged = depths(feet, job);
  EXPECT_NEAR(ranged.farthest_m, 0.2, 1e-9);
  EXPECT_TRUE(ranged.notes.empty());
  const Page codes{2, 1, 8, 1, 1, {"\x7f\xff"}, {unit_tag("mm")}};
  const DepthMap coded = depths(codes, job);
  EXPECT_NEAR(coded.nearest_m, 0.1 + 0.1 * 127 / 255, 1e-8);
  EXPECT_EQ(find_note(coded.notes), "x.tif: its unit 'mm' is not applied to the values");
  EXPECT_EQ(find_note(depths(metres({0.5F, 0.65F}, {unit_tag("furlong")})).notes),
            "x.tif: its unit 'furlong' is not applied to the values");
}

TEST_F(TiffGdal, TheUnitOfOtherPicturesIsNamed) {
  const Image degrees = read_tif(tiff_file({metres({90}, {unit_tag("degree")})}));
  EXPECT_EQ(find_note(degrees.notes), "x.tif: its unit 'degree' is not applied to the values");
  EXPECT_EQ(degrees.metadata.at("text:unittype"), "degree");
  EXPECT_TRUE(read_tif(tiff_file({metres({3}, {unit_tag("rad")})})).notes.empty());
  EXPECT_TRUE(read_tif(tiff_file({metres({3}, {unit_tag("")})})).notes.empty());
}

TEST_F(TiffGdal, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  const Page page =
      metres({0.5F}, {unit_tag("ft"), doubles(33550, {2, 1, 0}), {34735, 3, {1, 1, 0, 1, 4099, 0, 1, 9002}}});
  io_support::expect_survival("gdal.tif", tiff_file({page}), "gdal.tif", 2000, read);
  const Page of_user = metres({0.5F}, {doubles(33550, {2, 2, 3}),
                                       doubles(33922, {0, 0, 0, 1, 2, 3}),
                                       {34735, 3, {1, 1, 0, 2, 4096, 0, 1, 32767, 4097, 34737, 5, 0}},
                                       {34737, 2, {}, "(ft)|"}});
  io_support::expect_survival("user.tif", tiff_file({of_user}), "user.tif", 2000,
                              [](const std::string& path) { (void)read_image(path, {.as_depth = true}); });
}

}  // namespace
}  // namespace holotone
