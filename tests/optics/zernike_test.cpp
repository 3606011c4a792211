// Zernike polynomials against their sum of factorials, their integrals over the disc and Noll's table.
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/optics/panel_patterns.hpp>
#include <limits>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

template <class Call>
void expect_error(const Call& call, const char* text) {
  support::expect_error(ErrorCode::invalid_argument, text, call);
}

constexpr FieldGrid grid{301, 241, 8e-6, 532e-9};

double factorial(int k) { return std::tgamma(k + 1.0); }

/// R_n^m as printed by Born and Wolf; exact to 1e-12 up to n of about 12.
double radial(int n, int m, double rho) {
  double sum = 0;
  for (int s = 0; s <= (n - m) / 2; ++s) {
    sum += (s % 2 == 0 ? 1 : -1) * factorial(n - s) /
           (factorial(s) * factorial((n + m) / 2 - s) * factorial((n - m) / 2 - s)) * std::pow(rho, n - 2 * s);
  }
  return sum;
}

double polynomial(int n, int m, double x, double y) {
  const double theta = std::atan2(y, x);
  const double angular = m >= 0 ? std::cos(m * theta) : std::sin(-m * theta);
  return radial(n, std::abs(m), std::hypot(x, y)) * angular;
}

double pixel_x(std::int64_t col) { return (static_cast<double>(col) - 150) / 120.5; }
double pixel_y(std::int64_t row) { return (120 - static_cast<double>(row)) / 120.5; }

/// The phase of one term, small enough not to wrap.
std::vector<double> unwrapped(const ZernikeTerm& term, ZernikeNorm norm) {
  const auto turns = zernike_turns({.terms = {term}, .norm = norm}, grid);
  std::vector<double> values;
  for (const float t : turns.host()) values.push_back(std::remainder(static_cast<double>(t), 1.0) / term.turns);
  return values;
}

TEST(Zernike, PixelsAreThoseOfTheFactorials) {
  for (int n = 0; n <= 7; ++n) {
    for (int m = -n; m <= n; m += 2) {
      const auto peak = unwrapped({n, m, 0.25}, ZernikeNorm::peak);
      const auto rms = unwrapped({n, m, 0.05}, ZernikeNorm::rms);
      const double norm = std::sqrt((m == 0 ? 1.0 : 2.0) * (n + 1));
      double worst = 0;
      for (std::int64_t row = 0; row < grid.ny; ++row) {
        for (std::int64_t col = 0; col < grid.nx; ++col) {
          const double x = pixel_x(col);
          const double y = pixel_y(row);
          const double expected = std::hypot(x, y) <= 1 ? polynomial(n, m, x, y) : 0;
          const auto at = static_cast<std::size_t>(row * grid.nx + col);
          worst = std::max(worst, std::abs(peak[at] - expected) * 0.25);
          worst = std::max(worst, std::abs(rms[at] - norm * expected) * 0.05);
        }
      }
      EXPECT_LE(worst, 1e-7) << n << ", " << m;
    }
  }
}

TEST(Zernike, NollsPolynomialsAreOrthonormalOnTheDisc) {
  std::vector<std::vector<double>> all;
  for (int j = 1; j <= 21; ++j) {
    ZernikeTerm term = noll_term(j);
    term.turns = 0.05;
    all.push_back(unwrapped(term, ZernikeNorm::rms));
  }
  double pixels = 0;
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col) pixels += std::hypot(pixel_x(col), pixel_y(row)) <= 1 ? 1 : 0;
  }
  double worst = 0;
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a; b < all.size(); ++b) {
      double product = 0;
      for (std::size_t i = 0; i < all[a].size(); ++i) product += all[a][i] * all[b][i];
      worst = std::max(worst, std::abs(product / pixels - (a == b ? 1 : 0)));
    }
  }
  EXPECT_LT(worst, 0.02) << "the steps of the disc's rim, of 1 / 240 of its area";
}

TEST(Zernike, NollsNumbersAreThoseOfHisTable) {
  constexpr std::array<std::array<int, 2>, 22> table{
      {{0, 0}, {1, 1},  {1, -1}, {2, 0},  {2, -2}, {2, 2},  {3, -1}, {3, 1},  {3, -3}, {3, 3},  {4, 0},
       {4, 2}, {4, -2}, {4, 4},  {4, -4}, {5, 1},  {5, -1}, {5, 3},  {5, -3}, {5, 5},  {5, -5}, {6, 0}}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto term = noll_term(static_cast<int>(i) + 1);
    EXPECT_EQ(term.n, table[i][0]) << i + 1;
    EXPECT_EQ(term.m, table[i][1]) << i + 1;
  }
  EXPECT_EQ(noll_term(5151).n, 100);
  expect_error([] { (void)noll_term(0); }, "1 to 5151");
  expect_error([] { (void)noll_term(5152); }, "1 to 5151");
}

// R_n^m(1) = 1 for every degree: the recurrence stays exact where the factorials no longer are.
TEST(Zernike, HighDegreesKeepTheirValueAtTheRim) {
  const FieldGrid line{201, 1, 8e-6, 532e-9};
  for (const int n : {40, 77, 100}) {
    const auto turns =
        zernike_turns({.terms = {{n, n % 2, 0.25}}, .norm = ZernikeNorm::peak, .radius_m = 100 * 8e-6}, line);
    EXPECT_NEAR(turns(0, 200), 0.25, 1e-6) << n;
    if (n % 2 == 0) {
      EXPECT_NEAR(std::remainder(turns(0, 100), 1.0F), n % 4 == 0 ? 0.25 : -0.25, 1e-6) << n;
    }
  }
}

TEST(Zernike, TheDiscHasItsRadiusAndCentreAndTermsAdd) {
  const ZernikeOptions moved{.terms = {{2, 0, 0.1}, {1, 1, 0.2}},
                             .norm = ZernikeNorm::peak,
                             .radius_m = 40 * 8e-6,
                             .centre_x_m = 50 * 8e-6,
                             .centre_y_m = 30 * 8e-6};
  const auto turns = zernike_turns(moved, grid);
  EXPECT_NEAR(turns(90, 200), 0.9, 1e-6) << "the centre: -0.1";
  EXPECT_NEAR(turns(90, 240), 0.3, 1e-6) << "the rim";
  EXPECT_EQ(turns(90, 241), 0.0F) << "outside";
  // Defocus changes fastest at the rim: from pixel 39 to 40 by 2 (40^2 - 39^2) / 40^2 of 0.1; tilt by 0.2 / 40.
  EXPECT_NEAR(zernike_step_turns(moved, grid), 0.2 * 79 / 1600 + 0.2 / 40, 1e-9);
}

TEST(Zernike, WhatIsNoPolynomialIsRefused) {
  const auto refused = [](const ZernikeOptions& options, const char* word) {
    expect_error([&] { (void)zernike_turns(options, grid); }, word);
  };
  refused({}, "terms");
  refused({.terms = {{2, 1, 1}}}, "n - |m| even");
  refused({.terms = {{2, 4, 1}}}, "|m| <= n");
  refused({.terms = {{101, 1, 1}}}, "0 to 100");
  refused({.terms = {{2, 0, std::numeric_limits<double>::infinity()}}}, "turns");
  refused({.terms = {{2, 0, 1}}, .radius_m = -1}, "radius_m");
  refused({.terms = {{2, 0, 1}}, .centre_y_m = std::nan("")}, "centre_y_m");
}

}  // namespace
}  // namespace holotone
