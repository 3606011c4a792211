// Compiler flags that a file's results depend on: CMake sets them by the file's name and would silently drop them when
// it is moved. And the libraries that a program needs to start.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <tests/support/paths.hpp>
#include <tests/support/tree.hpp>
#include <vector>

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
    const std::string name = path.lexically_normal().lexically_relative(source_folder()).generic_string();
    if (name.starts_with("holotone/") && contracts_nothing(entry.at("command").get<std::string>()))
      compiled.insert(name);
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

/// Sonames that a program or library is linked with; empty without readelf.
std::vector<std::string> needed_by(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(("readelf -dW '" + path + "' 2>&1").c_str(), "r"),
                                                     ::pclose);
  const std::regex needed(R"(\(NEEDED\).*\[(.*)\])");
  std::smatch match;
  for (char line[1000]; output && std::fgets(line, sizeof line, output.get()) != nullptr;) {
    const std::string text = line;
    if (std::regex_search(text, match, needed)) names.push_back(match[1]);
  }
  return names;
}

// A machine without CUDA or OpenCL starts the program: core/cuda_library.hpp and core/api_opencl.hpp load them.
TEST(Structure, NoProgramIsLinkedWithCudaOrOpencl) {
  const std::regex loaded("lib(cu[a-zA-Z]+|nv[a-zA-Z-]+|OpenCL)\\.so.*");
  EXPECT_TRUE(std::regex_match("libcublasLt.so.13", loaded) && std::regex_match("libnvrtc.so.13", loaded));
  const auto module = std::filesystem::path(program_path()).parent_path() / "holotone_program.so";
  for (const auto& path : {program_path(), module.string(), std::filesystem::read_symlink("/proc/self/exe").string()}) {
    const auto names = needed_by(path);
    if (names.empty()) GTEST_SKIP() << "readelf: not found";
    EXPECT_GT(names.size(), path == program_path() ? 0u : 3u) << path;
    for (const auto& name : names) EXPECT_FALSE(std::regex_match(name, loaded)) << path << ": " << name;
  }
}

}  // namespace
}  // namespace holotone
