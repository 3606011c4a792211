#pragma once
// For CUDA engines only: places in a stream's work, and work enqueued again and again as a graph. Not for users.
#include <cstddef>
#include <cuda_runtime.h>
#include <holotone/core/cuda_check.hpp>
#include <memory>
#include <type_traits>

namespace holotone::cuda {

/// A place in the work of a stream.
class Mark {
 public:
  Mark() {
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cudaEventCreate");
    event_.reset(made, [](cudaEvent_t old) { cudaEventDestroy(old); });
  }
  void record(const Queue& queue) { check(cudaEventRecord(event_.get(), stream_of(queue)), "cudaEventRecord"); }
  /// What the queue gets from now on waits until the work before is done; at once if nothing was recorded.
  void hold(const Queue& queue) const {
    check(cudaStreamWaitEvent(stream_of(queue), event_.get(), 0), "cudaStreamWaitEvent");
  }
  /// Waits on the host.
  void synchronize() const { check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize"); }

 private:
  std::shared_ptr<std::remove_pointer_t<cudaEvent_t>> event_;
};

/// Memory that a library's product counts in and sets right before its kernel, which makes the device wait for some
/// 5 us.
struct GraphScratch {
  const void* data = nullptr;
  std::size_t bytes = 0;
};
/// Sets it as soon as the node that used it before is done. No node may use it but those that follow one that sets it.
void set_early(cudaGraph_t graph, const GraphScratch& scratch);

/// Work of a stream, recorded once: a launch costs some 10 us however many kernels it has. The memory that it uses must
/// stay where it is.
class Graph {
 public:
  Graph() = default;

  /// Records what `enqueue` puts on the queue; empty if its stream cannot be recorded, as a legacy default stream.
  /// `scratch`: as in set_early.
  template <class Enqueue>
  static Graph record(const Queue& queue, const Enqueue& enqueue, const GraphScratch& scratch = {}) {
    const cudaStream_t stream = stream_of(queue);
    Graph result;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
      cudaGetLastError();  // which would be reported as the next call's
      return result;
    }
    cudaGraph_t graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, decltype(&cudaGraphDestroy)> recorded(graph,
                                                                                                    &cudaGraphDestroy);
    set_early(graph, scratch);
    cudaGraphExec_t made = nullptr;
    check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
    result.graph_.reset(made, [](cudaGraphExec_t old) { cudaGraphExecDestroy(old); });
    return result;
  }

  [[nodiscard]] bool empty() const { return graph_ == nullptr; }
  void launch(const Queue& queue) const { check(cudaGraphLaunch(graph_.get(), stream_of(queue)), "cudaGraphLaunch"); }

 private:
  std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> graph_;
};

}  // namespace holotone::cuda
