// The program where OpenCL is missing, broken or read-only: one line, or another way to go on.
#include <cstdlib>
#include <tests/cli/program.hpp>

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
                          captured_, [&] { setenv(variable.c_str(), value.c_str(), 1); })
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
  expect_no_device(hologram_in("LD_LIBRARY_PATH", path("broken")), "libOpenCL.so lacks clGetPlatformIDs");
}

TEST_F(OpenclTest, AFolderForKernelsThatCannotBeWrittenIsNoMatter) {
  const auto result = hologram_in("XDG_CACHE_HOME", "/proc/none");
  if (result.error.find("got 'opencl'") != std::string::npos) GTEST_SKIP() << result.error;
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(fs::exists(path("out.npy")));
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
