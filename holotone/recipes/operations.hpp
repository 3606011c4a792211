#pragma once
#include <holotone/core/device.hpp>
#include <span>
#include <string_view>

namespace holotone {

/// An operation of the library, and the backends that have it beside the CPU, which has all.
struct Operation {
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
