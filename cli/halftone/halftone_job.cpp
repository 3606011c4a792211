#include <algorithm>
#include <cli/common/compression_option.hpp>
#include <cli/common/device_option.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/values.hpp>
#include <cli/halftone/halftone_job.hpp>
#include <filesystem>
#include <holotone/io/dots/dots.hpp>
#include <limits>

namespace holotone::cli {
namespace {

constexpr std::size_t most_inputs = 16;
constexpr std::int64_t default_frame_interval = 10;

constexpr Choice<HalftoneMethod> methods[] = {{"electrostatic", HalftoneMethod::electrostatic},
                                              {"direct", HalftoneMethod::direct},
                                              {"floyd-steinberg", HalftoneMethod::floyd_steinberg},
                                              {"lloyd", HalftoneMethod::lloyd},
                                              {"ccvt", HalftoneMethod::capacity_voronoi}};

/// An option that applies to some methods alone.
struct Dependent {
  std::string_view option;
  bool given;
  bool applies;
  std::string_view expected;
  std::string_view got;
};

/// Rejects options without effect.
void refuse_unused(const HalftoneArguments& a, const HalftoneJob& job) {
  const bool forces = job.by_forces();
  const bool fast = job.method == HalftoneMethod::electrostatic;
  const bool taylor = fast && job.forces.sum == ForceSum::taylor;
  const bool moves = forces || job.method == HalftoneMethod::lloyd;
  const bool classes = job.cmyk || job.inputs.size() > 1;
  const bool png = extension_of(job.output) == ".png";
  constexpr std::string_view force_methods = "--method electrostatic or direct";
  const std::string_view method = to_string(job.method);
  const std::string_view inks = classes ? "several inks" : "one ink";
  const Dependent known[] = {
      {"--start", !a.start.empty(), moves, "--method electrostatic, direct or lloyd", method},
      {"--split", !a.split.empty(), fast, "--method electrostatic", method},
      {"--near", !a.near.empty(), fast, "--method electrostatic", method},
      {"--m", !a.cutoff.empty(), taylor, "--split taylor", fast ? "--split ewald" : method},
      {"--degree", !a.degree.empty(), taylor, "--split taylor", fast ? "--split ewald" : method},
      {"--tolerance", !a.tolerance.empty(), fast && !taylor, "--method electrostatic with --split ewald",
       fast ? "--split taylor" : method},
      {"--iterations", !a.iterations.empty(), job.method != HalftoneMethod::floyd_steinberg, "a method that iterates",
       method},
      {"--seed", !a.seed.empty(), job.method != HalftoneMethod::floyd_steinberg, "a method with random choices",
       method},
      {"--descent", !a.descent.empty(), forces, force_methods, method},
      {"--shake", !a.shake.empty(), forces, force_methods, method},
      {"--deterministic", a.deterministic, forces, force_methods, method},
      {"--frames", !a.frames.empty(), forces, force_methods, method},
      {"--frame-interval", !a.frame_interval.empty(), !a.frames.empty(), "--frames", "none"},
      {"--black", !a.black.empty(), job.cmyk, "--colour cmyk", inks},
      {"--within", !a.within.empty(), classes && forces, "several inks and forces", forces ? inks : method},
      {"--across", !a.across.empty(), classes && forces, "several inks and forces", forces ? inks : method},
      {"--dpi", !a.dpi.empty(), png, "an output ending in .png", job.output},
      {"--one-bit", a.one_bit, png && !classes, "one ink and an output ending in .png", png ? inks : job.output},
      {"--colour", job.cmyk, job.inputs.size() == 1, "one picture", "several"}};
  for (const auto& dependent : known) {
    if (dependent.given && !dependent.applies) reject(dependent.option, dependent.expected, dependent.got);
  }
  if (!forces && a.device != "auto" && a.device != "cpu") {
    reject("--device", fmt::format("auto or cpu for --method {}", to_string(job.method)), a.device);
  }
}

void set_forces(HalftoneJob& job, const HalftoneArguments& a) {
  static constexpr Choice<ForceSum> splits[] = {{"ewald", ForceSum::ewald}, {"taylor", ForceSum::taylor}};
  static constexpr Choice<NearField> nears[] = {{"cells", NearField::cells}, {"map", NearField::map}};
  static constexpr Choice<Descent> descents[] = {{"momentum", Descent::momentum}, {"plain", Descent::plain}};
  if (!a.split.empty()) job.forces.sum = choose("--split", a.split, splits);
  if (!a.near.empty()) job.forces.near = choose("--near", a.near, nears);
  if (!a.cutoff.empty()) job.forces.window_cutoff = static_cast<int>(whole_number("--m", a.cutoff, cutoff_range));
  if (!a.degree.empty()) job.forces.taylor_degree = static_cast<int>(whole_number("--degree", a.degree, degree_range));
  if (!a.tolerance.empty()) job.forces.tolerance = number_between("--tolerance", a.tolerance, tolerance_range);
  job.forces.deterministic = a.deterministic;
  if (!a.descent.empty() && choose("--descent", a.descent, descents) == Descent::plain) {
    job.descent.rule = StepRule::paper();
  }
  if (!a.iterations.empty()) {
    job.iterations = whole_number("--iterations", a.iterations, iterations_range);
    job.descent.iterations = job.iterations;
  }
  if (!a.shake.empty()) job.descent.shake = number_between("--shake", a.shake, shake_range);
  job.descent.seed = job.seed;
}

PageLength page_length(std::string_view option, std::string_view text) {
  constexpr double most = 1e6;
  constexpr std::string_view expected = "a radius > 0 and < 1e6 such as 1.5 (pixels) or 0.2mm";
  if (text.ends_with("px")) text.remove_suffix(2);
  const bool unit = !text.empty() && text.find_first_not_of("0123456789.eE+-") != std::string_view::npos;
  const PageLength length{unit ? parse_length(option, text) : parse_number(option, text), unit};
  if (!(length.value > 0 && length.value < most)) reject(option, expected, text);
  return length;
}

void set_sizes(HalftoneJob& job, const HalftoneArguments& a) {
  if (!a.dots.empty()) job.dots = whole_number("--dots", a.dots, dots_range);
  if (!a.radius.empty()) {
    const auto colon = a.radius.find(':');
    job.radius_low = page_length("--radius", a.radius.substr(0, colon));
    job.radius_high = job.radius_low;
    if (colon != std::string::npos) {
      job.radius_high = page_length("--radius", a.radius.substr(colon + 1));
      if (job.radius_low->metres != job.radius_high->metres || job.radius_low->value > job.radius_high->value) {
        reject("--radius", "a radius or MIN:MAX rising, both in pixels or both with a unit", a.radius);
      }
    }
  }
  if (!a.size.empty()) job.size_m = length_between("--size", a.size, page_range);
  if (!a.dpi.empty()) job.dpi = number_between("--dpi", a.dpi, dpi_range);
}

void set_colours(HalftoneJob& job, const HalftoneArguments& a) {
  static constexpr Choice<bool> colours[] = {{"cmyk", true}};
  job.cmyk = !a.colour.empty() && choose("--colour", a.colour, colours);
  if (!a.black.empty()) job.black = number_between("--black", a.black, black_range);
  if (!a.within.empty()) job.weights.within = number_between("--within", a.within, weight_range);
  if (!a.across.empty()) job.weights.across = number_between("--across", a.across, weight_range);
  if (job.weights.within + job.weights.across == 0) reject("--across", "a number > 0 where --within is 0", a.across);
}

void set_frames(HalftoneJob& job, const HalftoneArguments& a) {
  if (a.frames.empty()) return;
  require_known_counters("--frames", a.frames, false);
  std::error_code error;
  const bool folder = std::filesystem::is_directory(a.frames, error);
  job.frames = frame_pattern("--frames", folder ? a.frames + "/%04d.png" : a.frames);
  if (!job.frames) reject("--frames", "a folder, or a name with a counter such as frame_%04d.png", a.frames);
  if (!is_dots_output(job.frames->name(0))) {
    reject("--frames", "names ending in .png, .svg, .pdf, .csv, .txt or .npy", a.frames);
  }
  job.descent.frame_interval = a.frame_interval.empty()
                                   ? default_frame_interval
                                   : whole_number("--frame-interval", a.frame_interval, iterations_range);
}

void check_files(const HalftoneJob& job) {
  if (job.inputs.empty() || job.inputs.size() > most_inputs) {
    reject("IN", fmt::format("one picture, or up to {} of one ink each", most_inputs),
           std::to_string(job.inputs.size()) + " files");
  }
  for (const auto& input : job.inputs) require_input(input);
  if (!job.ink.mask.empty()) require_input(job.ink.mask);
  require_known_counters("--output", job.output, false);
  if (frame_pattern("--output", job.output)) reject("--output", "no counter for one file", job.output);
  if (!is_dots_output(job.output)) {
    reject("--output", "a name ending in .svg, .png, .pdf, .csv, .txt or .npy", job.output);
  }
  std::vector<OutputFiles> outputs{{"--output", 1, [&](std::int64_t) { return job.output; }}};
  if (job.frames) {
    const std::int64_t count = job.descent.iterations / job.descent.frame_interval + 2;
    outputs.push_back({"--frames", count, [&](std::int64_t i) { return job.frames->name(i); }});
  }
  std::vector<InputFile> inputs{{"--mask", job.ink.mask}};
  for (const auto& input : job.inputs) inputs.push_back({"IN", input});
  require_outputs(outputs, inputs);
}

}  // namespace

HalftoneJob halftone_job(const HalftoneArguments& arguments) {
  static constexpr Choice<DotStart> starts[] = {{"importance", DotStart::importance},
                                                {"error-diffusion", DotStart::error_diffusion}};
  static constexpr Choice<bool> orders[] = {{"none", false}, {"tour", true}};
  HalftoneJob job;
  job.console = arguments.console;
  job.inputs = arguments.inputs;
  job.output = arguments.output;
  job.method = choose("--method", arguments.method, methods);
  if (!arguments.start.empty()) job.start = choose("--start", arguments.start, starts);
  if (!arguments.seed.empty()) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    job.seed = static_cast<std::uint64_t>(whole_number("--seed", arguments.seed, 0, most));
  }
  set_forces(job, arguments);
  set_sizes(job, arguments);
  set_colours(job, arguments);
  job.ink = ink_source(arguments.ink);
  job.one_bit = arguments.one_bit;
  job.compression = compression_of(arguments.compression);
  job.gamma_given = arguments.given.contains("--gamma");
  job.tour = choose("--order", arguments.order, orders);
  refuse_unused(arguments, job);
  set_frames(job, arguments);
  check_files(job);
  if (job.method == HalftoneMethod::direct) {
    job.forces.sum = ForceSum::direct;
    // An iteration may take minutes: progress is reported and cancellation checked after each.
    job.descent.patience *= job.descent.check_interval;
    job.descent.check_interval = 1;
  }
  if (job.by_forces()) job.device = device_option(arguments.device, arguments.console, "electrostatic halftoning");
  load_early(job.device, CudaLibrary::cufft);
  return job;
}

}  // namespace holotone::cli
