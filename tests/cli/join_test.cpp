// holotone join: the parts of hologram --block make the whole, and damaged ones are refused.
#include <tests/cli/bands_program.hpp>

namespace holotone::test {
namespace {

class JoinTest : public BandsTest {};

TEST_F(JoinTest, PartsJoinToTheWhole) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  for (const char* method : {"direct", "separable"}) {
    const std::vector<std::string> options{"--method", method, "--rows-at-once", "20"};
    ASSERT_EQ(run(hologram("whole.h5", options)).exit_code, 0);
    for (const int parts : {1, 3, 8}) {
      std::vector<std::string> join{"join"};
      std::int64_t rows = 0;
      for (int part = parts; part >= 1; --part) {
        const auto name = fmt::format("part_{}.h5", part);
        auto words = options;
        words.insert(words.end(), {"--block", fmt::format("{}/{}", part, parts)});
        ASSERT_EQ(run(hologram(name, words)).exit_code, 0);
        rows += read_field(path(name)).values.shape()[0];
        join.push_back(path(name));
      }
      EXPECT_EQ(rows, 141);
      join.insert(join.end(), {"-o", path("joined.h5"), "--json"});
      EXPECT_EQ(run_json(join)["parts"], parts);
      EXPECT_TRUE(content_of(path("joined.h5")) == content_of(path("whole.h5"))) << method << ' ' << parts;
    }
  }
}

TEST_F(JoinTest, PartsOfCodesJoinToTheWhole) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  for (const char* bits : {"8", "10"}) {
    const std::vector<std::string> options{"--method", "direct", "--rows-at-once", "20", "--bits", bits};
    ASSERT_EQ(run(hologram("whole.tif", options)).exit_code, 0);
    std::vector<std::string> join{"join"};
    for (const char* block : {"1/3", "2/3", "3/3"}) {
      const auto name = fmt::format("part_{}.tif", block[0]);
      auto words = options;
      words.insert(words.end(), {"--block", block});
      ASSERT_EQ(run(hologram(name, words)).exit_code, 0);
      join.push_back(path(name));
    }
    join.insert(join.end(), {"-o", path("joined.tif")});
    ASSERT_EQ(run(join).exit_code, 0);
    EXPECT_TRUE(content_of(path("joined.tif")) == content_of(path("whole.tif"))) << bits;
  }
  auto field = hologram("field.h5", {"--rows-at-once", "20", "--block", "1/3"});
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  ASSERT_EQ(run(field).exit_code, 0);
  expect_refused({"join", path("part_1.tif"), path("field.h5"), "-o", path("b.tif")}, {"16-bit codes", "a field"});
}

// Each kind of file that --block writes: 40 bytes of its rows are flipped.
TEST_F(JoinTest, RefusesDamagedRows) {
  struct Kind {
    const char* extension;
    std::vector<std::string> options;
  };
  const Kind kinds[] = {{".h5", {}},
                        {".hdf5", {}},
                        {".tif", {"--bits", "8"}},
                        {".tiff", {"--bits", "12"}},
                        {".tif", {"--encode", "amplitude"}}};
  for (const auto& [extension, more] : kinds) {
    if (!can_write(fmt::format("a{}", extension))) continue;
    const auto out = fmt::format("joined{}", extension);
    std::vector<std::string> join{"join", "-o", path(out)};
    for (const char* block : {"1/3", "2/3", "3/3"}) {
      const auto name = fmt::format("part_{}{}", block[0], extension);
      auto options = more;
      options.insert(options.end(), {"--method", "direct", "--rows-at-once", "20", "--block", block});
      ASSERT_EQ(run(hologram(name, options)).exit_code, 0);
      join.push_back(path(name));
    }
    const auto damaged = fmt::format("part_2{}", extension);
    const std::string intact = content_of(path(damaged));
    const auto [begin, end] = rows_in(damaged);
    for (const std::size_t at : {begin, (begin + end) / 2, end - 40}) {
      std::string bytes = intact;
      for (std::size_t i = 0; i < 40; ++i) bytes[at + i] ^= '\x5a';
      write(damaged, bytes);
      const auto result = run(join);
      EXPECT_EQ(result.exit_code, 2) << damaged;
      EXPECT_NE(result.error.find(fmt::format("{}: expected rows of CRC-32 ", damaged)), std::string::npos)
          << result.error;
      EXPECT_EQ(std::ranges::count(result.error, '\n'), 1) << result.error;
      for (const auto& entry : fs::directory_iterator(path("."))) {
        EXPECT_EQ(entry.path().filename().string().find("joined"), std::string::npos) << entry.path();
      }
    }
    write(damaged, intact);
    const auto result = run(join);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error.find("warning"), std::string::npos) << result.error;
    fs::remove(path(out));
  }
}

