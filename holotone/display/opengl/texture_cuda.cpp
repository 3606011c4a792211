// Textures that CUDA and OpenGL share.
#include <GL/gl.h>
#include <cuda_gl_interop.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/display/opengl/texture.hpp>

namespace holotone::display {
namespace {

class CudaWrite final : public DirectWrite {
 public:
  CudaWrite(cudaGraphicsResource_t resource, Device device) : resource_(resource), device_(device) {
    const cuda::DeviceScope scope(device_);
    cuda::check(cudaEventCreateWithFlags(&taken_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~CudaWrite() override {
    const cuda::DeviceScope scope(device_);
    if (is_mapped_) static_cast<void>(cudaGraphicsUnmapResources(1, &resource_, nullptr));
    static_cast<void>(cudaGraphicsUnregisterResource(resource_));
    static_cast<void>(cudaEventDestroy(taken_));
  }
  CudaWrite(const CudaWrite&) = delete;
  CudaWrite& operator=(const CudaWrite&) = delete;

  void take() override {
    const cuda::DeviceScope scope(device_);
    cuda::check(cudaGraphicsMapResources(1, &resource_, nullptr), "cudaGraphicsMapResources");
    cuda::check(cudaEventRecord(taken_, nullptr), "cudaEventRecord");
    is_mapped_ = true;
  }

  void give() override {
    const cuda::DeviceScope scope(device_);
    unmap(nullptr);
  }

  void write_and_give(const Codes& codes, const Queue& queue) override {
    const cuda::DeviceScope scope(device_);
    const cudaStream_t stream = cuda::stream_of(queue);
    cuda::check(cudaStreamWaitEvent(stream, taken_, 0), "cudaStreamWaitEvent");
    cudaArray_t texture = nullptr;
    cuda::check(cudaGraphicsSubResourceGetMappedArray(&texture, resource_, 0, 0),
                "cudaGraphicsSubResourceGetMappedArray");
    const std::size_t row = static_cast<std::size_t>(codes.shape[1] * codes.channels * codes.bytes);
    cuda::check(cudaMemcpy2DToArrayAsync(texture, 0, 0, codes.data, row, row, static_cast<std::size_t>(codes.shape[0]),
                                         cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpy2DToArrayAsync");
    unmap(stream);
  }

 private:
  /// OpenGL's next commands wait for the stream.
  void unmap(cudaStream_t stream) {
    is_mapped_ = false;
    cuda::check(cudaGraphicsUnmapResources(1, &resource_, stream), "cudaGraphicsUnmapResources");
  }

  cudaGraphicsResource_t resource_;
  Device device_;
  cudaEvent_t taken_ = nullptr;
  bool is_mapped_ = false;
};

}  // namespace

std::unique_ptr<DirectWrite> direct_write_cuda(GLuint texture, Device device) {
  const cuda::DeviceScope scope(device);
  cudaGraphicsResource_t resource = nullptr;
  const cudaError_t status =
      cudaGraphicsGLRegisterImage(&resource, texture, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsWriteDiscard);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // the driver does not share it: not an error of the caller's work
    return nullptr;
  }
  return std::make_unique<CudaWrite>(resource, device);
}

}  // namespace holotone::display
