#pragma once
// For _cuda.cu files only: declarations shared by the kernels of electrostatic halftoning. Not for users.
#include <cstdint>
#include <cuda_runtime.h>
#include <holotone/core/array.hpp>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <type_traits>
#include <utility>

namespace holotone::electrostatic {

inline constexpr int widest_window = 10;
inline constexpr int window_terms = 7;  ///< even: 4, odd: 3
inline constexpr int max_near_terms = 9;
/// Number of terms of the near share for a window of this width; wide windows belong to small errors.
constexpr int near_terms(int width) { return width <= 5 ? 7 : max_near_terms; }

/// Square cells into which dots are sorted, row by row. Arrays over cells have one more entry: start[nx ny] is the
/// number of dots.
struct CellGrid {
  int ny = 0;
  int nx = 0;
  float size = 1;     ///< pixels
  float inverse = 1;  ///< 1 / size
  [[nodiscard]] __host__ __device__ int count() const { return nx * ny; }
};

/// One axis of the far field's nodes: node i lies at (i - margin) step.
struct NodeAxis {
  int count = 0;
  int margin = 0;
  float step = 1;          ///< pixels
  float inverse = 1;       ///< 1 / step, rounded
  float inverse_rest = 0;  ///< 1 / step - inverse
};
struct Nodes {
  NodeAxis y;
  NodeAxis x;
};

/// phi(i - width / 2 + (1 + t) / 2) of the nodes i of the window's first half as polynomials of t; the second half
/// mirrors it.
struct WindowTerms {
  float even[widest_window / 2][(window_terms + 1) / 2] = {};  ///< of t^0, t^2, t^4, t^6
  float odd[widest_window / 2][window_terms / 2] = {};         ///< of t^1, t^3, t^5
};

/// Near share of a pair's force: a polynomial of s = 1 - |r|^2 / cutoff^2, 0 for s < 0.
struct NearTerms {
  float cutoff = 0;                        ///< pixels
  float inverse2 = 0;                      ///< 1 / cutoff^2
  float coefficient[max_near_terms] = {};  ///< of s^1, s^2, ...
};

__device__ __forceinline__ int find_cell(float place, float inverse, int cells) {
  return min(max(static_cast<int>(place * inverse), 0), cells - 1);
}
__device__ __forceinline__ int find_cell(const CellGrid& cells, float2 place) {
  return find_cell(place.y, cells.inverse, cells.ny) * cells.nx + find_cell(place.x, cells.inverse, cells.nx);
}

/// Returns the first node that a dot's window touches on an axis. Sets `value` to the window at this and the following
/// nodes. The dot's distance to the node is computed without rounding its place first: far from the page's corner
/// float32 would be too coarse.
template <int Width>
__device__ __forceinline__ int window_at(const WindowTerms& terms, const NodeAxis& axis, float place,
                                         float (&value)[Width]) {
  const float first = ceilf(fmaf(place, axis.inverse, -0.5F * Width));
  const float distance = fmaf(-place, axis.inverse_rest, fmaf(-place, axis.inverse, first));
  const float t = fmaf(2.0F, distance, Width - 1.0F);
  const float t2 = t * t;
#pragma unroll
  for (int i = 0; i < (Width + 1) / 2; ++i) {
    float even = fmaf(terms.even[i][3], t2, terms.even[i][2]);
    even = fmaf(even, t2, terms.even[i][1]);
    even = fmaf(even, t2, terms.even[i][0]);
    if (2 * i + 1 == Width) {
      value[i] = even;
    } else {
      float odd = fmaf(terms.odd[i][2], t2, terms.odd[i][1]);
      odd = fmaf(odd, t2, terms.odd[i][0]);
      value[i] = fmaf(odd, t, even);
      value[Width - 1 - i] = fmaf(-odd, t, even);
    }
  }
  return static_cast<int>(first) + axis.margin;
}

/// Calls body(std::integral_constant<int, width>{}).
template <class Body>
void with_width(int width, const Body& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (void)((width == I + 3 && (body(std::integral_constant<int, I + 3>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, widest_window - 2>{});
}

/// Spreads dots sorted by cell to charge on the nodes, minus `count` times `ink` (the image's charge there for one
/// dot). `start[c]` is the first dot of cell c. Sums are in fixed point: the same bits in any order. Only enqueues.
struct SpreadInput {
  const float2* dots = nullptr;
  const int* start = nullptr;
  const float* ink = nullptr;
  float count = 0;
};
void spread(const SpreadInput& input, const CellGrid& cells, const Nodes& nodes, int width, const WindowTerms& window,
            float* charge, cudaStream_t stream);
/// Minimum width of cells, in steps of the nodes.
inline constexpr double min_cell_steps = 0.75;

/// Arrays of dots on the device, sorted by cell or not.
struct DotArrays {
  float2* place = nullptr;
  float2* velocity = nullptr;  ///< of the last move, pixels
  int* number = nullptr;       ///< in the caller's order
};

/// Sorts dots by cell.
///
/// The kernels that write the dots count them into `fill` (count_dot), which has to be all zeros before; sort() then
/// moves them. Within a cell their order is that of counting, or that of their numbers if `deterministic`.
class CellSort {
 public:
  CellSort(const CellGrid& cells, std::int64_t maximum, bool deterministic, const Queue& queue);
  [[nodiscard]] const int* start() const { return start_.data(); }
  [[nodiscard]] int* fill() { return fill_.data(); }
  [[nodiscard]] int* rank() { return rank_.data(); }
  [[nodiscard]] const CellGrid& cells() const { return cells_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Resets the counts to zero.
  void clear(cudaStream_t stream);
  void sort(const DotArrays& from, const DotArrays& to, std::int64_t count, cudaStream_t stream);

 private:
  CellGrid cells_;
  bool deterministic_;
  Array<int, 1> fill_;   ///< dots counted so far in each cell; zeros after a sort
  Array<int, 1> start_;  ///< first dot of each cell, then the number of dots
  Array<int, 1> rank_;   ///< index of each dot in its cell
  Array<int2, 1> slots_;
  Buffer scan_area_;
};

/// Destination of the counts for the next sort.
struct CountTarget {
  CellGrid cells;
  int* fill = nullptr;
  int* rank = nullptr;
};
__device__ __forceinline__ void count_dot(const CountTarget& target, std::int64_t index, float2 place) {
  target.rank[index] = atomicAdd(target.fill + find_cell(target.cells, place), 1);
}

/// Attraction as a cubic B-spline: entry (row + 2, col + 2) of {ny + 4, nx + 4} belongs to the pixel's centre.
struct Attraction {
  const float2* table = nullptr;
  int ny = 0;
  int nx = 0;
  float charge = 0;  ///< number of dots
};

/// Computes the four weights of a cubic B-spline at t after its second node.
__device__ __forceinline__ void spline_weights(float t, float (&weight)[4]) {
  const float u = 1.0F - t;
  weight[0] = u * u * u * (1.0F / 6);
  weight[1] = fmaf(t * t, fmaf(0.5F, t, -1.0F), 2.0F / 3);
  weight[2] = fmaf(u * u, fmaf(0.5F, u, -1.0F), 2.0F / 3);
  weight[3] = t * t * t * (1.0F / 6);
}

__device__ __forceinline__ float2 attraction_at(const Attraction& in, float2 place) {
  const float x = floorf(place.x - 0.5F);
  const float y = floorf(place.y - 0.5F);
  float across[4];
  float down[4];
  spline_weights(place.x - 0.5F - x, across);
  spline_weights(place.y - 0.5F - y, down);
  const int pitch = in.nx + 4;
  const float2* row = in.table + static_cast<std::int64_t>(static_cast<int>(y) + 1) * pitch + static_cast<int>(x) + 1;
  float2 force{0, 0};
#pragma unroll
  for (int j = 0; j < 4; ++j, row += pitch) {
    float2 sum{0, 0};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 entry = __ldg(row + i);
      sum.x = fmaf(across[i], entry.x, sum.x);
      sum.y = fmaf(across[i], entry.y, sum.y);
    }
    force.x = fmaf(down[j], sum.x, force.x);
    force.y = fmaf(down[j], sum.y, force.y);
  }
  return {force.x * in.charge, force.y * in.charge};
}

/// Values of an attraction's table, linear between the pixels' centres.
__device__ __forceinline__ float2 linear_attraction_at(const Attraction& in, float2 place) {
  const float x = floorf(place.x - 0.5F);
  const float y = floorf(place.y - 0.5F);
  const float across = place.x - 0.5F - x;
  const float down = place.y - 0.5F - y;
  const int pitch = in.nx + 4;
  const float2* row = in.table + static_cast<std::int64_t>(static_cast<int>(y) + 2) * pitch + static_cast<int>(x) + 2;
  const float2 a = __ldg(row);
  const float2 b = __ldg(row + 1);
  const float2 c = __ldg(row + pitch);
  const float2 d = __ldg(row + pitch + 1);
  const float2 above{fmaf(across, b.x - a.x, a.x), fmaf(across, b.y - a.y, a.y)};
  const float2 below{fmaf(across, d.x - c.x, c.x), fmaf(across, d.y - c.y, c.y)};
  return {fmaf(down, below.x - above.x, above.x) * in.charge, fmaf(down, below.y - above.y, above.y) * in.charge};
}

/// Squared distance, px^2, up to which dots are at the same place. Of more than max_together others there, only that
/// many are summed and scaled to all.
inline constexpr auto same_place2 = static_cast<float>(same_place_px * same_place_px);
inline constexpr int max_together = 1024;
/// Direction in which dot `other` pushes dot `own` at the same place. It depends only on their numbers.
__device__ __forceinline__ float2 same_place_direction(unsigned dot, unsigned other) {
  const std::uint64_t pair = (static_cast<std::uint64_t>(min(dot, other)) << 32) | max(dot, other);
  float2 direction;
  sincospif(2.0F * random_uniform(0, pair), &direction.y, &direction.x);
  return dot < other ? direction : float2{-direction.x, -direction.y};
}

__device__ __forceinline__ float approximate_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Density of ink in dots per square pixel, from the value at the nearest node.
struct Density {
  NodeAxis y;
  NodeAxis x;
  const float* ink = nullptr;
  float scale = 0;
  float least = 0;
};

struct MoveRule {
  bool momentum = true;
  bool scaled = true;
  float tau = 0;
  float keep = 0;   ///< share of the velocity that is kept
  float limit = 0;  ///< pixels, or mean spacings if scaled
  friend bool operator==(const MoveRule&, const MoveRule&) = default;
};

struct ForceInput {
  const float2* place = nullptr;     ///< sorted
  const float2* velocity = nullptr;  ///< sorted
  const int* number = nullptr;       ///< sorted
  const int* start = nullptr;
  const float2* field = nullptr;  ///< far force on the nodes
  std::int64_t count = 0;
  CellGrid cells;
  Nodes nodes;
  WindowTerms window;
  NearTerms near;
  Attraction attraction;
  Attraction points;  ///< ImageForce::points; without a table: none
  Attraction edges;   ///< added to the forces by move_by; without a table: nothing
  Density density;
  float same_place_force = 0;
};

/// Force of the image: both tables, each if there is one.
__device__ __forceinline__ float2 image_force(const ForceInput& in, float2 place) {
  float2 force{0, 0};
  if (in.attraction.table != nullptr) force = attraction_at(in.attraction, place);
  if (in.points.table != nullptr) {
    const float2 more = linear_attraction_at(in.points, place);
    force = {force.x + more.x, force.y + more.y};
  }
  return force;
}

/// Threads per block of the force and move kernels. Each block writes its sums of |F| and |F|^2.
inline constexpr int force_threads = 128;

/// Writes F of every dot to forces[number].
void write_forces(const ForceInput& input, int width, float2* forces, float2* sums, cudaStream_t stream);
/// Moves every dot by its force F. The moved dots go to `to` in the order of the input and are counted for the next
/// sort.
void move_by_forces(const ForceInput& input, int width, const MoveRule& rule, const DotArrays& to,
                    const CountTarget& target, float2* sums, cudaStream_t stream);
/// Moves dots by given forces[number].
void move_by(const ForceInput& input, const float2* forces, const MoveRule& rule, const DotArrays& to,
             const CountTarget& target, float2* sums, cudaStream_t stream);
/// Computes only the sums of given forces.
void measure(const ForceInput& input, const float2* forces, float2* sums, cudaStream_t stream);
void shake_dots(const ForceInput& input, float radius, std::uint64_t seed, const DotArrays& to,
                const CountTarget& target, cudaStream_t stream);
/// Loads the caller's dots, clamped to the page and at rest. `first_bad` has to be all ones; it becomes the first dot
/// that is not finite.
void load_dots(const float2* positions, std::int64_t count, Shape<2> page, const DotArrays& to,
               const CountTarget& target, unsigned long long* first_bad, cudaStream_t stream);
/// out[number] = place.
void store_dots(const float2* place, const int* number, std::int64_t count, float2* out, cudaStream_t stream);
/// Adds {sum of |F|, sum of |F|^2} of `blocks` blocks in a fixed order.
void add_up(const float2* sums, std::int64_t blocks, double2* total, cudaStream_t stream);

}  // namespace holotone::electrostatic
