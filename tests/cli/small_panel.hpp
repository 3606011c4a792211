#pragma once
#include <fcntl.h>
#include <tests/support/program.hpp>

namespace holotone::test {

/// Two points, a level table, a correction map, and holograms of 64 x 48 pixels.
class SmallPanelTest : public ProgramTest {
 protected:
  SmallPanelTest() {
    write_cloud("good.csv", {{0, 0, -0.2, 1}, {1e-3, 0, -0.2, 1}});
    std::string table;
    for (int code = 0; code < 256; ++code) table += fmt::format("{:.6f}\n", 0.0245 * code);
    write("table.txt", table);
    write_image(path("map.png"), grey(64, 48, {}));
  }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& input, const std::string& output,
                                                  std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"hologram", path(input), "-o", path(output), "--device", "cpu", "--resolution", "64x48",
                               "--pitch", "8um"});
    return more;
  }

  static Image grey(std::int64_t nx, std::int64_t ny, const Metadata& metadata) {
    Image image{Array<std::uint8_t, 3>({ny, nx, 1}), metadata};
    for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = 200;
    return image;
  }

  /// Runs the program after `prepare` in the child; standard output and error are as `prepare` leaves them.
  [[nodiscard]] ProgramResult run_prepared(const std::vector<std::string>& arguments,
                                           const std::function<void()>& prepare, double seconds = 60) const {
    return RunningProgram(arguments, captured_, prepare).wait(seconds);
  }

  static void redirect(int descriptor, const char* target) {
    const int file = open(target, O_WRONLY);
    dup2(file, descriptor);
    close(file);
  }

  static std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
};

}  // namespace holotone::test
