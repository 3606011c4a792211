// Phase retrieval: loss and gradient against float64, what an optimization reaches, and what it refuses.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/phase_retrieval.hpp>
#include <tests/retrieval/retrieval_support.hpp>
#include <tuple>

namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::ErrorCode;
using holotone::PhaseRetrievalOptions;
using holotone::PhaseRetrievalPlan;
using holotone::Shape;
using support::beam_of;
using support::doubles_of;
using support::draw_picture;
using support::frames_of;
using support::gradient_at;
using support::make_grid;
using support::pitch_m;
using support::wavelength_m;

struct GradientCase {
  std::string name;
  Shape<2> shape;
  PhaseRetrievalOptions options;
  bool beam = false;
};

std::vector<GradientCase> gradient_cases() {
  return {
      {"at the samples, whole picture", {9, 14}, {.planes = {{.distance_m = 0.8e-3}}, .between_samples = false}},
      {"four positions, whole picture", {9, 14}, {.planes = {{.distance_m = 0.8e-3}}}},
      {"four positions, region", {11, 13}, {.planes = {{.distance_m = 2e-3}}, .region = {2, 3, 6, 7}}},
      {"in front of the panel", {10, 8}, {.planes = {{.distance_m = -1e-3}}, .region = {1, 0, 8, 8}}},
      {"three frames of a beam", {9, 8}, {.planes = {{.distance_m = 1e-3}}, .frames = 3, .region = {1, 1, 7, 6}}, true},
      {"two planes of unequal weight",
       {8, 10},
       {.planes = {{.distance_m = 1e-3, .weight = 0.3}, {.distance_m = -0.4e-3, .weight = 2}}}},
      {"two pupils and no pupil, two frames",
       {12, 10},
       {.planes = {{.distance_m = 1e-3, .pupil = holotone::Aperture{0.03e-3, 0.02e-3, 0.2e-3, 5e-3}},
                   {.distance_m = 0.5e-3, .pupil = holotone::Aperture{-0.04e-3, 0, 0.25e-3, 5e-3}},
                   {.distance_m = 1e-3}},
        .frames = 2}},
      {"intensity, two frames",
       {8, 8},
       {.planes = {{.distance_m = 1e-3}}, .frames = 2, .loss = holotone::RetrievalLoss::intensity}},
      {"aperture and zero order of a panel with a beam",
       {8, 9},
       {.planes = {{.distance_m = 1e-3}}, .response = {.fill_factor = 0.8, .zero_order = 0.3}},
       true},
      {"behind a lens, in and beyond focus",
       {8, 9},
       {.planes = {{.distance_m = 0}, {.distance_m = 0.05}},
        .focal_length_m = 0.1,
        .region = {1, 4, 5, 4},
        .response = {.fill_factor = 0.9, .zero_order = 0.2}},
       true},
  };
}

/// The case in float64; distances along the light.
reference::RetrievalCase reference_case(const GradientCase& c, const PhaseRetrievalPlan& plan,
                                        const Array<Complex, 2>& beam) {
  const auto& options = plan.options();
  const auto& region = options.region;
  reference::RetrievalCase expected_case;
  expected_case.plane = {c.shape[0], c.shape[1], pitch_m};
  expected_case.wavelength_m = wavelength_m;
  for (const auto& plane : options.planes) {
    auto& target = expected_case.targets.emplace_back();
    target.distance_m = options.focal_length_m > 0 ? plane.distance_m : -plane.distance_m;
    target.weight = plane.weight;
    if (!plane.pupil) continue;
    target.pupil_m = plane.pupil->diameter_m;
    target.pupil_x_m = plane.pupil->x_m;
    target.pupil_y_m = plane.pupil->y_m;
    target.viewer_m = plane.pupil->distance_m;
  }
  std::tie(expected_case.row, expected_case.column, expected_case.rows, expected_case.columns) =
      std::tie(region.row, region.column, region.rows, region.columns);
  expected_case.positions = {{0, 0}};
  if (options.between_samples) expected_case.positions = {{0, 0}, {0, 0.5}, {0.5, 0}, {0.5, 0.5}};
  expected_case.focal_length_m = options.focal_length_m;
  expected_case.frames = options.frames;
  expected_case.intensity = options.loss == holotone::RetrievalLoss::intensity;
  expected_case.fill_factor = options.response.fill_factor;
  expected_case.zero_order = options.response.zero_order;
  if (c.beam) {
    for (std::int64_t i = 0; i < beam.size(); ++i) expected_case.source.emplace_back(beam.data()[i]);
  }
  return expected_case;
}

