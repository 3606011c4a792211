// Textures that CUDA and OpenGL share.
#include <GL/gl.h>
#include <cuda_gl_interop.h>
#include <holotone/core/cuda_check.hpp>
#include <holotone/display/opengl/texture.hpp>

namespace holotone::display {
namespace {

class CudaWrite final : public DirectWrite {
 public:
  CudaWrite(cudaGraphicsResource_t resource, Device device) : resource_(resource), device_(device) {}
  ~CudaWrite() override {
    const cuda::DeviceScope scope(device_);
    static_cast<void>(cudaGraphicsUnregisterResource(resource_));
  }
  CudaWrite(const CudaWrite&) = delete;
  CudaWrite& operator=(const CudaWrite&) = delete;

  void write(const Codes& codes, const Queue& queue) override {
    const cuda::DeviceScope scope(device_);
    const cudaStream_t stream = cuda::stream_of(queue);
    cuda::check(cudaGraphicsMapResources(1, &resource_, stream), "cudaGraphicsMapResources");
    cudaArray_t texture = nullptr;
    cuda::check(cudaGraphicsSubResourceGetMappedArray(&texture, resource_, 0, 0),
                "cudaGraphicsSubResourceGetMappedArray");
    const std::size_t row = static_cast<std::size_t>(codes.shape[1] * codes.channels * codes.bytes);
    cuda::check(cudaMemcpy2DToArrayAsync(texture, 0, 0, codes.data, row, row, static_cast<std::size_t>(codes.shape[0]),
                                         cudaMemcpyDeviceToDevice, stream),
                "cudaMemcpy2DToArrayAsync");
    // OpenGL's next commands wait for the stream. The caller may overwrite the codes in the same stream.
    cuda::check(cudaGraphicsUnmapResources(1, &resource_, stream), "cudaGraphicsUnmapResources");
  }

 private:
  cudaGraphicsResource_t resource_;
  Device device_;
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
