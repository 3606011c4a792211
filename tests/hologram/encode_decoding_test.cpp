// Light of a modulator that shows the codes: each encoding reproduces the field as its theory predicts.
#include <holotone/core/random.hpp>
#include <holotone/hologram/encode.hpp>
#include <numbers>
#include <tests/reference/dft.hpp>
#include <tests/reference/encode.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::EncodeOptions;
using holotone::EncodeReport;
using holotone::Encoding;
using holotone::FieldGrid;
using support::Complex;
using support::Complex64;

constexpr double two_pi = 2 * std::numbers::pi;

FieldGrid make_grid(std::int64_t ny, std::int64_t nx) { return {nx, ny, 8e-6, 532e-9}; }

/// A field of a few low spatial frequencies (cycles over the panel), never zero and smooth on the torus.
std::vector<Complex64> smooth_field(const FieldGrid& grid) {
  std::vector<Complex64> field;
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const double s = two_pi * static_cast<double>(x) / static_cast<double>(grid.nx);
      const double t = two_pi * static_cast<double>(y) / static_cast<double>(grid.ny);
      field.push_back((0.6 + 0.2 * std::cos(s) + 0.1 * std::sin(2 * t)) *
                      std::polar(1.0, std::sin(s + t) + 0.5 * std::cos(t)));
    }
  }
  return field;
}

struct Shown {
  std::vector<Complex64> light;
  EncodeReport report;
};

/// Encodes on the device and computes the light of the panel.
Shown show(const std::vector<Complex64>& field, const EncodeOptions& options, const FieldGrid& grid, Device device,
           bool zero_order = false) {
  EncodeReport report;
  const auto codes = holotone::encode(support::upload(field, grid.shape(), device).view(), options, grid, &report);
  const auto light = holotone::modulation_of(codes.view(), options, grid, report, zero_order);
  return {{light.data(), light.data() + light.size()}, report};
}

double largest(const std::vector<Complex64>& field) {
  double peak = 0;
  for (const auto& u : field) peak = std::max(peak, std::abs(u));
  return peak;
}

/// The field restricted to the spatial frequencies for which keep(fx, fy) is true, in cycles per pixel from -1/2 to
/// 1/2, fy upward.
template <class Keep>
std::vector<Complex64> filtered(const std::vector<Complex64>& field, const FieldGrid& grid, const Keep& keep) {
  auto spectrum = reference::dft(field, grid.ny, grid.nx, -1);
  const auto signed_frequency = [](std::int64_t k, std::int64_t n) {
    return static_cast<double>(2 * k > n ? k - n : k) / static_cast<double>(n);
  };
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      if (!keep(signed_frequency(x, grid.nx), -signed_frequency(y, grid.ny))) {
        spectrum[static_cast<std::size_t>(y * grid.nx + x)] = 0;
      }
    }
  }
  auto values = reference::dft(spectrum, grid.ny, grid.nx, 1);
  for (auto& v : values) v /= static_cast<double>(field.size());
  return values;
}

class EncodeDecoding : public support::OnEachDevice {};
HOLOTONE_ON_EACH_DEVICE(EncodeDecoding);

TEST_P(EncodeDecoding, PhaseIsShownWithinHalfALevel) {
  on_each([](Device device) {
    const auto grid = make_grid(33, 48);
    const auto field = smooth_field(grid);
    for (const int bits : {2, 4, 8, 16}) {
      EncodeOptions options;
      options.bits = bits;
      const auto shown = show(field, options, grid, device);
      double worst = 0;
      double energy = 0;
      for (std::size_t i = 0; i < field.size(); ++i) {
        worst =
            std::max(worst, reference::circle_distance(reference::turns(shown.light[i]), reference::turns(field[i])));
        energy += std::norm(shown.light[i]);
      }
      support::expect_within("phase, " + std::to_string(bits) + " bits", worst, std::ldexp(0.5, -bits) + 3e-7);
      EXPECT_NEAR(energy / static_cast<double>(field.size()), 1, 2e-7);  // a phase modulator absorbs no light
    }
  });
}

TEST_P(EncodeDecoding, MeasuredResponseIsInverted) {
  on_each([](Device device) {
    const auto grid = make_grid(30, 47);
    const auto field = smooth_field(grid);
    EncodeOptions options;
    double widest = 0;
    for (int i = 0; i < 256; ++i) {
      options.level_phase_rad.push_back(two_pi * 1.02 * std::pow(i / 255.0, 1.6));
      if (i == 0) continue;
      widest = std::max(widest, options.level_phase_rad[static_cast<std::size_t>(i)] -
                                    options.level_phase_rad[static_cast<std::size_t>(i) - 1]);
    }
    const auto shown = show(field, options, grid, device);
    double worst = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
      worst = std::max(worst, reference::circle_distance(reference::turns(shown.light[i]), reference::turns(field[i])));
    }
    support::expect_within("measured response", worst, widest / two_pi / 2 + 3e-7);
  });
}

