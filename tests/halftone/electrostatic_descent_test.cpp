// Motion of dots under electrostatic forces, on every device.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/metrics/blurred_comparison.hpp>
#include <tests/halftone/electrostatic_support.hpp>

namespace {

using holotone::Descent;
using holotone::Device;
using holotone::electrostatic_halftone;
using holotone::ErrorCode;
using holotone::ForceSum;
using holotone::StepRule;
using holotone::View;
using support::expect_error;
using support::grey;
using support::Halftone;
using support::nearest_distances;
using support::Picture;
using support::picture;
using support::random_dots;

class ElectrostaticDescent : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(ElectrostaticDescent);

bool on_page(const Picture& page, const std::vector<float>& dots) {
  for (std::size_t i = 0; i < dots.size(); i += 2) {
    if (!(dots[i] >= 0 && dots[i] <= static_cast<float>(page.nx))) return false;
    if (!(dots[i + 1] >= 0 && dots[i + 1] <= static_cast<float>(page.ny))) return false;
  }
  return true;
}

TEST_P(ElectrostaticDescent, one_dot_goes_to_the_middle_and_stays) {
  on_each([&](Device device) {
    for (const auto& [ny, nx] : {std::pair<std::int64_t, std::int64_t>{15, 21}, {1, 40}, {1, 1}}) {
      const auto page = grey(ny, nx);
      const auto x = static_cast<float>(nx) / 2;
      const auto y = static_cast<float>(ny) / 2;
      Halftone halftone(page, {x, y}, device);
      const auto force = halftone.forces();
      // The sum of the forces' sizes is about 2 / page; the tolerance of the net force is relative to that.
      EXPECT_NEAR(force[0], 0, 2e-3);
      EXPECT_NEAR(force[1], 0, 2e-3);
      for (const bool momentum : {false, true}) {
        StepRule rule;
        rule.descent = momentum ? Descent::momentum : Descent::plain;
        halftone.set_positions({x * 0.3F, y * 1.6F});
        for (int i = 0; i < 90; ++i) halftone.plan().step(rule);
        const auto end = halftone.positions();
        // Across a page as thin as a line the force is weak: plain steps converge slowly.
        const float rest = momentum ? 0.02F : 0.5F;
        EXPECT_NEAR(end[0], x, rest * x) << nx << " x " << ny;
        EXPECT_NEAR(end[1], y, rest * y) << nx << " x " << ny;
      }
    }
  });
}

TEST_P(ElectrostaticDescent, dots_at_one_place_separate) {
  on_each([&](Device device) {
    for (const auto sum : {ForceSum::ewald, ForceSum::taylor, ForceSum::direct}) {
      if (sum == ForceSum::taylor && device.backend == holotone::Backend::cuda) continue;  // on the CPU only
      const auto page = grey(30, 30);
      std::vector<float> dots(80, 11.0F);
      Halftone halftone(page, dots, device, {.sum = sum});
      for (int i = 0; i < 50; ++i) halftone.plan().step();
      const auto nearest = nearest_distances(halftone.positions());
      // 40 dots on 900 square pixels: 4.7 px apart.
      EXPECT_GT(*std::min_element(nearest.begin(), nearest.end()), 2.5);
    }
    const auto page = grey(8, 8);
    Halftone corner(page, {0, 0, 0, 0, 8, 8, 8, 8}, device);
    for (int i = 0; i < 30; ++i) corner.plan().step();
    const auto nearest = nearest_distances(corner.positions());
    EXPECT_GT(*std::min_element(nearest.begin(), nearest.end()), 1.5);
  });
}

TEST_P(ElectrostaticDescent, dots_stay_on_the_page) {
  on_each([&](Device device) {
    const auto page = picture(19, 28);
    std::vector<float> dots;
    for (int i = 0; i < 60; ++i) {
      const auto k = static_cast<std::uint64_t>(i);
      dots.push_back(100 * holotone::random_uniform(1, k) - 40);
      dots.push_back(100 * holotone::random_uniform(2, k) - 40);
    }
    Halftone halftone(page, dots, device);
    EXPECT_TRUE(on_page(page, halftone.positions()));
    halftone.plan().shake(50, 3);
    EXPECT_TRUE(on_page(page, halftone.positions()));
    const std::vector<float> outwards(dots.size(), 1e6F);
    halftone.move(outwards, {.descent = Descent::plain, .density_scaled = false, .largest_move = 1e3});
    for (std::size_t i = 0; i < dots.size(); ++i) EXPECT_EQ(halftone.positions()[i], i % 2 == 0 ? 28.0F : 19.0F);
    for (int i = 0; i < 20; ++i) halftone.plan().step({.tau = 5});
    EXPECT_TRUE(on_page(page, halftone.positions()));
  });
}

TEST_P(ElectrostaticDescent, move_follows_its_rule) {
  on_each([&](Device device) {
    const auto page = grey(64, 64);
    Halftone halftone(page, {20, 20, 40, 40, 32, 50}, device);
    const std::vector<float> forces = {0.3F, -0.4F, 30, 40, 0, 0};
    halftone.move(forces, StepRule::paper());
    auto now = halftone.positions();
    const std::vector<float> plain = {20.03F, 19.96F, 40.6F, 40.8F, 32, 50};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(now[i], plain[i], 1e-5F);
    EXPECT_NEAR(halftone.plan().statistics().mean, (0.5 + 50) / 3, 1e-5);
    EXPECT_NEAR(halftone.plan().statistics().rms, std::sqrt((0.25 + 2500) / 3), 1e-4);

    // Heavy ball: 0.1, then another 0.9 of it; a force against the velocity resets it.
    const StepRule heavy{Descent::momentum, 0.1, 0.9, false, 10};
    halftone.set_positions({20, 20, 40, 40, 32, 50});
    halftone.move({1, 0, 0, 0, 0, 0}, heavy);
    halftone.move({1, 0, 0, 0, 0, 0}, heavy);
    now = halftone.positions();
    EXPECT_NEAR(now[0], 20.1F + 0.19F, 1e-5F);
    halftone.move({-1, 0, 0, 0, 0, 0}, heavy);
    EXPECT_NEAR(halftone.positions()[0], 20.29F - 0.1F, 1e-5F);

    // Density-scaled: 3 dots on 64 x 64 even pixels, t = tau / rho, limit in spacings.
    halftone.set_positions({32, 32, 40, 40, 32, 50});
    halftone.move({1e-4F, 0, 1e3F, 0, 0, 0}, {Descent::plain, 0.1, 0, true, 0.5});
    now = halftone.positions();
    const double area = 64.0 * 64 / 3;
    EXPECT_NEAR(now[0] - 32, 0.1 * area * 1e-4, 0.02 * 0.1 * area * 1e-4);
    EXPECT_NEAR(now[2], std::min(64.0, 40 + 0.5 * std::sqrt(area)), 0.4);
  });
}

TEST_P(ElectrostaticDescent, a_step_is_forces_and_a_move) {
  on_each([&](Device device) {
    const auto page = picture(33, 41);
    const auto dots = random_dots(page, 500, 4);
    const holotone::ElectrostaticOptions options{.deterministic = true};
    Halftone whole(page, dots, device, options);
    Halftone parts(page, dots, device, options);
    for (int i = 0; i < 4; ++i) {
      whole.plan().step();
      parts.move(parts.forces());
    }
    if (device == Device{}) {
      EXPECT_EQ(whole.positions(), parts.positions());
    } else {
      // A CUDA step adds the tables of attraction and edge correction before interpolation: rounding differences,
      // amplified over four steps.
      const auto expected = parts.positions();
      const auto got = whole.positions();
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-3F);
    }
  });
}

