#pragma once
// Errors of each arithmetic of the sum over points, and the tolerances that follow from them. Not for users.
// All are relative l2 errors of the complex field against float64, unless a line says otherwise; those "measured" are
// from an H200 (docs/performance.md) or, on the CPU, from the tests of the method.
#include <holotone/hologram/point_cloud.hpp>

namespace holotone::point_cloud {

// Products of factors on CUDA (separable_cuda.cpp). Measured, with a margin of a fifth.

constexpr double float16_three_error = 5e-4;   ///< fp16, three products
constexpr double float16_four_error = 3.2e-4;  ///< fp16, four products
/// Pairs of fp16 hold 22 bits: what remains is the float32 sum.
constexpr double float16_pair_floor = point_cloud_tolerance_floor;
/// Tightest tolerance of pairs in long batches. Below it the accumulator allows only short ones, which have a price of
/// their own (method.cpp, fast_pair_ns).
constexpr double long_batch_tolerance = 5e-5;
/// Steps of int8 factors; its error is int8_margin * sqrt(1 / 6) / int8_steps * sqrt(1 + r^2), with r the largest over
/// the root mean square amplitude.
constexpr double int8_steps = 127;
constexpr double int8_margin = 1.2;
/// Tolerance below which int8 is not tried: it is less than that error for equal amplitudes, r = 1.
constexpr double int8_tolerance = 4e-3;

// The tensor cores' accumulator drops bits at every step of a product's depth, relative to the sum: measured 8.6e-9 if
// all waves are in phase, 1.8e-9 for a random cloud.

/// For products of factors, whose waves may all be in phase: with a margin of a quarter.
constexpr double float16_pair_error_a_step = 1.1e-8;
/// For the products of a grid of fast: fitted with the errors below.
constexpr double grid_error_a_step = 2.5e-9;

// Grids of fast on CUDA (fast_grid.cpp), before division by the windows. Fitted to measured errors.

constexpr double half_error = 3.1e-4;  ///< values of the grid in fp16
constexpr double pair_error = 3e-6;    ///< in pairs of fp16
constexpr double place_error = 8e-6;   ///< positions of sorted points, which have steps of 2^-17
/// Tightest tolerance for sorted points: place_error takes a sixth of it.
constexpr double sorted_tolerance = 5e-5;
/// Shares of the tolerance: for all estimated errors, and within it for the accumulator.
constexpr double error_share = 0.88;
constexpr double step_share = 0.3;

// Sums on coarse nodes (coarse_sums_cuda.cu).

constexpr double node_error = 3e-4;  ///< of fp16 sums on nodes, which bounds what their interpolation may amplify
/// Tightest tolerance. Measured error: 5e-4 of a panel, up to 1.04e-3 of one of its rows or columns.
constexpr double coarse_tolerance = 9e-4;

// CPU and OpenCL.

/// Tightest tolerance of three real products in float32 on the CPU, which lose 1.7 times as much as two.
constexpr double three_products_tolerance = 1e-5;
/// Grid and transforms of fast on the CPU in float32, before division by the windows: measured 1.2e-7 for a point, 4e-7
/// for 200 points a cell.
constexpr double float32_grid_error = 3.5e-7;
/// Largest error of a device's native cosine, absolute, with which a sum keeps the floor.
constexpr double native_error = 5e-7;

static_assert(float16_four_error < float16_three_error, "four products are taken where three are too coarse");
static_assert(long_batch_tolerance < float16_four_error && float16_pair_floor < long_batch_tolerance,
              "prices have a tier for fp16 and two for pairs");
static_assert(int8_tolerance * int8_tolerance < 2 * int8_margin * int8_margin / 6 / (int8_steps * int8_steps),
              "the least error of int8 is found by its formula");
static_assert(grid_error_a_step < float16_pair_error_a_step, "random phases lose less than equal ones");
static_assert(pair_error < half_error && pair_error < point_cloud_fast_tolerance_floor,
              "fast keeps its floor with pairs");
static_assert(step_share * sorted_tolerance + place_error < error_share * sorted_tolerance,
              "sorted points leave a share for the window");
static_assert(coarse_tolerance >= float16_three_error && coarse_tolerance > node_error,
              "points that coarse sums leave are summed by three products of fp16");
static_assert(three_products_tolerance <= point_cloud_fast_tolerance_floor,
              "fast on the CPU always takes three products");
static_assert(float32_grid_error < point_cloud_tolerance_floor && native_error <= point_cloud_tolerance_floor / 4,
              "float32 keeps the floor");

}  // namespace holotone::point_cloud
