#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/field_formats_detail.hpp>
#include <holotone/io/field_rows.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <unistd.h>

namespace holotone {
namespace {

constexpr std::uint64_t value_bytes = sizeof(std::complex<float>);

// Bounds the shape, so that no sum of bytes and positions overflows and the list of rows stays small.
void check_shape(Shape<2> shape) {
  constexpr std::int64_t most = std::int64_t{1} << 26;
  if (std::min(shape[0], shape[1]) < 1 || std::max(shape[0], shape[1]) > most) {
    throw_argument("FieldRowsWriter", "shape", "1 to 2^26 rows and columns", to_string<2>(shape));
  }
}

// Metadata and key as lines, each preceded by its length: different contents give different texts.
std::string identity_of(std::string_view extension, Shape<2> shape, const Metadata& metadata, std::string_view key) {
  const auto part = [](std::string_view text) { return fmt::format("{}:{}\n", text.size(), text); };
  std::string text = fmt::format("field{} {}\n", extension == ".npy" ? ".npy" : ".h5", to_string<2>(shape)) + part(key);
  for (const auto& [name, value] : metadata) text += part(name) + part(value);
  return text;
}

io::RowsLayout create_npy(const io::FileHandle& file, Shape<2> shape, const std::string& path) {
  const std::string header = io::npy_header("<c8", {shape[0], shape[1]});
  const std::uint64_t bytes = header.size() + static_cast<std::uint64_t>(element_count(shape)) * value_bytes;
  const int reason = io::write_at(file, header.data(), header.size(), 0);
  if (reason != 0 || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    throw_io(path, fmt::format("{} bytes to be written", bytes), std::strerror(reason != 0 ? reason : errno));
  }
  return {header.size(), bytes};
}

io::RowsLayout create_file(const std::string& temporary, const io::FileHandle& file, Shape<2> shape,
                           const Metadata& metadata, const std::string& path) {
  if (io::extension_of(path) == ".npy") return create_npy(file, shape, path);
  const std::uint64_t begin = io::create_hdf5(temporary, shape, metadata, path);
  return {begin, std::filesystem::file_size(temporary)};
}

void check_extension(const std::string& path) {
  const std::string extension = io::extension_of(path);
  if (extension == ".h5" || extension == ".hdf5" || extension == ".npy") return;
  throw Error(ErrorCode::unsupported, path + ": expected .h5, .hdf5 or .npy for a field written by rows, got " +
                                          (extension.empty() ? "no extension" : extension));
}

io::RowsContent checked_content(const std::string& path, Shape<2> shape, const Metadata& metadata,
                                std::string_view key) {
  check_extension(path);
  check_shape(shape);
  io::require_metadata("FieldRowsWriter", metadata);
  return {identity_of(io::extension_of(path), shape, metadata, key), shape[0],
          static_cast<std::uint64_t>(shape[1]) * value_bytes};
}

}  // namespace

struct FieldRowsWriter::State {
  Shape<2> shape;
  io::RowsFile file;
  bool finished = false;

  State(const std::string& path, Shape<2> extents, const Metadata& metadata, const FieldRowsOptions& options,
        Progress& progress)
      : shape(extents),
        file(
            path, checked_content(path, extents, metadata, options.key), options.resume,
            [&](const std::string& temporary, const io::FileHandle& opened) {
              return create_file(temporary, opened, extents, metadata, path);
            },
            progress) {}
};

FieldRowsWriter::FieldRowsWriter(const std::string& path, Shape<2> shape, const Metadata& metadata,
                                 const FieldRowsOptions& options, Progress& progress)
    : state_(std::make_unique<State>(path, shape, metadata, options, progress)) {}

FieldRowsWriter::~FieldRowsWriter() = default;

Shape<2> FieldRowsWriter::shape() const { return state_->shape; }

std::int64_t FieldRowsWriter::rows_done() const { return state_->file.rows_done(); }

bool FieldRowsWriter::is_done(std::int64_t row) const {
  return row >= 0 && row < state_->shape[0] && state_->file.is_done(row);
}

void FieldRowsWriter::write(std::int64_t first_row, View<const std::complex<float>, 2> values) {
  if (state_->finished) throw_argument("FieldRowsWriter::write", "calls", "none after finish()", "one");
  io::check_rows_of_field("FieldRowsWriter::write", state_->shape, first_row, values.shape());
  const auto host = values.host();
  if constexpr (std::endian::native == std::endian::little) {
    state_->file.write(first_row, {reinterpret_cast<const char*>(host.data()), host.size_bytes()});
  } else {
    std::string bytes;
    for (const auto& value : host) {
      io::store(bytes, value.real());
      io::store(bytes, value.imag());
    }
    state_->file.write(first_row, bytes);
  }
}

void FieldRowsWriter::finish() {
  if (state_->finished) throw_argument("FieldRowsWriter::finish", "calls", "one", "two");
  const std::int64_t done = rows_done();
  if (done < state_->shape[0]) {
    throw_argument("FieldRowsWriter::finish", "rows", fmt::format("all {} written", state_->shape[0]),
                   fmt::format("row {} missing", done));
  }
  state_->file.finish();
  state_->finished = true;
}

namespace io {

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

}  // namespace io
}  // namespace holotone
