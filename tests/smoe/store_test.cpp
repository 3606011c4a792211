// Fitted models as files whose values are optimized on the pictures.
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <holotone/smoe/render.hpp>
#include <holotone/smoe/store.hpp>
#include <holotone/smoe/store/store_detail.hpp>
#include <omp.h>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;

/// Pictures of a model from some views, plus a wave that no component contains.
struct Scene {
  std::vector<Array<float, 3>> images;
  std::vector<std::vector<double>> at;

  [[nodiscard]] std::vector<SmoeFitView> views() const {
    std::vector<SmoeFitView> result;
    for (std::size_t i = 0; i < images.size(); ++i) result.push_back({images[i].view(), at[i]});
    return result;
  }
};

Scene scene_of(int channels, const std::vector<std::vector<double>>& places) {
  cases::SmoeCase c;
  c.components = 60;
  c.width = 67;
  c.height = 45;
  c.channels = channels;
  c.slope = 0.01;
  SmoeRenderer renderer(cases::make_smoe(c));
  Array<float, 3> whole({45, 67, channels});
  renderer.render({{45, 67}, {}, {}, {}}, whole.view());
  Scene scene{{}, places};
  for (const auto& at : places) {
    auto& image = scene.images.emplace_back(Shape<3>{45, 67, channels});
    for (std::int64_t y = 0; y < 45; ++y) {
      for (std::int64_t x = 0; x < 67; ++x) {
        const double shift = at.empty() ? 0 : 1.5 * at[0];
        const auto from = std::clamp<std::int64_t>(x + std::lround(shift), 0, 66);
        for (std::int64_t k = 0; k < channels; ++k) {
          const double wave = 0.03 * std::sin(0.9 * (static_cast<double>(x) + shift) + 0.7 * static_cast<double>(y));
          image(y, x, k) = whole(y, from, k) + static_cast<float>(wave);
        }
      }
    }
  }
  return scene;
}

SmoeModel fitted(const Scene& scene, std::int64_t components) {
  SmoeFitter fitter(scene.views(), {.components = components, .iterations = 120});
  fitter.run();
  return fitter.model();
}

double psnr(const Scene& scene, const SmoeModel& model) {
  SmoeRenderer renderer(model);
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < scene.images.size(); ++i) {
    const auto& image = scene.images[i];
    Array<float, 3> picture(image.shape());
    renderer.render({{image.shape()[0], image.shape()[1]}, {}, {}, scene.at[i]}, picture.view());
    for (std::int64_t k = 0; k < image.size(); ++k) {
      const double off = static_cast<double>(picture.data()[k]) - static_cast<double>(image.data()[k]);
      sum += off * off;
    }
    count += image.size();
  }
  return -10 * std::log10(sum / static_cast<double>(count));
}

const std::vector<std::vector<double>> one_view{{}};
const std::vector<std::vector<double>> row_of_views{{-1}, {0}, {1}};
const std::vector<std::vector<double>> grid_of_views{{-1, -1}, {1, -1}, {0, 0}, {-1, 1}, {1, 1}};

void expect_better(const Scene& scene, int channels, double min_gain, const Queue& queue) {
  const auto model = fitted(scene, 60);
  const std::int64_t bytes = scene.at[0].size() == 2 ? 850 : 600;
  const auto plain = encode_smoe_bytes(model, bytes);
  const auto chosen = store_smoe(scene.views(), model, {.max_bytes = bytes}, queue);
  EXPECT_LE(std::ssize(chosen.bytes), bytes);
  const double before = psnr(scene, decode_smoe(plain.bytes, "plain"));
  const double after = psnr(scene, decode_smoe(chosen.bytes, "chosen"));
  std::printf("%d channels, %zu views, %lld bytes: rounded %.2f dB, chosen %.2f dB in %zu, exact %.2f dB\n", channels,
              scene.at.size(), static_cast<long long>(bytes), before, after, chosen.bytes.size(), psnr(scene, model));
  EXPECT_GT(after, before + min_gain);
}

class SmoeStores : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(SmoeStores);

TEST_P(SmoeStores, TheSameBytesShowMoreThanRoundingDoes) {
  on_each([](Device device) {
    for (const int channels : {1, 3, 4}) expect_better(scene_of(channels, one_view), channels, 1.0, device);
    expect_better(scene_of(3, row_of_views), 3, 1.0, device);
    expect_better(scene_of(3, grid_of_views), 3, 1.0, device);
  });
}

