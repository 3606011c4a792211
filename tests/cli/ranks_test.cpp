// Several processes under mpirun write one file, which is that of one process.
#include <cstdlib>
#include <holotone/core/random.hpp>
#include <tests/cli/journal.hpp>
#include <unistd.h>

namespace holotone::test {
namespace {

bool has_mpirun() {
  return std::system("command -v mpirun >/dev/null 2>&1") == 0 &&
         fs::exists(fs::path(program_path()).parent_path() / "holotone_mpi.so");
}

class RanksTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (!has_mpirun()) GTEST_SKIP() << "no mpirun, or a build without MPI";
    put_cloud("cloud.csv", 60);
  }

  void put_cloud(const std::string& name, int count) const {
    std::string text = "x,y,z,r,g,b\n";
    std::uint64_t counter = 0;
    const auto uniform = [&] { return random_uniform64(5, counter++); };
    for (int i = 0; i < count; ++i) {
      text += fmt::format("{:.9g},{:.9g},{:.9g},{:.3f},{:.3f},{:.3f}\n", 180e-6 * (uniform() - 0.5),
                          300e-6 * (uniform() - 0.5), -0.01 * (1 + uniform()), uniform(), uniform(), uniform());
    }
    write(name, text);
  }

  /// The words of a command of 8 bands, without the program.
  [[nodiscard]] std::vector<std::string> hologram(const std::string& output, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{
        "hologram", path("cloud.csv"), "-o",     path(output),        "--device", "cpu", "--pitch",
        "2um",      "--method",        "direct", "--keep-coordinates"};
    const auto given = [&](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
    if (!given("--resolution")) more.insert(more.end(), {"--resolution", "83x141"});
    if (!given("--rows-at-once")) more.insert(more.end(), {"--rows-at-once", "20"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// mpirun with so many processes of these words; several lists: processes that differ.
  [[nodiscard]] static std::vector<std::string> under_mpirun(
      const std::vector<std::pair<int, std::vector<std::string>>>& processes) {
    std::vector<std::string> words{"mpirun", "--oversubscribe", "--bind-to", "none"};
    for (const auto& [count, options] : processes) {
      if (words.size() > 4) words.emplace_back(":");
      words.insert(words.end(), {"-n", std::to_string(count), program_path()});
      words.insert(words.end(), options.begin(), options.end());
    }
    return words;
  }

  static void allow_root() {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMP_NUM_THREADS", "2", 1);
  }

  [[nodiscard]] RunningProgram start(const std::vector<std::pair<int, std::vector<std::string>>>& processes) const {
    return RunningProgram::other(under_mpirun(processes), captured_, &allow_root);
  }

  [[nodiscard]] ProgramResult run_ranks(int count, const std::vector<std::string>& words) const {
    return start({{count, words}}).wait(120);
  }

  /// Kills the processes of this test, or the newest alone.
  void kill_processes(bool all) const {
    std::set<int> processes;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const int number = std::atoi(entry.path().filename().c_str());
      if (number > 0 && content_of(entry.path() / "cmdline").find(path("cloud.csv")) != std::string::npos) {
        processes.insert(number);
      }
    }
    if (!all && !processes.empty()) processes = {*processes.rbegin()};
    for (const int number : processes) kill(number, SIGKILL);
  }

  /// Exit code 2, and exactly one line of the program that contains `expected`; mpirun adds its own, and the first
  /// process says that it was ended.
  void expect_one_line(const ProgramResult& result, const std::string& expected) const {
    EXPECT_EQ(result.exit_code, 2) << result.error;
    int lines = 0;
    bool found = false;
    std::istringstream text(result.error);
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with("holotone") || line == "holotone: cancelled") continue;
      ++lines;
      found = found || line.find(expected) != std::string::npos;
    }
    EXPECT_EQ(lines, 1) << result.error;
    EXPECT_TRUE(found) << expected << '\n' << result.error;
  }
};

TEST_F(RanksTest, TheFileIsThatOfOneProcess) {
  for (const char* name : {"a.npy", "a.h5", "a.tif"}) {
    if (!can_write(name)) continue;
    const auto whole = std::string("whole_") + name;
    ASSERT_EQ(run(hologram(whole)).exit_code, 0);
    for (const int count : {2, 3, 5}) {
      const auto result = run_ranks(count, hologram(name, {"--json"}));
      ASSERT_EQ(result.exit_code, 0) << result.error;
      EXPECT_EQ(nlohmann::json::parse(result.output)["bands"], 8);
      EXPECT_TRUE(content_of(path(name)) == content_of(path(whole))) << name << ' ' << count;
    }
  }
}

// So is the checksum of its rows, which several processes have written.
TEST_F(RanksTest, APartStatesTheSameChecksum) {
  for (const char* name : {"a.h5", "a.tif"}) {
    if (!can_write(name)) continue;
    const auto whole = std::string("whole_") + name;
    ASSERT_EQ(run(hologram(whole, {"--block", "1/1"})).exit_code, 0);
    const auto result = run_ranks(3, hologram(name, {"--block", "1/1"}));
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_TRUE(content_of(path(name)) == content_of(path(whole))) << name;
  }
}

// The first pass over the bands, which measures the range, is shared too.
TEST_F(RanksTest, OneRangeForAll) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const std::vector<std::string> options{"--encode", "double-phase"};
  ASSERT_EQ(run(hologram("whole.tif", options)).exit_code, 0);
  const auto result = run_ranks(3, hologram("a.tif", options));
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(content_of(path("a.tif")) == content_of(path("whole.tif")));
}

