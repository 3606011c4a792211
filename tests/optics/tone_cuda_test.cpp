// Percentiles and tones on CUDA are those of the CPU, value by value.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/optics/tone.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::View;

class ToneCuda : public support::OnEachDevice {};

/// Light of many orders of magnitude, with values that are no light.
Array<float, 2> make_light(holotone::Shape<2> shape, std::uint64_t seed) {
  Array<float, 2> light(shape);
  using Limits = std::numeric_limits<float>;
  const float odd[] = {Limits::infinity(),   -Limits::infinity(), Limits::quiet_NaN(), 0, -0.0F, -3,
                       Limits::denorm_min(), Limits::max()};
  for (std::int64_t i = 0; i < light.size(); ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    const float exponent = 40 * holotone::random_uniform(seed, n) - 30;
    light.data()[i] = i % 97 == 0 ? odd[i / 97 % 8] : std::exp2(exponent);
  }
  return light;
}

TEST_P(ToneCuda, PercentilesAreTheSame) {
  on_each([](Device device) {
    const auto a = make_light({211, 307}, 1);
    const auto b = make_light({1, 5}, 2);
    const auto a_there = a.to(device);
    const auto b_there = b.to(device);
    const View<const float, 2> here[] = {a.view(), b.view()};
    const View<const float, 2> there[] = {a_there.view(), b_there.view()};
    for (const double fraction : {0.0, 0.01, 0.37, 0.5, 0.999, 1.0}) {
      EXPECT_EQ(holotone::percentile(here, fraction), holotone::percentile(there, fraction, device)) << fraction;
    }
    EXPECT_EQ(holotone::default_reference(here), holotone::default_reference(there, device));
    Array<float, 2> none({3, 4});
    for (float& value : none.host()) value = NAN;
    EXPECT_THROW((void)holotone::percentile(none.to(device).view(), 0.5, device), holotone::Error);
  });
}

TEST_P(ToneCuda, CodesAreTheSame) {
  on_each([](Device device) {
    const auto light = make_light({333, 514}, 3);
    const auto there = light.to(device);
    for (const holotone::ToneOptions& options : {holotone::ToneOptions{},
                                                 {.reference = 0.01F},
                                                 {.reference = 2, .gamma = 2.2},
                                                 {.reference = 5, .decades = 3.5}}) {
      const auto expected = holotone::tone_map(light.view(), options);
      const auto codes = holotone::tone_map(there.view(), options, device);
      ASSERT_EQ(codes.device(), device);
      const auto got = codes.to(Device{});
      std::int64_t different = 0;
      for (std::int64_t i = 0; i < got.size(); ++i) different += got.data()[i] != expected.data()[i];
      EXPECT_EQ(different, 0) << options.reference << ' ' << options.gamma << ' ' << options.decades;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Device, ToneCuda, testing::Values("cuda"));

}  // namespace
