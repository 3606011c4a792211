// Options out of range, names, measured responses, packing and the other small parts of encoding.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/phase_lut.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::EncodeOptions;
using holotone::EncodePlan;
using holotone::Encoding;
using holotone::ErrorCode;
using holotone::FieldGrid;

constexpr double pi = std::numbers::pi;

const FieldGrid small_grid = {6, 4, 8e-6, 532e-9};

void expect_rejected(const std::string& text, const std::function<void(EncodeOptions&, FieldGrid&)>& change) {
  EncodeOptions options;
  FieldGrid grid = small_grid;
  change(options, grid);
  support::expect_error(ErrorCode::invalid_argument, "EncodePlan: " + text, [&] { EncodePlan(options, grid); });
}

TEST(EncodeOptions, GridAndBits) {
  expect_rejected("grid: expected at least one pixel each way, got {4, 0}", [](auto&, auto& grid) { grid.nx = 0; });
  expect_rejected("grid.pitch_m: expected > 0, got -1", [](auto&, auto& grid) { grid.pitch_m = -1; });
  expect_rejected("grid.wavelength_m: expected > 0, got nan",
                  [](auto&, auto& grid) { grid.wavelength_m = std::nan(""); });
  for (const int bits : {1, 0, -3, 17}) {
    expect_rejected("bits: expected 2 to 16 for a phase encoding, got " + std::to_string(bits),
                    [&](auto& options, auto&) { options.bits = bits; });
  }
  expect_rejected("bits: expected 1 to 16, got 0", [](auto& options, auto&) {
    options.encoding = Encoding::amplitude;
    options.bits = 0;
  });
  expect_rejected("grid: expected at least 3 columns for burckhardt, got 2", [](auto& options, auto& grid) {
    options.encoding = Encoding::burckhardt;
    grid.nx = 2;
  });
  expect_rejected("grid: expected at least 3 rows for single-sideband, got 2", [](auto& options, auto& grid) {
    options.encoding = Encoding::single_sideband;
    grid.ny = 2;
  });
}

TEST(EncodeOptions, PhaseLevels) {
  expect_rejected("phase_range_rad: expected > 0, got -2", [](auto& options, auto&) { options.phase_range_rad = -2; });
  expect_rejected("phase_range_rad: expected > 0, got inf",
                  [](auto& options, auto&) { options.phase_range_rad = INFINITY; });
  expect_rejected("phase_range_rad: expected 0.001 to ", [](auto& options, auto&) {
    options.bits = 2;
    options.phase_range_rad = 8 * pi;  // code 1 would be at 2 pi
  });
  expect_rejected("level_phase_rad: expected 2 to 256 entries for 8 bits, got 257",
                  [](auto& options, auto&) { options.level_phase_rad.resize(257); });
  expect_rejected("level_phase_rad: expected 2 to 256 entries for 8 bits, got 1",
                  [](auto& options, auto&) { options.level_phase_rad.resize(1); });
  expect_rejected("level_phase_rad: expected finite radians, or NaN for a code not to be used, got inf for code 1",
                  [](auto& options, auto&) {
                    options.level_phase_rad = {0, INFINITY};
                  });
  expect_rejected("level_phase_rad: expected at least two different phases, got 1", [](auto& options, auto&) {
    options.level_phase_rad = {0.5, 0.5, 0.5 + 2 * pi, std::nan("")};
  });
}

