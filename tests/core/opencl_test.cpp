// A caller's own OpenCL context: queues, buffers, addresses.
#include <holotone/hologram/point_cloud.hpp>
#include <tests/support/own_context_opencl.hpp>
#include <thread>

namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::ErrorCode;
using holotone::OpenclMemory;
using holotone::Queue;
using support::OwnContext;

class Opencl : public support::OnOpencl {};

TEST_F(Opencl, ACallersQueueAndBuffers) {
  const auto grid = cases::grid_of(23, 41);
  const auto field = cases::mixed_field(grid, 3);
  const auto count = static_cast<std::size_t>(grid.nx * grid.ny);
  for (const Device device : devices()) {
    OwnContext context(device);
    // The codes begin at an odd byte of their buffer, as in a larger picture.
    const std::size_t first = 5;
    const auto input = context.buffer(count * sizeof(Complex));
    const auto output = context.buffer(count + first);
    context.queue.enqueueWriteBuffer(input, CL_TRUE, 0, count * sizeof(Complex), field.data());
    {
      const OpenclMemory input_memory(device, input());
      const OpenclMemory output_memory(device, output());
      EXPECT_EQ(output_memory.bytes(), count + first);
      holotone::EncodePlan plan({}, grid, context.borrow());
      plan.execute(input_memory.view<const Complex, 2>(grid.shape()),
                   output_memory.view<std::uint8_t, 2>(grid.shape(), first));
    }
    std::vector<std::uint8_t> codes(count);
    context.queue.enqueueReadBuffer(output, CL_TRUE, first, count, codes.data());  // in order: the codes are there
    EXPECT_EQ(std::vector<std::uint16_t>(codes.begin(), codes.end()), cases::run(field, {}, grid, Device{}).codes);
  }
}

TEST_F(Opencl, ArraysOfACallersContextGoToTheHost) {
  for (const Device device : devices()) support::expect_codes(OwnContext(device).borrow());
}

TEST_F(Opencl, PointsOnACallersQueue) {
  Array<float, 2> position({1, 3});
  Array<float, 1> amplitude({1});
  position(0, 0) = 1e-4F;
  position(0, 1) = -2e-4F;
  position(0, 2) = -0.05F;
  amplitude(0) = 1;
  const holotone::PointSources points{.position_m = position.view(), .amplitude = amplitude.view()};
  const holotone::PointCloudOptions options{.shape = {20, 30}, .method = holotone::PointMethod::direct};
  const auto phase_on = [&](const Queue& queue) {
    holotone::PointCloudPlan plan(options, queue);
    Array<Complex, 2> field({20, 30}, queue);
    plan.set_points(points);
    plan.execute({.field = field.view()});
    return field.to(Device{});
  };
  const auto expected = phase_on(Queue(Device{}));
  const std::vector<support::Complex64> reference(expected.data(), expected.data() + expected.size());
  for (const Device device : devices()) {
    const auto got = phase_on(OwnContext(device).borrow());
    support::expect_within("point on a borrowed queue", support::relative_error(got.data(), reference), 4e-6);
  }
}

TEST_F(Opencl, DevicesHaveTheirHandles) {
  for (const Device device : devices()) {
    EXPECT_EQ(holotone::opencl_device(holotone::opencl::device_of(device)()), device);
  }
  support::expect_error(ErrorCode::invalid_argument,
                        "opencl_device: device: expected a cl_device_id of this machine, got another handle",
                        [] { (void)holotone::opencl_device(nullptr); });
}

TEST_F(Opencl, ABufferIsHeldUntilItsMemoryEnds) {
  for (const Device device : devices()) {
    const OwnContext context(device);
    const auto buffer = context.buffer(64);
    const auto references = [&] { return buffer.getInfo<CL_MEM_REFERENCE_COUNT>(); };
    const auto before = references();
    {
      const OpenclMemory memory(device, buffer());
      EXPECT_EQ(references(), before + 1);
    }
    EXPECT_EQ(references(), before);
  }
}

