// Sums over the pixels of one picture on CUDA, for gradients.
#include <holotone/smoe/fit/gradient_sums_cuda.cuh>

namespace holotone::smoe {
namespace {

class CudaEngine final : public PixelEngine {
 public:
  CudaEngine(View<const float, 3> picture, const Queue& queue)
      : queue_(queue),
        pictures_({picture.shape()[0], picture.shape()[1]}, static_cast<int>(picture.shape()[2]), queue),
        total_({1}, queue) {
    pictures_.add(picture);
  }

  void select(std::span<const ImageComponent> components, double tolerance) override {
    const cuda::DeviceScope scope(queue_.device());
    upload(components_, components);
    pictures_.select(0, components_.data(), std::ssize(components), tolerance);
  }
  double sum(PixelSum what, std::span<const ImageComponent> components, std::span<const double> precision,
             std::vector<ComponentSums>& sums) override {
    const cuda::DeviceScope scope(queue_.device());
    upload(components_, components);
    upload(precision_, precision);
    const auto count = std::ssize(components);
    reserve(sums_, count, queue_);
    pictures_.sum(what, 0, components_.data(), precision_.data(), count, sums_.data(), total_.data());
    sums.resize(components.size());
    double total = 0;
    copy_bytes(sums.data(), Device{}, sums_.data(), queue_.device(), sums.size() * sizeof(ComponentSums), queue_);
    copy_bytes(&total, Device{}, total_.data(), queue_.device(), sizeof(total), queue_);
    queue_.synchronize();
    return total;
  }

 private:
  template <class Value>
  void upload(Array<Value, 1>& to, std::span<const Value> values) {
    reserve(to, std::ssize(values), queue_);
    if (!values.empty()) copy_bytes(to.data(), queue_.device(), values.data(), Device{}, values.size_bytes(), queue_);
  }

  Queue queue_;
  CudaPictures pictures_;
  Array<ImageComponent, 1> components_;
  Array<double, 1> precision_;
  Array<ComponentSums, 1> sums_;
  Array<double, 1> total_;
};

}  // namespace

PixelEnginePointer pixel_engine_cuda(View<const float, 3> picture, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());  // the pictures' lists are allocated
  return std::make_unique<CudaEngine>(picture, queue);
}

}  // namespace holotone::smoe
