#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holotone {

inline constexpr int max_smoe_dimensions = 4;
inline constexpr int max_smoe_channels = 4;
/// Maximum number of components: indices are 32-bit.
inline constexpr std::int64_t max_smoe_components = std::int64_t{1} << 30;
/// Largest coordinate of a box or a view; its inverse is the smallest side of a box and the smallest pixel step.
inline constexpr double farthest_smoe = 1e30;

/// A steered mixture of experts: colours y as a function of coordinates x.
///
///   y(x)   = sum_j w_j(x) m_j(x)
///   m_j(x) = colour_j + slope_j (x - centre_j)                                      (expert)
///   w_j(x) = pi_j N(x; centre_j, R_j) / sum_i pi_i N(x; centre_i, R_i)               (gating)
///
/// This is the mean of Y given X = x of a Gaussian mixture over coordinates and colours, with R_j the covariance R_XX
/// of component j's coordinates and slope_j = R_YX R_XX^-1. The weights pi_j need not sum to 1: the gating divides by
/// their sum.
///
/// Coordinates are those of the modelled picture in pixels, x right from 0 to its width and y down from 0 to its
/// height. Pixel (row, column) has its centre at (column + 0.5, row + 0.5). A light field has also u to the right and
/// v down from -1 to 1, the outermost captured views. Colours are code values divided by the largest, 0 to 1, unless
/// `linear`.
/// Source: Avramelos et al. 2020, Eqs. (1) to (9).
struct SmoeModel {
  int dimensions = 2;                              ///< d: 1 to 4
  int channels = 3;                                ///< q: 1 to 4
  std::array<double, max_smoe_dimensions> low{};   ///< lower corner of the model's box: first d used
  std::array<double, max_smoe_dimensions> high{};  ///< upper corner: > `low`
  bool linear = false;                             ///< colours are linear light
  std::vector<float> log_weight;                   ///< {K}: ln pi
  std::vector<float> centre;                       ///< {K, d}
  std::vector<float> covariance;                   ///< {K, d (d + 1) / 2}: R_XX, lower triangle row by row
  std::vector<float> colour;                       ///< {K, q}: the expert at the centre
  std::vector<float> slope;                        ///< {K, q, d}

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(log_weight.size()); }
};

/// Numbers in the lower triangle of a symmetric d x d matrix.
constexpr int triangle_size(int d) { return d * (d + 1) / 2; }

/// Throws invalid_argument, naming `where` and the first invalid component, unless the model is valid: at least one
/// component, arrays of its shape, finite numbers, a box of positive sides and positive definite covariances (by
/// Cholesky's factorisation in float64). Cost O(K d^3).
void require_model(std::string_view where, const SmoeModel& model);

/// Returns the model with its last coordinates fixed: a mixture in the first d - fixed.size() coordinates with
/// exactly the same colours. With X = (A, B), B fixed at b and everything of component j:
///   centre' = centre_A + R_AB R_BB^-1 (b - centre_B),   R' = R_AA - R_AB R_BB^-1 R_BA,
///   ln pi'  = ln pi + ln N(b; centre_B, R_BB),   colour' = m(centre', b),   slope' = slope_A
/// Throws invalid_argument unless 1 <= fixed.size() < d, and for a model that require_model rejects. Cost O(K d^3), on
/// all threads.
SmoeModel slice(const SmoeModel& model, std::span<const double> fixed);

}  // namespace holotone
