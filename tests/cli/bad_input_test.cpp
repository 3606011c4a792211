// Rejected input: one clear line, exit code 2, nothing half-written.
#include <cstring>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class BadInputTest : public ProgramTest {
 protected:
  BadInputTest() {
    write_cloud("good.csv", {{0, 0, -0.2, 1}, {1e-3, 0, -0.2, 1}});
    fs::create_directory(folder_ / "folder");
  }

  /// Arguments of `hologram IN -o out.png` on a small panel, with additional options.
  [[nodiscard]] std::vector<std::string> hologram(const std::string& input, std::vector<std::string> more = {},
                                                  const std::string& output = "out.png") const {
    std::vector<std::string> arguments{"hologram", path(input), "-o", path(output), "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] static std::vector<std::string> small(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--resolution", "64x48", "--pitch", "8um"});
    return more;
  }
};

TEST_F(BadInputTest, TheGoodFileIsTaken) {
  EXPECT_EQ(run(hologram("good.csv", small())).exit_code, 0);
  EXPECT_EQ(files().count("out.png"), 1u);
}

TEST_F(BadInputTest, Files) {
  expect_refused(hologram("missing.ply"), {"missing.ply", "file not found"});
  expect_refused(hologram("folder"), {"folder"});
  write("empty.ply", "");
  expect_refused(hologram("empty.ply"), {"empty.ply"});
  std::string garbage(5000, '\0');
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = static_cast<char>(i * 2654435761U >> 13);
  for (const char* name : {"garbage.ply", "garbage.stl", "garbage.xyz", "garbage.npy", "garbage.obj", "garbage.glb"}) {
    write(name, garbage);
    expect_refused(hologram(name), {name});
  }
  for (const char* name : {"garbage.png", "garbage.h5", "garbage.ohc", "garbage.tif", "garbage.jpg", "garbage.bmp"}) {
    write(name, garbage);
    expect_refused({"reconstruct", path(name), "-o", path("out.png")}, {name});
    expect_refused({"info", path(name)}, {name});
  }
  const std::string header = "ply\nformat binary_little_endian 1.0\nelement vertex ";
  const std::string properties = "\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
  write("four_billion.ply", header + "4000000000" + properties + std::string(120, 'a'));
  expect_refused(hologram("four_billion.ply"), {"four_billion.ply"});
  write("truncated.ply", header + "10" + properties + std::string(100, 'a'));
  expect_refused(hologram("truncated.ply"), {"truncated.ply"});
  write("too_long.ply", header + "3" + properties + std::string(120, 'a'));
  expect_refused(hologram("too_long.ply"), {"too_long.ply"});
  write("nothing.ply", header + "0" + properties);
  expect_refused(hologram("nothing.ply"), {"nothing.ply", "at least 1 vertex"});
}

