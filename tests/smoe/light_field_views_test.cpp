// Rays of a model against its own colours at their positions, and against the same light field as captured views.
#include <holotone/core/colour.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <holotone/smoe/light_field_views.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr double size_m = 12e-3;  // 60 pixels of 200 um
constexpr double view_distance_m = 0.05;
constexpr double width_m = 8e-3;
constexpr double height_m = 6e-3;

LightFieldOptions options_at(double distance_m) {
  LightFieldOptions options;
  options.geometry = {view_distance_m, width_m, height_m, 0, distance_m, size_m};
  options.tolerance = 1e-5;
  return options;
}

/// Position {x, y, u, v} in the model of a ray through (px, py), by definition.
std::array<double, 4> model_position(double px, double py, double slope_x, double slope_y, double distance_m) {
  return {30 + (px - distance_m * slope_x) / 200e-6, 22.5 - (py - distance_m * slope_y) / 200e-6,
          (px + view_distance_m * slope_x) / (width_m / 2), -(py + view_distance_m * slope_y) / (height_m / 2)};
}

struct Difference {
  double largest = 0;
  double mean_square = 0;
  std::int64_t lit = 0;
};

/// Differences over all rays of a grid from the sum of all components.
Difference measure_difference(const SmoeModel& model, const LightFieldViews& views, const Rays& rays,
                              double distance_m) {
  Array<float, 2> intensity(rays.shape);
  Difference difference;
  const auto experts = cases::experts_of(model);
  const std::array<double, 3> luminance{0.2126, 0.7152, 0.0722};
  const bool one = views.channels() == 1 && model.channels >= 3;
  for (int channel = 0; channel < views.channels(); ++channel) {
    views.look(rays, channel, intensity.view(), {});
    for (std::int64_t row = 0; row < rays.shape[0]; ++row) {
      for (std::int64_t column = 0; column < rays.shape[1]; ++column) {
        double x = 0;
        double y = 0;
        slopes_of(rays, row, column, x, y);
        const auto at = model_position(rays.x_m, rays.y_m, x, y, distance_m);
        const bool inside = at[0] >= 0 && at[0] <= 60 && at[1] >= 0 && at[1] <= 45 && std::abs(at[2]) <= 1 &&
                            (model.dimensions == 3 || std::abs(at[3]) <= 1);
        double expected = 0;
        if (inside) {
          const auto colours = reference::mixture(experts, {at.begin(), at.begin() + model.dimensions});
          const auto light = [&](std::size_t c) {
            return model.linear ? std::max(0.0, colours[c]) : srgb_to_linear(std::max(0.0, colours[c]));
          };
          if (one) {
            for (std::size_t c = 0; c < 3; ++c) expected += luminance[c] * light(c);
          } else {
            expected = light(static_cast<std::size_t>(channel));
          }
          ++difference.lit;
        }
        const double error = std::abs(static_cast<double>(intensity(row, column)) - expected);
        difference.largest = std::isnan(error) ? INFINITY : std::max(difference.largest, error);
        difference.mean_square += inside ? error * error : 0;
      }
    }
  }
  difference.mean_square /= static_cast<double>(std::max<std::int64_t>(1, difference.lit));
  return difference;
}

/// `count` x `count` rays around the axis, up to slopes that reach the edge of cameras and picture: with 60 pixels, up
/// to two rays per pixel.
Rays rays_of(std::int64_t count, double x, double y, double distance_m = 0) {
  const double half = std::min(0.11, 1.2 * size_m / 2 / std::max(1e-3, std::abs(distance_m)));
  const double step = 2 * half / static_cast<double>(count - 1);
  return {x, y, -half, half, step, {count, count}};
}

SmoeModel make_model(int dimensions, int channels, bool linear) {
  auto model = cases::make_smoe({.dimensions = dimensions, .channels = channels, .components = 70, .seed = 11});
  model.linear = linear;
  return model;
}

class LightField : public support::OnEachRenderer {};

