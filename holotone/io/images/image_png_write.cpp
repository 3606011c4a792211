#include <algorithm>
#include <bit>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/atomic_file_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/images/png_bands_detail.hpp>
#include <holotone/io/images/png_step_detail.hpp>
#include <holotone/io/images/png_text_detail.hpp>
#include <png.h>
#include <vector>
#include <zlib.h>

namespace holotone::io {
namespace {

constexpr std::int64_t longest_row = 1 << 30;

struct Sink {
  std::string* bytes;
  char message[128];
};

extern "C" {
static void append_to_sink(png_structp png, png_bytep data, std::size_t count) {
  auto* sink = static_cast<Sink*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    sink->bytes->append(reinterpret_cast<const char*>(data), count);
  } catch (...) {
    stored = false;
  }
  if (!stored) png_error(png, "out of memory");
}
static void keep_sink(png_structp) {}
static void keep_sink_error(png_structp png, png_const_charp message) {
  auto* sink = static_cast<Sink*>(png_get_error_ptr(png));
  std::strncpy(sink->message, message, sizeof sink->message - 1);
  png_longjmp(png, 1);
}
static void ignore_sink_warning(png_structp, png_const_charp) {}
}

/// Writes everything before the pixels with libpng: signature, header and text.
class PngHead {
 public:
  explicit PngHead(std::string_view path) : path_(path), sink_{&bytes_, {}} {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink_, keep_sink_error, ignore_sink_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw Error(ErrorCode::out_of_memory, std::string(path) + ": no memory for libpng");
    }
  }
  ~PngHead() { png_destroy_write_struct(&png_, &info_); }
  PngHead(const PngHead&) = delete;
  PngHead& operator=(const PngHead&) = delete;

  std::string write(const PngBandsHeader& header, PngText& text) {
    constexpr int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
    struct Plain {  // objects with a destructor must not be in the step
      png_uint_32 width, height;
      int bits, type, texts;
      png_textp text;
    };
    const auto [ny, nx, channels] = header.shape;
    const Plain plain{static_cast<png_uint_32>(nx),
                      static_cast<png_uint_32>(ny),
                      header.bits,
                      colour_types[channels - 1],
                      text.count(),
                      text.chunks()};
    const bool written = survives(png_, [this, &plain] {
      png_set_write_fn(png_, &sink_, append_to_sink, keep_sink);
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_IHDR(png_, info_, plain.width, plain.height, plain.bits, plain.type, PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      if (plain.texts > 0) png_set_text(png_, info_, plain.text, plain.texts);
      png_write_info(png_, info_);
    });
    if (!written) throw_io(path_, "the PNG file to be made", sink_.message);
    return std::move(bytes_);
  }

 private:
  std::string_view path_;
  std::string bytes_;
  Sink sink_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void store_big(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

std::string chunk_of(std::string_view type, std::string_view data) {
  std::string chunk;
  chunk.reserve(data.size() + 12);
  store_big(chunk, static_cast<std::uint32_t>(data.size()));
  chunk += type;
  chunk += data;
  store_big(chunk,
            static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(chunk.data() + 4), chunk.size() - 4)));
  return chunk;
}

/// Exchanges the bytes of 16-bit codes from `begin` on.
void swap_pairs(std::string& bytes, std::size_t begin, std::size_t count) {
  const std::size_t end = begin + std::min(count, bytes.size() - begin);
  for (std::size_t i = begin; i < end; i += 2) std::swap(bytes[i], bytes[i + 1]);
}

}  // namespace

PngBands::PngBands(std::string_view where, std::string_view path, const PngBandsHeader& header,
                   const Metadata& metadata, Sink sink)
    : path_(path), header_(header), sink_(std::move(sink)) {
  const auto [ny, nx, channels] = header_.shape;
  if (nx >= 8 * longest_row / (channels * header_.bits)) {
    throw_argument(where, "image", "rows of less than 1 GiB", to_string<3>(header_.shape));
  }
  row_bytes_ = static_cast<std::size_t>((nx * channels * header_.bits + 7) / 8);
  band_bytes_ = (png_band_bytes / row_bytes_ + 1) * row_bytes_;
  max_pending_ = band_bytes_ * static_cast<std::size_t>(std::max(16, 2 * thread_count()));
  pending_.reserve(std::min(max_pending_, static_cast<std::size_t>(ny) * row_bytes_));
  PngText text(where, metadata);
  std::string head = PngHead(path).write(header_, text);
  head += chunk_of("IDAT", std::string_view("\x78\x5e", 2));  // zlib: deflate, a window of 32 KiB
  sink_(head);
}

