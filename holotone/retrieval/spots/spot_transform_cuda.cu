#include <cmath>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/fft.hpp>
#include <holotone/retrieval/spots/spot_transform_cuda.hpp>
#include <holotone/retrieval/spots/spot_wave_cuda.cuh>
#include <numbers>
#include <vector>

namespace holotone::spots {
namespace {

using cuda::blocks_for;
using cuda::thread_index;
using cuda::threads;

constexpr int window = 6;
constexpr int window_row = 8;  ///< numbers that a window takes, and threads of a spot
constexpr double oversampling = 1.25;
constexpr int spot_threads = 128;
constexpr int block_spots = spot_threads / window_row;

__device__ __forceinline__ int wrapped(int i, int size) { return i < 0 ? i + size : (i >= size ? i - size : i); }

__global__ void place_kernel(TransformGrid grid, const float4* __restrict__ spots, int count,
                             float* __restrict__ windows, int2* __restrict__ first) {
  const int m = static_cast<int>(thread_index());
  if (m >= count) return;
  const auto fill = [&](float place, float beta, float* to) {
    const int begin = static_cast<int>(ceilf(place - 0.5F * window));
    for (int k = 0; k < window_row; ++k) {
      const float z = (static_cast<float>(begin + k) - place) * (2.0F / window);
      to[k] = k < window && fabsf(z) < 1 ? expf(beta * (sqrtf(1 - z * z) - 1)) : 0.0F;
    }
    return begin;
  };
  float* const to = windows + static_cast<std::int64_t>(m) * 2 * window_row;
  // Rows go down, Y up.
  first[m] = {fill(spots[m].x * static_cast<float>(grid.mx), grid.beta_x, to),
              fill(-spots[m].y * static_cast<float>(grid.my), grid.beta_y, to + window_row)};
}

__device__ __forceinline__ void add(float2* to, float2 value) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(to, value);
#else
  atomicAdd(&to->x, value.x);
  atomicAdd(&to->y, value.y);
#endif
}

/// Eight threads a spot, a row of its window each.
__global__ void __launch_bounds__(spot_threads)
    update_kernel(TransformGrid grid, SpotArrays spots, int count, const float* __restrict__ windows,
                  const int2* __restrict__ first, const float2* __restrict__ spectrum, SpotUpdate update,
                  float2* __restrict__ spread) {
  __shared__ float sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % window_row;
  const int wanted = static_cast<int>(blockIdx.x) * block_spots + static_cast<int>(threadIdx.x) / window_row;
  const int m = min(wanted, count - 1);
  const float target = wanted < count ? spots.place[m].w : 0.0F;
  const bool is_on = target > 0 && lane < window;
  const float* const across = windows + static_cast<std::int64_t>(m) * 2 * window_row;
  const float down = across[window_row + lane];
  const int2 begin = first[m];
  const std::int64_t row = static_cast<std::int64_t>(wrapped(begin.y + lane, grid.my)) * grid.mx;
  float2 u{};
  if (update.taken != Taken::start) {
    if (is_on) {
#pragma unroll
      for (int i = 0; i < window; ++i) {
        const float2 value = spectrum[row + wrapped(begin.x + i, grid.mx)];
        u.x += across[i] * value.x;
        u.y += across[i] * value.y;
      }
    }
    u = {down * u.x, down * u.y};
    for (int step = 4; step > 0; step /= 2) {
      u.x += __shfl_xor_sync(~0U, u.x, step);
      u.y += __shfl_xor_sync(~0U, u.y, step);
    }
  }
  float2 v{};
  if (lane == 0 && target > 0) {
    if (update.taken == Taken::start) {
      u = spots.value[m];
    } else {
      const float share = update.pixel_share * (spots.shade != nullptr ? spots.shade[m] : 1.0F);
      u = {share * u.x, share * u.y};
      if (spots.unmodulated != nullptr) u = cuda::sum(u, spots.unmodulated[m]);
      const float power = u.x * u.x + u.y * u.y;
      atomicAdd(&sums[0], power / (target * target));
      atomicAdd(&sums[1], power);
    }
    v = update_spot(spots, update, m, u, SpotState(spots, update, m), spots.pace[m], true);
    const float scale = wave_scale(spots, update, m);
    v = {scale * v.x, scale * v.y};
  }
  const int leader = static_cast<int>(threadIdx.x) % 32 / window_row * window_row;
  v.x = __shfl_sync(~0U, v.x, leader);
  v.y = __shfl_sync(~0U, v.y, leader);
  if (is_on && update.next != NextWaves::none) {
    v = {down * v.x, down * v.y};
#pragma unroll
    for (int i = 0; i < window; ++i) {
      add(spread + row + wrapped(begin.x + i, grid.mx), {across[i] * v.x, across[i] * v.y});
    }
  }
  __syncthreads();
  if (threadIdx.x < 2 && update.taken != Taken::start) atomicAdd(&update.sums_out->x + threadIdx.x, sums[threadIdx.x]);
}

struct GridPlace {
  std::int64_t at;
  float correction;
};
__device__ __forceinline__ GridPlace find_place(const TransformGrid& grid, std::int64_t i) {
  const int x = static_cast<int>(i % grid.nx) - grid.nx / 2;
  const int y = static_cast<int>(i / grid.nx) - grid.ny / 2;
  return {static_cast<std::int64_t>(wrapped(y, grid.my)) * grid.mx + wrapped(x, grid.mx),
          grid.correction_x[abs(x)] * grid.correction_y[abs(y)]};
}

/// Pixels, and after them the cells that the waves were spread to, which are cleared.
__global__ void __launch_bounds__(threads)
    normalise_kernel(TransformGrid grid, const float2* __restrict__ sum, const float2* __restrict__ light, float keep,
                     float2* __restrict__ field, unsigned pixel_blocks, int count, const int2* __restrict__ first,
                     float2* __restrict__ spread) {
  if (blockIdx.x >= pixel_blocks) {
    const int i = static_cast<int>((blockIdx.x - pixel_blocks) * threads + threadIdx.x);
    const int m = i / window_row;
    const int lane = i % window_row;
    if (m >= count || lane >= window) return;
    const int2 begin = first[m];
    const std::int64_t row = static_cast<std::int64_t>(wrapped(begin.y + lane, grid.my)) * grid.mx;
    for (int k = 0; k < window; ++k) spread[row + wrapped(begin.x + k, grid.mx)] = {};
    return;
  }
  const std::int64_t i = thread_index();
  if (i >= static_cast<std::int64_t>(grid.ny) * grid.nx) return;
  const GridPlace place = find_place(grid, i);
  const float modulus = light != nullptr ? PixelLight(light, i).modulus : 1.0F;
  float2 value = sum[place.at];
  value = {place.correction * modulus * value.x, place.correction * modulus * value.y};
  if (keep > 0) {
    const float2 before = field[place.at];
    const float share = keep / place.correction;
    value = {value.x + share * before.x, value.y + share * before.y};
  }
  const float scale = place.correction * modulus * rsqrtf(fmaxf(value.x * value.x + value.y * value.y, 1e-30F));
  field[place.at] = {scale * value.x, scale * value.y};
}

__global__ void to_turns_kernel(TransformGrid grid, const float2* __restrict__ field, const float2* __restrict__ light,
                                int levels, float* __restrict__ turns) {
  const std::int64_t i = thread_index();
  if (i >= static_cast<std::int64_t>(grid.ny) * grid.nx) return;
  const PixelLight at(light, i);
  turns[i] = at.modulus > 0 ? rounded(panel_turns(field[find_place(grid, i).at], at), levels) : 0.0F;
}

__global__ void place_field_kernel(TransformGrid grid, const float* __restrict__ turns,
                                   const float2* __restrict__ light, float2* __restrict__ field) {
  const std::int64_t i = thread_index();
  if (i >= static_cast<std::int64_t>(grid.ny) * grid.nx) return;
  const GridPlace place = find_place(grid, i);
  const float2 value = modulated(turns != nullptr ? turns[i] : 0.0F, PixelLight(light, i));
  field[place.at] = {place.correction * value.x, place.correction * value.y};
}

int grid_size(int n) {
  return static_cast<int>(fft_friendly_size(static_cast<std::int64_t>(std::ceil(oversampling * n))));
}

double window_beta(int n, int m) {
  const double sigma = static_cast<double>(m) / n;
  return std::numbers::pi * std::sqrt(window * window / (sigma * sigma) * (sigma - 0.5) * (sigma - 0.5) - 0.8);
}

/// One over the window's transform, by distance from the middle.
void append_corrections(int n, int m, double beta, std::vector<float>& to) {
  constexpr int parts = 400;
  for (int j = 0; j <= n / 2; ++j) {
    double sum = 0;
    for (int part = 0; part < parts; ++part) {
      const double z = -1 + (part + 0.5) * 2 / parts;
      sum += std::exp(beta * (std::sqrt(1 - z * z) - 1)) * std::cos(std::numbers::pi * window * j * z / m);
    }
    to.push_back(static_cast<float>(parts / (sum * window)));
  }
}

unsigned blocks(std::int64_t count) { return blocks_for(count, threads); }

}  // namespace

