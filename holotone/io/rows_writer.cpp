#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <unistd.h>

namespace holotone::io {
namespace {

// Bounds the shape, so that no sum of bytes and positions overflows and the list of rows stays small.
void check_shape(std::string_view name, Shape<2> shape) {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  if (std::min(shape[0], shape[1]) < 1 || std::max(shape[0], shape[1]) > most) {
    throw_argument(name, "shape", "1 to 2^26 rows and columns", to_string<2>(shape));
  }
}

// Metadata and key as lines, each preceded by its length: different contents give different texts.
std::string make_identity(const RowsWriter::Content& content, const Metadata& metadata, std::string_view key) {
  const auto part = [](std::string_view text) { return fmt::format("{}:{}\n", text.size(), text); };
  std::string text = fmt::format("{} {}\n", content.kind, to_string<2>(content.shape)) + part(key);
  for (const auto& [name, value] : metadata) text += part(name) + part(value);
  return text;
}

/// What stands for the checksum until the rows are complete: digits that no metadata contain, the same in every run.
std::string blank_of(const Metadata& metadata) {
  for (int number = 0;; ++number) {
    auto blank = fmt::format("{:08x}", number);
    const auto is_in = [&](const auto& entry) {
      return entry.first.find(blank) != std::string::npos || entry.second.find(blank) != std::string::npos;
    };
    if (std::ranges::none_of(metadata, is_in)) return blank;
  }
}

Metadata with_blank(Metadata metadata, const RowsOptions& options) {
  if (!options.checksum_key.empty()) metadata[options.checksum_key] = blank_of(metadata);
  return metadata;
}

RowsContent checked(const RowsWriter::Content& content, const Metadata& metadata, const RowsOptions& options) {
  check_shape(content.name, content.shape);
  require_metadata(content.name, metadata);
  return {make_identity(content, metadata, options.key), content.shape[0],
          static_cast<std::uint64_t>(content.shape[1]) * content.value_bytes,
          options.checksum_key.empty() ? std::string() : metadata.at(options.checksum_key)};
}

}  // namespace

RowsWriter::RowsWriter(const std::string& path, const Content& content, const Metadata& metadata,
                       const RowsOptions& options, const Create& create, Progress& progress)
    : RowsWriter(Described{with_blank(metadata, options)}, path, content, options, create, progress) {}

RowsWriter::RowsWriter(const Described& described, const std::string& path, const Content& content,
                       const RowsOptions& options, const Create& create, Progress& progress)
    : name_(content.name),
      shape_(content.shape),
      joined_(options.joined),
      file_(
          path, checked(content, described.metadata, options), options,
          [&](const std::string& temporary, const FileHandle& file) {
            return create(temporary, file, described.metadata);
          },
          progress) {}

bool RowsWriter::is_done(std::int64_t row) const { return row >= 0 && row < shape_[0] && file_.is_done(row); }

void RowsWriter::write(std::int64_t first_row, Shape<2> rows, std::span<const char> bytes) {
  const std::string where = name_ + "::write";
  if (finished_) throw_argument(where, "calls", "none after finish()", "one");
  check_rows_of_field(where, shape_, first_row, rows);
  file_.write(first_row, bytes);
}

void RowsWriter::set_done(std::int64_t first_row, std::int64_t rows) {
  check_rows_of_field(name_ + "::set_done", shape_, first_row, {rows, shape_[1]});
  file_.set_done(first_row, rows);
}

std::uint32_t RowsWriter::checksum(std::int64_t first_row, std::int64_t rows) const {
  const std::string where = name_ + "::checksum";
  if (finished_) throw_argument(where, "calls", "none after finish()", "one");
  check_rows_of_field(where, shape_, first_row, {rows, shape_[1]});
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    if (!file_.is_done(row)) throw_argument(where, "rows", "complete ones", fmt::format("row {} missing", row));
  }
  return file_.checksum(first_row, rows);
}

void RowsWriter::finish() {
  const std::string where = name_ + "::finish";
  if (finished_) throw_argument(where, "calls", "one", "two");
  const std::int64_t done = rows_done();
  if (!joined_ && done < shape_[0]) {
    throw_argument(where, "rows", fmt::format("all {} written", shape_[0]), fmt::format("row {} missing", done));
  }
  file_.finish();
  finished_ = true;
}

RowsLayout create_with_header(const FileHandle& file, std::string_view header, std::uint64_t bytes,
                              const std::string& path) {
  const int reason = write_at(file, header.data(), header.size(), 0);
  if (reason != 0 || ftruncate(file.get(), static_cast<off_t>(header.size() + bytes)) != 0) {
    throw_io(path, fmt::format("{} bytes to be written", header.size() + bytes),
             std::strerror(reason != 0 ? reason : errno));
  }
  return {header.size(), header.size() + bytes};
}

void check_rows_of_field(std::string_view where, Shape<2> field, std::int64_t first_row, Shape<2> rows) {
  if (rows[1] != field[1] || rows[0] < 0 || rows[0] > field[0]) {
    throw_argument(where, "values", fmt::format("shape {{n, {}}} of at most {} rows", field[1], field[0]),
                   to_string<2>(rows));
  }
  if (first_row < 0 || first_row > field[0] - rows[0]) {
    throw_argument(where, "first_row", fmt::format("{} rows from one of 0 to {}", rows[0], field[0] - rows[0]),
                   fmt::format("{}", first_row));
  }
}

}  // namespace holotone::io
