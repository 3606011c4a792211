// Pictures of floating point numbers: PFM, OpenEXR, half floats of TIFF.
#include <cmath>
#include <holotone/core/error.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <holotone/io/images/exr_header_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <limits>
#include <tests/io/float_pictures.hpp>
#include <tests/io/tiff_bytes.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

using io_fixtures::Exr;
using io_fixtures::exr_attribute;
using io_fixtures::exr_of;
using io_fixtures::pfm_of;
using io_support::error_of;
using io_support::TemporaryFolder;
using io_support::write_raw;

constexpr float infinite = std::numeric_limits<float>::infinity();

Image read_bytes(const std::string& bytes, const ImageReadOptions& options = {}) {
  const TemporaryFolder folder;
  write_raw(folder.file("x"), bytes);
  return read_image(folder.file("x"), options);
}

std::vector<float> list_floats(const Image& image) {
  const auto values = std::get<Array<float, 3>>(image.pixels).host();
  return {values.begin(), values.end()};
}

bool is_unsupported(const std::string& bytes) {
  try {
    read_bytes(bytes);
  } catch (const Error& error) {
    return error.code() == ErrorCode::unsupported;
  }
  return false;
}

TEST(ImagePfm, RowsRunUpwardAndTheScaleHasTheOrderOfBytes) {
  const std::vector<float> values{1, 2, 3, -4, 0.5F, infinite};
  for (const std::string scale : {"-1", "1.0", "-1.000000"}) {
    const Image image = read_bytes(pfm_of(3, 2, 1, values, scale));
    EXPECT_EQ(shape_of(image), (Shape<3>{2, 3, 1}));
    EXPECT_EQ(list_floats(image), values) << scale;
    EXPECT_TRUE(image.notes.empty());
  }
  EXPECT_EQ(list_floats(read_bytes(pfm_of(1, 2, 3, values))), values);
  EXPECT_EQ(shape_of(read_bytes(pfm_of(1, 2, 3, values))), (Shape<3>{2, 1, 3}));
  EXPECT_EQ(list_floats(read_bytes(pfm_of(3, 2, 1, values, "-1", "\r\n"))), values);
  // By hand: 1.5 is 0x3fc00000.
  EXPECT_EQ(list_floats(read_bytes(std::string("Pf\n1 1\n-1\n\0\0\xc0\x3f", 14))), std::vector<float>{1.5F});
  EXPECT_EQ(list_floats(read_bytes(std::string("Pf 1 1 1 \x3f\xc0\0\0", 13))), std::vector<float>{1.5F});
}

TEST(ImagePfm, AScaleThatIsNotAppliedIsNamed) {
  const Image image = read_bytes(pfm_of(1, 1, 1, {7}, "-0.003922"));
  EXPECT_EQ(list_floats(image), std::vector<float>{7});
  ASSERT_EQ(image.notes.size(), 1U);
  EXPECT_MENTIONS(image.notes.front(), "its scale 0.003922 is not applied to the values");
}

TEST(ImagePfm, WhatItDeclaresMustBeThere) {
  const auto refused = [](const std::string& bytes) { return error_of([&] { read_bytes(bytes); }); };
  EXPECT_MENTIONS(refused(pfm_of(2, 2, 1, {1, 2, 3, 4}) + "x"),
                  "expected 16 bytes of 2 x 2 pixels behind the header, got 17 bytes");
  EXPECT_MENTIONS(refused("Pf\n2 2\n-1\n1234567890123"), "expected 16 bytes");
  EXPECT_MENTIONS(refused("Pf\n2 0\n-1\n"), "expected 1 pixel or more, got 2 x 0");
  EXPECT_MENTIONS(refused("Pf\n2 2\n0\n"), "expected a scale other than 0");
  EXPECT_MENTIONS(refused("Pf\n2 b\n-1\n"), "expected the number of rows in the header of a PFM, got 'b'");
  EXPECT_MENTIONS(refused("Pf\n999999999 999999999\n-1\n"), "expected 1 to 4294967296 bytes of pixels");
  EXPECT_MENTIONS(refused("Pf\n9999 9999\n-1\n"), "expected data for 9999 x 9999 pixels");
}

