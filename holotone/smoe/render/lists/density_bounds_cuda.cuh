#pragma once
// Bounds on the densities of components near a box of pixels, and the walk of a warp over those components.
// Not for users.
#include <holotone/smoe/model/warp_cuda.cuh>
#include <holotone/smoe/render/lists/tile_lists_cuda.cuh>

namespace holotone::smoe {

inline constexpr int area_tiles = area_side / tile_side;  ///< across
/// L is computed for quarters of tiles: one component is more likely to reach all of a small box.
inline constexpr int quarter_side = tile_side / 2;
inline constexpr int area_quarters = area_side / quarter_side;  ///< across

__device__ __forceinline__ float sum_of_lanes(float value) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) value += __shfl_xor_sync(all_lanes, value, step);
  return value;
}
__device__ __forceinline__ float max_of_lanes(float value) {
  return from_ordered(__reduce_max_sync(all_lanes, ordered_bits(value)));
}
__device__ __forceinline__ float min_of_lanes(float value) {
  return from_ordered(__reduce_min_sync(all_lanes, ordered_bits(value)));
}

__device__ __forceinline__ float root(float x) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Upper bound of 2^x.
__device__ __forceinline__ float power_above(float x) { return fmaf(power_of_two(x), 1.000001F, 1.2e-38F); }

/// An affine colour changes by at most `steep` times a at a log2 density a^2 below its peak. The product of this and
/// the weight is greatest at this a, and falls beyond.
inline constexpr float steepest_at = 0.85F;
/// Upper bound of the a of a log2 density `below` under its peak, at least steepest_at.
__device__ __forceinline__ float max_away(float below) {
  return 1.00001F * root(fmaxf(below, steepest_at * steepest_at));
}

/// A component in pixels of a box, whose first pixel is (0, 0).
struct Local {
  float x;
  float y;
  float across;
  float skew;
  float down;
  float peak;
};

/// A box of pixels of a picture.
struct Box {
  double left;  ///< position of its first pixel, in the model's coordinates
  double top;
  double pixel_x;  ///< steps from pixel to pixel
  double pixel_y;
  double a_pixel_x;  ///< 1 / pixel_x
  double a_pixel_y;
  float step_x;  ///< pixel_x
  float step_y;
  int columns;
  int rows;

  /// Box of columns x rows pixels of a picture, from pixel (row, column) on.
  __device__ static Box of(const Frame& frame, double column, double row, int columns, int rows) {
    return {frame.x + column * frame.step_x,
            frame.y + row * frame.step_y,
            frame.step_x,
            frame.step_y,
            frame.a_step_x,
            frame.a_step_y,
            static_cast<float>(frame.step_x),
            static_cast<float>(frame.step_y),
            columns,
            rows};
  }
  __device__ __forceinline__ Local local_of(const Place& place) const {
    return {static_cast<float>((place.x - left) * a_pixel_x),
            static_cast<float>((place.y - top) * a_pixel_y),
            place.across * step_x,
            place.skew * step_x,
            place.down * step_y,
            place.peak};
  }
  __device__ static float start(int tile) { return static_cast<float>(tile * tile_side); }
  __device__ float right(int tile) const { return static_cast<float>(min((tile + 1) * tile_side, columns) - 1); }
  __device__ float bottom(int tile) const { return static_cast<float>(min((tile + 1) * tile_side, rows) - 1); }
  /// Part of the box.
  __device__ Box part(int first_column, int first_row, int side) const {
    Box box = *this;
    box.left += first_column * pixel_x;
    box.top += first_row * pixel_y;
    box.columns = min(columns - first_column, side);
    box.rows = min(rows - first_row, side);
    return box;
  }
};

/// Span of a component in pixels.
struct LocalSpan {
  float x = 0;
  float y = 0;
  float rise = 0;
  float drop = 0;
  float colour = 0;

  __device__ static LocalSpan of(const Span& span, const Box& box) {
    return {1.000001F * span.x * static_cast<float>(box.a_pixel_x),
            1.000001F * span.y * static_cast<float>(box.a_pixel_y), span.rise, span.drop, span.colour};
  }
};

