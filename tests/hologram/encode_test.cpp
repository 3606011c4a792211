// Encoding against the float64 reference on every device.
#include <tests/cases/encode.hpp>
#include <tests/reference/dft.hpp>
#include <tests/reference/encode.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using cases::disc_field;
using cases::grid_of;
using cases::mixed_field;
using cases::run;
using cases::two_pi;
using holotone::Array;
using holotone::Device;
using holotone::EncodeOptions;
using holotone::Encoding;
using support::Complex64;

using holotone::Complex;
using holotone::FieldGrid;

/// Bound of EncodePlan for the phase before rounding to a level.
constexpr double phase_error_turns = 2.5e-7;

/// Expects each code to be the nearest on the circle to turns(i), within `slack(i)` turns of phase error.
template <class Turns, class Slack>
void expect_nearest(const std::string& what, const std::vector<std::uint16_t>& codes, const std::vector<double>& levels,
                    const Turns& turns, const Slack& slack) {
  double worst = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    ASSERT_LT(codes[i], levels.size()) << what << " pixel " << i;
    const double excess =
        reference::circle_distance(turns(i), levels[codes[i]]) - reference::nearest_distance(turns(i), levels);
    // a phase error e changes the difference of the two distances by at most 2 e
    ASSERT_LE(excess, 2 * slack(i)) << what << " pixel " << i << ": turns " << turns(i) << ", code " << codes[i];
    worst = std::max(worst, excess / (2 * slack(i)));
  }
  std::printf("%-40s worst misrounding %.3f of the band\n", what.c_str(), worst);
}

class Encode : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(Encode);

TEST_P(Encode, PhaseOfEveryBitDepth) {
  on_each([](Device device) {
    const auto grid = grid_of(65, 97);
    const auto field = mixed_field(grid, 1);
    for (int bits = 2; bits <= 16; ++bits) {
      EncodeOptions options;
      options.bits = bits;
      const auto got = run(field, options, grid, device);
      const double levels = std::ldexp(1.0, bits);
      const double band = levels * phase_error_turns;
      std::int64_t flips = 0;
      for (std::size_t i = 0; i < field.size(); ++i) {
        const double q = reference::turns(Complex64(field[i])) * levels;
        const auto expected = static_cast<std::int64_t>(std::floor(q + 0.5)) % static_cast<std::int64_t>(levels);
        if (got.codes[i] == expected) continue;
        ++flips;
        const double from_edge = std::abs(q + 0.5 - std::round(q + 0.5));
        ASSERT_LE(from_edge, band) << bits << " bits, pixel " << i << ", " << field[i];
        const auto step = std::abs(static_cast<std::int64_t>(got.codes[i]) - expected);
        ASSERT_TRUE(step == 1 || step == static_cast<std::int64_t>(levels) - 1) << got.codes[i] << " " << expected;
      }
      // a pixel lies in the band with probability 2 band; at most half of these are on the wrong side
      EXPECT_LE(static_cast<double>(flips), 4 + 2 * band * static_cast<double>(field.size())) << bits;
    }
  });
}

TEST_P(Encode, EdgesOfTheFirstAndLastLevel) {
  on_each([](Device device) {
    // theta just below 2 pi belongs to level 0; the next level begins half a level up.
    const std::vector<Complex> field = {{1, -1e-7f},
                                        {1, -1e-3f},
                                        Complex(std::polar(1.0, -two_pi * 0.4999 / 256)),
                                        Complex(std::polar(1.0, -two_pi * 0.5001 / 256)),
                                        Complex(std::polar(1.0, two_pi * 0.4999 / 256)),
                                        Complex(std::polar(1.0, two_pi * 0.5001 / 256)),
                                        {0, 1},
                                        {-1, 0},
                                        {0, -1},
                                        {1, 1}};
    const auto grid = grid_of(1, 10);
    const auto got = run(field, {}, grid, device).codes;
    EXPECT_EQ(got, (std::vector<std::uint16_t>{0, 0, 0, 255, 0, 1, 64, 128, 192, 32}));
  });
}

TEST_P(Encode, StrokesOtherThanTwoPi) {
  on_each([](Device device) {
    const auto grid = grid_of(31, 45);
    const auto field = mixed_field(grid, 2);
    for (const double range : {0.8, 1.0, 1.5, 1.9, 2.0, 2.1, 3.0, 4.7}) {  // of pi
      for (const int bits : {2, 5, 8}) {
        EncodeOptions options;
        options.bits = bits;
        options.phase_range_rad = range * std::numbers::pi;
        const auto levels = reference::equal_levels(bits, range / 2);
        expect_nearest(
            "stroke " + std::to_string(range) + " pi, bits " + std::to_string(bits),
            run(field, options, grid, device).codes, levels,
            [&](std::size_t i) { return reference::turns(Complex64(field[i])); },
            [](std::size_t) { return phase_error_turns; });
      }
    }
  });
}

