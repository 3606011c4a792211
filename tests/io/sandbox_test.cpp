#include <chrono>
#include <holotone/io/sandbox.hpp>
#include <tests/io/io_support.hpp>

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
  EXPECT_EQ(error_of([] { shell("kill -SEGV $$"); }), "file.obj: the reader crashed (signal 11)");
  EXPECT_EQ(error_of([] { shell("kill -ABRT $$"); }), "file.obj: the reader crashed (signal 6)");
}

TEST(Sandbox, TimeIsLimitedAsleepAndAwake) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string script : {"exec sleep 60", "while :; do :; done"}) {
    EXPECT_EQ(error_of([&] { shell(script, {.seconds = 0.3}); }), "file.obj: the reader took more than 0.3 s");
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20.0);
}

TEST(Sandbox, MemoryIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a program with a sanitizer does not start under a limit of address space";
#else
  // tail keeps a line without end in memory.
  EXPECT_NE(shell("head -c 300000000 /dev/zero | tail -n 1 > /dev/null", {.memory_bytes = 100 << 20}).exit_code, 0);
  EXPECT_EQ(shell("head -c 3000000 /dev/zero | tail -n 1 > /dev/null", {.memory_bytes = 100 << 20}).exit_code, 0);
#endif
}

TEST(Sandbox, OutputIsLimited) {
  EXPECT_MENTIONS(error_of([] { shell("exec yes", {.output_bytes = 1 << 20}); }), "wrote more than 1.0 MiB");
}

TEST(Sandbox, AProgramThatIsNotThere) {
  const auto run = [] { run_guarded("/nowhere/holotone", {}, {}, "file.obj"); };
  EXPECT_MENTIONS(error_of(run, ErrorCode::device), "/nowhere/holotone: No such file");
  EXPECT_MENTIONS(error_of([] { shell("true", {.seconds = 0}); }, ErrorCode::invalid_argument), "limits.seconds");
}

TEST(Sandbox, CurrentProgramIsThisOne) {
  EXPECT_TRUE(current_program().ends_with("holotone_tests")) << current_program();
}

}  // namespace
}  // namespace holotone
