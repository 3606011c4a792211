// holotone hologram --rows-at-once: the field does not depend on the size of bands in memory.
#include <cstdlib>
#include <sys/resource.h>
#include <tests/cli/bands_program.hpp>
#include <unistd.h>

namespace holotone::test {
namespace {

/// The command with other devices than the CPU alone.
std::vector<std::string> on(const std::string& devices, std::vector<std::string> words) {
  *(std::find(words.begin(), words.end(), "--device") + 1) = devices;
  return words;
}

TEST_F(BandsTest, SeveralDevicesGiveTheSameFile) {
  for (const char* method : {"direct", "recurrence", "separable", "fast"}) {
    put_cloud(std::string_view(method) == "fast" ? 3000 : 60, 1, 10e-3);
    // Matrix products add in an order that depends on the number of threads, unless that is asked for.
    const bool ordered = method == std::string_view("direct") || method == std::string_view("recurrence");
    for (const bool deterministic : {false, true}) {
      std::vector<std::string> options{"--method", method, "--rows-at-once", "20"};
      if (deterministic) options.emplace_back("--deterministic");
      ASSERT_EQ(run(hologram("one.npy", options)).exit_code, 0);
      for (const char* devices : {"cpu", "cpu,cpu", "cpu,cpu,cpu", "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu"}) {
        const auto json = run_json(on(devices, hologram("several.npy", options)));
        EXPECT_EQ(json["device"], devices);
        EXPECT_EQ(json["bands"], 8);
        const bool same = content_of(path("several.npy")) == content_of(path("one.npy"));
        EXPECT_TRUE(same || !(ordered || deterministic)) << method << ' ' << devices;
        EXPECT_LE(difference("several.npy", "one.npy"), 2e-6) << method << ' ' << devices;
      }
    }
  }
}

// The file says so, and rows of a sum that was not deterministic are not continued.
TEST_F(BandsTest, DeterministicIsWrittenDown) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  ASSERT_EQ(run(hologram("a.h5", {"--rows-at-once", "20", "--deterministic"})).exit_code, 0);
  EXPECT_EQ(read_field(path("a.h5")).metadata["deterministic"], "1");
  ASSERT_EQ(run(hologram("a.h5", {"--rows-at-once", "20"})).exit_code, 0);
  EXPECT_FALSE(read_field(path("a.h5")).metadata.contains("deterministic"));
  write_image(path("picture.png"), {Array<std::uint8_t, 3>({8, 8, 1}), {}});
  expect_refused({"hologram", "--image", path("picture.png"), "-o", path("a.npy"), "--deterministic"},
                 {"--deterministic", "points"});
}

TEST_F(BandsTest, SeveralDevicesAreForFieldsByBands) {
  for (const auto& [output, devices, expected] :
       {std::tuple{"a.png", "cpu,cpu",
                   "--device: expected a file .tif for codes, or .h5 or .npy for the complex field, or one device"},
        {"a.npy", "cpu,,cpu", "--device"},
        {"a.npy", "cpu,opencl:77", "opencl:77"},
        {"a.npy", "all,cpu", "'all'"}}) {
    const auto result = run(on(devices, hologram(output)));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find(expected), std::string::npos) << result.error;
  }
  EXPECT_EQ(files(), (std::set<std::string>{"cloud.csv"}));
}

// Killed at any moment, with any number of devices: the next run resumes, and the file is the same.
TEST_F(BandsTest, KilledRunsGoOnWithOtherDevices) {
  put_cloud(400, 2);
  const std::vector<std::string> large{"--resolution",    "600x900",        "--method", "direct",
                                       "--no-band-limit", "--rows-at-once", "30"};
  ASSERT_EQ(run(hologram("whole.npy", large)).exit_code, 0);
  int killed = 0;
  std::int64_t resumed = 0;
  for (int i = 0; i < 20; ++i) {
    fs::remove(path("a.npy"));
    std::string devices = "cpu";
    for (int n = 0; n < i % 3; ++n) devices += ",cpu";
    {
      RunningProgram program(on(devices, hologram("a.npy", large)), captured_);
      const auto pause = 20 + 250 * random_uniform64(3, static_cast<std::uint64_t>(i));
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(pause));
      program.send(SIGKILL);
      killed += program.wait(10).exit_code != 0 ? 1 : 0;
    }
    const auto json = run_json(on(i % 2 == 0 ? "cpu,cpu" : "cpu", hologram("a.npy", large)));
    resumed += json["resumed_rows"].get<std::int64_t>();
    ASSERT_TRUE(content_of(path("a.npy")) == content_of(path("whole.npy"))) << i;
  }
  std::printf("%d of 20 runs were killed, %d rows of them were kept\n", killed, static_cast<int>(resumed));
  EXPECT_GT(killed, 0);
  EXPECT_FALSE(fs::exists(path(".a.npy.part")));
}

