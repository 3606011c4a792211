// The complex field that an eye sees and its adjoint, on every device that has them: against spherical waves summed in
// float64 and by dot products.
#include <cmath>
#include <tests/optics/eye_support.hpp>
#include <tests/support/adjoint.hpp>

namespace eye {
namespace {

using holotone::ErrorCode;

/// SmallCase through both pupils, in one tile and in several, with one sample a pixel and with more.
std::vector<SmallCase> field_cases() {
  std::vector<SmallCase> all(3);
  all[1].options.pupil.shape = PupilShape::ellipse;
  all[1].options.tile = {7, 13};
  all[2].options.output_pitch_m = 10 * micro;
  all[2].options.output_shape = {3, 4};
  return all;
}

/// The field seen, in host memory.
Array<Complex, 2> look_field(EyePlan& plan, double focus_m, Device device) {
  Array<Complex, 2> field(plan.field_shape(focus_m), device);
  plan.look_field(focus_m, field.view());
  return field.to(Device{});
}

class EyeAdjoint : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(EyeAdjoint);

TEST_P(EyeAdjoint, TheFieldSeenIsTheSumOfSphericalWaves) {
  on_each([](Device device) {
    for (const SmallCase& one : field_cases()) {
      EyePlan plan(one.options, device);
      add(plan, one.field, one.grid, device);
      const auto field = look_field(plan, one.focus_m, device);
      const auto picture = look(plan, one.focus_m, device);
      const auto samples = plan.pupil_grid();
      const auto pupil = reference::pupil_field(one.field, reference_plane(one.grid), green,
                                                reference_eye(one.options.pupil), samples.ny, samples.nx);
      const auto grid = plan.output_grid();
      const auto [rows, columns] = field.shape();
      const std::int64_t every[] = {rows / grid.ny, columns / grid.nx};
      EXPECT_EQ(every[0] * every[1] > 1, grid.pitch_m > 4 * micro);
      Values expected;
      Picture means(reference_plane(grid).size());
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < columns; ++col) {
          const double x = (static_cast<double>(col) - 0.5 * static_cast<double>(columns - 1)) * grid.pitch_m /
                           static_cast<double>(every[1]);
          const double y = (0.5 * static_cast<double>(rows - 1) - static_cast<double>(row)) * grid.pitch_m /
                           static_cast<double>(every[0]);
          expected.push_back(reference::seen_field(pupil, green, one.options.pupil.distance_m + one.focus_m, x, y));
          means[reference_plane(grid).at(row / every[0], col / every[1])] +=
              std::norm(Complex64(field(row, col))) / static_cast<double>(every[0] * every[1]);
        }
      }
      support::expect_within("field", support::relative_error(field.data(), expected),
                             intensity_tolerance(160. * 160) / 2);
      support::expect_within("means of its squares", relative_difference(picture, means), 1e-6);
    }
  });
}

/// The adjoint of noise seen, in host memory; `panel` is overwritten.
Array<Complex, 2> take_back(const EyePlan& plan, double focus_m, const Values& seen, Array<Complex, 2> panel) {
  const Device device = panel.device();
  plan.adjoint(focus_m, support::upload(seen, plan.field_shape(focus_m), device).view(), panel.view());
  return panel.to(Device{});
}

TEST_P(EyeAdjoint, HoldsInDotProducts) {
  on_each([](Device device) {
    for (const SmallCase& one : field_cases()) {
      EyePlan plan(one.options, device);
      add(plan, one.field, one.grid, device);
      const auto there = look_field(plan, one.focus_m, device);
      const Values other = noise({there.shape()[1], there.shape()[0], 1, 1});
      const auto back = take_back(plan, one.focus_m, other, Array<Complex, 2>(one.grid.shape(), device));
      support::expect_within("adjoint", support::adjoint_error(there.host(), other, one.field, back.host()), 1e-5);
      EXPECT_EQ(support::relative_error(look_field(plan, one.focus_m, device).data(),
                                        Values(there.host().begin(), there.host().end())),
                0)
          << "the plan keeps its tiles";
    }
  });
}

TEST_P(EyeAdjoint, TilesWhoseLightMissesThePupilAreDark) {
  // The order ends 0.2 mm to the side at the pupil, whose left edge is 0.9 mm from the panel's left edge.
  on_each([](Device device) {
    const FieldGrid grid{128, 24, 8 * micro, green};
    EyePlan plan({.grid = grid,
                  .pupil = {100 * micro, 100 * micro, 5 * milli, 450 * micro, 0},
                  .output_pitch_m = 8 * micro,
                  .output_shape = {9, 12},
                  .tile = {24, 16}},
                 device);
    const double focus_m = 2 * milli;
    const Values field = noise(grid);
    add(plan, field, grid, device);
    const auto there = look_field(plan, focus_m, device);
    const Values other(there.host().begin(), there.host().end());  // noise would leave little of the product
    const auto back = take_back(plan, focus_m, other,
                                support::upload(Values(field.size(), Complex64(NAN, NAN)), grid.shape(), device));
    support::expect_within("adjoint", support::adjoint_error(there.host(), other, field, back.host()), 1e-5);
    for (std::int64_t row = 0; row < grid.ny; ++row) {
      for (std::int64_t col = 0; col < 16; ++col) EXPECT_EQ(back(row, col), Complex(0));
      EXPECT_NE(back(row, grid.nx - 1), Complex(0));
    }
  });
}

TEST_P(EyeAdjoint, RefusesOtherShapes) {
  on_each([](Device device) {
    const SmallCase one;
    EyePlan plan(one.options, device);
    const Array<Complex, 2> field(plan.field_shape(one.focus_m), device);
    Array<Complex, 2> panel(one.grid.shape(), device);
    support::expect_error(ErrorCode::invalid_argument, "EyePlan::adjoint: field: expected shape {9, 12}, got {24, 32}",
                          [&] { plan.adjoint(one.focus_m, panel.view(), panel.view()); });
    support::expect_error(ErrorCode::invalid_argument, "EyePlan::adjoint: panel: expected shape {24, 32}", [&] {
      plan.adjoint(one.focus_m, field.view(), {panel.data(), {32, 24}, device});
    });
    support::expect_error(ErrorCode::invalid_argument,
                          "EyePlan::adjoint: focus_m: expected a focus in front of the eye",
                          [&] { plan.adjoint(-1, field.view(), panel.view()); });
    support::expect_error(ErrorCode::invalid_argument, "EyePlan::look_field: field: expected shape {9, 12}",
                          [&] { plan.look_field(one.focus_m, panel.view()); });
  });
}

}  // namespace
}  // namespace eye
