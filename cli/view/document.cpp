#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/document.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/io/json_text_detail.hpp>

namespace holotone::cli {
namespace {

constexpr int moving_quality = 85;

constexpr std::int64_t max_moving_pixels = 600'000;

/// Whole-number factor by which a moving picture is reduced: to its canvas, and to few pixels.
std::int64_t factor_of(const Shape<3>& shape, const std::array<std::int64_t, 2>& size) {
  std::int64_t factor = 1;
  if (size[0] > 0 && size[1] > 0) factor = std::max(factor, std::max(shape[1] / size[0], shape[0] / size[1]));
  while (shape[0] / factor * (shape[1] / factor) > max_moving_pixels) ++factor;
  return factor;
}

/// Channels of colour: alpha is dropped.
std::int64_t colours_of(std::int64_t channels) { return channels < 3 ? 1 : 3; }

/// 8-bit codes without alpha, of codes of `bits` bits: as many from black to white, or the highest of more.
template <class T>
Array<std::uint8_t, 3> eight_bits(const Array<T, 3>& pixels, int bits) {
  const int shift = bits > 8 ? bits - 8 : 0;
  const int most = bits > 8 ? 255 : (1 << bits) - 1;
  const auto [ny, nx, channels] = pixels.shape();
  const std::int64_t colours = colours_of(channels);
  Array<std::uint8_t, 3> codes({ny, nx, colours});
  parallel_blocks(ny * nx, [&, channels = channels](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t c = 0; c < colours; ++c) {
        codes.data()[i * colours + c] =
            static_cast<std::uint8_t>((pixels.data()[i * channels + c] >> shift) * 255 / most);
      }
    }
  });
  return codes;
}

}  // namespace

Raster Document::raster(const ViewRequest& request, Progress& /*progress*/) { reject_view(request.view); }

Image Document::thumbnail(Progress& /*progress*/) { reject_view("thumbnail"); }

void reject_view(const std::string& view) { reject("view", "a picture of this file", view); }

Image displayable(Image image) {
  if (const auto* const codes = std::get_if<Array<std::uint8_t, 3>>(&image.pixels)) {
    const auto channels = codes->shape()[2];
    if (channels == colours_of(channels) && code_bits(image) == 8) return image;
    return {eight_bits(*codes, code_bits(image)), image.metadata};
  }
  if (const auto* const codes = std::get_if<Array<std::uint16_t, 3>>(&image.pixels)) {
    return {eight_bits(*codes, code_bits(image)), image.metadata};
  }
  throw Error(ErrorCode::unsupported, "view: expected codes of 8 or 16 bits, got float32");
}

Image reduced(const Image& image, std::int64_t factor) {
  const auto& codes = std::get<Array<std::uint8_t, 3>>(image.pixels);
  const auto [ny, nx, channels] = codes.shape();
  const std::int64_t height = std::max<std::int64_t>(1, ny / factor);
  const std::int64_t width = std::max<std::int64_t>(1, nx / factor);
  Array<std::uint8_t, 3> result({height, width, channels});
  parallel_for(0, height, [&, ny = ny, nx = nx, channels = channels](std::int64_t row) {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(width * channels), 0);
    const std::int64_t rows = std::min(factor, ny);
    const std::int64_t columns = std::min(factor, nx);
    for (std::int64_t y = 0; y < rows; ++y) {
      const std::uint8_t* from = codes.data() + (row * factor + y) * nx * channels;
      for (std::int64_t x = 0; x < width; ++x) {
        for (std::int64_t k = 0; k < columns; ++k) {
          for (std::int64_t c = 0; c < channels; ++c) sums[static_cast<std::size_t>(x * channels + c)] += *from++;
        }
      }
    }
    const auto count = static_cast<std::uint32_t>(rows * columns);
    for (std::int64_t i = 0; i < width * channels; ++i) {
      result.data()[row * width * channels + i] =
          static_cast<std::uint8_t>((sums[static_cast<std::size_t>(i)] + count / 2) / count);
    }
  });
  return {std::move(result), {}};
}

ViewAnswer answer_of(Raster raster, const ViewRequest& request) {
  const auto shape = shape_of(raster.image);
  ViewAnswer answer;
  answer.header = {{"width", shape[1]}, {"height", shape[0]}, {"command", raster.command}, {"facts", raster.facts}};
  if (request.moving) {
    Image codes = displayable(std::move(raster.image));
    if (const auto factor = factor_of(shape, request.size); factor > 1) codes = reduced(codes, factor);
    answer.media = "image/jpeg";
    answer.payload = jpeg_bytes(codes, moving_quality);
  } else {
    raster.image.metadata.clear();
    answer.media = "image/png";
    answer.payload = png_bytes(raster.image);
  }
  return answer;
}

ViewAnswer answer_of(const nlohmann::json& payload, std::string command, const Facts& facts) {
  return {"application/json", io::json_text(payload), {{"command", std::move(command)}, {"facts", facts}}};
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace holotone::cli
