#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/fit.hpp>

namespace holotone {

/// How many components to fit for a file of so many bytes: 4 bits for each of their numbers, about where PSNR is best (kodim05 3.6, kodim19 4.1,
/// kodim23 4.7; few components of finer steps show more than many of coarse ones, above all in light fields). At least 1.
/// Throws invalid_argument for a number of dimensions or channels that no model has.
std::int64_t smoe_components_for(std::int64_t bytes, int dimensions, int channels);

/// Bytes that a file of so many components can be made to fit into: its header, and 1.5 bits for each number. store_smoe gets below that at its
/// coarsest. Throws invalid_argument for a number of dimensions or channels that no model has, or
/// fewer than 1 component.
std::int64_t smoe_least_bytes(std::int64_t components, int dimensions, int channels);

struct SmoeStoreOptions {
  /// > 0: the best file found that has at most so many bytes. 0: a file of `quality`.
  std::int64_t most_bytes = 0;
  double quality = 60;  ///< 0 to 100: a number takes a bit more for every 10
  /// Of descent while centres, shapes and weights become whole numbers; 0: they are rounded at once.
  std::int64_t steps = 240;
  /// > 0: descent and trials end so that storing takes about this long; what no file can do without (rounding once) is
  /// done in any case. Results then depend on the machine. 0: no limit.
  double time_limit_s = 0;
};

/// A fitted model as a .smoe file whose pictures are as near to `views` as its bytes allow: everything that rounding spoils is fitted again,
/// while it can be.
///
/// 1. Steps: in proportions by which each kind of number does about the same harm to the pictures, as measured.
/// 2. Gates (centres, shapes, weights) are rounded an eighth of the components at a time; all that is not yet rounded descends in
///    between. Then the experts, linear given the gates, are solved for.
/// 3. Experts are rounded a component at a time, a quarter of them in turn, four times over: each number to the whole one with the least
///    |error|^2 / 2 + lambda bits, the best of the component's later numbers taken into account, what other components have been
///    rounded to being there already. lambda is what a bit is worth at these steps, bits are those of a geometric distribution of what
///    the file's predictors leave.
///
/// With `most_bytes` the gates' quality is chosen by encoding the model as it is, and the experts' for the bytes that are left; where quality 0
/// takes more, steps become coarser yet.
/// Light fields: the descent looks at two views a step, 3. at nine.
///
/// `views`: as for SmoeFitter; `model`: of theirs, as SmoeFitter gives it. Fitting takes place on the device of `queue`, which takes a copy of the
/// views. The same arguments give the same bytes on any number of threads, and on a GPU each time.
/// Reports `storing`. Throws invalid_argument as SmoeFitter, for options out of range and for `most_bytes` that are too few, saying how many
/// the smallest file found has; cancelled. Cost: about that of `steps` steps of SmoeFitter, and some 30 pictures of every view.
/// Source: rounding in turn with the rest adapted, Babai 1986 (nearest plane); rate and distortion, Sullivan and Wiegand 1998.
SmoeEncoded store_smoe(std::span<const SmoeFitView> views, const SmoeModel& model, const SmoeStoreOptions& options = {},
                       const Queue& queue = {}, Progress& progress = Progress::none());

}  // namespace holotone
