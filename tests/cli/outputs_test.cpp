// Files that must survive, and streams and names that are not writable.
#include <sys/resource.h>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class OutputsTest : public SmallPanelTest {};

TEST_F(OutputsTest, NoInputIsOverwritten) {
  fs::copy_file(path("table.txt"), path("table.png"));
  fs::create_symlink(path("map.png"), path("link.png"));
  fs::create_hard_link(path("map.png"), path("twin.png"));
  fs::copy_file(path("map.png"), path("f_0003.png"));
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  const auto map = content_of(path("map.png"));
  expect_refused(hologram("good.csv", "table.png", {"--lut", path("table.png")}), {"--output", "--lut", "table.png"});
  for (const char* name : {"map.png", "link.png", "twin.png"}) {
    expect_refused(hologram("good.csv", name, {"--correction", path("map.png")}), {"--output", "--correction", name});
    expect_refused({"reconstruct", path("good.png"), "-o", path(name), "--correction", path("map.png")},
                   {"--output", "--correction", name});
  }
  expect_refused(hologram("good.csv", "f_%04d.png", {"--correction", path("f_0003.png"), "--spin", "360deg:9"}),
                 {"--output", "--correction", "f_0003.png"});
  expect_refused(hologram("good.csv", "f_%04d.png", {"--correction", path("f_0003.png"), "--spin", "360deg:900"}),
                 {"--output", "--correction", "f_0003.png"});
  expect_refused({"reconstruct", path("good.png"), "-o", path("sheet.png"), "--sweep", "19cm:21cm:5", "--frames",
                  path("f_%04d.png"), "--correction", path("f_0003.png")},
                 {"--frames", "--correction", "f_0003.png"});
  EXPECT_EQ(content_of(path("map.png")), map);
}

TEST_F(OutputsTest, NoFileThatAGltfNamesIsOverwritten) {
  const auto kept = write("b.npy", "bytes");
  write("wood grain.png", "picture");
  write("x.gltf", R"({"buffers":[{"uri":"b.npy"}],"images":[{"uri":"wood%20grain.png"}]})");
  expect_refused(hologram("x.gltf", "b.npy"),
                 {"--output: expected another file than those that", "x.gltf names", "b.npy"});
  expect_refused(hologram("x.gltf", "wood grain.png"), {"--output", "x.gltf names", "wood grain.png"});
  EXPECT_EQ(content_of(kept), "bytes");
}

// Leftovers of a killed run are removed by the next run of the same name, in a new or an existing folder.
TEST_F(OutputsTest, AKilledSceneIsNoHindrance) {
  const std::vector<std::string> scene{"scene", "dice",    "-o",  path("dice"), "--resolution",
                                       "64",    "--views", "2x2", "--points",   "100"};
  auto slow = scene;
  slow[5] = "2048";
  for (const bool existing : {false, true}) {
    const fs::path place = existing ? fs::path(path("dice")) : folder_;
    fs::remove_all(path("dice"));
    if (existing) fs::create_directory(path("dice"));
    const auto parts = [&] {
      std::vector<fs::path> found;
      for (const auto& entry : fs::directory_iterator(place)) {
        if (entry.path().extension() == ".part") found.push_back(entry.path());
      }
      return found;
    };
    {
      RunningProgram program(slow, captured_);
      const auto begun = [&] { return !parts().empty() && !fs::is_empty(parts().front()); };
      for (int i = 0; i < 20000 && !begun() && program.running(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      // A running program keeps its temporary folder.
      if (!existing) {
        EXPECT_EQ(run(scene).exit_code, 0);
      }
      ASSERT_EQ(parts().size(), 1u);
      program.send(SIGKILL);
      program.wait(20);
    }
    ASSERT_EQ(parts().size(), 1u);
    if (!existing) fs::remove_all(path("dice"));
    const auto again = run(scene);
    EXPECT_EQ(again.exit_code, 0) << again.error;
    EXPECT_TRUE(parts().empty());
    EXPECT_TRUE(fs::exists(path("dice/scene.json")));
  }
}

TEST_F(OutputsTest, NoOutputReplacesAnother) {
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  for (const std::string sheet : {"o_2.png", "./o_2.png", "../work/o_2.png"}) {
    expect_refused(
        {"reconstruct", path("good.png"), "-o", path(sheet), "--sweep", "19cm:21cm:5", "--frames", path("o_%d.png")},
        {"--frames", "--output", "o_2.png"});
  }
}

TEST_F(OutputsTest, ALinkToNoFileIsNoOutput) {
  fs::create_symlink("q_r.png", path("q_g.png"));
  expect_refused(hologram("good.csv", "q_%c.png", {"--rgb", "638nm,520nm,450nm"}), {"--output", "q_g.png", "link"});
  fs::create_symlink("f_0.png", path("f_3.png"));
  expect_refused(hologram("good.csv", "f_%d.png", {"--spin", "360deg:5"}), {"--output", "f_3.png", "link"});
  expect_refused(hologram("good.csv", "q_%c%c.png", {"--rgb", "638nm,520nm,450nm"}), {"--output", "one %c"});
}

TEST_F(OutputsTest, AFileOfAnotherKindIsNotReadWhole) {
  for (const char* name : {"z.png", "z.csv", "z.npy", "z.ply", "z.ohc", "z.stl"}) {
    write(name, "");
    fs::resize_file(path(name), std::uintmax_t{1} << 42);
    const auto begin = std::chrono::steady_clock::now();
    expect_refused({"info", path(name)}, {name});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LT(seconds, 30) << name;  // reading all of it takes hours
    fs::remove(path(name));
  }
}

TEST_F(OutputsTest, TheSameFieldIsTheSameHdf5File) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  ASSERT_EQ(run(hologram("good.csv", "a.h5")).exit_code, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // file times are in whole seconds
  ASSERT_EQ(run(hologram("good.csv", "b.h5")).exit_code, 0);
  EXPECT_EQ(content_of(path("a.h5")), content_of(path("b.h5")));
}

TEST_F(OutputsTest, StreamsThatCannotBeWritten) {
  const std::vector<std::string> bad = hologram("missing.csv", "out.png");
  const std::vector<std::string> good = hologram("good.csv", "out.png", {"--progress"});
  const auto full_error = [] { redirect(STDERR_FILENO, "/dev/full"); };
  const auto no_error = [] { close(STDERR_FILENO); };
  EXPECT_EQ(run_prepared(bad, full_error).exit_code, 2);
  EXPECT_EQ(run_prepared(bad, no_error).exit_code, 2);
  EXPECT_EQ(run_prepared(good, full_error).exit_code, 0);
  EXPECT_EQ(run_prepared(good, no_error).exit_code, 0);
  const auto image = content_of(path("out.png"));
  EXPECT_EQ(run_prepared(good, [] { close(STDIN_FILENO), close(STDERR_FILENO); }).exit_code, 0);
  EXPECT_EQ(content_of(path("out.png")), image);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"devices"},
                                                    {"devices", "--json"},
                                                    {"panels"},
                                                    {"info", path("good.csv")},
                                                    {"--help"},
                                                    {"--version"},
                                                    {"sample", "knot", "-o", path("k.ply"), "--json"}}) {
    const auto full = run_prepared(arguments, [] { redirect(STDOUT_FILENO, "/dev/full"); });
    EXPECT_NE(full.error.find("No space left"), std::string::npos) << full.error;
    for (const auto& prepare : {std::function<void()>([] { redirect(STDOUT_FILENO, "/dev/full"); }),
                                std::function<void()>([] { close(STDOUT_FILENO); })}) {
      const auto result = run_prepared(arguments, prepare);
      EXPECT_EQ(result.exit_code, 2) << arguments.front();
      EXPECT_EQ(lines(result.error), 1) << result.error;
      EXPECT_NE(result.error.find("standard output"), std::string::npos) << result.error;
    }
  }
}

