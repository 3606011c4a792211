#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/colour_profile_detail.hpp>
#include <holotone/io/images/few_bits_detail.hpp>
#include <holotone/io/images/row_loop_detail.hpp>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#if HOLOTONE_LCMS
#include <holotone/io/images/lcms_detail.hpp>
#endif

namespace holotone::io {
namespace {

constexpr std::int64_t small_to_convert = 1 << 14;  // elements

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  return at + 4 <= bytes.size() ? load<std::uint32_t>(bytes.data() + at, std::endian::big) : 0;
}

/// The data of the tag `name`; empty if there is none within the profile.
std::string_view tag_of(std::string_view profile, std::string_view name) {
  constexpr std::size_t table = 128;
  constexpr std::uint32_t max_tags = 100;
  const std::uint32_t count = std::min(number_at(profile, table), max_tags);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = table + 4 + 12 * i;
    if (entry + 12 > profile.size()) break;
    if (profile.substr(entry, 4) != name) continue;
    const std::size_t begin = number_at(profile, entry + 4);
    const std::size_t bytes = number_at(profile, entry + 8);
    return begin <= profile.size() ? profile.substr(begin, bytes) : std::string_view();
  }
  return {};
}

/// True for what PNG writes for programs that do not know sRGB: with its primaries, gAMA 0.45455 stands for its curve.
bool stands_for_srgb(const ColourClaim& claim) {
  if (!claim.profile.empty() || !claim.curves.empty()) return false;
  const auto& xy = claim.primaries ? *claim.primaries : srgb_primaries;
  for (std::size_t i = 0; i < xy.size(); ++i) {
    if (std::abs(xy[i] - srgb_primaries[i]) > 2e-3) return false;
  }
  return !claim.gamma || std::abs(*claim.gamma * 0.45455 - 1) < 2e-5;
}

void ignore(Image& image, const ColourClaim& claim, std::string_view path, std::string_view why) {
  image.notes.push_back(fmt::format("{}: {} ignored: {}", path, claim_name(claim), why));
}

/// Light through two inks, each 0 for none to `most`: (1 - ink)(1 - black).
template <class T>
T through(T ink, T black) {
  constexpr std::uint64_t most = std::numeric_limits<T>::max();
  return static_cast<T>(((most - ink) * (most - black) + most / 2) / most);
}

template <class T>
Array<T, 3> without_profile(const Array<T, 3>& inks) {
  const auto [ny, nx, four] = inks.shape();
  Array<T, 3> result({ny, nx, 3});
  for_each_row(result.shape(), small_to_convert, [&, columns = nx](std::int64_t row) {
    const T* ink = inks.data() + row * columns * 4;
    T* to = result.data() + row * columns * 3;
    for (std::int64_t x = 0; x < columns; ++x, ink += 4) {
      for (int c = 0; c < 3; ++c) *to++ = through(ink[c], ink[3]);
    }
  });
  return result;
}

#if HOLOTONE_LCMS
template <class T>
Array<std::uint16_t, 3> converted_inks(const Lcms& lcms, const Array<T, 3>& inks) {
  constexpr unsigned scale = sizeof(T) == 1 ? 257 : 1;
  const auto [ny, nx, four] = inks.shape();
  Array<std::uint16_t, 3> result({ny, nx, 3});
  for_each_row(result.shape(), small_to_convert, [&, columns = nx](std::int64_t row) {
    const T* const from = inks.data() + row * columns * 4;
    std::vector<std::uint16_t> codes(static_cast<std::size_t>(columns * 4));
    std::transform(from, from + columns * 4, codes.begin(),
                   [](T ink) { return static_cast<std::uint16_t>(ink * scale); });
    lcms.convert(codes.data(), result.data() + row * columns * 3, columns);
  });
  return result;
}

