#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/fit.hpp>

namespace holotone {

/// Number of components to fit for a file of `bytes`, near the best PSNR. In colour 4 bits for each of their numbers
/// (best: kodim05 3.6, kodim19 4.1, kodim23 4.7). In one or two channels 5.8, as there is no chroma, which takes few
/// bits: 0.7 to 2.1 dB more than 4 (docs/smoe.md). Few components of fine steps are better than many of coarse ones,
/// above all in light fields. At least 1. Throws invalid_argument for dimensions or channels out of range.
std::int64_t smoe_components_for(std::int64_t bytes, int dimensions, int channels);

/// Sufficient size of a file of `components`, bytes: its header, and 1.5 bits for each number. The smallest file of
/// store_smoe is smaller. Throws invalid_argument for dimensions or channels out of range, or fewer than 1 component.
std::int64_t smoe_min_bytes(std::int64_t components, int dimensions, int channels);

struct SmoeStoreOptions {
  /// Maximum size, bytes: the result is the best file found. 0: a file of `quality`.
  std::int64_t max_bytes = 0;
  double quality = 60;  ///< 0 to 100: each 10 adds one bit to a number
  /// Steps of descent while centres, shapes and weights are rounded; 0: they are rounded at once.
  std::int64_t steps = 240;
  /// Approximate time of storing, reached by limits on descent and trials; 0: no limit. The minimum work (rounding
  /// once) is always done. With a limit, results depend on the machine.
  double time_limit_s = 0;
};

/// Stores a fitted model as a .smoe file whose pictures are as near to `views` as its bytes allow. Parameters not yet
/// rounded are fitted again after each rounding.
///
/// 1. Steps are set in proportions at which each kind of number has about the same measured effect on the pictures.
/// 2. Gates (centres, shapes, weights) are rounded an eighth of the components at a time, with descent of the others in
///    between. Then the experts, linear given the gates, are solved for.
/// 3. Experts are rounded a component at a time, a quarter of them in turn, in four passes. Each number becomes the
///    whole one with the least |error|^2 / 2 + lambda bits. This includes the best values of the component's later
///    numbers, and the rounding of other components. lambda is the value of a bit at these steps; bits are
///    those of a geometric distribution of the residuals of the file's predictors.
///
/// With `max_bytes` the gates' quality is chosen by encoding the model unchanged, and the experts' for the remaining
/// bytes. If quality 0 needs more, steps become coarser still.
/// Light fields: a step of the descent uses two views, item 3 uses nine.
///
/// `views`: as for SmoeFitter; `model`: their model by SmoeFitter. Fitting runs on the device of `queue`, on a copy of
/// the views. The same arguments give the same bytes on any number of threads, and in every run on a GPU. Reports
/// `storing`. Throws invalid_argument as SmoeFitter, for options out of range and for `max_bytes` that are too few,
/// with the size of the smallest file found; cancelled. Cost: about that of `steps` steps of SmoeFitter, and some 30
/// pictures of every view.
/// Source: rounding in turn with the rest adapted, Babai 1986 (nearest plane); rate and distortion, Sullivan and
/// Wiegand 1998.
SmoeEncoded store_smoe(std::span<const SmoeFitView> views, const SmoeModel& model, const SmoeStoreOptions& options = {},
                       const Queue& queue = {}, Progress& progress = Progress::none());

}  // namespace holotone
