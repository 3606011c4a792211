// Option tables: the output of --help and --help-all, rejected values, and option names in errors.
#include <cli/options/option_value.hpp>
#include <cmath>
#include <fstream>
#include <holotone/core/units.hpp>
#include <holotone/recipes/halftone.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words) {
  std::string text = "holotone";
  for (const auto& word : words) text += " " + word;
  return text;
}

/// One option of a help text: names, placeholder and description.
struct HelpRow {
  std::vector<std::string> names;
  std::string left;
  std::string text;
};

/// The name used in messages: the first long one.
std::string main_name(const HelpRow& row) {
  const auto found = std::ranges::find_if(row.names, [](const auto& name) { return name.rfind("--", 0) == 0; });
  return found == row.names.end() ? row.names.front() : *found;
}

std::vector<HelpRow> parse_rows(const std::string& help) {
  std::vector<HelpRow> rows;
  std::istringstream stream(help);
  bool of_row = false;
  for (std::string line; std::getline(stream, line);) {
    const bool begins = line.rfind("  -", 0) == 0;
    const bool goes_on = of_row && line.rfind("    ", 0) == 0;
    if (begins) {
      const auto gap = line.find("  ", 2);
      HelpRow row;
      row.left = line.substr(2, gap == std::string::npos ? gap : gap - 2);
      if (gap != std::string::npos) row.text = line.substr(line.find_first_not_of(' ', gap));
      static const std::regex name("--?[a-z0-9-]+");
      for (std::sregex_iterator at(row.left.begin(), row.left.end(), name), end; at != end; ++at) {
        row.names.push_back(at->str());
      }
      rows.push_back(std::move(row));
    } else if (goes_on) {
      if (!rows.back().text.empty()) rows.back().text += ' ';
      rows.back().text += line.substr(line.find_first_not_of(' '));
    }
    of_row = begins || goes_on;
  }
  return rows;
}

std::string content(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class OptionsTest : public ProgramTest {
 protected:
  [[nodiscard]] std::string help(Words command, const char* flag) const {
    command.emplace_back(flag);
    const auto result = run(command);
    EXPECT_EQ(result.exit_code, 0) << joined(command) << result.error;
    EXPECT_EQ(result.error, "");
    return result.output;
  }

  /// The commands that take options, as the program's help lists them: `hologram`, ..., `smoe fit`, ...
  [[nodiscard]] const std::vector<Words>& commands() const {
    static const std::vector<Words> all = commands_below({});
    return all;
  }

 private:
  [[nodiscard]] std::vector<Words> commands_below(const Words& command) const {
    const std::string text = help(command, "--help");
    const auto list = text.find("\nCommands:\n");
    if (list == std::string::npos) return {command};
    std::vector<Words> all;
    std::istringstream lines(text.substr(list + 11));
    for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
      if (line[2] == ' ') continue;  // the rest of a purpose
      Words next = command;
      next.push_back(line.substr(2, line.find(' ', 2) - 2));
      for (auto& found : commands_below(next)) all.push_back(std::move(found));
    }
    return all;
  }
};

TEST_F(OptionsTest, TheHelpListsEveryFolderOfTheProgram) {
  std::set<std::string> listed;
  for (const auto& command : commands()) listed.insert(command.front());
  EXPECT_GE(commands().size(), 27U);
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "cli")) {
    const auto name = entry.path().filename().string();
    const bool shared = name == "common" || name == "options" || name == "mpi" || name == "start";
    EXPECT_TRUE(!entry.is_directory() || shared || listed.contains(name)) << name << ": no such command";
  }
}

TEST_F(OptionsTest, HelpBeginsWithExamplesAndFewOptions) {
  for (const auto& command : commands()) {
    const std::string text = help(command, "--help");
    const std::string name = joined(command);
    const auto examples = text.find("\nExamples:\n  holotone ");
    ASSERT_NE(examples, std::string::npos) << text;
    EXPECT_LT(examples, text.find("\n  -")) << text;
    EXPECT_LT(text.find("Usage: " + name), examples) << text;
    EXPECT_NE(text.find("\n  " + name, examples), std::string::npos) << text;
    EXPECT_LE(parse_rows(text).size(), 16U) << text;
    EXPECT_NE(text.find(fmt::format("`{} --help-all` lists all {} options.", name,
                                    parse_rows(help(command, "--help-all")).size())),
              std::string::npos)
        << text;
  }
}

