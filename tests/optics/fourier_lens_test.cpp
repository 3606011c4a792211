// The focal plane of a lens: the float64 sum, energy, the adjoint, and where light goes.
#include <algorithm>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/optics/fourier_lens.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/fourier_lens.hpp>

namespace {

using holotone::Array;
using holotone::Complex;
using holotone::ErrorCode;
using holotone::FourierLensOptions;
using holotone::FourierLensPlan;
using holotone::LensPlane;
using Values = Array<Complex, 2>;

constexpr FourierLensOptions lens{{30, 24, 8e-6, 532e-9}, 0.2};
constexpr LensPlane planes[] = {{}, {0, 0.5, 0}, {0, 0.5, 0.5}, {0.05, 0, 0.5}, {-0.1, -3.25, 1.75}, {0.2, 0, 0}};

Values noise(std::uint64_t seed, const FourierLensOptions& options = lens) {
  Values values(options.grid.shape());
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    values.data()[i] = {holotone::random_uniform(seed, at) - 0.5F, holotone::random_uniform(seed, at + 1) - 0.5F};
  }
  return values;
}

std::complex<double> dot(const Values& a, const Values& b) {
  std::complex<double> sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    sum += std::conj(std::complex<double>(a.data()[i])) * std::complex<double>(b.data()[i]);
  }
  return sum;
}

Values focused_picture(const Values& field, const LensPlane& plane = {}, const FourierLensOptions& options = lens) {
  Values picture(options.grid.shape());
  FourierLensPlan(options).execute(field.view(), picture.view(), plane);
  return picture;
}

/// Row and column of the brightest pixel.
std::array<std::int64_t, 2> brightest(const Values& picture) {
  const auto values = picture.host();
  const auto at = std::ranges::max_element(values, {}, [](Complex v) { return std::norm(v); }) - values.begin();
  return {at / picture.shape()[1], at % picture.shape()[1]};
}

/// Field exp(2 pi i turns(x, y)) of x to the right and y down in pixels from the panel's centre.
template <class Turns>
Values wave(const FourierLensOptions& options, const Turns& turns) {
  Values field(options.grid.shape());
  const auto [ny, nx] = field.shape();
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const double x = static_cast<double>(column) - static_cast<double>(nx - 1) / 2;
      const double y = static_cast<double>(row) - static_cast<double>(ny - 1) / 2;
      field(row, column) = Complex(std::polar(1.0, 2 * std::numbers::pi * turns(x, y)));
    }
  }
  return field;
}

TEST(FourierLens, IsTheSumAsWritten) {
  for (const auto& [nx, ny] : {std::pair(30, 24), std::pair(23, 31), std::pair(1, 40)}) {
    FourierLensOptions options = lens;
    options.grid.nx = nx;
    options.grid.ny = ny;
    const Values field = noise(1, options);
    std::vector<std::complex<double>> exact(field.host().begin(), field.host().end());
    double worst = 0;
    for (const auto& plane : planes) {
      const Values picture = focused_picture(field, plane, options);
      const auto expected =
          reference::focal_field(exact, {ny, nx, 8e-6, 532e-9, 0.2}, plane.defocus_m, plane.down, plane.right);
      double error = 0;
      double sum = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::norm(std::complex<double>(picture.host()[i]) - expected[i]);
        sum += std::norm(expected[i]);
      }
      worst = std::max(worst, std::sqrt(error / sum));
    }
    std::printf("%d x %d: error %.1e of 1e-6\n", nx, ny, worst);
    EXPECT_LT(worst, 1e-6);
  }
}

TEST(FourierLens, KeepsEnergyAndTheAdjointIsTheInverse) {
  FourierLensPlan plan(lens);
  const Values field = noise(2);
  const Values picture = noise(3);
  Values forward(lens.grid.shape());
  Values backward(lens.grid.shape());
  Array<float, 2> intensity(lens.grid.shape());
  for (const auto& plane : planes) {
    plan.execute(field.view(), forward.view(), plane);
    plan.adjoint(picture.view(), backward.view(), plane);
    const double energy = dot(field, field).real();
    EXPECT_NEAR(dot(forward, forward).real(), energy, 1e-6 * energy);
    EXPECT_LT(std::abs(dot(picture, forward) - dot(backward, field)), 1e-6 * energy);
    plan.execute_intensity(field.view(), intensity.view(), plane);
    for (std::int64_t i = 0; i < intensity.size(); ++i) {
      EXPECT_NEAR(intensity.data()[i], std::norm(forward.data()[i]), 1e-5F);
    }
    plan.adjoint(forward.view(), forward.view(), plane);  // in place
    for (std::int64_t i = 0; i < forward.size(); ++i) EXPECT_LT(std::abs(forward.data()[i] - field.data()[i]), 2e-6F);
  }
}

