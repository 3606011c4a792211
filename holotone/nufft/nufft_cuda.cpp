// Non-uniform FFTs on CUDA.
#include <holotone/nufft/grid_transform_cuda.cuh>
#include <holotone/nufft/nufft_engine.hpp>
#include <holotone/nufft/spread_cuda.cuh>

namespace holotone::nufft {
namespace {

SlopeKernel slope_kernel(const SpreadWindow& window, double error) {
  const WindowPolynomial polynomial = window_polynomial(window, error);
  SlopeKernel kernel{};
  kernel.degree = polynomial.degree;
  for (int k = 0; k <= polynomial.degree; ++k) {
    for (int i = 0; i < window.width; ++i) {
      kernel.coefficient[k][i] =
          static_cast<float>(polynomial.coefficient[static_cast<std::size_t>(k * polynomial.stride + i)]);
    }
  }
  return kernel;
}

template <std::size_t Rank>
class CudaEngine final : public NufftPlan<float, Rank>::Engine {
  using Complex = std::complex<float>;

 public:
  CudaEngine(const Setup<Rank>& setup, const Queue& queue)
      : window_(setup.window),
        slopes_(slope_kernel(setup.window, setup.polynomial_error)),
        queue_(queue),
        transform_(setup, queue),
        points_(make_tile_grid<Rank>(setup.grid, setup.window.width), queue) {}

  void set_points(View<const float, 2> points) override { points_.set(points.data(), points.shape()[0]); }

  void type1(const float* strengths, int components, Complex* modes) override {
    const cuda::DeviceScope scope(queue_.device());
    spread(points_, window_, components, strengths, transform_.cells(components), stream());
    transform_.forward(components, reinterpret_cast<float2*>(modes));
  }

  void type2(const Complex* modes, int components, float* values, float* gradient) override {
    const cuda::DeviceScope scope(queue_.device());
    transform_.inverse(components, reinterpret_cast<const float2*>(modes));
    const GridCells<Rank> cells = transform_.cells(components);
    points_.find_places();
    if (gradient != nullptr) {
      interpolate_gradient(points_, slopes_, components, cells, values, gradient, stream());
    } else {
      interpolate(points_, window_, components, cells, values, stream());
    }
  }

  [[nodiscard]] std::size_t bytes() const override { return transform_.bytes() + points_.bytes(); }

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  SpreadWindow window_;
  SlopeKernel slopes_;
  Queue queue_;
  GridTransform<Rank> transform_;
  PointSort<Rank> points_;
};

}  // namespace

template <std::size_t Rank>
EnginePointer<float, Rank> engine_cuda(const Setup<Rank>& setup, const Queue& queue) {
  return std::make_unique<CudaEngine<Rank>>(setup, queue);
}

template EnginePointer<float, 2> engine_cuda<2>(const Setup<2>&, const Queue&);
template EnginePointer<float, 3> engine_cuda<3>(const Setup<3>&, const Queue&);

}  // namespace holotone::nufft
