// Both methods against float64 references, closed forms and their own relations, on every device.
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/optics/propagation.hpp>
#include <numbers>
#include <tests/reference/propagation.hpp>
#include <tests/support/adjoint.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::PropagationMethod;
using holotone::PropagationOptions;
using holotone::PropagationPlan;
using holotone::Queue;
using reference::Plane;
using support::Complex;
using support::Complex64;
using support::reference_plane;
using Values = std::vector<Complex64>;

constexpr double green = 532e-9;
/// Bound of propagation.hpp against the same formula in float64.
constexpr double promised_error = 1e-6;

/// White noise: all frequencies of the grid, rounded to float32 so that the reference uses the same field.
Values noise(const FieldGrid& grid, std::uint64_t seed) {
  Values values(reference_plane(grid).size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {static_cast<double>(2 * holotone::random_uniform(seed, 2 * i) - 1),
                 static_cast<double>(2 * holotone::random_uniform(seed, 2 * i + 1) - 1)};
  }
  return values;
}

Values gaussian(const FieldGrid& grid, double w0, double z, double x0 = 0, double y0 = 0) {
  const Plane plane = reference_plane(grid);
  Values values(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      values[plane.at(row, col)] =
          reference::gaussian_beam(w0, grid.wavelength_m, plane.x(col) - x0, plane.y(row) - y0, z);
    }
  }
  return values;
}

double energy(const Values& values) {
  double sum = 0;
  for (const auto& v : values) sum += std::norm(v);
  return sum;
}

/// The plan's result in float64 on the host.
Values run(const PropagationOptions& options, const Values& field, double distance_m, Device device) {
  const Queue queue(device);
  PropagationPlan plan(options, queue);
  const auto input = support::upload(field, options.grid.shape(), device);
  Array<Complex, 2> output(options.grid.shape(), queue);
  plan.execute(input.view(), output.view(), distance_m);
  queue.synchronize();
  const auto host = output.to(Device{});
  return {host.host().begin(), host.host().end()};
}

std::string label(const std::string& what, const FieldGrid& grid, double distance_m) {
  return what + " " + holotone::to_string(grid.shape()) + " at " + std::to_string(distance_m);
}

class Propagation : public support::OnEachDevice {};

TEST_P(Propagation, AngularSpectrumAgreesWithFloat64) {
  const struct {
    FieldGrid grid;
    double distance_m;
  } cases[] = {{{64, 64, 8e-6, green}, 0.03},      {{47, 33, 8e-6, green}, 0.004},
               {{47, 33, 8e-6, green}, -0.03},     {{64, 40, 3.74e-6, 638e-9}, 0.2},
               {{40, 64, 6.4e-6, 450e-9}, -0.001}, {{57, 1, 8e-6, green}, 0.01},
               {{1, 30, 8e-6, green}, -0.01},      {{36, 50, 0.2e-6, green}, 3e-6},
               {{36, 50, 0.2e-6, green}, -3e-6}};  // the last two: evanescent waves
  on_each([&](Device device) {
    for (const auto& c : cases) {
      const auto field = noise(c.grid, 1);
      for (const bool zero_pad : {true, false}) {
        for (const bool band_limit : {true, false}) {
          // The taps of the Fresnel transform set the shortest padded length.
          const auto length = [&](std::int64_t n) {
            return zero_pad ? reference::padded_size(std::max<std::int64_t>(2 * n, 16)) : n;
          };
          const auto expected =
              reference::angular_spectrum(field, reference_plane(c.grid), c.grid.wavelength_m, c.distance_m,
                                          length(c.grid.ny), length(c.grid.nx), band_limit);
          const auto got = run({.grid = c.grid,
                                .method = PropagationMethod::angular_spectrum,
                                .band_limit = band_limit,
                                .zero_pad = zero_pad},
                               field, c.distance_m, device);
          support::expect_within(label(zero_pad ? "padded" : "cyclic", c.grid, c.distance_m),
                                 support::relative_error(got.data(), expected), promised_error);
        }
      }
    }
  });
}

