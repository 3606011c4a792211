#include <cstring>
#include <holotone/core/error.hpp>
#include <holotone/io/images/png_rows_detail.hpp>
#include <holotone/io/images/png_step_detail.hpp>
#include <holotone/io/images/png_text_detail.hpp>
#include <png.h>

namespace holotone::io {

// Each step below contains only plain data (png_step_detail.hpp).
struct PngRows::State {
  std::string name;
  std::string bytes;
  PngText text;
  char message[128] = {};
  png_structp png = nullptr;
  png_infop info = nullptr;

  template <class Step>
  void attempt(const Step& step) {
    if (!survives(png, step)) throw_io(name, "the PNG file to be made", message);
  }
  void begin(const PngRowsHeader& header);
  explicit State(const Metadata& metadata) : text("write_dots", metadata) {}
  ~State() { png_destroy_write_struct(&png, &info); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

namespace {

extern "C" {
static void append_row_bytes(png_structp png, png_bytep data, std::size_t count) {
  auto* bytes = static_cast<std::string*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    bytes->append(reinterpret_cast<const char*>(data), count);
  } catch (...) {
    stored = false;
  }
  if (!stored) png_error(png, "out of memory");
}
static void keep_row_bytes(png_structp) {}
static void keep_row_error(png_structp png, png_const_charp message) {
  std::strncpy(static_cast<char*>(png_get_error_ptr(png)), message, 127);
  png_longjmp(png, 1);
}
static void ignore_row_warning(png_structp, png_const_charp) {}
}

}  // namespace

void PngRows::State::begin(const PngRowsHeader& header) {
  png_set_write_fn(png, &bytes, append_row_bytes, keep_row_bytes);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png, info, static_cast<png_uint_32>(header.width), static_cast<png_uint_32>(header.height), header.bits,
               header.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, header.compression);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);  // mostly white, which zlib compresses best
  if (header.pixels_a_metre > 0) {
    const auto a_metre = static_cast<png_uint_32>(header.pixels_a_metre);
    png_set_pHYs(png, info, a_metre, a_metre, PNG_RESOLUTION_METER);
  }
  if (text.count() > 0) png_set_text(png, info, text.chunks(), text.count());
  png_write_info(png, info);
}

PngRows::PngRows(std::string_view name, const PngRowsHeader& header)
    : state_(std::make_unique<State>(header.metadata)) {
  State& state = *state_;
  state.name = name;
  state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, state.message, keep_row_error, ignore_row_warning);
  state.info = state.png != nullptr ? png_create_info_struct(state.png) : nullptr;
  if (state.info == nullptr) throw Error(ErrorCode::out_of_memory, state.name + ": no memory for libpng");
  state.attempt([&state, &header] { state.begin(header); });
}

PngRows::~PngRows() = default;

void PngRows::write(const std::uint8_t* row) {
  State& state = *state_;
  state.attempt([&state, row] { png_write_row(state.png, row); });
}

std::string PngRows::finish() {
  State& state = *state_;
  state.attempt([&state] { png_write_end(state.png, state.info); });
  return std::move(state.bytes);
}

}  // namespace holotone::io
