// System limits of the program: address space and threads.
#include <cstdlib>
#include <holotone/io/images/tiff/tiff_header_detail.hpp>
#include <sys/resource.h>
#include <tests/support/paths.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

class LimitsTest : public ProgramTest {
 protected:
  [[nodiscard]] ProgramResult run_with_threads(const char* threads, rlim_t mebibytes, const char* resolution) const {
    const std::vector<std::string> arguments{"hologram", path("t.ply"), "-o",       path("o.png"), "--resolution",
                                             resolution, "--pitch",     "8um",      "--size",      "1mm",
                                             "--method", "separable",   "--device", "cpu",         "-q"};
    return RunningProgram(arguments, captured_,
                          [=] {
                            setenv("OMP_NUM_THREADS", threads, 1);
                            const rlimit value{mebibytes << 20, mebibytes << 20};
                            if (mebibytes > 0) setrlimit(RLIMIT_AS, &value);
                          })
        .wait(60);
  }
};

TEST_F(LimitsTest, AnAddressSpaceTooSmallToStart) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
  for (const rlim_t mebibytes : {300, 400, 500}) {
    const auto limit = [=] {
      const rlimit value{mebibytes << 20, mebibytes << 20};
      setrlimit(RLIMIT_AS, &value);
    };
    const auto result = RunningProgram({"devices"}, captured_, limit).wait(20);
    if (result.exit_code == 127) continue;  // too small for the system's loader, which reports it: CUDA's libraries
    EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 0) << mebibytes << " MiB: " << result.exit_code;
    EXPECT_EQ(result.exit_code == 2, result.error.find("memory") != std::string::npos) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), result.exit_code == 2 ? 1 : 0)
        << result.error;
  }
}

TEST_F(LimitsTest, ASmallAddressSpaceEndsNoSumInALoop) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
  ASSERT_EQ(run({"sample", "teapot", "-o", path("t.ply"), "--points", "3000"}).exit_code, 0);
  for (const rlim_t mebibytes : {600, 700, 977, 1500}) {
    for (const char* threads : {"1", "32", "1000"}) {
      for (const char* resolution : {"201x103", "6000x6000"}) {
        const auto result = run_with_threads(threads, mebibytes, resolution);
        if (result.exit_code == 127) continue;  // too small for the system's loader: CUDA's libraries
        EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 0)
            << mebibytes << " MiB, " << threads << " threads: " << result.exit_code << result.error;
        EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), result.exit_code == 2 ? 1 : 0)
            << result.error;
      }
    }
  }
}

// 4.9 GB of codes, most of them holes of the file; the program has memory for half of them.
TEST_F(LimitsTest, InfoOfCodesLargerThanMemory) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  const Metadata metadata{{"encoding", "phase"}, {"pitch_m", "1e-06"}};
  const std::string head = io::tiff_header({70'000, 70'001}, 8, metadata);
  write("codes.tif", head);
  fs::resize_file(path("codes.tif"), head.size() + std::uintmax_t{70'000} * 70'001);
  const auto tell = [&] {
    return RunningProgram({"info", path("codes.tif"), "--json"}, captured_,
                          [] {
                            setenv("OMP_NUM_THREADS", "1", 1);
                            const rlimit space{rlim_t{5} << 29, rlim_t{5} << 29};
                            setrlimit(RLIMIT_AS, &space);
                          })
        .wait(60);
  };
  const auto result = tell();
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["kind"], "hologram");
  EXPECT_EQ(json["resolution"], nlohmann::json({70'001, 70'000}));
  EXPECT_EQ(json["pixel_type"], "8-bit");
  EXPECT_EQ(json["channels"], 1);
  EXPECT_EQ(json["metadata"]["pitch_m"], 1e-6);
  fs::resize_file(path("codes.tif"), head.size() + std::uintmax_t{70'000} * 70'001 - 1);
  const auto cut = tell();
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_NE(cut.error.find("codes.tif: expected pixels up to byte 490"), std::string::npos) << cut.error;
}

