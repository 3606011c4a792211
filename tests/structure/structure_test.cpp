// Enforces the rules of HACKING.md: includes between modules, and operations reserved to some files.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <tests/support/paths.hpp>
#include <tests/support/tree.hpp>
#include <vector>

namespace holotone {
namespace {

namespace fs = std::filesystem;

bool is_cuda_file(const std::string& path) {
  return std::regex_search(path, std::regex(R"(_cuda\.(cu|cpp|cuh|hpp)$|/cuda_[a-z_]*\.(hpp|cuh)$)"));
}

// Modules whose files each module may include besides its own. New modules are added here.
const std::map<std::string, std::set<std::string>>& allowed_includes() {
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"core", {}},
      {"fft", {"core"}},
      {"nufft", {"core", "fft"}},
      {"optics", {"core", "fft"}},
      {"hologram", {"core", "fft", "nufft", "optics"}},
      {"quantize", {"core", "fft", "optics"}},
      {"retrieval", {"core", "fft", "nufft", "optics"}},
      {"metrics", {"core", "fft", "nufft"}},
      {"halftone", {"core", "fft", "nufft", "metrics"}},
      {"smoe", {"core", "fft", "nufft", "metrics", "hologram"}},
      {"io", {"core"}},
      {"display", {"core"}},
      {"bands", {"core", "io"}},
      {"recipes",
       {"core", "fft", "metrics", "optics", "hologram", "quantize", "retrieval", "halftone", "smoe", "io", "bands",
        "display"}},
  };
  return allowed;
}

/// Includes all others.
const std::string umbrella = "holotone/holotone.hpp";

TEST(Structure, TheTreeWasRead) {
  std::size_t lines = 0;
  for (const auto& file : tree()) lines += file.lines.size();
  std::printf("%zu files, %zu lines\n", tree().size(), lines);
  EXPECT_GT(tree().size(), 20u);
}

TEST(Structure, DependenciesRunOneWay) {
  for (const auto& file : tree()) {
    if (file.path.starts_with("holotone/") && file.path != umbrella) {
      EXPECT_EQ(allowed_includes().count(file.path.substr(9, file.path.find('/', 9) - 9)), 1u) << file.path;
    }
  }
  int seen = 0;
  for (const auto& [module, allowed] : allowed_includes()) {
    find("holotone/" + module + "/", R"(^\s*#\s*include\s*[<"]holotone/([a-z_]+)/)",
         [&, &name = module, &others = allowed](const auto& file, std::size_t line, const std::smatch& match) {
           ++seen;
           if (match[1] != name && others.count(match[1]) == 0) {
             fail_at(file, line, name + " must not include " + match[1].str());
           }
         });
  }
  EXPECT_GT(seen, 10);
}

/// Cells of the tables of HACKING.md by their first cell. That of a folder is `folder/`; several share a row.
std::map<std::string, std::vector<std::string>> rows_of_hacking() {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream page(fs::path(source_folder()) / "HACKING.md");
  const std::regex name("`([^`]+)`");
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2; at < line.size();) {
      const auto end = std::min(line.find(" |", at), line.size());
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    for (std::sregex_iterator match(cells[0].begin(), cells[0].end(), name), end; match != end; ++match) {
      rows[(*match)[1]] = cells;
    }
  }
  return rows;
}

