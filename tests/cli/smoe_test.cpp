// `holotone smoe`: info, render and convert, and rejected input.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <holotone/core/colour.hpp>
#include <holotone/core/crc32.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/render.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SmoeProgramTest : public ProgramTest {
 protected:
  [[nodiscard]] static SmoeModel made(int dimensions = 2, int channels = 3, std::int64_t components = 80) {
    cases::SmoeCase c;
    c.dimensions = dimensions;
    c.channels = channels;
    c.components = components;
    return cases::make_smoe(c);
  }

  /// Writes a model; returns it as decoded from the file.
  SmoeModel put(const std::string& name, const SmoeModel& model, bool lossless = true) const {
    const auto bytes = encode_smoe(model, {.lossless = lossless, .steps = smoe_steps(model, 60)});
    write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return decode_smoe(bytes, name);
  }

  [[nodiscard]] static Array<float, 3> picture(const SmoeModel& model, const SmoeView& view) {
    Array<float, 3> image({view.size[0], view.size[1], model.channels});
    SmoeRenderer(model).render(view, image.view());
    return image;
  }

  /// Expects every code of a picture to be that of the model's colours.
  void expect_codes(const std::string& name, const Array<float, 3>& colours, bool linear, int bits) const {
    const Image image = read_image(path(name));
    ASSERT_EQ(shape_of(image), colours.shape()) << name;
    const double levels = std::ldexp(1.0, bits) - 1;
    const double largest = bits == 8 ? 255 : 65535;
    const auto codes = to_float(image);
    for (std::int64_t i = 0; i < colours.size(); ++i) {
      double value = std::clamp(static_cast<double>(colours.data()[i]), 0.0, 1.0);
      if (linear) value = linear_to_srgb(value);
      const double code = std::round(std::round(value * levels) * largest / levels);
      ASSERT_NEAR(static_cast<double>(codes.data()[i]) * largest, code, 1e-2) << name << " at " << i;
    }
  }
};

TEST_F(SmoeProgramTest, InfoSaysWhatTheFileHolds) {
  const auto model = put("m.smoe", made(), false);
  const auto json = run_json({"smoe", "info", path("m.smoe")});
  const auto bytes = fs::file_size(path("m.smoe"));
  EXPECT_EQ(json["components"], 80);
  EXPECT_EQ(json["dimensions"], 2);
  EXPECT_EQ(json["channels"], 3);
  EXPECT_EQ(json["bytes"], bytes);
  EXPECT_EQ(json["lossless"], false);
  EXPECT_NEAR(json["bits_per_pixel"].get<double>(), 8.0 * static_cast<double>(bytes) / (60 * 45), 1e-9);
  EXPECT_FLOAT_EQ(json["steps"]["colour"].get<float>(), static_cast<float>(smoe_steps(model, 60).colour));
  const auto text = run({"smoe", "info", path("m.smoe")});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  for (const char* word :
       {"80 components", "3 channels", "x 0 to 60, y 0 to 45", "bits a component", "in steps: centre"}) {
    EXPECT_NE(text.output.find(word), std::string::npos) << word << " in " << text.output;
  }
  EXPECT_EQ(run_json({"info", path("m.smoe")}), json);
}

