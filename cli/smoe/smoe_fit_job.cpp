#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/smoe_file.hpp>
#include <cli/common/values.hpp>
#include <cli/smoe/smoe_fit_job.hpp>
#include <cmath>
#include <holotone/smoe/store.hpp>

namespace holotone::cli {
namespace {

std::vector<ViewNumbers> left_out_views(const std::vector<std::string>& texts) {
  constexpr std::string_view expected = "U,V as in the names of files, such as 3,5 (U alone without %v)";
  std::vector<ViewNumbers> views;
  for (const auto& text : texts) {
    const auto pieces = list("--leave-out", text, expected);
    if (pieces.size() > 2) reject("--leave-out", expected, text);
    ViewNumbers view;
    view.u = whole_number("--leave-out", pieces[0], 0, most_view_number);
    if (pieces.size() == 2) view.v = whole_number("--leave-out", pieces[1], 0, most_view_number);
    views.push_back(view);
  }
  return views;
}

std::int64_t most_bytes(std::string_view option, const std::string& text) {
  const std::int64_t bytes = byte_count(option, text);
  if (bytes < 1) reject(option, "1 or more, such as 40k", text);
  return bytes;
}

void check_outputs(const SmoeFitJob& job) {
  require_known_counters("--output", job.output, false);
  require_model_name("--output", job.output);
  if (extension_of(job.output) != ".smoe" && (job.lossless || job.quality || job.bytes)) {
    reject("--output", "a name ending in .smoe for --quality, --bytes or --lossless", job.output);
  }
  std::vector<InputFile> inputs{{"IN", job.input}};
  if (!job.resume.empty()) {
    require_model_name("--resume", job.resume);
    inputs.push_back({"--resume", job.resume});
  }
  require_outputs({{"--output", 1, [&](std::int64_t) { return job.output; }}}, inputs);
}

/// PSNR of colours at which their codes reach psnr_db: rounding to codes adds 1/12 of a squared step to the mean
/// squared error.
double psnr_before_codes(double psnr_db, int bits) {
  if (bits == 0) return psnr_db;
  const double step = 1 / (std::ldexp(1.0, bits) - 1);
  const double error = std::pow(10, -0.1 * psnr_db);
  const double left = error - step * step / 12;
  return left > 0.1 * error ? -10 * std::log10(left) : psnr_db + 10;
}

std::vector<OptionRow> size_options(SmoeFitJob& job) {
  return {{.names = "--components",
           .target = number(job.components, ValueUnit::count, {1, bounds_of<&SmoeFitOptions::components>.high}),
           .value = "N",
           .help = "Number of components, such as 5k",
           .otherwise = "5000, or by --bytes or --psnr",
           .common = true,
           .feeds = "SmoeFitter.components"},
          {.names = "--psnr",
           .target = number(job.psnr_db, ValueUnit::none, {1, 100}),
           .value = "DB",
           .help = "Minimum PSNR of the decoded file; the smallest such file found is written",
           .common = true},
          {.names = "--bytes",
           .target = parsed(job.bytes, most_bytes),
           .value = "N",
           .help = "Maximum size of a .smoe file, such as 40k",
           .common = true,
           .feeds = "encode_smoe_bytes.most_bytes|store_smoe.most_bytes"},
          {.names = "--quality",
           .target = number(job.quality, ValueUnit::none, quality_bounds),
           .value = "Q",
           .help = "Quality of a .smoe file; 10 more halve the quantization steps",
           .otherwise = "60",
           .common = true,
           .excludes = "--bytes --psnr",
           .feeds = "smoe_steps.quality|encode_smoe.steps"},
          {.names = "--lossless",
           .target = &job.lossless,
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
           .target = member<&SmoeFitOptions::iterations>(job.options),
           .value = "N",
           .help = "Maximum number of steps",
           .common = true},
          {.names = "--method",
           .target = member<&SmoeFitOptions::method>(job.options),
           .value = "NAME",
           .help = "gradient, or em (expectation-maximisation only)"},
          {.names = "--resume",
           .target = &job.resume,
           .value = "MODEL",
           .help = "Model of the same pictures to start from",
           .feeds = "SmoeFitter.start"},
          {.names = "--seed",
           .target = number(job.options.seed, ValueUnit::count, {.low = 0}),
           .value = "N",
           .help = "Seed of every random choice"},
          {.names = "--linear",
           .target = member<&SmoeFitOptions::linear>(job.options),
           .help = "Fit linear light instead of the file's codes"},
          {.names = "--device",
           .target = &job.device_name,
           .value = "NAME",
           .help = "auto, cpu, cuda:N or opencl:N",
           .common = true,
           .feeds = ".device"}};
}

std::vector<OptionRow> view_options(SmoeFitJob& job) {
  return {{.names = "--rows",
           .target = choice(job.rows),
           .value = "NAME",
           .help = "Direction in which %v counts: down, up or auto (by the parallax)"},
          {.names = "--leave-out",
           .target = &job.left_out_texts,
           .value = "U,V",
           .help = "Hold out this view and report its PSNR; may be repeated",
           .one_each = true}};
}

}  // namespace

std::vector<OptionGroup> smoe_fit_options(SmoeFitJob& job) {
  return {{"",
           {{.names = "IN",
             .target = &job.input,
             .help = "Picture, or views by a name such as view_%v_%u.png; %u counts to the right",
             .required = true},
            {.names = "-o,--output",
             .target = &job.output,
             .value = "MODEL",
             .help = "Model: .smoe, .json or .npz",
             .required = true}}},
          {"Size of the model", size_options(job)},
          {"Fit", descent_options(job)},
          {"Views of a light field", view_options(job)},
          console_options(job.console)};
}

void complete(SmoeFitJob& job) {
  if (job.components) {
    job.options.components = *job.components;
  } else if (job.psnr_db) {
    job.options.components = 0;
  }
  job.left_out = left_out_views(job.left_out_texts);
  check_outputs(job);
  if (extension_of(job.output) != ".smoe") job.lossless = true;
  job.device = device_option(job.device_name, job.console, "mixtures: fitting");
}

std::vector<std::string> settle(SmoeFitJob& job, const FitPictures& pictures) {
  std::vector<std::string> remarks;
  const auto& shape = pictures.images.front().shape();
  const int dimensions = 2 + static_cast<int>(pictures.at.front().size());
  const auto channels = static_cast<int>(shape[2]);
  auto& options = job.options;
  if (job.bytes) {
    const auto least = smoe_least_bytes(job.components ? options.components : 1, dimensions, channels);
    if (*job.bytes < least) {
      reject("--bytes",
             fmt::format("at least {} for {}", least, counted(job.components ? options.components : 1, "component")),
             fmt::format("{}", *job.bytes));
    }
    if (!job.components) {
      const auto useful = std::max<std::int64_t>(1, shape[0] * shape[1] / least_pixels_a_component);
      options.components = smoe_components_for(*job.bytes, dimensions, channels);
      if (options.components > useful) {
        options.components = useful;
        remarks.push_back(fmt::format("--bytes: limited to {}, one for {} pixels; use --components for more",
                                      counted(useful, "component"), least_pixels_a_component));
      }
    }
  }
  if (job.psnr_db) {
    options.psnr_db = psnr_before_codes(*job.psnr_db, pictures.bits) + (job.lossless ? 0 : psnr_to_spare);
  }
  // Peak memory of a fit is about 1400 bytes per component.
  constexpr double bytes_a_component = 1500;
  require_memory("--components", bytes_a_component * static_cast<double>(options.components),
                 counted(options.components, "component"));
  return remarks;
}

}  // namespace holotone::cli
