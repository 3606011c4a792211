// Stereograms and quantize on several devices and processes: the files of one.
#include <cstdlib>
#include <tests/cli/journal.hpp>
#include <tests/cli/quantize_program.hpp>
#include <tests/cli/smoe_pictures.hpp>

namespace holotone::test {
namespace {

/// The command with these devices instead of the CPU.
std::vector<std::string> on(const std::string& devices, std::vector<std::string> words) {
  *(std::find(words.begin(), words.end(), "--device") + 1) = devices;
  return words;
}

class StereogramsOnSeveral : public SmoeFitTest {
 protected:
  using ProgramTest::expect_refused;
  StereogramsOnSeveral() { put_views(false); }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& output, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"hologram", "--views", path("view_%v_%u.png"), "-o", path(output), "--device", "cpu",
                               "--pitch", "2um", "--resolution", "96x70", "--hogel", "16", "--distance", "5mm"});
    return more;
  }
};

TEST_F(StereogramsOnSeveral, GiveTheSameField) {
  // Bands of one row of hogels: 5 of them.
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--rgb", "638nm,520nm,450nm"}}) {
    ASSERT_EQ(run(hologram("one.npy", options)).exit_code, 0);
    const auto json = run_json(on("cpu,cpu,cpu", hologram("several.npy", options)));
    EXPECT_EQ(json["device"], "cpu,cpu,cpu");
    const std::vector<std::string> one{""};
    const std::vector<std::string> three{"_r", "_g", "_b"};
    for (const auto& colour : options.empty() ? one : three) {
      EXPECT_TRUE(content_of(path(fmt::format("several{}.npy", colour))) ==
                  content_of(path(fmt::format("one{}.npy", colour))));
    }
  }
}

TEST_F(StereogramsOnSeveral, HaveNoParts) {
  expect_refused(hologram("a.h5", {"--block", "1/2"}), {"--block", "points or a mesh"});
}

TEST_F(StereogramsOnSeveral, GiveTheSameCodes) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const std::vector<std::string> options{"--scale", "1", "--viewer", "20mm:2mm", "--bits", "4"};
  ASSERT_EQ(run(hologram("one.tif", options)).exit_code, 0);
  ASSERT_EQ(run(hologram("one.png", options)).exit_code, 0);
  ASSERT_EQ(run(on("cpu,cpu,cpu", hologram("several.tif", options))).exit_code, 0);
  EXPECT_TRUE(content_of(path("several.tif")) == content_of(path("one.tif")));
  const auto tiff = read_image(path("one.tif"));
  const auto png = read_image(path("one.png"));
  EXPECT_EQ(tiff.metadata, png.metadata);
  using Codes = Array<std::uint8_t, 3>;
  EXPECT_TRUE(std::ranges::equal(std::get<Codes>(tiff.pixels).host(), std::get<Codes>(png.pixels).host()));
  expect_refused(on("cpu,cpu", hologram("a.png", options)), {"--device", "codes in a .tif", "'cpu,cpu for "});
}

class QuantizedOnSeveral : public QuantizeTest {
 protected:
  [[nodiscard]] std::vector<std::string> quantize(const std::string& output, std::vector<std::string> more = {}) const {
    more.insert(more.end(),
                {"--hogel", "64", "--bits", "2", "--viewer", "36mm:9mm", "--distance", "9mm", "--weights", "9"});
    return line("field.npy", output, more);
  }
};

TEST_F(QuantizedOnSeveral, GiveTheSameCodes) {
  speckle("field.npy", 2600, 2048);
  ASSERT_EQ(run(quantize("one.npy")).exit_code, 0);
  const auto json = run_json(on("cpu,cpu,cpu", quantize("several.npy")));
  EXPECT_EQ(json["device"], "cpu,cpu,cpu");
  EXPECT_TRUE(content_of(path("several.npy")) == content_of(path("one.npy")));
  ASSERT_EQ(run(quantize("one.png")).exit_code, 0);
  const auto codes = decode_codes("one.png");
  const auto array = content_of(path("one.npy"));
  ASSERT_GT(array.size(), codes.size());
  EXPECT_TRUE(std::equal(codes.begin(), codes.end(), array.end() - static_cast<std::ptrdiff_t>(codes.size()),
                         [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); }));
  if (can_write("a.tif")) {
    ASSERT_EQ(run(on("cpu,cpu", quantize("a.tif"))).exit_code, 0);
    EXPECT_EQ(decode_codes("a.tif"), codes);
  }
  expect_refused(on("cpu,cpu", quantize("a.png")), {"--device", "codes in a .tif or .npy", "'cpu,cpu for "});
}

TEST_F(QuantizedOnSeveral, WhatWasKilledGoesOn) {
  speckle("field.npy", 2600, 2048);
  ASSERT_EQ(run(quantize("one.npy")).exit_code, 0);
  RunningProgram program(quantize("a.npy"), captured_);
  (void)stopped_when_it_grows(program, folder_ / ".a.npy.part.rows", SIGKILL);
  const auto json = run_json(on("cpu,cpu", quantize("a.npy")));
  const int resumed = json["holograms"][0]["resumed_rows"].get<int>();
  std::printf("resumed after %d rows\n", resumed);
  // The noise of the rest alone is none of the file's.
  EXPECT_EQ(json["holograms"][0].contains("window"), resumed == 0);
  EXPECT_EQ(json["warnings"].dump().find("the noise is not measured") != std::string::npos, resumed > 0);
  EXPECT_TRUE(content_of(path("a.npy")) == content_of(path("one.npy")));
}

}  // namespace
}  // namespace holotone::test
