#include <cstdlib>
#include <holotone/core/error.hpp>
#include <holotone/core/shared_library.hpp>
#include <holotone/display/opengl/glfw.hpp>
#include <string>

namespace holotone::display {
namespace {

Glfw opened() {
  static const SharedLibrary library{"libglfw.so.3", "libglfw.so", "libglfw.3.dylib"};
  Glfw functions;
  bool complete = library.open();
#define HOLOTONE_GLFW_LOAD(name) complete = complete && library.load(functions.name, #name);
  HOLOTONE_GLFW(HOLOTONE_GLFW_LOAD)
#undef HOLOTONE_GLFW_LOAD
  if (!complete) {
    throw Error(ErrorCode::unsupported,
                "a panel window needs GLFW 3.3 (Debian: libglfw3): " +
                    (library.open() ? std::string("libglfw.so.3 lacks a function") : library.reason()));
  }
  if (functions.glfwInit() != GLFW_TRUE) {
    const char* reason = nullptr;
    functions.glfwGetError(&reason);
    throw Error(ErrorCode::unsupported,
                std::string("no display to open a window on: ") + (reason != nullptr ? reason : "GLFW does not start"));
  }
  return functions;
}

}  // namespace

const Glfw& glfw() {
  static const Glfw functions = opened();
  return functions;
}

}  // namespace holotone::display
