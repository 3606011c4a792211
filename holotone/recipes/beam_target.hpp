#pragma once
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>

// Beams of another shape: what `holotone optimize --target` asks for.
namespace holotone {

enum class BeamShape {
  flat_top,  ///< rectangle of even light, width x height
  disc,      ///< of even light, diameter
  ring,      ///< of even light, outer and inner diameter
  line,      ///< rectangle, length x width
  gaussian,  ///< diameter at 1/e^2 of its largest intensity
};
template <>
inline constexpr auto enum_names<BeamShape> = std::array{
    EnumName{BeamShape::flat_top, "flat-top"}, EnumName{BeamShape::disc, "disc"}, EnumName{BeamShape::ring, "ring"},
    EnumName{BeamShape::line, "line"}, EnumName{BeamShape::gaussian, "gaussian"}};

/// A beam in the picture's plane.
struct BeamTarget {
  BeamShape shape = BeamShape::flat_top;
  /// Sides, or diameters, of which the second is the height, the inner diameter or the width of a line. Of disc and
  /// gaussian the second does not count.
  double width_m = 0;
  double height_m = 0;
  double x_m = 0;  ///< of its middle, to the right of the axis
  double y_m = 0;  ///< upward
};

struct DrawnBeam {
  Array<float, 2> amplitude;     ///< {ny, nx} on the picture's pixels, 0 to 1
  SignalRegion region{};         ///< the beam and some darkness around it
  Array<std::uint8_t, 2> inner;  ///< {ny, nx}: 1 where a beam of even light has its full amplitude
};

/// Draws a beam on the pixels of the model's picture: in free space of grid.pitch_m, behind a lens of lambda f / (n
/// pitch). Edges of even light are soft, as those of a picture that a panel of n pixels can make:
///   A = (erf((w/2 - x) / s) + erf((w/2 + x) / s)) / 2 along each axis, s = 1.5 sqrt(2) pixels; of a disc along r
/// Region: the beam and max(6, n / 64) pixels around it. Throws invalid_argument naming the argument for a size below
/// four pixels, an inner diameter that leaves less, and a beam beyond the picture.
DrawnBeam draw_beam(const BeamTarget& target, const PhaseRetrievalOptions& model);

/// Relative rms of the intensity {positions, ny, nx} over the pixels of `inner`, the largest of the positions; NaN for
/// fewer than 16 pixels. Throws invalid_argument for other shapes.
double find_unevenness(View<const float, 3> intensity, View<const std::uint8_t, 2> inner);

}  // namespace holotone
