// Fits to a PSNR and to bytes against the decoded files; pictures by the renderer, codes by the formula.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/mixtures.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/render.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr std::int64_t side = 48;

/// A picture of soft blobs and a step, seen from (u, v): what lies at a depth moves by `shift` pixels for 1 in u and v.
Array<float, 3> picture(double u, double v, double shift) {
  Array<float, 3> image({side, side, 1});
  for (std::int64_t row = 0; row < side; ++row) {
    for (std::int64_t column = 0; column < side; ++column) {
      const double x = static_cast<double>(column) - shift * u;
      const double y = static_cast<double>(row) - shift * v;
      const double blob = 0.4 * std::exp(-(std::pow(x - 15, 2) + std::pow(y - 20, 2)) / 60);
      const double wave = 0.2 * std::sin(0.4 * x) * std::cos(0.3 * y);
      image(row, column, 0) = static_cast<float>(0.4 + blob + wave * (x > 26 ? 1 : 0.3));
    }
  }
  return image;
}

/// 3 x 3 views of a light field.
struct LightField {
  std::vector<Array<float, 3>> images;
  std::vector<SmoeFitView> views;

  explicit LightField(double shift = 2) {
    for (int v = -1; v <= 1; ++v) {
      for (int u = -1; u <= 1; ++u) images.push_back(picture(u, v, shift));
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
      views.push_back({images[i].view(), {static_cast<double>(i % 3) - 1, static_cast<double>(i / 3) - 1}});
    }
  }
};

/// PSNR of the decoded file's pictures, rounded to codes of 8 bits: independent of the recipe.
double measured_psnr(const std::vector<std::byte>& bytes, const std::vector<SmoeFitView>& views) {
  SmoeRenderer renderer(decode_smoe(bytes, "file"));
  double sum = 0;
  std::int64_t count = 0;
  const auto code = [](float value) {
    return std::floor(255 * std::min(std::max(double{value}, 0.0), 1.0) + 0.5) / 255;
  };
  for (const auto& view : views) {
    const auto& shape = view.image.shape();
    Array<float, 3> rendered(shape);
    renderer.render({{shape[0], shape[1]}, {}, {}, view.at}, rendered.view());
    for (std::int64_t i = 0; i < rendered.size(); ++i, ++count) {
      sum += std::pow(code(rendered.data()[i]) - code(view.image.data()[i]), 2);
    }
  }
  return -10 * std::log10(sum / static_cast<double>(count));
}

class Mixtures : public support::OnEachDevice {};

TEST_P(Mixtures, ALightFieldReachesItsPsnr) {
  const LightField field;
  on_each([&](Device device) {
    std::int64_t attempts = 0;
    MixtureFitOptions options{.psnr_db = 30, .iterations = 120};
    options.on_attempt = [&](std::int64_t attempt, std::int64_t components) {
      EXPECT_EQ(attempt, ++attempts);
      EXPECT_GE(components, 1);
    };
    const MixtureFit found = fit_mixture(field.views, options, device);
    EXPECT_GE(attempts, 2);
    const double measured = measured_psnr(found.bytes, field.views);
    EXPECT_GE(measured, 30);
    EXPECT_NEAR(found.psnr_db, measured, 0.05);
    // The views as they are have 20736 bytes.
    EXPECT_LT(found.bytes.size(), 5000U);
    EXPECT_LT(found.model.count(), side * side / 4);
  });
}

TEST_P(Mixtures, AFileHasAtMostTheBytesAskedFor) {
  const LightField field;
  on_each([&](Device device) {
    std::int64_t announced = 0;
    double before = 0;
    for (const std::int64_t most : {300, 900}) {
      MixtureFitOptions options{.max_bytes = most, .iterations = 60};
      options.on_components = [&](std::int64_t components, bool) { announced = components; };
      const MixtureFit found = fit_mixture(field.views, options, device);
      EXPECT_LE(std::ssize(found.bytes), most);
      EXPECT_GT(std::ssize(found.bytes), most / 2);
      EXPECT_EQ(found.model.count(), announced);
      EXPECT_EQ(found.iterations, 60);
      const double measured = measured_psnr(found.bytes, field.views);
      EXPECT_NEAR(found.psnr_db, measured, 0.05);
      EXPECT_GT(measured, before + 1);
      before = measured;
    }
  });
}

HOLOTONE_ON_CPU_AND_CUDA(Mixtures);