TEST_P(Propagation, FresnelAgreesWithTheSum) {
  const FieldGrid grids[] = {
      {47, 33, 8e-6, green}, {40, 64, 3.74e-6, 638e-9}, {57, 1, 8e-6, green}, {2, 3, 8e-6, green}};
  on_each([&](Device device) {
    for (const auto& grid : grids) {
      const auto field = noise(grid, 2);
      const double shortest = holotone::fresnel_distance_m(grid);
      for (const double distance : {shortest, -shortest, 3.7 * shortest, -0.5, 1.0}) {
        for (const double ratio : {1.0, 0.3, 2.5}) {
          const double pitch = ratio * grid.pitch_m;
          auto expected = reference::fresnel_sum(field, reference_plane(grid), pitch, grid.wavelength_m, distance);
          // Beyond the first diffraction order the plan is dark.
          const Plane output{grid.ny, grid.nx, pitch};
          const double zone = grid.wavelength_m * std::abs(distance) / (2 * grid.pitch_m) * (1 + 1e-12);
          for (std::int64_t row = 0; row < grid.ny; ++row) {
            for (std::int64_t col = 0; col < grid.nx; ++col) {
              if (std::abs(output.x(col)) > zone || std::abs(output.y(row)) > zone) expected[output.at(row, col)] = 0;
            }
          }
          const auto got = run({.grid = grid, .method = PropagationMethod::fresnel, .output_pitch_m = pitch}, field,
                               distance, device);
          support::expect_within(label("fresnel, pitch ratio " + std::to_string(ratio), grid, distance),
                                 support::relative_error(got.data(), expected), promised_error);
        }
      }
    }
  });
}

