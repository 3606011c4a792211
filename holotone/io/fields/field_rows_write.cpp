#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_rows.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>

namespace holotone {
namespace {

constexpr std::uint64_t value_bytes = sizeof(std::complex<float>);

io::RowsLayout create_file(const std::string& temporary, const io::FileHandle& file, Shape<2> shape,
                           const Metadata& metadata, const std::string& path) {
  if (io::has_format(path, io::FileFormat::npy)) {
    return io::create_with_header(file, io::npy_header("<c8", {shape[0], shape[1]}),
                                  value_bytes * static_cast<std::uint64_t>(element_count(shape)), path);
  }
  const std::string name = io::name_of_opened(file.get(), temporary);
  const std::uint64_t begin = io::create_hdf5(name, shape, metadata, path);
  return {begin, std::filesystem::file_size(name)};
}

io::RowsWriter::Content checked_content(const std::string& path, Shape<2> shape) {
  constexpr auto formats = io::formats::fields_by_rows;
  if (!io::has_format(path, formats)) io::throw_format(path, formats, "a field written by rows");
  const std::string_view format = io::has_format(path, io::FileFormat::npy) ? ".npy" : ".h5";
  return {"FieldRowsWriter", fmt::format("field{}", format), shape, value_bytes};
}

}  // namespace

struct FieldRowsWriter::State {
  io::RowsWriter rows;
};

FieldRowsWriter::FieldRowsWriter(const std::string& path, Shape<2> shape, const Metadata& metadata,
                                 const RowsOptions& options, Progress& progress)
    : state_(new State{io::RowsWriter(
          path, checked_content(path, shape), metadata, options,
          [&](const std::string& temporary, const io::FileHandle& file, const Metadata& all) {
            return create_file(temporary, file, shape, all, path);
          },
          progress)}) {}

FieldRowsWriter::~FieldRowsWriter() = default;

Shape<2> FieldRowsWriter::shape() const { return state_->rows.shape(); }
std::int64_t FieldRowsWriter::rows_done() const { return state_->rows.rows_done(); }
bool FieldRowsWriter::is_done(std::int64_t row) const { return state_->rows.is_done(row); }

std::uint64_t FieldRowsWriter::token() { return state_->rows.token(); }
bool FieldRowsWriter::discarded() const { return state_->rows.discarded(); }

void FieldRowsWriter::write(std::int64_t first_row, View<const std::complex<float>, 2> values) {
  const auto host = values.host();
  const std::span<const float> parts(reinterpret_cast<const float*>(host.data()), 2 * host.size());
  std::string swapped;
  state_->rows.write(first_row, values.shape(), io::file_bytes_of(parts, swapped));
}

void FieldRowsWriter::set_done(std::int64_t first_row, std::int64_t rows) { state_->rows.set_done(first_row, rows); }
std::uint32_t FieldRowsWriter::checksum(std::int64_t first_row, std::int64_t rows) const {
  return state_->rows.checksum(first_row, rows);
}
void FieldRowsWriter::finish() { state_->rows.finish(); }

}  // namespace holotone
