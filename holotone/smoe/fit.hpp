#pragma once
#include <array>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/smoe/model.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone {

enum class SmoeFitMethod {
  gradient,  ///< a few steps of `em`, then gradient steps on every parameter; idle components move to large errors
  em,        ///< only expectation-maximisation of the mixture of coordinates and colours (Verhack et al. 2016)
};
template <>
inline constexpr auto enum_names<SmoeFitMethod> = std::array{
    EnumName<SmoeFitMethod>{SmoeFitMethod::gradient, "gradient"}, EnumName<SmoeFitMethod>{SmoeFitMethod::em, "em"}};

struct SmoeFitOptions {
  /// Number of components, 1 to 2^24; 0: the number that `psnr_db` requires, at most one for four pixels.
  std::int64_t components = 5000;
  SmoeFitMethod method = SmoeFitMethod::gradient;
  /// Steps over the whole picture, 0 to 10^6. `components` = 0: for each number of components tried.
  std::int64_t iterations = 2000;
  /// PSNR at which the fit stops, dB; 0: no such stop.
  double psnr_db = 0;
  /// Approximate time, including the constructor's, after which the fit stops with a complete model; 0: no limit. With
  /// a limit, results depend on the machine.
  double time_limit_s = 0;
  std::uint64_t seed = 1;
  std::int64_t views_per_step = 2;  ///< number of views in a step of `gradient`, >= 1 (light fields only)
  bool linear = false;              ///< true: the image's colours are linear light; stored in the model
};
template <>
inline constexpr Bounds bounds_of<&SmoeFitOptions::components>{0, 1 << 24};
template <>
inline constexpr Bounds bounds_of<&SmoeFitOptions::iterations>{0, 1e6};
template <>
inline constexpr Bounds bounds_of<&SmoeFitOptions::psnr_db>{0, 200};
template <>
inline constexpr Bounds bounds_of<&SmoeFitOptions::time_limit_s>{0, 1e9};
template <>
inline constexpr Bounds bounds_of<&SmoeFitOptions::views_per_step>{1, 1 << 24};

/// One picture of a light field: {ny, nx, channels} in host memory, and its camera position {u} or {u, v}. u runs
/// right and v down, -1 to 1 between the outermost views.
struct SmoeFitView {
  View<const float, 3> image;
  std::vector<double> at;
};

/// Fits a model to an image or to the views of a light field: minimises the sum over pixels of |y - t|^2 over all
/// parameters.
///
/// Start: centres sampled where the image is far from affine, then EM of the joint mixture aligns components with
/// edges. `gradient` then uses Adam in coordinates that scale with each component, by exact gradients over all pixels
/// (smoe_gradient). At intervals, the components with the least effect are replaced by halves of those with the
/// largest errors. At the end the experts, linear given the gating, are solved for. Standard deviations stay at or
/// above 0.3 pixels, their ratio within 100.
///
/// Light fields: components start in the view nearest to the centre. In the other views each is shifted by the
/// parallax that best matches its surroundings. The parallax is up to a tenth of the shorter side and equal for the
/// grid's steps in u and v. A step of `gradient` uses a few views, in a random order that is drawn anew for each round
/// of all views.
///
/// With a GPU's queue the pictures of all views, components and sums stay on the GPU; images always come from host
/// memory. The same options give the same bits on any number of threads, and in every run on a GPU, unless
/// `time_limit_s` ends the fit. Fits on two devices differ by rounding, which grows with the steps. Cost: O(components
/// per tile) a pixel and iteration. Memory on the queue's device: channels + 1 numbers a pixel of all views, 8 bytes
/// for each component of each 8 x 16 tile of all views and 64 for those of one. Throws out_of_memory if they do not
/// fit.
/// Source: model and descent, Bochinski et al. 2018; start by EM, Verhack et al. 2016; Adam, Kingma and Ba 2015.
class SmoeFitter {
 public:
  /// `image`: {ny, nx, channels} in host memory, 1 to 65536 a side, 1 to 4 channels, colours in the model's range
  /// (code values divided by the largest); copied. Throws invalid_argument for another shape, numbers that are not
  /// finite, options out of range.
  explicit SmoeFitter(View<const float, 3> image, const SmoeFitOptions& options = {}, const Queue& queue = {});
  /// Starts from a model of the same image, to continue a fit or to change the number of components. Throws also for a
  /// model that require_model rejects or of another size or number of channels.
  SmoeFitter(View<const float, 3> image, const SmoeModel& start, const SmoeFitOptions& options = {},
             const Queue& queue = {});
  /// For the views of a light field, of one shape, with positions of one dimension. The model has 2 dimensions more
  /// than the positions. Throws as the constructors for one image.
  explicit SmoeFitter(std::span<const SmoeFitView> views, const SmoeFitOptions& options = {}, const Queue& queue = {});
  SmoeFitter(std::span<const SmoeFitView> views, const SmoeModel& start, const SmoeFitOptions& options = {},
             const Queue& queue = {});
  ~SmoeFitter();
  SmoeFitter(SmoeFitter&&) noexcept;
  SmoeFitter& operator=(SmoeFitter&&) noexcept;

  /// Runs until a stop criterion. Reports `fitting, <PSNR> dB`. Throws cancelled; `model()` is then the model so far,
  /// and another run continues.
  void run(Progress& progress = Progress::none());

  /// Returns the current model. Its box is (0, 0) to (nx, ny) and -1 to 1; its weights sum to 1.
  [[nodiscard]] SmoeModel model() const;
  /// -10 log10 of the mean squared error of all colours, before any rounding or clipping, when last measured; infinite
  /// before a run. Views not yet used by a step are excluded.
  [[nodiscard]] double psnr_db() const;
  [[nodiscard]] std::int64_t iterations() const;  ///< number of completed iterations

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One-shot SmoeFitter: its model after a run.
SmoeModel fit_smoe(View<const float, 3> image, const SmoeFitOptions& options = {}, const Queue& queue = {},
                   Progress& progress = Progress::none());

}  // namespace holotone
