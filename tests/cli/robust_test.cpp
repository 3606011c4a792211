// Files that must survive, streams and memory that fail, and what errors call things.
#include <fcntl.h>
#include <holotone/hologram/encode.hpp>
#include <limits>
#include <sys/resource.h>
#include <tests/cli/program.hpp>

namespace holotone::test {
namespace {

class RobustTest : public ProgramTest {
 protected:
  RobustTest() {
    write_cloud("good.csv", {{0, 0, -0.2, 1}, {1e-3, 0, -0.2, 1}});
    std::string table;
    for (int code = 0; code < 256; ++code) table += fmt::format("{:.6f}\n", 0.0245 * code);
    write("table.txt", table);
    write_image(path("map.png"), grey(64, 48, {}));
  }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& input, const std::string& output,
                                                  std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"hologram", path(input), "-o", path(output), "--device", "cpu", "--resolution", "64x48",
                               "--pitch", "8um"});
    return more;
  }

  static Image grey(std::int64_t nx, std::int64_t ny, const Metadata& metadata) {
    Image image{Array<std::uint8_t, 3>({ny, nx, 1}), metadata};
    for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = 200;
    return image;
  }

  /// Runs with something done to the child before; standard output and error as they then are.
  [[nodiscard]] ProgramResult run_prepared(const std::vector<std::string>& arguments,
                                           const std::function<void()>& prepare, double seconds = 60) const {
    return RunningProgram(arguments, captured_, prepare).wait(seconds);
  }

  static void redirect(int descriptor, const char* target) {
    const int file = open(target, O_WRONLY);
    dup2(file, descriptor);
    close(file);
  }

  static std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }
};

