#include <algorithm>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/halftone/halftone_job.hpp>
#include <cli/options/compression_option.hpp>
#include <cli/options/values.hpp>
#include <filesystem>
#include <holotone/io/dots/dots.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

constexpr std::size_t max_inputs = 16;

PageLength page_length(std::string_view option, std::string_view text) {
  constexpr double most = 1e6;
  constexpr std::string_view expected = "a radius > 0 and < 1e6 such as 1.5 (pixels) or 0.2mm";
  if (text.ends_with("px")) text.remove_suffix(2);
  const bool unit = !text.empty() && text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
  const PageLength length{unit ? parse_length(option, text) : parse_number(option, text), unit};
  if (!(length.value > 0 && length.value < most)) reject(option, expected, text);
  return length;
}

PageRadii page_radii(std::string_view option, const std::string& text) {
  const auto colon = text.find(':');
  const PageLength low = page_length(option, text.substr(0, colon));
  if (colon == std::string::npos) return {low, low};
  const PageLength high = page_length(option, text.substr(colon + 1));
  if (low.metres != high.metres || low.value > high.value) {
    reject(option, "a radius or MIN:MAX rising, both in pixels or both with a unit", text);
  }
  return {low, high};
}

/// An option of some methods alone.
Applies for_methods(const HalftoneJob& job, std::string_view expected, std::function<bool()> holds) {
  return {std::move(holds), expected, [&job] { return fmt::format("--method {}", name_of(job.options.method)); }};
}

Applies for_forces(const HalftoneJob& job) {
  return for_methods(job, "--method electrostatic or direct", [&job] { return job.by_forces(); });
}

bool is_fast(const HalftoneJob& job) { return job.options.method == HalftoneMethod::electrostatic; }
bool writes_png(const HalftoneJob& job) { return io::has_format(job.output, io::FileFormat::png); }

Applies for_split(const HalftoneJob& job, ForceSum sum) {
  return {[&job, sum] { return is_fast(job) && job.options.forces.sum == sum; },
          sum == ForceSum::taylor ? "--split taylor" : "--method electrostatic with --split ewald",
          [&job] {
            return is_fast(job) ? fmt::format("--split {}", name_of(job.options.forces.sum))
                                : fmt::format("--method {}", name_of(job.options.method));
          }};
}

Applies for_fast(const HalftoneJob& job) {
  return for_methods(job, "--method electrostatic", [&job] { return is_fast(job); });
}

Applies for_several_inks(const HalftoneJob& job) {
  return {[&job] { return job.several_inks() && job.by_forces(); }, "several inks and forces",
          [&job] {
            return job.several_inks() ? fmt::format("--method {}", name_of(job.options.method))
                                      : std::string("one ink");
          }};
}

std::vector<OptionRow> method_options(HalftoneJob& job) {
  auto& forces = job.options.forces;
  auto& descent = job.options.descent;
  const auto iterates = [&job] { return job.options.method != HalftoneMethod::floyd_steinberg; };
  return {
      {.names = "--method",
       .target = member<&HalftoneOptions::method>(job.options),
       .value = "NAME",
       .help = "electrostatic, direct (the same forces pair by pair), lloyd, ccvt or floyd-steinberg",
       .common = true,
       .feeds = "ElectrostaticPlan.sum"},
      {.names = "--iterations",
       .target = number(job.iterations, ValueUnit::count, {1, bounds_of<&HalftoneOptions::iterations>.high}),
       .value = "N",
       .help = "Maximum number of iterations",
       .otherwise = "300 for forces, 100 for lloyd, 200 for ccvt",
       .common = true,
       .applies = for_methods(job, "a method that iterates", iterates)},
      {.names = "--start",
       .target = member<&HalftoneOptions::start>(job.options),
       .value = "NAME",
       .help = "Placement of the dots before the first iteration: importance (random, denser where the ink is) or "
               "error-diffusion",
       .applies = for_methods(job, "--method electrostatic, direct or lloyd",
                              [&job] { return job.by_forces() || job.options.method == HalftoneMethod::lloyd; })},
      {.names = "--descent",
       .target = choice<Descent>(descent.rule.descent, {{"momentum", Descent::momentum}, {"plain", Descent::plain}}),
       .value = "NAME",
       .help = "Step rule: momentum, or plain (fixed steps, as published)",
       .applies = for_forces(job)},
      {.names = "--edge-correction",
       .target = member<&StepRule::edge_correction>(descent.rule),
       .value = "C",
       .help = "Strength of the force that keeps edges from being overdrawn; 0: none, edges look sharper than the "
               "picture's",
       .applies = {[&job] { return job.by_forces() && job.options.descent.rule.descent == Descent::momentum; },
                   "forces with --descent momentum",
                   [&job] {
                     return job.by_forces() ? std::string("--descent plain")
                                            : fmt::format("--method {}", name_of(job.options.method));
                   }}},
      {.names = "--shake",
       .target = member<&DescentOptions::shake>(descent),
       .value = "R",
       .help = "First radius of random displacements, in mean dot spacings; decreases to 0",
       .applies = for_forces(job)},
      {.names = "--tolerance",
       .target = member<&ElectrostaticOptions::tolerance>(forces),
       .value = "T",
       .help = "Maximum relative error of the net force",
       .applies = for_split(job, ForceSum::ewald)},
      {.names = "--split",
       .target = choice(forces.sum, {ForceSum::ewald, ForceSum::taylor}),
       .value = "NAME",
       .help = "Summation of forces: ewald, or taylor (as published)",
       .feeds = "ElectrostaticPlan.sum",
       .applies = for_fast(job)},
      {.names = "--m",
       .target = member<&ElectrostaticOptions::window_cutoff>(forces),
       .value = "N",
       .help = "Window cut-off of --split taylor",
       .applies = for_split(job, ForceSum::taylor)},
      {.names = "--degree",
       .target = member<&ElectrostaticOptions::taylor_degree>(forces),
       .value = "N",
       .help = "Degree of --split taylor",
       .applies = for_split(job, ForceSum::taylor)},
      {.names = "--near",
       .target = member<&ElectrostaticOptions::near>(forces),
       .value = "NAME",
       .help = "Neighbour search: cells, or map (as published)",
       .applies = for_fast(job)},
      {.names = "--seed",
       .target = number(job.options.seed, ValueUnit::count, {.low = 0}),
       .value = "N",
       .help = "Seed of every random choice",
       .applies = for_methods(job, "a method with random choices", iterates)},
      {.names = "--deterministic",
       .target = member<&ElectrostaticOptions::deterministic>(forces),
       .help = "Give the same bits in every run on a GPU too",
       .applies = for_forces(job)},
      device_row(
          {.target = &job.device_name,
           .feeds = ".device|ElectrostaticPlan.queue",
           .applies = {
               [&job] { return job.by_forces() || job.device_name == "auto" || job.device_name == "cpu"; },
               "auto or cpu",
               [&job] { return fmt::format("{} with --method {}", job.device_name, name_of(job.options.method)); }}})};
}

