#include <holotone/io/images/tiff/tiff_mask_detail.hpp>

#if HOLOTONE_TIFF
#include <algorithm>
#include <holotone/io/images/tiff/tiff_samples_detail.hpp>
#include <holotone/io/images/tiff/tiff_tags_detail.hpp>
#include <type_traits>
#include <variant>

namespace holotone::io {
namespace {

template <class T>
Array<T, 3> masked(const Array<T, 3>& pixels, const TransparencyMask& mask, T opaque) {
  const auto [ny, nx, channels] = pixels.shape();
  const std::int64_t colours = channels >= 3 ? 3 : 1;
  Array<T, 3> result({ny, nx, colours + 1});
  const T* from = pixels.data();
  T* to = result.data();
  for (const std::uint8_t share : mask.codes.host()) {
    to = std::copy_n(from, colours, to);
    const auto alpha = static_cast<double>(channels > colours ? from[colours] : opaque) * share / mask.opaque;
    *to++ = static_cast<T>(std::is_integral_v<T> ? alpha + 0.5 : alpha);
    from += channels;
  }
  return result;
}

}  // namespace

TransparencyMask read_tiff_mask(const TiffInput& input) {
  const TiffTags tags = read_tiff_mask_tags(input.get(), input.path());
  check_tiff_extents(tags, 1, input.size(), input.path());
  TiffGaps gaps;
  return {read_tiff_samples<std::uint8_t>(input, tags, gaps), (1 << tags.bits) - 1};
}

void apply_mask(Image& image, const TransparencyMask& mask) {
  const auto codes = mask.codes.host();
  if (std::ranges::all_of(codes, [&](std::uint8_t share) { return share == mask.opaque; })) return;
  const int most = (1 << code_bits(image)) - 1;
  image.pixels = std::visit(
      [&](const auto& pixels) -> decltype(image.pixels) {
        using T = std::remove_cvref_t<decltype(*pixels.data())>;
        return masked(pixels, mask, std::is_integral_v<T> ? static_cast<T>(most) : T{1});
      },
      image.pixels);
}

}  // namespace holotone::io
#endif