bool is_transform_faster(int nx, int ny, double spots, double cache_bytes) {
  constexpr double million = 1e-6;
  const double pixels = million * nx * ny;
  const double points = million * grid_size(nx) * grid_size(ny);
  const double by_products = 8 + 3 * pixels + spots * (0.0028 + 0.0092 * pixels);
  const bool is_cached = points * sizeof(float2) <= million * cache_bytes;
  return 12 + (is_cached ? 31 : 48) * points + 0.0018 * spots < by_products;
}

SpotTransform::SpotTransform(int nx, int ny, const Queue& queue) : queue_(queue) {
  grid_.nx = nx;
  grid_.ny = ny;
  grid_.mx = grid_size(nx);
  grid_.my = grid_size(ny);
  const double beta_x = window_beta(nx, grid_.mx);
  const double beta_y = window_beta(ny, grid_.my);
  grid_.beta_x = static_cast<float>(beta_x);
  grid_.beta_y = static_cast<float>(beta_y);
  std::vector<float> corrections;
  append_corrections(nx, grid_.mx, beta_x, corrections);
  append_corrections(ny, grid_.my, beta_y, corrections);
  corrections_ = Array<float, 1>({std::ssize(corrections)}, queue);
  copy_bytes(corrections_.data(), queue.device(), corrections.data(), Device{}, corrections_.bytes(), queue);
  queue.synchronize();
  grid_.correction_x = corrections_.data();
  grid_.correction_y = corrections_.data() + nx / 2 + 1;
  const std::int64_t size = static_cast<std::int64_t>(grid_.mx) * grid_.my;
  for (auto* grid : {&spread_, &sum_, &field_, &other_, &spectrum_}) {
    *grid = Array<float2, 1>({size}, queue);
    cuda::check(cudaMemsetAsync(grid->data(), 0, grid->bytes(), stream()), "cudaMemsetAsync");
  }
  long long extents[2] = {grid_.my, grid_.mx};
  const fft::Handle::Layout layout{nullptr, 1, size};
  const std::size_t bytes = transform_.plan(2, extents, layout, layout, CUFFT_C2C, 1);
  work_ = Array<std::byte, 1>({static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))}, queue);
  transform_.set_work_area(work_.data());
  transform_.set_stream(stream());
}

