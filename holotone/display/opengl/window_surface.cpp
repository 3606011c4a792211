#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/display/opengl/glfw.hpp>
#include <holotone/display/opengl/surface.hpp>
#include <vector>

namespace holotone {
namespace display {
namespace {

std::string last_reason() {
  const char* reason = nullptr;
  glfw().glfwGetError(&reason);
  return reason != nullptr ? reason : "GLFW gives no reason";
}

std::vector<GLFWmonitor*> handles() {
  int count = 0;
  GLFWmonitor** const all = glfw().glfwGetMonitors(&count);
  return {all, all + count};
}

/// GLFW knows whole numbers of Hz and 0 for an unknown rate, as of a virtual display.
double rate_of(int refresh_rate) { return refresh_rate > 0 ? refresh_rate : 60; }

Monitor describe(GLFWmonitor* handle, int number) {
  const Glfw& g = glfw();
  Monitor monitor;
  monitor.number = number;
  monitor.name = g.glfwGetMonitorName(handle);
  g.glfwGetMonitorPos(handle, &monitor.x_px, &monitor.y_px);
  int width_mm = 0;
  int height_mm = 0;
  g.glfwGetMonitorPhysicalSize(handle, &width_mm, &height_mm);
  monitor.width_m = 1e-3 * width_mm;
  monitor.height_m = 1e-3 * height_mm;
  const GLFWvidmode* const now = g.glfwGetVideoMode(handle);
  if (now == nullptr) return monitor;
  monitor.nx = now->width;
  monitor.ny = now->height;
  monitor.refresh_hz = rate_of(now->refreshRate);
  int modes = 0;
  const GLFWvidmode* const all = g.glfwGetVideoModes(handle, &modes);
  for (int i = 0; i < modes; ++i) {
    if (all[i].width != now->width || all[i].height != now->height) continue;
    const double rate = rate_of(all[i].refreshRate);
    auto& rates = monitor.refresh_rates_hz;
    if (rates.empty() || rates.back() != rate) rates.push_back(rate);
  }
  return monitor;
}

/// A linear gamma ramp while it lives; then the one that was.
class LinearGamma {
 public:
  explicit LinearGamma(GLFWmonitor* monitor) : monitor_(monitor) {
    const GLFWgammaramp* const now = glfw().glfwGetGammaRamp(monitor);
    if (now == nullptr || now->size < 2) return;
    for (const auto* channel : {now->red, now->green, now->blue}) {
      before_.emplace_back(channel, channel + now->size);
    }
    std::vector<unsigned short> linear(now->size);
    for (std::size_t i = 0; i < linear.size(); ++i) {
      linear[i] = static_cast<unsigned short>((i * 65535 + (linear.size() - 1) / 2) / (linear.size() - 1));
    }
    set(linear, linear, linear);
  }
  ~LinearGamma() {
    if (monitor_ != nullptr && !before_.empty()) set(before_[0], before_[1], before_[2]);
  }
  LinearGamma(const LinearGamma&) = delete;
  LinearGamma& operator=(const LinearGamma&) = delete;
  void forget() { monitor_ = nullptr; }

 private:
  void set(std::vector<unsigned short>& red, std::vector<unsigned short>& green, std::vector<unsigned short>& blue) {
    const GLFWgammaramp ramp{red.data(), green.data(), blue.data(), static_cast<unsigned>(red.size())};
    glfw().glfwSetGammaRamp(monitor_, &ramp);
  }
  GLFWmonitor* monitor_;
  std::vector<std::vector<unsigned short>> before_;
};

struct WindowDeleter {
  void operator()(GLFWwindow* window) const { glfw().glfwDestroyWindow(window); }
};

GLFWmonitor* find_handle(const Monitor& monitor) {
  const auto all = handles();
  if (monitor.number < 1 || monitor.number > static_cast<int>(all.size())) {
    throw_argument("PanelWindow", "monitor", fmt::format("1 to {}", all.size()), fmt::format("{}", monitor.number));
  }
  return all[static_cast<std::size_t>(monitor.number) - 1];
}

class WindowSurface final : public Surface {
 public:
  WindowSurface(const Monitor& monitor, double refresh_hz)
      : monitor_(monitor), handle_(find_handle(monitor)), window_(open(refresh_hz)), gamma_(handle_) {
    const Glfw& g = glfw();
    GLFWwindow* const window = window_.get();
    g.glfwSetWindowUserPointer(window, this);
    g.glfwSetMonitorUserPointer(handle_, this);
    g.glfwSetWindowFocusCallback(window, [](GLFWwindow* handle, int focused) {
      of(handle).events_.lost_focus = focused == GLFW_FALSE;
      of(handle).events_.gained_focus = focused == GLFW_TRUE;
    });
    g.glfwSetWindowIconifyCallback(window, [](GLFWwindow* handle, int hidden) {
      if (hidden == GLFW_FALSE) return;
      glfw().glfwRestoreWindow(handle);
    });
    g.glfwSetWindowRefreshCallback(window, [](GLFWwindow* handle) { of(handle).events_.exposed = true; });
    g.glfwSetWindowCloseCallback(window, [](GLFWwindow* handle) { of(handle).events_.closed = true; });
    g.glfwSetKeyCallback(window, [](GLFWwindow* handle, int key, int, int action, int) {
      if (action == GLFW_PRESS && (key == GLFW_KEY_ESCAPE || key == GLFW_KEY_Q)) of(handle).events_.closed = true;
    });
    g.glfwSetInputMode(window, GLFW_CURSOR, GLFW_CURSOR_HIDDEN);
    g.glfwMakeContextCurrent(window);
    g.glfwSwapInterval(1);
  }

