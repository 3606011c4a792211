// Formulas that OpenCL C spells out anew, against those of C++ on random input.
#include <cmath>
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/core/random.hpp>
#include <holotone/core/two_floats_opencl.hpp>
#include <holotone/optics/phase_math.h>
#include <tests/support/own_context_opencl.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::random_uniform64;

constexpr std::int64_t samples = 20000;

constexpr auto text = R"(
#include "holotone/core/array_opencl.cl"
#include "holotone/core/random_opencl.cl"
#include "holotone/core/two_floats_opencl.cl"
#include "holotone/core/turns_opencl.cl"

__kernel void waves(ARRAY(const float, turns), ARRAY(float2, wave)) {
  AT(wave)[get_global_id(0)] = wave_of_turns(AT(turns)[get_global_id(0)]);
}

__kernel void bits(ulong seed, ARRAY(ulong, bits), ARRAY(float, uniform)) {
  AT(bits)[get_global_id(0)] = random_bits(seed, get_global_id(0));
  AT(uniform)[get_global_id(0)] = random_uniform(seed, get_global_id(0));
}

__kernel void pairs(ARRAY(const float2, a), ARRAY(const float2, b), ARRAY(float2, results), ARRAY(uint, fixed)) {
  const size_t i = get_global_id(0);
  const two x = AT(a)[i], y = AT(b)[i];
  AT(results)[6 * i] = two_add(x, y);
  AT(results)[6 * i + 1] = two_subtract(x, y);
  AT(results)[6 * i + 2] = two_multiply(x, y);
  AT(results)[6 * i + 3] = two_divide(x, y);
  AT(results)[6 * i + 4] = two_square_root(two_multiply(x, x));
  AT(results)[6 * i + 5] = (two)(two_reduce(x), 0.0f);
  AT(fixed)[i] = two_fixed(x);
}
)";

class TwinsOpencl : public support::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    holotone::opencl::add_text("tests/twins", text);
  }
};
HOLOTONE_ON_DEVICES(TwinsOpencl, "opencl");

template <class T>
Array<T, 1> on(const std::vector<T>& values, Device device) {
  Array<T, 1> array({std::ssize(values)}, device);
  copy_bytes(array.data(), device, values.data(), {}, array.bytes(), device);
  return array;
}

double to_double(cl_float2 pair) { return static_cast<double>(pair.s[0]) + static_cast<double>(pair.s[1]); }

TEST_P(TwinsOpencl, WavesOfTurns) {
  on_each([](Device device) {
    std::vector<float> turns(samples);
    for (std::size_t i = 0; i < turns.size(); ++i) turns[i] = static_cast<float>(random_uniform64(1, i) - 0.5);
    turns[0] = 0.5F;
    turns[1] = -0.5F;
    const auto turned = on(turns, device);
    Array<cl_float2, 1> wave({samples}, device);
    holotone::opencl::Kernel(device, "tests/twins", "waves")({samples, 1, 1}, {1, 1, 1}, turned.data(), wave.data());
    const auto got = wave.to(Device{});
    double largest = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      float sine = 0;
      float cosine = 0;
      holotone::sincos_turns(turns[static_cast<std::size_t>(i)], sine, cosine);
      largest = std::max({largest, std::abs(static_cast<double>(got(i).s[0] - cosine)),
                          std::abs(static_cast<double>(got(i).s[1] - sine))});
    }
    support::expect_within("waves of turns, C++ against OpenCL C", largest, 2e-7);  // products may be fused
  });
}

TEST_P(TwinsOpencl, RandomNumbersAreTheSameBits) {
  on_each([](Device device) {
    constexpr std::uint64_t seed = 0x123456789abcdef;
    Array<cl_ulong, 1> bits({samples}, device);
    Array<float, 1> uniform({samples}, device);
    holotone::opencl::Kernel(device, "tests/twins", "bits")({samples, 1, 1}, {1, 1, 1}, cl_ulong{seed}, bits.data(),
                                                            uniform.data());
    const auto got = bits.to(Device{});
    const auto fractions = uniform.to(Device{});
    for (std::int64_t i = 0; i < samples; ++i) {
      ASSERT_EQ(got(i), holotone::random_bits(seed, static_cast<std::uint64_t>(i)));
      ASSERT_EQ(fractions(i), holotone::random_uniform(seed, static_cast<std::uint64_t>(i)));
    }
  });
}

TEST_P(TwinsOpencl, PairsOfFloatsHold44Bits) {
  on_each([](Device device) {
    std::vector<cl_float2> a(samples);
    std::vector<cl_float2> b(samples);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto draw = [&](std::uint64_t which) {
        const double sign = random_uniform64(7 * which, i) < 0.5 ? -1 : 1;
        return sign * std::exp2(40 * random_uniform64(7 * which + 1, i) - 20) *
               (1 + random_uniform64(7 * which + 2, i));
      };
      a[i] = holotone::opencl::two_floats(draw(1));
      b[i] = holotone::opencl::two_floats(draw(2));
    }
    const auto own_a = on(a, device);
    const auto own_b = on(b, device);
    Array<cl_float2, 1> results({6 * samples}, device);
    Array<cl_uint, 1> fixed({samples}, device);
    holotone::opencl::Kernel(device, "tests/twins", "pairs")({samples, 1, 1}, {1, 1, 1}, own_a.data(), own_b.data(),
                                                             results.data(), fixed.data());
    const auto got = results.to(Device{});
    const auto got_fixed = fixed.to(Device{});
    const char* const names[] = {"sum", "difference", "product", "quotient", "square root"};
    double largest[6] = {};
    double largest_fixed = 0;
    for (std::int64_t i = 0; i < samples; ++i) {
      const double x = to_double(a[static_cast<std::size_t>(i)]);
      const double y = to_double(b[static_cast<std::size_t>(i)]);
      const double expected[] = {x + y, x - y, x * y, x / y, std::abs(x)};
      for (int k = 0; k < 5; ++k) {
        // Sums lose what cancels.
        const double size = k < 2 ? std::max(std::abs(x), std::abs(y)) : std::abs(expected[k]);
        largest[k] = std::max(largest[k], std::abs(to_double(got(6 * i + k)) - expected[k]) / size);
      }
      const auto turns = [](double difference) { return std::abs(difference - std::rint(difference)); };
      largest[5] = std::max(largest[5], turns(to_double(got(6 * i + 5)) - x));
      largest_fixed = std::max(largest_fixed, turns(static_cast<double>(got_fixed(i)) * 0x1p-32 - x));
    }
    for (int k = 0; k < 5; ++k) support::expect_within(std::string("pairs: ") + names[k], largest[k], 0x1p-44);
    support::expect_within("pairs: turns without whole ones", largest[5], 0x1p-24);
    support::expect_within("pairs: turns in fixed point", largest_fixed, 0x1p-32);
  });
}

}  // namespace
