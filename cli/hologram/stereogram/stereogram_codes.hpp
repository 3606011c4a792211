#pragma once
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/image.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// Codes to be made of one channel of a stereogram.
struct StereogramCodesTask {
  std::string output;  ///< a file; unused for a panel
  Metadata metadata;   ///< without the quantization
  const ViewSource& source;
  int colour = 0;
  std::int64_t rows_at_once = 1;  ///< rows of pixels, whole rows of hogels
};

/// Result of one channel.
struct StereogramCodesMade {
  StereogramReport report;
  HogelWeights weights;        ///< statistics; without the weights themselves
  std::optional<Image> shown;  ///< the codes, for a panel
};

/// Computes and quantizes a stereogram row of hogels by row of hogels, with least-squares weights for the job's viewer.
/// Only the codes are kept: in the task's file, or in memory for a panel. The weights are the defaults of `holotone
/// quantize`.
StereogramCodesMade make_codes(const StereogramJob& job, StereogramPlan& plan, const StereogramCodesTask& task,
                               const Queue& queue, Progress& progress);

}  // namespace holotone::cli