std::vector<OptionRow> ink_options(InkSource& ink) {
  return {{.names = "--gamma",
           .target = gamma_value(ink),
           .value = "G",
           .help = "Exponent of the tones; above 1: lighter shadows, less ink",
           .common = true,
           .feeds = "ink_from_pixels.gamma"},
          {.names = "--tone",
           .target = tone_value(ink),
           .value = "NAME",
           .help = "Tone curve of the picture: srgb, linear, or auto (sRGB codes, linear floats)"},
          {.names = "--invert", .target = &ink.options.invert, .help = "Put ink where the picture is bright"},
          {.names = "--mask",
           .target = &ink.mask,
           .value = "FILE",
           .help = "Picture of the same size: white takes ink, black none"},
          {.names = "--clip", .target = clip_value(ink), .help = "Clip values of float pictures to 0 to 1"}};
}

std::vector<OptionRow> colour_options(HalftoneJob& job) {
  return {{.names = "--colour,--color",
           .target = choice<bool>(job.cmyk, {{"cmyk", true}}),
           .value = "cmyk",
           .help = "Separation into four inks whose dots repel each other",
           .common = true,
           .applies = {[&job] { return job.inputs.size() == 1; }, "one picture", [] { return "several"; }}},
          {.names = "--black",
           .target = number(job.black, ValueUnit::none, {0, 1}),
           .value = "B",
           .help = "Share of grey printed in black",
           .feeds = "Separation.black",
           .applies = {[&job] { return job.cmyk; }, "--colour cmyk",
                       [&job] { return job.several_inks() ? "several inks" : "one ink"; }}},
          {.names = "--within",
           .target = member<&ClassWeights::within>(job.options.weights),
           .value = "W",
           .help = "Weight of the forces among dots of one ink",
           .feeds = "classes_halftone.within",
           .applies = for_several_inks(job)},
          {.names = "--across",
           .target = member<&ClassWeights::across>(job.options.weights),
           .value = "W",
           .help = "Weight of the forces among dots of all inks",
           .feeds = "classes_halftone.across|classes_halftone.weights",
           .applies = for_several_inks(job)}};
}