TEST(ImagePfm, SurvivesMutations) {
  const auto read = [](const std::string& path) { read_image(path); };
  io_support::expect_survival("grey.pfm", pfm_of(5, 4, 1, std::vector<float>(20, 1.25F)), ".pfm", 2000, read);
  io_support::expect_survival("colour.pfm", pfm_of(3, 4, 3, std::vector<float>(36, 2), "1.0"), ".pfm", 2000, read);
}

Exr make_exr(std::vector<Exr::Channel> channels, int compression = 0) {
  return {std::move(channels), {0, 0, 2, 1}, {0, 0, 2, 1}, compression};
}

float value_at(std::size_t c, int x, int y) {
  return static_cast<float>(c) + 0.25F * static_cast<float>(x) + 4 * static_cast<float>(y);
}

#define SKIP_WITHOUT_EXR() \
  if (is_unsupported(exr_of(make_exr({{"Y"}}), value_at))) GTEST_SKIP() << "built without OpenEXR"

TEST(ImageExr, ChannelsOfHalfAndFloatAreThePicture) {
  SKIP_WITHOUT_EXR();
  for (const int compression : {0, 2}) {
    for (const std::uint32_t type : {1U, 2U}) {
      // Stored B, G, R: value_at 0, 1, 2.
      const Image image = read_bytes(exr_of(make_exr({{"B", type}, {"G", type}, {"R", type}}, compression), value_at));
      ASSERT_EQ(shape_of(image), (Shape<3>{2, 3, 3}));
      EXPECT_EQ(list_floats(image), (std::vector<float>{2, 1, 0, 2.25F, 1.25F, 0.25F, 2.5F, 1.5F, 0.5F,  //
                                                        6, 5, 4, 6.25F, 5.25F, 4.25F, 6.5F, 5.5F, 4.5F}));
      EXPECT_TRUE(image.notes.empty());
      const auto light = to_linear(image);
      EXPECT_EQ(light(1, 2, 0), 6.5F);  // light as it is
    }
  }
  for (const char* name : {"Y", "R", "V", "depth.Z"}) {
    EXPECT_EQ(list_floats(read_bytes(exr_of(make_exr({{name, 1}}), value_at))),
              (std::vector<float>{0, 0.25F, 0.5F, 4, 4.25F, 4.5F}))
        << name;
  }
}

TEST(ImageExr, ColoursAreDividedByAlpha) {
  SKIP_WITHOUT_EXR();
  const auto value = [](std::size_t c, int x, int /*y*/) { return c == 0 ? (x == 0 ? 0.0F : 0.5F) : 0.25F; };
  const Image image = read_bytes(exr_of(make_exr({{"A"}, {"Y"}}), value));
  EXPECT_EQ(list_floats(image), (std::vector<float>{0, 0, 0.5F, 0.5F, 0.5F, 0.5F, 0, 0, 0.5F, 0.5F, 0.5F, 0.5F}));
  ASSERT_EQ(image.notes.size(), 1U);
  EXPECT_MENTIONS(image.notes.front(), "light of 2 pixels whose alpha is 0 is left out");
}

TEST(ImageExr, ADepthIsItsChannelZ) {
  SKIP_WITHOUT_EXR();
  const std::string bytes = exr_of(make_exr({{"B"}, {"G"}, {"R"}, {"Z"}}), value_at);
  const Image image = read_bytes(bytes);
  EXPECT_EQ(shape_of(image)[2], 3);
  ASSERT_EQ(image.notes.size(), 1U);
  EXPECT_MENTIONS(image.notes.front(), "read 'R G B'; ignored: 'Z'");
  const Image depth = read_bytes(bytes, {.as_depth = true});
  EXPECT_EQ(list_floats(depth), (std::vector<float>{3, 3.25F, 3.5F, 7, 7.25F, 7.5F}));
  EXPECT_TRUE(depth.notes.empty());
  const std::string layers = exr_of(make_exr({{"L.A"}, {"L.B"}, {"L.G"}, {"L.R"}, {"M.Z"}}), value_at);
  EXPECT_EQ(list_floats(read_bytes(layers, {.as_depth = true}))[0], 4);
  EXPECT_EQ(shape_of(read_bytes(layers)), (Shape<3>{2, 3, 4}));
  const std::string blender = exr_of(make_exr({{"N.X"}, {"N.Y"}, {"N.Z"}, {"V.Depth.Z"}}), value_at);  // a normal
  EXPECT_EQ(list_floats(read_bytes(blender, {.as_depth = true}))[0], 3);
}

