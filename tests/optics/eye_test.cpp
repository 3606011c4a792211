// Numerical reconstruction for an eye: against spherical waves summed in float64, plain propagation and geometry, on
// every device.
#include <algorithm>
#include <cmath>
#include <holotone/optics/propagation.hpp>
#include <tests/optics/eye_support.hpp>

namespace eye {
namespace {

using holotone::ErrorCode;
using holotone::Shape;

/// Diverging spherical waves of unit amplitude from points behind the panel (or converging to points in front of it).
struct Point {
  double x = 0;
  double y = 0;
  double distance_m = 0;
};
Values waves(const FieldGrid& grid, const std::vector<Point>& points) {
  const Plane plane = reference_plane(grid);
  Values values(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      for (const auto& point : points) {
        const double r = std::hypot(plane.x(col) - point.x, plane.y(row) - point.y, point.distance_m);
        values[plane.at(row, col)] +=
            reference::turn(std::copysign(r - std::abs(point.distance_m), point.distance_m) / grid.wavelength_m);
      }
    }
  }
  return values;
}

/// A beam of waist w0 from (x, y) on the panel to (to_x, to_y) at a distance, focused there.
Values beam(const FieldGrid& grid, double w0, double x, double y, double to_x, double to_y, double distance_m) {
  const Plane plane = reference_plane(grid);
  Values values(plane.size());
  for (std::int64_t row = 0; row < plane.ny; ++row) {
    for (std::int64_t col = 0; col < plane.nx; ++col) {
      const double squared = std::pow(plane.x(col) - x, 2) + std::pow(plane.y(row) - y, 2);
      const double r = std::hypot(plane.x(col) - to_x, plane.y(row) - to_y, distance_m);
      values[plane.at(row, col)] = std::exp(-squared / (w0 * w0)) * reference::turn(-r / grid.wavelength_m);
    }
  }
  return values;
}

/// Adds a hologram in tiles of this shape from the last to the first; tiles at the edges are smaller.
void add_in_tiles(EyePlan& plan, const Values& field, const FieldGrid& grid, Shape<2> tile, Device device) {
  const Plane plane = reference_plane(grid);
  for (std::int64_t row = (grid.ny - 1) / tile[0] * tile[0]; row >= 0; row -= tile[0]) {
    for (std::int64_t col = (grid.nx - 1) / tile[1] * tile[1]; col >= 0; col -= tile[1]) {
      const Shape<2> shape{std::min(tile[0], grid.ny - row), std::min(tile[1], grid.nx - col)};
      Values part;
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        const auto from = field.begin() + static_cast<std::ptrdiff_t>(plane.at(row + i, col));
        part.insert(part.end(), from, from + shape[1]);
      }
      const auto values = support::upload(part, shape, device);
      plan.add_tile(values.view(), row, col);
    }
  }
}

class Eye : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(Eye);

Picture spherical(const SmallCase& one, const reference::PupilField& pupil) {
  const auto [ny, nx] = one.options.output_shape;
  const Plane picture{ny, nx, one.options.output_pitch_m};
  Picture values(picture.size());
  for (std::int64_t row = 0; row < picture.ny; ++row) {
    for (std::int64_t col = 0; col < picture.nx; ++col) {
      values[picture.at(row, col)] =
          reference::seen(pupil, green, one.options.pupil.distance_m + one.focus_m, picture.x(col), picture.y(row));
    }
  }
  return values;
}

TEST_P(Eye, SeesTheSumOfSphericalWavesThereAndBack) {
  on_each([&](Device device) {
    for (const auto shape : {PupilShape::rectangle, PupilShape::ellipse}) {
      for (const auto& [focus_m, pitch_m] : {std::pair{7 * milli, 4 * micro}, std::pair{-1 * milli, 2 * micro}}) {
        SmallCase one;
        one.options.pupil.shape = shape;
        one.options.output_pitch_m = pitch_m;
        one.focus_m = focus_m;
        EyePlan plan(one.options, device);
        add(plan, one.field, one.grid, device);
        const auto picture = look(plan, one.focus_m, device);
        const auto samples = plan.pupil_grid();
        const auto pupil = reference::pupil_field(one.field, reference_plane(one.grid), green,
                                                  reference_eye(one.options.pupil), samples.ny, samples.nx);
        const std::string name = shape == PupilShape::ellipse ? "ellipse" : "rectangle";
        support::expect_within("picture through a " + name, relative_difference(picture, spherical(one, pupil)),
                               intensity_tolerance(160. * 160));
        support::expect_within("power through a " + name, std::abs(plan.power() / reference::power(pupil) - 1),
                               intensity_tolerance(160. * 160));
      }
    }
  });
}