  [[nodiscard]] const Monitor& monitor() const override { return monitor_; }
  [[nodiscard]] Gl::Address find_address(const char* name) const override { return glfw().glfwGetProcAddress(name); }

  void present(const Gl& gl) override {
    glfw().glfwSwapBuffers(window_.get());
    gl.glFinish();  // returns when the buffers have changed places, not when that is only asked for
  }

  SurfaceEvents poll() override {
    glfw().glfwPollEvents();
    SurfaceEvents found = events_;
    events_ = {};
    found.vanished = is_gone();
    if (found.vanished) gamma_.forget();
    return found;
  }

 private:
  static WindowSurface& of(GLFWwindow* window) {
    return *static_cast<WindowSurface*>(glfw().glfwGetWindowUserPointer(window));
  }

  [[nodiscard]] bool is_gone() const {
    for (GLFWmonitor* const handle : handles()) {
      if (handle != handle_) continue;
      const GLFWvidmode* const mode = glfw().glfwGetVideoMode(handle);
      return mode == nullptr || mode->width != monitor_.nx || mode->height != monitor_.ny;
    }
    return true;
  }

  [[nodiscard]] GLFWwindow* open(double refresh_hz) {
    const Glfw& g = glfw();
    if (refresh_hz != 0) monitor_.refresh_hz = nearest_rate(refresh_hz);
    g.glfwDefaultWindowHints();
    for (const auto& [hint, value] : {std::pair{GLFW_CONTEXT_VERSION_MAJOR, 3},
                                      {GLFW_CONTEXT_VERSION_MINOR, 2},
                                      {GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE},
                                      {GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE},
                                      {GLFW_RED_BITS, 8},
                                      {GLFW_GREEN_BITS, 8},
                                      {GLFW_BLUE_BITS, 8},
                                      {GLFW_DEPTH_BITS, 0},
                                      {GLFW_STENCIL_BITS, 0},
                                      {GLFW_AUTO_ICONIFY, GLFW_FALSE},
                                      {GLFW_FOCUS_ON_SHOW, GLFW_FALSE},
                                      {GLFW_REFRESH_RATE, static_cast<int>(std::lround(monitor_.refresh_hz))}}) {
      g.glfwWindowHint(hint, value);
    }
    GLFWwindow* const window = g.glfwCreateWindow(static_cast<int>(monitor_.nx), static_cast<int>(monitor_.ny),
                                                  "Holotone panel", handle_, nullptr);
    if (window == nullptr) {
      throw Error(ErrorCode::unsupported, fmt::format("no window on monitor {}: {}", monitor_.number, last_reason()));
    }
    return window;
  }

  [[nodiscard]] double nearest_rate(double wanted) const {
    std::string list;
    for (const double rate : monitor_.refresh_rates_hz) {
      if (std::abs(rate - wanted) <= 0.5) return rate;
      list += fmt::format("{}{:.4g}", list.empty() ? "" : ", ", rate);
    }
    throw_argument("PanelWindow", "refresh_hz",
                   fmt::format("one of {} Hz, which monitor {} has", list, monitor_.number),
                   fmt::format("{:.6g}", wanted));
  }

  Monitor monitor_;
  GLFWmonitor* handle_;
  std::unique_ptr<GLFWwindow, WindowDeleter> window_;
  LinearGamma gamma_;
  SurfaceEvents events_;
};

}  // namespace

std::unique_ptr<Surface> window_surface(const Monitor& monitor, double refresh_hz) {
  return std::make_unique<WindowSurface>(monitor, refresh_hz);
}

}  // namespace display

std::vector<Monitor> monitors() {
  std::vector<Monitor> found;
  display::glfw().glfwPollEvents();  // or a monitor that came or went would not be noticed
  for (GLFWmonitor* const handle : display::handles()) {
    found.push_back(display::describe(handle, static_cast<int>(found.size()) + 1));
  }
  return found;
}

}  // namespace holotone