TEST_P(ElectrostaticDescent, seeds_give_the_same_bits) {
  on_each([&](Device device) {
    const auto page = picture(33, 41);
    const auto dots = random_dots(page, 900, 4);
    const auto run = [&](std::uint64_t seed) {
      Halftone halftone(page, dots, device, {.deterministic = true});
      electrostatic_halftone(halftone.plan(), {.iterations = 20, .shake = 0.5, .shake_interval = 4, .seed = seed});
      return halftone.positions();
    };
    const auto first = run(1);
    EXPECT_EQ(first, run(1));
    EXPECT_NE(first, run(2));
  });
}

TEST_P(ElectrostaticDescent, shaking_is_uniform_in_a_disc) {
  on_each([&](Device device) {
    const auto page = grey(100, 100);
    const std::vector<float> dots(8000, 50.0F);
    Halftone halftone(page, dots, device);
    halftone.plan().shake(10, 7);
    const auto now = halftone.positions();
    double mean_x = 0;
    double inside = 0;
    for (std::size_t i = 0; i < now.size(); i += 2) {
      const double r = std::hypot(now[i] - 50, now[i + 1] - 50);
      EXPECT_LE(r, 10.001);
      mean_x += (static_cast<double>(now[i]) - 50) / 4000;
      inside += r < 5 ? 1.0 / 4000 : 0;
    }
    // Standard deviations: 5 / sqrt(4000) = 0.08 and sqrt(3 / 16 / 4000) = 0.007; four of them.
    EXPECT_NEAR(mean_x, 0, 0.32);
    EXPECT_NEAR(inside, 0.25, 0.028);
  });
}

