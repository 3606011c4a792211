#include <algorithm>
#include <complex>
#include <fmt/format.h>
#include <holotone/core/array.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/code_rows.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/recipes/joined_parts.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <memory>
#include <optional>

namespace holotone {
namespace {

/// A file of `hologram --block`.
struct Part {
  std::string path;
  int bits = 0;  ///< of codes; 0: a complex field
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t all_rows = 0;
  std::optional<std::string> checksum = {};  ///< CRC-32 of its rows; none: of a version that stored none
  Metadata metadata;                         ///< of the whole field
};

bool holds_codes(const std::string& path) { return io::has_format(path, io::FileFormat::tiff); }

const std::string source_key = "block_source";  // a digest of the points and of the correction

/// The file's own size, bits and metadata.
Part opened(const std::string& path, const std::string& program) {
  if (!holds_codes(path)) {
    const FieldRowsReader reader(path, program);
    return {.path = path, .rows = reader.shape()[0], .columns = reader.shape()[1], .metadata = reader.metadata()};
  }
  const ImageRowsReader reader(path);
  const auto [ny, nx, channels] = reader.shape();
  if (channels != 1) throw_io(path, "codes of one channel", fmt::format("{}", channels));
  return {.path = path, .bits = reader.bits(), .rows = ny, .columns = nx, .metadata = reader.metadata()};
}

Part read_part(const std::string& path, const std::string& program) {
  Part part = opened(path, program);
  const auto number = [&](const char* key) {
    const auto value = checked_number(path, part.metadata, key);
    if (!value) throw_io(path, fmt::format("a part of hologram --block, with {}", key), "a file without");
    part.metadata.erase(key);
    return static_cast<std::int64_t>(*value);
  };
  part.first_row = number("block_first_row");
  part.all_rows = number("block_of_rows");
  if (const auto checksum = part.metadata.extract("block_crc32")) part.checksum = checksum.mapped();
  if (part.first_row + part.rows > part.all_rows) {
    throw_io(path, fmt::format("rows up to {}", part.all_rows), fmt::format("{}", part.first_row + part.rows));
  }
  return part;
}

/// Throws io unless both are of one field.
void require_same_field(const Part& first, const Part& other) {
  if (other.bits != first.bits) {
    const auto kind = [](int bits) { return bits == 0 ? std::string("a field") : fmt::format("{}-bit codes", bits); };
    throw_io(other.path, fmt::format("{} as {}", kind(first.bits), first.path), kind(other.bits));
  }
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
      if (key == source_key) continue;
      const auto expected = value(first.metadata, key);
      const auto got = value(other.metadata, key);
      if (got != expected) throw_io(other.path, fmt::format("{} {} as {}", key, expected, first.path), got);
    }
  }
  if (value(first.metadata, source_key) != value(other.metadata, source_key)) {
    throw_io(other.path, fmt::format("a part of the same points, phases and correction as {}", first.path),
             "a part of others");
  }
}

/// The metadata of the whole.
Metadata remove_source(Metadata metadata) {
  metadata.erase(source_key);
  return metadata;
}

/// The parts from top to bottom. Throws io if they are not of one field, overlap or leave rows out.
std::vector<Part> read_parts(const std::vector<std::string>& paths, const std::string& program, Progress& progress) {
  std::vector<Part> parts;
  for (const auto& path : paths) {
    progress.step("reading the parts", std::ssize(parts), std::ssize(paths));
    parts.push_back(read_part(path, program));
    require_same_field(parts.front(), parts.back());
  }
  std::ranges::stable_sort(parts, {}, &Part::first_row);
  const auto twice = std::ranges::adjacent_find(
      parts, [](const Part& a, const Part& b) { return a.first_row == b.first_row && a.rows == b.rows; });
  if (twice != parts.end()) {
    throw_io(std::next(twice)->path, "each part once", fmt::format("the rows of {} again", twice->path));
  }
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

/// Rows of a part, read in turn.
class PartRows {
 public:
  PartRows(const Part& part, const std::string& program) {
    if (part.bits == 0) {
      field_ = std::make_unique<FieldRowsReader>(part.path, program);
    } else {
      codes_ = std::make_unique<ImageRowsReader>(part.path);
    }
  }
  void read(std::int64_t row, View<std::complex<float>, 2> values) const { field_->read(row, values); }
  template <class Code>
  void read(std::int64_t row, View<Code, 2> codes) const {
    codes_->read(row, View<Code, 3>(codes.data(), {codes.shape()[0], codes.shape()[1], 1}));
  }

 private:
  std::unique_ptr<FieldRowsReader> field_;
  std::unique_ptr<ImageRowsReader> codes_;
};

template <class Value, class Writer>
void copy_rows(const Part& part, const std::string& program, Writer& writer, Progress& progress) {
  constexpr std::int64_t max_values = std::int64_t{1} << 23;
  const PartRows reader(part, program);
  const std::int64_t at_once = std::clamp<std::int64_t>(max_values / part.columns, 1, part.rows);
  Array<Value, 2> memory({at_once, part.columns});
  for (std::int64_t row = 0; row < part.rows; row += at_once) {
    progress.step("joining rows", part.first_row + row, part.all_rows);
    const View<Value, 2> rows(memory.data(), {std::min(at_once, part.rows - row), part.columns});
    reader.read(row, rows);
    writer.write(part.first_row + row, rows);
  }
}

/// Throws io if the copied rows are not those that `hologram` wrote.
template <class Writer>
void require_same_rows(const Part& part, const Writer& writer) {
  if (!part.checksum) return;
  const auto got = fmt::format("{:08x}", writer.checksum(part.first_row, part.rows));
  if (got == *part.checksum) return;
  throw_io(part.path, fmt::format("rows of CRC-32 {}, as hologram --block wrote them", *part.checksum),
           fmt::format("{}: the file is damaged; make this part again", got));
}

template <class Value, class Writer>
void write_whole(const std::vector<Part>& parts, const std::string& output, const JoinOptions& options, Writer writer,
                 Progress& progress) {
  for (const auto& part : parts) {
    copy_rows<Value>(part, options.program, writer, progress);
    require_same_rows(part, writer);
  }
  progress.step("joining rows", parts.front().all_rows, parts.front().all_rows);
  if (options.before_output) options.before_output(output);
  writer.finish();
}

}  // namespace

JoinedParts join_parts(const std::vector<std::string>& inputs, const std::string& output, const JoinOptions& options,
                       Progress& progress) {
  if (inputs.empty()) throw_argument("join_parts", "inputs", "at least one part", "none");
  const auto parts = read_parts(inputs, options.program, progress);
  const auto& first = parts.front();
  const Shape<2> shape{first.all_rows, first.columns};
  const Metadata metadata = remove_source(first.metadata);
  if (first.bits == 0) {
    write_whole<std::complex<float>>(parts, output, options, FieldRowsWriter(output, shape, metadata), progress);
  } else if (first.bits <= 8) {
    write_whole<std::uint8_t>(parts, output, options, CodeRowsWriter(output, shape, 8, metadata), progress);
  } else {
    write_whole<std::uint16_t>(parts, output, options, CodeRowsWriter(output, shape, first.bits, metadata), progress);
  }
  const auto unchecked = std::ranges::count_if(parts, [](const Part& part) { return !part.checksum; });
  return {shape, std::ssize(parts), unchecked};
}

}  // namespace holotone
