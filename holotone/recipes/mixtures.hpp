#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/metrics/similarity.hpp>
#include <holotone/recipes/captured_views.hpp>
#include <holotone/smoe/fit.hpp>
#include <optional>
#include <span>
#include <vector>

// Models of pictures and light fields, fitted to a number of bytes or to a PSNR and stored: what `holotone smoe fit`
// does to pictures.
namespace holotone {

/// What a fit is to reach, and how its model is stored.
struct MixtureFitOptions {
  /// Number of components, 1 to 2^24. None: 5000, or the number that `max_bytes` or `psnr_db` requires.
  std::optional<std::int64_t> components{};
  /// Least PSNR of the decoded file over all pictures, 1 to 100 dB. The smallest such file found is returned.
  std::optional<double> psnr_db{};
  /// Largest size of the file in bytes, >= 1.
  std::optional<std::int64_t> max_bytes{};
  /// Quality of the file, 0 to 100 (smoe_steps). None: 60, or what `max_bytes` or `psnr_db` requires.
  std::optional<double> quality{};
  bool lossless = false;  ///< true: every float is stored exactly
  /// Time limit of the whole call in seconds, 0.001 to 1e9; results then depend on the machine. None: no limit.
  std::optional<double> time_limit_s{};
  SmoeFitMethod method = SmoeFitMethod::gradient;
  std::int64_t iterations = 2000;  ///< most steps of a fit, 0 to 10^6
  std::uint64_t seed = 1;          ///< seed of every random choice
  bool linear = false;             ///< true: the pictures are linear light
  /// Bits of the codes in which PSNR is measured: 8 or 16; 0: colours as they are.
  int bits = 8;
  /// Called when the number of components is known, before their memory is allocated; not in a search. `limited`: more
  /// bytes are given than one component for four pixels needs. May throw.
  std::function<void(std::int64_t components, bool limited)> on_components{};
  /// Called before each fit of a search: its number, counted from 1, and its components.
  std::function<void(std::int64_t attempt, std::int64_t components)> on_attempt{};
  /// Called before a fit with a time limit, not in a search: estimated seconds to render all pictures once.
  std::function<void(double render_s)> on_estimate{};
};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::components>{1, bounds_of<&SmoeFitOptions::components>.high};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::psnr_db>{1, 100};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::max_bytes>{1, 1e15};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::quality>{0, 100};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::time_limit_s>{1e-3, 1e9};
template <>
inline constexpr Bounds bounds_of<&MixtureFitOptions::iterations> = bounds_of<&SmoeFitOptions::iterations>;

/// Why a fit did not become better.
enum class MixtureFitEnd {
  options,     ///< its components, iterations, bytes or time do not allow it
  components,  ///< a search stopped at one component for four pixels
  time,        ///< the time limit stopped a search
};
template <>
inline constexpr auto enum_names<MixtureFitEnd> =
    std::array{EnumName<MixtureFitEnd>{MixtureFitEnd::options, "options"},
               EnumName<MixtureFitEnd>{MixtureFitEnd::components, "components"},
               EnumName<MixtureFitEnd>{MixtureFitEnd::time, "time"}};

/// A fitted and stored model.
struct MixtureFit {
  SmoeModel model{};                           ///< as decoded from `bytes`
  std::vector<std::byte> bytes{};              ///< of a .smoe file
  double psnr_db = 0;                          ///< of `model` over all pictures, in codes
  double fit_psnr_db = 0;                      ///< of the fit before it was stored
  std::int64_t iterations = 0;                 ///< steps, sum over all attempts
  MixtureFitEnd end = MixtureFitEnd::options;  ///< why psnr_db is below what was asked for, if it is
  std::int64_t max_components = 0;             ///< one for four pixels: the most that a search tries
  bool cut_short = false;                      ///< no time was left to try a smaller file
};

/// Fits a model to a picture or to the views of a light field (SmoeFitter) and stores it (store_smoe). With `psnr_db`
/// and no `components` it searches the smallest file:
///
/// Short fits with 1/8 of the steps try counts until the PSNR is near the target before storing. Counts follow the
/// slope of PSNR over their logarithm. A full fit of the count found is stored. More components follow if it falls
/// short, then fewer while files become smaller, at most twice. Without a time limit the short fits cost about one full
/// fit; each of mostly two or three counts costs a fit and its storing. With a time limit, counts start higher and grow
/// while time is left.
///
/// `views`: as for SmoeFitter, in host memory. Reports `fitting`, `storing` and `measuring`. A target that is not
/// reached is no error: see psnr_db. Throws invalid_argument for options out of range, for `max_bytes` below the
/// smallest file, and as SmoeFitter; out_of_memory; cancelled.
MixtureFit fit_mixture(std::span<const SmoeFitView> views, const MixtureFitOptions& options = {},
                       const Queue& queue = {}, Progress& progress = Progress::none());
/// The same from a model of the same pictures, as SmoeFitter from a start; without `components`, `psnr_db` and
/// `max_bytes` its number of components is kept.
MixtureFit fit_mixture(std::span<const SmoeFitView> views, const SmoeModel& start,
                       const MixtureFitOptions& options = {}, const Queue& queue = {},
                       Progress& progress = Progress::none());

/// fit_mixture of pictures of files, on the scale of their codes: `options.bits` and `options.linear` are those of the
/// pictures.
MixtureFit fit_mixture(const CapturedViews& views, const MixtureFitOptions& options = {}, const Queue& queue = {},
                       Progress& progress = Progress::none());
/// The same from a model of the same pictures.
MixtureFit fit_mixture(const CapturedViews& views, const SmoeModel& start, const MixtureFitOptions& options = {},
                       const Queue& queue = {}, Progress& progress = Progress::none());

/// A model beside pictures.
struct MixtureComparison {
  double psnr_db = 0;                       ///< from the mean squared difference over all pictures
  std::vector<double> each{};               ///< PSNR of each picture, dB
  std::vector<ColourSimilarity> colours{};  ///< luma and chroma of each picture, if asked for

