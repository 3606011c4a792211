// Points hidden by nearer surface stay hidden, however few points are selected.
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

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
