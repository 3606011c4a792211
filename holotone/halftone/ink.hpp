#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/halftone/separation.hpp>
#include <string_view>
#include <vector>

namespace holotone {

/// Encoding of a picture's values.
enum class PixelTone {
  srgb,    ///< sRGB code values divided by the largest: decoded to linear light (core/colour.hpp)
  linear,  ///< used unchanged: linear light, or code values on purpose
};

/// Treatment of values outside 0..1 in float pictures.
enum class OutOfRange { refuse, clip };

struct InkOptions {
  PixelTone tone = PixelTone::srgb;
  OutOfRange out_of_range = OutOfRange::refuse;
  double gamma = 1;             ///< 0.01..100; above 1 brightens shadows: less ink
  bool invert = false;          ///< ink in bright areas, for white dots on black
  View<const float, 2> mask{};  ///< {ny, nx} in host memory, 0..1: factor of the ink; empty: 1
};
template <>
inline constexpr Bounds bounds_of<&InkOptions::gamma>{0.01, 100};

/// Ink from the pixels of a picture, by its luminance in linear light
///
///     Y = 0.2126 R + 0.7152 G + 0.0722 B   (IEC 61966-2-1, 1999; a grey channel is Y itself)
///     over white: Y' = a Y + 1 - a         (a = alpha, 1 without an alpha channel)
///
/// and ink(row, col) = mask (1 - Y'^(1 / gamma)), or mask Y'^(1 / gamma) with `invert`: the covered share of the
/// pixel's area.
///
/// `pixels`: {ny, nx, channels} in host memory, 1 to 4 channels (grey, grey and alpha, RGB, RGB and alpha), in 0..1.
/// Returns {ny, nx} in 0..1. Throws invalid_argument for an empty picture, other channels, a gamma out of range, a
/// value that is not finite or (unless clipped) not in 0..1 (with its pixel), or a mask of another size (with both
/// sizes). Cost: O(pixels), on all threads.
Array<float, 2> ink_from_pixels(View<const float, 3> pixels, const InkOptions& options = {});

/// Inks of four-colour printing, {cyan, magenta, yellow, black}, from a colour picture: `separation` of 1 - R, 1 - G,
/// 1 - B. R, G, B are in linear light, over white, each raised to 1 / gamma, and replaced by 1 - v with `invert`.
/// `mask` scales all inks.
///
/// `pixels` as above. Each result {ny, nx} in 0..1. Throws as above. Cost: O(pixels), on all threads.
std::array<Array<float, 2>, 4> cmyk_inks(View<const float, 3> pixels, const Separation& separation,
                                         const InkOptions& options = {});

/// Returns the ink of all pixels, in pixels' areas: sum of ink(row, col), in float64 in a fixed order.
double total_ink(View<const float, 2> ink);

/// Resamples ink to another number of pixels.
///
/// Along an axis that shrinks, each new pixel is the mean of the pixels it covers. Along one that grows, values are
/// interpolated linearly between pixels' centres and constant beyond the outermost. `shape`: {ny, nx} >= 1. Throws
/// invalid_argument for an empty ink or shape. Cost: O(old + new pixels) for each axis, on all threads.
Array<float, 2> resampled_ink(View<const float, 2> ink, const Shape<2>& shape);

/// Returns the number of dots of one radius with the picture's total ink: round(total_ink / (pi radius^2)). `radius`:
/// pixels, > 0. Throws invalid_argument for another radius, more than `max_dots`, and for a picture without ink.
std::int64_t dots_for_ink(View<const float, 2> ink, double radius);

/// Returns the radius in pixels at which `count` dots have the picture's total ink: sqrt(total_ink / (pi count)).
/// Throws invalid_argument unless count >= 1 and there is ink.
double radius_for_ink(View<const float, 2> ink, std::int64_t count);

/// Largest number of dots: indices are 32-bit.
inline constexpr std::int64_t max_dots = 1'000'000'000;

/// Throws invalid_argument unless `count` dots of `radius` pixels cover no more than the pixels with ink: count pi
/// radius^2 <= number of pixels with ink > 0. `where` and `argument` go into the error.
void require_dots_fit(std::string_view where, std::string_view argument, View<const float, 2> ink, std::int64_t count,
                      double radius);

/// Radii of dots of varying size: r(ink) = sqrt(low^2 + (high^2 - low^2) ink), so that the dot's area grows linearly
/// with the ink at its position. The ink is interpolated linearly between pixels' centres. 0 < low <= high, in pixels.
struct DotSizes {
  double low = 0;
  double high = 0;
  [[nodiscard]] double area(double ink) const;  ///< pi r^2
};

/// Returns the density of dots that print the ink with such radii, in dots a pixel: ink / area(ink). Dots of equal
/// charge placed by this density cover the ink's share everywhere. Throws invalid_argument for sizes out of range.
Array<float, 2> dot_density(View<const float, 2> ink, const DotSizes& sizes);

/// Returns the radius of each dot. The dots' page is the whole ink, for any number of pixels. Throws invalid_argument
/// for sizes out of range or an empty ink.
std::vector<float> dot_radii(const Dots& dots, View<const float, 2> ink, const DotSizes& sizes);

/// Moves every dot of class `colour_class` (every dot without classes) that is on a pixel without ink to the nearest
/// point of a pixel with ink. Forces may leave a dot some pixels beyond an edge of the ink. Returns the number of dots
/// moved. `ink` covers the dots' page. Throws as require_ink. Cost: O(pixels + dots + the square of each moved dot's
/// path in pixels).
std::int64_t take_to_ink(Dots& dots, View<const float, 2> ink, int colour_class = 0);

/// Throws invalid_argument unless ink is in host memory, not empty, finite, in 0..1 and somewhere > 0: "expected a
/// picture with ink, got one that is white everywhere".
void require_ink(std::string_view where, View<const float, 2> ink);

}  // namespace holotone
