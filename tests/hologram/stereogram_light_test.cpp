// Light of a stereogram beyond the panel: points focus, and eyes receive their own views.
#include <holotone/core/random.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <tests/support/stereogram_support.hpp>

namespace holotone {
namespace {

using stereograms::Light;
using stereograms::SceneSource;
using stereograms::whole_field;

/// A small bright ball of a scene at (x, y), `distance` behind the panel.
SceneSource ball(double x, double y, double distance, double radius) {
  return SceneSource([=](double from_x, double from_y, double slope_x, double slope_y) {
    const double away = std::hypot(from_x - distance * slope_x - x, from_y - distance * slope_y - y);
    return Light{away <= radius ? 1.0 : 0.0, distance};
  });
}

struct Spot {
  double x_m = 0;
  double y_m = 0;
  double width_m = 0;  ///< root mean square distance from the middle
};

/// Middle and width of the light at a distance behind the panel.
Spot spot_at(const Array<Complex, 2>& field, const FieldGrid& grid, double distance) {
  PropagationPlan plan({.grid = grid, .method = PropagationMethod::angular_spectrum});
  Array<float, 2> intensity(grid.shape());
  plan.execute_intensity(field.view(), intensity.view(), -distance);
  double sum = 0;
  Spot spot;
  const auto place = [&](std::int64_t row, std::int64_t column) {
    return std::pair{(static_cast<double>(column) - 0.5 * static_cast<double>(grid.nx - 1)) * grid.pitch_m,
                     (0.5 * static_cast<double>(grid.ny - 1) - static_cast<double>(row)) * grid.pitch_m};
  };
  double squares = 0;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const auto [x, y] = place(row, column);
      // Squared, so that light diffracted far away has little weight.
      const double weight = std::pow(static_cast<double>(intensity(row, column)), 2);
      sum += weight;
      spot.x_m += weight * x;
      spot.y_m += weight * y;
      squares += weight * (x * x + y * y);
    }
  }
  spot.x_m /= sum;
  spot.y_m /= sum;
  spot.width_m = std::sqrt(squares / sum - spot.x_m * spot.x_m - spot.y_m * spot.y_m);
  return spot;
}

class StereogramLight : public support::OnEachDevice {};

// One hogel as wide as the panel. With layers a point has a focus of width lambda d / W at its distance alone. Without
// layers its ray is as wide as the hogel there. Points are behind the panel and in front (negative).
TEST_P(StereogramLight, APointRefocusesAtItsDistance) {
  on_each([](Device device) {
    const FieldGrid grid{256, 256, 2e-6, 532e-9};
    StereogramOptions options{.grid = grid, .hogel_px = 256, .method = StereogramMethod::layered, .layers = 8};
    for (const double distance : {6e-3, -6e-3}) {
      const double sharp = grid.wavelength_m * std::abs(distance) / (256 * grid.pitch_m);  // 6.2 um
      // Centre of one of the hogel's rays: 10 steps to the right and 6 down.
      const double x = -distance * 10 * grid.wavelength_m / (256 * grid.pitch_m);
      const double y = distance * 6 * grid.wavelength_m / (256 * grid.pitch_m);
      const auto source = ball(x, y, distance, 0.4 * sharp);
      options.method = StereogramMethod::layered;
      const auto deep = whole_field(source, options, device);
      const Spot focused = spot_at(deep, grid, distance);
      const Spot mirrored = spot_at(deep, grid, -distance);
      const Spot beyond = spot_at(deep, grid, 1.5 * distance);
      options.method = StereogramMethod::flat;
      const Spot flat = spot_at(whole_field(source, options, device), grid, distance);
      std::printf(
          "d = %+.1f mm: %.1f um wide at %.1f, %.1f um (expected %.1f, %.1f); at -d %.1f um, at 1.5 d %.1f um, flat "
          "%.1f um\n",
          1e3 * distance, 1e6 * focused.width_m, 1e6 * focused.x_m, 1e6 * focused.y_m, 1e6 * x, 1e6 * y,
          1e6 * mirrored.width_m, 1e6 * beyond.width_m, 1e6 * flat.width_m);
      EXPECT_NEAR(focused.x_m, x, 0.5 * sharp);
      EXPECT_NEAR(focused.y_m, y, 0.5 * sharp);
      EXPECT_LE(focused.width_m, sharp);
      EXPECT_GE(beyond.width_m, 3 * sharp);
      EXPECT_GE(mirrored.width_m, 3 * sharp);
      EXPECT_GE(flat.width_m, 3 * sharp);
    }
  });
}

// Many hogels: each sends its own ray, and all meet at the point, within half a ray's width of its position.
TEST_P(StereogramLight, HogelsMeetAtAPoint) {
  on_each([](Device device) {
    const FieldGrid grid{512, 512, 2e-6, 532e-9};
    for (const double distance : {12e-3, -12e-3}) {
      const StereogramOptions options{
          .grid = grid, .hogel_px = 64, .method = StereogramMethod::layered, .layers = 8, .seed = 2};
      const double x = 150e-6;
      const double y = -90e-6;
      const double step = grid.wavelength_m * std::abs(distance) / (64 * grid.pitch_m);  // a ray's width: 50 um
      const auto field = whole_field(ball(x, y, distance, 0.6 * step), options, device);
      const Spot focused = spot_at(field, grid, distance);
      const Spot panel = spot_at(field, grid, 0);
      std::printf("d = %+.0f mm: %.1f um wide at %.1f, %.1f um, on the panel %.1f um\n", 1e3 * distance,
                  1e6 * focused.width_m, 1e6 * focused.x_m, 1e6 * focused.y_m, 1e6 * panel.width_m);
      EXPECT_NEAR(focused.x_m, x, 0.5 * step);
      EXPECT_NEAR(focused.y_m, y, 0.5 * step);
      EXPECT_LE(focused.width_m, 1.2 * step);
      EXPECT_GE(panel.width_m, 4 * step);
    }
  });
}

