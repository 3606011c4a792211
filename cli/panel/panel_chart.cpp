#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <cli/panel/codes_file.hpp>
#include <cli/panel/panel_command.hpp>
#include <cli/panel/panel_job.hpp>
#include <holotone/optics/test_chart.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace holotone::cli {
namespace {

struct ChartJob {
  HologramJob hologram;
  std::optional<std::array<std::int64_t, 2>> fields;  ///< columns, rows; none: as many as fit
};

int run_chart(ChartJob& chart) {
  HologramJob& job = chart.hologram;
  complete_codes(job);
  require_one_name(job.output);
  require_output(job.output);
  TestChartOptions options{.bits = job.encode.bits};
  if (chart.fields) {
    options.columns = chart.fields->front();
    options.fields_down = chart.fields->back();
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
  const auto job = std::make_shared<ChartJob>();
  return {.name = "chart",
          .purpose = "Make a numbered test chart: orientation, size, order of levels and dead pixels of a panel",
          .examples = {"holotone panel chart -o chart.png", "holotone panel chart -o chart.png --fields 8x4"},
          .groups = {{"",
                      {{.names = "--fields",
                        .target = parsed(job->fields, [](std::string_view option,
                                                         const std::string& text) { return resolution(option, text); }),
                        .value = "COLUMNSxROWS",
                        .help = "Number of fields, whose codes rise from 0 to the largest",
                        .otherwise = "16x16, or fewer on a small panel",
                        .common = true,
                        .feeds = "test_chart.columns|test_chart.fields_down"},
                       panel_output_option(job->hologram),
                       panel_bits_option(job->hologram),
                       panel_packed_option(job->hologram),
                       scale_codes_option(job->hologram.scale_codes, job->hologram.output),
                       compression_option(job->hologram.writing.compression, &job->hologram.output)}},
                     {"Panel", panel_options(job->hologram.panel_choice)},
                     console_options(job->hologram.console)},
          .run = [job] { return run_chart(*job); }};
}

}  // namespace holotone::cli