/// "`core`, `fft`": names in the alphabet's order.
std::set<std::string> names_in(const std::string& cell) {
  std::set<std::string> names;
  const std::regex name("`([a-z]+)`");
  for (std::sregex_iterator match(cell.begin(), cell.end(), name), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

TEST(Structure, HackingListsTheFolders) {
  const auto rows = rows_of_hacking();
  std::set<std::string> folders;
  std::set<std::string> commands;
  for (const auto& file : tree()) {
    const std::string folder = folder_of(file.path);
    if (folder.starts_with("holotone/")) folders.insert(folder.substr(9) + "/");
    if (folder.starts_with("cli/")) commands.insert(folder.substr(4, folder.find('/', 4) - 4));
  }
  for (const auto& folder : folders) {
    ASSERT_TRUE(rows.contains(folder)) << "HACKING.md: holotone/" << folder << " is in no table";
    const auto module = allowed_includes().find(folder.substr(0, folder.size() - 1));
    if (module == allowed_includes().end()) continue;
    ASSERT_GE(rows.at(folder).size(), 3U) << folder;
    EXPECT_EQ(names_in(rows.at(folder)[2]), module->second) << "HACKING.md: what " << folder << " may include";
  }
  for (const auto& [folder, cells] : rows) {
    if (cells.size() < 3 || !folder.ends_with('/')) continue;
    EXPECT_TRUE(folders.contains(folder)) << "HACKING.md: no holotone/" << folder;
  }
  ASSERT_TRUE(rows.contains("cli/<command>/"));
  for (const auto& shared : {"common", "options", "mpi", "start", "hologram"}) {
    EXPECT_EQ(commands.erase(shared), 1U);
    EXPECT_TRUE(rows.contains(fmt::format("cli/{}/", shared))) << shared;
  }
  EXPECT_EQ(names_in(rows.at("cli/<command>/")[1]), commands);
}

TEST(Structure, TheLibraryIncludesItsOwnHeadersByTheirFullNames) {
  find("holotone/", R"(#\s*include\s*")", [](const auto& file, std::size_t line, const std::smatch&) {
    // The text of an OpenCL source is put together by core/kernel_opencl.cpp, which looks for quotes.
    if (!file.path.ends_with(".cl")) fail_at(file, line, "write #include <holotone/module/file.hpp>");
  });
  find("holotone/", R"(#\s*include\s*<(web|cli|tests|bench|examples|gtest)/)",
       [](const auto& file, std::size_t line, const std::smatch&) { fail_at(file, line, "not the library's"); });
}

// The server of the page knows errors and nothing else of the library; only cli/view and the server's tests know it.
TEST(Structure, ThePageServerStandsAlone) {
  int includes = 0;
  find("web/", R"(#\s*include\s*[<"]((holotone|web|cli|tests|bench|examples)/[a-z0-9_./]+)[>"])",
       [&](const auto& file, std::size_t line, const std::smatch& match) {
         ++includes;
         if (!match[1].str().starts_with("web/server/") && match[1] != "holotone/core/error.hpp") {
           fail_at(file, line, "the page's server must not include " + match[1].str());
         }
       });
  EXPECT_GT(includes, 20);
  find("", R"(#\s*include\s*[<"]web/)", [](const auto& file, std::size_t line, const std::smatch&) {
    if (!std::regex_search(file.path, std::regex("^((web|tests/web|cli/view)/|tests/support/loopback)"))) {
      fail_at(file, line, "only cli/view uses the page's server");
    }
  });
}

// Boost's headers take seconds to compile: the program sees none of them.
TEST(Structure, TheServersInterfaceIsWithoutBoost) {
  std::set<std::string> of_the_interface = {"web/server/server.hpp",     "web/server/address.hpp",
                                            "web/server/page_files.hpp", "web/server/message.hpp",
                                            "web/server/limits.hpp",     "web/server/stored_page.hpp"};
  find("web/server/", R"(#\s*include\s*<(boost/[a-z0-9_./]+|web/[a-z0-9_./]+)>)",
       [&](const auto& file, std::size_t line, const std::smatch& match) {
         if (of_the_interface.count(file.path) == 1 && of_the_interface.count(match[1]) == 0) {
           fail_at(file, line, "a header of the interface must not include " + match[1].str());
         }
       });
  find("cli/", R"(#\s*include\s*<(boost/|web/server/[a-z_]+\.hpp))",
       [&](const auto& file, std::size_t line, const std::smatch& match) {
         if (of_the_interface.count(match[1]) == 0)
           fail_at(file, line, "not of the server's interface: " + match[1].str());
       });
}