void SpotTransform::reserve(int count) {
  windows_ = Array<float, 1>({static_cast<std::int64_t>(count) * 2 * window_row}, queue_);
  first_ = Array<int2, 1>({count}, queue_);
  count_ = count;
}

void SpotTransform::place(const float4* spots) {
  place_kernel<<<blocks(count_), threads, 0, stream()>>>(grid_, spots, count_, windows_.data(), first_.data());
  cuda::check_launch("spots windows");
}

void SpotTransform::build(const float2* light, float keep) {
  transform_.execute(spread_.data(), sum_.data(), CUFFT_INVERSE);
  const unsigned pixel_blocks = blocks(static_cast<std::int64_t>(grid_.nx) * grid_.ny);
  const unsigned all = pixel_blocks + blocks(static_cast<std::int64_t>(count_) * window_row);
  normalise_kernel<<<all, threads, 0, stream()>>>(grid_, sum_.data(), light, keep, field_.data(), pixel_blocks, count_,
                                                  first_.data(), spread_.data());
  cuda::check_launch("spots normalise");
}

void SpotTransform::update(const SpotArrays& spots, const SpotUpdate& what, bool of_other) {
  transform_.execute(of_other ? other_.data() : field_.data(), spectrum_.data(), CUFFT_FORWARD);
  spread(spots, what);
}

void SpotTransform::spread(const SpotArrays& spots, const SpotUpdate& what) {
  update_kernel<<<blocks_for(count_, block_spots), spot_threads, 0, stream()>>>(
      grid_, spots, count_, windows_.data(), first_.data(), spectrum_.data(), what, spread_.data());
  cuda::check_launch("spots update");
}

void SpotTransform::to_turns(const float2* light, int levels, float* turns) const {
  to_turns_kernel<<<blocks(static_cast<std::int64_t>(grid_.nx) * grid_.ny), threads, 0, stream()>>>(
      grid_, field_.data(), light, levels, turns);
  cuda::check_launch("spots phase");
}

void SpotTransform::place_field(const float* turns, const float2* light, float2* field) {
  place_field_kernel<<<blocks(static_cast<std::int64_t>(grid_.nx) * grid_.ny), threads, 0, stream()>>>(grid_, turns,
                                                                                                       light, field);
  cuda::check_launch("spots field");
}

void SpotTransform::set_turns(const float* turns, const float2* light) { place_field(turns, light, field_.data()); }
void SpotTransform::set_other(const float* turns, const float2* light) { place_field(turns, light, other_.data()); }

}  // namespace holotone::spots