// Each process has fewer threads than one alone; this encoding has memory for each.
TEST_F(RanksTest, MemoryOfThreads) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const std::vector<std::string> options{"--encode", "burckhardt", "--amplitude-range", "0,1", "--rows-at-once", "70"};
  ASSERT_EQ(run(hologram("whole.tif", options)).exit_code, 0);
  const auto result = run_ranks(3, hologram("a.tif", options));
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(content_of(path("a.tif")) == content_of(path("whole.tif")));
}

// A light field's hogels, and what is counted over all processes.
TEST_F(RanksTest, HogelsAreCountedOnce) {
  Image picture{Array<std::uint8_t, 3>({48, 64, 1}), {}};
  auto& pixels = std::get<Array<std::uint8_t, 3>>(picture.pixels);
  for (std::int64_t i = 0; i < pixels.size(); ++i) pixels.data()[i] = static_cast<std::uint8_t>(37 * i % 251);
  write_image(path("picture.png"), picture);
  const auto line = [&](const std::string& name) {
    return std::vector<std::string>{
        "hologram", "--image", path("picture.png"), "-o",  path(name), "--device",     "cpu",  "--hogel", "16",
        "--pitch",  "2um",     "--distance",        "5mm", "--json",   "--resolution", "96x80"};
  };
  const auto alone = run(line("whole.npy"));
  ASSERT_EQ(alone.exit_code, 0) << alone.error;
  const auto result = run_ranks(3, line("a.npy"));
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(content_of(path("a.npy")) == content_of(path("whole.npy")));
  const auto one = nlohmann::json::parse(alone.output)["holograms"][0];
  const auto all = nlohmann::json::parse(result.output)["holograms"][0];
  for (const char* key : {"computed_share", "lit_share", "too_near_share", "cut_share", "layers_per_hogel"}) {
    EXPECT_EQ(all[key], one[key]) << key;
  }
}

TEST_F(RanksTest, ColoursAndMoreProcessesThanBands) {
  const std::vector<std::string> options{"--rgb", "638nm,520nm,450nm", "--rows-at-once", "50"};
  ASSERT_EQ(run(hologram("whole.npy", options)).exit_code, 0);
  const auto result = run_ranks(5, hologram("a.npy", options));
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("3 bands for 5 processes: the others wait; --rows-at-once"), std::string::npos)
      << result.error;
  for (const char* colour : {"r", "g", "b"}) {
    EXPECT_TRUE(content_of(path(fmt::format("a_{}.npy", colour))) ==
                content_of(path(fmt::format("whole_{}.npy", colour))));
  }
}

// All processes or one of them are killed at any moment; another number of processes resumes.
TEST_F(RanksTest, KilledRunsGoOn) {
  put_cloud("cloud.csv", 400);
  const std::vector<std::string> large{"--resolution", "600x900", "--rows-at-once", "30", "--no-band-limit"};
  const auto line = [&](const std::string& name) { return hologram(name, large); };
  ASSERT_EQ(run(line("whole.npy")).exit_code, 0);
  int killed = 0;
  for (int i = 0; i < 6; ++i) {
    fs::remove(path("a.npy"));
    {
      auto program = start({{2 + i % 3, line("a.npy")}});
      const auto pause = 300 + 900 * random_uniform64(4, static_cast<std::uint64_t>(i));
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      kill_processes(i % 2 == 0);
      killed += program.wait(30).exit_code != 0 ? 1 : 0;
    }
    const auto result = i % 3 == 0 ? run(line("a.npy")) : run_ranks(4 - i % 3, line("a.npy"));
    ASSERT_EQ(result.exit_code, 0) << result.error;
    ASSERT_TRUE(content_of(path("a.npy")) == content_of(path("whole.npy"))) << i;
  }
  std::printf("%d of 6 runs were killed\n", killed);
  EXPECT_GT(killed, 0);
  EXPECT_FALSE(fs::exists(path(".a.npy.part")));
}

