// Sums over the pixels of pictures for each component, on CUDA.
#include <holotone/smoe/fit/gradient_sums_cuda.cuh>
#include <holotone/smoe/model/warp_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int rows = static_cast<int>(tile_shape[0]);
constexpr int columns = static_cast<int>(tile_shape[1]);
constexpr int pixels = rows * columns;
constexpr int threads = pixels;  ///< one pixel each, then one component each
constexpr int warps = threads / 32;
constexpr int columns_a_warp = columns / warps;
constexpr int max_staged = 64;  ///< components in shared memory
constexpr int total_threads = 1024;
/// Lower bound of 1 - w_j in the removal: beyond it, the pixel would be left to components fitted elsewhere.
constexpr float min_rest = 0.02F;
constexpr double log_two = 0.69314718055994530942;

/// Numbers of a pair: six sums of s, three of each p, one extra sum.
__host__ __device__ constexpr int count_sums(int channels) { return 7 + 3 * channels; }

/// A component in coordinates of a tile's first pixel.
template <int Channels>
struct LocalComponent {
  float x;  ///< first pixel minus the centre
  float y;
  float across;
  float skew;
  float down;
  float peak;
  float sharpness;  ///< sharpness of the colour's density: log2 of it falls by sharpness |t - m|^2
  float colour[Channels];
  float slope_x[Channels];
  float slope_y[Channels];
};

/// Inputs and outputs of the sums.
struct Scene {
  const ImageComponent* components;
  const double* precision;
  const std::int64_t* begin;
  const std::uint32_t* index;
  const float* colours;  ///< {ny, nx, channels}
  int width;
  int height;
  int tiles_across;
  float* of_pairs;
  double* of_tiles;
};

template <int Channels>
__device__ LocalComponent<Channels> place_locally(const Scene& scene, std::uint32_t j, double left, double top) {
  const ImageComponent& component = scene.components[j];
  LocalComponent<Channels> shifted;
  shifted.x = static_cast<float>(left - component.x);
  shifted.y = static_cast<float>(top - component.y);
  shifted.across = static_cast<float>(component.across);
  shifted.skew = static_cast<float>(component.skew);
  shifted.down = static_cast<float>(component.down);
  shifted.peak = static_cast<float>(component.peak);
  shifted.sharpness = 0;
  if (scene.precision) {
    shifted.sharpness = static_cast<float>(0.5 / log_two * scene.precision[j]);
    shifted.peak += static_cast<float>(0.5 * Channels * log2(scene.precision[j]));
  }
#pragma unroll
  for (int c = 0; c < Channels; ++c) {
    shifted.colour[c] = component.colour[static_cast<std::size_t>(c)];
    shifted.slope_x[c] = component.slope_x[static_cast<std::size_t>(c)];
    shifted.slope_y[c] = component.slope_y[static_cast<std::size_t>(c)];
  }
  return shifted;
}

/// Terms of a component that are constant along a column of pixels.
template <int Channels>
struct Column {
  float dx;
  float base;
  float v;
  float expert[Channels];

  __device__ __forceinline__ Column(const LocalComponent<Channels>& component, float column) {
    dx = component.x + column;
    const float u = component.across * dx;
    base = fmaf(-u, u, component.peak);
    v = component.skew * dx;
#pragma unroll
    for (int c = 0; c < Channels; ++c) expert[c] = fmaf(component.slope_x[c], dx, component.colour[c]);
  }
  __device__ __forceinline__ float expert_at(const LocalComponent<Channels>& component, int c, float dy) const {
    return fmaf(component.slope_y[c], dy, expert[c]);
  }
  /// Log2 density; for `joint`, of coordinates and colour.
  template <PixelSum What>
  __device__ __forceinline__ float density(const LocalComponent<Channels>& component, float dy,
                                           const float (&target)[Channels]) const {
    const float down = fmaf(component.down, dy, v);
    float result = fmaf(-down, down, base);
    if constexpr (What == PixelSum::joint) {
      float away = 0;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        const float off = target[c] - expert_at(component, c, dy);
        away = fmaf(off, off, away);
      }
      result = fmaf(-component.sharpness, away, result);
    }
    return result;
  }
};

/// Data of a pixel for the sums of components.
template <int Channels>
struct alignas(16) Pixel {
  float level;    ///< log2 of the largest density
  float inverse;  ///< 1 / sum of weights, 0 beyond the picture
  float error;    ///< |r|^2
  float unused;
  float residual[4];  ///< `joint`: the target
  float picture[4];
};

template <int Channels>
struct Shared {
  LocalComponent<Channels> staged[max_staged];
  Pixel<Channels> pixel[pixels];
  float part[warps][count_sums(Channels)][33];
  double total[warps];
};

