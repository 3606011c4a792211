#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/metrics/region.hpp>
#include <vector>

namespace holotone {

struct PairCorrelationOptions {
  Region region{};  ///< part of the page to measure, pixels
  double largest_distance =
      0;  ///< upper end of g(r), pixels, at most the region's shorter side; 0: min(5 / sqrt(density), that side)
  std::int64_t bins = 250;
  /// Maximum number of measured pairs. Above it, only the pairs of every n-th dot are measured.
  std::int64_t max_pairs = 2'000'000'000;
};

/// Pair correlation function g(r) in bins of the distance r.
struct PairCorrelation {
  double step = 0;                  ///< width of a bin, pixels
  std::vector<double> distance;     ///< centre of a bin, pixels
  std::vector<double> value;        ///< g(r)
  std::vector<std::int64_t> pairs;  ///< number of ordered pairs counted
  double density = 0;               ///< density of the region, dots a square pixel
  std::int64_t points = 0;          ///< number of dots in the region
  std::int64_t every = 1;           ///< n: pairs of every n-th dot were counted
};

/// Pair correlation function of the dots in a rectangle w x h: number of pairs by distance, relative to random dots.
/// With n dots and N(r) ordered pairs in the bin [a, b),
///   g = N w^2 h^2 / (n (n - 1) integral_a^b 2 pi r c(r) dr),   c(r) = w h - 2 r (w + h) / pi + r^2 / pi,
/// c is the area of the rectangle's overlap with itself shifted by r, averaged over directions. It corrects for
/// neighbours outside the region, exactly in the mean over stationary sets. Random dots have g = 1, a lattice has
/// peaks.
/// Dots are sorted into cells; cost O(n + pairs within the largest distance). The number of pairs is computed
/// beforehand and kept below max_pairs. Counts are integers, so the result is independent of the number of threads.
/// Host memory.
/// Throws invalid_argument for a region that is not positive, bins outside 1 to 2^20, a largest distance outside (0,
/// shorter side], coordinates that are not finite, fewer than two dots in the region; cancelled.
/// Source: J. Ohser, On estimators for the reduced second moment measure of point processes (1983).
PairCorrelation pair_correlation(View<const float, 2> position, const PairCorrelationOptions& options,
                                 Progress& progress = Progress::none());

/// Distance in pixels from each dot to its nearest other dot, by a k-d tree: O(n log n) for any distribution. Infinite
/// for a single dot. Throws invalid_argument for coordinates that are not finite; cancelled.
std::vector<float> nearest_distances(View<const float, 2> position, Progress& progress = Progress::none());

/// Summary of nearest_distances over the dots in a region; their nearest dots may be outside.
struct NearestSummary {
  double smallest = 0;           ///< smallest distance, pixels
  double mean = 0;               ///< mean distance, pixels
  double smallest_relative = 0;  ///< relative to hexagonal_distance of the region's density: 1 at most
  double mean_relative = 0;
  std::int64_t coincident = 0;  ///< number of dots at exactly the position of another
  std::int64_t points = 0;      ///< number of dots in the region that have a neighbour
};
NearestSummary summarise_nearest(View<const float, 2> position, const std::vector<float>& distances,
                                 const Region& region);

}  // namespace holotone
