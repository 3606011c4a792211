// holotone propagate: fields move to other planes, by bands and strips of any size and on several devices.
#include <cmath>
#include <complex>
#include <holotone/core/random.hpp>
#include <holotone/optics/propagation.hpp>
#include <sys/resource.h>
#include <tests/cli/picture.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

constexpr double pitch_m = 8e-6;
constexpr double wavelength_m = 532e-9;

class PropagateTest : public ProgramTest {
 protected:
  /// White noise under this name.
  Array<Complex, 2> put_noise(const std::string& name, std::int64_t ny, std::int64_t nx, const Metadata& more = {}) {
    FieldFile file;
    file.values = Array<Complex, 2>({ny, nx});
    for (std::int64_t i = 0; i < file.values.size(); ++i) {
      const auto counter = static_cast<std::uint64_t>(2 * i);
      file.values.data()[i] = {random_uniform(1, counter) - 0.5F, random_uniform(1, counter + 1) - 0.5F};
    }
    file.metadata = more;
    if (!name.ends_with(".npy")) {
      file.metadata.emplace("pitch_m", "8e-06");
      file.metadata.emplace("wavelength_m", "5.32e-07");
    }
    write_field(path(name), file);
    return std::move(file.values);
  }

  [[nodiscard]] std::vector<std::string> propagate(const std::string& input, const std::string& output,
                                                   const std::string& distance,
                                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"propagate", path(input), "-o", path(output), "--distance", distance};
    if (std::find(more.begin(), more.end(), "--device") == more.end()) words.insert(words.end(), {"--device", "cpu"});
    if (input.ends_with(".npy")) words.insert(words.end(), {"--pitch", "8um", "--wavelength", "532nm"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// ||file - PropagationPlan|| / ||PropagationPlan||
  [[nodiscard]] double relative_error(const std::string& name, const Array<Complex, 2>& input, double distance_m,
                                      bool band_limit) const {
    const auto shape = input.shape();
    const FieldGrid grid{shape[1], shape[0], pitch_m, wavelength_m};
    PropagationPlan plan({.grid = grid, .method = PropagationMethod::angular_spectrum, .band_limit = band_limit});
    Array<Complex, 2> expected(shape);
    plan.execute(input.view(), expected.view(), distance_m);
    const auto got = read_field(path(name));
    EXPECT_EQ(got.values.shape(), shape);
    double error = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      error += static_cast<double>(std::norm(got.values.data()[i] - expected.data()[i]));
      norm += static_cast<double>(std::norm(expected.data()[i]));
    }
    return std::sqrt(error / norm);
  }
};

// Seen from a plane that lies 3 cm nearer to the viewer, the point is 3 cm farther behind it.
TEST_F(PropagateTest, APointIsInFocusAtItsNewDistance) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  write_cloud("point.csv", {{3e-4, -2e-4, -0.1, 1}});
  (void)run_json({"hologram", path("point.csv"), "-o", path("field.h5"), "--encode", "complex", "--resolution",
                  "321x243", "--pitch", "8um", "--device", "cpu", "--keep-coordinates"});
  for (const auto& [distance, expected_m] : {std::pair{"3cm", 0.13}, {"-3cm", 0.07}, {"-11cm", -0.01}, {"0m", 0.1}}) {
    const auto json = run_json(propagate("field.h5", "moved.h5", distance));
    EXPECT_NEAR(json["distance_m"].get<double>(), expected_m, 1e-12);
    EXPECT_NEAR(json["moved_m"].get<double>(), expected_m - 0.1, 1e-12);
    const auto picture = [&](std::vector<std::string> more) {
      more.insert(more.begin(),
                  {"reconstruct", path("moved.h5"), "-o", path("focus.npy"), "--linear", "--device", "cpu"});
      (void)run_json(more);
      return pixels_of(path("focus.npy"));
    };
    const auto focused = picture({});
    const auto got = brightest(focused);
    const auto expected = pixel_of(3e-4, -2e-4, 321, 243, pitch_m);
    EXPECT_LE(std::abs(got.row - expected.row), 1) << distance;
    EXPECT_LE(std::abs(got.col - expected.col), 1) << distance;
    const auto blurred = picture({"--distance", fmt::format("{}m", 0.2 - expected_m + (expected_m == 0.1 ? 0.03 : 0))});
    const auto other = brightest(blurred);
    EXPECT_GT(focused.at(got.row, got.col), 5 * blurred.at(other.row, other.col)) << distance;
  }
}

