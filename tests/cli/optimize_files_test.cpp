// holotone optimize: signals, what its files state, and what it refuses.
#include <holotone/recipes/metadata_keys.hpp>
#include <tests/cli/optimize_program.hpp>

namespace holotone::test {
namespace {

class OptimizeFilesTest : public OptimizeTest {};

TEST_F(OptimizeFilesTest, KeepBestWritesWhatThereIsAtASignal) {
  write_picture("photo.png", 96, 144);
  for (const bool keep : {true, false}) {
    const std::string name = keep ? "kept.png" : "lost.png";
    std::vector<std::string> arguments{"optimize",     path("photo.png"), "-o",    path(name),   "--resolution",
                                       "480x320",      "--pitch",         "8um",   "--distance", "2cm",
                                       "--iterations", "100000",          "--json"};
    if (keep) arguments.emplace_back("--keep-best");
    fs::create_directories(path("captured"));
    RunningProgram program(arguments, path("captured"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    program.send(SIGINT);
    const auto result = program.wait(60);
    EXPECT_EQ(fs::exists(path(name)), keep);
    EXPECT_EQ(result.exit_code, keep ? 0 : 130) << result.error;
    if (!keep) continue;
    const auto report = nlohmann::json::parse(result.output);
    EXPECT_TRUE(report["holograms"][0]["stopped"].get<bool>());
    EXPECT_GT(report["holograms"][0]["iterations"], 0);
  }
}

// Other commands end a second after a signal, by a clock that also runs while the process is stopped: here it is, as if
// a step took that long on any machine.
TEST_F(OptimizeFilesTest, KeepBestWaitsForASlowStep) {
  write_picture("photo.png", 96, 144);
  auto arguments = optimize("photo.png", "slow_%t.png");
  *(std::find(arguments.begin(), arguments.end(), "96x64")) = "320x240";
  *(std::find(arguments.begin(), arguments.end(), "20")) = "100000";
  arguments.insert(arguments.end(), {"--subframes", "24", "--keep-best", "--progress"});
  fs::create_directories(path("captured"));
  RunningProgram program(arguments, path("captured"));
  const fs::path progress = fs::path(path("captured")) / "error";
  while (program.running() && content_of(progress).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  program.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for its handler
  program.send(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  program.send(SIGCONT);
  const auto result = program.wait(120);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(fs::exists(path("slow_23.png")));
}

TEST_F(OptimizeFilesTest, FilesStateWhatTheTableOfKeysSays) {
  write_picture("photo.png", 32, 48);
  Array<std::uint8_t, 3> map({64, 96, 1});
  std::fill_n(map.data(), map.size(), std::uint8_t{9});
  write_image(path("map.png"), Image{std::move(map), {}});
  auto arguments = optimize("photo.png", "slm_%c.png");
  arguments.insert(arguments.end(), {"--rgb", "638nm,520nm,450nm", "--focal-length", "25cm", "--carrier",
                                     "0.1deg,0.1deg", "--correction", path("map.png"), "--bits", "12", "--packed16"});
  ASSERT_EQ(run(arguments).exit_code, 0);
  const auto metadata = read_image(path("slm_g.png")).metadata;
  for (const auto& [name, value] : metadata) {
    const auto* const key = find_metadata_key(name);
    ASSERT_NE(key, nullptr) << name;
    EXPECT_NE(key->writers.find("optimize"), std::string_view::npos) << name;
  }
  std::size_t all = 0;
  for (const auto& key : metadata_keys()) all += key.writers.find("optimize") == std::string_view::npos ? 0 : 1;
  // level_phase_rad stands in place of phase_range_rad; distances_m is of stacks, scaled_codes of --scale-codes.
  EXPECT_EQ(metadata.size(), all - 3);
}

// BMP holds no metadata: the printed options stand for it.
TEST_F(OptimizeFilesTest, FormatsWithoutMetadataComeWithTheirOptions) {
  write_picture("photo.png", 48, 72);
  const std::vector<std::string> lens{"--focal-length", "25cm", "--bits", "6"};
  auto arguments = optimize("photo.png", "slm.bmp");
  arguments.insert(arguments.end(), lens.begin(), lens.end());
  const auto flags = run(arguments).error;
  EXPECT_NE(flags.find("--pitch 8um --wavelength 532nm --distance 2cm --focal-length 25cm --bits 6"), std::string::npos)
      << flags;
  auto stated = optimize("photo.png", "slm.png");
  stated.insert(stated.end(), lens.begin(), lens.end());
  EXPECT_EQ(run(stated).error, "");
  const auto seen = [&](const std::string& input, const std::vector<std::string>& more) {
    std::vector<std::string> words{"reconstruct", path(input), "-o", path("seen.npy"), "--linear"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run(words).exit_code, 0);
    return content_of(path("seen.npy"));
  };
  EXPECT_EQ(seen("slm.bmp", {"--pitch", "8um", "--wavelength", "532nm", "--distance", "2cm", "--focal-length", "25cm",
                             "--bits", "6"}),
            seen("slm.png", {}));
  auto colours = optimize("photo.png", "slm_%c.bmp");
  colours.insert(colours.end(), {"--rgb", "638nm,520nm,450nm"});
  const auto line = run(colours).error;
  EXPECT_NE(line.find("--wavelength 638nm,520nm,450nm --distance 2cm"), std::string::npos) << line;
  EXPECT_NE(line.find("--object-energy"), std::string::npos) << line;
}

// Squares of amplitudes below 1e-19 or above 1e19 are beyond float32.
TEST_F(OptimizeFilesTest, TheUnitOfLightDoesNotMatter) {
  if (!can_write("a.tif")) GTEST_SKIP() << "without TIFF";
  const auto write_light = [&](const std::string& name, Shape<2> shape, double unit) {
    Array<float, 3> pixels({shape[0], shape[1], 1});
    for (std::int64_t i = 0; i < pixels.size(); ++i) {
      pixels.data()[i] = static_cast<float>(unit * (1 + std::sin(static_cast<double>(i) * 0.07)));
    }
    write_image(path(name), Image{std::move(pixels), {}});
  };
  const auto reached = [&](double unit) {
    write_light("light.tif", {48, 72}, unit);
    write_light("beam.tif", {64, 96}, 1e10 / unit);
    auto arguments = optimize("light.tif", "slm.png");
    arguments.insert(arguments.end(), {"--source", path("beam.tif")});
    return run_json(arguments)["holograms"][0]["psnr_worst_db"].get<double>();
  };
  const double usual = reached(1);
  EXPECT_GT(usual, 15);
  for (const double unit : {1e-25, 1e14}) EXPECT_NEAR(reached(unit), usual, 1) << unit;
}

// Flat pictures have one layer.
TEST_F(OptimizeFilesTest, MemoryIsThatOfTheFlatPicture) {
  write_picture("photo.png", 32, 48);
  auto arguments = optimize("photo.png", "slm.png");
  *(std::find(arguments.begin(), arguments.end(), "96x64")) = "65536x65536";
  expect_refused(arguments, {"--resolution: expected", "1 plane, 1 subframe"});
}

TEST_F(OptimizeFilesTest, FilesThatAreReadAreNotWritten) {
  write_picture("photo.png", 48, 72);
  Array<std::uint8_t, 3> map({64, 96, 1});
  std::fill_n(map.data(), map.size(), std::uint8_t{9});
  write_image(path("map.png"), Image{std::move(map), {}});
  ASSERT_EQ(run(optimize("photo.png", "slm.png")).exit_code, 0);
  const auto over = [&](const std::string& option, const std::string& file) {
    auto arguments = optimize("photo.png", file);
    arguments.insert(arguments.end(), {option, path(file)});
    expect_refused(arguments, {fmt::format("--output: expected another file than that of {}", option).c_str()});
  };
  over("--correction", "map.png");
  over("--start", "slm.png");
  auto start = optimize("photo.png", "two.png");
  start.insert(start.end(), {"--start", path("map.png")});
  expect_refused(start, {"map.png: expected a hologram to start from, got a picture that states no encoding"});
  start.back() = path("none_%t.png");
  expect_refused(start, {"none_0.png: file not found"});
}

TEST_F(OptimizeFilesTest, BadPlanes) {
  write_picture("photo.png", 48, 72);
  Array<std::uint8_t, 3> depth({48, 72, 1});
  for (std::int64_t i = 0; i < depth.size(); ++i) depth.data()[i] = static_cast<std::uint8_t>(1 + (i % 72) * 3);
  write_image(path("depth.png"), Image{std::move(depth), {}});
  const auto layered = [&](const std::string& distance, const std::vector<std::string>& more) {
    auto arguments = optimize("photo.png", "slm.png");
    *(std::find(arguments.begin(), arguments.end(), "--distance") + 1) = distance;
    arguments.insert(arguments.end(), {"--depth", path("depth.png")});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  expect_refused(layered("2cm", {"--depth-range", "1cm,2cm", "--layers", "257"}),
                 {"--layers: expected a whole number from 1 to 256, got '257'"});
  expect_refused(layered("-50cm", {"--depth-range=-60cm,-40cm"}),
                 {"--viewer-distance: expected more than", "where the nearest layer lies, got '50 cm'"});
  std::vector<std::string> stack{"optimize", "-o",      path("slm.png"), "--resolution",
                                 "96x64",    "--pitch", "8um",           "--stack"};
  for (int i = 1; i <= 257; ++i) stack.push_back(fmt::format("{}@{}mm", path("photo.png"), i));
  expect_refused(stack, {"--stack: expected at most 256 pictures, got '257'"});
  stack.resize(10);  // no option follows
  EXPECT_EQ(run(stack).exit_code, 0);
  fs::remove(path("slm.png"));
  stack.resize(8);
  stack.push_back(path("photo_%d.png") + "@1cm");
  expect_refused(stack, {"--stack: expected a name without a counter"});
}

// What runs but cannot be what was meant is said.
TEST_F(OptimizeFilesTest, PlanesWithoutAPictureAreNamed) {
  write_picture("photo.png", 32, 48);
  const auto said = [&](const std::string& option, const std::string& value) {
    auto arguments = optimize("photo.png", "slm.png");
    const auto at = std::find(arguments.begin(), arguments.end(), option);
    if (at != arguments.end()) {
      *(at + 1) = value;
    } else {
      arguments.insert(arguments.end(), {option, value});
    }
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.error;
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(holds(said("--distance", "2m"), "makes no detail finer than")) << said("--distance", "2m");
  EXPECT_TRUE(holds(said("--distance", "0cm"), "a phase cannot become a picture")) << said("--distance", "0cm");
  EXPECT_EQ(said("--distance", "10mm").find("warning"), std::string::npos) << said("--distance", "10mm");
  EXPECT_TRUE(holds(said("--zero-order", "0.2"), "reconstruct takes the codes alone, without --zero-order"));
}

TEST_F(OptimizeFilesTest, BadInput) {
  write_picture("photo.png", 32, 48);
  write_picture("black.png", 32, 48, 0);
  write("text.png", "no picture");
  expect_refused(optimize("black.png", "slm.png"), {"black.png: expected a picture with some light, got a black one"});
  expect_refused(optimize("text.png", "slm.png"), {"text.png"});
  expect_refused(optimize("none.png", "slm.png"), {"none.png: file not found"});
  expect_refused(optimize("photo.png", "slm.h5"), {"--output", ".png"});
  expect_refused(optimize("photo.png", "photo.png"), {"--output", "input"});
  const auto with = [&](const std::string& option, const std::string& value) {
    auto arguments = optimize("photo.png", "slm.png");
    const auto at = std::find(arguments.begin(), arguments.end(), option == "--output" ? "-o" : option);
    if (at != arguments.end()) {
      *(at + 1) = value;
    } else {
      arguments.insert(arguments.end(), {option, value});
    }
    return arguments;
  };
  expect_refused(with("--signal-region", "0"), {"--signal-region: expected 1 to 100, got '0'"});
  expect_refused(with("--signal-region", "wide"), {"--signal-region: expected a number"});
  expect_refused(with("--signal-region", "90x60+10+0"), {"--signal-region: expected a part of 96 x 64 pixels"});
  expect_refused(with("--signal-region", "9x6"), {"--signal-region: expected a percentage or COLUMNSxROWS+COLUMN+ROW"});
  expect_refused(with("--subframes", "3"), {"--output: expected a name with %t, which stands for the subframe"});
  expect_refused(with("--output", path("slm_%t.png")), {"--output: expected no %t"});
  expect_refused(with("--solver", "newton"), {"--solver: expected lbfgs, adam, gs or wgs, got 'newton'"});
  expect_refused(with("--focal-length", "0"), {"--focal-length"});
  expect_refused(with("--fill-factor", "1.1"), {"--fill-factor"});
  expect_refused(with("--depth", path("photo.png")), {"photo.png: expected a grey picture of depth"});
  expect_refused(with("--iterations", "0"), {"--iterations: expected a whole number from 1 to 100000, got '0'"});
  expect_refused(with("--phase", "flat"), {"--phase: expected transport, smooth or random, got 'flat'"});
  expect_refused(with("--distance", "nan"), {"--distance"});
  expect_refused(with("--bits", "1"), {"--bits"});
  expect_refused(with("--rgb", "638nm"), {"--rgb: expected three wavelengths"});
  // Values are parsed ahead of the checks of files and panels.
  expect_refused({"optimize", "none.png", "-o", "x.png", "--resolution", "64x48", "--aperture", "2mm", "wide"},
                 {"--aperture: expected", "'wide'"});
  for (const std::string option : {"--source", "--against"}) {
    auto line = with(option, path("text.png"));
    line.insert(line.end(), {"--wavelength", "100nm"});
    expect_refused(line, {"text.png"});
    EXPECT_EQ(run(line).error.find("warning"), std::string::npos) << option;
  }
}

}  // namespace
}  // namespace holotone::test
