// What is seen of hologram files: places by geometry, energies, colours of three files against three single ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing.hpp>
#include <numbers>
#include <numeric>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;

constexpr FieldGrid grid{96, 65, 8e-6, 532e-9};

/// A point behind the panel.
struct Point {
  double x_m = 0;
  double y_m = 0;
  double depth_m = 0;
};

/// Spherical waves of points, in float64 from the formula alone.
Array<Complex, 2> waves_of(const std::vector<Point>& points, double wavelength_m = grid.wavelength_m) {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col) {
      const double x = (static_cast<double>(col) - (grid.nx - 1) / 2.0) * grid.pitch_m;
      const double y = ((grid.ny - 1) / 2.0 - static_cast<double>(row)) * grid.pitch_m;
      std::complex<double> sum = 0;
      for (const auto& point : points) {
        const double r = std::hypot(x - point.x_m, y - point.y_m, point.depth_m);
        sum += std::polar(point.depth_m / r, 2 * std::numbers::pi * r / wavelength_m);
      }
      field(row, col) = Complex(sum);
    }
  }
  return field;
}

Array<Complex, 2> random_field(std::uint64_t seed, float largest = 1) {
  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double modulus = largest * random_uniform64(seed, 2 * at);
    field.data()[i] = Complex(std::polar(modulus, 2 * std::numbers::pi * random_uniform64(seed, 2 * at + 1)));
  }
  return field;
}

double energy_of(const Array<Complex, 2>& field) {
  return std::accumulate(field.data(), field.data() + field.size(), 0.0,
                         [](double sum, Complex value) { return sum + std::norm(std::complex<double>(value)); });
}

struct Place {
  std::int64_t row = 0;
  std::int64_t col = 0;
  float light = 0;
};

Place brightest(const Viewing& seen, std::int64_t picture, std::int64_t channel = 0) {
  Place best;
  for (std::int64_t row = 0; row < seen.grid.ny; ++row) {
    for (std::int64_t col = 0; col < seen.grid.nx; ++col) {
      const float light = seen.intensity(picture, row, col, channel);
      if (light > best.light) best = {row, col, light};
    }
  }
  return best;
}

/// Centre of the squared light, in pixels to the right of the middle and below it.
std::array<double, 2> centre(const Viewing& seen, std::int64_t picture) {
  double sum = 0;
  std::array<double, 2> moment{};
  for (std::int64_t row = 0; row < seen.grid.ny; ++row) {
    for (std::int64_t col = 0; col < seen.grid.nx; ++col) {
      const double light = std::pow(static_cast<double>(seen.intensity(picture, row, col, 0)), 2);
      sum += light;
      moment[0] += light * (static_cast<double>(col) - static_cast<double>(seen.grid.nx - 1) / 2);
      moment[1] += light * (static_cast<double>(row) - static_cast<double>(seen.grid.ny - 1) / 2);
    }
  }
  return {moment[0] / sum, moment[1] / sum};
}

double total_light(const Viewing& seen, std::int64_t channel = 0) {
  double sum = 0;
  for (std::int64_t row = 0; row < seen.grid.ny; ++row) {
    for (std::int64_t col = 0; col < seen.grid.nx; ++col) {
      sum += seen.unit * static_cast<double>(seen.intensity(0, row, col, channel));
    }
  }
  return sum;
}

/// Largest difference of a channel's pictures, relative to the largest value.
double difference(const Viewing& a, std::int64_t channel, const Viewing& b) {
  double largest = 0;
  double most = 0;
  for (std::int64_t row = 0; row < a.grid.ny; ++row) {
    for (std::int64_t col = 0; col < a.grid.nx; ++col) {
      const double one = static_cast<double>(a.intensity(0, row, col, channel));
      const double other = static_cast<double>(b.intensity(0, row, col, 0));
      largest = std::max(largest, std::abs(other));
      most = std::max(most, std::abs(one - other));
    }
  }
  return most / largest;
}

