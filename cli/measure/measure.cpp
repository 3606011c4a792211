#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/memory_limit.hpp>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/measure/measure_figures.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/json_text_detail.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

/// Remarks and warnings that follow from the measures.
void report_measures(const DotMeasures& found, Measured& measured) {
  const Dots& dots = measured.source.dots;
  if (!found.radial) {
    measured.warnings.emplace_back(
        "the interior is too narrow for a spectrum; use a larger --frequency or fewer --segments");
  }
  if (found.blurred.empty()) return;
  const auto [ny, nx] = found.image;
  if (found.scale_x != 1 || found.scale_y != 1) {
    measured.source.remarks.push_back(
        fmt::format("the page of {:g} x {:g} is scaled by {:.4g} x {:.4g} to the image's {} x {} pixels", dots.width,
                    dots.height, found.scale_x, found.scale_y, nx, ny));
  }
  constexpr double same_shape = 0.01;
  if (std::abs(found.scale_x / found.scale_y - 1) > same_shape) {
    measured.warnings.push_back(fmt::format(
        "the page of {:g} x {:g} has a different aspect ratio from the image of {} x {} pixels; check --page",
        dots.width, dots.height, nx, ny));
  }
  if (found.wider_blurs) {
    measured.source.remarks.push_back(fmt::format(
        "dot spacing is {:.3g} pixels of the image; the blurs are {:.3g} to {:.3g} times that (--sigma)", found.spacing,
        found.blurred.front().sigma / found.spacing, found.blurred.back().sigma / found.spacing));
  }
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
  DotMeasureOptions options = job.options;
  options.on_spectrum = [](const SpectrumSize& size) {
    require_memory("--frequency", size.bytes,
                   fmt::format("{} x {} frequencies of a piece (more --segments make smaller pieces)",
                               size.frequencies[1], size.frequencies[0]));
  };
  static_cast<DotMeasures&>(measured) = measure_dots(dots, against.ink.view(), options, progress);
  report_measures(measured, measured);
  return measured;
}

namespace {

void write_measured(const MeasureJob& job, const Measured& measured, const nlohmann::json& object) {
  const auto format = io::file_format(job.output);
  if (format == io::FileFormat::png) {
    if (!measured.radial) reject_output("no .png for an interior too narrow for a spectrum", job.output);
    write_image(job.output, Image{spectrum_codes(measured.spectrum), {}});
  } else {
    write_file(job.output, format == io::FileFormat::html  ? measured_html(job, measured)
                           : format == io::FileFormat::csv ? measured_csv(job, measured)
                                                           : io::json_text(object, 2) + "\n");
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
  for (const auto& text : measured.warnings) warn(job.console, text);
  report_json(job.console, object);
  for (const auto& text : measured.source.remarks) remark(job.console, text);
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
