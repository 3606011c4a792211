#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/image_formats_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <png.h>
#include <vector>

namespace holotone::io {
namespace {

constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
constexpr std::uint64_t deflate_ratio = 1032;  // no deflate stream grows more
constexpr std::size_t longest_text = 1 << 16;

// What libpng's callbacks see: plain data, since an error leaves them by longjmp.
struct Source {
  const char* data;
  std::size_t remaining;
  char message[128];
};

extern "C" {
static void take_from_source(png_structp png, png_bytep target, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->remaining) png_error(png, "the end of the file");
  std::memcpy(target, source->data, count);
  source->data += count;
  source->remaining -= count;
}
static void keep_error(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->message, message, sizeof source->message - 1);
  png_longjmp(png, 1);
}
static void ignore_warning(png_structp, png_const_charp) {}
}

// libpng takes memory for a chunk before it knows that the file holds it, so lengths are checked here first.
struct ChunkSizes {
  std::uint64_t image = 0;  // sum of IDAT
  std::size_t largest = 0;
};

ChunkSizes check_chunks(std::string_view bytes, std::string_view path) {
  ByteReader reader(bytes, path, std::endian::big);
  reader.take_bytes(signature.size(), "PNG signature");
  ChunkSizes sizes;
  for (;;) {
    const auto length = reader.take<std::uint32_t>("PNG chunk");
    const auto type = reader.take_bytes(4, "PNG chunk");
    reader.take_bytes(std::size_t{length} + 4, "PNG chunk " + quoted(type));
    sizes.largest = std::max<std::size_t>(sizes.largest, length);
    if (type == "IDAT") sizes.image += length;
    if (type == "IEND") return sizes;
  }
}

class PngReader {
 public:
  PngReader(std::string_view bytes, std::string_view path)
      : path_(path), source_{bytes.data(), bytes.size(), {}}, sizes_(check_chunks(bytes, path)) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, keep_error, ignore_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error(ErrorCode::out_of_memory, std::string(path) + ": no memory for libpng");
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Image read() {
    attempt([this] { read_header(); });
    // Before libpng takes memory for a row; then again for the pixels, which expansion makes larger.
    const std::uint64_t ny = png_get_image_height(png_, info_);
    const std::uint64_t nx = png_get_image_width(png_, info_);
    stored_bits_ = std::uint64_t{png_get_bit_depth(png_, info_)} * png_get_channels(png_, info_);
    check_pixels(ny, nx, 1, (stored_bits_ + 7) / 8);
    attempt([this] { set_expansion(); });
    const std::uint64_t channels = png_get_channels(png_, info_);
    const bool wide = png_get_bit_depth(png_, info_) == 16;
    check_pixels(ny, nx, channels, wide ? 2 : 1);
    Image image;
    if (wide) {
      image.pixels = read_rows<std::uint16_t>(ny, nx, channels);
    } else if (is_indexed_) {
      const Palette palette = read_palette();
      image.pixels = expand_palette(read_rows<std::uint8_t>(ny, nx, 1), palette, path_);
    } else {
      image.pixels = read_rows<std::uint8_t>(ny, nx, channels);
    }
    read_text(image.metadata);
    return image;
  }

 private:
  // Runs libpng calls whose errors longjmp back here. Neither they nor the step may own anything with a
  // destructor.
  template <class Step>
  void attempt(Step step) {
    if (!survives(png_, step)) throw_io(path_, "a readable PNG file", source_.message);
  }
  template <class Step>
  static bool survives(png_structp png, Step& step) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    step();
    return true;
  }

  void read_header() {
    png_set_read_fn(png_, &source_, take_from_source);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // Of text, unpacked: what is longer is left out.
    png_set_chunk_malloc_max(png_, std::max(longest_text, sizes_.largest + 1));
    png_set_chunk_cache_max(png_, 256);
    png_read_info(png_, info_);
  }
  void set_expansion() {
    is_indexed_ =
        png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE && png_get_valid(png_, info_, PNG_INFO_tRNS) == 0;
    if (is_indexed_) {
      png_set_packing(png_);  // one index a byte
    } else {
      png_set_expand(png_);  // palette to RGB, 1 to 4 bits to 8, transparency to alpha
    }
    if (png_get_bit_depth(png_, info_) == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }
  void check_pixels(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels, std::uint64_t bytes) const {
    const std::uint64_t growth = std::max<std::uint64_t>(8 * channels * bytes / stored_bits_, 1);
    check_extents(ny, nx, channels, bytes, sizes_.image, deflate_ratio * growth, path_);
  }
  [[nodiscard]] Palette read_palette() const {
    png_colorp entries = nullptr;
    int count = 0;
    png_get_PLTE(png_, info_, &entries, &count);
    Palette palette;
    for (int i = 0; i < count; ++i) palette.push_back({entries[i].red, entries[i].green, entries[i].blue});
    return palette;
  }

  template <class T>
  Array<T, 3> read_rows(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels) {
    auto pixels = make_pixels<T>(ny, nx, channels);
    std::vector<png_bytep> rows(ny);
    for (std::uint64_t row = 0; row < ny; ++row) {
      rows[row] = reinterpret_cast<png_bytep>(pixels.data() + row * nx * channels);
    }
    auto** first = rows.data();
    attempt([this, first] {
      png_read_image(png_, first);
      png_read_end(png_, info_);
    });
    return pixels;
  }

  void read_text(Metadata& metadata) const {
    png_textp text = nullptr;
    const int count = png_get_text(png_, info_, &text, nullptr);
    for (int i = 0; i < count; ++i) {
      if (text[i].key == nullptr || text[i].text == nullptr) continue;
      const std::string_view key = text[i].key;
      if (key.size() > own_prefix.size() && key.starts_with(own_prefix)) {
        metadata[std::string(key.substr(own_prefix.size()))] = text[i].text;
      } else {
        metadata[std::string(foreign_prefix) + std::string(key)] = text[i].text;
      }
    }
  }

  std::string_view path_;
  Source source_;
  ChunkSizes sizes_;
  std::uint64_t stored_bits_ = 8;  // of a pixel in the file
  bool is_indexed_ = false;        // palette without transparency
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with(signature); }

Image read_png(std::string_view bytes, std::string_view path) { return PngReader(bytes, path).read(); }

}  // namespace holotone::io
