// `holotone smoe fit`: pictures and light fields to files, and what it refuses.
#include <cmath>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/render.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/cli/program.hpp>

namespace holotone::test {
namespace {

class SmoeFitTest : public ProgramTest {
 protected:
  /// A smooth picture with an edge.
  template <class Code>
  void put_picture(const std::string& name, std::int64_t ny, std::int64_t nx, std::int64_t channels) const {
    Array<Code, 3> codes({ny, nx, channels});
    for (std::int64_t i = 0; i < codes.size(); ++i) {
      const auto y = static_cast<double>(i / channels / nx);
      const auto x = static_cast<double>(i / channels % nx);
      const double ramp =
          0.3 + 0.4 * x / static_cast<double>(nx) + (x > y ? 0.2 : 0) + 0.05 * static_cast<double>(i % channels);
      codes.data()[i] = static_cast<Code>(std::min(ramp, 1.0) * static_cast<double>(std::numeric_limits<Code>::max()));
    }
    write_image(path(name), {std::move(codes), {}});
  }

  /// 3 x 3 views of a light field whose things shift; `up`: the first row of files is the lowest.
  void put_views(bool up) const {
    for (int v = 0; v < 3; ++v) {
      for (int u = 0; u < 3; ++u) {
        Array<std::uint8_t, 3> codes({40, 56, 1});
        for (std::int64_t row = 0; row < 40; ++row) {
          for (std::int64_t column = 0; column < 56; ++column) {
            const double x = static_cast<double>(column) - 2.0 * (u - 1);
            const double y = static_cast<double>(row) - 2.0 * (up ? 1 - v : v - 1);
            codes(row, column, 0) =
                static_cast<std::uint8_t>(128 + 60 * std::sin(0.3 * x) * std::cos(0.25 * y) + 0.8 * x);
          }
        }
        write_image(path(fmt::format("view_{}_{}.png", v, u)), {std::move(codes), {}});
      }
    }
  }