TEST_F(RobustTest, NoInputIsOverwritten) {
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

TEST_F(RobustTest, NoOutputReplacesAnother) {
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  for (const std::string sheet : {"o_2.png", "./o_2.png", "../work/o_2.png"}) {
    expect_refused(
        {"reconstruct", path("good.png"), "-o", path(sheet), "--sweep", "19cm:21cm:5", "--frames", path("o_%d.png")},
        {"--frames", "--output", "o_2.png"});
  }
}

TEST_F(RobustTest, ALinkToNoFileIsNoOutput) {
  fs::create_symlink("q_r.png", path("q_g.png"));
  expect_refused(hologram("good.csv", "q_%c.png", {"--rgb", "638nm,520nm,450nm"}), {"--output", "q_g.png", "link"});
  fs::create_symlink("f_0.png", path("f_3.png"));
  expect_refused(hologram("good.csv", "f_%d.png", {"--spin", "360deg:5"}), {"--output", "f_3.png", "link"});
  expect_refused(hologram("good.csv", "q_%c%c.png", {"--rgb", "638nm,520nm,450nm"}), {"--output", "one %c"});
}

TEST_F(RobustTest, AFileOfAnotherKindIsNotReadWhole) {
  for (const char* name : {"z.png", "z.csv", "z.npy", "z.ply", "z.ohc", "z.stl"}) {
    write(name, "");
    fs::resize_file(path(name), std::uintmax_t{1} << 42);
    const auto begin = std::chrono::steady_clock::now();
    expect_refused({"info", path(name)}, {name});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LT(seconds, 30) << name;  // reading all would take hours
    fs::remove(path(name));
  }
}

TEST_F(RobustTest, TheSameFieldIsTheSameHdf5File) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  ASSERT_EQ(run(hologram("good.csv", "a.h5")).exit_code, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times are whole seconds
  ASSERT_EQ(run(hologram("good.csv", "b.h5")).exit_code, 0);
  EXPECT_EQ(content_of(path("a.h5")), content_of(path("b.h5")));
}

TEST_F(RobustTest, MetadataThatSaysNothingIsRefused) {
  const Metadata good{{"pitch_m", "8e-6"}, {"wavelength_m", "532e-9"}, {"distance_m", "0.2"}, {"encoding", "phase"}};
  const auto with = [&](const char* key, const std::string& value) {
    Metadata metadata = good;
    metadata[key] = value;
    write_image(path("m.png"), grey(64, 48, metadata));
    return std::vector<std::string>{"reconstruct", path("m.png"), "-o", path("seen.png")};
  };
  for (const char* value : {"nan", "abc", "-1", ""}) {
    expect_refused(with("packed16", value), {"m.png: expected 0 or 1 under packed16"});
  }
  for (const char* key : {"bits", "phase_range_rad", "level_phase_rad"}) {
    expect_refused(with(key, ""), {"m.png: expected", key});
    expect_refused(with(key, "0x8"), {"m.png: expected", key});
  }
  const auto result = run(with("encoding", std::string(100'000, 'e')));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_LT(result.error.size(), 500u);
  EXPECT_EQ(run(with("bits", "8")).exit_code, 0);
}

TEST_F(RobustTest, InfoCountsWhatIsNotFinite) {
  FieldFile field{Array<std::complex<float>, 2>({4, 4}), {}};
  for (auto& value : field.values.host()) value = 1;
  field.values(std::int64_t{1}, std::int64_t{2}) = std::numeric_limits<float>::quiet_NaN();
  write_field(path("nan.npy"), field);
  const auto object = run_json({"info", path("nan.npy")});
  EXPECT_EQ(object["not_finite"], 1);
  EXPECT_EQ(object["amplitude_rms"], 1.0);
  write("nan.csv", "x,y,z\nnan,0,1\n");
  expect_refused({"info", path("nan.csv")}, {"nan.csv", "1 point, none finite"});
}

TEST_F(RobustTest, AmplitudeRangesThatReconstructWouldRefuse) {
  for (const char* range : {"0,1e20", "-3e38,3e38", "0,1e39"}) {
    const std::string option = std::string("--amplitude-range=") + range;
    expect_refused(hologram("good.csv", "o.png", {"--encode", "amplitude", option}),
                   {"--amplitude-range: expected a number", "e"});
    expect_refused({"reconstruct", path("map.png"), "-o", path("seen.png"), "--encode", "amplitude", option},
                   {"--amplitude-range: expected a number"});
  }
}

TEST_F(RobustTest, StreamsThatCannotBeWritten) {
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

TEST_F(RobustTest, AFileSizeLimitIsAnErrorOfTheWrite) {
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

TEST_F(RobustTest, NamesThatTheSystemRefuses) {
  const std::string long_name(300, 'a');
  fs::create_symlink("loop.csv", path("loop.csv"));
  expect_refused(hologram(long_name + ".csv", "out.png"), {"too long"});
  expect_refused(hologram("loop.csv", "out.png"), {"loop.csv", "symbolic links"});
  expect_refused(hologram("good.csv", long_name + ".png"), {"--output", "255"});
  expect_refused(hologram("good.csv", long_name + "/out.png"), {"--output", "folder"});
  expect_refused({"reconstruct", path(long_name + "%c.png"), "-o", path("out.png")}, {"too long"});
  expect_refused({"reconstruct", path("loop.csv"), "-o", path("out.png")}, {"loop.csv"});
}

TEST_F(RobustTest, EmptyValuesAreNotIgnored) {
  expect_refused(hologram("good.csv", "out.png", {"--lut", ""}), {"--lut", "''"});
  expect_refused(hologram("good.csv", "out.png", {"--correction", ""}), {"--correction", "''"});
  expect_refused({"hologram", path("good.csv"), "-o", path("out.png"), "--panel", ""}, {"--panel", "''"});
  expect_refused({"hologram", path("good.csv"), "-o", ""}, {"--output", "''"});
  expect_refused({"hologram", "", "-o", path("out.png")}, {"IN", "''"});
  expect_refused({"reconstruct", path("map.png"), "-o", path("out.png"), "--frames", ""}, {"--frames", "''"});
  expect_refused({"info", ""}, {"FILE", "''"});
}

TEST_F(RobustTest, PatternsThatMeanNothing) {
  expect_refused(hologram("good.csv", "p%s.png"), {"--output", "%04d", "p%s.png"});
  expect_refused(hologram("good.csv", "p%1234d.png"), {"--output", "%04d"});
  expect_refused(hologram("good.csv", "p%c.png"), {"--output", "--rgb"});
  expect_refused({"reconstruct", path("map.png"), "-o", path("p%i.png")}, {"--output", "%04d"});
  expect_refused({"sample", "knot", "-o", path("p%d.ply")}, {"--output", "counter"});
  EXPECT_EQ(run(hologram("good.csv", "100%.png")).exit_code, 0);
}

TEST_F(RobustTest, AmplitudesThatOverflow) {
  write_cloud("huge.csv", {{0, 0, -0.2, 1}, {1e-3, 0, -0.2, 3e38}});
  expect_refused(hologram("huge.csv", "out.png"), {"huge.csv", "point 1", "3e+38", "1e+15"});
  expect_refused(hologram("huge.csv", "out.npy"), {"huge.csv", "point 1"});
  write("below.csv", "x,y,z,intensity\n0,0,-0.2,1\n0.001,0,-0.2,-3\n");
  expect_refused(hologram("below.csv", "out.png"), {"below.csv", "point 1", "intensity below 0"});
  write_cloud("bright.csv", {{0, 0, -0.2, 1e14}, {1e-3, 0, -0.2, 1e14}});
  ASSERT_EQ(run(hologram("bright.csv", "out.npy")).exit_code, 0);
  const FieldFile field = read_field(path("out.npy"));
  for (const auto value : field.values.host()) ASSERT_TRUE(std::isfinite(std::norm(value)));
}

TEST_F(RobustTest, HologramsWithoutLight) {
  write_cloud("zero.csv", {{0, 0, -0.2, 0}, {1e-3, 0, -0.2, 0}});
  write_cloud("far.csv", {{1, 2, -0.2, 1}, {3, 4, -0.2, 1}});
  write("red.csv", "x,y,z,r,g,b\n0,0,-0.2,255,0,0\n0.001,0,-0.2,255,0,0\n");
  expect_refused(hologram("zero.csv", "out.png"), {"zero.csv", "lights the panel", "amplitude is 0"});
  expect_refused(hologram("far.csv", "out.png", {"--keep-coordinates"}),
                 {"far.csv", "lights the panel", "x 1 m to 3 m", "y 2 m to 4 m", "512 um x 384 um", "--no-band-limit"});
  EXPECT_EQ(run(hologram("far.csv", "out.png", {"--keep-coordinates", "--no-band-limit"})).error, "");
  const auto told = run(hologram("zero.csv", "out.npy"));
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.error.rfind("holotone: warning: ", 0), 0u) << told.error;
  EXPECT_EQ(told.error.find("warning: ", 20), std::string::npos) << told.error;
  const auto json = run_json(hologram("zero.csv", "out.npy"));
  ASSERT_EQ(json["warnings"].size(), 1u);
  EXPECT_NE(json["warnings"][0].get<std::string>().find("amplitude is 0"), std::string::npos);
  const auto red = run_json(hologram("red.csv", "out.png", {"--rgb", "638nm,520nm,450nm"}));
  ASSERT_EQ(red["warnings"].size(), 1u);
  EXPECT_NE(red["warnings"][0].get<std::string>().find("'g' (2 of 3"), std::string::npos) << red["warnings"];
  EXPECT_EQ(run_json(hologram("good.csv", "out.png"))["warnings"].size(), 0u);
}

TEST_F(RobustTest, ErrorsNameOptionsAndFiles) {
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  const auto refused = [&](const std::vector<std::string>& arguments, std::initializer_list<const char*> words) {
    expect_refused(arguments, words);
    const auto line = run(arguments).error;
    EXPECT_EQ(line.rfind(fmt::format("holotone: {}", *words.begin()), 0), 0u) << line;
    for (const char* name : {"Plan", "parse_", "modulation_of", "tone_map", "hide_occluded", "Array:", "percentile"}) {
      EXPECT_EQ(line.find(name), std::string::npos) << line;
    }
  };
  const auto reconstruct = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("good.png"), "-o", path("f.png")});
    return more;
  };
  refused(hologram("good.csv", "out.png", {"--tolerance", "2"}), {"--tolerance: expected"});
  refused(hologram("good.csv", "out.png", {"--method", "faster"}), {"--method: expected"});
  refused({"hologram", path("good.csv"), "-o", path("out.png"), "--device", "gpu"}, {"--device: expected"});
  refused({"hologram", path("good.csv"), "-o", path("out.png"), "--resolution", "64x2", "--pitch", "8um", "--encode",
           "single-sideband"},
          {"--resolution: expected"});
  refused(hologram("good.csv", "out.png", {"--encode", "double-phase", "--amplitude-range", "1,2"}),
          {"--amplitude-range: expected"});
  refused(hologram("good.csv", "out.png", {"--encode", "amplitude", "--reference-angle", "20deg"}),
          {"--reference-angle: expected"});
  write_cloud("wide.csv", {{0, 0, -0.2, 1}, {1, 1, -0.2, 1}});
  refused(hologram("wide.csv", "out.png", {"--keep-coordinates", "--hide-cell", "1nm"}), {"--hide-cell: expected"});
  refused(reconstruct({"--encode", "fase"}), {"--encode: expected"});
  refused(reconstruct({"--bits", "20"}), {"--bits: expected"});
  refused(reconstruct({"--method", "fresnel", "--distance", "1mm"}), {"--distance: expected", "got 1 mm"});
  refused(reconstruct({"--method", "fresnel", "--sweep", "1mm:2mm:3"}), {"--sweep: expected"});
  refused(reconstruct({"--aperture", "5mm", "--viewer", "1mm"}), {"--viewer: expected"});
  refused(reconstruct({"--aperture", "5m,0m:1mm"}), {"--aperture: expected"});
  refused(reconstruct({"--aperture", "0.1mm,0mm:1um"}), {"--aperture: expected at least"});
  refused(reconstruct({"--white", "1e300"}), {"--white: expected"});
  refused(reconstruct({"--white", "1e-300"}), {"--white: expected"});
  refused(reconstruct({"--gamma", "1e300"}), {"--gamma: expected"});
  FieldFile dark{Array<std::complex<float>, 2>({24, 32}), {}};
  for (auto& value : dark.values.host()) value = 1;
  dark.values.host()[5] = {std::numeric_limits<float>::quiet_NaN(), 0};
  write_field(path("nan.npy"), dark);
  expect_refused({"reconstruct", path("nan.npy"), "-o", path("f.png"), "--wavelength", "532nm", "--pitch", "8um",
                  "--distance", "20cm"},
                 {"nan.npy", "finite", "column 5"});
}

TEST_F(RobustTest, AbsurdMetadata) {
  const Metadata good{
      {"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}, {"distance_m", "0.2"}, {"encoding", "phase"}, {"bits", "8"}};
  const std::pair<const char*, const char*> cases[] = {{"phase_range_rad", "0"},     {"phase_range_rad", "-1"},
                                                       {"phase_range_rad", "1e300"}, {"pitch_m", "1e300"},
                                                       {"wavelength_m", "0"},        {"object_energy", "-1"},
                                                       {"object_energy", "1e300"},   {"level_phase_rad", "0,1e300"},
                                                       {"carrier_x_rad", "7"},       {"reference_angle_y_rad", "-2"}};
  for (const auto& [key, value] : cases) {
    SCOPED_TRACE(std::string(key) + " = " + value);
    Image image = grey(32, 24, good);
    image.metadata[key] = value;
    write_image(path("bad.png"), image);
    expect_refused({"reconstruct", path("bad.png"), "-o", path("f.png")}, {"bad.png", key, "expected", "got"});
  }
  Image image = grey(32, 24, good);
  image.metadata["encoding"] = "amplitude";
  image.metadata["amplitude_min"] = "0";
  image.metadata["amplitude_max"] = "1e300";
  write_image(path("bad.png"), image);
  expect_refused({"reconstruct", path("bad.png"), "-o", path("f.png")}, {"bad.png", "amplitude_max"});
}

TEST_F(RobustTest, ControlCharactersAreEscaped) {
  expect_refused(hologram("a\x1b[31m\n\xff\xc2\x9b.csv", "out.png"), {"a\\x1b[31m\\n\\xff\\xc2\\x9b.csv"});
  expect_refused(hologram("größe µ 光.csv", "out.png"), {"größe µ 光.csv"});
  write("title.csv", "x,y,z\n0,0,\x1b]0;\xff\n");
  expect_refused(hologram("title.csv", "out.png"), {"\\x1b]0;\\xff"});
}

TEST_F(RobustTest, ByteOrderMarks) {
  const std::string mark = "\xEF\xBB\xBF";
  write("good.xyz", "0 0 -0.2 1\n0.001 0 -0.2 1\n");
  for (const std::string name : {"good.csv", "good.xyz"}) {
    write("marked_" + name, mark + content_of(path(name)));
    ASSERT_EQ(run(hologram(name, "plain.npy")).exit_code, 0);
    ASSERT_EQ(run(hologram("marked_" + name, "marked.npy")).exit_code, 0);
    EXPECT_EQ(content_of(path("plain.npy")), content_of(path("marked.npy")));
  }
  write("marked.txt", mark + content_of(path("table.txt")));
  EXPECT_EQ(read_phase_lut(content_of(path("marked.txt"))), read_phase_lut(content_of(path("table.txt"))));
}

// A header that promises two gigabytes.
TEST_F(RobustTest, AWidePictureTakesNoMemory) {
  std::string bytes = content_of(path("map.png"));
  std::string header = std::string("IHDR") + "\x7f\xff\xff\xff" + std::string("\0\0\0\1\x08\0\0\0\0", 9);
  std::uint32_t check = 0xffffffffU;
  for (const char c : header) {
    check ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) check = (check >> 1) ^ ((check & 1) != 0 ? 0xedb88320U : 0U);
  }
  check = ~check;
  for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(check >> shift);
  bytes.replace(12, header.size(), header);
  write("wide.png", bytes);
  // What the program takes for a small picture: CUDA's libraries and its device alone are 300 MiB.
  ASSERT_EQ(run(hologram("good.csv", "small.png")).exit_code, 0);
  ASSERT_EQ(run({"reconstruct", path("small.png"), "-o", path("f.png")}).exit_code, 0);
  rusage before{};
  getrusage(RUSAGE_CHILDREN, &before);
  expect_refused({"reconstruct", path("wide.png"), "-o", path("f.png")}, {"wide.png", "2147483647 x 1"});
  rusage after{};
  getrusage(RUSAGE_CHILDREN, &after);
  RecordProperty("max_rss_kib", fmt::format("{}", after.ru_maxrss));
  // The figures are those of the largest child so far.
  EXPECT_LT(after.ru_maxrss, before.ru_maxrss + 64 * 1024);
}

TEST_F(RobustTest, OneLimitForTheSizeOfPanels) {
  const auto wide = [&](const char* text) {
    return std::vector<std::string>{"hologram", path("good.csv"), "-o",  path("out.png"), "--resolution",
                                    text,       "--pitch",        "8um", "--device",      "cpu"};
  };
  expect_refused(wide("65537x1"), {"--resolution", "65536"});
  expect_refused(wide("99999999999999999999x1"), {"--resolution", "65536"});
  ASSERT_EQ(run(wide("65536x1")).exit_code, 0);
  EXPECT_EQ(run({"reconstruct", path("out.png"), "-o", path("f.png"), "--method", "angular-spectrum"}).exit_code, 0);
}

TEST_F(RobustTest, AHologramThatMemoryCannotHoldIsRefusedAtOnce) {
  const auto pages = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double pixels = 65536.0 * 65536.0;
  if (pages > 60 * pixels) GTEST_SKIP() << "this machine holds three fields of 65536 x 65536";
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  expect_refused({"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--device", "cpu", "--rgb",
                  "638nm,520nm,450nm", "--resolution", "65536x65536", "--pitch", "8um"},
                 {"--resolution: expected", "GiB of memory", "free"});
}

TEST_F(RobustTest, MirrorsHaveTheStatesTheyHave) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  const auto with = [&](const std::string& panel, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--panel", panel});
    return more;
  };
  for (const char* encoding : {"phase", "double-phase"}) {
    expect_refused(with("ti-dlp6500", {"--encode", encoding}),
                   {"--encode: expected amplitude", "on or off", "--panel"});
  }
  expect_refused(with("ti-dlp6500", {"--bits", "8"}), {"--bits: expected at most 1 bit", "--resolution"});
  expect_refused(with("ti-plm-047", {"--bits", "8"}), {"--bits: expected at most 4 bits", "16 states"});
  expect_refused(with("ti-plm-047", {"--packed16"}), {"--packed16: expected at most 4 bits"});
  EXPECT_EQ(run(with("TI-PLM-047", {"--bits", "4"})).exit_code, 0);
  EXPECT_EQ(run(with("Meadowlark-1024", {"--bits", "12"})).exit_code, 0);
}

TEST_F(RobustTest, WhatWasTypedIsAnsweredInItsUnits) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}, {1e-4, 0, -0.1, 1}});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--resolution",
                               "64x48", "--pitch", "8um"});
    return more;
  };
  expect_refused(with({"--carrier", "3deg"}), {"--carrier: expected at most 1.90544 deg", "got 3 deg"});
  expect_refused(with({"--encode", "amplitude", "--reference-angle", "2.5deg"}), {"--reference-angle", "got 2.5 deg"});
  expect_refused(with({"--carrier", "89deg"}), {"85.9 deg"});
  write("binary.txt", std::string("0,1\n1,2\na\0b\x01", 12));
  expect_refused(with({"--lut", path("binary.txt")}), {"'a\\x00b\\x01'"});
  expect_refused(with({"--points", "1e1"}), {"--points", "2 points"});
  expect_refused(with({"--points", "1.5e0"}), {"--points: expected a whole number"});
  const auto warned = run(with({"--wavelength", "532um"}));
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_NE(warned.error.find("warning: a wavelength of 532 um"), std::string::npos) << warned.error;
  EXPECT_EQ(run_json(with({"--wavelength", "1.55um"}))["warnings"].size(), 0u);
  EXPECT_EQ(run_json(with({"--wavelength", "3um"}))["warnings"].size(), 1u);
  write("notes", "hello");
  expect_refused({"info", path("notes")}, {".png", ".h5", ".ply"});
}

