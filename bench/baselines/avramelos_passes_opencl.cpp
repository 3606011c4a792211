#include <bench/baselines/avramelos_component.hpp>
#include <bench/baselines/avramelos_passes.hpp>
#include <fmt/format.h>
#include <holotone/core/kernel_opencl.hpp>
#include <stdexcept>

namespace holotone {
std::string_view bench_opencl_text(std::string_view path);  // made by cmake/embed.cmake
}

namespace bench {
namespace {

constexpr std::string_view source = "bench/baselines/avramelos_passes_opencl.cl";
constexpr std::int64_t domain_side = 512;

}  // namespace

struct AvramelosPassesOpencl::State {
  holotone::opencl::Kernel kernel;
  cl::Device device;
};

AvramelosPassesOpencl::AvramelosPassesOpencl(int dimensions, DecoderMode mode, PassMemory memory,
                                             const holotone::Queue& queue) {
  holotone::opencl::add_text(source, holotone::bench_opencl_text(source));
  state_ = std::make_unique<State>(
      State{{queue,
             source,
             "avramelos",
             {fmt::format("-DD={}", dimensions), fmt::format("-DLOCAL={:d}", memory == PassMemory::local),
              fmt::format("-DACCURATE={:d}", mode == DecoderMode::slow)}},
            holotone::opencl::device_of(queue)});
}

AvramelosPassesOpencl::~AvramelosPassesOpencl() = default;

void AvramelosPassesOpencl::operator()(const AvramelosPasses::Input& input, holotone::View<float, 3> image) {
  const PixelBlock& block = input.area;
  const auto number = [](std::int64_t value) { return static_cast<cl_int>(value); };
  const cl_int4 area{{number(block.left), number(block.top), number(block.width), number(block.height)}};
  const std::int64_t step = domain_side / input.side * input.side;
  if (step == 0) throw std::runtime_error("AvramelosPasses: expected blocks of at most 512 pixels on OpenCL");
  // The last blocks are padded: their items beyond the area sum too, as the paper's.
  const auto padded = [&](std::int64_t rest) {
    return std::min(step, (rest + input.side - 1) / input.side * input.side);
  };
  for (std::int64_t row = 0; row < block.height; row += step) {
    for (std::int64_t column = 0; column < block.width; column += step) {
      const cl_int2 domain{{number(column), number(row)}};
      state_->kernel(holotone::opencl::over(padded(block.width - column), padded(block.height - row)),
                     {group_columns, group_rows, 1}, input.model, input.first, input.component, image.data(), area,
                     domain, number(input.side), number(input.blocks_across));
    }
  }
}

GroupResources AvramelosPassesOpencl::resources() const {
  const auto& kernel = state_->kernel.native();
  const auto& device = state_->device;
  using holotone::opencl::group_info;
  return {group_info<CL_KERNEL_LOCAL_MEM_SIZE>(kernel, device), group_info<CL_KERNEL_PRIVATE_MEM_SIZE>(kernel, device),
          group_info<CL_KERNEL_WORK_GROUP_SIZE>(kernel, device),
          group_info<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(kernel, device)};
}

}  // namespace bench
