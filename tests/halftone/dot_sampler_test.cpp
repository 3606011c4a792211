// Initial dot positions on every device: the same draws as the CPU functions.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/halftone/dot_sampler.hpp>
#include <holotone/halftone/sampling.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::DotSampler;
using holotone::ErrorCode;
using holotone::Sampling;
using holotone::Shape;

class DotSamplerOn : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(DotSamplerOn);

/// Random ink with a white rectangle and a black pixel.
Array<float, 2> make_ink(Shape<2> page) {
  Array<float, 2> ink(page);
  for (std::int64_t y = 0; y < page[0]; ++y) {
    for (std::int64_t x = 0; x < page[1]; ++x) {
      const auto pixel = static_cast<std::uint64_t>(y * page[1] + x);
      const bool white = 3 * x > page[1] && 2 * x < page[1];
      ink(y, x) = white ? 0 : 0.9F * holotone::random_uniform(5, pixel);
    }
  }
  ink(page[0] / 2, page[1] - 1) = 1;
  return ink;
}

std::vector<float> sample(DotSampler& sampler, const Array<float, 2>& ink, std::int64_t count, std::uint64_t seed,
                          Device device) {
  const auto on_device = ink.to(device);
  Array<float, 2> positions({count, 2}, device);
  sampler.sample(on_device.view(), positions.view(), seed);
  const auto host = positions.to(Device{});
  return {host.data(), host.data() + host.size()};
}

TEST_P(DotSamplerOn, draws_the_functions_dots) {
  on_each([](Device device) {
    for (const auto& [page, count] :
         {std::pair(Shape<2>{37, 53}, std::int64_t{5000}), {Shape<2>{1, 301}, 400}, {Shape<2>{200, 1}, 1}}) {
      const auto ink = make_ink(page);
      for (const auto sampling : {Sampling::importance, Sampling::stratified}) {
        DotSampler sampler(page, count, device, sampling);
        const auto got = sample(sampler, ink, count, 9, device);
        const auto expected = sampling == Sampling::importance ? holotone::importance_sampled_dots(ink.view(), count, 9)
                                                               : holotone::stratified_dots(ink.view(), count, 9);
        // A draw within 2^-32 of a border: with 5000 draws and 2000 borders, one in 400 such tests.
        std::int64_t other = 0;
        for (std::int64_t j = 0; j < count; ++j) {
          const auto i = static_cast<std::size_t>(2 * j);
          if (got[i] != expected.position[i] || got[i + 1] != expected.position[i + 1]) ++other;
        }
        EXPECT_LE(other, device == Device{} ? 0 : 1) << "of " << count;
        EXPECT_EQ(got, sample(sampler, ink, count, 9, device)) << "the same seed gives the same bits";
        EXPECT_NE(got, sample(sampler, ink, count, 10, device)) << "another seed, other dots";
      }
    }
  });
}

TEST_P(DotSamplerOn, ink_may_have_any_unit) {
  on_each([](Device device) {
    const Shape<2> page{19, 23};
    auto ink = make_ink(page);
    DotSampler sampler(page, 500, device);
    const auto expected = sample(sampler, ink, 500, 2, device);
    for (std::int64_t i = 0; i < ink.size(); ++i) ink.data()[i] *= 1024;
    EXPECT_EQ(sample(sampler, ink, 500, 2, device), expected);
  });
}

TEST_P(DotSamplerOn, refuses_bad_input) {
  on_each([](Device device) {
    const Shape<2> page{4, 6};
    DotSampler sampler(page, 10, device);
    const auto expect = [&](const Array<float, 2>& ink, std::int64_t count, const char* text) {
      support::expect_error(ErrorCode::invalid_argument, text, [&] { sample(sampler, ink, count, 0, device); });
    };
    auto ink = make_ink(page);
    expect(ink, 11, "positions: expected at most 10 dots, got 11");
    EXPECT_TRUE(sample(sampler, ink, 0, 0, device).empty());
    ink(2, 1) = std::numeric_limits<float>::quiet_NaN();
    expect(ink, 10, "ink: expected finite values >= 0, got nan at row 2, column 1");
    ink(1, 5) = -1;
    expect(ink, 10, "got -1 at row 1, column 5");
    for (std::int64_t i = 0; i < ink.size(); ++i) ink.data()[i] = 0;
    expect(ink, 10, "expected a picture with ink, got one that is white everywhere");
    expect(make_ink({6, 4}), 10, "ink: expected shape {4, 6}, got {6, 4}");
    support::expect_error(ErrorCode::invalid_argument, "page: expected extents >= 1", [&] {
      DotSampler({0, 5}, 1, device);
    });
  });
}

}  // namespace