  /// Mean of `each`, dB.
  [[nodiscard]] double mean_psnr_db() const;
  /// Index of the picture of least PSNR.
  [[nodiscard]] std::int64_t worst() const;
  /// Means of `colours`, as papers have them.
  [[nodiscard]] ColourSimilarity mean_colours() const;
};

/// Size of a model's box in its own pixels: {ny, nx}, each 1 to 65536.
Shape<2> own_size(const SmoeModel& model);

/// Position of a view as SmoeView::at takes it: one number for each coordinate beyond x and y. Empty `numbers`: the
/// middle of the box. Throws invalid_argument for another count.
std::vector<double> view_position(const SmoeModel& model, const std::vector<double>& numbers = {});

/// Compares a model's pictures with others, rounded to codes as in a file. `bits`: 8 or 16 of a code; 0: colours as
/// they are. PSNR is infinite for equal pictures. Reports `measuring`. Throws as SmoeRenderer.
MixtureComparison compare_mixture(const SmoeModel& model, std::span<const SmoeFitView> views, int bits = 8,
                                  bool with_colours = false, const Queue& queue = {},
                                  Progress& progress = Progress::none());

/// compare_mixture with pictures of files, on the scale of their codes. A single picture without a position is that of
/// the middle of the model's box. Throws io naming a file of another aspect than the model's, beyond rounding to whole
/// pixels at any size, or of another number of channels; invalid_argument for views where the model has none.
MixtureComparison compare_mixture(const SmoeModel& model, const CapturedViews& views, bool with_colours = false,
                                  const Queue& queue = {}, Progress& progress = Progress::none());

/// A model to start from beside the pictures that it is to be fitted to.
struct MixtureStart {
  std::string path{};              ///< the picture that is compared: that of the middle view
  double psnr_db = 0;              ///< of the model's picture
  double mean_colour_psnr_db = 0;  ///< of the picture's mean colour; any model of these pictures has more
};

/// Compares a start of fit_mixture with the middle view. Throws invalid_argument for a model of other pictures' size,
/// channels or dimensions.
MixtureStart check_mixture_start(const SmoeModel& start, const CapturedViews& views, const Queue& queue = {});

/// Order of a light field's views in their file names, estimated from three neighbouring views.
struct Parallax {
  bool opposite = false;  ///< shifts along x to `right` and along y to `next` have opposite signs
  bool swapped = false;   ///< shifts are vertical to `right` and horizontal to `next`
};

/// Estimates the shift from view to view along both axes in squares of 16 x 16 pixels: -sum of (dI/du dI/dx) / sum of
/// (dI/dx)^2. `opposite`: the weighted sum of the products of both shifts is negative. `swapped`: shifts across explain
/// more than twice as much of the change as shifts along, and more in each of both neighbours. Pictures: {ny, nx,
/// channels} of one shape in host memory. Throws invalid_argument for different shapes. Cost: O(pixels).
Parallax find_parallax(View<const float, 3> middle, View<const float, 3> right, View<const float, 3> next);

}  // namespace holotone