/// Bound of the float32 error of a log2 density with terms of at most this size.
__device__ __forceinline__ float slack(float u, float v_terms, float peak) {
  return 1e-6F * fmaf(u, u, fmaf(v_terms, v_terms, fabsf(peak) + 1));
}

/// Lower bounds of a component's density over boxes of pixels no farther than `far` from the first one.
struct Reached {
  Local local_;
  LocalSpan span;
  float peak;

  __device__ Reached(const Local& local, const LocalSpan& local_span, float far) : local_(local), span(local_span) {
    const float far_x = fabsf(local_.x) + span.x + far;
    const float far_y = fabsf(local_.y) + span.y + far;
    peak = local_.peak - span.drop -
           slack(local_.across * far_x, fmaf(fabsf(local_.skew), far_x, local_.down * far_y), local_.peak);
  }
  /// Vertical extent of `within` / sqrt(log2(e) / 2) deviations.
  __device__ float height(float within) const {
    const float ratio = local_.skew / local_.across;
    return within * sqrtf(fmaf(ratio, ratio, 1.0F)) / local_.down;
  }
  /// Least log2 density in a box. It is concave: least at a corner.
  __device__ float least(float left, float right, float top, float bottom) const {
    left -= span.x;
    right += span.x;
    top -= span.y;
    bottom += span.y;
    const float v0 = local_.down * (top - local_.y);
    const float v1 = local_.down * (bottom - local_.y);
    const float skew0 = local_.skew * (left - local_.x);
    const float skew1 = local_.skew * (right - local_.x);
    const float v_left = fmaxf(fabsf(skew0 + v0), fabsf(skew0 + v1));
    const float v_right = fmaxf(fabsf(skew1 + v0), fabsf(skew1 + v1));
    const float u_left = local_.across * (left - local_.x);
    const float u_right = local_.across * (right - local_.x);
    return peak - fmaxf(fmaf(u_left, u_left, v_left * v_left), fmaf(u_right, u_right, v_right * v_right));
  }
};

/// Raises the best log2 density (ordered_bits) that is reached all over each quarter within `within` / sqrt(log2(e) /
/// 2) deviations of the component. `allowed`: bit mask of the area's tiles.
__device__ inline void raise_least(const Box& box, const Local& local, const LocalSpan& span, float within,
                                   unsigned allowed, unsigned* best) {
  const Reached reached(local, span, area_side - 1);
  const float wide = within / local.across;
  const float high = reached.height(within);
  const auto quarter_at = [](float place) {
    return static_cast<int>(floorf(fminf(fmaxf(place, -64.0F), 64.0F) * (1.0F / quarter_side)));
  };
  const int left = max(quarter_at(local.x - wide), 0);
  const int right = min(quarter_at(local.x + wide), (box.columns - 1) / quarter_side);
  const int top = max(quarter_at(local.y - high), 0);
  const int bottom = min(quarter_at(local.y + high), (box.rows - 1) / quarter_side);
  for (int row = top; row <= bottom; ++row) {
    for (int column = left; column <= right; ++column) {
      if ((allowed >> (row / 2 * area_tiles + column / 2) & 1U) == 0) continue;
      const auto x0 = static_cast<float>(column * quarter_side);
      const auto y0 = static_cast<float>(row * quarter_side);
      const float least = reached.least(x0, x0 + quarter_side - 1, y0, y0 + quarter_side - 1);
      if (!(least > -1e30F)) continue;
      const int quarter = row * area_quarters + column;
      const unsigned bits = ordered_bits(least);
      if (bits > best[quarter]) atomicMax(best + quarter, bits);
    }
  }
}

/// Upper bound of the log2 density over the box whose middle is (half_x, half_y): |u| and |v| each at their least.
__device__ __forceinline__ float density_above(const Local& local, const LocalSpan& span, float half_x, float half_y) {
  const float dx = half_x - local.x;
  const float dy = half_y - local.y;
  const float x = half_x + span.x;
  const float y = half_y + span.y;
  const float u = fmaxf(fabsf(local.across * dx) - local.across * x, 0.0F);
  const float skewed = fabsf(local.skew);
  const float v = fmaxf(fabsf(fmaf(local.skew, dx, local.down * dy)) - fmaf(skewed, x, local.down * y), 0.0F);
  return local.peak + span.rise - u * u - v * v +
         slack(u, skewed * (fabsf(dx) + x) + local.down * (fabsf(dy) + y), local.peak);
}

