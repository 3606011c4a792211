// Tables of the electrostatic methods in float64.
#include <algorithm>
#include <cmath>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

std::int64_t signed_frequency(std::int64_t k, std::int64_t length) { return 2 * k <= length ? k : k - length; }

/// Transform of the cubic B-spline's samples at the integers.
double spline_samples_transform(double frequency) { return (2 + std::cos(2 * pi * frequency)) / 3; }

/// s(r) / r^2 with u = (r / spot)^2.
double spot_force_over_distance(double r2) {
  const double u = r2 / (spot_px * spot_px);
  if (u < 1e-3) return (3 - 3 * u) / (spot_px * spot_px);  // 1 - exp(-u) (1 - 2 u + u^2 / 2) = 3 u - 3 u^2 + ..
  return (1 - std::exp(-u) * (1 - 2 * u + u * u / 2)) / r2;
}

/// A frequency of the grid along one axis, and its aliases one band below and above.
struct AliasLine {
  double frequency[3];  ///< cycles a pixel
  double window[3];     ///< phihat^2
};

std::vector<AliasLine> alias_lines(std::int64_t length, double step, const SpreadWindow& window) {
  std::vector<AliasLine> lines(static_cast<std::size_t>(length / 2 + 1));
  for (std::size_t k = 0; k < lines.size(); ++k) {
    for (int alias = 0; alias < 3; ++alias) {
      const double own = static_cast<double>(k) / static_cast<double>(length) + (alias == 0 ? 0 : alias == 1 ? -1 : 1);
      lines[k].frequency[alias] = own / step;
      lines[k].window[alias] = std::pow(window_transform(window, own), 2);
    }
  }
  return lines;
}

}  // namespace

std::vector<double> far_spectrum(const Setup& setup) {
  const std::int64_t ny = setup.grid[0];
  const std::int64_t nx = setup.grid[1];
  const ForceSplit split{setup.split_beta, setup.cutoff};
  const auto axis_factors = [&](std::size_t axis) {
    // 1 between the used nodes, falling to 0 before the middle of the period.
    const std::int64_t length = setup.grid[axis];
    std::vector<double> taper(static_cast<std::size_t>(length));
    const auto room = static_cast<double>(length / 2 - setup.used[axis]);
    for (std::int64_t i = 0; i < length; ++i) {
      const auto distance = static_cast<double>(std::abs(signed_frequency(i, length)));
      const double place = (distance - static_cast<double>(setup.used[axis]) - room / 2) / (room / 8);
      taper[static_cast<std::size_t>(i)] = 2 * distance >= static_cast<double>(length) ? 0 : 0.5 * std::erfc(place);
    }
    return taper;
  };
  const auto taper_y = axis_factors(0);
  const auto taper_x = axis_factors(1);
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
      // The transform of K_x + i K_y is G_y - i G_x; sampling has folded the aliases into it, which are taken out again.
      const Complex folded = kernel[static_cast<std::size_t>(y * nx + x)];
      const double own = row.window[0] * column.window[0];
      double sum_x = own * -folded.imag();
      double sum_y = own * folded.real();
      double windows = own;
      for (int m = 1; m < 9; ++m) {
        const double fx = column.frequency[m % 3];
        const double fy = row.frequency[m / 3];
        const double f2 = fx * fx + fy * fy;
        const double size = cloud(std::sqrt(f2) * split.cutoff) / (f2 * cell);
        const double window = row.window[m / 3] * column.window[m % 3];
        sum_x += (window - own) * fx * size;
        sum_y += (window - own) * fy * size;
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
  for (std::int64_t i = 0; i < length; ++i) {
    for (const std::int64_t image : {0, -1, 1}) {
      const std::int64_t whole = signed_frequency(i, length) + image * length;
      const auto k = static_cast<double>(whole);
      const double spot = std::pow(pi * spot_px * k / static_cast<double>(period), 2);
      const double turns = k * (0.5 / static_cast<double>(period) + static_cast<double>(setup.margin) / nodes);
      const double size = window_transform(setup.window, k / nodes) * std::exp(-spot) / nodes;
      result.factor.push_back(std::polar(1.0, -2 * pi * (turns - std::round(turns))) * size);
      result.spot.push_back(spot);
      result.frequency.push_back(static_cast<std::int32_t>((whole % period + period) % period));
    }
  }
  return result;
}

std::vector<double> near_ink_spectrum(const Setup& setup) {
  // Sampling at the pixels' centres folds the spot's bands up to the second; the far part is nothing beyond the first.
  constexpr int bands = 2;
  constexpr int images = 2 * bands + 1;
  /// What of a frequency and its aliases belongs to one axis.
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
          // near 0 the difference cancels, where it is of the order of (f cutoff)^2 and small itself
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

std::vector<double> attraction_table(const Shape<2>& page, const float* ink) {
  constexpr std::int64_t reach = 2;  // pixels beyond the page that a spline on it touches
  constexpr std::int64_t room = 24;  // the spline's inverse filter falls by 0.27 a pixel: what wraps around stays out
  const std::int64_t rows = page[0];
  const std::int64_t columns = page[1];
  const std::int64_t ny = fft_friendly_size(2 * (rows + reach) + 2 * room);
  const std::int64_t nx = fft_friendly_size(2 * (columns + reach) + 2 * room);
  double total = 0;
  for (std::int64_t i = 0; i < rows * columns; ++i) total += static_cast<double>(ink[i]);
  std::vector<Complex> field(static_cast<std::size_t>(nx * ny));
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      field[static_cast<std::size_t>(y * nx + x)] = static_cast<double>(ink[y * columns + x]) / total;
    }
  }
  std::vector<Complex> kernel(field.size());
  parallel_for(0, ny, [&](std::int64_t y) {
    const auto dy = static_cast<double>(signed_frequency(y, ny));
    for (std::int64_t x = 0; x < nx; ++x) {
      const auto dx = static_cast<double>(signed_frequency(x, nx));
      // Attraction: towards the ink.
      kernel[static_cast<std::size_t>(y * nx + x)] = Complex(-dx, -dy) * spot_force_over_distance(dx * dx + dy * dy);
    }
  });
  transform_2d(field.data(), ny, nx, FftDirection::forward);
  transform_2d(kernel.data(), ny, nx, FftDirection::forward);
  parallel_for(0, ny, [&](std::int64_t y) {
    const double filter_y = spline_samples_transform(static_cast<double>(y) / static_cast<double>(ny));
    for (std::int64_t x = 0; x < nx; ++x) {
      const double filter = filter_y * spline_samples_transform(static_cast<double>(x) / static_cast<double>(nx));
      const auto at = static_cast<std::size_t>(y * nx + x);
      field[at] *= kernel[at] / (filter * static_cast<double>(nx * ny));
    }
  });
  transform_2d(field.data(), ny, nx, FftDirection::inverse);
  const std::int64_t width = columns + 2 * reach;
  std::vector<double> table(static_cast<std::size_t>((rows + 2 * reach) * width * 2));
  for (std::int64_t y = -reach; y < rows + reach; ++y) {
    for (std::int64_t x = -reach; x < columns + reach; ++x) {
      const Complex value = field[static_cast<std::size_t>((y + ny) % ny * nx + (x + nx) % nx)];
      double* const entry = table.data() + ((y + reach) * width + x + reach) * 2;
      entry[0] = value.real();
      entry[1] = value.imag();
    }
  }
  return table;
}

