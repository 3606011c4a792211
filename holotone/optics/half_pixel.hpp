#pragma once
#include <array>
#include <holotone/optics/field.hpp>
#include <vector>

namespace holotone {

/// Halves of a pixel, down and to the right, by which a position lies beside a picture's samples: the samples
/// themselves, and the three places between them. Light that is right at all four is right between the samples too.
inline constexpr std::array<std::array<int, 2>, 4> half_pixels = {{{0, 0}, {0, 1}, {1, 0}, {1, 1}}};

/// Factors of the frequencies k of an axis of `length` samples that replace f(x) by f(x + pixels) in its cyclic
/// Fourier series:
///   exp(2 pi i k pixels / length), k signed; at the highest frequency, which has both signs, the real part
std::vector<Complex> shift_factors(std::int64_t length, double pixels);

/// A picture {ny, nx} at the four half_pixels, by its Fourier series with mirrored borders (its cosine series); 0 where
/// that is negative. Host memory, finite values. Throws invalid_argument for an empty picture. Cost: 6 FFTs of
/// lines of twice the samples, 16 bytes a pixel.
std::array<Array<float, 2>, half_pixels.size()> at_half_pixels(View<const float, 2> picture);

}  // namespace holotone
