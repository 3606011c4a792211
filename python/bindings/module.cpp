#include "arrays.hpp"
#include "by_hand.hpp"
#include "errors.hpp"
#include "work.hpp"

#define HOLOTONE_EACH_MODULE(each)                                                                      \
  each(core) each(bands) each(fft) each(nufft) each(metrics) each(optics) each(hologram) each(quantize) \
      each(retrieval) each(halftone) each(smoe) each(io) each(display) each(recipes)

namespace holotone::python {

// Written by generate_bindings.py.
#define HOLOTONE_DECLARE(name)              \
  void declare_##name(nb::module_& module); \
  void bind_##name(nb::module_& module);
HOLOTONE_EACH_MODULE(HOLOTONE_DECLARE)

}  // namespace holotone::python

NB_MODULE(_holotone, module) {
  using namespace holotone::python;
  module.doc() = "Bindings of Holotone; `import holotone` instead.";
  module.attr("__version__") = HOLOTONE_VERSION;
  bind_errors(module);
  bind_arrays(module);
  bind_work(module);
#define HOLOTONE_CALL_DECLARE(name) declare_##name(module);
  HOLOTONE_EACH_MODULE(HOLOTONE_CALL_DECLARE)
#define HOLOTONE_CALL_BIND(name) bind_##name(module);
  HOLOTONE_EACH_MODULE(HOLOTONE_CALL_BIND)
  bind_files(module);
  bind_nufft_plan(module);
  bind_panel_window(module);
}
