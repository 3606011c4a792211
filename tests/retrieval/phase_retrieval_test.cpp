// Phase retrieval: loss and gradient against float64, what an optimization reaches, and what it refuses.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/phase_retrieval.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::PhaseRetrievalOptions;
using holotone::PhaseRetrievalPlan;
using holotone::random_uniform64;
using holotone::Shape;

constexpr double pitch_m = 8e-6;
constexpr double wavelength_m = 532e-9;

holotone::FieldGrid grid_of(std::int64_t ny, std::int64_t nx) { return {nx, ny, pitch_m, wavelength_m}; }

/// Soft discs of several brightnesses on a grey ground.
Array<float, 2> picture_of(Shape<2> shape) {
  Array<float, 2> picture(shape);
  const auto [ny, nx] = shape;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      double value = 0.2;
      for (int disc = 0; disc < 4; ++disc) {
        const auto place = [&](int axis) { return random_uniform64(9, static_cast<std::uint64_t>(3 * disc + axis)); };
        const double dx = static_cast<double>(col) / static_cast<double>(nx) - place(0);
        const double dy = static_cast<double>(row) / static_cast<double>(ny) - place(1);
        value += (0.3 + 0.2 * disc) * std::exp(-(dx * dx + dy * dy) * 30);
      }
      picture(row, col) = static_cast<float>(value);
    }
  }
  return picture;
}

std::vector<double> doubles_of(const Array<float, 2>& values) { return {values.data(), values.data() + values.size()}; }

struct GradientCase {
  std::string name;
  Shape<2> shape;
  double distance_m;
  holotone::SignalRegion region;
  bool between_samples;
};

TEST(PhaseRetrieval, GradientAgreesWithDifferencesInFloat64) {
  for (const GradientCase& c : {GradientCase{"at the samples, whole picture", {9, 14}, 0.8e-3, {}, false},
                                GradientCase{"four positions, whole picture", {9, 14}, 0.8e-3, {}, true},
                                GradientCase{"four positions, region", {11, 13}, 2e-3, {2, 3, 6, 7}, true},
                                GradientCase{"in front of the panel", {10, 8}, -1e-3, {1, 0, 8, 8}, true}}) {
    SCOPED_TRACE(c.name);
    const auto [ny, nx] = c.shape;
    PhaseRetrievalPlan plan({.grid = grid_of(ny, nx),
                             .distance_m = c.distance_m,
                             .region = c.region,
                             .between_samples = c.between_samples});
    const auto picture = picture_of(c.shape);
    plan.set_target(picture.view());
    const auto phase = holotone::starting_phase(c.shape, 2, 5);
    Array<float, 2> derivative(c.shape);
    const double loss = plan.gradient(phase.view(), derivative.view());

    const auto& region = plan.options().region;
    reference::RetrievalCase own{{ny, nx, pitch_m}, wavelength_m, -c.distance_m,  region.row,
                                 region.column,     region.rows,  region.columns, {{0, 0}}};
    if (c.between_samples) own.positions = {{0, 0}, {0, 0.5}, {0.5, 0}, {0.5, 0.5}};
    std::vector<std::vector<double>> targets;
    for (const auto& [down, right] : own.positions) {
      targets.push_back(reference::moved_picture(doubles_of(picture), own.plane, down, right));
    }
    auto at = doubles_of(phase);
    const double expected_loss = reference::retrieval_loss(at, targets, own);
    support::expect_within(c.name + ": loss", std::abs(loss - expected_loss) / expected_loss, 1e-5);
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < at.size(); i += 3) {
      constexpr double step = 1e-4;
      const double here = at[i];
      at[i] = here + step;
      const double above = reference::retrieval_loss(at, targets, own);
      at[i] = here - step;
      const double below = reference::retrieval_loss(at, targets, own);
      at[i] = here;
      const double expected = (above - below) / (2 * step);
      difference += std::pow(static_cast<double>(derivative.data()[i]) - expected, 2);
      norm += expected * expected;
    }
    support::expect_within(c.name + ": gradient", std::sqrt(difference / norm), 1e-4);
  }
}

TEST(PhaseRetrieval, OptimizingMakesThePicture) {
  const Shape<2> shape{96, 120};
  const holotone::SignalRegion region{16, 20, 64, 80};
  const auto optimized = [&](bool between_samples) {
    PhaseRetrievalPlan plan(
        {.grid = grid_of(96, 120), .distance_m = 0.01, .region = region, .between_samples = between_samples});
    const auto picture = picture_of(shape);
    plan.set_target(picture.view());
    auto phase = holotone::starting_phase(shape);
    const auto before = plan.quality(phase.view());
    const auto result = plan.optimize(phase.view(), {.iterations = 40});
    const auto after = plan.quality(phase.view());
    std::printf("%d steps, %d gradients: %.1f dB to %.1f dB at the samples, %.1f dB at worst, efficiency %.2f\n",
                result.iterations, result.evaluations, before.psnr_db, after.psnr_db, after.psnr_worst_db,
                after.efficiency);
    EXPECT_GE(result.evaluations, result.iterations + 1);
    EXPECT_LE(result.evaluations, 2 * result.iterations + 2);
    EXPECT_GT(after.psnr_db, before.psnr_db + 10);
    EXPECT_LE(after.psnr_worst_db, after.psnr_db);
    EXPECT_GT(after.efficiency, 0.2);
    EXPECT_LT(after.efficiency, 1);
    return after;
  };
  const auto four = optimized(true);
  const auto one = optimized(false);
  EXPECT_GT(four.psnr_worst_db, 28);
  // A loss at the samples alone flatters there, and pays between them.
  EXPECT_GT(one.psnr_db, four.psnr_db);
  EXPECT_LT(one.psnr_worst_db, four.psnr_worst_db - 5);
}