/// Correlation coefficient of two pictures.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean_a += a[i] / static_cast<double>(a.size());
    mean_b += b[i] / static_cast<double>(a.size());
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

/// A light field with different views: blobs on three planes, which shift against each other from view to view.
class Eyes {
 public:
  static constexpr std::int64_t side = 7;  // of the grid of cameras
  static constexpr std::int64_t count = side * side;
  static constexpr std::int64_t n = 32;  // pixels of a view
  static constexpr double camera_pitch_m = 2.2e-3;

  Array<float, 5> views() const {
    Array<float, 5> views({side, side, n, n, 1});
    for (std::int64_t i = 0; i < views.size(); ++i) {
      const auto x = static_cast<double>(i % n);
      const auto y = static_cast<double>(i / n % n);
      const double shift_x = 3 * static_cast<double>(i / (n * n) % side - side / 2);
      const double shift_y = 3 * static_cast<double>(i / (n * n * side) - side / 2);
      double sum = 0.05;
      for (std::uint64_t blob = 0; blob < 15; ++blob) {
        const double moves = blob % 3 == 0 ? 0 : blob % 3 == 1 ? 1 : -1;
        const double middle_x = 32 * random_uniform64(8, 2 * blob) + moves * shift_x;
        const double middle_y = 32 * random_uniform64(8, 2 * blob + 1) + moves * shift_y;
        sum += std::exp(-0.5 * (std::pow(x - middle_x, 2) + std::pow(y - middle_y, 2)) / 4);
      }
      views.data()[i] = static_cast<float>(sum);
    }
    return views;
  }

  /// Correlation of view i with the picture seen.
  static double likeness(const Array<float, 5>& views, std::int64_t i, const std::vector<double>& seen) {
    const float* const view = views.data() + i * n * n;
    return correlation(seen, {view, view + n * n});
  }
};

/// Adds the middle 250 of the panel's 256 pixels, averaged to the pixels of a view.
void add_picture(const Array<float, 2>& intensity, std::vector<double>& seen) {
  for (std::int64_t row = 3; row < 253; ++row) {
    for (std::int64_t column = 3; column < 253; ++column) {
      const std::int64_t pixel = (row - 3) * Eyes::n / 250 * Eyes::n + (column - 3) * Eyes::n / 250;
      seen[static_cast<std::size_t>(pixel)] += static_cast<double>(intensity(row, column));
    }
  }
}

// The picture through the pupil of an eye at the place of nine of the 49 cameras is most similar to that camera's view.
TEST(StereogramViews, NineEyesSeeTheirOwnView) {
  const Eyes eyes;
  const double view_distance = 0.06;
  const double picture_m = 0.5e-3;
  const FieldGrid grid{256, 256, 2e-6, 532e-9};  // 7.6 degrees: 8 mm at 60 mm
  const auto views = eyes.views();
  const ViewGrid source(eyes.views(), {view_distance, Eyes::camera_pitch_m, 0, picture_m});
  constexpr std::int64_t phases = 16;
  std::vector<Array<Complex, 2>> fields;
  for (std::int64_t seed = 0; seed < phases; ++seed) {
    fields.push_back(whole_field(source, {.grid = grid, .hogel_px = 8, .seed = static_cast<std::uint64_t>(seed)}));
  }
  double min_margin = 1;
  double min_own = 1;
  Array<float, 2> intensity(grid.shape());
  for (const std::int64_t v : {1, 3, 5}) {
    for (const std::int64_t u : {1, 3, 5}) {
      const Aperture pupil{static_cast<double>(u - 3) * Eyes::camera_pitch_m,
                           static_cast<double>(3 - v) * Eyes::camera_pitch_m, 2e-3, view_distance};
      ReconstructionPlan plan({.grid = grid, .aperture = pupil});
      std::vector<double> seen(static_cast<std::size_t>(Eyes::n * Eyes::n));
      for (const auto& field : fields) {
        plan.set_field(field.view());
        plan.execute(0, intensity.view());
        add_picture(intensity, seen);
      }
      const std::int64_t mine = v * Eyes::side + u;
      const double likeness = Eyes::likeness(views, mine, seen);
      double other = -1;
      for (std::int64_t i = 0; i < Eyes::count; ++i) {
        if (i != mine) other = std::max(other, Eyes::likeness(views, i, seen));
      }
      EXPECT_GT(likeness, other + 0.04) << "eye " << u - 3 << ", " << 3 - v;
      min_margin = std::min(min_margin, likeness - other);
      min_own = std::min(min_own, likeness);
    }
  }
  EXPECT_GT(min_own, 0.6);
  std::printf("least correlation with the own view %.3f, least margin to the next best of 48 %.3f\n", min_own,
              min_margin);
}

HOLOTONE_ON_EACH_DEVICE(StereogramLight);

}  // namespace
}  // namespace holotone
