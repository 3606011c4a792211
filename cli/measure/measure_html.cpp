// Measurements as one self-contained HTML page.
#include <algorithm>
#include <cli/measure/measure_figures.hpp>
#include <cli/measure/measure_result.hpp>
#include <cli/options/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/io/base64_detail.hpp>

namespace holotone::cli {
namespace {

constexpr std::string_view head = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Holotone: dots measured</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
 :root { color-scheme: light dark; --line: #8886; --blue: #1f6fd0; --orange: #c2570c; }
 @media (prefers-color-scheme: dark) { :root { --blue: #79b1ff; --orange: #ffae66; } }
 body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
 h1 { line-height: 1.2; overflow-wrap: anywhere; }
 .grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 1.5rem; }
 figure { margin: 0; } figcaption { font-size: .85rem; opacity: .8; }
 svg.plot { width: 100%; height: auto; font: 11px system-ui, sans-serif; } svg.plot text { fill: currentColor; }
 svg.plot .title { font-weight: 600; font-size: 12px; }
 svg.plot path { fill: none; stroke: currentColor; } svg.plot .grid { stroke: var(--line); stroke-width: .5; }
 svg.plot .mark { stroke-dasharray: 5 4; opacity: .7; } svg.plot .line { stroke-width: 1.6; stroke-linejoin: round; }
 svg.plot path.s0 { stroke: var(--blue); } svg.plot path.s1 { stroke: var(--orange); }
 svg.plot circle.s0, svg.plot text.s0 { fill: var(--blue); }
 svg.plot circle.s1, svg.plot text.s1 { fill: var(--orange); }
 .square { width: 100%; max-width: 32rem; aspect-ratio: 1; background: #fff; image-rendering: pixelated;
  border: 1px solid var(--line); }
 .dots { aspect-ratio: 1000 / 1050; } .dots text { font: 28px system-ui, sans-serif; fill: #000; }
 .dots .scale { fill: none; stroke: #000; stroke-width: 2; }
 table { border-collapse: collapse; }
 td, th { border-bottom: 1px solid var(--line); padding: .2rem 1rem .2rem 0; text-align: left; }
 .warning { border-left: 4px solid var(--orange); padding-left: .7rem; }
</style></head><body>
)html";

/// A round length of about side / 5: 1, 2 or 5 times a power of ten.
double round_length(double side) {
  const double wanted = side / 5;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  return power * (wanted >= 5 * power ? 5 : wanted >= 2 * power ? 2 : 1);
}

/// A scale bar beneath the dots, in length units if the pixel size is known.
std::string scale_bar(double side, double pixel_m) {
  const double unit = pixel_m > 0 ? pixel_m : 1;
  const double length = round_length(side * unit);
  const double width = 1000 * length / (side * unit);
  const std::string text = pixel_m > 0 ? fmt::format("{} ({:.3g} pixels)", format_length(length), length / pixel_m)
                                       : fmt::format("{:g} {}", length, length == 1 ? "pixel" : "pixels");
  return fmt::format(
      "<path class=\"scale\" d=\"M4 1020v16m0-8h{0:.1f}m0-8v16\"/><text x=\"{1:.1f}\" y=\"1037\">{2}</text>", width,
      width + 20, html_text(text));
}

/// A square of about 2000 dots from the page's middle.
std::string dots_svg(const Measured& m) {
  constexpr double wanted = 2000;
  constexpr std::size_t most = 20'000;  // limit for dots that crowd in the middle
  const Dots& dots = m.source.dots;
  const double side = std::min({std::sqrt(wanted / m.density), dots.width, dots.height});
  const double x0 = (dots.width - side) / 2;
  const double y0 = (dots.height - side) / 2;
  const double radius = 0.25 / std::sqrt(m.density);
  std::string svg = fmt::format("<svg class=\"square dots\" viewBox=\"0 0 1000 1050\">");
  const double scale = 1000 / side;
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < dots.position.size() && drawn < most; i += 2) {
    const double x = static_cast<double>(dots.position[i]) - x0;
    const double y = static_cast<double>(dots.position[i + 1]) - y0;
    if (x < 0 || y < 0 || x > side || y > side) continue;
    ++drawn;
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x * scale, y * scale, radius * scale);
  }
  svg += "<path class=\"scale\" d=\"M0 1000h1000\"/>";
  return svg + scale_bar(side, dots.pixel_m) + "</svg>";
}

void add_figure(std::string& page, const std::string& content, std::string_view caption) {
  page += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", content, caption);
}

void add_numbers(std::string& page, const MeasureJob& job, const Measured& m) {
  page += "<table>\n";
  const auto row = [&](std::string_view name, const std::string& text) {
    page += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(name), html_text(text));
  };
  const auto lines = measured_lines(job, m);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto name_end = lines[i].find("  ", 2);
    const auto text = name_end == std::string::npos ? std::string::npos : lines[i].find_first_not_of(' ', name_end);
    if (text == std::string::npos) {
      row("", lines[i]);
    } else {
      row(lines[i].substr(2, name_end - 2), lines[i].substr(text));
    }
  }
  if (m.radial) {
    row("spectrum", fmt::format("{} periodograms of {} x {} pieces, {} window", m.spectrum.periodograms, m.pieces[1],
                                m.pieces[0], job.options.window == SpectrumWindow::hann ? "Hann" : "rectangular"));
  }
  page += "</table>\n";
}

}  // namespace

