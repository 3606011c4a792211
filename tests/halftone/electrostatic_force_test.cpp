// Forces of electrostatic halftoning against float64 sums, on every device.
#include <fmt/format.h>
#include <limits>
#include <omp.h>
#include <tests/halftone/electrostatic_support.hpp>

namespace {

using holotone::Device;
using holotone::ElectrostaticOptions;
using holotone::ElectrostaticPlan;
using holotone::ErrorCode;
using holotone::ForceSum;
using holotone::NearField;
using support::expect_error;
using support::expect_within;
using support::force_error;
using support::Halftone;
using support::Picture;
using support::picture;
using support::random_dots;

class ElectrostaticForce : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ElectrostaticForce);

/// Only the CPU has the paper's split and its map: expects the CUDA error for these.
bool has(Device device, const ElectrostaticOptions& options) {
  if (device.backend == holotone::Backend::cpu) return true;
  if (options.sum != ForceSum::taylor && options.near != NearField::map) return true;
  expect_error(ErrorCode::unsupported, "which the CPU has", [&] { ElectrostaticPlan({5, 5}, 1, device, options); });
  return false;
}

void expect_force(const std::string& what, const Picture& on, const std::vector<float>& dots, Device device,
                  const ElectrostaticOptions& options, double tolerance) {
  Halftone halftone(on, dots, device, options);
  const auto info = halftone.plan().info();
  const auto expected = reference::net_force(on.ny, on.nx, on.ink, dots);
  expect_within(fmt::format("{}, {} x {}, width {}, cut-off {:.1f} px", what, on.nx, on.ny, info.width, info.cutoff_px),
                force_error(halftone.forces(), expected), tolerance);
}

TEST_P(ElectrostaticForce, ewald_keeps_its_tolerance) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1500, 1);
  const auto expected = reference::net_force(on.ny, on.nx, on.ink, dots);
  on_each([&](Device device) {
    for (const double tolerance : {1e-1, 1e-2, 1e-3, 5e-4, 1e-4, 3e-5, 1e-5}) {
      Halftone halftone(on, dots, device, {.tolerance = tolerance});
      const auto info = halftone.plan().info();
      EXPECT_LE(info.expected_error, tolerance);
      EXPECT_GT(info.bytes, 0u);
      expect_within(fmt::format("tolerance {:g}, width {}, cut-off {:.1f} px, expected {:.1e}", tolerance, info.width,
                                info.cutoff_px, info.expected_error),
                    force_error(halftone.forces(), expected), tolerance);
    }
  });
}

TEST_P(ElectrostaticForce, pages_of_any_shape) {
  on_each([&](Device device) {
    for (const auto& [ny, nx, count] : {std::array<std::int64_t, 3>{1, 97, 60},
                                        {97, 1, 60},
                                        {1, 1, 12},
                                        {2, 3, 7},
                                        {9, 150, 300},
                                        {90, 17, 700},
                                        {64, 64, 2},
                                        {31, 33, 1}}) {
      const auto on = picture(ny, nx);
      const auto dots = random_dots(on, count, 2);
      expect_force(fmt::format("{} dots", count), on, dots, device, {.tolerance = 1e-3}, 1e-3);
    }
  });
}

TEST_P(ElectrostaticForce, more_dots_than_pixels_and_fewer) {
  on_each([&](Device device) {
    const auto small = picture(12, 17);
    expect_force("10 dots a pixel", small, random_dots(small, 2000, 3), device, {.tolerance = 5e-4}, 5e-4);
    const auto large = picture(40, 50);
    expect_force("1 dot in 100 pixels", large, random_dots(large, 20, 3), device, {.tolerance = 5e-4}, 5e-4);
  });
}

TEST_P(ElectrostaticForce, crowded_dots) {
  const auto on = picture(40, 50);
  auto dots = random_dots(on, 1200, 4);
  for (std::size_t i = 0; i < dots.size(); i += 2) {
    if (i % 3 == 0) continue;
    dots[i] = 49 + 0.02F * dots[i];  // two thirds of them in one pixel of the corner
    dots[i + 1] = 39 + 0.025F * dots[i + 1];
  }
  on_each([&](Device device) {
    for (const double crowding : {1.0, 30.0}) {
      expect_force(fmt::format("crowding {}", crowding), on, dots, device, {.tolerance = 5e-4, .crowding = crowding},
                   5e-4);
    }
  });
}

