// Codes on the monitors of X servers without a screen.
#include <holotone/display/bit_planes.hpp>
#include <holotone/display/safe_pattern.hpp>
#include <holotone/display/trigger.hpp>
#include <holotone/hologram/encode.hpp>
#include <optional>
#include <tests/support/program.hpp>
#include <tests/support/x_server.hpp>

namespace holotone::test {
namespace {

constexpr std::int64_t ny = 120;
constexpr std::int64_t nx = 160;

template <class T>
Image picture(std::int64_t channels, unsigned seed, Shape<2> shape = {ny, nx}) {
  Array<T, 3> pixels({shape[0], shape[1], channels});
  for (std::int64_t i = 0; i < pixels.size(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    pixels.data()[i] = static_cast<T>(seed >> 12);
  }
  return {std::move(pixels), {}};
}

template <class T>
const Array<T, 3>& pixels_as(const Image& image) {
  return std::get<Array<T, 3>>(image.pixels);
}

class DisplayTest : public ProgramTest {
 protected:
  std::string save(const std::string& name, const Image& image) const {
    write_image(path(name), image);
    return path(name);
  }

  /// `holotone display` with a server's display, or none.
  [[nodiscard]] std::unique_ptr<RunningProgram> start(std::vector<std::string> arguments,
                                                      const std::string& display) const {
    arguments.insert(arguments.begin(), "display");
    return start_command(arguments, display);
  }

  [[nodiscard]] std::unique_ptr<RunningProgram> start_command(const std::vector<std::string>& arguments,
                                                              const std::string& display) const {
    return std::make_unique<RunningProgram>(arguments, captured_, [display] {
      unsetenv("WAYLAND_DISPLAY");
      if (display.empty()) {
        unsetenv("DISPLAY");
      } else {
        setenv("DISPLAY", display.c_str(), 1);
      }
    });
  }

  void expect_refusal(const std::vector<std::string>& arguments, const std::string& display, const char* words) const {
    const auto result = start(arguments, display)->wait(60);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_NE(result.error.find(words), std::string::npos) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  }
};

/// Codes 0 and 255.
Image binary(Image image) {
  for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = code < 128 ? 0 : 255;
  return image;
}

class OnePanelTest : public DisplayTest {
 protected:
  void SetUp() override {
    server_.emplace(support::XServer::one_monitor(nx, ny, captured_));
    if (!server_->running()) GTEST_SKIP() << "no Xvfb";
    if (const auto result = start({}, server_->display())->wait(60); result.exit_code != 0) {
      GTEST_SKIP() << result.error;
    }
  }
  ~OnePanelTest() override { server_.reset(); }

  /// True once the panel's pixels are expected(i of nx ny, channel), within 20 s.
  template <class Expected>
  [[nodiscard]] bool shows(const Expected& expected) const {
    for (int i = 0; i < 200; ++i) {
      const auto pixels = server_->pixels();
      bool same = pixels.size() == static_cast<std::size_t>(nx * ny * 3);
      for (std::int64_t p = 0; same && p < nx * ny; ++p) {
        for (std::int64_t c = 0; c < 3; ++c)
          same = same && pixels[static_cast<std::size_t>(3 * p + c)] == expected(p, c);
      }
      if (same) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  [[nodiscard]] bool shows_grey(const Array<std::uint8_t, 2>& codes) const {
    return shows([&](std::int64_t p, std::int64_t) { return codes.data()[p]; });
  }
  /// The same of a grey file.
  [[nodiscard]] bool shows_file(const std::string& file) const {
    const Image image = read_image(file);
    return shows([&](std::int64_t p, std::int64_t) { return pixels_as<std::uint8_t>(image).data()[p]; });
  }

  /// A command with the panel's size and an output.
  static std::vector<std::string> computed(std::vector<std::string> command, const std::string& output,
                                           const char* pitch = "8um") {
    command.insert(command.end(), {"-o", output, "--resolution", "160x120", "--pitch", pitch, "--device", "cpu"});
    return command;
  }

  /// Views of a light field, view_%v_%u.png.
  void save_views() const {
    for (unsigned i = 0; i < 9; ++i) {
      save(fmt::format("view_{}_{}.png", i / 3, i % 3), picture<std::uint8_t>(1, i, {12, 16}));
    }
  }

  /// Ends a running program as a user does, and returns its result.
  static ProgramResult stop(const std::unique_ptr<RunningProgram>& program) {
    program->send(SIGINT);
    return program->wait(30);
  }

  std::optional<support::XServer> server_;
};

TEST_F(OnePanelTest, ListsIt) {
  const auto result = start({"--json"}, server_->display())->wait(60);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const auto monitors = nlohmann::json::parse(result.output).at("monitors");
  ASSERT_EQ(monitors.size(), 1u);
  EXPECT_EQ(monitors[0].at("resolution"), nlohmann::json({nx, ny}));
  EXPECT_EQ(monitors[0].at("number"), 1);
}

TEST_F(OnePanelTest, ShowsFilesBitForBit) {
  const Image grey = picture<std::uint8_t>(1, 1);
  const Image colour = picture<std::uint8_t>(3, 2);
  const Image words = picture<std::uint16_t>(1, 3);
  const Image small = picture<std::uint8_t>(1, 4, {20, 30});
  std::string lut;
  for (int i = 0; i < 256; ++i) lut += fmt::format("{}\n", 255 - i);
  write("lut.txt", lut);
  struct Case {
    std::vector<std::string> arguments;
    std::function<int(std::int64_t, std::int64_t)> expected;
  };
  const Case cases[] = {
      {{save("grey.png", grey)}, [&](auto p, auto) { return pixels_as<std::uint8_t>(grey).data()[p]; }},
      {{save("colour.png", colour)}, [&](auto p, auto c) { return pixels_as<std::uint8_t>(colour).data()[3 * p + c]; }},
      {{save("words.png", words), "--packed16", "gb"},
       [&](auto p, auto c) {
         const int code = pixels_as<std::uint16_t>(words).data()[p];
         return c == 1 ? code >> 8 : c == 2 ? code & 255 : 0;
       }},
      {{path("grey.png"), "--display-lut", path("lut.txt"), "--monitor", "1"},
       [&](auto p, auto) { return 255 - pixels_as<std::uint8_t>(grey).data()[p]; }},
      {{save("small.png", small), "--centre", "--monitor", fmt::format("{}x{}", nx, ny)}, [&](auto p, auto) {
         const auto y = p / nx - (ny - 20) / 2;
         const auto x = p % nx - (nx - 30) / 2;
         return y >= 0 && y < 20 && x >= 0 && x < 30 ? pixels_as<std::uint8_t>(small).data()[y * 30 + x] : 0;
       }}};
  for (const auto& one : cases) {
    const auto program = start(one.arguments, server_->display());
    EXPECT_TRUE(shows(one.expected)) << one.arguments.front();
    const auto result = stop(program);
    EXPECT_EQ(result.exit_code, 130) << result.error;
    EXPECT_EQ(result.error, "");
  }
}

TEST_F(OnePanelTest, PlaysSequencesAndCounts) {
  for (int i = 0; i < 30; ++i) save(fmt::format("f{:02}.png", i), picture<std::uint8_t>(1, static_cast<unsigned>(i)));
  auto result = start({path("f%02d.png"), "--fps", "30", "--json"}, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report.at("shown"), 30);
  EXPECT_LE(report.at("pictures_per_s"), 30.5);
  // Bits: two pictures for 30 frames; colours: three for a file.
  for (unsigned i = 0; i < 30; ++i) save(fmt::format("b{:02}.png", i), binary(picture<std::uint8_t>(1, i)));
  result = start({path("b%02d.png"), "--bit-planes", "grb", "--json"}, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(nlohmann::json::parse(result.output).at("shown"), 2);
  save("rgb.png", picture<std::uint8_t>(3, 9));
  result = start({path("rgb.png"), "--field-sequence", "--json"}, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(nlohmann::json::parse(result.output).at("shown"), 3);
  write("f07.png", "not a picture");
  result = start({path("f%02d.png"), "--skip-bad", "--json"}, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report.at("shown"), 29);
  ASSERT_EQ(report.at("skipped").size(), 1u);
  EXPECT_NE(report.at("skipped")[0].get<std::string>().find("f07.png"), std::string::npos);
}

TEST_F(OnePanelTest, WithoutAReadablePictureItEnds) {
  for (int i = 0; i < 3; ++i) write(fmt::format("f{}.png", i), "not a picture");
  for (const bool loop : {false, true}) {
    std::vector<std::string> arguments{path("f%d.png"), "--skip-bad"};
    if (loop) arguments.emplace_back("--loop");
    const auto result = start(arguments, server_->display())->wait(20);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_NE(result.error.find("f2.png"), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("expected a readable picture"), std::string::npos) << result.error;
  }
}

TEST_F(OnePanelTest, NamesALostXServer) {
  const auto file = save("one.png", picture<std::uint8_t>(1, 4));
  const auto program = start({file}, server_->display());
  ASSERT_TRUE(shows_file(file));
  server_.reset();
  const auto result = program->wait(20);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error, "holotone: the display of the panel is gone: its X server has ended\n");
}

TEST_F(OnePanelTest, LightsTheTriggerOfEachColour) {
  const Image colour = picture<std::uint8_t>(3, 2);
  // The last colour stays.
  const auto program =
      start({save("rgb.png", colour), "--field-sequence", "--trigger", "8", "--settle", "20ms", "--hold", "1min"},
            server_->display());
  Array<std::uint8_t, 2> blue({ny, nx});
  for (std::int64_t p = 0; p < nx * ny; ++p) blue.data()[p] = pixels_as<std::uint8_t>(colour).data()[3 * p + 2];
  draw_trigger(blue.view(), {.side_px = 8, .fields = 3, .lit = 2});
  EXPECT_TRUE(shows_grey(blue));
  EXPECT_EQ(stop(program).exit_code, 130);
}

TEST_F(OnePanelTest, IsSafeAfterAnError) {
  save("a.png", picture<std::uint8_t>(1, 1));
  write("b.png", "not a picture");
  const auto program = start({path("a.png"), path("b.png"), "--keep-safe"}, server_->display());
  EXPECT_TRUE(shows_grey(safe_pattern({}, {ny, nx})));
  const auto result = stop(program);
  EXPECT_EQ(result.exit_code, 2) << result.error;
  EXPECT_NE(result.error.find("b.png"), std::string::npos) << result.error;
}

TEST_F(OnePanelTest, IsSafeWhileAnotherWindowHasTheKeyboard) {
  const Image grey = picture<std::uint8_t>(1, 1);
  const auto program = start({save("a.png", grey), "--safe-pattern", "8px"}, server_->display());
  const auto codes = [&](auto p, auto) { return pixels_as<std::uint8_t>(grey).data()[p]; };
  ASSERT_TRUE(shows(codes));
  server_->give_and_take_focus();
  EXPECT_TRUE(shows_grey(safe_pattern({.period_px = 8}, {ny, nx})));
  const auto result = stop(program);
  EXPECT_EQ(result.exit_code, 130) << result.error;
}

TEST_F(OnePanelTest, ShowsWhatIsComputedAsItsFileHasIt) {
  const auto cloud = write_cloud("points.csv", {{0, 0, -0.02, 1}, {1e-4, 2e-4, -0.021, 0.5}});
  const auto photo = save("photo.png", picture<std::uint8_t>(1, 3, {60, 80}));
  const std::vector<std::string> commands[] = {{"hologram", cloud, "--keep-coordinates"},
                                               {"hologram", "--image", photo, "--distance", "2cm"},
                                               {"optimize", photo, "--distance", "2cm", "--iterations", "3"}};
  for (const auto& command : commands) {
    const auto file = path(command[0] + ".png");
    ASSERT_EQ(run(computed(command, file)).exit_code, 0);
    const auto program = start_command(computed(command, "monitor:1"), server_->display());
    EXPECT_TRUE(shows_file(file)) << command[1];
    const auto result = stop(program);
    EXPECT_EQ(result.exit_code, 130) << result.error;
    fs::remove(file);
  }
  auto spin = computed({"hologram", cloud, "--spin", "360deg:9", "--fps", "30", "--json"}, "monitor:1");
  auto result = start_command(spin, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(nlohmann::json::parse(result.output).at("shown"), 9);
  spin.insert(spin.end(), {"--rgb", "638nm,520nm,450nm", "--field-sequence"});
  spin[std::find(spin.begin(), spin.end(), "30") - spin.begin()] = "10";
  result = start_command(spin, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(nlohmann::json::parse(result.output).at("shown"), 27);
  const auto refuse = [&](const std::vector<std::string>& arguments, const char* words) {
    const auto refused = start_command(arguments, server_->display())->wait(60);
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.error.find(words), std::string::npos) << refused.error;
  };
  refuse({"hologram", cloud, "-o", "monitor:1"}, "--output: expected a monitor of 1920 x 1080 pixels");
  refuse(computed({"hologram", cloud}, "monitor:7"), "--output: expected number, name or size of one of: 1: screen");
  refuse(computed({"hologram", cloud, "--bits", "10"}, "monitor:1"), "--bits: expected at most 8 bits on a monitor");
  refuse(computed({"hologram", cloud, "--loop"}, path("a.png")), "--loop: expected -o monitor:N, got");
}

TEST_F(OnePanelTest, ShowsStereograms) {
  save_views();
  const std::vector<std::string> views{
      "hologram", "--views", path("view_%v_%u.png"), "--hogel", "16", "--distance", "5mm", "--viewer", "3mm:0.2mm"};
  const auto with = [&](const std::vector<std::string>& more, const std::string& output) {
    auto command = computed(views, output, "2um");
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  // The encoded field, and codes that are quantized hogel by hogel.
  ASSERT_EQ(run(with({}, path("field.npy"))).exit_code, 0);
  const auto field = read_field(path("field.npy"));
  const auto codes = encode(field.values.view(), {.encoding = Encoding::phase, .bits = 4}, {nx, ny, 2e-6, 532e-9});
  auto program = start_command(with({"--bits", "4"}, "monitor:1"), server_->display());
  Array<std::uint8_t, 2> grey(codes.shape());
  std::copy_n(codes.data(), codes.size(), grey.data());
  EXPECT_TRUE(shows_grey(grey));
  EXPECT_EQ(stop(program).exit_code, 130);
  ASSERT_EQ(run(with({"--scale", "1"}, path("codes.png"))).exit_code, 0);
  program = start_command(with({"--scale", "1"}, "monitor:1"), server_->display());
  EXPECT_TRUE(shows_file(path("codes.png")));
  EXPECT_EQ(stop(program).exit_code, 130);
  const auto refused = start_command(with({"--fps", "10"}, path("field.npy")), server_->display())->wait(60);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.error.find("--fps: expected -o monitor:N"), std::string::npos) << refused.error;
}

TEST_F(OnePanelTest, ShowsSpotsThatStandAndMove) {
  const std::vector<std::string> lens{"--focal-length", "100mm"};
  const auto spots = [&](std::vector<std::string> words, const std::string& output) {
    words.insert(words.begin(), "spots");
    words.insert(words.end(), lens.begin(), lens.end());
    return computed(words, output);
  };
  const std::vector<std::string> array{"--array", "2x2", "--spacing", "1mm", "--centre", "0.3mm,0.2mm"};
  ASSERT_EQ(run(spots(array, path("array.png"))).exit_code, 0);
  auto program = start_command(spots(array, "monitor:1"), server_->display());
  EXPECT_TRUE(shows_file(path("array.png")));
  EXPECT_EQ(stop(program).exit_code, 130);
  const auto moves = write("moves.csv", "frame,id,x_um,y_um\n0,0,700,300\n2,0,800,300\n0,1,-500,0\n2,1,-500,-80\n");
  ASSERT_EQ(run(spots({"--trajectory", moves}, path("move%d.png"))).exit_code, 0);
  program =
      start_command(spots({"--trajectory", moves, "--frame-time", "500ms", "--json"}, "monitor:1"), server_->display());
  for (const char* file : {"move0.png", "move1.png", "move2.png"}) EXPECT_TRUE(shows_file(path(file))) << file;
  const auto result = program->wait(30);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const auto said = nlohmann::json::parse(result.output);
  EXPECT_EQ(said.at("shown"), 3);
  EXPECT_EQ(said.at("frames").size(), 3u);
  const auto refused =
      start_command(spots({"--trajectory", moves, "--fps", "2", "--frame-time", "1s"}, "monitor:1"), server_->display())
          ->wait(60);
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.error.find("--fps: expected no --frame-time beside it, got '2'"), std::string::npos)
      << refused.error;
  const auto hasty =
      start_command(spots({"--trajectory", moves, "--frame-time", "1ms"}, "monitor:1"), server_->display())->wait(60);
  EXPECT_EQ(hasty.exit_code, 2) << hasty.output;
  EXPECT_NE(hasty.error.find("--frame-time: expected at least "), std::string::npos) << hasty.error;
  EXPECT_NE(hasty.error.find(" Hz, got '1 ms'"), std::string::npos) << hasty.error;
  EXPECT_EQ(hasty.error.find("--fps"), std::string::npos) << hasty.error;
}

TEST_F(OnePanelTest, ShowsSubframesAndFramesInTurn) {
  const auto optimize = [&](const std::string& input, const std::string& output, const std::vector<std::string>& more) {
    auto command = computed({"optimize", input, "--distance", "2cm", "--iterations", "3"}, output);
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  const auto in0 = save("in0.png", picture<std::uint8_t>(1, 3, {60, 80}));
  save("in1.png", picture<std::uint8_t>(1, 4, {60, 80}));
  ASSERT_EQ(run(optimize(in0, path("sub%t.png"), {"--subframes", "2"})).exit_code, 0);
  auto program = start_command(optimize(in0, "monitor:1", {"--subframes", "2", "--fps", "2"}), server_->display());
  for (const char* file : {"sub0.png", "sub1.png", "sub0.png"}) EXPECT_TRUE(shows_file(path(file))) << file;
  auto result = stop(program);
  EXPECT_EQ(result.exit_code, 130) << result.error;
  ASSERT_EQ(run(optimize(path("in%d.png"), path("out%d.png"), {})).exit_code, 0);
  program = start_command(optimize(path("in%d.png"), "monitor:1", {"--fps", "1"}), server_->display());
  for (const char* file : {"out0.png", "out1.png"}) EXPECT_TRUE(shows_file(path(file))) << file;
  result = program->wait(30);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  // Subframes of three colours, one colour after the other.
  const std::vector<std::string> colours{"--rgb", "638nm,520nm,450nm", "--subframes", "2"};
  ASSERT_EQ(run(optimize(in0, path("%c%t.png"), colours)).exit_code, 0);
  auto sequence = colours;
  sequence.insert(sequence.end(), {"--field-sequence", "--fps", "1"});
  program = start_command(optimize(in0, "monitor:1", sequence), server_->display());
  for (const char* file : {"r0.png", "g0.png", "b0.png", "r1.png", "g1.png", "b1.png", "r0.png"}) {
    EXPECT_TRUE(shows_file(path(file))) << file;
  }
  EXPECT_EQ(stop(program).exit_code, 130);
}

TEST_F(OnePanelTest, StaysDarkForAMistake) {
  save_views();
  const auto cloud = write_cloud("points.csv", {{0, 0, -0.02, 1}});
  const auto photo = save("photo.png", picture<std::uint8_t>(1, 3, {60, 80}));
  const auto bad = write("bad.png", "not a picture");
  const std::vector<std::string> mistakes[] = {{"hologram", cloud, "--keep-coordinates", "--light", "1,1,1"},
                                               {"hologram", cloud, "--keep-coordinates", "--fps", "200"},
                                               {"hologram", cloud, "--keep-coordinates", "--rows-at-once", "8"},
                                               {"hologram", path("none.ply")},
                                               {"hologram", "--image", photo, "--phase", "rough"},
                                               {"hologram", "--image", bad},
                                               {"hologram", "--views", path("view_%v_%u.png"), "--camera-pitch", "0mm"},
                                               {"hologram", "--views", path("none_%v_%u.png")},
                                               {"optimize", photo, "--iterations", "few"},
                                               {"optimize", photo, "--against", path("none.png")},
                                               {"optimize", bad}};
  const auto before = server_->pixels();
  for (const auto& mistake : mistakes) {
    const auto program = start_command(computed(mistake, "monitor:1"), server_->display());
    bool dark = true;
    while (program->running()) dark = dark && server_->pixels() == before;
    const auto result = program->wait(60);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_TRUE(dark) << result.error;
  }
}

TEST_F(OnePanelTest, TakesItsTimeForASlowPanel) {
  for (int i = 0; i < 4; ++i) save(fmt::format("f{}.png", i), picture<std::uint8_t>(1, static_cast<unsigned>(i)));
  const auto result = start({path("f%d.png"), "--settle", "100ms", "--json"}, server_->display())->wait(60);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report.at("shown"), 4);
  EXPECT_LE(report.at("pictures_per_s"), 10.2);
}

TEST_F(OnePanelTest, SaysWhichNumbersAreMissing) {
  for (const int i : {1, 2, 4, 8}) save(fmt::format("f{}.png", i), picture<std::uint8_t>(1, 1));
  const auto result = start({path("f%d.png")}, server_->display())->wait(60);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("f%d.png: no file with number 3, and others"), std::string::npos) << result.error;
}

TEST_F(OnePanelTest, RefusesWhatItCannotShow) {
  const auto grey = save("grey.png", picture<std::uint8_t>(1, 1));
  const auto wide = save("wide.png", picture<std::uint8_t>(1, 1, {ny, nx + 1}));
  const auto words = save("words.png", picture<std::uint16_t>(1, 1));
  const auto clear = save("clear.png", picture<std::uint8_t>(4, 1));
  const std::string display = server_->display();
  expect_refusal({wide}, display, "wide.png: ");
  expect_refusal({wide}, display, "expected 160 x 120 pixels, as monitor screen has, got 161 x 120");
  expect_refusal({words}, display, "words.png: expected 8 bits a channel, got 16; --packed16 sends");
  expect_refusal({grey, "--packed16", "rg"}, display, "grey.png: expected 16-bit codes, got 8-bit ones");
  expect_refusal({clear}, display, "clear.png: expected 1 or 3 channels, got 4");
  expect_refusal({grey, "--monitor", "3"}, display, "--monitor: expected number, name or size of one of: 1: screen");
  expect_refusal({grey, "--refresh", "61"}, display, "--refresh: expected one of 60 Hz");
  expect_refusal({grey, "--fps", "200"}, display, "--fps: expected above 0, up to the 60 Hz of the panel, got 200");
  expect_refusal({grey, "--field-sequence"}, display, "expected three channels for a sequence of colours, got one");
  expect_refusal({path("none.png")}, display, "none.png");
  expect_refusal({path("s_%c.png")}, display, "%c needs --field-sequence");
  expect_refusal({grey, "--fps", "50", "--settle", "30ms"}, display, "--settle: expected at most 20 ms at --fps 50");
  const auto rgb = save("rgb.png", picture<std::uint8_t>(3, 2));
  expect_refusal({rgb, "--fps", "50", "--field-sequence"}, display,
                 "--fps: expected at most 20 with --field-sequence, a third of the 60 Hz of the panel, got '50'");
  expect_refusal({rgb, "--fps", "10", "--field-sequence", "--settle", "40ms"}, display,
                 "--settle: expected at most 33.33 ms at --fps 10 with --field-sequence, got 40 ms");
  expect_refusal({grey, "--hold", "10"}, display, "--hold: expected a time with its unit");
  expect_refusal({grey, "--safe-pattern", "1px"}, display, "--safe-pattern");
  expect_refusal({"--loop", "--json"}, display, "--loop: expected a FILE to show");
  expect_refusal({grey, "--bit-planes", "grb"}, display, "grey.png: expected a binary frame");
  const auto frame = save("frame.png", binary(picture<std::uint8_t>(1, 1)));
  expect_refusal({frame, "--bit-planes", "xyz"}, display, "--bit-planes: expected the letters rgb in any order");
  expect_refusal({grey, "--trigger", "200"}, display, "--trigger: expected squares within 160 x 120 pixels");
}

TEST_F(DisplayTest, NeedsADisplay) {
  const auto grey = save("grey.png", picture<std::uint8_t>(1, 1));
  expect_refusal({grey}, "", "");
  expect_refusal({}, ":9999", "");
}

class TwoPanelsTest : public DisplayTest {
 protected:
  void SetUp() override {
    server_.emplace(support::XServer::two_monitors(captured_));
    if (!server_->running()) GTEST_SKIP() << "no Xorg with a dummy driver, or not allowed to start it";
    if (const auto result = start({}, server_->display())->wait(60); result.exit_code != 0) {
      GTEST_SKIP() << result.error;
    }
  }
  ~TwoPanelsTest() override { server_.reset(); }

  std::optional<support::XServer> server_;
};

TEST_F(TwoPanelsTest, HaveSizesAndPlaces) {
  const auto result = start({"--json"}, server_->display())->wait(60);
  const auto monitors = nlohmann::json::parse(result.output).at("monitors");
  ASSERT_EQ(monitors.size(), 2u) << result.output;
  EXPECT_EQ(monitors[1].at("resolution"), nlohmann::json({800, 600}));
  EXPECT_EQ(monitors[1].at("place_px"), nlohmann::json({640, 0}));
  const auto large = save("large.png", picture<std::uint8_t>(1, 1, {600, 800}));
  expect_refusal({large}, server_->display(), "--monitor is required, one of: 1: DUMMY0, 640 x 480 pixels");
  expect_refusal({large, "--monitor", "dummy"}, server_->display(), "got 'dummy', which 2 have");
  expect_refusal({large, "--monitor", "DUMMY0"}, server_->display(), "expected 640 x 480 pixels");
  for (const char* which : {"2", "dummy1", "800x600"}) {
    const auto shown = start({large, "--monitor", which, "--hold", "100ms"}, server_->display())->wait(60);
    EXPECT_EQ(shown.exit_code, 0) << shown.error;
  }
}

TEST_F(TwoPanelsTest, GetTheirGammaBack) {
  server_->xrandr("--output DUMMY1 --gamma 2:2:2");
  const auto gamma = [&] {
    const std::string text = server_->xrandr("--verbose");
    const auto at = text.find("Gamma:", text.find("DUMMY1"));
    return text.substr(at, text.find('\n', at) - at);
  };
  const std::string before = gamma();
  if (before.find("2.0") == std::string::npos && before.find("0.5") == std::string::npos) {
    GTEST_SKIP() << "this server keeps no gamma: " << before;
  }
  const auto large = save("large.png", picture<std::uint8_t>(1, 1, {600, 800}));
  const auto program = start({large, "--monitor", "2"}, server_->display());
  std::string during = before;
  for (int i = 0; i < 100 && during == before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    during = gamma();
  }
  EXPECT_NE(during.find("1.0:1.0:1.0"), std::string::npos) << during;
  program->send(SIGINT);
  EXPECT_EQ(program->wait(30).exit_code, 130);
  EXPECT_EQ(gamma(), before);
}

TEST_F(TwoPanelsTest, MayVanish) {
  const auto large = save("large.png", picture<std::uint8_t>(1, 1, {600, 800}));
  const auto program = start({large, "--monitor", "2"}, server_->display());
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  ASSERT_TRUE(program->running());
  server_->xrandr("--output DUMMY1 --off");
  const auto result = program->wait(30);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.error, "holotone: monitor DUMMY1 is gone, or has another size\n");
}

}  // namespace
}  // namespace holotone::test