TEST_F(PropagateTest, WritesWhatPropagationPlanComputes) {
  for (const char* extension : {".h5", ".npy"}) {
    const std::string input = fmt::format("field{}", extension);
    const std::string output = fmt::format("moved{}", extension);
    if (!can_write(output)) continue;
    const auto field = put_noise(input, 97, 143);
    for (const bool band_limit : {true, false}) {
      std::vector<std::string> more;
      if (!band_limit) more.emplace_back("--no-band-limit");
      const auto json = run_json(propagate(input, output, "5cm", more));
      EXPECT_EQ(json["band_limit"], band_limit);
      EXPECT_EQ(json["resolution"], (nlohmann::json{143, 97}));
      EXPECT_EQ(json["padded"], (nlohmann::json{288, 196}));
      EXPECT_EQ(json["spectrum_columns"] == 288, !band_limit);
      EXPECT_LE(relative_error(output, field, 0.05, band_limit), 1e-6) << output;
    }
  }
}

TEST_F(PropagateTest, BandsAndDevicesChangeNoByte) {
  put_noise("field.npy", 150, 201);
  const auto whole = run_json(propagate("field.npy", "whole.npy", "2cm"));
  EXPECT_EQ(whole["rows_at_once"], 150);
  EXPECT_EQ(whole["moved_bytes"], 0);
  for (const char* devices : {"cpu", "cpu,cpu", "cpu,cpu,cpu,cpu,cpu"}) {
    for (const char* memory : {"100KiB", "0.5MiB", "1GiB"}) {
      const auto json =
          run_json(propagate("field.npy", "bands.npy", "2cm", {"--device", devices, "--device-memory", memory}));
      EXPECT_EQ(json["device"], devices);
      EXPECT_EQ(json["rows_at_once"] == 150, std::string_view(memory) == "1GiB");
      EXPECT_TRUE(content_of(path("bands.npy")) == content_of(path("whole.npy"))) << devices << ' ' << memory;
    }
  }
  EXPECT_EQ(files(), (std::set<std::string>{"bands.npy", "field.npy", "whole.npy"}));
}

TEST_F(PropagateTest, EveryDeviceWritesTheField) {
  const auto field = put_noise("field.npy", 64, 90);
  for (const auto& device : devices()) {
    const auto name = to_string(device);
    const auto json =
        run_json(propagate("field.npy", "moved.npy", "-1cm", {"--device", name, "--device-memory", "200KiB"}));
    EXPECT_LE(relative_error("moved.npy", field, -0.01, true), 1e-6) << name;
    EXPECT_EQ(json["moved_bytes"] == 0, device.backend == Backend::cpu);
    EXPECT_LE(json["device_bytes"], 200 * 1024);
  }
}

