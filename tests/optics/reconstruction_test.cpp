// Holograms of points by formula focus at the points; the pupil gives perspective and depth of field. On every device.
#include <algorithm>
#include <cmath>
#include <holotone/optics/reconstruction.hpp>
#include <numbers>
#include <optional>
#include <tests/reference/propagation.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>

namespace {

using holotone::Aperture;
using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::PropagationMethod;
using holotone::Queue;
using holotone::ReconstructionOptions;
using holotone::ReconstructionPlan;
using reference::Plane;
using support::Complex;
using support::Complex64;
using support::reference_plane;
using Values = std::vector<Complex64>;

constexpr double green = 532e-9;

struct Point {
  double x = 0;
  double y = 0;
  double distance_m = 0;
};

/// Zone plate of a point: +pi r^2 / (lambda d), on the pixels where no fringe is finer than the pitch.
Values zone_plate(const FieldGrid& grid, const Point& point) {
  const Plane plane = reference_plane(grid);
  const double reach = grid.wavelength_m * std::abs(point.distance_m) / (2 * grid.pitch_m);
  Values values(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      const double dx = plane.x(col) - point.x;
      const double dy = plane.y(row) - point.y;
      if (std::abs(dx) > reach || std::abs(dy) > reach) continue;
      values[plane.at(row, col)] = reference::turn((dx * dx + dy * dy) / (2 * grid.wavelength_m * point.distance_m));
    }
  }
  return values;
}

using Picture = std::vector<double>;

/// Intensity at every distance of a sweep.
std::vector<Picture> sweep(const ReconstructionOptions& options, const Values& field,
                           const std::vector<double>& distances, Device device) {
  const Queue queue(device);
  ReconstructionPlan plan(options, queue);
  plan.set_field(support::upload(field, options.grid.shape(), device).view());
  Array<float, 2> intensity(options.grid.shape(), queue);
  std::vector<Picture> pictures;
  for (const double distance : distances) {
    plan.execute(distance, intensity.view());
    queue.synchronize();
    const auto host = intensity.to(Device{});
    pictures.emplace_back(host.host().begin(), host.host().end());
  }
  return pictures;
}

struct Spot {
  double x = 0;  ///< brightest pixel
  double y = 0;
  double peak = 0;
};

Spot brightest(const Picture& picture, const Plane& plane) {
  const auto at = std::max_element(picture.begin(), picture.end());
  const auto index = at - picture.begin();
  return {plane.x(index % plane.nx), plane.y(index / plane.nx), *at};
}

/// Centre of the light.
Spot centroid(const Picture& picture, const Plane& plane) {
  Spot spot;
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      const double light = picture[plane.at(row, col)];
      spot.x += light * plane.x(col);
      spot.y += light * plane.y(row);
      spot.peak += light;
    }
  }
  spot.x /= spot.peak;
  spot.y /= spot.peak;
  return spot;
}

/// Radius about a centre that contains half of the light.
double half_light_radius(const Picture& picture, const Plane& plane, const Spot& centre) {
  std::vector<std::pair<double, double>> by_radius;
  double total = 0;
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      const double light = picture[plane.at(row, col)];
      by_radius.emplace_back(std::hypot(plane.x(col) - centre.x, plane.y(row) - centre.y), light);
      total += light;
    }
  }
  std::sort(by_radius.begin(), by_radius.end());
  double sum = 0;
  for (const auto& [radius, light] : by_radius) {
    sum += light;
    if (sum >= total / 2) return radius;
  }
  return INFINITY;
}

class Reconstruction : public support::OnEachDevice {};

// Far points have a wider pitch. Through a small panel the brightest point shifts toward the panel, which is physical
// (focal shift at a low Fresnel number).
TEST_P(Reconstruction, APointIsBrightestAtItsDistanceAndPlace) {
  on_each([](Device device) {
    for (const auto method :
         {PropagationMethod::automatic, PropagationMethod::angular_spectrum, PropagationMethod::fresnel}) {
      for (const double distance : {0.05, 0.1, 0.2, 0.5, 1.0, -0.05, -0.1, -0.2, -0.5, -1.0}) {
        SCOPED_TRACE(std::string(to_string(method)) + " at " + std::to_string(distance));
        const FieldGrid grid{161, 150, std::abs(distance) < 0.4 ? 8e-6 : 20e-6, green};
        const Plane plane = reference_plane(grid);
        const Point point{plane.x(100), plane.y(60), distance};
        const std::vector<double> distances = {0.7 * distance, 0.85 * distance, distance,
                                               1.2 * distance, 1.45 * distance, -distance};
        const auto pictures = sweep({.grid = grid, .method = method}, zone_plate(grid, point), distances, device);
        const Spot focus = brightest(pictures[2], plane);
        EXPECT_NEAR(focus.x, point.x, 1e-9);
        EXPECT_NEAR(focus.y, point.y, 1e-9);
        for (const std::size_t other : {0U, 1U, 3U, 4U, 5U}) {
          EXPECT_GT(focus.peak, 1.05 * brightest(pictures[other], plane).peak) << distances[other];
        }
      }
    }
  });
}