TEST_F(SmoeProgramTest, InfoTellsThePsnr) {
  const auto model = put("m.smoe", made());
  ASSERT_EQ(run({"smoe", "render", path("m.smoe"), "-o", path("own.png")}).exit_code, 0);
  const auto equal = run({"smoe", "info", path("m.smoe"), "--against", path("own.png")});
  EXPECT_NE(equal.output.find("PSNR                   equal"), std::string::npos) << equal.output << equal.error;
  // A picture whose codes are all off by one.
  Image image = read_image(path("own.png"));
  for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) {
    code = static_cast<std::uint8_t>(code == 255 ? 254 : code + 1);
  }
  write_image(path("off.png"), image);
  const auto json = run_json({"smoe", "info", path("m.smoe"), "--against", path("off.png")});
  EXPECT_NEAR(json["psnr_db"].get<double>(), 20 * std::log10(255.0), 1e-4);
  const auto similarity = colour_similarity(to_float(read_image(path("own.png"))).view(), to_float(image).view());
  for (const auto& [key, value] : {std::pair{"psnr_y_db", similarity.psnr_y_db},
                                   {"psnr_cb_db", similarity.psnr_cb_db},
                                   {"psnr_cr_db", similarity.psnr_cr_db},
                                   {"psnr_ycbcr_db", similarity.psnr_ycbcr_db},
                                   {"ssim_y", similarity.ssim_y}}) {
    EXPECT_NEAR(json[key].get<double>(), value, 1e-9) << key;
  }
  const auto text = run({"smoe", "info", path("m.smoe"), "--against", path("off.png")});
  EXPECT_NE(text.output.find(fmt::format("SSIM of Y              {:.4f}\n", similarity.ssim_y)), std::string::npos)
      << text.output;
  Image grey{Array<std::uint8_t, 3>({4, 4, 1}), {}};
  write_image(path("grey.png"), grey);
  expect_refused({"smoe", "info", path("m.smoe"), "--against", path("grey.png")}, {"grey.png", "3 channels", "got 1"});
  const auto of_size = [&](std::int64_t width, std::int64_t height) {
    write_image(path("sized.png"), Image{Array<std::uint8_t, 3>({height, width, 3}), {}});
    return std::vector<std::string>{"smoe", "info", path("m.smoe"), "--against", path("sized.png")};
  };
  expect_refused(of_size(60, 40), {"sized.png", "the model's aspect, 60 x 45, got 60 x 40 pixels"});
  EXPECT_EQ(run(of_size(20, 15)).exit_code, 0);
  EXPECT_EQ(run(of_size(7, 5)).exit_code, 0);  // rounded
}

TEST_F(SmoeProgramTest, RendersAnySizePartAndDepth) {
  const auto model = put("m.smoe", made());
  const SmoeView whole{{45, 60}, {0, 0}, {60, 45}, {}};
  const auto render = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> line{"smoe", "render", path("m.smoe"), "-o", path(name)};
    line.insert(line.end(), more.begin(), more.end());
    return run_json(line);
  };
  EXPECT_EQ(render("own.png", {})["resolution"], nlohmann::json({60, 45}));
  expect_codes("own.png", picture(model, whole), false, 8);
  render("big.png", {"--size", "131x77"});
  expect_codes("big.png", picture(model, {{77, 131}, {0, 0}, {60, 45}, {}}), false, 8);
  render("part.png", {"--crop", "10.5,5,20,12.25", "--size", "50x33"});
  expect_codes("part.png", picture(model, {{33, 50}, {10.5, 5}, {20, 12.25}, {}}), false, 8);
  EXPECT_EQ(render("part_own.png", {"--crop", "10.5,5,20,12.25"})["resolution"], nlohmann::json({20, 12}));
  for (const int bits : {10, 12, 16}) {
    render("deep.png", {"--bits", std::to_string(bits)});
    expect_codes("deep.png", picture(model, whole), false, bits);
  }
  EXPECT_EQ(render("one.png", {"--size", "1x1"})["resolution"], nlohmann::json({1, 1}));
  const auto robust = render("robust.png", {"--precision", "robust", "--selection", "all"});
  EXPECT_EQ(robust["components_per_tile"], 80);
  EXPECT_TRUE(robust["tolerance"].is_null());
  EXPECT_EQ(render("window.png", {"--selection", "window", "--window", "1000"})["components_per_tile"], 80);
  EXPECT_EQ(
      render("blocks.png", {"--selection", "window", "--window", "1", "--window-block", "64"})["components_per_tile"],
      80);
  EXPECT_EQ(render("fine.png", {"--tolerance", "1e-6"})["tolerance"], 1e-6);
  render("colours.npy", {"--float"});
  const auto npy = content_of(path("colours.npy"));
  const auto expected = picture(model, whole);
  ASSERT_EQ(npy.size(), 128 + 4 * static_cast<std::size_t>(expected.size()));
  EXPECT_EQ(std::memcmp(npy.data() + 128, expected.data(), 4 * static_cast<std::size_t>(expected.size())), 0);
  if (can_write("colours.tif")) {
    render("colours.tif", {"--float"});
    const auto floats = to_float(read_image(path("colours.tif")));
    EXPECT_EQ(std::memcmp(floats.data(), expected.data(), 4 * static_cast<std::size_t>(expected.size())), 0);
  }
}

