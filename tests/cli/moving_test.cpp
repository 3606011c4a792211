// Moving pictures: a sequence of frames, or one turning object.
#include <cmath>
#include <cstdlib>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class MovingTest : public ProgramTest {
 protected:
  /// Runs with this number of threads.
  [[nodiscard]] ProgramResult run_with_threads(const char* threads, const std::vector<std::string>& arguments) const {
    return RunningProgram(arguments, captured_, [=] { setenv("OMP_NUM_THREADS", threads, 1); }).wait(240);
  }
};

const std::vector<std::string> small{"--resolution", "96x63", "--pitch",           "8um",
                                     "--device",     "cpu",   "--keep-coordinates"};

std::vector<std::string> with_panel(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), small.begin(), small.end());
  return arguments;
}

TEST_F(MovingTest, FramesAreWhatSingleRunsGive) {
  constexpr int numbers[] = {3, 4, 7, 12, 110};  // gaps, and more digits than the pattern specifies
  for (const int n : numbers) {
    write_cloud(fmt::format("in_{:02d}.csv", n), {{1e-5 * n, 0, -0.05, 1}, {0, -1e-5 * n, -0.06, 0.5}});
  }
  write("in_xx.csv", "not a frame");
  write("in_5.csv", "nor this: the pattern would write 05");
  const auto json = run_json(with_panel({"hologram", path("in_%02d.csv"), "-o", path("out_%03d.png")}));
  EXPECT_EQ(json["outputs"].size(), std::size(numbers));
  EXPECT_EQ(json["outputs"][0], path("out_003.png"));
  EXPECT_EQ(json["outputs"][4], path("out_110.png"));
  for (const int n : numbers) {
    (void)run_json(with_panel({"hologram", path(fmt::format("in_{:02d}.csv", n)), "-o", path("one.png")}));
    const auto frame = pixels_of(path(fmt::format("out_{:03d}.png", n)));
    EXPECT_EQ(frame.value, pixels_of(path("one.png")).value) << n;
  }
}

TEST_F(MovingTest, EveryEncodingAndColourMoves) {
  // A red point that moves to the right, and a fainter one of another colour behind it that stays.
  constexpr double step_m = 8e-5;
  for (int n = 0; n < 3; ++n) {
    write(fmt::format("in_{}.csv", n),
          fmt::format("x,y,z,r,g,b\n{},0,-0.05,255,128,0\n0,1.6e-4,-0.06,0,90,9\n", step_m * n));
  }
  struct Kind {
    const char* output;
    const char* picture;
    std::vector<std::string> options;
    std::vector<std::string> colours;  ///< of the files, in place of %c
    std::vector<std::string> look;     ///< what the files do not state
  };
  const Kind kinds[] = {{"h_%d.npy", "seen_h_%d.npy", {}, {""}, {"--pitch", "8um", "--wavelength", "532nm"}},
                        {"a_%d.png", "seen_a_%d.npy", {"--encode", "double-phase"}, {""}, {}},
                        {"c_%c_%d.png", "seen_c_%d.npy", {"--rgb", "638nm,520nm,450nm"}, {"r", "g", "b"}, {}}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.output);
    const auto hologram = [&](const std::string& input, const std::string& output) {
      std::vector<std::string> arguments{"hologram", path(input), "-o", path(output)};
      arguments.insert(arguments.end(), kind.options.begin(), kind.options.end());
      return run_json(with_panel(arguments));
    };
    const auto json = hologram("in_%d.csv", kind.output);
    EXPECT_EQ(json["outputs"].size(), 3 * kind.colours.size());
    std::vector<std::string> look{"reconstruct", path(kind.output), "-o", path(kind.picture),
                                  "--linear",    "--distance",      "5cm"};
    look.insert(look.end(), kind.look.begin(), kind.look.end());
    (void)run_json(look);
    std::set<std::string> contents;
    for (int n = 0; n < 3; ++n) {
      const auto named = [&](std::string name, const std::string& frame, const std::string& colour) {
        if (const auto at = name.find("%d"); at != std::string::npos) name.replace(at, 2, frame);
        if (const auto at = name.find("%c"); at != std::string::npos) name.replace(at, 2, colour);
        return path(name);
      };
      (void)hologram(fmt::format("in_{}.csv", n), fs::path(named(kind.output, "one", "%c")).filename());
      for (const auto& colour : kind.colours) {
        const auto file = named(kind.output, std::to_string(n), colour);
        EXPECT_TRUE(content_of(file) == content_of(named(kind.output, "one", colour))) << file;
        contents.insert(content_of(file));
      }
      const Spot seen = brightest(pixels_of(named(kind.picture, std::to_string(n), "")));
      const Spot expected = pixel_of(step_m * n, 0, 96, 63, 8e-6);
      EXPECT_NEAR(static_cast<double>(seen.col), static_cast<double>(expected.col), 1) << n;
      EXPECT_NEAR(static_cast<double>(seen.row), static_cast<double>(expected.row), 1) << n;
    }
    EXPECT_EQ(contents.size(), 3 * kind.colours.size());  // no two frames or colours alike
  }
}

