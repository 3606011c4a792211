// Equal seeds with different numbers of threads: docs/conventions.md, Chance.
#include <cmath>
#include <cstring>
#include <tests/cli/picture.hpp>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class ThreadsTest : public SmallPanelTest {
 protected:
  /// Runs with `threads` threads and returns the content of the written file.
  std::string made_with(int threads, std::vector<std::string> arguments) const {
    const std::string output = path("out.npy");
    arguments.insert(arguments.begin(), "hologram");
    arguments.insert(arguments.end(), {"-o", output, "--seed", "7", "--device", "cpu", "--resolution", "331x243",
                                       "--pitch", "8um", "--quiet"});
    const auto result = run_prepared(
        arguments,
        [&] {
          const std::string number = std::to_string(threads);
          setenv("OMP_NUM_THREADS", number.c_str(), 1);
          setenv("OPENBLAS_NUM_THREADS", number.c_str(), 1);
        },
        240);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return content_of(output);
  }

  /// ||a - b|| / ||a|| of two NPY files of complex64.
  static double difference(const std::string& a, const std::string& b) {
    EXPECT_EQ(a.size(), b.size());
    const std::size_t bytes = std::size_t{331} * 243 * 8;
    double sum = 0;
    double norm = 0;
    for (std::size_t i = a.size() - bytes; i + 4 <= std::min(a.size(), b.size()); i += 4) {
      float x = 0;
      float y = 0;
      std::memcpy(&x, a.data() + i, 4);
      std::memcpy(&y, b.data() + i, 4);
      sum += std::pow(static_cast<double>(x) - static_cast<double>(y), 2);
      norm += std::pow(static_cast<double>(x), 2);
    }
    return std::sqrt(sum / norm);
  }

  void make_points() const {
    const auto result = run({"sample", "teapot", "-o", path("t.ply"), "--points", "1500", "--quiet"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }
};

TEST_F(ThreadsTest, SumsHaveTheSameBitsWithAnyNumber) {
  make_points();
  for (const char* method : {"direct", "recurrence", "fast"}) {
    const std::vector<std::string> arguments{path("t.ply"), "--random-phase", "--method", method};
    const auto one = made_with(1, arguments);
    for (const int threads : {2, 3, 5}) EXPECT_EQ(one, made_with(threads, arguments)) << method << ", " << threads;
  }
}

TEST_F(ThreadsTest, ProductsAndTransformsDifferByRounding) {
  make_points();
  write_image(path("picture.png"), grey(60, 40, {}));
  const std::vector<std::vector<std::string>> both{{path("t.ply"), "--random-phase", "--method", "separable"},
                                                   {"--image", path("picture.png"), "--size", "1.5mm"}};
  for (const auto& arguments : both) {
    const auto one = made_with(1, arguments);
    EXPECT_EQ(one, made_with(1, arguments));
    const auto five = made_with(5, arguments);
    EXPECT_EQ(five, made_with(5, arguments));
    const double off = difference(one, five);
    std::printf("1 and 5 threads differ by %.1e\n", off);
    EXPECT_LT(off, 2e-6);
  }
}

}  // namespace
}  // namespace holotone::test
