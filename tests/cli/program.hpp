#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/io/field_file.hpp>
#include <holotone/io/image.hpp>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <tests/support/paths.hpp>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// Running the real program as a child.
namespace holotone::test {

namespace fs = std::filesystem;

inline std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

struct ProgramResult {
  int exit_code = -1;  ///< or minus the signal that ended it
  std::string output;
  std::string error;
};

/// A started program whose standard output and error go to files in `captured`.
class RunningProgram {
 public:
  /// `prepare` runs in the child just before the program: limits, other descriptors.
  RunningProgram(
      std::vector<std::string> arguments, fs::path captured, const std::function<void()>& prepare = [] {})
      : captured_(std::move(captured)) {
    arguments.insert(arguments.begin(), program_path());
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const std::string output = (captured_ / "output").string();
    const std::string error = (captured_ / "error").string();
    process_ = fork();
    if (process_ == 0) {
      const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int err = open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      // Tests run in the background inherit signals as ignored; the program is tested as in the foreground.
      for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_DFL);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      prepare();
      execv(pointers.front(), pointers.data());
      _exit(127);
    }
  }
  ~RunningProgram() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void send(int number) const { kill(process_, number); }
  /// A file of /proc/PID.
  [[nodiscard]] std::string state(const char* name) const {
    return content_of(fs::path("/proc") / std::to_string(process_) / name);
  }
  [[nodiscard]] bool running() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  }

  /// Waits; after `seconds` the program is killed and the exit code is -SIGKILL.
  ProgramResult wait(double seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (running()) {
      if (std::chrono::steady_clock::now() > deadline) kill(process_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(captured_ / "output"),
            content_of(captured_ / "error")};
  }

 private:
  pid_t process_ = -1;
  fs::path captured_;
};

/// Whether this build writes the format of a name: TIFF and HDF5 are left out where their libraries are missing.
inline bool can_write(const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  const std::string probe =
      (fs::temp_directory_path() / fmt::format("holotone_probe_{}{}", getpid(), extension)).string();
  try {
    if (is_field_name(name)) {
      FieldFile field{Array<std::complex<float>, 2>({1, 1}), {{"wavelength_m", "1e-6"}, {"pitch_m", "1e-5"}}};
      field.values(std::int64_t{0}, std::int64_t{0}) = 1;
      write_field(probe, field);
    } else {
      Image image{Array<std::uint8_t, 3>({1, 1, 1}), {}};
      std::get<Array<std::uint8_t, 3>>(image.pixels).host()[0] = 1;
      write_image(probe, image);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    std::printf("this build does not write %s\n", extension.c_str());
    return false;
  }
  fs::remove(probe);
  return true;
}

/// A folder of its own for each test, removed afterwards.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string name = (fs::temp_directory_path() / "holotone_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    base_ = name;
    folder_ = base_ / "work";
    captured_ = base_ / "captured";
    fs::create_directory(folder_);
    fs::create_directory(captured_);
  }
  ~ProgramTest() override {
    std::error_code error;
    fs::remove_all(base_, error);
  }

  [[nodiscard]] ProgramResult run(const std::vector<std::string>& arguments, double seconds = 240) const {
    return RunningProgram(arguments, captured_).wait(seconds);
  }

  /// Runs, expects exit code 0 and nothing on standard error, and returns what --json printed.
  [[nodiscard]] nlohmann::json run_json(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    auto json = nlohmann::json::parse(result.output, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << result.output;
    return json;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return path(name);
  }

  /// A comma-separated cloud of x, y, z in metres and an amplitude.
  std::string write_cloud(const std::string& name, const std::vector<std::array<double, 4>>& points) const {
    std::string text = "x,y,z,amplitude\n";
    for (const auto& [x, y, z, a] : points) text += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}\n", x, y, z, a);
    return write(name, text);
  }

  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      names.insert(entry.path().lexically_relative(folder_).string());
    }
    return names;
  }

  /// Runs what must be refused: exit code 2, one line on standard error that holds all of `words`, no file made.
  void expect_refused(const std::vector<std::string>& arguments, std::initializer_list<const char*> words) const {
    const auto before = files();
    const auto result = run(arguments);
    std::string line = "holotone";
    for (const auto& argument : arguments) line += " " + argument;
    EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << line << "\n" << result.error;
    EXPECT_EQ(result.error.rfind("holotone: ", 0), 0u) << line << "\n" << result.error;
    EXPECT_EQ(result.output, "") << line;
    for (const char* word : words) {
      EXPECT_NE(result.error.find(word), std::string::npos) << line << "\nwithout '" << word << "': " << result.error;
    }
    EXPECT_EQ(files(), before) << line;
  }

  fs::path base_;
  fs::path folder_;
  fs::path captured_;
};

}  // namespace holotone::test