TEST_F(MovingTest, AFrameThatFailsLeavesNone) {
  for (int n = 0; n < 6; ++n) write_cloud(fmt::format("in_{}.csv", n), {{1e-5 * n, 0, -0.05, 1}});
  write("in_4.csv", "x,y,z\n0,0,nan\n");
  expect_refused(with_panel({"hologram", path("in_%d.csv"), "-o", path("out_%d.png")}), {"in_4.csv", "point 0"});
}

// With more threads several frames are prepared and written at once.
TEST_F(MovingTest, FramesDoNotDependOnThreads) {
  (void)run_json({"sample", "teapot", "-o", path("teapot.ply"), "--points", "3000"});
  std::vector<std::string> first;
  for (const char* threads : {"1", "8"}) {
    const auto result = run_with_threads(
        threads, {"hologram", path("teapot.ply"), "-o", path("s_%d.png"), "--spin", "360deg:20", "--hide", "--light",
                  "1,1,1", "--random-phase", "--resolution", "96x63", "--pitch", "8um", "--device", "cpu", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.error;
    const auto json = nlohmann::json::parse(result.output);
    std::vector<std::string> contents;
    for (int n = 0; n < 20; ++n) {
      EXPECT_EQ(json["outputs"][static_cast<std::size_t>(n)], path(fmt::format("s_{}.png", n)));
      contents.push_back(content_of(path(fmt::format("s_{}.png", n))));
    }
    if (first.empty()) first = contents;
    EXPECT_TRUE(contents == first) << threads << " threads";
  }
}

TEST_F(MovingTest, TheFirstOfSeveralBadFramesIsNamed) {
  for (int n = 0; n < 12; ++n) write_cloud(fmt::format("in_{}.csv", n), {{1e-5 * n, 0, -0.05, 1}});
  for (const int n : {5, 6, 8}) write(fmt::format("in_{}.csv", n), "x,y,z\n0,0,nan\n");
  std::string slow = "x,y,z\n";  // the bad one after it is read sooner
  for (int i = 0; i < 60000; ++i) slow += fmt::format("{},0,-0.05\n", 1e-8 * i);
  write("in_5.csv", slow + "0,0,nan\n");
  const auto before = files();
  for (const char* threads : {"1", "3", "16"}) {
    const auto result =
        run_with_threads(threads, with_panel({"hologram", path("in_%d.csv"), "-o", path("out_%d.png")}));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find("in_5.csv: point 60000"), std::string::npos) << result.error;
    EXPECT_EQ(files(), before);
  }
}

// A point right of the axis, turned by a quarter counter-clockwise as seen from above, lies behind the axis; by a half,
// left of it.
TEST_F(MovingTest, ASpinTurnsTheObject) {
  write_cloud("two.csv", {{3e-4, 0, -0.08, 1}, {-3e-4, 0, -0.08, 1}, {0, 2e-4, -0.08, 1.0}});
  const auto json = run_json({"hologram", path("two.csv"), "-o", path("s_%d.png"), "--spin", "360deg:4", "--resolution",
                              "161x121", "--pitch", "8um", "--keep-coordinates"});
  EXPECT_EQ(json["outputs"].size(), 4u);
  const auto side_light = [&](int frame) {
    (void)run_json(
        {"reconstruct", path(fmt::format("s_{}.png", frame)), "-o", path("f.npy"), "--linear", "--distance", "8cm"});
    const auto picture = pixels_of(path("f.npy"));
    const Spot right = pixel_of(3e-4, 0, 161, 121, 8e-6);
    double most = 0;
    for (int d = -1; d <= 1; ++d) most = std::max(most, picture.at(right.row, right.col + d));
    return most;
  };
  EXPECT_GT(side_light(0), 5 * side_light(1));
  EXPECT_GT(side_light(2), 5 * side_light(3));
  const auto info = run_json({"info", path("s_1.png")});
  EXPECT_NEAR(info["metadata"]["distance_min_m"].get<double>(), 0.08 - 3e-4, 1e-6);
  EXPECT_NEAR(info["metadata"]["distance_max_m"].get<double>(), 0.08 + 3e-4, 1e-6);
}

TEST_F(MovingTest, NumberedHologramsBecomeNumberedPictures) {
  write("colours.csv", "x,y,z,r,g,b\n1e-4,0,-0.05,255,90,10\n-1e-4,5e-5,-0.06,0,90,255\n");
  (void)run_json(with_panel({"hologram", path("colours.csv"), "-o", path("h_%02d.png"), "--spin", "90deg:3"}));
  const auto json = run_json({"reconstruct", path("h_%02d.png"), "-o", path("seen_%d.png"), "--distance", "5cm"});
  EXPECT_EQ(json["outputs"], (nlohmann::json{path("seen_0.png"), path("seen_1.png"), path("seen_2.png")}));
  EXPECT_EQ(json["inputs"].size(), 3u);
  // One white: each picture equals that of a single run with this white.
  const auto white = fmt::format("{}", json["tone"]["white"].get<float>());
  int lit = 0;
  for (int n = 0; n < 3; ++n) {
    (void)run_json({"reconstruct", path(fmt::format("h_{:02d}.png", n)), "-o", path("one.png"), "--distance", "5cm",
                    "--white", white});
    const auto picture = pixels_of(path(fmt::format("seen_{}.png", n)));
    EXPECT_EQ(picture.value, pixels_of(path("one.png")).value) << n;
    lit += *std::max_element(picture.value.begin(), picture.value.end()) > 0.5 ? 1 : 0;
  }
  EXPECT_GT(lit, 0);
  (void)run_json(with_panel(
      {"hologram", path("colours.csv"), "-o", path("c_%c_%d.png"), "--spin", "90deg:2", "--rgb", "638nm,520nm,450nm"}));
  (void)run_json({"reconstruct", path("c_%c_%d.png"), "-o", path("colour_%d.png")});
  EXPECT_EQ(pixels_of(path("colour_1.png")).channels, 3);
  const auto look = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("h_%02d.png"), "-o"});
    return more;
  };
  expect_refused(look({path("out.png")}), {"--output", "%04d"});
  expect_refused(look({path("out_%d.png"), "--sweep", "4cm:5cm:3"}), {"--sweep", "numbered"});
  expect_refused(look({path("h_%02d.png")}), {"--output", "input"});
  expect_refused({"reconstruct", path("h_%d.png"), "-o", path("out_%d.png")}, {"h_00.png", "%02d"});
  write("h_02.png", "no picture");
  fs::remove(path("seen_0.png"));
  expect_refused(look({path("new_%d.png"), "--white", "1"}), {"h_02.png"});
}

