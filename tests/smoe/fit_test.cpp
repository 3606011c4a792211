// Fits of steered mixtures of experts.
#include <chrono>
#include <fmt/format.h>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit/steps.hpp>
#include <holotone/smoe/render.hpp>
#include <omp.h>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

Array<float, 3> picture(const SmoeModel& model, const Shape<2>& size) {
  SmoeRenderOptions options;
  options.tolerance = 1e-5;
  SmoeRenderer renderer(model, {}, options);
  Array<float, 3> image({size[0], size[1], model.channels});
  SmoeView view;
  view.size = size;
  renderer.render(view, image.view());
  return image;
}

/// Affine patches with edges between them.
Array<float, 3> patches(int channels = 3) {
  cases::SmoeCase c;
  c.components = 20;
  c.width = 64;
  c.height = 48;
  c.channels = channels;
  c.slope = 0.005;
  c.large_share = 0;
  return picture(cases::make_smoe(c), {48, 64});
}

double psnr(const Array<float, 3>& a, const Array<float, 3>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double off = static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]);
    sum += off * off;
  }
  return -10 * std::log10(sum / static_cast<double>(a.size()));
}

void expect_same(const SmoeModel& a, const SmoeModel& b) {
  EXPECT_EQ(a.log_weight, b.log_weight);
  EXPECT_EQ(a.centre, b.centre);
  EXPECT_EQ(a.covariance, b.covariance);
  EXPECT_EQ(a.colour, b.colour);
  EXPECT_EQ(a.slope, b.slope);
}

class SmoeFits : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(SmoeFits);

TEST_P(SmoeFits, RecoversAffinePatches) {
  on_each([](Device device) {
    const auto image = patches();
    SmoeFitter fitter(image.view(), {.components = 40, .iterations = 300}, device);
    fitter.run();
    const auto model = fitter.model();
    require_model("fit", model);
    EXPECT_EQ(model.count(), 40);
    const double reached = psnr(picture(model, {48, 64}), image);
    std::printf("patches: %.2f dB, measured by the fit %.2f dB\n", reached, fitter.psnr_db());
    EXPECT_GT(reached, 45);
    EXPECT_NEAR(reached, fitter.psnr_db(), 0.05);
  });
}

TEST_P(SmoeFits, ExpertsAreSolvedForInOneRound) {
  on_each([](Device device) {
    const auto image = patches();
    cases::SmoeCase c;
    c.components = 20;
    c.width = 64;
    c.height = 48;
    c.slope = 0.005;
    c.large_share = 0;
    auto model = cases::make_smoe(c);
    std::fill(model.colour.begin(), model.colour.end(), 0.5F);
    std::fill(model.slope.begin(), model.slope.end(), 0.0F);
    SmoeFitter fitter(image.view(), model, {.components = 20, .iterations = 0}, device);
    fitter.run();
    std::printf("experts alone: %.2f dB\n", fitter.psnr_db());
    EXPECT_GT(fitter.psnr_db(), 40);
  });
}

TEST_P(SmoeFits, ExpectationMaximisationRaisesItsLikelihood) {
  on_each([](Device device) {
    const auto image = patches();
    const std::vector<SmoeFitView> views{{image.view(), {}}};
    auto components = smoe::start_components(image.view(), 40, 1);
    std::vector<double> variance(components.size(), smoe::first_variance);
    const auto engine = smoe::fit_engine("test", views, device);
    engine->put(components);
    engine->select(0, 1e-7);
    const std::size_t which[] = {0};
    double last = -INFINITY;
    double first = 0;
    for (int step = 0; step < 25; ++step) {
      engine->select(0, 1e-7);
      const double likelihood = smoe::maximise_expectation(*engine, components, variance, which);
      if (step == 0) first = likelihood;
      // float32 densities: errors in the last places of a sum over 3,072 pixels.
      EXPECT_GE(likelihood, last - 1e-5 * std::abs(last)) << "step " << step;
      last = likelihood;
    }
    EXPECT_GT(last, first + 1000);
    SmoeFitter fitter(image.view(), {.components = 40, .method = SmoeFitMethod::em, .iterations = 100}, device);
    fitter.run();
    std::printf("EM alone: %.2f dB\n", fitter.psnr_db());
    EXPECT_GT(fitter.psnr_db(), 25);
  });
}

