#include "errors.hpp"
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <stdexcept>
#include <string>

namespace holotone::python {

namespace nb = nanobind;

namespace {

/// Classes of exceptions, by code. They live as long as the process.
struct Classes {
  PyObject* argument = nullptr;
  PyObject* unsupported = nullptr;
  PyObject* file = nullptr;
  PyObject* missing_file = nullptr;
  PyObject* memory = nullptr;
  PyObject* cancelled = nullptr;
  PyObject* device = nullptr;
};

Classes& classes() {
  static Classes all;
  return all;
}

PyObject* find_class(const Error& error) {
  const auto& all = classes();
  switch (error.code()) {
    case ErrorCode::invalid_argument: return all.argument;
    case ErrorCode::unsupported: return all.unsupported;
    case ErrorCode::io: {
      std::error_code ignored;
      const bool names_file = !error.argument().empty() && error.function().empty();
      const bool is_missing = names_file && !std::filesystem::exists(error.argument(), ignored);
      return is_missing && error.what() ? all.missing_file : all.file;
    }
    case ErrorCode::out_of_memory: return all.memory;
    case ErrorCode::cancelled: return all.cancelled;
    case ErrorCode::device: return all.device;
  }
  return all.device;
}

/// Text in which a function of C++ is written as Python writes it.
std::string for_python(std::string text, const std::string& function) {
  const std::size_t place = text.find(function);
  const std::size_t colons = function.find("::");
  if (place != std::string::npos && colons != std::string::npos) text.replace(place + colons, 2, ".");
  return text;
}

void raise(const Error& error) {
  PyObject* const type = find_class(error);
  const std::string what = for_python(error.what(), error.function());
  const bool is_missing = type == classes().missing_file;
  nb::object made =
      nb::steal(is_missing ? PyObject_CallFunction(type, "iss", ENOENT, std::strerror(ENOENT), error.argument().c_str())
                           : PyObject_CallFunction(type, "s", what.c_str()));
  if (!made.is_valid()) return;
  const auto set = [&](const char* name, const std::string& value) { made.attr(name) = nb::str(value.c_str()); };
  set("function", for_python(error.function(), error.function()));
  set("argument", error.argument());
  set("expected", error.expected());
  set("got", error.got());
  PyErr_SetObject(type, made.ptr());
}

}  // namespace

void bind_errors(nb::module_& module) {
  nb::object base = nb::steal(PyErr_NewExceptionWithDoc(
      "holotone.Error",
      "Error of Holotone. `function`, `argument`, `expected` and `got` are the parts of the message; parts that do not "
      "apply are empty.",
      PyExc_Exception, nullptr));
  for (const char* const part : {"function", "argument", "expected", "got"}) base.attr(part) = "";
  module.attr("Error") = base;
  const auto declare = [&](const char* name, PyObject* kind, const char* text) {
    const std::string full = std::string("holotone.") + name;
    nb::object bases = nb::make_tuple(base, nb::borrow(kind));
    nb::object made = nb::steal(PyErr_NewExceptionWithDoc(full.c_str(), text, bases.ptr(), nullptr));
    module.attr(name) = made;
    return made.release().ptr();
  };
  classes() = {
      declare("ArgumentError", PyExc_ValueError, "An argument is out of its range."),
      declare("UnsupportedError", PyExc_RuntimeError,
              "The operation is not available in this build, device or method."),
      declare("FileError", PyExc_ValueError, "A file is malformed or cannot be written."),
      declare("MissingFileError", PyExc_FileNotFoundError, "A file is missing."),
      declare("OutOfMemoryError", PyExc_MemoryError, "Host or device memory is insufficient."),
      declare("CancelledError", PyExc_RuntimeError, "A progress function returned False."),
      declare("DeviceError", PyExc_RuntimeError, "A call of a driver or device library failed."),
  };
  nb::register_exception_translator([](const std::exception_ptr& pointer, void* /*data*/) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      raise(error);
    } catch (const std::length_error& error) {
      raise(Error(ErrorCode::out_of_memory, fmt::format("expected arrays that fit in memory, got {}", error.what())));
    }
  });
}

}  // namespace holotone::python
