// Invalid metadata, amplitudes and sizes, and files left by other programs.
#include <holotone/hologram/phase_lut.hpp>
#include <limits>
#include <sys/resource.h>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class RobustTest : public SmallPanelTest {};

TEST_F(RobustTest, MetadataThatSaysNothingIsRefused) {
  const Metadata good{{"pitch_m", "8e-6"}, {"wavelength_m", "532e-9"}, {"distance_m", "0.2"}, {"encoding", "phase"}};
  const auto with = [&](const char* key, const std::string& value) {
    Metadata metadata = good;
    metadata[key] = value;
    write_image(path("m.png"), grey(64, 48, metadata));
    return std::vector<std::string>{"reconstruct", path("m.png"), "-o", path("seen.png")};
  };
  for (const char* value : {"nan", "abc", "-1", ""}) {
    expect_refused(with("packed16", value), {"m.png: expected 0 or 1 under packed16"});
  }
  for (const char* key : {"bits", "phase_range_rad", "level_phase_rad"}) {
    expect_refused(with(key, ""), {"m.png: expected", key});
    expect_refused(with(key, "0x8"), {"m.png: expected", key});
  }
  const auto result = run(with("encoding", std::string(100'000, 'e')));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_LT(result.error.size(), 500u);
  EXPECT_EQ(run(with("bits", "8")).exit_code, 0);
}

TEST_F(RobustTest, InfoCountsWhatIsNotFinite) {
  FieldFile field{Array<std::complex<float>, 2>({4, 4}), {}};
  for (auto& value : field.values.host()) value = 1;
  field.values(std::int64_t{1}, std::int64_t{2}) = std::numeric_limits<float>::quiet_NaN();
  write_field(path("nan.npy"), field);
  const auto object = run_json({"info", path("nan.npy")});
  EXPECT_EQ(object["not_finite"], 1);
  EXPECT_EQ(object["amplitude_rms"], 1.0);
  write("nan.csv", "x,y,z\nnan,0,1\n");
  expect_refused({"info", path("nan.csv")}, {"nan.csv", "1 point, none finite"});
}

/// Writes speckle of amplitude `size` with its grid as a field file.
void write_speckle(const std::string& path, float size) {
  FieldFile field{Array<std::complex<float>, 2>({48, 64}),
                  {{"pitch_m", "8e-6"}, {"wavelength_m", "532e-9"}, {"distance_m", "0.2"}}};
  for (std::int64_t i = 0; i < field.values.size(); ++i) {
    const auto at = static_cast<float>(i);
    field.values.data()[i] = size * std::complex<float>(std::sin(at * at), std::cos(3 * at));
  }
  write_field(path, field);
}

TEST_F(RobustTest, InfoMeasuresWhatFloat32CannotSquare) {
  for (const float size : {1e25F, 1e-25F, 1e38F, 1e-40F}) {
    FieldFile field{Array<std::complex<float>, 2>({4, 4}), {}};
    for (auto& value : field.values.host()) value = {size, -size};
    write_field(path("x.npy"), field);
    const auto object = run_json({"info", path("x.npy")});
    const double modulus = std::sqrt(2.0) * static_cast<double>(size);
    EXPECT_NEAR(object["amplitude_rms"].get<double>() / modulus, 1, 1e-6) << size;
    EXPECT_NEAR(object["amplitude_max"].get<double>() / modulus, 1, 1e-6) << size;
  }
}

// Fields that differ by a power of two give identical pictures, despite the range of float32.
TEST_F(RobustTest, FaintFieldsAreSeenLikeBrightOnes) {
  const float tiny = std::ldexp(1.0F, -84);  // 5e-26
  for (const std::string extension : {".npy", ".h5"}) {
    if (!can_write("x" + extension)) continue;
    write_speckle(path("one" + extension), 1);
    write_speckle(path("faint" + extension), tiny);
    write_speckle(path("bright" + extension), std::ldexp(1.0F, 40));
    for (const std::vector<std::string>& look :
         {std::vector<std::string>{"--pitch", "8um"}, {"--sweep", "19cm:21cm:2"}, {"--viewer", "30cm:2mm"}}) {
      const auto seen = [&](const std::string& name) {
        std::vector<std::string> arguments{
            "reconstruct", path(name + extension), "-o", path("seen.png"), "--wavelength", "532nm", "--device", "cpu"};
        if (look.front() != "--pitch") arguments.insert(arguments.end(), {"--pitch", "8um"});
        arguments.insert(arguments.end(), look.begin(), look.end());
        if (look.front() != "--sweep") arguments.insert(arguments.end(), {"--distance", "20cm"});
        const auto object = run_json(arguments);
        EXPECT_EQ(object["warnings"].size(), 0u) << object["warnings"];
        const auto image = read_image(path("seen.png"));
        const auto codes = std::get<Array<std::uint8_t, 3>>(image.pixels).host();
        return std::pair(object["tone"]["white"].get<double>(), std::vector<std::uint8_t>(codes.begin(), codes.end()));
      };
      const auto one = seen("one");
      EXPECT_GT(*std::max_element(one.second.begin(), one.second.end()), 100);
      const auto faint = seen("faint");
      EXPECT_EQ(faint.second, one.second) << look.front();
      EXPECT_NEAR(faint.first / one.first * std::ldexp(1.0, 168), 1, 1e-6);
      EXPECT_EQ(seen("bright").second, one.second) << look.front();
    }
  }
}

TEST_F(RobustTest, LinearIntensitiesBeyondFloat32AreReported) {
  write_speckle(path("faint.npy"), 1e-25F);
  const auto object = run_json({"reconstruct", path("faint.npy"), "-o", path("seen.npy"), "--linear", "--wavelength",
                                "532nm", "--pitch", "8um", "--distance", "20cm"});
  ASSERT_EQ(object["warnings"].size(), 1u);
  EXPECT_NE(object["warnings"][0].get<std::string>().find("float32"), std::string::npos) << object["warnings"];
}

TEST_F(RobustTest, FieldsWithoutLightAreNamed) {
  write_speckle(path("zero.npy"), 0);
  write_speckle(path("faint.npy"), 1e-25F);
  const std::vector<std::string> grid{"--wavelength", "532nm", "--pitch", "8um", "--distance", "20cm"};
  const auto with = [&](std::vector<std::string> arguments, std::vector<std::string> more = {}) {
    arguments.insert(arguments.end(), grid.begin(), grid.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_json(arguments);
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--viewer", "30cm:2mm"}}) {
    const auto seen = with({"reconstruct", path("zero.npy"), "-o", path("seen.png")}, more);
    ASSERT_EQ(seen["warnings"].size(), 1u);
    EXPECT_EQ(seen["warnings"][0], path("zero.npy") + " holds no light: its picture is black");
  }
  const std::vector<std::string> viewer{"--viewer", "30cm:2mm"};
  const auto dark = with({"quantize", path("zero.npy"), "-o", path("codes.png")}, viewer);
  ASSERT_EQ(dark["warnings"].size(), 1u);
  EXPECT_NE(dark["warnings"][0].get<std::string>().find("zero.npy holds no light"), std::string::npos);
  EXPECT_EQ(dark["holograms"][0].count("window"), 0u);
  const auto faint = with({"quantize", path("faint.npy"), "-o", path("codes.png")}, viewer);
  EXPECT_EQ(faint["warnings"].size(), 0u) << faint["warnings"];
  EXPECT_LT(faint["holograms"][0]["window"]["signal_to_noise_db"].get<double>(), 60);
}

/// A grey one-bit PNG of this size without pixel data.
std::string hollow_png(std::uint32_t nx, std::uint32_t ny, std::size_t bytes) {
  const auto big = [](std::uint32_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
    return text;
  };
  const auto chunk = [&](const std::string& content) {  // with its type
    std::uint32_t check = 0xffffffffU;
    for (const char c : content) {
      check ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) check = (check >> 1) ^ ((check & 1) != 0 ? 0xedb88320U : 0U);
    }
    return big(static_cast<std::uint32_t>(content.size() - 4)) + content + big(~check);
  };
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR" + big(nx) + big(ny) + std::string("\1\0\0\0\0", 5)) +
         chunk("IDAT" + std::string(bytes, 'x')) + chunk("IEND");
}

TEST_F(RobustTest, PicturesOfNoUseAreRefusedByTheirHeaders) {
  write("wide.png", hollow_png(60'000, 60'000, 450'000));
  expect_refused(hologram("good.csv", "o.png", {"--correction", path("wide.png")}),
                 {"wide.png: expected the panel's 64 x 48 pixels, got 60000 x 60000"});
  expect_refused({"hologram", "--image", path("map.png"), "--depth", path("wide.png"), "--depth-range", "19cm,21cm",
                  "-o", path("o.png"), "--resolution", "64x48", "--pitch", "8um"},
                 {"wide.png: expected the 64 x 48 pixels of", "got 60000 x 60000"});
  expect_refused({"halftone", path("map.png"), "--mask", path("wide.png"), "-o", path("d.csv"), "--dots", "10"},
                 {"wide.png: expected the 64 x 48 pixels of", "got 60000 x 60000"});
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (pages > 11 * 60'000.0 * 60'000.0) GTEST_SKIP() << "this machine holds a hologram of 60000 x 60000";
  expect_refused({"reconstruct", path("wide.png"), "-o", path("f.png"), "--encode", "phase", "--pitch", "8um",
                  "--wavelength", "532nm", "--distance", "20cm"},
                 {"wide.png: expected pixels that the", "of free memory hold, got 60000 x 60000 of them"});
}

TEST_F(RobustTest, AmplitudeRangesThatReconstructWouldRefuse) {
  for (const char* range : {"0,1e20", "-3e38,3e38", "0,1e39"}) {
    const std::string option = std::string("--amplitude-range=") + range;
    expect_refused(hologram("good.csv", "o.png", {"--encode", "amplitude", option}),
                   {"--amplitude-range: expected a number", "e"});
    expect_refused({"reconstruct", path("map.png"), "-o", path("seen.png"), "--encode", "amplitude", option},
                   {"--amplitude-range: expected a number"});
  }
}

TEST_F(RobustTest, AmplitudesThatOverflow) {
  write_cloud("huge.csv", {{0, 0, -0.2, 1}, {1e-3, 0, -0.2, 3e38}});
  expect_refused(hologram("huge.csv", "out.png"), {"huge.csv", "point 1", "3e+38", "1e+15"});
  expect_refused(hologram("huge.csv", "out.npy"), {"huge.csv", "point 1"});
  write("below.csv", "x,y,z,intensity\n0,0,-0.2,1\n0.001,0,-0.2,-3\n");
  expect_refused(hologram("below.csv", "out.png"), {"below.csv", "point 1", "intensity below 0"});
  write_cloud("bright.csv", {{0, 0, -0.2, 1e14}, {1e-3, 0, -0.2, 1e14}});
  ASSERT_EQ(run(hologram("bright.csv", "out.npy")).exit_code, 0);
  const FieldFile field = read_field(path("out.npy"));
  for (const auto value : field.values.host()) ASSERT_TRUE(std::isfinite(std::norm(value)));
}

TEST_F(RobustTest, HologramsWithoutLight) {
  write_cloud("zero.csv", {{0, 0, -0.2, 0}, {1e-3, 0, -0.2, 0}});
  write_cloud("far.csv", {{1, 2, -0.2, 1}, {3, 4, -0.2, 1}});
  write("red.csv", "x,y,z,r,g,b\n0,0,-0.2,255,0,0\n0.001,0,-0.2,255,0,0\n");
  expect_refused(hologram("zero.csv", "out.png"), {"zero.csv", "lights the panel", "amplitude is 0"});
  expect_refused(hologram("far.csv", "out.png", {"--keep-coordinates"}),
                 {"far.csv", "lights the panel", "x 1 m to 3 m", "y 2 m to 4 m", "512 um x 384 um", "--no-band-limit"});
  const auto far = run(hologram("far.csv", "out.png", {"--keep-coordinates", "--no-band-limit"}));
  EXPECT_EQ(far.exit_code, 0);
  EXPECT_NE(far.error.find("which blurs points; --wave spherical is exact"), std::string::npos) << far.error;
  const auto outcome = run(hologram("zero.csv", "out.npy"));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error.rfind("holotone: warning: ", 0), 0u) << outcome.error;
  EXPECT_EQ(outcome.error.find("warning: ", 20), std::string::npos) << outcome.error;
  const auto json = run_json(hologram("zero.csv", "out.npy"));
  ASSERT_EQ(json["warnings"].size(), 1u);
  EXPECT_NE(json["warnings"][0].get<std::string>().find("amplitude is 0"), std::string::npos);
  const auto red = run_json(hologram("red.csv", "out.png", {"--rgb", "638nm,520nm,450nm"}));
  ASSERT_EQ(red["warnings"].size(), 1u);
  EXPECT_NE(red["warnings"][0].get<std::string>().find("'g' (2 of 3"), std::string::npos) << red["warnings"];
  EXPECT_EQ(run_json(hologram("good.csv", "out.png"))["warnings"].size(), 0u);
}

TEST_F(RobustTest, AbsurdMetadata) {
  const Metadata good{
      {"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}, {"distance_m", "0.2"}, {"encoding", "phase"}, {"bits", "8"}};
  const std::pair<const char*, const char*> cases[] = {{"phase_range_rad", "0"},     {"phase_range_rad", "-1"},
                                                       {"phase_range_rad", "1e300"}, {"pitch_m", "1e300"},
                                                       {"wavelength_m", "0"},        {"object_energy", "-1"},
                                                       {"object_energy", "1e300"},   {"level_phase_rad", "0,1e300"},
                                                       {"carrier_x_rad", "7"},       {"reference_angle_y_rad", "-2"}};
  for (const auto& [key, value] : cases) {
    SCOPED_TRACE(std::string(key) + " = " + value);
    Image image = grey(32, 24, good);
    image.metadata[key] = value;
    write_image(path("bad.png"), image);
    expect_refused({"reconstruct", path("bad.png"), "-o", path("f.png")}, {"bad.png", key, "expected", "got"});
  }
  Image image = grey(32, 24, good);
  image.metadata["encoding"] = "amplitude";
  image.metadata["amplitude_min"] = "0";
  image.metadata["amplitude_max"] = "1e300";
  write_image(path("bad.png"), image);
  expect_refused({"reconstruct", path("bad.png"), "-o", path("f.png")}, {"bad.png", "amplitude_max"});
}

TEST_F(RobustTest, ByteOrderMarks) {
  const std::string mark = "\xEF\xBB\xBF";
  write("good.xyz", "0 0 -0.2 1\n0.001 0 -0.2 1\n");
  for (const std::string name : {"good.csv", "good.xyz"}) {
    write("marked_" + name, mark + content_of(path(name)));
    ASSERT_EQ(run(hologram(name, "plain.npy")).exit_code, 0);
    ASSERT_EQ(run(hologram("marked_" + name, "marked.npy")).exit_code, 0);
    EXPECT_EQ(content_of(path("plain.npy")), content_of(path("marked.npy")));
  }
  write("marked.txt", mark + content_of(path("table.txt")));
  EXPECT_EQ(read_phase_lut(content_of(path("marked.txt"))), read_phase_lut(content_of(path("table.txt"))));
}

// A header that declares two gigabytes.
TEST_F(RobustTest, AWidePictureTakesNoMemory) {
  std::string bytes = content_of(path("map.png"));
  std::string header = std::string("IHDR") + "\x7f\xff\xff\xff" + std::string("\0\0\0\1\x08\0\0\0\0", 9);
  std::uint32_t check = 0xffffffffU;
  for (const char c : header) {
    check ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) check = (check >> 1) ^ ((check & 1) != 0 ? 0xedb88320U : 0U);
  }
  check = ~check;
  for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(check >> shift);
  bytes.replace(12, header.size(), header);
  write("wide.png", bytes);
  // Memory of the program for a small picture: CUDA's libraries and device alone need 300 MiB.
  ASSERT_EQ(run(hologram("good.csv", "small.png")).exit_code, 0);
  ASSERT_EQ(run({"reconstruct", path("small.png"), "-o", path("f.png")}).exit_code, 0);
  rusage before{};
  getrusage(RUSAGE_CHILDREN, &before);
  expect_refused({"reconstruct", path("wide.png"), "-o", path("f.png")}, {"wide.png", "2147483647 x 1"});
  rusage after{};
  getrusage(RUSAGE_CHILDREN, &after);
  RecordProperty("max_rss_kib", fmt::format("{}", after.ru_maxrss));
  // ru_maxrss is that of the largest child so far.
  EXPECT_LT(after.ru_maxrss, before.ru_maxrss + 64 * 1024);
}

TEST_F(RobustTest, OneLimitForTheSizeOfPanels) {
  const auto wide = [&](const char* text) {
    return std::vector<std::string>{"hologram", path("good.csv"), "-o",  path("out.png"), "--resolution",
                                    text,       "--pitch",        "8um", "--device",      "cpu"};
  };
  expect_refused(wide("1048577x1"), {"--resolution", "1048576"});
  expect_refused(wide("99999999999999999999x1"), {"--resolution", "1048576"});
  ASSERT_EQ(run(wide("1048576x1")).exit_code, 0);
  EXPECT_EQ(run({"reconstruct", path("out.png"), "-o", path("f.png"), "--method", "angular-spectrum"}).exit_code, 0);
}

TEST_F(RobustTest, AHologramThatMemoryCannotHoldIsRefusedAtOnce) {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double pixels = 65536.0 * 65536.0;
  if (pages > 60 * pixels) GTEST_SKIP() << "this machine holds three fields of 65536 x 65536";
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  expect_refused({"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--device", "cpu", "--rgb",
                  "638nm,520nm,450nm", "--resolution", "65536x65536", "--pitch", "8um"},
                 {"--resolution: expected", "GiB of memory", "free"});
}

}  // namespace
}  // namespace holotone::test
