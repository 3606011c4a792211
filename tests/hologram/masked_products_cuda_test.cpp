// Masked products against sums in float64, without the plan around them: lists that are gathered in turns, tiles that
// subtiles do not fill, and points that light tiles wholly, which are left to the transforms.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <holotone/core/random.hpp>
#include <numbers>
#include <string>
#include <tests/support/on_each_device.hpp>
#include <vector>

#if HOLOTONE_CUDA
#include <holotone/hologram/point_cloud/fast/masked_products_cuda.cuh>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::Shape;
using namespace holotone::point_cloud;

constexpr std::int64_t points = 1500;
constexpr double reach_per_metre = 520e-9 / (2 * 64e-12);  // pixels
constexpr double turns_metre = 64e-12 / (2 * 520e-9);

struct Cloud {
  std::vector<float> position_m;
  std::vector<float> amplitude;
  std::vector<float> phase_rad;
};
/// Points over and beside the panel, in x and y spread over `spread` times its extents.
Cloud cloud_for(const FastGrid& grid, double distance_m, double depth_m, double spread_x, double spread_y) {
  Cloud cloud;
  const auto uniform = [](std::int64_t j, std::uint64_t axis) {
    return holotone::random_uniform64(axis, static_cast<std::uint64_t>(j)) - 0.5;
  };
  for (std::int64_t j = 0; j < points; ++j) {
    cloud.position_m.push_back(static_cast<float>(uniform(j, 1) * spread_x * grid.panel_width * 8e-6));
    cloud.position_m.push_back(static_cast<float>(uniform(j, 2) * spread_y * grid.panel_height * 8e-6));
    cloud.position_m.push_back(static_cast<float>(-distance_m + depth_m * uniform(j, 3)));
    cloud.amplitude.push_back(static_cast<float>(uniform(j, 4)));
    cloud.phase_rad.push_back(static_cast<float>(6 * uniform(j, 5)));
  }
  return cloud;
}

FastGrid make_grid(const Shape<2>& panel, const Shape<2>& tile, bool never_whole) {
  FastGrid grid{};
  grid.panel_height = static_cast<int>(panel[0]);
  grid.panel_width = static_cast<int>(panel[1]);
  grid.tile_height = static_cast<int>(tile[0]);
  grid.tile_width = static_cast<int>(tile[1]);
  grid.tiles_y = (grid.panel_height + grid.tile_height - 1) / grid.tile_height;
  grid.tiles_x = (grid.panel_width + grid.tile_width - 1) / grid.tile_width;
  grid.lowest_curvature = never_whole ? 1 : -1;
  grid.highest_curvature = never_whole ? -1 : 1;
  return grid;
}

std::vector<std::complex<double>> reference(const FastGrid& grid, const Cloud& cloud) {
  std::vector<std::complex<double>> panel(static_cast<std::size_t>(grid.panel_width) *
                                          static_cast<std::size_t>(grid.panel_height));
  for (std::size_t j = 0; j < cloud.amplitude.size(); ++j) {
    const double x = static_cast<double>(cloud.position_m[3 * j]) / 8e-6 + 0.5 * (grid.panel_width - 1);
    const double y = 0.5 * (grid.panel_height - 1) - static_cast<double>(cloud.position_m[3 * j + 1]) / 8e-6;
    const double distance = -static_cast<double>(cloud.position_m[3 * j + 2]);
    const double reach = reach_per_metre * distance;
    const double a = turns_metre / distance;
    for (int row = 0; row < grid.panel_height; ++row) {
      if (std::abs(row - y) > reach) continue;
      const int tile_row = row / grid.tile_height * grid.tile_height;
      const int last_row = std::min(tile_row + grid.tile_height, grid.panel_height) - 1;
      for (int column = 0; column < grid.panel_width; ++column) {
        if (std::abs(column - x) > reach) continue;
        const int tile_column = column / grid.tile_width * grid.tile_width;
        const int last_column = std::min(tile_column + grid.tile_width, grid.panel_width) - 1;
        const bool whole = grid.lowest_curvature < 0 && y + reach >= last_row && y - reach <= tile_row &&
                           x + reach >= last_column && x - reach <= tile_column;
        if (whole) continue;
        const double turns = a * ((column - x) * (column - x) + (row - y) * (row - y));
        panel[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid.panel_width) +
              static_cast<std::size_t>(column)] +=
            std::polar(1.0, 2 * std::numbers::pi * turns + static_cast<double>(cloud.phase_rad[j])) *
            static_cast<double>(cloud.amplitude[j]);
      }
    }
  }
  return panel;
}

Array<float, 1> there(const std::vector<float>& values, Device device) {
  Array<float, 1> host({static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, host.host().begin());
  return host.to(device);
}

/// A cloud's copy on a device.
struct CloudThere {
  CloudThere(const FastGrid& grid, const Cloud& cloud, Device device)
      : position(there(cloud.position_m, device)),
        amplitude(there(cloud.amplitude, device)),
        phase(there(cloud.phase_rad, device)),
        raw{position.data(),
            amplitude.data(),
            phase.data(),
            amplitude.size(),
            1 / 8e-6,
            0.5 * (grid.panel_width - 1),
            0.5 * (grid.panel_height - 1),
            turns_metre,
            reach_per_metre} {}

  Array<float, 1> position;
  Array<float, 1> amplitude;
  Array<float, 1> phase;
  RawPoints raw;
};

double compute_error(const std::vector<std::complex<float>>& got, const std::vector<std::complex<double>>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference += std::norm(std::complex<double>(got[i]) - expected[i]);
    norm += std::norm(expected[i]);
  }
  return std::sqrt(difference / norm);
}