TEST_P(EncodeDecoding, CarrierSteersTowardPositiveXAndY) {
  on_each([](Device device) {
    const auto grid = make_grid(40, 64);
    EncodeOptions options;
    options.carrier_x_rad = std::asin(grid.wavelength_m / (8 * grid.pitch_m));   // fringes of 8 pixels
    options.carrier_y_rad = -std::asin(grid.wavelength_m / (5 * grid.pitch_m));  // and 5, downward
    const auto shown = show(std::vector<Complex64>(64 * 40, 1.0), options, grid, device);
    const auto order = filtered(shown.light, grid, [](double fx, double fy) {
      return std::abs(fx - 1.0 / 8) < 1e-9 && std::abs(fy + 1.0 / 5) < 1e-9;
    });
    double energy = 0;
    for (const auto& u : order) energy += std::norm(u);
    // eight steps of 1/8 turn are exact with 8 bits, five of 1/5 are rounded by at most half a level
    EXPECT_GT(energy / static_cast<double>(order.size()), 0.9999);
    // the carrier's phase is 0 on the axis: its real part there is that of the four centre pixels
    const double turns = reference::turns(shown.light[20 * 64 + 32]);
    EXPECT_LT(reference::circle_distance(turns, 0.5 / 8 + 0.5 / 5), 0.51 / 256);
  });
}

TEST_P(EncodeDecoding, CorrectionIsAddedModuloTwoPi) {
  on_each([](Device device) {
    const auto grid = make_grid(32, 33);
    const auto field = smooth_field(grid);
    Array<float, 2> correction(grid.shape());
    for (std::int64_t i = 0; i < correction.size(); ++i) correction.data()[i] = 0.01f * static_cast<float>(i) - 5;
    EncodeOptions options;
    options.bits = 12;
    options.correction_rad = correction.view();
    const auto shown = show(field, options, grid, device);
    double worst = 0;
    for (std::size_t i = 0; i < field.size(); ++i) {
      const double expected = reference::turns(field[i] * std::polar(1.0, double{correction.data()[i]}));
      worst = std::max(worst, reference::circle_distance(reference::turns(shown.light[i]), expected));
    }
    support::expect_within("correction", worst, 0.5 / 4096 + 4e-7);
  });
}

TEST_P(EncodeDecoding, DoublePhaseLowPassedIsTheField) {
  on_each([](Device device) {
    const auto grid = make_grid(48, 64);
    const auto field = smooth_field(grid);
    EncodeOptions options;
    options.encoding = Encoding::double_phase;
    options.bits = 14;
    // above the largest |U|, so that arccos stays smooth and the spectrum of its checkerboard part narrow
    options.amplitude_max = 1.25f;
    ASSERT_LT(largest(field), 1);
    const auto shown = show(field, options, grid, device);
    // the checkerboard shifts its part to the corners of the spectrum, half a cycle away in x and y
    auto low =
        filtered(shown.light, grid, [](double fx, double fy) { return std::abs(fx) < 0.25 && std::abs(fy) < 0.25; });
    for (auto& u : low) u *= shown.report.amplitude_max;
    // rounding: a step's rms, of which a quarter of the spectrum passes, relative to an rms field of 0.6
    const double rounding = two_pi / 16384 / std::sqrt(12.0) / 2 * 1.25 / 0.6;
    support::expect_within("double phase, low-passed", support::relative_error(low.data(), field), 2 * rounding);
    EXPECT_GT(support::relative_error(shown.light.data(), field), 0.3);  // without the filter it deviates
  });
}

TEST_P(EncodeDecoding, DoublePhaseOfAConstantIsItsPairsMean) {
  on_each([](Device device) {
    const auto grid = make_grid(4, 6);
    EncodeOptions options;
    options.encoding = Encoding::double_phase;
    options.bits = 16;
    options.amplitude_max = 2;
    for (const Complex64 u : {Complex64(1, 0.5), Complex64(-0.3, 0.02), Complex64(0, 2), Complex64(0, 0)}) {
      const auto shown = show(std::vector<Complex64>(24, u), options, grid, device);
      for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t i = row * 6; i + 1 < row * 6 + 6; ++i) {
          const auto mean = (shown.light[i] + shown.light[i + 1]) / 2.0;
          // half a level of 2^16 each, and arccos's magnified rounding where |u| is the maximum
          EXPECT_LT(std::abs(2.0 * mean - u), 2 * (two_pi * 0.5 / 65536 + 1e-6)) << u;
        }
      }
    }
  });
}