/// s, p and the extra summand of one component at one pixel. `weight` is the gating.
template <int Channels, PixelSum What>
__device__ __forceinline__ void summands(const LocalComponent<Channels>& component, const Column<Channels>& column,
                                         float dy, const Pixel<Channels>& pixel, float weight, float& s,
                                         float (&p)[Channels], float& extra) {
  s = weight;
  extra = 0;
#pragma unroll
  for (int c = 0; c < Channels; ++c) p[c] = weight * pixel.residual[c];
  if constexpr (What == PixelSum::joint) {
#pragma unroll
    for (int c = 0; c < Channels; ++c) extra = fmaf(p[c], pixel.residual[c], extra);
  }
  if constexpr (What == PixelSum::experts || What == PixelSum::pictures) s = weight * weight;
  if constexpr (What == PixelSum::gradient) {
    s = 0;
#pragma unroll
    for (int c = 0; c < Channels; ++c) s = fmaf(p[c], column.expert_at(component, c, dy) - pixel.picture[c], s);
  }
  if constexpr (What == PixelSum::importance) {
    s = weight * pixel.error;
    const float share = weight / fmaxf(1 - weight, min_rest);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const float shift = share * (pixel.picture[c] - column.expert_at(component, c, dy));
      extra = fmaf(shift, fmaf(2.0F, pixel.residual[c], shift), extra);
    }
  }
}

/// A component's sums over some columns of the tile.
template <int Channels, PixelSum What>
__device__ __forceinline__ void sum_columns(const LocalComponent<Channels>& component, const Pixel<Channels>* pixel,
                                            int first_column, float (&sum)[count_sums(Channels)]) {
#pragma unroll
  for (float& value : sum) value = 0;
  for (int i = first_column; i < first_column + columns_a_warp; ++i) {
    const Column<Channels> column(component, static_cast<float>(i));
    float s[3] = {};
    float p[Channels][2] = {};
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const Pixel<Channels> here = pixel[row * columns + i];
      const float dy = component.y + static_cast<float>(row);
      float target[Channels];
#pragma unroll
      for (int c = 0; c < Channels; ++c) target[c] = here.residual[c];
      const float weight =
          power_of_two(column.template density<What>(component, dy, target) - here.level) * here.inverse;
      float own_s;
      float own_p[Channels];
      float extra;
      summands<Channels, What>(component, column, dy, here, weight, own_s, own_p, extra);
      s[0] += own_s;
      s[1] = fmaf(own_s, dy, s[1]);
      s[2] = fmaf(own_s, dy * dy, s[2]);
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        p[c][0] += own_p[c];
        p[c][1] = fmaf(own_p[c], dy, p[c][1]);
      }
      sum[6 + 3 * Channels] += here.inverse > 0 ? extra : 0;
    }
    const float dx = column.dx;
    sum[0] += s[0];
    sum[1] = fmaf(s[0], dx, sum[1]);
    sum[2] += s[1];
    sum[3] = fmaf(s[0], dx * dx, sum[3]);
    sum[4] = fmaf(s[1], dx, sum[4]);
    sum[5] += s[2];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      sum[6 + 3 * c] += p[c][0];
      sum[7 + 3 * c] = fmaf(p[c][0], dx, sum[7 + 3 * c]);
      sum[8 + 3 * c] += p[c][1];
    }
  }
}

/// Sums of one tile by one block. All threads call each function.
template <int Channels, PixelSum What>
struct Tile {
  const Scene& scene;
  Shared<Channels>& shared;
  std::int64_t begin;
  std::int64_t count;
  int left;
  int top;
  std::int64_t staged = -1;  ///< first of the components in shared memory

