// Rays through the layers of a picture with depth, against their intersections with the layers' planes.
#include <holotone/hologram/layer_views.hpp>
#include <tests/support/stereogram_support.hpp>

namespace holotone {
namespace {

constexpr std::int64_t nx = 12;
constexpr std::int64_t ny = 8;
constexpr double pixel_m = 1e-3;

double code(std::int64_t row, std::int64_t column) {
  return 1 + 100 * static_cast<double>(row) + static_cast<double>(column);
}

/// A square of 4 x 4 pixels in the middle, with a dark column.
bool is_square(std::int64_t row, std::int64_t column) { return row >= 2 && row < 6 && column >= 4 && column < 8; }
bool is_dark(std::int64_t row, std::int64_t column) { return is_square(row, column) && column == 5; }

/// The square at one distance, in front of everything else at another.
SlicedPicture sliced(double square_m, double behind_m, double gain = 1) {
  Array<float, 2> light({ny, nx});
  Array<float, 2> distance({ny, nx});
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      light(row, column) = is_dark(row, column) ? 0.0F : static_cast<float>(gain * code(row, column));
      distance(row, column) = static_cast<float>(is_square(row, column) ? square_m : behind_m);
    }
  }
  RgbdPicture picture{light.view(), distance.view(), nx * pixel_m};
  picture.layers = 7;
  picture.spacing = LayerSpacing::distance;
  return slice_picture(picture, {nx, ny, pixel_m, 532e-9});
}

LayerViews make_views(const std::vector<double>& square_m, double behind_m, double pitch_m = pixel_m) {
  std::vector<SlicedPicture> channels;
  for (const double distance : square_m) channels.push_back(sliced(distance, behind_m));
  return {std::move(channels), pitch_m};
}

TEST(LayerViews, NearThingsHideFarOnesFromWhereTheyAreSeen) {
  struct Case {
    double square_m, behind_m;
  };
  for (const auto [square_m, behind_m] : {Case{0.02, 0.05}, Case{-0.03, 0.04}, Case{-0.05, -0.01}}) {
    const LayerViews views = make_views({square_m}, behind_m);
    EXPECT_TRUE(views.has_distances());
    const Rays rays{3.4e-3, -2.3e-3, -0.1813, 0.1427, 3.7e-3, {80, 101}};
    Array<float, 2> light(rays.shape);
    Array<float, 2> distance(rays.shape);
    views.look(rays, 0, light.view(), distance.view());
    std::int64_t of_square = 0;
    std::int64_t of_behind = 0;
    std::int64_t shadowed = 0;
    for (std::int64_t r = 0; r < rays.shape[0]; ++r) {
      for (std::int64_t c = 0; c < rays.shape[1]; ++c) {
        const double cx = rays.first_x + static_cast<double>(c) * rays.step;
        const double cy = rays.first_y - static_cast<double>(r) * rays.step;
        const double cz = std::sqrt(1 - cx * cx - cy * cy);
        // Crossing of the ray with z = -d, in pixels from the picture's upper left corner.
        const auto column_at = [&](double d) {
          return static_cast<std::int64_t>(std::floor((rays.x_m - d * cx / cz) / pixel_m + nx / 2.0));
        };
        const auto row_at = [&](double d) {
          return static_cast<std::int64_t>(std::floor(ny / 2.0 - (rays.y_m - d * cy / cz) / pixel_m));
        };
        double expected = 0;
        double from = 0;
        if (is_square(row_at(square_m), column_at(square_m))) {
          expected = is_dark(row_at(square_m), column_at(square_m)) ? 0 : code(row_at(square_m), column_at(square_m));
          from = square_m;
          ++of_square;
        } else if (const auto row = row_at(behind_m), column = column_at(behind_m);
                   row >= 0 && row < ny && column >= 0 && column < nx) {
          if (is_square(row, column)) {
            ++shadowed;
          } else {
            expected = code(row, column);
            from = behind_m;
            ++of_behind;
          }
        }
        ASSERT_EQ(light(r, c), static_cast<float>(expected)) << r << " " << c;
        if (expected > 0) {
          ASSERT_FLOAT_EQ(distance(r, c), static_cast<float>(from)) << r << " " << c;
        }
      }
    }
    std::printf("square at %g m: %lld rays, %lld past it, %lld from what it hides straight ahead\n", square_m,
                static_cast<long long>(of_square), static_cast<long long>(of_behind), static_cast<long long>(shadowed));
    EXPECT_GT(of_square, 100);
    EXPECT_GT(of_behind, 100);
    EXPECT_GT(shadowed, 10);
  }
}

TEST(LayerViews, EachColourHasItsLight) {
  const LayerViews views = [] {
    std::vector<SlicedPicture> channels;
    for (const double gain : {1.0, 2.0, 3.0}) channels.push_back(sliced(0.02, 0.05, gain));
    return LayerViews(std::move(channels), pixel_m);
  }();
  EXPECT_EQ(views.channels(), 3);
  for (int channel = 0; channel < 3; ++channel) {
    float seen = 0;
    views.look({1e-4, -1e-4, 0, 0, 1e-3, {1, 1}}, channel, {&seen, {1, 1}}, {});
    EXPECT_EQ(seen, static_cast<float>((channel + 1) * code(4, 6)));
  }
}

// Beyond cx^2 + cy^2 = 1 there is no ray.
TEST(LayerViews, DirectionsThatAreNoneAreDark) {
  const LayerViews views = make_views({1e-6}, 2e-6);
  float seen = 1;
  views.look({0, 0, 0.8, 0.8, 1e-3, {1, 1}}, 0, {&seen, {1, 1}}, {});
  EXPECT_EQ(seen, 0);
}

TEST(LayerViews, NamesWhatIsWrong) {
  const auto refused = [&](const char* text, const std::vector<double>& squares, double pitch_m) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { (void)make_views(squares, 0.05, pitch_m); });
  };
  refused("channels: expected 1 or 3 pictures, got 2", {0.02, 0.02}, pixel_m);
  refused("channels: expected 1 or 3 pictures, got 0", {}, pixel_m);
  refused("channels: expected the same layers in each", {0.02, 0.02, 0.03}, pixel_m);
  refused("pitch_m", {0.02}, 0);
}

TEST(LayerViews, RefusesToLookWithAnotherChannelOrShape) {
  const LayerViews views = make_views({1e-6}, 2e-6);
  float seen = 0;
  const auto refuses = [&](const char* text, int channel, Shape<2> rays) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] {
      views.look({0, 0, 0, 0, 1e-3, rays}, channel, {&seen, {1, 1}}, {});
    });
  };
  refuses("LayerViews::look: channel: expected 0 to 0, got 1073741824", 1 << 30, {1, 1});
  refuses("intensity: expected shape {2, 1}", 0, {2, 1});
}

}  // namespace
}  // namespace holotone
