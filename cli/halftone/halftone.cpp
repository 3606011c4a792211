#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/compression_option.hpp>
#include <cli/common/values.hpp>
#include <cli/halftone/halftone_maker.hpp>
#include <cli/halftone/memory_estimate.hpp>
#include <cmath>
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
  return format_length(parse_number("length", fmt::format("{:.3g}", pixels * page.pixel_m)));
}

/// Value of --radius times `factor`, as the option accepts it.
std::string radius_text(const HalftoneJob& job, double factor) {
  if (!job.radius_low->metres) return fmt::format("{:.3g}", job.radius_low->value * factor);
  std::string text = format_length(parse_number("--radius", fmt::format("{:.3g}", job.radius_low->value * factor)));
  std::erase(text, ' ');
  return text;
}

/// Warning if the dots' ink differs from the picture's by more than 10 %; possible if dot count and radius are given.
std::string ink_warning(const HalftoneJob& job, const WrittenHalftone& halftone) {
  constexpr double tolerated = 0.1;
  const double share = halftone.ink_share;
  if (std::abs(share - 1) <= tolerated) return {};
  const bool alike = job.radius_low->value == job.radius_high->value;
  return fmt::format("the dots hold {} % of the picture's ink; {}--dots {:.0f} gives all of it",
                     share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share),
                     alike ? fmt::format("--radius {} or ", radius_text(job, 1 / std::sqrt(share))) : std::string(),
                     std::max(1.0, std::round(static_cast<double>(*job.dots) / share)));
}

/// Suggestions for results that are valid but may be unsatisfactory.
std::vector<std::string> hints_of(const HalftoneJob& job, const HalftonePage& page) {
  constexpr double dark = 0.75;
  std::vector<std::string> hints;
  double most = 0;
  for (const auto& ink : page.inks) most = std::max(most, total_ink(ink.view()) / static_cast<double>(ink.size()));
  const auto& options = job.ink.options;
  if (most > dark && !job.gamma_given && !options.invert) {
    hints.push_back(fmt::format("ink covers {:.0f} % of the page; --gamma 2 gives a lighter print", 100 * most));
  }
  if (page.clip_does_nothing) {
    hints.emplace_back("--clip does nothing here: pictures of 8 or 16 bits hold no values outside 0 to 1");
  }
  return hints;
}

