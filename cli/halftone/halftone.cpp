#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/halftone/halftone_maker.hpp>
#include <cli/halftone/memory_estimate.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

constexpr double dots_that_hardly_show = 0.1;  ///< radius in pixels of a PNG without --dpi

/// Raster pixels per page pixel.
double raster_scale(const HalftoneJob& job, const HalftonePage& page) {
  if (job.dpi == 0) return 1;
  return job.dpi * (page.pixel_m > 0 ? page.pixel_m : default_pixel_m) / 0.0254;
}

/// A length in pixels to three digits; in length units if the page size is known.
std::string page_length_text(const HalftonePage& page, double pixels) {
  if (page.pixel_m == 0) return fmt::format("{:.3g} pixels", pixels);
  return short_length(pixels * page.pixel_m);
}

/// Value of --radius times `factor`, as the option accepts it.
std::string radius_text(const HalftoneJob& job, double factor) {
  if (!job.radius->low.metres) return fmt::format("{:.3g}", job.radius->low.value * factor);
  std::string text = short_length(job.radius->low.value * factor);
  std::erase(text, ' ');
  return text;
}

/// Warning if the dots' ink differs from the picture's by more than 10 %; possible if dot count and radius are given.
std::string ink_warning(const HalftoneJob& job, const WrittenHalftone& halftone) {
  constexpr double tolerated = 0.1;
  const double share = halftone.ink_share;
  if (std::abs(share - 1) <= tolerated) return {};
  const bool alike = job.radius->low.value == job.radius->high.value;
  return fmt::format("the dots hold {} % of the picture's ink; {}--dots {:.0f} gives all of it",
                     share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share),
                     alike ? fmt::format("--radius {} or ", radius_text(job, 1 / std::sqrt(share))) : std::string(),
                     std::max(1.0, std::round(static_cast<double>(*job.options.dots) / share)));
}

/// Suggestions for results that are valid but may be unsatisfactory.
std::vector<std::string> hints_of(const HalftoneJob& job, const HalftonePage& page) {
  constexpr double dark = 0.75;
  std::vector<std::string> hints;
  double most = 0;
  for (const auto& ink : page.inks) most = std::max(most, total_ink(ink.view()) / static_cast<double>(ink.size()));
  const auto& options = job.ink.options;
  if (most > dark && !job.given.contains("--gamma") && !options.invert) {
    hints.push_back(fmt::format("ink covers {:.0f} % of the page; --gamma 2 gives a lighter print", 100 * most));
  }
  if (page.clip_does_nothing) {
    hints.emplace_back("--clip does nothing here: pictures of 8 or 16 bits hold no values outside 0 to 1");
  }
  return hints;
}

/// Warnings for valid requests with a probably unintended result, one line each.
std::vector<std::string> list_warnings(const HalftoneJob& job, const HalftonePage& page,
                                       const WrittenHalftone& halftone) {
  std::vector<std::string> warnings;
  if (auto ink = ink_warning(job, halftone); !ink.empty()) warnings.push_back(std::move(ink));
  const double radius = halftone.radius * raster_scale(job, page);
  if (io::has_format(job.output, io::FileFormat::png) && !halftone.bitmap && radius < 0.5) {
    warnings.push_back(fmt::format("dots have a radius of {:.2g} pixels of {}{}", radius, job.output,
                                   radius < dots_that_hardly_show ? ", which makes them invisible; use a larger --dpi"
                                                                  : "; a larger --dpi separates them"));
  }
  if (halftone.missed_neighbours > 0) {
    warnings.push_back(fmt::format("--near map misses {} (each pair counts twice); use --near cells",
                                   counted(halftone.missed_neighbours, "neighbour")));
  }
  return warnings;
}

