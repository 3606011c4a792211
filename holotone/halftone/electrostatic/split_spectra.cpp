// Spectra of the Ewald split in float64: the far force on the grid, the near force of the ink, the ink on the grid.
#include <algorithm>
#include <cmath>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

/// A frequency of the grid along one axis, and its aliases one band below and above.
struct AliasLine {
  double frequency[3];  ///< cycles a pixel
  double window[3];     ///< phihat^2
};

std::vector<AliasLine> alias_lines(std::int64_t length, double step, const SpreadWindow& window) {
  std::vector<AliasLine> lines(static_cast<std::size_t>(length / 2 + 1));
  const WindowTransform transform(window, 1.5);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    for (int alias = 0; alias < 3; ++alias) {
      const double cycles = static_cast<double>(k) / static_cast<double>(length) + (alias == 0   ? 0
                                                                                    : alias == 1 ? -1
                                                                                                 : 1);
      lines[k].frequency[alias] = cycles / step;
      lines[k].window[alias] = std::pow(transform(cycles), 2);
    }
  }
  return lines;
}

/// Taper of the nodes along one axis: 1 between the used ones, falling to 0 before the middle of the period.
std::vector<double> axis_taper(const Setup& setup, std::size_t axis) {
  const std::int64_t length = setup.grid[axis];
  std::vector<double> taper(static_cast<std::size_t>(length));
  const auto room = static_cast<double>(length / 2 - setup.used[axis]);
  for (std::int64_t i = 0; i < length; ++i) {
    const auto distance = static_cast<double>(std::abs(signed_frequency(i, length)));
    const double place = (distance - static_cast<double>(setup.used[axis]) - room / 2) / (room / 8);
    taper[static_cast<std::size_t>(i)] = 2 * distance >= static_cast<double>(length) ? 0 : 0.5 * std::erfc(place);
  }
  return taper;
}

/// The discrete transform of the far force K_x + i K_y at the grid's nodes, tapered.
std::vector<Complex> far_kernel_transform(const Setup& setup, const ForceSplit& split) {
  const std::int64_t ny = setup.grid[0];
  const std::int64_t nx = setup.grid[1];
  const auto taper_y = axis_taper(setup, 0);
  const auto taper_x = axis_taper(setup, 1);
  std::vector<Complex> kernel(static_cast<std::size_t>(nx * ny));
  parallel_for(0, ny, [&](std::int64_t y) {
    const double dy = static_cast<double>(signed_frequency(y, ny)) * setup.step_y;
    for (std::int64_t x = 0; x < nx; ++x) {
      const double dx = static_cast<double>(signed_frequency(x, nx)) * setup.step_x;
      const double r2 = dx * dx + dy * dy;
      const double force = r2 > 0 ? (1 - near_share(split, std::sqrt(r2))) / r2 : 0;
      kernel[static_cast<std::size_t>(y * nx + x)] =
          Complex(dx, dy) * (force * taper_y[static_cast<std::size_t>(y)] * taper_x[static_cast<std::size_t>(x)]);
    }
  });
  transform_2d(kernel.data(), ny, nx, FftDirection::forward);
  return kernel;
}

}  // namespace

std::vector<double> far_spectrum(const Setup& setup) {
  const std::int64_t ny = setup.grid[0];
  const std::int64_t nx = setup.grid[1];
  const ForceSplit split{setup.split_beta, setup.cutoff};
  const auto kernel = far_kernel_transform(setup, split);
  const auto lines_y = alias_lines(ny, setup.step_y, setup.window);
  const auto lines_x = alias_lines(nx, setup.step_x, setup.window);
  const double finest = std::min(setup.step_x, setup.step_y);
  const CloudTable cloud(split.beta, 2.2 / finest * split.cutoff, 0.01);
  const std::int64_t columns = nx / 2 + 1;
  const double nodes = static_cast<double>(nx) * static_cast<double>(ny);
  const double cell = setup.step_x * setup.step_y;
  std::vector<double> table(static_cast<std::size_t>((ny / 2 + 1) * columns * 2));
  parallel_for(0, ny / 2 + 1, [&](std::int64_t y) {
    const AliasLine& row = lines_y[static_cast<std::size_t>(y)];
    for (std::int64_t x = 0; x < columns; ++x) {
      const AliasLine& column = lines_x[static_cast<std::size_t>(x)];
      // The transform of K_x + i K_y is G_y - i G_x. Sampling has folded the aliases into it; they are removed here.
      const Complex folded = kernel[static_cast<std::size_t>(y * nx + x)];
      const double product = row.window[0] * column.window[0];
      double sum_x = product * -folded.imag();
      double sum_y = product * folded.real();
      double windows = product;
      for (int m = 1; m < 9; ++m) {
        const double fx = column.frequency[m % 3];
        const double fy = row.frequency[m / 3];
        const double f2 = fx * fx + fy * fy;
        const double size = cloud(std::sqrt(f2) * split.cutoff) / (f2 * cell);
        const double window = row.window[m / 3] * column.window[m % 3];
        sum_x += (window - product) * fx * size;
        sum_y += (window - product) * fy * size;
        windows += window;
      }
      const bool end = 2 * y == ny || 2 * x == nx;
      double* const entry = table.data() + (y * columns + x) * 2;
      entry[0] = end || x == 0 ? 0 : sum_x / (windows * windows * nodes);
      entry[1] = end || y == 0 ? 0 : sum_y / (windows * windows * nodes);
    }
  });
  return table;
}

