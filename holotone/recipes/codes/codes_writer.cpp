#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/io/npy_image_detail.hpp>
#include <holotone/recipes/codes/codes_writer_detail.hpp>
#include <utility>

namespace holotone {

bool CodesWriter::takes_rows(const std::string& path) { return io::has_format(path, io::FileFormat::png); }

bool CodesWriter::takes_any_order(const std::string& path, const ImageWriteOptions& writing) {
  return io::has_format(path, io::formats::codes_by_rows) && writing.compression.value_or(0) == 0 &&
         writing.scaled_bits == 0;
}

CodesWriter::CodesWriter(std::string path, Shape<2> shape, Metadata metadata, bool by_rows,
                         const ImageWriteOptions& writing)
    : path_(std::move(path)), shape_(shape), metadata_(std::move(metadata)), writing_(writing) {
  if (by_rows && takes_rows(path_)) {
    rows_ = std::make_unique<ImageRowsWriter>(path_, Shape<3>{shape[0], shape[1], 1}, 8, metadata_, writing_);
  } else {
    pixels_ = Array<std::uint8_t, 3>({shape[0], shape[1], 1});
  }
}

CodesWriter::~CodesWriter() = default;

View<std::uint8_t, 2> CodesWriter::next(std::int64_t rows) {
  next_rows_ = rows;
  if (!rows_) return {pixels_.data() + first_row_ * shape_[1], {rows, shape_[1]}};
  std::swap(pixels_, written_);
  if (pixels_.empty() || pixels_.shape()[0] != rows) pixels_ = Array<std::uint8_t, 3>({rows, shape_[1], 1});
  return {pixels_.data(), {rows, shape_[1]}};
}

void CodesWriter::write() {
  first_row_ += next_rows_;
  if (!rows_) return;
  if (writing_rows_.valid()) writing_rows_.get();
  writing_rows_ = std::async(std::launch::async, [this, rows = std::as_const(pixels_).view()] { rows_->write(rows); });
}

void CodesWriter::finish() {
  if (writing_rows_.valid()) writing_rows_.get();
  if (rows_) return rows_->finish();
  if (io::has_format(path_, io::FileFormat::npy)) return io::write_npy(path_, pixels_);
  write_image(path_, {std::move(pixels_), std::move(metadata_)}, writing_);
}

}  // namespace holotone
