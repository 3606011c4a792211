#pragma once
// Tags that libtiff does not know, which it makes counted lists. Empty if HOLOTONE_TIFF is off. Not for users.
#if HOLOTONE_TIFF
#include <cstdint>
#include <string_view>
#include <tiffio.h>

namespace holotone::io {

/// True for a tag of a counted list of this type, as libtiff makes those that it does not know.
inline bool is_tiff_list(TIFF* file, std::uint32_t tag, TIFFDataType type) {
  const TIFFField* const field = TIFFFindField(file, tag, TIFF_ANY);
  return field != nullptr && TIFFFieldDataType(field) == type && TIFFFieldPassCount(field) == 1 &&
         TIFFFieldReadCount(field) == TIFF_VARIABLE2;
}

/// Text of a tag that libtiff does not know.
inline std::string_view find_tiff_text(TIFF* file, std::uint32_t tag) {
  if (!is_tiff_list(file, tag, TIFF_ASCII)) return {};
  std::uint32_t count = 0;
  const char* text = nullptr;
  if (TIFFGetField(file, tag, &count, &text) != 1 || text == nullptr) return {};
  const std::string_view whole(text, count);
  return whole.substr(0, whole.find('\0'));
}

}  // namespace holotone::io
#endif
