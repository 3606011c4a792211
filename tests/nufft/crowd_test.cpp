// Points in one place or a few, and the worst case of a single point or mode, against the float64 sums.
#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/nufft/nufft.hpp>
#include <numbers>
#include <tests/nufft/transform.hpp>
#include <tests/reference/nufft.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Device;
using holotone::Shape;
using nufft_cases::Cloud;
using nufft_cases::make_points;
using nufft_cases::random_numbers;
using nufft_cases::Transform;
using support::Complex64;
using support::expect_within;
using support::relative_error;

class NufftCrowd : public support::OnEachDevice {};

// Work on many points in one place is distributed. A cluster repeated 400 times gives 400 times the cluster's sum, and
// each of its copies reads the same value. The sum of a cluster varies slowly over the modes. Its error may be that of
// the worst modes, about twice the mean that the tolerance bounds.
template <std::size_t Rank>
void expect_repeated(Shape<Rank> shape, Device device) {
  constexpr std::size_t count = 300;
  constexpr std::size_t copies = 400;
  auto points = make_points<float, Rank>(Cloud::clustered, count, 20);
  auto strengths = random_numbers<float>(count, 21);
  auto expected = reference::nufft_type1<Rank>(shape, points, strengths);
  for (auto& mode : expected) mode *= static_cast<double>(copies);
  const auto modes = random_numbers<float>(static_cast<std::size_t>(holotone::element_count(shape)), 22);
  std::vector<Complex64> values;
  std::vector<Complex64> gradient;
  reference::nufft_type2<Rank>(shape, points, modes, values, gradient);
  std::vector<float> all_points;
  std::vector<std::complex<float>> all_strengths;
  std::vector<Complex64> all_values;
  for (std::size_t i = 0; i < copies; ++i) {
    all_points.insert(all_points.end(), points.begin(), points.end());
    all_strengths.insert(all_strengths.end(), strengths.begin(), strengths.end());
    all_values.insert(all_values.end(), values.begin(), values.end());
  }
  Transform<float, Rank> transform(shape, all_points, device, {.tolerance = 1e-4});
  const auto label = "120,000 points on " + holotone::to_string(shape);
  expect_within(label + ", type 1", relative_error(transform.type1(all_strengths).data(), expected), 2e-4);
  expect_within(label + ", type 2", relative_error(transform.type2(modes).data(), all_values), 1e-4);
}

TEST_P(NufftCrowd, ManyPointsInOnePlace) {
  on_each([](Device device) {
    expect_repeated<2>({30, 41}, device);
    expect_repeated<2>({300, 200}, device);
    expect_repeated<3>({9, 12, 14}, device);
  });
}

// Equal strengths in one place add up in few cells: long float32 sums lose always in the same direction.
TEST_P(NufftCrowd, EqualPointsLoseNothing) {
  const Shape<2> shape{30, 41};
  struct Crowd {
    std::size_t count;
    double tolerance;
  };
  for (const Crowd& crowd :
       {Crowd{1000, 1e-5}, Crowd{1000, 1e-4}, Crowd{20000, 1e-5}, Crowd{20000, 1e-3}, Crowd{100000, 1e-5}}) {
    for (std::uint64_t place = 0; place < 4; ++place) {
      const auto one = make_points<float, 2>(Cloud::uniform, 1, 40 + place);
      auto expected = reference::nufft_type1<2>(shape, one, std::vector<std::complex<float>>{{1, 0.5}});
      for (auto& mode : expected) mode *= static_cast<double>(crowd.count);
      std::vector<float> points;
      for (std::size_t i = 0; i < crowd.count; ++i) points.insert(points.end(), one.begin(), one.end());
      on_each([&](Device device) {
        Transform<float, 2> transform(shape, points, device, {.tolerance = crowd.tolerance});
        const auto modes = transform.type1(std::vector<std::complex<float>>(crowd.count, {1, 0.5}));
        expect_within(std::to_string(crowd.count) + " equal points, place " + std::to_string(place),
                      relative_error(modes.data(), expected), crowd.tolerance);
      });
    }
  }
}