TEST_F(RanksTest, WhatDiffersIsNamed) {
  put_cloud("other.csv", 61);
  const auto of_other = [&](const std::string& name) {
    auto words = hologram("a.npy");
    words[1] = path(name);
    return words;
  };
  expect_one_line(start({{2, hologram("a.npy")}, {1, of_other("other.csv")}}).wait(60),
                  "expected the same command in all processes, got others in rank 2 on ");
  expect_one_line(start({{2, hologram("a.npy")}, {1, {"hologram", "--foo"}}}).wait(60), "rank 2 on ");
  expect_one_line(run_ranks(3, of_other("missing.csv")), "missing.csv");
  expect_one_line(run_ranks(3, hologram("a.npy", {"--tolerance", "-1"})), "--tolerance");
  expect_one_line(run_ranks(2, hologram("missing/a.npy")), "missing");
  EXPECT_EQ(files(), (std::set<std::string>{"cloud.csv", "other.csv"}));
}

// Each process finds unfinished rows of this command, but in a folder of its own.
TEST_F(RanksTest, WriteInOneFolder) {
  put_cloud("cloud.csv", 2000);
  auto words = hologram("a.npy", {"--resolution", "600x900", "--rows-at-once", "30", "--no-band-limit"});
  *(std::find(words.begin(), words.end(), "-o") + 1) = "a.npy";
  std::vector<std::string> line{"mpirun", "--oversubscribe", "--bind-to", "none"};
  for (const char* folder : {"one", "two"}) {
    fs::create_directory(path(folder));
    RunningProgram program(words, captured_, [folder_path = path(folder)] { (void)!chdir(folder_path.c_str()); });
    (void)stopped_when_it_grows(program, path(folder) + "/.a.npy.part.rows", SIGKILL);
    ASSERT_TRUE(fs::exists(path(folder) + "/.a.npy.part")) << "the run was over before it could be stopped";
    line.insert(line.end(), {"-n", "1", "-wdir", path(folder), program_path()});
    line.insert(line.end(), words.begin(), words.end());
    line.emplace_back(":");
  }
  line.pop_back();
  const auto result = RunningProgram::other(line, captured_, &allow_root).wait(60);
  expect_one_line(result, "a.npy: expected the rows that another process has begun, in one folder for all processes");
  EXPECT_FALSE(fs::exists(path("one/a.npy")));
}

// A module that is cut off, as by a full disk, is refused before the system's loader crashes on it.
TEST_F(RanksTest, AModuleThatIsCutOff) {
  const auto program = fs::path(program_path());
  const auto module = content_of(program.parent_path() / "holotone_mpi.so");
  std::error_code error;
  fs::create_hard_link(program, base_ / "holotone", error);
  if (error) fs::copy_file(program, base_ / "holotone");
  fs::create_symlink(program.parent_path() / "holotone_program.so", base_ / "holotone_program.so");
  auto words = hologram("a.npy");
  words.insert(words.begin(), (base_ / "holotone").string());
  for (const std::size_t kept :
       {std::size_t{0}, std::size_t{40}, std::size_t{4096}, module.size() / 2, module.size() - 1}) {
    std::ofstream(base_ / "holotone_mpi.so", std::ios::binary) << module.substr(0, kept);
    const auto result =
        RunningProgram::other(words, captured_, [] { setenv("OMPI_COMM_WORLD_SIZE", "2", 1); }).wait(60);
    EXPECT_EQ(result.exit_code, 2) << kept;
    EXPECT_NE(result.error.find("mpirun: expected holotone_mpi.so beside the program"), std::string::npos)
        << result.error;
    EXPECT_NE(
        result.error.find(kept == 0 ? "holotone_mpi.so: an empty file" : fmt::format("cut off after {} of", kept)),
        std::string::npos)
        << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  }
}

TEST_F(RanksTest, WhatTakesOneProcessSaysSo) {
  expect_one_line(run_ranks(2, {"info", path("cloud.csv")}), "mpirun: expected one process for `holotone info`, got 2");
  expect_one_line(run_ranks(2, {"panel", "lens", "-o", path("a.png"), "--focal-length", "20cm"}),
                  "mpirun: expected one process for `holotone panel lens`, got 2");
  auto words = hologram("a.png");
  words.resize(words.size() - 2);  // without --rows-at-once
  expect_one_line(run_ranks(2, words), "mpirun: expected a file .tif for codes");
  write_image(path("picture.png"), {Array<std::uint8_t, 3>({8, 8, 1}), {}});
  expect_one_line(run_ranks(2, {"hologram", "--image", path("picture.png"), "-o", path("a.h5"), "--device", "cpu"}),
                  "mpirun: expected --hogel");
  EXPECT_EQ(files(), (std::set<std::string>{"cloud.csv", "picture.png"}));
}

}  // namespace
}  // namespace holotone::test
