#include <bench/baselines/shimobaba.hpp>
#include <fmt/format.h>
#include <holotone/core/kernel_opencl.hpp>

namespace holotone {
std::string_view bench_opencl_text(std::string_view path);  // made by cmake/embed.cmake
}

namespace bench {
namespace {

constexpr std::string_view source = "bench/baselines/shimobaba_opencl.cl";
constexpr std::size_t side = 16;  // the paper's Tx = Ty
constexpr std::size_t run_pixels = 8;

}  // namespace

struct ShimobabaOpencl::State {
  holotone::opencl::Kernel kernel;
  std::size_t run;
};

ShimobabaOpencl::ShimobabaOpencl(const ShimobabaOptimisations& use, const holotone::Queue& queue) {
  holotone::opencl::add_text(source, holotone::bench_opencl_text(source));
  state_ = std::make_unique<State>(
      State{{queue,
             source,
             "shimobaba",
             {fmt::format("-DRECURRENCE={:d}", use.recurrence), fmt::format("-DLOCAL={:d}", use.local_memory),
              fmt::format("-DUNROLL={}", use.unroll ? 4 : 1), fmt::format("-DVECTOR={}", use.vectors),
              fmt::format("-DNATIVE={:d}", use.native)}},
            use.recurrence ? run_pixels : 1});
}

ShimobabaOpencl::~ShimobabaOpencl() = default;
ShimobabaOpencl::ShimobabaOpencl(ShimobabaOpencl&&) noexcept = default;

void ShimobabaOpencl::operator()(holotone::View<const float, 2> points, holotone::View<float, 2> intensity) const {
  const auto ny = static_cast<std::size_t>(intensity.shape()[0]);
  const auto nx = static_cast<std::size_t>(intensity.shape()[1]);
  const auto* const begin = reinterpret_cast<const cl_float4*>(points.data());
  state_->kernel({(nx + state_->run - 1) / state_->run, ny, 1}, {side, side, 1}, begin,
                 static_cast<cl_int>(points.shape()[0]), intensity.data(), static_cast<cl_int>(nx),
                 static_cast<cl_int>(ny));
}

}  // namespace bench
