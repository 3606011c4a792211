// Tables of a panel's phases: units, strokes and the error that a short one leaves.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/phase_lut.hpp>
#include <string>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace holotone {
namespace {

using support::expect_error;

/// 16 codes of even steps; the step after the last would reach `full`.
std::string make_table(double full, const std::string& head = {}) {
  std::string text = head;
  for (int code = 0; code < 16; ++code) text += fmt::format("{}\n", full * code / 16);
  return text;
}

void expect_phases(const PhaseLut& lut, double full_rad, PhaseUnit unit, bool stated) {
  ASSERT_EQ(lut.phase_rad.size(), 16U);
  for (std::size_t code = 0; code < 16; ++code) {
    EXPECT_NEAR(lut.phase_rad[code], full_rad * static_cast<double>(code) / 16, 1e-12);
  }
  EXPECT_EQ(lut.unit, unit);
  EXPECT_EQ(lut.stated, stated);
}

TEST(PhaseLut, HeadingsAndCommentsStateTheUnit) {
  const std::pair<const char*, PhaseUnit> heads[] = {
      {"phase_rad\n", PhaseUnit::rad},
      {"Phase [rad]\n", PhaseUnit::rad},
      {"phase (radians)\n", PhaseUnit::rad},
      {"phase_deg\n", PhaseUnit::deg},
      {"phase (\u00B0)\n", PhaseUnit::deg},
      {"Phase in Degrees\n", PhaseUnit::deg},
      {"phase [waves]\n", PhaseUnit::waves},
      {"phase/2pi\n", PhaseUnit::waves},
      {"phase / (2 \u03C0)\n", PhaseUnit::waves},
      {"stroke (\u03BB)\n", PhaseUnit::waves},
      {"turns\n", PhaseUnit::waves},
      {"phase/pi\n", PhaseUnit::pi},
      {"phase [\u03C0 rad]\n", PhaseUnit::pi},
      {"# measured at 45 deg, 532 nm\n# phase in units of pi\n", PhaseUnit::pi},
      {"# unit: waves\n", PhaseUnit::waves},
      {"# of the panel (rad)\nphase\n", PhaseUnit::rad},
      {"# column: phase_deg\n", PhaseUnit::deg},
  };
  for (const auto& [head, unit] : heads) {
    SCOPED_TRACE(head);
    expect_phases(parse_phase_lut(make_table(1.7, head)), 1.7 * radians_in(unit), unit, true);
  }
  EXPECT_DOUBLE_EQ(radians_in(PhaseUnit::deg), M_PI / 180);
  EXPECT_DOUBLE_EQ(radians_in(PhaseUnit::waves), 2 * M_PI);
}

TEST(PhaseLut, CommentsOfOtherThingsStateNone) {
  for (const char* head : {"# measured at 45 deg\n", "# (532 nm, 25 C)\n", "# turned by 2 turns of the screw\n", ""}) {
    EXPECT_FALSE(parse_phase_lut(make_table(6.2, head)).stated) << head;
  }
}

TEST(PhaseLut, HeadingsAndCommentsStateTheWavelength) {
  const auto expect_light = [](const std::string& head, const std::vector<double>& nanometres) {
    SCOPED_TRACE(head);
    const PhaseLut lut = parse_phase_lut(make_table(6.2, head + "\n"));
    ASSERT_EQ(lut.wavelengths_m.size(), nanometres.size());
    for (std::size_t i = 0; i < nanometres.size(); ++i) {
      EXPECT_NEAR(lut.wavelengths_m[i], 1e-9 * nanometres[i], 1e-15);
    }
  };
  for (const char* head :
       {"# wavelength 633 nm", "# Wavelength: 0.633 um", "; lambda = 633nm", "# \u03BB=0.633 \u00B5m",
        "# wavelength_nm: 633", "# wavelength [nm] = 633.0", "# Wavelength of the laser: 633", "# lambda 6.33e-7 m",
        "# wavelength 0.633", "# wavelength=6.33e-7", "# measured at 633 nm", "# (633 nm, 25 C)", "phase_rad @ 633nm",
        "phase [rad], lambda = 633 nm", "# 633-nm laser, wavelength 633 nanometers"}) {
    expect_light(head, {633});
  }
  expect_light("# wavelengths: 450, 532 and 633 nm", {450, 532, 633});
  expect_light("# 450 nm / 532 nm", {450, 532});
  for (const char* head :
       {"# coated for 400-700 nm", "# wavelengths 400 to 700 nm", "# pitch 8 um, 25 C", "# wavelength 25 mm",
        "# wavelength", "# in units of lambda", "# 633", "# 1e999 nm", "# ."}) {
    expect_light(head, {});
  }
  // Lambda is the sign of the light beside a number, and a unit elsewhere.
  const auto find_unit = [](const std::string& head) {
    const PhaseLut lut = parse_phase_lut(make_table(6.2, head + "\n"));
    return lut.stated ? lut.unit : PhaseUnit::automatic;
  };
  EXPECT_EQ(find_unit("phase_rad, lambda = 633 nm"), PhaseUnit::rad);
  EXPECT_EQ(find_unit("; lambda = 633nm"), PhaseUnit::automatic);
  EXPECT_EQ(find_unit("# phase in units of lambda (633 nm)"), PhaseUnit::waves);
  EXPECT_EQ(find_unit("# phase in units of lambda, wavelength 633 nm"), PhaseUnit::waves);
}

TEST(PhaseLut, TheStrokeTellsTheUnit) {
  expect_phases(parse_phase_lut(make_table(360)), 2 * M_PI, PhaseUnit::deg, false);
  expect_phases(parse_phase_lut(make_table(6.1)), 6.1, PhaseUnit::rad, false);
  expect_phases(parse_phase_lut(make_table(12)), 12, PhaseUnit::rad, false);
  expect_phases(parse_phase_lut(make_table(3)), 3, PhaseUnit::rad, false);
  expect_phases(parse_phase_lut(make_table(2)), 2 * M_PI, PhaseUnit::pi, false);
  expect_phases(parse_phase_lut(make_table(0.95)), 1.9 * M_PI, PhaseUnit::waves, false);
  // Two levels: half a turn apart.
  EXPECT_EQ(parse_phase_lut("0\n180\n").unit, PhaseUnit::deg);
  EXPECT_EQ(parse_phase_lut("0\n1\n").unit, PhaseUnit::pi);
  EXPECT_EQ(parse_phase_lut("0\n3.14159\n").unit, PhaseUnit::rad);
}

TEST(PhaseLut, TheCallerStatesIt) {
  expect_phases(parse_phase_lut(make_table(2), PhaseUnit::rad), 2, PhaseUnit::rad, true);
  expect_phases(parse_phase_lut(make_table(2, "phase_deg\n"), PhaseUnit::deg), 2 * M_PI / 180, PhaseUnit::deg, true);
  expect_error(ErrorCode::invalid_argument, "unit: expected deg, as the table states, got rad",
               [] { (void)read_phase_lut("phase_deg\n0\n300\n", PhaseUnit::rad); });
  // Codes left out are interpolated between phases of the table's unit.
  const auto phases = read_phase_lut("code,phase [deg]\n0,0\n4,90\n5,180\n");
  EXPECT_NEAR(phases.at(1), M_PI / 8, 1e-12);
  EXPECT_NEAR(phases.at(5), M_PI, 1e-12);
}

TEST(PhaseLut, OtherUnitsAndLongStrokesAreRefused) {
  for (const char* head :
       {"phase [mrad]\n", "phase_nm\n", "opd [nm]\n", "phase_rad\n# phase in degrees\n", "deg or waves\n"}) {
    expect_error(ErrorCode::invalid_argument, "expected phases in one unit: rad, deg, waves or pi",
                 [&] { (void)read_phase_lut(make_table(6, head)); });
  }
  expect_error(ErrorCode::invalid_argument,
               "expected a stroke of at most 10 turns, got 53.71 turns, from phases in rad",
               [] { (void)read_phase_lut(make_table(360, "phase_rad\n")); });
  expect_error(ErrorCode::invalid_argument, "at most 10 turns", [] { (void)read_phase_lut(make_table(4000)); });
  EXPECT_EQ(read_phase_lut(make_table(10, "waves\n")).size(), 16U);
}

TEST(PhaseLut, OtherQuantitiesAreRefused) {
  const auto refused = [](const std::string& heading) {
    expect_error(ErrorCode::invalid_argument, "is no phase", [&] { (void)read_phase_lut(heading + "\n0,0\n1,3\n"); });
  };
  for (const char* heading : {"code,intensity", "Code;Voltage [V]", "gray voltage_mV", "code,power (mW)",
                              "# code,intensity", "# grey level, transmission"}) {
    refused(heading);
  }
  expect_error(ErrorCode::invalid_argument, "line 1: expected phases: intensity is no phase, got 'code,intensity'",
               [] { (void)read_phase_lut("code,intensity\n0,0\n1,3\n"); });
  for (const char* heading : {"code,phase_rad", "voltage,phase_rad", "# measured intensity at 532 nm",
                              "code,phase shift", "# code,phase from the intensity"}) {
    EXPECT_EQ(read_phase_lut(std::string(heading) + "\n0,0\n1,3\n").size(), 2U) << heading;
  }
}

TEST(PhaseLut, AShortStrokeLeavesAnError) {
  // Four levels over half a turn: gaps of pi / 3 thrice, and of pi.
  const auto [max_rad, rms_rad] = phase_error_of_levels({0, M_PI / 3, 2 * M_PI / 3, M_PI});
  double squares = 0;
  constexpr int steps = 200'000;
  for (int i = 0; i < steps; ++i) {
    const double phase = 2 * M_PI * (i + 0.5) / steps;
    double least = 10;
    for (int level = 0; level < 4; ++level) {
      least = std::min(least, std::abs(std::remainder(phase - level * M_PI / 3, 2 * M_PI)));
    }
    squares += least * least / steps;
  }
  EXPECT_NEAR(max_rad, M_PI / 2, 1e-12);
  EXPECT_NEAR(rms_rad, std::sqrt(squares), 1e-6);
  expect_error(ErrorCode::invalid_argument, "at least one finite phase", [] { (void)phase_error_of_levels({}); });
}

TEST(PhaseLut, DamagedTablesAreRefused) {
  const auto read = [](const std::string& path) {
    try {
      (void)parse_phase_lut(io_support::read_raw(path));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) std::abort();
      throw;
    }
  };
  io_support::expect_survival("table", make_table(360, "# at 532 nm [waves]\n# column (2 \u03C0)\nphase/2pi\n"), ".csv",
                              2000, read);
  io_support::expect_survival("light", "# wavelength [nm]: 450, 532 and 633; lambda = 0.633 um, 400-700 nm\n0\n1\n",
                              ".csv", 2000, read);
}

}  // namespace
}  // namespace holotone