/// Rows of cells that a warp visits, in shared memory.
struct CellRows {
  int before[size_classes + 1];  ///< rows of all preceding classes
  int first_row[size_classes];
  int first_column[size_classes];
  int last_column[size_classes];
};

/// Components of one plane in cells, and their spans over the other planes of its bundle.
struct Plane {
  const Components& components;
  const unsigned* begin;  ///< first component of each of its cells
  const ClassMost* most;
  unsigned first;      ///< first component
  unsigned to_middle;  ///< offset from there to the components of the middle plane

  __device__ Place place(unsigned component) const { return components.place[to_middle + component]; }
  __device__ const Expert& expert(unsigned component) const { return components.expert[to_middle + component]; }
  __device__ LocalSpan span(unsigned component, const Box& box) const {
    if (components.span == nullptr) return {};
    return LocalSpan::of(components.span[component], box);
  }
  __device__ unsigned count_of(int size) const {
    const CellClass& cells = components.layout->classes[size];
    return begin[cells.first + cells.columns * cells.rows] - begin[cells.first];
  }
};

/// Sets the rows of cells within `distance` (of class i in lane i, the model's coordinates) of the box. All lanes of a
/// warp call it.
__device__ inline void set_rows(const Plane& plane, const Box& box, float distance, CellRows& rows) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  __syncwarp();
  int number = 0;
  if (lane < size_classes && plane.count_of(lane) > 0) {
    const CellLayout& layout = *plane.components.layout;
    const CellClass& cells = layout.classes[lane];
    const auto cell = [&](double place, int most) {
      return static_cast<int>(fmin(fmax(floor(place * cells.a_cell), 0.0), static_cast<double>(most - 1)));
    };
    const auto away = static_cast<double>(distance);
    const double left = box.left - layout.x;
    const double top = box.top - layout.y;
    rows.first_column[lane] = cell(left - away, cells.columns);
    rows.last_column[lane] = cell(left + (box.columns - 1) * box.pixel_x + away, cells.columns);
    rows.first_row[lane] = cell(top - away, cells.rows);
    number = cell(top + (box.rows - 1) * box.pixel_y + away, cells.rows) - rows.first_row[lane] + 1;
  }
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(all_lanes, number, step);
    if (lane >= step) number += before;
  }
  if (lane < size_classes) rows.before[lane + 1] = number;
  if (lane == 0) rows.before[0] = 0;
  __syncwarp();
}

/// Calls body(component, active) for all components in the cells; active is false in lanes without one. All lanes of a
/// warp call it. Warp `share` of `shares` visits every `shares`-th row.
template <class Body>
__device__ __forceinline__ void visit(const Plane& plane, const CellRows& rows, int share, int shares,
                                      const Body& body) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int all = rows.before[size_classes];
  for (int base = 0; base < all; base += 32 * shares) {
    const int row = base + lane * shares + share;
    unsigned first = 0;
    unsigned end = 0;
    if (row < all) {
      int size = 0;
#pragma unroll
      for (int step = 16; step > 0; step /= 2) {
        if (size + step < size_classes && row >= rows.before[size + step]) size += step;
      }
      const CellClass& cells = plane.components.layout->classes[size];
      const unsigned* const line =
          plane.begin + cells.first + (rows.first_row[size] + row - rows.before[size]) * cells.columns;
      first = line[rows.first_column[size]];
      end = line[rows.last_column[size] + 1] - first;
    }
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const unsigned before = __shfl_up_sync(all_lanes, end, step);
      if (lane >= step) end += before;
    }
    const unsigned total = __shfl_sync(all_lanes, end, 31);
    unsigned before = __shfl_up_sync(all_lanes, end, 1);
    if (lane == 0) before = 0;
    first -= before;
    for (unsigned i = static_cast<unsigned>(lane); i < (total + 31) / 32 * 32; i += 32) {
      int row = 0;  // the last row that begins at or before i
#pragma unroll
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(all_lanes, before, row + step) <= i) row += step;
      }
      body(__shfl_sync(all_lanes, first, row) + i, i < total);
    }
  }
}

}  // namespace holotone::smoe
