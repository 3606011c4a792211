#pragma once
// Bindings that the generator cannot write.
#include <nanobind/nanobind.h>

namespace holotone::python {

/// Pictures and fields in files.
void bind_files(nanobind::module_& module);
/// NufftPlan, a template in C++.
void bind_nufft_plan(nanobind::module_& module);
/// PanelWindow, which belongs to a thread, and monitors.
void bind_panel_window(nanobind::module_& module);

}  // namespace holotone::python
