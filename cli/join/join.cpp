#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/io/guarded.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct JoinArguments {
  std::vector<std::string> inputs;
  std::string output;
  ConsoleOptions console;
};

/// A file of `hologram --block`.
struct Part {
  std::string path;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t all_rows = 0;
  Metadata metadata;  ///< of the whole field
};

Part part_of(const std::string& path) {
  const FieldRowsReader reader(path, current_program());
  Part part{.path = path, .rows = reader.shape()[0], .columns = reader.shape()[1], .metadata = reader.metadata()};
  const auto number = [&](const char* key) {
    const auto value = checked_number(path, part.metadata, key);
    if (!value) throw_io(path, fmt::format("a part of hologram --block, with {}", key), "a field without");
    part.metadata.erase(key);
    return static_cast<std::int64_t>(*value);
  };
  part.first_row = number("block_first_row");
  part.all_rows = number("block_of_rows");
  if (part.first_row + part.rows > part.all_rows) {
    throw_io(path, fmt::format("rows up to {}", part.all_rows), fmt::format("{}", part.first_row + part.rows));
  }
  return part;
}

/// Throws io unless both are of one field.
void require_same_field(const Part& first, const Part& other) {
  if (other.all_rows != first.all_rows || other.columns != first.columns) {
    throw_io(other.path, fmt::format("a part of {} x {} pixels as {}", first.columns, first.all_rows, first.path),
             fmt::format("{} x {}", other.columns, other.all_rows));
  }
  const auto value = [](const Metadata& metadata, const std::string& key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string("none") : found->second;
  };
  for (const auto* both : {&first.metadata, &other.metadata}) {
    for (const auto& [key, unused] : *both) {
      const auto expected = value(first.metadata, key);
      const auto got = value(other.metadata, key);
      if (got != expected) throw_io(other.path, fmt::format("{} {} as {}", key, expected, first.path), got);
    }
  }
}

/// The parts from top to bottom. Throws io if they are not of one field, overlap or leave rows out.
std::vector<Part> parts_of(const std::vector<std::string>& paths, Progress& progress) {
  std::vector<Part> parts;
  for (const auto& path : paths) {
    progress.step("reading the parts", std::ssize(parts), std::ssize(paths));
    parts.push_back(part_of(path));
    require_same_field(parts.front(), parts.back());
  }
  std::ranges::stable_sort(parts, {}, &Part::first_row);
  std::int64_t row = 0;
  const Part* before = nullptr;
  const auto missing = [&](std::int64_t end) {
    throw_io(parts.front().path, "parts that make the whole field",
             fmt::format("none with rows {} to {}", row, end - 1));
  };
  for (const auto& part : parts) {
    if (part.first_row < row) {
      throw_io(part.path, fmt::format("rows from {} on", row),
               fmt::format("rows {} to {}, which {} has too", part.first_row,
                           std::min(row, part.first_row + part.rows) - 1, before->path));
    }
    if (part.first_row > row) missing(part.first_row);
    row = part.first_row + part.rows;
    before = &part;
  }
  if (row < parts.front().all_rows) missing(parts.front().all_rows);
  return parts;
}

void copy_rows(const Part& part, FieldRowsWriter& writer, Progress& progress) {
  constexpr std::int64_t most_values = std::int64_t{1} << 23;
  const FieldRowsReader reader(part.path, current_program());
  const std::int64_t at_once = std::clamp<std::int64_t>(most_values / part.columns, 1, part.rows);
  Array<std::complex<float>, 2> memory({at_once, part.columns});
  for (std::int64_t row = 0; row < part.rows; row += at_once) {
    progress.step("joining rows", part.first_row + row, part.all_rows);
    const View<std::complex<float>, 2> rows(memory.data(), {std::min(at_once, part.rows - row), part.columns});
    reader.read(row, rows);
    writer.write(part.first_row + row, rows);
  }
}

int run_join(const JoinArguments& arguments) {
  const Stopwatch watch;
  std::vector<InputFile> inputs;
  for (const auto& input : arguments.inputs) {
    require_input(input);
    inputs.push_back({"FILE", input});
  }
  require_outputs({{"--output", 1, [&](std::int64_t) { return arguments.output; }}}, inputs);
  ProgressBar bar(arguments.console);
  const UnfinishedRun unfinished;
  const auto parts = parts_of(arguments.inputs, bar);
  const auto& whole = parts.front();
  FieldRowsWriter writer(arguments.output, {whole.all_rows, whole.columns}, whole.metadata);
  for (const auto& part : parts) copy_rows(part, writer, bar);
  check_cancelled("writing");
  UnfinishedRun::will_write(arguments.output);
  writer.finish();
  UnfinishedRun::keep();
  report_json(arguments.console, {{"software", "holotone " HOLOTONE_VERSION},
                                  {"outputs", {arguments.output}},
                                  {"parts", parts.size()},
                                  {"resolution", {whole.columns, whole.all_rows}},
                                  {"time_s", watch.seconds()}});
  report(arguments.console, fmt::format("{}: {} x {} pixels of {}, {}", arguments.output, whole.columns, whole.all_rows,
                                        counted(std::ssize(parts), "part"), format_duration(watch.seconds())));
  return exit_ok;
}

}  // namespace

Command join_command() {
  const auto arguments = std::make_shared<JoinArguments>();
  auto& a = *arguments;
  return {
      .name = "join",
      .purpose = "Join the parts that several runs of hologram --block have made",
      .examples = {"holotone join part_*.h5 -o whole.h5"},
      .groups =
          {{"",
            {{.names = "FILE", .target = &a.inputs, .help = "All parts of one field, in any order", .required = true},
             {.names = "-o,--output",
              .target = &a.output,
              .value = "FILE",
              .help = "The whole field, .h5 or .npy",
              .common = true,
              .required = true}}},
           console_options(a.console)},
      .run = [arguments] { return run_join(*arguments); }};
}

}  // namespace holotone::cli
