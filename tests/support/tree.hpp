#pragma once
#include <functional>
#include <regex>
#include <string>
#include <vector>

// The source tree as text, for tests that enforce HACKING.md's rules.
namespace holotone {

struct SourceFile {
  std::string path;  ///< relative to the root of the tree, with '/'
  std::vector<std::string> lines;
};

/// Every C++, CUDA and OpenCL C file of holotone, viewer, cli, tests, bench and examples, sorted by path. Read once.
const std::vector<SourceFile>& tree();

/// Calls report(file, line number, match) for every match of the regular expression `pattern` in files whose path
/// begins with `prefix`; text after // is ignored.
void find(const std::string& prefix, const std::string& pattern,
          const std::function<void(const SourceFile& file, std::size_t line, const std::smatch& match)>& report);

/// "holotone/io" for "holotone/io/images/image.hpp".
std::string folder_of(const std::string& path);

/// Fails the running test at a line of the tree.
void fail_at(const SourceFile& file, std::size_t line, const std::string& why);

}  // namespace holotone
