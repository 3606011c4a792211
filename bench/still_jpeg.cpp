// clang-format off: jpeglib.h needs FILE and size_t declared before it
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <bench/still_codecs.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>

namespace bench {
namespace {

struct FreeBytes {
  void operator()(unsigned char* bytes) const { std::free(bytes); }
};

struct JpegBytes {
  std::unique_ptr<unsigned char, FreeBytes> data;
  unsigned long size = 0;
};

/// libjpeg ends the program on errors; its own files in memory cause none.
JpegBytes jpeg_bytes(const Codes& picture, int quality, bool progressive) {
  const auto& [ny, nx, channels] = picture.shape();
  jpeg_error_mgr errors{};
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  JpegBytes bytes;
  jpeg_mem_dest(&info, &data, &bytes.size);
  info.image_width = static_cast<JDIMENSION>(nx);
  info.image_height = static_cast<JDIMENSION>(ny);
  info.input_components = static_cast<int>(channels);
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.optimize_coding = TRUE;
  info.dct_method = JDCT_ISLOW;
  info.write_JFIF_header = FALSE;  // saves 18 bytes; decoders do not need them
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(picture.data() + info.next_scanline * nx * channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  bytes.data.reset(data);
  return bytes;
}

Codes jpeg_picture(const JpegBytes& bytes) {
  jpeg_error_mgr errors{};
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data.get(), bytes.size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&info);
  const std::int64_t channels = info.output_components;
  Codes picture({info.output_height, info.output_width, channels});
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = picture.data() + info.output_scanline * info.output_width * channels;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return picture;
}

Coded jpeg(const Codes& picture, double setting) {
  const int quality = static_cast<int>(setting);
  auto bytes = jpeg_bytes(picture, quality, false);
  auto progressive = jpeg_bytes(picture, quality, true);
  if (progressive.size < bytes.size) bytes = std::move(progressive);
  return {static_cast<std::int64_t>(bytes.size), jpeg_picture(bytes)};
}

std::string version() {
#ifdef LIBJPEG_TURBO_VERSION
#define HOLOTONE_TEXT_OF(x) #x
#define HOLOTONE_TEXT(x) HOLOTONE_TEXT_OF(x)
  return "libjpeg-turbo " HOLOTONE_TEXT(LIBJPEG_TURBO_VERSION);
#else
  return fmt::format("libjpeg {}", JPEG_LIB_VERSION);
#endif
}

}  // namespace

StillCodec jpeg_codec() {
  const std::vector<double> qualities{1, 3, 4, 5, 6, 7, 9, 12, 15, 20, 26, 35, 50, 70};
  return {"JPEG", version(), qualities, qualities, jpeg};
}

}  // namespace bench
