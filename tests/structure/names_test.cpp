// Enforces names: a function x_of says what it returns of what, so one name stands for one function of the tree; limits
// are max_ and min_; nothing is called own; and words of comments, help and documentation.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <tests/support/paths.hpp>
#include <tests/support/tree.hpp>
#include <vector>

namespace holotone {
namespace {

namespace fs = std::filesystem;

/// Lines joined, without what follows "//".
std::string code_without_comments(const std::vector<std::string>& lines) {
  std::string code;
  for (const auto& line : lines) code += line.substr(0, line.find("//")) + "\n";
  return code;
}

/// The place after the bracket that closes the one at `open`; npos if none does.
std::size_t after_brackets(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i + 1;
  }
  return std::string::npos;
}

/// Whether `before` ends with a type, as in front of a function's name.
bool ends_with_type(std::string_view before) {
  while (!before.empty() && std::isspace(static_cast<unsigned char>(before.back())) != 0) before.remove_suffix(1);
  if (before.empty() || before.ends_with("&&")) return false;
  const char last = before.back();
  if (last == '>' || last == '&' || last == '*') return true;
  const auto in_word = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  };
  if (!in_word(last)) return false;
  const auto begin = std::find_if_not(before.rbegin(), before.rend(), in_word).base();
  static const std::set<std::string_view> no_types = {"return", "throw", "else", "case", "co_return"};
  return no_types.count(before.substr(static_cast<std::size_t>(begin - before.begin()))) == 0;
}

