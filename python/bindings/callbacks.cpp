#include "callbacks.hpp"

namespace holotone::python {

void take_returned(nb::handle returned, nb::handle target) {
  if (returned.is_none() || returned.is(target)) return;
  nb::object array = nb::module_::import_("holotone._field").attr("numpy_of")(returned);
  if (!array.attr("shape").equal(target.attr("shape"))) {
    throw_argument("", "array that the function returns",
                   "None or the shape of the array given to it, " +
                       nb::cast<std::string>(nb::str(nb::object(target.attr("shape")))),
                   nb::cast<std::string>(nb::str(nb::object(array.attr("shape")))));
  }
  nb::module_::import_("numpy").attr("copyto")(target, array);
}

}  // namespace holotone::python