// A value is a sum of random terms, and so is its error: in few places their ratio scatters, whatever the window. The
// mean over many draws is within the tolerance.
TEST_P(NufftCrowd, FewPlacesHoldTheToleranceInTheMean) {
  constexpr std::uint64_t draws = 40;
  const Shape<2> shape{25, 30};
  on_each([&](Device device) {
    for (const double tolerance : {1e-3, 1e-4}) {
      for (const std::size_t places : {1, 4}) {
        Transform<float, 2> transform(shape, std::vector<float>(2 * places), device, {.tolerance = tolerance});
        double error[2] = {};
        double norm[2] = {};
        double worst = 0;
        const auto add = [&](int type, const auto& got, const auto& expected) {
          for (std::size_t i = 0; i < expected.size(); ++i) {
            error[type] += std::norm(Complex64(got[i]) - expected[i]);
            norm[type] += std::norm(expected[i]);
          }
          worst = std::max(worst, relative_error(got.data(), expected));
        };
        for (std::uint64_t draw = 0; draw < draws; ++draw) {
          const auto points = make_points<float, 2>(Cloud::uniform, places, 100 + draw);
          const auto strengths = random_numbers<float>(places, 300 + draw);
          const auto modes =
              random_numbers<float>(static_cast<std::size_t>(holotone::element_count(shape)), 500 + draw);
          std::vector<Complex64> values;
          std::vector<Complex64> gradient;
          reference::nufft_type2<2>(shape, points, modes, values, gradient);
          transform.set_points(points);
          add(0, transform.type1(strengths), reference::nufft_type1<2>(shape, points, strengths));
          add(1, transform.type2(modes), values);
        }
        const auto label = std::to_string(places) + " places, largest " + std::to_string(worst);
        expect_within(label + ", type 1", std::sqrt(error[0] / norm[0]), tolerance);
        expect_within(label + ", type 2", std::sqrt(error[1] / norm[1]), tolerance);
      }
    }
  });
}

/// Errors of a plan for the worst case, relative to the sums of the moduli: of every mode for pairs of equal or
/// opposite strengths a tenth of a cell apart, and of every value for single modes, at the ends of the range and
/// elsewhere.
template <class Real, std::size_t Rank>
void expect_worst_case(Shape<Rank> shape, double tolerance, Device device) {
  constexpr std::uint64_t pairs = 8;
  Transform<Real, Rank> transform(shape, {}, device, {.tolerance = tolerance, .worst_case = true});
  const auto modes = static_cast<std::size_t>(holotone::element_count(shape));
  double worst_mode = 0;
  double worst_value = 0;
  double worst_slope = 0;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    auto points = make_points<Real, Rank>(Cloud::uniform, 2, 700 + pair);
    for (std::size_t axis = 0; axis < Rank; ++axis) points[Rank + axis] = points[axis] + static_cast<Real>(2e-3);
    transform.set_points(points);
    const std::vector<std::complex<Real>> strengths{1, pair % 2 == 0 ? Real(-1) : Real(1)};
    const auto sums = transform.type1(strengths);
    const auto expected = reference::nufft_type1<Rank>(shape, points, strengths);
    for (std::size_t i = 0; i < modes; ++i) {
      worst_mode = std::max(worst_mode, std::abs(Complex64(sums[i]) - expected[i]) / 2);
    }
    for (const std::size_t mode : {std::size_t{0}, modes / 3}) {  // the first is one of the worst
      std::vector<std::complex<Real>> single(modes);
      single[mode] = 1;
      std::vector<Complex64> values;
      std::vector<Complex64> gradient;
      reference::nufft_type2<Rank>(shape, points, single, values, gradient);
      const auto alone = transform.type2(single);
      for (std::size_t j = 0; j < 2; ++j)
        worst_value = std::max(worst_value, std::abs(Complex64(alone[j]) - values[j]));
      const auto slopes = transform.type2_with_gradient(single).second;
      for (std::size_t i = 0; i < slopes.size(); ++i) {
        const double steepest = std::numbers::pi * static_cast<double>(shape[Rank - 1 - i % Rank]);
        worst_slope = std::max(worst_slope, std::abs(Complex64(slopes[i]) - gradient[i]) / steepest);
      }
    }
  }
  const int width = transform.plan().info().width;
  constexpr int widest = std::is_same_v<Real, float> ? 7 : 16;  // of CUDA's and the CPU's loops
  EXPECT_LE(width, widest);
  const auto label = "worst case " + holotone::to_string(shape) + ", width " + std::to_string(width);
  expect_within(label + ", type 1", worst_mode, tolerance);
  expect_within(label + ", type 2", worst_value, tolerance);
  expect_within(label + ", gradient", worst_slope, 7 * tolerance);
}

TEST_P(NufftCrowd, TheWorstCaseHoldsForAnyPointsStrengthsAndModes) {
  on_each([](Device device) {
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5}) {
      expect_worst_case<float, 2>({15, 18}, tolerance, device);
      expect_worst_case<float, 3>({4, 7, 10}, tolerance, device);
    }
  });
  for (const double tolerance : {1e-6, 1e-9, 1e-12}) expect_worst_case<double, 2>({15, 18}, tolerance, Device{});
}

HOLOTONE_ON_CPU_AND_CUDA(NufftCrowd);

}  // namespace
