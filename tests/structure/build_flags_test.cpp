// Compiler flags that a file's results depend on. CMake sets them by the file's name and would silently drop them when
// it is moved.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <tests/structure/tree.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

namespace fs = std::filesystem;

const std::string mark = "// Needs -ffp-contract=off: ";

/// True if the last -ffp-contract of a compiler's command line is off.
bool contracts_nothing(const std::string& command) {
  const std::string flag = "-ffp-contract=";
  const auto last = command.rfind(flag);
  return last != std::string::npos && command.compare(last + flag.size(), 4, "off ") == 0;
}

TEST(Structure, FilesThatNeedItAreCompiledWithoutContraction) {
  const fs::path commands = fs::path(build_folder()) / "compile_commands.json";
  if (!fs::exists(commands)) {
    GTEST_SKIP() << commands.string() << ": file not found; configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON";
  }
  std::set<std::string> marked;
  for (const auto& file : tree()) {
    if (!file.path.starts_with("holotone/")) continue;
    for (const auto& line : file.lines) {
      if (line.starts_with(mark)) marked.insert(file.path);
    }
  }
  std::set<std::string> compiled;
  std::ifstream stream(commands);
  for (const auto& entry : nlohmann::json::parse(stream)) {
    const fs::path path = fs::path(entry.at("directory").get<std::string>()) / entry.at("file").get<std::string>();
    const std::string own = path.lexically_normal().lexically_relative(source_folder()).generic_string();
    if (own.starts_with("holotone/") && contracts_nothing(entry.at("command").get<std::string>())) compiled.insert(own);
  }
  for (const auto& file : marked) {
    EXPECT_EQ(compiled.count(file), 1u) << file << ": needs -ffp-contract=off and is compiled without it";
  }
  for (const auto& file : compiled) {
    EXPECT_EQ(marked.count(file), 1u) << file << ": has -ffp-contract=off and no line '" << mark << "..'";
  }
  EXPECT_GE(marked.size(), 5u);
}

// A header of fixed arithmetic states this in its first lines; sources that include it carry the mark.
TEST(Structure, SourcesWithFixedArithmeticAreMarked) {
  std::set<std::string> fixed;
  std::set<std::string> marked;
  for (const auto& file : tree()) {
    if (!file.path.starts_with("holotone/")) continue;
    for (std::size_t i = 0; i < std::min<std::size_t>(file.lines.size(), 6); ++i) {
      const std::string& line = file.lines[i];
      if (line.find("files that include this are compiled with -ffp-contract=off") != std::string::npos) {
        fixed.insert(file.path);
      }
      if (line.starts_with(mark)) marked.insert(file.path);
    }
  }
  EXPECT_GE(fixed.size(), 3u);
  find("holotone/", R"(^\s*#\s*include\s*<(holotone/[a-z0-9_./]+)>)",
       [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
         if (!file.path.ends_with(".cpp") || fixed.count(match[1]) == 0 || marked.count(file.path) == 1) return;
         fail_at(file, line, "includes " + match[1].str() + " and has no line '" + mark + "..'");
       });
}

TEST(Structure, TheLastContractionFlagCounts) {
  EXPECT_TRUE(contracts_nothing("c++ -O3 -ffp-contract=off -c x.cpp"));
  EXPECT_FALSE(contracts_nothing("c++ -O3 -c x.cpp"));
  EXPECT_FALSE(contracts_nothing("c++ -ffp-contract=off -ffp-contract=fast -c x.cpp"));
}

}  // namespace
}  // namespace holotone