std::string measured_html(const MeasureJob& job, const Measured& m) {
  std::string page(head);
  const auto lines = measured_lines(job, m);
  page += fmt::format("<h1>{}</h1>\n", html_text(printable(lines.front())));
  for (const auto& text : m.warnings) page += fmt::format("<p class=\"warning\">{}</p>\n", html_text(printable(text)));
  for (const auto& text : m.source.remarks) page += fmt::format("<p>{}.</p>\n", html_text(printable(text)));
  add_numbers(page, job, m);
  page += "<h2>Spread</h2>\n<div class=\"grid2\">\n";
  if (m.radial) {
    add_figure(
        page, plot_svg(raps_plot(m)),
        "Mean power over circles of one frequency. Blue noise has none below the principal frequency, one peak near "
        "it, and 1 beyond. Dashed: the principal frequencies of the square and the hexagonal lattice.");
    add_figure(page, plot_svg(anisotropy_plot(m)),
               "Variance of the power on those circles over the square of its mean. Dashed: what random dots have.");
    add_figure(
        page,
        fmt::format("<img class=\"square\" alt=\"power spectrum\" src=\"data:image/png;base64,{}\">",
                    io::base64(png_bytes({spectrum_codes(m.spectrum), {}}))),
        fmt::format("Power spectrum, -20 dB black to +10 dB white, frequency 0 in the middle, up to {:g} principal "
                    "frequencies.",
                    job.options.frequency));
  }
  add_figure(page, dots_svg(m), "Dots in the middle of the page, and a length on it.");
  if (m.pairs) {
    add_figure(
        page, plot_svg(pairs_plot(m)),
        "Pairs of dots at a distance, as a multiple of what random dots have; 1 is the largest distance that all "
        "neighbours can have.");
  }
  page += "</div>\n";
  if (!m.blurred.empty()) {
    page += fmt::format("<h2>Against {}</h2>\n<div class=\"grid2\">\n", html_text(printable(job.against)));
    add_figure(page, plot_svg(blurred_plot(m, false)),
               "Dots at their exact positions and the image's ink, blurred alike, compared at every pixel; peak 1.");
    const bool structure =
        std::any_of(m.blurred.begin(), m.blurred.end(), [](const auto& b) { return std::isfinite(b.ssim); });
    if (structure) add_figure(page, plot_svg(blurred_plot(m, true)), "Structural similarity of the same fields.");
    page += "</div>\n";
  }
  return page + "<p>Made by holotone " HOLOTONE_VERSION
                "; docs/measures.md says what each measure is.</p>\n</body></html>\n";
}

}  // namespace holotone::cli
