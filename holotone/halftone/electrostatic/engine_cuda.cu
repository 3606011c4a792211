// The CUDA engine: stores the dots, records a step as a graph, checks the ink.
#include <algorithm>
#include <cmath>
#include <holotone/halftone/electrostatic/engine_cuda.cuh>

namespace holotone::electrostatic {
namespace {

constexpr int ink_threads = 256;
constexpr int ink_blocks = 512;

/// Sums the ink of each block in a fixed order and finds the first invalid pixel.
__global__ void __launch_bounds__(ink_threads) ink_kernel(const float* __restrict__ ink, std::int64_t count,
                                                          double* __restrict__ parts, unsigned long long* first_bad) {
  double sum = 0;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(ink_threads) + threadIdx.x; k < count;
       k += static_cast<std::int64_t>(ink_blocks) * ink_threads) {
    const float value = ink[k];
    if (!(value >= 0) || isinf(value)) atomicMin(first_bad, static_cast<unsigned long long>(k));
    sum += static_cast<double>(value);
  }
  __shared__ double sums[ink_threads];
  sums[threadIdx.x] = sum;
  for (int offset = ink_threads / 2; offset > 0; offset /= 2) {
    __syncthreads();
    if (threadIdx.x < offset) sums[threadIdx.x] += sums[threadIdx.x + offset];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

MoveRule move_rule(const StepRule& rule) {
  MoveRule result;
  result.momentum = rule.descent == Descent::momentum;
  result.scaled = rule.density_scaled;
  result.tau = static_cast<float>(rule.tau);
  result.keep = static_cast<float>(rule.momentum);
  result.limit = static_cast<float>(rule.largest_move);
  return result;
}

}  // namespace

InkCheck::InkCheck(const Queue& queue) : queue_(queue), parts_({ink_blocks}, queue), first_bad_({1}, queue) {}

double InkCheck::operator()(View<const float, 2> ink) {
  const auto stream = cuda::stream_of(queue_);
  cuda::check(cudaMemsetAsync(first_bad_.data(), 0xff, first_bad_.bytes(), stream), "cudaMemsetAsync");
  ink_kernel<<<ink_blocks, ink_threads, 0, stream>>>(ink.data(), ink.size(), parts_.data(), first_bad_.data());
  cuda::check_launch("electrostatic ink");
  double parts[ink_blocks];
  unsigned long long first_bad = 0;
  copy_bytes(parts, Device{}, parts_.data(), queue_.device(), sizeof parts, queue_);
  copy_bytes(&first_bad, Device{}, first_bad_.data(), queue_.device(), sizeof first_bad, queue_);
  queue_.synchronize();
  if (first_bad != ~0ULL) {
    float value = 0;
    copy_bytes(&value, Device{}, ink.data() + first_bad, queue_.device(), sizeof value, queue_);
    queue_.synchronize();
    throw_bad_ink(ink.shape(), static_cast<std::int64_t>(first_bad), value);
  }
  double total = 0;
  for (const double part : parts) total += part;
  if (total == 0) throw_bad_ink(ink.shape(), -1, 0);
  return total;
}

StepGraph::StepGraph(const Queue& queue) : queue_(queue) {
  const cuda::DeviceScope scope(queue.device());
  cuda::check(cudaStreamCreateWithFlags(&recorder_, cudaStreamNonBlocking), "cudaStreamCreate");
}

StepGraph::~StepGraph() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  cudaStreamDestroy(recorder_);
}

void StepGraph::reset() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
  runs_ = 0;
}

