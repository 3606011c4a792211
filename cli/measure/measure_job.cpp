#include <algorithm>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/measure/measure_job.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <holotone/halftone/colour_classes.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>

namespace holotone::cli {
namespace {

constexpr double largest_page = 1e9;
constexpr std::size_t max_sigmas = 64;
constexpr Bounds sigma_bounds = bounds_of<&DotMeasureOptions::sigma>;
constexpr Bounds segments_bounds{1, bounds_of<&DotMeasureOptions::segments>.high};
constexpr std::string_view against_name = "--against";

std::array<double, 2> parse_page(std::string_view option, std::string_view text) {
  const auto cross = text.find('x');
  if (cross == std::string_view::npos) reject(option, "WIDTHxHEIGHT in the file's units such as 512x512 or 1x1", text);
  std::array<double, 2> page{};
  for (std::size_t i = 0; i < 2; ++i) {
    page[i] = positive_number(option, i == 0 ? text.substr(0, cross) : text.substr(cross + 1));
    if (page[i] > largest_page) reject(option, "sides of at most 1e9", text);
  }
  return page;
}

std::vector<double> parse_sigmas(std::string_view option, const std::string& text) {
  std::vector<double> sigmas;
  if (text == "auto") return sigmas;
  for (const auto& piece : list(option, text, "auto, or blurs in pixels such as 1,1.5,2,4")) {
    sigmas.push_back(parse_value(option, piece, ValueUnit::none, sigma_bounds));
  }
  if (sigmas.size() > max_sigmas) reject(option, fmt::format("at most {} blurs", max_sigmas), text);
  return sigmas;
}

/// A number above 0 up to `high`.
auto parse_above_zero(double high) {
  return [high](std::string_view option, const std::string& text) {
    const double value = parse_number(option, text);
    if (!(value > 0 && value <= high)) reject(option, fmt::format("a number above 0, at most {:g}", high), text);
    return value;
  };
}

/// "auto" or a number of pieces.
OptionValue segments_value(MeasureJob& job) {
  OptionValue value = number(job.options.segments, ValueUnit::count, segments_bounds);
  value.standard = "auto";
  value.store = [&job, typed = value.store](std::string_view option, const std::string& text) {
    if (text == "auto") {
      job.options.segments = 0;
    } else {
      typed(option, text);
    }
  };
  return value;
}

OptionValue sigma_value(MeasureJob& job) {
  OptionValue value = parsed(job.options.sigma, parse_sigmas, "auto");
  value.range = to_text(sigma_bounds, ValueUnit::none);
  return value;
}

std::vector<OptionRow> dots_options(MeasureJob& job) {
  return {{.names = "--page",
           .target = parsed(job.page, parse_page),
           .value = "WxH",
           .help = "Size of the page in the file's units",
           .otherwise = "as the file states",
           .common = true},
          {.names = "--threshold",
           .target = parsed(job.threshold, parse_above_zero(1)),
           .value = "V",
           .help = "Code value, 0 to 1, below which a pixel of a picture is a dot",
           .otherwise = "between two levels",
           .common = true,
           .feeds = "read_dots.threshold",
           .applies = {[&job] { return is_picture_of_dots(job.input); }, "a picture as FILE",
                       [&job] { return job.input; }}},
          {.names = "--class",
           .target = number(job.colour_class, ValueUnit::count, {0, 255}),
           .value = "N",
           .help = "Colour class whose dots are measured (CMYK: 0 cyan, 1 magenta, 2 yellow, 3 black)",
           .otherwise = "all as one set",
           .common = true},
          {.names = "--y-up", .target = &job.y_up, .help = "Read y as upward from the page's lower edge"}};
}

std::vector<OptionRow> spectrum_options(MeasureJob& job) {
  return {{.names = "--interior",
           .target = member<&DotMeasureOptions::interior>(job.options),
           .value = "F",
           .help = "Central fraction of the page's width and height in which spectrum and neighbours are measured",
           .feeds = "measure_dots.interior"},
          {.names = "--window",
           .target = member<&DotMeasureOptions::window>(job.options),
           .value = "NAME",
           .help = "Taper of each segment of the page before its Fourier transform: rectangle (none) or hann"},
          {.names = "--frequency",
           .target = member<&DotMeasureOptions::frequency>(job.options),
           .value = "F",
           .help = "Largest frequency, in multiples of the principal frequency",
           .common = true,
           .feeds = "SpectrumPlan.largest_frequency"},
          {.names = "--segments",
           .target = segments_value(job),
           .value = "N",
           .help = "Pieces of the page whose periodograms are averaged; auto: 10 from 1000 dots on, else 1",
           .feeds = "SpectrumPlan.largest_frequency"}};
}

std::vector<OptionRow> image_options(MeasureJob& job) {
  std::vector<OptionRow> rows{
      {.names = "--sigma",
       .target = sigma_value(job),
       .value = "LIST",
       .help = "Standard deviations of the blurs in pixels of the image; auto: 1 to 8, larger for sparse dots",
       .common = true,
       .feeds = "BlurredComparisonPlan.sigma"},
      {.names = "--margin",
       .target = member<&DotMeasureOptions::margin>(job.options),
       .value = "N",
       .help = "Pixels along the image's edges that are left out",
       .feeds = "BlurredComparisonPlan.margin"},
      {.names = "--charge",
       .target = parsed(job.options.charge, parse_above_zero(1e9)),
       .value = "Q",
       .help = "Ink of one dot, in pixels",
       .otherwise = "the image's ink over the number of dots"},
      {.names = "--tone",
       .target = tone_value(job.ink),
       .value = "NAME",
       .help = "Tone curve of the image: srgb, linear, or auto (sRGB codes, linear floats)"},
      {.names = "--gamma",
       .target = gamma_value(job.ink),
       .value = "G",
       .help = "Exponent of the image's tones; above 1: lighter shadows, less ink",
       .feeds = "ink_from_pixels.gamma"},
      {.names = "--mask",
       .target = &job.ink.mask,
       .value = "FILE",
       .help = "Picture of the image's size: the share of its ink that counts"},
      {.names = "--colour,--color",
       .target = choice<bool>(job.cmyk, {{"cmyk", true}}),
       .value = "cmyk",
       .help = "Compare one ink of a separation, chosen by --class, instead of the luminance",
       .applies = {[&job] { return job.colour_class >= 0 && job.colour_class <= 3; },
                   "--class 0, 1, 2 or 3 (cyan, magenta, yellow or black)",
                   [&job] { return job.colour_class < 0 ? "none" : fmt::format("{}", job.colour_class); }}},
      {.names = "--black",
       .target = number(job.black, ValueUnit::none, {0, 1}),
       .value = "B",
       .help = "Share of grey printed in black by --colour cmyk",
       .otherwise = "the file's, or 1",
       .feeds = "Separation.black",
       .applies = {[&job] { return job.cmyk; }, "--colour cmyk", [] { return "none"; }}},
      {.names = "--invert", .target = &job.ink.options.invert, .help = "Put ink where the image is bright"},
      {.names = "--clip", .target = clip_value(job.ink), .help = "Clip values of float images to 0 to 1"}};
  for (auto& row : rows) row.needs = against_name;
  return rows;
}

/// Reports which pixels of a picture are read as dots.
void tell_pixels(const MeasureJob& job, MeasuredDots& measured) {
  if (!is_picture_of_dots(job.input)) return;
  const std::string which =
      job.threshold > 0 ? fmt::format("darker than {:g} (--threshold)", job.threshold) : "of the darker of two levels";
  measured.remarks.push_back(fmt::format("{}: each pixel {} is a dot at its centre", job.input, which));
  const DotClumps clumps = find_clumps(measured.dots);
  if (!clumps.found()) return;
  measured.warnings.push_back(
      fmt::format("{} {} {} {} of {} touching pixels in the median{}: drawn discs or enlarged pixels are measured "
                  "pixel by pixel; a "
                  "lower --threshold may part them, and .svg or .csv hold the dots themselves",
                  measured.dots.count(), clumps.gaps ? "dots leave" : "dots are", clumps.count,
                  clumps.gaps ? "white gaps" : "clumps", clumps.median,
                  clumps.large > 0 ? fmt::format(", {} of them more than four times as large", clumps.large) : ""));
}

void take_class(const MeasureJob& job, Dots& dots) {
  if (job.colour_class < 0) return;
  Dots kept = select_class(dots, job.colour_class);
  if (kept.position.empty()) {
    throw_io(job.input, fmt::format("dots of class {}", job.colour_class),
             dots.colour_class.empty() ? "dots without classes" : "none");
  }
  dots = std::move(kept);
}

/// Assumes a page for dots whose file states none.
void find_page(const MeasureJob& job, View<const float, 2> image, MeasuredDots& measured) {
  Dots& dots = measured.dots;
  measured.page_stated = false;
  const auto page = assume_page(dots, image.shape());
  if (!page.holds) {
    const auto [low_x, low_y, high_x, high_y] = page.box;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--page: expected WIDTHxHEIGHT for {}, which states no page and whose dots ({:g} to {:g}, "
                            "{:g} to {:g}) are not all on the image's {} x {} pixels, got none",
                            job.input, low_x, high_x, low_y, high_y, dots.width, dots.height));
  }
  if (std::max(dots.width, dots.height) > largest_page) {
    throw_io(job.input, "dots within 1e9 of each other", fmt::format("{:g} x {:g}", dots.width, dots.height));
  }
  measured.remarks.push_back(fmt::format("{} states no page size: assumed {:g} x {:g}, which {} (--page WIDTHxHEIGHT)",
                                         job.input, dots.width, dots.height,
                                         page.source == PageSource::image ? "is the image's" : "holds its dots"));
}

}  // namespace

