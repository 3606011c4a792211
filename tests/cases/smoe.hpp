#pragma once
// Random steered mixtures of experts, for tests and benchmarks.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/smoe/model.hpp>
#include <tests/reference/smoe.hpp>

namespace cases {

struct SmoeCase {
  int dimensions = 2;
  int channels = 3;
  std::int64_t components = 400;
  double width = 60;  ///< width of the picture, pixels
  double height = 45;
  double slope = 0.02;        ///< colour slope per pixel
  double stretch = 0.4;       ///< spread of the logarithm of sizes and axes
  double low = 0;             ///< lower bound of the centres, as a share of the box
  double high = 1;            ///< upper bound
  double large_share = 0.01;  ///< share of components eight times larger
  std::uint64_t seed = 1;
};

/// A normal number.
inline double gauss(std::uint64_t seed, std::uint64_t counter) {
  const double radius = std::sqrt(-2 * std::log(1 - holotone::random_uniform64(seed, 2 * counter)));
  return radius * std::cos(2 * M_PI * holotone::random_uniform64(seed, 2 * counter + 1));
}

inline holotone::SmoeModel make_smoe(const SmoeCase& c) {
  holotone::SmoeModel model;
  const int d = c.dimensions;
  model.dimensions = d;
  model.channels = c.channels;
  model.low = {0, 0, -1, -1};
  model.high = {c.width, c.height, 1, 1};
  const double spacing = std::sqrt(c.width * c.height / static_cast<double>(c.components));
  std::uint64_t counter = 0;
  const auto uniform = [&] { return holotone::random_uniform64(c.seed, counter++); };
  const auto normal = [&] { return gauss(c.seed + 1000, counter++); };
  for (std::int64_t j = 0; j < c.components; ++j) {
    const double large = uniform() < c.large_share ? 8 : 1;
    model.log_weight.push_back(static_cast<float>(std::log(large) + 0.3 * normal()));
    double factor[4][4] = {};
    for (int row = 0; row < d; ++row) {
      const auto a = static_cast<std::size_t>(row);
      const double side = model.high[a] - model.low[a];
      const double place = c.low + (c.high - c.low) * uniform();
      model.centre.push_back(static_cast<float>(model.low[a] + side * place));
      const double scale = (row < 2 ? 0.5 * spacing * large : 0.6) * std::exp(c.stretch * normal());
      for (int column = 0; column < row; ++column) factor[row][column] = 0.5 * scale * normal();
      factor[row][row] = scale;
    }
    for (int row = 0; row < d; ++row) {
      for (int column = 0; column <= row; ++column) {
        double sum = 0;
        for (int k = 0; k <= column; ++k) sum += factor[row][k] * factor[column][k];
        model.covariance.push_back(static_cast<float>(sum));
      }
    }
    for (int channel = 0; channel < c.channels; ++channel) {
      model.colour.push_back(static_cast<float>(uniform()));
      for (int axis = 0; axis < d; ++axis)
        model.slope.push_back(static_cast<float>((axis < 2 ? c.slope : 0.1) * normal()));
    }
  }
  return model;
}

/// Models as dense as published ones: one component for each cell of a jittered grid, with smooth colours. Deviations
/// are around half a cell, axes have random directions, three components in a thousand are eight times larger. Four
/// dimensions: parallax of up to about 2.6 pixels from the central view to the outermost.
inline holotone::SmoeModel dense_smoe(int dimensions, std::int64_t count, double width, double height) {
  holotone::SmoeModel model;
  model.dimensions = dimensions;
  model.high = {width, height, 1, 1};
  model.low = {0, 0, -1, -1};
  const bool field = dimensions == 4;
  const double spacing = std::sqrt(width * height / static_cast<double>(count));
  const auto columns = static_cast<std::int64_t>(std::ceil(width / spacing));
  const auto rows = static_cast<std::int64_t>(std::ceil(height / spacing));
  std::uint64_t counter = 0;
  const auto uniform = [&] { return holotone::random_uniform64(5, counter++); };
  const auto normal = [&] { return gauss(9, counter++); };
  for (std::int64_t j = 0; j < count; ++j) {
    const std::int64_t cell = j * columns * rows / count;
    const double x = (static_cast<double>(cell % columns) + uniform()) * width / static_cast<double>(columns);
    const double y = (static_cast<double>(cell / columns) + uniform()) * height / static_cast<double>(rows);
    const double large = !field && uniform() < 0.003 ? 8 : 1;
    const double size = (field ? 0.7 : 0.5) * spacing * std::exp(0.3 * normal()) * large;
    const double axes = std::exp((field ? 0.5 : 0.4) * normal());
    const double angle = M_PI * uniform();
    const double first = std::pow(std::max(0.5, size * std::sqrt(axes)), 2);
    const double second = std::pow(std::max(0.5, size / std::sqrt(axes)), 2);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const double xx = c * c * first + s * s * second;
    const double yy = s * s * first + c * c * second;
    const double xy = c * s * (first - second);
    std::vector<double> centre{x, y};
    std::vector<double> covariance{xx, xy, yy};
    if (field) {
      const double disparity = 2.6 * normal();
      const double u = std::pow(0.86 * std::exp(0.3 * normal()), 2);
      const double v = std::pow(0.86 * std::exp(0.3 * normal()), 2);
      for (int axis = 0; axis < 2; ++axis) centre.push_back(2.3 * (uniform() - 0.5));
      covariance = {xx + disparity * disparity * u,
                    xy,
                    yy + disparity * disparity * v,
                    disparity * u,
                    0,
                    u,
                    0,
                    disparity * v,
                    0,
                    v};
    }
    model.log_weight.push_back(static_cast<float>(std::log(large) + 0.3 * normal()));
    model.centre.insert(model.centre.end(), centre.begin(), centre.end());
    model.covariance.insert(model.covariance.end(), covariance.begin(), covariance.end());
    for (int k = 0; k < 3; ++k) {
      model.colour.push_back(static_cast<float>(0.5 + 0.25 * std::sin(0.01 * x * (k + 1)) + 0.2 * (uniform() - 0.5)));
      for (int axis = 0; axis < dimensions; ++axis) {
        model.slope.push_back(static_cast<float>((field ? 0.01 : 0.02 / large) * normal()));
      }
    }
  }
  return model;
}

inline std::vector<reference::Expert> experts_of(const holotone::SmoeModel& model) {
  std::vector<reference::Expert> experts;
  const auto d = static_cast<std::size_t>(model.dimensions);
  const auto q = static_cast<std::size_t>(model.channels);
  for (std::size_t j = 0; j < model.log_weight.size(); ++j) {
    reference::Expert expert{static_cast<double>(model.log_weight[j]), {}, {}, {}, {}};
    expert.covariance.assign(d, std::vector<double>(d));
    const float* triangle = model.covariance.data() + j * d * (d + 1) / 2;
    for (std::size_t row = 0; row < d; ++row) {
      expert.centre.push_back(static_cast<double>(model.centre[j * d + row]));
      for (std::size_t column = 0; column <= row; ++column) {
        expert.covariance[row][column] = expert.covariance[column][row] = static_cast<double>(*triangle++);
      }
    }
    for (std::size_t c = 0; c < q; ++c) {
      expert.colour.push_back(static_cast<double>(model.colour[j * q + c]));
      const float* const slope = model.slope.data() + (j * q + c) * d;
      expert.slope.emplace_back(slope, slope + d);
    }
    experts.push_back(std::move(expert));
  }
  return experts;
}

}  // namespace cases