TEST_P(ElectrostaticForce, direct_sum_is_exact_to_rounding) {
  const auto on = picture(43, 61);
  // Rounding of the repulsion alone, 70 1/px, against a net force of 5: 14 units of 6e-8, and a few operations.
  on_each([&](Device device) {
    expect_force("direct", on, random_dots(on, 1501, 1), device, {.sum = ForceSum::direct}, 5e-6);
  });
}

// The image force of Gwosdek et al.: own pixel skipped, bilinear.
TEST_P(ElectrostaticForce, pixels_as_points_agree_with_plain_sums) {
  for (const auto& [ny, nx, count] : {std::array<std::int64_t, 3>{43, 61, 1500}, {12, 17, 2000}, {1, 40, 30}}) {
    const auto on = picture(ny, nx);
    auto dots = random_dots(on, count, 1);
    dots[0] = dots[1] = 0;  // the page's corners
    dots[2] = static_cast<float>(nx);
    dots[3] = static_cast<float>(ny);
    const auto expected = reference::point_net_force(ny, nx, on.ink, dots);
    const auto spots = reference::net_force(ny, nx, on.ink, dots);
    on_each([&, ny = ny, nx = nx](Device device) {
      const auto check = [&](const std::string& what, ElectrostaticOptions options, double tolerance) {
        options.image = holotone::ImageForce::points;
        Halftone halftone(on, dots, device, options);
        const auto forces = halftone.forces();
        expect_within(fmt::format("{}, {} x {}", what, nx, ny), force_error(forces, expected), tolerance);
        EXPECT_GT(force_error(forces, spots), 10 * tolerance);
        halftone.plan().step(holotone::StepRule::paper());
        const auto moved = halftone.positions();
        for (std::size_t i = 0; i < moved.size(); ++i) {
          const auto axis = i % 2;
          const auto& force = expected[i / 2];
          const double length = std::max(1.0, 0.1 * std::hypot(force[0], force[1]));
          const double to = static_cast<double>(dots[i]) + 0.1 * force[axis] / length;
          EXPECT_NEAR(static_cast<double>(moved[i]), std::clamp(to, 0.0, static_cast<double>(axis == 0 ? nx : ny)),
                      std::max(2e-3, 10 * tolerance));
        }
      };
      check("direct", {.sum = ForceSum::direct}, 5e-6);
      for (const double tolerance : {1e-3, 1e-4}) {
        check(fmt::format("ewald {:g}", tolerance), {.tolerance = tolerance}, tolerance);
      }
      if (device.backend == holotone::Backend::cpu) check("taylor", {.sum = ForceSum::taylor}, 5e-4);
    });
  }
}

TEST_P(ElectrostaticForce, taylor_split_improves_with_its_parameters) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1500, 1);
  const auto expected = reference::net_force(on.ny, on.nx, on.ink, dots);
  on_each([&](Device device) {
    if (!has(device, {.sum = ForceSum::taylor})) GTEST_SKIP() << "no such sum here";
    double before = INFINITY;
    for (const int m : {2, 3, 4, 5}) {
      Halftone halftone(on, dots, device, {.sum = ForceSum::taylor, .window_cutoff = m, .taylor_degree = m});
      const double error = force_error(halftone.forces(), expected);
      // Measured: 1.4e-2, 2.7e-3, 3.3e-4, 9e-5.
      expect_within(fmt::format("m = {}, cut-off {:.1f} px", m, halftone.plan().info().cutoff_px), error,
                    0.1 * std::pow(0.15, m - 2));
      EXPECT_LT(error, before);
      before = error;
    }
  });
}

