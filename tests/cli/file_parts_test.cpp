// Parts of files, FILE:PART, and real numbers that are read as a field, in the program.
#include <cmath>
#include <numbers>
#include <tests/io/matlab_fixtures.hpp>
#include <tests/io/tiff_pages.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class FilePartsTest : public ProgramTest {
 protected:
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

  /// An NPY file of a real array {24, 32}.
  template <class Function>
  void put_real(const std::string& name, const Function& value) const {
    const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (24, 32)}\n";
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0' + header;
    for (int row = 0; row < 24; ++row) {
      for (int column = 0; column < 32; ++column)
        bytes += io_support::bytes_of(static_cast<double>(value(row, column)));
    }
    put(name, bytes);
  }

  template <class Function>
  void put_field(const std::string& name, const Function& value) const {
    FieldFile file{Array<std::complex<float>, 2>({24, 32}), {}};
    for (int row = 0; row < 24; ++row) {
      for (int column = 0; column < 32; ++column) {
        file.values(row, column) = std::complex<float>(std::complex<double>(value(row, column)));
      }
    }
    write_field(path(name), file);
  }

  [[nodiscard]] std::vector<std::string> reconstruct(const std::string& input, const std::string& output,
                                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"reconstruct", path(input), "-o",           path(output), "--distance", "5mm",
                                   "--pitch",     "8um",       "--wavelength", "532nm",      "--device",   "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Three pages of codes of 24 x 32 pixels.
  [[nodiscard]] static std::vector<tiff_pages::Page> codes() {
    std::vector<tiff_pages::Page> pages(3);
    for (std::size_t page = 0; page < 3; ++page) {
      for (std::size_t i = 0; i < 24 * 32; ++i) pages[page].row += static_cast<char>((i * i * (page + 3)) % 251);
    }
    return pages;
  }

  static double phase(int row, int column) { return 0.1 * row * column - 3; }
  static double amplitude(int row, int column) { return 1 + 0.1 * row + 0.02 * column; }
};