TEST_P(Propagation, APlaneWaveTurnsByKz) {
  on_each([](Device device) {
    const FieldGrid grid{48, 30, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const struct { int kx, ky; } tilts[] = {{0, 0}, {5, -3}, {-20, 11}};
    for (const auto& tilt : tilts) {
      const double fx = tilt.kx / (48 * grid.pitch_m);
      const double fy = tilt.ky / (30 * grid.pitch_m);
      const double w = std::sqrt(1 / (green * green) - fx * fx - fy * fy);
      Values field(plane.size());
      for (std::int64_t row = 0; row < 30; ++row) {
        for (std::int64_t col = 0; col < 48; ++col) {
          field[plane.at(row, col)] = reference::turn(fx * plane.x(col) + fy * plane.y(row));
        }
      }
      for (const double distance : {0.123456, -0.4321, 5.0}) {
        auto expected = field;
        for (auto& v : expected) v *= reference::turn(distance * w);
        const auto got =
            run({.grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = false, .zero_pad = false},
                field, distance, device);
        support::expect_within(label("plane wave", grid, distance), support::relative_error(got.data(), expected),
                               2e-6);
      }
    }
  });
}

// Both methods against the paraxial formula: amplitude, width and phase at once. Off-centre, to detect mirrored or
// shifted results.
TEST_P(Propagation, AGaussianBeamSpreadsByItsFormula) {
  on_each([](Device device) {
    const FieldGrid grid{200, 180, 8e-6, green};
    const double w0 = 60e-6;
    const double x0 = 70e-6;
    const double y0 = -110e-6;
    const auto waist = gaussian(grid, w0, 0, x0, y0);
    for (const auto method : {PropagationMethod::angular_spectrum, PropagationMethod::fresnel}) {
      for (const double z : {0.03, -0.05}) {
        const auto got = run({.grid = grid, .method = method}, waist, z, device);
        support::expect_within(label(std::string(to_string(method)), grid, z),
                               support::relative_error(got.data(), gaussian(grid, w0, z, x0, y0)), 2e-5);
        const double rayleigh = std::numbers::pi * w0 * w0 / green;
        const double width = w0 * std::sqrt(1 + z * z / (rayleigh * rayleigh));
        double second_moment = 0;
        double brightest = 0;
        const Plane plane = reference_plane(grid);
        for (std::int64_t row = 0; row < plane.ny; ++row) {
          for (std::int64_t col = 0; col < plane.nx; ++col) {
            const double light = std::norm(got[plane.at(row, col)]);
            second_moment += light * std::pow(plane.x(col) - x0, 2);
            brightest = std::max(brightest, light);
          }
        }
        EXPECT_NEAR(2 * std::sqrt(second_moment / energy(got)), width, 1e-3 * width);
        EXPECT_NEAR(brightest, std::pow(w0 / width, 2), 2e-3 * std::pow(w0 / width, 2));
      }
    }
  });
}

// The integral equivalent to the angular spectrum, summed pixel by pixel.
TEST_P(Propagation, AngularSpectrumIsTheRayleighSommerfeldIntegral) {
  on_each([](Device device) {
    const FieldGrid grid{90, 70, 4e-6, green};
    const Plane plane = reference_plane(grid);
    const double distance = 0.008;
    const auto field = gaussian(grid, 25e-6, 0, 30e-6, -20e-6);
    const auto got = run({.grid = grid, .method = PropagationMethod::angular_spectrum}, field, distance, device);
    Values sampled;
    Values expected;
    for (std::int64_t row = 3; row < plane.ny; row += 9) {
      for (std::int64_t col = 4; col < plane.nx; col += 7) {
        sampled.push_back(got[plane.at(row, col)]);
        expected.push_back(reference::rayleigh_sommerfeld(field, plane, green, distance, plane.x(col), plane.y(row)));
      }
    }
    support::expect_within("Rayleigh-Sommerfeld", support::relative_error(sampled.data(), expected), 1e-6);
  });
}

TEST_P(Propagation, TheMethodsAgreeWhereBothHold) {
  on_each([](Device device) {
    const FieldGrid grid{160, 120, 8e-6, green};
    auto field = gaussian(grid, 90e-6, 0.01, 100e-6, 60e-6);
    const auto second = gaussian(grid, 70e-6, -0.02, -200e-6, -80e-6);
    for (std::size_t i = 0; i < field.size(); ++i) field[i] += second[i] * Complex64(0.3, 0.6);
    for (const double ratio : {1.0, -1.0, 1.5, -2.5}) {
      const double distance = ratio * holotone::fresnel_distance_m(grid);
      const auto by_spectrum =
          run({.grid = grid, .method = PropagationMethod::angular_spectrum}, field, distance, device);
      const auto by_fresnel = run({.grid = grid, .method = PropagationMethod::fresnel}, field, distance, device);
      // The difference is Fresnel's approximation and the light beyond the window.
      support::expect_within(label("spectrum against fresnel", grid, distance),
                             support::relative_error(by_fresnel.data(), by_spectrum), 1e-5);
    }
  });
}

TEST_P(Propagation, KeepsTheEnergy) {
  on_each([](Device device) {
    const FieldGrid grid{75, 64, 8e-6, green};
    const auto field = noise(grid, 3);
    const PropagationOptions cyclic{
        .grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = false, .zero_pad = false};
    for (const double distance : {0.05, -0.7}) {
      support::expect_within(label("energy, cyclic", grid, distance),
                             std::abs(energy(run(cyclic, field, distance, device)) / energy(field) - 1), 1e-6);
    }
    // Padded: a beam that stays inside the window loses nothing to the crop.
    const FieldGrid wide{160, 160, 8e-6, green};
    const auto beam = gaussian(wide, 100e-6, 0);
    for (const auto method : {PropagationMethod::angular_spectrum, PropagationMethod::fresnel}) {
      const auto after = run({.grid = wide, .method = method, .band_limit = false}, beam, 0.03, device);
      support::expect_within(label("energy, " + std::string(to_string(method)), wide, 0.03),
                             std::abs(energy(after) / energy(beam) - 1), 1e-6);
    }
  });
}

TEST_P(Propagation, ForwardThenBackIsTheField) {
  on_each([](Device device) {
    const FieldGrid grid{66, 63, 8e-6, green};
    const auto field = noise(grid, 4);
    const PropagationOptions options{
        .grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = false, .zero_pad = false};
    const auto there = run(options, field, 0.31, device);
    const auto back = run(options, there, -0.31, device);
    EXPECT_GT(support::relative_error(there.data(), field), 1);
    support::expect_within("forward then back", support::relative_error(back.data(), field), 1e-6);
  });
}

TEST_P(Propagation, TwoStepsAreOneAndFieldsAdd) {
  on_each([](Device device) {
    const FieldGrid grid{64, 64, 8e-6, green};
    const PropagationOptions options{
        .grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = false, .zero_pad = false};
    const auto a = noise(grid, 5);
    const auto b = noise(grid, 6);
    const auto twice = run(options, run(options, a, 0.04, device), 0.07, device);
    support::expect_within("0.04 + 0.07 = 0.11", support::relative_error(twice.data(), run(options, a, 0.11, device)),
                           2e-6);
    Values sum(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) sum[i] = a[i] - 2.0 * b[i];
    for (const double distance : {0.003, 0.3}) {
      const PropagationOptions automatic{.grid = grid};
      const auto of_a = run(automatic, a, distance, device);
      const auto of_b = run(automatic, b, distance, device);
      Values combined(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) combined[i] = of_a[i] - 2.0 * of_b[i];
      support::expect_within(label("linearity", grid, distance),
                             support::relative_error(run(automatic, sum, distance, device).data(), combined), 1e-6);
    }
  });
}

// Without the limit, the undersampled transfer function of a long distance aliases; with it, the remaining part is
// correct.
TEST_P(Propagation, TheBandLimitRemovesTheAliasing) {
  on_each([](Device device) {
    const FieldGrid grid{128, 128, 8e-6, green};
    const Plane plane = reference_plane(grid);
    Values slit(plane.size());  // a small square: wide diffraction
    for (std::int64_t row = 60; row < 68; ++row) {
      for (std::int64_t col = 60; col < 68; ++col) slit[plane.at(row, col)] = 1;
    }
    const double distance = 0.12;
    const auto expected = reference::fresnel_sum(slit, plane, grid.pitch_m, green, distance);
    double error[2];
    for (const bool limited : {false, true}) {
      const auto got = run({.grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = limited}, slit,
                           distance, device);
      error[limited] = support::relative_error(got.data(), expected);
    }
    std::printf("error without limit %.2e, with limit %.2e\n", error[0], error[1]);
    EXPECT_LT(error[1], 0.1 * error[0]);
    EXPECT_LT(error[1], 0.01);
  });
}

TEST_P(Propagation, IntensityIsTheSquaredField) {
  on_each([](Device device) {
    for (const FieldGrid& grid : {FieldGrid{50, 37, 8e-6, green}, FieldGrid{64, 64, 8e-6, green}}) {
      const auto field = noise(grid, 7);
      const Queue queue(device);
      PropagationPlan plan({.grid = grid}, queue);
      const auto input = support::upload(field, grid.shape(), device);
      Array<float, 2> intensity(grid.shape(), queue);
      for (const double distance : {0.0, 0.002, 0.2}) {
        plan.execute_intensity(input.view(), intensity.view(), distance);
        queue.synchronize();
        auto expected = run({.grid = grid}, field, distance, device);
        for (auto& v : expected) v = std::norm(v);
        support::expect_within(label("intensity", grid, distance),
                               support::relative_error(intensity.to(Device{}).data(), expected), 5e-7);
      }
    }
  });
}

TEST_P(Propagation, MayWriteOverItsInputAndStartAgain) {
  on_each([](Device device) {
    for (const FieldGrid& grid : {FieldGrid{50, 37, 8e-6, green}, FieldGrid{64, 64, 8e-6, green}}) {
      const auto field = noise(grid, 8);
      const Queue queue(device);
      PropagationPlan plan({.grid = grid}, queue);
      Array<Complex, 2> scratch(grid.shape(), queue);
      const auto first = support::upload(noise(grid, 9), grid.shape(), device);
      plan.execute(first.view(), scratch.view(), 0.01);  // fills the plan's memory with another field
      for (const double distance : {0.0, 0.002, -0.2}) {
        auto data = support::upload(field, grid.shape(), device);
        plan.execute(data.view(), data.view(), distance);
        queue.synchronize();
        const auto host = data.to(Device{});
        EXPECT_EQ(support::relative_error(host.data(), run({.grid = grid}, field, distance, device)), 0) << distance;
      }
    }
  });
}

TEST_P(Propagation, OnePlanServesAnyDistances) {
  on_each([](Device device) {
    for (const FieldGrid& grid : {FieldGrid{64, 64, 8e-6, green}, FieldGrid{50, 37, 8e-6, green}}) {
      const PropagationOptions options{.grid = grid, .method = PropagationMethod::angular_spectrum};
      const auto field = noise(grid, 11);
      const Queue queue(device);
      PropagationPlan plan(options, queue);
      const auto input = support::upload(field, grid.shape(), device);
      Array<Complex, 2> output(grid.shape(), queue);
      for (const double distance : {0.01, 0.02, 0.02, 0.01}) {
        plan.execute(input.view(), output.view(), distance);
        queue.synchronize();
        const auto host = output.to(Device{});
        EXPECT_EQ(support::relative_error(host.data(), run(options, field, distance, device)), 0) << distance;
      }
    }
  });
}

// Also after another input or another method has used the plan's memory.
TEST_P(Propagation, DistancesOfOneInputShareItsSpectrum) {
  on_each([](Device device) {
    for (const FieldGrid& grid : {FieldGrid{64, 64, 8e-6, green}, FieldGrid{50, 37, 8e-6, green}}) {
      const PropagationOptions options{.grid = grid};
      const Queue queue(device);
      PropagationPlan plan(options, queue);
      Array<Complex, 2> output(grid.shape(), queue);
      Array<float, 2> intensity(grid.shape(), queue);
      support::expect_error(holotone::ErrorCode::invalid_argument, "input: expected set_input before, got none",
                            [&] { plan.execute(output.view(), 0.01); });
      const auto other = support::upload(noise(grid, 12), grid.shape(), device);
      for (const std::uint64_t seed : {11, 13}) {
        const auto field = noise(grid, seed);
        const auto input = support::upload(field, grid.shape(), device);
        plan.set_input(input.view());
        for (const double distance : {0.002, 0.003, 0.0, 0.004, 0.5, 0.002, -0.001}) {
          const auto wanted = run(options, field, distance, device);
          plan.execute(output.view(), distance);
          plan.execute_intensity(intensity.view(), distance);
          queue.synchronize();
          const auto host = output.to(Device{});
          support::expect_within(label("shared", grid, distance), support::relative_error(host.data(), wanted) + 1e-30,
                                 1e-6);
          Values light;
          for (const auto& value : wanted) light.emplace_back(std::norm(value));
          support::expect_within("intensity", support::relative_error(intensity.to(Device{}).data(), light), 2e-6);
          if (distance == 0.004) plan.execute(other.view(), output.view(), 0.003);
        }
        queue.synchronize();
      }
    }
  });
}

TEST_P(Propagation, OneShotIsThePlan) {
  on_each([](Device device) {
    const FieldGrid grid{50, 37, 8e-6, green};
    const auto field = noise(grid, 10);
    const holotone::Field input{support::upload(field, grid.shape(), device), grid};
    const auto one = holotone::propagate(input, 0.1, {.output_pitch_m = 1.6e-5});
    EXPECT_DOUBLE_EQ(one.grid.pitch_m, 1.6e-5);
    EXPECT_EQ(one.grid.nx, 50);
    const auto plan = run({.grid = grid, .output_pitch_m = 1.6e-5}, field, 0.1, device);
    EXPECT_EQ(support::relative_error(one.values.to(Device{}).data(), plan), 0);
    const auto still = holotone::propagate(input, 0);
    EXPECT_EQ(support::relative_error(still.values.to(Device{}).data(), field), 0);
  });
}

HOLOTONE_ON_EACH_DEVICE(Propagation);

TEST(PropagationPlan, SaysWhatMemoryItHolds) {
  const FieldGrid grid{100, 50, 8e-6, green};
  // The padded array of the Fresnel transform and the angular spectrum's padded rows; then lines of each thread.
  const auto lines = [](std::size_t length) {
    return static_cast<std::size_t>(holotone::thread_count()) * 17 * (length + 16) * 8;
  };
  const std::size_t padded = PropagationPlan({.grid = grid}).workspace_bytes();
  EXPECT_GE(padded, (200U * 100U + 200U * 50U) * 8U);
  EXPECT_LE(padded, (200U * 100U + 200U * 50U) * 8U + lines(100));
  const std::size_t periodic = PropagationPlan({.grid = grid, .zero_pad = false}).workspace_bytes();
  EXPECT_GE(periodic, (200U * 100U + 100U * 50U) * 8U);
  EXPECT_LE(periodic, (200U * 100U + 104U * 50U) * 8U + lines(50));
}

TEST(PropagationPlan, NamesWhatIsWrong) {
  const FieldGrid grid{64, 32, 8e-6, green};
  const auto make = [](PropagationOptions options) { return [options] { const PropagationPlan plan(options); }; };
  support::expect_error(ErrorCode::invalid_argument, "PropagationPlan: grid: expected nx and ny from 1 to 1048576",
                        make({.grid = {0, 32, 8e-6, green}}));
  support::expect_error(ErrorCode::invalid_argument, "PropagationPlan: pitch_m: expected",
                        make({.grid = {64, 32, 0, green}}));
  support::expect_error(ErrorCode::invalid_argument, "PropagationPlan: wavelength_m: expected",
                        make({.grid = {64, 32, 8e-6, -1}}));
  support::expect_error(ErrorCode::invalid_argument, "pitch_m: expected 1e-09 to 1, got 8",
                        make({.grid = {64, 32, 8, green}}));
  support::expect_error(ErrorCode::invalid_argument, "wavelength_m: expected 1e-08 to 0.001, got 532",
                        make({.grid = {64, 32, 8e-6, 532}}));
  support::expect_error(ErrorCode::invalid_argument, "PropagationPlan: output_pitch_m: expected",
                        make({.grid = grid, .output_pitch_m = -1}));
  support::expect_error(ErrorCode::unsupported,
                        "output_pitch_m: expected the input's 8 um for angular-spectrum, got 10 um",
                        make({.grid = grid, .method = PropagationMethod::angular_spectrum, .output_pitch_m = 1e-5}));
  Array<Complex, 2> field(grid.shape());
  std::fill_n(field.data(), field.size(), Complex{1});
  const auto go = [&](PropagationOptions options, double distance) {
    return [&field, options, distance] { PropagationPlan(options).execute(field.view(), field.view(), distance); };
  };
  support::expect_error(ErrorCode::invalid_argument, "distance_m: expected a finite number, got nan",
                        go({.grid = grid}, std::nan("")));
  support::expect_error(
      ErrorCode::invalid_argument,
      "distance_m: expected at least 7.69925 mm either way for fresnel (N pitch^2 / lambda), got 2 mm",
      go({.grid = grid, .method = PropagationMethod::fresnel}, 0.002));
  support::expect_error(ErrorCode::invalid_argument, "either way for another output pitch",
                        go({.grid = grid, .output_pitch_m = 1e-5}, 0.002));
  support::expect_error(ErrorCode::invalid_argument, "either way for another output pitch",
                        go({.grid = grid, .output_pitch_m = 1e-5}, 0));
  Array<Complex, 2> other({64, 32});
  support::expect_error(ErrorCode::invalid_argument, "output: expected shape {32, 64}, got {64, 32}",
                        [&] { PropagationPlan({.grid = grid}).execute(field.view(), other.view(), 0.1); });
}

// P* is the same method over the opposite distance: gradients rely on it. The distances of fresnel begin with the
// shortest, where the diffraction angle ends just beyond the panel's edge.
TEST_P(Propagation, TheAdjointGoesBack) {
  on_each([](Device device) {
    struct Case {
      FieldGrid grid;
      PropagationMethod method;
      double distance_m;
    };
    const FieldGrid wide{48, 33, 8e-6, green};
    const FieldGrid high{31, 64, 2e-6, green};
    for (const Case& c :
         {Case{wide, PropagationMethod::angular_spectrum, 2e-3}, Case{high, PropagationMethod::angular_spectrum, -5e-3},
          Case{{64, 64, 0.3e-6, green}, PropagationMethod::angular_spectrum, 40e-6},
          Case{wide, PropagationMethod::fresnel, holotone::fresnel_distance_m(wide)},
          Case{high, PropagationMethod::fresnel, -0.2}, Case{wide, PropagationMethod::automatic, 0.1}}) {
      const PropagationOptions options{.grid = c.grid, .method = c.method};
      const Values x = noise(c.grid, 1);
      const Values y = noise(c.grid, 2);
      support::expect_within(
          label("adjoint of " + std::string(to_string(c.method)), c.grid, c.distance_m),
          support::adjoint_error(run(options, x, c.distance_m, device), y, x, run(options, y, -c.distance_m, device)),
          1e-5);
    }
  });
}

TEST(PropagationMethod, HasNames) {
  for (const auto method :
       {PropagationMethod::automatic, PropagationMethod::angular_spectrum, PropagationMethod::fresnel}) {
    EXPECT_EQ(holotone::find_value<PropagationMethod>(to_string(method)), method);
  }
}

}  // namespace
