// The table of operations by backend: what each plan really does on each device, and what the pages print.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <holotone/fft/fft.hpp>
#include <holotone/halftone/dot_sampler.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/nufft/nufft.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/fourier_lens.hpp>
#include <holotone/optics/large_propagation.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <holotone/recipes/operations.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <holotone/retrieval/spots/spot_plan.hpp>
#include <holotone/smoe/codes.hpp>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/render.hpp>
#include <map>
#include <sstream>
#include <tests/support/on_each_device.hpp>
#include <tests/support/paths.hpp>

namespace holotone {
namespace {

const FieldGrid grid{32, 24, 8e-6, 532e-9};

SmoeModel one_component() {
  SmoeModel model;
  model.dimensions = 2;
  model.channels = 1;
  model.low = {0, 0, 0, 0};
  model.high = {1, 1, 0, 0};
  model.log_weight = {0};
  model.centre = {0.5F, 0.5F};
  model.covariance = {0.1F, 0, 0.1F};
  model.colour = {0.5F};
  model.slope = {0, 0};
  return model;
}

EyeOptions eye_options() { return {.grid = grid, .pupil = {.width_m = 2e-3, .height_m = 2e-3, .distance_m = 0.2}}; }

/// Makes a plan of each operation on a device.
const std::map<OperationId, std::function<void(Device)>>& makers() {
  static const std::map<OperationId, std::function<void(Device)>> all{
      {OperationId::point_sum,
       [](Device device) {
         for (const auto method : {PointMethod::direct, PointMethod::recurrence}) {
           PointCloudPlan({.shape = grid.shape(), .method = method}, device);
         }
       }},
      {OperationId::fast_point_sum,
       [](Device device) {
         for (const auto method : {PointMethod::separable, PointMethod::fast}) {
           PointCloudPlan({.shape = grid.shape(), .method = method}, device);
         }
       }},
      {OperationId::point_adjoint,
       [](Device device) {
         PointCloudPlan plan({.shape = grid.shape()}, device);
         plan.set_points({});
         const Array<Complex, 2> field(grid.shape(), device);
         plan.adjoint(field.view(), {});
       }},
      {OperationId::layers, [](Device device) { LayerPlan({.grid = grid}, device); }},
      {OperationId::stereogram,
       [](Device device) {
         StereogramOptions options;
         options.grid = {64, 64, 2e-6, 532e-9};
         options.hogel_px = 32;
         options.viewer = {0.01, 0.01, 0.2, 0, 0};
         StereogramPlan(options, device);
       }},
      {OperationId::encoding, [](Device device) { EncodePlan({}, grid, device); }},
      {OperationId::error_diffusion,
       [](Device device) { ErrorDiffusionPlan({}, floyd_steinberg_weights(), grid.shape(), device); }},
      {OperationId::phase_retrieval, [](Device device) { PhaseRetrievalPlan({.grid = grid}, device); }},
      {OperationId::spots, [](Device device) { SpotPlan({.grid = grid, .focal_length_m = 0.1}, device); }},
      {OperationId::fft,
       [](Device device) {
         FftPlan({8, 8}, device);
       }},
      {OperationId::nufft,
       [](Device device) {
         NufftPlan<float, 2>({8, 8}, device);
       }},
      {OperationId::propagation, [](Device device) { PropagationPlan({.grid = grid}, device); }},
      {OperationId::large_propagation,
       [](Device device) { LargePropagationPlan({.grid = grid, .distance_m = 0.1}, {device}); }},
      {OperationId::reconstruction,
       [](Device device) {
         ReconstructionPlan({.grid = grid, .aperture = Aperture{0, 0, 4e-3, 0.5}}, device);
       }},
      {OperationId::fourier_lens,
       [](Device device) {
         FourierLensPlan({grid, 0.2}, device);
       }},
      {OperationId::eye, [](Device device) { EyePlan(eye_options(), device); }},
      {OperationId::eye_adjoint,
       [](Device device) {
         EyePlan plan(eye_options(), device);
         Array<Complex, 2> panel(grid.shape(), device);
         Array<Complex, 2> field(plan.field_shape(0.1), device);
         plan.look_field(0.1, field.view());
         plan.adjoint(0.1, field.view(), panel.view());
       }},
      {OperationId::electrostatic_halftoning,
       [](Device device) {
         ElectrostaticPlan({16, 16}, 8, device);
       }},
      {OperationId::dot_sampling,
       [](Device device) {
         DotSampler({16, 16}, 8, device);
       }},
      {OperationId::mixture_rendering, [](Device device) { SmoeRenderer(one_component(), device); }},
      {OperationId::mixture_codes,
       [](Device device) {
         const Array<float, 4> colours({1, 2, 2, 3}, device);
         Array<std::uint8_t, 4> codes({1, 2, 2, 3}, device);
         smoe_codes(colours.view(), codes.view(), {}, device);
       }},
      {OperationId::mixture_fitting, [](Device device) {
         Array<float, 3> image({8, 8, 1});
         std::fill(image.host().begin(), image.host().end(), 0.5F);
         SmoeFitter(image.view(), {.components = 2}, device);
       }}};
  return all;
}

TEST(Operations, StandInTheOrderOfTheirIds) {
  std::size_t row = 0;
  for (const auto& operation : operations()) EXPECT_EQ(static_cast<std::size_t>(operation.id), row++) << operation.name;
}

TEST(Operations, PlansDoWhatTheTableSays) {
  for (const auto& operation : operations()) {
    const auto maker = makers().find(operation.id);
    ASSERT_NE(maker, makers().end()) << operation.name;
    for (const Device device : devices()) {
      SCOPED_TRACE(std::string(operation.name) + " on " + to_string(device));
      const bool refused = operation.id == OperationId::mixture_rendering && support::lacks_mixtures(device);
      if (has_operation(operation, device.backend) && !refused) {
        EXPECT_NO_THROW(maker->second(device));
        // Plans fill tables: PoCL must not compile a kernel while the process ends.
        Queue(device).synchronize();
      } else {
        support::expect_error(ErrorCode::unsupported, to_string(device), [&] { maker->second(device); });
      }
    }
  }
  EXPECT_EQ(makers().size(), operations().size());
}

TEST(Operations, ThePagePrintsTheTable) {
  std::ifstream stream(std::filesystem::path(source_folder()) / "docs/opencl.md");
  std::ostringstream text;
  text << stream.rdbuf();
  for (const auto& operation : operations()) {
    const auto mark = [](bool has) { return has ? "yes" : ""; };
    std::string row =
        fmt::format("| {} | yes | {} | {} |", operation.name, mark(operation.cuda), mark(operation.opencl));
    for (auto at = row.find("|  |"); at != std::string::npos; at = row.find("|  |")) row.replace(at, 4, "| |");
    EXPECT_NE(text.str().find(row), std::string::npos) << "docs/opencl.md lacks: " << row;
  }
}

}  // namespace
}  // namespace holotone