TEST_F(BadInputTest, MorePointsThanMemory) {
  write("triangle.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  expect_refused(hologram("triangle.ply", small({"--points", "200000000000"})), {"--points", "memory"});
  expect_refused({"sample", "teapot", "-o", path("t.ply"), "--points", "200000000000"}, {"--points", "memory"});
}

TEST_F(BadInputTest, Points) {
  write("nan.csv", "x,y,z\n0,0,0\n1,0,0\nnan,0,0\n0,inf,0\n");
  expect_refused(hologram("nan.csv", small()), {"nan.csv", "point 2", "--skip-bad"});
  write_cloud("zero.csv", {{0, 0, -0.2, 1}, {0, 0, 0, 1}, {0, 1e-3, 0, 1}});
  expect_refused(hologram("zero.csv", small({"--keep-coordinates"})), {"zero.csv", "point 1", "zero"});
  const auto facts = run({"info", path("nan.csv")});  // what it holds, then the error of `hologram`
  EXPECT_EQ(facts.exit_code, 2);
  EXPECT_NE(facts.output.find("not finite"), std::string::npos) << facts.output;
  EXPECT_NE(facts.error.find("point 2"), std::string::npos) << facts.error;
  const auto skipped = run(hologram("nan.csv", small({"--skip-bad"})));
  EXPECT_EQ(skipped.exit_code, 0) << skipped.error;
  EXPECT_NE(skipped.error.find("dropped 2"), std::string::npos) << skipped.error;
  const auto json = run_json(hologram("zero.csv", small({"--keep-coordinates", "--skip-bad"})));
  EXPECT_EQ(json["dropped_points"], 2);
  EXPECT_EQ(json["points"], 1);
  write_cloud("far.csv", {{0, 0, -2e5F, 1}});
  expect_refused(hologram("far.csv", small({"--keep-coordinates"})), {"--keep-coordinates", "100 km", "far.csv"});
  write_cloud("aside.csv", {{0, 0, -1, 1}, {2e5F, 0, -1, 1}});
  expect_refused(hologram("aside.csv", small({"--keep-coordinates"})), {"--keep-coordinates", "100 km", "point 1"});
  write("all_bad.csv", "x,y,z\nnan,0,0\n0,nan,0\n");
  fs::remove(path("out.png"));
  expect_refused(hologram("all_bad.csv", small({"--skip-bad"})), {"all_bad.csv", "point"});
  write_cloud("line.csv", {{0, 0, -0.2, 1}, {0, 0, -0.3, 1}});
  expect_refused(hologram("line.csv", small()), {"line.csv", "differ in x or y"});
}

TEST_F(BadInputTest, PhasesBeyondATurnAreReported) {
  const auto error_with = [&](const std::string& heading) {
    write("p.csv", heading + "\n0,0,1,0\n1,0,1,270\n");
    const auto made = run(hologram("p.csv", small()));
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return made.error;
  };
  const std::string note = "p.csv: phases from 0 to 270 rad; in a table, a column phase_deg is in degrees";
  EXPECT_NE(error_with("x,y,z,phase").find(note), std::string::npos);
  EXPECT_EQ(error_with("x,y,z,phase_deg").find("phases from"), std::string::npos);
}

TEST_F(BadInputTest, UnusedPropertiesAreReportedOnce) {
  write("more.ply",
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
        "property float opacity\nproperty float f_0\nproperty float f_1\nend_header\n0 0 0 1 0 0\n1 0 0 1 0 0\n");
  const auto made = run(hologram("more.ply", small()));
  EXPECT_EQ(made.exit_code, 0) << made.error;
  EXPECT_NE(made.error.find("more.ply: ignored: opacity, f_0 to f_1"), std::string::npos) << made.error;
  EXPECT_EQ(run_json({"info", path("more.ply")})["ignored"], "opacity, f_0 to f_1");
}

TEST_F(BadInputTest, Numbers) {
  expect_refused(hologram("good.csv", {"--wavelength", "-532nm"}), {"--wavelength", "-532nm"});
  expect_refused(hologram("good.csv", {"--wavelength", "0nm"}), {"--wavelength", "10 nm to 1 mm"});
  for (const char* absurd : {"1m", "1pm", "9nm", "1.1mm"}) {
    expect_refused(hologram("good.csv", {"--wavelength", absurd}), {"--wavelength", absurd});
  }
  expect_refused(hologram("good.csv", small({"--rgb", "638nm,520nm,1m"})), {"--rgb", "from 10 nm"});
  expect_refused(hologram("good.csv", small({"--rgb", "638nm,520nm,450nm", "--wavelength", "532nm"})),
                 {"--rgb", "--wavelength"});
  expect_refused(hologram("good.csv", {"--wavelength", "532"}), {"--wavelength", "unit"});
  expect_refused(hologram("good.csv", {"--wavelength", "nannm"}), {"--wavelength"});
  expect_refused(hologram("good.csv", {"--resolution", "64x48", "--pitch", "-8um"}), {"--pitch", "-8um"});
  expect_refused(hologram("good.csv", {"--resolution", "64x48", "--pitch", "0um"}), {"--pitch"});
  expect_refused(hologram("good.csv", {"--resolution", "64x48"}), {"--pitch", "--resolution"});
  expect_refused(hologram("good.csv", {"--pitch", "8um"}), {"--resolution"});
  expect_refused(hologram("good.csv", {"--resolution", "64", "--pitch", "8um"}), {"--resolution", "1920x1080"});
  expect_refused(hologram("good.csv", {"--resolution", "0x48", "--pitch", "8um"}), {"--resolution"});
  expect_refused(hologram("good.csv", {"--panel", "holoeye-pluto-2", "--pitch", "8um"}), {"--panel"});
  expect_refused(hologram("good.csv", small({"--tolerance", "0"})), {"--tolerance"});
  expect_refused(hologram("good.csv", small({"--tolerance", "1e-12"})), {"tolerance", "1e-12"});
  expect_refused(hologram("good.csv", small({"--tolerance", "2"})), {"tolerance"});
  expect_refused(hologram("good.csv", small({"--size", "0mm"})), {"--size"});
  expect_refused(hologram("good.csv", small({"--distance", "1e300m"})), {"--distance", "1e300m"});
  expect_refused(hologram("good.csv", small({"--size", "1e300m"})), {"--size", "1e300m"});
  expect_refused(hologram("good.csv", small({"--wavelength", "1e-300m"})), {"--wavelength", "1e-300m"});
  expect_refused(hologram("good.csv", {"--resolution", "9000000x9000000", "--pitch", "8um"}),
                 {"--resolution", "1048576"});
  expect_refused(hologram("good.csv", small({"--distance", "20"})), {"--distance", "unit"});
  expect_refused(hologram("good.csv", small({"--bits", "1"})), {"--bits"});
  expect_refused(hologram("good.csv", small({"--bits", "17"})), {"--bits"});
  expect_refused(hologram("good.csv", small({"--bits", "8.5"})), {"--bits"});
  expect_refused(hologram("good.csv", small({"--points", "0"})), {"--points"});
  expect_refused(hologram("good.csv", small({"--points", "3"})), {"--points", "2 points"});
  expect_refused(hologram("good.csv", small({"--seed", "-1"})), {"--seed"});
  expect_refused(hologram("good.csv", small({"--phase-range", "0pi"})), {"--phase-range"});
  expect_refused(hologram("good.csv", small({"--carrier", "1um"})), {"--carrier", "two pixels"});
  expect_refused(hologram("good.csv", small({"--rgb", "638nm,520nm"})), {"--rgb", "three"});
  expect_refused(hologram("good.csv", small({"--light", "0,0,0"})), {"--light"});
  expect_refused(hologram("good.csv", small({"--light", "0,0,1"})), {"normals"});
}

TEST_F(BadInputTest, NamesSuggestTheNearest) {
  expect_refused(hologram("good.csv", {"--panel", "holoeye-plto-2"}), {"--panel", "did you mean 'holoeye-pluto-2'"});
  expect_refused(hologram("good.csv", {"--encode", "fase"}), {"--encode", "did you mean 'phase'"});
  expect_refused(hologram("good.csv", {"--method", "seperable"}), {"--method", "did you mean 'separable'"});
  expect_refused(hologram("good.csv", {"--wave", "sferical"}), {"--wave", "did you mean 'spherical'"});
  expect_refused(hologram("good.csv", {"--wavelenght", "532nm"}), {"--wavelenght", "did you mean '--wavelength'"});
  expect_refused({"hologramm", path("good.csv")}, {"hologramm", "did you mean 'hologram'"});
  expect_refused({"sample", "tepot", "-o", path("t.ply")}, {"tepot", "did you mean 'teapot'"});
  expect_refused(hologram("good.csv", {"--panel", "pluto-2"}), {"--panel", "did you mean 'holoeye-pluto-2'"});
  expect_refused(hologram("good.csv", {"-distance", "3cm"}), {"-distance", "did you mean '--distance'"});
  const std::vector<std::vector<std::string>> far_off{hologram("good.csv", {"--encode", "rainbow"}),
                                                      hologram("good.csv", {"--panel", "xga"}),
                                                      hologram("good.csv", {"--foo"}),
                                                      hologram("good.csv", {"--colour"}),
                                                      {"--panel", "pluto"},
                                                      {"print", path("good.csv")}};
  for (const auto& line : far_off) {
    const auto result = run(line);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.error.find("did you mean"), std::string::npos) << result.error;
  }
  const std::vector<std::string> plain{"hologram", path("good.csv"), "-o", path("out.png"), "--device"};
  auto device = plain;
  device.emplace_back("cuda:99");
  expect_refused(device, {"cuda:99"});
  device.back() = "gpu";
  expect_refused(device, {"gpu"});
  expect_refused(hologram("good.csv", {"--device", "cpu"}), {"--device"});
}