TEST_P(Encode, ShortStrokeSaturatesAtTheNearerEnd) {
  on_each([](Device device) {
    EncodeOptions options;
    options.bits = 4;
    options.phase_range_rad =
        std::numbers::pi;  // codes 0 .. 15 are 0 .. 15/16 pi; the gap's middle is at 31/16 / 2 pi + pi / 2
    const double middle = (15.0 / 32 + 1) / 2;
    std::vector<Complex> field;
    for (const double t : {0.46, 0.5, middle - 0.01, middle + 0.01, 0.9, 0.999}) {
      field.emplace_back(std::polar(1.0, two_pi * t));
    }
    EXPECT_EQ(run(field, options, grid_of(1, 6), device).codes, (std::vector<std::uint16_t>{15, 15, 15, 0, 0, 0}));
  });
}

std::vector<double> in_turns(std::vector<double> radians) {
  for (auto& phase : radians) phase /= two_pi;
  return radians;
}

TEST_P(Encode, LevelTables) {
  on_each([](Device device) {
    const auto grid = grid_of(33, 47);
    const auto field = mixed_field(grid, 3);
    std::vector<std::vector<double>> tables;
    // Sixteen unequal levels, as of a piston mirror, unsorted and beyond one turn.
    tables.push_back({0.0, 0.06, 0.12, 0.21, 0.26, 0.34, 0.43, 0.5, 0.66, 0.7, 0.79, 0.83, 0.87, 0.93, 0.97, 1.05});
    for (auto& level : tables.back()) level *= two_pi * 0.93;
    tables.push_back({5.0, -0.3, 9.0, 2.5});
    std::vector<double> measured(256);
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const double s = static_cast<double>(i) / 255;
      measured[i] = 7.1 * s * s * (1.6 - 0.6 * s);  // over two pi, flat at first
    }
    measured[17] = measured[100] = std::nan("");
    tables.push_back(measured);
    std::vector<double> crowded(500);  // most of the levels in a thousandth of a turn
    for (std::size_t i = 0; i < crowded.size(); ++i)
      crowded[i] = i < 490 ? 1 + 1e-5 * static_cast<double>(i) : 0.6 * static_cast<double>(i - 490);
    tables.push_back(crowded);
    for (const auto& table : tables) {
      EncodeOptions options;
      options.bits = table.size() <= 16 ? 4 : table.size() <= 256 ? 8 : 10;
      options.level_phase_rad = table;
      const auto levels = in_turns(table);
      const auto codes = run(field, options, grid, device).codes;
      for (const auto code : codes) ASSERT_FALSE(std::isnan(levels[code])) << code;
      expect_nearest(
          "table of " + std::to_string(table.size()), codes, levels,
          [&](std::size_t i) { return reference::turns(Complex64(field[i])); },
          [](std::size_t) { return phase_error_turns; });
    }
  });
}

TEST_P(Encode, EqualTableIsTheEqualSteps) {
  on_each([](Device device) {
    const auto grid = grid_of(40, 51);
    const auto field = mixed_field(grid, 4);
    EncodeOptions equal;
    equal.bits = 6;
    EncodeOptions table = equal;
    for (int i = 0; i < 64; ++i) table.level_phase_rad.push_back(two_pi * i / 64);
    EXPECT_EQ(run(field, equal, grid, device).codes, run(field, table, grid, device).codes);
  });
}

TEST_P(Encode, CarrierAndCorrection) {
  on_each([](Device device) {
    const auto grid = grid_of(37, 61);
    const auto field = mixed_field(grid, 5);
    Array<float, 2> correction(grid.shape());
    for (std::int64_t i = 0; i < correction.size(); ++i) {
      correction.data()[i] = static_cast<float>(40 * holotone::random_uniform64(6, static_cast<std::uint64_t>(i)) - 20);
    }
    for (const bool carrier : {false, true}) {
      for (const bool corrected : {false, true}) {
        EncodeOptions options;
        options.bits = 8;
        options.carrier_x_rad = carrier ? 0.0171 : 0;
        options.carrier_y_rad = carrier ? -0.0093 : 0;
        if (corrected) options.correction_rad = correction.view();
        const auto turns = [&](std::size_t i) {
          const auto at = static_cast<std::int64_t>(i);
          const double beam =
              reference::plane_wave_turns(at / grid.nx, at % grid.nx, grid.ny, grid.nx, grid.pitch_m, grid.wavelength_m,
                                          options.carrier_x_rad, options.carrier_y_rad);
          const double t =
              reference::turns(Complex64(field[i])) + beam + (corrected ? correction.data()[i] / two_pi : 0);
          return t - std::floor(t);
        };
        expect_nearest(std::string(carrier ? "carrier " : "") + (corrected ? "correction" : ""),
                       run(field, options, grid, device).codes, reference::equal_levels(8, 1), turns,
                       [](std::size_t) { return phase_error_turns; });
      }
    }
  });
}

