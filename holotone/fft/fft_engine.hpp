#pragma once
// Interface between the plan (fft.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/fft/fft.hpp>

namespace holotone::fft {

/// FFT of one shape on one device.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void execute(std::complex<float>* data, FftDirection direction) = 0;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

using EnginePointer = std::unique_ptr<Engine>;

EnginePointer engine_cpu(Shape<2> shape, const FftOptions& options);
EnginePointer engine_cuda(Shape<2> shape, const FftOptions& options, const Queue& queue);

EnginePointer engine_opencl(Shape<2> shape, const FftOptions& options, const Queue& queue);

}  // namespace holotone::fft