// A phase that makes its own picture has no loss, and no slope.
TEST(PhaseRetrieval, ALightFieldOfAPhaseIsItsOwnTarget) {
  const Shape<2> shape{12, 10};
  const auto phase = holotone::starting_phase(shape, 1, 3);
  const reference::RetrievalCase own{{12, 10, pitch_m}, wavelength_m, 1e-3, 0, 0, 12, 10, {{0, 0}}};
  std::vector<reference::Complex> wave;
  for (const double angle : doubles_of(phase)) wave.push_back(std::polar(1.0, angle));
  const auto light = reference::moved_light(wave, own, 0, 0);
  Array<float, 2> target(shape);
  double energy = 0;
  for (std::size_t i = 0; i < light.size(); ++i) {
    target.data()[i] = 3 * static_cast<float>(std::abs(light[i]));
    energy += std::norm(light[i]);
  }
  PhaseRetrievalPlan plan({.grid = grid_of(12, 10), .distance_m = -1e-3, .between_samples = false});
  plan.set_target(target.view());
  Array<float, 2> derivative(shape);
  EXPECT_LT(plan.gradient(phase.view(), derivative.view()), 1e-9 * energy);
  for (std::int64_t i = 0; i < derivative.size(); ++i) EXPECT_LT(std::abs(derivative.data()[i]), 1e-4);
  const auto quality = plan.quality(phase.view());
  EXPECT_GT(quality.psnr_db, 100);
  EXPECT_NEAR(quality.efficiency, energy / 120, 1e-5);
}

class Stopping final : public holotone::Progress {
 public:
  bool update(std::string_view /*stage*/, std::int64_t done, std::int64_t /*total*/) override { return done < 3; }
};

TEST(PhaseRetrieval, CancelledItHasTheBestSoFar) {
  const Shape<2> shape{40, 48};
  PhaseRetrievalPlan plan({.grid = grid_of(40, 48), .distance_m = 5e-3});
  plan.set_target(picture_of(shape).view());
  auto phase = holotone::starting_phase(shape);
  auto three = holotone::starting_phase(shape);
  Stopping progress;
  support::expect_error(ErrorCode::cancelled, "optimizing the phase: cancelled",
                        [&] { plan.optimize(phase.view(), {.iterations = 30}, progress); });
  plan.optimize(three.view(), {.iterations = 3});
  EXPECT_EQ(doubles_of(phase), doubles_of(three));
}

TEST(PhaseRetrieval, BadArgumentsAreNamed) {
  const auto refused = [](const PhaseRetrievalOptions& options, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { PhaseRetrievalPlan plan(options); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused({.grid = grid_of(0, 8)}, "PhaseRetrievalPlan: ");
  refused({.grid = grid_of(8, 8), .distance_m = nan},
          "PhaseRetrievalPlan: distance_m: expected a finite distance, got nan");
  for (const auto& region :
       {holotone::SignalRegion{-1, 0, 4, 4}, {0, 0, 9, 8}, {4, 0, 5, 8}, {8, 0, 0, 0}, {0, 3, 2, -1}}) {
    refused({.grid = grid_of(8, 8), .region = region}, "region: expected a part of the picture of 8 x 8 pixels, got ");
  }
  PhaseRetrievalPlan plan({.grid = grid_of(8, 10), .region = {2, 2, 4, 4}});
  Array<float, 2> phase({8, 10});
  std::fill_n(phase.data(), phase.size(), 0.0F);
  Array<float, 2> small({8, 9});
  support::expect_error(ErrorCode::invalid_argument, "target: expected set_target before, got no target",
                        [&] { (void)plan.quality(phase.view()); });
  support::expect_error(ErrorCode::invalid_argument, "amplitude: expected 10 x 8 pixels, got 9 x 8",
                        [&] { plan.set_target(small.view()); });
  support::expect_error(ErrorCode::invalid_argument, "amplitude: expected light in the signal region, got zeros",
                        [&] { plan.set_target(phase.view()); });
  auto target = picture_of({8, 10});
  target(3, 4) = -1;
  support::expect_error(ErrorCode::invalid_argument,
                        "amplitude: expected finite values >= 0, got -1 in column 4, row 3",
                        [&] { plan.set_target(target.view()); });
  target(3, 4) = std::numeric_limits<float>::infinity();
  support::expect_error(ErrorCode::invalid_argument, "got inf in column 4, row 3",
                        [&] { plan.set_target(target.view()); });
  plan.set_target(picture_of({8, 10}).view());
  support::expect_error(ErrorCode::invalid_argument, "pairs: expected 1 to 64, got 0",
                        [&] { plan.optimize(phase.view(), {.pairs = 0}); });
  support::expect_error(ErrorCode::invalid_argument, "iterations: expected >= 0, got -1",
                        [&] { plan.optimize(phase.view(), {.iterations = -1}); });
  EXPECT_EQ(plan.optimize(phase.view(), {.iterations = 0}).iterations, 0);
  for (const Device device : holotone::devices()) {
    if (device.backend == holotone::Backend::cpu) continue;
    support::expect_error(ErrorCode::unsupported, "PhaseRetrievalPlan",
                          [&] { PhaseRetrievalPlan other({.grid = grid_of(8, 8)}, device); });
  }
}

}  // namespace
