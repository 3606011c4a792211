// The scripts of the build, with stand-ins for cmake, nvcc and nvidia-smi.
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class BuildScriptsTest : public ProgramTest {
 protected:
  BuildScriptsTest() {
    stand_in("cmake", "echo \"cmake $*\"");
    stand_in("nvcc", "printf 'sm_%s\\n' 80 86 89 90");
  }

  void stand_in(const std::string& name, const std::string& text) const {
    fs::permissions(write(name, "#!/bin/bash\n" + text + "\n"), fs::perms::owner_all);
  }

  /// A machine with these cards, "9.0\n8.9"; none if empty.
  void cards(const std::string& capabilities) const {
    stand_in("nvidia-smi", capabilities.empty()
                               ? "exit 9"
                               : "case $1 in -L) echo 'GPU 0: a card';; *) echo '" + capabilities + "';; esac");
  }

  [[nodiscard]] std::string output_of(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"env", "-C", source_folder(), "-u", "MAKEFLAGS", "PATH=" + folder_.string() + ":/usr/bin:/bin"});
    const auto result = RunningProgram::other(words, captured_).wait(60);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.output;
  }
};

TEST_F(BuildScriptsTest, CodeForTheCardsThatArePresentIsAdded) {
  const auto configured = [&](const char* capabilities, const char* preset) {
    cards(capabilities);
    return output_of({"scripts/configure.sh", preset, "-DX=1"});
  };
  EXPECT_EQ(configured("8.9\n8.6\n8.9", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS=86-real;89-real -DX=1\n");
  // Hopper's is always there; a card that nvcc does not know and "[N/A]" have none.
  EXPECT_EQ(configured("9.0", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS= -DX=1\n");
  EXPECT_EQ(configured("13.7\n[N/A]", "all"), "cmake --preset all -DHOLOTONE_CUDA_CARDS= -DX=1\n");
  EXPECT_EQ(configured("", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS= -DX=1\n");
  EXPECT_EQ(configured("8.9", "cpu"), "cmake --preset cpu -DX=1\n");
}

TEST_F(BuildScriptsTest, DemoAndInstallUseOneBuild) {
  for (const auto& [capabilities, preset] : {std::pair{"", "cpu"}, {"8.9", "cuda"}}) {
    cards(capabilities);
    for (const char* target : {"demo", "install"}) {
      const auto lines = output_of({"make", "-n", target});
      EXPECT_NE(lines.find(fmt::format("scripts/configure.sh {}\n", preset)), std::string::npos) << lines;
      EXPECT_NE(lines.find(fmt::format("cmake --build --preset {} ", preset)), std::string::npos) << lines;
      EXPECT_EQ(lines.find(std::string(preset) == "cpu" ? "cuda" : "cpu"), std::string::npos) << lines;
    }
    EXPECT_NE(output_of({"make", "-n", "build"}).find("cmake --build --preset cuda "), std::string::npos);
  }
  EXPECT_NE(output_of({"make", "-n", "PRESET=cuda", "install"}).find("cmake --install build/cuda "), std::string::npos);
}

}  // namespace
}  // namespace holotone::test
