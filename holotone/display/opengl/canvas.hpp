#pragma once
// Draws codes pixel for pixel with OpenGL. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/display/opengl/texture.hpp>
#include <span>

namespace holotone::display {

struct CanvasOptions {
  Shape<2> shape{};                     ///< of the panel
  std::span<const std::uint8_t> lut{};  ///< what is sent for each code, or empty
  int high_channel = 0;                 ///< that gets the high byte of codes of two bytes
  int low_channel = 1;                  ///< that gets the low one; the third gets 0
};

/// The picture of a panel in the context that is current. Codes of one channel go to all three colours.
class Canvas {
 public:
  Canvas(const Gl& gl, const CanvasOptions& options);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  /// Draws a texture in the middle, and code 0 around it.
  void draw(const Texture& texture) const;
  /// What is drawn, {ny, nx, 3}: the buffer that is written, before it is presented.
  [[nodiscard]] Array<std::uint8_t, 3> read() const;

 private:
  const Gl& gl_;
  Shape<2> shape_;
  GLuint program_ = 0;
  GLuint vertices_ = 0;
  GLuint lut_ = 0;
  GLint offset_ = -1;
  GLint size_ = -1;
  GLint kind_ = -1;
};

}  // namespace holotone::display
