#include <CLI/CLI.hpp>
#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/values.hpp>
#include <cli/halftone/halftone_maker.hpp>
#include <cli/halftone/memory_estimate.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

constexpr double dots_that_hardly_show = 0.1;  ///< radius in pixels of a PNG without --dpi

/// Pixels of the raster a pixel of the page.
double raster_scale(const HalftoneJob& job, const HalftonePage& page) {
  if (job.dpi == 0) return 1;
  return job.dpi * (page.pixel_m > 0 ? page.pixel_m : default_pixel_m) / 0.0254;
}

/// Three digits of a length in pixels: with its unit where somebody said how large the page is.
std::string page_length_text(const HalftonePage& page, double pixels) {
  if (page.pixel_m == 0) return fmt::format("{:.3g} pixels", pixels);
  return format_length(parse_number("length", fmt::format("{:.3g}", pixels * page.pixel_m)));
}

/// --radius as it would have to be typed.
std::string radius_text(const HalftoneJob& job, double factor) {
  if (!job.radius_low->metres) return fmt::format("{:.3g}", job.radius_low->value * factor);
  std::string text = format_length(parse_number("--radius", fmt::format("{:.3g}", job.radius_low->value * factor)));
  std::erase(text, ' ');
  return text;
}

/// Dots that together have more or less ink than the picture, because both number and radius were given.
std::string ink_warning(const HalftoneJob& job, const WrittenHalftone& halftone) {
  constexpr double tolerated = 0.1;
  const double share = halftone.ink_share;
  if (std::abs(share - 1) <= tolerated) return {};
  const bool alike = job.radius_low->value == job.radius_high->value;
  return fmt::format("dots hold {} % of the picture's ink: {}--dots {:.0f} would hold all of it",
                     share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share),
                     alike ? fmt::format("--radius {} or ", radius_text(job, 1 / std::sqrt(share))) : std::string(),
                     std::max(1.0, std::round(static_cast<double>(*job.dots) / share)));
}

/// What might help though nothing is wrong.
std::vector<std::string> hints_of(const HalftoneJob& job, const HalftonePage& page) {
  constexpr double dark = 0.75;
  std::vector<std::string> hints;
  double most = 0;
  for (const auto& ink : page.inks) most = std::max(most, total_ink(ink.view()) / static_cast<double>(ink.size()));
  const auto& options = job.ink.options;
  if (most > dark && !job.gamma_given && !options.invert) {
    hints.push_back(fmt::format("ink covers {:.0f} % of the page: --gamma 2 gives a lighter print", 100 * most));
  }
  if (page.clip_does_nothing) {
    hints.emplace_back("--clip does nothing here: pictures of 8 or 16 bits hold no number outside 0 to 1");
  }
  return hints;
}

