#include <bit>
#include <csetjmp>
#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/image_formats_detail.hpp>
#include <holotone/io/png_text_detail.hpp>
#include <png.h>
#include <vector>

namespace holotone::io {
namespace {

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

class PngWriter {
 public:
  explicit PngWriter(std::string_view path) : path_(path), sink_{&bytes_, {}} {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink_, keep_sink_error, ignore_sink_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw Error(ErrorCode::out_of_memory, std::string(path) + ": no memory for libpng");
    }
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  template <class T>
  std::string write(const Array<T, 3>& pixels, const Metadata& metadata, int compression) {
    const auto [ny, nx, channels] = pixels.shape();
    constexpr int colour_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                    PNG_COLOR_TYPE_RGB_ALPHA};
    PngText text("write_image", metadata);
    std::vector<png_bytep> rows;
    for (std::int64_t row = 0; row < ny; ++row) {
      rows.push_back(reinterpret_cast<png_bytep>(const_cast<T*>(pixels.data() + row * nx * channels)));
    }
    struct Plain {  // nothing with a destructor goes into the step
      png_uint_32 width, height;
      int bits, type, level, texts;
      png_textp text;
      png_bytepp rows;
    };
    const Plain plain{static_cast<png_uint_32>(nx),
                      static_cast<png_uint_32>(ny),
                      static_cast<int>(8 * sizeof(T)),
                      colour_types[channels - 1],
                      compression,
                      text.count(),
                      text.chunks(),
                      rows.data()};
    const bool written = survives(png_, [this, &plain] {
      png_set_write_fn(png_, &sink_, append_to_sink, keep_sink);
      png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_IHDR(png_, info_, plain.width, plain.height, plain.bits, plain.type, PNG_INTERLACE_NONE,
                   PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_set_compression_level(png_, plain.level);
      // Trying all five filters on every row costs more time than it saves bytes on fringes.
      png_set_filter(png_, PNG_FILTER_TYPE_BASE, plain.level == 0 ? PNG_FILTER_NONE : PNG_FILTER_SUB);
      if (plain.texts > 0) png_set_text(png_, info_, plain.text, plain.texts);
      png_write_info(png_, info_);
      if (plain.bits == 16 && std::endian::native == std::endian::little) png_set_swap(png_);
      png_write_image(png_, plain.rows);
      png_write_end(png_, info_);
    });
    if (!written) throw_io(path_, "the PNG file to be made", sink_.message);
    return std::move(bytes_);
  }

 private:
  template <class Step>
  static bool survives(png_structp png, Step step) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    step();
    return true;
  }
  std::string_view path_;
  std::string bytes_;
  Sink sink_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

void write_png(const std::string& path, const Image& image, int compression) {
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) {
    throw Error(ErrorCode::unsupported,
                path + ": expected 8-bit or 16-bit pixels for PNG, got float32 (TIFF holds it)");
  }
  const std::string bytes = std::visit(
      [&](const auto& pixels) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(pixels)>, Array<float, 3>>) {
          return {};
        } else {
          return PngWriter(path).write(pixels, image.metadata, compression);
        }
      },
      image.pixels);
  write_file(path, bytes);
}

}  // namespace holotone::io