// Headers marked "Not for users." are not installed: installed headers must not need them.
TEST(Structure, PublicHeadersStandOnPublicHeaders) {
  std::set<std::string> internal;
  for (const auto& file : tree()) {
    for (std::size_t i = 0; i < std::min<std::size_t>(file.lines.size(), 6); ++i) {
      if (file.lines[i].find("Not for users.") != std::string::npos) internal.insert(file.path);
    }
  }
  EXPECT_GT(internal.size(), 5u);
  find("holotone/", R"(^\s*#\s*include\s*<(holotone/[a-z0-9_./]+)>)",
       [&](const auto& file, std::size_t line, const std::smatch& match) {
         const bool header = file.path.ends_with(".hpp") || file.path.ends_with(".h");
         if (header && internal.count(file.path) == 0 && internal.count(match[1]) == 1) {
           fail_at(file, line, "a header for users needs one that is not installed");
         }
       });
}

// The reference judges the library: a shared formula could hide a shared mistake.
TEST(Structure, OneHeaderIncludesEveryPublicHeader) {
  std::set<std::string> included;
  find(umbrella, R"(^#include <(holotone/[a-z0-9_./]+)>)",
       [&](const auto&, std::size_t, const std::smatch& match) { included.insert(match[1]); });
  for (const auto& file : tree()) {
    const bool header = file.path.ends_with(".hpp") || file.path.ends_with(".h");
    if (!header || !file.path.starts_with("holotone/") || file.path == umbrella) continue;
    const auto begin = file.lines.begin();
    const bool internal = std::any_of(begin, begin + std::min<std::ptrdiff_t>(std::ssize(file.lines), 6),
                                      [](const auto& l) { return l.find("Not for users.") != std::string::npos; });
    EXPECT_NE(included.count(file.path), internal ? 1u : 0u)
        << umbrella << ": #include <" << file.path << "> " << (internal ? "is not for users" : "is missing");
  }
}

TEST(Structure, TheReferenceIncludesNothingOfTheLibrary) {
  find("tests/reference/", R"(#\s*include\s*[<"](holotone|cli|tests/cases)/)",
       [](const auto& file, std::size_t line, const std::smatch&) {
         fail_at(file, line, "tests/reference stands alone");
       });
}

TEST(Structure, OnlyCudaFilesSeeCuda) {
  find("holotone/", R"(#\s*include\s*<(cuda|cu[bf]|cublas|nvrtc|mma|cooperative_groups))",
       [](const auto& file, std::size_t line, const std::smatch&) {
         if (!is_cuda_file(file.path))
           fail_at(file, line, "CUDA headers belong into *_cuda.cu, *_cuda.cpp or cuda_*.hpp");
       });
}

// nvcc reads the headers of a file three times, without precompiled ones.
TEST(Structure, FilesForNvccHoldKernels) {
  const std::regex kernels(R"(__global__|#include <cub/|kernels_cuda\.cuh)");
  for (const auto& file : tree()) {
    if (!file.path.ends_with(".cu")) continue;
    const bool found = std::any_of(file.lines.begin(), file.lines.end(),
                                   [&](const auto& line) { return std::regex_search(line, kernels); });
    EXPECT_TRUE(found) << file.path << ": no kernel: a .cpp compiles in a third of the time";
  }
}

TEST(Structure, OnlyOpenclFilesSeeOpencl) {
  find("holotone/", R"(#\s*include\s*<(CL/|vkFFT))", [](const auto& file, std::size_t line, const std::smatch&) {
    if (!std::regex_search(file.path, std::regex(R"(_opencl\.(cpp|hpp)$)")))
      fail_at(file, line, "OpenCL's headers belong into *_opencl.cpp or *_opencl.hpp");
  });
}

// One dispatch point for each operation: its <name>.cpp.
TEST(Structure, BackendsAreSwitchedInOnePlace) {
  find("holotone/", R"(#\s*(if|ifdef|elif)\b.*HOLOTONE_(CUDA|OPENCL))",
       [](const auto& file, std::size_t line, const std::smatch&) {
         const bool dispatch =
             file.path.ends_with(".cpp") && !std::regex_search(file.path, std::regex(R"(_(cpu|cuda|opencl)\.cpp$)"));
         if (!dispatch)
           fail_at(file, line, "HOLOTONE_CUDA and HOLOTONE_OPENCL are asked in an operation's <name>.cpp only");
       });
}