TEST_P(EncodeDecoding, AmplitudeTimesItsBeamHoldsTheFieldAndItsTwin) {
  on_each([](Device device) {
    const auto grid = make_grid(36, 64);
    const auto field = smooth_field(grid);
    EncodeOptions options;
    options.encoding = Encoding::amplitude;
    options.bits = 16;
    options.reference_angle_x_rad = std::asin(grid.wavelength_m / (4 * grid.pitch_m));  // a fringe of 4 pixels
    const auto shown = show(field, options, grid, device);
    // U / 2 is centred at 0, its twin conj(U) R^2 / 2 at half a cycle per pixel
    auto first = filtered(shown.light, grid, [](double fx, double) { return std::abs(fx) < 0.25; });
    for (auto& u : first) u *= 2;
    const double step = (shown.report.amplitude_max - shown.report.amplitude_min) / 65535.0;
    support::expect_within("amplitude off axis", support::relative_error(first.data(), field), 2 * step / 0.3);
    // as on an amplitude panel: no value below zero, and the zero order has the light of the mean level
    const auto panel = show(field, options, grid, device, true);
    for (std::size_t i = 0; i < panel.light.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % grid.nx;
      const double beam = reference::plane_wave_turns(0, column, 1, grid.nx, grid.pitch_m, grid.wavelength_m,
                                                      options.reference_angle_x_rad, 0);
      const auto transmission = panel.light[i] * std::polar(1.0, -two_pi * beam);
      EXPECT_GE(transmission.real(), -1e-6);
      EXPECT_NEAR(transmission.imag(), 0, 1e-6);
      EXPECT_NEAR(std::abs(panel.light[i] - shown.light[i]), shown.report.amplitude_max, 2e-6);
    }
  });
}

TEST_P(EncodeDecoding, SingleSidebandHasHalfASpectrumThatIsTheFields) {
  on_each([](Device device) {
    for (const std::int64_t ny : {32, 45}) {
      const auto grid = make_grid(ny, 40);
      std::vector<Complex64> field;
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(ny * 40); ++i) {
        field.emplace_back(holotone::random_uniform64(1, 2 * i) - 0.5, holotone::random_uniform64(1, 2 * i + 1) - 0.5);
      }
      EncodeOptions options;
      options.encoding = Encoding::single_sideband;
      options.bits = 16;
      const auto shown = show(field, options, grid, device);
      const auto upward = [](double, double fy) { return fy > 1e-9 && fy < 0.5; };
      auto seen = filtered(shown.light, grid, upward);  // a knife edge that stops downward light and the zero order
      for (auto& u : seen) u *= 2;
      const double step = (shown.report.amplitude_max - shown.report.amplitude_min) / 65535.0;
      support::expect_within("single sideband", support::relative_error(seen.data(), filtered(field, grid, upward)),
                             4 * step);
      // no light at f_y = 0 except the rounding of the codes
      const auto middle = filtered(shown.light, grid, [](double, double fy) { return std::abs(fy) < 1e-9; });
      EXPECT_LT(largest(middle), 2 * step);
    }
  });
}

/// 10 log10 of a field's energy over that of its difference to the order at f_x = 1/3, brought to the axis.
double first_order_db(const std::vector<Complex64>& light, const std::vector<Complex64>& field, const FieldGrid& grid) {
  const auto order = filtered(light, grid, [](double fx, double) { return std::abs(fx - 1.0 / 3) < 1.0 / 6 - 1e-9; });
  double noise = 0;
  double signal = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto column = static_cast<double>(i % static_cast<std::size_t>(grid.nx));
    noise += std::norm(3.0 * order[i] * std::polar(1.0, -two_pi * column / 3) - field[i]);
    signal += std::norm(field[i]);
  }
  return 10 * std::log10(signal / noise);
}

/// One value for the three pixels of a cell, the mean: the simpler way.
std::vector<Complex64> average_cells(const std::vector<Complex64>& field) {
  std::vector<Complex64> cells(field.size());
  for (std::size_t i = 0; i < field.size(); i += 3) {
    const auto parts = reference::burckhardt((field[i] + field[i + 1] + field[i + 2]) / 3.0);
    for (std::size_t k = 0; k < 3; ++k) cells[i + k] = parts[k];
  }
  return cells;
}

