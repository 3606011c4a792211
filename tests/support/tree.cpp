#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <tests/support/paths.hpp>
#include <tests/support/tree.hpp>
#include <utility>

namespace holotone {

namespace fs = std::filesystem;

const std::vector<SourceFile>& tree() {
  static const auto files = [] {
    const fs::path root = source_folder();
    const std::set<std::string> suffixes = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".cl"};
    std::vector<SourceFile> found;
    for (const char* folder : {"holotone", "web", "cli", "tests", "bench", "examples"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (!entry.is_regular_file() || suffixes.count(entry.path().extension().string()) == 0) continue;
        SourceFile file{fs::relative(entry.path(), root).generic_string(), {}};
        std::ifstream stream(entry.path());
        for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
        found.push_back(std::move(file));
      }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return found;
  }();
  return files;
}

void find(const std::string& prefix, const std::string& pattern,
          const std::function<void(const SourceFile& file, std::size_t line, const std::smatch& match)>& report) {
  const std::regex expression(pattern);
  for (const auto& file : tree()) {
    if (!file.path.starts_with(prefix)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      std::smatch match;
      if (std::regex_search(code, match, expression)) report(file, i + 1, match);
    }
  }
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void fail_at(const SourceFile& file, std::size_t line, const std::string& why) {
  ADD_FAILURE() << file.path << ":" << line << ": " << why;
}

}  // namespace holotone
