#pragma once
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <holotone/recipes/stereogram_prints.hpp>
#include <optional>

namespace holotone::cli {

/// Least-squares weights for the job's viewer, the defaults of `holotone quantize`.
HogelWeights codes_weights(const StereogramJob& job, const FieldGrid& grid, Progress& progress);

/// Adds the quantization of codes with these weights.
void describe_codes(const StereogramJob& job, const HogelWeights& weights, Metadata& metadata);

/// Result of one channel.
struct StereogramCodesMade {
  StereogramInfo info;
  StereogramReport report;
  std::optional<Image> shown;  ///< the codes, for a panel
};

/// Computes and quantizes a stereogram row of hogels by row of hogels, from top to bottom. Only the codes are kept: in
/// the print's file, or in memory for a panel. `rows_at_once`: rows of pixels, whole rows of hogels.
StereogramCodesMade make_codes(const StereogramJob& job, const StereogramPrint& print, const ViewSource& source,
                               std::int64_t rows_at_once, const Queue& queue, Progress& progress);

}  // namespace holotone::cli
