// FFTs between the oversampled grid and the modes on CUDA, with the factors of the window.
#include <algorithm>
#include <holotone/nufft/grid_transform_cuda.cuh>

namespace holotone::nufft {
namespace {

constexpr int threads = 256;
constexpr int max_blocks_y = 65535;

/// Maps modes of one axis to frequencies of the grid: the `negative` modes are first among the modes and last on the
/// grid.
struct AxisModes {
  int modes;
  int negative;
  int frequencies;
  const float* factor;

  __device__ __forceinline__ int frequency(int mode) const {
    return mode < negative ? frequencies - negative + mode : mode - negative;
  }
  /// Returns -1 for a frequency without a mode.
  __device__ __forceinline__ int mode(int frequency) const {
    if (frequency < modes - negative) return frequency + negative;
    return frequency >= frequencies - negative ? frequency - (frequencies - negative) : -1;
  }
};

/// Axes fastest first; one plane in two dimensions. `row` is the distance of the grid's rows in complex numbers.
struct Modes {
  AxisModes x, y, z;
  std::int64_t row;
};

__global__ void collect_kernel(Modes map, const float2* __restrict__ grid, float2* __restrict__ modes) {
  const int x = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (x >= map.x.modes) return;
  const float factor_x = map.x.factor[x];
  const float2* const column = grid + map.x.frequency(x);
  for (int z = static_cast<int>(blockIdx.z); z < map.z.modes; z += static_cast<int>(gridDim.z)) {
    const std::int64_t plane = static_cast<std::int64_t>(map.z.frequency(z)) * map.y.frequencies;
    const float factor_z = map.z.factor != nullptr ? factor_x * map.z.factor[z] : factor_x;
    for (int y = static_cast<int>(blockIdx.y); y < map.y.modes; y += static_cast<int>(gridDim.y)) {
      const float2 value = column[(plane + map.y.frequency(y)) * map.row];
      const float factor = factor_z * map.y.factor[y];
      modes[(static_cast<std::int64_t>(z) * map.y.modes + y) * map.x.modes + x] =
          make_float2(value.x * factor, value.y * factor);
    }
  }
}

/// Writes every frequency of the grid.
__global__ void place_kernel(Modes map, const float2* __restrict__ modes, float2* __restrict__ grid) {
  const int x = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (x >= map.row) return;
  const int from_x = map.x.mode(x);
  const float factor_x = from_x >= 0 ? map.x.factor[from_x] : 0;
  for (int fz = static_cast<int>(blockIdx.z); fz < map.z.frequencies; fz += static_cast<int>(gridDim.z)) {
    const int z = map.z.mode(fz);
    const float factor_z = z >= 0 && map.z.factor != nullptr ? factor_x * map.z.factor[z] : factor_x;
    float2* const plane = grid + static_cast<std::int64_t>(fz) * map.y.frequencies * map.row + x;
    for (int fy = static_cast<int>(blockIdx.y); fy < map.y.frequencies; fy += static_cast<int>(gridDim.y)) {
      const int y = map.y.mode(fy);
      float2 value{};
      if (from_x >= 0 && y >= 0 && z >= 0) {
        const float factor = factor_z * map.y.factor[y];
        const float2 mode = modes[(static_cast<std::int64_t>(z) * map.y.modes + y) * map.x.modes + from_x];
        value = make_float2(mode.x * factor, mode.y * factor);
      }
      plane[fy * map.row] = value;
    }
  }
}

/// Returns blocks whose threads process about eight rows each, so that a thread computes the values of its column once.
dim3 blocks_over(std::int64_t columns, int rows, int planes) {
  constexpr int rows_a_thread = 8;
  return {cuda::blocks_for(columns, threads),
          static_cast<unsigned>(std::clamp((rows + rows_a_thread - 1) / rows_a_thread, 1, max_blocks_y)),
          static_cast<unsigned>(std::min(planes, max_blocks_y))};
}

Array<float, 1> upload(const std::vector<double>& values, const Queue& queue) {
  Array<float, 1> host({static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) host.data()[i] = static_cast<float>(values[i]);
  return host.to(queue.device());
}

template <std::size_t Rank>
Modes modes_of(const Shape<Rank>& modes, const Shape<Rank>& extent, bool real, std::int64_t spectrum,
               const float* factor_x, const Array<float, 1> (&factor)[Rank - 1]) {
  const auto axis = [&](std::size_t slot, const float* factors) {
    const auto count = static_cast<int>(modes[slot]);
    return AxisModes{count, count / 2, static_cast<int>(extent[slot]), factors};
  };
  Modes map{};
  map.x = real ? AxisModes{static_cast<int>(modes[Rank - 1] / 2 + 1), 0, static_cast<int>(extent[Rank - 1]), factor_x}
               : axis(Rank - 1, factor_x);
  map.y = axis(Rank - 2, factor[Rank - 2].data());
  map.z = Rank == 3 ? axis(0, factor[0].data()) : AxisModes{1, 0, 1, nullptr};
  map.row = spectrum;
  return map;
}

}  // namespace

template <std::size_t Rank>
GridTransform<Rank>::GridTransform(const Setup<Rank>& setup, const Queue& queue)
    : modes_(setup.modes), extent_(setup.grid), queue_(queue) {
  const cuda::DeviceScope scope(queue.device());
  // Rows of the in-place real transform have nx + 2 numbers, no more than complex rows.
  grid_ = Buffer(static_cast<std::size_t>(element_count(extent_)) * sizeof(float2), queue);
  for (std::size_t axis = 0; axis + 1 < Rank; ++axis) {
    factor_[axis] = upload(deconvolution(setup.window, modes_[axis], extent_[axis], false), queue);
  }
  make_side(setup, sides_[0], false);
  make_side(setup, sides_[1], true);
  work_area_ = Buffer(work_bytes_, queue);
  for (Side& side : sides_) {
    for (const auto* handle : {&side.rows, &side.rows_inverse, &side.columns}) {
      if (*handle == nullptr) continue;
      (*handle)->set_work_area(work_area_.data());
      (*handle)->set_stream(stream());
    }
  }
}

template <std::size_t Rank>
void GridTransform<Rank>::make_side(const Setup<Rank>& setup, Side& side, bool real) {
  const std::int64_t nx = extent_[Rank - 1];
  const std::int64_t ny = extent_[Rank - 2];
  side.spectrum = real ? nx / 2 + 1 : nx;
  side.factor = upload(deconvolution(setup.window, modes_[Rank - 1], nx, real), queue_);
  const auto make = [&](int rank, long long* extents, std::int64_t stride, std::int64_t input_distance,
                        std::int64_t output_distance, cufftType type, std::int64_t batch, std::int64_t input_row,
                        std::int64_t output_row) {
    auto handle = std::make_unique<fft::Handle>();
    long long input[] = {extents[0], rank > 1 ? extents[1] : input_row, input_row};
    long long output[] = {extents[0], rank > 1 ? extents[1] : output_row, output_row};
    work_bytes_ = std::max(work_bytes_, handle->plan(rank, extents, {input, stride, input_distance},
                                                     {output, stride, output_distance}, type, batch));
    return handle;
  };
  const std::int64_t row = real ? nx + 2 : nx;  // numbers of the row's own type
  if constexpr (Rank == 2) {
    long long length = nx;
    side.rows = make(1, &length, 1, row, side.spectrum, real ? CUFFT_R2C : CUFFT_C2C, ny, row, side.spectrum);
    if (real) side.rows_inverse = make(1, &length, 1, side.spectrum, row, CUFFT_C2R, ny, side.spectrum, row);
    // Both runs of a complex spectrum have the length of the longer one: the extra column is transformed needlessly, or
    // is zero.
    const std::int64_t negative = real ? 0 : modes_[1] / 2;
    side.run = real ? modes_[1] / 2 + 1 : modes_[1] - negative;
    side.run_begin = {0};
    if (negative > 0) side.run_begin.push_back(nx - side.run);
    length = ny;
    side.columns = make(1, &length, side.spectrum, 1, 1, CUFFT_C2C, side.run, ny, ny);
  } else {
    long long extents[] = {extent_[0], ny, nx};
    const std::int64_t planes = extent_[0] * ny;
    side.rows =
        make(3, extents, 1, planes * row, planes * side.spectrum, real ? CUFFT_R2C : CUFFT_C2C, 1, row, side.spectrum);
    if (real) {
      side.rows_inverse = make(3, extents, 1, planes * side.spectrum, planes * row, CUFFT_C2R, 1, side.spectrum, row);
    }
  }
}

template <std::size_t Rank>
GridCells<Rank> GridTransform<Rank>::cells(int components) const {
  const std::int64_t nx = extent_[Rank - 1];
  const std::int64_t row = components == 2 ? 2 * nx : nx + 2;
  return {static_cast<float*>(grid_.data()), row, row * extent_[Rank - 2]};
}

template <std::size_t Rank>
void GridTransform<Rank>::transform_columns(const Side& side, int sign) {
  if (side.columns == nullptr) return;
  for (const std::int64_t begin : side.run_begin) {
    side.columns->execute(grid() + begin, grid() + begin, sign);
  }
}

template <std::size_t Rank>
void GridTransform<Rank>::forward(int components, float2* modes) {
  const Side& side = sides_[components == 1];
  if (components == 2) {
    side.rows->execute(grid(), grid(), CUFFT_FORWARD);
  } else {
    side.rows->execute(static_cast<float*>(grid_.data()), grid());
  }
  transform_columns(side, CUFFT_FORWARD);
  const Modes map = modes_of<Rank>(modes_, extent_, components == 1, side.spectrum, side.factor.data(), factor_);
  collect_kernel<<<blocks_over(map.x.modes, map.y.modes, map.z.modes), threads, 0, stream()>>>(map, grid(), modes);
  cuda::check_launch("nufft collect");
}

template <std::size_t Rank>
void GridTransform<Rank>::inverse(int components, const float2* modes) {
  const Side& side = sides_[components == 1];
  const Modes map = modes_of<Rank>(modes_, extent_, components == 1, side.spectrum, side.factor.data(), factor_);
  place_kernel<<<blocks_over(map.row, map.y.frequencies, map.z.frequencies), threads, 0, stream()>>>(map, modes,
                                                                                                     grid());
  cuda::check_launch("nufft place");
  transform_columns(side, CUFFT_INVERSE);
  if (components == 2) {
    side.rows->execute(grid(), grid(), CUFFT_INVERSE);
  } else {
    side.rows_inverse->execute(grid(), static_cast<float*>(grid_.data()));
  }
}

template <std::size_t Rank>
std::size_t GridTransform<Rank>::bytes() const {
  std::size_t sum = grid_.bytes() + work_area_.bytes();
  for (const Side& side : sides_) sum += side.factor.bytes();
  for (const auto& factor : factor_) sum += factor.bytes();
  return sum;
}

template class GridTransform<2>;
template class GridTransform<3>;

}  // namespace holotone::nufft
