// Light fields on the command line: left-out views, PSNR of all views, bits per pixel.
#include <tests/cli/smoe_pictures.hpp>

namespace holotone::test {
namespace {

class SmoeFieldTest : public SmoeFitTest {};

TEST_F(SmoeFieldTest, ViewsLeftOutAreForetoldNotFitted) {
  put_views(false);
  const auto all = run_json(fit("view_%v_%u.png", "all.smoe", {"--components", "120"}));
  EXPECT_FALSE(all.contains("left_out"));
  const std::vector<std::string> out{"--components", "120", "--leave-out", "1,1", "--leave-out", "0,2"};
  const auto json = run_json(fit("view_%v_%u.png", "m.smoe", out));
  ASSERT_EQ(json["left_out"].size(), 2u);
  EXPECT_EQ(json["left_out"][0]["view"], (std::vector<int>{1, 1}));
  EXPECT_EQ(json["left_out"][1]["view"], (std::vector<int>{0, 2}));
  // The reported PSNR of left-out views is that measured by `info`: u to the right, v down.
  const auto inner = run_json({"smoe", "info", path("m.smoe"), "--against", path("view_1_1.png"), "--view", "0,0"});
  const auto corner = run_json({"smoe", "info", path("m.smoe"), "--against", path("view_2_0.png"), "--view", "-1,1"});
  EXPECT_NEAR(json["left_out"][0]["psnr_db"].get<double>(), inner["psnr_db"].get<double>(), 1e-6);
  EXPECT_NEAR(json["left_out"][1]["psnr_db"].get<double>(), corner["psnr_db"].get<double>(), 1e-6);
  const double mean = -10 * std::log10(0.5 * std::pow(10, -0.1 * inner["psnr_db"].get<double>()) +
                                       0.5 * std::pow(10, -0.1 * corner["psnr_db"].get<double>()));
  EXPECT_NEAR(json["left_out_psnr_db"].get<double>(), mean, 1e-6);
  // Left-out views are not fitted: their content does not change the file.
  const auto before = content_of(path("m.smoe"));
  Image black{Array<std::uint8_t, 3>({40, 56, 1}), {}};
  write_image(path("view_2_0.png"), black);
  const auto spoilt = run_json(fit("view_%v_%u.png", "m.smoe", out));
  EXPECT_EQ(content_of(path("m.smoe")), before);
  EXPECT_LT(spoilt["left_out"][1]["psnr_db"].get<double>(), json["left_out"][1]["psnr_db"].get<double>() - 5);
  const auto text = run(fit("view_%v_%u.png", "m.smoe", {"--components", "20", "--leave-out", "0,0"}));
  EXPECT_NE(text.output.find("dB of 8 views of 56 x 40 pixels, "), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("dB of 1 view held out"), std::string::npos) << text.output;
}

TEST_F(SmoeFieldTest, InfoTellsThePsnrOfAllViews) {
  for (const bool up : {false, true}) {
    put_views(up);
    const auto fitted = run_json(fit("view_%v_%u.png", "m.smoe", {"--components", "60"}));
    const auto json = run_json({"smoe", "info", path("m.smoe"), "--against", path("view_%v_%u.png")});
    EXPECT_NEAR(json["psnr_db"].get<double>(), fitted["psnr_db"].get<double>(), 1e-6);
    ASSERT_EQ(json["views"].size(), 9u);
    double least = 1e9;
    double mean = 0;
    double mean_y = 0;
    double mean_ssim = 0;
    for (const auto& view : json["views"]) {
      const auto u = view["view"][0].get<int>();
      const auto v = view["view"][1].get<int>();
      const auto place = fmt::format("{},{}", u - 1, up ? 1 - v : v - 1);
      const auto one = run_json(
          {"smoe", "info", path("m.smoe"), "--against", path(fmt::format("view_{}_{}.png", v, u)), "--view", place});
      EXPECT_NEAR(one["psnr_db"].get<double>(), view["psnr_db"].get<double>(), 1e-6) << place;
      EXPECT_TRUE(one["bits_per_pixel"].is_null()) << "how many views there are is not known";
      least = std::min(least, one["psnr_db"].get<double>());
      mean += one["psnr_db"].get<double>() / 9;
      mean_y += one["psnr_y_db"].get<double>() / 9;
      mean_ssim += one["ssim_y"].get<double>() / 9;
      EXPECT_NEAR(one["ssim_y"].get<double>(), view["ssim_y"].get<double>(), 1e-6) << place;
    }
    EXPECT_NEAR(json["psnr_min_db"].get<double>(), least, 1e-6);
    EXPECT_NEAR(json["psnr_mean_db"].get<double>(), mean, 1e-6);
    EXPECT_NEAR(json["psnr_y_db"].get<double>(), mean_y, 1e-6);
    EXPECT_NEAR(json["ssim_y"].get<double>(), mean_ssim, 1e-6);
    // Bits per pixel refer to all captured views, both here and in the output of the fit.
    const double bits = 8.0 * static_cast<double>(fs::file_size(path("m.smoe"))) / (9 * 40 * 56);
    EXPECT_NEAR(json["bits_per_pixel"].get<double>(), bits, 1e-9);
    EXPECT_NEAR(fitted["bits_per_pixel"].get<double>(), bits, 1e-9);
  }
  const auto text = run({"smoe", "info", path("m.smoe"), "--against", path("view_%v_%u.png"), "--rows", "up"});
  EXPECT_NE(text.output.find("9 of them, mean "), std::string::npos) << text.output << text.error;
  const auto wrong = run_json({"smoe", "info", path("m.smoe"), "--against", path("view_%v_%u.png"), "--rows", "down"});
  const auto right = run_json({"smoe", "info", path("m.smoe"), "--against", path("view_%v_%u.png"), "--rows", "up"});
  EXPECT_LT(wrong["psnr_db"].get<double>(), right["psnr_db"].get<double>() - 1);
  const auto refused = [&](std::vector<std::string> more, const char* words) {
    more.insert(more.begin(), {"smoe", "info", path("m.smoe")});
    ProgramTest::expect_refused(more, {words});
  };
  refused({"--against", path("view_1_%u.png")}, "--against: expected a name with %u and %v");
  refused({"--against", path("view_%v_1.png")}, "--against: expected %u");
  refused({"--against", path("view_%v_%u.png"), "--view", "0,0"}, "--view: expected one picture of --against");
  refused({"--rows", "up"}, "--rows: expected --against");
  put_picture<std::uint8_t>("a.png", 40, 56, 1);
  ASSERT_EQ(run(fit("a.png", "a.smoe", {"--components", "5"})).exit_code, 0);
  ProgramTest::expect_refused({"smoe", "info", path("a.smoe"), "--against", path("view_%v_%u.png")},
                              {"--against: expected one picture"});
}

TEST_F(SmoeFieldTest, SweepsAlongAnyLine) {
  put_views(false);
  ASSERT_EQ(run(fit("view_%v_%u.png", "m.smoe", {"--components", "40"})).exit_code, 0);
  const auto render = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"smoe", "render", path("m.smoe"), "-o", path(out)});
    return more;
  };
  const auto down = run_json(render("down_%d.png", {"--sweep", "3", "--along", "0,-1:0,1"}));
  EXPECT_EQ(down["views"], nlohmann::json({{0, -1}, {0, 0}, {0, 1}}));
  const auto slanting = run_json(render("s_%d.png", {"--sweep", "2", "--along", "0.5,-0.25:-1,1"}));
  EXPECT_EQ(slanting["views"], nlohmann::json({{0.5, -0.25}, {-1, 1}}));
  ASSERT_EQ(run(render("one.png", {"--view", "0.5,-0.25"})).exit_code, 0);
  const auto a = to_float(read_image(path("s_0.png")));
  const auto b = to_float(read_image(path("one.png")));
  EXPECT_TRUE(std::equal(a.host().begin(), a.host().end(), b.host().begin()));
  const auto outside = run(render("o_%d.png", {"--sweep", "2", "--along", "0,0:0,2"}));
  EXPECT_NE(outside.error.find("warning: --along: v = 2 lies outside the captured -1 to 1"), std::string::npos);
  const auto refused = [&](const std::string& along, const char* words) {
    ProgramTest::expect_refused(render("o_%d.png", {"--sweep", "2", "--along", along}), {words});
  };
  refused("0,0", "--along: expected two views");
  refused("0,0:", "--along: expected two views");
  refused("0:1", "--along: expected two numbers");
  refused("0,0:0,x", "--along");
  refused("0,0:0,1e7", "--along: expected a number from -1e+06 to 1e+06");
  ProgramTest::expect_refused(render("o.png", {"--along", "0,0:0,1"}), {"--along", "--sweep"});
  put_picture<std::uint8_t>("a.png", 20, 20, 1);
  ASSERT_EQ(run(fit("a.png", "a.smoe", {"--components", "5"})).exit_code, 0);
  ProgramTest::expect_refused(
      {"smoe", "render", path("a.smoe"), "-o", path("o_%d.png"), "--sweep", "2", "--along", "0,0:0,1"},
      {"--along: expected a light field"});
}