// Rays between the samples of a slice's picture are interpolated by cubic convolution. Its error decreases at least
// with the cube of the step. Rays as dense as for a hogel of 96 have at most 1e-2 of the brightest.
TEST_P(LightField, RaysAreTheModelsColoursWhereTheyGo) {
  on_each([](Device device) {
    for (const double distance : {0.0, 0.03, 0.4, -0.02}) {
      const auto model = make_model(4, 1, true);
      const LightFieldViews views(model, options_at(distance), device);
      for (const auto& [x, y] : {std::pair{0.0, 0.0}, std::pair{1.5e-3, -0.8e-3}}) {
        const auto coarse = measure_difference(model, views, rays_of(48, x, y, distance), distance);
        const auto fine = measure_difference(model, views, rays_of(96, x, y, distance), distance);
        const double rms = std::sqrt(fine.mean_square);
        std::printf("d = %+.2f m, %lld rays: rms error %.1e at 48, %.1e at 96; largest %.1e\n", distance,
                    static_cast<long long>(fine.lit), std::sqrt(coarse.mean_square), rms, fine.largest);
        EXPECT_GT(fine.lit, 200);
        EXPECT_LE(rms, std::max(1e-5, std::sqrt(coarse.mean_square) / 4));
        EXPECT_LE(rms, 1e-2);
      }
    }
  });
}

TEST_P(LightField, ColoursLuminanceAndModelsWithoutV) {
  on_each([](Device device) {
    struct Case {
      int dimensions;
      int channels;
      bool linear;
      bool luminance;
    };
    for (const Case& c : {Case{4, 3, false, false}, Case{4, 3, true, true}, Case{3, 3, false, true},
                          Case{3, 1, true, false}, Case{4, 4, true, false}}) {
      const auto model = make_model(c.dimensions, c.channels, c.linear);
      auto options = options_at(0.03);
      options.luminance = c.luminance;
      const LightFieldViews views(model, options, device);
      EXPECT_EQ(views.channels(), c.channels >= 3 && !c.luminance ? 3 : 1);
      const auto error = measure_difference(model, views, rays_of(72, 0.5e-3, 0.2e-3), 0.03);
      std::printf("%d dimensions, %d channels: rms error %.1e\n", c.dimensions, c.channels,
                  std::sqrt(error.mean_square));
      EXPECT_LE(std::sqrt(error.mean_square), 1e-2);
      EXPECT_GT(error.lit, 200);
    }
  });
}

HOLOTONE_ON_EACH_DEVICE(LightField);

// Two representations of one light field agree: 9 x 7 views rendered from the model, and the model itself.
TEST(LightFieldViews, AgreeWithCapturedViews) {
  const auto model = make_model(4, 1, true);
  Array<float, 5> pictures({7, 9, 90, 120, 1});
  SmoeRenderer renderer(model);
  for (std::int64_t v = 0; v < 7; ++v) {
    for (std::int64_t u = 0; u < 9; ++u) {
      renderer.render({{90, 120}, {}, {}, {static_cast<double>(u) / 4 - 1, static_cast<double>(v) / 3 - 1}},
                      View<float, 3>(pictures.data() + (v * 9 + u) * 90 * 120, {90, 120, 1}));
    }
  }
  for (float& value : pictures.host()) value = std::max(value, 0.0F);
  const ViewGrid grid(std::move(pictures), {view_distance_m, width_m / 8, 0.03, size_m});
  const LightFieldViews views(model, options_at(0.03));
  const auto rays = rays_of(80, 0.7e-3, -0.4e-3);
  Array<float, 2> captured(rays.shape);
  Array<float, 2> rendered(rays.shape);
  grid.look(rays, 0, captured.view(), {});
  views.look(rays, 0, rendered.view(), {});
  double error = 0;
  double norm = 0;
  std::int64_t lit = 0;
  for (std::int64_t i = 0; i < rendered.size(); ++i) {
    if (rendered.data()[i] == 0) continue;  // captured views extend by half a camera pitch
    ++lit;
    error += std::pow(static_cast<double>(captured.data()[i] - rendered.data()[i]), 2);
    norm += std::pow(static_cast<double>(rendered.data()[i]), 2);
  }
  EXPECT_GT(lit, 500);
  support::expect_within("views against model", std::sqrt(error / norm), 0.03);
}

TEST(LightFieldViews, RefusesWhatIsNone) {
  const auto model = make_model(4, 3, false);
  const auto refuses = [&](const char* text, const SmoeModel& wrong, const LightFieldOptions& options) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { const LightFieldViews views(wrong, options); });
  };
  refuses("a light field's, of 3 or 4 dimensions, got 2", make_model(2, 3, false), options_at(0));
  refuses("distance_m: expected more than -5 cm", model, options_at(-0.05));
  auto none = options_at(0);
  none.geometry.width_m = 0;
  refuses("width_m", model, none);
  none = options_at(0);
  none.geometry.margin_m = -1;
  refuses("margin_m", model, none);
}

}  // namespace
}  // namespace holotone