// The first value of the map in a file of these channels, and what is said of it. Channels stand in the order of their
// names, the value of channel c at the first pixel is c.
struct FoundDepth {
  float first = -1;
  std::string note;
};

FoundDepth find_depth(const std::vector<std::string>& names) {
  std::vector<Exr::Channel> channels;
  for (const auto& name : names) channels.push_back({name});
  const Image depth = read_bytes(exr_of(make_exr(channels), value_at), {.as_depth = true});
  return {list_floats(depth)[0], depth.notes.empty() ? "" : depth.notes.front()};
}

TEST(ImageExr, AChannelOrLayerByTheNameOfADepthIsTheMap) {
  SKIP_WITHOUT_EXR();
  const std::vector<std::pair<std::vector<std::string>, float>> cases = {
      {{"B", "Depth", "G", "R"}, 1},
      {{"B", "G", "R", "depth"}, 3},
      {{"B", "G", "R", "z"}, 3},
      {{"B", "G", "R", "depth.B", "depth.G", "depth.R"}, 5},
      {{"B", "G", "R", "depth.A", "depth.Y"}, 4},
      {{"B", "G", "R", "VRayZDepth.R"}, 2 + 1},
      {{"A", "B", "G", "R", "Z", "ZBack"}, 4},
      {{"Depth", "Z"}, 1},
      {{"View.Depth.Z", "View.Mist.Z"}, 0},
      {{"View.Combined.B", "View.Combined.G", "View.Combined.R", "View.Depth.V"}, 3},
      {{"B", "G", "P.X", "P.Y", "P.Z", "R", "camera.depth_pass"}, 6},
  };
  for (const auto& [names, expected] : cases) {
    const auto found = find_depth(names);
    EXPECT_EQ(found.first, expected) << names.back();
    EXPECT_EQ(found.note, "") << names.back();
  }
}

TEST(ImageExr, AMapWithoutTheNameOfADepthIsNamed) {
  SKIP_WITHOUT_EXR();
  EXPECT_EQ(find_depth({"B", "G", "R"}).note, "");
  EXPECT_MENTIONS(find_depth({"B", "G", "P.X", "P.Y", "P.Z", "R"}).note, "read 'R G B'; ignored: 'P.X P.Y P.Z'");
  EXPECT_MENTIONS(find_depth({"A", "B", "G", "R"}).note, "read 'R G B'; ignored: 'A'");
  const auto mist = find_depth({"B", "G", "Mist.Z", "R"});
  EXPECT_EQ(mist.first, 2);
  EXPECT_MENTIONS(mist.note, "read 'Mist.Z'; ignored: 'B G R'");
  EXPECT_MENTIONS(error_of([] {
                    find_depth({"left.Depth.Z", "right.Depth.Z"});
                  }),
                  "expected one channel or layer of depths, got 'left.Depth.Z right.Depth.Z'");
  EXPECT_MENTIONS(error_of([] {
                    find_depth({"DepthOfField.a", "U"});
                  }),
                  "expected a channel Z or Depth, or Y, R or one alone, got 'DepthOfField.a U'");
}

TEST(ImageExr, TheDisplayWindowIsThePicture) {
  SKIP_WITHOUT_EXR();
  const Exr exr{{{"Y"}}, {-1, 1, 1, 2}, {0, 0, 2, 1}, 2};
  const std::string bytes = exr_of(exr, [](std::size_t, int x, int y) { return static_cast<float>(10 * y + x); });
  EXPECT_EQ(list_floats(read_bytes(bytes)), (std::vector<float>{0, 0, 0, 10, 11, 0}));
  const auto depth = list_floats(read_bytes(bytes, {.as_depth = true}));
  EXPECT_TRUE(std::isnan(depth[0]) && std::isnan(depth[5]));
  EXPECT_EQ(depth[4], 11);
  const Exr apart{{{"Y"}}, {50, 50, 51, 51}, {0, 0, 1, 0}};
  EXPECT_EQ(list_floats(read_bytes(exr_of(apart, value_at))), (std::vector<float>{0, 0}));
}