TEST(Structure, TheLibraryNeverPrintsExitsOrReadsTheEnvironment) {
  find("holotone/",
       R"(std::(cout|cerr|clog)\b|\b(std::)?(printf|fprintf|puts|putchar|perror)\s*\(|fmt::print|)"
       R"(\b(std::)?(exit|_exit|abort|quick_exit|terminate)\s*\(|\bgetenv\s*\()",
       [](const auto& file, std::size_t line, const std::smatch& match) {
         // The forked child that reads an untrusted file has no other way to end.
         if (file.path == "holotone/io/guarded/sandbox.cpp" && match.str().starts_with("_exit")) return;
         fail_at(file, line, "the library must not: " + match.str());
       });
}

TEST(Structure, NothingIsLeftForLater) {
  const std::regex marks(R"(\b(TODO|FIXME|XXX|HACK)\b)");
  for (const auto& file : tree()) {
    if (file.path == "tests/structure/structure_test.cpp") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (std::regex_search(file.lines[i], marks)) fail_at(file, i + 1, file.lines[i]);
    }
  }
}

// A test that returns early passes: CTest and reports must list it as skipped.
TEST(Structure, TestsThatCannotRunAreSkipped) {
  find("tests/", R"(if \(!(\w+::)?(can_write|has|has_\w+)\(.*\)\) return;)",
       [](const auto& file, std::size_t line, const std::smatch& match) {
         fail_at(file, line, "expected GTEST_SKIP() << why, got " + match.str());
       });
}

// Tests of some modules are built without the program (HOLOTONE_TEST_MODULES).
TEST(Structure, OnlyTestsOfTheProgramStartIt) {
  find("tests/", R"(public (\w+::)*ProgramTest|RunningProgram [a-z])",
       [](const auto& file, std::size_t line, const std::smatch& match) {
         if (!std::regex_search(file.path, std::regex("^tests/(cli|structure|support)/")))
           fail_at(file, line, "expected tests that start the program in tests/cli, got " + match.str());
       });
}

TEST(Structure, FilesStayReadable) {
  for (const auto& file : tree()) {
    if (file.lines.size() > 500) std::printf("%s: %zu lines: look again\n", file.path.c_str(), file.lines.size());
    EXPECT_LE(file.lines.size(), 650u) << file.path;
    if (file.path.ends_with(".hpp") || file.path.ends_with(".h")) {
      ASSERT_FALSE(file.lines.empty()) << file.path;
      EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), "#pragma once"), file.lines.end()) << file.path;
    }
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto columns = std::ranges::count_if(file.lines[i], [](char c) { return (c & 0xC0) != 0x80; });  // of UTF-8
      const bool options = file.lines[i].starts_with("// Options: ");  // of scripts/check_opencl.sh: one line
      if (columns > 120 && !options) fail_at(file, i + 1, "longer than 120 columns");
    }
    EXPECT_TRUE(std::regex_search(file.path, std::regex("^[a-z0-9_/]+\\.[a-z]+$"))) << file.path << ": snake_case";
  }
}

/// Anchors of a page's headings: lower case, spaces as hyphens, letters, digits, hyphens and underscores alone.
std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  std::ifstream stream(page);
  bool code = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("```")) code = !code;
    const auto begin = line.find_first_not_of('#');
    if (code || begin == 0 || begin == std::string::npos || line[begin] != ' ') continue;
    std::string anchor;
    for (const char letter : line.substr(begin + 1)) {
      const auto byte = static_cast<unsigned char>(letter);
      if (letter == ' ') anchor += '-';
      if (byte >= 0x80 || std::isalnum(byte) != 0 || letter == '-' || letter == '_') {
        anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

/// Files of the tree's folders and the pages in its root, below the root.
std::vector<std::string> files_of_the_tree() {
  const fs::path root = source_folder();
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.path().extension() == ".md") files.push_back(entry.path().filename());
  }
  for (const char* folder :
       {"bench", "cli", "cmake", "docs", "examples", "holotone", "python", "scripts", "tests", "web"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(root).generic_string());
    }
  }
  return files;
}

