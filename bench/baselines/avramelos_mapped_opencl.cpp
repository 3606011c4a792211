#include <algorithm>
#include <bench/baselines/avramelos_mapped.hpp>
#include <holotone/core/device_opencl.hpp>

namespace bench {
namespace {

using holotone::opencl::check;

constexpr std::size_t block_values = 4096;

/// Calls work(first, mapped) for each block of `count` values, and waits.
template <class Work>
void each_block(cl::CommandQueue& queue, const cl::Buffer& memory, std::size_t count, cl_map_flags flags,
                const Work& work) {
  for (std::size_t first = 0; first < count; first += block_values) {
    const std::size_t values = std::min(block_values, count - first);
    cl_int status = CL_SUCCESS;
    auto* const mapped = static_cast<float*>(queue.enqueueMapBuffer(memory, CL_TRUE, flags, first * sizeof(float),
                                                                    values * sizeof(float), nullptr, nullptr, &status));
    check(status, "clEnqueueMapBuffer");
    work(first, std::span(mapped, values));
    check(queue.enqueueUnmapMemObject(memory, mapped), "clEnqueueUnmapMemObject");
  }
  check(queue.finish(), "clFinish");
}

}  // namespace

struct MappedBuffer::State {
  cl::CommandQueue queue;
  cl::Buffer memory;
};

MappedBuffer::MappedBuffer(std::int64_t values, const holotone::Queue& queue)
    : state_(std::make_unique<State>(State{holotone::opencl::queue_of(queue), {}})) {
  cl_int status = CL_SUCCESS;
  const std::size_t bytes = static_cast<std::size_t>(values) * sizeof(float);
  state_->memory = cl::Buffer(holotone::opencl::context_of(queue), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                              nullptr, &status);
  check(status, "clCreateBuffer");
}

MappedBuffer::~MappedBuffer() = default;

void MappedBuffer::upload(std::span<const float> values) {
  each_block(state_->queue, state_->memory, values.size(), CL_MAP_WRITE_INVALIDATE_REGION,
             [&](std::size_t first, std::span<float> mapped) {
               std::ranges::copy(values.subspan(first, mapped.size()), mapped.begin());
             });
}

void MappedBuffer::download(std::span<float> values) {
  each_block(state_->queue, state_->memory, values.size(), CL_MAP_READ,
             [&](std::size_t first, std::span<float> mapped) {
               std::ranges::copy(mapped, values.begin() + static_cast<std::ptrdiff_t>(first));
             });
}

}  // namespace bench
