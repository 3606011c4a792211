#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/light_path_cuda.hpp>
#include <holotone/retrieval/retrieval_math.h>
#include <holotone/retrieval/sums_cuda.cuh>
#include <holotone/retrieval/vectors_cuda.hpp>

namespace holotone::retrieval {
namespace {

using cuda::as_float2;
using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

constexpr int sum_blocks = 264;     ///< of a sum over a picture: two for each multiprocessor of an H200
constexpr int panel_blocks = 1056;  ///< of a sum over the panel: eight

/// A exp(i phi); without a source A is 1.
__device__ __forceinline__ float2 modulated(float phase, const float2* source, std::int64_t i) {
  float2 wave;
  sincosf(phase, &wave.y, &wave.x);
  return source != nullptr ? product(wave, source[i]) : wave;
}

/// Light of the panel, and the sum of its squares in each block.
__global__ void __launch_bounds__(sum_threads)
    panel_kernel(const float* __restrict__ phase, const float2* __restrict__ source, float zero_order,
                 float2* __restrict__ light, std::int64_t size, double* __restrict__ parts) {
  double sum = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < size; i += stride) {
    float2 wave = modulated(phase[i], source, i);
    if (zero_order != 0) {
      const float2 whole = source != nullptr ? source[i] : float2{1, 0};
      wave.x += zero_order * whole.x;
      wave.y += zero_order * whole.y;
    }
    light[i] = wave;
    sum += static_cast<double>(wave.x * wave.x + wave.y * wave.y);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// Pictures of one size, of which the signal region counts. Pictures are numbered plane by plane, max_positions each;
/// those in use are the first `positions` of each plane.
struct Pictures {
  std::int64_t size = 0;  ///< of a picture
  int ny = 0;
  int nx = 0;
  int row = 0;  ///< of the signal region
  int column = 0;
  int rows = 0;
  int columns = 0;
  int planes = 0;
  int positions = 0;
  int frames = 0;

  /// Number of the n-th picture in use.
  [[nodiscard]] __host__ __device__ std::int64_t number(unsigned n) const {
    return static_cast<std::int64_t>(n / positions) * static_cast<int>(max_positions) + n % positions;
  }
  /// Calls body(pixel of the picture) for a thread's pixels of the region in a grid over its columns and rows.
  template <class Body>
  __device__ __forceinline__ void each_pixel(const Body& body) const {
    const std::int64_t x = thread_index();
    if (x >= columns) return;
    for (std::int64_t y = blockIdx.y; y < rows; y += gridDim.y) body((row + y) * nx + column + x);
  }
};

/// Adds a pixel's light to the sums. q = a^2 of intensities.
__device__ __forceinline__ void add_pixel(RegionSums& sums, float amplitude, float target, bool of_intensity) {
  const auto a = static_cast<double>(amplitude);
  const auto t = static_cast<double>(target);
  const double light = of_intensity ? a * a : a;
  const double wanted = of_intensity ? t * t : t;
  sums.energy += a * a;
  sums.light += light * light;
  sums.agreement += light * wanted;
  sums.target += wanted * wanted;
}

/// Sums over a block, in thread 0.
__device__ __forceinline__ RegionSums block_sums(const RegionSums& sums) {
  return {block_sum(sums.energy), block_sum(sums.light), block_sum(sums.agreement), block_sum(sums.target)};
}

/// Calls body(pixel of the picture) for a thread's pixels of the region. blockIdx.x takes rows.
template <class Body>
__device__ __forceinline__ void each_pixel_of_rows(const Pictures& pictures, const Body& body) {
  for (int y = static_cast<int>(blockIdx.x); y < pictures.rows; y += static_cast<int>(gridDim.x)) {
    const std::int64_t row = static_cast<std::int64_t>(pictures.row + y) * pictures.nx + pictures.column;
    for (int x = static_cast<int>(threadIdx.x); x < pictures.columns; x += sum_threads) body(row + x);
  }
}

/// Amplitude of the frames together, and its sums with the targets: parts[picture][block].
__global__ void __launch_bounds__(sum_threads)
    amplitude_kernel(const float2* __restrict__ light, const float* __restrict__ target, bool of_intensity,
                     float* __restrict__ amplitude, Pictures pictures, RegionSums* __restrict__ parts) {
  const std::int64_t begin = pictures.number(blockIdx.y) * pictures.size;
  const std::int64_t frame =
      static_cast<std::int64_t>(pictures.planes) * static_cast<int>(max_positions) * pictures.size;
  const float share = 1 / static_cast<float>(pictures.frames);
  RegionSums sums;
  each_pixel_of_rows(pictures, [&](std::int64_t pixel) {
    const std::int64_t i = begin + pixel;
    float sum = 0;
    for (int t = 0; t < pictures.frames; ++t) {
      const float2 wave = light[t * frame + i];
      sum += wave.x * wave.x + wave.y * wave.y;
    }
    const float root = sqrtf(share * sum);
    amplitude[i] = root;
    add_pixel(sums, root, target[i], of_intensity);
  });
  sums = block_sums(sums);
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = sums;
}

/// The sums alone.
__global__ void __launch_bounds__(sum_threads)
    sums_kernel(const float* __restrict__ amplitude, const float* __restrict__ target, bool of_intensity,
                Pictures pictures, RegionSums* __restrict__ parts) {
  const std::int64_t begin = pictures.number(blockIdx.y) * pictures.size;
  RegionSums sums;
  each_pixel_of_rows(pictures, [&](std::int64_t pixel) {
    add_pixel(sums, amplitude[begin + pixel], target[begin + pixel], of_intensity);
  });
  sums = block_sums(sums);
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = sums;
}

__global__ void __launch_bounds__(sum_threads)
    add_parts_kernel(const RegionSums* __restrict__ parts, int count, RegionSums* __restrict__ sums) {
  RegionSums thread_sums;
  for (int part = static_cast<int>(threadIdx.x); part < count; part += sum_threads) {
    const RegionSums& more = parts[blockIdx.x * count + part];
    thread_sums.energy += more.energy;
    thread_sums.light += more.light;
    thread_sums.agreement += more.agreement;
    thread_sums.target += more.target;
  }
  thread_sums = block_sums(thread_sums);
  if (threadIdx.x == 0) sums[blockIdx.x] = thread_sums;
}

/// Pictures of a plane of a frame times the factors of the loss's derivative; 0 outside the region. All pointers are
/// those of the plane's first picture.
__global__ void errors_kernel(const float2* __restrict__ light, const float* __restrict__ simulated,
                              const float* __restrict__ seen, const float* __restrict__ target,
                              float2* __restrict__ errors, bool of_intensity, float s, float gain, Pictures pictures) {
  const std::int64_t x = thread_index();
  if (x >= pictures.nx) return;
  const bool in_columns = x >= pictures.column && x < pictures.column + pictures.columns;
  for (std::int64_t y = blockIdx.y; y < pictures.ny; y += gridDim.y) {
    const std::int64_t i = blockIdx.z * pictures.size + y * pictures.nx + x;
    float2 error{0, 0};
    if (in_columns && y >= pictures.row && y < pictures.row + pictures.rows) {
      const float factor = error_factor(of_intensity, s, gain, simulated[i], seen[i], target[i]);
      error = {factor * light[i].x, factor * light[i].y};
    }
    errors[i] = error;
  }
}

__global__ void add_kernel(const float2* __restrict__ more, float2* __restrict__ sum, std::int64_t size) {
  const std::int64_t i = thread_index();
  if (i >= size) return;
  sum[i] = {sum[i].x + more[i].x, sum[i].y + more[i].y};
}

/// share Im(conj(A exp(i phi)) G)
__global__ void derivative_kernel(const float* __restrict__ phase, const float2* __restrict__ source,
                                  const float2* __restrict__ back, float share, float* __restrict__ derivative,
                                  std::int64_t size) {
  const std::int64_t i = thread_index();
  if (i >= size) return;
  const float2 wave = modulated(phase[i], source, i);
  derivative[i] = share * (back[i].y * wave.x - back[i].x * wave.y);
}

/// Argument of conj(A) (A exp(i phi) - gain G)
__global__ void project_kernel(const float* __restrict__ phase, const float2* __restrict__ source,
                               const float2* __restrict__ back, float gain, float* __restrict__ next,
                               std::int64_t size) {
  const std::int64_t i = thread_index();
  if (i >= size) return;
  float2 wave = modulated(phase[i], source, i);
  wave = {wave.x - gain * back[i].x, wave.y - gain * back[i].y};
  if (source != nullptr) wave = product(wave, {source[i].x, -source[i].y});
  next[i] = atan2f(wave.y, wave.x);
}

__global__ void grow_kernel(const float* __restrict__ seen, const float* __restrict__ target, float* __restrict__ goal,
                            Pictures pictures) {
  const std::int64_t begin = pictures.number(blockIdx.z) * pictures.size;
  pictures.each_pixel([&](std::int64_t i) { goal[begin + i] *= goal_growth(target[begin + i], seen[begin + i]); });
}

__global__ void bound_kernel(const float* __restrict__ target, float* __restrict__ goal, float scale,
                             Pictures pictures) {
  const std::int64_t begin = pictures.number(blockIdx.z) * pictures.size;
  pictures.each_pixel(
      [&](std::int64_t i) { goal[begin + i] = bounded_goal(scale * goal[begin + i], target[begin + i]); });
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const PhaseRetrievalOptions& options, const Queue& queue)
      : options_(options),
        queue_(queue),
        size_(options.grid.ny * options.grid.nx),
        planes_(options.planes.size()),
        path_(options.focal_length_m > 0 ? lens_path_cuda(options, queue) : free_space_path_cuda(options, queue)),
        vectors_(options.frames * size_, queue),
        target_(pictures_shape(), queue),
        amplitude_(pictures_shape(), queue),
        light_({options.frames * pictures_shape()[0], size_}, queue),
        errors_({static_cast<std::int64_t>(max_positions), size_}, queue),
        panel_(options.grid.shape(), queue),
        panel_parts_({options.frames, panel_blocks}, queue),
        sum_parts_({pictures_shape()[0], sum_blocks + 1}, queue) {
    if (planes_ > 1) more_ = Array<Complex, 2>(options.grid.shape(), queue);
    const cuda::DeviceScope scope(queue_.device());
    cuda::check(cudaMemsetAsync(amplitude_.data(), 0, amplitude_.bytes(), stream()), "cudaMemsetAsync");
  }
  ~CudaEngine() override { queue_.synchronize(); }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  void set_target(std::size_t plane, const float* amplitude) override {
    const auto moved = at_half_pixels({amplitude, options_.grid.shape()});
    for (std::size_t p = 0; p < max_positions; ++p) {
      upload(moved[p].data(), target_.data() + picture(plane, p));
    }
    queue_.synchronize();
  }

  void set_source(const Complex* light) override {
    source_ = copy_of(View<const Complex, 2>(light, options_.grid.shape()), queue_.device());
  }

  void set_measured(const float* amplitude) override {
    if (measured_.empty()) measured_ = Array<float, 2>(pictures_shape(), queue_);
    for (std::size_t plane = 0; plane < planes_; ++plane) {
      for (std::size_t p = 0; p < positions_; ++p) {
        upload(amplitude, measured_.data() + picture(plane, p));
        amplitude += size_;
      }
    }
    queue_.synchronize();
    is_measured_ = true;
  }

  void propagate(const float* phase, std::size_t positions) override {
    const cuda::DeviceScope scope(queue_.device());
    positions_ = positions;
    is_measured_ = false;
    for (std::int64_t t = 0; t < options_.frames; ++t) {
      panel_kernel<<<panel_blocks, sum_threads, 0, stream()>>>(
          phase + t * size_, as_float2(source_.data()), static_cast<float>(options_.response.zero_order),
          as_float2(panel_.data()), size_, panel_parts_.data() + t * panel_blocks);
      cuda::check_launch("light of the panel");
      path_->send(panel_.data());
      for (std::size_t plane = 0; plane < planes_; ++plane) path_->receive(plane, positions, light(t, plane));
    }
    amplitude_kernel<<<sums_grid(), sum_threads, 0, stream()>>>(as_float2(light_.data()), target_.data(),
                                                                options_.loss == RetrievalLoss::intensity,
                                                                amplitude_.data(), pictures(), sum_parts_.data());
    cuda::check_launch("amplitude");
    sums_ = added_parts();
  }

  [[nodiscard]] double panel_light() const override {
    double sum = 0;
    const auto parts = panel_parts_.to(Device{});
    for (const double part : parts.host()) sum += part;
    return sum / static_cast<double>(options_.frames);
  }

  [[nodiscard]] std::vector<RegionSums> sums(RetrievalLoss loss) const override {
    return loss == options_.loss && !is_measured_ ? sums_ : compute_sums(seen(), target_.data(), loss);
  }

  void differentiate(const float* phase, double s, float* derivative) override {
    const float share = 1 / static_cast<float>(options_.frames);
    each_frame_back(s, options_.loss, [&](std::int64_t first) {
      derivative_kernel<<<vector_blocks(), threads, 0, stream()>>>(
          phase + first, as_float2(source_.data()), as_float2(panel_.data()), share, derivative + first, size_);
      cuda::check_launch("derivative");
    });
  }

  void project(const float* phase, double s, double gain, float* next) override {
    each_frame_back(s, RetrievalLoss::amplitude, [&](std::int64_t first) {
      project_kernel<<<vector_blocks(), threads, 0, stream()>>>(phase + first, as_float2(source_.data()),
                                                                as_float2(panel_.data()), static_cast<float>(gain),
                                                                next + first, size_);
      cuda::check_launch("projection");
    });
  }

  void reweigh() override {
    const cuda::DeviceScope scope(queue_.device());
    if (goals_.empty()) {
      goals_ = Array<float, 2>(pictures_shape(), queue_);
      copy<float, 2>(goals_.view(), target_.view(), queue_);
    }
    grow_kernel<<<region_grid(), threads, 0, stream()>>>(seen(), target_.data(), goals_.data(), pictures());
    cuda::check_launch("growth of goals");
    double wanted = 0;
    double grown = 0;
    for (const RegionSums& sum : compute_sums(goals_.data(), target_.data(), RetrievalLoss::amplitude)) {
      grown += sum.energy;
      wanted += sum.target;
    }
    const auto scale = static_cast<float>(grown > 0 ? std::sqrt(wanted / grown) : 0);
    bound_kernel<<<region_grid(), threads, 0, stream()>>>(target_.data(), goals_.data(), scale, pictures());
    cuda::check_launch("bounds of goals");
  }

  void clear_weights() override { goals_ = {}; }

  void amplitude(std::size_t plane, std::size_t position, float* out) const override {
    copy_bytes(out, Device{}, amplitude_.data() + picture(plane, position), queue_.device(),
               static_cast<std::size_t>(size_) * sizeof(float), queue_);
    queue_.synchronize();
  }

  [[nodiscard]] PositionWaves waves(std::size_t plane, std::int64_t frame) const override {
    const auto& region = options_.region;
    Array<Complex, 2> whole(options_.grid.shape());
    PositionWaves result;
    for (std::size_t p = 0; p < positions_; ++p) {
      copy_bytes(whole.data(), Device{}, light_.data() + frame * pictures_shape()[0] * size_ + picture(plane, p),
                 queue_.device(), whole.bytes(), queue_);
      queue_.synchronize();
      result[p] = Array<Complex, 2>({region.rows, region.columns});
      for (std::int64_t row = 0; row < region.rows; ++row) {
        std::copy_n(&whole(region.row + row, region.column), region.columns, &result[p](row, 0));
      }
    }
    return result;
  }

  [[nodiscard]] std::vector<double> dots(std::span<const float* const> a,
                                         std::span<const float* const> b) const override {
    return vectors_.dots(a, b);
  }
  void combine(std::span<const double> factors, std::span<const float* const> vectors, float* out) const override {
    vectors_.combine(factors, vectors, out);
  }
  void adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration) const override {
    vectors_.adam(derivative, m, v, phase, rate, iteration);
  }
  [[nodiscard]] std::vector<std::int64_t> level_distances(const float* phase,
                                                          const std::vector<float>& levels) const override {
    return vectors_.level_distances(phase, levels);
  }
  void round_to_levels(float* phase, const std::vector<float>& levels, float reach) const override {
    vectors_.round_to_levels(phase, levels, reach);
  }
  void hold_levels(const float* phase, const std::vector<float>& levels, float* derivative) const override {
    vectors_.hold_levels(phase, levels, derivative);
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  [[nodiscard]] Shape<2> pictures_shape() const { return {static_cast<std::int64_t>(planes_ * max_positions), size_}; }
  [[nodiscard]] std::int64_t picture(std::size_t plane, std::size_t position) const {
    return static_cast<std::int64_t>(plane * max_positions + position) * size_;
  }
  [[nodiscard]] Complex* light(std::int64_t frame, std::size_t plane) {
    return light_.data() + frame * pictures_shape()[0] * size_ + picture(plane, 0);
  }
  [[nodiscard]] Pictures pictures() const {
    const auto& region = options_.region;
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    return {size_,
            number(options_.grid.ny),
            number(options_.grid.nx),
            number(region.row),
            number(region.column),
            number(region.rows),
            number(region.columns),
            static_cast<int>(planes_),
            static_cast<int>(positions_),
            number(options_.frames)};
  }
  [[nodiscard]] unsigned picture_count() const { return static_cast<unsigned>(planes_ * positions_); }
  [[nodiscard]] dim3 region_grid() const {
    dim3 grid = grid_over(options_.region.columns, options_.region.rows);
    grid.z = picture_count();
    return grid;
  }
  /// Blocks of rows, and pictures.
  [[nodiscard]] dim3 sums_grid() const {
    return {static_cast<unsigned>(std::min<std::int64_t>(sum_blocks, options_.region.rows)), picture_count(), 1};
  }
  [[nodiscard]] unsigned vector_blocks() const { return cuda::blocks_for(size_, threads); }
  /// Amplitude of the frames together, measured if there is a camera.
  [[nodiscard]] const float* seen() const { return is_measured_ ? measured_.data() : amplitude_.data(); }

  void upload(const float* host, float* device) {
    copy_bytes(device, queue_.device(), host, Device{}, static_cast<std::size_t>(size_) * sizeof(float), queue_);
  }

  [[nodiscard]] std::vector<RegionSums> compute_sums(const float* amplitude, const float* target,
                                                     RetrievalLoss loss) const {
    const cuda::DeviceScope scope(queue_.device());
    sums_kernel<<<sums_grid(), sum_threads, 0, stream()>>>(amplitude, target, loss == RetrievalLoss::intensity,
                                                           pictures(), sum_parts_.data());
    cuda::check_launch("sums over the region");
    return added_parts();
  }

  [[nodiscard]] std::vector<RegionSums> added_parts() const {
    const dim3 grid = sums_grid();
    RegionSums* const sums = sum_parts_.data() + grid.x * grid.y;
    add_parts_kernel<<<grid.y, sum_threads, 0, stream()>>>(sum_parts_.data(), static_cast<int>(grid.x), sums);
    cuda::check_launch("sums over the region");
    std::vector<RegionSums> result(grid.y);
    copy_bytes(result.data(), Device{}, sums, queue_.device(), result.size() * sizeof(RegionSums), queue_);
    queue_.synchronize();
    return result;
  }

  /// Calls use(first phase) with panel_ = sum_kp w_k P_kp^H [ factor P_kp u_t ] for each frame t.
  template <class Body>
  void each_frame_back(double s, RetrievalLoss loss, const Body& use) {
    const cuda::DeviceScope scope(queue_.device());
    const float* const targets = goals_.empty() ? target_.data() : goals_.data();
    for (std::int64_t t = 0; t < options_.frames; ++t) {
      for (std::size_t plane = 0; plane < planes_; ++plane) {
        const std::int64_t first = picture(plane, 0);
        dim3 grid = grid_over(options_.grid.nx, options_.grid.ny);
        grid.z = static_cast<unsigned>(positions_);
        const auto factor = static_cast<float>(s);
        errors_kernel<<<grid, threads, 0, stream()>>>(
            as_float2(light(t, plane)), amplitude_.data() + first, seen() + first, targets + first,
            as_float2(errors_.data()), loss == RetrievalLoss::intensity, factor,
            static_cast<float>(options_.planes[plane].weight) * factor, pictures());
        cuda::check_launch("errors");
        Array<Complex, 2>& back = plane == 0 ? panel_ : more_;
        path_->back(plane, positions_, errors_.data(), back.data());
        if (plane == 0) continue;
        add_kernel<<<vector_blocks(), threads, 0, stream()>>>(as_float2(more_.data()), as_float2(panel_.data()), size_);
        cuda::check_launch("sum of planes");
      }
      use(t * size_);
    }
  }

  PhaseRetrievalOptions options_;
  Queue queue_;
  std::int64_t size_;  ///< pixels of the panel
  std::size_t planes_;
  std::unique_ptr<CudaLightPath> path_;
  mutable CudaVectors vectors_;
  Array<Complex, 2> source_;   ///< empty: 1
  Array<float, 2> target_;     ///< plane by plane, four positions
  Array<float, 2> goals_;      ///< reweighed targets, or none
  Array<float, 2> measured_;   ///< amplitudes by the camera
  Array<float, 2> amplitude_;  ///< 0 outside the region
  Array<Complex, 2> light_;    ///< frame by frame, plane by plane, four positions
  Array<Complex, 2> errors_;   ///< of a plane of a frame
  Array<Complex, 2> panel_;    ///< light of the panel; then what came back
  Array<Complex, 2> more_;     ///< what came back from a further plane
  Array<double, 2> panel_parts_;
  mutable Array<RegionSums, 2> sum_parts_;
  std::vector<RegionSums> sums_;  ///< of the last propagate's light and loss
  std::size_t positions_ = 0;     ///< of the last propagate
  bool is_measured_ = false;
};

}  // namespace

std::unique_ptr<Engine> engine_cuda(const PhaseRetrievalOptions& options, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());  // the paths fill tables
  return std::make_unique<CudaEngine>(options, queue);
}

}  // namespace holotone::retrieval