TEST(ImageExr, WhatIsNotHonouredIsRefusedOrNamed) {
  SKIP_WITHOUT_EXR();
  const auto refused = [](const Exr& exr) { return error_of([&] { read_bytes(exr_of(exr, value_at)); }); };
  auto exr = make_exr({{"Y"}});
  exr.version = 2 | 0x800;
  EXPECT_MENTIONS(refused(exr), "expected an OpenEXR picture of one value a pixel, got a deep one");
  exr.version = 2 | 0x1000;
  EXPECT_MENTIONS(refused(exr), "expected an OpenEXR file of one part, got one of several parts");
  exr.version = 3;
  EXPECT_MENTIONS(refused(exr), "expected OpenEXR of version 2, got version 3");
  exr.version = 2 | 0x10000;
  EXPECT_MENTIONS(refused(exr), "expected known flags of OpenEXR");
  EXPECT_MENTIONS(refused(make_exr({{"BY"}, {"RY"}, {"Y"}})),
                  "expected channels R, G and B, or Y, or one alone, got 'BY RY Y'");
  EXPECT_MENTIONS(refused(make_exr({{"X"}, {"Y"}, {"Z"}})), "or one alone, got 'X Y Z'");
  EXPECT_MENTIONS(refused(make_exr({{"U", 0}})), "expected half or float in channel 'U', got integers");
  EXPECT_MENTIONS(refused(make_exr({{"Y", 2, 2}})), "expected channel 'Y' at every pixel, got one at fewer");
  EXPECT_MENTIONS(refused({{{"Y"}}, {0, 0, 0, 0}, {0, 0, 60000, 10000}}), "expected data for 60001 x 10001 pixels");
  EXPECT_MENTIONS(refused({{{"Y"}}, {0, 0, 0, 0}, {0, 0, -1, 10}}), "expected a displayWindow of 1 pixel or more");
  const std::string two_depths = exr_of(make_exr({{"a.Z"}, {"b.Z"}}), value_at);
  EXPECT_MENTIONS(error_of([&] { read_bytes(two_depths, {.as_depth = true}); }),
                  "expected one channel Z of depths, got 'a.Z b.Z'");

  auto named = make_exr({{"B"}, {"G"}, {"R"}});
  std::string numbers;
  for (const float number : {0.7347F, 0.2653F, 0.0F, 1.0F, 0.0001F, -0.077F, 0.32168F, 0.33767F}) {
    io_fixtures::append_number(numbers, number);
  }
  named.more = exr_attribute("chromaticities", "chromaticities", numbers);
  std::string two;
  io_fixtures::append_number(two, 2.0F);
  named.more += exr_attribute("pixelAspectRatio", "float", two);
  const Image image = read_bytes(exr_of(named, value_at), {.as_light = true});
  ASSERT_EQ(image.notes.size(), 2U);
  EXPECT_MENTIONS(image.notes[0], "pixelAspectRatio 2 ignored: pixels are square");
  EXPECT_MENTIONS(image.notes[1], "chromaticities ignored: colours are those of sRGB");
}

TEST(ImageExr, ColoursAndAttributesThatAreNotFollowedAreNamed) {
  SKIP_WITHOUT_EXR();
  const auto notes = [](const std::string& more, bool is_colour = true) {
    auto exr = is_colour ? make_exr({{"B"}, {"G"}, {"R"}}) : make_exr({{"Y"}});
    exr.more = more;
    std::vector<std::string> result;
    for (const auto& note : read_bytes(exr_of(exr, value_at), {.as_light = true}).notes) {
      result.push_back(note.substr(note.find(": ") + 2));
    }
    return result;
  };
  using Notes = std::vector<std::string>;
  const auto id = [](const std::string& value) { return exr_attribute("colorInteropID", "string", value); };
  const std::string taken = " are ignored: taken as linear light of sRGB";
  for (const std::string space : {"lin_ap1_scene", "srgb_rec709_scene", "data"}) {
    EXPECT_EQ(notes(id(space)), Notes{"its colours '" + space + "'" + taken});
  }
  EXPECT_EQ(notes(exr_attribute("oiio:ColorSpace", "string", "sRGB")), Notes{"its colours 'sRGB'" + taken});
  for (const std::string space : {"lin_rec709_scene", "unknown"}) EXPECT_EQ(notes(id(space)), Notes{}) << space;
  EXPECT_EQ(notes(exr_attribute("oiio:ColorSpace", "string", "Linear")), Notes{});
  EXPECT_EQ(notes(id("lin_ap1_scene"), false), Notes{});
  EXPECT_EQ(notes(id("g22_rec709_scene"), false),
            Notes{"its colours 'g22_rec709_scene' are ignored: taken as linear light"});
  EXPECT_EQ(notes(exr_attribute("envmap", "envmap", std::string(1, '\0'))),
            Notes{"a picture of all directions (envmap latlong) is read as a flat one"});
  const std::string four(4, '\0');
  EXPECT_EQ(notes(exr_attribute("heightScale", "float", four) + exr_attribute("exposure", "float", four) +
                  exr_attribute("depthUnits", "string", "mm")),
            Notes{"ignored: attributes heightScale, exposure, depthUnits"});
  EXPECT_EQ(notes(exr_attribute("owner", "string", "N") + exr_attribute("capDate", "string", "2026") +
                  exr_attribute("cycles.samples", "int", four) + exr_attribute("aperture", "float", four) +
                  exr_attribute("nuke/node_hash", "string", "a")),
            Notes{});
}