using HideTest = ProgramTest;

// Two walls, one behind the other, dense enough that the near one hides the far one. A selection of few points has gaps
// that would show the far wall.
TEST_F(HideTest, AFewPointsOfACloudAreHiddenByAllOfIt) {
  constexpr int side = 60;
  std::string text = "x,y,z\n";
  for (const double z : {-0.19, -0.21}) {
    for (int row = 0; row < side; ++row) {
      for (int col = 0; col < side; ++col) text += fmt::format("{},{},{}\n", col * 2e-5, row * 2e-5, z);
    }
  }
  write("walls.csv", text);
  const std::vector<std::string> line{"hologram",           path("walls.csv"), "-o",      path("a.png"),
                                      "--resolution",       "64x48",           "--pitch", "8um",
                                      "--keep-coordinates", "--points",        "200"};
  const auto all = run_json(line);
  EXPECT_EQ(all["points"], 200);
  EXPECT_NEAR(run_json({"info", path("a.png")})["metadata"]["distance_max_m"].get<double>(), 0.21, 1e-6);
  auto hiding = line;
  hiding.emplace_back("--hide");
  const auto hidden = run_json(hiding);
  EXPECT_EQ(hidden["points"].get<int>() + hidden["hidden_points"].get<int>(), 200);
  EXPECT_GT(hidden["points"].get<int>(), 60);
  EXPECT_LT(hidden["points"].get<int>(), 140);
  EXPECT_NEAR(run_json({"info", path("a.png")})["metadata"]["distance_max_m"].get<double>(), 0.19, 1e-6);
}

}  // namespace
}  // namespace holotone::test
