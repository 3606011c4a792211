// Terms in errors, warnings and remarks.
#include <holotone/hologram/encode.hpp>
#include <limits>
#include <tests/cli/small_panel.hpp>

namespace holotone::test {
namespace {

class MessagesTest : public SmallPanelTest {};

TEST_F(MessagesTest, ErrorsNameOptionsAndFiles) {
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  const auto refused = [&](const std::vector<std::string>& arguments, std::initializer_list<const char*> words) {
    expect_refused(arguments, words);
    const auto line = run(arguments).error;
    EXPECT_EQ(line.rfind(fmt::format("holotone: {}", *words.begin()), 0), 0u) << line;
    for (const char* name : {"Plan", "parse_", "modulation_of", "tone_map", "hide_occluded", "Array:", "percentile"}) {
      EXPECT_EQ(line.find(name), std::string::npos) << line;
    }
  };
  const auto reconstruct = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("good.png"), "-o", path("f.png")});
    return more;
  };
  refused(hologram("good.csv", "out.png", {"--tolerance", "2"}), {"--tolerance: expected"});
  refused(hologram("good.csv", "out.png", {"--method", "faster"}), {"--method: expected"});
  refused({"hologram", path("good.csv"), "-o", path("out.png"), "--device", "gpu"}, {"--device: expected"});
  refused({"hologram", path("good.csv"), "-o", path("out.png"), "--resolution", "64x2", "--pitch", "8um", "--encode",
           "single-sideband"},
          {"--resolution: expected"});
  refused(hologram("good.csv", "out.png", {"--encode", "double-phase", "--amplitude-range", "1,2"}),
          {"--amplitude-range: expected"});
  refused(hologram("good.csv", "out.png", {"--encode", "amplitude", "--reference-angle", "20deg"}),
          {"--reference-angle: expected"});
  write_cloud("wide.csv", {{0, 0, -0.2, 1}, {1, 1, -0.2, 1}});
  refused(hologram("wide.csv", "out.png", {"--keep-coordinates", "--hide-cell", "1nm"}), {"--hide-cell: expected"});
  refused(reconstruct({"--encode", "fase"}), {"--encode: expected"});
  refused(reconstruct({"--bits", "20"}), {"--bits: expected"});
  refused(reconstruct({"--method", "fresnel", "--distance", "1mm"}), {"--distance: expected", "got 1 mm"});
  refused(reconstruct({"--method", "fresnel", "--sweep", "1mm:2mm:3"}), {"--sweep: expected"});
  refused(reconstruct({"--aperture", "5mm", "--viewer", "1mm"}), {"--viewer: expected"});
  refused(reconstruct({"--aperture", "5m,0m:1mm"}), {"--aperture: expected"});
  refused(reconstruct({"--aperture", "0.1mm,0mm:1um"}), {"--aperture: expected at least"});
  refused(reconstruct({"--white", "1e300"}), {"--white: expected"});
  refused(reconstruct({"--white", "1e-300"}), {"--white: expected"});
  refused(reconstruct({"--gamma", "1e300"}), {"--gamma: expected"});
  FieldFile dark{Array<std::complex<float>, 2>({24, 32}), {}};
  for (auto& value : dark.values.host()) value = 1;
  dark.values.host()[5] = {std::numeric_limits<float>::quiet_NaN(), 0};
  write_field(path("nan.npy"), dark);
  expect_refused({"reconstruct", path("nan.npy"), "-o", path("f.png"), "--wavelength", "532nm", "--pitch", "8um",
                  "--distance", "20cm"},
                 {"nan.npy", "finite", "column 5"});
}

TEST_F(MessagesTest, ControlCharactersAreEscaped) {
  expect_refused(hologram("a\x1b[31m\n\xff\xc2\x9b.csv", "out.png"), {"a\\x1b[31m\\n\\xff\\xc2\\x9b.csv"});
  expect_refused(hologram("größe µ 光.csv", "out.png"), {"größe µ 光.csv"});
  write("title.csv", "x,y,z\n0,0,\x1b]0;\xff\n");
  expect_refused(hologram("title.csv", "out.png"), {"\\x1b]0;\\xff"});
}

TEST_F(MessagesTest, MirrorsHaveTheStatesTheyHave) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  const auto with = [&](const std::string& panel, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--panel", panel});
    return more;
  };
  for (const char* encoding : {"phase", "double-phase"}) {
    expect_refused(with("ti-dlp6500", {"--encode", encoding}),
                   {"--encode: expected amplitude", "on or off", "--panel"});
  }
  expect_refused(with("ti-dlp6500", {"--bits", "8"}), {"--bits: expected at most 1 bit", "--resolution"});
  expect_refused(with("ti-plm-047", {"--bits", "8"}), {"--bits: expected at most 4 bits", "16 states"});
  expect_refused(with("ti-plm-047", {"--packed16"}), {"--packed16: expected at most 4 bits"});
  EXPECT_EQ(run(with("TI-PLM-047", {"--bits", "4"})).exit_code, 0);
  EXPECT_EQ(run(with("Meadowlark-1024", {"--bits", "12"})).exit_code, 0);
}

