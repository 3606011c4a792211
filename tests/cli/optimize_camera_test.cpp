// holotone optimize --camera: a program in the loop.
#include <cmath>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class OptimizeCameraTest : public ProgramTest {
 protected:
  OptimizeCameraTest() {
    Array<std::uint8_t, 3> pixels({64, 64, 1});
    for (std::int64_t row = 0; row < 64; ++row) {
      for (std::int64_t col = 0; col < 64; ++col) {
        const double dx = static_cast<double>(col) / 64 - 0.45;
        const double dy = static_cast<double>(row) / 64 - 0.5;
        pixels(row, col, 0) = static_cast<std::uint8_t>(20 + 210 * std::exp(-(dx * dx + dy * dy) * 20));
      }
    }
    write_image(path("photo.png"), Image{std::move(pixels), {}});
  }
  [[nodiscard]] std::vector<std::string> optimize(const std::string& output) const {
    return {"optimize",
            path("photo.png"),
            "-o",
            path(output),
            "--resolution",
            "64x64",
            "--pitch",
            "8um",
            "--distance",
            "2mm",
            "--iterations",
            "30",
            "--signal-region",
            "70%",
            "--bits",
            "8"};
  }
  [[nodiscard]] std::vector<std::string> with_camera(const std::string& command) const {
    auto arguments = optimize("slm.png");
    arguments.insert(arguments.end(), {"--camera", command, "--camera-timeout", "10"});
    return arguments;
  }
  /// Light of a hologram at another distance than the model's, compared with the picture.
  [[nodiscard]] double psnr_db(const std::string& name) const {
    return run_json({"reconstruct", path(name), "-o", path("seen.png"), "--distance", "2.1mm", "--against",
                     path("photo.png")})["against"]["pictures"][0]["psnr_db"]
        .get<double>();
  }
};

// The panel stands 0.1 mm farther from the camera than the model says. A camera of the picture's pixels improves light
// at these.
TEST_F(OptimizeCameraTest, TheLoopMendsAWrongDistance) {
  if (!can_write("a.tif")) GTEST_SKIP() << "without TIFF";
  EXPECT_EQ(run(optimize("unseen.png")).exit_code, 0);
  const std::string camera = fmt::format("'{}' reconstruct %s -o '{}' --distance 2.1mm --linear --quiet && cat '{}'",
                                         program_path(), path("camera.tif"), path("camera.tif"));
  const auto report = run_json(with_camera(camera));
  EXPECT_EQ(report["holograms"][0]["gradients"], 31);
  const double unseen = psnr_db("unseen.png");
  const double seen = psnr_db("slm.png");
  std::printf("with the model alone %.1f dB, with the camera %.1f dB\n", unseen, seen);
  EXPECT_GT(seen, unseen + 1);
}

TEST_F(OptimizeCameraTest, CamerasThatFailAreNamed) {
  expect_refused(with_camera("cat photo.png"), {"--camera: expected a command with %s"});
  expect_refused(with_camera("exit 3 # %s"), {"--camera: expected a command that ends with 0, got exit code 3"});
  expect_refused(with_camera("true %s"),
                 {"--camera: expected a picture on the command's standard output, got nothing"});
  expect_refused(with_camera("echo no picture %s"), {"--camera: standard output"});
  expect_refused(with_camera("no-such-program %s"),
                 {"--camera: expected a command that ends with 0, got exit code 127"});
  auto hangs = with_camera("sleep 60 # %s");
  hangs.back() = "0.3";
  expect_refused(hangs, {"--camera: ", "did not end within 0.3 s"});
  Array<std::uint8_t, 3> small({32, 64, 1});
  std::fill_n(small.data(), small.size(), std::uint8_t{9});
  write_image(path("small.png"), Image{std::move(small), {}});
  expect_refused(with_camera(fmt::format("cat '{}' # %s", path("small.png"))),
                 {"--camera: expected pictures of 64 x 64 or 128 x 128 pixels, got 64 x 32"});
  Array<std::uint8_t, 3> black({64, 64, 1});
  std::fill_n(black.data(), black.size(), std::uint8_t{0});
  write_image(path("black.png"), Image{std::move(black), {}});
  expect_refused(with_camera(fmt::format("cat '{}' # %s", path("black.png"))),
                 {"--camera: expected a picture with some light, got a black one"});
  auto steps = with_camera("cat photo.png %s");
  steps.insert(steps.end(), {"--solver", "lbfgs"});
  expect_refused(steps, {"--camera: expected adam, gs or wgs, got lbfgs"});
  EXPECT_FALSE(fs::exists(path("slm.png")));
}

// With --keep-best, the phase that the model reached. Nothing is left of the camera.
TEST_F(OptimizeCameraTest, ASignalEndsTheCamera) {
  fs::create_directories(path("captured"));
  fs::create_directories(path("temporary"));
  const std::string quick = path("photo.png");
  for (const bool keep : {true, false}) {
    const std::string mark = path(keep ? "kept" : "lost");
    // The first picture says which pixels the camera has.
    auto arguments =
        with_camera(fmt::format("if [ -f '{0}' ]; then sleep 3; : >'{0}2'; fi; : >'{0}'; cat '{1}' # %s", mark, quick));
    if (keep) arguments.emplace_back("--keep-best");
    RunningProgram program(arguments, path("captured"), [this] { setenv("TMPDIR", path("temporary").c_str(), 1); });
    for (int i = 0; i < 400 && !fs::exists(mark); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    program.send(SIGINT);
    const auto result = program.wait(60);
    EXPECT_EQ(result.exit_code, keep ? 0 : 130) << result.error;
    EXPECT_EQ(fs::exists(path("slm.png")), keep);
    EXPECT_TRUE(fs::is_empty(path("temporary")));
    EXPECT_FALSE(fs::exists(mark + "2"));
    fs::remove(path("slm.png"));
  }
}

}  // namespace
}  // namespace holotone::test
