// Equal codes from every device, address and history of a plan; non-finite values.
#include <tests/cases/encode.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using cases::disc_field;
using cases::grid_of;
using cases::mixed_field;
using cases::one_of_each;
using cases::run;
using cases::upload;
using holotone::Array;
using holotone::Complex;
using holotone::Device;
using holotone::EncodePlan;
using holotone::EncodeReport;
using holotone::Encoding;
using holotone::Queue;
using holotone::View;

class EncodeRelations : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(EncodeRelations);

TEST_P(EncodeRelations, SameCodesOnEveryDeviceAndInEightBits) {
  on_each([](Device device) {
    for (const auto& options : one_of_each()) {
      for (const auto& grid : {grid_of(37, 61), grid_of(64, 96), grid_of(3, 3), grid_of(9, 1027)}) {
        const auto field = options.encoding == Encoding::phase ? mixed_field(grid, 11) : disc_field(grid, 11);
        const auto got = run(field, options, grid, device);
        if (options.encoding != Encoding::single_sideband) {
          EXPECT_EQ(got.codes, run(field, options, grid, Device{}).codes) << to_string(options.encoding);
        }
        // 8-bit codes at an address that allows no wide access
        const Queue queue(device);
        EncodePlan plan(options, grid, queue);
        Array<Complex, 1> shifted_field({grid.nx * grid.ny + 1}, queue);
        Array<std::uint8_t, 1> shifted_codes({grid.nx * grid.ny + 2}, queue);
        const View<Complex, 2> odd_field(shifted_field.data() + 1, grid.shape(), device);
        const View<std::uint8_t, 2> odd_codes(shifted_codes.data() + 1, grid.shape(), device);
        holotone::copy<Complex, 2>(odd_field, upload(field, grid, device).view(), queue);
        plan.execute(odd_field, odd_codes);
        queue.synchronize();
        const auto bytes = shifted_codes.to(Device{});
        const std::vector<std::uint16_t> narrow(bytes.data() + 1, bytes.data() + 1 + grid.nx * grid.ny);
        EXPECT_EQ(narrow, got.codes) << to_string(options.encoding) << holotone::to_string<2>(grid.shape());
      }
    }
  });
}

TEST_P(EncodeRelations, APlanForgetsTheLastField) {
  on_each([](Device device) {
    const auto grid = grid_of(31, 33);
    for (const auto& options : one_of_each()) {
      const Queue queue(device);
      EncodePlan plan(options, grid, queue);
      const auto big = disc_field(grid, 12);
      auto small = disc_field(grid, 13);
      for (auto& u : small) u *= 0.01f;
      Array<std::uint16_t, 2> codes(grid.shape(), queue);
      for (const std::vector<Complex>* field : std::initializer_list<const std::vector<Complex>*>{&big, &small, &big}) {
        const auto input = upload(*field, grid, device);
        plan.execute(input.view(), codes.view());
        queue.synchronize();
        const auto host = codes.to(Device{});
        const auto fresh = run(*field, options, grid, device);
        EXPECT_TRUE(std::equal(fresh.codes.begin(), fresh.codes.end(), host.data())) << to_string(options.encoding);
        EXPECT_EQ(fresh.report.amplitude_max, plan.report().amplitude_max);
      }
      EncodeReport report;
      const auto shot = holotone::encode(upload(big, grid, device).view(), options, grid, &report);
      const auto expected = run(big, options, grid, device);
      EXPECT_TRUE(std::equal(expected.codes.begin(), expected.codes.end(), shot.data()));
      EXPECT_EQ(report.amplitude_max, expected.report.amplitude_max);
    }
  });
}

TEST_P(EncodeRelations, ZeroAndNotANumber) {
  on_each([](Device device) {
    const float nan = std::nanf("");
    const float inf = INFINITY;
    const auto grid = grid_of(3, 3);
    const std::vector<Complex> bad = {{nan, 1}, {1, nan}, {inf, inf}, {-inf, 1}, {nan, nan},
                                      {1, 1},   {2, 0},   {0, 2},     {0, 0}};
    for (const auto& options : one_of_each()) {
      const auto dark = run(std::vector<Complex>(9), options, grid, device);
      if (!holotone::needs_phase_modulator(options.encoding)) {
        const auto range = holotone::encoding_traits(options.encoding).range;
        const bool bipolar = range == holotone::EncodingTraits::Range::symmetric;
        for (const auto code : dark.codes) EXPECT_EQ(code, bipolar ? 128 : 0);
      }
      if (options.encoding != Encoding::phase) {
        EXPECT_EQ(dark.report.amplitude_max, 1);
      }
      if (options.encoding == Encoding::single_sideband) continue;  // one non-finite value spoils the whole spectrum
      const auto codes = run(bad, options, grid, device).codes;
      for (const auto code : codes) EXPECT_LT(code, 256);
      if (options.encoding == Encoding::phase) {
        for (const std::size_t i : {0, 1, 2, 4}) EXPECT_EQ(codes[i], 0) << i;
      }
    }
  });
}

}  // namespace
