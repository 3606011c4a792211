// A camera's aperture against the model's colours at the places that its rays pass, in linear light.
#include <holotone/core/colour.hpp>
#include <holotone/smoe/aperture.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr std::int64_t ny = 18;
constexpr std::int64_t nx = 24;

class SmoeApertureTest : public support::OnEachRenderer {};

TEST_P(SmoeApertureTest, IsTheMeanLightOfItsViews) {
  const SmoeModel model = cases::make_smoe({.dimensions = 4, .components = 200});
  const SmoeView view{.size = {ny, nx}, .corner = {10, 8}, .extent = {24, 18}, .at = {0.1, -0.2}};
  const SmoeAperture aperture{.diameter = 0.6, .disparity_px = 5, .views_across = 3};
  // Three by three places, all within the circle.
  std::vector<float> places;
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t col = 0; col < nx; ++col) {
      for (const double dv : {-0.2, 0.0, 0.2}) {
        for (const double du : {-0.2, 0.0, 0.2}) {
          const double x = 10 + static_cast<double>(col) + 0.5 + 5 * du;
          const double y = 8 + static_cast<double>(row) + 0.5 + 5 * dv;
          for (const double part : {x, y, 0.1 + du, -0.2 + dv}) places.push_back(static_cast<float>(part));
        }
      }
    }
  }
  Array<float, 2> colours({std::ssize(places) / 4, 3});
  evaluate(model, View<const float, 2>(places.data(), {std::ssize(places) / 4, 4}), colours.view());
  std::vector<double> expected;
  for (std::int64_t pixel = 0; pixel < ny * nx; ++pixel) {
    for (std::int64_t c = 0; c < 3; ++c) {
      double light = 0;
      for (std::int64_t k = 0; k < 9; ++k) {
        light += srgb_to_linear(std::max(0.0, static_cast<double>(colours(9 * pixel + k, c))));
      }
      expected.push_back(linear_to_srgb(light / 9));
    }
  }
  on_each([&](Device device) {
    SmoeRenderer renderer(model, Queue(device), {.tolerance = 1e-4});
    Array<float, 3> image({ny, nx, 3});
    render_aperture(renderer, view, aperture, image.view(), device);
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(image.data()[i]) - expected[i]));
    }
    std::printf("%s: %.1e of 2e-3\n", to_string(device).c_str(), largest);
    EXPECT_LT(largest, 2e-3);
  });
}

TEST_P(SmoeApertureTest, OfOneViewIsAPinhole) {
  const SmoeModel model = cases::make_smoe({.dimensions = 4, .components = 100});
  const SmoeView view{.size = {ny, nx}, .at = {0, 0}};
  on_each([&](Device device) {
    SmoeRenderer renderer(model, Queue(device));
    Array<float, 3> pinhole({ny, nx, 3}, device);
    renderer.render(view, pinhole.view());
    Array<float, 3> image({ny, nx, 3});
    render_aperture(renderer, view, {.diameter = 0.5, .disparity_px = 9, .views_across = 1}, image.view(), device);
    const auto host = pinhole.to(Device{});
    for (std::int64_t i = 0; i < image.size(); ++i) {
      EXPECT_NEAR(image.data()[i], std::max(0.0F, host.data()[i]), 1e-4F);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Device, SmoeApertureTest, testing::Values("cpu", "cuda", "opencl"));

TEST(SmoeAperture, RefusesWhatIsNone) {
  SmoeRenderer flat(cases::make_smoe({.components = 20}));
  SmoeRenderer field(cases::make_smoe({.dimensions = 4, .components = 20}));
  Array<float, 3> image({4, 5, 3});
  const SmoeView view{.size = {4, 5}, .at = {0, 0}};
  support::expect_error(ErrorCode::invalid_argument, "render_aperture: model: expected a light field, got 2 dimensions",
                        [&] {
                          render_aperture(flat, {.size = {4, 5}, .at = {}}, {}, image.view());
                        });
  support::expect_error(ErrorCode::invalid_argument, "render_aperture: aperture.diameter: expected",
                        [&] { render_aperture(field, view, {.diameter = 0}, image.view()); });
  support::expect_error(ErrorCode::invalid_argument, "render_aperture: view.at: expected 2 coordinates, got 0", [&] {
    render_aperture(field, {.size = {4, 5}, .at = {}}, {}, image.view());
  });
}

}  // namespace
}  // namespace holotone
