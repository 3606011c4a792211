#include <bench/measure.hpp>
#include <bench/mixture_loop.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/smoe/render/sums/tile_sums.hpp>
#include <stdexcept>
#if HOLOTONE_OPENCL
#include <holotone/core/device_opencl.hpp>
#endif
#if HOLOTONE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace bench {
namespace {

using Columns = holotone::smoe::TileColumns<3>;
using Sums = holotone::smoe::TileSums<3>;

constexpr std::int64_t count = 32;  // 12 KiB
constexpr std::int32_t rounds = 1024;

HOLOTONE_SIMD_CLONES void many_pairs(const Columns* components, std::size_t number, Sums& sums) {
  for (std::int32_t round = 0; round < rounds; ++round) {
    holotone::smoe::add_components<3>(components, number, sums);
  }
}

}  // namespace

struct alignas(64) MixtureLoop::Thread {
  Columns components[count];
  Sums sums;
};

MixtureLoop::MixtureLoop() : work_(std::make_unique<Thread[]>(static_cast<std::size_t>(holotone::thread_count()))) {
  for (std::int64_t thread = 0; thread < holotone::thread_count(); ++thread) {
    for (std::int64_t j = 0; j < count; ++j) {
      Columns& columns = work_[thread].components[j];
      const auto place = static_cast<float>(j) / count;
      for (int i = 0; i < holotone::smoe::tile_columns; ++i) {
        columns.base[i] = -place - 0.1F * static_cast<float>(i);
        columns.skewed[i] = 0.2F * static_cast<float>(i) - 4 * place;
        for (auto& colour : columns.colour) colour[i] = place;
      }
      columns.down = 0.4F;
      for (auto& slope : columns.slope_y) slope = 0.01F * place;
    }
  }
}

MixtureLoop::~MixtureLoop() = default;

void MixtureLoop::run() {
  holotone::parallel_for(0, holotone::thread_count(),
                         [&](std::int64_t thread) { many_pairs(work_[thread].components, count, work_[thread].sums); });
}

double MixtureLoop::pairs() const {
  constexpr std::int64_t pixels = holotone::smoe::tile_shape[0] * holotone::smoe::tile_shape[1];
  return static_cast<double>(holotone::thread_count() * count * rounds * pixels);
}

double max_pairs_per_s(holotone::Device device) {
#if HOLOTONE_CUDA
  if (device.backend == holotone::Backend::cuda) {
    int processors = 0;
    int kilohertz = 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.index) != cudaSuccess ||
        cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device.index) != cudaSuccess) {
      throw std::runtime_error("cudaDeviceGetAttribute failed");
    }
    return 16e3 * processors * kilohertz;
  }
#endif
#if HOLOTONE_OPENCL
  if (device.backend == holotone::Backend::opencl && !is_processor(device)) {
    const auto cl_device = holotone::opencl::device_of({device});
    return 16e6 * holotone::opencl::info<CL_DEVICE_MAX_COMPUTE_UNITS>(cl_device) *
           holotone::opencl::info<CL_DEVICE_MAX_CLOCK_FREQUENCY>(cl_device);
  }
#endif
  MixtureLoop loop;
  return loop.pairs() / seconds_of({device}, 5, [&] { loop.run(); });
}

}  // namespace bench
