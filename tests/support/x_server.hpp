#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

// X servers without a screen, for windows that tests look at.
namespace support {

/// A server that ends with this object.
class XServer {
 public:
  /// One monitor whose pixels are in a file of `folder`. Not running() without Xvfb.
  static XServer one_monitor(std::int64_t nx, std::int64_t ny, const std::filesystem::path& folder);
  /// Monitors DUMMY0 and DUMMY1 that xrandr may change. Not running() without Xorg and its dummy driver, or where the
  /// system does not let it start.
  static XServer two_monitors(const std::filesystem::path& folder);
  ~XServer();
  XServer(XServer&&) noexcept;
  XServer& operator=(XServer&&) = delete;

  [[nodiscard]] bool running() const { return !display_.empty(); }
  /// ":1", for DISPLAY
  [[nodiscard]] const std::string& display() const { return display_; }

  /// RGB of all pixels of one_monitor, from the top, as they are now.
  [[nodiscard]] std::vector<std::uint8_t> pixels() const;

  /// Runs xrandr and returns what it prints.
  std::string xrandr(const std::string& arguments) const;

  /// Gives the keyboard to the window that the program opened, then to one of this process, which it closes.
  void give_and_take_focus() const;

 private:
  XServer(const std::vector<std::string>& command, const std::filesystem::path& folder);

  pid_t process_ = -1;
  std::string display_;
  std::filesystem::path folder_;
};

}  // namespace support
