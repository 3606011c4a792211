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

/// A way for codes of one GPU into a texture without the host.
class DirectWrite {
 public:
  virtual ~DirectWrite() = default;
  virtual void write(const Codes& codes, const Queue& queue) = 0;
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
  /// locked. The source may be overwritten afterwards.
  void write(const Codes& codes, const Queue& queue);
  [[nodiscard]] const Codes& codes() const { return codes_; }
  [[nodiscard]] GLuint name() const { return name_; }
  /// True if the last codes did not go through the host.
  [[nodiscard]] bool direct() const { return was_direct_; }

 private:
  void allocate(const Codes& codes);
  void write_through_host(const Codes& codes, const Queue& queue);

  const Gl& gl_;
  GLuint name_ = 0;
  GLuint buffer_ = 0;
  Codes codes_;  ///< of the last write
  std::unique_ptr<DirectWrite> direct_;
  Device direct_device_{};
  bool was_direct_ = false;
};

}  // namespace holotone::display