// Gwosdek et al. print epsilon_I = p / n for a plane of n = 2 N: half of p / N. N modes then miss more of the kernel.
TEST_P(ElectrostaticForce, taylor_split_errs_more_with_the_printed_radius) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1500, 1);
  const auto expected = reference::net_force(on.ny, on.nx, on.ink, dots);
  on_each([&](Device device) {
    if (!has(device, {.sum = ForceSum::taylor})) GTEST_SKIP() << "no such sum here";
    const auto error = [&](int m, double radius) {
      Halftone halftone(on, dots, device,
                        {.sum = ForceSum::taylor,
                         .window_cutoff = 5,
                         .taylor_degree = m,
                         .taylor_modes = 128,
                         .taylor_radius = radius});
      const double scaled = radius * m / 128;  // on a page that fits into a disc of (1 - 1/16) / 4
      EXPECT_NEAR(halftone.plan().info().cutoff_px, scaled * 4 * 16 / 15 * 0.5 * std::hypot(43, 61), 1e-9);
      return force_error(halftone.forces(), expected);
    };
    const double most[] = {0.15, 0.03, 0.015};  // measured: 4.2e-2, 9.6e-3, 4.6e-3
    for (const int m : {3, 4, 5}) {
      const double printed = error(m, 0.5);
      expect_within(fmt::format("m = {}, printed radius", m), printed, most[m - 3]);
      EXPECT_GT(printed, 10 * error(m, 1));
    }
  });
}

TEST_P(ElectrostaticForce, map_finds_evenly_spread_neighbours_and_counts_those_it_misses) {
  const auto on = support::grey(36, 36);
  std::vector<float> even;
  for (int i = 0; i < 324; ++i) {
    even.push_back(static_cast<float>(2 * (i % 18) + 1));
    even.push_back(static_cast<float>(2 * (i / 18)) + 0.9F +
                   0.2F * holotone::random_uniform(5, static_cast<std::uint64_t>(i)));
  }
  std::vector<float> crowded = even;
  for (std::size_t i = 0; i < 80; ++i) crowded[i] = 18 + 0.01F * crowded[i];
  on_each([&](Device device) {
    for (const auto sum : {ForceSum::ewald, ForceSum::taylor}) {
      if (!has(device, {.sum = sum, .near = NearField::map})) continue;
      Halftone halftone(on, even, device, {.sum = sum, .near = NearField::map});
      EXPECT_EQ(halftone.plan().missed_neighbours(), 0);
      Halftone by_cells(on, even, device, {.sum = sum});
      const auto cells = by_cells.forces();
      const auto map = halftone.forces();
      for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_NEAR(map[i], cells[i], 2e-5F);
      halftone.set_positions(crowded);
      EXPECT_GT(halftone.plan().missed_neighbours(), 0);
      by_cells.set_positions(crowded);
      EXPECT_EQ(by_cells.plan().missed_neighbours(), 0);
    }
  });
}

// The mean ink is a tenth of black: cells of a quarter of the mean dot's share hold two or three black dots each.
TEST_P(ElectrostaticForce, map_holds_solid_black_of_a_light_picture) {
  auto on = support::grey(60, 70);
  for (std::size_t i = 0; i < on.ink.size(); ++i) {
    const bool black = i / 70 >= 20 && i / 70 < 40 && i % 70 >= 30 && i % 70 < 50;
    on.ink[i] = black ? 1.0F : 0.02F;
  }
  auto dots = random_dots(on, 476, 4);
  Halftone settled(on, dots, Device{});
  for (int i = 0; i < 30; ++i) settled.plan().step();
  dots = settled.positions();
  on_each([&](Device device) {
    for (const auto sum : {ForceSum::ewald, ForceSum::taylor}) {
      if (!has(device, {.sum = sum, .near = NearField::map})) continue;
      Halftone halftone(on, dots, device, {.sum = sum, .near = NearField::map});
      EXPECT_EQ(halftone.plan().missed_neighbours(), 0);
      const auto cells = Halftone(on, dots, device, {.sum = sum}).forces();
      const auto map = halftone.forces();
      for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_NEAR(map[i], cells[i], 1e-4F);
    }
  });
}

