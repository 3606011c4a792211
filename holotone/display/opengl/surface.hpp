#pragma once
// What a panel's picture is drawn on: a window on a monitor, or memory. Not for users.
#include <holotone/core/array.hpp>
#include <holotone/display/monitor.hpp>
#include <holotone/display/opengl/gl.hpp>
#include <memory>

namespace holotone::display {

/// What has happened to a window since the last poll.
struct SurfaceEvents {
  bool lost_focus = false;    ///< another window has the keyboard, after this one had it
  bool gained_focus = false;  ///<
  bool exposed = false;       ///< its content has to be drawn again
  bool closed = false;        ///< the user closed it, or pressed Escape or q
  bool vanished = false;      ///< the monitor is gone
};

/// An OpenGL context that is current in the thread that made it, and what it draws on.
class Surface {
 public:
  virtual ~Surface() = default;
  [[nodiscard]] virtual const Monitor& monitor() const = 0;
  [[nodiscard]] virtual Gl::Address find_address(const char* name) const = 0;
  /// Makes what was drawn visible and waits until it is.
  virtual void present(const Gl& gl) = 0;
  virtual SurfaceEvents poll() = 0;
};

/// A window that fills `monitor`, at this refresh rate or the present one if 0.
std::unique_ptr<Surface> window_surface(const Monitor& monitor, double refresh_hz);

/// Memory of a GPU or of a software renderer, through EGL: on the GPU of `cuda_device` if that is at least 0.
std::unique_ptr<Surface> offscreen_surface(Shape<2> shape, int cuda_device);

}  // namespace holotone::display
