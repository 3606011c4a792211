#pragma once
// For _cuda.cu files only: the dots of a CUDA engine, for any method of summing the forces. Not for users.
#include <holotone/core/cuda_check.hpp>
#include <holotone/halftone/electrostatic/engine.hpp>
#include <holotone/halftone/electrostatic/kernels_cuda.cuh>
#include <memory>

namespace holotone::electrostatic {

/// Sums the ink in float64, in a fixed order. Throws for bad ink. Waits for the device.
class InkCheck {
 public:
  explicit InkCheck(const Queue& queue);
  double operator()(View<const float, 2> ink);

 private:
  Queue queue_;
  Array<double, 1> parts_;
  Array<unsigned long long, 1> first_bad_;
};

/// edge_table on the device.
class EdgeTable {
 public:
  EdgeTable(const Setup& setup, const Queue& queue);
  void set(View<const float, 2> ink, double total);
  /// {ny + 4, nx + 4}.
  [[nodiscard]] const float2* data() const { return table_.data(); }
  [[nodiscard]] std::int64_t size() const { return table_.size(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  Queue queue_;
  Array<float, 1> weights_;
  Array<float, 1> smooth_[2];
  Array<float2, 1> table_;
};

/// A step recorded as a CUDA graph and launched again while nothing in it changes.
class StepGraph {
 public:
  explicit StepGraph(const Queue& queue);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  /// Runs body(stream) directly the first time, then as a graph. A changed `rule` discards the graph: it is the only
  /// argument of the launches that may change.
  template <class Body>
  void run(const MoveRule& rule, const Body& body) {
    if (runs_ > 0 && !(rule == rule_)) reset();
    rule_ = rule;
    // The first run loads the kernels, which is not possible while recording.
    if (runs_ == 0) {
      body(cuda::stream_of(queue_));
    } else {
      if (graph_ == nullptr) {
        begin();
        body(recorder_);
        end();
      }
      launch();
    }
    ++runs_;
  }
  void reset();

 private:
  void begin();
  void end();
  void launch();

  Queue queue_;
  cudaStream_t recorder_ = nullptr;  ///< the queue's own may be the default stream, on which recording is not possible
  cudaGraphExec_t graph_ = nullptr;
  std::int64_t runs_ = 0;
  MoveRule rule_;
};

/// Keeps the dots sorted by cell between calls; derived classes sum the forces.
class CudaEngine : public ElectrostaticPlan::Engine {
 public:
  CudaEngine(const Setup& setup, const CellGrid& cells, const Queue& queue);

  void set_positions(View<const float, 2> positions) override;
  void positions(View<float, 2> positions) override;
  void forces(View<float, 2> forces) override;
  void step(const StepRule& rule) override;
  void move(View<const float, 2> forces, const StepRule& rule) override;
  void shake(float radius, std::uint64_t seed) override;
  ForceStatistics statistics() override;
  [[nodiscard]] std::size_t bytes() const override;

 protected:
  /// Writes F of every dot to forces[number], and the sums of its blocks.
  virtual void sum_forces(float2* forces, cudaStream_t stream) = 0;
  /// Enqueues the work that a step with this rule needs before it, outside of the recording.
  virtual void prepare(const StepRule& rule) = 0;
  /// Enqueues forces and moves; the dots are then in moved(), counted.
  virtual void sum_and_move(const MoveRule& rule, cudaStream_t stream) = 0;

  [[nodiscard]] virtual const EdgeTable& edges() const = 0;
  /// Returns dots_input() for move_by.
  [[nodiscard]] ForceInput moving_input(double edge_correction) const;
  /// Returns the kernels' input of the dots; the rest is zero.
  [[nodiscard]] ForceInput dots_input() const;
  [[nodiscard]] virtual Density density() const = 0;
  /// Discards the recording.
  void forget_recording() { graph_.reset(); }
  [[nodiscard]] DotArrays moved();
  [[nodiscard]] CountTarget target();
  [[nodiscard]] float2* sums() { return sums_.data(); }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  [[nodiscard]] DotArrays sorted();
  void sort(cudaStream_t stream);

  Setup setup_;
  Queue queue_;
  std::int64_t count_ = 0;
  CellSort sort_;
  Array<float2, 1> place_;
  Array<float2, 1> velocity_;
  Array<int, 1> number_;
  Array<float2, 1> moved_place_;
  Array<float2, 1> moved_velocity_;
  Array<int, 1> moved_number_;
  Array<float2, 1> sums_;
  Array<double2, 1> total_;
  Array<unsigned long long, 1> first_bad_;
  StepGraph graph_;
};

EnginePointer ewald_cuda(const Setup& setup, const Queue& queue);
EnginePointer direct_cuda(const Setup& setup, const Queue& queue);

/// Cells of about `side` pixels, at most 2^26 of them.
CellGrid make_cells(const Shape<2>& page, double side);

/// Copies host values to a new array on the queue's device and waits.
template <class T>
Array<T, 1> upload(const std::vector<T>& host, const Queue& queue) {
  Array<T, 1> result({static_cast<std::int64_t>(host.size())}, queue);
  copy_bytes(result.data(), queue.device(), host.data(), Device{}, host.size() * sizeof(T), queue);
  queue.synchronize();
  return result;
}

}  // namespace holotone::electrostatic