// In focus the peak is (lit area / (lambda d))^2: the light of the whole hologram arrives in phase.
TEST_P(Reconstruction, TheFocusHasTheHeightOfItsHologram) {
  on_each([](Device device) {
    const FieldGrid grid{128, 120, 8e-6, green};
    const Plane plane = reference_plane(grid);
    for (const double distance : {0.05, -0.08, 0.3}) {
      const Point point{plane.x(70), plane.y(50), distance};
      const auto picture =
          sweep({.grid = grid, .method = PropagationMethod::fresnel}, zone_plate(grid, point), {distance}, device);
      const double area = 128 * 120 * grid.pitch_m * grid.pitch_m;  // all of the panel is lit at these distances
      const double expected = std::pow(area / (green * distance), 2);
      support::expect_within("peak at " + std::to_string(distance),
                             std::abs(brightest(picture[0], plane).peak / expected - 1), 1e-5);
    }
  });
}

// A sweep keeps its scale: the same pixel at every distance and through both methods.
TEST_P(Reconstruction, TheSweepKeepsItsScaleAcrossTheMethods) {
  on_each([](Device device) {
    const FieldGrid grid{192, 160, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const double limit = holotone::fresnel_distance_m(grid);
    const ReconstructionPlan plan({.grid = grid});
    EXPECT_EQ(plan.method_for(0.95 * limit), PropagationMethod::angular_spectrum);
    EXPECT_EQ(plan.method_for(4 * limit), PropagationMethod::fresnel);
    for (const double distance : {0.95 * limit, 4 * limit}) {
      const Point point{plane.x(30), plane.y(121), distance};
      const auto picture = sweep({.grid = grid}, zone_plate(grid, point), {distance}, device);
      const Spot focus = brightest(picture[0], plane);
      EXPECT_NEAR(focus.x, point.x, 1e-9);
      EXPECT_NEAR(focus.y, point.y, 1e-9);
    }
  });
}

TEST_P(Reconstruction, AnotherPitchShowsTheSameSpotElsewhere) {
  on_each([](Device device) {
    const FieldGrid grid{128, 128, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const Plane wide{128, 128, 16e-6};
    const double distance = 0.1;
    const Point point{wide.x(100), wide.y(30), distance};  // 0.58 mm off axis, beyond the panel's edge
    const auto picture = sweep({.grid = grid, .output_pitch_m = 16e-6}, zone_plate(grid, point), {distance}, device);
    EXPECT_GT(point.x, plane.x(127));
    const Spot focus = brightest(picture[0], wide);
    EXPECT_NEAR(focus.x, point.x, 1e-9);
    EXPECT_NEAR(focus.y, point.y, 1e-9);
  });
}

// With a pupil at the right, objects behind the plane of focus shift to the right. The ray from the pupil at (X, v)
// through the point at (0, -d2) meets the plane at -d1 in X (d2 - d1) / (v + d2).
TEST_P(Reconstruction, ThePupilsPlaceGivesPerspective) {
  on_each([](Device device) {
    const FieldGrid grid{256, 240, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const double focus = 0.05;
    const double far = 0.15;
    const double viewer = 0.5;
    const auto hologram = zone_plate(grid, {0, 0, far});
    const auto near_hologram = zone_plate(grid, {0, 0, focus});
    const struct { double x, y; } pupils[] = {{2e-3, 0}, {-2e-3, 0}, {0, 1.8e-3}, {1.5e-3, -1.5e-3}};
    for (const auto& pupil : pupils) {
      const ReconstructionOptions options{
          .grid = grid,
          .aperture = Aperture{.x_m = pupil.x, .y_m = pupil.y, .diameter_m = 1.2e-3, .distance_m = viewer}};
      const Spot seen = centroid(sweep(options, hologram, {focus}, device)[0], plane);
      const double share = (far - focus) / (viewer + far);
      std::printf("pupil %+.1f %+.1f mm: far point at %+.3f %+.3f mm, geometry %+.3f %+.3f mm\n", pupil.x * 1e3,
                  pupil.y * 1e3, seen.x * 1e3, seen.y * 1e3, share * pupil.x * 1e3, share * pupil.y * 1e3);
      EXPECT_NEAR(seen.x, share * pupil.x, 0.03e-3);
      EXPECT_NEAR(seen.y, share * pupil.y, 0.03e-3);
      // A point in focus does not shift.
      const Spot still = brightest(sweep(options, near_hologram, {focus}, device)[0], plane);
      EXPECT_NEAR(still.x, 0, 2 * grid.pitch_m);
      EXPECT_NEAR(still.y, 0, 2 * grid.pitch_m);
    }
  });
}

TEST_P(Reconstruction, ASmallerPupilHasMoreDepthOfFieldAndLessSharpness) {
  on_each([](Device device) {
    const FieldGrid grid{256, 256, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const auto far = zone_plate(grid, {0, 0, 0.3});
    double blur[2];
    double sharp[2];
    double light[2];
    const double diameters[] = {4e-3, 1e-3};
    for (int i = 0; i < 2; ++i) {
      const ReconstructionOptions options{.grid = grid,
                                          .aperture = Aperture{.diameter_m = diameters[i], .distance_m = 0.5}};
      const auto pictures = sweep(options, far, {0.05, 0.3}, device);
      blur[i] = half_light_radius(pictures[0], plane, {});
      sharp[i] = half_light_radius(pictures[1], plane, {});
      light[i] = centroid(pictures[0], plane).peak;
    }
    std::printf("half-light radius out of focus %.3f, %.3f mm; in focus %.3f, %.3f mm; light %.2e, %.2e\n",
                blur[0] * 1e3, blur[1] * 1e3, sharp[0] * 1e3, sharp[1] * 1e3, light[0], light[1]);
    EXPECT_LT(blur[1], 0.6 * blur[0]);
    EXPECT_GT(sharp[1], 2 * sharp[0]);
    EXPECT_LT(light[1], 0.15 * light[0]);  // a sixteenth of the area
  });
}

// Against the formula in float64: quadratic phase, transform, disc, inverse.
TEST_P(Reconstruction, ThePupilIsTheDocumentedWindow) {
  on_each([](Device device) {
    const FieldGrid grid{45, 32, 8e-6, green};
    const Plane plane = reference_plane(grid);
    const Aperture pupil{.x_m = 1.1e-3, .y_m = -0.4e-3, .diameter_m = 0.9e-3, .distance_m = 0.05};
    Values field(plane.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      field[i] = Complex64(Complex(std::polar(1.0, 0.37 * static_cast<double>(i * i % 101))));
    }
    const std::int64_t ly = 64;
    const std::int64_t lx = 90;
    Values padded(static_cast<std::size_t>(ly * lx));
    const auto q = [&](std::int64_t row, std::int64_t col) {
      return reference::turn((std::pow(plane.x(col), 2) + std::pow(plane.y(row), 2)) / (2 * green * pupil.distance_m));
    };
    for (std::int64_t row = 0; row < plane.ny; ++row) {
      for (std::int64_t col = 0; col < plane.nx; ++col) {
        padded[static_cast<std::size_t>(row * lx + col)] = field[plane.at(row, col)] * q(row, col);
      }
    }
    auto spectrum = reference::dft(padded, ly, lx, -1);
    int open = 0;
    for (std::int64_t ky = 0; ky < ly; ++ky) {
      for (std::int64_t kx = 0; kx < lx; ++kx) {
        const double fx = static_cast<double>(2 * kx <= lx ? kx : kx - lx) / (static_cast<double>(lx) * grid.pitch_m);
        const double f_row =
            static_cast<double>(2 * ky <= ly ? ky : ky - ly) / (static_cast<double>(ly) * grid.pitch_m);
        const double x = green * pupil.distance_m * fx;
        const double y = -green * pupil.distance_m * f_row;  // rows count downwards
        const bool passes = std::hypot(x - pupil.x_m, y - pupil.y_m) <= pupil.diameter_m / 2;
        open += passes;
        spectrum[static_cast<std::size_t>(ky * lx + kx)] *= passes ? 1.0 / static_cast<double>(lx * ly) : 0.0;
      }
    }
    EXPECT_GT(open, 100);
    const auto filtered = reference::dft(spectrum, ly, lx, +1);
    Values expected(plane.size());
    for (std::int64_t row = 0; row < plane.ny; ++row) {
      for (std::int64_t col = 0; col < plane.nx; ++col) {
        expected[plane.at(row, col)] =
            std::norm(filtered[static_cast<std::size_t>(row * lx + col)] * std::conj(q(row, col)));
      }
    }
    // Distance zero shows the panel itself through the pupil.
    const auto picture = sweep({.grid = grid, .aperture = pupil}, field, {0}, device);
    support::expect_within("pupil", support::relative_error(picture[0].data(), expected), 1e-6);
  });
}

TEST_P(Reconstruction, APupilOverTheWholeZoneChangesNothing) {
  on_each([](Device device) {
    const FieldGrid grid{64, 64, 8e-6, green};
    const auto field = zone_plate(grid, {1e-4, 0, 0.1});
    const double zone = holotone::viewing_zone_half_width_m(grid, 0.5);
    const Aperture pupil{.diameter_m = 2.9 * zone, .distance_m = 0.5};
    const auto through = sweep({.grid = grid, .aperture = pupil}, field, {0.1}, device);
    const auto open = sweep({.grid = grid}, field, {0.1}, device);
    support::expect_within("open pupil", support::relative_error(through[0].data(), open[0]), 1e-6);
  });
}

TEST_P(Reconstruction, AnotherPupilIsThatOfAnotherPlan) {
  on_each([](Device device) {
    const FieldGrid grid{48, 64, 8e-6, green};
    const auto field = zone_plate(grid, {1e-4, 0, 0.1});
    const auto there = support::upload(field, grid.shape(), device);
    const Aperture first{.x_m = 4e-3, .diameter_m = 5e-3};
    const Aperture second{.x_m = -6e-3, .y_m = 2e-3, .diameter_m = 9e-3, .distance_m = 0.7};
    const Queue queue(device);
    ReconstructionPlan plan({.grid = grid, .aperture = first}, queue);
    Array<float, 2> intensity(grid.shape(), queue);
    const auto look = [&](const std::optional<Aperture>& aperture) {
      plan.set_aperture(aperture);
      support::expect_error(ErrorCode::invalid_argument, "set_field before execute",
                            [&] { plan.execute(0.1, intensity.view()); });
      plan.set_field(there.view());
      plan.execute(0.1, intensity.view());
      queue.synchronize();
      const auto host = intensity.to(Device{});
      return Picture(host.host().begin(), host.host().end());
    };
    const std::optional<Aperture> pupils[] = {second, std::nullopt, first};
    for (const auto& aperture : pupils) {
      EXPECT_EQ(look(aperture), sweep({.grid = grid, .aperture = aperture}, field, {0.1}, device)[0]);
    }
    EXPECT_NE(look(first), look(second));
    support::expect_error(ErrorCode::invalid_argument, "aperture.diameter_m", [&] { plan.set_aperture(Aperture{}); });
  });
}

TEST_P(Reconstruction, TheIntensityIsThatOfTheField) {
  on_each([](Device device) {
    const FieldGrid grid{48, 64, 8e-6, green};
    const auto values = zone_plate(grid, {1e-4, 0, 0.1});
    const Queue queue(device);
    ReconstructionPlan plan({.grid = grid}, queue);
    plan.set_field(support::upload(values, grid.shape(), device).view());
    Array<Complex, 2> field(grid.shape(), queue);
    plan.execute_field(0.07, field.view());
    queue.synchronize();
    const auto host = field.to(Device{});
    const auto intensity = sweep({.grid = grid}, values, {0.07}, device)[0];
    Values squares;
    for (const Complex value : host.host()) squares.emplace_back(std::norm(Complex64(value)));
    support::expect_within("field", support::relative_error(intensity.data(), squares), 1e-6);
  });
}

HOLOTONE_ON_EACH_DEVICE(Reconstruction);

TEST(ReconstructionPlan, NamesWhatIsWrong) {
  const FieldGrid grid{256, 128, 8e-6, green};
  const auto make = [&](Aperture aperture) {
    return [&grid, aperture] { const ReconstructionPlan plan({.grid = grid, .aperture = aperture}); };
  };
  support::expect_error(ErrorCode::invalid_argument, "ReconstructionPlan: aperture.diameter_m: expected", make({}));
  support::expect_error(ErrorCode::invalid_argument, "ReconstructionPlan: aperture.distance_m: expected",
                        make({.diameter_m = 1e-3, .distance_m = -1}));
  support::expect_error(ErrorCode::invalid_argument, "aperture.distance_m: expected at least 3.0797 cm",
                        make({.diameter_m = 1e-3, .distance_m = 0.02}));
  support::expect_error(
      ErrorCode::invalid_argument,
      "aperture.x_m, y_m: expected within 1.6625 cm of the axis, the viewing zone at 50 cm, got 3 cm, 0 m",
      make({.x_m = 0.03, .diameter_m = 1e-3}));
  Array<float, 2> intensity(grid.shape());
  support::expect_error(ErrorCode::invalid_argument, "field: expected set_field before execute",
                        [&] { ReconstructionPlan({.grid = grid}).execute(0.1, intensity.view()); });
  Array<Complex, 2> field({256, 128});
  support::expect_error(ErrorCode::invalid_argument, "field: expected shape {128, 256}, got {256, 128}",
                        [&] { ReconstructionPlan({.grid = grid}).set_field(field.view()); });
}

TEST(ReconstructionPlan, TellsTheViewingZone) {
  EXPECT_DOUBLE_EQ(holotone::viewing_zone_half_width_m({1920, 1080, 8e-6, green}, 0.5), green * 0.5 / 16e-6);
}

}  // namespace
