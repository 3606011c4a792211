#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit_component.hpp>
#include <numbers>

namespace holotone::smoe {
namespace {

const double unit = std::sqrt(2 * std::numbers::ln2);  // of a density's logarithm to base 2

bool within(const Triangle& a, const WidthLimits& limits) {
  // Both ends of the precision's spectrum are certainly within these.
  const double most = a.a00 * a.a00 + a.a10 * a.a10 + a.a11 * a.a11;
  const double least = a.a00 * a.a11 * a.a00 * a.a11 / most;
  return most * limits.least * limits.least <= 1 && least * limits.largest * limits.largest >= 1 &&
         most <= least * limits.aspect * limits.aspect;
}

/// A lower triangular with A^T A = {xx, xy, yy}.
Triangle factor_of(double xx, double xy, double yy) {
  const double a11 = std::sqrt(yy);
  const double a10 = xy / a11;
  // Rounding may leave nothing of what is positive.
  return {std::sqrt(std::max(xx - a10 * a10, 1e-12 * xx)), a10, a11};
}

}  // namespace

std::array<double, 3> covariance_of(const Triangle& a) {
  const double b00 = 1 / a.a00;
  const double b11 = 1 / a.a11;
  const double b10 = -a.a10 * b00 * b11;
  return {b00 * b00, b00 * b10, b10 * b10 + b11 * b11};
}

Triangle triangle_of(const std::array<double, 3>& covariance, const WidthLimits& limits) {
  const auto [xx, xy, yy] = covariance;
  const double middle = 0.5 * (xx + yy);
  const double half = std::hypot(0.5 * (xx - yy), xy);
  const double most = std::clamp(middle + half, limits.least * limits.least, limits.largest * limits.largest);
  const double floor = std::max(limits.least * limits.least, most / (limits.aspect * limits.aspect));
  const double least = std::clamp(middle - half, floor, most);
  // The precision: 1 / most along the long axis, 1 / least across.
  const double angle = half > 0 ? 0.5 * std::atan2(2 * xy, xx - yy) : 0;
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  return factor_of(cosine * cosine / most + sine * sine / least, cosine * sine * (1 / most - 1 / least),
                   sine * sine / most + cosine * cosine / least);
}

WidthLimits pixel_limits(const Shape<2>& size) { return {0.3, static_cast<double>(std::max(size[0], size[1])), 100}; }

void limit_widths(FitComponent& component, const WidthLimits& pixels) {
  if (!within(component.pixels, pixels)) {
    const Triangle old = component.pixels;
    component.pixels = triangle_of(covariance_of(old), pixels);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto shift = old.solve(component.shear[0][k], component.shear[1][k]);
      const auto shear = component.pixels.times(shift[0], shift[1]);
      component.shear[0][k] = shear[0];
      component.shear[1][k] = shear[1];
    }
  }
  if (!within(component.views, view_limits)) component.views = triangle_of(covariance_of(component.views), view_limits);
}

void set_covariance(FitComponent& own, Matrix r, int dimensions, const WidthLimits& pixels) {
  for (auto i = static_cast<std::size_t>(dimensions); i < r.size(); ++i) r[i][i] = 1;
  // R_AB R_BB^-1 is what the centre moves by for a unit of u and v; the rest of R_AA is the slice's covariance.
  own.views = triangle_of({r[2][2], r[3][2], r[3][3]}, {1e-9, 1e9, 1e9});
  const double determinant = r[2][2] * r[3][3] - r[3][2] * r[3][2];
  Matrix shift{};
  for (std::size_t i = 0; i < 2; ++i) {
    shift[i][0] = (r[i][2] * r[3][3] - r[i][3] * r[3][2]) / determinant;
    shift[i][1] = (r[i][3] * r[2][2] - r[i][2] * r[3][2]) / determinant;
  }
  const auto left = [&](std::size_t i, std::size_t k) {
    return r[i][k] - shift[i][0] * r[k][2] - shift[i][1] * r[k][3];
  };
  own.pixels = triangle_of({left(0, 0), left(0, 1), left(1, 1)}, pixels);
  for (std::size_t k = 0; k < 2; ++k) {
    const auto shear = own.pixels.times(-shift[0][k], -shift[1][k]);
    own.shear[0][k] = shear[0];
    own.shear[1][k] = shear[1];
  }
  limit_widths(own, pixels);
}

Vector unwhitened(const FitComponent& component, const Vector& z) {
  const auto [u, v] = component.views.solve(z[2], z[3]);
  const auto& shear = component.shear;
  const auto [x, y] =
      component.pixels.solve(z[0] - shear[0][0] * u - shear[0][1] * v, z[1] - shear[1][0] * u - shear[1][1] * v);
  return {x, y, u, v};
}

Vector whitened_slope(const FitComponent& component, const Vector& slope) {
  const auto [b0, b1] = component.pixels.transposed_solve(slope[0], slope[1]);
  const auto& shear = component.shear;
  const auto [b2, b3] = component.views.transposed_solve(slope[2] - shear[0][0] * b0 - shear[1][0] * b1,
                                                         slope[3] - shear[0][1] * b0 - shear[1][1] * b1);
  return {b0, b1, b2, b3};
}

Vector natural_slope(const FitComponent& component, const Vector& b) {
  const auto [x, y] = component.pixels.transposed_times(b[0], b[1]);
  const auto [u, v] = component.views.transposed_times(b[2], b[3]);
  const auto& shear = component.shear;
  return {x, y, u + shear[0][0] * b[0] + shear[1][0] * b[1], v + shear[0][1] * b[0] + shear[1][1] * b[1]};
}

