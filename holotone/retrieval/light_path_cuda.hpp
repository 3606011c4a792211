#pragma once
// Light from the panel to the pictures and back, for the CUDA engine. Not for users.
#include <holotone/retrieval/retrieval_engine.hpp>

namespace holotone::retrieval {

/// Linear map P from the light of the panel to that of a plane at its positions, and its adjoint. Fields {ny, nx} on
/// the device; only enqueues.
class CudaLightPath {
 public:
  virtual ~CudaLightPath() = default;
  /// Takes the panel's light, which stays as it is until the last receive.
  virtual void send(const Complex* panel) = 0;
  /// Writes the first `positions` pictures, one or all.
  virtual void receive(std::size_t plane, std::size_t positions, Complex* pictures) = 0;
  /// Writes the sum of P^H of the pictures, which are 0 outside the signal region.
  virtual void back(std::size_t plane, std::size_t positions, const Complex* pictures, Complex* panel) = 0;
};

std::unique_ptr<CudaLightPath> free_space_path_cuda(const PhaseRetrievalOptions& options, const Queue& queue);
std::unique_ptr<CudaLightPath> lens_path_cuda(const PhaseRetrievalOptions& options, const Queue& queue);

template <class T>
Array<T, 1> to_device(const std::vector<T>& host, const Queue& queue) {
  return copy_of(View<const T, 1>(host.data(), {std::ssize(host)}), queue.device());
}

}  // namespace holotone::retrieval
