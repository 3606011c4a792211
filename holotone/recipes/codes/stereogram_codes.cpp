#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/stereogram_codes.hpp>

namespace holotone {
namespace {

ErrorDiffusionOptions with_rows(ErrorDiffusionOptions options, std::int64_t rows_at_once) {
  options.rows_at_once = rows_at_once;
  return options;
}

}  // namespace

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
    const View<Complex, 2> rows_field(field.data(), {some.rows, grid.nx}, field.device());
    report += stereogram.execute(source, channel, some, rows_field, progress);
    diffusion.execute(some, rows_field,
                      {codes.data() + (row - part.first_row) * grid.nx, rows_field.shape(), codes.device()});
    (void)diffusion.report();  // waits: the plans may have different queues
  }
  return report;
}

StereogramCodesPlan::StereogramCodesPlan(const StereogramOptions& stereogram,
                                         const StereogramQuantization& quantization, std::int64_t rows_at_once,
                                         const Queue& queue)
    : stereogram_(stereogram, queue),
      diffusion_(with_rows(quantization.options, rows_at_once), quantization.weights, stereogram.grid.shape(), queue),
      field_({rows_at_once, stereogram.grid.nx}, queue) {}

StereogramReport StereogramCodesPlan::execute(const ViewSource& source, int channel, const RowRange& part,
                                              View<std::uint8_t, 2> codes, Progress& progress) {
  return stereogram_codes(stereogram_, diffusion_, source, channel, part, field_.view(), codes, progress);
}

}  // namespace holotone
