#pragma once
#include <cstdint>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

namespace holotone {

struct TourOptions {
  std::int64_t neighbours = 8;  ///< near dots that moves try, 1..64
  bool closed = false;          ///< back to the first dot at the end
  double kicks = 5;             ///< random changes tried, a dot; >= 0
  std::uint64_t seed = 0;       ///< of the kicks
  double seconds = 0;           ///< at most, for each class; 0: no limit. With one, results depend on speed
};

struct Tour {
  std::vector<std::uint32_t> order;  ///< dot numbers as they are visited
  double start_length = 0;           ///< of the first way, along Hilbert's curve, pixels; within classes
  double length = 0;                 ///< of `order`, at most start_length
};

/// A short way from dot to dot for a plotter; dots of one class together, classes rising, so that each pen is taken once.
///
/// The first way follows Hilbert's curve. Then moves shorten it until none is left: two steps exchanged with the way between
/// them turned round (2-opt), and up to three dots in a row put elsewhere, turned round or not (Or-opt); both are tried to
/// the nearest dots only, and dots at whose ends nothing changed are not looked at again. Ways of more than 50,000 dots
/// between two steps are not turned round. Then kicks: two short pieces of the way, one after the other, change places (a
/// double bridge), what that spoils is shortened again, and if the way is longer than before all is undone.
///
/// Random dots in a square of area A get about 0.77 sqrt(count A) without kicks, some 8 % above the shortest way, and
/// about 0.73 with 5 kicks a dot, some 3 % above it. The way is never longer than the first one. Reports "ordering dots" and
/// "shortening the way" to `progress`. Throws invalid_argument for dots that are not finite, a number of classes that is
/// neither the dots' nor 0, 2^31 dots or more, or options out of range; cancelled. One thread; without `seconds` always the
/// same order.
/// Cost: O(count log count) and the turned ways, and some microseconds a kick.
/// Sources: J. Bartholdi and L. Platzman (1982); G. Croes (1958); I. Or (1976); J. Bentley, "Fast algorithms for geometric
/// traveling salesman problems" (1992); kicks: O. Martin, S. Otto and E. Felten (1991).
Tour visiting_order(const Dots& dots, const TourOptions& options = {}, Progress& progress = Progress::none());

/// The dots in another order, with their radii and classes. Throws invalid_argument unless `order` has every dot once.
Dots reordered(const Dots& dots, const std::vector<std::uint32_t>& order);

}  // namespace holotone
