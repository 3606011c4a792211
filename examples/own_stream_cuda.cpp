// Holograms on a program's own CUDA stream, one for each frame. Only the points cross the bus: the plan enqueues its
// work, and the phase codes stay on the GPU (here copied back for inspection).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/point_cloud.hpp>

int main() try {
  using namespace holotone;
  const auto all = devices();
  if (std::none_of(all.begin(), all.end(), [](Device device) { return device.backend == Backend::cuda; })) {
    std::puts("no CUDA device: nothing to show");
    return 77;
  }
  const Device gpu = parse_device("cuda:0");
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  {
    const Queue queue = Queue::borrow(gpu, stream);  // the caller keeps ownership of the stream
    constexpr std::int64_t count = 10'000;
    PointCloudPlan plan({.shape = {1080, 1920}, .tolerance = 1e-3}, queue);
    Array<std::uint8_t, 2> codes({1080, 1920}, queue);

    Array<float, 2> position({count, 3});
    Array<float, 1> amplitude({count});
    for (int frame = 0; frame < 5; ++frame) {
      for (std::int64_t j = 0; j < count; ++j) {
        const float angle = 0.01F * static_cast<float>(j) + 0.1F * static_cast<float>(frame);
        position(j, 0) = 3e-3F * std::cos(angle);
        position(j, 1) = 3e-3F * std::sin(angle);
        position(j, 2) = -0.5F - 1e-6F * static_cast<float>(j);
        amplitude(j) = 1;
      }
      plan.set_points({.position_m = position.view(), .amplitude = amplitude.view()});
      plan.execute({.phase = codes.view()});  // enqueued; a display kernel may follow on `stream`
    }
    queue.synchronize();
    const auto last = codes.to(Device{});
    std::printf("%s, code of the middle pixel in the last frame: %d\n",
                std::string(to_string(plan.info().method)).c_str(), last(540, 960));
  }
  return cudaStreamDestroy(stream) == cudaSuccess ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
