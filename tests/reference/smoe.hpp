#pragma once
// A steered mixture of experts in float64, in the plainest form. Includes nothing of the library.
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace reference {

struct Expert {
  double log_weight;
  std::vector<double> centre;                   ///< d
  std::vector<std::vector<double>> covariance;  ///< d x d
  std::vector<double> colour;                   ///< q
  std::vector<std::vector<double>> slope;       ///< q x d
};

/// ln |m| and m^-1 b by Gaussian elimination with pivots.
inline double solve(std::vector<std::vector<double>> m, std::vector<double>& b) {
  const std::size_t d = b.size();
  double log_determinant = 0;
  for (std::size_t k = 0; k < d; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k; row < d; ++row) {
      if (std::abs(m[row][k]) > std::abs(m[pivot][k])) pivot = row;
    }
    std::swap(m[k], m[pivot]);
    std::swap(b[k], b[pivot]);
    log_determinant += std::log(std::abs(m[k][k]));
    for (std::size_t row = 0; row < d; ++row) {
      if (row == k) continue;
      const double factor = m[row][k] / m[k][k];
      for (std::size_t column = k; column < d; ++column) m[row][column] -= factor * m[k][column];
      b[row] -= factor * b[k];
    }
  }
  for (std::size_t k = 0; k < d; ++k) b[k] /= m[k][k];
  return log_determinant;
}

/// y(x) by Avramelos et al. 2020, Eqs. (3), (5), (8) and (9), all components.
inline std::vector<double> mixture(const std::vector<Expert>& experts, const std::vector<double>& x) {
  std::vector<double> density;
  double most = -INFINITY;
  for (const auto& expert : experts) {
    std::vector<double> away(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) away[i] = x[i] - expert.centre[i];
    auto solved = away;
    const double log_determinant = solve(expert.covariance, solved);
    double square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) square += away[i] * solved[i];
    density.push_back(expert.log_weight - 0.5 * log_determinant - 0.5 * square);
    most = std::max(most, density.back());
  }
  double weights = 0;
  std::vector<double> sum(experts.front().colour.size(), 0.0);
  for (std::size_t j = 0; j < experts.size(); ++j) {
    const double weight = std::exp(density[j] - most);
    weights += weight;
    for (std::size_t c = 0; c < sum.size(); ++c) {
      double colour = experts[j].colour[c];
      for (std::size_t i = 0; i < x.size(); ++i) colour += experts[j].slope[c][i] * (x[i] - experts[j].centre[i]);
      sum[c] += weight * colour;
    }
  }
  for (auto& value : sum) value /= weights;
  return sum;
}

}  // namespace reference
