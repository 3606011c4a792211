// Choice of the method for a cloud, for every backend; needs no device.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/hologram/point_cloud/choice/method.hpp>
#include <tests/cases/point_cloud.hpp>

namespace {

using holotone::Backend;
using holotone::PointMethod;
using holotone::Wave;
using holotone::point_cloud::EnginePoints;
using holotone::point_cloud::MethodChooser;

/// A cloud as a CUDA engine receives it from host memory; only its summary is used.
EnginePoints summarised(const reference::PointWaves& points) {
  EnginePoints sorted;
  sorted.sources = cases::sources(points);
  auto& summary = sorted.summary;
  summary.low.fill(1e30F);
  summary.high.fill(-1e30F);
  const auto count = points.position_m.size();
  for (std::size_t j = 0; j < count; ++j) {
    const auto& position = points.position_m[j];
    const float value[4] = {position[0], position[1], -1.0F / position[2], -position[2]};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      summary.low[axis] = std::min(summary.low[axis], value[axis]);
      summary.high[axis] = std::max(summary.high[axis], value[axis]);
    }
    summary.largest = std::max(summary.largest, std::abs(points.amplitude[j]));
    summary.squares += points.amplitude[j] * points.amplitude[j];
  }
  for (std::size_t i = 0; i < summary.sample.size(); ++i) {
    summary.sample[i] = points.position_m[i * count / summary.sample.size()];
  }
  return sorted;
}

struct Row {
  const char* name;
  PointMethod method;
  std::int64_t count;
  double near_m;
  double far_m;
  double tolerance;
  bool band_limit;
  PointMethod chosen;
  int tiles_x = 0;  ///< as in bench/results/h200.json
  int tiles_y = 0;
};

cases::PointCloudCase make_case(const Row& row) {
  cases::PointCloudCase c;
  c.count = row.count;
  c.near_m = row.near_m;
  c.far_m = row.far_m;
  c.options.method = row.method;
  c.options.tolerance = row.tolerance;
  c.options.band_limit = row.band_limit;
  return c;
}

// The rows of bench/rows.hpp: the methods of benchmarks must not change unnoticed.
TEST(PointCloudMethod, TheBenchmarksCases) {
  using enum PointMethod;
  const Row rows[] = {{"direct/30720", direct, 30720, 0.5, 0.6, 1e-3, true, direct},
                      {"recurrence/30720", recurrence, 30720, 0.5, 0.6, 1e-3, true, recurrence},
                      {"separable/30720", separable, 30720, 0.5, 0.6, 1e-3, true, separable},
                      {"separable_near/30720", separable, 30720, 0.2, 0.21, 1e-3, true, separable},
                      {"video/30720", automatic, 30720, 0.5, 0.6, 1e-3, true, fast},
                      {"fast/30000", fast, 30000, 0.5, 0.6, 1e-3, false, fast, 5, 3},
                      {"fast/100000", fast, 100000, 0.5, 0.6, 1e-3, false, fast, 4, 2},
                      {"fast/1000000", fast, 1000000, 0.5, 0.6, 1e-3, false, fast, 2, 1},
                      {"fast_fine/1000000", fast, 1000000, 0.5, 0.6, 1e-4, false, fast, 2, 2},
                      {"fast_near/1000000", fast, 1000000, 0.2, 0.4, 5e-3, false, fast, 4, 2}};
  for (const auto& row : rows) {
    const auto c = make_case(row);
    const auto points = cases::make_points(c);
    MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
    const auto& choice = chooser.choose(summarised(points));
    EXPECT_EQ(choice.method, row.chosen) << row.name;
    if (choice.fast.grid && row.chosen == fast) {
      std::printf("%s: %d x %d tiles\n", row.name, choice.fast.grid->tiles_x, choice.fast.grid->tiles_y);
    }
    if (row.tiles_x > 0 && choice.fast.grid) {
      EXPECT_EQ(choice.fast.grid->tiles_x, row.tiles_x) << row.name;
      EXPECT_EQ(choice.fast.grid->tiles_y, row.tiles_y) << row.name;
    }
  }
}