std::vector<fs::path> pages_of_the_tree() {
  std::vector<fs::path> pages;
  for (const auto& file : files_of_the_tree()) {
    if (file.ends_with(".md")) pages.push_back(fs::path(source_folder()) / file);
  }
  return pages;
}

// `folder/file.cpp` in a page: below the page, below the root, or the end of a path.
TEST(Structure, FilesNamedInTheDocumentationExist) {
  const std::vector<std::string> files = files_of_the_tree();
  const fs::path root = source_folder();
  const std::regex name(R"(`([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+\.(cpp|hpp|h|cu|cuh|cl|md|py|sh|js|mjs|cmake))`)");
  int seen = 0;
  for (const auto& page : pages_of_the_tree()) {
    std::ifstream stream(page);
    for (std::string line; std::getline(stream, line);) {
      for (std::sregex_iterator match(line.begin(), line.end(), name), end; match != end; ++match) {
        const std::string path = (*match)[1];
        ++seen;
        EXPECT_TRUE(fs::exists(page.parent_path() / path) || fs::exists(root / path) ||
                    std::ranges::any_of(files, [&](const auto& file) { return file.ends_with("/" + path); }))
            << page << ": no " << path;
      }
    }
  }
  EXPECT_GT(seen, 50);
}

// Pages, pictures and folders linked from a page exist.
TEST(Structure, LinksOfTheDocumentationLeadSomewhere) {
  const std::vector<fs::path> pages = pages_of_the_tree();
  ASSERT_GE(pages.size(), 6U);  // README, HACKING, CHANGELOG, CONTRIBUTING, SECURITY, CODE_OF_CONDUCT
  const std::regex link(R"(\]\(([^)#]*)(#[^)]*)?\))");
  int seen = 0;
  for (const auto& page : pages) {
    std::ifstream stream(page);
    for (std::string line; std::getline(stream, line);) {
      for (std::sregex_iterator match(line.begin(), line.end(), link), end; match != end; ++match) {
        const std::string target = (*match)[1];
        if (target.starts_with("http")) continue;
        ++seen;
        const fs::path path = target.empty() ? page : page.parent_path() / target;
        EXPECT_TRUE(fs::exists(path)) << page << ": " << target;
        const std::string anchor = (*match)[2];
        if (anchor.empty() || path.extension() != ".md") continue;
        EXPECT_TRUE(anchors_of(path).contains(anchor.substr(1))) << page << ": " << target << anchor;
      }
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(Structure, PagesOfTheDocumentationAreShort) {
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "docs")) {
    if (entry.path().extension() != ".md") continue;
    ++seen;
    const bool figures = entry.path().filename() == "performance.md";  // the rest belongs to bench/notes
    EXPECT_LE(entry.file_size(), figures ? 15'000U : 40'000U) << entry.path() << ": split it by subject";
  }
  EXPECT_GT(seen, 20);
}

TEST(Structure, TheTestsThatPinTheConventionsExist) {
  std::string tests;
  for (const auto& file : tree()) {
    if (!file.path.starts_with("tests/")) continue;
    for (const auto& line : file.lines) {
      if (line.starts_with("TEST")) tests += line + "\n";
    }
  }
  std::ifstream page(fs::path(source_folder()) / "tests" / "conventions.md");
  const std::regex name(R"(`([A-Za-z]+)\.([A-Za-z]+)`)");
  int seen = 0;
  for (std::string line; std::getline(page, line);) {
    for (std::sregex_iterator match(line.begin(), line.end(), name), end; match != end; ++match) {
      ++seen;
      const std::string test = fmt::format("({}, {})", (*match)[1].str(), (*match)[2].str());
      EXPECT_NE(tests.find(test), std::string::npos) << match->str();
    }
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace holotone