// The pupil is sampled as finely as its light requires. With n samples across, finer ones change only diffraction at
// its edge: less than 0.1 / n of the power.
TEST_P(Eye, SamplesOfThePupilAreFineEnough) {
  on_each([&](Device device) {
    const SmallCase one;
    EyePlan plan(one.options, device);
    add(plan, one.field, one.grid, device);
    const auto picture = look(plan, one.focus_m, device);
    const auto samples = plan.pupil_grid();
    const auto finer = reference::pupil_field(one.field, reference_plane(one.grid), green,
                                              reference_eye(one.options.pupil), 2 * samples.ny, 2 * samples.nx);
    const double n = static_cast<double>(std::min(samples.nx, samples.ny));
    support::expect_within("power", std::abs(plan.power() / reference::power(finer) - 1), 0.1 / n);
    support::expect_within("picture", relative_difference(picture, spherical(one, finer)), 0.2 / n);
  });
}

TEST_P(Eye, TilesOfAnyShapeGiveTheSamePicture) {
  on_each([&](Device device) {
    const SmallCase one;
    EyePlan whole(one.options, device);
    add(whole, one.field, one.grid, device);
    const auto expected = look(whole, one.focus_m, device);
    for (const Shape<2> tile : {Shape<2>{24, 32}, Shape<2>{7, 13}, Shape<2>{1, 32}}) {
      auto options = one.options;
      options.tile = tile;
      EyePlan plan(options, device);
      add_in_tiles(plan, one.field, one.grid, tile, device);
      const auto picture = look(plan, one.focus_m, device);
      // The spacing of frequencies depends on the tile: truncation of the soft edges differs.
      support::expect_within("tiles of " + holotone::to_string<2>(tile), relative_difference(picture, expected),
                             2 * intensity_tolerance(160. * 160));
      plan.clear();
      add(plan, one.field, one.grid, device);
      EXPECT_LE(relative_difference(look(plan, one.focus_m, device), picture), 1e-5) << "rows, after clear";
    }
  });
}

TEST_P(Eye, APixelIsTheMeanOfItsArea) {
  on_each([&](Device device) {
    SmallCase one;
    one.options.output_pitch_m = 12 * micro;
    one.options.output_shape = {3, 4};
    SmallCase fine;
    EyePlan plan(one.options, device);
    EyePlan fine_plan(fine.options, device);
    add(plan, one.field, one.grid, device);
    add(fine_plan, one.field, one.grid, device);
    const auto picture = look(plan, one.focus_m, device);
    const auto points = look(fine_plan, one.focus_m, device);
    Picture means(picture.size());
    for (std::size_t i = 0; i < points.size(); ++i) means[i / 36 * 4 + i % 12 / 3] += points[i] / 9;
    support::expect_within("3 x 3 points a pixel", relative_difference(picture, means),
                           intensity_tolerance(160. * 160));
  });
}

// In a window large enough for plain propagation, both agree except for samples divided by the pupil's edge.
TEST_P(Eye, AgreesWithPropagationOfTheWholePlane) {
  on_each([&](Device device) {
    const FieldGrid grid{256, 256, 6 * micro, green};
    const Plane plane = reference_plane(grid);
    const double v = 15 * milli;
    const double focus_m = 8 * milli;
    Values field = waves(grid, {{60 * micro, 90 * micro, 9 * milli}, {-120 * micro, -40 * micro, 7 * milli}});
    for (std::int64_t row = 0; row < 256; ++row) {
      for (std::int64_t col = 0; col < 256; ++col) {
        const double reach = std::hypot(plane.x(col), plane.y(row)) / (120 * micro);
        field[plane.at(row, col)] *= std::exp(-reach * reach);
      }
    }
    const EyePupil pupil{480 * micro, 360 * micro, v, 60 * micro, -36 * micro};
    EyePlan plan({.grid = grid, .pupil = pupil, .output_pitch_m = 6 * micro, .output_shape = {64, 64}}, device);
    add(plan, field, grid, device);
    const auto picture = look(plan, focus_m, device);

    holotone::PropagationPlan plain({.grid = grid, .method = holotone::PropagationMethod::angular_spectrum});
    auto values = support::upload(field, grid.shape(), Device{});
    plain.execute(values.view(), values.view(), v);
    double power = 0;
    for (std::int64_t row = 0; row < 256; ++row) {
      for (std::int64_t col = 0; col < 256; ++col) {
        const bool inside = std::abs(plane.x(col) - pupil.x_m) < pupil.width_m / 2 &&
                            std::abs(plane.y(row) - pupil.y_m) < pupil.height_m / 2;
        values(row, col) *= inside ? 1.0F : 0.0F;
        power += std::norm(Complex64(values(row, col))) * grid.pitch_m * grid.pitch_m;
      }
    }
    plain.execute(values.view(), values.view(), -(v + focus_m));
    Picture expected;
    for (std::int64_t row = 96; row < 160; ++row) {
      for (std::int64_t col = 96; col < 160; ++col) expected.push_back(std::norm(Complex64(values(row, col))));
    }
    support::expect_within("power", std::abs(plan.power() / power - 1), 1e-4);
    support::expect_within("picture", relative_difference(picture, expected), 5e-3);
  });
}

