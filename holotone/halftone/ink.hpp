#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/halftone/separation.hpp>
#include <string_view>
#include <vector>

namespace holotone {

/// What a picture's numbers are.
enum class PixelTone {
  srgb,    ///< sRGB code values divided by their largest: decoded to linear light (core/colour.hpp)
  linear,  ///< used as they are: linear light, or code values on purpose
};

/// What becomes of numbers outside 0..1 in float pictures.
enum class OutOfRange { refuse, clip };

struct InkOptions {
  PixelTone tone = PixelTone::srgb;
  OutOfRange out_of_range = OutOfRange::refuse;
  double gamma = 1;           ///< 0.01..100; above 1 lifts the shadows: less ink
  bool invert = false;        ///< ink where the picture is bright, for white dots on black
  View<const float, 2> mask;  ///< {ny, nx} in host memory, 0..1: the share of the ink that stays; empty: all of it
};

/// A picture's luminance in linear light, from its pixels.
///
///     Y = 0.2126 R + 0.7152 G + 0.0722 B   (IEC 61966-2-1, 1999; a grey channel is Y itself)
///     over white: Y' = a Y + 1 - a         (a = alpha, 1 without an alpha channel)
///
/// and ink(row, col) = mask (1 - Y'^(1 / gamma)), or mask Y'^(1 / gamma) with `invert`: the share of the pixel's area that
/// is to be covered.
///
/// `pixels`: {ny, nx, channels} in host memory, 1 to 4 channels (grey, grey and alpha, RGB, RGB and alpha), in 0..1. Returns
/// {ny, nx} in 0..1. Throws invalid_argument for an empty picture, other channels, a value that is not finite or
/// (unless clipped) not in 0..1, naming its pixel, a gamma out of range, or a mask of another size, naming both.
/// Cost: O(pixels), on all threads.
Array<float, 2> ink_from_pixels(View<const float, 3> pixels, const InkOptions& options = {});

/// The inks of four-colour printing, {cyan, magenta, yellow, black}, from a colour picture: `separation` of 1 - R,
/// 1 - G, 1 - B with R, G, B in linear light, over white, each raised to 1 / gamma and turned into 1 - v with `invert`;
/// `mask` scales all inks.
///
/// `pixels` as above. Each result {ny, nx} in 0..1. Throws as above. Cost: O(pixels), on all threads.
std::array<Array<float, 2>, 4> cmyk_inks(View<const float, 3> pixels, const Separation& separation,
                                         const InkOptions& options = {});

/// The ink of all pixels, in pixels' areas: sum of ink(row, col), in float64 in a fixed order.
double total_ink(View<const float, 2> ink);

/// Ink on another number of pixels.
///
/// Along an axis that shrinks, each new pixel is the mean of what it covers; along one that grows, values are interpolated
/// linearly between pixels' centres, the outermost continued. `shape`: {ny, nx} >= 1. Throws invalid_argument for an
/// empty ink or shape. Cost: O(old + new pixels) for each axis, on all threads.
Array<float, 2> resampled_ink(View<const float, 2> ink, const Shape<2>& shape);

/// How many dots of one radius have the picture's ink together: round(total_ink / (pi radius^2)).
/// `radius` in pixels, > 0. Throws invalid_argument for another radius, more than `most_dots`, and where there is no ink.
std::int64_t dots_for_ink(View<const float, 2> ink, double radius);

/// The radius in pixels with which `count` dots have the picture's ink: sqrt(total_ink / (pi count)).
/// Throws invalid_argument unless count >= 1 and there is ink.
double radius_for_ink(View<const float, 2> ink, std::int64_t count);

/// Largest number of dots: their numbers are 32-bit.
inline constexpr std::int64_t most_dots = 1'000'000'000;

/// Throws invalid_argument unless `count` dots of `radius` pixels cover no more than the pixels that have ink:
/// count pi radius^2 <= number of pixels with ink > 0. `where` and `argument` name what was asked.
void require_dots_fit(std::string_view where, std::string_view argument, View<const float, 2> ink, std::int64_t count,
                      double radius);

/// Radii of dots of varying size, by the ink beneath them: r(ink) = sqrt(low^2 + (high^2 - low^2) ink), so that the dot's area
/// grows linearly with the ink, which is interpolated linearly between pixels' centres. 0 < low <= high, in pixels.
struct DotSizes {
  double low = 0;
  double high = 0;
  [[nodiscard]] double area(double ink) const;  ///< pi r^2
};

/// Dots a pixel that print the ink with such radii: ink / area(ink). Dots placed by this density (all of the same charge) cover the
/// ink's share everywhere. Throws invalid_argument for sizes out of range.
Array<float, 2> dot_density(View<const float, 2> ink, const DotSizes& sizes);

/// A radius for each dot. The dots' page stands for the whole ink, whatever its number of pixels. Throws invalid_argument for
/// sizes out of range or an empty ink.
std::vector<float> dot_radii(const Dots& dots, View<const float, 2> ink, const DotSizes& sizes);

/// Takes every dot of class `colour_class` (every dot where they have no classes) that is on a pixel without ink to the
/// nearest point of a pixel with ink: forces may leave a dot some pixels beyond an edge of the ink. Returns how many
/// moved. `ink` covers the dots' page. Throws as require_ink. Cost: O(pixels + dots + the square of each moved dot's
/// way in pixels).
std::int64_t take_to_ink(Dots& dots, View<const float, 2> ink, int colour_class = 0);

/// Throws invalid_argument unless ink is in host memory, not empty, finite, in 0..1 and somewhere > 0: "expected a
/// picture with ink, got one that is white everywhere".
void require_ink(std::string_view where, View<const float, 2> ink);

}  // namespace holotone
