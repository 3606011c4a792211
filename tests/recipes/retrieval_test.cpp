// Pictures to codes: their light is propagated in float64 by the formula alone and compared with the picture.
#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/retrieval.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>
#include <holotone/recipes/write_hologram.hpp>
#include <numbers>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using io_support::error_of;
using io_support::TemporaryFolder;

constexpr FieldGrid grid{48, 36, 8e-6, 532e-9};
constexpr double distance_m = 3e-3;

PictureRetrievalOptions options_at(double picture_distance_m) {
  PictureRetrievalOptions options;
  options.model.grid = grid;
  options.model.planes = {{.distance_m = picture_distance_m}};
  options.part = 0.5;
  return options;
}

/// A bright square beside a dim one on black, of 12 x 8 pixels that all have several of the panel's.
Array<float, 2> squares() {
  Array<float, 2> light({8, 12});
  for (std::int64_t row = 0; row < 8; ++row) {
    for (std::int64_t col = 0; col < 12; ++col) {
      const bool inside = row >= 2 && row < 6 && col % 6 >= 1 && col % 6 < 5;
      light(row, col) = inside ? (col < 6 ? 1.0F : 0.25F) : 0.0F;
    }
  }
  return light;
}

/// Intensity {ny, nx} of 8-bit codes in a plane behind the panel, by the angular spectrum of the zero-padded panel.
Array<double, 2> intensity_behind(View<const std::uint16_t, 2> codes, double behind_m) {
  using Value = std::complex<double>;
  const std::int64_t rows = 2 * grid.ny;
  const std::int64_t columns = 2 * grid.nx;
  const auto root = [](std::int64_t k, std::int64_t n, int sign) {
    return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n));
  };
  const auto transformed = [&](const std::vector<Value>& in, int sign) {
    std::vector<Value> half(in.size());
    std::vector<Value> out(in.size());
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t k = 0; k < columns; ++k) {
        Value sum = 0;
        for (std::int64_t x = 0; x < columns; ++x) {
          sum += in[static_cast<std::size_t>(y * columns + x)] * root(k * x, columns, sign);
        }
        half[static_cast<std::size_t>(y * columns + k)] = sum;
      }
    }
    for (std::int64_t k = 0; k < rows; ++k) {
      for (std::int64_t x = 0; x < columns; ++x) {
        Value sum = 0;
        for (std::int64_t y = 0; y < rows; ++y) {
          sum += half[static_cast<std::size_t>(y * columns + x)] * root(k * y, rows, sign);
        }
        out[static_cast<std::size_t>(k * columns + x)] = sum;
      }
    }
    return out;
  };
  std::vector<Value> field(static_cast<std::size_t>(rows * columns));
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      field[static_cast<std::size_t>(y * columns + x)] = std::polar(1.0, 2 * std::numbers::pi * codes(y, x) / 256.0);
    }
  }
  auto spectrum = transformed(field, -1);
  for (std::int64_t k = 0; k < rows; ++k) {
    for (std::int64_t l = 0; l < columns; ++l) {
      const auto frequency = [](std::int64_t i, std::int64_t n) {
        return static_cast<double>(i < n / 2 ? i : i - n) / (static_cast<double>(n) * grid.pitch_m);
      };
      const double fx = frequency(l, columns);
      const double fy = frequency(k, rows);
      const double along = std::sqrt(1 / (grid.wavelength_m * grid.wavelength_m) - fx * fx - fy * fy);
      spectrum[static_cast<std::size_t>(k * columns + l)] *= std::polar(1.0, -2 * std::numbers::pi * along * behind_m);
    }
  }
  const auto light = transformed(spectrum, 1);
  Array<double, 2> intensity(grid.shape());
  const double scale = 1 / static_cast<double>(rows * columns);
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      intensity(y, x) = std::norm(light[static_cast<std::size_t>(y * columns + x)] * scale);
    }
  }
  return intensity;
}

View<const std::uint16_t, 2> first_codes(const PictureRetrieval& made) { return {made.codes.data(), grid.shape()}; }

/// Sum over rows and columns of the region, in 24ths of its width and 16ths of its height.
double light_in(const Array<double, 2>& intensity, const SignalRegion& region, std::array<std::int64_t, 4> part) {
  const auto [top, left, height, width] = part;
  double sum = 0;
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t col = 0; col < width; ++col) sum += intensity(region.row + top + row, region.column + left + col);
  }
  return sum;
}