TEST(MixtureFits, APsnrOutOfReachIsReportedNotThrown) {
  const auto image = picture(0, 0, 0);
  const std::vector<SmoeFitView> views{{image.view(), {}}};
  const MixtureFit found = fit_mixture(views, {.components = 2, .psnr_db = 60, .iterations = 5});
  EXPECT_LT(found.psnr_db, 60);
  EXPECT_EQ(found.end, MixtureFitEnd::options);
  EXPECT_EQ(found.model.count(), 2);
}

TEST(MixtureFits, LosslessFilesKeepEveryFloatOfTheFit) {
  const auto image = picture(0, 0, 0);
  const std::vector<SmoeFitView> views{{image.view(), {}}};
  const MixtureFit found = fit_mixture(views, {.components = 6, .lossless = true, .iterations = 10, .seed = 3});
  const SmoeModel direct = fit_smoe(image.view(), {.components = 6, .iterations = 10, .seed = 3});
  EXPECT_EQ(found.model.centre, direct.centre);
  EXPECT_EQ(found.model.colour, direct.colour);
  EXPECT_EQ(decode_smoe(found.bytes, "file").covariance, direct.covariance);
  // Without a number of components a fit from a model keeps its own.
  const MixtureFit again = fit_mixture(views, found.model, {.lossless = true, .iterations = 0});
  EXPECT_EQ(again.model.count(), 6);
}

TEST(MixtureFits, OptionsOutOfRangeAreNamed) {
  const auto image = picture(0, 0, 0);
  const std::vector<SmoeFitView> views{{image.view(), {}}};
  const auto refused = [&](const MixtureFitOptions& options, std::string_view argument) {
    try {
      (void)fit_mixture(views, options);
      ADD_FAILURE() << argument;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.argument(), argument);
    }
  };
  refused({.components = 0}, "components");
  refused({.psnr_db = 0.5}, "psnr_db");
  refused({.psnr_db = std::nan("")}, "psnr_db");
  refused({.max_bytes = 0}, "max_bytes");
  refused({.max_bytes = 20}, "max_bytes");
  refused({.quality = 101}, "quality");
  refused({.max_bytes = 900, .quality = 50}, "quality");
  refused({.max_bytes = 900, .lossless = true}, "lossless");
  refused({.time_limit_s = 0}, "time_limit_s");
  refused({.iterations = -1}, "iterations");
  refused({.bits = 12}, "bits");
}

TEST(MixtureComparisons, MeasureEachPictureAndAll) {
  const auto image = picture(0, 0, 0);
  const auto other = picture(1, 0, 2);
  const std::vector<SmoeFitView> one{{image.view(), {}}};
  const SmoeModel model = fit_smoe(image.view(), {.components = 30, .iterations = 40});
  const auto bytes = encode_smoe(model, {.lossless = true, .steps = {}});
  const std::vector<SmoeFitView> two{{image.view(), {}}, {other.view(), {}}};
  const auto compared = compare_mixture(model, two, 8, true);
  ASSERT_EQ(compared.each.size(), 2U);
  EXPECT_NEAR(compared.each[0], measured_psnr(bytes, one), 1e-3);
  EXPECT_NEAR(compared.psnr_db, measured_psnr(bytes, two), 1e-3);
  EXPECT_GT(compared.each[0], compared.each[1] + 3);
  ASSERT_EQ(compared.colours.size(), 2U);
  EXPECT_NEAR(compared.colours[1].psnr_y_db, compared.each[1], 0.2);
}

TEST(Parallaxes, AreFoundInALightField) {
  const auto find = [](double right_u, double right_v, double next_u, double next_v) {
    const auto middle = picture(0, 0, 1);
    const auto right = picture(right_u, right_v, 1);
    const auto next = picture(next_u, next_v, 1);
    return find_parallax(middle.view(), right.view(), next.view());
  };
  EXPECT_FALSE(find(1, 0, 0, 1).opposite);
  EXPECT_FALSE(find(1, 0, 0, 1).swapped);
  EXPECT_TRUE(find(1, 0, 0, -1).opposite);
  EXPECT_TRUE(find(0, 1, 1, 0).swapped);
  const Array<float, 3> small({8, 8, 1});
  const auto middle = picture(0, 0, 1);
  EXPECT_THROW((void)find_parallax(middle.view(), middle.view(), small.view()), Error);
}

}  // namespace
}  // namespace holotone
