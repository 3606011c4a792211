// The program where OpenCL is missing, broken, too small or lost: one line, or another way to go on.
#include <cstdlib>
#include <holotone/core/device.hpp>
#include <memory>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class OpenclTest : public ProgramTest {
 protected:
  /// Runs hologram on OpenCL in an environment.
  [[nodiscard]] ProgramResult hologram_in(const std::string& variable, const std::string& value,
                                          const std::string& device = "opencl") {
    write("points.csv", "x,y,z,amplitude\n0,0,-0.2,1\n0.0001,0,-0.2,1\n");
    return RunningProgram({"hologram", path("points.csv"), "-o", path("out.npy"), "--resolution", "64x48", "--pitch",
                           "8um", "--keep-coordinates", "--device", device},
                          captured_,
                          [&] {
                            setenv("POCL_CACHE_DIR", captured_.c_str(),
                                   1);  // PoCL has no device without its own folder
                            unsetenv("OCL_ICD_FILENAMES");
                            setenv(variable.c_str(), value.c_str(), 1);
                          })
        .wait(60);
  }

  void expect_no_device(const ProgramResult& result, const std::string& reason) {
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_NE(result.error.find("--device: expected one of this machine's, got 'opencl': " + reason), std::string::npos)
        << result.error;
    EXPECT_FALSE(fs::exists(path("out.npy")));
  }
};

#if HOLOTONE_OPENCL
TEST_F(OpenclTest, WithoutAPlatformThereIsNoDevice) {
  fs::create_directory(path("empty"));
  const auto result = hologram_in("OCL_ICD_VENDORS", path("empty"));
  if (result.error.find("libOpenCL") != std::string::npos) GTEST_SKIP() << "no OpenCL loader on this machine";
  expect_no_device(result, "OpenCL has no platform here");
}

TEST_F(OpenclTest, ALoaderWithoutFunctionsIsNamed) {
  // Any library under the loader's name.
  fs::create_directory(path("broken"));
  fs::path other;
  for (const auto* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib"}) {
    if (other.empty() && fs::exists(fs::path(folder) / "libz.so.1")) other = fs::path(folder) / "libz.so.1";
  }
  if (other.empty()) GTEST_SKIP() << "no libz.so.1 in the usual folders";
  fs::create_symlink(other, path("broken") + "/libOpenCL.so.1");
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  const auto folders = others != nullptr ? fmt::format("{}:{}", path("broken"), others) : path("broken");
  expect_no_device(hologram_in("LD_LIBRARY_PATH", folders), "libOpenCL.so lacks clGetPlatformIDs");
}

TEST_F(OpenclTest, AFolderForKernelsThatCannotBeWrittenIsNoMatter) {
  const auto result = hologram_in("XDG_CACHE_HOME", "/proc/none");
  if (result.error.find("got 'opencl'") != std::string::npos) GTEST_SKIP() << result.error;
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(fs::exists(path("out.npy")));
}

TEST_F(OpenclTest, TwoProcessesFillTheFolderForKernelsAtOnce) {
  const auto all = devices();
  if (all.back().backend != Backend::opencl) GTEST_SKIP() << "no OpenCL device on this machine";
  write_cloud("p.csv", {{0, 0, -0.05, 1}, {1e-4, 0, -0.06, 1}});
  const std::string cache = path("cache");
  const auto start = [&](const std::string& name) {
    fs::create_directory(captured_ / name);
    return std::make_unique<RunningProgram>(
        std::vector<std::string>{"hologram", path("p.csv"), "-o", path(name), "--resolution", "64x48", "--pitch", "8um",
                                 "--method", "direct", "--device", to_string(all.back())},
        captured_ / name, [&] { setenv("XDG_CACHE_HOME", cache.c_str(), 1); });
  };
  const auto one = start("one.png");
  const auto two = start("two.png");
  for (const auto& program : {one.get(), two.get()}) {
    const auto result = program->wait(120);
    EXPECT_EQ(result.exit_code, 0) << result.error;
  }
  EXPECT_EQ(content_of(path("one.png")), content_of(path("two.png")));
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(cache + "/holotone")) {
    EXPECT_EQ(entry.path().extension(), ".kernel") << entry.path();  // no half-written file is left
    ++files;
  }
  EXPECT_GT(files, 0u);
}

