// Recorded work whose memory is set before its turn.
#include <algorithm>
#include <holotone/core/array.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

#if HOLOTONE_CUDA
#include <holotone/core/graph_cuda.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::Queue;
using holotone::cuda::Graph;
using holotone::cuda::GraphScratch;
using Bytes = Array<std::uint8_t, 1>;

constexpr std::int64_t rounds = 4;

class CudaGraphTest : public support::OnEachDevice {};

/// Rounds of other work, memory that is set to the round's number, and a copy of it.
struct Rounds {
  Queue queue;
  Bytes scratch;
  Bytes other;
  Bytes seen;

  explicit Rounds(Device device)
      : queue(Queue::create(device)), scratch({1 << 20}, queue), other({1 << 20}, queue), seen({rounds << 20}, queue) {}
  void enqueue() {
    auto* const stream = holotone::cuda::stream_of(queue);
    for (std::int64_t i = 0; i < rounds; ++i) {
      cudaMemsetAsync(other.data(), 0, other.bytes(), stream);
      cudaMemsetAsync(scratch.data(), static_cast<int>(i) + 1, scratch.bytes(), stream);
      cudaMemcpyAsync(seen.data() + (i << 20), scratch.data(), scratch.bytes(), cudaMemcpyDeviceToDevice, stream);
    }
  }
};

TEST_P(CudaGraphTest, SetsMemoryEarlyAndAfterItsLastUse) {
  on_each([](Device device) {
    const holotone::cuda::DeviceScope scope(device);
    Rounds work(device);
    auto* const stream = holotone::cuda::stream_of(work.queue);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    work.enqueue();
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    holotone::cuda::set_early(graph, {work.scratch.data(), work.scratch.bytes()});
    std::size_t count = 0;
    cudaGraphGetNodes(graph, nullptr, &count);
    ASSERT_EQ(count, 3U * rounds);
    std::vector<cudaGraphNode_t> nodes(count);
    cudaGraphGetNodes(graph, nodes.data(), &count);
    const auto before = [&](std::size_t node) {
      std::size_t number = 0;
      cudaGraphNodeGetDependencies(nodes[node], nullptr, nullptr, &number);
      std::vector<cudaGraphNode_t> found(number);
      cudaGraphNodeGetDependencies(nodes[node], found.data(), nullptr, &number);
      std::ranges::sort(found);
      return found;
    };
    for (std::size_t i = 1; i < rounds; ++i) {
      const std::size_t other = 3 * i;
      EXPECT_EQ(before(other + 1), std::vector{nodes[other - 1]}) << i;
      std::vector both{nodes[other], nodes[other + 1]};
      std::ranges::sort(both);
      EXPECT_EQ(before(other + 2), both) << i;
    }
    cudaGraphDestroy(graph);
  });
}

TEST_P(CudaGraphTest, WorkIsTheSame) {
  on_each([](Device device) {
    const holotone::cuda::DeviceScope scope(device);
    Rounds work(device);
    const auto graph = Graph::record(
        work.queue, [&] { work.enqueue(); }, GraphScratch{work.scratch.data(), work.scratch.bytes()});
    for (int launch = 0; launch < 20; ++launch) graph.launch(work.queue);
    work.queue.synchronize();
    const auto seen = work.seen.to(Device{});
    for (std::int64_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen.data()[i], (i >> 20) + 1);
  });
}

INSTANTIATE_TEST_SUITE_P(Device, CudaGraphTest, testing::Values("cuda"));

}  // namespace
#endif
