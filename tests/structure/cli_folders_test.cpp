// Enforces one direction between the program's folders: cli/options, cli/common, then parts shared by a command, its
// parts, the command.
#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tests/support/tree.hpp>
#include <vector>

namespace holotone {
namespace {

// Folders whose files each folder may include besides its own. New folders are added here. "cli" and "cli/hologram" are
// on top: main.cpp, which uses the commands only through cli/common/command.hpp, and the choice between the kinds of
// holograms.
const std::map<std::string, std::set<std::string>>& allowed_folders() {
  static const std::set<std::string> common = {"cli/common", "cli/options"};
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"cli", common},
      {"cli/options", {}},
      {"cli/common", {"cli/options"}},
      {"cli/display", common},
      {"cli/halftone", common},
      {"cli/hologram/common", common},
      {"cli/hologram/points", {"cli/common", "cli/options", "cli/hologram/common"}},
      {"cli/hologram/layers", {"cli/common", "cli/options", "cli/hologram/common", "cli/hologram/points"}},
      {"cli/hologram/stereogram",
       {"cli/common", "cli/options", "cli/hologram/common", "cli/hologram/points", "cli/hologram/layers"}},
      {"cli/hologram",
       {"cli/common", "cli/options", "cli/hologram/common", "cli/hologram/points", "cli/hologram/layers",
        "cli/hologram/stereogram"}},
      {"cli/info", common},
      {"cli/join", common},
      {"cli/measure", common},
      {"cli/mpi", common},
      {"cli/optimize", common},
      {"cli/panel", common},
      {"cli/propagate", common},
      {"cli/quantize", common},
      {"cli/reconstruct", common},
      {"cli/sample", common},
      {"cli/scene", common},
      {"cli/smoe", common},
      {"cli/spots", common},
      {"cli/start", common},
      {"cli/view", {"cli/common", "cli/options", "cli/info", "cli/measure", "cli/reconstruct", "cli/smoe"}},
  };
  return allowed;
}

/// A header and the source of the same name are one unit: two units that need each other cannot be read in sequence.
std::string unit_name(const std::string& path) { return path.substr(0, path.rfind('.')); }

constexpr const char* program_include = R"(^\s*#\s*include\s*[<"](cli/[a-z0-9_./]+)[>"])";

using Graph = std::map<std::string, std::set<std::string>>;

/// A cycle of units from the last of `way` to one already on it; empty if there is none. Units in `done` are on no
/// cycle.
std::vector<std::string> circle_from(const Graph& graph, std::vector<std::string>& way, std::set<std::string>& done) {
  const std::string last = way.back();
  const auto edges = graph.find(last);
  if (edges != graph.end()) {
    for (const auto& next : edges->second) {
      for (auto unit = way.begin(); unit != way.end(); ++unit) {
        if (*unit == next) return {unit, way.end()};
      }
      if (done.count(next) != 0) continue;
      way.push_back(next);
      auto circle = circle_from(graph, way, done);
      if (!circle.empty()) return circle;
      way.pop_back();
    }
  }
  done.insert(last);
  return {};
}

TEST(Structure, TheProgramsFoldersDependOneWay) {
  std::set<std::string> used;
  for (const auto& file : tree()) {
    if (!file.path.starts_with("cli/")) continue;
    used.insert(folder_of(file.path));
    EXPECT_EQ(allowed_folders().count(folder_of(file.path)), 1u) << file.path << ": a folder without an order";
  }
  for (const auto& [folder, allowed] : allowed_folders()) EXPECT_EQ(used.count(folder), 1u) << folder << " is empty";
  int seen = 0;
  find("cli/", program_include, [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
    ++seen;
    const std::string folder = folder_of(file.path);
    const std::string other = folder_of(match[1]);
    const auto allowed = allowed_folders().find(folder);
    if (folder == other || allowed == allowed_folders().end() || allowed->second.count(other) != 0) return;
    fail_at(file, line, fmt::format("{} must not include {}", folder, match[1].str()));
  });
  std::printf("%d includes in the program\n", seen);
  EXPECT_GT(seen, 100);
}

// A file of the program that makes two plans computes: that is a recipe of the library. Names of plans in texts, which
// bind options to the arguments of errors, do not count.
TEST(Structure, FilesOfTheProgramNameOnePlan) {
  const std::regex text_or_comment(R"_("[^"]*"|//.*)_");
  const std::regex plan(R"(\b[A-Z][A-Za-z]*Plan\b)");
  std::map<std::string, std::set<std::string>> plans;
  for (const auto& file : tree()) {
    if (!file.path.starts_with("cli/")) continue;
    for (const auto& line : file.lines) {
      const std::string code = std::regex_replace(line, text_or_comment, "");
      for (std::sregex_iterator name(code.begin(), code.end(), plan), end; name != end; ++name) {
        plans[file.path].insert(name->str());
      }
    }
  }
  EXPECT_GT(plans.size(), 5u);
  for (const auto& [path, names] : plans) {
    if (names.size() < 2) continue;
    ADD_FAILURE() << path << " names " << *names.begin() << " and " << *std::next(names.begin())
                  << ": move the recipe to holotone/recipes";
  }
}

// report_json adds what warn() was called with: no command keeps a list of its own, or none.
TEST(Structure, OneFunctionWritesTheWarningsOfEveryJson) {
  int seen = 0;
  find("cli/", R"([\[{]"warnings")", [&](const SourceFile& file, std::size_t line, const std::smatch&) {
    ++seen;
    // The file of `measure --output` is the same object.
    if (file.path == "cli/common/console.cpp" || file.path == "cli/measure/measure_text.cpp") return;
    fail_at(file, line, "warnings by hand: warn() before report_json() writes them");
  });
  EXPECT_EQ(seen, 2);
  // Objects are printed by report_json alone.
  find("cli/", R"(put\(stdout.*(\.dump|json_text)\()",
       [&](const SourceFile& file, std::size_t line, const std::smatch&) {
         if (file.path != "cli/common/console.cpp") fail_at(file, line, "JSON without report_json");
       });
}

TEST(Structure, TheProgramIncludesNoEngineTransformOrMathematics) {
  find("cli/", R"(^\s*#\s*include\s*[<"](holotone/n?u?fft/[^>"]*|holotone/[^>"]*(_engine|_math)[a-z_]*\.hp*)[>"])",
       [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
         fail_at(file, line, "the program must not include " + match[1].str());
       });
}

TEST(Structure, TheProgramsFilesDoNotIncludeEachOther) {
  Graph graph;
  find("cli/", program_include, [&](const SourceFile& file, std::size_t, const std::smatch& match) {
    const std::string unit = unit_name(file.path);
    const std::string other = unit_name(match[1]);
    if (unit != other) graph[unit].insert(other);
  });
  EXPECT_GT(graph.size(), 30u);
  std::set<std::string> done;
  for (const auto& [unit, others] : graph) {
    if (done.count(unit) != 0) continue;
    std::vector<std::string> way{unit};
    const auto circle = circle_from(graph, way, done);
    if (circle.empty()) continue;
    std::string text;
    for (const auto& one : circle) text += one + " -> ";
    ADD_FAILURE() << text << circle.front();
    return;
  }
}

}  // namespace
}  // namespace holotone
