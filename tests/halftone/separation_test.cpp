// Separation of colours into four inks, and the colours printed by their dots.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/halftone/colour_classes.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/sampling.hpp>
#include <numbers>
#include <omp.h>
#include <vector>

namespace holotone {
namespace {

/// Solid inks of an offset press: each absorbs some light that an ideal ink transmits.
FourInks press_inks(double across) {
  return {{{{0, 0.42, 0.86}, {0.84, 0, 0.26}, {1, 0.89, 0}, {0, 0, 0}}}, apart_of(1, across)};
}

TEST(PrintedLight, LiesBetweenDotsAtRandomAndDotsApart) {
  const FourShares coverage = {0.2, 0, 0.1, 0.3};
  FourInks inks;
  EXPECT_NEAR(printed_light(inks, coverage)[0], 0.8 * 0.7, 1e-15);
  EXPECT_NEAR(printed_light(inks, coverage)[2], 0.9 * 0.7, 1e-15);
  inks.apart = 100;
  EXPECT_NEAR(printed_light(inks, coverage)[0], 1 - 0.2 - 0.3, 1e-5);
  inks.apart = 0.2;  // the power is 1e-4: the limit of the power mean is the product
  EXPECT_NEAR(printed_light(inks, coverage)[0], 0.8 * 0.7, 1e-4);
  inks.apart = 0.25;
  const double power = std::exp(-std::pow(0.6 / 0.25, 2));
  EXPECT_NEAR(printed_light(inks, coverage)[0], std::pow(std::pow(0.8, power) + std::pow(0.7, power) - 1, 1 / power),
              1e-9);
  inks.light[0] = {0.5, 0.5, 0.5};
  inks.apart = 0;
  EXPECT_NEAR(printed_light(inks, coverage)[1], 0.9 * 0.7, 1e-15) << "half of the light passes a fifth of the page";
  for (const double apart : {0.0, 1.65}) {
    inks = {{}, apart};
    inks.light = FourInks{}.light;
    EXPECT_EQ(printed_light(inks, {0, 0, 0, 0}), (Channels{1, 1, 1}));
    EXPECT_EQ(printed_light(inks, {1, 1, 1, 1}), (Channels{0, 0, 0}));
    EXPECT_NEAR(printed_light(inks, {0, 0, 0, 0.4})[1], 0.6, 1e-12) << "one ink alone";
  }
}

// A printable colour is reproduced by its separation; greys use black alone.
TEST(Separation, IsTheInverseOfPrinting) {
  for (const double across : {0.0, 0.5}) {
    for (const double black : {1.0, 0.6, 0.0}) {
      const FourInks inks = press_inks(across);
      const Separation separation(black, inks);
      double worst = 0;
      for (int i = 0; i < 200; ++i) {
        // Pale to medium colours, all printable without black.
        const auto part = [&](int prime) { return static_cast<double>(i * prime % 199) / 199; };
        const FourShares coverage = {0.3 + 0.1 * part(37), 0.3 + 0.1 * part(53), 0.3 + 0.1 * part(71), 0};
        const Channels light = printed_light({inks.light, 0}, coverage);
        const FourShares found = separation({1 - light[0], 1 - light[1], 1 - light[2]});
        const Channels printed = printed_light(inks, found);
        for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(printed[k] - light[k]));
        if (black == 0) {
          EXPECT_EQ(found[3], 0);
        }
      }
      std::printf("across %g, black %g: largest difference %.4f\n", across, black, worst);
      EXPECT_LT(worst, 0.01) << "interpolation between colours 1 / 16 apart";
      for (int i = 0; black == 1 && i <= 50; ++i) {
        const double dark = i / 50.0;
        const FourShares grey = separation({dark, dark, dark});
        for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(grey[c], 0);
        EXPECT_NEAR(grey[3], dark, 1e-5);
      }
    }
  }
}

TEST(Separation, TakesTheNearestOfColoursThatCannotBePrinted) {
  const Separation separation(1, press_inks(0.5));
  for (std::size_t c = 0; c < 3; ++c) {
    Channels darkness{};
    darkness[c] = 1;  // pure cyan, magenta or yellow light
    const FourShares shares = separation(darkness);
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == c) {
        EXPECT_GT(shares[i], 0.85) << c;
      } else {
        EXPECT_LT(shares[i], 0.05) << c << " " << i;
      }
    }
  }
  for (const Channels& corner : {Channels{1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}}) {
    for (const double share : separation(corner)) EXPECT_TRUE(share >= 0 && share <= 1);
  }
}

TEST(Separation, RefusesWhatIsNoInk) {
  EXPECT_THROW((void)Separation(1.5), Error);
  EXPECT_THROW((void)Separation(-0.5), Error);
  FourInks inks;
  inks.light[1][2] = 1.2;
  EXPECT_THROW((void)Separation(1, inks), Error);
  EXPECT_THROW((void)Separation(1, FourInks{{}, std::nan("")}), Error);
}

