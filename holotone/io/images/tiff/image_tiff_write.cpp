#include <holotone/core/error.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image_formats_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <holotone/io/images/tiff/tiff_handle_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <new>
#endif

namespace holotone::io {

#if HOLOTONE_TIFF
namespace {

constexpr std::size_t classic_limit = 3'900'000'000;  // above it offsets need BigTIFF's 64 bits

template <class T>
void set_tags(TIFF* file, const Array<T, 3>& pixels, const Metadata& metadata, int compression, int bits) {
  const auto [ny, nx, channels] = pixels.shape();
  TIFFSetField(file, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(nx));
  TIFFSetField(file, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(ny));
  TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(channels));
  TIFFSetField(file, TIFFTAG_SAMPLEFORMAT, std::is_integral_v<T> ? SAMPLEFORMAT_UINT : SAMPLEFORMAT_IEEEFP);
  TIFFSetField(file, TIFFTAG_PHOTOMETRIC, channels >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(file, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  if (channels % 2 == 0) {
    std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  if (compression == 0) {
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  } else {
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(file, TIFFTAG_ZIPQUALITY, compression);
    // Differences of neighbours. Floats are stored as they are, because not every program can undo their predictor.
    if (std::is_integral_v<T> && bits >= 8) TIFFSetField(file, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  }
  constexpr std::int64_t strip_bytes = 1 << 18;
  const std::int64_t rows = std::clamp<std::int64_t>(strip_bytes / (nx * channels * sizeof(T)), 1, ny);
  TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
  if (!metadata.empty()) TIFFSetField(file, TIFFTAG_IMAGEDESCRIPTION, metadata_lines(metadata).c_str());
}

template <class T>
void write_pixels(const std::string& path, const Array<T, 3>& pixels, const Metadata& metadata, int compression,
                  int bits) {
  AtomicFile target(path);
  TiffMessage message;
  errno = 0;
  const auto options = tiff_options(message, 0);
  const char* mode = pixels.bytes() > classic_limit ? "w8" : "w";
  FileHandle handle(fcntl(target.descriptor(), F_DUPFD_CLOEXEC, 0));
  TiffHandle file(handle.valid() ? TIFFFdOpenExt(handle.get(), path.c_str(), mode, options.get()) : nullptr);
  if (file) (void)handle.release();  // closed with the TIFF
  bool written = file != nullptr;
  if (written) set_tags(file.get(), pixels, metadata, compression, bits);
  const auto [ny, nx, channels] = pixels.shape();
  std::vector<T> row(static_cast<std::size_t>(nx * channels));  // the predictor works in place
  for (std::int64_t y = 0; written && y < ny; ++y) {
    const T* const codes = pixels.data() + y * nx * channels;
    if constexpr (std::is_same_v<T, std::uint8_t>) {
      row = bits < 8 ? packed_row(codes, nx, bits) : std::vector<T>(codes, codes + nx * channels);
    } else {
      std::copy_n(codes, row.size(), row.begin());
    }
    written = TIFFWriteScanline(file.get(), row.data(), static_cast<std::uint32_t>(y), 0) == 1;
  }
  written = written && TIFFFlush(file.get()) == 1 && !message.given;
  int reason = errno;
  file.reset();
  if (!written || message.given) {
    if (reason == 0) reason = errno;
    throw_io(path, "the TIFF file to be written", reason == 0 ? message.text : std::strerror(reason));
  }
  target.commit();
}

}  // namespace

void write_tiff(const std::string& path, const Image& image, int compression) {
  std::visit(
      [&](const auto& pixels) {
        const int element_bits = 8 * static_cast<int>(sizeof(*pixels.data()));
        write_pixels(path, pixels, image.metadata, compression, image.bits != 0 ? image.bits : element_bits);
      },
      image.pixels);
}
#else
void write_tiff(const std::string& path, const Image&, int) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with libtiff for TIFF, got one without");
}
#endif

}  // namespace holotone::io