// Through a pupil at X, a point at depth d2 appears at x1 = x2 + (X - x2)(d2 - d1) / (v + d2) while the eye focuses at
// d1. It is sharp only at d1 = d2.
TEST_P(Eye, APointIsSharpAtItsDepthAndMovesWithThePupil) {
  on_each([&](Device device) {
    const FieldGrid grid{256, 192, 8 * micro, green};
    const Point point{150 * micro, -100 * micro, 40 * milli};
    const Values field = waves(grid, {point});
    const double v = 50 * milli;
    for (const auto& [x, y] :
         {std::pair{-0.9 * milli, 0.5 * milli}, std::pair{0.0, 0.0}, std::pair{0.9 * milli, -0.4 * milli}}) {
      EyePlan plan({.grid = grid, .pupil = {0.8 * milli, 0.8 * milli, v, x, y}, .output_pitch_m = 20 * micro}, device);
      add(plan, field, grid, device);
      const auto output = plan.output_grid();
      const Plane plane = reference_plane(output);
      double peak[2] = {0, 0};
      for (int i = 0; i < 2; ++i) {
        const double focus_m = i == 0 ? point.distance_m : 80 * milli;
        const auto picture = look(plan, focus_m, device);
        double sum = 0;
        double at_x = 0;
        double at_y = 0;
        for (std::int64_t row = 0; row < plane.ny; ++row) {
          for (std::int64_t col = 0; col < plane.nx; ++col) {
            const double light = picture[plane.at(row, col)];
            sum += light;
            at_x += light * plane.x(col);
            at_y += light * plane.y(row);
          }
        }
        peak[i] = *std::max_element(picture.begin(), picture.end());
        const double shift = (point.distance_m - focus_m) / (v + point.distance_m);
        EXPECT_NEAR(at_x / sum, point.x + (x - point.x) * shift, 20 * micro) << focus_m;
        EXPECT_NEAR(at_y / sum, point.y + (y - point.y) * shift, 20 * micro) << focus_m;
      }
      // Out of focus the light is spread over S (d1 - d2) / (v + d2) = 0.36 mm; in focus over lambda (v + d) / S = 0.06
      // mm.
      EXPECT_GT(peak[0], 10 * peak[1]);
    }
  });
}

TEST_P(Eye, OnlyLightThroughThePupilCounts) {
  on_each([&](Device device) {
    const FieldGrid grid{160, 128, 6 * micro, green};
    const double v = 30 * milli;
    const Values here = beam(grid, 100 * micro, 50 * micro, 20 * micro, -0.8 * milli, 0.4 * milli, v);
    Values both = beam(grid, 100 * micro, 0, 0, 0.9 * milli, -0.5 * milli, v);
    for (std::size_t i = 0; i < both.size(); ++i) both[i] += here[i];
    EyePlan plan({.grid = grid, .pupil = {0.5 * milli, 0.5 * milli, v, -0.8 * milli, 0.4 * milli}}, device);
    add(plan, here, grid, device);
    const auto alone = look(plan, 10 * milli, device);
    double power = 0;
    for (const auto value : here) power += std::norm(value) * grid.pitch_m * grid.pitch_m;
    // Share of a Gaussian beam of w = lambda v / (pi w0) = 51 um beyond 0.25 mm: below the resolution of float32.
    support::expect_within("all of a beam goes through", std::abs(plan.power() / power - 1),
                           intensity_tolerance(300. * 300));
    plan.clear();
    add(plan, both, grid, device);
    support::expect_within("a beam beside the pupil", relative_difference(look(plan, 10 * milli, device), alone),
                           intensity_tolerance(300. * 300));
    EyePlan beside({.grid = grid, .pupil = {0.3 * milli, 0.3 * milli, v, -0.8 * milli, -0.4 * milli}}, device);
    add(beside, here, grid, device);
    EXPECT_LT(beside.power() / power, 1e-6);
  });
}