/// Writes hologram files into a folder of its own.
struct Files {
  std::string write(const std::string& name, const Array<Complex, 2>& field,
                    double wavelength_m = grid.wavelength_m) const {
    Metadata metadata;
    set_metadata(metadata, "pitch_m", grid.pitch_m);
    set_metadata(metadata, "wavelength_m", wavelength_m);
    write_field(folder.file(name), {copy_of(field.view(), Device{}), metadata});
    return folder.file(name);
  }

  /// Phase codes of 64 x 48 pixels of 8 um that steer the light by `right` and `down` periods across the panel.
  std::string write_grating(const std::string& name, double right, double down, double wavelength_m) const {
    Array<std::uint8_t, 3> pixels({48, 64, 1});
    for (std::int64_t row = 0; row < 48; ++row) {
      for (std::int64_t column = 0; column < 64; ++column) {
        const double turns = right * static_cast<double>(column) / 64 + down * static_cast<double>(row) / 48;
        pixels(row, column, 0) = static_cast<std::uint8_t>(std::lround(256 * (turns - std::floor(turns))) % 256);
      }
    }
    Image image{std::move(pixels), {}};
    set_metadata(image.metadata, "encoding", "phase");
    set_metadata(image.metadata, "pitch_m", grid.pitch_m);
    set_metadata(image.metadata, "wavelength_m", wavelength_m);
    write_image(folder.file(name), image);
    return folder.file(name);
  }

  TemporaryFolder folder;
};

class ViewingTest : public support::OnEachDevice {
 protected:
  Files files_;
};
class ViewingEye : public ViewingTest {};

// Two points at two depths: each is the brightest pixel in its own plane, where geometry says, and dimmer in the other.
TEST_P(ViewingTest, PointsAreSharpestInTheirPlanes) {
  const Point near{12 * grid.pitch_m, 9 * grid.pitch_m, 0.02};
  const Point far{-15 * grid.pitch_m, -7 * grid.pitch_m, 0.026};
  const auto path = files_.write("points.ohc", waves_of({near, far}));
  on_each([&](Device device) {
    const auto seen = view_holograms({path}, {.distances_m = {0.02, 0.023, 0.026}}, device);
    ASSERT_EQ(seen.intensity.shape(), (Shape<4>{3, grid.ny, grid.nx, 1}));
    EXPECT_EQ(seen.distances_m, (std::vector<double>{0.02, 0.023, 0.026}));
    const auto expect_at = [&](const Point& point, std::int64_t picture) {
      const auto best = brightest(seen, picture);
      EXPECT_NEAR(static_cast<double>(best.col), (grid.nx - 1) / 2.0 + point.x_m / grid.pitch_m, 0.51);
      EXPECT_NEAR(static_cast<double>(best.row), (grid.ny - 1) / 2.0 - point.y_m / grid.pitch_m, 0.51);
      EXPECT_GT(best.light, 1.2F * seen.intensity(1, best.row, best.col, 0));
    };
    expect_at(near, 0);
    expect_at(far, 2);
  });
}

// On the panel the intensity is the field's; a propagation that keeps the light keeps its energy.
TEST_P(ViewingTest, EnergyIsThatOfTheField) {
  const auto field = waves_of({{0, 0, 0.02}});
  const auto path = files_.write("field.ohc", field);
  on_each([&](Device device) {
    const auto seen = view_holograms({path}, {.distances_m = {0}}, device);
    for (std::int64_t row = 0; row < grid.ny; ++row) {
      for (std::int64_t col = 0; col < grid.nx; ++col) {
        ASSERT_NEAR(seen.intensity(0, row, col, 0), std::norm(field(row, col)), 1e-5);
      }
    }
    const auto focused = view_holograms({path}, {.distances_m = {0.02}}, device);
    EXPECT_NEAR(total_light(focused) / energy_of(field), 1, 0.02);
  });
}