class RetrievalOnEachDevice : public support::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    std::erase_if(devices_, [](Device device) { return device.backend == Backend::opencl; });
    if (devices_.empty() && !IsSkipped()) GTEST_SKIP() << "phase retrieval does not run on OpenCL";
  }
};

// The picture keeps its proportions, 24 x 16 pixels in the middle; the squares have their brightness, the rest is dark.
TEST_P(RetrievalOnEachDevice, TheLightOfTheCodesIsThePicture) {
  on_each([](Device device) {
    const auto made = retrieve_picture(squares().view(), options_at(distance_m), Queue::create(device));
    EXPECT_EQ(made.region.row, 10);
    EXPECT_EQ(made.region.column, 12);
    EXPECT_EQ(made.region.rows, 16);
    EXPECT_EQ(made.region.columns, 24);
    const auto light = intensity_behind(first_codes(made), distance_m);
    const double bright = light_in(light, made.region, {5, 3, 6, 6});
    const double dim = light_in(light, made.region, {5, 15, 6, 6});
    const double dark = light_in(light, made.region, {0, 11, 16, 2});
    EXPECT_NEAR(dim / bright, 0.25, 0.03);
    EXPECT_LT(dark / 32, 0.03 * bright / 36);
    // At another distance the squares are not there.
    const auto elsewhere = intensity_behind(first_codes(made), 5 * distance_m);
    EXPECT_LT(light_in(elsewhere, made.region, {5, 3, 6, 6}), 0.7 * bright);
    double inside = 0;
    for (std::int64_t row = 0; row < made.region.rows; ++row) {
      for (std::int64_t col = 0; col < made.region.columns; ++col) {
        inside += light(made.region.row + row, made.region.column + col);
      }
    }
    const auto& quality = made.quality.at(0);
    EXPECT_NEAR(quality.efficiency, inside / (48 * 36), 0.01);
    // Both squares, with the soft edges of the resampled picture.
    const double squares_and_edges = light_in(light, made.region, {3, 1, 10, 22});
    EXPECT_GT(made.lit_efficiency.at(0), (bright + dim) / (48 * 36));
    EXPECT_LT(made.lit_efficiency.at(0), squares_and_edges / (48 * 36));
    EXPECT_GE(made.lit_pixels, 2 * 64);
    EXPECT_LE(made.lit_pixels, 220);
    EXPECT_GT(quality.psnr_worst_db, 20);
    EXPECT_NEAR(made.seen.at(0).psnr_db, quality.psnr_db, 0.01);  // one plane: one scale
    EXPECT_EQ(made.difference.shape(), (Shape<2>{16, 24}));
    EXPECT_EQ(made.steps.iterations, SolverOptions{}.iterations);
  });
}
INSTANTIATE_TEST_SUITE_P(Devices, RetrievalOnEachDevice, testing::Values("cpu", "cuda"));

// The energy is the picture's light over the share of the panel's light that shows it.
TEST(PictureRetrieval, BrightnessIsOnlyInTheEnergy) {
  auto bright = squares();
  const auto made = retrieve_picture(bright.view(), options_at(distance_m));
  double sum = 0;
  for (float& value : bright.host()) {
    sum += 4 * static_cast<double>(value);  // four pixels of the panel for each
    value *= 1e9F;
  }
  const auto brighter = retrieve_picture(bright.view(), options_at(distance_m));
  EXPECT_NEAR(made.object_energy * made.quality[0].efficiency, sum, 0.02 * sum);
  EXPECT_NEAR(brighter.object_energy / made.object_energy, 1e9, 1e7);
  EXPECT_NEAR(brighter.quality[0].psnr_db, made.quality[0].psnr_db, 1);
}

TEST(PictureRetrieval, AFileOfTheCodesIsReadBack) {
  const TemporaryFolder folder;
  auto options = options_at(distance_m);
  options.encoding.bits = 4;
  options.encoding.carrier_x_rad = 0.01;
  const auto made = retrieve_picture(squares().view(), options);
  EXPECT_EQ(made.rounding, CodeRounding::last);
  EXPECT_LT(*std::ranges::max_element(made.codes.host()), 16);
  write_hologram(folder.file("slm.png"), first_codes(made), grid, options.encoding, {}, {.metadata = made.metadata});
  const auto read = read_hologram(folder.file("slm.png"));
  EXPECT_EQ(read.metadata.at("distance_m"), "0.0030000000000000001");
  EXPECT_EQ(read.metadata.at("signal_region"), "12,10,24,16");
  const auto shown = modulation_of(first_codes(made), options.encoding, grid, {});
  for (std::int64_t i = 0; i < shown.size(); ++i) EXPECT_LT(std::abs(shown.data()[i] - read.field.data()[i]), 1e-5F);
}

