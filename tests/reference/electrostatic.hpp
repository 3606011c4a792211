#pragma once
// The net force of electrostatic halftoning in float64, in the plainest form. Includes nothing of the library.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

using Force = std::array<double, 2>;

/// s(r) / r^2 of a pixel's spot of ink, with s(r) = 1 - exp(-u) (1 - 2 u + u^2 / 2) and u = (r / 0.75)^2.
inline double spot_over_square(double square) {
  constexpr double spot = 0.75 * 0.75;
  const double u = square / spot;
  return u < 1e-4 ? (3 - 3 * u) / spot : (1 - std::exp(-u) * (1 - 2 * u + u * u / 2)) / square;
}

/// The attraction of an image: sums at the pixels' centres, a cubic spline between them.
class Attraction {
 public:
  /// Row-major ink, scaled to a sum of `charge`.
  Attraction(std::int64_t ny, std::int64_t nx, const std::vector<float>& ink, double charge)
      : rows_(ny + 2 * border), columns_(nx + 2 * border), value_(static_cast<std::size_t>(rows_ * columns_)) {
    double total = 0;
    for (const float q : ink) total += static_cast<double>(q);
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        Force sum{};
        for (std::int64_t y = 0; y < ny; ++y) {
          for (std::int64_t x = 0; x < nx; ++x) {
            const auto dx = static_cast<double>(x - (column - border));
            const auto dy = static_cast<double>(y - (row - border));
            const double q = static_cast<double>(ink[static_cast<std::size_t>(y * nx + x)]) * charge / total;
            const double size = q * spot_over_square(dx * dx + dy * dy);
            sum[0] += size * dx;
            sum[1] += size * dy;
          }
        }
        value_[static_cast<std::size_t>(row * columns_ + column)] = sum;
      }
    }
    // From values to the B-spline's coefficients; the influence of the far ends falls by 0.27 a pixel.
    for (std::int64_t row = 0; row < rows_; ++row) solve(value_.data() + row * columns_, columns_, 1);
    for (std::int64_t column = 0; column < columns_; ++column) solve(value_.data() + column, rows_, columns_);
  }

  [[nodiscard]] Force at(double x, double y) const {
    const auto column = static_cast<std::int64_t>(std::floor(x - 0.5));
    const auto row = static_cast<std::int64_t>(std::floor(y - 0.5));
    Force sum{};
    for (std::int64_t j = row - 1; j <= row + 2; ++j) {
      for (std::int64_t i = column - 1; i <= column + 2; ++i) {
        const double weight = spline(x - 0.5 - static_cast<double>(i)) * spline(y - 0.5 - static_cast<double>(j));
        const Force& value = value_[static_cast<std::size_t>((j + border) * columns_ + i + border)];
        sum[0] += weight * value[0];
        sum[1] += weight * value[1];
      }
    }
    return sum;
  }

 private:
  static constexpr std::int64_t border = 16;

  static double spline(double d) {
    const double a = std::abs(d);
    if (a >= 2) return 0;
    return a < 1 ? 2.0 / 3 - a * a + a * a * a / 2 : (2 - a) * (2 - a) * (2 - a) / 6;
  }

  /// (c[i - 1] + 4 c[i] + c[i + 1]) / 6 = value[i], by elimination.
  static void solve(Force* value, std::int64_t count, std::int64_t step) {
    std::vector<double> upper(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const double before = i > 0 ? upper[static_cast<std::size_t>(i - 1)] : 0;
      const double pivot = 4.0 / 6 - before / 6;
      upper[static_cast<std::size_t>(i)] = 1.0 / 6 / pivot;
      for (int a = 0; a < 2; ++a) {
        const double left = i > 0 ? value[(i - 1) * step][static_cast<std::size_t>(a)] : 0;
        auto& number = value[i * step][static_cast<std::size_t>(a)];
        number = (number - left / 6) / pivot;
      }
    }
    for (std::int64_t i = count - 2; i >= 0; --i) {
      for (std::size_t a = 0; a < 2; ++a)
        value[i * step][a] -= upper[static_cast<std::size_t>(i)] * value[(i + 1) * step][a];
    }
  }

  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<Force> value_;
};

/// The attraction of Gwosdek et al., Eq. (1), at one place: sums over the pixels, without the own one, at the four
/// pixel centres around it (on the page or off), bilinear between these.
inline Force point_attraction(std::int64_t ny, std::int64_t nx, const std::vector<float>& ink, double charge, double x,
                              double y) {
  double total = 0;
  for (const float q : ink) total += static_cast<double>(q);
  const double left = std::floor(x - 0.5);
  const double top = std::floor(y - 0.5);
  Force force{};
  for (int corner = 0; corner < 4; ++corner) {
    const double at_x = left + corner % 2;
    const double at_y = top + corner / 2;
    const double weight = (1 - std::abs(x - 0.5 - at_x)) * (1 - std::abs(y - 0.5 - at_y));
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t column = 0; column < nx; ++column) {
        const double dx = static_cast<double>(column) - at_x;
        const double dy = static_cast<double>(row) - at_y;
        const double square = dx * dx + dy * dy;
        if (square == 0) continue;
        const double q = static_cast<double>(ink[static_cast<std::size_t>(row * nx + column)]) * charge / total;
        force[0] += weight * q * dx / square;
        force[1] += weight * q * dy / square;
      }
    }
  }
  return force;
}

/// Repulsion on every dot, without coincident dots; positions x, y interleaved.
inline std::vector<Force> repulsion(const std::vector<float>& position) {
  const std::size_t count = position.size() / 2;
  std::vector<Force> force(count, Force{});
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const double dx = static_cast<double>(position[2 * i]) - static_cast<double>(position[2 * j]);
      const double dy = static_cast<double>(position[2 * i + 1]) - static_cast<double>(position[2 * j + 1]);
      const double square = dx * dx + dy * dy;
      if (square == 0) continue;
      force[i][0] += dx / square;
      force[i][1] += dy / square;
    }
  }
  return force;
}

/// The net force on every dot.
inline std::vector<Force> net_force(std::int64_t ny, std::int64_t nx, const std::vector<float>& ink,
                                    const std::vector<float>& position) {
  const Attraction attraction(ny, nx, ink, static_cast<double>(position.size() / 2));
  std::vector<Force> force = repulsion(position);
  for (std::size_t i = 0; i < force.size(); ++i) {
    const Force pull = attraction.at(static_cast<double>(position[2 * i]), static_cast<double>(position[2 * i + 1]));
    force[i][0] += pull[0];
    force[i][1] += pull[1];
  }
  return force;
}

/// The net force with point_attraction.
inline std::vector<Force> point_net_force(std::int64_t ny, std::int64_t nx, const std::vector<float>& ink,
                                          const std::vector<float>& position) {
  std::vector<Force> force = repulsion(position);
  for (std::size_t i = 0; i < force.size(); ++i) {
    const Force pull = point_attraction(ny, nx, ink, static_cast<double>(force.size()),
                                        static_cast<double>(position[2 * i]), static_cast<double>(position[2 * i + 1]));
    force[i][0] += pull[0];
    force[i][1] += pull[1];
  }
  return force;
}

}  // namespace reference
