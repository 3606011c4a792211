#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/options/values.hpp>
#include <cli/smoe/smoe_fit_job.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

constexpr std::string_view leave_out_name = "--leave-out";

std::vector<ViewNumbers> left_out_views(const std::vector<std::string>& texts) {
  constexpr std::string_view expected = "U,V as in the names of files, such as 3,5 (U alone without %v)";
  std::vector<ViewNumbers> views;
  for (const auto& text : texts) {
    const auto pieces = list(leave_out_name, text, expected);
    if (pieces.size() > 2) reject(leave_out_name, expected, text);
    ViewNumbers view;
    view.u = whole_number(leave_out_name, pieces[0], 0, max_view_number);
    if (pieces.size() == 2) view.v = whole_number(leave_out_name, pieces[1], 0, max_view_number);
    views.push_back(view);
  }
  return views;
}

std::int64_t max_bytes(std::string_view option, const std::string& text) {
  const std::int64_t bytes = byte_count(option, text);
  if (bytes < 1) reject(option, "1 or more, such as 40k", text);
  return bytes;
}

void check_outputs(const SmoeFitJob& job) {
  require_known_counters(job.output, false);
  require_model_name(output_name, job.output);
  if (!io::has_format(job.output, io::FileFormat::smoe) &&
      (job.options.lossless || job.options.quality || job.options.max_bytes)) {
    reject_output("a name ending in .smoe for --quality, --bytes or --lossless", job.output);
  }
  std::vector<InputFile> inputs{{"IN", job.input}};
  if (!job.resume.empty()) {
    require_model_name("--resume", job.resume);
    inputs.push_back({"--resume", job.resume});
  }
  require_output(job.output, inputs);
}

std::vector<OptionRow> size_options(SmoeFitJob& job) {
  return {{.names = "--components",
           .target = member<&MixtureFitOptions::components>(job.options),
           .value = "N",
           .help = "Number of components, such as 5k",
           .otherwise = "5000, or by --bytes or --psnr",
           .common = true,
           .feeds = "SmoeFitter.components|fit_mixture.components"},
          {.names = "--psnr",
           .target = member<&MixtureFitOptions::psnr_db>(job.options),
           .value = "DB",
           .help = "Minimum PSNR of the decoded file; the smallest such file found is written",
           .common = true},
          {.names = "--bytes",
           .target = parsed(job.options.max_bytes, max_bytes),
           .value = "N",
           .help = "Maximum size of a .smoe file, such as 40k",
           .common = true,
           .feeds = "fit_mixture.max_bytes|encode_smoe_bytes.max_bytes|store_smoe.max_bytes"},
          {.names = "--quality",
           .target = member<&MixtureFitOptions::quality>(job.options),
           .value = "Q",
           .help = "Quality of a .smoe file; 10 more halve the quantization steps",
           .otherwise = "60",
           .common = true,
           .excludes = "--bytes --psnr",
           .feeds = "smoe_steps.quality|encode_smoe.steps"},
          {.names = "--lossless",
           .target = &job.options.lossless,
           .help = "Store every float exactly in a .smoe file",
           .excludes = "--bytes --quality"}};
}

std::vector<OptionRow> descent_options(SmoeFitJob& job) {
  return {{.names = "--time",
           .target = number(job.time_s, ValueUnit::none, {0.1, 1e6}),
           .value = "SECONDS",
           .help = "Time limit of the command; fit and storing stop with the best result so far",
           .common = true},
          {.names = "--iterations",
           .target = member<&MixtureFitOptions::iterations>(job.options),
           .value = "N",
           .help = "Maximum number of steps",
           .common = true},
          {.names = "--method",
           .target = member<&MixtureFitOptions::method>(job.options),
           .value = "NAME",
           .help = "gradient, or em (expectation-maximisation only)"},
          {.names = "--resume",
           .target = member<&SmoeFitJob::resume>(job),
           .value = "MODEL",
           .help = "Model of the same pictures to start from",
           .feeds = "SmoeFitter.start"},
          {.names = "--seed",
           .target = number(job.options.seed, ValueUnit::count, {.low = 0}),
           .value = "N",
           .help = "Seed of every random choice"},
          {.names = "--linear",
           .target = member<&MixtureFitOptions::linear>(job.options),
           .help = "Fit linear light instead of the file's codes"},
          device_row({.target = &job.device_name, .common = true})};
}

std::vector<OptionRow> view_options(SmoeFitJob& job) {
  return {{.names = "--rows",
           .target = choice(job.rows),
           .value = "NAME",
           .help = "Direction in which %v counts: down, up or auto (by the parallax)",
           .applies = {[&job] { return job.grid || job.input.find("%v") != std::string::npos; },
                       "names of views with %v, or --grid", [&job] { return job.input; }}},
          grid_row(job.grid),
          {.names = leave_out_name,
           .target = &job.left_out_texts,
           .value = "U,V",
           .help = "Hold out this view and report its PSNR; may be repeated",
           .one_each = true,
           .feeds = "hold_out.numbers"}};
}

}  // namespace

std::vector<OptionGroup> smoe_fit_options(SmoeFitJob& job) {
  return {{"",
           {{.names = "IN",
             .target = &job.input,
             .help = "Picture, or views by a name such as view_%v_%u.png; %u counts to the right",
             .required = true},
            output_option({.target = &job.output, .value = "MODEL", .help = "Model: .smoe, .json or .npz"})}},
          {"Size of the model", size_options(job)},
          {"Fit", descent_options(job)},
          {"Views of a light field", view_options(job)},
          console_options(job.console)};
}

void complete(SmoeFitJob& job) {
  job.left_out = left_out_views(job.left_out_texts);
  check_outputs(job);
  if (!io::has_format(job.output, io::FileFormat::smoe)) job.options.lossless = true;
  job.device = device_option(job.device_name, job.console, OperationId::mixture_fitting);
}

}  // namespace holotone::cli