TEST_F(OptionsTest, EveryOptionIsListedOnceWithItsHelp) {
  for (const auto& command : commands()) {
    const std::string text = help(command, "--help-all");
    std::set<std::string> seen;
    for (const auto& row : parse_rows(text)) {
      EXPECT_GE(row.text.size(), 8U) << joined(command) << " " << row.left;
      EXPECT_NE(std::string("., ").find(row.text.back()), 0U) << row.text;
      for (const auto& name : row.names) EXPECT_TRUE(seen.insert(name).second) << joined(command) << " " << name;
    }
    for (const char* name : {"--json", "--quiet", "--progress"}) EXPECT_TRUE(seen.contains(name)) << text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130U) << line;
  }
}

TEST_F(OptionsTest, TheListOfOptionsHoldsEveryRowOfTheHelp) {
  const auto listing = run({"--options"});
  ASSERT_EQ(listing.exit_code, 0) << listing.error;
  EXPECT_EQ(listing.error, "");
  const auto root = nlohmann::json::parse(listing.output);
  EXPECT_EQ(root.at("program"), "holotone");
  std::map<std::string, nlohmann::json> listed;
  for (const auto& command : root.at("commands")) {
    listed["holotone " + command.at("command").get<std::string>()] = command;
  }
  for (const auto& command : commands()) {
    const std::string name = joined(command);
    ASSERT_TRUE(listed.contains(name)) << name;
    const auto& one = listed.at(name);
    const std::string text = help(command, "--help-all");
    EXPECT_TRUE(text.starts_with(one.at("purpose").get<std::string>() + "\n")) << name;
    for (const auto& example : one.at("examples")) EXPECT_NE(text.find(example.get<std::string>()), std::string::npos);
    std::vector<nlohmann::json> rows;
    for (const auto& group : one.at("groups")) {
      std::string heading = group.at("heading");
      if (heading.empty()) heading = "Options";
      const std::size_t before = rows.size();
      for (const auto& row : group.at("rows")) {
        if (row.at("names").at(0).get<std::string>().starts_with("-")) rows.push_back(row);
      }
      EXPECT_EQ(rows.size() > before, text.find("\n" + heading + ":\n") != std::string::npos) << name << heading;
    }
    const auto helped = parse_rows(text);
    ASSERT_EQ(rows.size(), helped.size()) << name;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& row = rows[i];
      EXPECT_EQ(row.at("names").get<Words>(), helped[i].names) << name;
      std::string said = row.at("help");
      if (row.contains("range")) said += fmt::format(" ({})", row.at("range").get<std::string>());
      for (const char* key : {"default", "default_words"}) {
        if (row.contains(key)) said += fmt::format(" (default {})", row.at(key).get<std::string>());
      }
      if (row.at("required")) said += " (required)";
      EXPECT_TRUE(helped[i].text.starts_with(said)) << helped[i].text << "\n" << said;
      EXPECT_EQ(helped[i].left.ends_with(" " + row.value("value", "-")), row.contains("value")) << helped[i].left;
    }
  }
  const auto common = parse_rows(help({"quantize"}, "--help"));
  std::size_t count = 0;
  for (const auto& group : listed.at("holotone quantize").at("groups")) {
    for (const auto& row : group.at("rows")) {
      const bool option = row.at("names").at(0).get<std::string>().starts_with("-");
      count += option && (row.at("common") || row.at("required")) ? 1 : 0;
    }
  }
  EXPECT_EQ(count, common.size());
}

TEST_F(OptionsTest, TheProgramsHelpNamesWhatCommandsDo) {
  const std::string text = help({}, "--help");
  for (const char* word : {"points", "mesh", "picture with depth", "light field", "Quantize", "Halftone",
                           "mixtures of experts", "Measure", "Reconstruct", "holotone hologram teapot.ply"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
  EXPECT_NE(text.find("`holotone --options`"), std::string::npos) << text;
  EXPECT_NE(help({"smoe"}, "--help").find("\n  convert "), std::string::npos);
}

/// Sections of docs/*.md whose heading `## ...` matches, with the heading.
std::vector<std::string> sections(const std::string& heading) {
  const std::regex wanted("^## " + heading);
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "docs")) {
    if (entry.path().extension() != ".md") continue;
    std::ifstream stream(entry.path());
    bool inside = false;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("## ")) {
        inside = std::regex_search(line, wanted);
        if (inside) found.emplace_back();
      }
      if (inside) found.back() += line + "\n";
    }
  }
  return found;
}

