#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/codes_writer.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/stereogram/stereogram_codes.hpp>
#include <holotone/recipes/quantized_file.hpp>
#include <holotone/recipes/stereogram_codes.hpp>
#include <utility>

namespace holotone::cli {

StereogramCodesMade make_codes(const StereogramJob& job, StereogramPlan& plan, const StereogramCodesTask& task,
                               const Queue& queue, Progress& progress) {
  const auto& grid = plan.options().grid;
  WindowWeightOptions windows;
  windows.hogel_px = job.options.hogel_px;
  windows.weights.rule = WeightRule::least_squares;
  StereogramCodesMade made;
  made.weights = window_weights(grid, *job.options.viewer, windows, progress);

  ErrorDiffusionOptions options = *job.codes;
  options.hogel_px = job.options.hogel_px;
  options.rows_at_once = task.rows_at_once;
  options.cache_folder = cache_folder();
  ErrorDiffusionPlan diffusion(options, made.weights.weights, grid.shape(), queue);

  std::optional<CodesWriter> writer;
  Array<std::uint8_t, 3> shown;
  if (job.shown) {
    shown = Array<std::uint8_t, 3>({grid.ny, grid.nx, 1});
  } else {
    Metadata metadata = task.metadata;
    describe_quantization(metadata, {"vded", options, options.scale, &windows.weights, &made.weights});
    writer.emplace(task.output, grid.shape(), metadata, true, job.writing);
  }
  Array<Complex, 2> field({task.rows_at_once, grid.nx}, queue);
  Array<std::uint8_t, 2> codes(field.shape(), queue);
  for (std::int64_t row = 0; row < grid.ny; row += task.rows_at_once) {
    const RowRange part{row, std::min(task.rows_at_once, grid.ny - row)};
    const View<std::uint8_t, 2> own(codes.data(), {part.rows, grid.nx}, queue.device());
    made.report += stereogram_codes(plan, diffusion, task.source, task.colour, part, field.view(), own, progress);
    const View<std::uint8_t, 2> target =
        writer ? writer->next(part.rows) : View<std::uint8_t, 2>(shown.data() + row * grid.nx, {part.rows, grid.nx});
    copy<std::uint8_t, 2>(target, own, queue);
    queue.synchronize();
    check_cancelled("writing");
    if (writer) writer->write();
  }
  if (writer) {
    UnfinishedRun::will_write(task.output);
    writer->finish();
  } else {
    made.shown = Image{std::move(shown), {}};
  }
  made.weights.weights = {};
  return made;
}

}  // namespace holotone::cli
