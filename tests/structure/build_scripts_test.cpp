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

  [[nodiscard]] std::string run_words(std::vector<std::string> words) const {
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
    return run_words({"scripts/configure.sh", preset, "-DX=1"});
  };
  EXPECT_EQ(configured("8.9\n8.6\n8.9", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS=86-real;89-real -DX=1\n");
  EXPECT_EQ(configured("9.0\n8.0", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS=80-real;90a-real -DX=1\n");
  // A card that nvcc does not know and "[N/A]" have none.
  EXPECT_EQ(configured("13.7\n[N/A]", "all"), "cmake --preset all -DHOLOTONE_CUDA_CARDS= -DX=1\n");
  EXPECT_EQ(configured("", "cuda"), "cmake --preset cuda -DHOLOTONE_CUDA_CARDS= -DX=1\n");
  EXPECT_EQ(configured("8.9", "cpu"), "cmake --preset cpu -DX=1\n");
}

TEST_F(BuildScriptsTest, DemoAndInstallUseOneBuild) {
  for (const auto& [capabilities, preset] : {std::pair{"", "cpu"}, {"8.9", "cuda"}}) {
    cards(capabilities);
    for (const char* target : {"demo", "install"}) {
      const auto lines = run_words({"make", "-n", target});
      EXPECT_NE(lines.find(fmt::format("scripts/configure.sh {}\n", preset)), std::string::npos) << lines;
      EXPECT_NE(lines.find(fmt::format("cmake --build --preset {} ", preset)), std::string::npos) << lines;
      EXPECT_EQ(lines.find(std::string(preset) == "cpu" ? "cuda" : "cpu"), std::string::npos) << lines;
    }
    EXPECT_NE(run_words({"make", "-n", "build"}).find("cmake --build --preset cuda "), std::string::npos);
  }
  EXPECT_NE(run_words({"make", "-n", "PRESET=cuda", "install"}).find("cmake --install build/cuda "), std::string::npos);
}

TEST_F(BuildScriptsTest, AReleaseHasOneVersionAndADatedChangelog) {
  const fs::path tree = folder_ / "tree";
  fs::create_directories(tree / "scripts");
  fs::copy_file(fs::path(source_folder()) / "scripts" / "release_check.sh", tree / "scripts" / "release_check.sh");
  write("tree/scripts/docs_tables.py", "raise SystemExit(0)\n");
  const auto check = [&](const std::string& version, const std::string& heading, const std::string& project) {
    write("tree/VERSION", version + "\n");
    write("tree/CHANGELOG.md", "# Changes\n\n" + heading + "\n- x\n\n## 0.1.0 - 2026-01-02\n");
    write("tree/pyproject.toml", project);
    const std::string commands =
        "cd \"$1\" && git init -q . && git add -A && git -c user.name=a -c user.email=b commit "
        "-qm x --allow-empty && scripts/release_check.sh --text";
    return RunningProgram::other({"bash", "-c", commands, "bash", tree.string()}, captured_).wait(60);
  };
  const auto good = check("3.1.4", "## 3.1.4 - 2026-11-28", "name = 'holotone'\n");
  EXPECT_EQ(good.exit_code, 0) << good.error;
  const auto refused = [](const ProgramResult& result, const char* words) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.error.find(words), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("1 of the checks failed"), std::string::npos) << result.error;
  };
  refused(check("3.1.4-dev", "## 3.1.4 - 2026-11-28", ""), "VERSION: expected a release X.Y.Z, got 3.1.4-dev");
  refused(check("3.1.4", "## Unreleased", ""), "CHANGELOG.md: expected '## 3.1.4 - YYYY-MM-DD'");
  refused(check("3.1.4", "## 3.1.5 - 2026-11-28", ""), "got '## 3.1.5 - 2026-11-28'");
  refused(check("3.1.4", "## 3.1.4 - 2026-11-28", "version = '3.1.4'\n"),
          "pyproject.toml: expected the version in VERSION");
  write("tree/scripts/docs_tables.py", "raise SystemExit(1)\n");
  refused(check("3.1.4", "## 3.1.4 - 2026-11-28", ""), "docs: expected current tables");
}

}  // namespace
}  // namespace holotone::test
