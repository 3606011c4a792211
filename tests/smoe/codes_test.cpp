// Code values of pictures: rounding, clipping, sRGB, textures, on every device, against the formula in float64.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/smoe/codes.hpp>
#include <holotone/smoe/render.hpp>
#include <limits>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

double srgb(double light) { return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055; }

/// Colours from below 0 to above 1, some of them NaN.
Array<float, 4> random_colours(std::int64_t channels) {
  Array<float, 4> colours({2, 5, 7, channels});
  for (std::int64_t i = 0; i < colours.size(); ++i) {
    colours.data()[i] = 1.4F * random_uniform(3, static_cast<std::uint64_t>(i)) - 0.2F;
  }
  colours.data()[0] = std::numeric_limits<float>::quiet_NaN();
  colours.data()[colours.size() - 1] = std::numeric_limits<float>::infinity();
  return colours;
}

template <class Code>
Array<Code, 4> make_codes(const Array<float, 4>& colours, std::int64_t made, const SmoeCodes& options, Device device) {
  const auto queue = Queue::create(device);
  Array<float, 4> uploaded(colours.shape(), queue);
  copy<float, 4>(uploaded.view(), colours.view(), queue);
  const auto& [pictures, ny, nx, channels] = colours.shape();
  Array<Code, 4> codes({pictures, ny, nx, made}, queue);
  smoe_codes(std::as_const(uploaded).view(), codes.view(), options, queue);
  return codes.to(Device{});
}

class SmoeCodesTest : public support::OnEachRenderer {
 protected:
  template <class Code>
  void check(std::int64_t channels, const SmoeCodes& options) const {
    on_each([&](Device device) {
      const auto colours = random_colours(channels);
      const auto codes = make_codes<Code>(colours, channels, options, device);
      const double levels = std::pow(2.0, options.bits) - 1;
      const double largest = std::numeric_limits<Code>::max();
      for (std::int64_t i = 0; i < colours.size(); ++i) {
        const auto colour = static_cast<double>(colours.data()[i]);
        double value = colour > 0 ? std::min(colour, 1.0) : 0;
        const bool alpha = channels % 2 == 0 && i % channels == channels - 1;
        if (options.linear && !alpha) value = srgb(value);
        double expected = std::floor(value * levels + 0.5);
        if (options.whole_range) expected = std::floor(expected * largest / levels + 0.5);
        ASSERT_EQ(static_cast<double>(codes.data()[i]), expected) << colour << " of " << channels << " channels";
      }
    });
  }
};

TEST_P(SmoeCodesTest, AreTheNearestLevels) {
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    for (const bool linear : {false, true}) {
      check<std::uint8_t>(channels, {8, linear});
      check<std::uint16_t>(channels, {10, linear});
      check<std::uint16_t>(channels, {12, linear, true});
      check<std::uint16_t>(channels, {16, linear});
    }
  }
}

TEST_P(SmoeCodesTest, TexturesHaveFourChannels) {
  on_each([&](Device device) {
    for (const std::int64_t channels : {1, 2, 3}) {
      const auto colours = random_colours(channels);
      const auto codes = make_codes<std::uint8_t>(colours, channels, {}, device);
      const auto texture = make_codes<std::uint8_t>(colours, 4, {}, device);
      for (std::int64_t i = 0; i < codes.size() / channels; ++i) {
        const std::uint8_t* const from = codes.data() + i * channels;
        const std::uint8_t* const to = texture.data() + 4 * i;
        for (int c = 0; c < 3; ++c) ASSERT_EQ(to[c], from[channels == 3 ? c : 0]);
        ASSERT_EQ(to[3], channels == 2 ? from[1] : 255);
      }
    }
  });
}

TEST_P(SmoeCodesTest, RendererGivesThoseOfItsColours) {
  const auto model = cases::make_smoe({});
  on_each([&](Device device) {
    const auto queue = Queue::create(device);
    SmoeRenderer renderer(model, queue);
    SmoeView view;
    view.size = {45, 60};
    const std::vector<SmoeView> views(2, view);
    Array<float, 4> colours({2, 45, 60, 3}, queue);
    Array<std::uint8_t, 4> textures({2, 45, 60, 4}, queue);
    Array<std::uint16_t, 4> deep({2, 45, 60, 3}, queue);
    renderer.render(views, colours.view());
    renderer.render(views, textures.view());
    renderer.render(views, deep.view(), 12);
    const auto expected = make_codes<std::uint8_t>(colours.to(Device{}), 4, {}, device);
    const auto host = textures.to(Device{});
    EXPECT_TRUE(std::equal(host.data(), host.data() + host.size(), expected.data()));
    const auto expected_deep = make_codes<std::uint16_t>(colours.to(Device{}), 3, {12}, device);
    const auto own_deep = deep.to(Device{});
    EXPECT_TRUE(std::equal(own_deep.data(), own_deep.data() + own_deep.size(), expected_deep.data()));
  });
}

TEST(SmoeCodesArguments, AreNamed) {
  Array<float, 4> colours({1, 2, 3, 3});
  Array<std::uint8_t, 4> codes({1, 2, 3, 3});
  Array<std::uint8_t, 4> two({1, 2, 3, 2});
  const auto refused = [&](View<std::uint8_t, 4> target, const SmoeCodes& options, const std::string& what) {
    try {
      smoe_codes(std::as_const(colours).view(), target, options);
      FAIL() << "took " << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused(codes.view(), {9}, "bits");
  refused(codes.view(), {0}, "bits");
  refused(two.view(), {}, "codes");
  refused({}, {}, "codes");
}

HOLOTONE_ON_EACH_DEVICE(SmoeCodesTest);

}  // namespace
}  // namespace holotone
