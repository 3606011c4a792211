#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/optics/panel.hpp>
#include <numbers>
#include <set>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::find_panel;
using holotone::Modulation;
using holotone::panels;

TEST(Panel, TheDefaultComesFirst) {
  const auto& pluto = panels().front();
  EXPECT_EQ(pluto.name, "holoeye-pluto-2");
  EXPECT_EQ(pluto.nx, 1920);
  EXPECT_EQ(pluto.ny, 1080);
  EXPECT_DOUBLE_EQ(pluto.pitch_m, 8e-6);
  EXPECT_EQ(pluto.bits, 8);
}

TEST(Panel, EveryPresetIsAPanelOfItsOwn) {
  std::set<std::string> names;
  for (const auto& panel : panels()) {
    EXPECT_TRUE(names.insert(panel.name).second) << panel.name;
    EXPECT_EQ(panel.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos) << panel.name;
    EXPECT_FALSE(panel.title.empty());
    EXPECT_GT(panel.nx, 500);
    EXPECT_GT(panel.ny, 500);
    EXPECT_GT(panel.pitch_m, 3e-6);
    EXPECT_LT(panel.pitch_m, 20e-6);
    EXPECT_EQ(&find_panel(panel.name), &panel);
    EXPECT_GE(panel.bits, panel.modulation == Modulation::phase ? 2 : 1);
  }
}

// Panels are specified by diagonals: a wrong pitch or pixel count changes them.
TEST(Panel, DiagonalsAreTheOnesOnTheBox) {
  const std::pair<const char*, double> inches[] = {
      {"holoeye-pluto-2", 0.70}, {"holoeye-gaea-2", 0.70}, {"holoeye-leto-3", 0.55}, {"ti-dlp6750", 0.67},
      {"ti-plm-047", 0.47},      {"ti-dlp6500", 0.65},     {"ti-dlp7000", 0.70},     {"thorlabs-exulus-4k1", 0.65}};
  for (const auto& [name, diagonal] : inches) {
    const auto& panel = find_panel(name);
    EXPECT_NEAR(std::hypot(panel.nx, panel.ny) * panel.pitch_m / 0.0254, diagonal, 0.013) << name;
  }
}

TEST(Panel, TheMicromirrorsStepUnevenlyUpToFifteenSixteenths) {
  const auto& plm = find_panel("ti-dlp6750");
  ASSERT_EQ(plm.level_phase_rad.size(), std::size_t{1} << plm.bits);
  EXPECT_EQ(plm.level_phase_rad.front(), 0);
  EXPECT_DOUBLE_EQ(plm.level_phase_rad.back(), 15.0 / 8 * std::numbers::pi);
  double narrowest = 10;
  double widest = 0;
  for (std::size_t i = 1; i < plm.level_phase_rad.size(); ++i) {
    const double step = plm.level_phase_rad[i] - plm.level_phase_rad[i - 1];
    narrowest = std::min(narrowest, step);
    widest = std::max(widest, step);
  }
  EXPECT_GT(narrowest, 0);
  EXPECT_GT(widest, 5 * narrowest);
}

TEST(Panel, AnUnknownNameGetsTheNearest) {
  support::expect_error(holotone::ErrorCode::invalid_argument, "did you mean holoeye-pluto-2?",
                        [] { find_panel("holoeye-pluto2"); });
  support::expect_error(holotone::ErrorCode::invalid_argument, "expected one of holoeye-pluto-2, ",
                        [] { find_panel("television"); });
}

}  // namespace
