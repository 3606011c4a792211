// `holotone view` as a user starts it: which files its page gets, and what its browser is started with.
#include <tests/support/io_support.hpp>
#include <tests/support/loopback.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

// What the page gets of files that a file names: none from outside the folder.
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

class ViewProgram : public ProgramTest {};

// Any user can read what a process is started with.
TEST_F(ViewProgram, StartsTheBrowserWithoutTheKey) {
  const auto started = path("started");
  write("xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + started + ".part\nenv >> " + started + ".part\nmv " +
                        started + ".part " + started + "\n");
  fs::permissions(path("xdg-open"), fs::perms::owner_all);
  write_cloud("points.csv", {{0, 0, 0, 1}});
  RunningProgram program({"view", path("points.csv"), "--port", "0", "--json", "--device", "cpu"}, captured_, [this] {
    setenv("PATH", (folder_.string() + ":/usr/bin:/bin").c_str(), 1);
    setenv("DISPLAY", ":0", 1);
  });
  ASSERT_TRUE(web::within(std::chrono::milliseconds(20'000), [&] { return fs::exists(started); }));
  const std::string url = nlohmann::json::parse(content_of(captured_ / "output")).at("url").get<std::string>();
  const std::string token = url.substr(url.size() - 33, 32);
  const std::string seen = content_of(started);
  EXPECT_EQ(seen.find(token), std::string::npos) << seen;
  const std::string origin = url.substr(0, url.find(token));
  const std::string opening = seen.substr(0, seen.find('\n'));
  ASSERT_TRUE(opening.starts_with(origin)) << seen;
  const auto port = static_cast<std::uint16_t>(std::stoi(origin.substr(origin.rfind(':') + 1)));
  const std::string answer = web::answer_to(port, opening.substr(origin.size()));
  EXPECT_NE(answer.find("\r\nLocation: /" + token + "/\r\n"), std::string::npos) << answer;
  program.send(SIGINT);
  const auto result = program.wait(20);
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

}  // namespace
}  // namespace holotone::test