// Dots on even grey relax to nearly hexagonal order; each has an equal share of the page around it.
TEST_P(ElectrostaticDescent, even_grey_becomes_blue_noise) {
  on_each([&](Device device) {
    const auto page = grey(40, 50);
    const auto dots = random_dots(page, 700, 5);
    const double hexagonal = std::sqrt(2 / std::sqrt(3.0) * 2000 / 700);
    Halftone halftone(page, dots, device);
    const auto report = electrostatic_halftone(halftone.plan(), {.iterations = 150});
    const auto nearest = nearest_distances(halftone.positions());
    double mean = 0;
    for (const double distance : nearest) mean += distance / 700;
    std::printf(
        "%lld iterations, mean force %.4f 1/px; nearest neighbours: mean %.3f, least %.3f of a hexagonal lattice's\n",
        static_cast<long long>(report.iterations), report.force.mean, mean / hexagonal,
        *std::min_element(nearest.begin(), nearest.end()) / hexagonal);
    // At random 0.54 (1 / (2 sqrt(density))), on a square lattice 0.93.
    EXPECT_GT(mean, 0.85 * hexagonal);
    EXPECT_GT(*std::min_element(nearest.begin(), nearest.end()), 0.6 * hexagonal);
  });
}

/// Blurred PSNR over 1.5 mean spacings.
double blurred_psnr(const Picture& on, const std::vector<float>& dots) {
  holotone::Array<float, 2> ink({on.ny, on.nx});
  for (std::size_t i = 0; i < on.ink.size(); ++i) ink.data()[i] = on.ink[i];
  const double spacing = std::sqrt(static_cast<double>(on.nx * on.ny) / (static_cast<double>(dots.size()) / 2));
  holotone::BlurOptions options;
  options.sigma = {1.5 * spacing};
  options.margin = 4 * spacing;
  options.structure = false;
  const View<const float, 2> positions(dots.data(), {static_cast<std::int64_t>(dots.size() / 2), 2});
  return holotone::compare_blurred(positions, ink.view(), options).front().psnr_db;
}

TEST_P(ElectrostaticDescent, momentum_is_sooner_at_quality_than_plain_steps) {
  on_each([&](Device device) {
    const auto page = picture(80, 90);
    const auto dots = random_dots(page, 4000, 6);
    const auto quality = [&](const StepRule& rule, int iterations) {
      Halftone halftone(page, dots, device);
      for (int i = 0; i < iterations; ++i) halftone.plan().step(rule);
      return blurred_psnr(page, halftone.positions());
    };
    const double start = blurred_psnr(page, dots);
    const double momentum = quality({}, 25);
    const double paper = quality(StepRule::paper(), 25);
    const double paper_later = quality(StepRule::paper(), 50);
    std::printf("start %.1f dB; 25 iterations: momentum %.1f dB, plain %.1f dB; plain after 50 %.1f dB\n", start,
                momentum, paper, paper_later);
    EXPECT_GT(momentum, start + 25);
    EXPECT_GT(momentum, paper + 3);
    EXPECT_GT(momentum, paper_later);
  });
}