TEST_P(Eye, AnAddedPlanIsClosedByLooking) {
  on_each([&](Device device) {
    SmallCase one;
    EyePlan plan(one.options, device);
    add(plan, one.field, one.grid, device);
    const auto first = look(plan, one.focus_m, device);
    (void)look(plan, 2 * one.focus_m, device);
    EXPECT_EQ(look(plan, one.focus_m, device), first);
    support::expect_error(ErrorCode::invalid_argument, "EyePlan::add_tile: tile: expected clear after look",
                          [&] { add(plan, one.field, one.grid, device); });
    plan.clear();
    const auto dark = look(plan, one.focus_m, device);
    EXPECT_EQ(*std::max_element(dark.begin(), dark.end()), 0);
  });
}

TEST(EyePlan, ThePictureCoversThePanel) {
  const EyePupil pupil{4 * milli, 4 * milli, 36 * milli};
  const auto output =
      EyePlan({.grid = {300, 200, 8 * micro, green}, .pupil = {4 * milli, 4 * milli, 360 * milli}}).output_grid();
  EXPECT_EQ(output.shape(), (Shape<2>{200, 300}));
  EXPECT_EQ(output.pitch_m, 8 * micro);
  // 24,576 pixels of 750 nm: 2048 of 9 um, in less than 1 GB.
  EyeOptions large{.grid = {24576, 24576, 750e-9, 635e-9}, .pupil = pupil};
  const double bytes = static_cast<double>(holotone::eye_bytes(large, 91 * milli));
  std::printf("24,576^2 pixels, a pupil of 4 mm: %.2f GB\n", 1e-9 * bytes);
  EXPECT_LT(bytes, 1e9);
}

TEST(EyePlan, RefusesWhatCannotBeSeen) {
  const FieldGrid grid{192, 108, 8 * micro, green};
  const auto refuse = [&](const EyePupil& pupil, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, text,
                          [&] { const EyePlan plan({.grid = grid, .pupil = pupil}); });
  };
  refuse({0, milli, 0.1}, "EyePlan: pupil.width_m: expected > 0");
  refuse({milli, -milli, 0.1}, "EyePlan: pupil.height_m: expected > 0");
  refuse({milli, milli, 0}, "EyePlan: pupil.distance_m: expected > 0");
  refuse({milli, milli, 0.1, NAN}, "EyePlan: pupil.x_m, y_m: expected finite numbers");
  // arcsin(lambda / 2p) = 1.905 degrees; arctan((10 - 0.5 - 0.768) / 100) = 4.991.
  refuse({milli, milli, 0.1, 10 * milli}, "no light comes there, by 3.08 degrees");
  refuse({milli, milli, 0.1, 0, -10 * milli}, "within 1.91 degrees of the panel vertically");
  refuse({10, 10, 0.01}, "65536 samples");
  EyePlan plan({.grid = grid, .pupil = {milli, milli, 0.1}});
  Array<float, 2> picture(plan.output_grid().shape());
  const auto refuse_focus = [&](double focus_m, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, "EyePlan::look: focus_m: expected a focus in front of the eye",
                          [&] { plan.look(focus_m, picture.view()); });
    support::expect_error(ErrorCode::invalid_argument, text, [&] { plan.look(focus_m, picture.view()); });
  };
  refuse_focus(-0.1, "in the eye's own plane");
  refuse_focus(-0.2, "got -20 cm");
  refuse_focus(NAN, "got nan");
  Array<Complex, 2> tile({4, 4});
  std::fill_n(tile.data(), tile.size(), Complex{});
  support::expect_error(ErrorCode::invalid_argument, "EyePlan::add_tile: row, col: expected a tile within the panel",
                        [&] { plan.add_tile(tile.view(), 105, 0); });
  support::expect_error(ErrorCode::invalid_argument, "EyePlan::add_tile: row, col",
                        [&] { plan.add_tile(tile.view(), 0, -1); });
  Array<Complex, 2> large({109, 4});
  support::expect_error(ErrorCode::invalid_argument, "EyePlan::add_tile: tile: expected at least one pixel and at most",
                        [&] { plan.add_tile(large.view(), 0, 0); });
  support::expect_error(ErrorCode::invalid_argument, "EyePlan::add_rows: rows: expected shape {4, 192}",
                        [&] { plan.add_rows(tile.view(), 0); });
  support::expect_error(ErrorCode::invalid_argument, "output_pitch_m", [&] {
    const EyePlan fine({.grid = grid, .pupil = {milli, milli, 0.1}, .output_pitch_m = 1e-9});
  });
}

}  // namespace
}  // namespace eye
