// What the page gets of files that a file names: none from outside the folder.
#include <tests/support/io_support.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class ViewLinks : public ProgramTest {
 protected:
  /// A triangle whose buffer is the file `uri`.
  void write_scene(const std::string& uri) const {
    write("s/x.gltf", R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"buffers":[{"byteLength":36,"uri":")" +
                          uri + R"("}],"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}]})");
  }

  [[nodiscard]] std::vector<std::string> view(std::vector<std::string> more) const {
    more.insert(more.begin(), {"view", path("s/x.gltf")});
    return more;
  }
};

TEST_F(ViewLinks, BuffersOutsideTheFolderAreRefused) {
  fs::create_directory(path("s"));
  std::string bytes;
  for (const float number : {0.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F})
    bytes += io_support::bytes_of(number);
  write("s/in.bin", bytes);
  write("secret.bin", bytes);
  write_scene("in.bin");
  const auto shown = run(view({"-o", path("page.html")}));
  if (shown.error.find("assimp") != std::string::npos) GTEST_SKIP() << "built without assimp";
  EXPECT_EQ(shown.exit_code, 0) << shown.error;

  fs::create_symlink("../secret.bin", path("s/link.bin"));
  fs::create_directory_symlink("..", path("s/up"));
  const std::string words = " to be a regular file in its folder or below, got ";
  for (const auto& [uri, reason] : {std::pair<std::string, const char*>{"link.bin", "a link that leads out of it"},
                                    {"up/secret.bin", "a link that leads out of it"},
                                    {"../secret.bin", "a path with '..'"},
                                    {path("secret.bin"), "a path from the root"}}) {
    write_scene(uri);
    const auto got = words + reason;
    expect_refused(view({"-o", path("other.html")}),
                   {"x.gltf: expected the buffer '", uri.substr(0, 40).c_str(), got.c_str()});
    expect_refused(view({"--no-browser", "--port", "0"}), {"x.gltf: expected the buffer '", got.c_str()});
  }
}

}  // namespace
}  // namespace holotone::test