std::vector<float> edge_weights(const Setup& setup) {
  const double sigma = edge_smoothing * setup.spacing_px;
  const auto reach = std::min(edge_reach, static_cast<std::int64_t>(3 * sigma));
  std::vector<double> weight;
  double sum = 0;
  for (std::int64_t k = 0; k <= reach; ++k) {
    const double place = static_cast<double>(k) / std::max(sigma, 1e-3);
    weight.push_back(std::exp(-0.5 * place * place));
    sum += (k == 0 ? 1 : 2) * weight.back();
  }
  std::vector<float> result(weight.size());
  std::ranges::transform(weight, result.begin(), [&](double own) { return static_cast<float>(own / sum); });
  return result;
}

std::vector<float> edge_table(const Setup& setup, const float* ink, double total) {
  const auto [ny, nx] = std::pair(setup.page[0], setup.page[1]);
  const auto weight = edge_weights(setup);
  const auto reach = static_cast<std::int64_t>(weight.size()) - 1;
  const auto at = [&, ny = ny, nx = nx](const std::vector<float>& values, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>(std::clamp<std::int64_t>(y, 0, ny - 1) * nx +
                                           std::clamp<std::int64_t>(x, 0, nx - 1))];
  };
  std::vector<float> smooth(ink, ink + ny * nx);
  for (const bool down : {false, true}) {
    const std::vector<float> from = smooth;
    parallel_for(0, ny, [&, nx = nx](std::int64_t y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        float sum = weight[0] * at(from, y, x);
        for (std::int64_t k = 1; k <= reach; ++k) {
          sum += weight[static_cast<std::size_t>(k)] *
                 (at(from, down ? y - k : y, down ? x : x - k) + at(from, down ? y + k : y, down ? x : x + k));
        }
        smooth[static_cast<std::size_t>(y * nx + x)] = sum;
      }
    });
  }
  const auto least = static_cast<float>(least_density * total / static_cast<double>(ny * nx));
  for (auto& value : smooth) value = std::log(std::max(value, least));
  constexpr std::int64_t reach_out = 2;
  const std::int64_t width = nx + 2 * reach_out;
  std::vector<float> table(static_cast<std::size_t>((ny + 2 * reach_out) * width * 2));
  parallel_for(-reach_out, ny + reach_out, [&, ny = ny, nx = nx](std::int64_t row) {
    const std::int64_t y = std::clamp<std::int64_t>(row, 0, ny - 1);
    for (std::int64_t column = -reach_out; column < nx + reach_out; ++column) {
      const std::int64_t x = std::clamp<std::int64_t>(column, 0, nx - 1);
      float* const entry = table.data() + ((row + reach_out) * width + column + reach_out) * 2;
      entry[0] = 0.5F * (at(smooth, y, x - 1) - at(smooth, y, x + 1));
      entry[1] = 0.5F * (at(smooth, y - 1, x) - at(smooth, y + 1, x));
    }
  });
  return table;
}

