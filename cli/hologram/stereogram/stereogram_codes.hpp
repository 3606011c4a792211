#pragma once
#include <cli/hologram/stereogram/stereogram_options.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/hogel_weights.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// Codes to be made of one channel of a stereogram.
struct StereogramCodesTask {
  std::string output;  ///< a file; unused for a panel
  Metadata metadata;   ///< with the quantization
  const ViewSource& source;
  int colour = 0;
  std::int64_t rows_at_once = 1;  ///< rows of pixels, whole rows of hogels
};

/// How the codes of a channel are made: with least-squares weights for the job's viewer, the defaults of `holotone
/// quantize`.
struct StereogramQuantization {
  ErrorDiffusionOptions options;
  HogelWeights weights;

  StereogramQuantization(const StereogramJob& job, const FieldGrid& grid, std::int64_t rows_at_once,
                         Progress& progress);
  void describe(Metadata& metadata) const;
};

/// One device that computes and quantizes rows of hogels.
class StereogramQuantizer {
 public:
  StereogramQuantizer(StereogramPlan& plan, const StereogramQuantization& quantization, const Queue& queue);
  StereogramReport make(const ViewSource& source, int colour, const RowRange& part, View<std::uint8_t, 2> codes,
                        Progress& progress);

 private:
  StereogramPlan& plan_;
  ErrorDiffusionPlan diffusion_;
  Array<Complex, 2> field_;
};

/// Result of one channel.
struct StereogramCodesMade {
  StereogramReport report;
  std::optional<Image> shown;  ///< the codes, for a panel
};

/// Computes and quantizes a stereogram row of hogels by row of hogels, from top to bottom. Only the codes are kept: in
/// the task's file, or in memory for a panel.
StereogramCodesMade make_codes(const StereogramJob& job, StereogramPlan& plan,
                               const StereogramQuantization& quantization, const StereogramCodesTask& task,
                               const Queue& queue, Progress& progress);

}  // namespace holotone::cli
