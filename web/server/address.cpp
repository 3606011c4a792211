#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <web/server/address.hpp>

namespace holotone::web {
namespace {

/// The address in a URL.
std::string reachable(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  if (address == "::") return "[::1]";
  return address.find(':') != std::string::npos ? "[" + address + "]" : address;
}

std::string user_and_machine() {
  std::array<char, 256> machine{};
  const bool has_name = gethostname(machine.data(), machine.size() - 1) == 0 && machine[0] != '\0';
  const passwd* user = getpwuid(getuid());
  return std::string(user != nullptr ? user->pw_name : "USER") + "@" + (has_name ? machine.data() : "HOST");
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Starts xdg-open apart from this program's terminal, signals and output; -1 if it cannot be started.
pid_t start_xdg_open(const std::string& url) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  sigset_t ignored_here;
  sigset_t none;
  sigemptyset(&none);
  sigemptyset(&ignored_here);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&ignored_here, signal);
  posix_spawnattr_setsigdefault(&attributes, &ignored_here);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string program = "xdg-open";
  std::string argument = url;
  std::array<char*, 3> arguments = {program.data(), argument.data(), nullptr};
  pid_t child = -1;
  const int error = posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

}  // namespace

std::string opening_url(const std::string& address, std::uint16_t port, const std::string& key) {
  return "http://" + reachable(address) + ":" + std::to_string(port) + "/" + key;
}

std::string page_url(const std::string& address, std::uint16_t port, const std::string& token) {
  return opening_url(address, port, token) + "/";
}

std::string tunnel_command(const std::string& address, std::uint16_t port) {
  const std::string number = std::to_string(port);
  return "ssh -L " + number + ":" + reachable(address) + ":" + number + " " + user_and_machine();
}

bool open_browser(const std::string& url) {
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
  const pid_t child = start_xdg_open(url);
  if (child < 0) return false;
  // One that is still at it after a second has become the browser.
  for (int i = 0; i < 100; ++i) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0) return false;
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace holotone::web