TEST_F(OpenclTest, AFolderForKernelsThatOthersCanWriteToIsNotUsed) {
  fs::create_directory(path("cache"));
  const std::string folder = path("cache") + "/holotone";
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::all);
  const auto result = hologram_in("XDG_CACHE_HOME", path("cache"));
  if (result.error.find("got 'opencl'") != std::string::npos) GTEST_SKIP() << result.error;
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(fs::is_empty(folder));
  const std::string warning = "holotone: warning: " + folder + ": compiled kernels are neither read nor kept: ";
  EXPECT_EQ(result.error.find(warning), result.error.rfind(warning)) << "warned more than once: " << result.error;
  EXPECT_NE(result.error.find(warning), std::string::npos) << result.error;
  EXPECT_NE(result.error.find("got mode 777"), std::string::npos) << result.error;
}

TEST_F(OpenclTest, AKernelThatOthersCanWriteToIsNamedAndReplaced) {
  if (const auto result = hologram_in("XDG_CACHE_HOME", path("cache")); result.exit_code != 0) {
    GTEST_SKIP() << result.error;
  }
  const auto kernels = [&] { return fs::directory_iterator(path("cache") + "/holotone"); };
  ASSERT_NE(kernels(), fs::directory_iterator());
  for (const auto& file : kernels()) fs::permissions(file, fs::perms{0666});
  const auto result = hologram_in("XDG_CACHE_HOME", path("cache"));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error.find("not loaded but compiled anew"), result.error.rfind("not loaded but compiled anew"));
  EXPECT_NE(result.error.find(".kernel: not loaded but compiled anew: expected a file of user "), std::string::npos)
      << result.error;
  EXPECT_NE(result.error.find("got mode 666; remove it"), std::string::npos) << result.error;
  for (const auto& file : kernels()) EXPECT_EQ(fs::status(file).permissions(), fs::perms{0600}) << file.path();
}

/// Runs the program on a device that fails (support/faulty_opencl.cpp).
class OpenclFaults : public ProgramTest {
 protected:
  void SetUp() override {
    if (run_with("", {"devices"}).output.find("opencl:0") == std::string::npos) {
      GTEST_SKIP() << "no OpenCL device on this machine";
    }
    if (run_with("no platform", {"devices"}).output.find("opencl:0") != std::string::npos) {
      GTEST_SKIP() << "a loader of OpenCL without OPENCL_LAYERS";
    }
    write("points.csv", "x,y,z,amplitude\n0,0,-0.2,1\n0.0001,0,-0.2,1\n");
  }

  [[nodiscard]] ProgramResult run_with(const char* fault, const std::vector<std::string>& arguments) const {
    return RunningProgram(arguments, captured_,
                          [&] {
                            setenv("OPENCL_LAYERS", (build_folder() + "/tests/libfaulty_opencl.so").c_str(), 1);
                            setenv("HOLOTONE_TEST_FAULT", fault, 1);
                            setenv("XDG_CACHE_HOME", captured_.c_str(), 1);
                          })
        .wait(120);
  }

  [[nodiscard]] std::vector<std::string> hologram(const std::string& device = "opencl") const {
    return {"hologram", path("points.csv"), "-o",     path("out.png"),      "--resolution", "160x120", "--pitch",
            "8um",      "--method",         "direct", "--keep-coordinates", "--device",     device};
  }

  /// Expects one line with `words`, exit code 2 and no new file.
  void expect_refused_with(const char* fault, const std::vector<std::string>& arguments, const std::string& words) {
    SCOPED_TRACE(fault);
    const auto before = files();
    const auto result = run_with(fault, arguments);
    EXPECT_EQ(result.exit_code, 2) << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    EXPECT_NE(result.error.find(words), std::string::npos) << result.error;
    EXPECT_EQ(files(), before);
  }
};

TEST_F(OpenclFaults, WithoutFaultItWorks) {
  EXPECT_EQ(run_with("", hologram()).exit_code, 0);
  EXPECT_TRUE(fs::exists(path("out.png")));
}

// A machine with a GPU of OpenCL alone: auto takes it for what it has, the CPU for the rest.
TEST_F(OpenclFaults, AutoTakesAGpu) {
  if (parse_device("auto").backend == Backend::cuda) GTEST_SKIP() << "auto takes the CUDA device of this machine";
  const auto used_device = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto result = run_with("a GPU", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return nlohmann::json::parse(result.output).at("device").get<std::string>();
  };
  EXPECT_EQ(used_device(hologram("auto")), "opencl:0");
  auto fast = hologram("auto");
  std::replace(fast.begin(), fast.end(), std::string("direct"), std::string("fast"));
  EXPECT_EQ(used_device(fast), "cpu");
  auto field = hologram("auto");
  std::replace(field.begin(), field.end(), path("out.png"), path("out.npy"));
  EXPECT_EQ(used_device(field), "opencl:0");
  EXPECT_EQ(used_device({"quantize", path("out.npy"), "-o", path("codes.png"), "--bits", "8", "--pitch", "8um",
                         "--wavelength", "532nm", "--method", "truncate"}),
            "cpu");
  EXPECT_NE(run_with("", hologram("auto")).output.find("on cpu"), std::string::npos);  // never OpenCL on a CPU
}

