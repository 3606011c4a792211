#include <algorithm>
#include <holotone/core/cuda_check.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/stereogram_engine.hpp>

namespace holotone::stereogram {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_layers = 255;

/// Parameters of the panel for all kernels.
struct Frame {
  std::int64_t n = 0;
  std::int64_t across = 0;     ///< hogels in a row
  std::int64_t first_row = 0;  ///< panel row of the output's first row
  std::int64_t ny = 0;         ///< rows of the output
  std::int64_t nx = 0;
  std::int64_t most_rays = 0;  ///< stride between the rays of consecutive hogels
  double turns = 0;            ///< Geometry::curvature_per_px2
  std::uint64_t seed = 0;
};

__device__ __forceinline__ std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float2 turned(float turns) {
  float2 value;
  sincos_turns(turns, value.y, value.x);
  return value;
}

__device__ __forceinline__ float2 product(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

/// Writes the rays of one layer, with their phases, into zeroed spectra; blockIdx.y is the hogel.
__global__ void scatter_kernel(Frame frame, const Hogel* __restrict__ hogels, const float* __restrict__ amplitude,
                               const std::uint8_t* __restrict__ layer, int wanted, float2* __restrict__ spectrum) {
  const Hogel hogel = hogels[blockIdx.y];
  const std::int64_t i = thread_index();
  if (i >= hogel.rows * hogel.columns) return;
  const std::int64_t from = blockIdx.y * frame.most_rays + i;
  const float own = amplitude[from];
  if (own == 0 || layer[from] != wanted) return;
  const std::int64_t row = i / hogel.columns;
  const std::int64_t column = i - row * hogel.columns;
  const float2 wave = turned(ray_turns(frame.seed, hogel, frame.n, row, column));
  const std::int64_t down = place_of(row - hogel.first_ky, frame.n);
  const std::int64_t across = place_of(hogel.first_kx + column, frame.n);
  spectrum[(blockIdx.y * frame.n + down) * frame.n + across] = {own * wave.x, own * wave.y};
}

/// Writes a layer's waves to the panel, with the curvature; adds them for all layers but the first.
__global__ void write_kernel(Frame frame, const Hogel* __restrict__ hogels, const double* __restrict__ curvature,
                             int layer, const float2* __restrict__ waves, float2* __restrict__ output) {
  const std::int64_t i = thread_index();
  if (i >= frame.n * frame.n) return;
  const std::int64_t number = hogels[blockIdx.y].number;
  const std::int64_t hogel_row = number / frame.across;
  const std::int64_t m = i / frame.n;
  const std::int64_t x = i - m * frame.n;
  const std::int64_t row = hogel_row * frame.n + m - frame.first_row;
  const std::int64_t column = (number - hogel_row * frame.across) * frame.n + x;
  if (row < 0 || row >= frame.ny || column >= frame.nx) return;
  const float scale = 1 / static_cast<float>(frame.n);
  float2 value = waves[blockIdx.y * frame.n * frame.n + i];
  value.x *= scale;
  value.y *= scale;
  const double turns = curvature[blockIdx.y * most_layers + layer] * frame.turns;
  if (turns != 0) {
    value = product(value, product(turned(curved_turns(turns, x, frame.n)), turned(curved_turns(turns, m, frame.n))));
  }
  float2& target = output[row * frame.nx + column];
  if (layer > 0) {
    value.x += target.x;
    value.y += target.y;
  }
  target = value;
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(const Geometry& geometry, const Queue& queue)
      : geometry_(geometry),
        queue_(queue),
        n_(geometry.options.hogel_px),
        batch_(batch_of(geometry)),
        rays_(most_rays(geometry)),
        fft_({n_, n_}, queue, {.scale_inverse = false, .batch = batch_}),
        spectrum_({batch_ * n_, n_}, queue),
        hogels_({batch_}, queue),
        amplitude_({batch_ * rays_}, queue),
        layer_({batch_ * rays_}, queue),
        curvature_({batch_ * most_layers}, queue),
        lights_(static_cast<std::size_t>(batch_)) {}

  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                           Progress& progress) override {
    const cuda::DeviceScope scope(queue_.device());
    const std::int64_t across = geometry_.hogels[1];
    const std::int64_t all = across * geometry_.hogels[0];
    const auto [first_row, rows] = geometry_.hogel_rows(part);
    const std::int64_t count = across * rows;
    const Frame frame{n_,
                      across,
                      part.first_row,
                      output.shape()[0],
                      output.shape()[1],
                      rays_,
                      geometry_.curvature_per_px2,
                      geometry_.options.seed};
    StereogramReport report;
    for (std::int64_t done = 0; done < count; done += batch_) {
      progress.step("computing hogels", first_row * across + done, all);
      const std::int64_t some = std::min(batch_, count - done);
      report += look_through_some(geometry_, source, channel, first_row * across + done, some, lights_, scratch_);
      // The call has read this batch's host memory when it returns. The GPU computes while the host prepares the next
      // batch.
      transform(frame, some, upload(some), reinterpret_cast<float2*>(output.data()));
    }
    queue_.synchronize();
    progress.step("computing hogels", first_row * across + count, all);
    return report;
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return spectrum_.bytes() + amplitude_.bytes() + layer_.bytes() + curvature_.bytes() + fft_.workspace_bytes();
  }

 private:
  /// Number of hogels whose spectra fill 1 GiB, at most 1024.
  static std::int64_t batch_of(const Geometry& geometry) {
    const std::int64_t n = geometry.options.hogel_px;
    const std::int64_t fit = std::clamp<std::int64_t>((std::int64_t{1} << 27) / (n * n), 1, 1024);
    return std::min(fit, element_count(geometry.hogels));
  }

  static std::int64_t most_rays(const Geometry& geometry) {
    std::int64_t most = 1;
    for (std::int64_t row = 0; row < geometry.hogels[0]; ++row) {
      for (std::int64_t column = 0; column < geometry.hogels[1]; ++column) {
        const auto hogel = geometry.hogel(row, column);
        most = std::max(most, hogel.rows * hogel.columns);
      }
    }
    return most;
  }

  /// Uploads the light of `some` hogels; returns the largest number of layers of a hogel.
  int upload(std::int64_t some) {
    std::size_t layers = 1;
    for (std::int64_t i = 0; i < some; ++i) {
      auto& light = lights_[static_cast<std::size_t>(i)];
      light.layer.resize(light.amplitude.size(), 0);
      light.curvature.resize(static_cast<std::size_t>(most_layers), 0);
      layers = std::max(layers, light.used.size());
      send(hogels_.data() + i, &light.hogel, 1);
      send(amplitude_.data() + i * rays_, light.amplitude.data(), light.amplitude.size());
      send(layer_.data() + i * rays_, light.layer.data(), light.layer.size());
      send(curvature_.data() + i * most_layers, light.curvature.data(), light.curvature.size());
    }
    return static_cast<int>(layers);
  }

  template <class T>
  void send(T* target, const T* source, std::size_t count) {
    if (count > 0) copy_bytes(target, queue_.device(), source, Device{}, count * sizeof(T), queue_);
  }

  void transform(const Frame& frame, std::int64_t some, int layers, float2* output) {
    const auto stream = cuda::stream_of(queue_);
    auto* const spectrum = reinterpret_cast<float2*>(spectrum_.data());
    const dim3 rays(cuda::blocks_for(rays_, threads), static_cast<unsigned>(some));
    const dim3 pixels(cuda::blocks_for(n_ * n_, threads), static_cast<unsigned>(some));
    for (int layer = 0; layer < layers; ++layer) {
      cuda::check(cudaMemsetAsync(spectrum, 0, spectrum_.bytes(), stream), "cudaMemsetAsync");
      scatter_kernel<<<rays, threads, 0, stream>>>(frame, hogels_.data(), amplitude_.data(), layer_.data(), layer,
                                                   spectrum);
      cuda::check_launch("stereogram scatter");
      fft_.execute(spectrum_.view(), FftDirection::inverse);
      write_kernel<<<pixels, threads, 0, stream>>>(frame, hogels_.data(), curvature_.data(), layer, spectrum, output);
      cuda::check_launch("stereogram write");
    }
  }

  Geometry geometry_;
  Queue queue_;
  std::int64_t n_;
  std::int64_t batch_;
  std::int64_t rays_;
  FftPlan fft_;
  Array<Complex, 2> spectrum_;
  Array<Hogel, 1> hogels_;
  Array<float, 1> amplitude_;
  Array<std::uint8_t, 1> layer_;
  Array<double, 1> curvature_;
  std::vector<HogelLight> lights_;
  std::vector<LightScratch> scratch_;
};

}  // namespace

EnginePointer engine_cuda(const Geometry& geometry, const Queue& queue) {
  return std::make_unique<CudaEngine>(geometry, queue);
}

}  // namespace holotone::stereogram
