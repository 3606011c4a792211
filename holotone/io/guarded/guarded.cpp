#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/io/guarded/guarded_dump_detail.hpp>
#include <holotone/io/images/exr_header_detail.hpp>
#include <holotone/io/named_file_detail.hpp>
#include <holotone/io/points/points.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <new>
#include <string_view>
#include <unistd.h>

namespace holotone {
namespace {

constexpr std::string_view scene_command = "__read-scene";
constexpr std::string_view centred_command = "__read-scene-centred";
constexpr std::string_view field_command = "__read-field";
constexpr std::string_view layout_command = "__read-field-layout";
constexpr std::string_view rows_command = "__read-field-rows:";  // followed by FIRST:COUNT
constexpr std::string_view exr_command = "__read-exr";
constexpr std::string_view exr_depth_command = "__read-exr-depth";
constexpr int error_exit_code = 2;

/// True once guarded_child was called: the program can be its own child.
std::atomic<bool> begins_children{false};

std::uint64_t find_size(const std::string& path) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(path, error);
  const auto size = regular ? std::filesystem::file_size(path, error) : 0;
  return error ? 0 : static_cast<std::uint64_t>(size);
}

std::uint64_t scene_bytes(const std::string& path) {
  std::uint64_t bytes = find_size(path);
  for (const auto& name : io::scene_side_names(path)) bytes += io::named_file_bytes(path, name);
  return bytes;
}

// Reads `path` in a child and passes its output to `parse`. If the child runs out of memory, the error states the
// limit.
template <class Parse>
auto read_guarded(const std::string& command, const std::string& path, const std::string& program,
                  const ReaderLimits& limits, const Parse& parse) {
  const GuardedRun run = run_guarded(program, {command, path, std::to_string(limits.memory_bytes)}, limits.run, path);
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

io::FieldNumbers read_in_child(const std::string& path, const std::string& program,
                               const std::optional<ReaderLimits>& limits) {
  if (!is_hdf5(path) && !io::is_matlab5(io::split_part(path).file, path)) return io::read_numbers(path);
  return read_guarded(std::string(field_command), path, program,
                      limits ? *limits : field_reader_limits(find_size(io::split_part(path).file)), io::parse_numbers);
}

// Parses the rows of a rows command. Returns false for other commands.
bool parse_rows(std::string_view command, std::int64_t& first_row, std::int64_t& count) {
  if (!command.starts_with(rows_command)) return false;
  const std::string_view text = command.substr(rows_command.size());
  const auto first = std::from_chars(text.begin(), text.end(), first_row);
  if (first.ec != std::errc() || first.ptr == text.end() || *first.ptr != ':') return false;
  const auto second = std::from_chars(first.ptr + 1, text.end(), count);
  return second.ec == std::errc() && second.ptr == text.end();
}

bool is_command(std::string_view name) {
  std::int64_t number = 0;
  return name == scene_command || name == centred_command || name == field_command || name == layout_command ||
         name == exr_command || name == exr_depth_command || parse_rows(name, number, number);
}

Array<float, 3> read_exr_pixels(const std::string& path, bool as_depth) {
  const auto bytes = io::read_bytes(path);
  const auto header = io::parse_exr_header(bytes, path);
  return io::exr_pixels(bytes, header, io::exr_channels(header, as_depth, path), path);
}

std::string read_and_dump(std::string_view command, const std::string& path) {
  std::int64_t first_row = 0;
  std::int64_t count = 0;
  if (command == field_command) return io::dump_numbers(io::read_numbers(path));
  if (command == layout_command) return io::dump_layout(io::hdf5_layout(path));
  if (parse_rows(command, first_row, count)) return io::dump_field(io::read_hdf5_rows(path, first_row, count));
  if (command == exr_command) return io::dump_pixels(read_exr_pixels(path, false));
  if (command == exr_depth_command) return io::dump_pixels(read_exr_pixels(path, true));
  const Coordinates coordinates = command == centred_command ? Coordinates::centred : Coordinates::stored;
  return io::dump_scene(is_assimp_scene(path) ? read_scene_assimp(path, coordinates) : read_scene(path, coordinates));
}

// Never throws: errors are dumped for the parent.
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

// Reserves standard output for the dump; output of libraries goes to standard error.
int take_standard_output() {
  const int file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return file;
}

}  // namespace

ReaderLimits scene_reader_limits(std::uint64_t bytes) {
  ReaderLimits limits;
  limits.memory_bytes = (std::uint64_t{256} << 20) + 128 * bytes;
  limits.run.output_bytes = (std::uint64_t{64} << 20) + 24 * bytes;
  limits.run.seconds = 3 + static_cast<double>(bytes) / 1e6;
  return limits;
}

ReaderLimits field_reader_limits(std::uint64_t bytes) {
  ReaderLimits limits;
  limits.memory_bytes = (std::uint64_t{256} << 20) + std::min(4000 * bytes, (std::uint64_t{2} << 30) + 24 * bytes);
  limits.run.output_bytes = (std::uint64_t{64} << 20) + std::min(1100 * bytes, (std::uint64_t{4} << 30) + 24 * bytes);
  limits.run.seconds = 20 + static_cast<double>(bytes) / 4e6;
  return limits;
}

ReaderLimits exr_reader_limits(std::uint64_t bytes, std::uint64_t pixel_bytes) {
  ReaderLimits limits;
  limits.memory_bytes = (std::uint64_t{256} << 20) + 4 * bytes + 3 * pixel_bytes;
  limits.run.output_bytes = (std::uint64_t{1} << 20) + pixel_bytes;
  limits.run.seconds = 10 + static_cast<double>(pixel_bytes) / 4e6;
  return limits;
}

Mesh read_scene_guarded(const std::string& path, const std::string& program, const std::optional<ReaderLimits>& limits,
                        Coordinates coordinates) {
  if (!is_assimp_scene(path)) return read_scene(path, coordinates);
  const auto command = coordinates == Coordinates::centred ? centred_command : scene_command;
  return read_guarded(std::string(command), path, program, limits ? *limits : scene_reader_limits(scene_bytes(path)),
                      io::parse_scene);
}

FieldFile read_field_guarded(const std::string& path, const std::string& program,
                             const std::optional<ReaderLimits>& limits, const FieldReadOptions& options) {
  return io::compose_field(path, options, [&](const std::string& one) { return read_in_child(one, program, limits); });
}

namespace io {

FieldNumbers read_numbers_guarded(const std::string& path, const std::string& program) {
  return program.empty() ? read_numbers(path) : read_in_child(path, program, {});
}

FieldLayout hdf5_layout_guarded(const std::string& path, const std::string& program) {
  if (program.empty()) return hdf5_layout(path);
  ReaderLimits limits = field_reader_limits(find_size(split_part(path).file));
  limits.run.output_bytes = std::uint64_t{256} << 20;  // for metadata
  return read_guarded(std::string(layout_command), path, program, limits, parse_layout);
}

FieldFile read_hdf5_rows_guarded(const std::string& path, const std::string& program, std::int64_t first_row,
                                 Shape<2> shape) {
  if (program.empty()) return read_hdf5_rows(path, first_row, shape[0]);
  const auto bytes = static_cast<std::uint64_t>(element_count(shape)) * sizeof(std::complex<float>);
  ReaderLimits limits = field_reader_limits(find_size(split_part(path).file));
  limits.memory_bytes += 4 * bytes;  // for the rows and one or two chunks
  limits.run.output_bytes = bytes + (1 << 20);
  limits.run.seconds += static_cast<double>(bytes) / 4e6;
  return read_guarded(fmt::format("{}{}:{}", rows_command, first_row, shape[0]), path, program, limits, parse_field);
}

Array<float, 3> exr_pixels_guarded(std::string_view bytes, const ExrHeader& header,
                                   const std::vector<std::string>& channels, bool as_depth, const std::string& path) {
  if (!begins_children) return exr_pixels(bytes, header, channels, path);
  const Shape<3> shape{header.data.ny(), header.data.nx(), static_cast<std::int64_t>(channels.size())};
  const auto limits = exr_reader_limits(bytes.size(), static_cast<std::uint64_t>(element_count(shape)) * sizeof(float));
  auto pixels = read_guarded(std::string(as_depth ? exr_depth_command : exr_command), path, current_program(), limits,
                             parse_pixels);
  if (pixels.shape() == shape) return pixels;
  throw_io(path, fmt::format("pixels {} of its header", to_string<3>(shape)), to_string<3>(pixels.shape()));
}

}  // namespace io

std::optional<int> guarded_child(int argc, const char* const* argv) {
  begins_children = true;
  if (argc != 4 || !is_command(argv[1])) return std::nullopt;
  const std::string_view number = argv[3];
  std::uint64_t memory_bytes = 0;
  const auto parsed = std::from_chars(number.begin(), number.end(), memory_bytes);
  if (parsed.ec != std::errc() || parsed.ptr != number.end()) return std::nullopt;
  const int output = take_standard_output();
  limit_memory(memory_bytes);
  int code = 0;
  const std::string dump = dump_or_error(argv[1], argv[2], code);
  return output >= 0 && write_all(output, dump) ? code : 1;
}

}  // namespace holotone
