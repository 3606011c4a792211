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

void check_outputs(const SmoeFitArguments& a) {
  require_known_counters("--output", a.output, false);
  require_model_name("--output", a.output);
  if (extension_of(a.output) != ".smoe" && (a.lossless || !a.quality.empty() || !a.bytes.empty())) {
    reject("--output", "a name ending in .smoe for --quality, --bytes or --lossless", a.output);
  }
  std::vector<InputFile> inputs{{"IN", a.input}};
  if (!a.resume.empty()) {
    require_model_name("--resume", a.resume);
    inputs.push_back({"--resume", a.resume});
  }
  require_outputs({{"--output", 1, [&](std::int64_t) { return a.output; }}}, inputs);
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

}  // namespace

SmoeFitJob smoe_fit_job(const SmoeFitArguments& a) {
  static constexpr Choice<SmoeFitMethod> methods[] = {{"gradient", SmoeFitMethod::gradient}, {"em", SmoeFitMethod::em}};
  SmoeFitJob job;
  job.input = a.input;
  job.output = a.output;
  job.resume = a.resume;
  job.console = a.console;
  auto& options = job.options;
  options.method = choose("--method", a.method, methods);
  job.rows = view_rows(a.rows);
  if (!a.bytes.empty()) {
    job.bytes = byte_count("--bytes", a.bytes);
    if (*job.bytes < 1) reject("--bytes", "1 or more, such as 40k", a.bytes);
  }
  if (!a.psnr.empty()) {
    job.psnr_db = number_between("--psnr", a.psnr, psnr_range);
    options.components = 0;
  }
  job.counted = !a.components.empty();
  if (job.counted) options.components = whole_number("--components", a.components, components_range);
  if (!a.iterations.empty()) options.iterations = whole_number("--iterations", a.iterations, steps_range);
  if (!a.time.empty()) job.time_s = number_between("--time", a.time, time_range);
  if (!a.quality.empty()) job.quality = number_between("--quality", a.quality, quality_range);
  options.seed = static_cast<std::uint64_t>(whole_number("--seed", a.seed, 0, INT64_MAX));
  options.linear = a.linear;
  job.left_out = left_out_views(a.left_out);
  check_outputs(a);
  job.lossless = a.lossless || extension_of(a.output) != ".smoe";
  job.device = device_option(a.device, a.console, "mixtures: fitting");
  return job;
}

std::vector<std::string> settle(SmoeFitJob& job, const FitPictures& pictures) {
  std::vector<std::string> remarks;
  const auto& shape = pictures.images.front().shape();
  const int dimensions = 2 + static_cast<int>(pictures.at.front().size());
  const auto channels = static_cast<int>(shape[2]);
  auto& options = job.options;
  if (job.bytes) {
    const auto least = smoe_least_bytes(job.counted ? options.components : 1, dimensions, channels);
    if (*job.bytes < least) {
      reject("--bytes",
             fmt::format("at least {} for {}", least, counted(job.counted ? options.components : 1, "component")),
             fmt::format("{}", *job.bytes));
    }
    if (!job.counted) {
      const auto useful = std::max<std::int64_t>(1, shape[0] * shape[1] / least_pixels_a_component);
      options.components = smoe_components_for(*job.bytes, dimensions, channels);
      if (options.components > useful) {
        options.components = useful;
        remarks.push_back(fmt::format("--bytes: limited to {}, one for {} pixels; use --components for more",
                                      counted(useful, "component"), least_pixels_a_component));
      }
    }
  }
  if (job.psnr_db > 0) {
    options.psnr_db = psnr_before_codes(job.psnr_db, pictures.bits) + (job.lossless ? 0 : psnr_to_spare);
  }
  // Peak memory of a fit is about 1400 bytes per component.
  constexpr double bytes_a_component = 1500;
  require_memory("--components", bytes_a_component * static_cast<double>(options.components),
                 counted(options.components, "component"));
  return remarks;
}

}  // namespace holotone::cli