TEST_F(SmoeProgramTest, GreyAlphaAndLinearLight) {
  for (int channels = 1; channels <= 4; ++channels) {
    const auto model = put("m.smoe", made(2, channels, 30));
    ASSERT_EQ(run({"smoe", "render", path("m.smoe"), "-o", path("m.png")}).exit_code, 0);
    expect_codes("m.png", picture(model, {{45, 60}, {0, 0}, {60, 45}, {}}), false, 8);
  }
  auto light = made();
  light.linear = true;
  light = put("light.smoe", light);
  ASSERT_EQ(run({"smoe", "render", path("light.smoe"), "-o", path("light.png"), "--bits", "16"}).exit_code, 0);
  expect_codes("light.png", picture(light, {{45, 60}, {0, 0}, {60, 45}, {}}), true, 16);
}

TEST_F(SmoeProgramTest, MoreComponentsThanPixelsAndOneOfEach) {
  auto many = made(2, 3, 500);
  many.high = {3, 2, 0, 0};
  put("many.smoe", many);
  EXPECT_EQ(run_json({"smoe", "render", path("many.smoe"), "-o", path("many.png")})["resolution"],
            nlohmann::json({3, 2}));
  auto one = made(2, 3, 1);
  one.high = {1, 1, 0, 0};
  put("one.smoe", one, false);
  EXPECT_EQ(run_json({"smoe", "render", path("one.smoe"), "-o", path("one.png")})["resolution"],
            nlohmann::json({1, 1}));
}

TEST_F(SmoeProgramTest, ViewsOfALightField) {
  const auto model = put("field.smoe", made(4, 3, 120), false);
  const SmoeView whole{{45, 60}, {0, 0}, {60, 45}, {0.3, -0.5}};
  EXPECT_EQ(run_json({"smoe", "render", path("field.smoe"), "-o", path("view.png"), "--view", "0.3,-0.5"})["view"],
            nlohmann::json({0.3, -0.5}));
  expect_codes("view.png", picture(model, whole), false, 8);
  const auto outside = run({"smoe", "render", path("field.smoe"), "-o", path("outside.png"), "--view", "1.5,0"});
  EXPECT_EQ(outside.exit_code, 0);
  EXPECT_NE(outside.error.find("warning: --view: u = 1.5 lies outside the captured -1 to 1"), std::string::npos)
      << outside.error;
  const auto sweep = run_json({"smoe", "render", path("field.smoe"), "-o", path("frame_%02d.png"), "--sweep", "3"});
  EXPECT_EQ(sweep["outputs"].size(), 3u);
  for (int i = 0; i < 3; ++i) {
    expect_codes(fmt::format("frame_{:02}.png", i), picture(model, {{45, 60}, {0, 0}, {60, 45}, {i - 1.0, 0}}), false,
                 8);
  }
  const auto epipolar = run_json({"smoe", "render", path("field.smoe"), "-o", path("epi.png"), "--epi", "12", "--view",
                                  "0,0.5", "--size", "60x5"});
  EXPECT_EQ(epipolar["resolution"], nlohmann::json({60, 5}));
  EXPECT_EQ(epipolar["views_from_to"], nlohmann::json({{-1, 0.5}, {1, 0.5}}));
  EXPECT_EQ(epipolar["selection"], "bounded");
  EXPECT_EQ(run_json({"smoe", "render", path("field.smoe"), "-o", path("far.png"), "--epi", "44.4", "--view", "0,1.5",
                      "--size", "60x5"})["warnings"]
                .size(),
            1U);
  Array<float, 3> rows({5, 60, 3});
  for (int i = 0; i < 5; ++i) {
    const auto view = picture(model, {{45, 60}, {0, 0}, {60, 45}, {0.5 * i - 1, 0.5}});
    std::copy_n(view.data() + 12 * 60 * 3, 60 * 3, rows.data() + static_cast<std::int64_t>(i) * 60 * 3);
  }
  expect_codes("epi.png", rows, false, 8);
  const auto flat = run({"smoe", "render", path("field.smoe"), "-o", path("epi.png"), "--epi", "nan"});
  EXPECT_EQ(flat.exit_code, 2);
  const auto json = run_json({"smoe", "info", path("field.smoe"), "--against", path("frame_02.png"), "--view", "1,0"});
  EXPECT_TRUE(json["psnr_db"].is_null()) << "equal: infinite";
}