  /// Copies up to max_staged components from `first` on to shared memory; returns their number.
  __device__ int stage(std::int64_t first) {
    const int here = static_cast<int>(min(static_cast<long long>(count - first), static_cast<long long>(max_staged)));
    if (staged == first) return here;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < here; i += threads) {
      shared.staged[i] = place_locally<Channels>(scene, scene.index[begin + first + i], left, top);
    }
    __syncthreads();
    staged = first;
    return here;
  }

  /// Computes the thread's pixel: picture, residual and normalization. Returns its part of the total.
  __device__ double weigh() {
    const int row = static_cast<int>(threadIdx.x) / columns;
    const int column = static_cast<int>(threadIdx.x) % columns;
    const bool inside = left + column < scene.width && top + row < scene.height;
    float target[Channels] = {};
    if (inside && What != PixelSum::pictures) {
      const float* const from =
          scene.colours + (static_cast<std::int64_t>(top + row) * scene.width + left + column) * Channels;
#pragma unroll
      for (int c = 0; c < Channels; ++c) target[c] = from[c];
    }
    float most = -3e38F;
    for (std::int64_t first = 0; first < count; first += max_staged) {
      const int here = stage(first);
      for (int i = 0; i < here; ++i) {
        const LocalComponent<Channels>& component = shared.staged[i];
        const Column<Channels> place(component, static_cast<float>(column));
        most = fmaxf(most, place.template density<What>(component, component.y + static_cast<float>(row), target));
      }
    }
    float sum = 0;
    float colour[Channels] = {};
    for (std::int64_t first = 0; first < count; first += max_staged) {
      const int here = stage(first);
      for (int i = 0; i < here; ++i) {
        const LocalComponent<Channels>& component = shared.staged[i];
        const Column<Channels> place(component, static_cast<float>(column));
        const float dy = component.y + static_cast<float>(row);
        const float weight = power_of_two(place.template density<What>(component, dy, target) - most);
        sum += weight;
        if constexpr (What != PixelSum::joint) {
#pragma unroll
          for (int c = 0; c < Channels; ++c) colour[c] = fmaf(weight, place.expert_at(component, c, dy), colour[c]);
        }
      }
    }
    Pixel<Channels> pixel{most, inside && sum > 0 ? 1 / sum : 0, 0, 0, {}, {}};
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      pixel.picture[c] = colour[c] * pixel.inverse;
      pixel.residual[c] = What == PixelSum::joint ? target[c] : inside ? pixel.picture[c] - target[c] : 0;
      pixel.error = fmaf(pixel.residual[c], pixel.residual[c], pixel.error);
    }
    shared.pixel[threadIdx.x] = pixel;
    if (!inside) return 0;
    if (What != PixelSum::joint) return static_cast<double>(pixel.error);
    return log_two * static_cast<double>(most) + log(static_cast<double>(sum));
  }

  /// Writes the tile's part of the total.
  __device__ void add_up(double value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(all_lanes, value, offset);
    if (threadIdx.x % 32 == 0) shared.total[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x != 0) return;
    double total = 0;
    for (const double sum : shared.total) total += sum;
    scene.of_tiles[blockIdx.x] = total;
  }

  /// Computes the components' sums, 32 components at a time, each warp over its columns.
  __device__ void sum_components() {
    constexpr int width = count_sums(Channels);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    for (std::int64_t first = 0; first < count; first += max_staged) {
      const int here = stage(first);
      for (int from = 0; from < here; from += 32) {
        if (from + lane < here) {
          const LocalComponent<Channels> component = shared.staged[from + lane];
          float sum[width];
          sum_columns<Channels, What>(component, shared.pixel, warp * columns_a_warp, sum);
#pragma unroll
          for (int i = 0; i < width; ++i) shared.part[warp][i][lane] = sum[i];
        }
        __syncthreads();
        float* const to = scene.of_pairs + (begin + first + from) * width;
        for (int i = static_cast<int>(threadIdx.x); i < min(32, here - from) * width; i += threads) {
          float sum = 0;
#pragma unroll
          for (const auto& part : shared.part) sum += part[i % width][i / width];
          to[i] = sum;
        }
        __syncthreads();
      }
    }
  }
};

/// One block per tile.
template <int Channels, PixelSum What>
__global__ void __launch_bounds__(threads) tile_kernel(Scene scene) {
  extern __shared__ char memory[];
  const std::int64_t begin = scene.begin[blockIdx.x];
  const auto number = static_cast<int>(blockIdx.x);
  Tile<Channels, What> tile{scene,
                            *reinterpret_cast<Shared<Channels>*>(memory),
                            begin,
                            scene.begin[blockIdx.x + 1] - begin,
                            number % scene.tiles_across * columns,
                            number / scene.tiles_across * rows};
  tile.add_up(tile.weigh());
  tile.sum_components();
}

/// One block per component: groups of lanes sum its pairs in turn; the groups' sums are added in order.
template <int Channels>
__global__ void __launch_bounds__(threads)
    pair_kernel(const std::int64_t* __restrict__ first, const std::uint32_t* __restrict__ places,
                const float* __restrict__ of_pairs, ComponentSums* __restrict__ sums) {
  constexpr int width = count_sums(Channels);
  constexpr int lanes = width <= 16 ? 16 : 32;
  constexpr int groups = threads / lanes;
  __shared__ double part[groups][lanes];
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int group = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t last = first[blockIdx.x + 1];
  double sum = 0;
  if (lane < width) {
#pragma unroll 4
    for (std::int64_t i = first[blockIdx.x] + group; i < last; i += groups) {
      sum += static_cast<double>(of_pairs[std::int64_t{places[i]} * width + lane]);
    }
  }
  part[group][lane] = sum;
  __syncthreads();
  if (group != 0 || lane >= width) return;
  double all = 0;
#pragma unroll
  for (const auto& row : part) all += row[lane];
  ComponentSums& to = sums[blockIdx.x];
  if (lane < 6) {
    to.s[static_cast<std::size_t>(lane)] = all;
  } else if (lane < 6 + 3 * Channels) {
    to.p[static_cast<std::size_t>(lane - 6) / 3][static_cast<std::size_t>(lane - 6) % 3] = all;
  } else {
    to.extra = all;
  }
}