TEST_F(OutputsTest, AFileSizeLimitIsAnErrorOfTheWrite) {
  const auto before = files();
  const auto limit = [] {
    const rlimit value{700, 700};
    setrlimit(RLIMIT_FSIZE, &value);
  };
  for (const char* name : {"out.png", "out.tif", "out.bmp", "out.npy", "out.h5", "out.ohc"}) {
    if (!can_write(name)) continue;
    const auto result = run_prepared(hologram("good.csv", name, {"--random-phase"}), limit);
    EXPECT_EQ(result.exit_code, 2) << name << ": " << result.error;
    EXPECT_EQ(lines(result.error), 1) << result.error;
    EXPECT_NE(result.error.find(name), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("File too large"), std::string::npos) << result.error;
    EXPECT_EQ(files(), before) << name;
  }
  EXPECT_EQ(run_prepared({"sample", "knot", "-o", path("k.ply")}, limit).exit_code, 2);
  EXPECT_EQ(files(), before);
}

TEST_F(OutputsTest, NamesThatTheSystemRefuses) {
  const std::string long_name(300, 'a');
  fs::create_symlink("loop.csv", path("loop.csv"));
  expect_refused(hologram(long_name + ".csv", "out.png"), {"too long"});
  expect_refused(hologram("loop.csv", "out.png"), {"loop.csv", "symbolic links"});
  expect_refused(hologram("good.csv", long_name + ".png"), {"--output", "255"});
  expect_refused(hologram("good.csv", long_name + "/out.png"), {"--output", "folder"});
  expect_refused({"reconstruct", path(long_name + "%c.png"), "-o", path("out.png")}, {"too long"});
  expect_refused({"reconstruct", path("loop.csv"), "-o", path("out.png")}, {"loop.csv"});
}

TEST_F(OutputsTest, EmptyValuesAreNotIgnored) {
  expect_refused(hologram("good.csv", "out.png", {"--lut", ""}), {"--lut", "''"});
  expect_refused(hologram("good.csv", "out.png", {"--correction", ""}), {"--correction", "''"});
  expect_refused({"hologram", path("good.csv"), "-o", path("out.png"), "--panel", ""}, {"--panel", "''"});
  expect_refused({"hologram", path("good.csv"), "-o", ""}, {"--output", "''"});
  expect_refused({"hologram", "", "-o", path("out.png")}, {"IN", "''"});
  expect_refused({"reconstruct", path("map.png"), "-o", path("out.png"), "--frames", ""}, {"--frames", "''"});
  expect_refused({"info", ""}, {"FILE", "''"});
}

TEST_F(OutputsTest, PatternsThatMeanNothing) {
  expect_refused(hologram("good.csv", "p%s.png"), {"--output", "%04d", "p%s.png"});
  expect_refused(hologram("good.csv", "p%1234d.png"), {"--output", "%04d"});
  expect_refused(hologram("good.csv", "p%c.png"), {"--output", "--rgb"});
  expect_refused({"reconstruct", path("map.png"), "-o", path("p%i.png")}, {"--output", "%04d"});
  expect_refused({"sample", "knot", "-o", path("p%d.ply")}, {"--output", "counter"});
  EXPECT_EQ(run(hologram("good.csv", "100%.png")).exit_code, 0);
}

}  // namespace
}  // namespace holotone::test
