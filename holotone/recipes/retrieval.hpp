#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/recipes/viewing.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <limits>
#include <optional>
#include <vector>

// Pictures to codes: the phase of a panel whose light is a picture, found, rounded to the panel's codes and compared
// with the picture. What `holotone optimize` does to pictures.
namespace holotone {

/// Phase from which a retrieval starts.
enum class StartPhase {
  transport,  ///< sharp, with most of the light and hardly any optical vortices: transport_phase
  smooth,     ///< sharp, with little defocus; behind a lens spread_over_region
  random,     ///< fills every pupil, with speckle
};
template <>
inline constexpr auto enum_names<StartPhase> =
    std::array{EnumName{StartPhase::transport, "transport"}, EnumName{StartPhase::smooth, "smooth"},
               EnumName{StartPhase::random, "random"}};

/// When phases are rounded to those of the codes.
enum class CodeRounding {
  stages,  ///< more and more of them in the second half of the steps: SolverOptions::level_phase_rad
  last,    ///< after the last step
};
template <>
inline constexpr auto enum_names<CodeRounding> =
    std::array{EnumName{CodeRounding::stages, "stages"}, EnumName{CodeRounding::last, "last"}};

struct PictureRetrievalOptions {
  /// Panel, planes, lens, subframes, loss and response. `region`: where light is asked for.
  PhaseRetrievalOptions model{};
  SolverOptions solver{};    ///< level_phase_rad: replaced
  EncodeOptions encoding{};  ///< of the codes: Encoding::phase
  /// Part of the panel's width and height that the picture fills in the middle, > 0 to 1 (retrieve_picture, if the
  /// model has no region).
  double part = 1;
  /// None: transport for one frame in one plane of all light, by lbfgs or adam, if the panel shows it (stroke of a
  /// turn; without a lens frequencies up to 0.45 cycles a pixel) and no camera is in the loop, else smooth.
  std::optional<StartPhase> start{};
  std::uint64_t seed = 0;  ///< of the start
  /// Start {frames, ny, nx} in radians, in host memory, without the encoding's carrier and correction: replaces `start`
  /// and `seed`. Empty: none.
  View<const float, 3> start_rad{};
  /// None: in stages for codes of up to 4 bits, where lbfgs and adam can, without carrier and correction.
  std::optional<CodeRounding> rounding{};
  /// Diameter of a Gaussian beam on the panel, at 1/e^2 of its largest intensity, > 0; 0: `beam`.
  double beam_diameter_m = 0;
  View<const float, 2> beam{};     ///< amplitude {ny, nx} of the light on the panel, in host memory; empty: even
  View<const float, 2> against{};  ///< amplitude {ny, nx} to compare with instead of the only target; empty: the target
  View<const std::uint8_t, 2> even{};  ///< 1 at pixels {ny, nx} of even light (DrawnBeam::inner); empty: none
  bool simulates_first = true;         ///< with a camera: the same steps by lbfgs without it go before
  bool keeps_best = false;             ///< a cancelled retrieval returns what it has
};
template <>
inline constexpr Bounds bounds_of<&PictureRetrievalOptions::part>{0.01, 1};

/// Phases of a panel whose light is a picture, their codes, and how near their light comes to it.
struct PictureRetrieval {
  Array<std::uint16_t, 3> codes;  ///< {frames, ny, nx}, of encode
  Array<float, 3> phase_rad;      ///< {frames, ny, nx} before rounding, without carrier and correction: a next start
  SignalRegion region{};          ///< of the picture
  RetrievalResult steps{};
  std::vector<RetrievalPlane> planes{};
  /// Quality in each plane of the phases that the codes show, without carrier and correction.
  std::vector<RetrievalQuality> quality{};
  /// Of the same light in each plane, that at the samples where the picture is brighter than 1 % of its largest value,
  /// over the light from the panel: of spots that in the spots, where `efficiency` is that in the region around them.
  std::vector<double> lit_efficiency{};
  std::int64_t lit_pixels = 0;  ///< such samples of the first plane
  /// The same light against the picture of each plane, each in a scale of its own (compare_light).
  std::vector<WorstLight> seen{};
  /// Signed error {rows, columns} in the region of the only plane, as compare_light writes it; empty for several.
  Array<std::uint8_t, 2> difference;
  /// Light that the whole panel would need to show the picture as bright as it is: of three colours, the metadata key
  /// object_energy balances them.
  double object_energy = 0;
  CodeRounding rounding = CodeRounding::last;
  StartPhase start = StartPhase::smooth;
  std::vector<std::int64_t> vortices{};  ///< in each plane of the phases that the codes show (PhaseRetrievalPlan)
  /// find_unevenness of the first plane over PictureRetrievalOptions::even; NaN without.
  double unevenness = std::numeric_limits<double>::quiet_NaN();
  double solve_s = 0;    ///< time of the solver
  bool stopped = false;  ///< it was cancelled, with keeps_best
  Metadata metadata{};   ///< for write_hologram: distance_m, focal_length_m, phase, signal_region and seed
};

/// Finds the phase whose light is a picture, on `queue`'s device (PhaseRetrievalPlan), and its codes.
/// `intensity`: linear light {rows, columns} of the picture in host memory, such as a channel of to_linear. It keeps
/// its proportions in the middle of the region, or of `part` of the panel, and is resampled to the panel's pixels as
/// by slice_picture; behind a lens its pixels are those of the square diffraction order. One target for all planes.
/// Reports to `progress`, which may cancel. Throws invalid_argument naming the argument: for options out of range,
/// rounding in stages that the solver or the encoding cannot do, an encoding other than phase, a picture without light;
/// the errors of the plans. Cost: that of PhaseRetrievalPlan::optimize; encoding and comparison on the CPU.
PictureRetrieval retrieve_picture(View<const float, 2> intensity, const PictureRetrievalOptions& options,
                                  const Queue& queue = {}, Progress& progress = Progress::none());

/// The same of amplitudes {ny, nx} on the panel's pixels, in any unit: one for each plane of the model, or for as many
/// planes in turn as there are more of them, such as those of several pupils. Throws as above, and for another shape or
/// number.
PictureRetrieval retrieve_amplitudes(const std::vector<View<const float, 2>>& amplitudes,
                                     const PictureRetrievalOptions& options, const Queue& queue = {},
                                     Progress& progress = Progress::none());

}  // namespace holotone
