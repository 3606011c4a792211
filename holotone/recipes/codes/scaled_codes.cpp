#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/recipes/codes/scaled_codes_detail.hpp>
#include <type_traits>
#include <vector>

namespace holotone {
namespace {

/// Calls use(codes) with the elements of all channels, unless they are floats.
template <class Use>
void with_codes(Image& image, const Use& use) {
  std::visit(
      [&](auto& pixels) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(*pixels.data())>, float>) use(pixels.host());
      },
      image.pixels);
}

}  // namespace

std::string take_scale_out(const std::string& path, Image& image, int bits, bool stated) {
  const int stored_bits = code_bits(image);
  if (bits >= stored_bits) return {};
  constexpr int none = -1;
  std::vector<int> code_of(std::size_t{1} << stored_bits, none);
  for (std::uint32_t code = 0; code < 1U << bits; ++code) {
    code_of[io::scaled_code(code, bits, stored_bits)] = static_cast<int>(code);
  }
  std::string note;
  const auto step = static_cast<std::size_t>(shape_of(image)[2]);
  with_codes(image, [&](const auto codes) {
    const auto is_alpha = [step](std::size_t i) { return step % 2 == 0 && i % step == step - 1; };
    bool beyond = stated;
    for (std::size_t i = 0; i < codes.size() && !beyond; ++i) beyond = !is_alpha(i) && codes[i] >> bits != 0;
    if (!beyond) return;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (is_alpha(i) || code_of[codes[i]] != none) continue;
      if (!stated) return;  // the check of codes refuses it
      throw_io(path, fmt::format("codes of {} scaled to {} bits (scaled_codes)", io::counted(bits, "bit"), stored_bits),
               fmt::format("{}", codes[i]));
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (is_alpha(i)) continue;
      codes[i] = static_cast<std::remove_cvref_t<decltype(codes[i])>>(code_of[codes[i]]);
    }
    if (stated) return;
    note = fmt::format("{}: codes 0 to {} are read as 0 to {} of {}", path, (1 << stored_bits) - 1, (1 << bits) - 1,
                       io::counted(bits, "bit"));
  });
  return note;
}

void require_known_bits(const std::string& path, const Image& image) {
  const int bits = code_bits(image);
  if (bits < 2) return;
  const auto largest = static_cast<std::uint32_t>((1 << bits) - 1);
  const auto [ny, nx, channels] = shape_of(image);
  const bool alpha = channels % 2 == 0;
  bool dark = false;
  bool light = false;
  bool others = false;
  const auto look = [&, step = channels](const auto& pixels) {
    const auto* const codes = pixels.data();
    for (std::int64_t i = 0; i < pixels.size() && !others; ++i) {
      if (alpha && i % step == step - 1) continue;
      const auto code = static_cast<std::uint32_t>(codes[i]);
      dark = dark || code == 0;
      light = light || code == largest;
      others = code != 0 && code != largest;
    }
  };
  std::visit(look, image.pixels);
  if (others || !dark || !light) return;
  throw_io(path, fmt::format("bits, 1 or {}, of codes that are all 0 or {}", bits, largest), "none stated");
}

}  // namespace holotone