TEST(PointCloudMethod, FewPointsOfLittleLightAreDirectOnACpu) {
  for (const double near_m : {0.05, 0.5}) {
    auto c = make_case({"little", PointMethod::automatic, 300, near_m, 1.1 * near_m, 1e-3, true, {}});
    c.options.pitch_m = 20e-6;
    const auto points = cases::make_points(c);
    auto input = summarised(points);
    input.pixels = holotone::point_cloud::pixel_points(input.sources, c.options);
    MethodChooser chooser(c.options, c.options.shape[0], Backend::cpu);
    EXPECT_EQ(chooser.choose(input).method, near_m == 0.05 ? PointMethod::direct : PointMethod::separable);
  }
}

TEST(PointCloudMethod, FewPointsAreProductsEvenIfFastIsAskedFor) {
  for (const auto backend : {Backend::cpu, Backend::cuda}) {
    auto c = make_case({"few", PointMethod::fast, 300, 0.5, 0.6, 1e-3, true, PointMethod::separable});
    const auto points = cases::make_points(c);
    auto input = summarised(points);
    input.pixels = holotone::point_cloud::pixel_points(input.sources, c.options);
    MethodChooser chooser(c.options, c.options.shape[0], backend);
    EXPECT_EQ(chooser.choose(input).method, PointMethod::separable);
    c.options.method = PointMethod::automatic;
    MethodChooser automatic(c.options, c.options.shape[0], backend);
    EXPECT_EQ(automatic.choose(input).method, PointMethod::separable);
    c.options.wave = Wave::spherical;
    MethodChooser spherical(c.options, c.options.shape[0], backend);
    EXPECT_EQ(spherical.choose(input).method, backend == Backend::cpu ? PointMethod::direct : PointMethod::fast);
  }
}

