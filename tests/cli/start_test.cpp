// The start of the program: where its module is found.
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class StartTest : public ProgramTest {};

TEST_F(StartTest, ALinkFindsTheModule) {
  fs::create_symlink(program_path(), path("linked"));
  const auto result = RunningProgram::other({path("linked"), "--version"}, captured_).wait(20);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(result.output.starts_with("holotone ")) << result.output;
}

TEST_F(StartTest, APathMayHoldWhatTheLoaderReplaces) {
  const fs::path folder = path("a$LIB ${ORIGIN}");
  fs::create_directory(folder);
  fs::copy_file(program_path(), folder / "holotone");
  fs::create_symlink(fs::path(program_path()).parent_path() / "holotone_program.so", folder / "holotone_program.so");
  const auto result = RunningProgram::other({(folder / "holotone").string(), "--version"}, captured_).wait(20);
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST_F(StartTest, ACopyWithoutItsModuleSaysSo) {
  fs::copy_file(program_path(), path("copied"));
  const auto module = content_of(fs::path(program_path()).parent_path() / "holotone_program.so");
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{5000}, module.size() - 1}) {
    if (kept > 1) std::ofstream(path("holotone_program.so"), std::ios::binary) << module.substr(0, kept);
    if (kept == 1) std::ofstream(path("holotone_program.so")).close();
    const auto result = RunningProgram::other({path("copied"), "--version"}, captured_).wait(20);
    EXPECT_EQ(result.exit_code, 2) << kept;
    EXPECT_TRUE(result.error.starts_with("holotone: expected holotone_program.so")) << result.error;
    EXPECT_EQ(result.error.find("cut off") != std::string::npos, kept > 1) << result.error;
    EXPECT_EQ(std::ranges::count(result.error, '\n'), 1) << result.error;
  }
}

}  // namespace
}  // namespace holotone::test