/// Values of a row's colours as codes of the profile, three or one a pixel, then the 16-bit sRGB codes of it. `scale`:
/// of a code to 16 bits.
template <class T>
void convert_row(const Lcms& lcms, const T* from, std::uint16_t* to, std::int64_t nx, std::int64_t channels,
                 unsigned scale) {
  const std::int64_t colours = channels >= 3 ? 3 : 1;
  const std::int64_t taken = lcms.channels();
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(nx * taken));
  std::vector<std::uint16_t> srgb(static_cast<std::size_t>(nx * 3));
  for (std::int64_t i = 0; i < nx * taken; ++i) {
    const T code = from[i / taken * channels + std::min(i % taken, colours - 1)];
    codes[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(code * scale);
  }
  lcms.convert(codes.data(), srgb.data(), nx);
  for (std::int64_t x = 0; x < nx; ++x) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::uint16_t code =
          srgb[static_cast<std::size_t>(3 * x + (colours == 1 ? 1 : std::min<std::int64_t>(c, 2)))];
      to[x * channels + c] = c < colours ? code : static_cast<std::uint16_t>(from[x * channels + c] * scale);
    }
  }
}

template <class T>
Array<std::uint16_t, 3> converted(const Lcms& lcms, const Array<T, 3>& pixels, unsigned scale) {
  Array<std::uint16_t, 3> result(pixels.shape());
  const auto [ny, nx, channels] = pixels.shape();
  const std::int64_t row_values = nx * channels;
  const auto convert = [&, columns = nx, values = channels](std::int64_t row) {
    convert_row(lcms, pixels.data() + row * row_values, result.data() + row * row_values, columns, values, scale);
  };
  for_each_row(result.shape(), small_to_convert, convert);
  return result;
}

/// True if no code of a coarse grid moves by more than 0.6 % of the largest: the profile is one of sRGB's many.
bool is_srgb(const Lcms& lcms) {
  constexpr int steps = 9;
  constexpr int largest_move = 400;
  const int inner = lcms.channels() == 3 ? steps : 1;
  for (int i = 0; i < steps * inner * inner; ++i) {
    std::uint16_t code[3];
    std::uint16_t srgb[3];
    const int place[3] = {i % steps, i / steps % steps, i / (steps * steps)};
    for (int c = 0; c < 3; ++c) {
      code[c] = static_cast<std::uint16_t>(65535 * place[lcms.channels() == 3 ? c : 0] / (steps - 1));
    }
    lcms.convert(code, srgb, 1);
    for (int c = 0; c < 3; ++c) {
      if (std::abs(code[c] - srgb[c]) > largest_move) return false;
    }
  }
  return true;
}
#endif

}  // namespace

std::string claim_name(const ColourClaim& claim) {
  if (!claim.unsupported.empty()) return claim.unsupported;
  if (!claim.profile.empty()) return "profile " + profile_name(claim.profile);
  if (claim.is_srgb) return "sRGB";
  if (!claim.name.empty()) return claim.name;
  if (claim.primaries && !claim.gamma) return "cHRM";
  return fmt::format("gAMA {:.5g}{}", 1 / claim.gamma.value_or(1), claim.primaries ? " and cHRM" : "");
}

bool has_little_cms() {
#if HOLOTONE_LCMS
  return true;
#else
  return false;
#endif
}

std::string profile_name(std::string_view profile) {
  constexpr std::size_t longest = 60;
  const std::string_view tag = tag_of(profile, "desc");
  std::string name;
  if (tag.starts_with("desc")) name = tag.substr(std::min<std::size_t>(12, tag.size()), number_at(tag, 8));
  if (tag.starts_with("mluc")) {  // UTF-16 of the first language
    const std::size_t bytes = number_at(tag, 20);
    const std::size_t begin = number_at(tag, 24);
    const std::string_view text = begin <= tag.size() ? tag.substr(begin, bytes) : std::string_view();
    for (std::size_t i = 1; i < text.size(); i += 2) name += text[i - 1] == 0 ? text[i] : '?';
  }
  name = name.substr(0, std::min(name.find('\0'), longest));
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f; });
  return name.empty() || !printable ? "without a name" : "'" + name + "'";
}