// Forces between dots are opposite: their sum vanishes, and the total is the attraction.
TEST_P(ElectrostaticForce, repulsion_has_no_sum) {
  const auto on = picture(43, 61);
  const auto dots = random_dots(on, 1500, 6);
  const reference::Attraction attraction(on.ny, on.nx, on.ink, 1500);
  std::array<double, 2> attracted{};
  for (std::size_t i = 0; i < dots.size(); i += 2) {
    const auto force = attraction.at(static_cast<double>(dots[i]), static_cast<double>(dots[i + 1]));
    attracted[0] += force[0];
    attracted[1] += force[1];
  }
  on_each([&](Device device) {
    Halftone halftone(on, dots, device);
    const auto forces = halftone.forces();
    std::array<double, 2> sum{};
    double squares = 0;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      sum[i % 2] += static_cast<double>(forces[i]);
      squares += static_cast<double>(forces[i]) * static_cast<double>(forces[i]);
    }
    // 1500 errors of 5e-4 each, between uncorrelated (sqrt(1500) of them) and equal everywhere (1500). Forces that are
    // not opposite leave about 1.
    expect_within("sum of forces less attraction, over sqrt(sum of squares)",
                  std::hypot(sum[0] - attracted[0], sum[1] - attracted[1]) / std::sqrt(squares), 10 * 5e-4);
  });
}

TEST_P(ElectrostaticForce, order_of_dots_does_not_matter) {
  const auto on = picture(33, 29);
  const auto dots = random_dots(on, 700, 7);
  std::vector<float> other(dots.size());
  const auto place = [](std::size_t i) { return i * 333 % 700; };
  for (std::size_t i = 0; i < 700; ++i) {
    other[2 * place(i)] = dots[2 * i];
    other[2 * place(i) + 1] = dots[2 * i + 1];
  }
  on_each([&](Device device) {
    for (const auto sum : {ForceSum::ewald, ForceSum::taylor, ForceSum::direct}) {
      if (!has(device, {.sum = sum})) continue;
      const auto forces = Halftone(on, dots, device, {.sum = sum}).forces();
      const auto permuted = Halftone(on, other, device, {.sum = sum}).forces();
      double worst = 0;
      for (std::size_t i = 0; i < 1400; ++i) {
        worst = std::max(worst, static_cast<double>(std::abs(forces[i] - permuted[2 * place(i / 2) + i % 2])));
      }
      // Sums of about ten terms of up to 1000 1/px where dots nearly touch, in another order.
      expect_within("largest difference, 1/px", worst, 2e-3);
    }
  });
}

TEST_P(ElectrostaticForce, dots_at_one_place_repel) {
  const auto on = support::grey(20, 20);
  on_each([&](Device device) {
    for (const auto sum : {ForceSum::ewald, ForceSum::taylor, ForceSum::direct}) {
      if (!has(device, {.sum = sum})) continue;
      Halftone halftone(on, {7, 9, 7, 9}, device, {.sum = sum});
      const auto forces = halftone.forces();
      const double spacing = std::sqrt(200.0);
      EXPECT_NEAR(std::hypot(forces[0] - forces[2], forces[1] - forces[3]), 2 * 64 / spacing, 1e-2);
    }
  });
}

TEST_P(ElectrostaticForce, scale_of_ink_does_not_matter_and_the_number_of_dots_may_change) {
  const auto on = picture(23, 31);
  const auto dots = random_dots(on, 400, 8);
  auto strong = on;
  for (auto& ink : strong.ink) ink *= 1024;
  on_each([&](Device device) {
    Halftone halftone(on, dots, device);
    const auto forces = halftone.forces();
    halftone.set_ink(strong);
    const auto again = halftone.forces();
    for (std::size_t i = 0; i < forces.size(); ++i) EXPECT_NEAR(forces[i], again[i], 1e-4F);
    const std::vector<float> fewer(dots.begin(), dots.begin() + 202);
    halftone.set_positions(fewer);
    expect_within("101 of 400 dots", force_error(halftone.forces(), reference::net_force(on.ny, on.nx, on.ink, fewer)),
                  5e-4);
    halftone.set_positions({});
    EXPECT_EQ(halftone.plan().count(), 0);
    EXPECT_TRUE(halftone.forces().empty());
    halftone.plan().step();
    EXPECT_EQ(halftone.plan().statistics().mean, 0);
  });
}

