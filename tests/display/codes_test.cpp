// What is sent to panels besides holograms: safe patterns, packed bits, triggers; and the choice of a monitor.
#include <holotone/display/bit_planes.hpp>
#include <holotone/display/monitor.hpp>
#include <holotone/display/safe_pattern.hpp>
#include <holotone/display/trigger.hpp>
#include <holotone/fft/fft.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::ErrorCode;
using holotone::Shape;
using holotone::View;

TEST(SafePattern, SendsTheLightAsideAndNoneStraightOn) {
  // The light of codes of one turn, far away.
  for (const int period : {2, 4, 8}) {
    const auto codes = holotone::safe_pattern({.period_px = period}, {8, 64});
    Array<std::complex<float>, 2> light({8, 64});
    for (std::int64_t i = 0; i < light.size(); ++i) {
      const double phase = 2 * std::numbers::pi * codes.data()[i] / 256;
      light.data()[i] = std::complex<float>(std::polar(1.0, phase));
    }
    holotone::FftPlan({8, 64}).execute(light.view(), holotone::FftDirection::forward);
    EXPECT_LT(std::norm(light(0, 0)), 1e-6 * 512 * 512) << period;
    const double share = std::norm(light(0, 64 / period)) / (512 * 512);
    // A blazed grating of n steps has all the light of these samples in its first order.
    EXPECT_NEAR(share, 1, 1e-5) << period;
  }
  const auto flat = holotone::safe_pattern({.period_px = 0, .level = 7}, {2, 3});
  for (const auto code : flat.host()) EXPECT_EQ(code, 7);
  support::expect_error(ErrorCode::invalid_argument, "safe_pattern: period_px: expected 2 to 256, got 1", [] {
    holotone::safe_pattern({.period_px = 1}, {2, 2});
  });
  support::expect_error(ErrorCode::invalid_argument, "safe_pattern: level: expected 0 to 255, got 256", [] {
    holotone::safe_pattern({.period_px = 0, .level = 256}, {2, 2});
  });
}

TEST(BitPlanes, AreTheFramesBitByBit) {
  std::vector<Array<std::uint8_t, 2>> frames;
  std::vector<View<const std::uint8_t, 2>> views;
  for (unsigned i = 0; i < 20; ++i) {
    frames.emplace_back(Shape<2>{3, 5});
    for (unsigned p = 0; p < 15; ++p) frames.back().data()[p] = (p * 7 + i * 5) % 3 == 0 ? 255 : 0;
  }
  for (const auto& frame : frames) views.push_back(frame.view());
  const auto packed = holotone::pack_bit_planes(views, "grb");
  constexpr std::int64_t channel_of[] = {1, 0, 2};
  for (std::int64_t p = 0; p < 15; ++p) {
    for (std::size_t i = 0; i < 24; ++i) {
      const unsigned bit = packed.data()[3 * p + channel_of[i / 8]] >> (i % 8) & 1U;
      EXPECT_EQ(bit, i < frames.size() && frames[i].data()[p] != 0 ? 1U : 0U) << p << " " << i;
    }
  }
  support::expect_error(ErrorCode::invalid_argument,
                        "pack_bit_planes: order: expected the letters rgb in any order, got 'rg'",
                        [&] { holotone::pack_bit_planes(views, "rg"); });
  support::expect_error(ErrorCode::invalid_argument, "pack_bit_planes: frames: expected 1 to 24, got 0",
                        [] { holotone::pack_bit_planes({}); });
}

TEST(Trigger, LightsOneSquare) {
  auto codes = holotone::safe_pattern({.period_px = 0, .level = 9}, {10, 20});
  holotone::draw_trigger(codes.view(), {.side_px = 3, .fields = 3, .lit = 1});
  for (std::int64_t y = 0; y < 10; ++y) {
    for (std::int64_t x = 0; x < 20; ++x) {
      const bool inside = y >= 7 && x >= 11;
      const int expected = !inside ? 9 : x >= 14 && x < 17 ? 255 : 0;
      EXPECT_EQ(codes(y, x), expected) << y << " " << x;
    }
  }
  support::expect_error(ErrorCode::invalid_argument,
                        "draw_trigger: side_px: expected squares within 20 x 10 pixels, got 3 of 7",
                        [&] { holotone::draw_trigger(codes.view(), {.side_px = 7, .fields = 3}); });
  support::expect_error(ErrorCode::invalid_argument, "draw_trigger: lit",
                        [&] { holotone::draw_trigger(codes.view(), {.side_px = 3, .fields = 1, .lit = 1}); });
}

TEST(Monitors, AreFoundByNumberNameOrSize) {
  const std::vector<holotone::Monitor> all{{.number = 1, .name = "eDP-1", .nx = 1920, .ny = 1200},
                                           {.number = 2, .name = "HOLOEYE GAEA", .nx = 4160, .ny = 2464},
                                           {.number = 3, .name = "HOLOEYE PLUTO", .nx = 1920, .ny = 1080}};
  EXPECT_EQ(holotone::find_monitor("2", all).number, 2);
  EXPECT_EQ(holotone::find_monitor("pluto", all).number, 3);
  EXPECT_EQ(holotone::find_monitor("1920x1080", all).number, 3);
  EXPECT_EQ(holotone::find_monitor("HOLOEYE GAEA", all).number, 2);
  const auto refuse = [&](const char* which, const char* words) {
    support::expect_error(ErrorCode::invalid_argument, words, [&] { holotone::find_monitor(which, all); });
  };
  refuse("4", "got '4'");
  refuse("holoeye", "got 'holoeye', which 2 have");
  refuse("", "1: eDP-1, 1920 x 1200 pixels");
  refuse("800x600", "3: HOLOEYE PLUTO");
}

}  // namespace