TEST_F(Opencl, ViewsStayWithinTheirBuffer) {
  const Device device = devices().front();
  const OwnContext context(device);
  const auto buffer = context.buffer(100);
  const OpenclMemory memory(device, buffer());
  EXPECT_EQ((memory.view<float, 1>({25}).size()), 25);
  EXPECT_EQ((memory.view<float, 1>({24}, 4).size()), 24);
  for (const auto& range : {std::pair{26, 0}, {25, 4}, {1, 101}, {1, 2}, {-1, 0}}) {
    const auto count = range.first;
    const auto offset = range.second;
    support::expect_error(ErrorCode::invalid_argument,
                          "OpenclMemory::view: shape: expected an array within the 100 bytes of the cl_mem, got " +
                              std::to_string(count) + " elements of 4 bytes from byte " + std::to_string(offset),
                          [&] { (void)memory.view<float, 1>({count}, static_cast<std::size_t>(offset)); });
  }
}

TEST_F(Opencl, APlaceIsABufferAndADistance) {
  for (const Device device : devices()) {
    const std::vector<float> values = {1, 2, 3, 4};
    Array<float, 1> array({4}, device);
    copy_bytes(array.data(), device, values.data(), {}, array.bytes(), device);
    const auto place = holotone::opencl_place(array.data() + 1);
    EXPECT_EQ(place.offset_bytes, sizeof(float));
    EXPECT_EQ(place.bytes, 3 * sizeof(float));
    float second = 0;
    const cl::Buffer buffer(static_cast<cl_mem>(place.memory), true);
    holotone::opencl::queue_of(device).enqueueReadBuffer(buffer, CL_TRUE, place.offset_bytes, sizeof second, &second);
    EXPECT_EQ(second, 2);
  }
  EXPECT_EQ(holotone::opencl_place(nullptr).memory, nullptr);
}

TEST_F(Opencl, WhatIsNotOnTheDeviceIsRefused) {
  const auto grid = cases::grid_of(4, 4);
  const std::string text = "data: expected a pointer into an array on an OpenCL device, got another pointer";
  std::vector<Complex> host(16);
  support::expect_error(ErrorCode::invalid_argument, text, [&] { (void)holotone::opencl_place(host.data()); });
  for (const Device device : devices()) {
    holotone::EncodePlan plan({}, grid, device);
    Array<std::uint8_t, 2> codes(grid.shape(), device);
    support::expect_error(ErrorCode::invalid_argument, text, [&] {
      plan.execute({host.data(), grid.shape(), device}, codes.view());
    });
    support::expect_error(ErrorCode::device, "OpenclMemory: memory: clGetMemObjectInfo: CL_INVALID_MEM_OBJECT",
                          [&] { OpenclMemory(device, nullptr); });
    const auto buffer = OwnContext(device).buffer(8);
    support::expect_error(ErrorCode::invalid_argument, "device: expected an OpenCL device, got cpu",
                          [&] { OpenclMemory(Device{}, buffer()); });
  }
}

// A plan's kernels belong to its queue's context.
TEST_F(Opencl, BuffersOfAnotherContextAreRefused) {
  const auto grid = cases::grid_of(4, 4);
  for (const Device device : devices()) {
    const OwnContext context(device);
    const auto buffer = context.buffer(16 * sizeof(Complex));
    const OpenclMemory memory(device, buffer());
    holotone::EncodePlan plan({}, grid, device);
    Array<std::uint8_t, 2> codes(grid.shape(), device);
    support::expect_error(ErrorCode::invalid_argument,
                          "expected memory of the context of the plan's queue, got memory of another cl_context",
                          [&] { plan.execute(memory.view<const Complex, 2>(grid.shape()), codes.view()); });
  }
}

TEST_F(Opencl, QueuesOutOfOrderAreRefused) {
  for (const Device device : devices()) {
    const auto all = holotone::opencl::info<CL_DEVICE_QUEUE_PROPERTIES>(holotone::opencl::device_of(device));
    if ((all & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0) continue;  // no such queue on this device
    const OwnContext context(device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    support::expect_error(ErrorCode::invalid_argument,
                          "Queue::borrow: native_stream: expected an in-order cl_command_queue, got one out of order",
                          [&] { (void)context.borrow(); });
  }
}

TEST_F(Opencl, TwoThreadsWithPlansOfTheirOwn) {
  for (const Device device : devices()) {
    const auto work = [&](std::uint64_t seed) {
      const Queue queue = Queue::create(device);
      for (std::uint64_t i = 0; i < 10; ++i) support::expect_codes(queue, 100 * seed + i);
    };
    std::thread other(work, 1);
    work(2);
    other.join();
  }
}

}  // namespace
