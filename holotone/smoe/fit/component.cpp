// Conversion of a fit's components to models and back; covariances within limits.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit/component.hpp>

namespace holotone::smoe {

WidthLimits pixel_limits(const Shape<2>& size) { return {0.3, static_cast<double>(std::max(size[0], size[1])), 100}; }

void set_covariance(FitComponent& component, Matrix r, int dimensions, const WidthLimits& pixels) {
  for (auto i = static_cast<std::size_t>(dimensions); i < r.size(); ++i) r[i][i] = 1;
  // R_AB R_BB^-1: shift of the centre per unit of u and v. R_AA - R_AB R_BB^-1 R_BA: covariance of a slice.
  component.views = triangle_of({r[2][2], r[3][2], r[3][3]}, {1e-9, 1e9, 1e9});
  const double determinant = r[2][2] * r[3][3] - r[3][2] * r[3][2];
  Matrix shift{};
  for (std::size_t i = 0; i < 2; ++i) {
    shift[i][0] = (r[i][2] * r[3][3] - r[i][3] * r[3][2]) / determinant;
    shift[i][1] = (r[i][3] * r[2][2] - r[i][2] * r[3][2]) / determinant;
  }
  const auto left = [&](std::size_t i, std::size_t k) {
    return r[i][k] - shift[i][0] * r[k][2] - shift[i][1] * r[k][3];
  };
  component.pixels = triangle_of({left(0, 0), left(0, 1), left(1, 1)}, pixels);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto shear = component.pixels.times(-shift[0][k], -shift[1][k]);
    component.shear[0][k] = shear[0];
    component.shear[1][k] = shear[1];
  }
  limit_widths(component, pixels);
}

Vector whitened_slope(const FitComponent& component, const Vector& slope) {
  const auto [b0, b1] = component.pixels.transposed_solve(slope[0], slope[1]);
  const auto& shear = component.shear;
  const auto [b2, b3] = component.views.transposed_solve(slope[2] - shear[0][0] * b0 - shear[1][0] * b1,
                                                         slope[3] - shear[0][1] * b0 - shear[1][1] * b1);
  return {b0, b1, b2, b3};
}

SmoeModel model_of(const FitComponents& components, int dimensions, int channels, const Shape<2>& size) {
  SmoeModel model;
  model.dimensions = dimensions;
  model.channels = channels;
  model.low = {0, 0, -1, -1};
  model.high = {static_cast<double>(size[1]), static_cast<double>(size[0]), 1, 1};
  const auto d = static_cast<std::size_t>(dimensions);
  std::vector<double> log_weight;
  for (const auto& component : components) {
    log_weight.push_back(component.peak - std::log(component.pixels.a00 * component.pixels.a11 * component.views.a00 *
                                                   component.views.a11));
  }
  const double most = *std::max_element(log_weight.begin(), log_weight.end());
  double sum = 0;
  for (const double value : log_weight) sum += std::exp(value - most);
  for (std::size_t j = 0; j < components.size(); ++j) {
    const FitComponent& component = components[j];
    model.log_weight.push_back(static_cast<float>(log_weight[j] - most - std::log(sum)));
    Matrix columns{};  // columns of A^-1
    for (std::size_t i = 0; i < d; ++i) {
      model.centre.push_back(static_cast<float>(component.centre[i] + (i < 2 ? 0.5 : 0)));
      Vector z{};
      z[i] = 1;
      columns[i] = unwhitened(component, z);
    }
    for (std::size_t row = 0; row < d; ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        double value = 0;
        for (std::size_t i = 0; i < d; ++i) value += columns[i][row] * columns[i][column];
        model.covariance.push_back(static_cast<float>(value));
      }
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      model.colour.push_back(static_cast<float>(component.colour[c]));
      for (std::size_t i = 0; i < d; ++i) model.slope.push_back(static_cast<float>(component.slope[c][i]));
    }
  }
  return model;
}

FitComponents components_of(const SmoeModel& model, const WidthLimits& pixels) {
  const auto d = static_cast<std::size_t>(model.dimensions);
  const auto q = static_cast<std::size_t>(model.channels);
  FitComponents components(model.log_weight.size());
  for (std::size_t j = 0; j < components.size(); ++j) {
    FitComponent& component = components[j];
    const Matrix r = symmetric(model.covariance.data() + j * d * (d + 1) / 2, model.dimensions);
    for (std::size_t i = 0; i < d; ++i)
      component.centre[i] = static_cast<double>(model.centre[j * d + i]) - (i < 2 ? 0.5 : 0);
    set_covariance(component, r, model.dimensions, pixels);
    component.peak = static_cast<double>(model.log_weight[j]) +
                     std::log(component.pixels.a00 * component.pixels.a11 * component.views.a00 * component.views.a11);
    for (std::size_t c = 0; c < q; ++c) {
      component.colour[c] = static_cast<double>(model.colour[j * q + c]);
      for (std::size_t i = 0; i < d; ++i) component.slope[c][i] = static_cast<double>(model.slope[(j * q + c) * d + i]);
    }
  }
  return components;
}

}  // namespace holotone::smoe