TEST(PictureRetrieval, StagesReachMoreThanTheLastStep) {
  auto options = options_at(distance_m);
  options.encoding.bits = 2;
  const auto staged = retrieve_picture(squares().view(), options);
  EXPECT_EQ(staged.rounding, CodeRounding::stages);
  options.rounding = CodeRounding::last;
  const auto last = retrieve_picture(squares().view(), options);
  EXPECT_GT(staged.quality[0].psnr_db, last.quality[0].psnr_db);
}

// Steps from what was reached go on there; a start of another seed is another start.
TEST(PictureRetrieval, AnotherRetrievalStartsFromThePhase) {
  auto options = options_at(distance_m);
  options.solver.iterations = 5;
  const auto first = retrieve_picture(squares().view(), options);
  options.seed = 7;
  EXPECT_FALSE(std::ranges::equal(retrieve_picture(squares().view(), options).codes.host(), first.codes.host()));
  options.start_rad = first.phase_rad.view();
  options.solver.iterations = 0;
  EXPECT_TRUE(std::ranges::equal(retrieve_picture(squares().view(), options).codes.host(), first.codes.host()));
  options.solver.iterations = 20;
  EXPECT_GT(retrieve_picture(squares().view(), options).quality[0].psnr_db, first.quality[0].psnr_db + 1);
}

TEST(PictureRetrieval, ACancelledOneKeepsTheBest) {
  class Stop : public Progress {
   public:
    bool update(std::string_view, std::int64_t, std::int64_t) override { return ++calls_ <= 3; }

   private:
    int calls_ = 0;
  };
  auto options = options_at(distance_m);
  Stop first;
  EXPECT_THROW((void)retrieve_picture(squares().view(), options, {}, first), Error);
  options.keeps_best = true;
  Stop second;
  const auto made = retrieve_picture(squares().view(), options, {}, second);
  EXPECT_TRUE(made.stopped);
  EXPECT_LT(made.steps.iterations, SolverOptions{}.iterations);
  EXPECT_EQ(made.codes.size(), grid.nx * grid.ny);
}

// Two planes in turn, each with a picture of its own.
TEST(PictureRetrieval, TransportIsTheStartWhereThePanelShowsIt) {
  const auto light = squares();
  const auto find_start = [&](const auto& change) {
    auto options = options_at(2e-2);
    options.model.grid = {64, 48, 8e-6, 532e-9};
    options.solver.iterations = 1;
    change(options);
    const auto made = retrieve_picture(light.view(), options);
    EXPECT_EQ(made.metadata.at("phase"), name_of(made.start));
    EXPECT_EQ(made.vortices.size(), made.planes.size());
    return made.start;
  };
  EXPECT_EQ(find_start([](auto&) {}), StartPhase::transport);
  EXPECT_EQ(find_start([](auto& options) { options.model.frames = 2; }), StartPhase::smooth);
  EXPECT_EQ(find_start([](auto& options) { options.start = StartPhase::random; }), StartPhase::random);
  EXPECT_EQ(find_start([](auto& options) { options.solver.solver = RetrievalSolver::gerchberg_saxton; }),
            StartPhase::smooth);
  EXPECT_EQ(find_start([](auto& options) { options.encoding.phase_range_rad = 3; }), StartPhase::smooth);
  const auto near = [](auto& options) { options.model.planes = {{.distance_m = 1e-3}}; };
  EXPECT_EQ(find_start(near), StartPhase::smooth);
  EXPECT_EQ(find_start([&](auto& options) {
              near(options);
              options.start = StartPhase::transport;
            }),
            StartPhase::transport);
  EXPECT_EQ(find_start([](auto& options) {
              options.model.focal_length_m = 0.2;
              options.model.planes = {{.distance_m = 0}};
            }),
            StartPhase::transport);
}

