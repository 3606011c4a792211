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

// Inks to dots by any method: how many, how large, where they begin, how they move, and on which page they are
// returned.
namespace holotone {

enum class HalftoneMethod {
  electrostatic,     ///< ElectrostaticPlan; several inks by classes_halftone
  direct,            ///< the same with every pair of forces summed (ForceSum::direct)
  floyd_steinberg,   ///< floyd_steinberg, or error_diffused_dots where a count or a radius is given
  lloyd,             ///< lloyd_dots
  capacity_voronoi,  ///< capacity_voronoi_dots
};
/// "electrostatic", "direct", "floyd-steinberg", "lloyd", "ccvt".
const char* to_string(HalftoneMethod method) noexcept;

/// Where dots begin that a method moves.
enum class DotStart {
  importance,       ///< importance_sampled_dots
  error_diffusion,  ///< error_diffused_dots, with a jitter of 0.2 of their grid's step
};

struct HalftoneOptions {
  HalftoneMethod method = HalftoneMethod::electrostatic;
  DotStart start = DotStart::importance;  ///< of electrostatic, direct and lloyd
  /// Dots in all, 1 to most_dots; none: as many of radius_px (default_dot_radius without one) as hold the picture's
  /// ink.
  std::optional<std::int64_t> dots{};
  /// Of a dot in pixels, > 0; where low < high by the ink beneath it (DotSizes). None: that with which the dots hold
  /// the picture's ink.
  std::optional<DotSizes> radius_px{};
  ElectrostaticOptions
      forces{};  ///< of electrostatic and direct; `crowding` is set from the ink, `sum` of direct is ForceSum::direct
  DescentOptions descent{};     ///< of these; frame_interval: see on_frame
  ClassWeights weights{};       ///< of these with several inks
  std::int64_t iterations = 0;  ///< of lloyd, or sweeps of capacity_voronoi; 0: as many as they take by themselves
  std::uint64_t seed = 0;       ///< of every random choice but the descent's own
  bool tour = false;            ///< dots in the order of a short way from one to the next (visiting_order)
  double pixel_m = 0;           ///< size of a pixel on the page, for Dots::pixel_m; 0: not stated
  /// Called with the number of dots before memory is taken for them; may throw.
  std::function<void(std::int64_t dots)> on_count{};
  /// Of electrostatic and direct: called before each update of the progress with the iterations done, and the mean
  /// force in 1/px of the picture where it is known (one ink, an iteration done).
  std::function<void(std::int64_t iteration, std::optional<double> mean_force)> on_iteration{};
};

struct Halftone {
  Dots dots;  ///< on the picture's page, in its pixels; with several inks their classes, with varying sizes their radii
  double radius = 0;         ///< pixels, where all dots are alike, else the least
  double ink_share = 1;      ///< of the picture's ink that all dots hold, where count and radius are both given
  bool bitmap = false;       ///< floyd_steinberg without count and radius: a pixel of the picture is a dot or none
  std::string start{};       ///< "importance" or "error-diffusion" of methods that move dots
  DescentReport report{};    ///< of methods that iterate; forces in 1/px of the picture for several inks
  ElectrostaticInfo plan{};  ///< of forces among dots of one ink
  std::int64_t missed_neighbours = 0;  ///< see ElectrostaticPlan::missed_neighbours; of NearField::map
  double energy = 0;                   ///< of lloyd and capacity_voronoi, in pixels of the picture
  double tour_start = 0;               ///< length of the first way, pixels
  double tour = 0;                     ///< of the way taken, pixels
};

/// Called with the dots so far, as they would be returned: before the first iteration of a method by forces, every
/// DescentOptions::frame_interval iterations and after the last.
using HalftoneFrame = std::function<void(const Halftone& so_far)>;

/// Places the dots of one picture, or of one for each ink. `inks`: {ny, nx} of at least 0 in host memory, of equal
/// shapes, 1 to 256, one of them with ink. Methods by forces compute on `queue`'s device, the others on the CPU.
/// Pictures of many more pixels than dots can show are resampled to 64 pixels a dot for the work. Dots at rest beyond
/// an edge of the ink are taken to it (take_to_ink).
///
/// Throws invalid_argument naming the argument for more than most_dots dots, dots that the ink has no room for, no
/// ink, different shapes, and what the methods refuse; out_of_memory; cancelled by `progress`. Cost: that of the
/// method.
Halftone make_halftone(const std::vector<View<const float, 2>>& inks, const HalftoneOptions& options,
                       const Queue& queue = {}, Progress& progress = Progress::none(),
                       const HalftoneFrame& on_frame = {});

}  // namespace holotone