TEST(ImageExr, DamagedPixelsAreRefused) {
  SKIP_WITHOUT_EXR();
  const std::string bytes = exr_of(make_exr({{"Y"}}, 2), value_at);
  for (std::size_t size = 4; size < bytes.size(); size += 7) {
    EXPECT_THROW(read_bytes(bytes.substr(0, size)), Error) << size;
  }
}

TEST(ImageExr, AChildDecodesThePixels) {
  SKIP_WITHOUT_EXR();
  const TemporaryFolder folder;
  const auto path = folder.file("x.exr");
  write_raw(path, exr_of(make_exr({{"R"}, {"Z"}}, 2), value_at));
  for (const auto& [command, first] : {std::pair{"__read-exr", 0.0F}, std::pair{"__read-exr-depth", 1.0F}}) {
    const GuardedRun run = run_guarded(guarded_program(), {command, path, "1000000000"}, {}, path);
    ASSERT_EQ(run.exit_code, 0);
    const auto pixels = io::parse_pixels(run.output, path);
    EXPECT_EQ(pixels.shape(), (Shape<3>{2, 3, 1}));
    EXPECT_EQ(pixels(0, 0, 0), first);
    const auto parse = [](const std::string& dump) { (void)io::parse_pixels(io_support::read_raw(dump), "x"); };
    io_support::expect_survival("pixels", run.output, ".dump", 300, parse);
  }
  EXPECT_MENTIONS(error_of([&] { io::parse_pixels(io::dump_pixels(Array<float, 3>({0, 1, 1})), "x"); }), "a shape");
}

// The header by our own reader, and the pixels by the library, in this process.
TEST(ImageExr, SurvivesMutations) {
  SKIP_WITHOUT_EXR();
  const auto read = [](const std::string& path) {
    const std::string bytes = io_support::read_raw(path);
    const auto header = io::parse_exr_header(bytes, path);
    const auto channels = io::exr_channels(header, false, path);
    if (header.data.nx() * header.data.ny() > 1 << 20) throw Error(ErrorCode::io, "too large");
    (void)io::exr_pixels(bytes, header, channels, path);
  };
  for (const int compression : {0, 2}) {
    auto exr = make_exr({{"B", 1}, {"G", 1}, {"R", 1}}, compression);
    exr.data = exr.display = {0, 0, 20, 9};
    io_support::expect_survival("exr", exr_of(exr, value_at), ".exr", 2000, read);
  }
}

TEST(ImageHalf, HalvesOfATiffAreTheirNumbers) {
  // 1, -2, 65504, 2^-24 (the least), 1023 2^-24, infinity, NaN, -0: IEEE 754, binary16.
  const std::vector<std::uint32_t> halves{0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0x7e00, 0x8000};
  std::string pixels;
  for (const auto half : halves) io_fixtures::append(pixels, half, 2);
  const std::string bytes = io_fixtures::tiff_of(4, 2, 1, 16, true, -1, pixels);
  if (is_unsupported(bytes)) GTEST_SKIP() << "built without libtiff";
  const auto got = list_floats(read_bytes(bytes));
  ASSERT_EQ(got.size(), 8U);
  const std::vector<float> expected{1, -2, 65504, 0x1p-24F, 1023 * 0x1p-24F, infinite};
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 6), expected);
  EXPECT_TRUE(std::isnan(got[6]));
  EXPECT_TRUE(got[7] == 0 && std::signbit(got[7]));
  io_support::expect_survival("half.tif", bytes, ".tif", 2000, [](const std::string& path) { read_image(path); });
}

}  // namespace
}  // namespace holotone