ImageComponent slice_at(const FitComponent& component, const ViewPoint& at) {
  const double u = at[0] - component.centre[2];
  const double v = at[1] - component.centre[3];
  const auto [z2, z3] = component.views.times(u, v);
  const auto& shear = component.shear;
  const auto [x, y] = component.pixels.solve(-shear[0][0] * u - shear[0][1] * v, -shear[1][0] * u - shear[1][1] * v);
  ImageComponent own;
  own.x = component.centre[0] + x;
  own.y = component.centre[1] + y;
  own.across = component.pixels.a00 / unit;
  own.skew = component.pixels.a10 / unit;
  own.down = component.pixels.a11 / unit;
  own.peak = (component.peak - 0.5 * (z2 * z2 + z3 * z3)) / std::numbers::ln2;
  for (std::size_t c = 0; c < own.colour.size(); ++c) {
    const Vector& slope = component.slope[c];
    own.colour[c] = static_cast<float>(component.colour[c] + slope[0] * x + slope[1] * y + slope[2] * u + slope[3] * v);
    own.slope_x[c] = static_cast<float>(slope[0]);
    own.slope_y[c] = static_cast<float>(slope[1]);
  }
  return own;
}

void add_sums(const FitComponent& component, const ComponentSums& sums, const ViewPoint& at, FitSums& to) {
  const Triangle& a = component.pixels;
  const auto& [s, sx, sy, sxx, sxy, syy] = sums.s;
  const auto [z2, z3] = component.views.times(at[0] - component.centre[2], at[1] - component.centre[3]);
  const auto [s0, s1] = a.times(sx, sy);
  to.s += s;
  const Vector first{s0, s1, s * z2, s * z3};
  for (std::size_t i = 0; i < first.size(); ++i) to.s1[i] += first[i];
  to.s2[below(0, 0)] += a.a00 * a.a00 * sxx;
  to.s2[below(1, 0)] += a.a00 * (a.a10 * sxx + a.a11 * sxy);
  to.s2[below(1, 1)] += a.a10 * a.a10 * sxx + 2 * a.a10 * a.a11 * sxy + a.a11 * a.a11 * syy;
  for (std::size_t k = 0; k < 3; ++k) to.s2[below(2, k)] += first[k] * z2;
  for (std::size_t k = 0; k < 4; ++k) to.s2[below(3, k)] += first[k] * z3;
  for (std::size_t c = 0; c < to.p.size(); ++c) {
    const auto& [p, px, py] = sums.p[c];
    const auto [p0, p1] = a.times(px, py);
    const std::array<double, 5> own{p, p0, p1, p * z2, p * z3};
    for (std::size_t i = 0; i < own.size(); ++i) to.p[c][i] += own[i];
  }
  to.extra += sums.extra;
}

SmoeModel model_of(const FitComponents& components, int dimensions, int channels, const Shape<2>& size) {
  SmoeModel model;
  model.dimensions = dimensions;
  model.channels = channels;
  model.low = {0, 0, -1, -1};
  model.high = {static_cast<double>(size[1]), static_cast<double>(size[0]), 1, 1};
  const auto d = static_cast<std::size_t>(dimensions);
  std::vector<double> log_weight;
  for (const auto& own : components) {
    log_weight.push_back(own.peak - std::log(own.pixels.a00 * own.pixels.a11 * own.views.a00 * own.views.a11));
  }
  const double most = *std::max_element(log_weight.begin(), log_weight.end());
  double sum = 0;
  for (const double value : log_weight) sum += std::exp(value - most);
  for (std::size_t j = 0; j < components.size(); ++j) {
    const FitComponent& own = components[j];
    model.log_weight.push_back(static_cast<float>(log_weight[j] - most - std::log(sum)));
    Matrix columns{};  // of A^-1
    for (std::size_t i = 0; i < d; ++i) {
      model.centre.push_back(static_cast<float>(own.centre[i] + (i < 2 ? 0.5 : 0)));
      Vector z{};
      z[i] = 1;
      columns[i] = unwhitened(own, z);
    }
    for (std::size_t row = 0; row < d; ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        double value = 0;
        for (std::size_t i = 0; i < d; ++i) value += columns[i][row] * columns[i][column];
        model.covariance.push_back(static_cast<float>(value));
      }
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      model.colour.push_back(static_cast<float>(own.colour[c]));
      for (std::size_t i = 0; i < d; ++i) model.slope.push_back(static_cast<float>(own.slope[c][i]));
    }
  }
  return model;
}

FitComponents components_of(const SmoeModel& model, const WidthLimits& pixels) {
  const auto d = static_cast<std::size_t>(model.dimensions);
  const auto q = static_cast<std::size_t>(model.channels);
  FitComponents components(model.log_weight.size());
  for (std::size_t j = 0; j < components.size(); ++j) {
    FitComponent& own = components[j];
    const Matrix r = symmetric(model.covariance.data() + j * d * (d + 1) / 2, model.dimensions);
    for (std::size_t i = 0; i < d; ++i)
      own.centre[i] = static_cast<double>(model.centre[j * d + i]) - (i < 2 ? 0.5 : 0);
    set_covariance(own, r, model.dimensions, pixels);
    own.peak = static_cast<double>(model.log_weight[j]) +
               std::log(own.pixels.a00 * own.pixels.a11 * own.views.a00 * own.views.a11);
    for (std::size_t c = 0; c < q; ++c) {
      own.colour[c] = static_cast<double>(model.colour[j * q + c]);
      for (std::size_t i = 0; i < d; ++i) own.slope[c][i] = static_cast<double>(model.slope[(j * q + c) * d + i]);
    }
  }
  return components;
}

}  // namespace holotone::smoe
