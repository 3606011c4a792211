// Views of models against the renderer's own pictures.
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/mixture_views.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

/// Two soft blobs of which one moves with u: a box of 32 x 24 pixels, u from -1 to 1.
SmoeModel model() {
  SmoeModel model;
  model.dimensions = 3;
  model.channels = 1;
  model.low = {0, 0, -1};
  model.high = {32, 24, 1};
  model.log_weight = {0, 0};
  model.centre = {8, 12, 0, 20, 12, 0};
  model.covariance = {16, 0, 25, 0, 0, 1, 16, 0, 25, 3, 0, 1};
  model.colour = {0.2F, 0.9F};
  model.slope = {0, 0, 0, 0, 0, 0};
  return model;
}

class MixtureViews : public support::OnEachDevice {};

TEST_P(MixtureViews, ThePlainViewIsTheModelsBoxAndItsMiddle) {
  on_each([](Device device) {
    const SmoeModel mixture = model();
    const SmoeView view = mixture_view(mixture);
    EXPECT_EQ(view.size, (Shape<2>{24, 32}));
    EXPECT_EQ(view.at, std::vector<double>{0});
    SmoeRenderer renderer(mixture, device);
    const auto image = render_mixture(renderer, view, {}, device);
    Array<float, 3> expected({24, 32, 1}, device);
    renderer.render({{24, 32}, {}, {}, {0}}, expected.view());
    const auto host = expected.to(Device{});
    for (std::int64_t i = 0; i < host.size(); ++i) EXPECT_EQ(image.data()[i], host.data()[i]);
  });
}

TEST_P(MixtureViews, AnEpipolarImageHasOneRowOfEachView) {
  on_each([](Device device) {
    SmoeRenderer renderer(model(), device);
    const SmoeView view = mixture_view(renderer.model(), {.size = {5, 40}, .epipolar_y = 11});
    EXPECT_EQ(view.size, (Shape<2>{5, 40}));
    const auto image = epipolar_image(renderer, view, -1, 1, device);
    for (int i = 0; i < 5; ++i) {
      SmoeView row = view;
      row.size = {1, 40};
      row.at = {-1 + 0.5 * i};
      const auto alone = render_mixture(renderer, row, {}, device);
      for (std::int64_t x = 0; x < 40; ++x) EXPECT_NEAR(image(i, x, 0), alone(0, x, 0), 2e-3);
    }
    EXPECT_GT(std::abs(image(0, 20, 0) - image(4, 20, 0)), 0.1);  // it moves
  });
}

HOLOTONE_ON_CPU_AND_CUDA(MixtureViews);

TEST(MixtureViewOptions, ChooseAPartASizeAndARow) {
  const auto part = mixture_view(model(), {.size = {10, 20}, .crop = {{1, 2, 8, 4}}, .at = {0.5}});
  EXPECT_EQ(part.size, (Shape<2>{10, 20}));
  EXPECT_EQ(part.corner, (std::array<double, 2>{1, 2}));
  EXPECT_EQ(part.extent, (std::array<double, 2>{8, 4}));
  EXPECT_EQ(part.at, std::vector<double>{0.5});
  EXPECT_EQ(mixture_view(model(), {.crop = {{0, 0, 7.6, 4}}}).size, (Shape<2>{4, 8}));
  const auto row = mixture_view(model(), {.epipolar_y = 3});
  EXPECT_EQ(row.size, (Shape<2>{120, 32}));
  EXPECT_EQ(row.corner[1], 3);
  SmoeModel huge = model();
  huge.high[0] = 1e6;
  EXPECT_THROW((void)mixture_view(huge), Error);
  EXPECT_THROW((void)mixture_view(model(), {.at = {0, 0}}), Error);
}

TEST(MixtureViewOptions, PositionsStandEvenlyOnALine) {
  EXPECT_EQ(positions_on_line({-1, 0}, {1, 2}, 3), (std::vector<std::vector<double>>{{-1, 0}, {0, 1}, {1, 2}}));
  EXPECT_EQ(positions_on_line({-1}, {1}, 1), (std::vector<std::vector<double>>{{0}}));
  EXPECT_THROW((void)positions_on_line({-1}, {1}, 0), Error);
  EXPECT_THROW((void)positions_on_line({-1}, {1, 2}, 2), Error);
}

}  // namespace
}  // namespace holotone