// Fields of 2^45 and 2^-70, the squares of the latter out of float32's range: the picture has another unit.
TEST_P(ViewingTest, FieldsBeyondTheRangeOfFloatsAreExposed) {
  for (const float largest : {0x1p45F, 0x1p-70F}) {
    const auto field = random_field(3, largest);
    const auto path = files_.write("extreme.ohc", field);
    on_each([&](Device device) {
      const auto seen = view_holograms({path}, {.distances_m = {0}}, device);
      EXPECT_NE(seen.unit, 1);
      EXPECT_NEAR(total_light(seen) / energy_of(field), 1, 1e-5);
      EXPECT_GT(seen.white, 0.5 * energy_of(field) / static_cast<double>(field.size()));
      EXPECT_TRUE(seen.dark.empty());
    });
  }
  const auto dark = view_holograms({files_.write("dark.ohc", random_field(3, 0))}, {.distances_m = {0}});
  EXPECT_EQ(dark.dark, std::vector{files_.folder.file("dark.ohc")});
  EXPECT_EQ(dark.white, 1);
}

constexpr std::array<double, 3> rgb_m{638e-9, 520e-9, 450e-9};

// A picture in colour is that of its three holograms; equal energies of the object make them equally bright.
TEST_P(ViewingTest, AColourPictureIsThreeSingleOnes) {
  std::vector<std::string> files;
  std::vector<double> energies;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto field = random_field(c, static_cast<float>(c + 1));
    energies.push_back(energy_of(field));
    files.push_back(files_.write(fmt::format("{}.ohc", c), field, rgb_m[c]));
  }
  on_each([&](Device device) {
    const ViewingOptions options{.distances_m = {0.01}};
    const auto colour = view_holograms(files, options, device);
    ASSERT_EQ(colour.intensity.shape()[3], 3);
    EXPECT_EQ(colour.wavelengths_m, std::vector<double>(rgb_m.begin(), rgb_m.end()));
    for (std::size_t c = 0; c < 3; ++c) {
      const auto single = view_holograms({files[c]}, options, device);
      EXPECT_LT(difference(colour, static_cast<std::int64_t>(c), single), 1e-6) << c;
    }
    const auto white = view_holograms(files, {.distances_m = {0}, .overrides = {{"object_energy", "0.5"}}}, device);
    const auto pixels = static_cast<double>(grid.nx * grid.ny);
    for (std::int64_t c = 0; c < 3; ++c) EXPECT_NEAR(total_light(white, c) / pixels, 0.5, 1e-5) << c;
  });
}

// A grating of 8.5 periods to the right and 6.5 down lights this sample of the focal plane: 48 rows become 64 square
// pixels.
TEST(ViewingLens, AGratingLightsItsPlaceInSquarePixels) {
  const Files files;
  const auto path = files.write_grating("grating.png", 8.5, 6.5, 532e-9);
  const auto seen = view_holograms({path}, {.overrides = {{"focal_length_m", "0.2"}}});
  EXPECT_EQ(seen.focal_length_m, 0.2);
  EXPECT_EQ(seen.distances_m, std::vector<double>{0});
  EXPECT_NEAR(seen.grid.pitch_m, 532e-9 * 0.2 / (64 * 8e-6), 1e-12);
  EXPECT_EQ(seen.grid.shape(), (Shape<2>{64, 64}));
  const auto [right, down] = centre(seen, 0);
  EXPECT_NEAR(right, 8.5, 0.02);
  EXPECT_NEAR(down, 6.5 * 64 / 48, 0.05);
  // Red light is steered farther: 10 periods are 10 x 638 / 450 pixels of the square that blue fills.
  std::vector<std::string> gratings;
  for (std::size_t c = 0; c < 3; ++c) {
    gratings.push_back(files.write_grating(fmt::format("{}.png", c), 10, 0, rgb_m[c]));
  }
  const auto colour = view_holograms(gratings, {.overrides = {{"focal_length_m", "0.2"}}});
  EXPECT_NEAR(colour.grid.pitch_m, 450e-9 * 0.2 / (64 * 8e-6), 1e-12);
  for (std::size_t c = 0; c < 3; ++c) {
    const auto best = brightest(colour, 0, static_cast<std::int64_t>(c));
    EXPECT_NEAR(static_cast<double>(best.col) - 31.5, 10 * rgb_m[c] / 450e-9, 1) << c;
  }
}