TEST_F(BadInputTest, CombinationsThatMakeNoSense) {
  expect_refused(hologram("good.csv", small({"--wave", "spherical", "--method", "separable"})), {"--wave", "fresnel"});
  expect_refused(hologram("good.csv", small({"--wave", "spherical", "--method", "fast", "--no-band-limit"})),
                 {"--wave: expected fresnel with fast without a band limit"});
  expect_refused(hologram("good.csv", small({"--method", "fast", "--tolerance", "5e-6"})), {"--method", "1e-05"});
  expect_refused(hologram("good.csv", small({"--encode", "complex"})), {"--output", ".h5"});
  expect_refused(hologram("good.csv", small({"--encode", "phase"}), "out.h5"), {"--output", ".tiff", "--encode phase"});
  expect_refused(hologram("good.csv", small({"--bits", "8"}), "out.h5"), {"--bits", "complex"});
  expect_refused(hologram("good.csv", small({"--bits", "10"}), "out.bmp"), {"--output", "8 bits"});
  expect_refused(hologram("good.csv", small(), "out.xyz"), {"--output", ".png"});
  expect_refused(hologram("good.csv", small(), "out"), {"--output", ".png"});
  expect_refused(hologram("good.csv", small({"--encode", "amplitude", "--carrier", "1deg"})),
                 {"--carrier", "amplitude"});
  expect_refused(hologram("good.csv", small({"--reference-angle", "1deg"})), {"--reference-angle", "amplitude"});
  expect_refused(hologram("good.csv", small({"--encode", "amplitude", "--packed16"})), {"--packed16"});
  expect_refused(hologram("good.csv", small({"--spin", "360deg:10"})), {"--output", "%04d"});
  expect_refused(hologram("good.csv", small(), "out_%d.png"), {"--output", "counter"});
  expect_refused(hologram("frames_%d.csv", small(), "out_%d.png"), {"frames_%d.csv", "got none"});
  write_cloud("padded_0007.csv", {{0, 0, -0.2, 1}});
  expect_refused(hologram("padded_%d.csv", small(), "out_%d.png"), {"padded_0007.csv", "%04d"});
  write("short.txt", "0\n1\n");
  write("words.txt", "one\ntwo\nthree\n");
  expect_refused(hologram("good.csv", small({"--lut", path("words.txt")})), {"words.txt"});
  expect_refused(hologram("good.csv", small({"--lut", path("missing.txt")})), {"missing.txt"});
  expect_refused(hologram("good.csv", small({"--lut", path("short.txt"), "--phase-range", "2pi"})), {"--phase-range"});
  write("map.png", "no picture");
  expect_refused(hologram("good.csv", small({"--correction", path("map.png")})), {"map.png"});
}

