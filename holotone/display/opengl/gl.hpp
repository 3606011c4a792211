#pragma once
// OpenGL 3.2, core, loaded through the context that is current. Not for users.
#include <GL/gl.h>
#include <GL/glext.h>
#include <functional>

namespace holotone::display {

// clang-format off
#define HOLOTONE_GL(apply) \
  apply(glGetError) apply(glGetString) apply(glViewport) apply(glDisable) apply(glFinish)                      \
  apply(glGenTextures) apply(glDeleteTextures) apply(glBindTexture) apply(glTexParameteri)                     \
  apply(glTexImage2D) apply(glTexSubImage2D) apply(glPixelStorei) apply(glReadPixels) apply(glReadBuffer)      \
  apply(glDrawArrays) apply(glActiveTexture) apply(glCreateShader) apply(glShaderSource)                       \
  apply(glCompileShader) apply(glGetShaderiv) apply(glGetShaderInfoLog) apply(glDeleteShader)                  \
  apply(glCreateProgram) apply(glAttachShader) apply(glLinkProgram) apply(glGetProgramiv)                      \
  apply(glGetProgramInfoLog) apply(glUseProgram) apply(glDeleteProgram) apply(glGetUniformLocation)            \
  apply(glUniform1i) apply(glUniform2i) apply(glGenVertexArrays) apply(glBindVertexArray)                      \
  apply(glDeleteVertexArrays) apply(glGenBuffers) apply(glBindBuffer) apply(glBufferData)                      \
  apply(glMapBufferRange) apply(glUnmapBuffer) apply(glDeleteBuffers) apply(glGenFramebuffers)                 \
  apply(glBindFramebuffer) apply(glFramebufferTexture2D) apply(glCheckFramebufferStatus)                       \
  apply(glDeleteFramebuffers)
// clang-format on

/// The functions in use, under their own names.
struct Gl {
  using Address = void (*)();
  /// `find_address` finds a function of the context. Throws unsupported, naming the first that is not there.
  explicit Gl(const std::function<Address(const char*)>& find_address);

  // NOLINTBEGIN(bugprone-macro-parentheses)
#define HOLOTONE_GL_POINTER(name) decltype(&::name) name = nullptr;
  HOLOTONE_GL(HOLOTONE_GL_POINTER)
#undef HOLOTONE_GL_POINTER
  // NOLINTEND(bugprone-macro-parentheses)
};

}  // namespace holotone::display
