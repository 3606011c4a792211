#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/image_rows.hpp>
#include <holotone/io/images/png_bands_detail.hpp>
#include <holotone/io/images/png_reader_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <optional>
#include <vector>

namespace holotone {
namespace {

/// A file read through a buffer.
class FileInput final : public io::PngInput {
 public:
  explicit FileInput(const std::string& path) : file_(io::open_file(path, size_)), buffer_(buffer_bytes) {}
  bool take(char* target, std::size_t count) noexcept override {
    while (count > 0) {
      if (position_ < begin_ || position_ >= end_) {
        begin_ = position_;
        end_ = std::min<std::uint64_t>(begin_ + fill_bytes_, size_);
        if (begin_ >= end_ || io::read_at(file_, buffer_.data(), end_ - begin_, begin_) != 0) return false;
        fill_bytes_ = buffer_bytes;
      }
      const auto part = std::min<std::size_t>(count, static_cast<std::size_t>(end_ - position_));
      std::memcpy(target, buffer_.data() + (position_ - begin_), part);
      position_ += part;
      target += part;
      count -= part;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  void go_to(std::uint64_t position) noexcept override {
    position_ = position;
    fill_bytes_ = min_bytes;  // another jump may follow
  }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 20;
  static constexpr std::size_t min_bytes = 64;
  std::uint64_t size_ = 0;
  io::FileHandle file_;
  std::vector<char> buffer_;
  std::size_t fill_bytes_ = min_bytes;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t position_ = 0;
};

void check_shape(const std::string& path, Shape<3> shape, int bits, const ImageWriteOptions& options) {
  constexpr std::string_view where = "ImageRowsWriter";
  constexpr auto png = io::FileFormat::png;
  if (!io::has_format(path, png)) io::throw_format(path, png, "a picture written by rows");
  if (std::min(shape[0], shape[1]) < 1 || std::max(shape[0], shape[1]) > INT32_MAX || shape[2] < 1 || shape[2] > 4) {
    throw_argument(where, "shape", "{ny, nx, 1 to 4} of 1 to 2^31 - 1 rows and columns", to_string<3>(shape));
  }
  if (bits != 8 && bits != 16) throw_argument(where, "bits", "8 or 16", fmt::format("{}", bits));
  if (options.compression) require_range(where, "compression", *options.compression, 0, 9);
  require_range(where, "scaled_bits", options.scaled_bits, 0, bits == 8 ? 7 : 0);
}

void check_bits(std::string_view where, int bits, int given) {
  if (bits != given) throw_argument(where, "rows", fmt::format("{}-bit codes", bits), fmt::format("{}-bit", given));
}

/// Throws invalid_argument unless `rows` from first_row are inside the picture.
void check_rows(std::string_view where, Shape<3> picture, std::int64_t first_row, Shape<3> rows) {
  const std::int64_t left = picture[0] - first_row;
  if (first_row < 0 || left < 0) {
    throw_argument(where, "first_row", fmt::format("0 to {}", picture[0]), fmt::format("{}", first_row));
  }
  if (rows[0] < 0 || rows[0] > left || rows[1] != picture[1] || rows[2] != picture[2]) {
    throw_argument(where, "rows", fmt::format("shape {{0 to {}, {}, {}}}", left, picture[1], picture[2]),
                   to_string<3>(rows));
  }
}

template <class T>
constexpr int bits_of = 8 * static_cast<int>(sizeof(T));

}  // namespace

struct ImageRowsWriter::State {
  Shape<3> shape;
  int bits;
  int scaled_bits;
  io::AppendedFile file;
  io::PngBands bands;
  std::int64_t rows = 0;
  bool finished = false;

  State(const std::string& path, Shape<3> extents, int element_bits, const Metadata& metadata,
        const ImageWriteOptions& options)
      : shape(extents),
        bits(element_bits),
        scaled_bits(options.scaled_bits),
        file(path),
        bands("ImageRowsWriter", path, {extents, element_bits, options.compression}, metadata,
              [this](std::string_view bytes) { file.append(bytes); }) {}