/// Names ending in _of of the functions, members and lambdas that C++, CUDA or OpenCL C code defines.
std::set<std::string> defined_of_names(const std::string& code) {
  static const std::regex call(R"(((?:\w+::)*)\b([a-z0-9_]+_of)\s*\()");
  static const std::regex body(R"(^\s*(const\b)?\s*(noexcept\b)?\s*(override\b)?\s*(->[^{};]*)?(:[^{};]*)?\{)");
  static const std::regex lambda(R"(\b([a-z0-9_]+_of)\s*=\s*\[)");
  std::set<std::string> names;
  for (std::sregex_iterator match(code.begin(), code.end(), call), end; match != end; ++match) {
    const auto begin = static_cast<std::size_t>(match->position());
    if (!ends_with_type(std::string_view(code).substr(0, begin))) continue;
    const std::size_t after = after_brackets(code, begin + static_cast<std::size_t>(match->length()) - 1);
    if (after == std::string::npos) continue;
    if (std::regex_search(code.substr(after, 300), body)) names.insert((*match)[2]);
  }
  for (std::sregex_iterator match(code.begin(), code.end(), lambda), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

/// The same of Python and JavaScript.
std::set<std::string> defined_in_script(const std::string& code) {
  static const std::regex definition(R"(\b(?:def|function)\s+([a-z0-9_]+_of)\s*\()");
  std::set<std::string> names;
  for (std::sregex_iterator match(code.begin(), code.end(), definition), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

/// Names that say too little: limits other than max_ and min_, and variables that are only "own".
std::vector<std::string> poor_names(std::string line) {
  static const std::regex no_code(R"("(\\.|[^"\\])*"|//.*)");
  static const std::regex poor(R"(\b(own|(most|least)_(?!squares?\b)[a-z_]+)\b)");
  line = std::regex_replace(line, no_code, "");
  return {std::sregex_token_iterator(line.begin(), line.end(), poor), {}};
}

struct TextFile {
  std::string path;  ///< relative to the root of the tree
  std::vector<std::string> lines;
};

/// Scripts, pages and build files: what tree() does not hold.
std::vector<TextFile> other_files() {
  const fs::path root = source_folder();
  static const std::set<std::string> suffixes = {".py", ".js",    ".html", ".css",  ".md",
                                                 ".sh", ".cmake", ".in",   ".ipynb"};
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  for (const char* folder :
       {"bench", "cmake", "docs", "examples", "holotone", "python", "scripts", "tests", "web", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && suffixes.contains(entry.path().extension().string()))
        paths.push_back(entry.path());
    }
  }
  std::vector<TextFile> files;
  for (const auto& path : paths) {
    TextFile file{fs::relative(path, root).generic_string(), {}};
    std::ifstream stream(path);
    for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  return files;
}

TEST(Structure, DefinitionsAreFound) {
  using Names = std::set<std::string>;
  EXPECT_EQ(defined_of_names("Place place_of(const void* data) { return table().find(data); }"), Names{"place_of"});
  EXPECT_EQ(defined_of_names("  [[nodiscard]] int row_of(float y) const noexcept {"), Names{"row_of"});
  EXPECT_EQ(defined_of_names("std::vector<int>\nGrid::cells_of(int a,\n  int b)\n{"), Names{"cells_of"});
  EXPECT_EQ(defined_of_names("const auto share_of = [&](int i) { return i; };"), Names{"share_of"});
  EXPECT_EQ(defined_of_names("static float4 windows_of(const Area *area) {"), Names{"windows_of"});
  EXPECT_EQ(defined_of_names("Place place_of(const void* data);\nreturn place_of(data);\nif (place_of(data)) {"),
            Names{});
  EXPECT_EQ(defined_of_names("if (a && place_of(data)) {\nfor (auto x : rows_of(y)) {\nauto z = 2 * size_of(y);"),
            Names{});
  EXPECT_EQ(defined_in_script("def rows_of(run):\n    return keys_of(run)"), Names{"rows_of"});
  EXPECT_EQ(defined_in_script("export function rgb_of(colour) {"), Names{"rgb_of"});
}

TEST(Structure, PoorNamesAreFound) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(poor_names("const auto own = most_pixels(least_y);  // its own"), (Names{"own", "most_pixels", "least_y"}));
  EXPECT_EQ(poor_names("WeightRule::least_squares, \"own\", owner, own_row, smoe_least_bytes"), Names{});
}

TEST(Structure, LimitsAreMaxAndMinAndNothingIsCalledOwn) {
  int lines = 0;
  for (const auto& file : tree()) {
    if (file.path == "tests/structure/names_test.cpp") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i, ++lines) {
      const auto names = poor_names(file.lines[i]);
      EXPECT_TRUE(names.empty()) << file.path << ":" << i + 1 << ": " << fmt::format("{}", fmt::join(names, ", "));
    }
  }
  EXPECT_GT(lines, 50'000);
}

TEST(Structure, NamesEndingInOfStandForOneFunction) {
  std::map<std::string, std::set<std::string>> files;
  for (const auto& file : tree()) {
    if (file.path == "tests/structure/names_test.cpp") continue;
    for (const auto& name : defined_of_names(code_without_comments(file.lines))) files[name].insert(file.path);
  }
  for (const auto& file : other_files()) {
    if (!file.path.ends_with(".py") && !file.path.ends_with(".js")) continue;
    std::string code;
    for (const auto& line : file.lines) code += line + "\n";
    for (const auto& name : defined_in_script(code)) files[name].insert(file.path);
  }
  EXPECT_GT(files.size(), 100U);
  for (const auto& [name, places] : files) {
    EXPECT_EQ(places.size(), 1U) << name << " is defined in " << fmt::format("{}", fmt::join(places, ", "))
                                 << ": name each by what it does (find_, make_, count_, parse_, to_)";
  }
}

// A program does not speak, walk or heal.
TEST(Structure, CommentsAndHelpUseTheFieldsWords) {
  const std::regex words(R"(\b(tells|told|goes on|mends)\b)");
  int lines = 0;
  const auto check = [&](const std::string& path, const std::vector<std::string>& text) {
    if (path == "tests/structure/names_test.cpp") return;
    for (std::size_t i = 0; i < text.size(); ++i) {
      ++lines;
      EXPECT_FALSE(std::regex_search(text[i], words)) << path << ":" << i + 1 << ": " << text[i];
    }
  };
  for (const auto& file : tree()) check(file.path, file.lines);
  for (const auto& file : other_files()) check(file.path, file.lines);
  EXPECT_GT(lines, 50'000);
}

}  // namespace
}  // namespace holotone
