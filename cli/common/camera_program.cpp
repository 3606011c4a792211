#include <cerrno>
#include <cli/common/camera_program.hpp>
#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <holotone/core/error.hpp>
#include <holotone/io/guarded/sandbox.hpp>
#include <utility>

namespace holotone::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of this run's own for files that the camera reads.
std::string own_folder() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (failed) throw_io("TMPDIR", "a folder for temporary files", failed.message());
  std::string name = (parent / "holotone-camera-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw_io(name, "a new folder", std::strerror(errno));
  UnfinishedRun::has_made(name);
  return name;
}

/// `text` as one word of a shell's command.
std::string in_quotes(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

CameraProgram::CameraProgram(std::string command, double timeout_s, const ConsoleOptions& console)
    : command_(std::move(command)), timeout_s_(timeout_s), console_(console), folder_(own_folder()) {
  for (const auto& file : {codes_path(), picture_path()}) UnfinishedRun::will_write(file);
  const std::string word = in_quotes(codes_path());
  for (auto at = command_.find("%s"); at != std::string::npos; at = command_.find("%s", at + word.size())) {
    command_.replace(at, 2, word);
  }
}

CameraProgram::~CameraProgram() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Image CameraProgram::take() const {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  constexpr double any_seconds = 1e6;
  const GuardLimits limits{
      .output_bytes = max_bytes, .seconds = any_seconds, .wall_seconds = timeout_s_, .command = true};
  GuardedRun run;
  try {
    run = run_guarded("/bin/sh", {"-c", command_}, limits, "--camera");
  } catch (const Error&) {
    check_cancelled("waiting for the camera");
    throw;
  }
  // The shell ends with the signal of a command that it ran.
  if (run.exit_code == 128 + SIGXFSZ) {
    throw_io("--camera", fmt::format("a picture of at most {} bytes on the command's standard output", max_bytes),
             "more");
  }
  if (run.exit_code != 0)
    throw_io("--camera", "a command that ends with 0", fmt::format("exit code {}", run.exit_code));
  if (run.output.empty()) throw_io("--camera", "a picture on the command's standard output", "nothing");
  const std::string path = picture_path();
  std::ofstream(path, std::ios::binary) << run.output;
  try {
    Image image = read_image(path, {.as_measured = true});
    if (!std::exchange(has_notes_, true)) {
      for (const auto& note : image.notes) warn(console_, "--camera: standard output" + note.substr(path.size()));
    }
    return image;
  } catch (const Error& error) {
    const std::string text = error.what();
    throw Error(ErrorCode::io, "--camera: standard output" + text.substr(std::min(path.size(), text.size())));
  }
}

}  // namespace holotone::cli
