#include <algorithm>
#include <cli/common/output_check.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <cli/measure/measure_clumps.hpp>
#include <cli/measure/measure_job.hpp>
#include <cmath>
#include <holotone/halftone/colour_classes.hpp>

namespace holotone::cli {
namespace {

constexpr double largest_page = 1e9;
constexpr std::size_t most_sigmas = 64;

std::array<double, 2> typed_page(std::string_view text) {
  constexpr std::string_view expected = "WIDTHxHEIGHT in the file's units such as 512x512 or 1x1";
  const auto cross = text.find('x');
  if (cross == std::string_view::npos) reject("--page", expected, text);
  std::array<double, 2> page{};
  for (std::size_t i = 0; i < 2; ++i) {
    page[i] = positive_number("--page", i == 0 ? text.substr(0, cross) : text.substr(cross + 1));
    if (page[i] > largest_page) reject("--page", "sides of at most 1e9", text);
  }
  return page;
}

std::vector<double> sigmas_of(const std::string& text) {
  std::vector<double> sigmas;
  if (text == "auto") return sigmas;
  for (const auto& piece : list("--sigma", text, "auto, or blurs in pixels such as 1,1.5,2,4")) {
    sigmas.push_back(number_between("--sigma", piece, sigma_range));
  }
  if (sigmas.size() > most_sigmas) reject("--sigma", fmt::format("at most {} blurs", most_sigmas), text);
  return sigmas;
}

void set_colours(MeasureJob& job, const MeasureArguments& a) {
  static constexpr Choice<bool> colours[] = {{"cmyk", true}};
  job.cmyk = !a.colour.empty() && choose("--colour", a.colour, colours);
  if (job.cmyk && (job.colour_class < 0 || job.colour_class > 3)) {
    reject("--colour", "--class 0, 1, 2 or 3: cyan, magenta, yellow or black",
           a.colour_class.empty() ? "none" : a.colour_class);
  }
  if (!a.black.empty() && !job.cmyk) reject("--black", "--colour cmyk", "none");
  if (!a.black.empty()) job.black = number_between("--black", a.black, black_range);
}

void check_files(const MeasureJob& job) {
  require_input(job.input);
  if (!is_dots_input(job.input)) {
    throw_io(
        job.input, "dots (.csv .tsv .txt .dat .xy .npy .svg) or a picture of them (.png .tif .tiff .bmp .jpg .jpeg)",
        extension_of(job.input).empty() ? "a name without extension" : fmt::format("'{}'", extension_of(job.input)));
  }
  if (!job.against.empty()) require_input(job.against);
  if (!job.ink.mask.empty()) require_input(job.ink.mask);
  if (job.output.empty()) return;
  require_known_counters("--output", job.output, false);
  if (frame_pattern("--output", job.output)) reject("--output", "no counter for one file", job.output);
  const auto extension = extension_of(job.output);
  if (extension != ".html" && extension != ".json" && extension != ".csv" && extension != ".png") {
    reject("--output", "a name ending in .html, .json, .csv or .png", job.output);
  }
  require_outputs({{"--output", 1, [&](std::int64_t) { return job.output; }}},
                  {{"IN", job.input}, {"--against", job.against}, {"--mask", job.ink.mask}});
}

/// Reports which pixels of a picture are read as dots.
void tell_pixels(const MeasureJob& job, MeasuredDots& measured) {
  if (!is_picture_of_dots(job.input)) return;
  const std::string which =
      job.threshold > 0 ? fmt::format("darker than {:g} (--threshold)", job.threshold) : "of the darker of two levels";
  measured.remarks.push_back(fmt::format("{}: each pixel {} is a dot at its centre", job.input, which));
  const Clumps clumps = clumps_of(measured.dots);
  if (!clumps.found()) return;
  measured.warnings.push_back(
      fmt::format("{} {} {} {} of {} touching pixels in the median{}: drawn discs or enlarged pixels are measured "
                  "pixel by pixel; a "
                  "lower --threshold may part them, and .svg or .csv hold the dots themselves",
                  measured.dots.count(), clumps.gaps ? "dots leave" : "dots are", clumps.count,
                  clumps.gaps ? "white gaps" : "clumps", clumps.median,
                  clumps.large > 0 ? fmt::format(", {} of them more than four times as large", clumps.large) : ""));
}

int class_count(const Dots& dots) {
  std::array<bool, 256> seen{};
  for (const auto c : dots.colour_class) seen[c] = true;
  return static_cast<int>(std::count(seen.begin(), seen.end(), true));
}

void take_class(const MeasureJob& job, Dots& dots) {
  if (job.colour_class < 0) return;
  Dots kept = dots;
  kept.position.clear();
  kept.radius.clear();
  kept.colour_class.clear();
  for (std::size_t i = 0; i < dots.colour_class.size(); ++i) {
    if (dots.colour_class[i] != job.colour_class) continue;
    kept.position.insert(kept.position.end(), {dots.position[2 * i], dots.position[2 * i + 1]});
    if (!dots.radius.empty()) kept.radius.push_back(dots.radius[i]);
  }
  if (kept.position.empty()) {
    throw_io(job.input, fmt::format("dots of class {}", job.colour_class),
             dots.colour_class.empty() ? "dots without classes" : "none");
  }
  dots = std::move(kept);
}

struct Extent {
  double low_x, low_y, high_x, high_y;
  [[nodiscard]] bool within(double width, double height) const {
    return low_x >= 0 && low_y >= 0 && high_x <= width && high_y <= height;
  }
};

Extent extent_of(const Dots& dots) {
  Extent e{INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (std::size_t i = 0; i < dots.position.size(); i += 2) {
    const auto x = static_cast<double>(dots.position[i]);
    const auto y = static_cast<double>(dots.position[i + 1]);
    e = {std::min(e.low_x, x), std::min(e.low_y, y), std::max(e.high_x, x), std::max(e.high_y, y)};
  }
  return e;
}

/// Assumes a page for dots whose file states none.
void assume_page(const MeasureJob& job, View<const float, 2> image, MeasuredDots& measured) {
  Dots& dots = measured.dots;
  measured.page_stated = false;
  const Extent e = extent_of(dots);
  std::string why = "holds its dots";
  if (e.within(1, 1)) {
    dots.width = dots.height = 1;
  } else if (!image.empty()) {
    dots.width = static_cast<double>(image.shape()[1]);
    dots.height = static_cast<double>(image.shape()[0]);
    if (!e.within(dots.width, dots.height)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("--page: expected WIDTHxHEIGHT for {}, which states no page and whose dots ({:g} to {:g}, {:g} "
                      "to {:g}) are not all on the image's {} x {} pixels, got none",
                      job.input, e.low_x, e.high_x, e.low_y, e.high_y, dots.width, dots.height));
    }
    why = "is the image's";
  } else {
    for (std::size_t i = 0; i < dots.position.size(); ++i) {
      const double low = std::min(std::floor(i % 2 == 0 ? e.low_x : e.low_y), 0.0);
      dots.position[i] = static_cast<float>(static_cast<double>(dots.position[i]) - low);
    }
    dots.width = std::max(std::ceil(e.high_x) - std::min(std::floor(e.low_x), 0.0), 1.0);
    dots.height = std::max(std::ceil(e.high_y) - std::min(std::floor(e.low_y), 0.0), 1.0);
    if (std::max(dots.width, dots.height) > largest_page) {
      throw_io(job.input, "dots within 1e9 of each other", fmt::format("{:g} x {:g}", dots.width, dots.height));
    }
  }
  measured.remarks.push_back(fmt::format("{} states no page size: assumed {:g} x {:g}, which {} (--page WIDTHxHEIGHT)",
                                         job.input, dots.width, dots.height, why));
}

}  // namespace

MeasureJob measure_job(const MeasureArguments& a) {
  static constexpr Choice<SpectrumWindow> windows[] = {{"rectangle", SpectrumWindow::rectangle},
                                                       {"hann", SpectrumWindow::hann}};
  MeasureJob job;
  job.console = a.console;
  job.input = a.input;
  job.against = a.against;
  job.output = a.output;
  if (!a.page.empty()) job.page = typed_page(a.page);
  if (!a.threshold.empty()) {
    job.threshold = number_between("--threshold", a.threshold, 0, 1);
    if (job.threshold == 0) reject("--threshold", "a number above 0", a.threshold);
    if (!is_picture_of_dots(a.input)) reject("--threshold", "a picture as FILE", a.input);
  }
  if (!a.colour_class.empty())
    job.colour_class = static_cast<int>(whole_number("--class", a.colour_class, class_range));
  job.y_up = a.y_up;
  job.interior = number_between("--interior", a.interior, interior_range);
  if (a.segments != "auto") job.segments = whole_number("--segments", a.segments, segments_range);
  job.window = choose("--window", a.window, windows);
  job.frequency = number_between("--frequency", a.frequency, frequency_range);
  job.sigma = sigmas_of(a.sigma);
  job.margin = number_between("--margin", a.margin, margin_range);
  if (!a.charge.empty()) {
    job.charge = number_between("--charge", a.charge, 0, 1e9);
    if (job.charge == 0) reject("--charge", "pixels of ink a dot, above 0", a.charge);
  }
  job.ink = a.ink;
  set_colours(job, a);
  check_files(job);
  return job;
}

MeasuredAgainst read_against(const MeasureJob& job, const Metadata& metadata) {
  MeasuredAgainst against;
  if (job.against.empty()) return against;
  const Image image = read_picture(job.against);
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
  measured.classes = class_count(dots);
  take_class(job, dots);
  if (job.page) {
    dots.width = (*job.page)[0];
    dots.height = (*job.page)[1];
  } else if (!(dots.width > 0 && dots.height > 0)) {
    assume_page(job, image, measured);
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