TEST_F(MessagesTest, WhatWasTypedIsAnsweredInItsUnits) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}, {1e-4, 0, -0.1, 1}});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"hologram", path("one.csv"), "-o", path("o.png"), "--keep-coordinates", "--resolution",
                               "64x48", "--pitch", "8um"});
    return more;
  };
  expect_refused(with({"--carrier", "3deg"}), {"--carrier: expected at most 1.90544 deg", "got 3 deg"});
  expect_refused(with({"--encode", "amplitude", "--reference-angle", "2.5deg"}), {"--reference-angle", "got 2.5 deg"});
  expect_refused(with({"--carrier", "89deg"}), {"85.9 deg"});
  write("binary.txt", std::string("0,1\n1,2\na\0b\x01", 12));
  expect_refused(with({"--lut", path("binary.txt")}), {"expected text, got binary data: 'a\\x00b\\x01'"});
  expect_refused(with({"--points", "1e1"}), {"--points", "2 points"});
  expect_refused(with({"--points", "1.5e0"}), {"--points: expected a whole number"});
  const auto warned = run(with({"--wavelength", "532um"}));
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_NE(warned.error.find("warning: a wavelength of 532 um"), std::string::npos) << warned.error;
  EXPECT_EQ(run_json(with({"--wavelength", "1.55um"}))["warnings"].size(), 0u);
  EXPECT_EQ(run_json(with({"--wavelength", "3um"}))["warnings"].size(), 1u);
  write("notes", "hello");
  expect_refused({"info", path("notes")}, {".png", ".h5", ".ply"});
}

TEST_F(MessagesTest, TonesOfWhatHasNoneAreRefused) {
  ASSERT_EQ(run(hologram("good.csv", "good.png")).exit_code, 0);
  const auto refused = [&](const std::string& output, std::vector<std::string> more, const char* words) {
    more.insert(more.begin(), {"reconstruct", path("good.png"), "-o", path(output)});
    expect_refused(more, {(more[more.size() - 2] + ": expected").c_str(), words});
  };
  for (const std::vector<std::string>& tone :
       {std::vector<std::string>{"--gamma", "3"}, {"--white", "0.5"}, {"--decades", "3"}}) {
    refused("a.tif", {"--linear", tone[0], tone[1]}, "got --linear");
    refused("a.png", {"--show", "phase", tone[0], tone[1]}, "got --show phase");
  }
  refused("a.png", {"--show", "spectrum", "--gamma", "3"}, "got --show spectrum");
  refused("a.png", {"--tile-width", "99"}, "--sweep");
}

TEST_F(MessagesTest, TheJsonOfEveryCommandHasItsWarnings) {
  const std::vector<std::string> panel{"--resolution", "64x48", "--pitch", "8um", "--wavelength", "3um"};
  const auto warnings = [&](std::vector<std::string> line, const std::vector<std::string>& more) {
    line.insert(line.end(), more.begin(), more.end());
    return run_json(line)["warnings"];
  };
  const auto light = warnings({"panel", "checkerboard", "--cell", "4", "-o", path("c.png")}, panel);
  ASSERT_EQ(light.size(), 1u);
  EXPECT_EQ(light[0].get<std::string>().rfind("a wavelength of 3 um", 0), 0u) << light;
  EXPECT_EQ(warnings({"optimize", path("map.png"), "-o", path("o.png"), "--distance", "2cm", "--iterations", "1",
                      "--signal-region", "75%"},
                     panel)
                .dump()
                .find(light[0].get<std::string>()),
            2u);
  EXPECT_EQ(warnings({"info", path("map.png")}, {}), nlohmann::json::array());
}

TEST_F(MessagesTest, AReconstructionSpeaksOfEveryColour) {
  for (const char* subframes : {"", "0"}) {
    const std::string name = fmt::format("c{}_%c.h5", subframes);
    ASSERT_EQ(run(hologram("good.csv", name, {"--rgb", "638nm,520nm,3um"})).exit_code, 0);
    const auto shown = path(*subframes == 0 ? name : "c%t_%c.h5");
    for (const char* viewer : {"", "30cm:2mm"}) {
      std::vector<std::string> line{"reconstruct", shown, "-o", path("c.png")};
      if (*viewer != 0) line.insert(line.end(), {"--viewer", viewer});
      const auto seen = run_json(line);
      EXPECT_EQ(seen["wavelengths_m"], (nlohmann::json{638e-9, 520e-9, 3e-6}));
      EXPECT_FALSE(seen.contains("wavelength_m"));
      ASSERT_EQ(seen["warnings"].size(), 1u) << seen;
      EXPECT_NE(seen["warnings"][0].get<std::string>().find("3 um"), std::string::npos) << seen;
    }
  }
}