  template <class T>
  void write(View<const T, 3> values) {
    constexpr std::string_view where = "ImageRowsWriter::write";
    if (finished) throw_argument(where, "calls", "none after finish()", "one");
    check_bits(where, bits, bits_of<T>);
    check_rows(where, shape, rows, values.shape());
    io::require_not_ending("ImageRowsWriter");
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      if (scaled_bits != 0) {
        Array<std::uint8_t, 3> scaled(values.shape());
        io::scale_codes(where, values.data(), scaled.data(), scaled.size(), scaled_bits);
        bands.write(scaled.data(), values.shape()[0]);
        rows += values.shape()[0];
        return;
      }
    }
    bands.write(values.host().data(), values.shape()[0]);
    rows += values.shape()[0];
  }
};

ImageRowsWriter::ImageRowsWriter(const std::string& path, Shape<3> shape, int bits, const Metadata& metadata,
                                 const ImageWriteOptions& options) {
  check_shape(path, shape, bits, options);
  io::require_metadata("ImageRowsWriter", metadata);
  Metadata stated = metadata;
  if (options.scaled_bits != 0) io::state_scaled_codes(stated);
  state_ = std::make_unique<State>(path, shape, bits, stated, options);
}

ImageRowsWriter::~ImageRowsWriter() = default;

Shape<3> ImageRowsWriter::shape() const { return state_->shape; }

std::int64_t ImageRowsWriter::rows_done() const { return state_->rows; }

void ImageRowsWriter::write(View<const std::uint8_t, 3> rows) { state_->write(rows); }

void ImageRowsWriter::write(View<const std::uint16_t, 3> rows) { state_->write(rows); }

void ImageRowsWriter::finish() {
  State& state = *state_;
  if (state.finished) throw_argument("ImageRowsWriter::finish", "calls", "one", "two");
  if (state.rows < state.shape[0]) {
    throw_argument("ImageRowsWriter::finish", "rows", fmt::format("{} written", state.shape[0]),
                   fmt::format("{}", state.rows));
  }
  state.bands.finish();
  state.file.flush();
  state.file.commit();
  state.finished = true;
}

struct ImageRowsReader::State {
  std::string path;
  std::unique_ptr<FileInput> input;
  std::unique_ptr<io::PngReader> png;  // for files that can be read by rows
  std::optional<Image> whole;          // for all other files
  Shape<3> shape{};
  int bits = 8;  ///< of a code
  int element_bits = 8;
  Metadata metadata;
  std::int64_t next = 0;

  void open_png() {
    png.reset();
    input = std::make_unique<FileInput>(path);
    png = std::make_unique<io::PngReader>(*input, path);
    next = 0;
  }

  void open() {
    if (io::split_part(path).part.empty() && io::is_png(io::read_first_bytes(path, 8))) {
      open_png();
      const bool upright = png->orientation() == io::Orientation::top_left;
      if (upright && !png->is_indexed() && !png->is_interlaced()) {
        shape = png->shape();
        element_bits = png->bits();
        bits = png->code_bits() != 0 ? png->code_bits() : element_bits;
        metadata = png->metadata();
        return;
      }
      png.reset();
    }
    whole = read_image(path);
    if (std::holds_alternative<Array<float, 3>>(whole->pixels)) {
      throw Error(ErrorCode::unsupported, path + ": expected 8-bit or 16-bit codes, got float32");
    }
    shape = shape_of(*whole);
    bits = code_bits(*whole);
    element_bits = std::holds_alternative<Array<std::uint8_t, 3>>(whole->pixels) ? 8 : 16;
    metadata = whole->metadata;
  }

  template <class T>
  void read(std::int64_t first_row, View<T, 3> rows) {
    constexpr std::string_view where = "ImageRowsReader::read";
    check_bits(where, element_bits, bits_of<T>);
    check_rows(where, shape, first_row, rows.shape());
    const auto target = rows.host();
    if (target.empty()) return;
    const std::int64_t row_codes = shape[1] * shape[2];
    if (whole) {
      const T* const source = std::get<Array<T, 3>>(whole->pixels).data() + first_row * row_codes;
      std::copy(source, source + target.size(), target.begin());
      return;
    }
    if (first_row < next || !png) open_png();
    if (next < first_row) {
      std::vector<T> passed(static_cast<std::size_t>(row_codes));
      for (; next < first_row; ++next) read_next(reinterpret_cast<std::uint8_t*>(passed.data()), 1);
    }
    read_next(reinterpret_cast<std::uint8_t*>(target.data()), rows.shape()[0]);
    next += rows.shape()[0];
  }

  // libpng is unusable after an error.
  void read_next(std::uint8_t* rows, std::int64_t count) {
    try {
      png->read_rows(rows, count);
    } catch (...) {
      png.reset();
      throw;
    }
  }
};

ImageRowsReader::ImageRowsReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->open();
}

ImageRowsReader::~ImageRowsReader() = default;

Shape<3> ImageRowsReader::shape() const { return state_->shape; }

int ImageRowsReader::bits() const { return state_->bits; }

const Metadata& ImageRowsReader::metadata() const { return state_->metadata; }

void ImageRowsReader::read(std::int64_t first_row, View<std::uint8_t, 3> rows) { state_->read(first_row, rows); }

void ImageRowsReader::read(std::int64_t first_row, View<std::uint16_t, 3> rows) { state_->read(first_row, rows); }

}  // namespace holotone
