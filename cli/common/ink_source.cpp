#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/options/error_words.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/core/colour.hpp>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots.hpp>

namespace holotone::cli {
namespace {

/// Runs `work`; invalid_argument errors of the library become errors of the picture's file.
template <class Work>
auto of_picture(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument || names_option(error)) throw;
    throw FileError(path, error);
  }
}

InkOptions options_for(const InkSource& source, const Image& image, View<const float, 2> mask) {
  InkOptions options = source.options;
  options.mask = mask;
  const bool floats = std::holds_alternative<Array<float, 3>>(image.pixels);
  options.tone = source.tone.value_or(floats ? PixelTone::linear : PixelTone::srgb);
  return options;
}

Image read_cancellable(const std::string& path, const ImageReadOptions& options) {
  check_cancelled("reading");
  Image image = read_image(path, options);
  check_cancelled("reading");
  return image;
}

void require_shares(const std::string& path, View<const float, 2> mask, bool clip) {
  const auto [ny, nx] = mask.shape();
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      const float share = mask(row, col);
      if (share >= 0 && share <= 1) continue;
      if (clip && std::isfinite(share)) continue;
      throw_io(path, fmt::format("shares of ink from 0 to 1{}", clip ? ", or others that --clip takes for these" : ""),
               fmt::format("{} in row {}, column {}", share, row, col));
    }
  }
}

}  // namespace

OptionValue tone_value(InkSource& source) {
  return choice<std::optional<PixelTone>>(
      source.tone, {{"auto", std::nullopt}, {"srgb", PixelTone::srgb}, {"linear", PixelTone::linear}});
}

OptionValue gamma_value(InkSource& source) { return member<&InkOptions::gamma>(source.options); }

OptionValue clip_value(InkSource& source) { return setter(source.options.out_of_range, OutOfRange::clip); }

Shape<2> page_of(const Image& image) {
  const auto shape = shape_of(image);
  return {shape[0], shape[1]};
}

std::string size_text(const Shape<2>& shape) { return fmt::format("{} x {} pixels", shape[1], shape[0]); }

Image read_picture(const std::string& path) { return read_cancellable(path, {.bytes_a_pixel = 20, .as_light = true}); }

Array<float, 2> read_mask(const InkSource& source, const Shape<2>& page, const std::string& of) {
  if (source.mask.empty()) return {};
  const auto accept = [&](const Shape<3>& shape) {
    const Shape<2> sides{shape[0], shape[1]};
    if (sides != page) throw_io(source.mask, fmt::format("the {} of {}", size_text(page), of), size_text(sides));
  };
  const Image image = read_cancellable(source.mask, {.accept = accept, .bytes_a_pixel = 20, .one_page = true});
  Array<float, 2> mask = to_grey(image);
  if (const auto channels = shape_of(image)[2]; channels % 2 == 0) {  // no ink where the mask is transparent
    const auto shares = to_float(image);
    for (std::int64_t i = 0; i < mask.size(); ++i) mask.data()[i] *= shares.data()[(i + 1) * channels - 1];
  }
  require_shares(source.mask, mask.view(), source.options.out_of_range == OutOfRange::clip);
  return mask;
}

Array<float, 2> ink_of(const std::string& path, const Image& image, const InkSource& source,
                       View<const float, 2> mask) {
  return of_picture(path, [&] {
    const auto pixels = to_float(image);
    return ink_from_pixels(pixels.view(), options_for(source, image, mask));
  });
}

std::array<Array<float, 2>, 4> inks_of(const std::string& path, const Image& image, const InkSource& source,
                                       View<const float, 2> mask, const Separation& separation) {
  return of_picture(path, [&] {
    const auto pixels = to_float(image);
    return cmyk_inks(pixels.view(), separation, options_for(source, image, mask));
  });
}

Separation separation_of(double black, double apart) {
  FourInks inks;
  inks.apart = apart;
  const auto printed = default_inks(4);
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t k = 0; k < 3; ++k) inks.light[c][k] = srgb_to_linear(printed[c].srgb[k] / 255.0);
  }
  return Separation(black, inks);
}

void reject_no_ink(const InkSource& source, const std::vector<std::string>& pictures) {
  const auto has_ink = [&](const std::string& path) {
    return total_ink(ink_of(path, read_picture(path), source, {}).view()) > 0;
  };
  if (!source.mask.empty()) {
    const auto with_ink = std::find_if(pictures.begin(), pictures.end(), has_ink);
    if (with_ink != pictures.end()) {
      throw_io(source.mask, fmt::format("a mask that leaves some of the ink of {}", *with_ink),
               "none left: it is black wherever there is ink");
    }
  }
  throw_io(pictures.front(), "a picture with ink",
           source.options.invert ? "one that is black everywhere, and --invert puts ink where it is bright"
                                 : "one that is white everywhere");
}

}  // namespace holotone::cli
