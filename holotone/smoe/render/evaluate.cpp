// A model at given coordinates, by the sum over all components.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/model/small_matrix.hpp>
#include <holotone/smoe/render.hpp>
#include <numbers>
#include <string>

namespace holotone {
namespace {

constexpr std::int64_t block = 64;  // coordinates per unit of parallel work

/// ln(pi N) at x, up to a summand that all components share.
class RobustDensity {
 public:
  RobustDensity(const SmoeModel& model, std::int64_t j) : d_(model.dimensions) {
    const float* const centre = model.centre.data() + j * d_;
    for (int axis = 0; axis < d_; ++axis) centre_[axis] = static_cast<double>(centre[axis]);
    l_ = *smoe::cholesky(smoe::symmetric(model.covariance.data() + j * triangle_size(d_), d_), d_);
    peak_ = static_cast<double>(model.log_weight[static_cast<std::size_t>(j)]);
    for (int axis = 0; axis < d_; ++axis) peak_ -= std::log(l_[axis][axis]);
  }
  double at(const float* x) const {
    smoe::Vector away{};
    for (int axis = 0; axis < d_; ++axis) away[axis] = static_cast<double>(x[axis]) - centre_[axis];
    const auto scaled = smoe::forward_solve(l_, away, d_);
    double sum = 0;
    for (int axis = 0; axis < d_; ++axis) sum += scaled[axis] * scaled[axis];
    return peak_ - 0.5 * sum;
  }

 private:
  int d_;
  smoe::Vector centre_{};
  smoe::Matrix l_{};
  double peak_ = 0;
};

/// The same in float32 by the inverse's closed form, cofactors over the determinant.
class FastDensity {
 public:
  FastDensity(const SmoeModel& model, std::int64_t j) : d_(model.dimensions) {
    const float* triangle = model.covariance.data() + j * triangle_size(d_);
    std::array<std::array<float, max_smoe_dimensions>, max_smoe_dimensions> r{};
    for (int row = 0; row < d_; ++row) {
      centre_[row] = model.centre[static_cast<std::size_t>(j * d_ + row)];
      for (int column = 0; column <= row; ++column) r[row][column] = r[column][row] = *triangle++;
    }
    float determinant = 0;
    for (int row = 0; row < d_; ++row) {
      for (int column = 0; column < d_; ++column) inverse_[row][column] = cofactor(r, row, column);
      determinant += r[row][0] * inverse_[row][0];
    }
    for (auto& row : inverse_) {
      for (auto& value : row) value /= determinant;
    }
    peak_ = model.log_weight[static_cast<std::size_t>(j)] - 0.5F * std::log(determinant);
  }
  float at(const float* x) const {
    float sum = 0;
    for (int row = 0; row < d_; ++row) {
      float line = 0;
      for (int column = 0; column < d_; ++column) line += inverse_[row][column] * (x[column] - centre_[column]);
      sum += line * (x[row] - centre_[row]);
    }
    return peak_ - 0.5F * sum;
  }

 private:
  using Small = std::array<std::array<float, max_smoe_dimensions>, max_smoe_dimensions>;
  float cofactor(const Small& r, int without_row, int without_column) const {
    std::array<int, max_smoe_dimensions> rows{};
    std::array<int, max_smoe_dimensions> columns{};
    int n = 0;
    for (int k = 0; k < d_; ++k) {
      if (k != without_row) rows[n++] = k;
    }
    n = 0;
    for (int k = 0; k < d_; ++k) {
      if (k != without_column) columns[n++] = k;
    }
    const auto at = [&](int row, int column) { return r[rows[row]][columns[column]]; };
    const auto minor = [&](int a, int b, int c, int e) { return at(a, c) * at(b, e) - at(a, e) * at(b, c); };
    float value = 1;
    if (d_ == 2) value = at(0, 0);
    if (d_ == 3) value = minor(0, 1, 0, 1);
    if (d_ == 4) value = at(0, 0) * minor(1, 2, 1, 2) - at(0, 1) * minor(1, 2, 0, 2) + at(0, 2) * minor(1, 2, 0, 1);
    return (without_row + without_column) % 2 == 0 ? value : -value;
  }

  int d_;
  std::array<float, max_smoe_dimensions> centre_{};
  Small inverse_{};
  float peak_ = 0;
};

/// Evaluates the model in numbers of type Real, with densities by Density.
template <class Real, class Density>
void sum_experts(const SmoeModel& model, View<const float, 2> coordinates, View<float, 2> colours) {
  const int d = model.dimensions;
  const int q = model.channels;
  std::vector<Density> densities;
  densities.reserve(static_cast<std::size_t>(model.count()));
  for (std::int64_t j = 0; j < model.count(); ++j) densities.emplace_back(model, j);
  const std::int64_t count = coordinates.shape()[0];
  parallel_for(0, (count + block - 1) / block, [&](std::int64_t part) {
    std::vector<Real> density(densities.size());
    for (std::int64_t i = part * block; i < std::min(count, (part + 1) * block); ++i) {
      const float* const x = coordinates.data() + i * d;
      for (std::size_t j = 0; j < density.size(); ++j) density[j] = densities[j].at(x);
      const Real most = *std::max_element(density.begin(), density.end());
      Real weights = 0;
      std::array<Real, max_smoe_channels> sum{};
      for (std::int64_t j = 0; j < model.count(); ++j) {
        const Real weight = std::exp(density[static_cast<std::size_t>(j)] - most);
        weights += weight;
        for (int c = 0; c < q; ++c) {
          auto expert = static_cast<Real>(model.colour[static_cast<std::size_t>(j * q + c)]);
          for (int axis = 0; axis < d; ++axis) {
            expert +=
                static_cast<Real>(model.slope[static_cast<std::size_t>((j * q + c) * d + axis)]) *
                (static_cast<Real>(x[axis]) - static_cast<Real>(model.centre[static_cast<std::size_t>(j * d + axis)]));
          }
          sum[static_cast<std::size_t>(c)] += weight * expert;
        }
      }
      for (int c = 0; c < q; ++c) colours(i, c) = static_cast<float>(sum[static_cast<std::size_t>(c)] / weights);
    }
  });
}

}  // namespace

void evaluate(const SmoeModel& model, View<const float, 2> coordinates, View<float, 2> colours,
              SmoePrecision precision) {
  require_model("evaluate", model);
  const std::int64_t count = coordinates.shape()[0];
  require_view("evaluate", "coordinates", coordinates, Shape<2>{count, model.dimensions}, Device{});
  require_view("evaluate", "colours", colours, Shape<2>{count, model.channels}, Device{});
  for (std::int64_t i = 0; i < coordinates.size(); ++i) {
    if (!std::isfinite(coordinates.data()[i])) {
      throw_argument("evaluate", "coordinates", "finite numbers",
                     "others in row " + std::to_string(i / model.dimensions));
    }
  }
  if (precision == SmoePrecision::robust) {
    sum_experts<double, RobustDensity>(model, coordinates, colours);
  } else {
    sum_experts<float, FastDensity>(model, coordinates, colours);
  }
}

}  // namespace holotone
