#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/stereogram/stereogram_codes.hpp>
#include <holotone/recipes/codes/codes_writer_detail.hpp>
#include <holotone/recipes/quantized_file.hpp>
#include <holotone/recipes/stereogram_codes.hpp>
#include <utility>

namespace holotone::cli {
namespace {

WeightOptions weight_options() {
  WeightOptions weights;
  weights.rule = WeightRule::least_squares;
  return weights;
}

}  // namespace

HogelWeights codes_weights(const StereogramJob& job, const FieldGrid& grid, Progress& progress) {
  return window_weights(grid, *job.options.viewer, {.hogel_px = job.options.hogel_px, .weights = weight_options()},
                        progress);
}

void describe_codes(const StereogramJob& job, const HogelWeights& weights, Metadata& metadata) {
  const WeightOptions code_weights = weight_options();
  ErrorDiffusionOptions options = *job.codes;
  options.hogel_px = job.options.hogel_px;
  describe_quantization(metadata, {"vded", options, options.scale, &code_weights, &weights});
}

StereogramCodesMade make_codes(const StereogramJob& job, const StereogramPrint& print, const ViewSource& source,
                               std::int64_t rows_at_once, const Queue& queue, Progress& progress) {
  const auto& grid = print.stereogram.grid;
  StereogramCodesMade made;
  StereogramCodesPlan plan(print.stereogram, *print.quantization, rows_at_once, queue);
  made.info = plan.info();
  std::optional<CodesWriter> writer;
  Array<std::uint8_t, 3> shown;
  if (job.shown) {
    shown = Array<std::uint8_t, 3>({grid.ny, grid.nx, 1});
  } else {
    writer.emplace(print.output, grid.shape(), print.metadata, true, job.writing);
  }
  Array<std::uint8_t, 2> codes({rows_at_once, grid.nx}, queue);
  for (std::int64_t row = 0; row < grid.ny; row += rows_at_once) {
    const RowRange part{row, std::min(rows_at_once, grid.ny - row)};
    const View<std::uint8_t, 2> part_codes(codes.data(), {part.rows, grid.nx}, queue.device());
    made.report += plan.execute(source, print.channel, part, part_codes, progress);
    const View<std::uint8_t, 2> target =
        writer ? writer->next(part.rows) : View<std::uint8_t, 2>(shown.data() + row * grid.nx, {part.rows, grid.nx});
    copy<std::uint8_t, 2>(target, part_codes, queue);
    queue.synchronize();
    check_cancelled("writing");
    if (writer) writer->write();
  }
  if (writer) {
    UnfinishedRun::will_write(print.output);
    writer->finish();
  } else {
    made.shown = Image{std::move(shown), {}};
  }
  return made;
}

}  // namespace holotone::cli