TEST_F(SmoeProgramTest, ConversionsKeepEveryFloat) {
  for (int dimensions = 1; dimensions <= 4; ++dimensions) {
    auto model = made(dimensions, dimensions, 40);
    model.linear = dimensions == 3;
    put("m.smoe", model);
    for (const char* other : {"m.json", "m.npz"}) {
      ASSERT_EQ(run({"smoe", "convert", path("m.smoe"), "-o", path(other)}).exit_code, 0);
      const auto facts = run_json({"info", path(other)});
      EXPECT_EQ(facts["kind"], "smoe");
      ASSERT_EQ(run({"smoe", "convert", path(other), "-o", path("back.smoe")}).exit_code, 0);
      EXPECT_EQ(content_of(path("back.smoe")), content_of(path("m.smoe"))) << other << ", " << dimensions;
    }
    EXPECT_EQ(nlohmann::json::parse(content_of(path("m.json")))["centre"].size(),
              40u * static_cast<unsigned>(dimensions));
  }
}

TEST_F(SmoeProgramTest, ConversionsToFilesOfAnySize) {
  const auto model = made(2, 3, 400);
  put("m.smoe", model);
  const auto convert = [&](const std::string& from, const std::string& to, std::vector<std::string> more) {
    std::vector<std::string> line{"smoe", "convert", path(from), "-o", path(to)};
    line.insert(line.end(), more.begin(), more.end());
    return run_json(line)["bytes"].get<std::int64_t>();
  };
  EXPECT_LE(convert("m.smoe", "small.smoe", {"--bytes", "2.2k"}), 2200);
  EXPECT_GT(fs::file_size(path("small.smoe")), 2100u);
  EXPECT_LT(convert("m.smoe", "coarse.smoe", {"--quality", "20"}), convert("m.smoe", "fine.smoe", {"--quality", "70"}));
  // Conversion of a quantized file keeps its steps and all else.
  convert("fine.smoe", "again.smoe", {});
  EXPECT_EQ(content_of(path("again.smoe")), content_of(path("fine.smoe")));
  EXPECT_GT(convert("fine.smoe", "exact.smoe", {"--lossless"}),
            3 * static_cast<std::int64_t>(fs::file_size(path("fine.smoe"))));
}