TEST_P(Encode, DoublePhase) {
  on_each([](Device device) {
    const auto grid = grid_of(41, 53);
    const auto field = disc_field(grid, 7);
    double peak = 0;
    for (const auto& u : field) peak = std::max(peak, std::abs(Complex64(u)));
    for (const float given : {0.0f, 2.0f}) {  // 2: a third of the field is brighter and is clipped
      EncodeOptions options;
      options.encoding = Encoding::double_phase;
      options.bits = 10;
      options.amplitude_max = given;
      const auto got = run(field, options, grid, device);
      const double used = given > 0 ? given : peak;
      EXPECT_NEAR(got.report.amplitude_max, used, 3e-7 * used);
      EXPECT_EQ(got.report.amplitude_min, 0);
      const auto odd = [&](std::size_t i) {
        return (static_cast<std::int64_t>(i) / grid.nx + static_cast<std::int64_t>(i) % grid.nx) % 2 != 0;
      };
      // arccos magnifies an error of 5e-7 of |u| / peak: its slope is infinite at 1
      const auto slack = [&](std::size_t i) {
        const double a = std::min(1.0, std::abs(Complex64(field[i])) / used);
        return phase_error_turns + (std::acos(std::max(0.0, a - 5e-7)) - std::acos(std::min(1.0, a + 5e-7))) / two_pi;
      };
      expect_nearest(
          given > 0 ? "double phase, given maximum" : "double phase", got.codes, reference::equal_levels(10, 1),
          [&](std::size_t i) { return reference::double_phase_turns(Complex64(field[i]), used, odd(i)); }, slack);
    }
  });
}

/// Expects floor(level + 1/2) up to `slack` levels of error.
void expect_levels(const std::string& what, const std::vector<std::uint16_t>& codes, const std::vector<double>& level,
                   double slack) {
  double worst = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double excess = std::abs(codes[i] - level[i]) - 0.5;
    ASSERT_LE(excess, slack) << what << " pixel " << i << ": " << level[i] << ", code " << codes[i];
    worst = std::max(worst, excess);
  }
  std::printf("%-40s worst misrounding %.2e levels, tolerance %.2e\n", what.c_str(), worst, slack);
}

TEST_P(Encode, Amplitude) {
  on_each([](Device device) {
    const auto grid = grid_of(39, 57);
    const auto field = disc_field(grid, 8);
    for (const double angle : {0.0, 0.021}) {
      std::vector<double> values(field.size());
      double peak = 0;
      for (std::size_t i = 0; i < field.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const double beam = reference::plane_wave_turns(at / grid.nx, at % grid.nx, grid.ny, grid.nx, grid.pitch_m,
                                                        grid.wavelength_m, angle, -angle / 3);
        values[i] = (Complex64(field[i]) * std::polar(1.0, -two_pi * beam)).real();
        peak = std::max(peak, std::abs(values[i]));
      }
      for (const int bits : {1, 2, 8, 12, 16}) {
        for (const bool given : {false, true}) {
          EncodeOptions options;
          options.encoding = Encoding::amplitude;
          options.bits = bits;
          options.reference_angle_x_rad = angle;
          options.reference_angle_y_rad = -angle / 3;
          if (given) {
            options.amplitude_min = -1;
            options.amplitude_max = 2.5f;
          }
          const auto got = run(field, options, grid, device);
          const double low = given ? -1 : -peak;
          const double high = given ? 2.5 : peak;
          EXPECT_NEAR(got.report.amplitude_min, low, 1e-6 * peak);
          EXPECT_NEAR(got.report.amplitude_max, high, 1e-6 * peak);
          std::vector<double> level(field.size());
          for (std::size_t i = 0; i < field.size(); ++i)
            level[i] = reference::amplitude_level(values[i], low, high, bits);
          // v has an error of 3e-7 of |u| (the beam's two factors and products), the map 3 roundings of 6e-8
          const double slack = std::ldexp(1.0, bits) * (3e-7 * 3 / (high - low) + 2e-7);
          expect_levels("amplitude " + std::to_string(bits) + " bits", got.codes, level, slack);
        }
      }
    }
  });
}

