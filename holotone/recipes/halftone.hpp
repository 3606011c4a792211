#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/halftone/colour_classes.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/ink.hpp>
#include <optional>
#include <string>
#include <vector>

// Halftones of one or several inks by any method: number, radii, start positions and movement of the dots, on the
// picture's page.
namespace holotone {

enum class HalftoneMethod {
  electrostatic,     ///< ElectrostaticPlan; several inks by classes_halftone
  direct,            ///< electrostatic, with the forces of every pair summed (ForceSum::direct)
  floyd_steinberg,   ///< floyd_steinberg, or error_diffused_dots if a count or a radius is given
  lloyd,             ///< lloyd_dots
  capacity_voronoi,  ///< capacity_voronoi_dots
};
template <>
inline constexpr auto enum_names<HalftoneMethod> =
    std::array{EnumName<HalftoneMethod>{HalftoneMethod::electrostatic, "electrostatic"},
               EnumName<HalftoneMethod>{HalftoneMethod::direct, "direct"},
               EnumName<HalftoneMethod>{HalftoneMethod::floyd_steinberg, "floyd-steinberg"},
               EnumName<HalftoneMethod>{HalftoneMethod::lloyd, "lloyd"},
               EnumName<HalftoneMethod>{HalftoneMethod::capacity_voronoi, "ccvt"}};
/// Returns "electrostatic", "direct", "floyd-steinberg", "lloyd" or "ccvt".
const char* to_string(HalftoneMethod method) noexcept;

/// Start positions of the dots (electrostatic, direct and lloyd only).
enum class DotStart {
  importance,       ///< importance_sampled_dots
  error_diffusion,  ///< error_diffused_dots, with a jitter of 0.2 of the grid's spacing
};

template <>
inline constexpr auto enum_names<DotStart> =
    std::array{EnumName<DotStart>{DotStart::importance, "importance"},
               EnumName<DotStart>{DotStart::error_diffusion, "error-diffusion"}};

struct HalftoneOptions {
  HalftoneMethod method = HalftoneMethod::electrostatic;
  DotStart start = DotStart::importance;  ///< start positions (electrostatic, direct and lloyd only)
  /// Total number of dots, 1 to max_dots. None: the number of dots of radius_px, or default_dot_radius, whose area
  /// equals the picture's ink.
  std::optional<std::int64_t> dots{};
  /// Radius of the dots in pixels: 0 < low <= high <= 32768. It follows the ink at the dot if low < high (DotSizes).
  /// None: the one radius at which the dots' area equals the picture's ink.
  std::optional<DotSizes> radius_px{};
  /// Options of the forces (electrostatic and direct only). `direct` sets `sum` to ForceSum::direct; with one ink,
  /// `crowding` is computed from it.
  ElectrostaticOptions forces{};
  DescentOptions descent{};     ///< options of the descent (electrostatic and direct only)
  ClassWeights weights{};       ///< weights of the forces (electrostatic and direct with several inks only)
  std::int64_t iterations = 0;  ///< maximum iterations of lloyd or sweeps of capacity_voronoi; 0: the method's default
  std::uint64_t seed = 0;       ///< seed of every random choice except the descent's and the tour's
  bool tour = false;            ///< true: dots in the order of a short tour (visiting_order)
  double pixel_m = 0;           ///< side of a pixel on the page in metres, for Dots::pixel_m; 0: unknown
  /// Called with the number of dots before their memory is allocated; may throw.
  std::function<void(std::int64_t dots)> on_count{};
  /// Called before each update of the progress (electrostatic and direct only), with the iterations done. `mean_force`
  /// is in 1/px of the picture; empty before the first iteration and with several inks.
  std::function<void(std::int64_t iteration, std::optional<double> mean_force)> on_iteration{};
};

template <>
inline constexpr Bounds bounds_of<&HalftoneOptions::dots>{1, max_dots};
template <>
inline constexpr Bounds bounds_of<&HalftoneOptions::iterations>{0, 1e9};

struct Halftone {
  /// Dots on the picture's page, in its pixels; with `colour_class` for several inks, with `radius` for varying sizes.
  Dots dots;
  double radius = 0;         ///< radius of all dots in pixels; with varying sizes, DotSizes::low
  double ink_share = 1;      ///< share of the picture's ink that the dots print, if count and radius are both given
  bool bitmap = false;       ///< true for floyd_steinberg without count and radius: a dot is a pixel of the picture
  std::string start{};       ///< "importance" or "error-diffusion" (electrostatic, direct and lloyd only)
  DescentReport report{};    ///< report of methods that iterate; forces in 1/px of the picture
  ElectrostaticInfo plan{};  ///< parameters of the plan (electrostatic and direct with one ink only)
  std::int64_t missed_neighbours = 0;  ///< ElectrostaticPlan::missed_neighbours (NearField::map with one ink only)
  double energy = 0;      ///< last energy of lloyd or capacity_voronoi, pixels^2 of ink of the picture; sum over inks
  double tour_start = 0;  ///< Tour::start_length, pixels
  double tour = 0;        ///< Tour::length, pixels
};

/// Callback with the present dots in their final form (electrostatic and direct only). Called before the first
/// iteration, every DescentOptions::frame_interval iterations and after the last.
using HalftoneFrame = std::function<void(const Halftone& so_far)>;

/// Computes the halftone of one ink or of several. `inks`: 1 to 256 arrays {ny, nx} >= 0 in host memory, of equal
/// shapes, at least one with ink. electrostatic and direct compute on `queue`'s device, other methods on the CPU. All
/// methods but floyd_steinberg resample larger inks to about max(65536, 64 dots) pixels, at most 32768 a side. Finer
/// detail is below the resolution of the dots. At the end, dots on pixels without ink are moved to the nearest ink
/// (take_to_ink).
///
/// Throws invalid_argument naming the argument: for more than max_dots dots, more dots than the ink has room for, no
/// ink, or different shapes; also the errors of the method; out_of_memory; cancelled. Cost: that of the method.
Halftone make_halftone(const std::vector<View<const float, 2>>& inks, const HalftoneOptions& options,
                       const Queue& queue = {}, Progress& progress = Progress::none(),
                       const HalftoneFrame& on_frame = {});

}  // namespace holotone
