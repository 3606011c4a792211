#pragma once
// The library's errors as exceptions of Python.
#include <nanobind/nanobind.h>

namespace holotone::python {

void bind_errors(nanobind::module_& module);

}  // namespace holotone::python