std::vector<OptionRow> page_options(HalftoneJob& job) {
  const Applies png{[&job] { return writes_png(job); }, "an output ending in .png", [&job] { return job.output; }};
  return {
      {.names = "--size",
       .target = number(job.size_m, ValueUnit::length, {1e-6, 1000}),
       .value = "LENGTH",
       .help = "Longer side of the page, such as 100mm",
       .otherwise = "96 pixels an inch",
       .common = true},
      {.names = "--dpi",
       .target = number(job.dpi, ValueUnit::none, {1, 100'000}),
       .value = "N",
       .help = "Pixels an inch of a PNG",
       .otherwise = "the picture's pixels",
       .common = true,
       .feeds = "write_dots.dpi",
       .applies = png},
      {.names = "--one-bit",
       .target = &job.one_bit,
       .help = "Write a PNG in black and white, without grey levels",
       .common = true,
       .applies = {[&job] { return writes_png(job) && !job.several_inks(); }, "one ink and an output ending in .png",
                   [&job] { return writes_png(job) ? "several inks" : job.output; }}},
      compression_option(job.compression, &job.output),
      {.names = "--order",
       .target = choice<bool>(job.options.tour, {{"none", false}, {"tour", true}}),
       .value = "NAME",
       .help = "Order of the dots in the file: none, or tour (a short path, for plotters)",
       .common = true},
      {.names = "--frames",
       .target = parsed_member<&HalftoneJob::frames>(job, parse_counter),
       .value = "NAME",
       .help = "Intermediate states of electrostatic and direct: a folder, or names such as frame_%04d.png",
       .applies = for_forces(job)},
      {.names = "--frame-interval",
       .target = number(job.frame_interval, ValueUnit::count, {1, bounds_of<&DescentOptions::iterations>.high}),
       .value = "N",
       .help = "Iterations from frame to frame",
       .applies = {[&job] { return job.frames.given(); }, "--frames", [] { return "none"; }}}};
}

void set_frames(HalftoneJob& job) {
  if (!job.frames.given()) return;
  const auto& name = job.frames.text;
  std::error_code error;
  const bool folder = std::filesystem::is_directory(name, error);
  job.frame_names = folder ? FramePattern{name + "/", ".png", 4} : job.frames.value;
  if (!job.frame_names) reject<&HalftoneJob::frames>("a folder, or a name with a counter such as frame_%04d.png", name);
  if (!is_dots_output(job.frame_names->name(0))) {
    reject<&HalftoneJob::frames>("names ending in .png, .svg, .pdf, .csv, .txt or .npy", name);
  }
  job.options.descent.frame_interval = job.frame_interval;
}

void check_files(const HalftoneJob& job) {
  if (job.inputs.empty() || job.inputs.size() > max_inputs) {
    reject("IN", fmt::format("one picture, or up to {} of one ink each", max_inputs),
           std::to_string(job.inputs.size()) + " files");
  }
  for (const auto& input : job.inputs) io::require_input(input);
  if (!job.ink.mask.empty()) io::require_input(job.ink.mask);
  require_one_name(job.output, false, "no counter for one file");
  if (!is_dots_output(job.output)) {
    reject_output("a name ending in .svg, .png, .pdf, .csv, .txt or .npy", job.output);
  }
  std::vector<OutputFiles> outputs{{output_name, 1, [&](std::int64_t) { return job.output; }}};
  if (job.frame_names) {
    const std::int64_t count = job.options.descent.iterations / job.frame_interval + 2;
    outputs.push_back({"--frames", count, [&](std::int64_t i) { return job.frame_names->name(i); }});
  }
  std::vector<InputFile> inputs{{"--mask", job.ink.mask}};
  for (const auto& input : job.inputs) inputs.push_back({"IN", input});
  require_outputs(outputs, inputs);
}

}  // namespace

std::vector<OptionGroup> halftone_options(HalftoneJob& job) {
  return {{"",
           {{.names = "IN",
             .target = &job.inputs,
             .help = "PNG, TIFF, JPEG, BMP, PFM or EXR; of several pictures each is the darkness of one ink",
             .required = true},
            output_option(
                {.target = &job.output, .help = "SVG, PDF or PNG of the page; CSV, TXT or NPY of the dots' positions"}),
            {.names = "--dots",
             .target = member<&HalftoneOptions::dots>(job.options),
             .value = "N",
             .help = "Number of dots, such as 20k",
             .otherwise = "from the ink",
             .common = true,
             .feeds = "halftone.dots|ElectrostaticPlan.maximum_dots|capacity_voronoi_dots.count"},
            {.names = "--radius",
             .target = parsed(job.radius, page_radii),
             .value = "R",
             .help = "Radius of a dot, or MIN:MAX by local ink, in pixels or with a unit such as 0.2mm",
             .otherwise = "from the ink",
             .common = true}}},
          {"Method", method_options(job)},
          {"Ink", ink_options(job.ink)},
          {"Colour", colour_options(job)},
          {"Page and files", page_options(job)},
          console_options(job.console)};
}

void complete(HalftoneJob& job) {
  auto& options = job.options;
  auto& descent = options.descent;
  if (options.weights.within + options.weights.across == 0)
    reject<&ClassWeights::across>("a number > 0 where --within is 0", "0");
  if (descent.rule.descent == Descent::plain) descent.rule = StepRule::paper();
  if (job.iterations) {
    options.iterations = *job.iterations;
    descent.iterations = *job.iterations;
  }
  descent.seed = options.seed;
  set_frames(job);
  check_files(job);
  if (options.method == HalftoneMethod::direct) {
    options.forces.sum = ForceSum::direct;
    // An iteration may take minutes: progress is reported and cancellation checked after each.
    descent.patience *= descent.check_interval;
    descent.check_interval = 1;
  }
  if (job.by_forces()) job.device = device_option(job.device_name, job.console, OperationId::electrostatic_halftoning);
  load_early(job.device, CudaLibrary::cufft);
}

}  // namespace holotone::cli
