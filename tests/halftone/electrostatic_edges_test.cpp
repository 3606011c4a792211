// Effect of edge_correction, deterministic steps, and crowded dots, on every device.
#include <cmath>
#include <fmt/format.h>
#include <tests/halftone/electrostatic_support.hpp>

namespace {

using holotone::Device;
using holotone::StepRule;
using support::Halftone;
using support::Picture;

class ElectrostaticSteps : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ElectrostaticSteps);

/// Two greys side by side, with equal rows.
Picture two_greys(std::int64_t ny, std::int64_t nx) {
  Picture on{ny, nx, {}};
  for (std::int64_t i = 0; i < ny * nx; ++i) on.ink.push_back(2 * (i % nx) < nx ? 0.2F : 0.9F);
  return on;
}

/// Mean square difference of dots and ink, both blurred by a Gaussian of 1.5 px, within 5 px of the edge.
double edge_error(const Picture& on, const std::vector<float>& dots) {
  constexpr double sigma = 1.5;
  constexpr int reach = 7;
  const auto blur = [&](double distance2) {
    return std::exp(-distance2 / (2 * sigma * sigma)) / (2 * 3.14159265 * sigma * sigma);
  };
  double total = 0;
  for (const float ink : on.ink) total += static_cast<double>(ink);
  const double charge = 0.5 * static_cast<double>(dots.size()) / total;
  double sum = 0;
  double pixels = 0;
  for (std::int64_t row = reach; row < on.ny - reach; ++row) {
    for (std::int64_t column = on.nx / 2 - 5; column < on.nx / 2 + 5; ++column) {
      double difference = 0;
      for (int j = -reach; j <= reach; ++j) {
        for (int i = -reach; i <= reach; ++i) {
          const auto pixel = static_cast<std::size_t>((row + j) * on.nx + column + i);
          difference -= charge * static_cast<double>(on.ink[pixel]) * blur(i * i + j * j);
        }
      }
      for (std::size_t k = 0; k < dots.size(); k += 2) {
        const double dx = static_cast<double>(dots[k]) - static_cast<double>(column) - 0.5;
        const double dy = static_cast<double>(dots[k + 1]) - static_cast<double>(row) - 0.5;
        if (std::abs(dx) < reach + 0.5 && std::abs(dy) < reach + 0.5) difference += blur(dx * dx + dy * dy);
      }
      sum += difference * difference;
      pixels += 1;
    }
  }
  return sum / pixels;
}

TEST_P(ElectrostaticSteps, edge_correction_keeps_dots_from_overdrawing_edges) {
  const auto on = two_greys(44, 40);
  const auto start = support::random_dots(on, 968, 11);
  on_each([&](Device device) {
    double error[2] = {};
    for (const bool corrected : {false, true}) {
      Halftone halftone(on, start, device);
      StepRule rule;
      if (!corrected) rule.edge_correction = 0;
      for (int i = 0; i < 50; ++i) halftone.plan().step(rule);
      error[corrected ? 1 : 0] = edge_error(on, halftone.positions());
    }
    std::printf("blurred error at an edge: %.1f dB, corrected %.1f dB\n", -10 * std::log10(error[0]),
                -10 * std::log10(error[1]));
    EXPECT_LT(error[1], error[0] / 3);
  });
}

TEST_P(ElectrostaticSteps, deterministic_steps_give_the_same_bits) {
  const auto on = support::picture(50, 61);
  auto start = support::random_dots(on, 3000, 3);
  for (std::size_t i = 0; i < 400; ++i) start[i] = 33.25F;  // 200 dots at one place
  on_each([&](Device device) {
    std::vector<float> first;
    for (int run = 0; run < 2; ++run) {
      Halftone halftone(on, start, device, {.deterministic = true});
      for (int i = 0; i < 6; ++i) {
        halftone.plan().step();
        if (i % 5 == 0) halftone.plan().shake(0.3, static_cast<std::uint64_t>(i));
      }
      const auto dots = halftone.positions();
      if (run == 0) {
        first = dots;
      } else {
        EXPECT_EQ(first, dots);
      }
    }
  });
}

// Devices differ only by their errors, which grow from step to step.
TEST_P(ElectrostaticSteps, are_those_of_the_cpu) {
  const auto on = support::picture(50, 47);
  const auto start = support::random_dots(on, 900, 5);
  const auto run = [&](Device device, const StepRule& rule, holotone::ForceSum sum) {
    Halftone halftone(on, start, device, {.sum = sum, .tolerance = 1e-5});
    for (int i = 0; i < 4; ++i) halftone.plan().step(rule);
    halftone.plan().shake(0.5, 77);
    halftone.plan().step(rule);
    return std::pair(halftone.positions(), halftone.plan().statistics());
  };
  on_each([&](Device device) {
    if (device == Device{}) GTEST_SKIP() << "the CPU is what devices are compared with";
    for (const auto sum : {holotone::ForceSum::ewald, holotone::ForceSum::direct}) {
      // Densities come from the devices' own grids, which differ: only rules without densities are compared.
      StepRule even;
      even.density_scaled = false;
      for (const auto& rule : {even, StepRule::paper()}) {
        const auto [expected, expected_size] = run(Device{}, rule, sum);
        const auto [got, size] = run(device, rule, sum);
        double worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
          worst = std::max(worst, static_cast<double>(std::abs(got[i] - expected[i])));
        }
        support::expect_within("largest distance from the CPU's dots, px", worst, 0.02);
        EXPECT_NEAR(size.mean, expected_size.mean, 2e-3 * expected_size.mean);
        EXPECT_NEAR(size.rms, expected_size.rms, 5e-3 * expected_size.rms);
      }
    }
  });
}

TEST_P(ElectrostaticSteps, all_dots_at_one_place_spread_over_the_page) {
  const auto on = support::grey(40, 40);
  on_each([&](Device device) {
    Halftone halftone(on, std::vector<float>(2 * 1000, 10.5F), device);
    StepRule rule;
    rule.largest_move = 2;
    for (int i = 0; i < 40; ++i) halftone.plan().step(rule);
    const auto dots = halftone.positions();
    int right = 0;
    for (std::size_t i = 0; i < dots.size(); i += 2) {
      ASSERT_TRUE(dots[i] >= 0 && dots[i] <= 40 && dots[i + 1] >= 0 && dots[i + 1] <= 40);
      if (dots[i] > 20) ++right;
    }
    EXPECT_GT(right, 1000 / 3);
  });
}

}  // namespace