TEST_F(RobustTest, OptionsThatWouldDoNothingAreRefused) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}, {1e-4, 0, -0.1, 1}});
  const auto make = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"hologram", path("one.csv"), "--resolution", "64x48", "--pitch", "8um"});
    return more;
  };
  const auto look = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("p.png"), "-o", path("seen.png")});
    return more;
  };
  expect_refused(make({"-o", path("p.png"), "--keep-coordinates", "--size", "1mm"}), {"--keep-coordinates", "--size"});
  expect_refused(make({"-o", path("p.png"), "--keep-coordinates", "--distance", "9cm"}), {"--distance"});
  ASSERT_EQ(run(make({"-o", path("p.png"), "--keep-coordinates"})).exit_code, 0);
  expect_refused(look({"--zero-order"}), {"--zero-order: expected an amplitude encoding", "phase"});
  expect_refused(look({"--no-filter"}), {"--no-filter: expected", "double-phase", "phase"});
  expect_refused(look({"--frames", path("f_%d.png")}), {"--frames: expected --sweep"});
  ASSERT_EQ(run(make({"-o", path("f.h5"), "--keep-coordinates", "--encode", "complex"})).exit_code, 0);
  expect_refused({"reconstruct", path("f.h5"), "-o", path("seen.png"), "--no-filter"}, {"--no-filter", "complex"});
}