TEST_F(PropagateTest, KeepsMetadata) {
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  put_noise("field.h5", 20, 30,
            {{"distance_m", "0.2"},
             {"distance_min_m", "0.15"},
             {"distance_max_m", "0.25"},
             {"hogel_px", "10"},
             {"object_energy", "7"},
             {"text:Author", "someone"}});
  (void)run_json(propagate("field.h5", "moved.h5", "5cm"));
  (void)run_json(propagate("moved.h5", "again.h5", "-15cm"));
  auto metadata = read_field(path("again.h5")).metadata;
  for (const auto& [key, expected] : {std::pair{"distance_m", 0.1},
                                      {"distance_min_m", 0.05},
                                      {"distance_max_m", 0.15},
                                      {"moved_m", -0.1},
                                      {"object_energy", 7.0},
                                      {"pitch_m", pitch_m},
                                      {"wavelength_m", wavelength_m}}) {
    EXPECT_NEAR(std::stod(metadata[key]), expected, 1e-12) << key;
  }
  EXPECT_EQ(metadata["text:Author"], "someone");
  EXPECT_EQ(metadata["encoding"], "complex");
  EXPECT_FALSE(metadata.contains("hogel_px"));
  // NPY holds none: the values that reconstruct needs are printed.
  const auto result = run(propagate("field.h5", "moved.npy", "5cm"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("30 x 20 pixels moved by 5 cm"), std::string::npos) << result.output;
  EXPECT_NE(result.error.find("--distance 25cm"), std::string::npos) << result.error;
}

TEST_F(PropagateTest, CanBeStopped) {
  put_noise("field.npy", 4000, 4000);
  RunningProgram program(propagate("field.npy", "moved.npy", "2cm"), captured_);
  while (program.running() && !fs::exists(path(".moved.npy.part"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  program.send(SIGINT);
  const auto result = program.wait(60);
  if (result.exit_code == 0) GTEST_SKIP() << "the run was over before it could be stopped";
  EXPECT_EQ(result.exit_code, 130) << result.error;
  EXPECT_EQ(files(), (std::set<std::string>{"field.npy"}));
}

TEST_F(PropagateTest, BadInput) {
  put_noise("field.npy", 20, 30);
  put_noise("field.ohc", 20, 30);
  const auto refused = [&](const std::vector<std::string>& words, std::initializer_list<const char*> expected) {
    expect_refused(words, expected);
  };
  for (const char* distance : {"nan", "nanm", "5", "infm", "101km", "x"}) {
    refused(propagate("field.npy", "a.npy", distance), {"--distance"});
  }
  for (const char* memory : {"0GiB", "-1GiB", "5", "GiB", "1e3GiB", "5GB", "nanGiB", "99999999TiB", "1.2.3GiB"}) {
    refused(propagate("field.npy", "a.npy", "1cm", {"--device-memory", memory}), {"--device-memory"});
  }
  refused(propagate("field.npy", "a.npy", "1cm", {"--device-memory", "1KiB"}),
          {"--device-memory: expected at least 1.9 KiB", "lines of 60 values", "1.0 KiB"});
  refused(propagate("field.npy", "field.npy", "1cm"), {"--output", "field.npy"});
  refused(propagate("field.npy", "a.png", "1cm"), {"a.png"});
  refused(propagate("field.npy", "a.ohc", "1cm"), {"a.ohc"});
  refused(propagate("field.npy", "no/a.npy", "1cm"), {"no"});
  refused(propagate("missing.npy", "a.npy", "1cm"), {"missing.npy"});
  refused(propagate("field.ohc", "a.npy", "1cm", {"--pitch", "8"}), {"--pitch"});
  refused({"propagate", path("field.npy"), "-o", path("a.npy"), "--distance", "1cm", "--device", "cpu"},
          {"--pitch and --wavelength", "field.npy"});
  refused({"propagate", path("field.npy"), "-o", path("a.npy")}, {"--distance"});
  refused(propagate("field.npy", "a.npy", "1cm", {"--device", "cpu,opencl:77"}), {"opencl:77"});
  write("cloud.csv", "x,y,z\n0,0,-0.1\n");
  refused(propagate("cloud.csv", "a.npy", "1cm"), {"cloud.csv", "a complex field"});
  auto broken = read_field(path("field.npy"));
  broken.values.data()[31] = {NAN, 0};
  write_field(path("nan.npy"), broken);
  refused(propagate("nan.npy", "a.npy", "1cm"), {"nan.npy", "finite values", "row 1, column 1"});
  if (!can_write("a.h5")) GTEST_SKIP() << "a build without HDF5";
  put_noise("lens.h5", 20, 30, {{"focal_length_m", "0.2"}});
  refused(propagate("lens.h5", "a.npy", "1cm"), {"lens.h5", "focal_length_m"});
  put_noise("part.h5", 20, 30, {{"block_first_row", "0"}, {"block_of_rows", "40"}});
  refused(propagate("part.h5", "a.npy", "1cm"), {"part.h5", "holotone join"});
  put_noise("far.h5", 20, 30, {{"distance_m", "99999"}});
  refused(propagate("far.h5", "a.npy", "10m"), {"--distance", "distance_m"});
}

// 16384 x 16384 pixels without a band limit have a spectrum of 4 GiB.
TEST_F(PropagateTest, TooLittleMemoryIsRefusedAtOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than any limit";
#else
  std::string header = "{'descr': '<c8', 'fortran_order': False, 'shape': (16384, 16384), }";
  header.resize(117, ' ');
  write("large.npy", fmt::format("\x93NUMPY\x01{}v{}{}\n", '\0', '\0', header));
  fs::resize_file(path("large.npy"), 128 + (std::uintmax_t{8} << 28));
  auto line = propagate("large.npy", "a.npy", "1mm", {"--no-band-limit"});
  const auto result = RunningProgram(line, captured_, [] {
                        setenv("OMP_NUM_THREADS", "2", 1);
                        const rlimit value{rlim_t{3} << 30, rlim_t{3} << 30};
                        setrlimit(RLIMIT_AS, &value);
                      }).wait(60);
  if (result.exit_code == 127) GTEST_SKIP() << "too small for the system's loader: CUDA's libraries";
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("for the spectrum of 16384 x 16384 pixels"), std::string::npos) << result.error;
  EXPECT_FALSE(fs::exists(path("a.npy")));
#endif
}

}  // namespace
}  // namespace holotone::test
