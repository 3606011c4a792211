// PSNR and SSIM of pictures, and of dots against a picture after blur.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/similarity.hpp>
#include <limits>
#include <tests/metrics/point_sets.hpp>
#include <tests/reference/metrics.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using point_sets::Points;
using point_sets::to_double;
using point_sets::uniform;
using point_sets::view;
using support::expect_error;
using support::expect_within;

using Picture = Array<float, 2>;

Picture noise(Shape<2> shape, std::uint64_t seed) {
  Picture picture(shape);
  for (std::int64_t i = 0; i < picture.size(); ++i) {
    const float wave =
        0.5F + 0.4F * std::sin(0.05F * static_cast<float>(i % shape[1]) + 0.2F * static_cast<float>(i / shape[1]));
    picture.data()[i] =
        std::clamp(wave + 0.3F * (random_uniform(seed, static_cast<std::uint64_t>(i)) - 0.5F), 0.0F, 1.0F);
  }
  return picture;
}

Picture constant(Shape<2> shape, float value) {
  Picture picture(shape);
  std::fill_n(picture.data(), picture.size(), value);
  return picture;
}

std::vector<double> doubles(const Picture& picture) { return {picture.host().begin(), picture.host().end()}; }

TEST(Similarity, PsnrOfKnownErrors) {
  const auto a = constant({3, 5}, 0.25F);
  auto b = constant({3, 5}, 0.25F);
  EXPECT_EQ(mean_square_error(a.view(), b.view()), 0);
  EXPECT_TRUE(std::isinf(psnr_db(0)));
  b(1, 2) = 0.5F;
  EXPECT_DOUBLE_EQ(mean_square_error(a.view(), b.view()), 0.0625 / 15);
  EXPECT_DOUBLE_EQ(psnr_db(0.01), 20);
  EXPECT_DOUBLE_EQ(psnr_db(0.01, 10), 40);
}

TEST(Similarity, SsimOfConstantPictures) {
  const auto a = constant({11, 13}, 0.5F);
  const auto b = constant({11, 13}, 0.75F);
  EXPECT_NEAR(ssim(a.view(), a.view()), 1, 1e-12);
  EXPECT_NEAR(ssim(a.view(), b.view()), (2 * 0.5 * 0.75 + 1e-4) / (0.25 + 0.5625 + 1e-4), 1e-9);
}

TEST(Similarity, SsimAgreesWithItsDefinition) {
  for (const auto& [ny, nx] : {std::pair{11, 11}, {12, 19}, {31, 17}}) {
    const auto a = noise({ny, nx}, 1);
    const auto b = noise({ny, nx}, 2);
    const double expected = reference::metrics_ssim(doubles(a), doubles(b), ny, nx);
    expect_within(fmt::format("SSIM {} x {}", nx, ny), std::abs(ssim(a.view(), b.view()) - expected), 1e-11);
    EXPECT_NEAR(ssim(b.view(), a.view()), ssim(a.view(), b.view()), 1e-13);
  }
}

/// A picture of several channels, each with its own noise.
Array<float, 3> colours(Shape<3> shape, std::uint64_t seed) {
  Array<float, 3> picture(shape);
  for (std::int64_t c = 0; c < shape[2]; ++c) {
    const auto plane = noise({shape[0], shape[1]}, seed + static_cast<std::uint64_t>(10 * c));
    for (std::int64_t i = 0; i < plane.size(); ++i) picture.data()[i * shape[2] + c] = plane.data()[i];
  }
  return picture;
}

