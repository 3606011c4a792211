#include <algorithm>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/measure/measure_figures.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/images/image.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Default number of pieces whose periodograms are averaged: ten as in Ulichney, one for fewer than 1000 dots, more
/// above 10 million.
std::int64_t default_segments(std::int64_t dots) {
  constexpr std::int64_t few = 1000;
  constexpr std::int64_t max_a_piece = 1'000'000;
  if (dots < few) return 1;
  return std::max<std::int64_t>(10, (dots + max_a_piece - 1) / max_a_piece);
}

void measure_spectrum(const MeasureJob& job, const Region& region, Measured& measured, Progress& progress) {
  SpectrumOptions options;
  options.region = region;
  options.segments = job.segments > 0 ? job.segments : default_segments(measured.inside);
  options.largest_frequency = job.frequency * principal_frequency(measured.density);
  options.window = job.window;
  const SpectrumSize size = spectrum_size(options);
  measured.pieces = size.pieces;
  if (size.annuli == 0) {
    measured.warnings.emplace_back(
        "the interior is too narrow for a spectrum; use a larger --frequency or fewer --segments");
    return;
  }
  require_memory("--frequency", size.bytes,
                 fmt::format("{} x {} frequencies of a piece (more --segments make smaller pieces)",
                             size.frequencies[1], size.frequencies[0]));
  SpectrumPlan plan(options);
  plan.add(positions_of(measured.source.dots), progress);
  measured.spectrum = plan.spectrum();
  progress.step("averaging the spectrum", 0, 1);
  measured.radial = radial_spectrum(measured.spectrum);
  measured.summary = summarise(*measured.radial, measured.spectrum);
  if (measured.summary.annuli == 0) measured.summary = summarise(*measured.radial, measured.spectrum, 8);
}

/// Positions in image pixels.
std::vector<float> on_image(const Dots& dots, const Measured& measured) {
  std::vector<float> position = dots.position;
  if (measured.scale_x == 1 && measured.scale_y == 1) return position;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const double scale = i % 2 == 0 ? measured.scale_x : measured.scale_y;
    const auto most = static_cast<double>(measured.image[i % 2 == 0 ? 1 : 0]);
    double value = static_cast<double>(position[i]) * scale;
    // Rounding must not move a dot off the page's edge.
    if (value > most && value < most * (1 + 1e-6)) value = most;
    position[i] = static_cast<float>(value);
  }
  return position;
}

/// Charge of each dot: proportional to its area if radii are given.
std::vector<float> charges_of(const MeasureJob& job, const Dots& dots, Measured& measured) {
  const Region page = interior(dots);
  double sum = 0;
  std::int64_t count = 0;
  std::vector<float> weight(static_cast<std::size_t>(dots.count()), 1);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (!dots.radius.empty()) weight[i] = dots.radius[i] * dots.radius[i];
    if (!page.holds(static_cast<double>(dots.position[2 * i]), static_cast<double>(dots.position[2 * i + 1]))) continue;
    sum += static_cast<double>(weight[i]);
    ++count;
  }
  if (!(sum > 0)) {
    std::fill(weight.begin(), weight.end(), 1.0F);
    sum = static_cast<double>(count);
  }
  measured.charge = job.charge > 0 ? job.charge : measured.ink / static_cast<double>(count);
  const double scale = measured.charge * static_cast<double>(count) / sum;
  for (auto& value : weight) value = static_cast<float>(static_cast<double>(value) * scale);
  return weight;
}

/// The paper's blurs in pixels up to a dot spacing of 5 pixels. At a larger spacing these would resolve single dots:
/// they are scaled with the spacing. No blur is below one pixel, the finest detail of the image.
std::vector<double> default_sigmas(Measured& measured) {
  constexpr double max_spacing = 5;    // pixels
  constexpr double paper_spacing = 2;  // pixels: at this spacing the two lists are equal
  std::vector<double> sigmas = BlurOptions().sigma;
  if (measured.spacing <= max_spacing) return sigmas;
  // Limit: a blur far wider than the image carries no information.
  const double widest = static_cast<double>(std::max(measured.image[0], measured.image[1])) / 4;
  const double factor = std::clamp(widest / sigmas.back(), 1.0, measured.spacing / paper_spacing);
  for (double& sigma : sigmas) sigma = std::round(1000 * sigma * factor) / 1000;
  measured.source.remarks.push_back(
      fmt::format("dot spacing is {:.3g} pixels of the image; the blurs are {:.3g} to {:.3g} times that (--sigma)",
                  measured.spacing, sigmas.front() / measured.spacing, sigmas.back() / measured.spacing));
  return sigmas;
}

void measure_against(const MeasureJob& job, const Array<float, 2>& ink, Measured& measured, Progress& progress) {
  const Dots& dots = measured.source.dots;
  measured.image = ink.shape();
  measured.ink = total_ink(ink.view());
  measured.scale_x = static_cast<double>(ink.shape()[1]) / dots.width;
  measured.scale_y = static_cast<double>(ink.shape()[0]) / dots.height;
  if (measured.scale_x != 1 || measured.scale_y != 1) {
    measured.source.remarks.push_back(
        fmt::format("the page of {:g} x {:g} is scaled by {:.4g} x {:.4g} to the image's {} x {} pixels", dots.width,
                    dots.height, measured.scale_x, measured.scale_y, ink.shape()[1], ink.shape()[0]));
  }
  constexpr double same_shape = 0.01;
  if (std::abs(measured.scale_x / measured.scale_y - 1) > same_shape) {
    measured.warnings.push_back(fmt::format(
        "the page of {:g} x {:g} has a different aspect ratio from the image of {} x {} pixels; check --page",
        dots.width, dots.height, ink.shape()[1], ink.shape()[0]));
  }
  const auto position = on_image(dots, measured);
  const auto charge = charges_of(job, dots, measured);
  measured.spacing =
      std::sqrt(static_cast<double>(ink.size()) / static_cast<double>(dots.count() - measured.source.off_page));
  BlurOptions options;
  options.sigma = job.sigma.empty() ? default_sigmas(measured) : job.sigma;
  options.margin = job.margin;
  measured.blurred = compare_blurred({position.data(), {dots.count(), 2}}, ink.view(), options,
                                     view_of(std::span<const float>(charge)), progress);
}

