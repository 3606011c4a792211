// The force on every dot on CUDA, near and far, and the step that moves it.
#include <holotone/core/cuda_check.hpp>
#include <holotone/halftone/electrostatic/kernels_cuda.cuh>

namespace holotone::electrostatic {
namespace {

__device__ __forceinline__ std::int64_t dot_index() {
  return static_cast<std::int64_t>(blockIdx.x) * force_threads + threadIdx.x;
}

__device__ __forceinline__ float approximate_root(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int Width>
__device__ __forceinline__ float2 far_force(const ForceInput& in, float2 place) {
  float across[Width];
  float down[Width];
  const int i = window_at<Width>(in.window, in.nodes.x, place.x, across);
  const int j = window_at<Width>(in.window, in.nodes.y, place.y, down);
  const float2* row = in.field + static_cast<std::int64_t>(j) * in.nodes.x.count + i;
  float2 force{0, 0};
#pragma unroll
  for (int k = 0; k < Width; ++k, row += in.nodes.x.count) {
    float2 sum{0, 0};
#pragma unroll
    for (int l = 0; l < Width; ++l) {
      const float2 node = __ldg(row + l);
      sum.x = fmaf(across[l], node.x, sum.x);
      sum.y = fmaf(across[l], node.y, sum.y);
    }
    force.x = fmaf(down[k], sum.x, force.x);
    force.y = fmaf(down[k], sum.y, force.y);
  }
  return force;
}

/// Calls body(k) for the dots k of the cells that a disc of the cut-off about `place` touches.
template <class Body>
__device__ __forceinline__ void over_neighbours(const ForceInput& in, float2 place, const Body& body) {
  const NearTerms& near = in.near;
  const CellGrid& cells = in.cells;
  const int top = find_cell(place.y - near.cutoff, cells.inverse, cells.ny);
  const int bottom = find_cell(place.y + near.cutoff, cells.inverse, cells.ny);
  const int* start = in.start + static_cast<std::int64_t>(top) * cells.nx;
  for (int row = top; row <= bottom; ++row, start += cells.nx) {
    const float edge = static_cast<float>(row) * cells.size;
    const float away = fmaxf(fmaxf(edge - place.y, place.y - edge - cells.size), 0.0F);
    const float reach = approximate_root(fmaxf(fmaf(near.cutoff, near.cutoff, -away * away), 0.0F));
    const int begin = start[find_cell(place.x - reach, cells.inverse, cells.nx)];
    const int end = start[find_cell(place.x + reach, cells.inverse, cells.nx) + 1];
#pragma unroll 4
    for (int k = begin; k < end; ++k) body(k);
  }
}

/// Computes the near repulsion. Sets `together` to the number of dots at this place, including the dot itself.
template <int Terms>
__device__ __forceinline__ float2 near_force(const ForceInput& in, float2 place, int& together) {
  float2 force{0, 0};
  together = 0;
  over_neighbours(in, place, [&](int k) {
    const float2 other = __ldg(in.place + k);
    const float dx = place.x - other.x;
    const float dy = place.y - other.y;
    const float r2 = fmaf(dx, dx, dy * dy);
    const float s = fmaxf(fmaf(-in.near.inverse2, r2, 1.0F), 0.0F);
    float share = in.near.coefficient[Terms - 1];
#pragma unroll
    for (int term = Terms - 2; term >= 0; --term) share = fmaf(share, s, in.near.coefficient[term]);
    share *= s * approximate_inverse(fmaxf(r2, same_place2));
    together += r2 <= same_place2 ? 1 : 0;
    force.x = fmaf(share, dx, force.x);
    force.y = fmaf(share, dy, force.y);
  });
  return force;
}

/// Force of the other dots at the same place. Of more than max_together others, only that many are summed and scaled
/// to all.
__device__ __noinline__ float2 same_place_force(const ForceInput& in, std::int64_t index, float2 place, int together) {
  const auto dot_number = static_cast<unsigned>(in.number[index]);
  float2 force{0, 0};
  int met = 0;
  over_neighbours(in, place, [&](int k) {
    const float2 other = in.place[k];
    const float dx = place.x - other.x;
    const float dy = place.y - other.y;
    const auto number = static_cast<unsigned>(in.number[k]);
    if (number == dot_number || fmaf(dx, dx, dy * dy) > same_place2 || met >= max_together) return;
    ++met;
    const float2 direction = same_place_direction(dot_number, number);
    force = {force.x + direction.x, force.y + direction.y};
  });
  const float push = in.same_place_force * static_cast<float>(together - 1) / static_cast<float>(max(met, 1));
  return {push * force.x, push * force.y};
}

__device__ __forceinline__ float density_at(const ForceInput& in, float2 place) {
  const NodeAxis& x = in.density.x;
  const NodeAxis& y = in.density.y;
  const int i = __float2int_rn(place.x * x.inverse) + x.margin;
  const int j = __float2int_rn(place.y * y.inverse) + y.margin;
  return fmaxf(__ldg(in.density.ink + static_cast<std::int64_t>(j) * x.count + i) * in.density.scale, in.density.least);
}

__device__ __forceinline__ void shorten(float2& vector, float limit) {
  const float length2 = fmaf(vector.x, vector.x, vector.y * vector.y);
  if (length2 > limit * limit) {
    const float factor = limit * rsqrtf(length2);
    vector.x *= factor;
    vector.y *= factor;
  }
}

/// Clamps a place to the page. A velocity component that led off the page becomes 0.
__device__ __forceinline__ float2 onto_page(const Attraction& page, float2 place, float2& velocity) {
  const float x = fminf(fmaxf(place.x, 0.0F), static_cast<float>(page.nx));
  const float y = fminf(fmaxf(place.y, 0.0F), static_cast<float>(page.ny));
  if (x != place.x) velocity.x = 0;
  if (y != place.y) velocity.y = 0;
  return {x, y};
}

/// Moves one dot by its force and counts it for the next sort.
__device__ __forceinline__ void move_dot(const ForceInput& in, const MoveRule& rule, std::int64_t index, float2 place,
                                         float2 force, const DotArrays& to, const CountTarget& target) {
  float2 velocity = in.velocity[index];
  float step = rule.tau;
  float limit = rule.limit;
  if (rule.scaled) {
    const float density = density_at(in, place);
    step /= density;
    limit *= rsqrtf(density);
  }
  float2 move{step * force.x, step * force.y};
  if (rule.momentum) {
    const bool against = fmaf(move.x, velocity.x, move.y * velocity.y) < 0;
    const float keep = against ? 0.0F : rule.keep;
    move = {fmaf(keep, velocity.x, move.x), fmaf(keep, velocity.y, move.y)};
  }
  shorten(move, limit);
  if (rule.momentum) velocity = move;
  const float2 moved = onto_page(in.attraction, {place.x + move.x, place.y + move.y}, velocity);
  to.place[index] = moved;
  to.velocity[index] = velocity;
  to.number[index] = in.number[index];
  count_dot(target, index, moved);
}

/// Writes a block's sums of |F| and |F|^2, added in a fixed order.
__device__ __forceinline__ void leave_sums(float2 force, float2* __restrict__ sums) {
  float square = fmaf(force.x, force.x, force.y * force.y);
  float size = sqrtf(square);
  __shared__ float2 parts[force_threads / 32];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    size += __shfl_xor_sync(0xffffffffU, size, offset);
    square += __shfl_xor_sync(0xffffffffU, square, offset);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = {size, square};
  __syncthreads();
  if (threadIdx.x == 0) {
    float2 total = parts[0];
#pragma unroll
    for (int i = 1; i < force_threads / 32; ++i) total = {total.x + parts[i].x, total.y + parts[i].y};
    sums[blockIdx.x] = total;
  }
}

template <int Width, bool Moves>
__global__ void __launch_bounds__(force_threads)
    force_kernel(const __grid_constant__ ForceInput in, const __grid_constant__ MoveRule rule,
                 const __grid_constant__ DotArrays to, const __grid_constant__ CountTarget target,
                 float2* __restrict__ forces, float2* __restrict__ sums) {
  const std::int64_t index = dot_index();
  float2 force{0, 0};
  if (index < in.count) {
    const float2 place = in.place[index];
    int together = 0;
    const float2 far = far_force<Width>(in, place);
    const float2 near = near_force<near_terms(Width)>(in, place, together);
    const float2 ink = image_force(in, place);
    force = {far.x + near.x + ink.x, far.y + near.y + ink.y};
    if (together > 1) {
      const float2 push = same_place_force(in, index, place, together);
      force = {force.x + push.x, force.y + push.y};
    }
    if constexpr (Moves) {
      move_dot(in, rule, index, place, force, to, target);
    } else {
      forces[in.number[index]] = force;
    }
  }
  leave_sums(force, sums);
}

__global__ void __launch_bounds__(force_threads)
    move_kernel(const __grid_constant__ ForceInput in, const float2* __restrict__ forces,
                const __grid_constant__ MoveRule rule, const __grid_constant__ DotArrays to,
                const __grid_constant__ CountTarget target, float2* __restrict__ sums) {
  const std::int64_t index = dot_index();
  float2 force{0, 0};
  if (index < in.count) {
    const float2 place = in.place[index];
    force = forces[in.number[index]];
    if (in.edges.table != nullptr) {
      const float2 more = attraction_at(in.edges, place);
      force = {force.x + more.x, force.y + more.y};
    }
    move_dot(in, rule, index, place, force, to, target);
  }
  leave_sums(force, sums);
}

__global__ void __launch_bounds__(force_threads)
    measure_kernel(const __grid_constant__ ForceInput in, const float2* __restrict__ forces,
                   float2* __restrict__ sums) {
  const std::int64_t index = dot_index();
  leave_sums(index < in.count ? forces[in.number[index]] : float2{0, 0}, sums);
}

__global__ void __launch_bounds__(force_threads)
    shake_kernel(const __grid_constant__ ForceInput in, float radius, std::uint64_t seed,
                 const __grid_constant__ DotArrays to, const __grid_constant__ CountTarget target) {
  const std::int64_t index = dot_index();
  if (index >= in.count) return;
  const int number = in.number[index];
  const std::uint64_t counter = 2 * static_cast<std::uint64_t>(number);
  const float distance = radius * sqrtf(random_uniform(seed, counter));
  float sine;
  float cosine;
  sincospif(2.0F * random_uniform(seed, counter + 1), &sine, &cosine);
  float2 place = in.place[index];
  float2 unused{0, 0};
  place = onto_page(in.attraction, {fmaf(distance, cosine, place.x), fmaf(distance, sine, place.y)}, unused);
  to.place[index] = place;
  to.velocity[index] = in.velocity[index];
  to.number[index] = number;
  count_dot(target, index, place);
}

__global__ void __launch_bounds__(force_threads)
    load_kernel(const float2* __restrict__ positions, std::int64_t count, float width, float height,
                const __grid_constant__ DotArrays to, const __grid_constant__ CountTarget target,
                unsigned long long* first_bad) {
  const std::int64_t index = dot_index();
  if (index >= count) return;
  const float2 given = positions[index];
  if (!isfinite(given.x) || !isfinite(given.y)) atomicMin(first_bad, static_cast<unsigned long long>(index));
  const float2 place{fminf(fmaxf(given.x, 0.0F), width), fminf(fmaxf(given.y, 0.0F), height)};
  to.place[index] = place;
  to.velocity[index] = {0, 0};
  to.number[index] = static_cast<int>(index);
  count_dot(target, index, place);
}

__global__ void __launch_bounds__(force_threads)
    store_kernel(const float2* __restrict__ place, const int* __restrict__ number, std::int64_t count,
                 float2* __restrict__ out) {
  const std::int64_t index = dot_index();
  if (index < count) out[number[index]] = place[index];
}

/// Runs as one block, so that the order is fixed.
__global__ void __launch_bounds__(1024)
    add_up_kernel(const float2* __restrict__ sums, std::int64_t blocks, double2* __restrict__ total) {
  double2 sum{0, 0};
  for (std::int64_t k = threadIdx.x; k < blocks; k += 1024) {
    sum.x += static_cast<double>(sums[k].x);
    sum.y += static_cast<double>(sums[k].y);
  }
  __shared__ double2 parts[1024];
  parts[threadIdx.x] = sum;
  for (int offset = 512; offset > 0; offset /= 2) {
    __syncthreads();
    if (threadIdx.x < offset) {
      parts[threadIdx.x].x += parts[threadIdx.x + offset].x;
      parts[threadIdx.x].y += parts[threadIdx.x + offset].y;
    }
  }
  if (threadIdx.x == 0) *total = parts[0];
}

unsigned force_blocks(std::int64_t count) { return cuda::blocks_for(count, force_threads); }

}  // namespace

void write_forces(const ForceInput& input, int width, float2* forces, float2* sums, cudaStream_t stream) {
  with_width(width, [&](auto w) {
    force_kernel<w.value, false>
        <<<force_blocks(input.count), force_threads, 0, stream>>>(input, {}, {}, {}, forces, sums);
  });
  cuda::check_launch("electrostatic forces");
}

void move_by_forces(const ForceInput& input, int width, const MoveRule& rule, const DotArrays& to,
                    const CountTarget& target, float2* sums, cudaStream_t stream) {
  with_width(width, [&](auto w) {
    force_kernel<w.value, true>
        <<<force_blocks(input.count), force_threads, 0, stream>>>(input, rule, to, target, nullptr, sums);
  });
  cuda::check_launch("electrostatic step");
}

void move_by(const ForceInput& input, const float2* forces, const MoveRule& rule, const DotArrays& to,
             const CountTarget& target, float2* sums, cudaStream_t stream) {
  move_kernel<<<force_blocks(input.count), force_threads, 0, stream>>>(input, forces, rule, to, target, sums);
  cuda::check_launch("electrostatic move");
}

void measure(const ForceInput& input, const float2* forces, float2* sums, cudaStream_t stream) {
  measure_kernel<<<force_blocks(input.count), force_threads, 0, stream>>>(input, forces, sums);
  cuda::check_launch("electrostatic measure");
}

void shake_dots(const ForceInput& input, float radius, std::uint64_t seed, const DotArrays& to,
                const CountTarget& target, cudaStream_t stream) {
  shake_kernel<<<force_blocks(input.count), force_threads, 0, stream>>>(input, radius, seed, to, target);
  cuda::check_launch("electrostatic shake");
}

void load_dots(const float2* positions, std::int64_t count, Shape<2> page, const DotArrays& to,
               const CountTarget& target, unsigned long long* first_bad, cudaStream_t stream) {
  load_kernel<<<force_blocks(count), force_threads, 0, stream>>>(positions, count, static_cast<float>(page[1]),
                                                                 static_cast<float>(page[0]), to, target, first_bad);
  cuda::check_launch("electrostatic load");
}

void store_dots(const float2* place, const int* number, std::int64_t count, float2* out, cudaStream_t stream) {
  store_kernel<<<force_blocks(count), force_threads, 0, stream>>>(place, number, count, out);
  cuda::check_launch("electrostatic store");
}

void add_up(const float2* sums, std::int64_t blocks, double2* total, cudaStream_t stream) {
  add_up_kernel<<<1, 1024, 0, stream>>>(sums, blocks, total);
  cuda::check_launch("electrostatic sums");
}

}  // namespace holotone::electrostatic
