#include <algorithm>
#include <cli/measure/measure_plot.hpp>
#include <cmath>
#include <fmt/format.h>

namespace holotone::cli {
namespace {

constexpr double width = 640;
constexpr double height = 300;
constexpr double left = 56;
constexpr double right = 14;
constexpr double top = 30;
constexpr double bottom = 44;

struct ValueSpan {
  double low = INFINITY;
  double high = -INFINITY;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double least) {
    if (!(low <= high)) *this = {0, 1};
    if (high - low < least) high = low + least;
  }
};

/// Maps data to the element's units.
struct Frame {
  ValueSpan x;
  ValueSpan y;
  [[nodiscard]] double px(double value) const {
    return left + (value - x.low) / (x.high - x.low) * (width - left - right);
  }
  [[nodiscard]] double py(double value) const {
    return height - bottom - (value - y.low) / (y.high - y.low) * (height - top - bottom);
  }
};

Frame draw_frame(const Plot& plot) {
  Frame frame;
  for (const auto& series : plot.series) {
    for (const double value : series.x) frame.x.take(value);
    for (const double value : series.y) {
      if (std::isfinite(value)) frame.y.take(std::clamp(value, plot.y_limit_low, plot.y_limit_high));
    }
  }
  if (plot.y_high > plot.y_low) {
    frame.y.take(plot.y_low);
    frame.y.take(plot.y_high);
  }
  for (const auto& mark : plot.horizontal) frame.y.take(mark.at);
  frame.x.widen(1e-9);
  frame.y.widen(1e-9);
  const double room = 0.04 * (frame.y.high - frame.y.low);
  if (frame.y.low != plot.y_low) frame.y.low -= room;
  frame.y.high += room;
  return frame;
}

void add_axes(std::string& svg, const Plot& plot, const Frame& frame) {
  const double floor = height - bottom;
  for (const double tick : round_ticks(frame.x.low, frame.x.high, 8)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:g}</text>",
        frame.px(tick), top, floor, floor + 16, tick);
  }
  for (const double tick : round_ticks(frame.y.low, frame.y.high, 6)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>",
        left, frame.py(tick), width - right, left - 6, frame.py(tick) + 4, tick);
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>", left, top, floor, width - right);
  svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"16\">{}</text>", left, html_text(plot.title));
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", (left + width - right) / 2,
                     height - 8, html_text(plot.x_label));
  svg += fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
                     (top + floor) / 2, html_text(plot.y_label));
}

void add_marks(std::string& svg, const Plot& plot, const Frame& frame) {
  double y = top + 10;
  for (const auto& mark : plot.vertical) {
    if (mark.at < frame.x.low || mark.at > frame.x.high) continue;
    svg += fmt::format("<path class=\"mark\" d=\"M{0:.1f} {1}V{2}\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>",
                       frame.px(mark.at), top, height - bottom, frame.px(mark.at) + 4, y, html_text(mark.label));
    y += 14;  // labels of near lines must not overlap
  }
  for (const auto& mark : plot.horizontal) {
    svg += fmt::format("<path class=\"mark\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\">{5}</text>", left,
                       frame.py(mark.at), width - right, left + 6, frame.py(mark.at) + 13, html_text(mark.label));
  }
}

void add_series(std::string& svg, const PlotSeries& series, std::size_t index, const Plot& plot, const Frame& frame) {
  std::string path;
  std::string dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) {
      pen_down = false;
      continue;
    }
    const double x = frame.px(series.x[i]);
    const double y = frame.py(std::clamp(series.y[i], plot.y_limit_low, plot.y_limit_high));
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    if (series.points) dots += fmt::format("<circle class=\"s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>", index, x, y);
    pen_down = true;
  }
  svg += fmt::format("<path class=\"line s{}\" d=\"{}\"/>{}", index, path, dots);
  if (!series.name.empty()) {
    svg += fmt::format("<text class=\"s{}\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", index, width - right,
                       16 + 14 * static_cast<double>(index), html_text(series.name));
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::vector<double> round_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  if (!(rough > 0) || !std::isfinite(rough)) return {};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && ticks.size() < 100; ++k) {
    ticks.push_back(k == 0 ? 0 : k * step);  // never -0
  }
  return ticks;
}

std::string plot_svg(const Plot& plot) {
  const Frame frame = draw_frame(plot);
  std::string svg = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\">", width, height);
  add_axes(svg, plot, frame);
  add_marks(svg, plot, frame);
  for (std::size_t i = 0; i < plot.series.size(); ++i) add_series(svg, plot.series[i], i, plot, frame);
  return svg + "</svg>\n";
}

}  // namespace holotone::cli