TEST_F(SmoeProgramTest, WrongLinesAreRefused) {
  put("m.smoe", made());
  const auto render = [&](std::vector<std::string> more, const std::string& output = "out.png") {
    std::vector<std::string> line{"smoe", "render", path("m.smoe"), "-o", path(output)};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  };
  expect_refused({"smoe"}, {"smoe: ", "expected a command: fit, ", "holotone smoe --help"});
  expect_refused({"smoe", "rendr", path("m.smoe")}, {"rendr", "did you mean 'render'"});
  expect_refused({"smoe", "render", path("m.smoe")}, {"smoe render: --output is required"});
  expect_refused(render({"--sise", "3x3"}), {"--sise", "did you mean '--size'", "holotone smoe render --help"});
  expect_refused(render({"--size", ""}), {"--size: expected a value"});
  expect_refused(render({"--size", "70000x3"}), {"--size", "70000x3"});
  expect_refused(render({"--crop", "1,2,3"}), {"--crop", "X,Y,WIDTH,HEIGHT"});
  expect_refused(render({"--crop", "1,2,0,3"}), {"--crop", "> 0"});
  expect_refused(render({"--bits", "9"}), {"--bits", "8, 10, 12 or 16"});
  expect_refused(render({"--tolerance", "0"}), {"--tolerance", "1e-07 to 1"});
  expect_refused(render({"--selection", "windw"}), {"--selection", "did you mean 'window'"});
  expect_refused(render({"--tolerance", "1e-3", "--selection", "all"}), {"--tolerance", "--selection bounded"});
  expect_refused(render({"--window-block", "32"}), {"--window-block", "--selection window"});
  expect_refused(render({"--window-block", "24", "--selection", "window"}), {"--window-block", "a multiple of 16"});
  expect_refused(render({"--view", "0,0"}), {"--view", "a light field"});
  expect_refused(render({"--sweep", "3"}), {"--output", "a counter"});
  expect_refused(render({"--sweep", "3"}, "out_%d.png"), {"--sweep", "a light field"});
  expect_refused(render({}, "out_%d.png"), {"--output", "no counter"});
  expect_refused(render({}, "out.jpg"), {"--output", ".png"});
  expect_refused(render({"--float"}), {"--output", ".npy"});
  expect_refused(render({"--bits", "12"}, "out.bmp"), {"--output", ".png"});
  expect_refused({"smoe", "render", path("m.smoe"), "-o", path("m.smoe")}, {"--output"});
  expect_refused({"smoe", "convert", path("m.smoe"), "-o", path("m.smoe")},
                 {"--output", "another file than the input"});
  expect_refused({"smoe", "convert", path("m.smoe"), "-o", path("m.json"), "--quality", "50"}, {"--output", ".smoe"});
  expect_refused({"smoe", "convert", path("m.smoe"), "-o", path("n.smoe"), "--quality", "101"},
                 {"--quality", "0 to 100"});
  expect_refused({"smoe", "convert", path("m.smoe"), "-o", path("n.smoe"), "--bytes", "10"}, {"--bytes", "at least"});
  expect_refused({"smoe", "convert", path("m.smoe"), "-o", path("n.smoe"), "--bytes", "10q"}, {"--bytes", "10q"});
  expect_refused({"smoe", "info", path("m.smoe"), "--view", "0,0"}, {"--view", "--against"});
  put("line.smoe", made(1, 3, 10));
  expect_refused({"smoe", "render", path("line.smoe"), "-o", path("out.png")}, {"line.smoe", "2 dimensions"});
  put("field.smoe", made(4, 3, 10));
  expect_refused({"smoe", "render", path("field.smoe"), "-o", path("out.png"), "--view", "0"},
                 {"--view", "two numbers"});
  expect_refused({"smoe", "render", path("field.smoe"), "-o", path("out.png"), "--view", "nan,0"}, {"--view", "nan"});
}

