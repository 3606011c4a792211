#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/bmp_colours_detail.hpp>
#include <string>

namespace holotone::io {
namespace {

/// A number of the header that follows the file's 14 bytes.
std::uint32_t field(std::string_view bytes, std::size_t at) {
  constexpr std::size_t header_begin = 14;
  const std::size_t begin = header_begin + at;
  return begin + 4 <= bytes.size() ? load<std::uint32_t>(bytes.data() + begin, std::endian::little) : 0;
}

/// Endpoints in fixed point of 30 bits, exponents of 16.
ColourClaim calibrated(std::string_view bytes) {
  ColourClaim claim{.name = "LCS_CALIBRATED_RGB"};
  std::array<std::array<double, 3>, 3> endpoints{};
  for (std::size_t i = 0; i < 9; ++i) endpoints[i / 3][i % 3] = field(bytes, 60 + 4 * i) / 0x1p30;
  claim.primaries = primaries_of(endpoints);
  std::array<double, 3> gamma{};
  for (std::size_t c = 0; c < 3; ++c) gamma[c] = field(bytes, 96 + 4 * c) / 65536.0;
  if (std::ranges::any_of(gamma, [](double power) { return power < 0.1 || power > 10; })) return claim;
  for (const double power : gamma) claim.curves.push_back(gamma_curve(power));
  return claim;
}

}  // namespace

ColourClaim bmp_colours(std::string_view bytes) {
  constexpr std::uint32_t version4_bytes = 108;
  constexpr std::uint32_t version5_bytes = 124;
  constexpr std::uint32_t linked = 0x4c494e4b;      // 'LINK'
  constexpr std::uint32_t embedded = 0x4d424544;    // 'MBED'
  constexpr std::uint32_t of_srgb = 0x73524742;     // 'sRGB'
  constexpr std::uint32_t of_windows = 0x57696e20;  // 'Win ', which is sRGB
  const std::uint32_t size = field(bytes, 0);
  if (size < version4_bytes) return {};
  const std::uint32_t kind = field(bytes, 56);
  if (kind == 0) return calibrated(bytes);
  if (kind == of_srgb || kind == of_windows) return {.is_srgb = true};
  if (size < version5_bytes || (kind != linked && kind != embedded)) return {};
  if (kind == linked) return {.unsupported = "profile of another file"};
  const std::size_t begin = std::size_t{14} + field(bytes, 112);
  const std::size_t length = field(bytes, 116);
  if (begin > bytes.size() || length == 0 || length > bytes.size() - begin) {
    return {.unsupported = "profile outside the file"};
  }
  return {.profile = std::string(bytes.substr(begin, length))};
}

}  // namespace holotone::io