TEST_F(SmoeFieldTest, PicturesTooLargeToBe) {
  put_views(false);
  ASSERT_EQ(run(fit("view_%v_%u.png", "m.smoe", {"--components", "10"})).exit_code, 0);
  const auto render = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"smoe", "render", path("m.smoe"), "-o", path("o.png")});
    return more;
  };
  const auto row = run(render({"--epi", "1e6", "--size", "8x4"}));
  EXPECT_EQ(row.exit_code, 0);
  EXPECT_NE(row.error.find("warning: --epi: row 1e+06 lies outside the picture's 0 to 39"), std::string::npos)
      << row.error;
  fs::remove(path("o.png"));
  ProgramTest::expect_refused(render({"--crop", "0,0,1e7,5"}),
                              {"--size: expected to be given for more than 65536 pixels"});
  ASSERT_EQ(run({"smoe", "convert", path("m.smoe"), "-o", path("m.json")}).exit_code, 0);
  auto json = nlohmann::json::parse(content_of(path("m.json")));
  json["high"][0] = 1e29;
  write("wide.json", json.dump());
  ProgramTest::expect_refused({"smoe", "render", path("wide.json"), "-o", path("o.png")},
                              {"--size: expected to be given", "1e+29 x 40 without it"});
  EXPECT_EQ(run({"smoe", "render", path("wide.json"), "-o", path("o.png"), "--size", "9x7"}).exit_code, 0);
}

TEST_F(SmoeFieldTest, ViewsThatCannotBeLeftOut) {
  put_views(false);
  const auto refused = [&](const std::string& in, std::vector<std::string> views, const std::string& text) {
    std::vector<std::string> more;
    for (auto& view : views) {
      more.emplace_back("--leave-out");
      more.push_back(std::move(view));
    }
    expect_refused(fit(in, "m.smoe", more), text);
  };
  refused("view_%v_%u.png", {"3,0"}, "--leave-out: expected an existing view as U,V, got '3,0'");
  refused("view_%v_%u.png", {"1"}, "--leave-out: expected an existing view as U,V, got '1'");
  refused("view_%v_%u.png", {"1,1,1"}, "--leave-out: expected U,V");
  refused("view_%v_%u.png", {"1,x"}, "--leave-out");
  refused("view_%v_%u.png", {"1,1", "1,1"}, "--leave-out: expected every view once, got '1,1'");
  refused("view_0_%u.png", {"0", "1"}, "--leave-out: expected at least 2 remaining views");
  refused("view_0_0.png", {"0,0"}, "--leave-out: expected views of a light field");
  EXPECT_FALSE(fs::exists(path("m.smoe")));
}

}  // namespace
}  // namespace holotone::test
