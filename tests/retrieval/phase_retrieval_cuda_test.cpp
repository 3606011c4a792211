// Phase retrieval on a GPU against the CPU: light, derivatives, and the steps of every solver.
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <tests/retrieval/retrieval_support.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::PhaseRetrievalOptions;
using holotone::PhaseRetrievalPlan;
using holotone::Shape;
using support::beam_of;
using support::doubles_of;
using support::draw_picture;
using support::frames_of;
using support::gradient_at;
using support::make_grid;

class PhaseRetrievalOnGpu : public support::OnEachDevice {};

/// Plans of one model, on the CPU and on a device.
struct Twins {
  PhaseRetrievalPlan cpu;
  PhaseRetrievalPlan other;
  Device device;
  Twins(const PhaseRetrievalOptions& options, Device there) : cpu(options), other(options, there), device(there) {}
  void set_targets(const std::vector<Array<float, 2>>& pictures) {
    for (std::size_t plane = 0; plane < pictures.size(); ++plane) {
      cpu.set_target(pictures[plane].view(), plane);
      other.set_target(pictures[plane].to(device).view(), plane);
    }
  }
  /// Compares what both find at a phase.
  void expect_equal(const std::string& name, const Array<float, 3>& phase, double tolerance) {
    const auto [loss, derivative] = gradient_at(cpu, phase, Device{});
    const auto [own_loss, own_derivative] = gradient_at(other, phase, device);
    support::expect_within(name + ": loss", std::abs(own_loss / loss - 1), tolerance);
    support::expect_within(name + ": gradient", support::relative_error(own_derivative.data(), doubles_of(derivative)),
                           tolerance);
    const auto own_phase = phase.to(device);
    const auto light = cpu.light(phase.view());
    const auto own_light = other.light(own_phase.view());
    support::expect_within(
        name + ": light",
        support::relative_error(own_light.data(), std::vector<double>(light.data(), light.data() + light.size())),
        tolerance);
    const auto quality = cpu.quality(phase.view());
    const auto own_quality = other.quality(own_phase.view());
    for (std::size_t plane = 0; plane < quality.size(); ++plane) {
      EXPECT_NEAR(own_quality[plane].psnr_db, quality[plane].psnr_db, 1e-2);
      EXPECT_NEAR(own_quality[plane].psnr_worst_db, quality[plane].psnr_worst_db, 1e-2);
      EXPECT_NEAR(own_quality[plane].efficiency, quality[plane].efficiency, 1e-4);
    }
  }
};

// Panels whose padded sides have kernels of their own, and others; CUDA takes another way for each.
TEST_P(PhaseRetrievalOnGpu, LargePanelsAgreeWithTheCpu) {
  on_each([](Device device) {
    for (const Shape<2> shape : {Shape<2>{512, 600}, {500, 598}, {510, 602}}) {
      for (const bool between_samples : {true, false}) {
        Twins twins({.grid = make_grid(shape[0], shape[1]),
                     .planes = {{.distance_m = 0.03}, {.distance_m = 0.05, .weight = 0.5}},
                     .frames = 2,
                     .region = {20, 41, 400, 513},
                     .response = {.fill_factor = 0.9, .zero_order = 0.1},
                     .between_samples = between_samples},
                    device);
        twins.cpu.set_source(beam_of(shape).view());
        twins.other.set_source(beam_of(shape).to(device).view());
        std::vector<Array<float, 2>> pictures;
        pictures.push_back(draw_picture(shape));
        pictures.push_back(draw_picture(shape));
        twins.set_targets(pictures);
        twins.expect_equal(fmt::format("{} x {}", shape[1], shape[0]),
                           holotone::starting_phase(frames_of(2, shape), 1, 3), 5e-6);
      }
    }
  });
}