__global__ void __launch_bounds__(total_threads)
    total_kernel(const double* __restrict__ of_tiles, std::int64_t tiles, double* __restrict__ total) {
  __shared__ double part[total_threads / 32];
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < tiles; i += total_threads) sum += of_tiles[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(all_lanes, sum, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double all = 0;
  for (const double value : part) all += value;
  *total = all;
}

template <int Channels, PixelSum What>
void launch_tiles(const Scene& scene, std::int64_t tiles, cudaStream_t stream) {
  constexpr auto kernel = tile_kernel<Channels, What>;
  cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared<Channels>)),
              "cudaFuncSetAttribute");
  kernel<<<static_cast<unsigned>(tiles), threads, sizeof(Shared<Channels>), stream>>>(scene);
  cuda::check_launch("tile_kernel");
}

}  // namespace

CudaPictures::CudaPictures(const Shape<2>& size, int channels, Queue queue)
    : size_(size), channels_(channels), queue_(std::move(queue)), selector_(size, channels, queue_) {
  of_tiles_ = Array<double, 1>({element_count<2>(selector_.tiles())}, queue_);
}

void CudaPictures::add(View<const float, 3> picture) {
  Picture uploaded{Array<float, 3>(picture.shape(), queue_), {}};
  copy<float, 3>(uploaded.colours.view(), picture, queue_);
  pictures_.push_back(std::move(uploaded));
  queue_.synchronize();
}

void CudaPictures::select(std::size_t picture, const ImageComponent* components, std::int64_t count, double tolerance) {
  selector_.select(components, count, tolerance, pictures_[picture].pairs);
}

template <int Channels>
void CudaPictures::sum_channels(PixelSum what, const Picture& picture, const ImageComponent* components,
                                const double* precision, ComponentSums* sums, std::int64_t count) {
  const auto stream = cuda::stream_of(queue_);
  const auto& [pairs, begin, index, first, places] = picture.pairs;
  const Shape<2>& tiles = selector_.tiles();
  const Scene scene{components,
                    what == PixelSum::joint ? precision : nullptr,
                    begin.data(),
                    index.data(),
                    picture.colours.data(),
                    static_cast<int>(size_[1]),
                    static_cast<int>(size_[0]),
                    static_cast<int>(tiles[1]),
                    of_pairs_.data(),
                    of_tiles_.data()};
  const std::int64_t number = tiles[0] * tiles[1];
  switch (what) {
    case PixelSum::gradient: launch_tiles<Channels, PixelSum::gradient>(scene, number, stream); break;
    case PixelSum::experts: launch_tiles<Channels, PixelSum::experts>(scene, number, stream); break;
    case PixelSum::pictures: launch_tiles<Channels, PixelSum::pictures>(scene, number, stream); break;
    case PixelSum::importance: launch_tiles<Channels, PixelSum::importance>(scene, number, stream); break;
    case PixelSum::joint: launch_tiles<Channels, PixelSum::joint>(scene, number, stream); break;
  }
  pair_kernel<Channels>
      <<<static_cast<unsigned>(count), threads, 0, stream>>>(first.data(), places.data(), of_pairs_.data(), sums);
  cuda::check_launch("pair_kernel");
}

void CudaPictures::sum(PixelSum what, std::size_t picture, const ImageComponent* components, const double* precision,
                       std::int64_t count, ComponentSums* sums, double* total) {
  const Picture& place = pictures_[picture];
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t numbers = place.pairs.count * count_sums(channels_);
  if (of_pairs_.size() < numbers) reserve(of_pairs_, numbers + numbers / 4, queue_);
  cuda::check(cudaMemsetAsync(sums, 0, static_cast<std::size_t>(count) * sizeof(ComponentSums), stream),
              "cudaMemsetAsync");
  switch (channels_) {
    case 1: sum_channels<1>(what, place, components, precision, sums, count); break;
    case 2: sum_channels<2>(what, place, components, precision, sums, count); break;
    case 3: sum_channels<3>(what, place, components, precision, sums, count); break;
    default: sum_channels<4>(what, place, components, precision, sums, count); break;
  }
  total_kernel<<<1, total_threads, 0, stream>>>(of_tiles_.data(), of_tiles_.size(), total);
  cuda::check_launch("total_kernel");
}

}  // namespace holotone::smoe
