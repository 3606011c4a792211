#include <holotone/io/images/tiff/tiff_cameras_detail.hpp>

#if HOLOTONE_TIFF
#include <charconv>
#include <holotone/io/images/tiff/tiff_lists_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::uint32_t tag_uic2 = 33629;  // of MetaMorph: its count is that of the planes
constexpr std::uint32_t tag_micro_manager = 51123;

}  // namespace

std::int64_t metamorph_pictures(TIFF* file) {
  if (!is_tiff_list(file, tag_uic2, TIFF_RATIONAL)) return 0;
  std::uint32_t count = 0;
  const void* values = nullptr;
  return TIFFGetField(file, tag_uic2, &count, &values) == 1 ? count : 0;
}

std::int64_t planes_of_volume(TIFF* file) {
  std::uint32_t count = 0;
  return TIFFGetField(file, TIFFTAG_IMAGEDEPTH, &count) == 1 ? count : 0;
}

std::optional<int> micro_manager_bits(TIFF* file) {
  constexpr std::string_view key = "\"BitDepth\"";
  const std::string_view text = find_tiff_text(file, tag_micro_manager);
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const auto begin = text.find_first_not_of(" :\"\t\r\n", at + key.size());
  if (begin == std::string_view::npos) return std::nullopt;
  int bits = 0;
  const auto error = std::from_chars(text.data() + begin, text.data() + text.size(), bits).ec;
  return error == std::errc() ? std::optional(bits) : std::nullopt;
}

}  // namespace holotone::io
#endif
