// Commands of README.md as printed, run with the program under test, and its pictures of their output.
#include <array>
#include <cmath>
#include <optional>
#include <regex>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

/// A line of a code block, with continuation lines joined.
struct ReadmeCommand {
  std::string line;
  std::int64_t number = 0;  ///< of its first line in README.md
  bool own_files = false;   ///< its block follows the comment <!-- own files -->
};

bool begins_with_command(const std::string& line) {
  return line.starts_with("holotone ") || line.starts_with("mkdir ");
}

/// Commands in blocks that are indented by four spaces or fenced, without a language or with that of a shell.
std::vector<ReadmeCommand> find_commands(const std::string& text) {
  std::vector<ReadmeCommand> commands;
  std::istringstream lines(text);
  bool fenced = false;
  bool shell = false;
  bool own_files = false;
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      const std::string language = line.substr(3);
      shell = fenced && (language.empty() || language == "sh" || language == "bash" || language == "console");
      if (!fenced) own_files = false;
      continue;
    }
    const bool code = fenced ? shell : line.starts_with("    ");
    if (!code) {
      if (!fenced && line.find_first_not_of(' ') != std::string::npos) {
        own_files = line.find("<!-- own files -->") != std::string::npos;
      }
      continue;
    }
    const std::int64_t first = number;
    while (line.ends_with('\\')) {
      line.pop_back();
      std::string next;
      if (!std::getline(lines, next)) break;
      ++number;
      line += next;
    }
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with("$ ")) line.erase(0, 2);
    if (begins_with_command(line)) commands.push_back({line, first, own_files});
  }
  return commands;
}

TEST(Readme, CommandsAreRead) {
  const auto commands = find_commands(
      "text\n\n    holotone a 'b c'    # words\n    make all\n    holotone d \\\n      --e 1\n\n<!-- own files -->\n"
      "```sh\n$ holotone f\n```\nholotone g\n```cpp\nholotone h\n```\n```\nmkdir i\n```\n");
  std::vector<std::string> lines;
  for (const auto& command : commands) lines.push_back(command.line);
  EXPECT_EQ(lines, (std::vector<std::string>{"holotone a 'b c'    # words", "holotone d       --e 1", "holotone f",
                                             "mkdir i"}));
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_EQ(commands[1].number, 5);
  EXPECT_FALSE(commands[0].own_files);
  EXPECT_TRUE(commands[2].own_files);
  EXPECT_FALSE(commands[3].own_files);
}

/// Input files that readers supply themselves.
constexpr std::string_view own_inputs[] = {"photo.", "chess/", "dragon"};

/// Replacements of commands that take minutes on two cores.
struct Shortened {
  const char* pattern;
  const char* replacement;
};
constexpr Shortened shortened[] = {
    // All steps of a fit take 400 s of one core; within 20 s the picture shows the same section less sharply.
    {R"(^(holotone smoe fit [^#]*[^# ])(\s*#.*)?$)", "$1 --time 20"},
    {R"(--spin (\w+):\d\d+)", "--spin $1:3"},
};
/// Replacements under sanitizers, where everything is ten to fifty times slower.
constexpr Shortened shortened_more[] = {
    {R"(^(holotone smoe fit [^#]*[^# ])(\s*#.*)?$)", "$1 --time 1"},
    {R"(--spin (\w+):\d+)", "--spin $1:2"},
    {R"(--points \d+)", "--points 500"},
    {R"(--components \d+)", "--components 50"},
    {R"(--dots \d+)", "--dots 100"},
    {R"(^(holotone hologram \S+\.ply))", "$1 --resolution 240x136 --pitch 8um"},
};

std::string shorter(std::string line) {
  const auto apply = [&](const Shortened& one) {
    line = std::regex_replace(line, std::regex(one.pattern), one.replacement);
  };
  if (sanitized) {
    for (const auto& one : shortened_more) apply(one);
  } else {
    for (const auto& one : shortened) apply(one);
  }
  return line;
}

/// -10 log10 of the mean squared difference of two pictures of one size, codes from 0 to 1; none if the sizes differ.
std::optional<double> psnr_between(const Pixels& a, const Pixels& b) {
  if (a.nx != b.nx || a.ny != b.ny) return std::nullopt;
  double sum = 0;
  const std::int64_t channels = std::max(a.channels, b.channels);
  const auto at = [](const Pixels& pixels, std::int64_t row, std::int64_t col, std::int64_t channel) {
    return pixels.at(row, col, pixels.channels == 1 ? 0 : channel);
  };
  for (std::int64_t row = 0; row < a.ny; ++row) {
    for (std::int64_t col = 0; col < a.nx; ++col) {
      for (std::int64_t c = 0; c < channels; ++c) sum += std::pow(at(a, row, col, c) - at(b, row, col, c), 2);
    }
  }
  return -10 * std::log10(sum / static_cast<double>(a.nx * a.ny * channels));
}