TEST(EncodeOptions, BeamsAndCorrection) {
  // at 8 um and 532 nm, two pixels per fringe are 0.0332561 rad
  expect_rejected("carrier_x_rad: expected at most 1.90544 deg either way, two pixels a fringe, got -2.29183 deg",
                  [](auto& options, auto&) { options.carrier_x_rad = -0.04; });
  expect_rejected("carrier_y_rad: expected at most", [](auto& options, auto&) { options.carrier_y_rad = 3.14; });
  expect_rejected("carrier_y_rad: expected at most",
                  [](auto& options, auto&) { options.carrier_y_rad = std::nan(""); });
  expect_rejected("reference_angle_x_rad: expected at most", [](auto& options, auto&) {
    options.encoding = Encoding::amplitude;
    options.reference_angle_x_rad = 0.1;
  });
  expect_rejected("reference_angle: expected 0 for a phase encoding",
                  [](auto& options, auto&) { options.reference_angle_y_rad = 0.01; });
  expect_rejected("reference_angle: expected 0 for burckhardt", [](auto& options, auto&) {
    options.encoding = Encoding::burckhardt;
    options.reference_angle_y_rad = 0.01;
  });
  expect_rejected("carrier: expected 0 for single-sideband", [](auto& options, auto&) {
    options.encoding = Encoding::single_sideband;
    options.carrier_x_rad = 0.01;
  });
  Array<float, 2> correction(small_grid.shape());
  std::fill_n(correction.data(), correction.size(), 0.0f);
  correction.data()[13] = INFINITY;
  expect_rejected("correction_rad: expected finite radians, got inf at row 2, column 1",
                  [&](auto& options, auto&) { options.correction_rad = correction.view(); });
  expect_rejected("correction_rad: expected none for amplitude", [&](auto& options, auto&) {
    options.encoding = Encoding::amplitude;
    options.correction_rad = correction.view();
  });
  expect_rejected("correction_rad: expected shape {4, 7}, got {4, 6}", [&](auto& options, auto& grid) {
    options.correction_rad = correction.view();
    grid.nx = 7;
  });
}

TEST(EncodeOptions, Ranges) {
  const auto range = [](Encoding encoding, float low, float high) {
    return [=](EncodeOptions& options, FieldGrid&) {
      options.encoding = encoding;
      options.amplitude_min = low;
      options.amplitude_max = high;
    };
  };
  expect_rejected("amplitude_min and amplitude_max: expected 0 and 0 for phase", range(Encoding::phase, 0, 1));
  expect_rejected("amplitude_min and amplitude_max: expected finite with min < max, got 1 .. 1",
                  range(Encoding::amplitude, 1, 1));
  expect_rejected("amplitude_min and amplitude_max: expected finite",
                  range(Encoding::single_sideband, 0, std::nanf("")));
  expect_rejected("amplitude_min and amplitude_max: expected finite", range(Encoding::amplitude, -3e38f, 3e38f));
  expect_rejected("amplitude_min and amplitude_max: expected 0 .. a positive number, got -1 .. 1",
                  range(Encoding::double_phase, -1, 1));
  expect_rejected("amplitude_min and amplitude_max: expected 0 .. a positive number",
                  range(Encoding::burckhardt, 0, -1));
  expect_rejected("level_phase_rad and phase_range_rad: expected none for amplitude", [](auto& options, auto&) {
    options.encoding = Encoding::amplitude;
    options.level_phase_rad = {0, 1};
  });
}

TEST(EncodeOptions, ExecuteChecksItsViews) {
  EncodeOptions options;
  options.bits = 10;
  EncodePlan plan(options, small_grid);
  Array<holotone::Complex, 2> field(small_grid.shape());
  Array<holotone::Complex, 2> wide({4, 7});
  Array<std::uint16_t, 2> codes(small_grid.shape());
  Array<std::uint8_t, 2> bytes(small_grid.shape());
  const auto rejected = [](const std::string& text, const auto& call) {
    support::expect_error(ErrorCode::invalid_argument, text, call);
  };
  rejected("field: expected shape {4, 6}, got {4, 7}", [&] { plan.execute(wide.view(), codes.view()); });
  rejected("codes: expected 16-bit codes for 10 bits, got 8-bit codes",
           [&] { plan.execute(field.view(), bytes.view()); });
  rejected("codes: expected shape {4, 6}", [&] { plan.execute(field.view(), holotone::View<std::uint16_t, 2>()); });
}

TEST(EncodeOptions, Names) {
  for (const auto& [encoding, known] : holotone::enum_names<Encoding>) {
    EXPECT_EQ(holotone::parse_encoding(to_string(encoding)), encoding);
    std::string name(known);
    std::ranges::replace(name, '-', '_');
    EXPECT_EQ(holotone::parse_encoding(name), encoding);
  }
  support::expect_error(ErrorCode::invalid_argument, "'burkhardt' (did you mean 'burckhardt'?)",
                        [] { (void)holotone::parse_encoding("burkhardt"); });
  support::expect_error(ErrorCode::invalid_argument,
                        "expected phase, amplitude, double-phase, single-sideband or burckhardt, got 'x'",
                        [] { (void)holotone::parse_encoding("x"); });
}

