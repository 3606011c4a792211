#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/display/opengl/canvas.hpp>
#include <string>

namespace holotone::display {
namespace {

/// One triangle that contains the panel.
constexpr const char* vertex_text = R"(#version 150
void main() { gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0); }
)";

/// n / 255 in a buffer of eight bits is n again.
constexpr const char* pixel_text = R"(#version 150
uniform usampler2D codes;
uniform usampler2D lut;
uniform ivec2 offset;
uniform ivec2 size;
uniform int height;
uniform int kind;      // 0: one channel, 1: three, 2: two bytes
uniform int has_lut;
uniform ivec2 packing;
out vec4 colour;
uint sent(uint code) { return has_lut != 0 ? texelFetch(lut, ivec2(int(code), 0), 0).r : code; }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  at = ivec2(at.x, height - 1 - at.y) - offset;
  uvec4 code = uvec4(0u);
  if (all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, size))) code = texelFetch(codes, at, 0);
  uvec3 levels = kind == 1 ? code.rgb : code.rrr;
  if (kind == 2) {
    levels = uvec3(0u);
    levels[packing.x] = code.r >> 8;
    levels[packing.y] = code.r & 255u;
  } else {
    levels = uvec3(sent(levels.r), sent(levels.g), sent(levels.b));
  }
  colour = vec4(vec3(levels) / 255.0, 1.0);
}
)";

GLuint compiled(const Gl& gl, GLenum kind, const char* text) {
  const GLuint shader = gl.glCreateShader(kind);
  gl.glShaderSource(shader, 1, &text, nullptr);
  gl.glCompileShader(shader);
  GLint done = 0;
  gl.glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
  if (done == 0) {
    std::array<char, 500> log{};
    gl.glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
    throw Error(ErrorCode::device, fmt::format("OpenGL does not compile: {}", log.data()));
  }
  return shader;
}

GLuint linked(const Gl& gl) {
  const GLuint program = gl.glCreateProgram();
  for (const GLuint shader :
       {compiled(gl, GL_VERTEX_SHADER, vertex_text), compiled(gl, GL_FRAGMENT_SHADER, pixel_text)}) {
    gl.glAttachShader(program, shader);
    gl.glDeleteShader(shader);  // with the program
  }
  gl.glLinkProgram(program);
  GLint done = 0;
  gl.glGetProgramiv(program, GL_LINK_STATUS, &done);
  if (done == 0) throw Error(ErrorCode::device, "OpenGL does not link the panel's program");
  return program;
}

}  // namespace

Canvas::Canvas(const Gl& gl, const CanvasOptions& options) : gl_(gl), shape_(options.shape), program_(linked(gl)) {
  gl.glGenVertexArrays(1, &vertices_);
  gl.glBindVertexArray(vertices_);
  gl.glUseProgram(program_);
  const auto set = [&](const char* name, GLint value) {
    gl.glUniform1i(gl.glGetUniformLocation(program_, name), value);
  };
  set("codes", 0);
  set("lut", 1);
  set("height", static_cast<GLint>(shape_[0]));
  set("has_lut", options.lut.empty() ? 0 : 1);
  gl.glUniform2i(gl.glGetUniformLocation(program_, "packing"), options.high_channel, options.low_channel);
  offset_ = gl.glGetUniformLocation(program_, "offset");
  size_ = gl.glGetUniformLocation(program_, "size");
  kind_ = gl.glGetUniformLocation(program_, "kind");
  gl.glGenTextures(1, &lut_);
  gl.glActiveTexture(GL_TEXTURE1);
  gl.glBindTexture(GL_TEXTURE_2D, lut_);
  std::array<std::uint8_t, 256> values{};
  std::copy_n(options.lut.begin(), std::min(options.lut.size(), values.size()), values.begin());
  gl.glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl.glTexImage2D(GL_TEXTURE_2D, 0, GL_R8UI, 256, 1, 0, GL_RED_INTEGER, GL_UNSIGNED_BYTE, values.data());
  gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl.glActiveTexture(GL_TEXTURE0);
  gl.glDisable(GL_DITHER);
  gl.glDisable(GL_BLEND);
  gl.glDisable(GL_FRAMEBUFFER_SRGB);
  gl.glViewport(0, 0, static_cast<GLsizei>(shape_[1]), static_cast<GLsizei>(shape_[0]));
}

Canvas::~Canvas() {
  gl_.glDeleteTextures(1, &lut_);
  gl_.glDeleteVertexArrays(1, &vertices_);
  gl_.glDeleteProgram(program_);
}

void Canvas::draw(const Texture& texture) const {
  const Codes& codes = texture.codes();
  const auto nx = static_cast<GLint>(codes.shape[1]);
  const auto ny = static_cast<GLint>(codes.shape[0]);
  gl_.glUniform2i(offset_, (static_cast<GLint>(shape_[1]) - nx) / 2, (static_cast<GLint>(shape_[0]) - ny) / 2);
  gl_.glUniform2i(size_, nx, ny);
  gl_.glUniform1i(kind_, codes.channels == 3 ? 1 : codes.bytes == 2 ? 2 : 0);
  gl_.glBindTexture(GL_TEXTURE_2D, texture.name());
  gl_.glDrawArrays(GL_TRIANGLES, 0, 3);
}

Array<std::uint8_t, 3> Canvas::read() const {
  const auto [ny, nx] = shape_;
  Array<std::uint8_t, 3> upward({ny, nx, 3});
  gl_.glPixelStorei(GL_PACK_ALIGNMENT, 1);
  gl_.glReadPixels(0, 0, static_cast<GLsizei>(nx), static_cast<GLsizei>(ny), GL_RGB, GL_UNSIGNED_BYTE, upward.data());
  Array<std::uint8_t, 3> pixels({ny, nx, 3});
  for (std::int64_t y = 0; y < ny; ++y) std::copy_n(&upward(ny - 1 - y, 0, 0), nx * 3, &pixels(y, 0, 0));
  return pixels;
}

}  // namespace holotone::display