// A grating of 5 periods across the panel steers the light by 5 pixels, toward +x and +down. An even panel lights the
// axis, which lies between the pixels of an even number.
TEST(FourierLens, AGratingSteersTheLight) {
  const auto grating = [](double right, double down) {
    return focused_picture(wave(lens, [=](double x, double y) { return right * x / 30 + down * y / 24; }),
                           {0, 0.5, 0.5});
  };
  EXPECT_EQ(brightest(grating(0, 0)), (std::array<std::int64_t, 2>{11, 14}));
  EXPECT_EQ(brightest(grating(5, 0)), (std::array<std::int64_t, 2>{11, 19}));
  EXPECT_EQ(brightest(grating(0, 4)), (std::array<std::int64_t, 2>{15, 14}));
  EXPECT_NEAR(std::abs(grating(5, 0)(11, 19)), std::sqrt(30 * 24), 1e-3);
}

// Newton's formula: a point d behind the panel, 0.3 mm to the right, is in focus f^2 / d beyond the focal plane, and
// upside down: 0.3 mm f / d to the left.
TEST(FourierLens, APointBehindThePanelIsInFocusBeyondTheFocalPlane) {
  const FourierLensOptions options{{128, 96, 8e-6, 532e-9}, 0.1};
  const double d = 0.2;
  const double best = 0.1 * 0.1 / d;
  ASSERT_LT(1.5 * best, holotone::largest_defocus_m(options));
  const double scale = 8e-6 * 8e-6 / (2 * 532e-9 * d);
  const double foot = 0.3e-3 / 8e-6;
  const Values field = wave(options, [=](double x, double y) { return scale * ((x - foot) * (x - foot) + y * y); });
  const auto peak = [&](double defocus_m) {
    const Values picture = focused_picture(field, {defocus_m, 0.5, 0.5}, options);
    const auto [row, column] = brightest(picture);
    return std::norm(picture(row, column));
  };
  const Values sharp = focused_picture(field, {best, 0.5, 0.5}, options);
  const double pixel_m = 532e-9 * 0.1 / (128 * 8e-6);
  const auto [row, column] = brightest(sharp);
  EXPECT_EQ(row, 47);
  EXPECT_EQ(column, 63 - std::lround(0.3e-3 * 0.1 / d / pixel_m));
  EXPECT_GT(peak(best), 4 * peak(0));
  EXPECT_GT(peak(best), 1.2 * peak(1.5 * best));
  EXPECT_GT(peak(0), 4 * peak(-best));
  EXPECT_GT(peak(best), 0.4 * 128 * 96);  // nearly all light in one pixel, which it need not hit in the middle
}

TEST(FourierLens, NamesWhatIsWrong) {
  const auto rejects = [](const std::string& argument, const auto& body) {
    try {
      body();
      ADD_FAILURE() << argument << ": accepted";
    } catch (const holotone::Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_EQ(error.argument(), argument) << error.what();
    }
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -0.1, none, infinite}) {
    rejects("focal_length_m", [&] { FourierLensPlan({lens.grid, value}); });
    rejects("focal_length_m", [&] { holotone::largest_defocus_m({lens.grid, value}); });
    rejects("pitch_m", [&] { FourierLensPlan({{8, 8, value, 5e-7}, 0.1}); });
  }
  FourierLensPlan plan(lens);
  const Values field = noise(1);
  Values picture(lens.grid.shape());
  Values other({30, 24});
  Array<float, 2> intensity(lens.grid.shape());
  const double most = holotone::largest_defocus_m(lens);
  EXPECT_NEAR(most, 532e-9 * 0.04 / (30 * 64e-12), 1e-9);
  plan.execute(field.view(), picture.view(), {most, 0, 0});
  for (const double value : {1.001 * most, -1e9, none, infinite}) {
    rejects("plane.defocus_m", [&] { plan.execute(field.view(), picture.view(), {value, 0, 0}); });
    rejects("plane.defocus_m", [&] { plan.execute_intensity(field.view(), intensity.view(), {value, 0, 0}); });
    rejects("plane.defocus_m", [&] { plan.adjoint(field.view(), picture.view(), {value, 0, 0}); });
  }
  for (const double value : {1e7, none, -infinite}) {
    rejects("plane.down", [&] { plan.execute(field.view(), picture.view(), {0, value, 0}); });
    rejects("plane.right", [&] { plan.execute(field.view(), picture.view(), {0, 0, value}); });
  }
  rejects("field", [&] { plan.execute(other.view(), picture.view()); });
  rejects("picture", [&] { plan.execute(field.view(), other.view()); });
  rejects("picture", [&] { plan.adjoint(other.view(), picture.view()); });
  rejects("field", [&] { plan.adjoint(picture.view(), other.view()); });
  rejects("intensity", [&] { plan.execute_intensity(field.view(), {}); });
}

}  // namespace