TEST_F(RobustTest, ASizeThatFitsIsNamedWheneverThereIsOne) {
  write_cloud("cube.csv", {{-1, -1, -1, 1}, {1, 1, 1, 1}, {-1, 1, 1, 1}, {1, -1, -1, 1}});
  const auto make = [&](const std::string& distance, const std::string& size) {
    return run({"hologram", path("cube.csv"), "-o", path("o.png"), "--resolution", "65x49", "--pitch", "8um",
                "--distance", distance, "--size", size});
  };
  for (const char* distance : {"10cm", "1mm", "-3cm"}) {
    const auto made = make(distance, "40mm");
    const auto at = made.error.find("--size ");
    ASSERT_NE(at, std::string::npos) << made.error;
    const auto fitting = made.error.substr(at + 7, made.error.find(' ', at + 7) - at - 7);
    const auto fits = make(distance, fitting);
    EXPECT_EQ(fits.exit_code, 0) << fits.error;
    EXPECT_EQ(fits.error, "") << fitting;
  }
  EXPECT_NE(make("1mm", "40mm").error.find("crosses the panel"), std::string::npos);
  EXPECT_NE(make("0mm", "40mm").error.find("crosses the panel"), std::string::npos);
}

TEST_F(RobustTest, APictureThroughAPupilSaysWhich) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  ASSERT_EQ(run({"hologram", path("one.csv"), "-o", path("p.png"), "--keep-coordinates", "--resolution", "64x48",
                 "--pitch", "8um"})
                .exit_code,
            0);
  const auto json =
      run_json({"reconstruct", path("p.png"), "-o", path("s.png"), "--aperture", "1mm,-2mm:3mm", "--viewer", "40cm"});
  EXPECT_EQ(json["aperture"]["diameter_m"].get<double>(), 3e-3);
  const auto metadata = run_json({"info", path("s.png")})["metadata"];
  EXPECT_EQ(metadata["aperture_x_m"].get<double>(), 1e-3);
  EXPECT_EQ(metadata["aperture_y_m"].get<double>(), -2e-3);
  EXPECT_EQ(metadata["viewer_distance_m"].get<double>(), 0.4);
}

// 65 pixels of 8 um and 0.1 mm of object: 2 * 8 um * 0.62 mm / 532 nm = 1.86 cm.
TEST_F(RobustTest, GhostsOfDoublePhaseAreSaid) {
  write_cloud("one.csv", {{-1, 0, 0, 1}, {1, 0, 0, 1}});
  const auto made = [&](const std::string& distance) {
    return run({"hologram", path("one.csv"), "-o", path("o.png"), "--distance", distance, "--size", "0.1mm",
                "--resolution", "65x49", "--pitch", "8um", "--encode", "double-phase"})
        .error;
  };
  EXPECT_NE(made("1cm").find("note: a double-phase hologram of this panel has ghosts of objects nearer than 1.86 cm"),
            std::string::npos)
      << made("1cm");
  EXPECT_EQ(made("1.9cm"), "");
}

}  // namespace
}  // namespace holotone::test
