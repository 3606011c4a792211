#pragma once
// Position of a point on a tile's grid of frequencies, and its window, for the spreading kernels.
#include <holotone/hologram/point_cloud/fast/fast_cuda.cuh>

namespace holotone::point_cloud {

enum class Lit { not_at_all, partly, wholly };

/// A point on one tile's grid, in steps of the box; the strength's phase in turns, and its factor beside the amplitude.
struct Place {
  double column;
  double row;
  double plane;
  double turns;
  float2 factor;
  Lit lit;
};

/// Tests whether the lit range of a point covers [first, last], or intersects it.
__device__ __forceinline__ Lit lit_axis(double center, double reach, int first, int last) {
  if (center + reach < first || center - reach > last) return Lit::not_at_all;
  return center + reach >= last && center - reach <= first ? Lit::wholly : Lit::partly;
}

__device__ __forceinline__ Lit lit_of(const FastGrid& grid, double x, double y, double reach, int tile_x, int tile_y) {
  const int first_x = tile_x * grid.tile_width;
  const int first_y = tile_y * grid.tile_height;
  // The lit range is ceil(x - reach) to floor(x + reach). Comparisons with integer ends of a tile need no rounding.
  const Lit in_x = lit_axis(x, reach, first_x, min(first_x + grid.tile_width, grid.panel_width) - 1);
  const Lit in_y = lit_axis(y, reach, first_y, min(first_y + grid.tile_height, grid.panel_height) - 1);
  return in_x < in_y ? in_x : in_y;
}

/// Returns a step of a box, with `first` its first, or a whole period from its first window on.
__device__ __forceinline__ double step_in_box(double step, double period, bool wrap, int first, int window_width) {
  return wrap ? step - floor(step / period) * period + window_width : step - first;
}

/// Place of the spectrum of a point's exact wave among the plane waves of a tile (spectrum_layout.hpp).
__device__ __forceinline__ Place place_wave(const FastGrid& grid, const RawPoints& points, std::int64_t j, int tile) {
  const WaveTile& about = grid.wave_tiles[tile];
  const double x = points.position[3 * j] * points.inverse_pitch + points.center_x;
  const double y = points.center_y - points.position[3 * j + 1] * points.inverse_pitch;
  const double distance = -static_cast<double>(points.position[3 * j + 2]);
  const double reach = points.reach_per_metre * fabs(distance) + exact_blur;
  const double depth = distance - grid.middle_m;
  const double row = -y * grid.inverse_period_y;
  const double column = -x * grid.inverse_period_x;
  Place place;
  place.lit = x + reach < 0 || x - reach > grid.lit_width - 1 || y + reach < 0 || y - reach > grid.lit_height - 1
                  ? Lit::not_at_all
                  : Lit::wholly;
  place.turns = row * about.row + column * about.column + depth * (about.level + about.middle);
  place.column = step_in_box((column + depth * about.column_slope) * grid.steps_x, grid.steps_x, grid.wrap_columns,
                             about.first_column, grid.window_width);
  place.row = step_in_box((row + depth * about.row_slope) * grid.steps_y, grid.steps_y, grid.wrap_rows, about.first_row,
                          grid.window_width);
  place.plane = depth * about.depth_steps - about.first_plane;
  if (grid.near_terms && fabs(distance) >= about.near_m) place.lit = Lit::not_at_all;
  if (grid.falloff) {
    place.factor = make_float2(distance < 0 ? -1.0F : 1.0F, 0);
  } else {
    // Near terms alone are multiplied by their size after the sums, which half precision takes best at full size.
    place.factor = grid.near_terms ? make_float2(0, 1)
                                   : make_float2(static_cast<float>(distance / grid.largest_m),
                                                 about.near_term / static_cast<float>(grid.largest_m));
  }
  return place;
}

__device__ __forceinline__ Place place_point(const FastGrid& grid, const RawPoints& points, std::int64_t j, int tile) {
  if (grid.wave_tiles != nullptr) return place_wave(grid, points, j, tile);
  const int tile_x = tile % grid.tiles_x;
  const int tile_y = tile / grid.tiles_x;
  const double x = points.position[3 * j] * points.inverse_pitch + points.center_x;
  const double y = points.center_y - points.position[3 * j + 1] * points.inverse_pitch;
  const double distance = -static_cast<double>(points.position[3 * j + 2]);
  const double a = points.turns_metre / distance;
  Place place;
  place.factor = make_float2(1, 0);
  place.lit = Lit::wholly;
  if (points.reach_per_metre > 0) {
    place.lit = lit_of(grid, x, y, __dmul_rn(points.reach_per_metre, fabs(distance)), tile_x, tile_y);
  }
  if (place.lit == Lit::wholly && !(a >= grid.lowest_curvature && a <= grid.highest_curvature)) place.lit = Lit::partly;
  const double u = x - (tile_x * grid.tile_width + grid.tile_width / 2);
  const double v = y - (tile_y * grid.tile_height + grid.tile_height / 2);
  double slope = a;
  double curvature = a;
  place.turns = a * (u * u + v * v);
  if (grid.bend != 0) {
    // -bend rho^4 about the tile's origin.
    const double squares = distance * distance;
    const double bend = grid.bend * (distance - grid.middle_m) / (squares * squares) * (u * u + v * v);
    place.turns -= bend * (u * u + v * v);
    slope -= 2 * bend;
    curvature -= 4 * bend;
  }
  const double from_middle = curvature - grid.middle_curvature;
  place.turns += from_middle * grid.middle_radius;
  place.column = step_in_box(-2 * slope * u * grid.steps_x, grid.steps_x, grid.wrap_columns, grid.first_column[tile_x],
                             grid.window_width);
  place.row = step_in_box(-2 * slope * v * grid.steps_y, grid.steps_y, grid.wrap_rows, grid.first_row[tile_y],
                          grid.window_width);
  place.plane = from_middle * grid.steps_m - grid.first_plane;
  return place;
}

__device__ __forceinline__ float2 strength_of(const RawPoints& points, std::int64_t j, const Place& place) {
  double turns = place.turns;
  if (points.phase_rad != nullptr) turns += points.phase_rad[j] * 0.15915494309189535;
  turns -= rint(turns);
  float sine;
  float cosine;
  sincospif(2.0F * static_cast<float>(turns), &sine, &cosine);
  const float2 amplitude = make_float2(points.amplitude[j] * place.factor.x, points.amplitude[j] * place.factor.y);
  return make_float2(amplitude.x * cosine - amplitude.y * sine, amplitude.x * sine + amplitude.y * cosine);
}

/// Computes phi with the approximate square root and power of two of the special-function unit.
template <int Width>
__device__ __forceinline__ float window(float beta_log2, float distance) {
  const float z = distance * (2.0F / Width);
  const float inside = fmaf(-z, z, 1.0F);
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(fmaxf(inside, 0.0F)));
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(fmaf(beta_log2, root, -beta_log2)));
  return inside > 0 ? power : 0.0F;
}