// Sums differ by rounding, 1e-6 of the largest; 60 steps and a relocation of components amplify it.
TEST_P(SmoeFits, AgreeWithTheCpu) {
  on_each([](Device device) {
    const auto image = patches();
    const auto reached = [&](const Queue& queue) {
      SmoeFitter fitter(image.view(), {.components = 50, .iterations = 60, .seed = 3}, queue);
      fitter.run();
      return fitter.psnr_db();
    };
    support::expect_within(to_string(device) + ", dB from the CPU", std::abs(reached(device) - reached({})), 0.1);
  });
}

TEST_P(SmoeFits, SameSeedSameBitsEachTime) {
  on_each([](Device device) {
    const auto image = patches();
    const auto fit = [&] { return fit_smoe(image.view(), {.components = 50, .iterations = 60, .seed = 7}, device); };
    expect_same(fit(), fit());
  });
}

TEST(SmoeFit, SameSeedSameBitsOnAnyNumberOfThreads) {
  const auto image = patches();
  const auto fit = [&](int threads, std::uint64_t seed) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    auto model = fit_smoe(image.view(), {.components = 50, .iterations = 60, .seed = seed});
    omp_set_num_threads(before);
    return model;
  };
  const auto alone = fit(1, 7);
  expect_same(alone, fit(2, 7));
  expect_same(alone, fit(3, 7));
  EXPECT_NE(alone.centre, fit(1, 8).centre);
}

TEST_P(SmoeFits, AnyImageAndAnyNumberOfComponents) {
  on_each([](Device device) {
    for (const int channels : {1, 2, 4}) {
      const auto image = patches(channels);
      SmoeFitter fitter(image.view(), {.components = 40, .iterations = 80}, device);
      fitter.run();
      std::printf("%d channels: %.2f dB\n", channels, fitter.psnr_db());
      EXPECT_GT(fitter.psnr_db(), 35) << channels;
    }
    for (const auto& shape : {Shape<3>{1, 1, 3}, Shape<3>{1, 9, 1}, Shape<3>{5, 3, 2}}) {
      Array<float, 3> image(shape);
      for (std::int64_t i = 0; i < image.size(); ++i)
        image.data()[i] = random_uniform(3, static_cast<std::uint64_t>(i));
      for (const std::int64_t components : {1, 40}) {
        for (const auto method : {SmoeFitMethod::gradient, SmoeFitMethod::em}) {
          SmoeFitter fitter(image.view(), {.components = components, .method = method, .iterations = 5}, device);
          fitter.run();
          const auto model = fitter.model();
          require_model("fit", model);
          EXPECT_EQ(model.count(), components);
          EXPECT_GT(psnr(picture(model, {shape[0], shape[1]}), image), 5);
        }
      }
    }
    Array<float, 3> flat({20, 30, 3});
    std::fill_n(flat.data(), flat.size(), 0.25F);
    SmoeFitter fitter(flat.view(), {.components = 10, .iterations = 20}, device);
    fitter.run();
    EXPECT_GT(fitter.psnr_db(), 80);
  });
}

