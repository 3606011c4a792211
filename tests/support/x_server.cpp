#include <array>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <tests/support/x_server.hpp>
#include <thread>
#include <unistd.h>
#include <utility>

namespace support {
namespace {

namespace fs = std::filesystem;

constexpr int display_descriptor = 9;

/// The part of libX11 that gives the keyboard to windows.
struct Xlib {
  explicit Xlib(const std::string& display) : library(dlopen("libX11.so.6", RTLD_NOW)) {
    if (library == nullptr) throw std::runtime_error("no libX11.so.6");
    load(open, "XOpenDisplay");
    load(root_of, "XDefaultRootWindow");
    load(children, "XQueryTree");
    load(create, "XCreateSimpleWindow");
    load(map, "XMapWindow");
    load(focus, "XSetInputFocus");
    load(sync, "XSync");
    load(close, "XCloseDisplay");
    connection = open(display.c_str());
    if (connection == nullptr) throw std::runtime_error("no connection to " + display);
  }
  template <class Function>
  void load(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(library, name));
  }

  using Window = unsigned long;
  void* library;
  void* connection = nullptr;
  void* (*open)(const char*) = nullptr;
  Window (*root_of)(void*) = nullptr;
  int (*children)(void*, Window, Window*, Window*, Window**, unsigned*) = nullptr;
  Window (*create)(void*, Window, int, int, unsigned, unsigned, unsigned, Window, Window) = nullptr;
  int (*map)(void*, Window) = nullptr;
  int (*focus)(void*, Window, int, unsigned long) = nullptr;
  int (*sync)(void*, int) = nullptr;
  int (*close)(void*) = nullptr;
};

constexpr const char* dummy_settings = R"(
Section "Device"
  Identifier "device"
  Driver "dummy"
  VideoRam 64000
EndSection
Section "Screen"
  Identifier "screen"
  Device "device"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Virtual 2048 768
  EndSubSection
EndSection
Section "ServerFlags"
  Option "AutoAddDevices" "false"
EndSection
)";

void pause_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

XServer::XServer(const std::vector<std::string>& command, const fs::path& folder) : folder_(folder) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return;
  process_ = fork();
  if (process_ == 0) {
    const int log = ::open((folder / "x.log").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    dup2(ends[1], display_descriptor);
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  ::close(ends[1]);
  pollfd ready{ends[0], POLLIN, 0};
  std::string number;  // and a line's end, when the server is ready
  for (char one = 0; one != '\n' && poll(&ready, 1, 20'000) == 1 && read(ends[0], &one, 1) == 1;) number += one;
  if (number.ends_with('\n')) display_ = fmt::format(":{}", number.substr(0, number.size() - 1));
  ::close(ends[0]);
}

XServer XServer::one_monitor(std::int64_t nx, std::int64_t ny, const fs::path& folder) {
  return XServer({"Xvfb", "-displayfd", std::to_string(display_descriptor), "-screen", "0",
                  fmt::format("{}x{}x24", nx, ny), "-fbdir", folder.string(), "-nolisten", "tcp", "-noreset"},
                 folder);
}

XServer XServer::two_monitors(const fs::path& folder) {
  std::ofstream(folder / "dummy.conf") << dummy_settings;
  XServer server(
      {"Xorg", "-displayfd", std::to_string(display_descriptor), "-config", (folder / "dummy.conf").string(),
       "-logfile", (folder / "xorg.log").string(), "-noreset", "-novtswitch", "-sharevts", "-nolisten", "tcp"},
      folder);
  if (!server.running()) return server;
  server.xrandr("--newmode panel 40 800 840 968 1056 600 601 605 628");
  server.xrandr("--addmode DUMMY1 panel");
  server.xrandr("--output DUMMY0 --mode 640x480 --pos 0x0");
  server.xrandr("--output DUMMY1 --mode panel --pos 640x0");
  server.xrandr("--query");  // only then does the server say that DUMMY1 is connected
  return server;
}

XServer::XServer(XServer&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      display_(std::move(other.display_)),
      folder_(std::move(other.folder_)) {}

XServer::~XServer() {
  if (process_ <= 0) return;
  kill(process_, SIGTERM);
  for (int i = 0; i < 50; ++i) {
    if (waitpid(process_, nullptr, WNOHANG) != 0) return;
    pause_ms(100);
  }
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

std::vector<std::uint8_t> XServer::pixels() const {
  std::ifstream file(folder_ / "Xvfb_screen0", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  // The header of the format of xwd: numbers of 32 bits, most significant byte first.
  const auto number = [&](std::size_t i) {
    std::size_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes.at(4 * i + k));
    return value;
  };
  const std::size_t width = number(4);
  const std::size_t height = number(5);
  const std::size_t row = number(12);
  const std::size_t first = number(0) + 12 * number(19);
  std::vector<std::uint8_t> pixels;
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (const std::size_t channel : {2, 1, 0}) {
        pixels.push_back(static_cast<std::uint8_t>(bytes.at(first + y * row + 4 * x + channel)));
      }
    }
  }
  return pixels;
}

std::string XServer::xrandr(const std::string& arguments) const {
  const std::string line = fmt::format("DISPLAY={} xrandr {} 2>&1", display_, arguments);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(popen(line.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part{};
  while (output && std::fgets(part.data(), static_cast<int>(part.size()), output.get()) != nullptr) text += part.data();
  return text;
}

void XServer::give_and_take_focus() const {
  const Xlib x(display_);
  const auto root = x.root_of(x.connection);
  Xlib::Window parent = 0;
  Xlib::Window ignored = 0;
  Xlib::Window* children = nullptr;
  unsigned count = 0;
  x.children(x.connection, root, &ignored, &parent, &children, &count);
  if (count == 0) throw std::runtime_error("no window");
  const auto give = [&](Xlib::Window window) {
    x.focus(x.connection, window, 0, 0);
    x.sync(x.connection, 0);
    pause_ms(200);
  };
  give(children[count - 1]);
  const auto other = x.create(x.connection, root, 0, 0, 1, 1, 0, 0, 0);
  x.map(x.connection, other);
  x.sync(x.connection, 0);
  pause_ms(200);
  give(other);
  pause_ms(300);
  x.close(x.connection);
}

}  // namespace support
