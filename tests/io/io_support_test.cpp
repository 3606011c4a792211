// The harness detects failures of a reader.
#include <csignal>
#include <new>
#include <tests/support/io_support.hpp>

namespace io_support {
namespace {

const std::string sample(600, 'x');

TEST(MutationHarness, DamageIsTheSameEveryTime) {
  EXPECT_EQ(mutated(sample, 7), mutated(sample, 7));
  int changed = 0;
  for (std::uint64_t i = 0; i < 50; ++i) changed += mutated(sample, i) != sample;
  EXPECT_GE(changed, 40);
}

TEST(MutationHarness, ReportsACrash) {
  const auto report = survive_mutations(sample, ".x", 10, [](const std::string&) { raise(SIGKILL); });
  EXPECT_EQ(report.failure, "signal 9");
  EXPECT_EQ(report.last, 0);
}

TEST(MutationHarness, ReportsForeignExceptionsAndLongMessages) {
  const auto other = survive_mutations(sample, ".x", 10, [](const std::string&) { throw std::bad_alloc(); });
  EXPECT_MENTIONS(other.failure, "another exception");
  const auto lines = survive_mutations(
      sample, ".x", 10, [](const std::string&) { throw holotone::Error(holotone::ErrorCode::io, "two\nlines"); });
  EXPECT_MENTIONS(lines.failure, "not one line");
}

TEST(MutationHarness, LimitsMemory) {
  if (!memory_is_limited) GTEST_SKIP() << "sanitizers do not run under a limit of address space";
  const auto report = survive_mutations(sample, ".x", 10, [](const std::string&) {
    const std::vector<char> large(std::size_t{600} << 20);
    if (large[5] != 0) throw std::runtime_error("unreachable");
  });
  EXPECT_MENTIONS(report.failure, "bad_alloc");
}

TEST(MutationHarness, CountsWhatWasReadAndRefused) {
  const auto report = survive_mutations(sample, ".x", 20, [](const std::string& path) {
    if (read_raw(path).size() < sample.size()) holotone::throw_io(path, "more", "less");
  });
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.accepted + report.rejected, 20);
  EXPECT_GT(report.accepted, 0);
  EXPECT_GT(report.rejected, 0);
}

}  // namespace
}  // namespace io_support