TEST_F(BandsTest, CodesByBandsNeedTheirRange) {
  const auto refused = [&](std::vector<std::string> more, std::initializer_list<const char*> words) {
    more.insert(more.end(), {"--rows-at-once", "20"});
    expect_refused(hologram("a.tif", more), words);
  };
  refused({"--encode", "amplitude"},
          {"--rows-at-once", "--amplitude-range, --deterministic or --method direct or recurrence", "amplitude"});
  refused({"--encode", "double-phase", "--method", "separable"}, {"--rows-at-once", "--amplitude-range"});
  refused({"--encode", "single-sideband", "--amplitude-range", "-1,1"}, {"--rows-at-once", "single-sideband"});
  refused({"--packed16"}, {"--rows-at-once", "--packed16"});
}

/// Sums of minutes, of which the first pass alone measures the range.
std::vector<std::string> with_long_measurement(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--encode", "amplitude", "--method", "direct", "--no-band-limit", "--resolution",
                           "2000x2000", "--rows-at-once", "20"});
  return more;
}

TEST_F(BandsTest, TheFileIsCheckedBeforeItsRangeIsMeasured) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  put_cloud(100'000, 2);
  const auto refused = [&](const std::string& words, const std::vector<std::string>& more) {
    const auto before = files();
    const auto result = run(hologram("a.tif", with_long_measurement(more)), 20);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.error.find(words), std::string::npos) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_EQ(files(), before);
  };
  fs::create_directory(path(".a.tif.part"));
  refused("/.a.tif.part' to be absent or a file of an unfinished run, got a folder", {});
  fs::rename(path(".a.tif.part"), path(".a_b.tif.part.rows"));
  refused("/.a_b.tif.part.rows' to be absent or a file of an unfinished run, got a folder",
          {"--rgb", "638nm,520nm,450nm"});
}

TEST_F(BandsTest, OneRunAtATimeMeasuresTheRange) {
  if (!can_write("a.tif")) GTEST_SKIP() << "a build without libtiff";
  put_cloud(100'000, 2);
  const auto words = hologram("a.tif", with_long_measurement({"--rgb", "638nm,520nm,450nm"}));
  RunningProgram first(words, captured_);
  for (int i = 0; i < 10'000 && !fs::exists(path(".a_b.tif.part.rows")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(fs::exists(path(".a_b.tif.part.rows")));
  fs::create_directory(base_ / "second");
  const auto second = RunningProgram(words, base_ / "second").wait(20);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.error.find("expected one program writing it, got another that holds"), std::string::npos)
      << second.error;
  first.send(SIGINT);
  EXPECT_EQ(first.wait(20).exit_code, 130);
  EXPECT_EQ(files(), (std::set<std::string>{"cloud.csv"}));
}

TEST_F(BandsTest, ColoursAndWhatTheFileSays) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  const std::vector<std::string> options{"--rgb", "638nm,520nm,450nm", "--method", "direct"};
  ASSERT_EQ(run(hologram("whole.h5", options)).exit_code, 0);
  auto banded = options;
  banded.insert(banded.end(), {"--rows-at-once", "50"});
  const auto json = run_json(hologram("bands.h5", banded));
  EXPECT_EQ(json["outputs"].size(), 3u);
  for (const char* colour : {"r", "g", "b"}) {
    const auto name = [&](const char* kind) { return fmt::format("{}_{}.h5", kind, colour); };
    EXPECT_LE(difference(name("bands"), name("whole")), 2e-6);
    auto said = read_field(path(name("bands"))).metadata;
    EXPECT_EQ(said["rows_at_once"], "50");
    said.erase("rows_at_once");
    EXPECT_EQ(said, read_field(path(name("whole"))).metadata);
  }
  EXPECT_GT(difference("bands_r.h5", "bands_g.h5"), 0.1);
  EXPECT_EQ(run({"reconstruct", path("bands_r.h5"), "-o", path("a.png"), "--device", "cpu"}).exit_code, 0);
}

