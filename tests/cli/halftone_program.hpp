#pragma once
// Runs of `holotone halftone`.
#include <functional>
#include <holotone/io/dots/dots.hpp>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {

/// Uses one thread: the pictures are small, and on a busy machine threads mostly wait.
class HalftoneTest : public ProgramTest {
 protected:
  HalftoneTest() { setenv("OMP_NUM_THREADS", "1", 1); }
  ~HalftoneTest() override {
    threads_.empty() ? unsetenv("OMP_NUM_THREADS") : setenv("OMP_NUM_THREADS", threads_.c_str(), 1);
  }

  template <class T = std::uint8_t>
  std::string write_picture(const std::string& name, std::int64_t ny, std::int64_t nx, std::int64_t channels,
                            const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& value) const {
    Array<T, 3> pixels({ny, nx, channels});
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t col = 0; col < nx; ++col) {
        for (std::int64_t c = 0; c < channels; ++c) pixels(row, col, c) = static_cast<T>(value(row, col, c));
      }
    }
    write_image(path(name), Image{std::move(pixels), {}});
    return path(name);
  }
  /// Dark on the left, bright on the right.
  std::string ramp(const std::string& name = "ramp.png", std::int64_t ny = 40, std::int64_t nx = 56) const {
    return write_picture(name, ny, nx, 1, [=](std::int64_t, std::int64_t col, std::int64_t) {
      return 255.0 * static_cast<double>(col) / static_cast<double>(nx);
    });
  }
  std::string even(const std::string& name, std::int64_t ny, std::int64_t nx, int code) const {
    return write_picture(name, ny, nx, 1, [=](auto, auto, auto) { return code; });
  }

  [[nodiscard]] std::vector<std::string> halftone(std::vector<std::string> more, const std::string& input = "ramp.png",
                                                  const std::string& output = "out.csv") const {
    more.insert(more.begin(), {"halftone", path(input), "-o", path(output)});
    return more;
  }
  /// Runs on the CPU, whose results are reproducible bit by bit, and reads the dots.
  Dots dots_of(std::vector<std::string> more, const std::string& input = "ramp.png") const {
    const bool forces = std::find(more.begin(), more.end(), "--method") == more.end();
    if (forces) more.insert(more.end(), {"--device", "cpu", "--iterations", "60"});
    const auto result = run(halftone(std::move(more), input));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return read_dots(path("out.csv"));
  }
  static double mean_x(const Dots& dots) {
    double sum = 0;
    for (std::size_t i = 0; i < dots.position.size(); i += 2) sum += static_cast<double>(dots.position[i]);
    return sum / static_cast<double>(dots.count());
  }

 private:
  std::string threads_ = getenv("OMP_NUM_THREADS") == nullptr ? "" : getenv("OMP_NUM_THREADS");
};

}  // namespace holotone::test