TEST_P(Encode, ZeroIsMidLevelOfASymmetricRange) {
  on_each([](Device device) {
    for (int bits = 1; bits <= 16; ++bits) {
      for (const float other : {0.0f, 0.3f, 7.7f, 1e-20f, 3e20f}) {
        EncodeOptions options;
        options.encoding = Encoding::amplitude;
        options.bits = bits;
        const auto got = run({{0, 5}, {other, 1}, {-other, 2}}, options, grid_of(1, 3), device);
        EXPECT_EQ(got.codes[0], 1u << (bits - 1)) << other;
        if (other > 0) {
          EXPECT_EQ(got.codes[1], (1u << bits) - 1) << other;
          EXPECT_EQ(got.codes[2], 0) << other;
        }
      }
    }
  });
}

/// The field's spectral bins for which keep(row, column) is true, by the float64 transform.
template <class Keep>
std::vector<Complex64> kept_bins(const std::vector<Complex>& field, const FieldGrid& grid, const Keep& keep) {
  auto spectrum = reference::dft({field.begin(), field.end()}, grid.ny, grid.nx, -1);
  for (std::int64_t k = 0; k < grid.ny; ++k) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      if (!keep(k, x)) spectrum[static_cast<std::size_t>(k * grid.nx + x)] = 0;
    }
  }
  auto values = reference::dft(spectrum, grid.ny, grid.nx, 1);
  for (auto& v : values) v /= static_cast<double>(grid.nx * grid.ny);
  return values;
}

/// The field without the spatial frequencies f_y <= 0. Rows run downward: negative row frequencies are upward light.
std::vector<Complex64> upper_sideband(const std::vector<Complex>& field, const FieldGrid& grid) {
  return kept_bins(field, grid, [&](std::int64_t row, std::int64_t) { return 2 * row > grid.ny; });
}

/// The field without the spatial frequencies |f_x| >= 1/6.
std::vector<Complex64> third_of_the_band(const std::vector<Complex>& field, const FieldGrid& grid) {
  return kept_bins(field, grid,
                   [&](std::int64_t, std::int64_t column) { return 6 * std::min(column, grid.nx - column) < grid.nx; });
}

TEST_P(Encode, Burckhardt) {
  on_each([](Device device) {
    for (const std::int64_t nx : {60, 61, 62}) {
      const auto grid = grid_of(35, nx);
      const auto field = disc_field(grid, 9);
      auto values = third_of_the_band(field, grid);
      double peak = 0;
      for (std::size_t i = 0; i < field.size(); ++i) {
        values[i] = reference::burckhardt(values[i])[i % static_cast<std::size_t>(nx) % 3];
        peak = std::max(peak, values[i].real());
      }
      for (const int bits : {8, 14}) {
        EncodeOptions options;
        options.encoding = Encoding::burckhardt;
        options.bits = bits;
        const auto got = run(field, options, grid, device);
        EXPECT_EQ(got.report.amplitude_min, 0);
        EXPECT_NEAR(got.report.amplitude_max, peak, 4e-6 * peak);
        std::vector<double> level(field.size());
        for (std::size_t i = 0; i < field.size(); ++i) {
          level[i] = reference::amplitude_level(values[i].real(), 0, peak, bits);
        }
        expect_levels("burckhardt " + std::to_string(nx) + " columns", got.codes, level, std::ldexp(4e-6, bits));
      }
    }
  });
}

TEST_P(Encode, SingleSideband) {
  on_each([](Device device) {
    for (const std::int64_t ny : {32, 33}) {
      const auto grid = grid_of(ny, 47);
      const auto field = disc_field(grid, 10);
      const auto kept = upper_sideband(field, grid);
      double peak = 0;
      for (const auto& v : kept) peak = std::max(peak, std::abs(v.real()));
      EncodeOptions options;
      options.encoding = Encoding::single_sideband;
      options.bits = 10;
      const auto got = run(field, options, grid, device);
      EXPECT_NEAR(got.report.amplitude_max, peak, 4e-6 * peak);
      EXPECT_EQ(got.report.amplitude_min, -got.report.amplitude_max);
      std::vector<double> level(field.size());
      for (std::size_t i = 0; i < field.size(); ++i)
        level[i] = reference::amplitude_level(kept[i].real(), -peak, peak, 10);
      expect_levels("single sideband, " + std::to_string(ny) + " rows", got.codes, level, 1024 * 4e-6);
    }
  });
}

}  // namespace
