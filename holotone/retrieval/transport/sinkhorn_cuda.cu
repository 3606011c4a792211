#include <algorithm>
#include <cmath>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/retrieval/transport/sinkhorn.hpp>

namespace holotone::retrieval {
namespace {

constexpr int max_cells = 256;  ///< along an axis
constexpr int threads = 128;

/// out[p][row] of log sum_i exp(values + table[i][p]) over the values of a row: base + scale from.
struct LogSums {
  const float* base;
  const float* from;  ///< null: none
  const float* table;
  float* out;
  float scale;
  float factor;  ///< out = kept out + factor log sum
  float kept;
  int count;   ///< of values of a row
  int places;  ///< p
};

__global__ void __launch_bounds__(threads) log_sums_kernel(LogSums pass) {
  __shared__ float values[max_cells];
  const int row = static_cast<int>(blockIdx.x);
  const int rows = static_cast<int>(gridDim.x);
  for (int i = static_cast<int>(threadIdx.x); i < pass.count; i += threads) {
    const int at = row * pass.count + i;
    values[i] = pass.base[at] + (pass.from != nullptr ? pass.scale * pass.from[at] : 0.0F);
  }
  __syncthreads();
  for (int p = static_cast<int>(threadIdx.x); p < pass.places; p += threads) {
    float largest = -INFINITY;
    for (int i = 0; i < pass.count; ++i) largest = fmaxf(largest, values[i] + pass.table[i * pass.places + p]);
    float sum = 0;
    for (int i = 0; i < pass.count; ++i) sum += __expf(values[i] + pass.table[i * pass.places + p] - largest);
    float& out = pass.out[p * rows + row];
    const float before = pass.kept == 0 ? 0.0F : pass.kept * out;
    out = before + pass.factor * (largest + __logf(sum));
  }
}

/// One side of the iteration, on the device.
struct Side {
  std::array<std::int64_t, 2> cells{};
  Array<float, 1> log_mass;
  Array<float, 1> potential;
  std::array<Array<float, 1>, 2> kernels;  ///< from this side to the other, along y and x
};

class CudaSinkhorn final : public SinkhornEngine {
 public:
  explicit CudaSinkhorn(const Queue& queue) : queue_(queue) {}

  void start(const TransportCells& source, const TransportCells& target, const std::vector<float>& potential) override {
    places_ = {source.places, target.places};
    sides_[0].log_mass = on_device(source.log_mass);
    sides_[1].log_mass = on_device(target.log_mass);
    sides_[0].potential = on_device(potential);
    sides_[1].potential = on_device(std::vector<float>(target.log_mass.size()));
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t axis = 0; axis < 2; ++axis) sides_[s].cells[axis] = std::ssize(places_[s][axis]);
    }
    const auto between = std::max(sides_[1].cells[1] * sides_[0].cells[0], sides_[0].cells[1] * sides_[1].cells[0]);
    between_ = Array<float, 1>({between}, queue_);
  }

  void set_epsilon(double epsilon, const std::array<double, 2>& weights) override {
    epsilon_ = static_cast<float>(epsilon);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (std::size_t s = 0; s < 2; ++s) {
        sides_[s].kernels[axis] = on_device(log_kernel(places_[s][axis], places_[1 - s][axis], weights[axis], epsilon));
      }
    }
  }

  void update_target(float kept) override { update(sides_[0], sides_[1], kept); }
  void update_source(float kept) override { update(sides_[1], sides_[0], kept); }

  [[nodiscard]] std::vector<float> potential() const override {
    std::vector<float> host(static_cast<std::size_t>(sides_[0].potential.size()));
    copy_bytes(host.data(), Device{}, sides_[0].potential.data(), queue_.device(), host.size() * sizeof(float), queue_);
    queue_.synchronize();
    return host;
  }

 private:
  [[nodiscard]] Array<float, 1> on_device(const std::vector<float>& values) const {
    Array<float, 1> copy({std::ssize(values)}, queue_);
    copy_bytes(copy.data(), queue_.device(), values.data(), Device{}, values.size() * sizeof(float), queue_);
    return copy;
  }

  void run(const LogSums& pass, std::int64_t rows) {
    log_sums_kernel<<<static_cast<unsigned>(rows), threads, 0, cuda::stream_of(queue_)>>>(pass);
    cuda::check_launch("logarithms of sums");
  }

  void update(Side& from, Side& to, float kept) {
    const cuda::DeviceScope scope(queue_.device());
    const auto [rows, columns] = from.cells;
    const auto [to_rows, to_columns] = to.cells;
    run({.base = from.log_mass.data(),
         .from = from.potential.data(),
         .table = from.kernels[1].data(),
         .out = between_.data(),
         .scale = 1 / epsilon_,
         .factor = 1,
         .kept = 0,
         .count = static_cast<int>(columns),
         .places = static_cast<int>(to_columns)},
        rows);
    run({.base = between_.data(),
         .from = nullptr,
         .table = from.kernels[0].data(),
         .out = to.potential.data(),
         .scale = 0,
         .factor = -(1 - kept) * epsilon_,
         .kept = kept,
         .count = static_cast<int>(rows),
         .places = static_cast<int>(to_rows)},
        to_columns);
  }

  Queue queue_;
  std::array<std::array<std::vector<double>, 2>, 2> places_;  ///< of both sides, along y and x
  std::array<Side, 2> sides_;
  Array<float, 1> between_;
  float epsilon_ = 1;
};

}  // namespace

std::unique_ptr<SinkhornEngine> sinkhorn_cuda(const Queue& queue) { return std::make_unique<CudaSinkhorn>(queue); }

}  // namespace holotone::retrieval
