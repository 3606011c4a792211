#include <cli/common/compression_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_job.hpp>
#include <cli/panel/panel_output.hpp>
#include <holotone/optics/test_chart.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

struct ChartArguments {
  HologramJob hologram;
  std::string fields;
};

int run_chart(ChartArguments& arguments) {
  HologramJob& job = arguments.hologram;
  complete_codes(job);
  require_known_counters("--output", job.output, false);
  if (frame_pattern("--output", job.output)) reject("--output", "a name without a counter for one picture", job.output);
  require_outputs({{"--output", 1, [&](std::int64_t) { return job.output; }}}, {});
  TestChartOptions options{.bits = job.encode.bits};
  if (!arguments.fields.empty()) {
    const auto [columns, rows] = resolution("--fields", arguments.fields);
    options.columns = columns;
    options.fields_down = rows;
  }
  const CodePixels pixels{{job.panel.ny, job.panel.nx}, job.encode.bits, job.packed16, job.writing};
  const auto fields = test_chart_fields(options, pixels.shape);
  require_memory_for_codes(job.output, pixels, 0);
  const UnfinishedRun run;
  write_codes(job.output, pixels, code_metadata(job, {0, 1}, "chart"),
              [&](const RowRange& part) { return test_chart(options, pixels.shape, part); });
  UnfinishedRun::keep();
  auto list = nlohmann::json::array();
  for (const auto& field : fields) {
    list.push_back({{"number", field.number},
                    {"code", field.code},
                    {"column", field.first_column},
                    {"row", field.first_row},
                    {"width", field.width},
                    {"height", field.height}});
  }
  report_json(job.console, {{"pattern", "chart"},
                            {"outputs", {job.output}},
                            {"panel", job.panel.name},
                            {"resolution", {job.panel.nx, job.panel.ny}},
                            {"pitch_m", job.panel.pitch_m},
                            {"bits", job.encode.bits},
                            {"fields", list}});
  report(job.console, fmt::format("{}: {} with codes from 0 to {}, {} x {} pixels, {}", job.output,
                                  counted(std::ssize(fields), "field"), fields.back().code, job.panel.nx, job.panel.ny,
                                  counted(job.encode.bits, "bit")));
  return exit_ok;
}

}  // namespace

Command panel_chart_command() {
  const auto arguments = std::make_shared<ChartArguments>();
  auto& a = *arguments;
  return {.name = "chart",
          .purpose = "Make a numbered test chart: orientation, size, order of levels and dead pixels of a panel",
          .examples = {"holotone panel chart -o chart.png", "holotone panel chart -o chart.png --fields 8x4"},
          .groups = {{"",
                      {{.names = "--fields",
                        .target = &a.fields,
                        .value = "COLUMNSxROWS",
                        .help = "Number of fields, whose codes rise from 0 to the largest",
                        .otherwise = "16x16, or fewer on a small panel",
                        .common = true,
                        .feeds = "test_chart.columns|test_chart.fields_down"},
                       panel_output_option(a.hologram),
                       panel_bits_option(a.hologram),
                       panel_packed_option(a.hologram),
                       compression_option(a.hologram.writing.compression)}},
                     {"Panel", panel_options(a.hologram.panel_choice)},
                     console_options(a.hologram.console)},
          .run = [arguments] { return run_chart(*arguments); }};
}

}  // namespace holotone::cli
