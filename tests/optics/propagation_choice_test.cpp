// The choice of the propagation's method by estimated errors.
#include <holotone/core/random.hpp>
#include <holotone/optics/propagation.hpp>
#include <tests/reference/propagation.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>

namespace {

using holotone::ErrorCode;
using holotone::Field;
using holotone::FieldGrid;
using holotone::PropagationMethod;
using holotone::PropagationPlan;
using reference::Plane;
using support::reference_plane;
using Values = std::vector<support::Complex64>;

constexpr double green = 532e-9;

TEST(PropagationPlan, ChoosesByTheSmallerError) {
  const FieldGrid pluto{1920, 1080, 8e-6, green};
  EXPECT_NEAR(holotone::fresnel_distance_m(pluto), 0.23098, 1e-5);
  EXPECT_EQ(PropagationPlan({.grid = pluto}).method_for(0.231), PropagationMethod::angular_spectrum);
  EXPECT_EQ(PropagationPlan({.grid = pluto}).method_for(2), PropagationMethod::fresnel);
  EXPECT_EQ(holotone::propagation_method({.grid = pluto}, 0.231), PropagationMethod::angular_spectrum);
  EXPECT_EQ(holotone::propagation_method({.grid = pluto}, -2), PropagationMethod::fresnel);
  struct Case {
    double pitch_m, distance_m;
    PropagationMethod method;
  };
  for (const auto& c : {Case{3.74e-6, 0.02, PropagationMethod::angular_spectrum},
                        {0.75e-6, 2e-3, PropagationMethod::angular_spectrum},
                        {8e-6, -0.2, PropagationMethod::fresnel},
                        {8e-6, -0.01, PropagationMethod::angular_spectrum}}) {
    const PropagationPlan plan({.grid = {384, 384, c.pitch_m, green}});
    EXPECT_EQ(plan.method_for(c.distance_m), c.method) << c.pitch_m << " at " << c.distance_m;
    EXPECT_EQ(plan.method_for(-c.distance_m), c.method) << c.pitch_m << " at " << -c.distance_m;
  }
  const FieldGrid grid{64, 32, 8e-6, green};
  EXPECT_EQ(PropagationPlan({.grid = grid, .method = PropagationMethod::fresnel}).method_for(0.001),
            PropagationMethod::fresnel);
  // Only the Fresnel transform changes the pitch, where the other method is more accurate too.
  const FieldGrid fine{384, 384, 3.74e-6, green};
  EXPECT_EQ(PropagationPlan({.grid = fine, .output_pitch_m = 2e-6}).method_for(0.02), PropagationMethod::fresnel);
  Field flat{holotone::Array<holotone::Complex, 2>(fine.shape()), fine};
  std::fill_n(flat.values.data(), flat.values.size(), holotone::Complex{});
  EXPECT_EQ(holotone::propagate(flat, 0.02, {.output_pitch_m = 2e-6}).grid.pitch_m, 2e-6);
  support::expect_error(ErrorCode::invalid_argument, "propagation_errors",
                        [] { static_cast<void>(holotone::propagation_errors({}, 1)); });
}

/// Phase hologram of a diffuse object nearly as large as the panel: Fresnel waves of many points with random phases,
/// each on the pixels that show its fringes.
Values diffuse_object(const FieldGrid& grid, double distance_m) {
  constexpr std::uint64_t points = 300;
  const Plane plane = reference_plane(grid);
  const double reach = grid.wavelength_m * std::abs(distance_m) / (2 * grid.pitch_m);
  const auto wave = [&](double x) {
    return std::abs(x) < reach ? reference::turn(x * x / (2 * grid.wavelength_m * distance_m)) : 0;
  };
  Values field(plane.size());
  for (std::uint64_t j = 0; j < points; ++j) {
    const auto at = [&](std::uint64_t i, std::int64_t n) {
      return (holotone::random_uniform64(8, 3 * j + i) - 0.5) * 0.9 * static_cast<double>(n) * grid.pitch_m;
    };
    const auto phase = reference::turn(holotone::random_uniform64(8, 3 * j + 2));
    for (std::int64_t row = 0; row < plane.ny; ++row) {
      const auto down = phase * wave(plane.y(row) - at(1, plane.ny));
      for (std::int64_t col = 0; col < plane.nx; ++col) {
        field[plane.at(row, col)] += down * wave(plane.x(col) - at(0, plane.nx));
      }
    }
  }
  for (auto& u : field) u = std::polar(1.0, std::arg(u));
  return field;
}

double intensity_error(const Values& got, const Values& truth) {
  double difference = 0;
  double whole = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    difference += std::pow(std::norm(got[i]) - std::norm(truth[i]), 2);
    whole += std::pow(std::norm(truth[i]), 2);
  }
  return std::sqrt(difference / whole);
}

// Truth: the angular spectrum in float64 on a window eight times as wide, without a band limit.
TEST(PropagationPlan, TheChoiceHasTheSmallerError) {
  for (const double pitch : {0.75e-6, 1.5e-6, 8e-6}) {
    for (const double ratio : {1.3, 3.0, 9.0}) {  // of fresnel_distance_m
      const FieldGrid grid{44, 40, pitch, green};
      const double distance = -ratio * holotone::fresnel_distance_m(grid);
      const auto field = diffuse_object(grid, -distance);
      const auto truth = reference::angular_spectrum(field, reference_plane(grid), green, distance, 320, 352, false);
      const auto error = [&](PropagationMethod method) {
        const Field input{support::upload(field, grid.shape(), {}), grid};
        const auto got = propagate(input, distance, {.method = method});
        return intensity_error({got.values.host().begin(), got.values.host().end()}, truth);
      };
      const double of_spectrum = error(PropagationMethod::angular_spectrum);
      const double of_fresnel = error(PropagationMethod::fresnel);
      const double of_choice = error(PropagationMethod::automatic);
      const auto estimate = holotone::propagation_errors({.grid = grid}, distance);
      std::printf("%.2f um, %.3g mm: angular spectrum %.1e (estimate %.1e), Fresnel %.1e (%.1e)\n", 1e6 * pitch,
                  1e3 * distance, of_spectrum, estimate.angular_spectrum, of_fresnel, estimate.fresnel);
      EXPECT_LE(of_choice, 1.5 * std::min(of_spectrum, of_fresnel)) << pitch << " at " << distance;
      EXPECT_LT(std::abs(std::log(estimate.angular_spectrum / of_spectrum)), std::log(5))
          << pitch << " at " << distance;
    }
  }
}

}  // namespace
