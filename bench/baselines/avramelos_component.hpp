#pragma once
// A component as the GPU decoder of Avramelos et al. 2020 (6.3) stores and sums it, on the CPU and on CUDA.
#include <bench/baselines/avramelos_matrices.hpp>

namespace bench {

/// Work groups of 16 x 8 pixels share 256 floats.
inline constexpr int group_columns = 16;
inline constexpr int group_rows = 8;
inline constexpr int shared_floats = 256;

/// Places of a component's floats: ln pi, mu_X, mu_Y, the triangle of R_XX, R_YX, the diagonal of R_YY. The paper
/// counts as many unique values: 18 in two dimensions, 33 in four. The mean needs no R_YY; it travels along.
template <int D>
struct ComponentLayout {
  static constexpr int colours = 3;
  static constexpr int centre = 1;
  static constexpr int colour = centre + D;
  static constexpr int covariance = colour + colours;
  static constexpr int cross = covariance + D * (D + 1) / 2;
  static constexpr int spread = cross + colours * D;
  static constexpr int size = spread + colours;
  /// Components of a pass: 11 in two dimensions as the paper has it; it gives no number for four, where 256 floats hold
  /// seven.
  static constexpr int in_pass = D == 2 ? 11 : shared_floats / size;
};
static_assert(ComponentLayout<2>::size == 18 && ComponentLayout<4>::size == 33);

/// Sums of a pixel over components (Eqs. 8 and 9).
struct PixelSums {
  float weight = 0;
  float colour[3] = {};
  /// Colour of a channel; 0 without any weight.
  HOLOTONE_HOST_DEVICE [[nodiscard]] float mean(int channel) const { return weight > 0 ? colour[channel] / weight : 0; }
};

/// Adds the component with these floats at x. Every pixel inverts every component's matrix again: in closed form, or
/// with `Slow` by Cholesky's factor and QR for the distance (Eq. 12) and QR for the regression (Eq. 5). The paper names
/// no pivots for its GPU decoders.
template <int D, bool Slow>
HOLOTONE_HOST_DEVICE inline void add_component(const float* component, const SmallVector<float, D>& x,
                                               PixelSums& sums) {
  using Layout = ComponentLayout<D>;
  SmallVector<float, D> away{};
  SmallMatrix<float, D> r{};
  const float* triangle = component + Layout::covariance;
  for (int row = 0; row < D; ++row) {
    away[row] = x[row] - component[Layout::centre + row];
    for (int column = 0; column <= row; ++column) r[row][column] = r[column][row] = *triangle++;
  }
  SmallVector<float, D> solved{};
  float square = 0;
  float determinant = 1;
  if constexpr (Slow) {
    const auto l = cholesky_of<float, D>(r);
    const auto turned = Qr<float, D, false>(l).solve(away);
    for (int k = 0; k < D; ++k) {
      square += turned[k] * turned[k];
      determinant *= l[k][k] * l[k][k];
    }
    solved = Qr<float, D, false>(r).solve(away);
  } else {
    solved = product<float, D>(inverse_of<float, D>(r, determinant), away);
    for (int k = 0; k < D; ++k) square += away[k] * solved[k];
  }
  const float weight = native_exp(component[0] - 0.5F * (square + native_log(determinant)));
  sums.weight += weight;
  for (int c = 0; c < Layout::colours; ++c) {
    float expert = component[Layout::colour + c];
    for (int k = 0; k < D; ++k) expert += component[Layout::cross + c * D + k] * solved[k];
    sums.colour[c] += weight * expert;
  }
}

}  // namespace bench
