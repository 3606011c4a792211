// Dependencies inside the library: between folders, of a module on its engines, between single files. Sizes of folders.
#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tests/support/tree.hpp>

namespace holotone {
namespace {

const char* const library_include = R"(^\s*#\s*include\s*[<"](holotone/[a-z0-9_./]+)[>"])";

bool has_file_below(const std::string& folder, const std::string& end) {
  return std::ranges::any_of(
      tree(), [&](const SourceFile& file) { return file.path.starts_with(folder) && file.path.ends_with(end); });
}

/// "render" for holotone/smoe/render/selection/select.hpp, "" for a file directly in the module.
std::string folder_below(const std::string& module, const std::string& path) {
  const auto slash = path.find('/', module.size());
  return slash == std::string::npos ? "" : path.substr(module.size(), slash - module.size());
}

/// A public header is directly in the module and belongs to the folder with its name, or else with its .cpp.
std::string owner_of(const std::string& module, const std::set<std::string>& folders, const std::string& path) {
  const std::string folder = folder_below(module, path);
  if (!folder.empty()) return folder;
  const std::string name = path.substr(module.size(), path.rfind('.') - module.size());
  if (folders.count(name) == 1) return name;
  for (const auto& entry : folders) {
    if (has_file_below(module + entry + "/", "/" + name + ".cpp")) return entry;
  }
  return "";
}

TEST(Structure, FoldersOfSmoeDependOneWay) {
  const std::string module = "holotone/smoe/";
  const std::map<std::string, std::set<std::string>> allowed = {
      {"model", {}},
      {"render", {"model"}},
      {"codec", {"model"}},
      {"fit", {"model", "render"}},
      {"store", {"model", "render", "codec", "fit"}},
  };
  std::set<std::string> folders;
  for (const auto& entry : allowed) folders.insert(entry.first);
  for (const auto& file : tree()) {
    if (!file.path.starts_with(module)) continue;
    EXPECT_EQ(folders.count(owner_of(module, folders, file.path)), 1u) << file.path << ": of no folder";
  }
  int between_folders = 0;
  find(module, library_include, [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
    if (!match[1].str().starts_with(module)) return;
    const std::string from = owner_of(module, folders, file.path);
    const std::string to = owner_of(module, folders, match[1]);
    if (from == to || allowed.count(from) == 0) return;
    ++between_folders;
    if (allowed.at(from).count(to) == 0) {
      fail_at(file, line, "files of smoe/" + from + " must not include files of smoe/" + to);
    }
  });
  EXPECT_GT(between_folders, 20);
}

// Engines of an operation are hidden behind the file that selects the backend. Tests and benchmarks may include them.
TEST(Structure, EnginesAreIncludedByTheirDispatchOnly) {
  const std::map<std::string, std::string> dispatch_of = {
      {"holotone/hologram/point_cloud/", "holotone/hologram/point_cloud.cpp"},
      {"holotone/halftone/electrostatic/", "holotone/halftone/electrostatic.cpp"},
  };
  for (const auto& entry : dispatch_of) {
    const std::string& engines = entry.first;
    const std::string& dispatch = entry.second;
    int by_dispatch = 0;
    find("", library_include, [&](const SourceFile& file, std::size_t line, const std::smatch& match) {
      if (!match[1].str().starts_with(engines) || file.path.starts_with(engines)) return;
      if (file.path == dispatch) {
        ++by_dispatch;
      } else if (!file.path.starts_with("tests/") && !file.path.starts_with("bench/")) {
        fail_at(file, line, "only " + dispatch + " includes what is in " + engines);
      }
    });
    EXPECT_GT(by_dispatch, 0) << dispatch << " includes nothing of " << engines;
  }
}

/// Files, or folders, and those they include.
using IncludeGraph = std::map<std::string, std::set<std::string>>;

/// Follows the includes of a file depth first; `path` leads to it. The first repeated file on the path closes a cycle.
class CycleSearch {
 public:
  explicit CycleSearch(const IncludeGraph& includes) : includes_(includes) {}

  void visit(const std::string& file) {
    const auto on_path = std::ranges::find(path_, file);
    if (on_path != path_.end()) {
      std::string cycle;
      for (auto step = on_path; step != path_.end(); ++step) cycle.append(*step).append(" -> ");
      ADD_FAILURE() << "they include each other: " << cycle << file;
      return;
    }
    if (!done_.insert(file).second) return;
    const auto found = includes_.find(file);
    if (found == includes_.end()) return;
    path_.push_back(file);
    for (const auto& included : found->second) visit(included);
    path_.pop_back();
  }

 private:
  const IncludeGraph& includes_;
  std::set<std::string> done_;
  std::vector<std::string> path_;
};

TEST(Structure, FilesOfTheLibraryDoNotIncludeEachOtherInCycles) {
  IncludeGraph includes;
  std::size_t edges = 0;
  find("holotone/", library_include, [&](const SourceFile& file, std::size_t, const std::smatch& match) {
    includes[file.path].insert(match[1]);
    ++edges;
  });
  EXPECT_GT(edges, 300u);
  CycleSearch search(includes);
  for (const auto& entry : includes) search.visit(entry.first);
}

// What the files of a folder share lies above them. A source there may still include the folder's headers: it is the
// operation's dispatch, and nothing includes it.
TEST(Structure, FoldersOfTheLibraryDoNotIncludeEachOtherInCycles) {
  IncludeGraph includes;
  std::size_t edges = 0;
  find("holotone/", library_include, [&](const SourceFile& file, std::size_t, const std::smatch& match) {
    const std::string from = folder_of(file.path);
    const std::string to = folder_of(match[1]);
    const bool source = file.path.ends_with(".cpp") || file.path.ends_with(".cu");
    if (from == to || (source && to.starts_with(from + "/"))) return;
    edges += includes[from].insert(to).second ? 1 : 0;
  });
  EXPECT_GT(edges, 30u);
  CycleSearch search(includes);
  for (const auto& entry : includes) search.visit(entry.first);
}

// A folder of more sources than a reader can survey is divided.
TEST(Structure, FoldersStaySmall) {
  constexpr int max_sources = 60;
  std::map<std::string, int> sources;
  for (const auto& file : tree()) ++sources[folder_of(file.path)];
  for (const auto& [folder, count] : sources) EXPECT_LE(count, max_sources) << folder;
}

}  // namespace
}  // namespace holotone
