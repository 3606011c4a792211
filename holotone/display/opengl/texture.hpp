#pragma once
// Codes in OpenGL's memory. Not for users.
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/display/opengl/gl.hpp>
#include <memory>

namespace holotone::display {

/// Codes on any device: pixels of `channels` numbers of `bytes` each, in rows.
struct Codes {
  const void* data = nullptr;
  Shape<2> shape{};
  int channels = 1;  ///< 1 or 3
  int bytes = 1;     ///< 1 or 2
  Device device{};
};

/// A way for codes of one GPU into a texture without the host. The texture belongs either to the GPU's programs or to
/// OpenGL. Each change of hands may cost two changes of the GPU's context, 0.15 ms each on an H200, unless it happens
/// just after OpenGL's work.
class DirectWrite {
 public:
  virtual ~DirectWrite() = default;
  /// Takes the texture from OpenGL, whose commands for it are done.
  virtual void take() = 0;
  /// Writes codes into a texture that was taken, and gives it.
  virtual void write_and_give(const Codes& codes, const Queue& queue) = 0;
  /// Gives the texture to OpenGL, as it is.
  virtual void give() = 0;
};

/// CUDA's, or null where the driver does not share the texture: another GPU draws, or the software renderer does.
std::unique_ptr<DirectWrite> direct_write_cuda(GLuint texture, Device device);

/// A texture of unsigned integers.
class Texture {
 public:
  explicit Texture(const Gl& gl) : gl_(gl) {}
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  /// Copies codes: from CUDA without the host where the driver allows it, otherwise through memory that the driver has
  /// locked. The source may be overwritten afterwards, by work of the queue.
  void write(const Codes& codes, const Queue& queue);
  /// Call when OpenGL has drawn it and writing is likely to come next: write is faster then.
  void expect_write();
  /// Call before OpenGL draws it. Without a write since expect_write the codes are the last ones.
  void expect_draw();
  [[nodiscard]] const Codes& codes() const { return codes_; }
  [[nodiscard]] GLuint name() const { return name_; }
  /// True if the last codes did not go through the host.
  [[nodiscard]] bool direct() const { return was_direct_; }

 private:
  void allocate(const Codes& codes);
  void write_through_host(const Codes& codes, const Queue& queue) const;

  const Gl& gl_;
  GLuint name_ = 0;
  GLuint buffer_ = 0;
  Codes codes_;  ///< of the last write
  std::unique_ptr<DirectWrite> direct_;
  Device direct_device_{};
  bool was_direct_ = false;
  bool is_taken_ = false;  ///< from OpenGL, by direct_
};

}  // namespace holotone::display
