// A fit's sums and steps on CUDA.
#include <holotone/smoe/fit/adam_step.hpp>
#include <holotone/smoe/fit/engine.hpp>
#include <holotone/smoe/fit/gradient_sums_cuda.cuh>

namespace holotone::smoe {
namespace {

constexpr int threads = 32;  ///< components are few: small blocks use more multiprocessors

__global__ void __launch_bounds__(threads) slice_kernel(const FitComponent* __restrict__ components, std::int64_t count,
                                                        ViewPoint at, ImageComponent* __restrict__ slices) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (j < count) slices[j] = slice_at(components[j], at);
}

/// Adds a view's sums; `first`: initializes them.
__global__ void __launch_bounds__(threads)
    add_kernel(const FitComponent* __restrict__ components, const ComponentSums* __restrict__ of_view,
               std::int64_t count, ViewPoint at, bool first, FitSums* __restrict__ sums) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (j >= count) return;
  FitSums sum = first ? FitSums{} : sums[j];
  add_sums(components[j], of_view[j], at, sum);
  sums[j] = sum;
}

template <int Dimensions>
__global__ void __launch_bounds__(threads)
    descend_kernel(FitComponent* __restrict__ components, const FitSums* __restrict__ sums, std::int64_t count,
                   int channels, DescentStep step, double* __restrict__ mean, double* __restrict__ square,
                   WidthLimits limits) {
  const std::int64_t j = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (j >= count) return;
  // All moments are loaded first: loading them one by one would wait for memory once per parameter.
  constexpr int most = count_parameters(Dimensions, max_smoe_channels);
  const int width = count_parameters(Dimensions, channels);
  double own_mean[most];
  double own_square[most];
#pragma unroll
  for (int k = 0; k < most; ++k) {
    own_mean[k] = k < width ? mean[k * count + j] : 0;
    own_square[k] = k < width ? square[k * count + j] : 0;
  }
  FitComponent component = components[j];
  descend<Dimensions>(component, sums[j], channels, step, {own_mean, own_square, 1}, limits);
  components[j] = component;
#pragma unroll
  for (int k = 0; k < most; ++k) {
    if (k >= width) break;
    mean[k * count + j] = own_mean[k];
    square[k * count + j] = own_square[k];
  }
}

__global__ void forget_kernel(const std::uint32_t* __restrict__ which, std::int64_t number, std::int64_t count,
                              int width, double* __restrict__ mean, double* __restrict__ square) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= number) return;
  for (int k = 0; k < width; ++k) mean[k * count + which[i]] = square[k * count + which[i]] = 0;
}

class CudaEngine final : public FitEngine {
 public:
  CudaEngine(std::span<const SmoeFitView> views, const Queue& queue)
      : FitEngine(views),
        width_(count_parameters(dimensions(), channels())),
        queue_(queue),
        pictures_(size(), channels(), queue),
        device_totals_({2 * std::ssize(views)}, queue),
        totals_(2 * views.size()),
        errors_(views.size(), -1),
        has_error_(views.size()) {
    const cuda::DeviceScope scope(queue_.device());
    for (const auto& view : views) {
      places_.push_back(to_view_point(view));
      pictures_.add(view.image);
    }
  }