// The eye focuses on the point's plane: it is at its place from every position. Focused on the panel it appears where
// the ray to the pupil's centre crosses the panel.
TEST_P(ViewingEye, AnEyeSeesAPointWithItsParallax) {
  const Point point{6 * grid.pitch_m, -5 * grid.pitch_m, 0.02};
  const auto path = files_.write("point.ohc", waves_of({point}));
  constexpr double viewer_m = 0.1;
  std::vector<EyePupil> pupils;
  for (const double x_m : {-0.8e-3, 0.0, 0.8e-3}) {
    pupils.push_back({.width_m = 1e-3, .height_m = 1e-3, .distance_m = viewer_m, .x_m = x_m});
  }
  on_each([&](Device device) {
    const auto seen = view_holograms({path}, {.distances_m = {point.depth_m}, .pupils = pupils}, device);
    const auto on_panel = view_holograms({path}, {.distances_m = {0}, .pupils = pupils}, device);
    ASSERT_EQ(seen.intensity.shape()[0], 3);
    ASSERT_EQ(seen.light_shares.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto picture = static_cast<std::int64_t>(i);
      const auto [right, down] = centre(seen, picture);
      EXPECT_NEAR(right, point.x_m / grid.pitch_m, 0.6) << i;
      EXPECT_NEAR(-down, point.y_m / grid.pitch_m, 0.6) << i;
      const double share = point.depth_m / (viewer_m + point.depth_m);
      const auto [seen_right, seen_down] = centre(on_panel, picture);
      EXPECT_NEAR(seen_right, (point.x_m + (pupils[i].x_m - point.x_m) * share) / grid.pitch_m, 1) << i;
      EXPECT_NEAR(-seen_down, point.y_m * (1 - share) / grid.pitch_m, 1) << i;
      EXPECT_GT(seen.light_shares[i], 0);
    }
    // Two halves of an opening take the light of the whole.
    const auto light_share = [&](double width_m, double x_m) {
      const EyePupil pupil{.width_m = width_m, .height_m = 1e-3, .distance_m = viewer_m, .x_m = x_m};
      return view_holograms({path}, {.distances_m = {0}, .pupils = {pupil}}, device).light_shares.front();
    };
    EXPECT_NEAR((light_share(1e-3, -0.5e-3) + light_share(1e-3, 0.5e-3)) / light_share(2e-3, 0), 1, 0.02);
  });
}

// Colours through a pupil are those of three single holograms.
TEST_P(ViewingEye, ColoursAreThreeSingleOnes) {
  std::vector<std::string> files;
  for (std::size_t c = 0; c < 3; ++c) {
    const Point point{(static_cast<double>(c) - 1) * 20 * grid.pitch_m, 0, 0.02};
    files.push_back(files_.write(fmt::format("{}.ohc", c), waves_of({point}, rgb_m[c]), rgb_m[c]));
  }
  on_each([&](Device device) {
    const ViewingOptions options{.distances_m = {0.02},
                                 .pupils = {{.width_m = 2e-3, .height_m = 2e-3, .distance_m = 0.1}}};
    const auto colour = view_holograms(files, options, device, WhiteRule::mean_and_deviation);
    ASSERT_EQ(colour.wavelengths_m, std::vector<double>(rgb_m.begin(), rgb_m.end()));
    EXPECT_GT(colour.white, 0);
    for (std::size_t c = 0; c < 3; ++c) {
      const auto channel = static_cast<std::int64_t>(c);
      EXPECT_LT(difference(colour, channel, view_holograms({files[c]}, options, device)), 1e-6) << c;
      const auto best = brightest(colour, 0, channel);
      EXPECT_NEAR(static_cast<double>(best.col), (grid.nx - 1) / 2.0 + (static_cast<double>(c) - 1) * 20, 1) << c;
    }
  });
}

// Subframes shown in turn: the mean of their pictures.
TEST_P(ViewingTest, SubframesAreTheMeanOfTheirLight) {
  const auto a = files_.write("a.ohc", random_field(5));
  const auto b = files_.write("b.ohc", random_field(6, 3));
  on_each([&](Device device) {
    const ViewingOptions options{.distances_m = {0.01}};
    const auto both = view_subframes({{a}, {b}}, options, device);
    const auto first = view_holograms({a}, options, device);
    const auto second = view_holograms({b}, options, device);
    for (std::int64_t i = 0; i < both.intensity.size(); ++i) {
      const float mean = (first.intensity.data()[i] + second.intensity.data()[i]) / 2;
      ASSERT_NEAR(both.intensity.data()[i], mean, 1e-5 * second.white);
    }
  });
}

