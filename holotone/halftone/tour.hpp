#pragma once
#include <cstdint>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

namespace holotone {

struct TourOptions {
  std::int64_t neighbours = 8;  ///< number of nearest dots tried by moves, 1..64
  bool closed = false;          ///< true: the tour returns to the first dot
  double kicks = 5;             ///< number of random changes tried for each dot; >= 0
  std::uint64_t seed = 0;       ///< seed of the kicks
  double seconds = 0;           ///< time limit for each class, seconds; 0: none. With a limit, results depend on speed
};

struct Tour {
  std::vector<std::uint32_t> order;  ///< indices of the dots in visiting order
  double start_length = 0;           ///< length of the initial tour along Hilbert's curve, pixels; within classes
  double length = 0;                 ///< length of `order`, pixels, at most start_length
};

/// Computes a short tour of the dots for a plotter. Dots of one class are together, in ascending order of classes, so
/// that each pen is used once.
///
/// The initial tour follows Hilbert's curve. Moves then shorten it to a local optimum. 2-opt exchanges two steps and
/// reverses the path between them. Or-opt moves up to three dots in a row elsewhere, reversed or not. Both try only
/// the nearest dots, and skip dots whose steps have not changed. Paths of more than 50,000 dots are not reversed. Then
/// come kicks: a double bridge exchanges two short adjacent pieces of the tour, and moves shorten the result. A kick
/// that makes the tour longer is undone.
///
/// Random dots in a square of area A get a length of about 0.77 sqrt(count A) without kicks, some 8 % above the
/// shortest tour. With 5 kicks a dot the factor is about 0.73, some 3 % above it. The tour is never longer than the
/// initial one. Reports "ordering dots" and "shortening the tour" to `progress`. Throws invalid_argument for dots that
/// are not finite, a number of classes that is neither the dots' nor 0, 2^31 dots or more, or options out of range;
/// cancelled. One thread; without `seconds` the order is reproducible.
/// Cost: O(count log count) and the reversed paths, and some microseconds a kick.
/// Sources: J. Bartholdi and L. Platzman (1982); G. Croes (1958); I. Or (1976); J. Bentley, "Fast algorithms for
/// geometric traveling salesman problems" (1992); kicks: O. Martin, S. Otto and E. Felten (1991).
Tour visiting_order(const Dots& dots, const TourOptions& options = {}, Progress& progress = Progress::none());

/// Returns the dots in another order, with their radii and classes. Throws invalid_argument unless `order` contains
/// every dot once.
Dots reordered(const Dots& dots, const std::vector<std::uint32_t>& order);

}  // namespace holotone