  void put(const FitComponents& components) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto count = std::ssize(components);
    if (count != count_) {
      resize_memory(count);
      components_ = Array<FitComponent, 1>({count}, queue_);
      slices_ = Array<ImageComponent, 1>({count}, queue_);
      of_view_ = Array<ComponentSums, 1>({count}, queue_);
      device_sums_ = Array<FitSums, 1>({count}, queue_);
      count_ = count;
    }
    copy<FitComponent, 1>(components_.view(), {components.data(), {count}}, queue_);
  }
  void get(FitComponents& components) const override {
    components.resize(static_cast<std::size_t>(count_));
    copy<FitComponent, 1>({components.data(), {count_}}, components_.view(), queue_);
    queue_.synchronize();
  }

  void select(std::size_t view, double tolerance) override {
    const cuda::DeviceScope scope(queue_.device());
    slice(places_[view]);
    pictures_.select(view, slices_.data(), count_, tolerance);
  }

  void sum(PixelSum what, std::span<const std::size_t> views, std::span<const double> precision) override {
    const cuda::DeviceScope scope(queue_.device());
    if (!precision.empty()) {
      reserve(precision_, std::ssize(precision), queue_);
      copy_bytes(precision_.data(), queue_.device(), precision.data(), Device{}, precision.size_bytes(), queue_);
    }
    summed_.assign(views.begin(), views.end());
    are_errors_ = is_error(what);
    known_ = false;
    bool first = true;
    for (const auto view : views) {
      slice(places_[view]);
      pictures_.sum(what, view, slices_.data(), precision_.data(), count_, of_view_.data(),
                    device_totals_.data() + total_index(view));
      add_kernel<<<cuda::blocks_for(count_, threads), threads, 0, stream()>>>(
          components_.data(), of_view_.data(), count_, places_[view], first, device_sums_.data());
      cuda::check_launch("add_kernel");
      first = false;
      if (are_errors_) has_error_[view] = 1;
    }
  }
  const std::vector<FitSums>& sums() override {
    sums_.resize(static_cast<std::size_t>(count_));
    copy<FitSums, 1>({sums_.data(), {count_}}, device_sums_.view(), queue_);
    queue_.synchronize();
    return sums_;
  }
  double total() override {
    download_totals();
    double total = 0;
    for (const auto view : summed_) total += totals_[total_index(view)];
    return total;
  }
  const std::vector<double>& errors() override {
    download_totals();
    return errors_;
  }

  void descend(double rate) override {
    const cuda::DeviceScope scope(queue_.device());
    const auto step = DescentStep::number(++steps_, rate);
    switch (dimensions()) {
      case 2: launch_descent<2>(step); break;
      case 3: launch_descent<3>(step); break;
      default: launch_descent<4>(step); break;
    }
  }
  void restart() override {
    const cuda::DeviceScope scope(queue_.device());
    steps_ = 0;
    for (Array<double, 1>* const memory : {&mean_, &square_}) {
      cuda::check(cudaMemsetAsync(memory->data(), 0, memory->bytes(), stream()), "cudaMemsetAsync");
    }
  }
  void forget(std::span<const std::uint32_t> components) override {
    if (components.empty()) return;
    const cuda::DeviceScope scope(queue_.device());
    const auto number = std::ssize(components);
    reserve(forgotten_, number, queue_);
    copy_bytes(forgotten_.data(), queue_.device(), components.data(), Device{}, components.size_bytes(), queue_);
    forget_kernel<<<cuda::blocks_for(number, threads), threads, 0, stream()>>>(forgotten_.data(), number, count_,
                                                                               width_, mean_.data(), square_.data());
    cuda::check_launch("forget_kernel");
  }

 private:
  /// Index of a view's total: squared errors first, then totals of other sums.
  [[nodiscard]] std::size_t total_index(std::size_t view) const { return are_errors_ ? view : places_.size() + view; }
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }

  void slice(const ViewPoint& at) {
    slice_kernel<<<cuda::blocks_for(count_, threads), threads, 0, stream()>>>(components_.data(), count_, at,
                                                                              slices_.data());
    cuda::check_launch("slice_kernel");
  }
  template <int Dimensions>
  void launch_descent(const DescentStep& step) {
    descend_kernel<Dimensions><<<cuda::blocks_for(count_, threads), threads, 0, stream()>>>(
        components_.data(), device_sums_.data(), count_, channels(), step, mean_.data(), square_.data(), limits());
    cuda::check_launch("descend_kernel");
  }
  /// Resizes the rows of parameters to `count` components; keeps their moments.
  void resize_memory(std::int64_t count) {
    for (Array<double, 1>* const memory : {&mean_, &square_}) {
      Array<double, 1> next({count * width_}, queue_);
      cuda::check(cudaMemsetAsync(next.data(), 0, next.bytes(), stream()), "cudaMemsetAsync");
      if (count_ > 0) {
        const auto kept = static_cast<std::size_t>(std::min(count, count_));
        cuda::check(cudaMemcpy2DAsync(next.data(), static_cast<std::size_t>(count) * sizeof(double), memory->data(),
                                      static_cast<std::size_t>(count_) * sizeof(double), kept * sizeof(double),
                                      static_cast<std::size_t>(width_), cudaMemcpyDeviceToDevice, stream()),
                    "cudaMemcpy2DAsync");
      }
      *memory = std::move(next);
    }
  }
  void download_totals() {
    if (known_) return;
    copy<double, 1>({totals_.data(), {std::ssize(totals_)}}, device_totals_.view(), queue_);
    queue_.synchronize();
    known_ = true;
    for (std::size_t view = 0; view < errors_.size(); ++view) {
      if (has_error_[view]) errors_[view] = totals_[view];
    }
  }

  int width_;  ///< parameters of a component
  Queue queue_;
  CudaPictures pictures_;
  std::vector<ViewPoint> places_;
  std::int64_t count_ = 0;
  Array<FitComponent, 1> components_;
  Array<ImageComponent, 1> slices_;
  Array<ComponentSums, 1> of_view_;
  Array<FitSums, 1> device_sums_;
  Array<double, 1> device_totals_;  ///< {2, views}
  Array<double, 1> precision_;
  Array<double, 1> mean_;  ///< {parameters, components}
  Array<double, 1> square_;
  Array<std::uint32_t, 1> forgotten_;
  std::vector<FitSums> sums_;
  std::vector<std::size_t> summed_;
  bool are_errors_ = false;
  bool known_ = true;  ///< totals_ are the device's
  std::vector<double> totals_;
  std::vector<double> errors_;
  std::vector<char> has_error_;
  std::int64_t steps_ = 0;
};

}  // namespace

FitEnginePointer fit_engine_cuda(std::span<const SmoeFitView> views, const Queue& queue) {
  return std::make_unique<CudaEngine>(views, queue);
}

}  // namespace holotone::smoe