  [[nodiscard]] std::vector<std::string> fit(const std::string& in, const std::string& out,
                                             std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"smoe", "fit", path(in), "-o", path(out), "--iterations", "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& text) const {
    const auto result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    EXPECT_NE(result.error.find(text), std::string::npos) << result.error;
  }
};

TEST_F(SmoeFitTest, PicturesOfEveryKind) {
  put_picture<std::uint8_t>("rgb.png", 40, 56, 3);
  put_picture<std::uint8_t>("grey.png", 31, 47, 1);
  put_picture<std::uint8_t>("alpha.png", 30, 44, 4);
  put_picture<std::uint16_t>("deep.png", 30, 44, 3);
  for (const char* name : {"rgb", "grey", "alpha", "deep"}) {
    const auto json = run_json(fit(std::string(name) + ".png", "m.smoe", {"--components", "40"}));
    EXPECT_EQ(json["components"], 40) << name;
    EXPECT_GT(json["psnr_db"].get<double>(), 30) << name;
    EXPECT_EQ(json["bytes"], fs::file_size(path("m.smoe"))) << name;
    const auto info = run_json({"smoe", "info", path("m.smoe"), "--against", path(std::string(name) + ".png")});
    EXPECT_NEAR(info["psnr_db"].get<double>(), json["psnr_db"].get<double>(), 0.01) << name;
  }
}

TEST_F(SmoeFitTest, LinearLightBecomesTheSameCodes) {
  put_picture<std::uint8_t>("rgb.png", 40, 56, 3);
  ASSERT_EQ(run(fit("rgb.png", "m.smoe", {"--components", "40", "--linear"})).exit_code, 0);
  const auto info = run_json({"smoe", "info", path("m.smoe"), "--against", path("rgb.png")});
  EXPECT_EQ(info["linear"], true);
  EXPECT_GT(info["psnr_db"].get<double>(), 30);
}

TEST_F(SmoeFitTest, OnePixelAndMoreComponentsThanPixels) {
  put_picture<std::uint8_t>("dot.png", 1, 1, 3);
  EXPECT_EQ(run(fit("dot.png", "dot.smoe", {"--components", "1"})).exit_code, 0);
  const auto many = run(fit("dot.png", "many.smoe", {"--components", "50"}));
  EXPECT_EQ(many.exit_code, 0) << many.error;
}

TEST_F(SmoeFitTest, TheSameSeedTheSameFileAndResume) {
  put_picture<std::uint8_t>("a.png", 40, 56, 3);
  for (const char* name : {"1.smoe", "2.smoe"}) ASSERT_EQ(run(fit("a.png", name, {"--components", "30"})).exit_code, 0);
  EXPECT_EQ(content_of(path("1.smoe")), content_of(path("2.smoe")));
  const auto first = run_json(fit("a.png", "first.json", {"--components", "30"}));
  const auto more = run_json(fit("a.png", "more.json", {"--resume", path("first.json")}));
  EXPECT_EQ(more["components"], 30);
  EXPECT_GE(more["psnr_db"].get<double>(), first["psnr_db"].get<double>() - 0.05);
}

TEST_F(SmoeFitTest, BytesAndPsnrAreTargets) {
  put_picture<std::uint8_t>("a.png", 40, 56, 3);
  const auto small = run_json(fit("a.png", "small.smoe", {"--bytes", "300"}));
  EXPECT_LE(small["bytes"], 300);
  const auto short_of_it = run(fit("a.png", "short.smoe", {"--psnr", "60", "--components", "20"}));
  EXPECT_EQ(short_of_it.exit_code, 0);
  EXPECT_NE(short_of_it.error.find("warning: --psnr: 60 dB were asked for, the model has"), std::string::npos)
      << short_of_it.error;
  const auto good = run_json(fit("a.png", "good.smoe", {"--psnr", "32", "--lossless"}));
  EXPECT_GE(good["psnr_db"].get<double>(), 31.9);
}

TEST_F(SmoeFitTest, ViewsEitherWayUp) {
  for (const bool up : {false, true}) {
    put_views(up);
    const auto json = run_json(fit("view_%v_%u.png", "field.smoe", {"--components", "120"}));
    EXPECT_EQ(json["rows"], up ? "up" : "down");
    EXPECT_EQ(json["views"], (std::vector<int>{3, 3}));
    EXPECT_GT(json["psnr_db"].get<double>(), 25) << (up ? "up" : "down");
    const auto model = run_json({"smoe", "info", path("field.smoe")});
    EXPECT_EQ(model["dimensions"], 4);
  }
}

TEST_F(SmoeFitTest, RefusesWhatIsNoGridOfViews) {
  put_views(false);
  fs::remove(path("view_1_2.png"));
  expect_refused(fit("view_%v_%u.png", "m.smoe"), "none for v = 1, u = 2");
  put_picture<std::uint8_t>("view_1_2.png", 41, 56, 1);
  expect_refused(fit("view_%v_%u.png", "m.smoe"), "view_1_2.png: expected 56 x 40 pixels of 1 channel");
  expect_refused(fit("other_%v_%u.png", "m.smoe"), "expected files of views");
  expect_refused(fit("view_%v_0.png", "m.smoe"), "expected %u");
  expect_refused(fit("view_%v%u.png", "m.smoe"), "something between");
  expect_refused(fit("nothing.png", "m.smoe"), "nothing.png");
  EXPECT_FALSE(fs::exists(path("m.smoe")));
}

TEST_F(SmoeFitTest, RefusesOptionsThatCannotBe) {
  put_picture<std::uint8_t>("a.png", 20, 20, 3);
  expect_refused(fit("a.png", "m.png"), "a name ending in .smoe");
  expect_refused(fit("a.png", "m.json", {"--bytes", "3k"}), "a name ending in .smoe");
  expect_refused(fit("a.png", "m.smoe", {"--components", "0"}), "--components");
  expect_refused(fit("a.png", "m.smoe", {"--bytes", "20"}), "--bytes");
  expect_refused(fit("a.png", "m.smoe", {"--method", "magic"}), "--method");
  put_picture<std::uint8_t>("b.png", 24, 20, 3);
  ASSERT_EQ(run(fit("b.png", "b.smoe", {"--components", "5"})).exit_code, 0);
  expect_refused(fit("a.png", "m.smoe", {"--resume", path("b.smoe")}), "--resume");
  EXPECT_FALSE(fs::exists(path("m.smoe")));
}

}  // namespace
}  // namespace holotone::test