TEST_F(JoinTest, ResumedPartsJoin) {
  for (const char* name : {"part_1.h5", "part_1.tif"}) {
    if (!can_write(name)) continue;
    const auto extension = fs::path(name).extension().string();
    const auto part = [&](const std::string& file, const char* block) {
      return hologram(file, {"--method", "direct", "--rows-at-once", "4", "--block", block});
    };
    ASSERT_EQ(run(part("whole" + extension, "1/2")).exit_code, 0);
    ASSERT_EQ(run(part("part_2" + extension, "2/2")).exit_code, 0);
    std::int64_t resumed = 0;
    for (int attempt = 0; attempt < 20 && resumed == 0; ++attempt) {
      {
        RunningProgram program(part(name, "1/2"), captured_);
        stopped_when_it_grows(program, path(fmt::format(".{}.part.rows", name)), SIGKILL);
      }
      resumed = run_json(part(name, "1/2")).value("resumed_rows", 0);
    }
    EXPECT_GT(resumed, 0) << name;
    EXPECT_TRUE(content_of(path(name)) == content_of(path("whole" + extension))) << name;
    const auto result = run({"join", path(name), path("part_2" + extension), "-o", path("joined" + extension)});
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }
}

TEST_F(JoinTest, ReportsPartsWithoutAChecksum) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  const std::vector<std::string> join{"join", path("1.h5"), path("2.h5"), "-o", path("joined.h5")};
  for (const char* block : {"1/2", "2/2"}) {
    const auto name = fmt::format("{}.h5", block[0]);
    ASSERT_EQ(run(hologram(name, {"--method", "direct", "--rows-at-once", "20", "--block", block})).exit_code, 0);
  }
  auto older = read_field(path("1.h5"));
  EXPECT_EQ(older.metadata.erase("block_crc32"), 1U);
  write_field(path("1.h5"), older);
  const auto result = run(join);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.error.find("warning: 1 of 2 parts not checked for damage"), std::string::npos) << result.error;
  auto with_json = join;
  with_json.emplace_back("--json");
  const auto made = run_json(with_json);
  EXPECT_EQ(made["unchecked_parts"], 1);
  EXPECT_EQ(made["warnings"].size(), 1U);
  EXPECT_FALSE(read_field(path("joined.h5")).metadata.contains("block_crc32"));
}

// The metadata name the files; what they hold is stated by a digest.
TEST_F(JoinTest, OtherContentsOfAFileAreNotJoined) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const auto put_correction = [&](float value) {
    const std::vector<float> values(std::size_t{141} * 83, value);
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (141, 83), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\0' + header;
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    write("correction.npy", bytes);
  };
  const std::vector<std::string> options{"--method", "direct",       "--rows-at-once",
                                         "20",       "--correction", path("correction.npy")};
  const auto part = [&](const std::string& name, const std::string& block) {
    auto words = options;
    words.insert(words.end(), {"--block", block});
    ASSERT_EQ(run(hologram(name, words)).exit_code, 0);
  };
  put_correction(0);
  part("1.tif", "1/2");
  put_correction(1.5F);
  part("2.tif", "2/2");
  expect_refused({"join", path("1.tif"), path("2.tif"), "-o", path("a.tif")},
                 {"2.tif", "the same points, phases and correction as", "1.tif"});
}

TEST_F(JoinTest, NamesWhatIsWrong) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  const auto part = [&](const std::string& name, const std::string& block, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--method", "direct", "--rows-at-once", "20", "--block", block});
    EXPECT_EQ(run(hologram(name, more)).exit_code, 0);
  };
  part("1.h5", "1/4");
  part("2.h5", "2/4");
  part("3.h5", "3/4");
  part("4.h5", "4/4");
  part("half.h5", "2/2");
  part("other.h5", "4/4", {"--tolerance", "0.01"});
  ASSERT_EQ(run(hologram("whole.h5", {"--method", "direct"})).exit_code, 0);
  const auto refused = [&](const std::vector<std::string>& names, const std::string& expected) {
    std::vector<std::string> words{"join", "-o", path("joined.h5")};
    for (const auto& name : names) words.push_back(path(name));
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find(expected), std::string::npos) << result.error;
    EXPECT_FALSE(fs::exists(path("joined.h5")));
  };
  refused({"1.h5", "2.h5", "4.h5"}, "got none with rows 80 to 119");
  refused({"2.h5", "3.h5", "4.h5"}, "got none with rows 0 to 39");
  refused({"1.h5", "2.h5", "3.h5"}, "got none with rows 120 to 140");
  refused({"1.h5", "2.h5", "3.h5", "4.h5", "half.h5"}, "has too");
  refused({"1.h5", "2.h5", "3.h5", "other.h5"}, "tolerance");
  refused({"1.h5", "whole.h5"}, "block_first_row");
  refused({"cloud.csv"}, "cloud.csv");
  refused({"missing.h5"}, "missing.h5");
  const auto shown = run({"reconstruct", path("1.h5"), "-o", path("a.png"), "--device", "cpu"});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_NE(shown.error.find("holotone join"), std::string::npos) << shown.error;
  for (const char* block : {"0/4", "5/4", "1", "x/4", "1/9", "-1/4", "1/0"}) {
    const auto result = run(hologram("b.h5", {"--rows-at-once", "20", "--block", block}));
    EXPECT_EQ(result.exit_code, 2) << block;
    EXPECT_NE(result.error.find("--block"), std::string::npos) << result.error;
  }
}

}  // namespace
}  // namespace holotone::test