TEST(Similarity, LumaAndChromaAgreeWithTheirDefinition) {
  const auto a = colours({13, 17, 3}, 1);
  const auto b = colours({13, 17, 3}, 2);
  const auto of = [](const Array<float, 3>& picture) {
    return reference::metrics_ycbcr({picture.host().begin(), picture.host().end()});
  };
  const auto planes_a = of(a);
  const auto planes_b = of(b);
  const auto compared = colour_similarity(a.view(), b.view());
  const double psnr[] = {compared.psnr_y_db, compared.psnr_cb_db, compared.psnr_cr_db};
  double weighted = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double expected = reference::metrics_psnr_db(planes_a[c], planes_b[c]);
    expect_within(fmt::format("PSNR of plane {}", c), std::abs(psnr[c] - expected), 1e-9);
    weighted += (c == 0 ? 6 : 1) * expected / 8;
  }
  expect_within("PSNR of Y, Cb and Cr", std::abs(compared.psnr_ycbcr_db - weighted), 1e-9);
  // Luma is rounded to float32 for SSIM.
  expect_within("SSIM of Y", std::abs(compared.ssim_y - reference::metrics_ssim(planes_a[0], planes_b[0], 13, 17)),
                1e-6);
}

TEST(Similarity, AlphaDoesNotCountAndGreyHasNoChroma) {
  const auto rgb_a = colours({12, 11, 3}, 3);
  const auto rgb_b = colours({12, 11, 3}, 4);
  const auto with_alpha = colour_similarity(colours({12, 11, 4}, 3).view(), colours({12, 11, 4}, 4).view());
  EXPECT_EQ(with_alpha.psnr_ycbcr_db, colour_similarity(rgb_a.view(), rgb_b.view()).psnr_ycbcr_db);
  const auto a = colours({12, 11, 1}, 3);
  const auto b = colours({12, 11, 1}, 4);
  const auto grey = colour_similarity(a.view(), b.view());
  const View<const float, 2> plane_a(a.data(), {12, 11});
  const View<const float, 2> plane_b(b.data(), {12, 11});
  EXPECT_DOUBLE_EQ(grey.psnr_y_db, psnr_db(mean_square_error(plane_a, plane_b)));
  EXPECT_DOUBLE_EQ(grey.ssim_y, ssim(plane_a, plane_b));
  EXPECT_TRUE(std::isnan(grey.psnr_cb_db) && std::isnan(grey.psnr_cr_db) && std::isnan(grey.psnr_ycbcr_db));
  EXPECT_TRUE(std::isnan(colour_similarity(colours({10, 30, 1}, 3).view(), colours({10, 30, 1}, 4).view()).ssim_y));
  EXPECT_TRUE(std::isinf(colour_similarity(rgb_a.view(), rgb_a.view()).psnr_ycbcr_db));
}

TEST(Similarity, RefusesWhatItCannotDo) {
  const auto a = constant({11, 11}, 0);
  const auto b = constant({11, 12}, 0);
  expect_error(ErrorCode::invalid_argument, "ssim: b: expected shape {11, 11}",
               [&] { (void)ssim(a.view(), b.view()); });
  const auto small = constant({10, 30}, 0);
  expect_error(ErrorCode::invalid_argument, "at least 11 pixels", [&] { (void)ssim(small.view(), small.view()); });
  expect_error(ErrorCode::invalid_argument, "sigma", [&] { (void)ssim(a.view(), a.view(), {.sigma = 0}); });
  expect_error(ErrorCode::invalid_argument, "mean_square_error", [] { (void)psnr_db(-1); });
  expect_error(ErrorCode::invalid_argument, "mean_square_error", [] { (void)psnr_db(NAN); });
  const auto grey = colours({11, 11, 1}, 1);
  const auto rgb = colours({11, 11, 3}, 1);
  expect_error(ErrorCode::invalid_argument, "colour_similarity: b: expected shape {11, 11, 1}",
               [&] { (void)colour_similarity(grey.view(), rgb.view()); });
}

