#pragma once
#include <cmath>
#include <tests/support/program.hpp>

namespace holotone::test {

class DiscsTest : public ProgramTest {
 protected:
  /// Soft discs in three colours; with a brightness below 0 dark ones on white.
  void write_picture(const std::string& name, std::int64_t ny, std::int64_t nx, double brightness = 1) const {
    Array<std::uint8_t, 3> pixels({ny, nx, 3});
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        for (std::int64_t c = 0; c < 3; ++c) {
          const double dx = static_cast<double>(col) / static_cast<double>(nx) - 0.3 - 0.2 * static_cast<double>(c);
          const double dy = static_cast<double>(row) / static_cast<double>(ny) - 0.5;
          const double disc = brightness * 230 * std::exp(-(dx * dx + dy * dy) * 20);
          pixels(row, col, c) = static_cast<std::uint8_t>(brightness < 0 ? 255 + disc : disc);
        }
      }
    }
    write_image(path(name), Image{std::move(pixels), {}});
  }
};

class OptimizeTest : public DiscsTest {
 protected:
  [[nodiscard]] std::vector<std::string> optimize(const std::string& input, const std::string& output) const {
    return {"optimize", path(input),  "-o",  path(output),   "--resolution", "96x64",           "--pitch",
            "8um",      "--distance", "2cm", "--iterations", "20",           "--signal-region", "75%"};
  }
};

}  // namespace holotone::test
