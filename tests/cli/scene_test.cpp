// `holotone scene dice`: its files, reproducibility, and all or nothing.
#include <cmath>
#include <holotone/io/points/points.hpp>
#include <sys/resource.h>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class SceneTest : public SmallPanelTest {
 protected:
  /// Arguments for a small scene; `more` replaces or extends its options.
  [[nodiscard]] std::vector<std::string> dice(const std::string& folder,
                                              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"scene", "dice", "-o", path(folder)};
    const auto is_given = [&](const char* option) { return std::find(more.begin(), more.end(), option) != more.end(); };
    for (const auto& [option, value] : {std::pair{"--resolution", "32"}, {"--views", "3x2"}, {"--points", "700"}}) {
      if (!is_given(option)) all.insert(all.end(), {option, value});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Names and bytes of a folder's files.
  [[nodiscard]] std::map<std::string, std::string> content(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(path(folder))) {
      if (entry.is_directory()) continue;
      all[entry.path().lexically_relative(path(folder)).string()] = content_of(entry.path());
    }
    return all;
  }

  [[nodiscard]] nlohmann::json story(const std::string& folder) const {
    return nlohmann::json::parse(content_of(path(folder) + "/scene.json"));
  }

  static Array<float, 3> picture(const std::string& file) { return to_float(read_image(file)); }
};

TEST_F(SceneTest, WritesEveryFileAndTheSameTwice) {
  const auto json = run_json(dice("a"));
  EXPECT_EQ(json["outputs"][0], path("a"));
  const auto a = content("a");
  std::set<std::string> names;
  for (const auto& [name, bytes] : a) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"image.png", "depth.png", "depth.npy", "points.ply", "scene.json",
                                          "views/view_0_0.png", "views/view_0_1.png", "views/view_0_2.png",
                                          "views/view_1_0.png", "views/view_1_1.png", "views/view_1_2.png",
                                          "truth/middle.png", "truth/top_left.png", "truth/top_right.png",
                                          "truth/bottom_left.png", "truth/bottom_right.png"}));
  EXPECT_EQ(json["files"], names.size());
  EXPECT_EQ((fs::status(path("a")).permissions() & fs::perms::owner_all), fs::perms::owner_all);
  // Output to an empty folder, named with a trailing slash.
  fs::create_directory(path("b"));
  ASSERT_EQ(run(dice("b/")).exit_code, 0);
  auto b = content("b");
  auto& text = b["scene.json"];
  for (auto at = text.find(path("b/")); at != std::string::npos; at = text.find(path("b/"), at)) {
    text.replace(at, path("b/").size(), path("a/"));
  }
  EXPECT_EQ(b, a);
  ASSERT_EQ(run(dice("c", {"--seed", "1"})).exit_code, 0);
  EXPECT_NE(content("c")["points.ply"], b["points.ply"]);
}

TEST_F(SceneTest, TheFilesAreWhatTheStorySays) {
  ASSERT_EQ(run(dice("a")).exit_code, 0);
  const auto facts = story("a");
  const double near = facts["depth"]["near_m"];
  const double far = facts["depth"]["far_m"];
  EXPECT_NEAR(far, 0.103, 1e-9);
  EXPECT_GT(near, 0.075);
  EXPECT_LT(near, 0.078);
  // Codes and metres hold the same depth within half a step of 16 bits and float32's rounding.
  const auto codes = picture(path("a/depth.png"));
  const std::string npy = content_of(path("a/depth.npy"));
  ASSERT_EQ(npy.size(), 128u + 32 * 32 * 4);
  for (std::int64_t i = 0; i < 32 * 32; ++i) {
    float metres = 0;
    std::memcpy(&metres, npy.data() + 128 + 4 * i, 4);
    ASSERT_NEAR(near + static_cast<double>(codes.data()[i]) * (far - near), static_cast<double>(metres),
                (far - near) / 65535 + 1e-8);
  }
  const auto cloud = read_scene(path("a/points.ply"));
  EXPECT_EQ(cloud.position.size(), 700u);
  EXPECT_EQ(cloud.colour.size(), 700u);
  for (const auto& [x, y, z] : cloud.position) {
    ASSERT_LE(std::max(std::abs(x), std::abs(y)), 9.2e-3f + 1e-8f);
    ASSERT_GE(z, -0.103f);
    ASSERT_LE(z, -0.075f);
  }
  EXPECT_EQ(shape_of(read_image(path("a/image.png"))), (Shape<3>{32, 32, 3}));
  // 3 x 2 views over 9.2 mm: 9.2 mm apart, counted from the left and the top.
  EXPECT_NEAR(facts["views"]["camera_pitch_m"], 9.2e-3, 1e-12);
  EXPECT_NEAR(facts["views"]["first_camera"]["x_m"], -9.2e-3, 1e-12);
  EXPECT_NEAR(facts["views"]["first_camera"]["y_m"], 4.6e-3, 1e-12);
  EXPECT_EQ(facts["commands"].size(), 3u);
}

TEST_F(SceneTest, TheViewsThatAnEyeSharesAreItsTruth) {
  ASSERT_EQ(run(dice("a", {"--views", "2x2", "--grey", "--viewer", "40mm:8x8mm@1,-2mm"})).exit_code, 0);
  EXPECT_EQ(shape_of(read_image(path("a/image.png"))), (Shape<3>{32, 32, 1}));
  EXPECT_EQ(content_of(path("a/views/view_0_0.png")), content_of(path("a/truth/top_left.png")));
  EXPECT_EQ(content_of(path("a/views/view_0_1.png")), content_of(path("a/truth/top_right.png")));
  EXPECT_EQ(content_of(path("a/views/view_1_0.png")), content_of(path("a/truth/bottom_left.png")));
  EXPECT_NE(content_of(path("a/views/view_0_0.png")), content_of(path("a/views/view_1_1.png")));
  const auto facts = story("a");
  EXPECT_NEAR(facts["truth"]["pictures"][0]["eye"]["x_m"], 1e-3, 1e-12);
  EXPECT_NEAR(facts["truth"]["pictures"][1]["eye"]["x_m"], -3e-3, 1e-12);
  EXPECT_NEAR(facts["truth"]["pictures"][1]["eye"]["y_m"], 2e-3, 1e-12);
  EXPECT_EQ(facts["commands"].count("stereogram"), 0u);  // its cameras must be centred on the axis
  EXPECT_TRUE(read_scene(path("a/points.ply")).colour.empty());
}

