// Tables over the page, computed from the ink in float64: attraction, correction at edges, density.
#include <algorithm>
#include <cmath>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>

namespace holotone::electrostatic {
namespace {

using Complex = std::complex<double>;

/// s(r) / r^2 with u = (r / spot)^2.
double spot_force_over_distance(double r2) {
  const double u = r2 / (spot_px * spot_px);
  if (u < 1e-3) return (3 - 3 * u) / (spot_px * spot_px);  // 1 - exp(-u) (1 - 2 u + u^2 / 2) = 3 u - 3 u^2 + ..
  return (1 - std::exp(-u) * (1 - 2 * u + u * u / 2)) / r2;
}

/// 1 / r^2, 0 for a pixel's force on its own centre.
double point_force_over_distance(double r2) { return r2 > 0 ? 1 / r2 : 0; }

}  // namespace

double densest_ink(const Shape<2>& page, const float* ink) {
  double total = 0;
  float most = 0;
  for (std::int64_t i = 0; i < element_count(page); ++i) {
    total += static_cast<double>(ink[i]);
    most = std::max(most, ink[i]);
  }
  return static_cast<double>(most) / total;
}

std::vector<double> attraction_table(const Shape<2>& page, const float* ink, ImageForce image) {
  const bool spots = image == ImageForce::spots;
  constexpr std::int64_t reach = 2;  // pixels beyond the page that a spline on it touches
  constexpr std::int64_t room = 24;  // the spline's inverse filter falls by 0.27 a pixel: no wrap-around on the page
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
      kernel[static_cast<std::size_t>(y * nx + x)] =
          Complex(-dx, -dy) *
          (spots ? spot_force_over_distance(dx * dx + dy * dy) : point_force_over_distance(dx * dx + dy * dy));
    }
  });
  transform_2d(field.data(), ny, nx, FftDirection::forward);
  transform_2d(kernel.data(), ny, nx, FftDirection::forward);
  parallel_for(0, ny, [&](std::int64_t y) {
    const double filter_y = spots ? spline_samples_transform(static_cast<double>(y) / static_cast<double>(ny)) : 1;
    for (std::int64_t x = 0; x < nx; ++x) {
      const double filter_x = spots ? spline_samples_transform(static_cast<double>(x) / static_cast<double>(nx)) : 1;
      const auto at = static_cast<std::size_t>(y * nx + x);
      field[at] *= kernel[at] / (filter_x * filter_y * static_cast<double>(nx * ny));
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
  std::ranges::transform(weight, result.begin(), [&](double value) { return static_cast<float>(value / sum); });
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
  const auto least = static_cast<float>(min_density * total / static_cast<double>(ny * nx));
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
  const double least = min_density / static_cast<double>(element_count(page));
  nodes.density.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    nodes.density[i] = static_cast<float>(std::max(least, area[i] > 0 ? charge[i] / (area[i] * total) : 0));
  }
  return nodes;
}

}  // namespace holotone::electrostatic
