#include <cstdio>
#include <gtest/gtest.h>
#include <tests/support/guarded_survival.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/paths.hpp>

namespace io_support {

void expect_guarded_survival(const std::string& name, const std::string& seed, std::uint64_t count,
                             const std::vector<std::string>& parts, holotone::FieldContent content) {
  const holotone::ReaderLimits limits{.run = {.output_bytes = 64 << 20, .seconds = 5},
                                      .memory_bytes = std::uint64_t{1} << 30};
  const TemporaryFolder folder;
  const std::string file = folder.file(name);
  int read = 0;
  int refused = 0;
  int ended = 0;
  if (!memory_is_limited) count /= 25;
  for (std::uint64_t i = 0; i < count; ++i) {
    write_raw(file, mutated(seed, i));
    try {
      (void)holotone::read_field_guarded(file + parts[i % parts.size()], holotone::guarded_program(), limits,
                                         {.read = content});
      ++read;
    } catch (const holotone::Error& error) {
      const std::string text = error.what();
      EXPECT_TRUE(error.code() == holotone::ErrorCode::io) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_TRUE(text.starts_with(file)) << text;
      ++(text.find("the reader ") == std::string::npos ? refused : ended);
    }
  }
  std::printf("%s: %d read, %d refused, %d ended the child\n", name.c_str(), read, refused, ended);
  EXPECT_GT(refused, 0);
}

}  // namespace io_support
