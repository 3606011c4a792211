#pragma once
#include <holotone/core/array.hpp>
#include <holotone/smoe/model.hpp>

namespace holotone {

/// Gradient of the squared error of a picture by every parameter of its model, in the model's layout and units.
struct SmoeGradient {
  double loss = 0;                 ///< L
  std::vector<double> log_weight;  ///< {K}: dL / d ln pi
  std::vector<double> centre;      ///< {K, 2}: dL / d centre, at constant colour at the centre
  std::vector<double> covariance;  ///< {K, 3}: of the lower triangle; R_yx counts for R_xy as well
  std::vector<double> colour;      ///< {K, q}
  std::vector<double> slope;       ///< {K, q, 2}
};

/// Gradient of L = 1/2 sum over pixels of |y - t|^2 by all parameters of a model in two dimensions. y is the picture
/// of the model's whole box in the pixels of `target` t.
///
/// With w_j the gating, s_j = w_j (y - t) . (m_j - y), d = x - centre_j and P = R_j^-1, sums over pixels:
///   dL / d ln pi_j  = sum s_j
///   dL / d centre_j = P sum s_j d - slope_j^T sum w_j (y - t)
///   dL / d R_j      = 1/2 (P (sum s_j d d^T) P - P sum s_j)
///   dL / d colour_j = sum w_j (y - t),   dL / d slope_j = sum w_j (y - t) d^T
/// `target`: {ny, nx, channels} in host memory. `tolerance`, 1e-7 to 1: a tile skips components whose omission changes
/// no colour of y by more. Throws invalid_argument for a model that require_model rejects or of other dimensions, a
/// target of other channels or with numbers that are not finite, and a tolerance out of range. Cost O(components per
/// tile) a pixel, on all threads or on the GPU of `queue`, to which model and target are copied. The same bits on any
/// number of threads, and in every run on a GPU. Throws unsupported for a device that the build lacks. Source:
/// Bochinski et al. 2018.
SmoeGradient smoe_gradient(const SmoeModel& model, View<const float, 3> target, double tolerance = 1e-4,
                           const Queue& queue = {});

}  // namespace holotone