/// Reports how classes are measured: dots of several inks, and the image's luminance, as one set without --class.
void tell_classes(const MeasureJob& job, const MeasuredAgainst& against, Measured& measured) {
  const int classes = measured.source.classes;
  if (classes < 2) return;
  const bool image = !job.against.empty();
  if (job.colour_class < 0) {
    std::string text = fmt::format("dots of {} classes are measured as one set", classes);
    if (image) text += ", as black ones against the image's luminance";
    text += fmt::format("; --class N selects one{}", image ? ", with --colour cmyk against its ink" : "");
    (image ? measured.warnings : measured.source.remarks).push_back(std::move(text));
  } else if (against.colour && !job.cmyk) {
    measured.warnings.push_back(
        fmt::format("dots of class {} are compared with the luminance of {}; --colour cmyk compares with their ink",
                    job.colour_class, job.against));
  }
}

/// Reads the dots; for discs that halftone drew with grey edges, which are no two-level picture, the error names a
/// remedy.
DotsFile read_input(const MeasureJob& job) {
  try {
    return read_dots_file(job.input, {.threshold = job.threshold});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io || error.got() != "more levels") throw;
    if (!read_image(job.input).metadata.contains("dots")) {
      throw_io(job.input, error.expected(), "more levels; --threshold sets it");
    }
    throw_io(job.input, error.expected(),
             "discs with grey edges, as halftone draws them (halftone --one-bit draws two levels; .svg and .csv keep "
             "the dots themselves)");
  }
}

}  // namespace

Measured measure(const MeasureJob& job, Progress& progress) {
  Measured measured;
  DotsFile file = read_input(job);
  check_cancelled("reading");
  const MeasuredAgainst against = read_against(job, file.metadata);
  measured.source = placed_dots(job, std::move(file), against.ink.view());
  measured.warnings = measured.source.warnings;
  tell_classes(job, against, measured);
  const Dots& dots = measured.source.dots;
  if (measured.source.off_page > 0) {
    measured.warnings.push_back(
        fmt::format("{} off the page of {:g} x {:g} left out",
                    measured.source.off_page == 1 ? "1 dot is" : fmt::format("{} dots are", measured.source.off_page),
                    dots.width, dots.height));
  }
  const Region region = interior(dots, job.interior);
  const auto positions = positions_of(dots);
  measured.inside = std::ssize(positions_in(positions, region)) / 2;
  if (measured.inside == 0)
    reject("--interior", "a part of the page that holds a dot", fmt::format("{}", job.interior));
  measured.density = static_cast<double>(measured.inside) / region.area();
  measure_spectrum(job, region, measured, progress);
  if (measured.inside > 1) measured.pairs = pair_correlation(positions, {.region = region}, progress);
  measured.nearest = summarise_nearest(positions, nearest_distances(positions, progress), region);
  if (!job.against.empty()) measure_against(job, against.ink, measured, progress);
  return measured;
}

namespace {

void write_measured(const MeasureJob& job, const Measured& measured, const nlohmann::json& object) {
  const auto extension = extension_of(job.output);
  if (extension == ".png") {
    if (!measured.radial) reject("--output", "no .png for an interior too narrow for a spectrum", job.output);
    write_image(job.output, spectrum_picture(measured.spectrum));
  } else {
    write_file(job.output, extension == ".html" ? measured_html(job, measured)
                           : extension == ".csv"
                               ? measured_csv(job, measured)
                               : object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
}

int run_measure(const MeasureJob& job) {
  const Stopwatch watch;
  complete(job);
  const UnfinishedRun unfinished;
  Measured measured;
  {
    ProgressBar bar(job.console);
    measured = measure(job, bar);
  }
  auto object = measured_json(job, measured);
  if (!job.output.empty()) {
    check_cancelled("writing");
    UnfinishedRun::will_write(job.output);
    write_measured(job, measured, object);
  }
  check_cancelled("writing");
  UnfinishedRun::keep();
  object["outputs"] = job.output.empty() ? nlohmann::json::array() : nlohmann::json::array({job.output});
  object["time_s"] = watch.seconds();
  report_json(job.console, object);
  for (const auto& text : measured.source.remarks) remark(job.console, text);
  for (const auto& text : measured.warnings) warn(job.console, text);
  for (const auto& line : measured_lines(job, measured)) report(job.console, line);
  if (!job.output.empty()) report(job.console, fmt::format("{}: {}", job.output, format_duration(watch.seconds())));
  return exit_ok;
}

}  // namespace

Command measure_command() {
  const auto job = std::make_shared<MeasureJob>();
  return {.name = "measure",
          .purpose = "Measure how evenly dots are distributed, and how well they reproduce an image",
          .examples = {"holotone measure dots.csv", "holotone measure dots.svg --against photo.jpg -o report.html",
                       "holotone measure bitmap.png --against photo.png --json"},
          .groups = measure_options(*job),
          .run = [job] { return run_measure(*job); }};
}

}  // namespace holotone::cli
