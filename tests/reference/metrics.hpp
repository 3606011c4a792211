#pragma once
// Measures of point sets by their definitions, in float64.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

namespace reference {

inline constexpr double metrics_pi = 3.14159265358979323846;

/// |sum_j w_j exp(-2 pi i (fx x_j + fy y_j)) - mean|^2 / sum_j w_j^2 of interleaved points.
inline double metrics_power(const std::vector<double>& points, const std::vector<double>& weights, double fx, double fy,
                            std::complex<double> mean = 0) {
  std::complex<double> sum = 0;
  double squares = 0;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    sum += weights[j] * std::polar(1.0, -2 * metrics_pi * (fx * points[2 * j] + fy * points[2 * j + 1]));
    squares += weights[j] * weights[j];
  }
  return std::norm(sum - mean) / squares;
}

/// Gaussian charges at exact positions, at the centre of a pixel.
inline double metrics_blurred_dots(const std::vector<double>& points, const std::vector<double>& charges, double sigma,
                                   double row, double column) {
  double sum = 0;
  for (std::size_t j = 0; j < charges.size(); ++j) {
    const double dx = points[2 * j] - column - 0.5;
    const double dy = points[2 * j + 1] - row - 0.5;
    sum += charges[j] * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
  }
  return sum / (2 * metrics_pi * sigma * sigma);
}

/// The same for an image's pixels.
inline double metrics_blurred_image(const std::vector<double>& ink, std::int64_t nx, double sigma, double row,
                                    double column) {
  double sum = 0;
  for (std::size_t p = 0; p < ink.size(); ++p) {
    const double dx = static_cast<double>(static_cast<std::int64_t>(p) % nx) - column;
    const double dy = static_cast<double>(static_cast<std::int64_t>(p) / nx) - row;
    sum += ink[p] * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
  }
  return sum / (2 * metrics_pi * sigma * sigma);
}

/// Distance from point i to its nearest other point.
inline double metrics_nearest(const std::vector<double>& points, std::size_t i) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < points.size() / 2; ++j) {
    if (j != i) best = std::min(best, std::hypot(points[2 * j] - points[2 * i], points[2 * j + 1] - points[2 * i + 1]));
  }
  return best;
}

/// Ordered pairs by distance.
inline std::vector<std::int64_t> metrics_pairs(const std::vector<double>& points, double largest, std::size_t bins) {
  std::vector<std::int64_t> counts(bins, 0);
  for (std::size_t i = 0; i < points.size() / 2; ++i) {
    for (std::size_t j = 0; j < points.size() / 2; ++j) {
      const double r = std::hypot(points[2 * j] - points[2 * i], points[2 * j + 1] - points[2 * i + 1]);
      if (i != j && r < largest) ++counts[static_cast<std::size_t>(r / largest * static_cast<double>(bins))];
    }
  }
  return counts;
}

/// Area of a w x h rectangle's overlap with itself shifted by r, averaged over directions, by quadrature.
inline double metrics_overlap(double w, double h, double r) {
  constexpr int steps = 20000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double angle = (i + 0.5) * metrics_pi / 2 / steps;
    sum += std::max(0.0, w - r * std::cos(angle)) * std::max(0.0, h - r * std::sin(angle));
  }
  return sum / steps;
}

/// Mean structural similarity with an 11 x 11 Gaussian window, position by position.
inline double metrics_ssim(const std::vector<double>& a, const std::vector<double>& b, int ny, int nx) {
  double window[11][11];
  double norm = 0;
  for (int y = 0; y < 11; ++y) {
    for (int x = 0; x < 11; ++x) norm += window[y][x] = std::exp(-((y - 5) * (y - 5) + (x - 5) * (x - 5)) / 4.5);
  }
  double total = 0;
  for (int row = 0; row + 11 <= ny; ++row) {
    for (int column = 0; column + 11 <= nx; ++column) {
      double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
      const auto at = [&](const std::vector<double>& p, int y, int x) {
        return p[static_cast<std::size_t>((row + y) * nx + column + x)];
      };
      for (int y = 0; y < 11; ++y) {
        for (int x = 0; x < 11; ++x) {
          ma += window[y][x] / norm * at(a, y, x);
          mb += window[y][x] / norm * at(b, y, x);
        }
      }
      for (int y = 0; y < 11; ++y) {
        for (int x = 0; x < 11; ++x) {
          const double w = window[y][x] / norm;
          va += w * (at(a, y, x) - ma) * (at(a, y, x) - ma);
          vb += w * (at(b, y, x) - mb) * (at(b, y, x) - mb);
          cov += w * (at(a, y, x) - ma) * (at(b, y, x) - mb);
        }
      }
      total += (2 * ma * mb + 1e-4) * (2 * cov + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4));
    }
  }
  return total / (ny - 10) / (nx - 10);
}

/// Y', Cb and Cr planes of interleaved R, G, B by ITU-R BT.709, item 3: from its luma coefficients alone.
inline std::vector<std::vector<double>> metrics_ycbcr(const std::vector<double>& rgb) {
  constexpr double of_red = 0.2126;
  constexpr double of_blue = 0.0722;
  std::vector<std::vector<double>> planes(3);
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const double y = of_red * rgb[i] + (1 - of_red - of_blue) * rgb[i + 1] + of_blue * rgb[i + 2];
    planes[0].push_back(y);
    planes[1].push_back(0.5 * (rgb[i + 2] - y) / (1 - of_blue));
    planes[2].push_back(0.5 * (rgb[i] - y) / (1 - of_red));
  }
  return planes;
}

/// Peak signal to noise of planes of range 1, dB.
inline double metrics_psnr_db(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return -10 * std::log10(sum / static_cast<double>(a.size()));
}

/// Light against a wanted picture, from the definitions.
struct MetricsLight {
  double scale = 0;
  double psnr_db = 0;
  double ssim = 0;
  double speckle_contrast = 0;
  std::vector<double> error;  ///< signed, over the peak
};

inline MetricsLight metrics_light(const std::vector<double>& seen, const std::vector<double>& wanted, int ny, int nx,
                                  double peak) {
  MetricsLight result;
  double at = 0, aa = 0, largest = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    at += std::sqrt(seen[i] * wanted[i]);
    aa += seen[i];
    largest = std::max(largest, wanted[i]);
  }
  result.scale = at / aa;
  std::vector<double> a, t, ratios;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    a.push_back(result.scale * std::sqrt(seen[i]) / peak);
    t.push_back(std::sqrt(wanted[i]) / peak);
    result.error.push_back(a.back() - t.back());
    if (wanted[i] >= 0.05 * largest) ratios.push_back(seen[i] / wanted[i]);
  }
  result.psnr_db = metrics_psnr_db(a, t);
  result.ssim = metrics_ssim(a, t, ny, nx);
  double first = 0, second = 0;
  for (const double ratio : ratios) {
    first += ratio / static_cast<double>(ratios.size());
    second += ratio * ratio / static_cast<double>(ratios.size());
  }
  result.speckle_contrast = std::sqrt(second - first * first) / first;
  return result;
}

}  // namespace reference