TEST_F(MessagesTest, OptionsThatWouldDoNothingAreRefused) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}, {1e-4, 0, -0.1, 1}});
  const auto make = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"hologram", path("one.csv"), "--resolution", "64x48", "--pitch", "8um"});
    return more;
  };
  const auto look = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"reconstruct", path("p.png"), "-o", path("seen.png")});
    return more;
  };
  expect_refused(make({"-o", path("p.png"), "--keep-coordinates", "--size", "1mm"}), {"--keep-coordinates", "--size"});
  expect_refused(make({"-o", path("p.png"), "--keep-coordinates", "--distance", "9cm"}), {"--distance"});
  ASSERT_EQ(run(make({"-o", path("p.png"), "--keep-coordinates"})).exit_code, 0);
  expect_refused(look({"--zero-order"}), {"--zero-order: expected an amplitude encoding", "phase"});
  expect_refused(look({"--no-filter"}), {"--no-filter: expected", "double-phase", "phase"});
  expect_refused(look({"--frames", path("f_%d.png")}), {"--frames: expected --sweep"});
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--panel", "holoeye-eris"},
                                               {"--distance", "9cm"},
                                               {"--wavelength", "633nm"},
                                               {"--no-band-limit"}}) {
    auto line = more;
    line.insert(line.begin(), {"info", path("p.png")});
    const std::string expected = more.front() + ": expected points or a mesh as FILE, got " + path("p.png");
    expect_refused(line, {expected.c_str()});
  }
  ASSERT_EQ(run(make({"-o", path("f.h5"), "--keep-coordinates", "--encode", "complex"})).exit_code, 0);
  expect_refused({"reconstruct", path("f.h5"), "-o", path("seen.png"), "--no-filter"}, {"--no-filter", "complex"});
}

TEST_F(MessagesTest, ASizeThatFitsIsNamedWheneverThereIsOne) {
  write_cloud("cube.csv", {{-1, -1, -1, 1}, {1, 1, 1, 1}, {-1, 1, 1, 1}, {1, -1, -1, 1}});
  const auto make = [&](const std::string& distance, const std::string& size) {
    return run({"hologram", path("cube.csv"), "-o", path("o.png"), "--resolution", "65x49", "--pitch", "8um",
                "--distance", distance, "--size", size});
  };
  for (const char* distance : {"10cm", "1mm", "-3cm"}) {
    const auto made = make(distance, "40mm");
    const auto at = made.error.find("--size ");
    ASSERT_NE(at, std::string::npos) << made.error;
    const auto fitting = made.error.substr(at + 7, made.error.find(' ', at + 7) - at - 7);
    const auto fits = make(distance, fitting);
    EXPECT_EQ(fits.exit_code, 0) << fits.error;
    EXPECT_EQ(fits.error, "") << fitting;
  }
  EXPECT_NE(make("1mm", "40mm").error.find("crosses the panel"), std::string::npos);
  EXPECT_NE(make("0mm", "40mm").error.find("crosses the panel"), std::string::npos);
}

TEST_F(MessagesTest, APictureThroughAPupilSaysWhich) {
  write_cloud("one.csv", {{0, 0, -0.1, 1}});
  ASSERT_EQ(run({"hologram", path("one.csv"), "-o", path("p.png"), "--keep-coordinates", "--resolution", "64x48",
                 "--pitch", "8um"})
                .exit_code,
            0);
  const auto json =
      run_json({"reconstruct", path("p.png"), "-o", path("s.png"), "--aperture", "1mm,-2mm:3mm", "--viewer", "40cm"});
  EXPECT_EQ(json["aperture"]["diameter_m"].get<double>(), 3e-3);
  const auto metadata = run_json({"info", path("s.png")})["metadata"];
  EXPECT_EQ(metadata["aperture_x_m"].get<double>(), 1e-3);
  EXPECT_EQ(metadata["aperture_y_m"].get<double>(), -2e-3);
  EXPECT_EQ(metadata["viewer_distance_m"].get<double>(), 0.4);
}

// 65 pixels of 8 um and 0.1 mm of object: 2 * 8 um * 0.62 mm / 532 nm = 1.86 cm; Burckhardt 3 instead of 2.
TEST_F(MessagesTest, BandsOfEncodingsAreSaid) {
  write_cloud("one.csv", {{-1, 0, 0, 1}, {1, 0, 0, 1}});
  const auto made = [&](const std::string& encoding, const std::string& distance) {
    return run({"hologram", path("one.csv"), "-o", path("o.png"), "--distance", distance, "--size", "0.1mm",
                "--resolution", "65x49", "--pitch", "8um", "--encode", encoding})
        .error;
  };
  const auto ghosts = made("double-phase", "1cm");
  EXPECT_NE(ghosts.find("note: a double-phase hologram on this panel shows ghosts of objects nearer than 1.86 cm"),
            std::string::npos)
      << ghosts;
  EXPECT_EQ(made("double-phase", "1.9cm"), "");
  const auto coarse = made("burckhardt", "1cm");
  EXPECT_NE(coarse.find("note: burckhardt holds no fringes finer than 6 pixels in x: objects nearer than 2.8 cm lose"),
            std::string::npos)
      << coarse;
  EXPECT_EQ(made("burckhardt", "2.82cm"), "");
}

}  // namespace
}  // namespace holotone::test
