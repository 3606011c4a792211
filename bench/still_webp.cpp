#include <algorithm>
#include <bench/still_codecs.hpp>
#include <fmt/format.h>
#include <stdexcept>
#include <webp/decode.h>
#include <webp/encode.h>

namespace bench {
namespace {

void check(bool good, const char* call) {
  if (!good) throw std::runtime_error(fmt::format("libwebp: {}", call));
}

/// Codes of three channels; grey ones are repeated, as WebP has no grey pictures.
Codes in_colour(const Codes& picture) {
  const auto& [ny, nx, channels] = picture.shape();
  Codes colours({ny, nx, 3});
  for (std::int64_t i = 0; i < colours.size(); ++i) {
    colours.data()[i] = picture.data()[i / 3 * channels + std::min(i % 3, channels - 1)];
  }
  return colours;
}

class Picture {
 public:
  explicit Picture(const Codes& colours) {
    check(WebPPictureInit(&picture_) != 0, "WebPPictureInit");
    WebPMemoryWriterInit(&writer_);
    picture_.height = static_cast<int>(colours.shape()[0]);
    picture_.width = static_cast<int>(colours.shape()[1]);
    picture_.writer = WebPMemoryWrite;
    picture_.custom_ptr = &writer_;
    check(WebPPictureImportRGB(&picture_, colours.data(), 3 * picture_.width) != 0, "WebPPictureImportRGB");
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() {
    WebPPictureFree(&picture_);
    WebPMemoryWriterClear(&writer_);
  }
  const WebPMemoryWriter& encode(double quality) {
    WebPConfig config;
    check(WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, static_cast<float>(quality)) != 0, "WebPConfigPreset");
    config.method = 6;
    check(WebPEncode(&config, &picture_) != 0, "WebPEncode");
    return writer_;
  }

 private:
  WebPPicture picture_;
  WebPMemoryWriter writer_;
};

Coded webp(const Codes& picture, double quality) {
  const auto& [ny, nx, channels] = picture.shape();
  Picture rgb(in_colour(picture));
  const auto& bytes = rgb.encode(quality);
  Codes colours({ny, nx, 3});
  check(WebPDecodeRGBInto(bytes.mem, bytes.size, colours.data(), static_cast<std::size_t>(colours.size()),
                          static_cast<int>(3 * nx)) != nullptr,
        "WebPDecodeRGBInto");
  if (channels == 3) return {static_cast<std::int64_t>(bytes.size), std::move(colours)};
  Codes grey({ny, nx, 1});  // equal channels: chroma was 0
  for (std::int64_t i = 0; i < grey.size(); ++i) grey.data()[i] = colours.data()[3 * i + 1];
  return {static_cast<std::int64_t>(bytes.size), std::move(grey)};
}

}  // namespace

StillCodec webp_codec() {
  const int version = WebPGetEncoderVersion();
  return {"WebP",
          fmt::format("libwebp {}.{}.{}", version >> 16, version >> 8 & 255, version & 255),
          {0, 2, 5, 10, 20, 35, 50, 70, 80, 87},
          {0, 2, 5, 10, 20, 35, 50, 70, 80, 87},
          webp};
}

}  // namespace bench
