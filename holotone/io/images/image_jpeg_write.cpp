// clang-format off: jpeglib.h needs FILE and size_t declared before it
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <csetjmp>
#include <cstdlib>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image_formats_detail.hpp>

namespace holotone::io {
namespace {

// libjpeg's own state is first, so that its callback reaches the rest through its pointer.
struct ErrorState {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

extern "C" {
static void leave_writer(j_common_ptr info) {
  auto* state = reinterpret_cast<ErrorState*>(info->err);
  info->err->format_message(info, state->message);
  std::longjmp(state->jump, 1);
}
}

/// libjpeg's compressor and the memory that it fills.
struct Compressor {
  Compressor() {
    info.err = jpeg_std_error(&error.manager);
    error.manager.error_exit = leave_writer;
  }
  ~Compressor() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  ErrorState error{};
  jpeg_compress_struct info{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

/// False after an error of libjpeg. Owns nothing with a destructor: errors jump out of it.
bool compress(Compressor& compressor, const unsigned char* pixels, const Shape<3>& shape, int quality) {
  if (setjmp(compressor.error.jump) != 0) return false;
  auto& info = compressor.info;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &compressor.bytes, &compressor.size);
  info.image_height = static_cast<JDIMENSION>(shape[0]);
  info.image_width = static_cast<JDIMENSION>(shape[1]);
  info.input_components = static_cast<int>(shape[2]);
  info.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.comp_info[0].h_samp_factor = 1;
  info.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes = static_cast<std::size_t>(shape[1] * shape[2]);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(pixels + info.next_scanline * row_bytes);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

std::string write_jpeg(const Array<std::uint8_t, 3>& pixels, int quality) {
  Compressor compressor;
  if (!compress(compressor, pixels.data(), pixels.shape(), quality)) {
    throw Error(ErrorCode::out_of_memory, std::string("JPEG: ") + compressor.error.message);
  }
  return {reinterpret_cast<const char*>(compressor.bytes), compressor.size};
}

}  // namespace holotone::io
