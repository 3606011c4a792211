#include <holotone/core/error.hpp>
#include <holotone/display/opengl/gl.hpp>
#include <string>

namespace holotone::display {

Gl::Gl(const std::function<Address(const char*)>& find_address) {
  // NOLINTBEGIN(bugprone-macro-parentheses)
#define HOLOTONE_GL_LOAD(function)                                          \
  function = reinterpret_cast<decltype(function)>(find_address(#function)); \
  if (function == nullptr) throw Error(ErrorCode::unsupported, "OpenGL 3.2: the driver has no " #function);
  HOLOTONE_GL(HOLOTONE_GL_LOAD)
#undef HOLOTONE_GL_LOAD
  // NOLINTEND(bugprone-macro-parentheses)
}

}  // namespace holotone::display
