#include <holotone/hologram/layers_math.h>
#include <holotone/optics/parallel_rows.hpp>

namespace holotone::layers {
namespace {

class CpuEngine final : public Engine {
 public:
  void compose(View<Complex, 2> field, const Source& source, Carry carry) override {
    const auto [ny, nx] = field.shape();
    parallel_rows(ny, nx, [&, width = nx](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first * width; i < last * width; ++i) {
        const Pixel pixel = layer_pixel(source, i);
        Complex& value = field.data()[i];
        const Complex light(pixel.re, pixel.im);
        value = carry == Carry::nothing ? light : light + value * kept(pixel.mask, carry);
      }
    });
  }

  void add(View<Complex, 2> sum, View<const Complex, 2> other) override {
    const auto [ny, nx] = sum.shape();
    parallel_rows(ny, nx, [&, width = nx](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first * width; i < last * width; ++i) sum.data()[i] += other.data()[i];
    });
  }
};

}  // namespace

EnginePointer engine_cpu() { return std::make_unique<CpuEngine>(); }

}  // namespace holotone::layers