// The solvers run on the device's vectors: after a few steps the phases are still those of the CPU.
TEST_P(PhaseRetrievalOnGpu, SolversTakeTheStepsOfTheCpu) {
  using holotone::RetrievalSolver;
  std::vector<double> levels(16);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = 0.1 + 2 * std::numbers::pi * static_cast<double>(i) / 16;
  struct Case {
    std::string name;
    holotone::SolverOptions solver;
    double tolerance;  // of the phases, root mean square in radians
  };
  const std::vector<Case> cases = {
      {"lbfgs", {.iterations = 12, .pairs = 4}, 1e-4},
      {"adam", {.solver = RetrievalSolver::adam, .iterations = 5}, 1e-4},
      {"gs", {.solver = RetrievalSolver::gerchberg_saxton, .iterations = 5}, 1e-4},
      {"wgs", {.solver = RetrievalSolver::weighted_gerchberg_saxton, .iterations = 5}, 1e-4}};
  on_each([&](Device device) {
    for (const Case& c : cases) {
      Twins twins(
          {.grid = make_grid(96, 120), .planes = {{.distance_m = 0.01}}, .frames = 2, .region = {16, 20, 64, 80}},
          device);
      std::vector<Array<float, 2>> pictures;
      pictures.push_back(draw_picture({96, 120}));
      twins.set_targets(pictures);
      auto phase = holotone::starting_phase({2, 96, 120});
      auto copy = phase.to(device);
      const auto result = twins.cpu.optimize(phase.view(), c.solver);
      const auto own_result = twins.other.optimize(copy.view(), c.solver);
      EXPECT_EQ(own_result.iterations, result.iterations) << c.name;
      const auto host = copy.to(Device{});
      double square = 0;
      for (std::int64_t i = 0; i < phase.size(); ++i) {
        const auto difference = static_cast<double>(host.data()[i] - phase.data()[i]);
        square += std::pow(std::remainder(difference, 2 * std::numbers::pi), 2);
      }
      support::expect_within(c.name + ": phases after a few steps",
                             std::sqrt(square / static_cast<double>(phase.size())), c.tolerance);
    }
    // Levels by stages end at the levels, as good as on the CPU.
    auto plan = PhaseRetrievalPlan({.grid = make_grid(96, 120), .planes = {{.distance_m = 0.01}}}, device);
    PhaseRetrievalPlan cpu(plan.options());
    plan.set_target(draw_picture({96, 120}).to(device).view());
    cpu.set_target(draw_picture({96, 120}).view());
    auto phase = holotone::starting_phase({1, 96, 120});
    auto copy = phase.to(device);
    plan.optimize(copy.view(), {.iterations = 40, .level_phase_rad = levels});
    cpu.optimize(phase.view(), {.iterations = 40, .level_phase_rad = levels});
    const auto host = copy.to(Device{});
    for (const float value : host.host()) {
      const double steps = (static_cast<double>(value) - 0.1) * 16 / (2 * std::numbers::pi);
      EXPECT_NEAR(steps, std::round(steps), 1e-4);
    }
    const double expected = cpu.quality(phase.view())[0].psnr_worst_db;
    const double got = plan.quality(copy.view())[0].psnr_worst_db;
    std::printf("16 levels by stages: %.2f dB, on the CPU %.2f dB\n", got, expected);
    EXPECT_NEAR(got, expected, 0.5);
  });
}

// A camera's amplitude replaces the simulated one on the device too.
TEST_P(PhaseRetrievalOnGpu, CamerasPicturesAreSeen) {
  on_each([](Device device) {
    Twins twins({.grid = make_grid(40, 48), .planes = {{.distance_m = 5e-3}}, .region = {4, 6, 30, 32}}, device);
    std::vector<Array<float, 2>> pictures;
    pictures.push_back(draw_picture({40, 48}));
    twins.set_targets(pictures);
    const holotone::SolverOptions solver{
        .solver = holotone::RetrievalSolver::adam, .iterations = 3, .camera = [](auto, auto amplitude) {
          for (std::int64_t i = 0; i < amplitude.size(); ++i) {
            amplitude.data()[i] *= 2 + 0.5F * static_cast<float>(i % 7);
          }
        }};
    auto phase = holotone::starting_phase({1, 40, 48});
    auto copy = phase.to(device);
    twins.cpu.optimize(phase.view(), solver);
    twins.other.optimize(copy.view(), solver);
    support::expect_within("phases", support::relative_error(copy.to(Device{}).data(), doubles_of(phase)), 1e-4);
  });
}

HOLOTONE_ON_DEVICES(PhaseRetrievalOnGpu, "cuda");

}  // namespace