/// PSNR of intensities a(row, col)^2 in a region, in float64: the best scale, the largest wanted amplitude as peak.
template <class Seen, class Wanted>
double psnr_of(const SignalRegion& region, const Seen& seen, const Wanted& wanted, double peak) {
  double at = 0;
  double aa = 0;
  const auto each = [&](const auto& body) {
    for (std::int64_t row = region.row; row < region.row + region.rows; ++row) {
      for (std::int64_t col = region.column; col < region.column + region.columns; ++col) {
        body(static_cast<double>(seen(row, col)), static_cast<double>(wanted(row, col)));
      }
    }
  };
  each([&](double a, double t) {
    at += a * t;
    aa += a * a;
  });
  double squares = 0;
  each([&](double a, double t) { squares += std::pow(at / aa * a - t, 2); });
  return 10 * std::log10(peak * peak * static_cast<double>(region.rows * region.columns) / squares);
}

// A Gaussian beam against a constant amplitude: known at the pixels and between them.
TEST_P(ViewingTest, AComparisonHasThePsnrOfItsFormula) {
  const auto beam = [](double row, double col) {
    return std::exp(-(std::pow(row - 32, 2) + std::pow(col - 47.5, 2)) / (15.0 * 15.0));
  };
  Array<Complex, 2> field(grid.shape());
  Array<float, 2> wanted(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col) {
      field(row, col) = static_cast<float>(beam(static_cast<double>(row), static_cast<double>(col)));
      wanted(row, col) = 0.5F;
    }
  }
  const auto path = files_.write("beam.ohc", field);
  const SignalRegion region{20, 30, 24, 33};
  on_each([&](Device device) {
    const auto compared = compare_holograms({path}, {wanted.view()}, {.distances_m = {0, 0.01}}, region, device);
    ASSERT_EQ(compared.size(), 2u);
    const auto& [distance_m, own_region, channels, worst] = compared.front();
    EXPECT_EQ(distance_m, 0);
    EXPECT_EQ(own_region.columns, 33);
    ASSERT_EQ(channels.size(), 1u);
    double lowest = INFINITY;
    for (std::size_t p = 0; p < half_pixels.size(); ++p) {
      const auto [down, right] = half_pixels[p];
      const auto seen = [&, down = down, right = right](std::int64_t row, std::int64_t col) {
        return beam(static_cast<double>(row) + 0.5 * down, static_cast<double>(col) + 0.5 * right);
      };
      const double expected = psnr_of(
          region, seen, [](auto, auto) { return 0.5; }, 0.5);
      lowest = std::min(lowest, expected);
      EXPECT_NEAR(channels.front().positions[p].psnr_db, expected, 0.01) << p;
    }
    EXPECT_NEAR(worst.psnr_worst_db, lowest, 0.01);
    EXPECT_EQ(worst.psnr_db, channels.front().positions[0].psnr_db);
    EXPECT_NE(compared[1].worst.psnr_db, worst.psnr_db);
  });
}

HOLOTONE_ON_EACH_DEVICE(ViewingTest);
HOLOTONE_ON_CPU_AND_CUDA(ViewingEye);  // PoCL compiles half a minute: tests/optics/eye_test.cpp has OpenCL