TEST_F(BadInputTest, OutputsAreCheckedBeforeTheWork) {
  // A sum of several minutes: the error must be reported before it starts.
  std::vector<std::array<double, 4>> many;
  for (int i = 0; i < 200'000; ++i) many.push_back({1e-9 * i, 0, -0.2, 1});
  write_cloud("many.csv", many);
  const std::vector<std::string> slow{"--method", "direct", "--panel", "holoeye-gaea-2"};
  const auto start = std::chrono::steady_clock::now();
  expect_refused(hologram("many.csv", slow, "no_such_folder/out.png"), {"no_such_folder", "folder"});
  expect_refused(hologram("many.csv", slow, "folder"), {"--output"});
  expect_refused({"hologram", path("good.csv"), "-o", path("good.csv")}, {"--output"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(run(hologram("good.csv", small())).exit_code, 0);
  expect_refused({"reconstruct", path("out.png"), "-o", path("out.png")}, {"--output", "input"});
  expect_refused({"reconstruct", path("out.png"), "-o", path("nowhere/f.png")}, {"nowhere", "folder"});
  expect_refused({"sample", "teapot", "-o", path("nowhere/t.ply")}, {"nowhere", "folder"});
  expect_refused({"sample", "teapot", "-o", path("t.obj")}, {"--output", ".ply"});
  fs::permissions(folder_ / "folder", fs::perms::owner_read | fs::perms::owner_exec);
  if (access((folder_ / "folder").c_str(), W_OK) != 0) {  // the superuser may write anywhere
    expect_refused(hologram("good.csv", small(), "folder/out.png"), {"folder"});
  }
  fs::permissions(folder_ / "folder", fs::perms::owner_all);
}

TEST_F(BadInputTest, Reconstruct) {
  ASSERT_EQ(run(hologram("good.csv", small())).exit_code, 0);
  const auto reconstruct = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("out.png")});
    return more;
  };
  const std::string output = path("f.png");
  expect_refused(reconstruct({"-o", output, "--sweep", "18cm:22cm"}), {"--sweep", "18cm:22cm:9"});
  expect_refused(reconstruct({"-o", output, "--sweep", "18cm:22cm:0"}), {"--sweep"});
  expect_refused(reconstruct({"-o", output, "--sweep", "18cm:22cm:3", "--distance", "20cm"}),
                 {"--sweep", "--distance"});
  expect_refused(reconstruct({"-o", output, "--distance", "20"}), {"--distance", "unit"});
  expect_refused(reconstruct({"-o", output, "--distance", "1e300m"}), {"--distance", "100000 m"});
  expect_refused(reconstruct({"-o", output, "--method", "fresnal"}), {"--method", "did you mean 'fresnel'"});
  expect_refused(reconstruct({"-o", output, "--method", "fresnel", "--distance", "1mm"}), {"distance"});
  expect_refused(reconstruct({"-o", output, "--aperture", "5mm", "--viewer", "1mm"}), {"--viewer"});
  expect_refused(reconstruct({"-o", output, "--aperture", "5mm,0mm,3mm"}), {"--aperture", "X,Y:DIAMETER"});
  expect_refused(reconstruct({"-o", output, "--viewer", "50cm"}), {"--aperture"});
  expect_refused(reconstruct({"-o", path("f.ply")}), {"--output", ".png"});
  expect_refused(reconstruct({"-o", output, "--linear"}), {"--output", "--linear"});
  expect_refused(reconstruct({"-o", output, "--sweep", "1cm:2cm:2", "--frames", path("g.png")}), {"--frames", "%03d"});
  expect_refused({"reconstruct", path("out.png"), path("out.png"), "-o", output}, {"IN", "three"});
  expect_refused({"reconstruct", path("good.csv"), "-o", output}, {"good.csv"});
  ASSERT_EQ(run(reconstruct({"-o", path("picture.png")})).exit_code, 0);
  expect_refused({"reconstruct", path("picture.png"), "-o", output}, {"picture.png", "hologram", "--encode"});
  expect_refused({"info", path("missing.png")}, {"missing.png", "file not found"});
}