/// Returns the first node of a window around `place`.
template <int Width>
__device__ __forceinline__ int first_node(float place) {
  return static_cast<int>(ceilf(place - 0.5F * Width));
}

__device__ __forceinline__ void add_two_cells(float2* cell, float4 value) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(cell), "f"(value.x), "f"(value.y),
               "f"(value.z), "f"(value.w)
               : "memory");
}

__device__ __forceinline__ void add_two_cells(double2* cell, float4 value) {
  atomicAdd(&cell[0].x, static_cast<double>(value.x));
  atomicAdd(&cell[0].y, static_cast<double>(value.y));
  atomicAdd(&cell[1].x, static_cast<double>(value.z));
  atomicAdd(&cell[1].y, static_cast<double>(value.w));
}

__device__ __forceinline__ void add_fixed(long long* sum, float value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(__float2ll_rn(value)));
}
__device__ __forceinline__ void add_two_cells(longlong2* cell, float4 value) {
  add_fixed(&cell[0].x, value.x);
  add_fixed(&cell[0].y, value.y);
  add_fixed(&cell[1].x, value.z);
  add_fixed(&cell[1].y, value.w);
}

/// Calls action(constant) for a run-time width of 2 to widest_fast_window.
template <class Action>
void with_width(int width, const Action& action) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + 2 && (action(std::integral_constant<int, I + 2>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, widest_fast_window - 1>{});
}

inline float window_beta_log2(const FastGrid& grid) { return grid.window_beta * 1.44269504F; }

}  // namespace holotone::point_cloud
