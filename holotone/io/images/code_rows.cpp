#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/code_rows.hpp>
#include <holotone/io/images/tiff/tiff_header_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>

namespace holotone {
namespace {

bool is_tiff(const std::string& path) { return io::has_format(path, io::FileFormat::tiff); }

io::RowsWriter::Content checked_content(const std::string& path, Shape<2> shape, int bits) {
  constexpr auto formats = io::formats::codes_by_rows;
  if (!io::has_format(path, formats)) io::throw_format(path, formats, "codes written by rows");
  if (bits != 8 && bits != 16) throw_argument("CodeRowsWriter", "bits", "8 or 16", std::to_string(bits));
  const auto value_bytes = static_cast<std::uint64_t>(bits) / 8;
  return {"CodeRowsWriter", fmt::format("codes{}{}", bits, is_tiff(path) ? ".tif" : ".npy"), shape, value_bytes};
}

std::string header_of(const std::string& path, Shape<2> shape, int bits, const Metadata& metadata) {
  if (is_tiff(path)) return io::tiff_header(shape, bits, metadata);
  return io::npy_header(bits == 8 ? "|u1" : "<u2", {shape[0], shape[1]});
}

}  // namespace

struct CodeRowsWriter::State {
  io::RowsWriter rows;
  int bits;

  template <class Code>
  void write(std::int64_t first_row, View<const Code, 2> codes) {
    if (bits != 8 * static_cast<int>(sizeof(Code))) {
      throw_argument("CodeRowsWriter::write", "codes", fmt::format("{} bits a code", bits),
                     std::to_string(8 * sizeof(Code)));
    }
    std::string swapped;
    rows.write(first_row, codes.shape(), io::file_bytes_of<Code>(codes.host(), swapped));
  }
};

CodeRowsWriter::CodeRowsWriter(const std::string& path, Shape<2> shape, int bits, const Metadata& metadata,
                               const RowsOptions& options, Progress& progress)
    : state_(new State{io::RowsWriter(
                           path, checked_content(path, shape, bits), metadata, options,
                           [&](const std::string&, const io::FileHandle& file, const Metadata& all) {
                             const auto bytes = static_cast<std::uint64_t>(element_count(shape) * (bits / 8));
                             return io::create_with_header(file, header_of(path, shape, bits, all), bytes, path);
                           },
                           progress),
                       bits}) {}

CodeRowsWriter::~CodeRowsWriter() = default;

Shape<2> CodeRowsWriter::shape() const { return state_->rows.shape(); }
std::int64_t CodeRowsWriter::rows_done() const { return state_->rows.rows_done(); }
bool CodeRowsWriter::is_done(std::int64_t row) const { return state_->rows.is_done(row); }
std::uint64_t CodeRowsWriter::token() { return state_->rows.token(); }
bool CodeRowsWriter::discarded() const { return state_->rows.discarded(); }
void CodeRowsWriter::write(std::int64_t first_row, View<const std::uint8_t, 2> codes) {
  state_->write(first_row, codes);
}
void CodeRowsWriter::write(std::int64_t first_row, View<const std::uint16_t, 2> codes) {
  state_->write(first_row, codes);
}
void CodeRowsWriter::set_done(std::int64_t first_row, std::int64_t rows) { state_->rows.set_done(first_row, rows); }
std::uint32_t CodeRowsWriter::checksum(std::int64_t first_row, std::int64_t rows) const {
  return state_->rows.checksum(first_row, rows);
}
void CodeRowsWriter::finish() { state_->rows.finish(); }

}  // namespace holotone