TEST_P(ElectrostaticDescent, the_driver_stops_reports_and_can_be_cancelled) {
  class Count final : public holotone::Progress {
   public:
    bool update(std::string_view stage, std::int64_t done, std::int64_t total) override {
      EXPECT_EQ(stage, "moving dots");
      EXPECT_LE(done, total);
      return ++calls < limit;
    }
    int calls = 0;
    int limit = 1000000;
  };
  on_each([&](Device device) {
    const auto page = picture(40, 40);
    const auto dots = random_dots(page, 500, 8);
    Halftone halftone(page, dots, device);
    const double before = [&] {
      EXPECT_FALSE(halftone.forces().empty());
      return halftone.plan().statistics().mean;
    }();
    std::vector<std::int64_t> frames;
    Count count;
    auto report = electrostatic_halftone(halftone.plan(), {.iterations = 35, .frame_interval = 10}, count,
                                         [&](std::int64_t iteration) { frames.push_back(iteration); });
    EXPECT_EQ(report.iterations, 35);
    EXPECT_FALSE(report.converged);
    EXPECT_LT(report.force.mean, 0.1 * before);
    EXPECT_EQ(frames, (std::vector<std::int64_t>{0, 10, 20, 30, 35}));
    EXPECT_GE(count.calls, 4);

    report = electrostatic_halftone(halftone.plan(), {.iterations = 20000, .min_improvement = 0.05});
    std::printf("stopped after %lld more iterations at %.5f 1/px\n", static_cast<long long>(report.iterations),
                report.force.mean);
    EXPECT_TRUE(report.converged);
    EXPECT_LT(report.iterations, 20000);

    Count cancel;
    cancel.limit = 3;
    expect_error(ErrorCode::cancelled, "moving dots",
                 [&] { electrostatic_halftone(halftone.plan(), {.iterations = 1000, .patience = 0}, cancel); });
    expect_error(ErrorCode::invalid_argument, "check_interval: expected 1 to 1000000000, got 0",
                 [&] { electrostatic_halftone(halftone.plan(), {.check_interval = 0}); });
    expect_error(ErrorCode::invalid_argument, "iterations",
                 [&] { electrostatic_halftone(halftone.plan(), {.iterations = -1}); });
    halftone.set_positions({});
    EXPECT_TRUE(electrostatic_halftone(halftone.plan()).converged);
  });
}

// Two classes repel within and across: the caller adds the force of the own plan and that of all dots' plan.
TEST_P(ElectrostaticDescent, classes_of_dots_can_be_joined) {
  on_each([&](Device device) {
    const auto page = grey(30, 30);
    const auto cyan = random_dots(page, 120, 11);
    const auto black = random_dots(page, 120, 12);
    Halftone first(page, cyan, device);
    Halftone second(page, black, device);
    std::vector<float> all = cyan;
    all.insert(all.end(), black.begin(), black.end());
    Halftone joint(page, all, device);
    for (int i = 0; i < 40; ++i) {
      auto forces = first.forces();
      const auto other = second.forces();
      forces.insert(forces.end(), other.begin(), other.end());
      const auto across = joint.forces();
      for (std::size_t k = 0; k < forces.size(); ++k) forces[k] = 0.5F * (forces[k] + across[k]);
      const auto middle = forces.begin() + 240;
      first.move({forces.begin(), middle});
      second.move({middle, forces.end()});
      all = first.positions();
      const auto moved = second.positions();
      all.insert(all.end(), moved.begin(), moved.end());
      joint.set_positions(all);
    }
    const auto mean = [](const std::vector<float>& dots) {
      double sum = 0;
      for (const double distance : nearest_distances(dots)) sum += distance;
      return sum / (static_cast<double>(dots.size()) / 2);
    };
    const auto hexagonal = [](double count) { return std::sqrt(2 / std::sqrt(3.0) * 900 / count); };
    std::printf("of a hexagonal lattice's: within %.2f, all %.2f\n", mean(first.positions()) / hexagonal(120),
                mean(all) / hexagonal(240));
    EXPECT_GT(mean(first.positions()), 0.75 * hexagonal(120));
    EXPECT_GT(mean(second.positions()), 0.75 * hexagonal(120));
    EXPECT_GT(mean(all), 0.75 * hexagonal(240));
  });
}

}  // namespace