/// What was done as asked and is hardly what was meant, a line each.
std::vector<std::string> warnings_of(const HalftoneJob& job, const HalftonePage& page,
                                     const WrittenHalftone& halftone) {
  std::vector<std::string> warnings;
  if (auto ink = ink_warning(job, halftone); !ink.empty()) warnings.push_back(std::move(ink));
  const double radius = halftone.radius * raster_scale(job, page);
  if (extension_of(job.output) == ".png" && !halftone.bitmap && radius < 0.5) {
    warnings.push_back(fmt::format(
        "dots have a radius of {:.2g} pixels of {}{}", radius, job.output,
        radius < dots_that_hardly_show ? ", which shows none of them" : "; a larger --dpi shows them one by one"));
  }
  if (halftone.missed_neighbours > 0) {
    warnings.push_back(fmt::format("--near map misses {} at the end, counted from each side",
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

/// "1 black: 1200 dots, 2 red: 800 dots"
std::string inks_text(const HalftonePage& page, const Dots& dots) {
  std::vector<std::int64_t> counts(page.printed.size(), 0);
  for (const auto colour_class : dots.colour_class) ++counts[colour_class];
  std::string text;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    text += fmt::format("{}{} {}: {}", c == 0 ? "" : ", ", c + 1, page.printed[c].name, counted(counts[c], "dot"));
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
    report(job.console, fmt::format("the way from dot to dot is {} long, {:.0f} % of the one along Hilbert's curve",
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

void add_method_options(CLI::App& command, HalftoneArguments& a) {
  command.add_option("--dots", a.dots, "How many dots; default: as many as the ink asks for");
  command.add_option("--method", a.method, "electrostatic, direct, floyd-steinberg, lloyd or ccvt")
      ->capture_default_str();
  command.add_option("--start", a.start, "Where dots begin: importance or error-diffusion");
  command.add_option("--iterations", a.iterations, "At most so many");
  command.add_option("--descent", a.descent, "momentum, or plain: the paper's fixed steps");
  command.add_option("--shake", a.shake, "First radius of shaking, in mean spacings of dots; falls to 0");
  command.add_option("--seed", a.seed, "Of every random choice; default 0");
  command.add_option("--tolerance", a.tolerance, "Largest relative error of the net force, 1e-5 to 0.1");
  command.add_option("--split", a.split, "Sum of forces: ewald, or taylor: the paper's");
  command.add_option("--m", a.cutoff, "Window cut-off of --split taylor, 2 to 5");
  command.add_option("--degree", a.degree, "Taylor degree of --split taylor, 2 to 12");
  command.add_option("--near", a.near, "How dots find neighbours: cells, or map: the paper's");
  command.add_flag("--deterministic", a.deterministic, "The same bits every run on a GPU too");
  command.add_option("--device", a.device, "auto, cpu or cuda:N")->capture_default_str();
}

void add_ink_options(CLI::App& command, HalftoneArguments& a) {
  command.add_flag("--invert", a.ink.invert, "Ink where the picture is bright");
  command.add_option("--mask", a.ink.mask, "Picture of the same size: ink only where it is white");
  command.add_option("--gamma", a.ink.gamma, "Above 1 lifts the shadows: less ink")
      ->capture_default_str()
      ->each([&a](const std::string&) { a.gamma_given = true; });
  command.add_option("--tone", a.ink.tone, "What numbers are: srgb codes, linear light (or as they are), auto by file")
      ->capture_default_str();
  command.add_flag("--clip", a.ink.clip, "Take numbers outside 0 to 1 of float pictures as 0 or 1");
  command.add_option("--colour,--color", a.colour, "cmyk: dots of four inks that repel each other");
  command.add_option("--black", a.black, "Share of grey that black ink takes, 0 to 1; default 1");
  command.add_option("--within", a.within, "Weight of the force among dots of one ink; default 1");
  command.add_option("--across", a.across, "Weight of the force among dots of all inks; default 0.5");
}

void add_page_options(CLI::App& command, HalftoneArguments& a) {
  command.add_option("--radius", a.radius, "Of a dot, or MIN:MAX by local ink: pixels, or a length such as 0.2mm");
  command.add_option("--size", a.size, "Longer side of the page, such as 100mm; default: 96 pixels an inch");
  command.add_option("--dpi", a.dpi, "PNG: pixels an inch; default: the picture's pixels");
  command.add_flag("--one-bit", a.one_bit, "PNG: black and white without greys");
  command.add_option("--order", a.order, "none, or tour: a short way from dot to dot for plotters")
      ->capture_default_str();
  command.add_option("--frames", a.frames, "The evolution: a folder, or names such as frame_%04d.png");
  command.add_option("--frame-interval", a.frame_interval, "Iterations from frame to frame; default 10");
}

}  // namespace

void add_halftone(CLI::App& application, Action& action) {
  const auto arguments = std::make_shared<HalftoneArguments>();
  auto* command = application.add_subcommand("halftone", "A picture to dots for a printer or plotter");
  command->add_option("IN", arguments->inputs, "PNG, TIFF, JPEG or BMP; or several, the darkness of one ink each")
      ->required();
  command->add_option("-o,--output", arguments->output, "SVG, PDF, PNG; CSV, TXT or NPY for the dots' places")
      ->required();
  add_method_options(*command, *arguments);
  add_ink_options(*command, *arguments);
  add_page_options(*command, *arguments);
  add_console_options(*command, arguments->console);
  command->callback([arguments, &action] { action = [arguments] { return run_halftone(*arguments); }; });
}

}  // namespace holotone::cli
