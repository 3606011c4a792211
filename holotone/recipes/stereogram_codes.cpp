#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/stereogram_codes.hpp>

namespace holotone {

StereogramReport stereogram_codes(StereogramPlan& stereogram, ErrorDiffusionPlan& diffusion, const ViewSource& source,
                                  int channel, const RowRange& part, View<Complex, 2> field,
                                  View<std::uint8_t, 2> codes, Progress& progress) {
  constexpr std::string_view where = "stereogram_codes";
  const auto& grid = stereogram.options().grid;
  const std::int64_t side = stereogram.options().hogel_px;
  require_rows(where, part, grid.ny);
  const auto [rows, width] = field.shape();
  if (width != grid.nx || rows < side || rows % side != 0) {
    throw_argument(where, "field", fmt::format("rows of hogels of {} pixels, {} wide", side, grid.nx),
                   fmt::format("{} x {}", rows, width));
  }
  require_view(where, "codes", codes, {part.rows, grid.nx}, field.device());
  StereogramReport report;
  for (std::int64_t row = part.first_row; row < part.end(); row += rows) {
    const RowRange some{row, std::min(rows, part.end() - row)};
    const View<Complex, 2> own(field.data(), {some.rows, grid.nx}, field.device());
    report += stereogram.execute(source, channel, some, own, progress);
    diffusion.execute(some, own, {codes.data() + (row - part.first_row) * grid.nx, own.shape(), codes.device()});
    (void)diffusion.report();  // waits: the plans may have different queues
  }
  return report;
}

}  // namespace holotone
