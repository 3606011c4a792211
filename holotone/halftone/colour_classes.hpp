#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <vector>

namespace holotone {

/// Weights of the repulsion between dots of several inks: the force on a dot of class c is
///
///     F = within F_c + across F_all
///
/// F_c is the net force of ElectrostaticPlan among the dots of class c with the ink of that class. F_all is that among
/// the dots of all classes with the sum of their inks. Each is scaled to its number of dots. across = 0: independent
/// classes; within = 0: the classes share one pattern, each of them irregular.
struct ClassWeights {
  double within = 1;    ///< factor of F_c, >= 0
  double across = 0.5;  ///< factor of F_all, >= 0; not both 0
};
template <>
inline constexpr Bounds bounds_of<&ClassWeights::within>{0, 1e6};
template <>
inline constexpr Bounds bounds_of<&ClassWeights::across>{0, 1e6};

/// Returns the number of dots of each class in proportion to its ink, by largest remainder. The sum is `count`; a class
/// without ink has 0. Throws invalid_argument unless there is ink and count is in 0..max_dots.
std::vector<std::int64_t> dots_of_classes(const std::vector<View<const float, 2>>& inks, std::int64_t count);

/// Result of classes_halftone.
struct ClassesResult {
  Dots dots;
  DescentReport report;
};

/// Computes the halftone of several inks, whose dots repel each other within and across their classes.
///
/// Every iteration sums forces twice, once in each class and once over all dots. It moves each class by its own plan
/// with DescentOptions::rule, adjusted to the weights. tau is divided by within + across (dots of all classes) / (dots
/// of the class), the stiffness of F relative to that of F_c. edge_correction, by the class's own ink, is multiplied
/// by within + across (1 at most). The descent stops by the mean of |F| as in electrostatic_halftone; shaking is the
/// same too.
///
/// `inks`: {ny, nx} >= 0 in host memory, of equal shapes, 1 to 256. `starts`: dots of each class on a page of that
/// shape; empty for a class without ink. Plans run on `queue`'s device; forces are added in host memory.
/// `on_frame(iteration, dots)` as in electrostatic_halftone. Returns the dots in the order of their classes, with
/// `colour_class` set. Throws as ElectrostaticPlan and electrostatic_halftone, and invalid_argument for weights out of
/// range or shapes that differ. Cost of an iteration: twice that of one class with all dots.
/// Source of forces within and across classes: C. Schmaltz, P. Gwosdek, J. Weickert, "Multi-class anisotropic
/// electrostatic halftoning" (2012).
ClassesResult classes_halftone(const std::vector<View<const float, 2>>& inks, const std::vector<Dots>& starts,
                               const ClassWeights& weights = {}, const ElectrostaticOptions& options = {},
                               const DescentOptions& descent = {}, const Queue& queue = {},
                               Progress& progress = Progress::none(),
                               const std::function<void(std::int64_t, const Dots&)>& on_frame = {});

}  // namespace holotone