class PhaseRetrievalOnDevice : public support::OnEachDevice {};

TEST_P(PhaseRetrievalOnDevice, GradientAgreesWithDifferencesInFloat64) {
  for (GradientCase& c : gradient_cases()) {
    SCOPED_TRACE(c.name);
    const auto [ny, nx] = c.shape;
    c.options.grid = make_grid(ny, nx);
    const PhaseRetrievalPlan model(c.options);
    const auto beam = beam_of(c.shape);
    const auto wanted = reference_case(c, model, beam);
    std::vector<Array<float, 2>> pictures;
    std::vector<std::vector<double>> targets;
    for (std::size_t plane = 0; plane < c.options.planes.size(); ++plane) {
      auto& picture = pictures.emplace_back(draw_picture(c.shape));
      for (float& value : picture.host()) value *= static_cast<float>(1 + plane);
      for (const auto& [down, right] : wanted.positions) {
        targets.push_back(reference::moved_picture(doubles_of(picture), wanted.plane, down, right));
      }
    }
    const auto phase = holotone::starting_phase(frames_of(c.options.frames, c.shape), 2, 5);
    auto at = doubles_of(phase);
    const double expected_loss = reference::retrieval_loss(at, targets, wanted);
    std::vector<double> expected;
    for (std::size_t i = 0; i < at.size(); i += 3) {
      constexpr double step = 1e-4;
      const double here = at[i];
      at[i] = here + step;
      const double above = reference::retrieval_loss(at, targets, wanted);
      at[i] = here - step;
      const double below = reference::retrieval_loss(at, targets, wanted);
      at[i] = here;
      expected.push_back((above - below) / (2 * step));
    }
    on_each([&](Device device) {
      PhaseRetrievalPlan plan(c.options, device);
      if (c.beam) plan.set_source(beam.to(device).view());
      for (std::size_t plane = 0; plane < pictures.size(); ++plane) {
        plan.set_target(pictures[plane].to(device).view(), plane);
      }
      const auto [loss, derivative] = gradient_at(plan, phase, device);
      support::expect_within(c.name + ": loss", std::abs(loss - expected_loss) / expected_loss, 1e-5);
      std::vector<float> got;
      for (std::int64_t i = 0; i < derivative.size(); i += 3) got.push_back(derivative.data()[i]);
      support::expect_within(c.name + ": gradient", support::relative_error(got.data(), expected), 1e-4);
    });
  }
}

HOLOTONE_ON_CPU_AND_CUDA(PhaseRetrievalOnDevice);

