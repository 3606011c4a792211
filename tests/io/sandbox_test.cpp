#include <chrono>
#include <cstdlib>
#include <holotone/io/guarded/sandbox.hpp>
#include <new>
#include <sys/resource.h>
#include <tests/support/io_support.hpp>
#include <thread>
#include <unistd.h>

namespace holotone {
namespace {

using io_support::error_of;

GuardedRun shell(const std::string& script, const GuardLimits& limits = {}) {
  return run_guarded("/bin/sh", {"-c", script}, limits, "file.obj");
}

TEST(Sandbox, GivesOutputAndExitCode) {
  const GuardedRun run = shell("printf 'a\\0b'; printf hidden >&2; exit 7");
  EXPECT_EQ(run.exit_code, 7);
  EXPECT_EQ(run.output, std::string("a\0b", 3));
  EXPECT_EQ(shell("true").output, "");
  EXPECT_EQ(shell("head -c 3000000 /dev/zero").output.size(), 3000000u);
}

TEST(Sandbox, StandardInputIsEmptyAndOneThreadIsAskedFor) {
  EXPECT_EQ(shell("cat; echo $OMP_NUM_THREADS$OPENBLAS_NUM_THREADS; test -n \"$PATH\" && echo path").output,
            "11\npath\n");
}

TEST(Sandbox, CrashNamesTheSignal) {
  EXPECT_EQ(error_of([] { shell("kill -SEGV $$"); }),
            "file.obj: expected a file that the reader can parse, got one that crashed it (signal 11)");
  EXPECT_EQ(error_of([] { shell("kill -ABRT $$"); }),
            "file.obj: expected a file that the reader can parse, got one that crashed it (signal 6)");
}

TEST(Sandbox, TimeIsLimitedAsleepAndAwake) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { shell("while :; do :; done", {.seconds = 0.3}); }),
            "file.obj: the reader took more than 0.3 s");
  EXPECT_EQ(error_of([&] { shell("exec sleep 60", {.wall_seconds = 0.3}); }),
            "file.obj: the reader did not end within 0.3 s");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20.0);
}

// A shell's own children would outlive it.
TEST(Sandbox, ACommandIsKilledWithItsChildren) {
  EXPECT_EQ(error_of([] { shell("kill -INT $$", {.command = true}); }), "file.obj: the command ended by signal 2");
  const std::string mark = testing::TempDir() + "holotone_sandbox_mark";
  std::remove(mark.c_str());
  EXPECT_EQ(error_of([&] { shell("(sleep 1; : >" + mark + "); :", {.wall_seconds = 0.3, .command = true}); }),
            "file.obj: the command did not end within 0.3 s");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
}

// On a busy machine a reader waits for a processor: only its processor time counts.
TEST(Sandbox, WaitingTakesNoTime) { EXPECT_EQ(shell("sleep 1; echo done", {.seconds = 0.5}).output, "done\n"); }

TEST(Sandbox, MemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a program with a sanitizer does not run under a limit of memory";
#else
  const auto limited = [](std::size_t bytes) {
    limit_memory(100 << 20);
    try {
      std::exit(std::string(bytes, 'x').back() == 'x' ? 0 : 1);
    } catch (const std::bad_alloc&) {
      std::exit(2);
    }
  };
  EXPECT_EXIT(limited(50 << 20), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(limited(150 << 20), testing::ExitedWithCode(2), "");
#endif
}

TEST(Sandbox, OutputIsLimited) {
  EXPECT_MENTIONS(error_of([] { shell("exec yes", {.output_bytes = 1 << 20}); }), "wrote more than 1.0 MiB");
}

// Lower limits of the caller are kept.
TEST(Sandbox, ALowerLimitOfTheCallerStays) {
  EXPECT_EQ(shell("ulimit -f").output, "8388608\n");  // blocks of 512 bytes: the guard's 4 GiB
  const auto limited = [] {
    const rlimit low{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &low);
    std::exit(shell("ulimit -f").output == "2048\n" ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

TEST(Sandbox, ALowerLimitOfTheCallerIsNamed) {
  const auto limited = [] {
    const rlimit low{20'000, 20'000};
    setrlimit(RLIMIT_FSIZE, &low);
    const std::string said = error_of([] { shell("exec yes", {}); });
    std::exit(said.find("ulimit -f), got 19.5 KiB") != std::string::npos ? 0 : 1);
  };
  EXPECT_EXIT(limited(), testing::ExitedWithCode(0), "");
}

// The parent may have been started with closed standard streams: pipes then have their numbers.
TEST(Sandbox, WorksWithClosedStandardStreams) {
  const auto closed = [] {
    for (const int descriptor : {0, 1, 2}) close(descriptor);
    std::exit(shell("cat; printf out; printf err >&2").output == "out" ? 0 : 1);
  };
  EXPECT_EXIT(closed(), testing::ExitedWithCode(0), "");
}

TEST(Sandbox, AProgramThatIsNotThere) {
  const auto run = [] { run_guarded("/nowhere/holotone", {}, {}, "file.obj"); };
  EXPECT_MENTIONS(error_of(run, ErrorCode::io), "/nowhere/holotone: No such file");
  EXPECT_MENTIONS(error_of([] { shell("true", {.seconds = 0}); }, ErrorCode::invalid_argument), "limits.seconds");
}

TEST(Sandbox, CurrentProgramIsThisOne) {
  EXPECT_TRUE(current_program().ends_with("holotone_tests")) << current_program();
}

}  // namespace
}  // namespace holotone
