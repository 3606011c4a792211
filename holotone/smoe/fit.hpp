#pragma once
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/smoe/model.hpp>
#include <memory>
#include <span>
#include <vector>

namespace holotone {

enum class SmoeFitMethod {
  gradient,  ///< a few steps of `em`, then gradient steps on every parameter; idle components move to where the error is
  em,  ///< expectation-maximisation of the mixture of coordinates and colours, and nothing else (Verhack et al. 2016)
};

struct SmoeFitOptions {
  /// 1 to 2^24; 0: as many as `psnr_db` takes, at most one for four pixels.
  std::int64_t components = 5000;
  SmoeFitMethod method = SmoeFitMethod::gradient;
  /// Steps over the whole picture, 0 to 10^6. `components` = 0: for each number of components that is tried.
  std::int64_t iterations = 2000;
  /// > 0: the fit ends as soon as the picture is this near the image. 0: no such end.
  double psnr_db = 0;
  /// > 0: the fit ends after about this long, its constructor's time included, with a finished model; results then depend on the machine. 0: no
  /// limit.
  double time_limit_s = 0;
  std::uint64_t seed = 1;
  std::int64_t views_per_step = 2;  ///< light fields: pictures that a step of `gradient` looks at, 1 or more
  bool linear = false;              ///< the image's colours are linear light: written in the model
};

/// One picture of a light field: {ny, nx, channels} in host memory, and from where: {u}, or {u, v}, u to the right and v down,
/// -1 to 1 from one outermost view to the other.
struct SmoeFitView {
  View<const float, 3> image;
  std::vector<double> at;
};

/// A fit of a model to an image or to the views of a light field: the least sum over pixels of |y - t|^2 over all parameters.
///
/// Start: centres sampled where the image is far from affine, then EM of the joint mixture turns components along edges.
/// `gradient` then takes steps of Adam in coordinates that stretch with each component, by exact gradients over all pixels
/// (smoe_gradient); every so often components that do least become half of those with the largest errors; at the end the
/// experts, linear given the gating, are solved for. Standard deviations stay at or above 0.3 pixels, their ratio within 100.
///
/// Light fields: components start in the view that is nearest to the middle, each moved in the others by the parallax that
/// shows its surroundings there best, up to a tenth of the shorter side, equal for the grid's steps in u and v; a step of
/// `gradient` looks at a few views, in an order drawn anew for each round of all of them.
///
/// With a GPU's queue the pictures of all views, components and sums stay on it; images come from host memory all the same.
/// The same options give the same bits on any number of threads, and on a GPU whenever the fit runs there, unless `time_limit_s` ends
/// it; fits on two devices differ by rounding, which grows with the steps. Cost: O(components per tile) a pixel and iteration;
/// memory, on the queue's device: channels + 1 numbers a pixel of all views, 8 bytes for each component of each 8 x 16 tile of all
/// views and 64 for those of one; out_of_memory is thrown where they do not fit.
/// Source: model and descent, Bochinski et al. 2018; start by EM, Verhack et al. 2016; Adam, Kingma and Ba 2015.
class SmoeFitter {
 public:
  /// `image`: {ny, nx, channels} in host memory, 1 to 65536 a side, 1 to 4 channels, colours as the model shall give them (code
  /// values divided by their largest); copied. Throws invalid_argument for another shape, numbers that are not finite,
  /// options out of range.
  explicit SmoeFitter(View<const float, 3> image, const SmoeFitOptions& options = {}, const Queue& queue = {});
  /// Starts from a model of the same image: goes on with a fit, or fits it to fewer or more components. Throws also for a model
  /// that require_model refuses or of another size or number of channels.
  SmoeFitter(View<const float, 3> image, const SmoeModel& start, const SmoeFitOptions& options = {},
             const Queue& queue = {});
  /// The same for the views of a light field, of one shape, places all of one dimension; the model has 2 dimensions more than
  /// they.
  explicit SmoeFitter(std::span<const SmoeFitView> views, const SmoeFitOptions& options = {}, const Queue& queue = {});
  SmoeFitter(std::span<const SmoeFitView> views, const SmoeModel& start, const SmoeFitOptions& options = {},
             const Queue& queue = {});
  ~SmoeFitter();
  SmoeFitter(SmoeFitter&&) noexcept;
  SmoeFitter& operator=(SmoeFitter&&) noexcept;

  /// Until an end is reached. Reports `fitting, <PSNR> dB`. Throws cancelled; the fit is then as far as it came, `model()` is
  /// good, and another run continues.
  void run(Progress& progress = Progress::none());

  /// From (0, 0) to (nx, ny) and -1 to 1, weights that add up to 1.
  [[nodiscard]] SmoeModel model() const;
  /// -10 log10 of the mean squared error of all colours, before any rounding or clipping, when last measured (of each view:
  /// views that no step has looked at do not count); infinite before a run.
  [[nodiscard]] double psnr_db() const;
  [[nodiscard]] std::int64_t iterations() const;  ///< done so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SmoeFitter's model after a run.
SmoeModel fit_smoe(View<const float, 3> image, const SmoeFitOptions& options = {}, const Queue& queue = {},
                   Progress& progress = Progress::none());

}  // namespace holotone