TEST(PictureRetrieval, EachPlaneShowsItsPicture) {
  auto options = options_at(2e-3);
  options.model.planes.push_back({.distance_m = 6e-3});
  options.model.region = {10, 12, 16, 24};
  std::vector<Array<float, 2>> amplitudes;
  for (const std::int64_t left : {14, 27}) {
    auto& amplitude = amplitudes.emplace_back(grid.shape());
    std::fill_n(amplitude.data(), amplitude.size(), 0.0F);
    for (std::int64_t row = 14; row < 22; ++row) {
      for (std::int64_t col = left; col < left + 7; ++col) amplitude(row, col) = 3;
    }
  }
  const auto made = retrieve_amplitudes({amplitudes[0].view(), amplitudes[1].view()}, options);
  ASSERT_EQ(made.quality.size(), 2u);
  EXPECT_TRUE(made.difference.empty());
  const auto near = intensity_behind(first_codes(made), 2e-3);
  const auto far = intensity_behind(first_codes(made), 6e-3);
  constexpr std::array<std::int64_t, 4> left{5, 3, 6, 5};
  constexpr std::array<std::int64_t, 4> right{5, 16, 6, 5};
  EXPECT_GT(light_in(near, made.region, left), 2 * light_in(near, made.region, right));
  EXPECT_GT(light_in(far, made.region, right), 2 * light_in(far, made.region, left));
}

TEST(PictureRetrieval, BadArgumentsAreNamed) {
  const auto light = squares();
  const auto refused = [&](const auto& change) {
    auto options = options_at(distance_m);
    change(options);
    return error_of([&] { (void)retrieve_picture(light.view(), options); }, ErrorCode::invalid_argument);
  };
  const auto expect_words = [](const std::string& text, const char* words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect_words(refused([](auto& o) { o.part = 2; }), "part: expected 0.01 to 1, got 2");
  expect_words(refused([](auto& o) { o.encoding.encoding = Encoding::amplitude; }), "encoding: expected phase");
  expect_words(refused([](auto& o) {
                 o.rounding = CodeRounding::stages;
                 o.solver.solver = RetrievalSolver::gerchberg_saxton;
               }),
               "rounding: expected last");
  expect_words(refused([](auto& o) { o.beam_diameter_m = 1e-7; }), "beam_diameter_m: expected a beam that lights");
  Array<float, 2> beam({3, 4});
  expect_words(refused([&](auto& o) { o.beam = beam.view(); }), "beam: expected the panel's 48 x 36 pixels, got 4 x 3");
  Array<float, 2> black({8, 12});
  std::fill_n(black.data(), black.size(), 0.0F);
  expect_words(
      error_of([&] { (void)retrieve_picture(black.view(), options_at(distance_m)); }, ErrorCode::invalid_argument),
      "amplitudes: expected a picture with some light");
  expect_words(
      error_of([&] { (void)retrieve_amplitudes({light.view()}, options_at(distance_m)); }, ErrorCode::invalid_argument),
      "amplitudes: expected {36, 48}, got {8, 12}");
}

// By hand: 8 um pixels, a panel of 100 x 60; the middle of the region is the picture's, to half of a pixel.
TEST(FindRegion, IsThePixelsThatAPictureFills) {
  const FieldGrid panel{100, 60, 8e-6, 532e-9};
  const Array<float, 2> light({20, 40});
  const auto found = [&](double width_m, double x_m, double y_m) {
    RgbdPicture picture;
    picture.intensity = light.view();
    picture.width_m = width_m;
    picture.x_m = x_m;
    picture.y_m = y_m;
    const auto region = find_region(picture, panel);
    return region ? fmt::format("{}x{}+{}+{}", region->columns, region->rows, region->column, region->row) : "none";
  };
  EXPECT_EQ(found(40 * 8e-6, 0, 0), "40x20+30+20");
  EXPECT_EQ(found(40 * 8e-6, 8 * 8e-6, 3 * 8e-6), "40x20+38+17");  // y points up, rows go down
  EXPECT_EQ(found(100 * 8e-6, 0, 0), "100x50+0+5");
  EXPECT_EQ(found(100 * 8e-6, 8e-6, 0), "none");  // beyond the right edge
  EXPECT_EQ(found(130 * 8e-6, 0, 0), "none");
}

}  // namespace
}  // namespace holotone