// Each scene's clouds are one in motion, whose grid is kept or made anew.
TEST(PointCloudMethod, TilesOfPlaneWavesHoldTheirPoints) {
  struct Range {
    double near_m;
    double far_m;
  };
  const struct {
    double pitch_m;
    double tolerance;
    Range ranges[3];
  } scenes[] = {{8e-6, 1e-3, {{0.1, 0.2}, {0.0991, 0.1991}, {0.098, 0.198}}},
                {4e-6, 1e-3, {{0.1, 0.2}, {0.08, 0.18}, {0.067, 0.167}}},
                {8e-6, 1e-4, {{0.2, 0.21}, {0.1999, 0.2099}, {0.1998, 0.2098}}},
                {1e-6, 1e-3, {{-0.001, 0.002}, {-0.00101, 0.00199}, {-0.001, 0.002}}},
                {2e-6, 0.1, {{-0.02, -0.01}, {-0.0199, -0.0099}, {-0.018, -0.008}}},
                {3.74e-6, 1e-5, {{0.05, 0.06}, {0.0499, 0.0599}, {0.049, 0.059}}}};
  for (const auto& scene : scenes) {
    SCOPED_TRACE(scene.pitch_m);
    auto c = make_case({"", PointMethod::fast, 400, 1, 1, scene.tolerance, true, {}});
    c.options.wave = Wave::spherical;
    c.options.pitch_m = scene.pitch_m;
    MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
    for (const auto& range : scene.ranges) {
      c.near_m = range.near_m;
      c.far_m = range.far_m;
      const auto points = cases::make_points(c);
      const auto& choice = chooser.choose(summarised(points));
      ASSERT_EQ(choice.method, PointMethod::fast);
      const auto& [layout, grid, groups, tile_rows, tiles, window, cloud, near, microseconds] = choice.spectrum;
      ASSERT_EQ(groups, 1);
      ASSERT_EQ(std::ssize(tiles), grid.tiles());
      for (const auto& tile : tiles) {
        for (const auto& [x, y, z] : points.position_m) {
          const double depth = -static_cast<double>(z) - grid.middle_m;
          const double row = (cloud.center_y - static_cast<double>(y) * cloud.inverse_pitch) * grid.inverse_period_y;
          const double column = (static_cast<double>(x) * cloud.inverse_pitch + cloud.center_x) * grid.inverse_period_x;
          const double half = 0.5 * grid.window_width;
          const auto inside = [&](double step, int first, int count, bool wrap) {
            return wrap || (step - first - half >= -1 && step - first + half <= count);
          };
          EXPECT_TRUE(inside((depth * tile.row_slope - row) * grid.steps_y, tile.first_row, grid.rows, grid.wrap_rows));
          EXPECT_TRUE(inside((depth * tile.column_slope - column) * grid.steps_x, tile.first_column, grid.columns,
                             grid.wrap_columns));
          EXPECT_TRUE(inside(depth * tile.depth_steps, tile.first_plane, grid.planes, false));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Bent waves (far_grid.hpp) have other slopes and curvatures than those of which a grid's boxes are made.
TEST(PointCloudMethod, BoxesOfFarLightHoldItsPoints) {
  const struct {
    double pitch_m;
    double near_m;
    double far_m;
    std::int64_t count;
  } scenes[] = {{8e-6, 0.5, 0.6, 300}, {8e-6, 0.5, 0.6, 1000000}, {8e-6, 0.5, 0.9, 300}, {8e-6, -0.6, -0.5, 30000}};
  for (const auto& scene : scenes) {
    SCOPED_TRACE(scene.count);
    auto c = make_case({"", PointMethod::fast, scene.count, scene.near_m, scene.far_m, 1e-3, true, {}});
    c.options.wave = Wave::spherical;
    MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
    const auto points = cases::make_points(c);
    const auto& far = chooser.choose(summarised(points)).far;
    ASSERT_GT(far.microseconds, 0);
    const auto& grid = *far.fast.grid;
    const double pitch = c.options.pitch_m;
    for (int tile = 0; tile < grid.tiles(); ++tile) {
      const int across = tile % grid.tiles_x;
      const int down = tile / grid.tiles_x;
      for (std::size_t j = 0; j < points.position_m.size(); j += 1 + points.position_m.size() / 5000) {
        const auto& [x, y, z] = points.position_m[j];
        const double d = -static_cast<double>(z);
        const double u = static_cast<double>(x) / pitch + 959.5 + static_cast<double>(far.margin[1]) -
                         (across * grid.tile_width + grid.tile_width / 2);
        const double v = 539.5 - static_cast<double>(y) / pitch + static_cast<double>(far.margin[0]) -
                         (down * grid.tile_height + grid.tile_height / 2);
        // d/dX and d2/dX2 / 2 of a rho^2 - bend rho^4, rho^2 = (X - u)^2 + v^2, the latter's mean over both axes.
        const double a = pitch * pitch / (2 * c.options.wavelength_m * d);
        const double bend = grid.bend * (d - grid.middle_m) / std::pow(d, 4) * (u * u + v * v);
        const double half = 0.5 * grid.window_width;
        const auto inside = [&](double step, int first, int count, bool wrap) {
          return wrap || (step - first - half >= -1 && step - first + half <= count);
        };
        EXPECT_TRUE(
            inside((-2 * a + 4 * bend) * u * grid.steps_x, grid.first_column[across], grid.columns, grid.wrap_columns));
        EXPECT_TRUE(inside((-2 * a + 4 * bend) * v * grid.steps_y, grid.first_row[down], grid.rows, grid.wrap_rows));
        EXPECT_TRUE(
            inside((a - 4 * bend - grid.middle_curvature) * grid.steps_m, grid.first_plane, grid.planes, false));
        if (HasFailure()) return;
      }
    }
  }
}

// A cloud too deep for any grid: auto then leaves the exact wave if direct sums take long (point_cloud.cpp).
TEST(PointCloudMethod, ADeepCloudWithoutAGridStatesTheTimeOfDirect) {
  auto c = make_case({"deep", PointMethod::automatic, 1000000, 0.005, 0.5, 1e-3, true, {}});
  c.options.pitch_m = 1e-6;
  c.options.shape = {8192, 8192};
  c.extent = 0.5;
  c.options.wave = Wave::spherical;
  MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
  const auto& choice = chooser.choose(summarised(cases::make_points(c)));
  EXPECT_EQ(choice.method, PointMethod::direct);
  EXPECT_GT(choice.seconds, 60);
}

// Deep light on a large panel: tiles of one spectrum are summed in groups. A larger panel is computed in blocks.
TEST(PointCloudMethod, LargePanelsHaveGroupsAndBlocksOnCuda) {
  for (const std::int64_t side : {8192, 40000}) {
    auto c = make_case({"print", PointMethod::fast, 1000000, 0.005, 0.015, 1e-3, true, {}});
    c.options.pitch_m = 1e-6;
    c.options.shape = {side, side};
    c.options.method = PointMethod::automatic;
    c.options.wave = Wave::automatic;
    const auto points = summarised(cases::make_points(c));
    EXPECT_EQ(choose_wave(c.options, Backend::cuda, points.summary), Wave::spherical);
    EXPECT_EQ(choose_wave(c.options, Backend::cpu, points.summary), Wave::spherical);
    EXPECT_EQ(choose_wave(c.options, Backend::opencl, points.summary), Wave::fresnel);
    c.options.wave = Wave::spherical;
    MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
    const auto& choice = chooser.choose(points);
    EXPECT_EQ(choice.method, PointMethod::fast);
    EXPECT_GT(choice.spectrum.groups, 1);
    EXPECT_EQ(choice.spectrum_block == c.options.shape, side == 8192);
  }
}

// Tiles of coarse nodes whose model of the wave is too coarse, or not much smaller than a point's light, are refused.
TEST(PointCloudMethod, CoarseNodesOfExactWavesKeepTheTolerance) {
  const auto side = [](double pitch_m, double near_m, double far_m, const holotone::Shape<2>& block,
                       bool surfaces = false) {
    auto c = make_case({"print", PointMethod::fast, 1000000, near_m, far_m, 1e-3, true, {}});
    c.options.pitch_m = pitch_m;
    c.options.shape = {9000, 9000};
    c.options.wave = Wave::spherical;
    auto waves = cases::make_points(c);
    for (std::size_t j = 0; surfaces && j < waves.position_m.size(); ++j) {
      waves.position_m[j][2] = static_cast<float>(-(j % 2 == 0 ? near_m : far_m));
    }
    const auto points = summarised(waves);
    auto cloud = holotone::point_cloud::fast_cloud(c.options, {0, 0, block}, 1000000, points.summary);
    cloud.any_place = true;
    auto precision = holotone::point_cloud::fast_precision(c.options.tolerance);
    precision.on_chip = true;
    const auto chosen = holotone::point_cloud::choose_exact_nodes(c.options, cloud, precision).grid;
    return chosen ? chosen->coarse_side : 0;
  };
  const holotone::Shape<2> block{4500, 4500};
  EXPECT_EQ(side(1e-6, 0.005, 0.015, block), 128);
  EXPECT_EQ(side(8e-6, 0.3, 0.38, block), 128);
  EXPECT_EQ(side(1e-6, 0.05, 0.11, block), 512);
  EXPECT_LT(side(1e-6, 0.0096, 0.0104, block), 512);  // terms of the fourth order
  EXPECT_LT(side(1e-6, 0.0049, 0.0051, block), 256);
  EXPECT_EQ(side(1e-6, -0.02, 0.02, block), 0);    // of points before and behind the panel
  EXPECT_EQ(side(1e-6, 0.004, 0.016, block), 0);   // bends of a deep cloud
  EXPECT_EQ(side(1e-6, 0.002, 0.0021, block), 0);  // light of 532 pixels
  EXPECT_EQ(side(8e-6, 0.02, 0.021, block), 0);
  EXPECT_EQ(side(0.5e-6, 0.01, 0.0101, block), 0);     // steep light
  EXPECT_EQ(side(1e-6, 0.05, 0.055, {100, 4500}), 0);  // lower than a tile
  EXPECT_EQ(side(1e-6, 0.05, 0.055, {300, 4500}), 256);
  EXPECT_EQ(side(1e-6, 0.005, 0.015, block, true), 0);  // a surface before another: 1.6e-3
  EXPECT_EQ(side(1e-6, 0.006, 0.012, block, true), 128);
}

TEST(PointCloudMethod, AGridIsKeptWhileTheCloudStays) {
  auto c = make_case({"moving", PointMethod::fast, 100000, 0.5, 0.6, 1e-3, false, PointMethod::fast});
  MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
  const auto number_at = [&](std::uint64_t seed, double near_m) {
    c.seed = seed;
    c.near_m = near_m;
    return chooser.choose(summarised(cases::make_points(c))).fast_number;
  };
  EXPECT_EQ(number_at(1, 0.5), 1);
  EXPECT_EQ(number_at(2, 0.5), 1);
  EXPECT_EQ(number_at(2, 0.4), 2);
  EXPECT_EQ(number_at(3, 0.4), 2);
}

// A flat object turns about the vertical axis: its width and its depth change by a factor of three. An object that
// jumps to another depth does not move and gets no more room than one that stays.
TEST(PointCloudMethod, ATurningObjectKeepsItsGridForManyFrames) {
  auto c = make_case({"turning", PointMethod::fast, 20000, 0.5, 0.6, 1e-3, false, PointMethod::fast});
  auto points = cases::make_points(c);
  const auto resting = points.position_m;
  MethodChooser chooser(c.options, c.options.shape[0], Backend::cuda);
  constexpr int frames = 240;
  int number = 0;
  for (int i = 0; i < frames; ++i) {
    const double turn = 2 * 3.14159265358979 * i / frames;
    for (std::size_t j = 0; j < resting.size(); ++j) {
      const double x = resting[j][0];
      const double z = (resting[j][2] + 0.55) / 0.05 * 2e-3;
      points.position_m[j][0] = static_cast<float>(std::cos(turn) * x + std::sin(turn) * z);
      points.position_m[j][2] = static_cast<float>(-0.2 - std::sin(turn) * x + std::cos(turn) * z);
    }
    number = chooser.choose(summarised(points)).fast_number;
  }
  std::printf("%d grids for %d frames\n", number, frames);
  EXPECT_LE(number, 40);  // 131 with the room of an object at rest
  for (auto& position : points.position_m) position[2] -= 0.1F;
  const auto elsewhere = summarised(points);
  const auto& planned = chooser.choose(elsewhere).fast.cloud.summary;
  EXPECT_LT(planned.high[2] - planned.low[2], 1.03F * (elsewhere.summary.high[2] - elsewhere.summary.low[2]));
}

// A sphere whose points light a sixth of a print: tiles suit the blocks that edges of light cross, not only those in
// the middle, whose points light them wholly.
TEST(PointCloudMethod, AWidePanelIsTiledForItsBlocksOnAverage) {
  reference::PointWaves points;
  constexpr double radius = 0.015;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double height = 2 * holotone::random_uniform64(3, 2 * i) - 1;
    const double turn = 2 * 3.14159265358979 * holotone::random_uniform64(3, 2 * i + 1);
    const double wide = std::sqrt(1 - height * height);
    points.position_m.push_back({static_cast<float>(radius * wide * std::cos(turn)),
                                 static_cast<float>(radius * wide * std::sin(turn)),
                                 static_cast<float>(radius * height - 0.065)});
    points.amplitude.push_back(1);
  }
  auto input = summarised(points);
  constexpr std::int64_t many = 10'000'000;  // only their number is read
  input.sources.amplitude = {points.amplitude.data(), {many}};
  holotone::PointCloudOptions options;
  options.pitch_m = 1e-6;
  options.shape = {50000, 50000};
  MethodChooser chooser(options, 782, Backend::cuda);
  const auto& choice = chooser.choose(input);
  ASSERT_EQ(choice.method, PointMethod::fast);
  EXPECT_TRUE(choice.timed);
  const auto& grid = *choice.fast.grid;
  std::printf("%d x %d tiles of %d x %d pixels for %.1f million points, %.1f ms\n", grid.tiles_x, grid.tiles_y,
              grid.tile_width, grid.tile_height, static_cast<double>(choice.fast.cloud.count) / 1e6,
              choice.fast.microseconds / 1e3);
  EXPECT_EQ(grid.panel_height, 782);
  EXPECT_LE(grid.panel_width, 4096);
  EXPECT_TRUE(grid.wrap_columns && grid.wrap_rows);
  EXPECT_GE(grid.tiles_x, 5);
  EXPECT_GT(choice.fast.cloud.count, 3'000'000);
  EXPECT_LT(choice.fast.cloud.count, 7'000'000);
}

// Hopper's sums on chip: points that are few for their pixels are summed by products, many on coarse nodes, if the
// tolerance allows it; otherwise crowded ones need transforms.
TEST(PointCloudMethod, SumsOnChipSuitTheCrowdOfAPrint) {
  for (const std::int64_t points : {500, 10'000, 300'000, 10'000'000}) {
    holotone::PointCloudOptions options;
    options.wavelength_m = 520e-9;
    options.pitch_m = 8e-6;
    options.shape = {13640, 13640};
    options.method = PointMethod::automatic;
    // A ball of 80 mm, 30 cm behind the panel.
    auto c = make_case({"print", PointMethod::automatic, 20000, 0.3, 0.38, 1e-3, true, PointMethod::fast});
    const auto some = cases::make_points(c);
    std::vector<float> amplitude(static_cast<std::size_t>(points));
    auto input = summarised(some);
    input.sources.amplitude = {amplitude.data(), {points}};
    for (auto& position : input.summary.sample) {
      for (const std::size_t axis : {0, 1}) position[axis] *= 6;
    }
    for (const std::size_t axis : {0, 1}) {
      input.summary.low[axis] *= 6;
      input.summary.high[axis] *= 6;
    }
    MethodChooser on_chip(options, 1137, Backend::cuda, true);
    MethodChooser elsewhere(options, 1137, Backend::cuda);
    const auto& choice = on_chip.choose(input);
    const auto& other = elsewhere.choose(input);
    ASSERT_TRUE(choice.fast.grid) << points;
    std::printf("%lld points: %.2f ms a block on chip (%d x %d tiles, %d planes), else %.2f ms\n",
                static_cast<long long>(points), choice.fast.microseconds / 1e3, choice.fast.grid->tiles_x,
                choice.fast.grid->tiles_y, choice.fast.grid->planes, other.fast.microseconds / 1e3);
    EXPECT_EQ(choice.fast.grid->planes, 0) << points;
    EXPECT_EQ(choice.fast.grid->coarse_side, points <= 10'000 ? 0 : 256) << points;
    options.tolerance = 8e-4;
    MethodChooser finer(options, 1137, Backend::cuda, true);
    const auto& fine = *finer.choose(input).fast.grid;
    EXPECT_EQ(fine.planes == 0, points < 1'000'000) << points;
    EXPECT_EQ(fine.coarse_side, 0) << points;
    options.tolerance = 1e-3;
    EXPECT_EQ(choice.fast.grid->on_chip, !choice.timed);
    if (other.fast.grid) {
      EXPECT_GT(other.fast.grid->planes, 0);
      EXPECT_FALSE(other.fast.grid->on_chip);
      EXPECT_LE(choice.fast.microseconds, 1.1 * other.fast.microseconds);
    }
    EXPECT_GE(choice.fast.microseconds, holotone::point_cloud::fast_launches_us);
  }
}

// One grid for all parts of a panel: its boxes move from part to part and never grow.
TEST(PointCloudMethod, AGridHoldsEveryPartOfAPanel) {
  for (const bool band_limit : {false, true}) {
    for (const std::int64_t rows : {100, 270, 541}) {
      const auto c = make_case({"parts", PointMethod::fast, 200000, 0.5, 0.6, 1e-3, band_limit, PointMethod::fast});
      const auto input = summarised(cases::make_points(c));
      MethodChooser chooser(c.options, rows, Backend::cuda);
      const auto& choice = chooser.choose(input);
      ASSERT_TRUE(choice.fast.grid);
      EXPECT_EQ(choice.fast.grid->panel_height, rows);
      int moved = 0;
      int remade = 0;
      for (std::int64_t first = 0; first <= 1080 - rows; first += 35) {
        const auto cloud =
            fast_cloud(c.options, {first, 0, {rows, 1920}}, choice.fast.cloud.count, choice.fast.cloud.summary);
        auto grid = *choice.fast.grid;
        const bool holds = move_fast_grid(grid, cloud);
        (holds ? moved : remade) += 1;
        const auto own_grid = remade_fast_grid(grid, choice.fast.window, cloud, 1e-3);
        EXPECT_EQ(own_grid.tile_height, grid.tile_height);
        if (!holds || own_grid.wrap_rows || grid.wrap_rows) continue;
        // A grid made for this part alone has its boxes at the same places.
        for (int t = 0; t < grid.tiles_y; ++t) EXPECT_EQ(grid.first_row[t], own_grid.first_row[t]) << first;
        EXPECT_GE(grid.rows, own_grid.rows - 4);
      }
      std::printf("%s, %d rows: %d parts moved, %d remade\n", band_limit ? "band limit" : "no band limit",
                  static_cast<int>(rows), moved, remade);
      if (!band_limit) {
        EXPECT_EQ(remade, 0);
      }
      EXPECT_GT(moved, 0);
    }
  }
}

TEST(PointCloudMethod, AChoiceIsAmongThePossibleMethods) {
  using holotone::point_cloud::possible_methods;
  using enum PointMethod;
  using Methods = std::vector<PointMethod>;
  holotone::PointCloudOptions options{.tolerance = 1e-3};
  EXPECT_EQ(possible_methods(options, Backend::cpu), (Methods{separable, fast}));
  EXPECT_EQ(possible_methods(options, Backend::cuda), (Methods{separable, fast, direct, recurrence}));
  EXPECT_EQ(possible_methods(options, Backend::opencl), Methods{direct});
  options.tolerance = 0.5 * holotone::point_cloud_fast_tolerance_floor;
  EXPECT_EQ(possible_methods(options, Backend::cpu), Methods{separable});
  options.wave = Wave::spherical;
  EXPECT_EQ(possible_methods(options, Backend::cuda), Methods{direct});
  options = {.method = recurrence};
  EXPECT_EQ(possible_methods(options, Backend::cuda), Methods{recurrence});
}

TEST(PointCloudMethod, PricesAreThoseOfTheRows) {
  // bench/results/h200.json: milliseconds of 30,720 points on 1920 x 1080 pixels.
  constexpr double pixels = 1920.0 * 1080;
  const auto milliseconds = [&](PointMethod method) {
    const auto prices = holotone::point_cloud::method_prices(Backend::cuda, 1e-3);
    const auto price = *std::ranges::find(prices, method, &holotone::point_cloud::MethodPrice::method);
    return 1e-9 * pixels * (price.fixed_ps + 30720 * price.pair_ps);
  };
  EXPECT_NEAR(milliseconds(PointMethod::direct), 37.38, 0.5);
  EXPECT_NEAR(milliseconds(PointMethod::recurrence), 54.01, 0.5);
  EXPECT_NEAR(milliseconds(PointMethod::separable), 0.705, 0.01);
}

}  // namespace
