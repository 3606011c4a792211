// Light and pictures half a pixel beside their samples: against float64 and formulas sampled there.
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/random.hpp>
#include <holotone/optics/half_pixel_reconstruction.hpp>
#include <tests/reference/phase_retrieval.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::half_pixels;
using holotone::HalfPixelReconstruction;
using holotone::Queue;
using support::Complex;
using support::expect_error;
using support::expect_within;

constexpr FieldGrid grid{80, 65, 8e-6, 532e-9};
const std::string name = "HalfPixelReconstruction";

/// A beam with a tilt, narrow enough to end within the panel and to hold no fine fringe; moved by pixels.
Array<Complex, 2> beam(double down, double right) {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col) {
      const double y = static_cast<double>(row) + down - 30;
      const double x = static_cast<double>(col) + right - 42;
      const double modulus = std::exp(-(x * x + y * y) / 50) * (1 + 0.5 * std::cos(0.4 * x));
      field(row, col) = Complex(std::polar(modulus, 0.5 * x - 0.3 * y));
    }
  }
  return field;
}

Array<float, 2> light(HalfPixelReconstruction& plan, double distance_m, std::size_t position) {
  Array<float, 2> intensity(grid.shape());
  plan.execute(distance_m, position, intensity.view());
  return intensity;
}

class HalfPixel : public support::OnEachDevice {};

TEST_P(HalfPixel, LightIsThatOfAFieldSampledBeside) {
  on_each([](holotone::Device device) {
    HalfPixelReconstruction plan({.grid = grid}, Queue(device));
    HalfPixelReconstruction moved({.grid = grid}, Queue(device));
    plan.set_field(beam(0, 0).view());
    for (std::size_t p = 0; p < half_pixels.size(); ++p) {
      moved.set_field(beam(0.5 * half_pixels[p][0], 0.5 * half_pixels[p][1]).view());
      for (const double distance_m : {0.0, 2e-3, -4e-3}) {
        const auto shown = light(plan, distance_m, p);
        const auto expected = light(moved, distance_m, 0);
        const std::vector<double> values(expected.host().begin(), expected.host().end());
        expect_within(fmt::format("position {}, {} m", p, distance_m), support::relative_error(shown.data(), values),
                      3e-6);
      }
    }
  });
}

TEST_P(HalfPixel, AtThePixelsItIsTheReconstruction) {
  on_each([](holotone::Device device) {
    const Queue queue(device);
    HalfPixelReconstruction plan({.grid = grid}, queue);
    holotone::ReconstructionPlan simple({.grid = grid}, queue);
    plan.set_field(beam(0, 0).view());
    const auto field = beam(0, 0).to(device);
    simple.set_field(field.view());
    Array<float, 2> intensity(grid.shape(), queue);
    simple.execute(2e-3, intensity.view());
    queue.synchronize();
    const auto expected = intensity.to(holotone::Device{});
    const std::vector<double> values(expected.host().begin(), expected.host().end());
    expect_within("at the pixels", support::relative_error(light(plan, 2e-3, 0).data(), values), 3e-6);
  });
}

HOLOTONE_ON_EACH_DEVICE(HalfPixel);

TEST(HalfPixelPicture, IsTheCosineSeriesBetweenThePixels) {
  // More lines than are moved at once, and single ones.
  for (const reference::Plane plane : {reference::Plane{9, 12, 1}, {37, 33, 1}, {1, 20, 1}, {18, 1, 1}}) {
    Array<float, 2> picture({plane.ny, plane.nx});
    for (std::int64_t i = 0; i < picture.size(); ++i) {
      picture.data()[i] = holotone::random_uniform(2, static_cast<std::uint64_t>(i));
    }
    const auto pictures = holotone::at_half_pixels(picture.view());
    for (std::size_t p = 0; p < half_pixels.size(); ++p) {
      const auto expected = reference::moved_picture({picture.host().begin(), picture.host().end()}, plane,
                                                     0.5 * half_pixels[p][0], 0.5 * half_pixels[p][1]);
      expect_within(fmt::format("{} x {}, position {}", plane.ny, plane.nx, p),
                    support::relative_error(pictures[p].data(), expected), 1e-6);
    }
    EXPECT_TRUE(std::ranges::equal(pictures[0].host(), picture.host()));
  }
}

TEST(HalfPixelPicture, RefusesWhatItCannotMove) {
  const auto code = ErrorCode::invalid_argument;
  expect_error(code, "at_half_pixels: picture: expected a picture, got none",
               [] { (void)holotone::at_half_pixels({}); });
  HalfPixelReconstruction plan({.grid = grid});
  Array<float, 2> intensity(grid.shape());
  Array<float, 2> other({grid.ny, grid.nx + 1});
  expect_error(code, name + ": field: expected set_field before", [&] { plan.execute(0, 0, intensity.view()); });
  Array<Complex, 2> field({grid.nx, grid.ny});
  expect_error(code, name + ": field: expected shape {65, 80}", [&] { plan.set_field(field.view()); });
  plan.set_field(beam(0, 0).view());
  expect_error(code, name + ": position: expected 0 to 3, got 4", [&] { plan.execute(0, 4, intensity.view()); });
  expect_error(code, name + ": intensity: expected shape", [&] { plan.execute(0, 0, other.view()); });
  expect_error(ErrorCode::unsupported, name + ": output_pitch_m: expected the grid's 8e-06",
               [] { HalfPixelReconstruction({.grid = grid, .output_pitch_m = 9e-6}); });
  expect_error(code, name + ": grid: expected nx and ny from 1", [] {
    HalfPixelReconstruction({.grid = {0, 65, 8e-6, 532e-9}});
  });
}

}  // namespace