/// Largest and rms difference of both blurred fields from float64 sums.
void check_fields(const Points& points, const Picture& ink, const std::vector<float>& charges,
                  const std::vector<double>& sigma) {
  BlurredComparisonPlan plan(ink.view(), {.sigma = sigma});
  const auto results =
      plan.execute(view(points), charges.empty() ? View<const float, 1>{} : view_of(std::span<const float>(charges)));
  const auto [ny, nx] = ink.shape();
  double total = 0;
  for (const double value : doubles(ink)) total += value;
  const std::size_t count = points.size() / 2;
  const std::vector<double> charge = charges.empty() ? std::vector<double>(count, total / static_cast<double>(count))
                                                     : std::vector<double>(charges.begin(), charges.end());
  for (std::size_t s = 0; s < sigma.size(); ++s) {
    const auto fields = plan.blurred(s);
    double dots_error = 0;
    double image_error = 0;
    double square = 0;
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t column = 0; column < nx; ++column) {
        const auto y = static_cast<double>(row);
        const auto x = static_cast<double>(column);
        const double h = reference::metrics_blurred_dots(to_double(points), charge, sigma[s], y, x);
        const double u = reference::metrics_blurred_image(doubles(ink), nx, sigma[s], y, x);
        dots_error += std::pow(static_cast<double>(fields.dots(row, column)) - h, 2);
        image_error += std::pow(static_cast<double>(fields.image(row, column)) - u, 2);
        square += (h - u) * (h - u);
      }
    }
    const auto pixels = static_cast<double>(ny * nx);
    expect_within(fmt::format("{} x {}, sigma {}: dots, rms", nx, ny, sigma[s]), std::sqrt(dots_error / pixels), 1e-5);
    expect_within(fmt::format("{} x {}, sigma {}: image, rms", nx, ny, sigma[s]), std::sqrt(image_error / pixels),
                  2e-6);
    EXPECT_EQ(results[s].sigma, sigma[s]);
    EXPECT_NEAR(std::sqrt(results[s].mean_square_error), std::sqrt(square / pixels), 1.2e-5);
    EXPECT_DOUBLE_EQ(results[s].psnr_db, psnr_db(results[s].mean_square_error));
  }
}

TEST(BlurredComparison, FieldsAgreeWithSums) {
  check_fields(uniform(350, 31, 23, 1), noise({23, 31}, 3), {}, {1, 1.5, 2, 5});
  check_fields(uniform(160, 40, 9, 2), noise({9, 40}, 4), {}, {0.3, 0.5, 12});
  const Points on = uniform(50, 15, 14, 5);
  std::vector<float> charges;
  for (std::size_t i = 0; i < 50; ++i) charges.push_back(2 * random_uniform(6, i) - 0.5F);
  check_fields(on, noise({14, 15}, 7), charges, {1.5});
}

TEST(BlurredComparison, DotsOffThePageDoNotCount) {
  const auto ink = noise({20, 25}, 2);
  Points points = uniform(40, 25, 20, 3);
  const auto without = compare_blurred(view(points), ink.view(), {.sigma = {1.5}});
  points.insert(points.end(), {-0.1F, 3, 25.1F, 4, 3, -50, 3, 20.01F});
  const auto with = compare_blurred(view(points), ink.view(), {.sigma = {1.5}});
  EXPECT_NEAR(with[0].psnr_db, without[0].psnr_db, 1e-4);
}

TEST(BlurredComparison, DotsThatAreThePixelsDifferByNothing) {
  const auto ink = noise({37, 29}, 8);
  Points points;
  std::vector<float> charges;
  for (int row = 0; row < 37; ++row) {
    for (int column = 0; column < 29; ++column) {
      points.insert(points.end(), {static_cast<float>(column) + 0.5F, static_cast<float>(row) + 0.5F});
      charges.push_back(ink(row, column));
    }
  }
  for (const auto& result : compare_blurred(view(points), ink.view(), {}, view_of(std::span<const float>(charges)))) {
    std::printf("sigma %g: %.1f dB\n", result.sigma, result.psnr_db);
    EXPECT_GT(result.psnr_db, 100);
    EXPECT_NEAR(result.ssim, 1, 1e-6);
  }
}

