#include <bench/still_codecs.hpp>
#include <fmt/format.h>
#include <jxl/decode_cxx.h>
#include <jxl/encode_cxx.h>
#include <stdexcept>

namespace bench {
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
  info.num_color_channels = static_cast<std::uint32_t>(picture.shape()[2]);
  info.uses_original_profile = JXL_FALSE;
  check(JxlEncoderUseContainer(encoder.get(), JXL_FALSE) == JXL_ENC_SUCCESS, "JxlEncoderUseContainer");
  check(JxlEncoderSetBasicInfo(encoder.get(), &info) == JXL_ENC_SUCCESS, "JxlEncoderSetBasicInfo");
  JxlColorEncoding colour{};
  JxlColorEncodingSetToSRGB(&colour, picture.shape()[2] == 1 ? JXL_TRUE : JXL_FALSE);
  check(JxlEncoderSetColorEncoding(encoder.get(), &colour) == JXL_ENC_SUCCESS, "JxlEncoderSetColorEncoding");
  auto* const settings = JxlEncoderFrameSettingsCreate(encoder.get(), nullptr);
  check(JxlEncoderSetFrameDistance(settings, static_cast<float>(distance)) == JXL_ENC_SUCCESS,
        "JxlEncoderSetFrameDistance");
  const JxlPixelFormat format{static_cast<std::uint32_t>(picture.shape()[2]), JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
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
  const JxlPixelFormat format{static_cast<std::uint32_t>(picture.shape()[2]), JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  check(JxlDecoderSetImageOutBuffer(decoder.get(), &format, picture.data(), static_cast<std::size_t>(picture.size())) ==
            JXL_DEC_SUCCESS,
        "JxlDecoderSetImageOutBuffer");
  check(JxlDecoderProcessInput(decoder.get()) == JXL_DEC_FULL_IMAGE, "JxlDecoderProcessInput");
  return picture;
}

Coded jpeg_xl(const Codes& picture, double distance) {
  const auto bytes = jpeg_xl_bytes(picture, distance);
  return {std::ssize(bytes), jpeg_xl_picture(bytes, picture.shape())};
}

}  // namespace

StillCodec jpeg_xl_codec() {
  const auto version = JxlEncoderVersion();
  return {"JPEG XL",
          fmt::format("libjxl {}.{}.{}", version / 1000000, version / 1000 % 1000, version % 1000),
          {25, 15, 9, 6.5, 5, 3.5, 2.5, 2, 1.4, 1},
          {25, 9},  // several seconds a picture
          jpeg_xl};
}

}  // namespace bench
