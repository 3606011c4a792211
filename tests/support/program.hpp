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
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
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

// Runs the program as a child process.
namespace holotone::test {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path);

struct ProgramResult {
  int exit_code = -1;  ///< or minus the signal that ended it
  std::string output;
  std::string error;
};

/// A running program whose standard output and error go to files in `captured`.
class RunningProgram {
 public:
  /// `prepare` runs in the child just before the program starts, to set limits or descriptors.
  RunningProgram(
      std::vector<std::string> arguments, fs::path captured, const std::function<void()>& prepare = [] {});
  /// Another program, found as a shell finds it.
  static RunningProgram other(
      std::vector<std::string> words, fs::path captured, const std::function<void()>& prepare = [] {}) {
    return {Words{std::move(words)}, std::move(captured), prepare};
  }
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void send(int number) const { kill(process_, number); }
  [[nodiscard]] bool running() const;

  /// Waits for the end; after `seconds` the program is killed and the exit code is -SIGKILL.
  ProgramResult wait(double seconds);

 private:
  struct Words {
    std::vector<std::string> words;
  };
  RunningProgram(Words words, fs::path captured, const std::function<void()>& prepare);

  pid_t process_ = -1;
  fs::path captured_;
};

/// True if this build writes the format of a name: TIFF and HDF5 require their libraries.
bool can_write(const std::string& name);

/// Fixture with a separate folder for each test, removed afterwards.
class ProgramTest : public testing::Test {
 protected:
  ProgramTest();
  ~ProgramTest() override;

  [[nodiscard]] ProgramResult run(const std::vector<std::string>& arguments, double seconds = 240) const;

  /// Runs the program, expects exit code 0 and an empty standard error, and returns the output of --json.
  [[nodiscard]] nlohmann::json run_json(std::vector<std::string> arguments) const;

  [[nodiscard]] std::string path(const std::string& name) const;

  std::string write(const std::string& name, const std::string& content) const;

  /// A comma-separated cloud of x, y, z in metres and an amplitude.
  std::string write_cloud(const std::string& name, const std::vector<std::array<double, 4>>& points) const;

  [[nodiscard]] std::set<std::string> files() const;

  /// Expects that a run is rejected: exit code 2, one line on standard error that contains all of `words`, no new file.
  void expect_refused(const std::vector<std::string>& arguments, std::initializer_list<const char*> words) const;

  fs::path base_;
  fs::path folder_;
  fs::path captured_;
};

}  // namespace holotone::test
