#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/stereogram.hpp>
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

}  // namespace holotone
