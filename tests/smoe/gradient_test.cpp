// Gradients of pictures' squared errors against central differences of the float64 sum of all components.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/gradient.hpp>
#include <omp.h>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

Array<float, 3> noise(const Shape<3>& shape) {
  Array<float, 3> image(shape);
  for (std::int64_t i = 0; i < image.size(); ++i) image.data()[i] = random_uniform(5, static_cast<std::uint64_t>(i));
  return image;
}

/// Half the squared error of the picture, with all components.
double compute_loss(const std::vector<reference::Expert>& experts, const SmoeModel& model,
                    const Array<float, 3>& target) {
  const auto& [ny, nx, channels] = target.shape();
  double sum = 0;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const std::vector<double> x{
          model.low[0] + (model.high[0] - model.low[0]) * (static_cast<double>(column) + 0.5) / static_cast<double>(nx),
          model.low[1] + (model.high[1] - model.low[1]) * (static_cast<double>(row) + 0.5) / static_cast<double>(ny)};
      const auto colour = reference::mixture(experts, x);
      for (std::int64_t c = 0; c < channels; ++c) {
        const double off = colour[static_cast<std::size_t>(c)] - static_cast<double>(target(row, column, c));
        sum += 0.5 * off * off;
      }
    }
  }
  return sum;
}

/// One parameter of a model: the library's derivative, and the change of the reference's expert.
struct Parameter {
  std::string name;
  double derivative;
  double step;
  std::function<void(reference::Expert&, double)> add;
};

std::vector<Parameter> list_parameters(const SmoeGradient& gradient, const reference::Expert& expert, std::size_t j) {
  const std::size_t q = expert.colour.size();
  const double width = std::sqrt(std::min(expert.covariance[0][0], expert.covariance[1][1]));
  std::vector<Parameter> parameters;
  parameters.push_back({"log_weight", gradient.log_weight[j], 1e-4, [](auto& e, double h) { e.log_weight += h; }});
  for (std::size_t axis = 0; axis < 2; ++axis) {
    parameters.push_back(
        {"centre", gradient.centre[2 * j + axis], 1e-4 * width, [axis](auto& e, double h) { e.centre[axis] += h; }});
  }
  for (std::size_t row = 0, at = 3 * j; row < 2; ++row) {
    for (std::size_t column = 0; column <= row; ++column, ++at) {
      parameters.push_back(
          {"covariance", gradient.covariance[at], 1e-4 * width * width, [row, column](auto& e, double h) {
             e.covariance[row][column] += h;
             if (row != column) e.covariance[column][row] += h;
           }});
    }
  }
  for (std::size_t c = 0; c < q; ++c) {
    parameters.push_back({"colour", gradient.colour[j * q + c], 1e-3, [c](auto& e, double h) { e.colour[c] += h; }});
    for (std::size_t axis = 0; axis < 2; ++axis) {
      parameters.push_back({"slope", gradient.slope[(j * q + c) * 2 + axis], 1e-3 / width,
                            [c, axis](auto& e, double h) { e.slope[c][axis] += h; }});
    }
  }
  return parameters;
}

/// Compares derivatives times the step of a parameter's whole range; errors are relative to the largest.
void check(const std::string& what, const SmoeModel& model, const Shape<2>& size, double tolerance, Device device) {
  const auto target = noise({size[0], size[1], model.channels});
  const auto gradient = smoe_gradient(model, target.view(), 1e-7, device);
  auto experts = cases::experts_of(model);
  expect_within(what + ", loss", std::abs(gradient.loss / compute_loss(experts, model, target) - 1), 1e-6);
  double worst = 0;
  double largest = 0;
  for (std::size_t j = 0; j < experts.size(); j += std::max<std::size_t>(1, experts.size() / 6)) {
    const auto expert = experts[j];
    for (const auto& parameter : list_parameters(gradient, expert, j)) {
      parameter.add(experts[j], parameter.step);
      const double above = compute_loss(experts, model, target);
      experts[j] = expert;
      parameter.add(experts[j], -parameter.step);
      const double below = compute_loss(experts, model, target);
      experts[j] = expert;
      const double expected = (above - below) / (2 * parameter.step);
      const double scale = parameter.step * (parameter.name == "colour" || parameter.name == "slope" ? 1e3 : 1e4);
      worst = std::max(worst, std::abs(parameter.derivative - expected) * scale);
      largest = std::max(largest, std::abs(expected) * scale);
    }
  }
  expect_within(what + ", gradient", worst / largest, tolerance);
}

