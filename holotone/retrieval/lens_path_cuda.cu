#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/fft.hpp>
#include <holotone/retrieval/light_factors.hpp>
#include <holotone/retrieval/light_path_cuda.hpp>

namespace holotone::retrieval {
namespace {

using cuda::as_float2;
using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

/// Factors of LensFactors on the device.
struct Axes {
  const float2* down;
  const float2* across;
};
struct Gains {
  const float* down;
  const float* across;
};

__global__ void multiply_kernel(const float2* __restrict__ panel, float2* __restrict__ picture, Axes axes, int ny,
                                int nx) {
  const std::int64_t x = thread_index();
  if (x >= nx) return;
  for (std::int64_t y = blockIdx.y; y < ny; y += gridDim.y) {
    picture[y * nx + x] = product(panel[y * nx + x], product(axes.down[y], axes.across[x]));
  }
}

__global__ void add_conjugated_kernel(const float2* __restrict__ picture, float2* __restrict__ panel, bool is_first,
                                      Axes axes, int ny, int nx) {
  const std::int64_t x = thread_index();
  if (x >= nx) return;
  for (std::int64_t y = blockIdx.y; y < ny; y += gridDim.y) {
    const float2 factor = product(axes.down[y], axes.across[x]);
    const float2 value = product(picture[y * nx + x], {factor.x, -factor.y});
    const float2 before = is_first ? float2{0, 0} : panel[y * nx + x];
    panel[y * nx + x] = {before.x + value.x, before.y + value.y};
  }
}

/// The aperture of the pixels over the signal region; `picture` begins there.
__global__ void gain_kernel(float2* __restrict__ picture, Gains gains, int rows, int columns, int nx) {
  const std::int64_t x = thread_index();
  if (x >= columns) return;
  for (std::int64_t y = blockIdx.y; y < rows; y += gridDim.y) {
    const float gain = gains.down[y] * gains.across[x];
    float2& value = picture[y * nx + x];
    value = {gain * value.x, gain * value.y};
  }
}

/// Fourier transform by a lens, with a quadratic phase on the panel for planes beside the focal plane.
class LensPath final : public CudaLightPath {
 public:
  LensPath(const PhaseRetrievalOptions& options, const Queue& queue)
      : queue_(queue),
        shape_(options.grid.shape()),
        region_(options.region),
        has_aperture_(options.response.fill_factor != 0),
        work_(shape_, queue),
        fft_(shape_, queue, {.scale_inverse = false}) {
    for (const auto& plane : options.planes) {
      for (std::size_t position = 0; position < max_positions; ++position) {
        const LensFactors factors = lens_factors(options, plane.distance_m, position);
        factors_.push_back({to_device(factors.down, queue), to_device(factors.across, queue),
                            to_device(factors.gain_down, queue), to_device(factors.gain_across, queue)});
      }
    }
  }

  void send(const Complex* panel) override { panel_ = panel; }

  void receive(std::size_t plane, std::size_t positions, Complex* pictures) override {
    const auto [ny, nx] = shape_;
    for (std::size_t position = 0; position < positions; ++position) {
      Complex* const picture = pictures + static_cast<std::int64_t>(position) * ny * nx;
      const Factors& factors = factors_[plane * max_positions + position];
      multiply_kernel<<<grid_over(nx, ny), threads, 0, stream()>>>(
          as_float2(panel_), as_float2(picture), factors.axes(), static_cast<int>(ny), static_cast<int>(nx));
      cuda::check_launch("retrieval lens");
      fft_.execute({picture, shape_, queue_.device()}, FftDirection::forward);
      apply_aperture(factors, picture);
    }
  }

  void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) override {
    const auto [ny, nx] = shape_;
    for (std::size_t position = 0; position < positions; ++position) {
      const Factors& factors = factors_[plane * max_positions + position];
      copy_bytes(work_.data(), queue_.device(), pictures + static_cast<std::int64_t>(position) * ny * nx,
                 queue_.device(), work_.bytes(), queue_);
      apply_aperture(factors, work_.data());
      fft_.execute(work_.view(), FftDirection::inverse);
      add_conjugated_kernel<<<grid_over(nx, ny), threads, 0, stream()>>>(as_float2(work_.data()), as_float2(panel),
                                                                         position == 0, factors.axes(),
                                                                         static_cast<int>(ny), static_cast<int>(nx));
      cuda::check_launch("retrieval lens back");
    }
  }

 private:
  struct Factors {
    Array<Complex, 1> down;
    Array<Complex, 1> across;
    Array<float, 1> gain_down;
    Array<float, 1> gain_across;
    [[nodiscard]] Axes axes() const { return {as_float2(down.data()), as_float2(across.data())}; }
    [[nodiscard]] Gains gains() const { return {gain_down.data(), gain_across.data()}; }
  };
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  void apply_aperture(const Factors& lens, Complex* picture) {
    if (!has_aperture_) return;
    const std::int64_t nx = shape_[1];
    gain_kernel<<<grid_over(region_.columns, region_.rows), threads, 0, stream()>>>(
        as_float2(picture + region_.row * nx + region_.column), lens.gains(), static_cast<int>(region_.rows),
        static_cast<int>(region_.columns), static_cast<int>(nx));
    cuda::check_launch("retrieval aperture");
  }

  Queue queue_;
  Shape<2> shape_;
  SignalRegion region_;
  bool has_aperture_;
  Array<Complex, 2> work_;
  FftPlan fft_;
  std::vector<Factors> factors_;  ///< plane by plane
  const Complex* panel_ = nullptr;
};

}  // namespace

std::unique_ptr<CudaLightPath> lens_path_cuda(const PhaseRetrievalOptions& options, const Queue& queue) {
  return std::make_unique<LensPath>(options, queue);
}

}  // namespace holotone::retrieval
