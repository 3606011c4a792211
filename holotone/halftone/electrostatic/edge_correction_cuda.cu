// The correction at edges on CUDA: edge_table of ink_tables.cpp.
#include <algorithm>
#include <holotone/halftone/electrostatic/engine_cuda.cuh>

namespace holotone::electrostatic {
namespace {

constexpr int threads = 256;

/// Smooths along x or y; the page is continued by its outermost pixels.
__global__ void smooth_kernel(const float* __restrict__ from, float* __restrict__ to, int ny, int nx, bool down,
                              const float* __restrict__ weights, int reach) {
  const int x = blockIdx.x * threads + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= nx) return;
  const int coordinate = down ? y : x;
  const int last = (down ? ny : nx) - 1;
  const std::int64_t stride = down ? nx : 1;
  const float* const line = from + (down ? x : static_cast<std::int64_t>(y) * nx);
  float sum = weights[0] * line[coordinate * stride];
  for (int k = 1; k <= reach; ++k) {
    sum += weights[k] * (line[max(coordinate - k, 0) * stride] + line[min(coordinate + k, last) * stride]);
  }
  to[static_cast<std::int64_t>(y) * nx + x] = sum;
}

__global__ void gradient_kernel(const float* __restrict__ smooth, int ny, int nx, float least,
                                float2* __restrict__ table) {
  const int column = blockIdx.x * threads + threadIdx.x;
  if (column >= nx + 4) return;
  const auto logarithm = [&](int y, int x) {
    y = min(max(y, 0), ny - 1);
    x = min(max(x, 0), nx - 1);
    return logf(fmaxf(smooth[static_cast<std::int64_t>(y) * nx + x], least));
  };
  const int y = min(max(static_cast<int>(blockIdx.y) - 2, 0), ny - 1);
  const int x = min(max(column - 2, 0), nx - 1);
  table[static_cast<std::int64_t>(blockIdx.y) * (nx + 4) + column] = {
      0.5F * (logarithm(y, x - 1) - logarithm(y, x + 1)), 0.5F * (logarithm(y - 1, x) - logarithm(y + 1, x))};
}

}  // namespace

EdgeTable::EdgeTable(const Setup& setup, const Queue& queue)
    : queue_(queue),
      weights_(upload(edge_weights(setup), queue)),
      table_({(setup.page[0] + 4) * (setup.page[1] + 4)}, queue) {
  for (auto& smooth : smooth_) smooth = Array<float, 1>({element_count(setup.page)}, queue);
}

void EdgeTable::set(View<const float, 2> ink, double total) {
  const auto stream = cuda::stream_of(queue_);
  const auto ny = static_cast<int>(ink.shape()[0]);
  const auto nx = static_cast<int>(ink.shape()[1]);
  const dim3 page(cuda::blocks_for(nx, threads), static_cast<unsigned>(ny));
  const int reach = static_cast<int>(weights_.size()) - 1;
  smooth_kernel<<<page, threads, 0, stream>>>(ink.data(), smooth_[0].data(), ny, nx, false, weights_.data(), reach);
  smooth_kernel<<<page, threads, 0, stream>>>(smooth_[0].data(), smooth_[1].data(), ny, nx, true, weights_.data(),
                                              reach);
  const auto least = static_cast<float>(min_density * total / static_cast<double>(ink.size()));
  const dim3 table(cuda::blocks_for(nx + 4, threads), static_cast<unsigned>(ny + 4));
  gradient_kernel<<<table, threads, 0, stream>>>(smooth_[1].data(), ny, nx, least, table_.data());
  cuda::check_launch("electrostatic edges");
}

std::size_t EdgeTable::bytes() const {
  return weights_.bytes() + smooth_[0].bytes() + smooth_[1].bytes() + table_.bytes();
}

}  // namespace holotone::electrostatic
