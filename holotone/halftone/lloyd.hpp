#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

namespace holotone {

struct LloydOptions {
  std::int64_t iterations = 100;      ///< maximum number of iterations, >= 0
  double tolerance = 2e-3;            ///< mean movement that ends iterations, relative to the dots' mean spacing; >= 0
  std::int64_t samples_per_dot = 64;  ///< minimum number of ink samples per dot, as a mean over the page, 1..4096
  std::uint64_t seed = 0;             ///< seed of the random positions of dots without ink
};

struct LloydResult {
  Dots dots;
  std::vector<double> energy;  ///< energy before each iteration, pixels^2 of ink
  bool converged = false;      ///< true if the tolerance was reached
};

/// Weighted Voronoi stippling: dots move to the centroids of their Voronoi cells' ink.
///
/// An iteration replaces each dot p_j by c_j = sum w_s x_s / sum w_s over the samples s that are nearer to p_j than to
/// any other dot (of equal ones, to the first). It never raises the energy sum_j sum_{s in j} w_s |x_s - p_j|^2.
/// Samples are the ink's pixels. With fewer than samples_per_dot pixels a dot, they are a k times finer grid of
/// interpolated ink (resampled_ink), up to 2^25 samples. A dot without ink in its cell moves to a random position
/// (importance_sampled_dots).
///
/// `ink`: {ny, nx} in host memory; `start`: dots on a page of its size; radii and classes are kept. Reports "moving
/// dots" to `progress`. Throws invalid_argument for a picture without ink, a page of another size, dots that are not
/// finite or options out of range; cancelled. The same bits with any number of threads. Cost of an iteration:
/// O(samples log samples), on all threads. Sources: S. Lloyd (1982); A. Secord, "Weighted Voronoi stippling" (2002).
LloydResult lloyd_dots(View<const float, 2> ink, const Dots& start, const LloydOptions& options = {},
                       Progress& progress = Progress::none());

/// Returns the nearest dot of each sample to float32 rounding, the first of coincident dots. Sample (row, col) of
/// `shape` is at ((col + 1/2) width / nx, (row + 1/2) height / ny). Boxes of samples are halved until few dots can be
/// nearest. Throws invalid_argument without dots, for one that is not finite, an empty shape or page. Cost: O((samples
/// + dots) log dots).
Array<std::int32_t, 2> nearest_dots(const Dots& dots, const Shape<2>& shape);

}  // namespace holotone