TEST_P(SmoeStores, ManyComponentsAPixelDoNotOvershoot) {
  on_each([](Device device) {
    const auto scene = scene_of(3, one_view);
    const auto model = fitted(scene, 800);
    for (const double quality : {20.0, 60.0}) {
      const auto plain = encode_smoe(model, {.lossless = false, .steps = smoe_steps(model, quality)});
      const auto chosen = store_smoe(scene.views(), model, {.quality = quality}, device);
      const double before = psnr(scene, decode_smoe(plain, "plain"));
      const double after = psnr(scene, decode_smoe(chosen.bytes, "chosen"));
      std::printf("800 components, quality %.0f: rounded %.2f dB in %zu bytes, chosen %.2f dB in %zu\n", quality,
                  before, plain.size(), after, chosen.bytes.size());
      EXPECT_GT(after, before);
      EXPECT_LT(chosen.bytes.size(), 2 * plain.size());
    }
  });
}

TEST_P(SmoeStores, TheSameBytesEachTime) {
  on_each([](Device device) {
    const auto scene = scene_of(3, row_of_views);
    const auto model = fitted(scene, 40);
    const SmoeStoreOptions options{.quality = 50, .steps = 24};
    EXPECT_EQ(store_smoe(scene.views(), model, options, device).bytes,
              store_smoe(scene.views(), model, options, device).bytes);
  });
}

// Size of a seeded scene's stored picture at the time of writing, plus a margin: detects rate regressions.
TEST(SmoeStore, KeepsItsRate) {
  const auto scene = scene_of(3, one_view);
  const auto model = fitted(scene, 60);
  const auto file = store_smoe(scene.views(), model, {.quality = 45});
  const double near = psnr(scene, decode_smoe(file.bytes, "file"));
  std::printf("%zu bytes, %.2f dB\n", file.bytes.size(), near);
  EXPECT_LT(file.bytes.size(), 665U);
  EXPECT_GT(near, 36.4);
}

TEST(SmoeStore, TheSameBytesOnAnyNumberOfThreads) {
  const auto scene = scene_of(3, row_of_views);
  const auto model = fitted(scene, 40);
  const SmoeStoreOptions options{.quality = 50, .steps = 24};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = store_smoe(scene.views(), model, options);
  omp_set_num_threads(3);
  const auto three = store_smoe(scene.views(), model, options);
  omp_set_num_threads(threads);
  EXPECT_EQ(one.bytes, three.bytes);
}

TEST(SmoeStore, RoundedGatesAreThoseOfTheFile) {
  for (const auto& places : {one_view, grid_of_views}) {
    const auto scene = scene_of(3, places);
    const auto views = scene.views();
    smoe::StoreScene stored("test", views, {});
    const auto model = fitted(scene, 40);
    const auto steps = smoe::steps_at(smoe::balanced_steps(stored, model), model, 35, 35);
    const auto gates = smoe::rounded_gates(stored, model, steps, 16, [] {});
    const auto again = smoe::quantised_gates(gates, steps);
    EXPECT_EQ(again.centre, gates.centre);
    EXPECT_EQ(again.covariance, gates.covariance);
    EXPECT_EQ(again.log_weight, gates.log_weight);
    EXPECT_NE(model.centre, gates.centre);
  }
}

// Rounding experts in turn gives a smaller error than rounding all at once, in as many bytes. Compilers' roundings
// decide a few of the experts.
TEST(SmoeStore, RoundedExpertsCostLess) {
  for (const int channels : {1, 3}) {
    const auto scene = scene_of(channels, one_view);
    const auto views = scene.views();
    smoe::StoreScene stored("test", views, {});
    const auto model = fitted(scene, 60);
    const auto steps = smoe::steps_at(smoe::balanced_steps(stored, model), model, 60, 35);
    const auto gates = smoe::rounded_gates(stored, model, steps, 16, [] {});
    auto chosen = smoe::rounded_experts(stored, gates, steps, [] {});
    auto plain = smoe::quantise(gates, steps);
    const double near = psnr(scene, smoe::dequantise(chosen));
    const double before = psnr(scene, smoe::dequantise(plain));
    const auto bytes = smoe::file_bytes(chosen).size();
    const auto bytes_before = smoe::file_bytes(plain).size();
    std::printf("%d channels: %.2f dB in %zu bytes, rounded at once %.2f dB in %zu\n", channels, near, bytes, before,
                bytes_before);
    EXPECT_GT(near, before + 0.3);
    EXPECT_LE(static_cast<double>(bytes), 1.01 * static_cast<double>(bytes_before));
  }
}

