// The window's drawing, in memory, from every device.
#include <holotone/core/random.hpp>
#include <holotone/display/panel_window.hpp>
#include <optional>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::PanelWindow;
using holotone::PanelWindowOptions;
using holotone::Queue;
using holotone::Shape;

constexpr std::int64_t ny = 37;
constexpr std::int64_t nx = 51;

template <class T, std::size_t Rank>
Array<T, Rank> random_codes(Shape<Rank> shape, std::uint64_t seed) {
  Array<T, Rank> codes(shape);
  const double levels = std::is_same_v<T, std::uint8_t> ? 256 : 65536;
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    codes.data()[i] = static_cast<T>(holotone::random_uniform64(seed, static_cast<std::uint64_t>(i)) * levels);
  }
  return codes;
}

class Panel : public support::OnEachDevice {
 protected:
  /// A window in memory, or nothing where there is no OpenGL.
  static std::unique_ptr<PanelWindow> open(PanelWindowOptions options = {}) {
    options.offscreen = {ny, nx};
    try {
      return std::make_unique<PanelWindow>(options);
    } catch (const holotone::Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      std::printf("%s\n", error.what());
      return nullptr;
    }
  }
};

/// The number of pixels of `sent` that differ from expected(y, x, channel).
template <class Expected>
std::int64_t differing(const Array<std::uint8_t, 3>& sent, const Expected& expected) {
  std::int64_t count = 0;
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      for (std::int64_t c = 0; c < 3; ++c) count += sent(y, x, c) != expected(y, x, c);
    }
  }
  return count;
}

TEST_P(Panel, GetsTheCodesBitForBit) {
  on_each([](Device device) {
    const Queue queue(device);
    const auto window = open({.device = device, .packing = "rg"});
    if (!window) GTEST_SKIP() << "no OpenGL";
    const auto grey = random_codes<std::uint8_t, 2>({ny, nx}, 1);
    const auto there = grey.to(device);
    window->show(there.view(), queue);
    EXPECT_EQ(differing(window->sent(), [&](auto y, auto x, auto) { return grey(y, x); }), 0);
    std::printf("%s\n", window->direct() ? "without the host" : "through the host");
    const auto words = random_codes<std::uint16_t, 2>({ny, nx}, 2);
    const auto words_there = words.to(device);
    window->show(words_there.view(), queue);
    EXPECT_EQ(differing(window->sent(),
                        [&](auto y, auto x, auto c) {
                          return c == 0 ? words(y, x) >> 8 : c == 1 ? words(y, x) & 255 : 0;
                        }),
              0);
    const auto colours = random_codes<std::uint8_t, 3>({ny, nx, 3}, 3);
    const auto colours_there = colours.to(device);
    window->show(colours_there.view(), queue);
    EXPECT_EQ(differing(window->sent(), [&](auto y, auto x, auto c) { return colours(y, x, c); }), 0);
    // The same memory with other codes, as from frame to frame.
    window->show(there.view(), queue);
    EXPECT_EQ(differing(window->sent(), [&](auto y, auto x, auto) { return grey(y, x); }), 0);
  });
}

HOLOTONE_ON_EACH_DEVICE(Panel);

class PanelWindows : public Panel {};

TEST_P(PanelWindows, ShowTheSafePatternWithoutCodes) {
  const auto window = open();
  if (!window) GTEST_SKIP() << "no OpenGL";
  const auto safe = holotone::safe_pattern({}, {ny, nx});
  const auto is_safe = [&] { return differing(window->sent(), [&](auto y, auto x, auto) { return safe(y, x); }) == 0; };
  EXPECT_TRUE(is_safe());
  const auto grey = random_codes<std::uint8_t, 2>({ny, nx}, 4);
  window->show(grey.view());
  EXPECT_FALSE(is_safe());
  window->show_safe();
  EXPECT_TRUE(is_safe());
}

TEST_P(PanelWindows, TakeTablesPackingAndSmallerPictures) {
  PanelWindowOptions options;
  for (int i = 0; i < 256; ++i) options.display_lut.push_back(static_cast<std::uint8_t>(255 - i / 2));
  options.packing = "bg";
  options.centre = true;
  const auto window = open(options);
  if (!window) GTEST_SKIP() << "no OpenGL";
  const auto grey = random_codes<std::uint8_t, 2>({ny, nx}, 5);
  window->show(grey.view());
  EXPECT_EQ(differing(window->sent(), [&](auto y, auto x, auto) { return 255 - grey(y, x) / 2; }), 0);
  const auto words = random_codes<std::uint16_t, 2>({ny, nx}, 6);
  window->show(words.view());
  EXPECT_EQ(differing(window->sent(),
                      [&](auto y, auto x, auto c) {
                        return c == 2 ? words(y, x) >> 8 : c == 1 ? words(y, x) & 255 : 0;
                      }),
            0);
  const auto small = random_codes<std::uint8_t, 2>({7, 10}, 7);
  window->show(small.view());
  const std::int64_t top = (ny - 7) / 2;
  const std::int64_t left = (nx - 10) / 2;
  EXPECT_EQ(differing(window->sent(),
                      [&](auto y, auto x, auto) {
                        const bool inside = y >= top && y < top + 7 && x >= left && x < left + 10;
                        return 255 - (inside ? small(y - top, x - left) : 0) / 2;
                      }),
            0);
}

TEST_P(PanelWindows, TellTheTimeOfTheirClock) {
  PanelWindowOptions options;
  double time = 5;
  options.clock = [&] { return time += 1; };
  const auto window = open(options);
  if (!window) GTEST_SKIP() << "no OpenGL";
  const auto grey = random_codes<std::uint8_t, 2>({ny, nx}, 8);
  const double first = window->show(grey.view());
  EXPECT_EQ(window->show(grey.view()), first + 1);
}

TEST_P(PanelWindows, NameWhatIsWrong) {
  const auto refuse = [](PanelWindowOptions options, const char* words) {
    support::expect_error(ErrorCode::invalid_argument, words, [&] { PanelWindow window(options); });
  };
  refuse({.offscreen = {8, 8}, .packing = "rr"},
         "PanelWindow: packing: expected two different letters of rgb, got 'rr'");
  refuse({.offscreen = {8, 8}, .display_lut = {1, 2}}, "PanelWindow: display_lut: expected 256 values or none, got 2");
  refuse({.offscreen = {0, 8}}, "PanelWindow: offscreen");
  const auto window = open();
  if (!window) GTEST_SKIP() << "no OpenGL";
  const Array<std::uint8_t, 2> grey({ny, nx + 1});
  support::expect_error(ErrorCode::invalid_argument, "PanelWindow::show: codes: expected 51 x 37 pixels",
                        [&] { window->show(grey.view()); });
  const Array<std::uint8_t, 3> two({ny, nx, 2});
  support::expect_error(ErrorCode::invalid_argument, "PanelWindow::show: codes: expected three channels, got 2",
                        [&] { window->show(two.view()); });
  const Array<std::uint16_t, 2> words({ny, nx});
  support::expect_error(ErrorCode::invalid_argument,
                        "PanelWindow::show: codes: expected 8-bit codes, or the option packing",
                        [&] { window->show(words.view()); });
}

HOLOTONE_ON_DEVICES(PanelWindows, "cpu");

}  // namespace
