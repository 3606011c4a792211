// Stands for opengl/ in a build without the headers of GLFW, OpenGL and EGL.
#include <holotone/core/error.hpp>
#include <holotone/display/panel_window.hpp>

namespace holotone {
namespace {

[[noreturn]] void throw_missing() {
  throw Error(ErrorCode::unsupported,
              "this build has no panel window: it was made with HOLOTONE_DISPLAY=OFF, or without the headers of GLFW, "
              "OpenGL and EGL (Debian: libglfw3-dev, libgl-dev, libegl-dev)");
}

}  // namespace

struct PanelWindow::State {};

std::vector<Monitor> monitors() { throw_missing(); }
PanelWindow::PanelWindow(const PanelWindowOptions& /*options*/) { throw_missing(); }
PanelWindow::~PanelWindow() = default;
double PanelWindow::show(View<const std::uint8_t, 2> /*codes*/, const Queue& /*queue*/) { throw_missing(); }
double PanelWindow::show(View<const std::uint16_t, 2> /*codes*/, const Queue& /*queue*/) { throw_missing(); }
double PanelWindow::show(View<const std::uint8_t, 3> /*codes*/, const Queue& /*queue*/) { throw_missing(); }
double PanelWindow::show_safe() { throw_missing(); }
void PanelWindow::poll() { throw_missing(); }
Array<std::uint8_t, 3> PanelWindow::sent() const { throw_missing(); }
const Monitor& PanelWindow::monitor() const { throw_missing(); }
double PanelWindow::now_s() const { throw_missing(); }
bool PanelWindow::direct() const { throw_missing(); }

}  // namespace holotone
