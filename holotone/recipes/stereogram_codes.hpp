#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>

namespace holotone {

/// Computes a stereogram and quantizes it in one pass, some rows of hogels at a time: only the codes are kept. They are
/// those of StereogramPlan::execute for the whole panel and ErrorDiffusionPlan::execute after it.
/// Both plans are of one device, for the same panel and the same hogels; the diffusion has a given scale. `part`: whole
/// rows of hogels. `field` {rows of hogels, nx}: scratch memory; the more rows it has, the more hogels run in parallel.
/// `codes` {part.rows, nx}. Both on the plans' device.
/// Waits until done; reports hogels of the whole panel to `progress`. Throws as both plans do.
StereogramReport stereogram_codes(StereogramPlan& stereogram, ErrorDiffusionPlan& diffusion, const ViewSource& source,
                                  int channel, const RowRange& part, View<Complex, 2> field,
                                  View<std::uint8_t, 2> codes, Progress& progress = Progress::none());

/// Error diffusion of a stereogram.
struct StereogramQuantization {
  ErrorDiffusionOptions options{};  ///< with a scale; rows_at_once is replaced
  DiffusionWeights weights{};       ///< such as those of window_weights
};

/// A StereogramPlan and the ErrorDiffusionPlan of its codes, with the memory of stereogram_codes.
class StereogramCodesPlan {
 public:
  /// `rows_at_once`: rows of pixels of that memory, whole rows of hogels. Throws as both plans do.
  StereogramCodesPlan(const StereogramOptions& stereogram, const StereogramQuantization& quantization,
                      std::int64_t rows_at_once, const Queue& queue = {});
  /// As stereogram_codes.
  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<std::uint8_t, 2> codes,
                           Progress& progress = Progress::none());
  [[nodiscard]] StereogramInfo info() const { return stereogram_.info(); }

 private:
  StereogramPlan stereogram_;
  ErrorDiffusionPlan diffusion_;
  Array<Complex, 2> field_;
};

}  // namespace holotone