TEST_F(OptionsTest, EachCommandHasOneSectionThatNamesItsOptions) {
  const auto common = sections("Common rules$");
  ASSERT_EQ(common.size(), 1U);
  for (const auto& command : commands()) {
    const auto command_sections = sections("(holotone [a-z]+, )?holotone " + command.front() + "(,|$)");
    ASSERT_EQ(command_sections.size(), 1U) << joined(command) << ": expected one section in docs";
    std::string text = common.front() + command_sections.front();
    if (command.front() == "hologram") text += sections("Options$").front();  // those of views: docs/stereograms.md
    for (const auto& row : parse_rows(help(command, "--help-all"))) {
      for (const auto& name : row.names) {
        if (!name.starts_with("--")) continue;
        EXPECT_TRUE(std::regex_search(text, std::regex(name + "(?![a-z0-9-])")))
            << joined(command) << " " << name
            << ": in no table of docs; run scripts/docs_tables.py --program build/cpu/cli/holotone";
      }
    }
  }
}

TEST_F(OptionsTest, ExclusionsAndNeedsHold) {
  int checked = 0;
  for (const auto& command : commands()) {
    const auto rows = parse_rows(help(command, "--help-all"));
    std::map<std::string, bool> takes_value;
    for (const auto& row : rows)
      takes_value[main_name(row)] = row.left.find(' ', row.left.find(row.names.back())) != std::string::npos;
    for (const auto& row : rows) {
      const std::regex list(R"(\((not with|with) ([^)]*)\))");
      std::smatch match;
      if (!std::regex_search(row.text, match, list)) continue;
      const bool excludes = match[1] == "not with";
      const std::string others = match[2];
      static const std::regex name("--[a-z0-9-]+");
      for (std::sregex_iterator at(others.begin(), others.end(), name), end; at != end; ++at) {
        Words line = command;
        const auto add = [&](const std::string& option) {
          line.push_back(option);
          if (!takes_value.contains(option) || takes_value.at(option)) line.emplace_back("1");
        };
        add(main_name(row));
        if (excludes) add(at->str());
        const bool no_input = std::ranges::any_of(line, [](const auto& word) {
          return word == "--image" || word == "--stack" || word == "--views" || word == "--target";
        });
        if (!no_input) line.insert(line.begin() + std::ssize(command), "x");
        line.insert(line.end(), {"-o", path("out.png")});
        if (command.back() == "info") line.resize(line.size() - 2);
        static const std::map<std::string, Words> required{
            {"grating", {"--period", "8"}},       {"axicon", {"--period", "8"}},
            {"lens", {"--focal-length", "1m"}},   {"spots", {"--focal-length", "1m"}},
            {"propagate", {"--distance", "1cm"}}, {"zernike", {"--term", "4:1"}}};
        if (const auto needed = required.find(command.back()); needed != required.end()) {
          line.insert(line.end(), needed->second.begin(), needed->second.end());
        }
        expect_refused(line, {main_name(row).c_str(), at->str().c_str()});
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 20);
}

// A library error is reported under the option whose row names the library's argument: each such argument must exist.
TEST_F(OptionsTest, EveryFeedNamesAnArgumentOfTheLibrary) {
  const fs::path root = source_folder();
  std::string library;
  for (const auto& entry : fs::recursive_directory_iterator(root / "holotone")) {
    const auto extension = entry.path().extension().string();
    if (extension == ".cpp" || extension == ".hpp" || extension == ".cu") library += content(entry.path());
  }
  library += content(root / "cli" / "common" / "code_levels.cpp");       // throws as the library does
  library += content(root / "cli" / "halftone" / "halftone_maker.cpp");  // passes "halftone" to functions of the
                                                                         // library
  std::string program;                                                   // its own errors name a member of a job
  for (const auto& entry : fs::recursive_directory_iterator(root / "cli")) {
    if (entry.path().extension() == ".cpp") program += content(entry.path());
  }
  const std::regex row(R"re(\.feeds =\s*((?:"[^"]*"\s*)+))re");
  const std::regex literal(R"re("([^"]*)")re");
  int checked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "cli")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string source = content(entry.path());
    for (std::sregex_iterator at(source.begin(), source.end(), row), end; at != end; ++at) {
      const std::string pieces = (*at)[1];
      std::string feeds;
      for (std::sregex_iterator piece(pieces.begin(), pieces.end(), literal); piece != end; ++piece)
        feeds += (*piece)[1];
      std::istringstream stream(feeds);
      for (std::string feed; std::getline(stream, feed, '|'); ++checked) {
        const auto dot = feed.find('.');
        ASSERT_NE(dot, std::string::npos) << entry.path() << " " << feed;
        const std::string function = feed.substr(0, dot);
        const auto rejected = fmt::format("reject<&{}::{}>", function, feed.substr(dot + 1));
        if (program.find(rejected) != std::string::npos) continue;
        const bool known = library.find("\"" + function + "\"") != std::string::npos ||
                           library.find("\"" + function + "::") != std::string::npos;
        EXPECT_TRUE(known) << entry.path() << ": no function of the library throws as " << feed;
        EXPECT_NE(library.find("\"" + feed.substr(dot + 1)), std::string::npos)
            << entry.path() << ": no error of the library has the argument of " << feed;
      }
    }
  }
  EXPECT_GE(checked, 60);
}

/// Values of the text "1 um to 1000 m" or "2 to 5", and the unit.
struct HelpRange {
  double low = 0;
  double high = 0;
  std::string unit;
};

std::optional<HelpRange> range_in(const std::string& text) {
  static const std::regex ends(R"(\((-?[0-9.e+-]+)( [a-z]+)? to (-?[0-9.e+-]+)( [a-z]+)?\))");
  std::smatch match;
  if (!std::regex_search(text, match, ends)) return std::nullopt;
  const auto value = [](const std::string& number, std::string unit) {
    std::erase(unit, ' ');
    return unit.empty() || unit == "rad" ? parse_number("end", number) : parse_length("end", number + unit);
  };
  std::string unit = match[4].matched ? match[4].str().substr(1) : "";
  return HelpRange{value(match[1], match[2]), value(match[3], match[4]), unit.empty() || unit == "rad" ? unit : "m"};
}

// Typed rows are checked before any file is opened: "x" need not exist.
TEST_F(OptionsTest, EveryNumberOutOfItsRangeIsRefusedInTheSameWords) {
  const std::vector<Words> typed{{"halftone"},
                                 {"hologram"},
                                 {"reconstruct"},
                                 {"smoe", "fit"},
                                 {"smoe", "render"},
                                 {"smoe", "convert"},
                                 {"view"},
                                 {"display"},
                                 {"measure", "--against", "y"},
                                 {"propagate"},
                                 {"optimize"},
                                 {"scene", "dice"},
                                 {"quantize", "--viewer", "36mm:9mm", "--rule", "eq1"},
                                 {"panel", "vortex"},
                                 {"panel", "checkerboard"},
                                 {"panel", "steps"}};
  int checked = 0;
  for (const auto& command : typed) {
    const auto rows = parse_rows(help(command, "--help-all"));
    const bool writes = std::ranges::any_of(rows, [](const auto& row) { return main_name(row) == "--output"; });
    for (const auto& row : rows) {
      const auto range = range_in(row.text);
      if (!range) continue;
      const std::string name = main_name(row);
      const auto refused = [&](const std::string& value) {
        Words line = command;
        if (command.front() != "panel" && command.front() != "scene") line.emplace_back("x");
        line.push_back(fmt::format("{}={}", name, value));
        if (writes) line.insert(line.end(), {"-o", path("out.png")});
        const auto result = run(line);
        EXPECT_EQ(result.exit_code, 2) << joined(line) << "\n" << result.error;
        const std::string begin = fmt::format("holotone: {}: expected ", name);
        EXPECT_TRUE(result.error.starts_with(begin)) << joined(line) << "\n" << result.error;
        EXPECT_EQ(std::ranges::count(result.error, '\n'), 1) << result.error;
        EXPECT_TRUE(result.error.ends_with(fmt::format(", got '{}'\n", value))) << result.error;
        ++checked;
        return result.error.substr(0, result.error.rfind(", got"));
      };
      const std::string below = refused(fmt::format("{}{}", range->low - 1 - std::abs(range->low), range->unit));
      const std::string above = refused(fmt::format("{}{}", 2 * range->high + 1, range->unit));
      EXPECT_EQ(below, above);
      (void)refused("nan" + range->unit);
      (void)refused("inf" + range->unit);
      (void)refused("many");
    }
  }
  EXPECT_GE(checked, 50);
}

TEST_F(OptionsTest, AnOptionIsRefusedInTheWordsOfTheLibrary) {
  try {
    const ElectrostaticPlan plan({8, 8}, 4, {}, {.tolerance = 5});
    FAIL() << "the plan takes any tolerance";
  } catch (const Error& error) {
    EXPECT_EQ(run({"halftone", "x", "--tolerance=5", "-o", path("y.png")}).error,
              fmt::format("holotone: --tolerance: expected {}, got '5'\n", error.expected()));
  }
}

TEST(OptionValue, AnErrorAboutAMemberMatchesTheRowThatIsBoundToIt) {
  ElectrostaticOptions options;
  try {
    cli::reject<&ElectrostaticOptions::tolerance>("less", "5");
  } catch (const Error& error) {
    EXPECT_TRUE(cli::member<&ElectrostaticOptions::tolerance>(options).feeds.starts_with(
        fmt::format("{}.{}|", error.function(), error.argument())));
    EXPECT_EQ(error.expected(), "less");
    EXPECT_EQ(error.got(), "'5'");
  }
}

TEST_F(OptionsTest, AnErrorAboutAMemberNamesTheOptionAsItWasTyped) {
  const auto refused = [&](const char* option) {
    return run({"panel", "steps", option, "1000", "--bits", "8", "-o", path("steps")}).error;
  };
  EXPECT_EQ(refused("--levels"), "holotone: --levels: expected 2 to 256, got '1000'\n");
  EXPECT_EQ(refused("--reference"), "holotone: --reference: expected 0 to 255, got '1000'\n");
}

TEST(OptionValue, IsBoundToAMember) {
  ElectrostaticOptions options;
  auto value = cli::member<&ElectrostaticOptions::tolerance>(options);
  EXPECT_EQ(value.standard, "0.0001");
  EXPECT_EQ(value.range, "1e-05 to 0.1");
  EXPECT_EQ(value.feeds, "ElectrostaticOptions.tolerance|ElectrostaticPlan.tolerance");
  value.store("--tolerance", "0.01");
  EXPECT_EQ(options.tolerance, 0.01);
  EXPECT_THROW(value.store("--tolerance", "1"), Error);
  EXPECT_EQ(options.tolerance, 0.01);
  cli::member<&ElectrostaticOptions::near>(options).store("--near", "map");
  EXPECT_EQ(options.near, NearField::map);
  cli::member<&ElectrostaticOptions::deterministic>(options).store("--deterministic", "");
  EXPECT_TRUE(options.deterministic);
  HalftoneOptions halftone;
  auto dots = cli::member<&HalftoneOptions::dots>(halftone);
  EXPECT_EQ(dots.standard, "");
  dots.store("--dots", "20k");
  EXPECT_EQ(halftone.dots, 20'000);
}

TEST_F(OptionsTest, ErrorsNameTheOptionAsTyped) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  ASSERT_EQ(run({"hologram", path("one.csv"), "-o", path("p.png"), "--keep-coordinates", "--resolution", "64x48",
                 "--pitch", "8um"})
                .exit_code,
            0);
  const auto look = [&](Words more) {
    more.insert(more.begin(), {"reconstruct", path("p.png"), "-o", path("seen.png")});
    return more;
  };
  expect_refused(look({"--focus", "20"}), {"holotone: --focus: expected"});
  expect_refused(look({"--focus=20"}), {"holotone: --focus: expected"});
  expect_refused(look({"--distance", "20"}), {"holotone: --distance: expected"});
  expect_refused(look({"--encoding", "fase"}), {"holotone: --encoding: expected"});
  expect_refused(look({"--method", "fresnel", "--focus", "1mm"}), {"holotone: --focus: expected"});
}

TEST_F(OptionsTest, TwoOrdersOfRowsCannotBeCombined) {
  expect_refused(
      {"quantize", path("x.h5"), "-o", path("y.png"), "--viewer", "36mm:9mm", "--p", "3", "--order", "serpentine"},
      {"--order: expected raster with --p, got 'serpentine'"});
}

TEST(WholeNumber, CountsTakeSuffixes) {
  const auto number = [](const char* text) { return cli::whole_number("--n", text, 0, 1'000'000'000'000); };
  EXPECT_EQ(number("20000"), 20'000);
  EXPECT_EQ(number("20k"), 20'000);
  EXPECT_EQ(number("20K"), 20'000);
  EXPECT_EQ(number("2.3k"), 2'300);
  EXPECT_EQ(number("0.001k"), 1);
  EXPECT_EQ(number("1.5M"), 1'500'000);
  EXPECT_EQ(number("2e4"), 20'000);
  EXPECT_EQ(number("0k"), 0);
  for (const char* text :
       {"k", "M", "", "20kk", "20 k", "1.5", "1.5e0", "0.0001k", "20m", "-1k", "2000000M", "nank", "infM"}) {
    EXPECT_THROW((void)number(text), Error) << text;
  }
}

}  // namespace
}  // namespace holotone::test
