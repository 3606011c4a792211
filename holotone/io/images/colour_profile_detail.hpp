#pragma once
// Colours of files with an ICC profile, or with primaries and a gamma, as sRGB. Not for users.
#include <array>
#include <cstdint>
#include <holotone/io/images/image.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// {x, y} of the white and of the primaries of sRGB (IEC 61966-2-1).
inline constexpr std::array<double, 8> srgb_primaries = {0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06};

/// What a file says of its colours. The first that is set counts.
struct ColourClaim {
  std::string unsupported{};  ///< in words, such as "cICP 9,16"; measured light has its gamma, if one is set
  bool is_srgb = false;       ///< of a chunk, a tag or a header
  std::string profile{};      ///< ICC, its bytes
  /// Exponent of a code that is light (PNG gAMA 0.45455: 2.2); primaries as those of sRGB.
  std::optional<double> gamma{};
  std::optional<std::array<double, 8>> primaries{};
  /// Light, 0 to 65535, of equally spaced codes: one curve for all channels, or three. With them gamma does not count.
  std::vector<std::vector<std::uint16_t>> curves{};
  std::string name{};  ///< in words, for what has no profile; empty: PNG's chunk
};

/// Bytes of a profile at most.
inline constexpr std::size_t max_profile_bytes = std::size_t{1} << 24;

/// The claim in a few words, such as "profile 'sRGB'" or "gAMA 0.45455".
std::string claim_name(const ColourClaim& claim);

/// True if this build has Little CMS.
bool has_little_cms();

/// 4097 values of light = code^gamma, for ColourClaim::curves.
std::vector<std::uint16_t> gamma_curve(double gamma);

/// Primaries of XYZ or xyz colorants {red, green, blue}, with the sum of these as white; none unless every sum of three
/// is positive.
std::optional<std::array<double, 8>> primaries_of(const std::array<std::array<double, 3>, 3>& colorants);

/// Returns the description of an ICC profile, "without a name" if it has none that is printable ASCII.
std::string profile_name(std::string_view profile);

/// Converts codes to 16-bit sRGB codes by Little CMS, relative to white with black point compensation (ICC.1:2010); an
/// alpha channel is kept. Colours outside sRGB become the nearest codes. Codes of sRGB itself stay as they are, to the
/// bit. What cannot be converted stays as well, with a note: floats, profiles of other channels, damaged or larger than
/// 16 MiB, all in builds without Little CMS.
void make_srgb(Image& image, const ColourClaim& claim, std::string_view path);

/// Replaces inks {ny, nx, 4} of 8 or 16 bits, cyan, magenta, yellow and black from 0 (none), by colours {ny, nx, 3}:
/// with `as_light` and a CMYK profile by Little CMS, as make_srgb; otherwise R = (1 - C)(1 - K), G and B alike, of the
/// same bits, with a note.
void make_rgb(Image& image, const std::string& profile, bool as_light, std::string_view path);

}  // namespace holotone::io