// The compiler reports an encoding without traits; this, one with traits but without a name.
TEST(EncodeOptions, EveryEncodingHasTraitsAndAName) {
  using Range = holotone::EncodingTraits::Range;
  const auto count = holotone::enum_names<Encoding>.size();
  for (std::size_t i = 0; i <= count; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    const auto traits = holotone::encoding_traits(encoding);
    const bool known = traits.phase_modulator || traits.range != Range::none;  // each has one of these
    EXPECT_EQ(known, i < count) << i;
    EXPECT_EQ(!to_string(encoding).empty(), i < count) << i;
    EXPECT_FALSE(traits.phase_modulator && (traits.encodes_beam || traits.range == Range::symmetric)) << i;
    EXPECT_LE(traits.encodes_beam, traits.lit_by_beam) << i;
  }
  EXPECT_EQ(holotone::list_encodings([](const auto& traits) { return traits.phase_modulator; }),
            "phase or double-phase");
  EXPECT_EQ(holotone::list_encodings([](const auto& traits) { return traits.stop != "none"; }),
            "double-phase, single-sideband or burckhardt");
  EXPECT_EQ(holotone::list_encodings([](const auto& traits) { return traits.encodes_beam; }), "amplitude");
}

TEST(PhaseLut, OnePhaseALine) {
  const auto phases = holotone::read_phase_lut("\xEF\xBB\xBFphase\r\n0\r\n+0.5\r\n\r\n 1e0  # measured twice\r\n-2.5");
  EXPECT_EQ(phases, (std::vector<double>{0, 0.5, 1, -2.5}));
}

TEST(PhaseLut, CodesWithGaps) {
  for (const std::string separator : {",", ";", "\t", " ", " , ", "   "}) {
    const auto phases = holotone::read_phase_lut(fmt::format("code{0}phase\n2{0}0.25\n3{0}0.5\n7{0}2.5\n", separator));
    ASSERT_EQ(phases.size(), 8u) << separator;
    EXPECT_TRUE(std::isnan(phases[0]) && std::isnan(phases[1]));
    const double expected[] = {0.25, 0.5, 1, 1.5, 2, 2.5};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(phases[i + 2], expected[i]) << separator;
  }
}

TEST(PhaseLut, BadText) {
  const auto rejected = [](const std::string& lut, const std::string& text) {
    support::expect_error(ErrorCode::invalid_argument, "read_phase_lut: " + text,
                          [&] { (void)holotone::read_phase_lut(lut); });
  };
  rejected("", "text: expected at least two codes with their phases, got 0");
  rejected("# nothing\n1.5\n", "text: expected at least two codes with their phases, got 1");
  rejected("one\ntwo\n", "line 2: expected phase, or code,phase, got 'two'");
  rejected("0,0\n1,abc\n", "line 2: expected code,phase, got '1,abc'");
  rejected("0\n1,2\n", "line 2: expected one phase, got '1,2'");
  rejected("0,0\n1\n", "line 2: expected code,phase, got '1'");
  rejected("0,0,0\n", "line 1: expected phase, or code,phase, got '0,0,0'");
  rejected("0,0\n0,1\n", "line 2: expected a rising whole code, 1 to 65535, got '0,1'");
  rejected("0,0\n1.5,1\n", "line 2: expected a rising whole code");
  rejected("0,0\n-1,1\n", "line 2: expected a rising whole code");
  rejected("0,0\n65536,1\n", "line 2: expected a rising whole code");
  rejected("0,0\n1,inf\n", "line 2: expected a finite phase, got '1,inf'");
  rejected("0,nan\n1,0\n", "line 1: expected a finite phase");
  rejected("0,0\n10,3.2\n",
           "line 2: expected a phase within pi of code 0's, 0, where codes between are left out (unwrap the curve)");
  rejected("0,,1\n", "line 1: expected");
  // A comma in a number, and a heading with another unit.
  rejected("0;0,000000\n1;0,024627\n", "line 1: expected numbers with a decimal point, got '0;0,000000'");
  rejected("0\t0,5\n1\t0,7\n", "line 1: expected numbers with a decimal point");
  rejected("0,000000\n0,024627\n", "line 1: expected numbers with a decimal point, got '0,000000'");
  rejected("code,phase [mrad]\n0,0\n1,90\n",
           "line 1: expected phases in one unit: rad, deg, waves or pi, got 'code,phase [mrad]'");
  std::string long_table;
  for (int i = 0; i < 65537; ++i) long_table += "0.5\n";
  rejected(long_table, "line 65537: expected at most 65536 codes");
  std::string garbage(3000, '\xff');
  garbage += "\n";
  rejected(garbage + garbage, "line 2: expected phase, or code,phase");
}