std::vector<OptionGroup> measure_options(MeasureJob& job) {
  return {{"",
           {{.names = "FILE",
             .target = &job.input,
             .help = "Dots (CSV, text, NPY, SVG), or a picture of two levels",
             .required = true},
            {.names = against_name,
             .target = &job.against,
             .value = "IMAGE",
             .help = "Image that the dots reproduce",
             .common = true,
             .feeds = "BlurredComparisonPlan."},
            optional_output({.target = &job.output,
                             .help = "Report: HTML with plots, JSON or CSV; or PNG, the power spectrum",
                             .common = true})}},
          {"Dots", dots_options(job)},
          {"Spectrum and neighbours", spectrum_options(job)},
          {"Comparison with an image (--against)", image_options(job)},
          console_options(job.console)};
}

void complete(const MeasureJob& job) {
  io::require_input(job.input);
  if (!is_dots_input(job.input)) {
    throw_io(job.input,
             fmt::format("dots ({}) or a picture of them ({})", io::list_extensions(io::formats::read_dots),
                         io::list_extensions(io::formats::pictures)),
             io::extension_of(job.input).empty() ? "a name without extension"
                                                 : fmt::format("'{}'", io::extension_of(job.input)));
  }
  if (!job.against.empty()) io::require_input(job.against);
  if (!job.ink.mask.empty()) io::require_input(job.ink.mask);
  if (job.output.empty()) return;
  require_one_name(job.output, false, "no counter for one file");
  using io::FileFormat;
  if (!io::has_format(job.output, FileFormat::html | FileFormat::json | FileFormat::csv | FileFormat::png)) {
    reject_output("a name ending in .html, .json, .csv or .png", job.output);
  }
  require_output(job.output, {{"IN", job.input}, {against_name, job.against}, {"--mask", job.ink.mask}});
}

