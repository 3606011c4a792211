// Warnings known before the computation are printed before it starts.
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class EarlyTest : public SmallPanelTest {
 protected:
  /// Starts a computation of minutes, waits for `words` on standard error, and stops it.
  void expect_early(const std::vector<std::string>& arguments, const std::string& words) const {
    RunningProgram program(arguments, captured_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    bool seen = false;
    while (!seen && program.running() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      seen = content_of(captured_ / "error").find(words) != std::string::npos;
    }
    const bool running = program.running();
    program.send(SIGKILL);
    const auto result = program.wait(60);
    EXPECT_TRUE(seen) << "no '" << words << "' in: " << result.error;
    EXPECT_TRUE(running) << "the work was over before '" << words << "' was seen: " << result.error;
  }

  /// Points for a sum of minutes; the last is outside the zone that the panel lights.
  void write_many(const std::string& name) const {
    std::vector<std::array<double, 4>> points;
    for (int i = 0; i < 30000; ++i) points.push_back({1e-5 * (i % 300), 1e-5 * (i / 300), -0.2, 1});
    points.push_back({1, 0, -0.2, 1});
    write_cloud(name, points);
  }
};

TEST_F(EarlyTest, DepthsThatAreNoMetres) {
  write_image(path("picture.png"), grey(400, 300, {}));
  Array<float, 2> depth({300, 400});
  for (std::int64_t i = 0; i < depth.size(); ++i) depth.data()[i] = static_cast<float>(10 + i % 240);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 400), }";
  header.resize(117, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() % 256);
  file += static_cast<char>(header.size() / 256);
  file += header;
  file.append(reinterpret_cast<const char*>(depth.data()), static_cast<std::size_t>(depth.size()) * sizeof(float));
  write("depth.npy", file);
  expect_early({"hologram", "--image", path("picture.png"), "--depth", path("depth.npy"), "-o", path("out.png"),
                "--resolution", "6000x4000", "--pitch", "4um", "--device", "cpu"},
               "holds metres");
}

TEST_F(EarlyTest, PointsThatLightNothing) {
  write_many("many.csv");
  expect_early({"hologram", path("many.csv"), "-o", path("out.png"), "--resolution", "3000x2000", "--pitch", "8um",
                "--keep-coordinates", "--method", "direct", "--device", "cpu"},
               "light no pixel");
}

TEST_F(EarlyTest, LongWorkBeginsWithAnEstimate) {
  write_many("many.csv");
  expect_early({"hologram", path("many.csv"), "-o", path("out.png"), "--resolution", "3000x2000", "--pitch", "8um",
                "--keep-coordinates", "--method", "direct", "--device", "cpu", "--progress"},
               ": about ");
}

TEST_F(EarlyTest, TimeThatIsTooShortForTheLeastWork) {
  Image picture = grey(640, 480, {});
  auto pixels = std::get<Array<std::uint8_t, 3>>(picture.pixels).host();
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i % 251);
  write_image(path("noise.png"), picture);
  const auto json = run_json({"smoe", "fit", path("noise.png"), "-o", path("noise.smoe"), "--components", "150000",
                              "--time", "0.1", "--device", "cpu"});
  ASSERT_FALSE(json["warnings"].empty());
  const auto first = json["warnings"][0].get<std::string>();
  EXPECT_EQ(first.rfind("--time: 0.1 s are too short, minimum work takes about ", 0), 0U) << first;
}

}  // namespace
}  // namespace holotone::test