TEST_F(FilePartsTest, PagesAreCountedChosenAndFrames) {
  if (!can_write("x.tif")) GTEST_SKIP() << "a build without libtiff";
  put("s.tif", tiff_pages::pages_file(codes(), true, false, {}, 24));
  const auto info = run_json({"info", path("s.tif")});
  EXPECT_EQ(info["pages"], 3);
  EXPECT_EQ(info["warnings"].size(), 1u);
  EXPECT_EQ(run_json({"info", path("s.tif") + ":2"})["pages"], 1);
  EXPECT_EQ(run({"info", path("s.tif") + ":4"}).exit_code, 2);
  ASSERT_EQ(run(reconstruct("s.tif:%d", "f%d.png")).exit_code, 0);
  const auto pages = codes();
  for (std::size_t page = 0; page < 3; ++page) {
    Array<std::uint8_t, 3> pixels({24, 32, 1});
    std::copy(pages[page].row.begin(), pages[page].row.end(), pixels.data());
    write_image(path(fmt::format("c{}.png", page + 1)), {std::move(pixels), {}});
  }
  ASSERT_EQ(run(reconstruct("c%d.png", "g%d.png")).exit_code, 0);
  for (std::size_t page = 0; page < 3; ++page) {
    const auto frame = std::get<Array<std::uint8_t, 3>>(read_image(path(fmt::format("f{}.png", page + 1))).pixels);
    const auto one = std::get<Array<std::uint8_t, 3>>(read_image(path(fmt::format("g{}.png", page + 1))).pixels);
    EXPECT_TRUE(std::ranges::equal(frame.host(), one.host())) << page;
  }
  const auto made = run_json(reconstruct("s.tif", "first.png"));
  ASSERT_EQ(made["warnings"].size(), 1u);
  EXPECT_NE(made["warnings"][0].get<std::string>().find("the first of 3 pages is read"), std::string::npos);
  const auto refused = run(reconstruct("s.tif:1", "s.tif:2"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("a part of a file"), std::string::npos) << refused.error;
}

TEST_F(FilePartsTest, PagesAreLayersOfAStack) {
  if (!can_write("x.tif")) GTEST_SKIP() << "a build without libtiff";
  put("s.tif", tiff_pages::pages_file(codes(), true, false, {}, 24));
  const auto stacked = [&](const std::string& output, const std::vector<std::string>& pictures) {
    std::vector<std::string> words{"hologram", "--stack"};
    words.insert(words.end(), pictures.begin(), pictures.end());
    words.insert(words.end(), {"-o", path(output), "--encode", "complex", "--device", "cpu", "--resolution", "64x48",
                               "--pitch", "8um", "--size", "200um"});
    return run(words);
  };
  const std::string name = path("s.tif");
  ASSERT_EQ(stacked("each.npy", {name + ":1@10mm", name + ":2@20mm", name + ":3@30mm"}).exit_code, 0);
  ASSERT_EQ(stacked("ends.npy", {name + "@10mm,30mm"}).exit_code, 0);
  ASSERT_EQ(stacked("all.npy", {name + "@10mm,20mm,30mm"}).exit_code, 0);
  EXPECT_TRUE(content_of(path("each.npy")) == content_of(path("ends.npy")));
  EXPECT_TRUE(content_of(path("each.npy")) == content_of(path("all.npy")));
  const auto refused = stacked("no.npy", {name + "@10mm"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("distances of the first and the last of 3 pages, or of each"), std::string::npos)
      << refused.error;
  EXPECT_FALSE(fs::exists(path("no.npy")));
}

TEST_F(FilePartsTest, RealNumbersAreAFieldIfItIsSaidOfWhat) {
  put_real("p.npy", phase);
  put_real("a.npy", amplitude);
  put_real("i.npy", [](int row, int column) { return amplitude(row, column) * amplitude(row, column); });
  put_real("re.npy", [](int row, int column) { return amplitude(row, column) * std::cos(phase(row, column)); });
  put_real("im.npy", [](int row, int column) { return amplitude(row, column) * std::sin(phase(row, column)); });
  put_field("u.npy", [](int row, int column) { return std::polar(amplitude(row, column), phase(row, column)); });
  put_field("e.npy", [](int row, int column) { return std::polar(1.0, phase(row, column)); });
  const auto shown_by = [&](const std::string& input, const std::vector<std::string>& more) {
    const auto made = run(reconstruct(input, "out.png", more));
    EXPECT_EQ(made.exit_code, 0) << made.error;
    const auto pixels = std::get<Array<std::uint8_t, 3>>(read_image(path("out.png")).pixels);
    return std::vector<int>(pixels.host().begin(), pixels.host().end());
  };
  const auto expect_alike = [](const std::vector<int>& one, const std::vector<int>& other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(one[i], other[i], 1) << i;  // float32 rounds at other places
  };
  expect_alike(shown_by("p.npy", {"--read", "phase"}), shown_by("e.npy", {}));
  const auto whole = shown_by("u.npy", {});
  expect_alike(shown_by("a.npy", {"--read", "amplitude", "--phase-file", path("p.npy")}), whole);
  expect_alike(shown_by("i.npy", {"--read", "intensity", "--phase-file", path("p.npy")}), whole);
  expect_alike(shown_by("re.npy", {"--imaginary-file", path("im.npy")}), whole);

  const auto refused = [&](const std::vector<std::string>& words) {
    fs::remove(path("no.png"));
    const auto made = run(words);
    EXPECT_EQ(made.exit_code, 2);
    EXPECT_FALSE(fs::exists(path("no.png")));
    return made.error;
  };
  EXPECT_NE(refused(reconstruct("p.npy", "no.png"))
                .find("read as phase, amplitude, intensity or field, got float64 of "
                      "shape {24, 32}; --read says which"),
            std::string::npos);
  const auto alone = refused(reconstruct("a.npy", "no.png", {"--phase-file", path("p.npy")}));
  EXPECT_NE(alone.find("--read: expected amplitude or intensity with a phase_file, got none"), std::string::npos)
      << alone;
  EXPECT_NE(refused(reconstruct("u.npy", "no.png", {"--read", "phase"})).find("got complex ones"), std::string::npos);
  EXPECT_NE(refused(reconstruct("p.npy", "no.png", {"--read", "phase", "--encode", "phase"})).find("--encode"),
            std::string::npos);

  std::vector<std::string> words{"propagate", path("a.npy"), "-o",           path("moved.npy"), "--distance", "1mm",
                                 "--pitch",   "8um",         "--wavelength", "532nm",           "--device",   "cpu",
                                 "--read",    "amplitude",   "--phase-file", path("p.npy")};
  ASSERT_EQ(run(words).exit_code, 0);
  words = {"propagate", path("u.npy"), "-o",           path("other.npy"), "--distance", "1mm",
           "--pitch",   "8um",         "--wavelength", "532nm",           "--device",   "cpu"};
  ASSERT_EQ(run(words).exit_code, 0);
  const auto moved = read_field(path("moved.npy"));
  const auto other = read_field(path("other.npy"));
  for (std::int64_t i = 0; i < moved.values.size(); ++i) {
    EXPECT_LT(std::abs(moved.values.data()[i] - other.values.data()[i]), 2e-5F) << i;
  }
  ASSERT_EQ(run({"quantize", path("p.npy"), "-o", path("q.png"), "--pitch", "8um", "--wavelength", "532nm", "--device",
                 "cpu", "--read", "phase"})
                .exit_code,
            0);
}

TEST_F(FilePartsTest, DatasetsAreListedAndReversedOnesNoted) {
  if (!can_write("x.h5")) GTEST_SKIP() << "a build without HDF5";
  put("pairs.h5", matlab_fixtures::pairs);
  put("m.mat", matlab_fixtures::matlab73);
  const auto several = run({"info", path("pairs.h5")});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.error.find("/g/amplitude {5, 3} float32, /g/phase {5, 3} float64, /stack {2, 5, 3} complex64"),
            std::string::npos)
      << several.error;
  const auto real = run_json({"info", path("pairs.h5") + ":/g/phase"});
  EXPECT_EQ(real["kind"], "array");
  EXPECT_EQ(real["high"], 4.5);
  const auto matlab = run_json({"info", path("m.mat")});
  EXPECT_EQ(matlab["resolution"], (nlohmann::json{3, 5}));
  ASSERT_EQ(matlab["warnings"].size(), 2u);
  EXPECT_NE(matlab["warnings"][0].get<std::string>().find("m.mat also has /A {5, 3} float64"), std::string::npos);
  EXPECT_NE(matlab["warnings"][1].get<std::string>().find("MATLAB stores dimensions reversed"), std::string::npos);
  const auto made = run_json(reconstruct("m.mat:A", "out.png", {"--read", "amplitude"}));
  EXPECT_EQ(made["warnings"].size(), 1u) << made["warnings"];
}

}  // namespace
}  // namespace holotone::test
