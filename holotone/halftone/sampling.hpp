#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <vector>

namespace holotone {

/// Draws `count` independent random dots with the ink's density, by the inverse of its cumulative distribution at
/// random numbers.
///
/// Dot j is in the pixel k with S_k <= S u_j < S_k + ink_k, at a uniform random position. S_k is the ink of the pixels
/// before k, row by row, and S that of all. u_j and the two coordinates are random_uniform64(seed, 3 j + 0, 1, 2): the
/// same seed gives the same bits on any machine and any number of threads.
///
/// `ink`: {ny, nx} in host memory, 0..1, somewhere > 0. Returns dots without radii on a page of {ny, nx} pixels.
/// Throws invalid_argument for another ink or a count not in 0..max_dots. Cost: O(pixels + count log pixels).
/// Source: inverse transform sampling (L. Devroye, Non-Uniform Random Variate Generation, 1986, II.2).
Dots importance_sampled_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed = 0);

/// Like importance_sampled_dots, but evenly spread: u_j = (j + random) / count along a Hilbert curve through the
/// pixels instead of row by row. Connected parts of the page get their share of dots to within about one.
///
/// Same arguments, errors and reproducibility. Cost: O(pixels log pixels + count). Source: stratified sampling along a
/// space-filling curve (Z. He and A. B. Owen, "Extensible grids: uniform sampling on a space-filling curve", 2016).
Dots stratified_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed = 0);

/// Places exactly `count` dots by error diffusion.
///
/// The ink is scaled to a sum of `count`. Each pixel is rounded to a whole number of dots, and Floyd and Steinberg's
/// weights pass on the error, in serpentine order. At the borders the weights outside are redistributed to the others,
/// so that no error is lost. A pixel without ink gets no dot. A single dot of a pixel is at its centre, moved by at
/// most `jitter` / 2 pixels in x and y; several dots are at uniform random positions in it.
///
/// `ink` and errors as above; `jitter` in 0..1. Cost: O(pixels + count), serial. Source: R. W. Floyd and L. Steinberg,
/// "An adaptive algorithm for spatial greyscale" (1976).
Dots error_diffused_dots(View<const float, 2> ink, std::int64_t count, std::uint64_t seed = 0, double jitter = 0);

/// Returns the index of a cell of a square of 4^order cells along Hilbert's curve (D. Hilbert, 1891): x and y in [0,
/// 2^order), order <= 31. Neighbours along the curve are neighbours in the square.
std::uint64_t hilbert_index(int order, std::uint32_t x, std::uint32_t y);

}  // namespace holotone