TEST(ElectrostaticForceCpu, same_bits_on_any_number_of_threads) {
  const auto on = picture(97, 83);
  auto dots = random_dots(on, 9000, 9);
  std::fill_n(dots.begin(), 20, 40.0F);
  const int threads = omp_get_max_threads();
  for (const auto sum : {ForceSum::ewald, ForceSum::taylor, ForceSum::direct}) {
    for (const auto near : {NearField::cells, NearField::map}) {
      if (sum == ForceSum::direct && near == NearField::map) continue;
      std::vector<std::vector<float>> results;
      for (const int count : {1, 2, 3}) {
        omp_set_num_threads(count);
        Halftone halftone(on, dots, Device{}, {.sum = sum, .near = near});
        for (int i = 0; i < (sum == ForceSum::direct ? 1 : 2); ++i) halftone.plan().step();
        results.push_back(halftone.positions());
      }
      omp_set_num_threads(threads);
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  }
}

TEST_P(ElectrostaticForce, bad_input_is_named) {
  const auto invalid = ErrorCode::invalid_argument;
  on_each([&](Device device) {
    const holotone::Queue queue(device);
    const auto plan = [&](holotone::Shape<2> page, std::int64_t dots, const ElectrostaticOptions& options = {}) {
      return ElectrostaticPlan(page, dots, queue, options);
    };
    expect_error(invalid, "page: expected extents from 1 to 32768, got {0, 5}", [&] { plan({0, 5}, 1); });
    expect_error(invalid, "maximum_dots: expected 0 to 1073741824, got -1", [&] { plan({5, 5}, -1); });
    expect_error(invalid, "tolerance: expected 1e-05 to 0.1, got 1e-06", [&] { plan({5, 5}, 1, {.tolerance = 1e-6}); });
    expect_error(invalid, "crowding", [&] { plan({5, 5}, 1, {.crowding = 0.5}); });
    expect_error(invalid, "window_cutoff: expected 2 to 5, got 6", [&] {
      plan({5, 5}, 1, {.sum = ForceSum::taylor, .window_cutoff = 6});
    });
    expect_error(invalid, "taylor_degree", [&] { plan({5, 5}, 1, {.sum = ForceSum::taylor, .taylor_degree = 13}); });
    expect_error(invalid, "taylor_modes", [&] { plan({5, 5}, 1, {.sum = ForceSum::taylor, .taylor_modes = 63}); });
    expect_error(invalid, "taylor_radius", [&] { plan({5, 5}, 1, {.sum = ForceSum::taylor, .taylor_radius = 2}); });

    auto on = picture(5, 6);
    Halftone halftone(on, {1, 1, 2, 2}, device);
    on.ink[8] = std::numeric_limits<float>::quiet_NaN();
    expect_error(invalid, "ink: expected finite values >= 0, got nan at row 1, column 2",
                 [&] { halftone.set_ink(on); });
    expect_error(invalid, "ink: expected set_ink before forces and moves, got none", [&] { halftone.plan().step(); });
    on.ink[8] = -1;
    expect_error(invalid, "got -1 at row 1, column 2", [&] { halftone.set_ink(on); });
    on.ink.assign(on.ink.size(), 0.0F);
    expect_error(invalid, "ink: expected a picture with ink, got one that is white everywhere",
                 [&] { halftone.set_ink(on); });
    expect_error(invalid, "ink: expected shape {5, 6}, got {5, 5}", [&] { halftone.set_ink(picture(5, 5)); });
    expect_error(invalid, "positions: expected at most 2 dots, got 3", [&] {
      halftone.set_positions({1, 1, 2, 2, 3, 3});
    });
    expect_error(invalid, "positions: expected finite coordinates, got one that is not, at dot 1", [&] {
      halftone.set_positions({1, 1, 2, INFINITY});
    });
    halftone.set_ink(picture(5, 6));
    expect_error(invalid, "tau: expected > 0, got -1", [&] { halftone.plan().step({.tau = -1}); });
    expect_error(invalid, "momentum: expected 0 to 0.999, got 1", [&] { halftone.plan().step({.momentum = 1}); });
    expect_error(invalid, "radius", [&] { halftone.plan().shake(-1, 1); });
  });
}

}  // namespace