class ReadmeTest : public ProgramTest {
 protected:
  /// Runs a line in the test's folder; `holotone` is the program under test.
  [[nodiscard]] ProgramResult run_line(const std::string& line) const {
    const std::string output = (captured_ / "output").string();
    const std::string error = (captured_ / "error").string();
    const std::string folder = folder_.string();
    const char* const old = getenv("PATH");
    const std::string search =
        fs::path(program_path()).parent_path().string() + ":" + (old == nullptr ? "/usr/bin:/bin" : old);
    const pid_t process = fork();
    if (process == 0) {
      const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int err = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      if (chdir(folder.c_str()) != 0) _exit(126);
      setenv("PATH", search.c_str(), 1);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(output), content_of(error)};
  }

  /// True if a line depends on a reader's own files, or on files made from these.
  bool needs_own_files(const ReadmeCommand& command) {
    const bool local = command.own_files || std::ranges::any_of(not_made_, [&](const std::string& name) {
                         return command.line.find(name) != std::string::npos;
                       });
    std::smatch made;
    static const std::regex output(R"((?:-o|--output)[ =](\S+))");
    if (local && std::regex_search(command.line, made, output)) not_made_.push_back(made[1]);
    return local;
  }

  /// Compares the commands' output with a picture of README.md. `look`: a command that first makes `made` from that
  /// output.
  void expect_shown(const std::string& look, const std::string& made, const std::string& shown, double min_db) const {
    if (!look.empty()) {
      const auto result = run_line(look);
      ASSERT_EQ(result.exit_code, 0) << look << "\n" << result.error;
    }
    if (!fs::exists(path(made))) {
      std::printf("not compared: README.md makes no %s\n", made.c_str());
      return;
    }
    const auto psnr = psnr_between(pixels_of(path(made)), pixels_of(source_folder() + "/docs/pictures/" + shown));
    ASSERT_TRUE(psnr) << made << " and docs/pictures/" << shown << " have different sizes";
    std::printf("%s and docs/pictures/%s: %.1f dB\n", made.c_str(), shown.c_str(), *psnr);
    EXPECT_GE(*psnr, min_db) << made << " and docs/pictures/" << shown;
  }

  std::vector<std::string> not_made_{std::begin(own_inputs), std::end(own_inputs)};
};

TEST_F(ReadmeTest, CommandsRunAsPrinted) {
  const auto commands = find_commands(content_of(fs::path(source_folder()) / "README.md"));
  if (sanitized) not_made_.emplace_back("dice");  // their commands would take minutes
  ASSERT_GE(commands.size(), 8U) << "README.md has lost its commands, or their blocks are not recognised";
  std::int64_t ran = 0;
  for (const auto& command : commands) {
    if (needs_own_files(command)) {
      std::printf("README.md:%d: needs files that no command made, not run: %s\n", static_cast<int>(command.number),
                  command.line.c_str());
      continue;
    }
    const std::string line = shorter(command.line);
    if (line != command.line) {
      std::printf("README.md:%d: shortened: %s\n", static_cast<int>(command.number), line.c_str());
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto result = run_line(line);
    std::printf("%6.1f s  %s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                line.c_str());
    ++ran;
    EXPECT_EQ(result.exit_code, 0) << "README.md:" << command.number << ": " << line << "\n"
                                   << result.error
                                   << "(lines that need the reader's own files follow <!-- own files -->)";
  }
  EXPECT_GE(2 * ran, std::ssize(commands)) << "most of README.md's commands are not run";
  if (sanitized) {
    std::printf("pictures are not compared: of shortened commands they are others\n");
    return;
  }
  // As in scripts/pictures.sh.
  const std::string sheet = " --sweep 20cm:20cm:1 --tile-width 480";
  if (fs::exists(path("teapot.png"))) {
    expect_shown("holotone reconstruct teapot.png -o shown.png" + sheet, "shown.png", "focus.png", 35);
    expect_shown("holotone reconstruct teapot.png -o shown.png --aperture 10mm,0mm:10mm" + sheet, "shown.png",
                 "right.png", 35);
  }
  if (fs::exists(path("knot_r.png"))) {
    expect_shown("holotone reconstruct knot_%c.png -o shown.png" + sheet, "shown.png", "knot.png", 35);
  }
  expect_shown("", "eyes.png", "eyes.png", 30);
  // A black picture has 11.7 dB, another section of the knot 13.
  expect_shown("", "detail.png", "mixture.png", 15);
}

}  // namespace
}  // namespace holotone::test