TEST_F(SceneTest, TheCommandOfPointsRuns) {
  if (!can_write("points.h5")) GTEST_SKIP() << "a build without HDF5";
  ASSERT_EQ(run(dice("a")).exit_code, 0);
  std::istringstream words(story("a")["commands"]["points"][0].get<std::string>());
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  ASSERT_EQ(arguments.front(), "holotone");
  arguments.erase(arguments.begin());
  *std::find(arguments.begin(), arguments.end(), "points.h5") = path("points.h5");
  arguments.insert(arguments.end(), {"--device", "cpu"});
  (void)run_json(arguments);
  EXPECT_TRUE(fs::exists(path("points.h5")));
}

TEST_F(SceneTest, AnEmptyFolderKeepsItsPermissions) {
  fs::create_directory(path("mine"));
  fs::permissions(path("mine"), fs::perms::owner_all);
  ASSERT_EQ(run(dice("mine")).exit_code, 0);
  EXPECT_EQ(fs::status(path("mine")).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(fs::is_empty(path("mine")));
}

// While a folder is written, others cannot place links in it: it is closed to them, under a name they cannot guess.
TEST_F(SceneTest, AnUnfinishedFolderIsClosedToOthers) {
  const auto open_umask = [] { umask(0); };
  fs::path unfinished;
  {
    RunningProgram program(dice("x", {"--views", "90x90"}), captured_, open_umask);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (unfinished.empty() && std::chrono::steady_clock::now() < deadline) {
      for (const auto& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".part" && fs::exists(entry.path() / "views")) unfinished = entry.path();
      }
    }
    EXPECT_EQ(fs::status(unfinished).permissions(), fs::perms::owner_all) << unfinished;
    EXPECT_GE(unfinished.filename().string().size(), std::string_view(".x.1-0123456789abcdef.part").size());
    program.send(SIGINT);
    (void)program.wait(60);
  }
  ASSERT_EQ(run_prepared(dice("y"), open_umask).exit_code, 0);
  EXPECT_EQ(fs::status(path("y")).permissions(), fs::perms::all);
  EXPECT_FALSE(fs::exists(path("y/mode")));
  ASSERT_EQ(run_prepared(dice("z"), [] { umask(027); }).exit_code, 0);
  EXPECT_EQ(fs::status(path("z")).permissions(), fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
}

TEST_F(SceneTest, WhatIsWrongIsRefused) {
  ASSERT_EQ(run(dice("full")).exit_code, 0);
  expect_refused(dice("full"), {"--output", "empty folder", "full"});
  expect_refused(dice("good.csv"), {"--output", "good.csv", "file"});
  fs::create_directory(path("empty"));
  fs::create_directory_symlink(path("empty"), path("link"));
  expect_refused(dice("link"), {"--output", "link", "which is a link"});
  expect_refused(dice("missing/dice"), {"--output", "existing folder"});
  expect_refused({"scene", "dices", "-o", path("x")}, {"NAME", "dice", "did you mean"});
  expect_refused({"scene", "dice"}, {"--output"});
  expect_refused({"scene", "dice", "-o", ""}, {"--output", "''"});
  for (const char* bad : {"0", "-1", "15", "nan", "1e9", "99999999999999999999"}) {
    expect_refused(dice("x", {"--resolution", bad}), {"--resolution"});
  }
  for (const char* bad : {"0x3", "7", "7x", "101x2", "ax2"}) expect_refused(dice("x", {"--views", bad}), {"--views"});
  for (const char* bad : {"36mm", "0mm:9mm", "36:9.2mm", "36mm:0mm", "36mm:nanmm", "-36mm:9mm"}) {
    expect_refused(dice("x", {"--viewer", bad}), {"--viewer"});
  }
  for (const char* bad : {"0", "-3", "1.5", "1000000000001"})
    expect_refused(dice("x", {"--points", bad}), {"--points"});
  expect_refused(dice("x", {"--seed", "-1"}), {"--seed"});
}

TEST_F(SceneTest, ADiskThatIsFullLeavesNothing) {
  const auto before = files();
  for (const rlim_t bytes : {rlim_t{900}, rlim_t{3000}}) {
    const auto limit = [bytes] {
      const rlimit value{bytes, bytes};
      setrlimit(RLIMIT_FSIZE, &value);
    };
    const auto result = run_prepared(dice("x"), limit);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_EQ(lines(result.error), 1) << result.error;
    EXPECT_NE(result.error.find(path("x/")), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("File too large"), std::string::npos) << result.error;
    EXPECT_EQ(files(), before);
  }
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(path("closed"));
  fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  expect_refused(dice("closed/x"), {"--output", "closed"});
  fs::permissions(path("closed"), fs::perms::owner_all);
}

TEST_F(SceneTest, ASignalLeavesNothing) {
  const auto before = files();
  RunningProgram program(dice("x", {"--views", "90x90"}), captured_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (files().size() < before.size() + 8 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  program.send(SIGINT);
  const auto result = program.wait(60);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(result.error, "holotone: cancelled\n");
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace holotone::test