// Behind a lens at the samples: the Fourier sum of the header of the lens, in float64.
TEST(ViewingLens, AComparisonHasThePsnrOfItsFormula) {
  const Files files;
  const auto field = random_field(8);
  const auto path = files.write("field.ohc", field);
  Array<float, 2> wanted(grid.shape());
  for (std::int64_t i = 0; i < wanted.size(); ++i) wanted.data()[i] = 0.2F + 0.8F * std::abs(field.data()[i]);
  const auto compared = compare_holograms({path}, {wanted.view()}, {.overrides = {{"focal_length_m", "0.2"}}});
  const auto turn = [](std::int64_t x, std::int64_t k, std::int64_t n) {
    const double middle = static_cast<double>(n - 1) / 2;
    return std::polar(1.0, -2 * std::numbers::pi * (static_cast<double>(x) - middle) *
                               (static_cast<double>(k) - middle) / static_cast<double>(n));
  };
  std::vector<std::complex<double>> rows(static_cast<std::size_t>(grid.nx * grid.ny));  // along columns of the panel
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t k = 0; k < grid.nx; ++k) {
      auto& sum = rows[static_cast<std::size_t>(y * grid.nx + k)];
      for (std::int64_t x = 0; x < grid.nx; ++x) sum += std::complex<double>(field(y, x)) * turn(x, k, grid.nx);
    }
  }
  const auto seen = [&](std::int64_t row, std::int64_t col) {
    std::complex<double> sum = 0;
    for (std::int64_t y = 0; y < grid.ny; ++y) {
      sum += rows[static_cast<std::size_t>(y * grid.nx + col)] * turn(y, row, grid.ny);
    }
    return std::abs(sum);
  };
  const double peak = *std::max_element(wanted.data(), wanted.data() + wanted.size());
  const auto target = [&](std::int64_t row, std::int64_t col) { return wanted(row, col); };
  const double expected = psnr_of({0, 0, grid.ny, grid.nx}, seen, target, peak);
  EXPECT_NEAR(compared.front().channels.front().positions[0].psnr_db, expected, 1e-3);
}

TEST(ViewingArguments, AreNamedInErrors) {
  const Files files;
  const auto path = files.write("field.ohc", random_field(1));
  const auto refused = [&](const std::vector<std::string>& names, const ViewingOptions& options) {
    return error_of([&] { (void)view_holograms(names, options); }, ErrorCode::invalid_argument);
  };
  EXPECT_MENTIONS(refused({}, {}), "open_hologram: files: expected one hologram, or three");
  EXPECT_MENTIONS(refused({path, path}, {.distances_m = {0}}), "got 2");
  EXPECT_MENTIONS(refused({path}, {}), "open_hologram: distances_m: expected a value");
  const Metadata lens{{"focal_length_m", "0.2"}};
  const EyePupil eye{.width_m = 1e-3, .height_m = 1e-3, .distance_m = 0.1};
  EXPECT_MENTIONS(refused({path}, {.distances_m = {0}, .pupils = {eye}, .overrides = lens}), "open_hologram: pupils");
  EXPECT_MENTIONS(refused({path}, {.aperture = Aperture{.diameter_m = 1e-3}, .overrides = lens}),
                  "open_hologram: aperture");
  EXPECT_MENTIONS(refused({path}, {.method = PropagationMethod::angular_spectrum, .overrides = lens}),
                  "open_hologram: method");
  EXPECT_MENTIONS(
      refused({path}, {.distances_m = {0}, .pupils = {eye}, .output_pitch_m = 1e-8, .picture_size_m = {1, 1}}),
      "open_hologram: picture_size_m: expected at most 65536 pixels");
  const Array<float, 2> small({4, 4});
  const Array<float, 2> wanted(grid.shape());
  const auto not_compared = [&](const Array<float, 2>& amplitude, const ViewingOptions& options,
                                const SignalRegion& region = {}) {
    return error_of([&] { (void)compare_holograms({path}, {amplitude.view()}, options, region); },
                    ErrorCode::invalid_argument);
  };
  EXPECT_MENTIONS(not_compared(small, {.distances_m = {0}}), "compare_holograms: amplitudes: expected");
  EXPECT_MENTIONS(not_compared(wanted, {.distances_m = {0}}, {60, 0, 6, 4}),
                  "compare_holograms: region: expected a part");
  EXPECT_MENTIONS(not_compared(wanted, {.distances_m = {0}, .pupils = {eye}}), "compare_holograms: pupils");
  const auto same = error_of([&] { (void)view_holograms({path, path, path}, {.distances_m = {0}}); });
  EXPECT_MENTIONS(same, "another wavelength");
}

}  // namespace
}  // namespace holotone
