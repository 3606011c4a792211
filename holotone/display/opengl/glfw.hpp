#pragma once
// GLFW, opened while the program runs: a machine without it loses the panel window, not the program. Not for users.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace holotone::display {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define HOLOTONE_GLFW(apply)                                                                                          \
  apply(glfwInit) apply(glfwTerminate) apply(glfwGetError) apply(glfwInitHint) apply(glfwGetMonitors)                 \
      apply(glfwGetPrimaryMonitor) apply(glfwGetMonitorName) apply(glfwGetMonitorPos)                                 \
          apply(glfwGetMonitorPhysicalSize) apply(glfwGetVideoMode) apply(glfwGetVideoModes)                          \
              apply(glfwSetMonitorCallback) apply(glfwSetMonitorUserPointer) apply(glfwGetGammaRamp)                  \
                  apply(glfwSetGammaRamp) apply(glfwDefaultWindowHints) apply(glfwWindowHint) apply(glfwCreateWindow) \
                      apply(glfwDestroyWindow) apply(glfwSetInputMode) apply(glfwSetWindowUserPointer)                \
                          apply(glfwGetWindowUserPointer) apply(glfwSetWindowFocusCallback)                           \
                              apply(glfwSetWindowIconifyCallback) apply(glfwSetWindowCloseCallback)                   \
                                  apply(glfwSetKeyCallback) apply(glfwSetWindowRefreshCallback)                       \
                                      apply(glfwRestoreWindow) apply(glfwShowWindow) apply(glfwGetFramebufferSize)    \
                                          apply(glfwMakeContextCurrent) apply(glfwGetProcAddress)                     \
                                              apply(glfwSwapInterval) apply(glfwSwapBuffers) apply(glfwPollEvents)    \
                                                  apply(glfwSetWindowShouldClose)

/// GLFW's functions under their own names.
struct Glfw {
#define HOLOTONE_GLFW_POINTER(name) decltype(&::name) name = nullptr;
  HOLOTONE_GLFW(HOLOTONE_GLFW_POINTER)
#undef HOLOTONE_GLFW_POINTER
};
// NOLINTEND(bugprone-macro-parentheses)

/// The library, opened and initialised once. Throws unsupported, with the reason, if it is not there or finds no
/// display.
const Glfw& glfw();

}  // namespace holotone::display
