// clang-format off: jpeglib.h needs FILE and size_t declared before it
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <algorithm>
#include <bench/still_codecs.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <stdexcept>

#if HOLOTONE_JPEG_XL
#include <jxl/decode_cxx.h>
#include <jxl/encode_cxx.h>
#endif

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
  info.in_color_space = JCS_RGB;
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
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  Codes picture({info.output_height, info.output_width, 3});
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = picture.data() + std::size_t{info.output_scanline} * info.output_width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return picture;
}

}  // namespace

Coded jpeg(const Codes& picture, int quality) {
  if (picture.shape()[2] != 3) throw std::runtime_error("jpeg: expected three channels");
  auto bytes = jpeg_bytes(picture, quality, false);
  auto progressive = jpeg_bytes(picture, quality, true);
  if (progressive.size < bytes.size) bytes = std::move(progressive);
  return {static_cast<std::int64_t>(bytes.size), jpeg_picture(bytes)};
}

std::string jpeg_name() {
#ifdef LIBJPEG_TURBO_VERSION
#define HOLOTONE_TEXT_OF(x) #x
#define HOLOTONE_TEXT(x) HOLOTONE_TEXT_OF(x)
  return "libjpeg-turbo " HOLOTONE_TEXT(LIBJPEG_TURBO_VERSION);
#else
  return fmt::format("libjpeg {}", JPEG_LIB_VERSION);
#endif
}

#if HOLOTONE_JPEG_XL
namespace {

void check(bool good, const char* call) {
  if (!good) throw std::runtime_error(std::string("libjxl: ") + call);
}

std::vector<std::uint8_t> jpeg_xl_bytes(const Codes& picture, double distance) {
  const auto encoder = JxlEncoderMake(nullptr);
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = static_cast<std::uint32_t>(picture.shape()[1]);
  info.ysize = static_cast<std::uint32_t>(picture.shape()[0]);
  info.bits_per_sample = 8;
  info.uses_original_profile = JXL_FALSE;
  check(JxlEncoderUseContainer(encoder.get(), JXL_FALSE) == JXL_ENC_SUCCESS, "JxlEncoderUseContainer");
  check(JxlEncoderSetBasicInfo(encoder.get(), &info) == JXL_ENC_SUCCESS, "JxlEncoderSetBasicInfo");
  JxlColorEncoding colour{};
  JxlColorEncodingSetToSRGB(&colour, JXL_FALSE);
  check(JxlEncoderSetColorEncoding(encoder.get(), &colour) == JXL_ENC_SUCCESS, "JxlEncoderSetColorEncoding");
  auto* const settings = JxlEncoderFrameSettingsCreate(encoder.get(), nullptr);
  check(JxlEncoderSetFrameDistance(settings, static_cast<float>(distance)) == JXL_ENC_SUCCESS,
        "JxlEncoderSetFrameDistance");
  const JxlPixelFormat format{3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  check(JxlEncoderAddImageFrame(settings, &format, picture.data(), static_cast<std::size_t>(picture.size())) ==
            JXL_ENC_SUCCESS,
        "JxlEncoderAddImageFrame");
  JxlEncoderCloseInput(encoder.get());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(picture.size()) + 4096);
  std::uint8_t* next = bytes.data();
  std::size_t left = bytes.size();
  check(JxlEncoderProcessOutput(encoder.get(), &next, &left) == JXL_ENC_SUCCESS, "JxlEncoderProcessOutput");
  bytes.resize(bytes.size() - left);
  return bytes;
}

Codes jpeg_xl_picture(const std::vector<std::uint8_t>& bytes, const holotone::Shape<3>& shape) {
  const auto decoder = JxlDecoderMake(nullptr);
  check(JxlDecoderSubscribeEvents(decoder.get(), JXL_DEC_FULL_IMAGE) == JXL_DEC_SUCCESS, "JxlDecoderSubscribeEvents");
  check(JxlDecoderSetInput(decoder.get(), bytes.data(), bytes.size()) == JXL_DEC_SUCCESS, "JxlDecoderSetInput");
  JxlDecoderCloseInput(decoder.get());
  check(JxlDecoderProcessInput(decoder.get()) == JXL_DEC_NEED_IMAGE_OUT_BUFFER, "JxlDecoderProcessInput");
  Codes picture(shape);
  const JxlPixelFormat format{3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  check(JxlDecoderSetImageOutBuffer(decoder.get(), &format, picture.data(), static_cast<std::size_t>(picture.size())) ==
            JXL_DEC_SUCCESS,
        "JxlDecoderSetImageOutBuffer");
  check(JxlDecoderProcessInput(decoder.get()) == JXL_DEC_FULL_IMAGE, "JxlDecoderProcessInput");
  return picture;
}

}  // namespace

bool has_jpeg_xl() { return true; }

Coded jpeg_xl(const Codes& picture, double distance) {
  if (picture.shape()[2] != 3) throw std::runtime_error("jpeg_xl: expected three channels");
  const auto bytes = jpeg_xl_bytes(picture, distance);
  return {std::ssize(bytes), jpeg_xl_picture(bytes, picture.shape())};
}

std::string jpeg_xl_name() {
  const auto version = JxlEncoderVersion();
  return fmt::format("libjxl {}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000);
}
#else
bool has_jpeg_xl() { return false; }
Coded jpeg_xl(const Codes& /*picture*/, double /*distance*/) {
  throw std::runtime_error("jpeg_xl: built without libjxl");
}
std::string jpeg_xl_name() { return "none"; }
#endif

}  // namespace bench