TEST(PhaseLut, FeedsAPlan) {
  EncodeOptions options;
  options.level_phase_rad = holotone::read_phase_lut("10,0\n11,1.5\n12,3\n13,4.5\n");
  Array<holotone::Complex, 2> field({1, 4});
  for (int i = 0; i < 4; ++i) field.data()[i] = holotone::Complex(std::polar(1.0, 1.5 * i + 0.1));
  const auto codes = holotone::encode(field.view(), options, {4, 1, 8e-6, 532e-9});
  EXPECT_EQ((std::vector<std::uint16_t>(codes.data(), codes.data() + 4)), (std::vector<std::uint16_t>{10, 11, 12, 13}));
}

TEST(Steering, PeriodToAngle) {
  EXPECT_NEAR(holotone::steering_angle_rad(64e-6, 532e-9), std::asin(532e-9 / 64e-6), 1e-15);
  EXPECT_LT(holotone::steering_angle_rad(-64e-6, 532e-9), 0);
  EXPECT_DOUBLE_EQ(holotone::steering_angle_rad(532e-9, 532e-9), pi / 2);
  for (const double period : {0.0, 1e-7, std::nan("")}) {
    support::expect_error(ErrorCode::invalid_argument, "steering_angle_rad: period_m: expected at least the wavelength",
                          [&] { (void)holotone::steering_angle_rad(period, 532e-9); });
  }
}

TEST(RandomPhases, SeededUniformInOneTurn) {
  constexpr std::int64_t count = 64000;
  const auto phases = holotone::random_phases(count, 7);
  EXPECT_EQ(phases, holotone::random_phases(count, 7));
  EXPECT_NE(phases, holotone::random_phases(count, 8));
  EXPECT_TRUE(std::equal(phases.begin(), phases.begin() + 100, holotone::random_phases(100, 7).begin()));
  std::vector<double> bins(64);
  for (const float phase : phases) {
    ASSERT_GE(phase, 0);
    ASSERT_LT(double{phase}, 2 * pi);
    ++bins[static_cast<std::size_t>(double{phase} / (2 * pi) * 64)];
  }
  double chi_square = 0;
  for (const double bin : bins) chi_square += (bin - 1000) * (bin - 1000) / 1000;
  std::printf("chi square %.1f for 63 degrees of freedom (99.9 %%: 103.4)\n", chi_square);
  EXPECT_LT(chi_square, 103.4);
  EXPECT_TRUE(holotone::random_phases(0, 1).empty());
  support::expect_error(ErrorCode::invalid_argument, "random_phases: count: expected >= 0, got -1",
                        [] { (void)holotone::random_phases(-1, 1); });
}

TEST(Pack16, RedIsTheHighByte) {
  Array<std::uint16_t, 2> codes({2, 3});
  const std::uint16_t values[] = {0, 1, 255, 256, 0xabcd, 65535};
  std::copy(std::begin(values), std::end(values), codes.data());
  const auto packed = holotone::pack_16bit(codes.view());
  EXPECT_EQ(packed.shape(), (holotone::Shape<3>{2, 3, 3}));
  EXPECT_EQ(packed(1, 1, 0), 0xab);
  EXPECT_EQ(packed(1, 1, 1), 0xcd);
  EXPECT_EQ(packed(1, 1, 2), 0);
  EXPECT_EQ(packed(0, 1, 0), 0);
  EXPECT_EQ(packed(0, 1, 1), 1);
  const auto back = holotone::unpack_16bit(packed.view());
  EXPECT_TRUE(std::equal(std::begin(values), std::end(values), back.data()));
  Array<std::uint8_t, 3> grey({2, 3, 1});
  support::expect_error(ErrorCode::invalid_argument, "unpack_16bit: packed: expected shape {ny, nx, 3}, got {2, 3, 1}",
                        [&] { (void)holotone::unpack_16bit(grey.view()); });
}

}  // namespace