TEST(SmoeStore, RefusesWhatItCannotStore) {
  const auto scene = scene_of(3, one_view);
  const auto model = fitted(scene, 20);
  const auto views = scene.views();
  expect_error(ErrorCode::invalid_argument, "store_smoe: quality: expected",
               [&] { store_smoe(views, model, {.quality = 101}); });
  expect_error(ErrorCode::invalid_argument, "store_smoe: max_bytes: expected at least",
               [&] { store_smoe(views, model, {.max_bytes = 100, .steps = 8}); });
  auto wide = model;
  wide.high[0] += 1;
  expect_error(ErrorCode::invalid_argument, "store_smoe: start: expected a model of 67 x 45 pixels",
               [&] { store_smoe(views, wide); });
  expect_error(ErrorCode::invalid_argument, "store_smoe: views",
               [&] { store_smoe(std::vector<SmoeFitView>{}, model); });
}

// For any picture, files of a given number of components fit into the stated minimum of bytes.
TEST(SmoeStore, TheLeastBytesArePossible) {
  for (const int channels : {1, 4}) {
    for (const auto& places : {one_view, grid_of_views}) {
      const auto scene = scene_of(channels, places);
      const auto views = scene.views();
      for (const std::int64_t components : {1, 10, 200}) {
        const auto model = fitted(scene, components);
        const auto least = smoe_min_bytes(components, model.dimensions, channels);
        const auto file = store_smoe(views, model, {.max_bytes = least, .steps = 8});
        EXPECT_LE(std::ssize(file.bytes), least) << components;
        EXPECT_EQ(decode_smoe(file.bytes, "file").count(), components);
      }
    }
  }
  expect_error(ErrorCode::invalid_argument, "smoe_min_bytes: components: expected", [] { smoe_min_bytes(0, 2, 3); });
}

TEST(SmoeStore, EndsWhenItsTimeIsOver) {
  const auto scene = scene_of(3, one_view);
  const auto model = fitted(scene, 40);
  const auto views = scene.views();
  for (const std::int64_t bytes : {0, 400}) {
    const auto start = std::chrono::steady_clock::now();
    const auto file = store_smoe(views, model, {.max_bytes = bytes, .steps = 1000000, .time_limit_s = 0.3});
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%lld bytes in %.2f s of 0.3\n", static_cast<long long>(file.bytes.size()), took);
    EXPECT_LT(took, 5) << "a million steps take many minutes";
    EXPECT_EQ(decode_smoe(file.bytes, "file").count(), 40);
    if (bytes > 0) {
      EXPECT_LE(std::ssize(file.bytes), bytes);
    }
  }
  expect_error(ErrorCode::invalid_argument, "store_smoe: time_limit_s",
               [&] { store_smoe(views, model, {.time_limit_s = -1}); });
}

TEST(SmoeStore, ComponentsForBytesHaveFourBitsForEachNumberAndMoreWithoutChroma) {
  EXPECT_EQ(smoe_components_for(140 + 60 * 100 / 8, 2, 3), 100);
  EXPECT_EQ(smoe_components_for(140 + 120 * 100 / 8, 4, 3), 100);
  EXPECT_EQ(smoe_components_for(140 + 522 * 100 / 80, 2, 1), 100);
  EXPECT_EQ(smoe_components_for(140 + 696 * 100 / 80, 2, 2), 100);
  EXPECT_EQ(smoe_components_for(0, 2, 1), 1);
  EXPECT_EQ(smoe_components_for(INT64_MAX, 2, 1), max_smoe_components);
  expect_error(ErrorCode::invalid_argument, "smoe_components_for: dimensions: expected 1 to 4, got 5",
               [] { smoe_components_for(1000, 5, 3); });
}

TEST(SmoeStore, CanBeCancelled) {
  struct Refuse : Progress {
    bool update(std::string_view stage, std::int64_t, std::int64_t) override { return stage != "storing"; }
  } refuse;
  const auto scene = scene_of(3, one_view);
  const auto model = fitted(scene, 20);
  expect_error(ErrorCode::cancelled, "storing", [&] { store_smoe(scene.views(), model, {}, {}, refuse); });
}

}  // namespace
}  // namespace holotone