nlohmann::json make_json(const HalftoneJob& job, const HalftonePage& page, const WrittenHalftone& halftone,
                         double seconds) {
  nlohmann::json classes = nlohmann::json::array();
  for (std::size_t c = 0; c < page.inks.size(); ++c) {
    const auto& dots = halftone.dots;
    const auto count = dots.colour_class.empty() ? dots.count()
                                                 : std::count(dots.colour_class.begin(), dots.colour_class.end(),
                                                              static_cast<std::uint8_t>(c));
    classes.push_back({{"ink", page.printed[c].name}, {"dots", count}, {"ink_px2", total_ink(page.inks[c].view())}});
  }
  const auto [low, high] = std::minmax_element(halftone.dots.radius.begin(), halftone.dots.radius.end());
  const bool varied = !halftone.dots.radius.empty();
  const double radius = halftone.bitmap ? default_dot_radius : halftone.radius;
  nlohmann::json object{
      {"software", "holotone " HOLOTONE_VERSION},
      {"inputs", job.inputs},
      {"outputs", {job.output}},
      {"frames", halftone.frames},
      {"method", to_string(job.options.method)},
      {"device", to_string(job.device)},
      {"resolution", {page.nx, page.ny}},
      {"dots", halftone.dots.count()},
      {"classes", classes},
      {"radius_px", {varied ? static_cast<double>(*low) : radius, varied ? static_cast<double>(*high) : radius}},
      {"seed", job.options.seed},
      {"compute_s", halftone.make_s},
      {"time_s", seconds}};
  if (page.pixel_m > 0) object["pixel_m"] = page.pixel_m;
  if (!halftone.start.empty()) object["start"] = halftone.start;
  if (job.options.method != HalftoneMethod::floyd_steinberg) {
    object["iterations"] = halftone.report.iterations;
    object["converged"] = halftone.report.converged;
  }
  if (job.by_forces()) {
    object["mean_force"] = halftone.report.force.mean;
    object["rms_force"] = halftone.report.force.rms;
    object["missed_neighbours"] = halftone.missed_neighbours;
    if (!halftone.plan.arithmetic.empty()) {
      object["arithmetic"] = halftone.plan.arithmetic;
      object["grid"] = {halftone.plan.grid[1], halftone.plan.grid[0]};
      object["expected_error"] = halftone.plan.expected_error;
    }
  } else if (halftone.energy > 0) {
    object["energy_px2"] = halftone.energy;
  }
  if (job.options.tour) object["tour_px"] = {{"start", halftone.tour_start}, {"length", halftone.tour}};
  return object;
}

/// "class 0, cyan: 1200 dots; class 1, magenta: 800 dots"
std::string inks_text(const HalftonePage& page, const Dots& dots) {
  std::vector<std::int64_t> counts(page.printed.size(), 0);
  for (const auto colour_class : dots.colour_class) ++counts[colour_class];
  std::string text;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    text += fmt::format("{}class {}, {}: {}", c == 0 ? "" : "; ", c, page.printed[c].name, counted(counts[c], "dot"));
  }
  return text;
}

void tell(const HalftoneJob& job, const HalftonePage& page, const WrittenHalftone& halftone, double seconds) {
  for (const auto& hint : hints_of(job, page)) remark(job.console, hint);
  std::string how = to_string(job.options.method);
  if (job.by_forces()) how += fmt::format(" on {}", to_string(job.device));
  if (job.options.method != HalftoneMethod::floyd_steinberg) {
    how += fmt::format(", {}{}", halftone.report.converged ? "settled after " : "",
                       counted(halftone.report.iterations, "iteration"));
  }
  if (job.by_forces()) how += fmt::format(", mean force {:.2g}/px", halftone.report.force.mean);
  report(job.console, fmt::format("{}: {} on {} x {} pixels, {}, {}", job.output, counted(halftone.dots.count(), "dot"),
                                  page.nx, page.ny, how, format_duration(seconds)));
  if (page.printed.size() > 1) report(job.console, inks_text(page, halftone.dots));
  if (!halftone.frames.empty()) {
    report(job.console, fmt::format("{} to {}: {}", halftone.frames.front(), halftone.frames.back(),
                                    counted(static_cast<std::int64_t>(halftone.frames.size()), "frame")));
  }
  if (job.options.tour && halftone.tour_start > 0) {
    report(job.console, fmt::format("the tour is {} long, {:.0f} % of the Hilbert curve's",
                                    page_length_text(page, halftone.tour), 100 * halftone.tour / halftone.tour_start));
  }
}

int run_halftone(HalftoneJob& job) {
  const Stopwatch watch;
  complete(job);
  if (job.options.dots) require_memory_for_dots(job, *job.options.dots, "--dots");
  const UnfinishedRun unfinished;
  const HalftonePage page = read_page(job);
  const WrittenHalftone halftone = make_halftone(job, page);
  check_cancelled("writing");
  UnfinishedRun::will_write(job.output);
  ProgressBar bar(job.console);
  write_dots(job.output, halftone.dots, write_options(job, page, halftone), bar);
  check_cancelled("writing");
  UnfinishedRun::keep();
  for (const auto& warning : list_warnings(job, page, halftone)) warn(job.console, warning);
  report_json(job.console, make_json(job, page, halftone, watch.seconds()));
  tell(job, page, halftone, watch.seconds());
  return exit_ok;
}

}  // namespace

Command halftone_command() {
  const auto job = std::make_shared<HalftoneJob>();
  return {.name = "halftone",
          .purpose = "Halftone a picture into dots for a printer or plotter",
          .examples = {"holotone halftone photo.jpg -o dots.svg --dots 50k --size 200mm",
                       "holotone halftone photo.jpg -o dots.png --dots 50k --size 200mm --dpi 300",
                       "holotone halftone photo.jpg -o bitmap.png --method floyd-steinberg"},
          .groups = halftone_options(*job),
          .run = [job] { return run_halftone(*job); },
          .given = &job->given};
}

}  // namespace holotone::cli
