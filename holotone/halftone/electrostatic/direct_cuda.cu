// Direct sum of the force over every pair of dots, on CUDA.
#include <holotone/halftone/electrostatic/engine_cuda.cuh>

namespace holotone::electrostatic {
namespace {

constexpr int threads = 256;
/// From this number of dots on each thread sums the forces of four.
constexpr std::int64_t many_dots = 131072;

/// Force of the other dots at the same place, one by one; rare.
__device__ __noinline__ float2 same_place_force(const ForceInput& in, std::int64_t index, float2 place, int together) {
  const auto dot_number = static_cast<unsigned>(in.number[index]);
  float2 force{0, 0};
  int met = 0;
  for (std::int64_t k = 0; k < in.count && met < max_together; ++k) {
    const float2 other = in.place[k];
    const float dx = place.x - other.x;
    const float dy = place.y - other.y;
    const auto number = static_cast<unsigned>(in.number[k]);
    if (number == dot_number || fmaf(dx, dx, dy * dy) > same_place2) continue;
    ++met;
    const float2 direction = same_place_direction(dot_number, number);
    force = {force.x + direction.x, force.y + direction.y};
  }
  const float push = in.same_place_force * static_cast<float>(together - 1) / static_cast<float>(max(met, 1));
  return {push * force.x, push * force.y};
}

/// Sums the forces of all dots on threads * Each dots per block: 256 sources at a time in float32, these sums in
/// float64.
template <int Each>
__global__ void __launch_bounds__(threads)
    direct_kernel(const __grid_constant__ ForceInput in, float2* __restrict__ forces) {
  __shared__ float2 others[threads];
  const std::int64_t first = blockIdx.x * static_cast<std::int64_t>(threads * Each) + threadIdx.x;
  float2 place[Each];
  double2 force[Each];
  int together[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const std::int64_t index = first + t * threads;
    place[t] = index < in.count ? in.place[index] : float2{0, 0};
    force[t] = {0, 0};
    together[t] = 0;
  }
  for (std::int64_t begin = 0; begin < in.count; begin += threads) {
    __syncthreads();
    // Padding is so far away that its force is 0.
    const std::int64_t source = begin + threadIdx.x;
    others[threadIdx.x] = source < in.count ? in.place[source] : float2{1e18F, 1e18F};
    __syncthreads();
    float2 part[Each];
#pragma unroll
    for (int t = 0; t < Each; ++t) part[t] = {0, 0};
#pragma unroll 8
    for (int k = 0; k < threads; ++k) {
      const float2 other = others[k];
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        const float dx = place[t].x - other.x;
        const float dy = place[t].y - other.y;
        const float r2 = fmaf(dx, dx, dy * dy);
        const bool same = r2 <= same_place2;
        together[t] += same ? 1 : 0;
        const float size = same ? 0.0F : approximate_inverse(r2);
        part[t].x = fmaf(size, dx, part[t].x);
        part[t].y = fmaf(size, dy, part[t].y);
      }
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      force[t].x += static_cast<double>(part[t].x);
      force[t].y += static_cast<double>(part[t].y);
    }
  }
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const std::int64_t index = first + t * threads;
    if (index >= in.count) continue;
    const float2 ink = image_force(in, place[t]);
    float2 total{static_cast<float>(force[t].x + static_cast<double>(ink.x)),
                 static_cast<float>(force[t].y + static_cast<double>(ink.y))};
    if (together[t] > 1) {
      const float2 push = same_place_force(in, index, place[t], together[t]);
      total = {total.x + push.x, total.y + push.y};
    }
    forces[in.number[index]] = total;
  }
}

class DirectCuda final : public CudaEngine {
 public:
  DirectCuda(const Setup& setup, const Queue& queue)
      : CudaEngine(setup, make_cells(setup.page, 2 * setup.spacing_px), queue),
        check_(queue),
        edges_(setup, queue),
        table_({(setup.page[0] + 4) * (setup.page[1] + 4)}, queue),
        forces_({setup.maximum_dots}, queue) {}

  void set_ink(View<const float, 2> ink) override {
    const cuda::DeviceScope scope(queue().device());
    const double total = check_(ink);
    edges_.set(ink, total);
    const auto host = copy_of(ink, Device{});
    const auto table = attraction_table(setup().page, host.data(), setup().options.image);
    const std::vector<float> rounded(table.begin(), table.end());
    const InkNodes nodes = ink_nodes(setup(), host.data(), total);
    if (nodes_.empty()) nodes_ = Array<float, 1>({nodes.rows * nodes.columns}, queue());
    node_rows_ = make_axis(nodes.rows, nodes.step);
    node_columns_ = make_axis(nodes.columns, nodes.step);
    copy_bytes(table_.data(), queue().device(), rounded.data(), Device{}, table_.bytes(), queue());
    copy_bytes(nodes_.data(), queue().device(), nodes.density.data(), Device{}, nodes_.bytes(), queue());
    queue().synchronize();
  }

  std::int64_t missed_neighbours() override { return 0; }
  [[nodiscard]] std::size_t bytes() const override {
    return CudaEngine::bytes() + edges_.bytes() + table_.bytes() + nodes_.bytes() + forces_.bytes();
  }
  [[nodiscard]] std::string arithmetic() const override {
    return "float32 pairs, sums of 256 pairs added in float64; attraction from a float64 table rounded to float32";
  }

 protected:
  void sum_forces(float2* forces, cudaStream_t stream) override {
    sum_pairs(forces, stream);
    measure(dots_input(), forces, sums(), stream);
  }

  void prepare(const StepRule& rule) override {
    if (rule.edge_correction != edge_correction_) forget_recording();
    edge_correction_ = rule.edge_correction;
  }
  [[nodiscard]] const EdgeTable& edges() const override { return edges_; }

  void sum_and_move(const MoveRule& rule, cudaStream_t stream) override {
    sum_pairs(forces_.data(), stream);
    move_by(moving_input(edge_correction_), forces_.data(), rule, moved(), target(), sums(), stream);
  }

  [[nodiscard]] Density density() const override {
    Density result;
    result.y = node_rows_;
    result.x = node_columns_;
    result.ink = nodes_.data();
    result.scale = static_cast<float>(count());
    return result;
  }

 private:
  static NodeAxis make_axis(std::int64_t nodes, double step) {
    NodeAxis result;
    result.count = static_cast<int>(nodes);
    result.step = static_cast<float>(step);
    result.inverse = static_cast<float>(1 / step);
    return result;
  }

  void sum_pairs(float2* forces, cudaStream_t stream) {
    ForceInput input = dots_input();
    (setup().options.image == ImageForce::points ? input.points : input.attraction).table = table_.data();
    if (input.count >= many_dots) {
      direct_kernel<4><<<cuda::blocks_for(input.count, 4 * threads), threads, 0, stream>>>(input, forces);
    } else {
      direct_kernel<1><<<cuda::blocks_for(input.count, threads), threads, 0, stream>>>(input, forces);
    }
    cuda::check_launch("electrostatic direct sum");
  }

  InkCheck check_;
  EdgeTable edges_;
  double edge_correction_ = 0;
  NodeAxis node_rows_;
  NodeAxis node_columns_;
  Array<float2, 1> table_;
  Array<float, 1> nodes_;
  Array<float2, 1> forces_;
};

}  // namespace

EnginePointer direct_cuda(const Setup& setup, const Queue& queue) { return std::make_unique<DirectCuda>(setup, queue); }

}  // namespace holotone::electrostatic