TEST_F(SmoeProgramTest, BadFilesAreRefused) {
  put("m.smoe", made(), false);
  const auto good = content_of(path("m.smoe"));
  const auto refused = [&](const std::string& name, const std::string& bytes,
                           std::initializer_list<const char*> words) {
    write(name, bytes);
    expect_refused({"smoe", "info", path(name)}, words);
    expect_refused({"smoe", "render", path(name), "-o", path("out.png")}, words);
    expect_refused({"smoe", "convert", path(name), "-o", path("out.npz")}, words);
  };
  expect_refused({"smoe", "info", path("none.smoe")}, {"none.smoe", "file not found"});
  expect_refused({"smoe", "info", write("m.txt", good)}, {".smoe, .json or .npz", "m.txt"});
  refused("empty.smoe", "", {"empty.smoe", "an empty file"});
  refused("cut.smoe", good.substr(0, good.size() / 2), {"cut.smoe", "bytes"});
  std::string flipped = good;
  flipped[good.size() - 20] = static_cast<char>(flipped[good.size() - 20] ^ 1);
  refused("flipped.smoe", flipped, {"flipped.smoe", "checksum"});
  refused("other.smoe", "\x89PNG\r\n\x1a\n and more", {"other.smoe", "a .smoe file"});
  ASSERT_EQ(run({"smoe", "convert", path("m.smoe"), "-o", path("m.json")}).exit_code, 0);
  ASSERT_EQ(run({"smoe", "convert", path("m.smoe"), "-o", path("m.npz")}).exit_code, 0);
  refused("text.json", "{\"format\": 3", {"text.json: expected a model in JSON, got a text that ends too soon"});
  refused("comma.json", "{\n \"format\": 3,,}", {"comma.json", "in JSON, got something else in line 2, column 14"});
  refused("list.json", "[1, 2]", {"list.json", "an object, got a list"});
  refused("huge.json", "{\"low\": [1e999]}", {"huge.json", "below 1e308, got a larger one"});
  refused("other.json", "{\"format\": \"photo\"}", {"other.json", "holotone smoe"});
  auto json = nlohmann::json::parse(content_of(path("m.json")));
  const auto with = [&](const char* key, const nlohmann::json& value) {
    auto changed = json;
    changed[key] = value;
    return changed.dump();
  };
  refused("low.json", with("low", {0}), {"low.json", "low and high"});
  refused("weights.json", with("log_weight", nlohmann::json::array()), {"weights.json", "components, got 0"});
  refused("short.json", with("centre", {1, 2, 3}), {"short.json", "centre: expected 160 numbers, got 3"});
  refused("words.json", with("colour", {"red"}), {"words.json: expected \"colour\": a flat list of numbers, got text"});
  refused("rows.json", with("centre", {{1, 2}, {3, 4}}), {"\"centre\": a flat list of numbers, got a list at place 0"});
  refused("light.json", with("linear", 1), {"light.json: expected \"linear\": true or false, got a number"});
  refused("two.json", with("version", "2"), {"two.json: expected \"version\": 1, got text"});
  auto without = json;
  without.erase("slope");
  refused("without.json", without.dump(), {"without.json: expected an entry \"slope\", got none"});
  refused("channels.json", with("channels", 1e9), {"channels.json", "1 to 4"});
  json["covariance"][1] = 1e9;
  refused("indefinite.json", json.dump(), {"indefinite.json", "positive definite", "component 0"});
  const auto npz = content_of(path("m.npz"));
  refused("cut.npz", npz.substr(0, npz.size() - 1), {"cut.npz", "NPZ"});
  auto spoilt = npz;
  spoilt[400] = static_cast<char>(spoilt[400] ^ 1);
  refused("spoilt.npz", spoilt, {"spoilt.npz", "checksum"});
  // Changes words in one array's header, with the correct checksum in both headers of the archive.
  const auto with_header = [&](const std::string& from, const std::string& to) {
    auto changed = npz;
    const std::size_t local = changed.find("centre.npy") - 30;
    const std::size_t central = changed.rfind("centre.npy") - 46;
    const std::size_t place = changed.find(from, local);
    EXPECT_NE(place, std::string::npos) << from;
    changed.replace(place, from.size(), to);
    std::uint32_t size = 0;
    std::uint16_t lengths[2];
    std::memcpy(&size, changed.data() + local + 22, sizeof size);
    std::memcpy(lengths, changed.data() + local + 26, sizeof lengths);
    const auto* const data = reinterpret_cast<const std::byte*>(changed.data()) + local + 30 + lengths[0] + lengths[1];
    const std::uint32_t checksum = crc32({data, size});
    std::memcpy(changed.data() + local + 14, &checksum, sizeof checksum);
    std::memcpy(changed.data() + central + 16, &checksum, sizeof checksum);
    return changed;
  };
  refused("turned.npz", with_header("(80, 2)", "(2, 80)"), {"turned.npz", "centre of shape {80, 2}", "{2, 80}"});
  refused("columns.npz", with_header("'fortran_order': False", "'fortran_order': True "),
          {"columns.npz", "an array in C order", "Fortran"});
}

}  // namespace
}  // namespace holotone::test