/// Mean light of columns first to last of a page of dots, `margin` off its edges, with 10 x 10 samples per pixel.
Channels mean_light(const Dots& dots, double radius, const FourInks& inks, double first, double last) {
  constexpr int samples = 10;
  constexpr double margin = 3;
  const int columns = static_cast<int>((last - first) * samples);
  const int rows = static_cast<int>((dots.height - 2 * margin) * samples);
  std::vector<std::uint8_t> covered(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  for (std::size_t j = 0; j < dots.colour_class.size(); ++j) {
    const double x = (static_cast<double>(dots.position[2 * j]) - first) * samples - 0.5;
    const double y = (static_cast<double>(dots.position[2 * j + 1]) - margin) * samples - 0.5;
    const double r = radius * samples;
    for (int row = std::max(0, static_cast<int>(y - r)); row <= std::min<double>(rows - 1, y + r); ++row) {
      for (int col = std::max(0, static_cast<int>(x - r)); col <= std::min<double>(columns - 1, x + r); ++col) {
        if (std::hypot(col - x, row - y) > r) continue;
        covered[static_cast<std::size_t>(row * columns + col)] |= static_cast<std::uint8_t>(1 << dots.colour_class[j]);
      }
    }
  }
  Channels sum{};
  for (const auto bits : covered) {
    for (std::size_t k = 0; k < 3; ++k) {
      double light = 1;
      for (std::size_t c = 0; c < 4; ++c) light *= ((bits >> c) & 1) != 0 ? inks.light[c][k] : 1;
      sum[k] += light / static_cast<double>(covered.size());
    }
  }
  return sum;
}

/// Dots of a picture with colour(col) at pixel (row, col); one dot per pixel area of ink.
template <class Colour>
Dots halftoned(std::int64_t ny, std::int64_t nx, const Separation& separation, double across, const Colour& colour) {
  Array<float, 3> pixels({ny, nx, 3});
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    const Channels light = colour(i % nx);
    for (std::size_t k = 0; k < 3; ++k)
      pixels.data()[3 * i + static_cast<std::int64_t>(k)] = static_cast<float>(light[k]);
  }
  InkOptions options;
  options.tone = PixelTone::linear;
  const auto planes = cmyk_inks(pixels.view(), separation, options);
  std::vector<View<const float, 2>> views;
  double total = 0;
  for (const auto& ink : planes) {
    views.emplace_back(ink.view());
    total += total_ink(ink.view());
  }
  const auto counts = dots_of_classes(views, std::llround(total));
  std::vector<Dots> starts(4);
  for (std::size_t c = 0; c < 4; ++c) {
    if (counts[c] > 0) starts[c] = importance_sampled_dots(views[c], counts[c], c);
  }
  ClassWeights weights;
  weights.across = across;
  DescentOptions descent;
  descent.iterations = 80;
  return classes_halftone(views, starts, weights, {}, descent).dots;
}

class SeparatedDots : public testing::Test {
 protected:
  SeparatedDots() { omp_set_num_threads(1); }  // problems are small
  ~SeparatedDots() override { omp_set_num_threads(threads_); }

  static constexpr double radius = std::numbers::inv_sqrtpi;

 private:
  int threads_ = omp_get_max_threads();
};

// If dots of one ink hardly overlap (coverage below 0.8), the mean light is that of the picture to 0.03. It is to 0.06
// where some hundred dots overlap others at random. For a nearly solid ink, which shows paper in its gaps, it is to
// 0.08.
TEST_F(SeparatedDots, PrintFlatColours) {
  const Channels colours[] = {{0.5, 0.5, 0.5}, {0.3, 0.45, 0.6}, {0.6, 0.4, 0.3}, {0.2, 0.3, 0.15}, {0.06, 0.06, 0.06}};
  for (const double across : {0.5, 0.0}) {
    const FourInks inks = press_inks(across);
    const Separation separation(1, inks);
    double worst[2] = {0, 0};
    double sum = 0;
    for (const auto& colour : colours) {
      const Dots dots = halftoned(26, 26, separation, across, [&](auto) { return colour; });
      const Channels light = mean_light(dots, radius, inks, 3, 23);
      const FourShares shares = separation({1 - colour[0], 1 - colour[1], 1 - colour[2]});
      const bool solid = *std::max_element(shares.begin(), shares.end()) > 0.8;
      for (std::size_t k = 0; k < 3; ++k) {
        worst[solid ? 1 : 0] = std::max(worst[solid ? 1 : 0], std::abs(light[k] - colour[k]));
        sum += (light[k] - colour[k]) / std::size(colours) / 3;
      }
    }
    std::printf("across %g: largest difference %.3f, of nearly solid ones %.3f, mean %.4f\n", across, worst[0],
                worst[1], sum);
    EXPECT_LT(worst[0], across > 0 ? 0.03 : 0.06);
    EXPECT_LT(worst[1], 0.08);
    EXPECT_LT(std::abs(sum), 0.02);
  }
}

TEST_F(SeparatedDots, PrintRamps) {
  const auto grey = [](double t) { return Channels{0.9 - 0.7 * t, 0.9 - 0.7 * t, 0.9 - 0.7 * t}; };
  const auto colour = [](double t) { return Channels{0.9 - 0.5 * t, 0.9 - 0.7 * t, 0.9 - 0.75 * t}; };
  for (const double across : {0.5, 0.0}) {
    const FourInks inks = press_inks(across);
    const Separation separation(1, inks);
    double worst = 0;
    for (const bool coloured : {false, true}) {
      const auto at = [&](double x) { return coloured ? colour(x / 80) : grey(x / 80); };
      const Dots dots =
          halftoned(26, 80, separation, across, [&](auto col) { return at(static_cast<double>(col) + 0.5); });
      for (const double first : {4.0, 22.0, 40.0, 58.0}) {
        const Channels light = mean_light(dots, radius, inks, first, first + 18);
        const Channels wanted = at(first + 9);
        for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(light[k] - wanted[k]));
      }
    }
    std::printf("across %g: largest difference %.3f\n", across, worst);
    EXPECT_LT(worst, 0.03);
  }
}

}  // namespace
}  // namespace holotone