std::vector<std::uint16_t> gamma_curve(double gamma) {
  constexpr int steps = 4096;
  std::vector<std::uint16_t> curve(steps + 1);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i] = static_cast<std::uint16_t>(std::lround(65535 * std::pow(static_cast<double>(i) / steps, gamma)));
  }
  return curve;
}

std::optional<std::array<double, 8>> primaries_of(const std::array<std::array<double, 3>, 3>& colorants) {
  std::array<double, 8> xy{};
  std::array<double, 3> white{};
  const auto put = [&](std::size_t at, const std::array<double, 3>& colour) {
    const double sum = colour[0] + colour[1] + colour[2];
    if (!(sum > 0)) return false;
    xy[at] = colour[0] / sum;
    xy[at + 1] = colour[1] / sum;
    return true;
  };
  for (std::size_t i = 0; i < 3; ++i) {
    if (!put(2 + 2 * i, colorants[i])) return std::nullopt;
    for (std::size_t k = 0; k < 3; ++k) white[k] += colorants[i][k];
  }
  if (!put(0, white)) return std::nullopt;
  return xy;
}

void make_srgb(Image& image, const ColourClaim& claim, std::string_view path) {
  if (!claim.unsupported.empty()) return ignore(image, claim, path, "expected an ICC profile or sRGB");
  if (stands_for_srgb(claim)) return;
  if (claim.profile.size() > max_profile_bytes) return ignore(image, claim, path, "larger than 16 MiB");
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) {
    return ignore(image, claim, path, "floats are linear light of sRGB's primaries");
  }
#if HOLOTONE_LCMS
  const Lcms lcms = claim.profile.empty() ? Lcms(claim) : Lcms(claim.profile);
  if (!lcms.usable() || lcms.channels() > 3) return ignore(image, claim, path, "damaged, or neither grey nor RGB");
  if (lcms.channels() == 1 && shape_of(image)[2] >= 3) return ignore(image, claim, path, "grey, for colours");
  if (is_srgb(lcms)) return;
  if (65535U % ((1U << code_bits(image)) - 1) != 0) {
    image.pixels = widened("read_image", image);
    image.bits = 0;
  }
  const unsigned scale = 65535U / ((1U << code_bits(image)) - 1);
  const auto stored = std::move(image.pixels);
  image.bits = 0;
  std::visit(
      [&](const auto& pixels) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(*pixels.data())>, float>) {
          image.pixels = converted(lcms, pixels, scale);
        }
      },
      stored);
#else
  if (profile_name(claim.profile).starts_with("'sRGB")) return;
  ignore(image, claim, path, "this build has no Little CMS");
#endif
}

void make_rgb(Image& image, const std::string& profile, bool as_light, std::string_view path) {
  std::string why = "codes are not converted";
#if HOLOTONE_LCMS
  if (as_light && !profile.empty()) {
    why = "damaged, larger than 16 MiB, or not of CMYK";
    const Lcms lcms(profile.size() <= max_profile_bytes ? profile : std::string());
    if (lcms.usable() && lcms.channels() == 4) {
      const auto stored = std::move(image.pixels);
      return std::visit(
          [&](const auto& inks) {
            if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(*inks.data())>>) {
              image.pixels = converted_inks(lcms, inks);
            }
          },
          stored);
    }
  }
#else
  if (as_light) why = "this build has no Little CMS";
#endif
  const std::string origin =
      profile.empty() ? "CMYK without a profile" : fmt::format("profile {} ignored: {}", profile_name(profile), why);
  image.notes.push_back(fmt::format("{}: {}; R is (1 - C)(1 - K), G and B alike", path, origin));
  const auto stored = std::move(image.pixels);
  std::visit(
      [&](const auto& inks) {
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(*inks.data())>>) {
          image.pixels = without_profile(inks);
        }
      },
      stored);
}

}  // namespace holotone::io