InkNodes ink_nodes(const Setup& setup, const float* ink, double total) {
  const auto& page = setup.page;
  InkNodes nodes;
  nodes.step = std::max(1.0, setup.spacing_px);
  nodes.rows = static_cast<std::int64_t>(std::ceil(static_cast<double>(page[0]) / nodes.step)) + 1;
  nodes.columns = static_cast<std::int64_t>(std::ceil(static_cast<double>(page[1]) / nodes.step)) + 1;
  const auto cells = static_cast<std::size_t>(nodes.rows * nodes.columns);
  std::vector<double> charge(cells);
  std::vector<double> area(cells);
  for (std::int64_t y = 0; y < page[0]; ++y) {
    const double place_y = (static_cast<double>(y) + 0.5) / nodes.step;
    const auto row = static_cast<std::int64_t>(place_y);
    for (std::int64_t x = 0; x < page[1]; ++x) {
      const double place_x = (static_cast<double>(x) + 0.5) / nodes.step;
      const auto column = static_cast<std::int64_t>(place_x);
      for (const std::int64_t j : {0, 1}) {
        for (const std::int64_t i : {0, 1}) {
          const double weight = (1 - std::abs(place_y - static_cast<double>(row + j))) *
                                (1 - std::abs(place_x - static_cast<double>(column + i)));
          const auto node = static_cast<std::size_t>((row + j) * nodes.columns + column + i);
          charge[node] += weight * static_cast<double>(ink[y * page[1] + x]);
          area[node] += weight;
        }
      }
    }
  }
  const double least = least_density / static_cast<double>(element_count(page));
  nodes.density.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    nodes.density[i] = static_cast<float>(std::max(least, area[i] > 0 ? charge[i] / (area[i] * total) : 0));
  }
  return nodes;
}

double regularised_kernel(const Setup& setup, double r) {
  const int degree = setup.options.taylor_degree;
  const double begin = (1 - setup.border) / 2;
  if (r < setup.inner) {
    // In t = r^2 the kernel is 1 / t: its Taylor polynomial at t = inner^2 meets all `degree` derivatives at +-inner.
    const double t0 = setup.inner * setup.inner;
    double sum = 0;
    for (int k = degree - 1; k >= 0; --k) sum = sum * (1 - r * r / t0) + 1;
    return sum / t0;
  }
  if (r < begin) return 1 / (r * r);
  if (r >= 0.5) return 4;
  // Two-point Taylor interpolation between `begin` (derivatives of 1 / r^2) and 1/2 (value 4, derivatives 0), with y from 1 to 0:
  //   P = y^p sum_j c_j (1 - y)^j-form of the difference to 4, c_j from the derivatives at `begin`.
  const double length = 0.5 - begin;
  const double z = (r - begin) / length;  // 0 at begin, 1 at the border
  // Taylor coefficients of (1 / r^2 - 4) in z at 0, divided by those of (1 - z)^p.
  double result = 0;
  double power = 1;
  std::vector<double> quotient(static_cast<std::size_t>(degree));
  for (int j = 0; j < degree; ++j) {
    double value = (j % 2 == 0 ? 1 : -1) * (j + 1) * std::pow(length / begin, j) / (begin * begin) - (j == 0 ? 4 : 0);
    double binomial = 1;  // of (1 - z)^p: (-1)^i (p over i)
    for (int i = 1; i <= j; ++i) {
      binomial *= -static_cast<double>(degree - i + 1) / i;
      value -= binomial * quotient[static_cast<std::size_t>(j - i)];
    }
    quotient[static_cast<std::size_t>(j)] = value;
    result += value * power;
    power *= z;
  }
  return 4 + result * std::pow(1 - z, degree);
}

std::vector<double> regularised_spectrum(const Setup& setup) {
  const std::int64_t n = setup.modes;
  std::vector<Complex> kernel(static_cast<std::size_t>(n * n));
  parallel_for(0, n, [&](std::int64_t y) {
    const double dy = static_cast<double>(signed_frequency(y, n)) / static_cast<double>(n);
    for (std::int64_t x = 0; x < n; ++x) {
      const double dx = static_cast<double>(signed_frequency(x, n)) / static_cast<double>(n);
      kernel[static_cast<std::size_t>(y * n + x)] = regularised_kernel(setup, std::hypot(dx, dy));
    }
  });
  transform_2d(kernel.data(), n, n, FftDirection::forward);
  std::vector<double> table(kernel.size());
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      const auto from = static_cast<std::size_t>((y + n / 2) % n * n + (x + n / 2) % n);
      table[static_cast<std::size_t>(y * n + x)] = kernel[from].real() / static_cast<double>(n * n);
    }
  }
  return table;
}

}  // namespace holotone::electrostatic