TEST_P(EncodeDecoding, BurckhardtSamplesEveryPixelAtItsOwnPlace) {
  on_each([](Device device) {
    const auto grid = make_grid(20, 96);
    std::vector<Complex64> noise;
    for (std::uint64_t i = 0; i < 20 * 96; ++i) {
      noise.emplace_back(holotone::random_uniform64(2, 2 * i) - 0.5, holotone::random_uniform64(2, 2 * i + 1) - 0.5);
    }
    const auto in_band = [](double fx, double) { return std::abs(fx) < 1.0 / 6 - 1e-9; };
    struct Case {
      const char* name;
      std::vector<Complex64> field;
      double min_db;
    };
    for (const auto& [name, field, min_db] :
         {Case{"smooth", smooth_field(grid), 25}, Case{"random", filtered(noise, grid, in_band), 8},
          Case{"random, beyond the band", noise, 8}}) {
      const auto seen = filtered(field, grid, in_band);
      EncodeOptions options;
      options.encoding = Encoding::burckhardt;
      const double shown_db = first_order_db(show(field, options, grid, device).light, seen, grid);
      const double cells_db = first_order_db(average_cells(field), seen, grid);
      std::printf("%s: %.1f dB, one value a cell %.1f dB\n", name, shown_db, cells_db);
      EXPECT_GT(shown_db, min_db) << name;
      EXPECT_GT(shown_db, cells_db + 2) << name;
    }
  });
}

// A point whose fringes fill the panel's band. Light of a ghost is that of the point lambda d / (3 p) aside, which the
// stop passes.
TEST_P(EncodeDecoding, BurckhardtHasNoGhosts) {
  on_each([](Device device) {
    const auto grid = make_grid(1, 1023);
    const double distance = 0.15;
    const double aside = grid.wavelength_m * distance / (3 * grid.pitch_m);
    const auto wave = [&](double x_m) {
      std::vector<Complex64> field;
      for (std::int64_t i = 0; i < grid.nx; ++i) {
        const double x = (static_cast<double>(i) - 511) * grid.pitch_m - x_m;
        field.push_back(std::polar(1.0, two_pi * (std::hypot(x, distance) - distance) / grid.wavelength_m));
      }
      return field;
    };
    const auto share = [&](const std::vector<Complex64>& light, double x_m) {
      const auto point = wave(x_m);
      Complex64 sum = 0;
      for (std::size_t i = 0; i < point.size(); ++i) {
        sum += light[i] * std::conj(point[i]) * std::polar(1.0, -two_pi * static_cast<double>(i) / 3);
      }
      return std::norm(sum);
    };
    EncodeOptions options;
    options.encoding = Encoding::burckhardt;
    const auto stop = [](double fx, double) { return std::abs(fx - 1.0 / 3) < 1.0 / 6 - 1e-9; };
    const auto shown = filtered(show(wave(0), options, grid, device).light, grid, stop);
    const auto cells = filtered(average_cells(wave(0)), grid, stop);
    for (const double side : {-aside, aside}) {
      const double ghost = share(shown, side) / share(shown, 0);
      const double of_cells = share(cells, side) / share(cells, 0);
      std::printf("ghost at %+.2f mm: %.1e of the point's light, one value a cell %.3f\n", 1e3 * side, ghost, of_cells);
      EXPECT_LT(ghost, 2e-3);
      EXPECT_GT(of_cells, 0.01);
    }
  });
}

TEST_P(EncodeDecoding, BurckhardtSendsTheFieldTowardPositiveX) {
  on_each([](Device device) {
    const auto grid = make_grid(6, 60);
    const Complex64 u = std::polar(0.8, 2.1);
    EncodeOptions options;
    options.encoding = Encoding::burckhardt;
    options.bits = 16;
    const auto shown = show(std::vector<Complex64>(360, u), options, grid, device);
    // the order at one third of a cycle per pixel; its phase at the first pixel of a cell is the field's
    const auto order = filtered(
        shown.light, grid, [](double fx, double fy) { return std::abs(fx - 1.0 / 3) < 1e-9 && std::abs(fy) < 1e-9; });
    EXPECT_LT(std::abs(order[0] - u / 3.0), 1e-4);
    EXPECT_LT(std::abs(order[9] - u / 3.0), 1e-4);
  });
}

TEST(Modulation, RejectsWhatNoPanelShows) {
  const auto grid = make_grid(2, 3);
  Array<std::uint16_t, 2> codes(grid.shape());
  std::fill_n(codes.data(), codes.size(), std::uint16_t{3});
  EncodeOptions options;
  options.bits = 2;
  EXPECT_NO_THROW((void)holotone::modulation_of(codes.view(), options, grid, {}));
  const auto expect = [&](const std::string& text) {
    support::expect_error(holotone::ErrorCode::invalid_argument, text,
                          [&] { (void)holotone::modulation_of(codes.view(), options, grid, {}); });
  };
  options.level_phase_rad = {0, 1, 2, std::nan("")};
  expect("got 3 at row 0, column 0");
  options.level_phase_rad = {0, 1, 2};
  expect("got 3 at row 0, column 0");
  options.level_phase_rad.clear();
  codes.data()[4] = 4;
  expect("got 4 at row 1, column 1");
  options.encoding = Encoding::amplitude;
  expect("report: expected a finite amplitude range with min < max, got 0 .. 0");
  options.bits = 17;
  expect("bits: expected 1 to 16, got 17");
}

}  // namespace