TEST_P(SmoeFits, ResumesPrunesAndGrows) {
  on_each([](Device device) {
    const auto image = patches();
    SmoeFitter first(image.view(), {.components = 40, .iterations = 100}, device);
    first.run();
    SmoeFitter again(image.view(), first.model(), {.components = 40, .iterations = 100}, device);
    again.run();
    std::printf("100 steps %.2f dB, 100 more %.2f dB\n", first.psnr_db(), again.psnr_db());
    EXPECT_GT(again.psnr_db(), first.psnr_db());
    for (const std::int64_t components : {10, 30, 41, 200}) {
      SmoeFitter other(image.view(), first.model(), {.components = components, .iterations = 30}, device);
      EXPECT_EQ(other.model().count(), components);
      other.run();
      std::printf("%lld components: %.2f dB\n", static_cast<long long>(components), other.psnr_db());
      EXPECT_GT(other.psnr_db(), components < 30 ? 20 : 30);
    }
  });
}

TEST_P(SmoeFits, EndsAtThePsnrAskedFor) {
  on_each([](Device device) {
    const auto image = patches();
    SmoeFitter enough(image.view(), {.components = 60, .iterations = 5000, .psnr_db = 35}, device);
    enough.run();
    EXPECT_GE(enough.psnr_db(), 35);
    EXPECT_LT(enough.iterations(), 1000);
    SmoeFitter grown(image.view(), {.components = 0, .iterations = 100, .psnr_db = 32}, device);
    grown.run();
    std::printf("32 dB asked for: %.2f dB with %lld components\n", grown.psnr_db(),
                static_cast<long long>(grown.model().count()));
    EXPECT_GE(grown.psnr_db(), 32);
    EXPECT_LT(grown.model().count(), 200);
  });
}

class CancelAt final : public Progress {
 public:
  explicit CancelAt(int calls) : left_(calls) {}
  bool update(std::string_view, std::int64_t, std::int64_t) override { return left_-- > 0; }

 private:
  int left_;
};

TEST_P(SmoeFits, CanBeCancelledAndHasATimeLimit) {
  on_each([](Device device) {
    const auto image = patches();
    SmoeFitter fitter(image.view(), {.components = 50, .iterations = 1000000}, device);
    CancelAt soon(3);
    expect_error(ErrorCode::cancelled, "cancelled", [&] { fitter.run(soon); });
    require_model("cancelled fit", fitter.model());
    const auto begin = std::chrono::steady_clock::now();
    SmoeFitter limited(image.view(), {.components = 50, .iterations = 1000000, .time_limit_s = 0.5}, device);
    limited.run();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LT(limited.iterations(), 1000000);
    EXPECT_LT(took, 20);
    EXPECT_GT(limited.psnr_db(), 20);
  });
}

TEST(SmoeFit, RefusesBadArguments) {
  auto image = patches();
  const auto refuse = [&](const std::string& text, View<const float, 3> picture, const SmoeFitOptions& options) {
    expect_error(ErrorCode::invalid_argument, text, [&] { SmoeFitter(picture, options); });
  };
  refuse("SmoeFitter: components: expected 0 to 16777216, got -1", image.view(), {.components = -1});
  refuse("components: expected > 0 unless psnr_db is given, got 0", image.view(), {.components = 0});
  refuse("iterations: expected 0 to 1000000, got -5", image.view(), {.iterations = -5});
  refuse("psnr_db", image.view(), {.psnr_db = NAN});
  refuse("time_limit_s", image.view(), {.time_limit_s = -1});
  refuse("image: expected sides of 1 to 65536 pixels, 1 to 4 channels, got {48, 0, 3}",
         View<const float, 3>(image.data(), {48, 0, 3}), {});
  refuse("1 to 4 channels, got {8, 8, 5}", View<const float, 3>(image.data(), {8, 8, 5}), {});
  expect_error(ErrorCode::invalid_argument,
               "start: expected a model of 64 x 48 pixels, 3 channels and 2 dimensions, got 60 x 45 pixels",
               [&] { SmoeFitter(image.view(), cases::make_smoe({}), {}); });
  image.data()[100] = INFINITY;
  refuse("image: expected finite colours, got inf", image.view(), {});
}

}  // namespace
}  // namespace holotone
