#include <cli/common/cancel.hpp>
#include <cli/common/paths.hpp>
#include <cli/halftone/halftone_maker.hpp>
#include <cli/halftone/memory_estimate.hpp>
#include <cli/options/values.hpp>
#include <holotone/core/error.hpp>
#include <string_view>

namespace holotone::cli {
namespace {

double to_pixels(const PageLength& length, const HalftonePage& page) {
  return length.metres ? length.value / (page.pixel_m > 0 ? page.pixel_m : default_pixel_m) : length.value;
}

/// The option that determines the number of dots.
std::string_view counting_option(const HalftoneJob& job) {
  return job.options.dots ? "--dots" : job.radius ? "--radius" : "IN";
}

HalftoneOptions options_of(const HalftoneJob& job, const HalftonePage& page, ProgressBar& bar) {
  HalftoneOptions options = job.options;
  if (job.radius) options.radius_px = {to_pixels(job.radius->low, page), to_pixels(job.radius->high, page)};
  options.pixel_m = page.pixel_m;
  options.on_count = [&job](std::int64_t dots) { require_memory_for_dots(job, dots, counting_option(job)); };
  // Iteration number and mean force beside the bar.
  options.on_iteration = [&bar](std::int64_t iteration, std::optional<double> mean_force) {
    std::string detail = fmt::format("iteration {}", iteration);
    if (mean_force) detail += fmt::format(", mean force {:.2g}/px", *mean_force);
    bar.set_detail(std::move(detail));
  };
  return options;
}

/// Replaces the library's argument names by the corresponding options.
[[noreturn]] void rethrow_of_option(const HalftoneJob& job, const Error& error) {
  if (error.code() == ErrorCode::invalid_argument && error.function() == "make_halftone") {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: expected {}, got {}", counting_option(job), error.expected(), error.got()));
  }
  throw error;
}

}  // namespace

WrittenHalftone make_halftone(const HalftoneJob& job, const HalftonePage& page) {
  const Stopwatch watch;
  ProgressBar bar(job.console);
  std::vector<View<const float, 2>> inks;
  for (const auto& ink : page.inks) inks.emplace_back(ink.view());
  std::vector<std::string> frames;
  const auto write_frame = [&](const Halftone& so_far) {
    const std::string path = job.frame_names->name(std::ssize(frames));
    UnfinishedRun::will_write(path);
    QuietProgress progress;
    write_dots(path, so_far.dots, write_options(job, page, so_far), progress);
    frames.push_back(path);
  };
  try {
    WrittenHalftone made{holotone::make_halftone(inks, options_of(job, page, bar), Queue(job.device), bar,
                                                 job.frame_names ? HalftoneFrame(write_frame) : HalftoneFrame()),
                         std::move(frames), 0};
    made.make_s = watch.seconds();
    return made;
  } catch (const Error& error) {
    rethrow_of_option(job, error);
  }
}

DotsWriteOptions write_options(const HalftoneJob& job, const HalftonePage& page, const Halftone& halftone) {
  DotsWriteOptions options;
  options.pixel_m = page.pixel_m;
  options.radius = halftone.bitmap ? default_dot_radius : halftone.radius;
  options.dpi = job.dpi;
  options.one_bit = job.one_bit || (halftone.bitmap && job.dpi == 0 && page.inks.size() == 1);
  options.inks = page.printed;
  if (job.compression) options.compression = *job.compression;
  options.metadata = {{"software", "holotone " HOLOTONE_VERSION},
                      {"method", to_string(job.options.method)},
                      {"seed", std::to_string(job.options.seed)}};
  if (halftone.dots.count() > 0) options.metadata["dots"] = std::to_string(halftone.dots.count());
  if (!halftone.start.empty()) options.metadata["start"] = halftone.start;
  if (halftone.report.iterations > 0) options.metadata["iterations"] = std::to_string(halftone.report.iterations);
  if (job.cmyk) {
    options.metadata["black"] = fmt::format("{}", job.black);
    options.metadata["apart"] = fmt::format("{}", job.apart());
  }
  return options;
}

}  // namespace holotone::cli
