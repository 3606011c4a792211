#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

/// A line of a plot, broken at non-finite points.
struct PlotSeries {
  std::string name;  ///< in the legend; empty: none
  std::vector<double> x;
  std::vector<double> y;
  bool points = false;  ///< with a mark at each point
};

/// A dashed line across a plot.
struct PlotMark {
  double at = 0;
  std::string label;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
  std::vector<PlotMark> vertical;
  std::vector<PlotMark> horizontal;
  double y_low = 0;  ///< the axis covers at least y_low .. y_high
  double y_high = 0;
  double y_limit_low = -1e300;  ///< and at most these limits
  double y_limit_high = 1e300;
};

/// The plot as an <svg> element for an HTML page, in the page's text colour; style classes s0, s1, ... set the colours.
std::string plot_svg(const Plot& plot);

/// Escapes text and attribute values of HTML.
std::string html_text(std::string_view text);

/// About `count` round numbers within low .. high.
std::vector<double> round_ticks(double low, double high, int count);

}  // namespace holotone::cli
