#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <tests/support/paths.hpp>
#include <unistd.h>
#include <web/server/address.hpp>

namespace holotone::web {
namespace {

namespace fs = std::filesystem;

TEST(ViewerAddress, IsPrintedAsOneThatWorks) {
  EXPECT_EQ(page_url("127.0.0.1", 8080, "abc"), "http://127.0.0.1:8080/abc/");
  EXPECT_EQ(page_url("0.0.0.0", 8081, "abc"), "http://127.0.0.1:8081/abc/");
  EXPECT_EQ(page_url("::1", 8080, "abc"), "http://[::1]:8080/abc/");
  EXPECT_EQ(page_url("::", 8080, "abc"), "http://[::1]:8080/abc/");
  EXPECT_EQ(page_url("192.168.1.7", 8080, "abc"), "http://192.168.1.7:8080/abc/");
  EXPECT_EQ(opening_url("::", 8080, "abc"), "http://[::1]:8080/abc");
  const std::string tunnel = tunnel_command("127.0.0.1", 8080);
  EXPECT_TRUE(tunnel.starts_with("ssh -L 8080:127.0.0.1:8080 ")) << tunnel;
  EXPECT_NE(tunnel.find('@'), std::string::npos) << tunnel;
}

/// A variable of the environment, set back at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST(ViewerAddress, IsOpenedInABrowserWhereThereIsOne) {
  const fs::path folder = fs::temp_directory_path() / ("holotone_web_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const Variable path("PATH", (folder.string() + ":/usr/bin:/bin").c_str());
  const Variable wayland("WAYLAND_DISPLAY", nullptr);
  const auto write_browser = [&](const std::string& script) {
    std::ofstream(folder / "xdg-open") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder / "xdg-open", fs::perms::owner_all);
  };
  write_browser("printf '%s' \"$1\" > " + (folder / "url").string());
  {
    const Variable none("DISPLAY", nullptr);
    EXPECT_FALSE(open_browser("http://127.0.0.1:1/a/")) << "no display";
    EXPECT_FALSE(fs::exists(folder / "url"));
  }
  const Variable display("DISPLAY", ":0");
  EXPECT_TRUE(open_browser("http://127.0.0.1:1/$(id)/;'\""));
  std::string url;
  std::getline(std::ifstream(folder / "url"), url);
  EXPECT_EQ(url, "http://127.0.0.1:1/$(id)/;'\"") << "no shell reads the address";
  write_browser("exit 3");
  EXPECT_FALSE(open_browser("http://127.0.0.1:1/a/"));
  write_browser("exec sleep 2");
  EXPECT_TRUE(open_browser("http://127.0.0.1:1/a/"));
  const Variable nowhere("PATH", "/nonexistent");
  EXPECT_FALSE(open_browser("http://127.0.0.1:1/a/"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace holotone::web