/// Warnings for valid requests with a probably unintended result, one line each.
std::vector<std::string> warnings_of(const HalftoneJob& job, const HalftonePage& page,
                                     const WrittenHalftone& halftone) {
  std::vector<std::string> warnings;
  if (auto ink = ink_warning(job, halftone); !ink.empty()) warnings.push_back(std::move(ink));
  const double radius = halftone.radius * raster_scale(job, page);
  if (extension_of(job.output) == ".png" && !halftone.bitmap && radius < 0.5) {
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

nlohmann::json json_of(const HalftoneJob& job, const HalftonePage& page, const WrittenHalftone& halftone,
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
      {"method", to_string(job.method)},
      {"device", to_string(job.device)},
      {"resolution", {page.nx, page.ny}},
      {"dots", halftone.dots.count()},
      {"classes", classes},
      {"radius_px", {varied ? static_cast<double>(*low) : radius, varied ? static_cast<double>(*high) : radius}},
      {"seed", job.seed},
      {"warnings", warnings_of(job, page, halftone)},
      {"compute_s", halftone.make_s},
      {"time_s", seconds}};
  if (page.pixel_m > 0) object["pixel_m"] = page.pixel_m;
  if (!halftone.start.empty()) object["start"] = halftone.start;
  if (job.method != HalftoneMethod::floyd_steinberg) {
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
  if (job.tour) object["tour_px"] = {{"start", halftone.tour_start}, {"length", halftone.tour}};
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
  for (const auto& warning : warnings_of(job, page, halftone)) warn(job.console, warning);
  for (const auto& hint : hints_of(job, page)) remark(job.console, hint);
  std::string how = to_string(job.method);
  if (job.by_forces()) how += fmt::format(" on {}", to_string(job.device));
  if (job.method != HalftoneMethod::floyd_steinberg) {
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
  if (job.tour && halftone.tour_start > 0) {
    report(job.console, fmt::format("the tour is {} long, {:.0f} % of the Hilbert curve's",
                                    page_length_text(page, halftone.tour), 100 * halftone.tour / halftone.tour_start));
  }
}

int run_halftone(const HalftoneArguments& arguments) {
  const Stopwatch watch;
  const HalftoneJob job = halftone_job(arguments);
  if (job.dots) require_memory_for_dots(job, *job.dots, "--dots");
  const UnfinishedRun unfinished;
  const HalftonePage page = read_page(job);
  const WrittenHalftone halftone = make_halftone(job, page);
  check_cancelled("writing");
  UnfinishedRun::will_write(job.output);
  ProgressBar bar(job.console);
  write_dots(job.output, halftone.dots, write_options(job, page, halftone), bar);
  check_cancelled("writing");
  UnfinishedRun::keep();
  report_json(job.console, json_of(job, page, halftone, watch.seconds()));
  tell(job, page, halftone, watch.seconds());
  return exit_ok;
}

std::vector<OptionRow> method_options(HalftoneArguments& a) {
  return {
      {.names = "--method",
       .target = &a.method,
       .value = "NAME",
       .help = "electrostatic, direct (the same forces pair by pair), lloyd, ccvt or floyd-steinberg",
       .common = true,
       .feeds = "ElectrostaticPlan.sum"},
      {.names = "--iterations",
       .target = &a.iterations,
       .value = "N",
       .help = "Maximum number of iterations",
       .range = iterations_range,
       .otherwise = "300 for forces, 100 for lloyd, 200 for ccvt",
       .common = true},
      {.names = "--start",
       .target = &a.start,
       .value = "NAME",
       .help = "Placement of the dots before the first iteration: importance (random, denser where the ink is) or "
               "error-diffusion",
       .otherwise = "importance"},
      {.names = "--descent",
       .target = &a.descent,
       .value = "NAME",
       .help = "Step rule: momentum, or plain (fixed steps, as published)",
       .otherwise = "momentum"},
      {.names = "--shake",
       .target = &a.shake,
       .value = "R",
       .help = "First radius of random displacements, in mean dot spacings; decreases to 0",
       .range = shake_range},
      {.names = "--tolerance",
       .target = &a.tolerance,
       .value = "T",
       .help = "Maximum relative error of the net force",
       .range = tolerance_range,
       .feeds = "ElectrostaticPlan.tolerance"},
      {.names = "--split",
       .target = &a.split,
       .value = "NAME",
       .help = "Summation of forces: ewald, or taylor (as published)",
       .otherwise = "ewald",
       .feeds = "ElectrostaticPlan.sum"},
      {.names = "--m",
       .target = &a.cutoff,
       .value = "N",
       .help = "Window cut-off of --split taylor",
       .range = cutoff_range,
       .feeds = "ElectrostaticPlan.window_cutoff"},
      {.names = "--degree",
       .target = &a.degree,
       .value = "N",
       .help = "Degree of --split taylor",
       .range = degree_range,
       .feeds = "ElectrostaticPlan.taylor_degree"},
      {.names = "--near",
       .target = &a.near,
       .value = "NAME",
       .help = "Neighbour search: cells, or map (as published)",
       .otherwise = "cells",
       .feeds = "ElectrostaticPlan.near"},
      {.names = "--seed", .target = &a.seed, .value = "N", .help = "Seed of every random choice", .otherwise = "0"},
      {.names = "--deterministic", .target = &a.deterministic, .help = "Give the same bits in every run on a GPU too"},
      {.names = "--device",
       .target = &a.device,
       .value = "NAME",
       .help = "auto, cpu, cuda:N or opencl:N",
       .feeds = ".device|ElectrostaticPlan.queue"}};
}

std::vector<OptionRow> ink_options(HalftoneArguments& a) {
  return {{.names = "--gamma",
           .target = &a.ink.gamma,
           .value = "G",
           .help = "Exponent of the tones; above 1: lighter shadows, less ink",
           .range = gamma_range,
           .common = true,
           .feeds = "ink_from_pixels.gamma"},
          {.names = "--tone",
           .target = &a.ink.tone,
           .value = "NAME",
           .help = "Tone curve of the picture: srgb, linear, or auto (sRGB codes, linear floats)"},
          {.names = "--invert", .target = &a.ink.invert, .help = "Put ink where the picture is bright"},
          {.names = "--mask",
           .target = &a.ink.mask,
           .value = "FILE",
           .help = "Picture of the same size: white takes ink, black none"},
          {.names = "--clip", .target = &a.ink.clip, .help = "Clip values of float pictures to 0 to 1"}};
}

std::vector<OptionRow> colour_options(HalftoneArguments& a) {
  return {{.names = "--colour,--color",
           .target = &a.colour,
           .value = "cmyk",
           .help = "Separation into four inks whose dots repel each other",
           .common = true},
          {.names = "--black",
           .target = &a.black,
           .value = "B",
           .help = "Share of grey printed in black",
           .range = black_range,
           .otherwise = "1",
           .feeds = "Separation.black"},
          {.names = "--within",
           .target = &a.within,
           .value = "W",
           .help = "Weight of the forces among dots of one ink",
           .range = weight_range,
           .otherwise = "1",
           .feeds = "classes_halftone.within"},
          {.names = "--across",
           .target = &a.across,
           .value = "W",
           .help = "Weight of the forces among dots of all inks",
           .range = weight_range,
           .otherwise = "0.5",
           .feeds = "classes_halftone.across"}};
}

std::vector<OptionRow> page_options(HalftoneArguments& a) {
  return {{.names = "--size",
           .target = &a.size,
           .value = "LENGTH",
           .help = "Longer side of the page, such as 100mm",
           .range = page_range,
           .otherwise = "96 pixels an inch",
           .common = true},
          {.names = "--dpi",
           .target = &a.dpi,
           .value = "N",
           .help = "Pixels an inch of a PNG",
           .range = dpi_range,
           .otherwise = "the picture's pixels",
           .common = true,
           .feeds = "write_dots.dpi"},
          {.names = "--one-bit",
           .target = &a.one_bit,
           .help = "Write a PNG in black and white, without grey levels",
           .common = true},
          compression_option(a.compression),
          {.names = "--order",
           .target = &a.order,
           .value = "NAME",
           .help = "Order of the dots in the file: none, or tour (a short path, for plotters)",
           .common = true},
          {.names = "--frames",
           .target = &a.frames,
           .value = "NAME",
           .help = "Intermediate states of electrostatic and direct: a folder, or names such as frame_%04d.png"},
          {.names = "--frame-interval",
           .target = &a.frame_interval,
           .value = "N",
           .help = "Iterations from frame to frame",
           .range = iterations_range,
           .otherwise = "10"}};
}

}  // namespace

Command halftone_command() {
  const auto arguments = std::make_shared<HalftoneArguments>();
  auto& a = *arguments;
  return {.name = "halftone",
          .purpose = "Halftone a picture into dots for a printer or plotter",
          .examples = {"holotone halftone photo.jpg -o dots.svg --dots 50k --size 200mm",
                       "holotone halftone photo.jpg -o dots.png --dots 50k --size 200mm --dpi 300",
                       "holotone halftone photo.jpg -o bitmap.png --method floyd-steinberg"},
          .groups = {{"",
                      {{.names = "IN",
                        .target = &a.inputs,
                        .help = "PNG, TIFF, JPEG or BMP; of several pictures each is the darkness of one ink",
                        .required = true},
                       {.names = "-o,--output",
                        .target = &a.output,
                        .value = "FILE",
                        .help = "SVG, PDF or PNG of the page; CSV, TXT or NPY of the dots' positions",
                        .required = true},
                       {.names = "--dots",
                        .target = &a.dots,
                        .value = "N",
                        .help = "Number of dots, such as 20k",
                        .range = dots_range,
                        .otherwise = "from the ink",
                        .common = true,
                        .feeds = "halftone.dots|ElectrostaticPlan.maximum_dots|capacity_voronoi_dots.count"},
                       {.names = "--radius",
                        .target = &a.radius,
                        .value = "R",
                        .help = "Radius of a dot, or MIN:MAX by local ink, in pixels or with a unit such as 0.2mm",
                        .otherwise = "from the ink",
                        .common = true}}},
                     {"Method", method_options(a)},
                     {"Ink", ink_options(a)},
                     {"Colour", colour_options(a)},
                     {"Page and files", page_options(a)},
                     console_options(a.console)},
          .run = [arguments] { return run_halftone(*arguments); },
          .given = &a.given};
}

}  // namespace holotone::cli
