#include <algorithm>
#include <cli/measure/measure_figures.hpp>
#include <cmath>
#include <fmt/format.h>

namespace holotone::cli {

Plot raps_plot(const Measured& m) {
  const double principal = principal_frequency(m.density);
  Plot plot;
  plot.title = "Radially averaged power spectrum";
  plot.x_label = "frequency / principal frequency";
  plot.y_label = "power (random dots: 1)";
  PlotSeries series{"", {}, m.radial->power, false};
  for (const double f : m.radial->frequency) series.x.push_back(f / principal);
  plot.series.push_back(std::move(series));
  plot.vertical = {{1, "square"}, {hexagonal_frequency(m.density) / principal, "hexagonal"}};
  plot.horizontal = {{1, ""}};
  plot.y_high = 1.5;
  plot.y_limit_high = 12;
  return plot;
}

Plot anisotropy_plot(const Measured& m) {
  Plot plot;
  plot.title = "Anisotropy";
  plot.x_label = "frequency / principal frequency";
  plot.y_label = "dB";
  PlotSeries series{"", {}, {}, false};
  for (std::size_t i = 0; i < m.radial->frequency.size(); ++i) {
    series.x.push_back(m.radial->frequency[i] / principal_frequency(m.density));
    series.y.push_back(anisotropy_db(m.radial->anisotropy[i]));
  }
  plot.series.push_back(std::move(series));
  plot.horizontal = {{m.summary.floor_db, fmt::format("random dots: {:.1f} dB", m.summary.floor_db)}};
  plot.vertical = {{1, ""}};
  plot.y_low = -15;
  plot.y_high = 10;
  return plot;
}

Plot pairs_plot(const Measured& m) {
  Plot plot;
  plot.title = "Pair correlation";
  plot.x_label = "distance / hexagonal lattice's";
  plot.y_label = "pairs (random dots: 1)";
  PlotSeries series{"", {}, m.pairs->value, false};
  for (const double r : m.pairs->distance) series.x.push_back(r / hexagonal_distance(m.density));
  plot.series.push_back(std::move(series));
  plot.horizontal = {{1, ""}};
  plot.vertical = {{1, ""}};
  plot.y_high = 2;
  plot.y_limit_high = 10;
  return plot;
}

Plot blurred_plot(const Measured& m, bool structure) {
  Plot plot;
  plot.title = structure ? "SSIM after Gaussian blur" : "PSNR after Gaussian blur";
  plot.x_label = fmt::format("standard deviation of the blur, pixels (dots are {:.3g} apart)", m.spacing);
  plot.y_label = structure ? "SSIM" : "dB";
  PlotSeries series{"", {}, {}, true};
  std::vector<BlurredSimilarity> rows = m.blurred;
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.sigma < b.sigma; });
  for (const auto& b : rows) {
    series.x.push_back(b.sigma);
    series.y.push_back(structure ? b.ssim : b.psnr_db);
  }
  plot.series.push_back(std::move(series));
  if (structure) plot.y_high = 1;
  return plot;
}

}  // namespace holotone::cli