TEST(PhaseRetrieval, OptimizingMakesThePicture) {
  const Shape<2> shape{96, 120};
  const holotone::SignalRegion region{16, 20, 64, 80};
  const auto optimized = [&](bool between_samples) {
    PhaseRetrievalPlan plan({.grid = make_grid(96, 120),
                             .planes = {{.distance_m = 0.01}},
                             .region = region,
                             .between_samples = between_samples});
    const auto picture = draw_picture(shape);
    plan.set_target(picture.view());
    auto phase = holotone::starting_phase(frames_of(1, shape));
    const auto before = plan.quality(phase.view())[0];
    const auto result = plan.optimize(phase.view(), {.iterations = 40});
    const auto after = plan.quality(phase.view())[0];
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

/// Plan with a picture of soft discs in a region of 64 x 80 of 96 x 120 pixels.
PhaseRetrievalPlan picture_plan(std::int64_t frames = 1) {
  PhaseRetrievalPlan plan(
      {.grid = make_grid(96, 120), .planes = {{.distance_m = 0.01}}, .frames = frames, .region = {16, 20, 64, 80}});
  plan.set_target(draw_picture({96, 120}).view());
  return plan;
}

// Each solver reaches what it is known for: L-BFGS most, reflection more than replacement.
TEST(PhaseRetrieval, SolversLowerTheLoss) {
  using holotone::RetrievalSolver;
  const auto reached = [](const holotone::SolverOptions& solver) {
    auto plan = picture_plan();
    auto phase = holotone::starting_phase({1, 96, 120});
    const double before = plan.quality(phase.view())[0].psnr_worst_db;
    int reports = 0;
    double last = 0;
    auto options = solver;
    options.report = [&](int iteration, double psnr_db) {
      EXPECT_EQ(iteration, ++reports);
      last = psnr_db;
    };
    const auto result = plan.optimize(phase.view(), options);
    const auto after = plan.quality(phase.view())[0];
    std::printf("solver %d: %d steps, %.1f dB to %.1f dB at worst\n", static_cast<int>(solver.solver),
                result.iterations, before, after.psnr_worst_db);
    EXPECT_EQ(result.iterations, solver.iterations);
    EXPECT_EQ(reports, solver.iterations);
    EXPECT_GT(after.psnr_worst_db, before + 3);
    EXPECT_NEAR(last, after.psnr_worst_db, 0.5);
    return after.psnr_worst_db;
  };
  const double lbfgs = reached({.iterations = 40});
  const double adam = reached({.solver = RetrievalSolver::adam, .iterations = 40});
  const double replaced = reached({.solver = RetrievalSolver::gerchberg_saxton, .iterations = 40});
  const double reflected = reached({.solver = RetrievalSolver::gerchberg_saxton, .iterations = 40, .relaxation = 2});
  EXPECT_GT(lbfgs, adam);
  EXPECT_GT(lbfgs, reflected);
  EXPECT_GT(reflected, replaced);
}

// 1e30 is no multiple of 2 pi, and phase - 2 pi floor(phase / 2 pi) is far from [0, 2 pi) in float64.
TEST(PhaseRetrieval, LevelsOfAnySizeAreTakenModuloATurn) {
  auto plan = picture_plan();
  std::vector<double> phases(255, 0.0);
  phases.insert(phases.end(), {1e30, -1e-30});
  auto phase = holotone::starting_phase({1, 96, 120});
  plan.optimize(phase.view(), {.iterations = 2, .level_phase_rad = phases});
  const auto level = static_cast<float>(std::fmod(1e30, 2 * std::numbers::pi));
  for (const float value : phase.host()) {
    const auto distance = [&](float away) {
      return std::abs(std::remainder(value - away, 2 * std::numbers::pi_v<float>));
    };
    EXPECT_LT(std::min(distance(0), distance(level)), 1e-5);
  }
}

// Phases that are rounded a few at a time end better than phases that are rounded at once.
TEST(PhaseRetrieval, LevelsByStagesAreBetterThanRounding) {
  for (const int levels : {2, 4, 16}) {
    std::vector<double> phases;
    for (int i = 0; i < levels; ++i) phases.push_back(0.3 + 2 * std::numbers::pi * i / levels);
    auto plan = picture_plan();
    const auto reached = [&](int iterations, int more) {
      auto phase = holotone::starting_phase({1, 96, 120});
      plan.optimize(phase.view(), {.iterations = iterations});
      plan.optimize(phase.view(), {.iterations = more, .level_phase_rad = phases});
      for (const float value : phase.host()) {
        double nearest = 10;
        for (const double level : phases) {
          nearest =
              std::min(nearest, std::abs(std::remainder(static_cast<double>(value) - level, 2 * std::numbers::pi)));
        }
        EXPECT_LT(nearest, 1e-5);
      }
      return plan.quality(phase.view())[0].psnr_worst_db;
    };
    const double rounded = reached(80, 0);
    const double staged = reached(0, 80);
    std::printf("%d levels: rounded %.1f dB, by stages %.1f dB\n", levels, rounded, staged);
    EXPECT_GT(staged, rounded + 2);
  }
}

// Frames of different speckle average it.
TEST(PhaseRetrieval, FramesAverageSpeckle) {
  const auto reached = [](std::int64_t frames) {
    auto plan = picture_plan(frames);
    auto phase = holotone::starting_phase({frames, 96, 120}, std::numbers::pi);
    plan.optimize(phase.view(), {.iterations = 20});
    return plan.quality(phase.view())[0].psnr_worst_db;
  };
  const double one = reached(1);
  const double four = reached(4);
  std::printf("random phase: one frame %.1f dB, four %.1f dB\n", one, four);
  EXPECT_GT(four, one + 6);
}

// The camera sees through an aberration that the model does not know; the loop corrects it all the same.
TEST(PhaseRetrieval, CameraInTheLoopMendsWhatTheModelDoesNotKnow) {
  const PhaseRetrievalOptions options{
      .grid = make_grid(64, 64), .planes = {{.distance_m = 0.01}}, .region = {12, 12, 40, 40}};
  const auto picture = draw_picture({64, 64});
  PhaseRetrievalPlan model(options);
  model.set_target(picture.view());
  PhaseRetrievalPlan bench(options);
  bench.set_target(picture.view());
  Array<Complex, 2> beam({64, 64});
  for (std::int64_t row = 0; row < 64; ++row) {
    for (std::int64_t col = 0; col < 64; ++col) {
      const double x = (static_cast<double>(col) - 32) / 32;
      const double y = (static_cast<double>(row) - 32) / 32;
      beam(row, col) = std::polar(static_cast<float>(1 - 0.3 * (x * x + y * y)), static_cast<float>(x * x * y + x * y));
    }
  }
  bench.set_source(beam.view());
  int pictures = 0;
  const auto camera = [&](holotone::View<const float, 3> phase, holotone::View<float, 4> amplitude) {
    EXPECT_EQ(amplitude.shape(), (Shape<4>{1, 4, 64, 64}));
    const auto light = bench.light(phase);
    double simulated = 0;
    for (std::int64_t i = 0; i < light.size(); ++i) {
      simulated += static_cast<double>(amplitude.data()[i]);
      amplitude.data()[i] = 7 * std::sqrt(light.data()[i]);
    }
    EXPECT_GT(simulated, 1000);
    ++pictures;
  };
  auto phase = holotone::starting_phase({1, 64, 64});
  model.optimize(phase.view(), {.iterations = 60});
  const double unknown = bench.quality(phase.view())[0].psnr_worst_db;
  const double promised = model.quality(phase.view())[0].psnr_worst_db;
  model.optimize(phase.view(), {.solver = holotone::RetrievalSolver::adam, .iterations = 60, .camera = camera});
  const double seen = bench.quality(phase.view())[0].psnr_worst_db;
  std::printf("model %.1f dB; on the bench %.1f dB, with the camera %.1f dB\n", promised, unknown, seen);
  EXPECT_EQ(pictures, 61);
  EXPECT_GT(promised, unknown + 5);
  EXPECT_GT(seen, unknown + 5);
}

// Spots behind a lens: the weights make them equally bright.
TEST(PhaseRetrieval, WeightsMakeSpotsEven) {
  constexpr std::int64_t n = 64;
  PhaseRetrievalPlan plan(
      {.grid = make_grid(n, n), .planes = {{.distance_m = 0}}, .focal_length_m = 0.1, .between_samples = false});
  Array<float, 2> spots({n, n});
  std::fill_n(spots.data(), spots.size(), 0.0F);
  for (std::int64_t row = 10; row < 50; row += 8) {
    for (std::int64_t col = 10; col < 50; col += 8) spots(row, col) = 1;
  }
  plan.set_target(spots.view());
  const auto unevenness = [&](holotone::RetrievalSolver solver) {
    auto phase = holotone::starting_phase({1, n, n}, std::numbers::pi);
    plan.optimize(phase.view(), {.solver = solver, .iterations = 60});
    const auto light = plan.light(phase.view());
    float least = std::numeric_limits<float>::infinity();
    float most = 0;
    for (std::int64_t i = 0; i < n * n; ++i) {
      if (spots.data()[i] == 0) continue;
      least = std::min(least, light.data()[i]);
      most = std::max(most, light.data()[i]);
    }
    return static_cast<double>((most - least) / (most + least));
  };
  const double plain = unevenness(holotone::RetrievalSolver::gerchberg_saxton);
  const double weighted = unevenness(holotone::RetrievalSolver::weighted_gerchberg_saxton);
  std::printf("25 spots: intensities differ by %.3f, with weights by %.3f\n", plain, weighted);
  EXPECT_LT(weighted, 0.02);
  EXPECT_LT(weighted, plain / 3);
}

// A phase that makes its own picture has no loss, and no slope.
TEST(PhaseRetrieval, ALightFieldOfAPhaseIsItsOwnTarget) {
  const Shape<2> shape{12, 10};
  const auto phase = holotone::starting_phase(frames_of(1, shape), 1, 3);
  const reference::RetrievalCase c{{12, 10, pitch_m}, wavelength_m, {{1e-3}}, 0, 0, 12, 10, {{0, 0}}};
  std::vector<reference::Complex> wave;
  for (const double angle : doubles_of(phase)) wave.push_back(std::polar(1.0, angle));
  const auto light = reference::moved_light(wave, c, 1e-3, 0, 0);
  Array<float, 2> target(shape);
  double energy = 0;
  for (std::size_t i = 0; i < light.size(); ++i) {
    target.data()[i] = 3 * static_cast<float>(std::abs(light[i]));
    energy += std::norm(light[i]);
  }
  PhaseRetrievalPlan plan({.grid = make_grid(12, 10), .planes = {{.distance_m = -1e-3}}, .between_samples = false});
  plan.set_target(target.view());
  Array<float, 3> derivative(frames_of(1, shape));
  EXPECT_LT(plan.gradient(phase.view(), derivative.view()), 1e-9 * energy);
  for (std::int64_t i = 0; i < derivative.size(); ++i) EXPECT_LT(std::abs(derivative.data()[i]), 1e-4);
  const auto quality = plan.quality(phase.view())[0];
  EXPECT_GT(quality.psnr_db, 100);
  EXPECT_NEAR(quality.efficiency, energy / 120, 1e-5);
}

class Stopping final : public holotone::Progress {
 public:
  bool update(std::string_view /*stage*/, std::int64_t done, std::int64_t /*total*/) override { return done < 3; }
};

TEST(PhaseRetrieval, CancelledItHasTheBestSoFar) {
  const Shape<2> shape{40, 48};
  PhaseRetrievalPlan plan({.grid = make_grid(40, 48), .planes = {{.distance_m = 5e-3}}});
  plan.set_target(draw_picture(shape).view());
  auto phase = holotone::starting_phase(frames_of(1, shape));
  auto three = holotone::starting_phase(frames_of(1, shape));
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
  refused({.grid = make_grid(0, 8)}, "PhaseRetrievalPlan: ");
  refused({.grid = make_grid(8, 8), .planes = {{.distance_m = nan}}},
          "PhaseRetrievalPlan: planes.distance_m: expected a finite distance, got nan");
  for (const auto& region :
       {holotone::SignalRegion{-1, 0, 4, 4}, {0, 0, 9, 8}, {4, 0, 5, 8}, {8, 0, 0, 0}, {0, 3, 2, -1}}) {
    refused({.grid = make_grid(8, 8), .region = region},
            "region: expected a part of the picture of 8 x 8 pixels, got ");
  }
  refused({.grid = make_grid(8, 8), .planes = {}}, "planes: expected 1 to 256, got 0");
  refused({.grid = make_grid(8, 8), .planes = {{.weight = 0}}}, "planes.weight: expected > 0, got 0");
  refused({.grid = make_grid(8, 8), .focal_length_m = -1}, "focal_length_m: expected > 0, or 0 without a lens, got -1");
  refused({.grid = make_grid(8, 8), .frames = 0}, "frames: expected 1 to 256, got 0");
  refused({.grid = make_grid(8, 8), .response = {.fill_factor = 1.5}},
          "response.fill_factor: expected 0 to 1, got 1.5");
  refused({.grid = make_grid(8, 8), .response = {.zero_order = nan}}, "response.zero_order: expected 0 to 10, got nan");
  const holotone::Aperture pupil{0, 0, 1e-3, 0.5};
  refused({.grid = make_grid(8, 8), .planes = {{.pupil = pupil}}, .focal_length_m = 1},
          "planes.pupil: expected none with");
  refused({.grid = make_grid(8, 8), .planes = {{.pupil = holotone::Aperture{1, 0, 1e-3, 0.5}}}}, "aperture.x_m, y_m");
  PhaseRetrievalPlan plan({.grid = make_grid(8, 10), .region = {2, 2, 4, 4}});
  Array<float, 3> phase({1, 8, 10});
  Array<float, 2> dark({8, 10});
  std::fill_n(dark.data(), dark.size(), 0.0F);
  std::fill_n(phase.data(), phase.size(), 0.0F);
  Array<float, 2> small({8, 9});
  support::expect_error(ErrorCode::invalid_argument, "target: expected set_target before, got no target of plane 0",
                        [&] { (void)plan.quality(phase.view()); });
  support::expect_error(ErrorCode::invalid_argument, "amplitude: expected {8, 10}, got {8, 9}",
                        [&] { plan.set_target(small.view()); });
  support::expect_error(ErrorCode::invalid_argument, "amplitude: expected light in the signal region, got zeros",
                        [&] { plan.set_target(dark.view()); });
  auto target = draw_picture({8, 10});
  target(3, 4) = -1;
  support::expect_error(ErrorCode::invalid_argument,
                        "amplitude: expected finite values >= 0, got -1 in column 4, row 3",
                        [&] { plan.set_target(target.view()); });
  target(3, 4) = std::numeric_limits<float>::infinity();
  support::expect_error(ErrorCode::invalid_argument, "got inf in column 4, row 3",
                        [&] { plan.set_target(target.view()); });
  plan.set_target(draw_picture({8, 10}).view());
  const auto refused_solver = [&](const holotone::SolverOptions& solver, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { plan.optimize(phase.view(), solver); });
  };
  using holotone::RetrievalSolver;
  refused_solver({.solver = RetrievalSolver::adam, .rate_rad = 0}, "rate_rad: expected 1e-06 to 3.14159, got 0");
  refused_solver({.solver = RetrievalSolver::gerchberg_saxton, .relaxation = 3},
                 "relaxation: expected 0.001 to 2, got 3");
  refused_solver({.iterations = -1}, "iterations: expected 0 to 1e+09, got -1");
  refused_solver({.pairs = 65}, "pairs: expected 1 to 64, got 65");
  refused_solver({.level_phase_rad = {1}}, "level_phase_rad: expected 2 to 65536 levels, got 1");
  refused_solver({.level_phase_rad = {1, nan}}, "level_phase_rad: expected finite phases, got nan");
  refused_solver({.solver = RetrievalSolver::gerchberg_saxton, .level_phase_rad = {1, 2}},
                 "level_phase_rad: expected none");
  const holotone::RetrievalCamera blind = [](auto, holotone::View<float, 4> amplitude) { amplitude.data()[0] = -1; };
  refused_solver({.camera = blind}, "camera: expected adam, gs or wgs, got lbfgs");
  refused_solver({.solver = RetrievalSolver::adam, .camera = blind}, "camera: expected finite amplitudes >= 0, got -1");
  Array<Complex, 2> beam({8, 10});
  std::fill_n(beam.data(), beam.size(), Complex{});
  support::expect_error(ErrorCode::invalid_argument, "light: expected light on the panel, got zeros",
                        [&] { plan.set_source(beam.view()); });
  beam(1, 1) = {std::numeric_limits<float>::infinity(), 0};
  support::expect_error(ErrorCode::invalid_argument, "light: expected finite values",
                        [&] { plan.set_source(beam.view()); });
  support::expect_error(ErrorCode::invalid_argument, "plane: expected 0 to 0, got 1", [&] {
    plan.set_target(draw_picture({8, 10}).view(), 1);
  });
  support::expect_error(ErrorCode::invalid_argument, "pairs: expected 1 to 64, got 0",
                        [&] { plan.optimize(phase.view(), {.pairs = 0}); });
  support::expect_error(ErrorCode::invalid_argument, "iterations: expected 0 to 1e+09, got -1",
                        [&] { plan.optimize(phase.view(), {.iterations = -1}); });
  EXPECT_EQ(plan.optimize(phase.view(), {.iterations = 0}).iterations, 0);
  for (const Device device : holotone::devices()) {
    if (device.backend != holotone::Backend::opencl) continue;
    support::expect_error(ErrorCode::unsupported, "PhaseRetrievalPlan",
                          [&] { PhaseRetrievalPlan other({.grid = make_grid(8, 8)}, device); });
  }
}

}  // namespace