TEST_F(BandsTest, WhatIsStoppedGoesOn) {
  put_cloud(400, 2);
  const std::vector<std::string> large{
      "--resolution", "600x900",           "--method",       "direct", "--no-band-limit",
      "--rgb",        "638nm,520nm,450nm", "--rows-at-once", "40"};
  ASSERT_EQ(run(hologram("whole.npy", large)).exit_code, 0);
  // Stopped when the second colour's journal grows: the first colour is complete, but not under its final name.
  const auto stop = [&] {
    RunningProgram program(hologram("a.npy", large), captured_);
    const auto journal = folder_ / ".a_g.npy.part.rows";
    return stopped_when_it_grows(program, journal);
  };
  const auto stopped = stop();
  if (stopped.exit_code == 0) GTEST_SKIP() << "the run was over before it could be stopped";
  EXPECT_EQ(stopped.exit_code, 130) << stopped.error;
  EXPECT_NE(stopped.error.find("of 900 rows are kept"), std::string::npos) << stopped.error;
  for (const char* name : {"a_r.npy", "a_g.npy", "a_b.npy"}) EXPECT_FALSE(fs::exists(path(name))) << name;
  const auto json = run_json(hologram("a.npy", large));
  const int resumed = json["holograms"][1]["resumed_rows"].get<int>();
  std::printf("went on after 900, %d and 0 rows\n", resumed);
  EXPECT_EQ(json["holograms"][0]["resumed_rows"], 900);
  EXPECT_GT(resumed, 0);
  EXPECT_LT(resumed, 900);
  EXPECT_EQ(json["holograms"][2]["resumed_rows"], 0);
  for (const char* colour : {"r", "g", "b"}) {
    EXPECT_EQ(content_of(path(fmt::format("a_{}.npy", colour))), content_of(path(fmt::format("whole_{}.npy", colour))));
    EXPECT_FALSE(fs::exists(path(fmt::format(".a_{}.npy.part.rows", colour))));
  }
  // Rows of other points are not resumed; the clouds differ in a single coordinate.
  ASSERT_EQ(stop().exit_code, 130);
  const auto cloud = content_of(path("cloud.csv"));
  write("cloud.csv", cloud + "0,0,0.001,1,1,1\n");
  const auto other = run_json(hologram("a.npy", large));
  for (const auto& one : other["holograms"]) EXPECT_EQ(one["resumed_rows"], 0);
}

// 33.5 megapixels need 1 GiB at once, more than a quarter of this process's limit.
TEST_F(BandsTest, WhatDoesNotFitGoesByBandsOfItsOwnAccord) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
#else
  write("cloud.csv", "x,y,z\n0,0,-0.001\n");
  auto line = hologram("a.npy", {"--resolution", "65536x1024", "--json"});
  const auto run_in = [&](rlim_t mebibytes) {
    return RunningProgram(line, captured_,
                          [=] {
                            setenv("OMP_NUM_THREADS", "2", 1);
                            const rlimit value{mebibytes << 20, mebibytes << 20};
                            setrlimit(RLIMIT_AS, &value);
                          })
        .wait(60);
  };
  const auto result = run_in(2000);
  if (result.exit_code == 127) GTEST_SKIP() << "too small for the system's loader: CUDA's libraries";
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["bands"], 2);
  EXPECT_EQ(json["rows_at_once"], 512);
  EXPECT_EQ(FieldRowsReader(path("a.npy")).shape(), (Shape<2>{1024, 65536}));
  // Moving pictures and codes are never split into bands.
  line = hologram("a.png", {"--resolution", "65536x65536"});
  const auto refused = run_in(2000);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("--resolution: expected"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("holotone quantize"), std::string::npos) << refused.error;
#endif
}

TEST_F(BandsTest, LayersThatDoNotFitAreRefusedAtOnce) {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (pages > 60 * 65536.0 * 65536.0) GTEST_SKIP() << "this machine holds layers of 65536 x 65536";
  write_image(path("picture.png"), {Array<std::uint8_t, 3>({8, 8, 1}), {}});
  expect_refused({"hologram", "--image", path("picture.png"), "-o", path("a.npy"), "--device", "cpu", "--resolution",
                  "65536x65536", "--pitch", "2um"},
                 {"--resolution: expected", "GiB of memory for layers of 65536 x 65536 pixels", "free", "--hogel"});
}

TEST_F(BandsTest, BadInput) {
  const auto refused = [&](const std::string& output, std::vector<std::string> more,
                           std::initializer_list<const char*> words) {
    expect_refused(hologram(output, std::move(more)), words);
  };
  refused("a.npy", {"--rows-at-once", "0"}, {"--rows-at-once", "'0'"});
  refused("a.npy", {"--rows-at-once", "x"}, {"--rows-at-once", "'x'"});
  refused("a.png", {"--rows-at-once", "8"}, {"--rows-at-once", ".tif for codes", "a.png"});
  refused("a.ohc", {"--rows-at-once", "8"}, {"--rows-at-once", ".npy", "a.ohc"});
  refused("a_%d.npy", {"--rows-at-once", "8", "--spin", "90deg:2"}, {"--rows-at-once", "moving"});
  write_image(path("picture.png"), {Array<std::uint8_t, 3>({8, 8, 1}), {}});
  expect_refused({"hologram", "--image", path("picture.png"), "-o", path("a.npy"), "--rows-at-once", "8"},
                 {"--rows-at-once", "points"});
  expect_refused({"hologram", "--views", path("v_%u.png"), "-o", path("a.npy"), "--rows-at-once", "8"},
                 {"--rows-at-once", "views"});
}

}  // namespace
}  // namespace holotone::test
