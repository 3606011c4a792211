#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/guarded.hpp>
#include <holotone/io/guarded_dump_detail.hpp>
#include <holotone/io/points.hpp>
#include <new>
#include <string_view>
#include <unistd.h>

namespace holotone {
namespace {

constexpr std::string_view scene_command = "__read-scene";
constexpr std::string_view field_command = "__read-field";
constexpr int error_exit_code = 2;

GuardLimits limits_for(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  GuardLimits limits;
  if (!error) {
    limits.memory_bytes += 24 * static_cast<std::uint64_t>(size);
    limits.output_bytes += 24 * static_cast<std::uint64_t>(size);
    limits.seconds += static_cast<double>(size) / 4e6;
  }
  return limits;
}

// Reads `path` in a child and hands what it wrote to `parse`; a child out of memory becomes a line with the limit.
template <class Parse>
auto read_guarded(std::string_view command, const std::string& path, const std::string& program,
                  const GuardLimits& limits, const Parse& parse) {
  const GuardedRun run = run_guarded(program, {std::string(command), path, "-"}, limits, path);
  if (run.exit_code != 0 && run.exit_code != error_exit_code) {
    throw Error(ErrorCode::io, fmt::format("{}: the reader failed (exit code {})", path, run.exit_code));
  }
  try {
    return parse(run.output, path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw Error(ErrorCode::io, fmt::format("{}: the reader needed more than {}", path,
                                           format_bytes(static_cast<double>(limits.memory_bytes))));
  }
}

std::string read_and_dump(std::string_view command, const std::string& path) {
  if (command == field_command) return io::dump_field(read_field(path));
  return io::dump_scene(is_assimp_scene(path) ? read_scene_assimp(path) : read_scene(path));
}

// Never throws: an error is something to hand to the parent.
std::string dump_or_error(std::string_view command, const std::string& path, int& code) {
  try {
    code = 0;
    return read_and_dump(command, path);
  } catch (const Error& error) {
    code = error_exit_code;
    return io::dump_error(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    code = error_exit_code;
    return io::dump_error(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    code = error_exit_code;
    return io::dump_error(ErrorCode::io, fmt::format("{}: expected a readable file, got: {}", path, error.what()));
  }
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Takes standard output for the dump alone: what a library prints goes to standard error.
int open_output(const std::string& path) {
  if (path != "-") return open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  const int file = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return file;
}

}  // namespace

Mesh read_scene_guarded(const std::string& path, const std::string& program, const std::optional<GuardLimits>& limits) {
  if (!is_assimp_scene(path)) return read_scene(path);
  return read_guarded(scene_command, path, program, limits.value_or(limits_for(path)), io::parse_scene);
}

FieldFile read_field_guarded(const std::string& path, const std::string& program,
                             const std::optional<GuardLimits>& limits) {
  if (!is_hdf5(path)) return read_field(path);
  return read_guarded(field_command, path, program, limits.value_or(limits_for(path)), io::parse_field);
}

std::optional<int> guarded_child(int argc, const char* const* argv) {
  if (argc != 4 || (argv[1] != scene_command && argv[1] != field_command)) return std::nullopt;
  const int output = open_output(argv[3]);
  int code = 0;
  const std::string dump = dump_or_error(argv[1], argv[2], code);
  if (output < 0 || !write_all(output, dump)) code = 1;
  if (output >= 0) close(output);
  return code;
}

}  // namespace holotone
