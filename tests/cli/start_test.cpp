// The start of the program: its module, and the commands that may use CUDA.
#include <cli/start/early_cuda.hpp>
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

TEST_F(StartTest, ThoseThatStartADeviceEarlyHaveOne) {
  std::istringstream lines(run({"--help"}).output);
  std::string line;
  while (std::getline(lines, line) && line != "Commands:") continue;
  int commands = 0;
  while (std::getline(lines, line) && !line.empty()) {
    if (line.size() < 3 || line[2] == ' ') continue;  // a purpose goes on
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const auto help = run({name, "--help-all"});
    ++commands;
    const bool listed = std::ranges::find(start::commands_on_devices, name) != start::commands_on_devices.end();
    EXPECT_EQ(help.output.find("--device") != std::string::npos || name == "smoe", listed) << name;
  }
  EXPECT_GE(commands, 15);
}

}  // namespace
}  // namespace holotone::test