TEST_F(OpenclFaults, WhatOpenclLacksIsRefusedFirst) {
  auto fast = hologram();
  std::replace(fast.begin(), fast.end(), std::string("direct"), std::string("fast"));
  expect_refused_with("", fast,
                      "--device: expected auto, cpu or cuda, which have \"points to field: `separable`, `fast`\"");
  expect_refused_with(
      "", {"quantize", path("points.csv"), "-o", path("codes.png"), "--bits", "8", "--device", "opencl"},
      "--device: expected auto, cpu or cuda, which have \"field to codes: error diffusion\", got 'opencl'");
}

TEST_F(OpenclFaults, DevicesThatCannotBeOpened) {
  expect_refused_with("no platform", hologram(),
                      "--device: expected one of this machine's, got 'opencl': OpenCL has no");
  expect_refused_with("no device", hologram(), "got 'opencl': no device on the OpenCL platform ");
  expect_refused_with("no context", hologram(),
                      "opencl:0: clCreateContext: CL_DEVICE_NOT_AVAILABLE; the device or its driver");
  const auto listed = run_with("no context", {"devices"});
  EXPECT_EQ(listed.exit_code, 0) << listed.error;
  EXPECT_NE(listed.output.find("opencl:0"), std::string::npos);
}

TEST_F(OpenclFaults, OtherDevicesAreMeasured) {
  const auto text = run_with("no context", {"devices", "--measure"});
  EXPECT_EQ(text.exit_code, 0) << text.error;
  EXPECT_NE(text.output.find("\n         not measured: clCreateContext: CL_DEVICE_NOT_AVAILABLE"), std::string::npos)
      << text.output;
  EXPECT_NE(text.output.find("direct sum "), std::string::npos) << text.output;
  const auto json = nlohmann::json::parse(run_with("no context", {"devices", "--measure", "--json"}).output);
  EXPECT_TRUE(json["devices"][0].contains("measured")) << json;
  const auto& last = json["devices"].back();
  EXPECT_FALSE(last.contains("measured")) << last;
  EXPECT_NE(last["error"].get<std::string>().find("clCreateContext"), std::string::npos) << last;
}

TEST_F(OpenclFaults, TooLittleMemory) {
  expect_refused_with("little memory", hologram(), "on opencl:0, got none: 4.9 KiB are free");
  expect_refused_with("small arrays", hologram(), "on opencl:0, got none: one array has at most 4.9 KiB");
  expect_refused_with("no memory", hologram(), "on opencl:0, got none: the driver refuses");
}

TEST_F(OpenclFaults, TooLittleLocalMemoryAndSmallGroups) {
  expect_refused_with("small groups", hologram(), "expected a device with groups of ");
  fs::copy_file(fs::path(source_folder()) / "docs/pictures/mixture.png", path("small.png"));
  ASSERT_EQ(run({"smoe", "fit", path("small.png"), "-o", path("small.smoe"), "--components", "4", "--iterations", "1",
                 "--device", "cpu"})
                .exit_code,
            0);
  const std::vector<std::string> render = {"smoe",   "render", path("small.smoe"), "-o",    path("out.png"),
                                           "--size", "16x16",  "--device",         "opencl"};
  if (run_with("", render).exit_code != 0) GTEST_SKIP() << "no mixtures on this device";
  fs::remove(path("out.png"));
  expect_refused_with("little local memory", render, " bytes of local memory, got ");
}

TEST_F(OpenclFaults, TooLittleLocalMemoryForTransforms) {
  ASSERT_EQ(run_with("", hologram()).exit_code, 0);
  expect_refused_with("little local memory",
                      {"reconstruct", path("out.png"), "-o", path("focus.png"), "--device", "opencl"},
                      "expected a device with 32768 bytes of local memory, got ");
}

TEST_F(OpenclFaults, KernelsThatAreNotBuilt) { expect_refused_with("no build", hologram(), "cannot be compiled for "); }

TEST_F(OpenclFaults, DevicesThatAreLost) {
  expect_refused_with("lost", hologram(), "CL_OUT_OF_RESOURCES; the device or its driver failed");
  expect_refused_with("lost while waiting", hologram(), "; the device or its driver failed");
}
#endif

TEST_F(OpenclTest, DevicesThatAreNotThereAreNamed) {
  const auto result = hologram_in("HOLOTONE_UNUSED", "1", "opencl:99");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("--device: expected one of this machine's, got 'opencl:99': "), std::string::npos)
      << result.error;
}

}  // namespace
}  // namespace holotone::test