// Random dots of mean coverage c and charge q have MSE = c q / (4 pi sigma^2) far from edges (Campbell's theorem).
TEST(BlurredComparison, RandomDotsHaveTheErrorOfShotNoise) {
  const double coverage = 0.4;
  const Points points = uniform(40000, 250, 230, 12);
  const auto ink = constant({230, 250}, static_cast<float>(coverage));
  const double charge = coverage * 230 * 250 / 40000;
  for (const auto& result : compare_blurred(view(points), ink.view(), {.sigma = {1.5, 3}, .margin = 12})) {
    const double expected = coverage * charge / (4 * reference::metrics_pi * result.sigma * result.sigma);
    // Independent patches: area / (8 pi sigma^2) of squares of a Gaussian field; five standard deviations.
    const double patches = 226.0 * 206 / (8 * reference::metrics_pi * result.sigma * result.sigma);
    expect_within(fmt::format("shot noise, sigma {}", result.sigma), std::abs(result.mean_square_error / expected - 1),
                  5 * std::sqrt(2 / patches));
  }
}

TEST(BlurredComparison, APlanIsUsedAgain) {
  const auto ink = noise({40, 33}, 1);
  const Points one = uniform(500, 33, 40, 1);
  const Points two = uniform(300, 33, 40, 2);
  BlurredComparisonPlan plan(ink.view(), {.sigma = {2, 1}});
  const auto first = plan.execute(view(one));
  (void)plan.execute(view(two));
  const auto again = plan.execute(view(one));
  const auto once = compare_blurred(view(one), ink.view(), {.sigma = {2, 1}});
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_NEAR(again[s].psnr_db, first[s].psnr_db, 1e-3);
    EXPECT_NEAR(once[s].psnr_db, first[s].psnr_db, 1e-3);
    EXPECT_NEAR(once[s].ssim, first[s].ssim, 1e-5);
  }
  EXPECT_LT(first[1].psnr_db, first[0].psnr_db);  // finer detail shows more noise
}

TEST(BlurredComparison, NoDotsAreWhitePaper) {
  const auto ink = constant({30, 30}, 0.5F);
  const auto result = compare_blurred({nullptr, {0, 2}}, ink.view(), {.sigma = {1}, .margin = 6});
  EXPECT_NEAR(result[0].mean_square_error, 0.25, 1e-5);
  const auto small = constant({5, 7}, 0.5F);
  EXPECT_TRUE(std::isnan(compare_blurred({nullptr, {0, 2}}, small.view(), {.sigma = {1}})[0].ssim));
  EXPECT_TRUE(std::isnan(compare_blurred({nullptr, {0, 2}}, ink.view(), {.sigma = {1}, .structure = false})[0].ssim));
}

TEST(BlurredComparison, RefusesWhatItCannotDo) {
  auto ink = constant({8, 8}, 0.5F);
  const auto refused = [&](const BlurOptions& options, const char* text) {
    expect_error(ErrorCode::invalid_argument, text, [&] { BlurredComparisonPlan plan(ink.view(), options); });
  };
  refused({.sigma = {}}, "number of sigmas");
  refused({.sigma = {0.2}}, "sigma: expected");
  refused({.margin = 4}, "margin");
  refused({.tolerance = 1e-6}, "tolerance");
  const auto wide = constant({1, 40000}, 0.5F);
  expect_error(ErrorCode::invalid_argument, "2^28 frequencies", [&] {
    BlurredComparisonPlan plan(wide.view(), {.sigma = {0.3, 1000}});
  });
  BlurredComparisonPlan plan(ink.view(), {.sigma = {1}});
  expect_error(ErrorCode::invalid_argument, "execute before", [&] { (void)plan.blurred(0); });
  expect_error(ErrorCode::invalid_argument, "index", [&] { (void)plan.blurred(1); });
  const Points bad{1, std::numeric_limits<float>::infinity()};
  expect_error(ErrorCode::invalid_argument, "position", [&] { (void)plan.execute(view(bad)); });
  const Points good{1, 1};
  const std::vector<float> charges{1, 2};
  expect_error(ErrorCode::invalid_argument, "charge",
               [&] { (void)plan.execute(view(good), view_of(std::span<const float>(charges))); });
  ink(3, 4) = std::numeric_limits<float>::quiet_NaN();
  refused({}, "finite values, got nan (row 3, column 4)");
}

}  // namespace
}  // namespace holotone