// A file with the form of a hologram and contradictory metadata.
TEST_F(BadInputTest, MetadataIsNotTrusted) {
  const Metadata good{
      {"wavelength_m", "532e-9"}, {"pitch_m", "8e-6"}, {"distance_m", "0.2"}, {"encoding", "phase"}, {"bits", "8"}};
  const auto look = [&](const std::string& key, const std::string& value) {
    Image image{Array<std::uint8_t, 3>({24, 32, 1}), good};
    for (auto& code : std::get<Array<std::uint8_t, 3>>(image.pixels).host()) code = 200;
    image.metadata[key] = value;
    write_image(path("hologram.png"), image);
    return std::vector<std::string>{"reconstruct", path("hologram.png"), "-o", path("f.png")};
  };
  EXPECT_EQ(run(look("note", "nothing wrong")).exit_code, 0);
  fs::remove(path("f.png"));
  const std::string many = [] {
    std::string numbers;
    for (int i = 0; i < 1000; ++i) numbers += "0.001,";
    return numbers + "1";
  }();
  const std::pair<std::string, std::string> cases[] = {{"pitch_m", "-8e-6"},
                                                       {"pitch_m", "nan"},
                                                       {"pitch_m", "eight"},
                                                       {"pitch_m", "0"},
                                                       {"pitch_m", "1e-320"},
                                                       {"wavelength_m", "1e300"},
                                                       {"wavelength_m", "inf"},
                                                       {"distance_m", "far"},
                                                       {"distance_m", "1e300"},
                                                       {"bits", "0"},
                                                       {"bits", "99"},
                                                       {"bits", "7.5"},
                                                       {"bits", "4"},
                                                       {"encoding", "fase"},
                                                       {"encoding", "complex"},
                                                       {"phase_range_rad", "-1"},
                                                       {"phase_range_rad", "nan"},
                                                       {"level_phase_rad", "1,2,x"},
                                                       {"level_phase_rad", "1"},
                                                       {"level_phase_rad", "1,inf"},
                                                       {"level_phase_rad", "1,2"},
                                                       {"level_phase_rad", many},
                                                       {"packed16", "1"}};
  for (const auto& [key, value] : cases) {
    SCOPED_TRACE(key + " = " + value.substr(0, 20));
    expect_refused(look(key, value), {});
  }
}

