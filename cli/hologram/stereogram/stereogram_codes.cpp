#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/codes_writer.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/hologram/stereogram/stereogram_codes.hpp>
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

StereogramQuantization::StereogramQuantization(const StereogramJob& job, const FieldGrid& grid,
                                               std::int64_t rows_at_once, Progress& progress)
    : options(*job.codes),
      weights(window_weights(grid, *job.options.viewer, {.hogel_px = job.options.hogel_px, .weights = weight_options()},
                             progress)) {
  options.hogel_px = job.options.hogel_px;
  options.rows_at_once = rows_at_once;
  options.cache_folder = kernel_folder(job.console);
}

void StereogramQuantization::describe(Metadata& metadata) const {
  const WeightOptions own = weight_options();
  describe_quantization(metadata, {"vded", options, options.scale, &own, &weights});
}

StereogramQuantizer::StereogramQuantizer(StereogramPlan& plan, const StereogramQuantization& quantization,
                                         const Queue& queue)
    : plan_(plan),
      diffusion_(quantization.options, quantization.weights.weights, plan.options().grid.shape(), queue),
      field_({quantization.options.rows_at_once, plan.options().grid.nx}, queue) {}

StereogramReport StereogramQuantizer::make(const ViewSource& source, int colour, const RowRange& part,
                                           View<std::uint8_t, 2> codes, Progress& progress) {
  return stereogram_codes(plan_, diffusion_, source, colour, part, field_.view(), codes, progress);
}

StereogramCodesMade make_codes(const StereogramJob& job, StereogramPlan& plan,
                               const StereogramQuantization& quantization, const StereogramCodesTask& task,
                               const Queue& queue, Progress& progress) {
  const auto& grid = plan.options().grid;
  StereogramCodesMade made;
  StereogramQuantizer quantizer(plan, quantization, queue);
  std::optional<CodesWriter> writer;
  Array<std::uint8_t, 3> shown;
  if (job.shown) {
    shown = Array<std::uint8_t, 3>({grid.ny, grid.nx, 1});
  } else {
    writer.emplace(task.output, grid.shape(), task.metadata, true, job.writing);
  }
  Array<std::uint8_t, 2> codes({task.rows_at_once, grid.nx}, queue);
  for (std::int64_t row = 0; row < grid.ny; row += task.rows_at_once) {
    const RowRange part{row, std::min(task.rows_at_once, grid.ny - row)};
    const View<std::uint8_t, 2> own(codes.data(), {part.rows, grid.nx}, queue.device());
    made.report += quantizer.make(task.source, task.colour, part, own, progress);
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
  return made;
}

}  // namespace holotone::cli