// No stack of a thread fits into the address space: what the limit of processes does to others than root.
TEST_F(LimitsTest, AThreadThatIsNotStarted) {
  if (sanitized) GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
  write("cloud.csv", "x,y,z\n0,0,-0.001\n");
  write("moving_0.csv", "x,y,z\n0,0,-0.001\n");
  write("moving_1.csv", "x,y,z\n0,0,-0.001\n");
  const std::vector<std::string> common{"--resolution", "64x64", "--pitch", "2um", "--keep-coordinates"};
  for (std::vector<std::string> words :
       {std::vector<std::string>{"hologram", path("cloud.csv"), "-o", path("a.npy"), "--rows-at-once", "16", "--device",
                                 "cpu"},
        {"hologram", path("cloud.csv"), "-o", path("a.npy"), "--rows-at-once", "16", "--device", "cpu,cpu"},
        {"hologram", path("moving_%d.csv"), "-o", path("a_%d.png"), "--device", "cpu"}}) {
    words.insert(words.end(), common.begin(), common.end());
    const auto result = RunningProgram(words, captured_, [] {
                          setenv("OMP_NUM_THREADS", "1", 1);
                          const rlimit stack{rlim_t{1} << 36, RLIM_INFINITY};
                          const rlimit space{rlim_t{1} << 35, rlim_t{1} << 35};
                          if (setrlimit(RLIMIT_STACK, &stack) != 0 || setrlimit(RLIMIT_AS, &space) != 0) _exit(127);
                        }).wait(60);
    if (result.exit_code == 127) GTEST_SKIP() << "stacks have a limit here";
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_EQ(result.error.find("holotone: a thread could not be started: raise the limit"), 0U) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  }
  EXPECT_EQ(files(), (std::set<std::string>{"cloud.csv", "moving_0.csv", "moving_1.csv"}));
}

TEST_F(LimitsTest, AbsurdThreadCountsAreRefused) {
  const auto result = run_with_threads("100000", 0, "201x103");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error, "holotone: OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got '100000'\n");
  for (const char* text : {"x", "0", "-1", "2x", "1,,2", "4,0"}) {
    const auto bad = run_with_threads(text, 0, "201x103");
    EXPECT_EQ(bad.exit_code, 2) << text;
    EXPECT_EQ(bad.error,
              fmt::format("holotone: OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got '{}'\n", text));
  }
  const auto control = run_with_threads("\x1b[2J", 0, "201x103");
  EXPECT_NE(control.error.find("got '?[2J'\n"), std::string::npos) << control.error;
  const auto listed = run_with_threads(" 2, 1", 0, "201x103");  // a valid number of threads: the error is the missing
                                                                // points
  EXPECT_NE(listed.error.find("t.ply"), std::string::npos) << listed.error;
}

TEST_F(LimitsTest, ABlankThreadCountAsksForNothing) {
  for (const char* text : {"", " ", "\t "}) {
    for (const char* spin : {"", "1000"}) {
      const auto result = RunningProgram({"devices"}, captured_, [=] {
                            setenv("OMP_NUM_THREADS", text, 1);
                            spin[0] == '\0' ? unsetenv("GOMP_SPINCOUNT") : setenv("GOMP_SPINCOUNT", spin, 1);
                          }).wait(20);
      EXPECT_EQ(result.exit_code, 0) << "'" << text << "'";
      EXPECT_EQ(result.error, "") << "'" << text << "'";
    }
  }
}

// Idle threads sleep soon.
TEST_F(LimitsTest, WaitingThreadsSleep) {
  if (sanitized) GTEST_SKIP() << "another OpenMP library has other words";
  for (const bool waits : {true, false}) {
    const auto result = RunningProgram({"devices", "--json"}, captured_, [=] {
                          unsetenv("GOMP_SPINCOUNT");
                          waits ? setenv("OMP_WAIT_POLICY", "active", 1) : unsetenv("OMP_WAIT_POLICY");
                          setenv("OMP_DISPLAY_ENV", "VERBOSE", 1);
                        }).wait(20);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error.find("GOMP_SPINCOUNT = '1000'") == std::string::npos, waits) << result.error;
  }
}

}  // namespace
}  // namespace holotone::test
