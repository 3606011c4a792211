#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/colour.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/image_formats_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#include <limits>
#include <type_traits>
#include <vector>

namespace holotone {
namespace {

/// Factor that scales a code of an image to 0..1; 1 for floats.
float code_scale(const Image& image) {
  const int bits = code_bits(image);
  return bits == 0 ? 1.0F : 1.0F / static_cast<float>((1 << bits) - 1);
}

/// srgb_to_linear of all codes that an element holds.
std::vector<float> make_linear_codes(int element_bits, float scale) {
  std::vector<float> values(std::size_t{1} << element_bits);
  for (std::size_t code = 0; code < values.size(); ++code) {
    values[code] = static_cast<float>(srgb_to_linear(static_cast<double>(static_cast<float>(code) * scale)));
  }
  return values;
}

/// make_linear_codes for all bits of an integer type.
template <class T>
const std::vector<float>& linear_codes() {
  static const std::vector<float> table =
      make_linear_codes(8 * sizeof(T), 1.0F / static_cast<float>(std::numeric_limits<T>::max()));
  return table;
}

void require_writable(std::string_view where, const Image& image, const ImageWriteOptions& options) {
  const auto shape = shape_of(image);
  if (element_count(shape) == 0 || shape[2] < 1 || shape[2] > 4) {
    throw_argument(where, "image", "shape {ny, nx, 1 to 4} of at least 1 pixel", to_string<3>(shape));
  }
  if (shape[0] > INT32_MAX || shape[1] > INT32_MAX) {
    throw_argument(where, "image", "extents below 2^31", to_string<3>(shape));
  }
  if (options.compression) require_range(where, "compression", *options.compression, 0, 9);
  io::require_metadata(where, image.metadata);
}

}  // namespace

Image read_image(const std::string& path, const ImageReadOptions& options) {
  if (const auto named = io::split_part(path); !named.part.empty()) {
    if (io::is_tiff(io::read_first_bytes(named.file, 4))) return io::read_tiff_page(path, options);
    throw_io(path, "a part of a TIFF file", fmt::format("{}, which has no parts", named.file));
  }
  const std::string bytes = io::read_bytes_if(path, [](std::string_view first) {
    return io::is_png(first) || io::is_tiff(first) || io::is_jpeg(first) || io::is_bmp(first) || io::is_pfm(first) ||
           io::is_exr(first);
  });
  if (io::is_png(bytes)) return io::read_png(bytes, path, options);
  if (io::is_tiff(bytes)) return io::read_tiff(bytes, path, options);
  if (io::is_jpeg(bytes)) return io::read_jpeg(bytes, path, options);
  if (io::is_bmp(bytes)) return io::read_bmp(bytes, path, options);
  if (io::is_pfm(bytes)) return io::read_pfm(bytes, path, options);
  if (io::is_exr(bytes)) return io::read_exr(bytes, path, options);
  throw_io(path, "an image: PNG, TIFF, JPEG, BMP, PFM or OpenEXR",
           "a file that begins " + io::in_quotes(bytes.substr(0, 8)));
}

std::int64_t page_count(const std::string& path) { return io::count_pages(path); }

void write_image(const std::string& path, const Image& image, const ImageWriteOptions& options) {
  require_writable("write_image", image, options);
  const auto format = io::file_format(path);
  const auto changed = io::rescaled("write_image", image, options, format != io::FileFormat::bmp);
  const Image& written = changed ? *changed : image;
  if (format == io::FileFormat::png) return io::write_png(path, written, options.compression);
  if (format == io::FileFormat::tiff) return io::write_tiff(path, written, options.compression.value_or(3));
  if (format == io::FileFormat::bmp) return io::write_bmp(path, written);
  io::throw_format(path, io::formats::written_pictures, "an image");
}

std::string png_bytes(const Image& image, const ImageWriteOptions& options) {
  require_writable("png_bytes", image, options);
  std::string bytes;
  const auto changed = io::rescaled("png_bytes", image, options, true);
  io::put_png("png_bytes", "PNG", changed ? *changed : image, options.compression,
              [&](std::string_view part) { bytes += part; });
  return bytes;
}

std::string jpeg_bytes(const Image& image, int quality) {
  const auto [ny, nx, channels] = shape_of(image);
  const auto* const pixels = std::get_if<Array<std::uint8_t, 3>>(&image.pixels);
  if (pixels == nullptr || code_bits(image) != 8 || pixels->size() == 0 || (channels != 1 && channels != 3) ||
      ny > maximum_jpeg_side || nx > maximum_jpeg_side) {
    throw_argument(
        "jpeg_bytes", "image", "8-bit codes {1 to 65500, 1 to 65500, 1 or 3}",
        to_string<3>({ny, nx, channels}) + (pixels == nullptr || code_bits(image) != 8 ? " of another type" : ""));
  }
  require_range("jpeg_bytes", "quality", quality, 1, 100);
  return io::write_jpeg(*pixels, quality);
}

Shape<3> shape_of(const Image& image) {
  return std::visit([](const auto& pixels) { return pixels.shape(); }, image.pixels);
}

int code_bits(const Image& image) {
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) return 0;
  require_range("code_bits", "image.bits", image.bits, 0, 16);
  if (image.bits != 0) return image.bits;
  return std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? 8 : 16;
}