void StepGraph::begin() {
  cuda::check(cudaStreamBeginCapture(recorder_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
}

void StepGraph::end() {
  cudaGraph_t recorded = nullptr;
  cuda::check(cudaStreamEndCapture(recorder_, &recorded), "cudaStreamEndCapture");
  const cudaError_t status = cudaGraphInstantiate(&graph_, recorded, 0);
  cudaGraphDestroy(recorded);
  cuda::check(status, "cudaGraphInstantiate");
}

void StepGraph::launch() { cuda::check(cudaGraphLaunch(graph_, cuda::stream_of(queue_)), "cudaGraphLaunch"); }

CellGrid make_cells(const Shape<2>& page, double side) {
  constexpr double max_cells = 1 << 26;
  const auto height = static_cast<double>(page[0]);
  const auto width = static_cast<double>(page[1]);
  side = std::max(side, std::sqrt(height * width / max_cells));
  CellGrid cells;
  cells.inverse = static_cast<float>(1 / side);
  side = 1 / static_cast<double>(cells.inverse);
  cells.size = static_cast<float>(side);
  cells.ny = std::max(1, static_cast<int>(std::ceil(height / side)));
  cells.nx = std::max(1, static_cast<int>(std::ceil(width / side)));
  return cells;
}

CudaEngine::CudaEngine(const Setup& setup, const CellGrid& cells, const Queue& queue)
    : setup_(setup),
      queue_(queue),
      sort_(cells, setup.maximum_dots, setup.options.deterministic, queue),
      place_({setup.maximum_dots}, queue),
      velocity_({setup.maximum_dots}, queue),
      number_({setup.maximum_dots}, queue),
      moved_place_({setup.maximum_dots}, queue),
      moved_velocity_({setup.maximum_dots}, queue),
      moved_number_({setup.maximum_dots}, queue),
      sums_({(setup.maximum_dots + force_threads - 1) / force_threads}, queue),
      total_({1}, queue),
      first_bad_({1}, queue),
      graph_(queue) {}

DotArrays CudaEngine::sorted() { return {place_.data(), velocity_.data(), number_.data()}; }
DotArrays CudaEngine::moved() { return {moved_place_.data(), moved_velocity_.data(), moved_number_.data()}; }
CountTarget CudaEngine::target() { return {sort_.cells(), sort_.fill(), sort_.rank()}; }
void CudaEngine::sort(cudaStream_t stream) { sort_.sort(moved(), sorted(), count_, stream); }

ForceInput CudaEngine::dots_input() const {
  ForceInput input;
  input.place = place_.data();
  input.velocity = velocity_.data();
  input.number = number_.data();
  input.start = sort_.start();
  input.count = count_;
  input.cells = sort_.cells();
  input.attraction.ny = static_cast<int>(setup_.page[0]);
  input.attraction.nx = static_cast<int>(setup_.page[1]);
  input.attraction.charge = static_cast<float>(count_);
  input.points = input.attraction;
  input.density = density();
  input.same_place_force = static_cast<float>(setup_.same_place_force);
  return input;
}

ForceInput CudaEngine::moving_input(double edge_correction) const {
  ForceInput input = dots_input();
  input.edges = input.attraction;
  input.edges.table = edge_correction > 0 ? edges().data() : nullptr;
  input.edges.charge = static_cast<float>(edge_correction);
  return input;
}

void CudaEngine::set_positions(View<const float, 2> positions) {
  const cuda::DeviceScope scope(queue_.device());
  const auto stream = cuda::stream_of(queue_);
  graph_.reset();
  count_ = 0;
  const std::int64_t count = positions.shape()[0];
  if (count == 0) return;
  sort_.clear(stream);
  cuda::check(cudaMemsetAsync(first_bad_.data(), 0xff, first_bad_.bytes(), stream), "cudaMemsetAsync");
  cuda::check(cudaMemsetAsync(sums_.data(), 0, sums_.bytes(), stream), "cudaMemsetAsync");
  load_dots(reinterpret_cast<const float2*>(positions.data()), count, setup_.page, moved(), target(), first_bad_.data(),
            stream);
  unsigned long long first_bad = 0;
  copy_bytes(&first_bad, Device{}, first_bad_.data(), queue_.device(), sizeof first_bad, queue_);
  queue_.synchronize();
  if (first_bad != ~0ULL) throw_bad_position(static_cast<std::int64_t>(first_bad));
  count_ = count;
  sort(stream);
}

void CudaEngine::positions(View<float, 2> positions) {
  const cuda::DeviceScope scope(queue_.device());
  store_dots(place_.data(), number_.data(), count_, reinterpret_cast<float2*>(positions.data()),
             cuda::stream_of(queue_));
}

void CudaEngine::forces(View<float, 2> forces) {
  const cuda::DeviceScope scope(queue_.device());
  sum_forces(reinterpret_cast<float2*>(forces.data()), cuda::stream_of(queue_));
}

void CudaEngine::step(const StepRule& rule) {
  const cuda::DeviceScope scope(queue_.device());
  const MoveRule device_rule = move_rule(rule);
  prepare(rule);
  if (setup_.options.on_stage) {
    const auto stream = cuda::stream_of(queue_);
    sum_and_move(device_rule, stream);
    setup_.stage("forces and move");
    sort(stream);
    setup_.stage("sort");
    return;
  }
  graph_.run(device_rule, [&](cudaStream_t stream) {
    sum_and_move(device_rule, stream);
    sort(stream);
  });
}

void CudaEngine::move(View<const float, 2> forces, const StepRule& rule) {
  const cuda::DeviceScope scope(queue_.device());
  const auto stream = cuda::stream_of(queue_);
  move_by(moving_input(rule.edge_correction), reinterpret_cast<const float2*>(forces.data()), move_rule(rule), moved(),
          target(), sums(), stream);
  sort(stream);
}

void CudaEngine::shake(float radius, std::uint64_t seed) {
  const cuda::DeviceScope scope(queue_.device());
  const auto stream = cuda::stream_of(queue_);
  shake_dots(dots_input(), radius, seed, moved(), target(), stream);
  sort(stream);
}

ForceStatistics CudaEngine::statistics() {
  const cuda::DeviceScope scope(queue_.device());
  add_up(sums_.data(), (count_ + force_threads - 1) / force_threads, total_.data(), cuda::stream_of(queue_));
  double2 total{};
  copy_bytes(&total, Device{}, total_.data(), queue_.device(), sizeof total, queue_);
  queue_.synchronize();
  const auto count = static_cast<double>(count_);
  return {total.x / count, std::sqrt(total.y / count)};
}

std::size_t CudaEngine::bytes() const {
  return sort_.bytes() + place_.bytes() + velocity_.bytes() + number_.bytes() + moved_place_.bytes() +
         moved_velocity_.bytes() + moved_number_.bytes() + sums_.bytes();
}

EnginePointer engine_cuda(const Setup& setup, const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  switch (setup.options.sum) {
    case ForceSum::ewald: return ewald_cuda(setup, queue);
    case ForceSum::direct: return direct_cuda(setup, queue);
    case ForceSum::taylor: break;
  }
  // The three sums of `taylor` cancel. The non-uniform transforms here are in float32, which leaves too few digits.
  throw_unsupported("ElectrostaticPlan", "sum", "ewald or direct on " + to_string(queue.device()),
                    "taylor, which the CPU has");
}

}  // namespace holotone::electrostatic
