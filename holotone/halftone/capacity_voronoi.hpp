#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

namespace holotone {

struct CapacityVoronoiOptions {
  std::int64_t capacity = 128;  ///< number of ink samples of each dot, 2..4096
  std::int64_t sweeps = 200;    ///< maximum number of sweeps, >= 0
  double tolerance = 1e-3;      ///< mean movement that ends the sweeps, relative to the dots' mean spacing; >= 0
  std::uint64_t seed = 0;       ///< seed of the samples and of the initial cells
};

struct CapacityVoronoiResult {
  Dots dots;
  std::vector<float> sample;   ///< x, y of the samples, interleaved: dot j owns j capacity .. (j + 1) capacity - 1
  std::vector<double> energy;  ///< energy before each sweep, pixels^2 of ink
  bool converged = false;      ///< true if the tolerance was reached or no swap was left
};

/// Places dots whose Voronoi cells, by distance under a capacity constraint, all contain the same amount of ink.
///
/// The ink is `count` x capacity samples (stratified_dots), and each dot owns exactly `capacity` of them. A sweep
/// moves every dot to the mean of its samples. Then pairs of dots i and j whose samples' bounding circles overlap swap
/// samples p of i and q of j. They do so while that lowers the energy sum_j sum_{s of j} |x_s - p_j|^2: while (x_p -
/// x_q) . (p_j - p_i) > 0. Pairs of dots without a swap in the last sweep are skipped. The initial cells come from
/// halving the samples by lines in random directions.
///
/// `ink`: {ny, nx} in host memory, 0..1, somewhere > 0. `count` dots, 1..max_dots with count x capacity below 2^31.
/// Reports "swapping samples" to `progress`. Throws invalid_argument for another ink, count or options; cancelled. The
/// same bits with any number of threads. Cost of a sweep: O(pairs x capacity), about 7 pairs a dot, on all threads; 8
/// bytes a sample.
/// Source: M. Balzer, T. Schloemer and O. Deussen, "Capacity-constrained point distributions" (2009); bounding
/// circles: H. Li, D. Nehab, L.-Y. Wei, P. V. Sander and C.-W. Fu, "Fast capacity constrained Voronoi tessellation"
/// (2010).
CapacityVoronoiResult capacity_voronoi_dots(View<const float, 2> ink, std::int64_t count,
                                            const CapacityVoronoiOptions& options = {},
                                            Progress& progress = Progress::none());

}  // namespace holotone
