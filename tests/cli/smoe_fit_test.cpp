// `holotone smoe fit`: pictures and light fields to files, and rejected input.
#include <holotone/smoe/store.hpp>
#include <tests/cli/smoe_pictures.hpp>

namespace holotone::test {
namespace {

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
  EXPECT_NE(short_of_it.error.find("warning: --psnr: 60 dB requested, "), std::string::npos) << short_of_it.error;
  const auto good = run_json(fit("a.png", "good.smoe", {"--psnr", "32", "--lossless"}));
  EXPECT_GE(good["psnr_db"].get<double>(), 32);
}

// The reported PSNR is that of the file, slightly above the target. A lower target needs fewer bytes; --bytes limits
// them.
TEST_F(SmoeFitTest, PsnrIsThatOfTheFile) {
  const std::string picture = "busy.png";
  put_busy_picture(picture);
  std::int64_t before = 0;
  for (const double wanted : {22.0, 26.0, 30.0}) {
    const auto json = run_json({"smoe", "fit", path(picture), "-o", path("m.smoe"), "--psnr", fmt::format("{}", wanted),
                                "--iterations", "100"});
    const auto info = run_json({"smoe", "info", path("m.smoe"), "--against", path(picture)});
    const auto psnr = info["psnr_db"].get<double>();
    std::printf("asked for %.0f dB: %.2f dB in %lld bytes\n", wanted, psnr, static_cast<long long>(json["bytes"]));
    EXPECT_GE(psnr, wanted);
    EXPECT_LT(psnr, wanted + 1.5) << "of a small picture";
    EXPECT_NEAR(psnr, json["psnr_db"].get<double>(), 0.01);
    EXPECT_GT(json["bytes"].get<std::int64_t>(), before);
    before = json["bytes"].get<std::int64_t>();
  }
  const auto bound = run(fit(picture, "m.smoe", {"--psnr", "38", "--bytes", "200"}));
  EXPECT_NE(bound.error.find("warning: --psnr: 38 dB requested"), std::string::npos) << bound.error;
  EXPECT_LE(fs::file_size(path("m.smoe")), 200u);
  expect_refused(fit(picture, "m.smoe", {"--psnr", "30", "--quality", "50"}), "--quality");
}

// A search starts with few components: it needs at most 15 % more bytes than a good number given by hand.
TEST_F(SmoeFitTest, FewDecibelsTakeFewComponents) {
  put_picture<std::uint8_t>("a.png", 120, 168, 3);
  const auto with = [&](const std::vector<std::string>& how) {
    std::vector<std::string> arguments{"smoe", "fit", path("a.png"), "-o", path("m.smoe"), "--iterations", "60"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    return run_json(arguments);
  };
  const auto found = with({"--psnr", "30"});
  const auto few = with({"--psnr", "30", "--components", "12"});
  std::printf("30 dB: %s components, %s bytes; with 12 %s bytes\n", found["components"].dump().c_str(),
              found["bytes"].dump().c_str(), few["bytes"].dump().c_str());
  ASSERT_GE(few["psnr_db"].get<double>(), 30);
  EXPECT_GE(found["psnr_db"].get<double>(), 30);
  EXPECT_LE(found["components"].get<std::int64_t>(), 30) << "one for 256 pixels would be 78";
  EXPECT_LE(found["bytes"].get<double>(), 1.15 * few["bytes"].get<double>());
  EXPECT_GE(found["iterations"].get<std::int64_t>(), 60) << "one fit at least is a whole one";
}

// Available time is used for growth; a PSNR that is not reached is reported with a remedy.
TEST_F(SmoeFitTest, TimeIsUsedToSearch) {
  put_busy_picture("busy.png");
  const auto search = [&](const std::string& psnr, const std::string& time) {
    return std::vector<std::string>{"smoe",   "fit", path("busy.png"), "-o",     path("m.smoe"), "--psnr", psnr,
                                    "--time", time,  "--iterations",   "1000000"};
  };
  const auto json = run_json(search("24", "4"));
  std::printf("24 dB in 4 s: %.2f dB, %s components in %.2f s\n", json["psnr_db"].get<double>(),
              json["components"].dump().c_str(), json["time_s"].get<double>());
  EXPECT_GE(json["psnr_db"].get<double>(), 24);
  EXPECT_LT(json["time_s"].get<double>(), 12) << "busy machines are slow, a million steps take minutes";
  EXPECT_NE(json["warnings"].dump().find("--time stopped the search at "), std::string::npos) << json["warnings"];
  // The maximum of one component per four pixels reaches about 60 dB in that time.
  const auto late = run(search("90", "0.2"));
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_NE(late.error.find("warning: --psnr: 90 dB requested, "), std::string::npos) << late.error;
  EXPECT_NE(late.error.find("--components"), std::string::npos) << late.error;
}

// Progress lines appear every two seconds during a fit, with the PSNR and, for several attempts, the attempt.
TEST_F(SmoeFitTest, ShowsHowFarTheFitIs) {
  put_busy_picture("busy.png");
  const auto fitted = run({"smoe", "fit", path("busy.png"), "-o", path("m.smoe"), "--components", "60", "--iterations",
                           "1000000", "--time", "2.6", "--lossless", "--progress"});
  EXPECT_NE(fitted.error.find("fitting: "), std::string::npos) << fitted.error;
  EXPECT_NE(fitted.error.find(" left, "), std::string::npos) << fitted.error;
  EXPECT_NE(fitted.error.find(" dB\n"), std::string::npos) << fitted.error;
  const auto searched = run({"smoe", "fit", path("busy.png"), "-o", path("m.smoe"), "--psnr", "30", "--iterations",
                             "1000000", "--time", "9", "--progress"});
  EXPECT_NE(searched.error.find("fitting, attempt "), std::string::npos) << searched.error;
  EXPECT_NE(searched.error.find(" components: "), std::string::npos) << searched.error;
}

TEST_F(SmoeFitTest, ExactPicturesAreEqual) {
  Image one{Array<std::uint8_t, 3>({64, 64, 3}), {}};
  for (auto& code : std::get<Array<std::uint8_t, 3>>(one.pixels).host()) code = 90;
  write_image(path("one.png"), one);
  const auto result = run(fit("one.png", "m.smoe", {"--components", "1"}));
  EXPECT_NE(result.output.find(", equal to 64 x 64 pixels"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("inf"), std::string::npos) << result.output;
  const auto searched = run_json(fit("one.png", "m.smoe", {"--psnr", "40"}));
  EXPECT_EQ(searched["components"], 1);
}

TEST_F(SmoeFitTest, ModelsOfTheOtherKindOfLightAreNotResumed) {
  put_picture<std::uint8_t>("a.png", 40, 56, 3);
  ASSERT_EQ(run(fit("a.png", "codes.smoe", {"--components", "20"})).exit_code, 0);
  ASSERT_EQ(run(fit("a.png", "linear.smoe", {"--components", "20", "--linear"})).exit_code, 0);
  expect_refused(fit("a.png", "m.smoe", {"--resume", path("linear.smoe")}), "linear.smoe'");
  expect_refused(fit("a.png", "m.smoe", {"--resume", path("codes.smoe"), "--linear"}), "--linear");
  EXPECT_FALSE(fs::exists(path("m.smoe")));
  EXPECT_EQ(run(fit("a.png", "m.smoe", {"--resume", path("linear.smoe"), "--linear"})).error, "");
}

TEST_F(SmoeFitTest, BytesThatCannotBeAreRefusedAtOnce) {
  put_picture<std::uint8_t>("a.png", 40, 56, 3);
  const auto least = [&](std::int64_t components) {
    return fmt::format("at least {}", smoe_min_bytes(components, 2, 3));
  };
  // So many steps take hours.
  expect_refused(fit("a.png", "m.smoe", {"--bytes", "137"}), least(1) + " for 1 component, got 137");
  expect_refused({"smoe", "fit", path("a.png"), "-o", path("m.smoe"), "--iterations", "1000000", "--components", "500",
                  "--bytes", "1500"},
                 least(500) + " for 500 components");
  // The minimum is possible.
  for (const std::int64_t components : {1, 7, 60, 500}) {
    const auto bytes = smoe_min_bytes(components, 2, 3);
    const auto json = run_json(
        fit("a.png", "m.smoe", {"--bytes", std::to_string(bytes), "--components", std::to_string(components)}));
    EXPECT_EQ(json["components"], components);
    EXPECT_LE(json["bytes"].get<std::int64_t>(), bytes);
  }
  const auto plenty = run(fit("a.png", "m.smoe", {"--bytes", "900M"}));
  EXPECT_EQ(plenty.exit_code, 0);
  EXPECT_NE(plenty.error.find("warning: --bytes: limited to 560 components, one for 4 pixels"), std::string::npos)
      << plenty.error;
}

TEST_F(SmoeFitTest, TimeBoundsAllOfIt) {
  put_picture<std::uint8_t>("a.png", 60, 84, 3);
  for (const char* how : {"--quality=50", "--bytes=900", "--psnr=90", "--lossless"}) {
    const auto json = run_json({"smoe", "fit", path("a.png"), "-o", path("m.smoe"), "--iterations", "1000000", "--time",
                                "1.5", how, "--components", "60"});
    std::printf("%s: %.2f s of 1.5\n", how, json["time_s"].get<double>());
    EXPECT_LT(json["time_s"].get<double>(), 6) << how << ": busy machines are slow, a million steps take minutes";
    EXPECT_GT(json["iterations"].get<std::int64_t>(), 0) << how;
  }
}

TEST_F(SmoeFitTest, WarnsOfWhatIsLikelyAMistake) {
  put_picture<std::uint8_t>("a.png", 40, 56, 3);
  Image other{Array<std::uint8_t, 3>({40, 56, 3}), {}};
  auto codes = std::get<Array<std::uint8_t, 3>>(other.pixels).host();
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(200 - 150 * ((i / 3 % 56) / 28));
  write_image(path("other.png"), other);
  ASSERT_EQ(run(fit("a.png", "a.smoe", {"--components", "30"})).exit_code, 0);
  const auto same = run(fit("a.png", "m.smoe", {"--resume", path("a.smoe")}));
  EXPECT_EQ(same.error, "");
  const auto wrong = run(fit("other.png", "m.smoe", {"--resume", path("a.smoe")}));
  EXPECT_EQ(wrong.exit_code, 0);
  EXPECT_NE(wrong.error.find("warning: --resume: "), std::string::npos) << wrong.error;
  EXPECT_NE(wrong.error.find("it may be a model of another picture"), std::string::npos) << wrong.error;
  EXPECT_EQ(run_json(fit("other.png", "m.smoe", {"--resume", path("a.smoe")}))["warnings"].size(), 1u);
  put_picture<std::uint8_t>("tiny.png", 4, 5, 3);
  const auto many = run(fit("tiny.png", "m.smoe", {"--components", "50"}));
  EXPECT_EQ(std::count(many.error.begin(), many.error.end(), '\n'), 1);
  EXPECT_NE(many.error.find("warning: --components: 50 components exceed the 20 pixels"), std::string::npos)
      << many.error;
  const auto one = run(fit("tiny.png", "m.smoe", {"--components", "1"}));
  EXPECT_NE(one.output.find(": 1 component in "), std::string::npos) << one.output;
  EXPECT_EQ(one.error, "");
  put_views(false, true);
  const auto swapped = run(fit("view_%v_%u.png", "m.smoe", {"--components", "20"}));
  EXPECT_NE(swapped.error.find("exchange %u and %v"), std::string::npos) << swapped.error;
  EXPECT_EQ(run(fit("view_%u_%v.png", "m.smoe", {"--components", "20"})).error, "");
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

TEST_F(SmoeFitTest, NumberedViewsStandInTheirGrid) {
  put_views(false);
  for (int i = 0; i < 9; ++i) {
    fs::copy_file(path(fmt::format("view_{}_{}.png", i / 3, i % 3)), path(fmt::format("n{}.png", i)));
  }
  expect_refused(fit("n%u.png", "m.smoe"), "--grid: expected 3x3 for 9 views whose parallax jumps after every 3");
  const auto json = run_json(fit("n%u.png", "m.smoe", {"--grid", "3x3", "--components", "120", "--leave-out", "4"}));
  EXPECT_EQ(json["views"], (std::vector<int>{3, 3}));
  EXPECT_EQ(json["rows"], "down");
  EXPECT_EQ(json["left_out"][0]["view"], (std::vector<int>{4}));
  const auto info = run_json({"smoe", "info", path("m.smoe"), "--against", path("n%u.png"), "--grid", "3x3"});
  EXPECT_EQ(info["views"].size(), 9U);
  expect_refused({"smoe", "info", path("m.smoe"), "--grid", "3x3"}, "--grid: expected --against");
}

TEST_F(SmoeFitTest, RefusesWhatIsNoGridOfViews) {
  put_views(false);
  fs::remove(path("view_1_2.png"));
  expect_refused(fit("view_%v_%u.png", "m.smoe"), "none for v = 1, u = 2");
  put_picture<std::uint8_t>("view_1_2.png", 41, 56, 1);
  expect_refused(fit("view_%v_%u.png", "m.smoe"), "view_1_2.png: expected 56 x 40 pixels of 1 channel");
  expect_refused(fit("other_%v_%u.png", "m.smoe"), "expected files with numbers");
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
  expect_refused(fit("a.png", "m.smoe", {"--bytes", "4kb"}), "4k (k = 1000)");
  expect_refused(fit("a.png", "m.smoe", {"--method", "magic"}), "--method");
  put_picture<std::uint8_t>("b.png", 24, 20, 3);
  ASSERT_EQ(run(fit("b.png", "b.smoe", {"--components", "5"})).exit_code, 0);
  expect_refused(fit("a.png", "m.smoe", {"--resume", path("b.smoe")}), "--resume");
  expect_refused(fit("a.png", "m.smoe", {"--resume", path("b.png")}), "--resume: expected a name ending in .smoe");
  EXPECT_FALSE(fs::exists(path("m.smoe")));
}

}  // namespace
}  // namespace holotone::test
