#include <avif/avif.h>
#include <bench/still_codecs.hpp>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

void check(avifResult result, const char* call) {
  if (result != AVIF_RESULT_OK)
    throw std::runtime_error(fmt::format("libavif: {}: {}", call, avifResultToString(result)));
}

struct DestroyImage {
  void operator()(avifImage* image) const { avifImageDestroy(image); }
};
using ImagePointer = std::unique_ptr<avifImage, DestroyImage>;
struct DestroyEncoder {
  void operator()(avifEncoder* encoder) const { avifEncoderDestroy(encoder); }
};
struct DestroyDecoder {
  void operator()(avifDecoder* decoder) const { avifDecoderDestroy(decoder); }
};
struct FreeData {
  void operator()(avifRWData* data) const {
    avifRWDataFree(data);
    delete data;
  }
};
using DataPointer = std::unique_ptr<avifRWData, FreeData>;

/// View of codes as libavif's RGB.
avifRGBImage make_rgb(const avifImage& image, Codes& codes) {
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, &image);
  rgb.format = AVIF_RGB_FORMAT_RGB;
  rgb.depth = 8;
  rgb.pixels = codes.data();
  rgb.rowBytes = static_cast<std::uint32_t>(3 * codes.shape()[1]);
  return rgb;
}

/// Calls row(grey codes, pixels of the image's luma) for each row.
template <class Row>
void each_row(avifImage& image, std::uint8_t* grey, const Row& row) {
  for (std::uint32_t y = 0; y < image.height; ++y) {
    row(grey + std::size_t{y} * image.width,
        image.yuvPlanes[AVIF_CHAN_Y] + std::size_t{y} * image.yuvRowBytes[AVIF_CHAN_Y]);
  }
}

DataPointer avif_bytes(const Codes& picture, int quantizer) {
  const auto& [ny, nx, channels] = picture.shape();
  const ImagePointer image(avifImageCreate(static_cast<std::uint32_t>(nx), static_cast<std::uint32_t>(ny), 8,
                                           channels == 1 ? AVIF_PIXEL_FORMAT_YUV400 : AVIF_PIXEL_FORMAT_YUV444));
  image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
  image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
  image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
  Codes codes = picture.to(holotone::Device{});  // libavif reads it through a pointer to what it may write
  if (channels == 1) {
    avifImageAllocatePlanes(image.get(), AVIF_PLANES_YUV);
    each_row(*image, codes.data(),
             [&](const std::uint8_t* grey, std::uint8_t* luma) { std::copy_n(grey, image->width, luma); });
  } else {
    const auto rgb = make_rgb(*image, codes);
    check(avifImageRGBToYUV(image.get(), &rgb), "avifImageRGBToYUV");
  }
  const std::unique_ptr<avifEncoder, DestroyEncoder> encoder(avifEncoderCreate());
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->speed = 4;
  encoder->minQuantizer = encoder->maxQuantizer = quantizer;
  DataPointer data(new avifRWData{});
  check(avifEncoderWrite(encoder.get(), image.get(), data.get()), "avifEncoderWrite");
  return data;
}

Coded avif(const Codes& picture, double quantizer) {
  const auto data = avif_bytes(picture, static_cast<int>(quantizer));
  const std::unique_ptr<avifDecoder, DestroyDecoder> decoder(avifDecoderCreate());
  const ImagePointer image(avifImageCreateEmpty());
  check(avifDecoderReadMemory(decoder.get(), image.get(), data->data, data->size), "avifDecoderReadMemory");
  Coded coded{static_cast<std::int64_t>(data->size), Codes(picture.shape())};
  if (picture.shape()[2] == 1) {
    each_row(*image, coded.picture.data(),
             [&](std::uint8_t* grey, const std::uint8_t* luma) { std::copy_n(luma, image->width, grey); });
  } else {
    auto rgb = make_rgb(*image, coded.picture);
    check(avifImageYUVToRGB(image.get(), &rgb), "avifImageYUVToRGB");
  }
  return coded;
}

}  // namespace

StillCodec avif_codec() {
  char codecs[256];
  avifCodecVersions(codecs);
  return {"AVIF",
          fmt::format("libavif {} ({})", avifVersion(), codecs),
          {63, 58, 53, 48, 42, 36, 30, 24, 19, 15},
          {63, 55, 47, 39, 31},
          avif};
}

}  // namespace bench
