#include <holotone/core/kernel_opencl.hpp>
#include <holotone/hologram/layers_engine.hpp>

namespace holotone::layers {
namespace {

constexpr auto source = "holotone/hologram/layers_opencl.cl";
constexpr opencl::Range group{64, 1, 1};

class OpenclEngine final : public Engine {
 public:
  explicit OpenclEngine(const Queue& queue) : compose_(queue, source, "compose"), add_(queue, source, "add") {}

  void compose(View<Complex, 2> field, const Source& layer, Carry carry) override {
    compose_(opencl::over(field.size()), group, field.data(), cl_long{field.size()}, layer.intensity, layer.mask,
             layer.number, cl_int{layer.wanted}, cl_int{layer.random}, cl_ulong{layer.seed}, cl_ulong{layer.first_draw},
             cl_int{layer.dark}, static_cast<cl_int>(carry));
  }

  void add(View<Complex, 2> sum, View<const Complex, 2> other) override {
    add_(opencl::over(sum.size()), group, sum.data(), other.data(), cl_long{sum.size()});
  }

 private:
  opencl::Kernel compose_;
  opencl::Kernel add_;
};

}  // namespace

EnginePointer engine_opencl(const Queue& queue) { return std::make_unique<OpenclEngine>(queue); }

}  // namespace holotone::layers