Array<float, 3> to_float(const Image& image) {
  return std::visit(
      [scale = code_scale(image)](const auto& pixels) {
        const auto source = pixels.host();
        using T = std::remove_const_t<typename decltype(source)::element_type>;
        Array<float, 3> result(pixels.shape());
        std::transform(source.begin(), source.end(), result.data(),
                       [scale](T value) { return static_cast<float>(value) * scale; });
        return result;
      },
      image.pixels);
}

Array<float, 3> to_linear(const Image& image) {
  return std::visit(
      [&image, scale = code_scale(image)](const auto& pixels) {
        using T = std::remove_const_t<typename decltype(pixels.host())::element_type>;
        if constexpr (std::is_same_v<T, float>) {
          return pixels.to(Device{});
        } else {
          const auto few = image.bits != 0 ? make_linear_codes(8 * sizeof(T), scale) : std::vector<float>{};
          const auto& table = image.bits != 0 ? few : linear_codes<T>();
          const auto [ny, nx, channels] = pixels.shape();
          const bool alpha = channels == 2 || channels == 4;
          Array<float, 3> result(pixels.shape());
          const auto* const from = pixels.data();
          parallel_for(0, ny, [&, row_values = nx * channels, values_a_pixel = channels](std::int64_t row) {
            const auto begin = row * row_values;
            for (std::int64_t i = begin; i < begin + row_values; ++i) result.data()[i] = table[from[i]];
            if (!alpha) return;
            for (std::int64_t i = begin + values_a_pixel - 1; i < begin + row_values; i += values_a_pixel) {
              result.data()[i] = static_cast<float>(from[i]) * scale;
            }
          });
          return result;
        }
      },
      image.pixels);
}

Array<float, 2> to_grey(const Image& image) {
  const auto values = to_float(image);
  const auto [ny, nx, channels] = values.shape();
  const std::int64_t colours = channels >= 3 ? 3 : 1;  // the rest is alpha
  Array<float, 2> result({ny, nx});
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    float sum = 0;
    for (std::int64_t c = 0; c < colours; ++c) sum += values.data()[i * channels + c];
    result.data()[i] = sum / static_cast<float>(colours);
  }
  return result;
}

namespace io {

void check_extents(std::uint64_t ny, std::uint64_t nx, std::uint64_t channels, std::uint64_t element_bytes,
                   std::uint64_t available, std::uint64_t ratio, std::string_view path, std::uint64_t slack,
                   std::uint64_t most) {
  const std::uint64_t pixel_bytes = std::max<std::uint64_t>(channels * element_bytes, 1);
  if (ny == 0 || nx == 0 || channels == 0 || nx > most / pixel_bytes || ny > most / (nx * pixel_bytes)) {
    throw_io(path, fmt::format("1 to {} bytes of pixels", most),
             fmt::format("{} x {} of {} bytes each", nx, ny, pixel_bytes));
  }
  const std::uint64_t bytes = ny * nx * pixel_bytes;
  if (bytes > slack && (bytes - slack) / ratio > available + 64) {
    throw_io(path, fmt::format("data for {} x {} pixels of {} bytes", nx, ny, pixel_bytes), counted(available, "byte"));
  }
}

void require_accepted(const Shape<3>& shape, std::int64_t element_bytes, const ImageReadOptions& options,
                      std::string_view path) {
  if (options.accept) options.accept(shape);
  constexpr double small = 64 << 20;
  const auto& [ny, nx, channels] = shape;
  const double bytes = static_cast<double>(ny) * static_cast<double>(nx) *
                       (static_cast<double>(channels * element_bytes) + options.bytes_a_pixel);
  if (bytes <= small) return;
  const auto free = static_cast<double>(describe(Device{}).free_bytes);
  if (bytes <= free) return;
  throw_io(path, fmt::format("pixels that the {} of free memory hold", format_bytes(free)),
           fmt::format("{} x {} of them, which take {}", nx, ny, format_bytes(bytes)));
}

void expand_palette(Image& image, const Palette& palette, int index_bits, std::string_view path,
                    const std::vector<std::uint8_t>& alpha) {
  const auto is_grey = [](const auto& entry) { return entry[0] == entry[1] && entry[1] == entry[2]; };
  const std::int64_t colours = std::all_of(palette.begin(), palette.end(), is_grey) ? 1 : 3;
  const auto& indices = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const auto [ny, nx, one] = indices.shape();
  Array<std::uint8_t, 3> result({ny, nx, colours + (alpha.empty() ? 0 : 1)});
  std::uint8_t* target = result.data();
  for (std::uint8_t index : indices.host()) {
    if (index >= palette.size()) {
      throw_io(path, fmt::format("palette indices below {}", palette.size()), fmt::format("{}", index));
    }
    for (std::int64_t c = 0; c < colours; ++c) *target++ = palette[index][static_cast<std::size_t>(c)];
    if (!alpha.empty()) *target++ = index < alpha.size() ? alpha[index] : 255;
  }
  const int bits = alpha.empty() ? palette_bits(palette, index_bits) : 8;
  if (bits < 8) {
    keep_low_bits(result.data(), result.size(), bits);
    image.bits = bits;
  }
  image.pixels = std::move(result);
}

}  // namespace io
}  // namespace holotone
