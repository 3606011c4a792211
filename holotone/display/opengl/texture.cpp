#include <holotone/display/opengl/texture.hpp>

namespace holotone::display {
namespace {

struct Format {
  GLint internal;
  GLenum layout;
  GLenum type;
};

Format format_of(const Codes& codes) {
  if (codes.channels == 3) return {GL_RGB8UI, GL_RGB_INTEGER, GL_UNSIGNED_BYTE};
  if (codes.bytes == 2) return {GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT};
  return {GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE};
}

std::size_t count_bytes(const Codes& codes) {
  return static_cast<std::size_t>(element_count(codes.shape)) * static_cast<std::size_t>(codes.channels * codes.bytes);
}

}  // namespace

Texture::~Texture() {
  direct_.reset();  // gives back what it has
  if (name_ != 0) gl_.glDeleteTextures(1, &name_);
  if (buffer_ != 0) gl_.glDeleteBuffers(1, &buffer_);
}

void Texture::allocate(const Codes& codes) {
  const bool same =
      name_ != 0 && codes.shape == codes_.shape && codes.channels == codes_.channels && codes.bytes == codes_.bytes;
  if (same && codes.device == direct_device_) return;
  direct_.reset();
  is_taken_ = false;
  direct_device_ = codes.device;
  if (!same) {
    if (name_ == 0) gl_.glGenTextures(1, &name_);
    if (buffer_ == 0) gl_.glGenBuffers(1, &buffer_);
    gl_.glBindTexture(GL_TEXTURE_2D, name_);
    const Format format = format_of(codes);
    gl_.glTexImage2D(GL_TEXTURE_2D, 0, format.internal, static_cast<GLsizei>(codes.shape[1]),
                     static_cast<GLsizei>(codes.shape[0]), 0, format.layout, format.type, nullptr);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    if (const GLenum error = gl_.glGetError(); error != GL_NO_ERROR) {
      throw Error(ErrorCode::out_of_memory, "PanelWindow: OpenGL makes no texture of " + to_string<2>(codes.shape));
    }
  }
#if HOLOTONE_CUDA
  // Three channels have no format that CUDA shares.
  if (codes.device.backend == Backend::cuda && codes.channels == 1) direct_ = direct_write_cuda(name_, codes.device);
#endif
}

void Texture::write(const Codes& codes, const Queue& queue) {
  allocate(codes);
  codes_ = codes;
  was_direct_ = direct_ != nullptr;
  if (!was_direct_) return write_through_host(codes, queue);
  expect_write();
  direct_->write_and_give(codes, queue);
  is_taken_ = false;
}

void Texture::expect_write() {
  if (direct_ && !is_taken_) direct_->take();
  is_taken_ = direct_ != nullptr;
}

void Texture::expect_draw() {
  if (is_taken_) direct_->give();
  is_taken_ = false;
}

void Texture::write_through_host(const Codes& codes, const Queue& queue) const {
  const std::size_t bytes = count_bytes(codes);
  gl_.glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_);
  gl_.glBufferData(GL_PIXEL_UNPACK_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_STREAM_DRAW);
  void* const mapped =
      gl_.glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, static_cast<GLsizeiptr>(bytes), GL_MAP_WRITE_BIT);
  if (mapped == nullptr) throw Error(ErrorCode::device, "PanelWindow: OpenGL gives no memory for codes");
  copy_bytes(mapped, Device{}, codes.data, codes.device, bytes, queue);
  queue.synchronize();
  gl_.glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
  const Format format = format_of(codes);
  gl_.glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl_.glBindTexture(GL_TEXTURE_2D, name_);
  gl_.glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, static_cast<GLsizei>(codes.shape[1]),
                      static_cast<GLsizei>(codes.shape[0]), format.layout, format.type, nullptr);
  gl_.glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

}  // namespace holotone::display