TEST_F(BadInputTest, PixelsThatAreNoNumbersAreNamed) {
  if (!can_write("x.tif")) GTEST_SKIP() << "a build without libtiff";
  Image image{Array<float, 3>({6, 5, 3}), {}};
  for (float& value : std::get<Array<float, 3>>(image.pixels).host()) value = 0.5F;
  std::get<Array<float, 3>>(image.pixels)(4, 2, 1) = std::nanf("");
  write_image(path("nan.tif"), image);
  expect_refused({"smoe", "fit", path("nan.tif"), "-o", path("m.smoe"), "--components", "4"},
                 {"nan.tif: expected finite values, got nan at row 4, column 2"});
}

TEST_F(BadInputTest, TheLineItself) {
  expect_refused({}, {"expected a command: hologram, "});
  expect_refused({"hologram"}, {"hologram", "IN and --output are required"});
  expect_refused({"hologram", path("good.csv")}, {"--output"});
  expect_refused({"hologram", path("good.csv"), "-o"}, {"--output"});
  expect_refused(hologram("good.csv", {"stray"}), {"stray"});
  expect_refused(hologram("missing\nline.ply"), {"missing\\nline.ply"});
}

TEST_F(BadInputTest, HelpAndVersionAreNoErrors) {
  const auto version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.output, "holotone " + content_of(fs::path(source_folder()) / "VERSION"));
  const auto help = run({"hologram", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.output.find("--wavelength"), std::string::npos);
  EXPECT_NE(run({"--help"}).output.find("reconstruct"), std::string::npos);
}

}  // namespace
}  // namespace holotone::test