// Differences of a loss of some hundreds in float64 with steps of 1e-4 have a rounding error of 1e-16 * 1e2 / 1e-4 =
// 1e-10. Their truncation error, quadratic in the step, is 1e-8. float32 densities down to -100 have 100 * 2^-24 = 6e-6
// of the weights.
constexpr double tolerance = 2e-5;

class SmoeGradients : public support::OnEachDevice {};

TEST_P(SmoeGradients, AreThoseOfTheSumOfAllComponents) {
  on_each([](Device device) {
    for (const int channels : {1, 2, 3, 4}) {
      cases::SmoeCase c;
      c.channels = channels;
      c.components = 20;
      c.width = 17;
      c.height = 11;
      check(fmt::format("{}, {} channels", to_string(device), channels), cases::make_smoe(c), {11, 17}, tolerance,
            device);
    }
  });
}

TEST_P(SmoeGradients, OfTinyAndHugeComponentsOddSizesAndBoxes) {
  on_each([](Device device) {
    const std::string name = to_string(device);
    cases::SmoeCase varied;
    varied.components = 30;
    varied.width = 17;
    varied.height = 11;
    varied.stretch = 1.5;
    varied.large_share = 0.2;
    check(name + ", tiny and huge", cases::make_smoe(varied), {11, 17}, tolerance, device);
    check(name + ", enlarged", cases::make_smoe(varied), {9, 35}, tolerance, device);
    varied.components = 1;
    check(name + ", one component", cases::make_smoe(varied), {3, 2}, tolerance, device);
    check(name + ", one pixel", cases::make_smoe({.components = 5}), {1, 1}, tolerance, device);
  });
}

TEST_P(SmoeGradients, SameBitsEachTime) {
  on_each([](Device device) {
    const auto model = cases::make_smoe({});
    const auto target = noise({45, 60, 3});
    const auto once = smoe_gradient(model, target.view(), 1e-4, device);
    const auto again = smoe_gradient(model, target.view(), 1e-4, device);
    EXPECT_EQ(once.loss, again.loss);
    EXPECT_EQ(once.covariance, again.covariance);
    EXPECT_EQ(once.slope, again.slope);
  });
}

HOLOTONE_ON_CPU_AND_CUDA(SmoeGradients);

TEST(SmoeGradient, SameBitsOnAnyNumberOfThreads) {
  const auto model = cases::make_smoe({});
  const auto target = noise({45, 60, 3});
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = smoe_gradient(model, target.view());
  omp_set_num_threads(3);
  const auto together = smoe_gradient(model, target.view());
  omp_set_num_threads(threads);
  EXPECT_EQ(alone.loss, together.loss);
  EXPECT_EQ(alone.covariance, together.covariance);
  EXPECT_EQ(alone.slope, together.slope);
}

TEST(SmoeGradient, RefusesBadArguments) {
  const auto model = cases::make_smoe({});
  auto target = noise({4, 5, 3});
  const auto refuse = [&](const std::string& text, const SmoeModel& wrong, View<const float, 3> image, double loose) {
    expect_error(ErrorCode::invalid_argument, text, [&] { (void)smoe_gradient(wrong, image, loose); });
  };
  refuse("smoe_gradient: tolerance", model, target.view(), 0);
  refuse("target: expected {ny, nx, 3}, got {4, 5, 2}", model, View<const float, 3>(target.data(), {4, 5, 2}), 1e-3);
  refuse("model: expected 2 dimensions, got 4", cases::make_smoe({.dimensions = 4}), target.view(), 1e-3);
  target.data()[7] = NAN;
  refuse("target: expected finite colours", model, target.view(), 1e-3);
}

}  // namespace
}  // namespace holotone