class MaskedProductsTest : public support::OnEachDevice {};

TEST_P(MaskedProductsTest, AgreeWithSumsInFloat64) {
  on_each([](Device device) {
    const Queue queue(device);
    if (!fast_masks_on_chip(1e-3, queue)) GTEST_SKIP() << "not a Hopper card";
    struct Case {
      Shape<2> panel;
      Shape<2> tile;
      bool never_whole;
      int coarse_side;
    };
    for (const auto& [panel, tile, never_whole, coarse_side] :
         {Case{{300, 411}, {300, 411}, true, 0}, Case{{300, 411}, {62, 104}, false, 0},
          Case{{1, 700}, {1, 700}, true, 0}, Case{{260, 130}, {200, 130}, false, 0},
          Case{{300, 411}, {300, 411}, true, 128}, Case{{300, 411}, {300, 411}, true, 256},
          Case{{1, 700}, {1, 700}, true, 128}, Case{{1, 700}, {1, 700}, true, 256},
          Case{{700, 13}, {700, 13}, true, 256}, Case{{600, 811}, {600, 811}, true, 512},
          Case{{1, 700}, {1, 700}, true, 512}}) {
      FastGrid grid = make_grid(panel, tile, never_whole);
      const bool coarse = coarse_side > 0;
      grid.coarse_side = coarse_side;
      grid.coarse_curvature = turns_metre / 0.32;
      // 5 to 35 mm behind the panel points light squares of 40 to 284 pixels, 300 to 340 mm behind it, where all may be
      // coarse, 2437 to 2762.
      const double depth_m = coarse_side == 512 ? 0.02 : 0.04;
      const Cloud cloud = coarse ? cloud_for(grid, 0.32, depth_m, 3600.0 / grid.panel_width, 3600.0 / grid.panel_height)
                                 : cloud_for(grid, 0.02, 0.03, 1.3, 1.3);
      // A single row lies at the end of its tiles, where the interpolation from nodes is worst.
      const bool at_the_end = panel[0] == 1 && coarse_side > 128;
      const double max_error = !coarse ? 3.2e-4 : at_the_end ? 9e-4 : 7e-4;
      const double min_error = coarse ? 3.6e-4 : 0;  // products alone have less
      const auto expected = reference(grid, cloud);
      const CloudThere there(grid, cloud, device);
      for (const std::int64_t max_listed : {std::int64_t{1} << 28, std::int64_t{1}}) {  // at once, and 256 a turn
        MaskedProducts products(queue, max_listed);
        std::vector<std::complex<float>> first(expected.size());
        for (int run = 0; run < 2; ++run) {
          products.set(grid, there.raw, 0.5F);
          ASSERT_FALSE(products.empty());
          std::vector<std::complex<float>> got(expected.size());
          holotone::copy_bytes(got.data(), Device{}, products.sum(), device, got.size() * sizeof got[0], queue);
          queue.synchronize();
          const double error = compute_error(got, expected);
          std::printf("%d x %d, tiles of %d x %d, %s%s: %.2e of %.1e\n", grid.panel_height, grid.panel_width,
                      grid.tile_height, grid.tile_width, max_listed > 1 ? "at once" : "in turns",
                      coarse ? (", on coarse nodes of " + std::to_string(coarse_side)).c_str() : "", error, max_error);
          EXPECT_LT(error, max_error);
          EXPECT_GT(error, min_error);
          if (run == 0) first = got;
          EXPECT_EQ(std::memcmp(first.data(), got.data(), got.size() * sizeof got[0]), 0) << "same bits in every run";
        }
      }
    }
  });
}

// Accumulators of the tensor cores round towards zero: a sum of many waves in step would lose more with
// every product (by estimate a thousandth in 38,000).
TEST_P(MaskedProductsTest, ManyWavesInStepLoseNothing) {
  on_each([](Device device) {
    const Queue queue(device);
    if (!fast_masks_on_chip(1e-3, queue)) GTEST_SKIP() << "not a Hopper card";
    constexpr std::int64_t many = 300'000;
    for (const int coarse_side : {0, 128, 256, 512}) {
      FastGrid grid = make_grid({40, 300}, {40, 300}, true);
      grid.coarse_side = coarse_side;
      grid.coarse_curvature = turns_metre / 0.32;
      const Cloud one{{1e-4F, 2e-4F, -0.32F}, {1}, {0.5F}};
      Cloud all;
      for (std::int64_t j = 0; j < many; ++j) {
        all.position_m.insert(all.position_m.end(), one.position_m.begin(), one.position_m.end());
        all.amplitude.push_back(1);
        all.phase_rad.push_back(0.5F);
      }
      auto expected = reference(grid, one);
      for (auto& value : expected) value *= many;
      const CloudThere there(grid, all, device);
      MaskedProducts products(queue);
      products.set(grid, there.raw, 1);
      std::vector<std::complex<float>> got(expected.size());
      holotone::copy_bytes(got.data(), Device{}, products.sum(), device, got.size() * sizeof got[0], queue);
      queue.synchronize();
      const double error = compute_error(got, expected);
      const double max_error = coarse_side > 0 ? 9e-4 : 4e-4;
      std::printf("%lld points in step, tiles of %d: %.2e of %.1e\n", static_cast<long long>(many), coarse_side, error,
                  max_error);
      EXPECT_LT(error, max_error);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Device, MaskedProductsTest, testing::Values("cuda"));

}  // namespace
#endif
