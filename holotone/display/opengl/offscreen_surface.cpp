#define EGL_NO_X11 1
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/shared_library.hpp>
#include <holotone/display/opengl/surface.hpp>
#include <optional>

namespace holotone::display {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorCode::unsupported, "no OpenGL without a window: " + reason);
}

/// EGL's functions, opened while the program runs.
struct Egl {
  Egl() {
    static const SharedLibrary library{"libEGL.so.1"};
    if (!library.open() || !library.load(find_address, "eglGetProcAddress")) fail(library.reason());
    const auto find = [this](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_address(name));
      if (function == nullptr) fail(fmt::format("libEGL.so.1 lacks {}", name));
    };
    find(query_devices, "eglQueryDevicesEXT");
    find(query_device, "eglQueryDeviceAttribEXT");
    find(display_of, "eglGetPlatformDisplayEXT");
    find(initialize, "eglInitialize");
    find(bind_api, "eglBindAPI");
    find(choose_config, "eglChooseConfig");
    find(create_context, "eglCreateContext");
    find(destroy_context, "eglDestroyContext");
    find(make_current, "eglMakeCurrent");
  }
  decltype(&eglGetProcAddress) find_address = nullptr;
  PFNEGLQUERYDEVICESEXTPROC query_devices = nullptr;
  PFNEGLQUERYDEVICEATTRIBEXTPROC query_device = nullptr;
  PFNEGLGETPLATFORMDISPLAYEXTPROC display_of = nullptr;
  decltype(&eglInitialize) initialize = nullptr;
  decltype(&eglBindAPI) bind_api = nullptr;
  decltype(&eglChooseConfig) choose_config = nullptr;
  decltype(&eglCreateContext) create_context = nullptr;
  decltype(&eglDestroyContext) destroy_context = nullptr;
  decltype(&eglMakeCurrent) make_current = nullptr;
};

class OffscreenSurface final : public Surface {
 public:
  OffscreenSurface(Shape<2> shape, int cuda_device) {
    monitor_.name = "memory";
    monitor_.ny = shape[0];
    monitor_.nx = shape[1];
    monitor_.refresh_hz = 60;
    open(cuda_device);
    gl_.emplace([this](const char* name) { return egl_.find_address(name); });
    gl_->glGenTextures(1, &texture_);
    gl_->glBindTexture(GL_TEXTURE_2D, texture_);
    gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(shape[1]), static_cast<GLsizei>(shape[0]), 0,
                      GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    gl_->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    gl_->glGenFramebuffers(1, &framebuffer_);
    gl_->glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    gl_->glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
    if (gl_->glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
      close();
      fail(fmt::format("a picture of {} x {} pixels", shape[1], shape[0]));
    }
  }
  ~OffscreenSurface() override { close(); }
  OffscreenSurface(const OffscreenSurface&) = delete;
  OffscreenSurface& operator=(const OffscreenSurface&) = delete;

  [[nodiscard]] const Monitor& monitor() const override { return monitor_; }
  [[nodiscard]] Gl::Address find_address(const char* name) const override { return egl_.find_address(name); }
  void present(const Gl& gl) override { gl.glFinish(); }
  SurfaceEvents poll() override { return {}; }

 private:
  void open(int cuda_device) {
    std::array<EGLDeviceEXT, 32> devices{};
    EGLint count = 0;
    if (egl_.query_devices(static_cast<EGLint>(devices.size()), devices.data(), &count) == EGL_FALSE || count == 0) {
      fail("EGL finds no device");
    }
    // The GPU that was asked for, then any.
    for (const bool any : {false, true}) {
      for (EGLint i = 0; i < count; ++i) {
        EGLAttrib format = -1;
        const auto device = devices[static_cast<std::size_t>(i)];
        if (egl_.query_device(device, EGL_CUDA_DEVICE_NV, &format) == EGL_FALSE) format = -1;
        if ((any || (cuda_device >= 0 && format == cuda_device)) && open_on(device)) return;
      }
    }
    fail("no device of EGL makes a context of OpenGL 3.2");
  }

  bool open_on(EGLDeviceEXT device) {
    display_ = egl_.display_of(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
    if (display_ == EGL_NO_DISPLAY || egl_.initialize(display_, nullptr, nullptr) == EGL_FALSE) return false;
    egl_.bind_api(EGL_OPENGL_API);
    // Without a type of surface EGL looks for one of windows, which a device has not.
    const std::array<EGLint, 5> wanted{EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                       EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    egl_.choose_config(display_, wanted.data(), &config, 1, &configs);
    const std::array<EGLint, 7> attributes{
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 2, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    if (configs > 0) context_ = egl_.create_context(display_, config, EGL_NO_CONTEXT, attributes.data());
    if (context_ != EGL_NO_CONTEXT &&
        egl_.make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_TRUE) {
      return true;
    }
    close();
    return false;
  }

  void close() {
    if (display_ == EGL_NO_DISPLAY) return;
    if (context_ != EGL_NO_CONTEXT) {
      if (framebuffer_ != 0) gl_->glDeleteFramebuffers(1, &framebuffer_);
      if (texture_ != 0) gl_->glDeleteTextures(1, &texture_);
      egl_.make_current(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
      egl_.destroy_context(display_, context_);
    }
    context_ = EGL_NO_CONTEXT;
    display_ = EGL_NO_DISPLAY;  // not terminated: another surface of this process may use it
  }

  Egl egl_;
  Monitor monitor_;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  std::optional<Gl> gl_;
  GLuint texture_ = 0;
  GLuint framebuffer_ = 0;
};

}  // namespace

std::unique_ptr<Surface> offscreen_surface(Shape<2> shape, int cuda_device) {
  return std::make_unique<OffscreenSurface>(shape, cuda_device);
}

}  // namespace holotone::display
