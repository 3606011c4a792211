#pragma once
// Pictures and light fields for `holotone smoe`.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tests/support/program.hpp>

namespace holotone::test {

class SmoeFitTest : public ProgramTest {
 protected:
  /// A smooth picture with an edge.
  template <class Code>
  void put_picture(const std::string& name, std::int64_t ny, std::int64_t nx, std::int64_t channels) const {
    Array<Code, 3> codes({ny, nx, channels});
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      const auto y = static_cast<double>(i / channels / nx);
      const auto x = static_cast<double>(i / channels % nx);
      const double ramp =
          0.3 + 0.4 * x / static_cast<double>(nx) + (x > y ? 0.2 : 0) + 0.05 * static_cast<double>(i % channels);
      codes.data()[i] = static_cast<Code>(std::min(ramp, 1.0) * static_cast<double>(std::numeric_limits<Code>::max()));
    }
    write_image(path(name), {std::move(codes), {}});
  }

  /// Waves of all sizes and directions behind an edge.
  void put_busy_picture(const std::string& name) const {
    Array<std::uint8_t, 3> codes({61, 94, 1});
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      const auto y = static_cast<double>(i / 94);
      const auto x = static_cast<double>(i % 94);
      double value = x > 60 - 0.3 * y ? 150 : 100;
      for (int wave = 0; wave < 12; ++wave) {
        const double angle = 2.4 * wave;
        const double frequency = 0.1 * std::pow(1.2, wave);
        value += 22 / (1 + 0.15 * wave) * std::sin(frequency * (x * std::cos(angle) + y * std::sin(angle)) + wave);
      }
      codes.data()[i] = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
    }
    write_image(path(name), {std::move(codes), {}});
  }

  /// 3 x 3 views of a light field with parallax. `up`: the first row of files is the lowest; `swapped`: u precedes v in
  /// file names.
  void put_views(bool up, bool swapped = false) const {
    for (int v = 0; v < 3; ++v) {
      for (int u = 0; u < 3; ++u) {
        Array<std::uint8_t, 3> codes({40, 56, 1});
        for (std::int64_t row = 0; row < 40; ++row) {
          for (std::int64_t column = 0; column < 56; ++column) {
            const double x = static_cast<double>(column) - 2.0 * (u - 1);
            const double y = static_cast<double>(row) - 2.0 * (up ? 1 - v : v - 1);
            codes(row, column, 0) =
                static_cast<std::uint8_t>(128 + 60 * std::sin(0.3 * x) * std::cos(0.25 * y) + 0.8 * x);
          }
        }
        write_image(path(fmt::format("view_{}_{}.png", swapped ? u : v, swapped ? v : u)), {std::move(codes), {}});
      }
    }
  }

  [[nodiscard]] std::vector<std::string> fit(const std::string& in, const std::string& out,
                                             std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"smoe", "fit", path(in), "-o", path(out), "--iterations", "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_NE(result.error.find(text), std::string::npos) << result.error;
  }
};

}  // namespace holotone::test