MeasuredAgainst read_against(const MeasureJob& job, const Metadata& metadata) {
  MeasuredAgainst against;
  if (job.against.empty()) return against;
  const Image image = read_picture(job.against);
  print_notes(job.console, image);
  against.colour = shape_of(image)[2] >= 3;
  const auto mask = read_mask(job.ink, page_of(image), job.against);
  if (job.cmyk) {
    const ClassWeights weights;  // the defaults of halftone
    const auto stated = [&](const std::string& key, double otherwise, double most) {
      const auto found = metadata.find(key);
      return found == metadata.end() ? otherwise : number_between(job.input + ": " + key, found->second, 0, most);
    };
    const auto separation = separation_of(job.black ? *job.black : stated("black", 1, 1),
                                          stated("apart", apart_of(weights.within, weights.across), 100));
    auto inks = inks_of(job.against, image, job.ink, mask.view(), separation);
    against.ink = std::move(inks[static_cast<std::size_t>(job.colour_class)]);
    if (total_ink(against.ink.view()) > 0) return against;
    const auto printed = default_inks(inks.size());
    throw_io(job.against,
             fmt::format("a picture with {} ink", printed[static_cast<std::size_t>(job.colour_class)].name),
             "one without any");
  }
  against.ink = ink_of(job.against, image, job.ink, mask.view());
  if (!(total_ink(against.ink.view()) > 0)) reject_no_ink(job.ink, {job.against});
  return against;
}

MeasuredDots placed_dots(const MeasureJob& job, DotsFile file, View<const float, 2> image) {
  MeasuredDots measured;
  measured.dots = std::move(file.dots);
  measured.warnings = std::move(file.notes);
  Dots& dots = measured.dots;
  tell_pixels(job, measured);
  measured.classes = count_classes(dots);
  take_class(job, dots);
  if (job.page) {
    dots.width = (*job.page)[0];
    dots.height = (*job.page)[1];
  } else if (!(dots.width > 0 && dots.height > 0)) {
    find_page(job, image, measured);
  }
  for (std::size_t i = 1; job.y_up && i < dots.position.size(); i += 2) {
    dots.position[i] = static_cast<float>(dots.height - static_cast<double>(dots.position[i]));
  }
  measured.off_page = count_off_page(dots);
  if (measured.off_page == dots.count()) {
    throw_io(job.input, fmt::format("a dot on its page of {:g} x {:g}", dots.width, dots.height), "none");
  }
  return measured;
}

}  // namespace holotone::cli