InkAliases ink_aliases(const Setup& setup, int axis) {
  const auto which = static_cast<std::size_t>(axis);
  const std::int64_t length = setup.grid[which];
  const std::int64_t period = setup.period[which];
  const auto nodes = static_cast<double>(length);
  InkAliases result;
  const WindowTransform transform(setup.window, 1.5);
  for (std::int64_t i = 0; i < length; ++i) {
    for (const std::int64_t image : {0, -1, 1}) {
      const std::int64_t whole = signed_frequency(i, length) + image * length;
      const auto k = static_cast<double>(whole);
      const double spot = std::pow(pi * spot_px * k / static_cast<double>(period), 2);
      const double turns = k * (0.5 / static_cast<double>(period) + static_cast<double>(setup.margin) / nodes);
      const double size = transform(k / nodes) * std::exp(-spot) / nodes;
      result.factor.push_back(std::polar(1.0, -2 * pi * (turns - std::round(turns))) * size);
      result.spot.push_back(spot);
      result.frequency.push_back(static_cast<std::int32_t>((whole % period + period) % period));
    }
  }
  return result;
}

std::vector<double> near_ink_spectrum(const Setup& setup) {
  // Sampling at the pixels' centres folds the spot's bands up to the second; the far part is negligible beyond the
  // first.
  constexpr int bands = 2;
  constexpr int images = 2 * bands + 1;
  /// Factors of a frequency and its aliases along one axis.
  struct Line {
    double frequency[images];
    double spot[images];       ///< a
    double spot_part[images];  ///< exp(-a)
    double factor;
  };
  const auto lines = [&](std::size_t axis) {
    const std::int64_t length = setup.period[axis];
    std::vector<Line> result(static_cast<std::size_t>(length / 2 + 1));
    for (std::size_t k = 0; k < result.size(); ++k) {
      const double f = static_cast<double>(k) / static_cast<double>(length);
      auto& line = result[k];
      line.factor = 1 / (spline_samples_transform(f) * static_cast<double>(length));
      for (int image = 0; image < images; ++image) {
        line.frequency[image] = f + image - bands;
        line.spot[image] = std::pow(pi * spot_px * line.frequency[image], 2);
        line.spot_part[image] = std::exp(-line.spot[image]);
      }
    }
    return result;
  };
  const CloudTable cloud(setup.split_beta, 2.2 * setup.cutoff, 0.01);
  const auto rows = lines(0);
  const auto columns = lines(1);
  std::vector<double> table(rows.size() * columns.size() * 2);
  parallel_for(0, std::ssize(rows), [&](std::int64_t y) {
    const Line& row = rows[static_cast<std::size_t>(y)];
    for (std::size_t x = 0; x < columns.size(); ++x) {
      const Line& column = columns[x];
      double sum_x = 0;
      double sum_y = 0;
      for (int j = 0; j < images; ++j) {
        for (int i = 0; i < images; ++i) {
          const double part = row.spot_part[j] * column.spot_part[i];
          if (part < 1e-11) continue;
          const double fx = column.frequency[i];
          const double fy = row.frequency[j];
          const double f2 = fx * fx + fy * fy;
          if (f2 == 0) continue;
          const double a = row.spot[j] + column.spot[i];
          // The difference cancels near 0, but it is small there itself, of the order of (f cutoff)^2.
          const bool has_far = std::abs(fx) <= 1.5 && std::abs(fy) <= 1.5;
          const double near = has_far ? 1 - cloud(std::sqrt(f2) * setup.cutoff) : 1;
          const double size = part * (1 + a + a * a / 2) * near / f2;
          sum_x -= fx * size;
          sum_y -= fy * size;
        }
      }
      double* const entry = table.data() + (static_cast<std::size_t>(y) * columns.size() + x) * 2;
      entry[0] = sum_x * row.factor * column.factor;
      entry[1] = sum_y * row.factor * column.factor;
    }
  });
  return table;
}

}  // namespace holotone::electrostatic