void PngBands::write(const void* rows, std::int64_t count) {
  const auto* codes = static_cast<const char*>(rows);
  for (std::int64_t row = 0; row < count; ++row, codes += row_bytes_) {
    if (pending_.size() >= max_pending_) flush(false);
    pending_.append(codes, row_bytes_);
  }
}

PngBand PngBands::band(std::size_t index) const {
  const auto* const rows = reinterpret_cast<const unsigned char*>(pending_.data());
  const std::size_t first = index * band_bytes_;
  const std::size_t bytes = std::min(band_bytes_, pending_.size() - first);
  const unsigned char* const earlier = above_.empty() ? nullptr : reinterpret_cast<const unsigned char*>(above_.data());
  return {rows + first, first > 0 ? rows + first - row_bytes_ : earlier, bytes / row_bytes_, row_bytes_,
          static_cast<std::size_t>(std::max<std::int64_t>(1, header_.shape[2] * header_.bits / 8))};
}

void PngBands::flush(bool last) {
  const std::size_t bands = (pending_.size() + band_bytes_ - 1) / band_bytes_;
  const bool swaps = header_.bits == 16 && std::endian::native == std::endian::little;
  const auto swap_band = [&](std::int64_t i) {
    swap_pairs(pending_, static_cast<std::size_t>(i) * band_bytes_, band_bytes_);
  };
  if (swaps) parallel_for(0, static_cast<std::int64_t>(bands), swap_band);
  std::vector<std::string> rows(bands);
  std::vector<std::string> chunks(bands);
  std::vector<std::uint32_t> sums(bands);
  parallel_for(0, static_cast<std::int64_t>(bands), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    rows[i] = filtered(band(i), header_.compression);
  });
  parallel_for(0, static_cast<std::int64_t>(bands), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    // Without a level, bands do not refer to each other, so that unpack_png reads them by all threads.
    const std::string_view before = !header_.compression ? std::string_view{} : i > 0 ? rows[i - 1] : before_;
    chunks[i] = chunk_of("IDAT", deflated(rows[i], before, header_.compression, last && i + 1 == bands, path_));
    sums[i] = static_cast<std::uint32_t>(adler32_z(1, reinterpret_cast<const Bytef*>(rows[i].data()), rows[i].size()));
  });
  for (std::size_t i = 0; i < bands; ++i) {
    sum_ = static_cast<std::uint32_t>(adler32_combine(sum_, sums[i], static_cast<z_off_t>(rows[i].size())));
    sink_(chunks[i]);
  }
  before_ = std::move(rows.back());
  above_ = pending_.substr(pending_.size() - row_bytes_);
  pending_.clear();
}

void PngBands::finish() {
  flush(true);
  std::string sum;
  store_big(sum, sum_);
  sink_(chunk_of("IDAT", sum) + chunk_of("IEND", {}));
}

void put_png(std::string_view where, const std::string& path, const Image& image, std::optional<int> compression,
             const std::function<void(std::string_view)>& sink) {
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) {
    throw Error(ErrorCode::unsupported,
                path + ": expected 8-bit or 16-bit pixels for PNG, got float32 (TIFF holds it)");
  }
  const int bits = code_bits(image);
  PngBands bands(where, path, {shape_of(image), bits, compression}, image.metadata, sink);
  const auto [ny, nx, channels] = shape_of(image);
  if (bits < 8) {
    const std::uint8_t* row = std::get<Array<std::uint8_t, 3>>(image.pixels).data();
    for (std::int64_t y = 0; y < ny; ++y, row += nx) bands.write(packed_row(row, nx, bits).data(), 1);
  } else {
    std::visit([&](const auto& pixels) { bands.write(pixels.host().data(), pixels.shape()[0]); }, image.pixels);
  }
  bands.finish();
}

void write_png(const std::string& path, const Image& image, std::optional<int> compression) {
  AppendedFile file(path);
  put_png("write_image", path, image, compression, [&](std::string_view bytes) { file.append(bytes); });
  file.commit();
}

}  // namespace holotone::io
