#pragma once
#include <holotone/core/device.hpp>
#include <span>
#include <string_view>

namespace holotone {

/// The rows of operations(), in their order.
enum class OperationId {
  point_sum,
  fast_point_sum,
  point_adjoint,
  layers,
  stereogram,
  encoding,
  error_diffusion,
  phase_retrieval,
  spots,
  fft,
  nufft,
  propagation,
  large_propagation,
  reconstruction,
  fourier_lens,
  eye,
  eye_adjoint,
  electrostatic_halftoning,
  dot_sampling,
  mixture_rendering,
  mixture_codes,
  mixture_fitting
};

/// An operation of the library, and the backends that have it beside the CPU, which has all.
struct Operation {
  OperationId id;
  std::string_view name;  ///< "points to field: direct, recurrence"
  std::string_view plan;  ///< class or function: "PointCloudPlan"
  bool cuda = false;
  bool opencl = false;
};

/// Every operation that runs on a device. On a device without it, its plan throws unsupported, naming both.
std::span<const Operation> operations();

/// True if the backend has the operation, whether this build has the backend or not.
bool has_operation(const Operation& operation, Backend backend);

}  // namespace holotone
