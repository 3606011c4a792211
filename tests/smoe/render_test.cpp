// Pictures of steered mixtures of experts against the float64 sum of all components.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/smoe/render.hpp>
#include <map>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

SmoeView whole(const SmoeModel& model, Shape<2> size, std::vector<double> at = {}) {
  return {
      size, {model.low[0], model.low[1]}, {model.high[0] - model.low[0], model.high[1] - model.low[1]}, std::move(at)};
}

Array<float, 3> picture(const SmoeModel& model, const SmoeView& view, Device device,
                        const SmoeRenderOptions& options = {}, SmoeRenderInfo* info = nullptr) {
  const auto queue = Queue::create(device);
  SmoeRenderer renderer(model, queue, options);
  Array<float, 3> image({view.size[0], view.size[1], model.channels}, queue);
  renderer.render(view, image.view());
  if (info != nullptr) *info = renderer.info();
  return image.to(Device{});
}

/// Largest difference from the sum of all components, at every `step`th pixel.
double largest_error(const SmoeModel& model, const SmoeView& view, const Array<float, 3>& image,
                     std::int64_t step = 1) {
  const auto experts = cases::experts_of(model);
  double worst = 0;
  for (std::int64_t i = 0; i < view.size[0] * view.size[1]; i += step) {
    const std::int64_t row = i / view.size[1];
    const std::int64_t column = i % view.size[1];
    std::vector<double> x{
        view.corner[0] + (static_cast<double>(column) + 0.5) * view.extent[0] / static_cast<double>(view.size[1]),
        view.corner[1] + (static_cast<double>(row) + 0.5) * view.extent[1] / static_cast<double>(view.size[0])};
    x.insert(x.end(), view.at.begin(), view.at.end());
    const auto expected = reference::mixture(experts, x);
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const double error =
          std::abs(static_cast<double>(image(row, column, static_cast<std::int64_t>(c))) - expected[c]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

class SmoeRender : public support::OnEachRenderer {
 protected:
  void check(const std::string& what, const SmoeModel& model, const SmoeView& view, double tolerance,
             std::int64_t step = 1) const {
    on_each([&](Device device) {
      SmoeRenderOptions options;
      options.tolerance = tolerance;
      SmoeRenderInfo info;
      const auto image = picture(model, view, device, options, &info);
      // Accuracy limit of a float32 picture.
      const double floor = 2e-7;
      expect_within(
          fmt::format("{}, {:.1f} components a tile, {} in float64", what, info.components_per_tile, info.robust_tiles),
          largest_error(model, view, image, step), tolerance + floor);
    });
  }
};
HOLOTONE_ON_EACH_DEVICE(SmoeRender);

TEST_P(SmoeRender, HoldsEveryTolerance) {
  const auto model = cases::make_smoe({});
  for (const double tolerance : {0.1, 1e-2, 0.25 / 255, 1e-4, 1e-5, 1e-6}) {
    check(fmt::format("tolerance {:.0e}", tolerance), model, whole(model, {45, 60}), tolerance);
  }
}

TEST_P(SmoeRender, HoldsItForOddModels) {
  const double tolerance = 0.25 / 255;
  cases::SmoeCase steep;
  steep.slope = 20;
  check("slopes of 20 a pixel", cases::make_smoe(steep), whole(cases::make_smoe(steep), {45, 60}), tolerance);
  // If colours diverge between the centres, bounds by the largest colour are loose.
  cases::SmoeCase rough;
  rough.slope = 0.4;
  rough.stretch = 0.8;
  check("slopes of 0.4 a pixel", cases::make_smoe(rough), whole(cases::make_smoe(rough), {45, 60}), tolerance);
  cases::SmoeCase varied;
  varied.stretch = 1.5;
  varied.large_share = 0.1;
  check("tiny and huge components", cases::make_smoe(varied), whole(cases::make_smoe(varied), {45, 60}), tolerance);
  cases::SmoeCase corner;
  corner.high = 0.2;
  corner.width = 200;
  corner.height = 150;
  corner.components = 2000;
  check("all of them in a corner", cases::make_smoe(corner), whole(cases::make_smoe(corner), {150, 200}), tolerance,
        37);
  cases::SmoeCase outside;
  outside.low = 1.5;
  outside.high = 2;
  check("none in the picture", cases::make_smoe(outside), whole(cases::make_smoe(outside), {45, 60}), tolerance);
  // Far from its centre the density of a needle is a small difference of large numbers.
  auto needles = cases::make_smoe({});
  for (std::size_t j = 0; j < needles.log_weight.size(); ++j) {
    const double angle = 0.1 + 3 * holotone::random_uniform64(7, j);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    constexpr double along = 40 * 40;
    constexpr double across = 0.3 * 0.3;
    needles.covariance[3 * j] = static_cast<float>(c * c * along + s * s * across);
    needles.covariance[3 * j + 1] = static_cast<float>(c * s * (along - across));
    needles.covariance[3 * j + 2] = static_cast<float>(s * s * along + c * c * across);
  }
  check("needles of 40 x 0.3 pixels", needles, whole(needles, {45, 60}), tolerance);
  // Beyond the reach of the few heavy components, the dominant ones have weights below the range of float32.
  cases::SmoeCase narrow;
  narrow.slope = 0;
  narrow.stretch = 0.1;
  auto light = cases::make_smoe(narrow);
  for (std::size_t j = 5; j < light.log_weight.size(); ++j)
    light.log_weight[j] = -120 - 0.1F * static_cast<float>(j % 7);
  check("weights of e^-120 beside a few of 1", light, whole(light, {45, 60}), tolerance);
  cases::SmoeCase few;
  few.components = 3;
  few.channels = 1;
  check("three of one channel", cases::make_smoe(few), whole(cases::make_smoe(few), {45, 60}), tolerance);
}

TEST_P(SmoeRender, SumsFewComponentsATile) {
  cases::SmoeCase many;
  many.components = 20000;
  many.width = 480;
  many.height = 300;
  const auto model = cases::make_smoe(many);
  const auto view = whole(model, {300, 480});
  on_each([&](Device device) {
    SmoeRenderInfo info;
    const auto image = picture(model, view, device, {}, &info);
    expect_within(fmt::format("20,000 components, {:.1f} a tile", info.components_per_tile),
                  largest_error(model, view, image, 1009), 0.25 / 255);
    EXPECT_LT(info.components_per_tile, 400);
    EXPECT_GT(info.components_per_tile, 10);
  });
}

TEST_P(SmoeRender, ManyComponentsAPixelAreSummedInParts) {
  cases::SmoeCase many;
  many.components = 3000;
  many.width = 120;
  many.height = 75;
  many.stretch = 0.1;
  many.large_share = 1;
  const auto model = cases::make_smoe(many);
  const auto view = whole(model, {30, 48});
  on_each([&](Device device) {
    SmoeRenderInfo info;
    const auto image = picture(model, view, device, {}, &info);
    expect_within(fmt::format("3,000 components in 30 x 48 pixels, {:.0f} a tile", info.components_per_tile),
                  largest_error(model, view, image), 0.25 / 255);
    EXPECT_EQ(info.robust_tiles, 0) << "the case is to be summed in float32";
  });
  many.components = 20000;
  many.large_share = 0.01;
  check("20,000 components in 30 x 48 pixels", cases::make_smoe(many), view, 0.25 / 255, 7);
}

TEST_P(SmoeRender, ManyViewsAtOnceAreThoseOfOneEach) {
  cases::SmoeCase c;
  c.dimensions = 4;
  const auto model = cases::make_smoe(c);
  std::vector<SmoeView> views;
  for (const double u : {-1.0, 0.25, 1.0}) views.push_back(whole(model, {45, 60}, {u, -0.5 * u}));
  on_each([&](Device device) {
    const auto queue = Queue::create(device);
    SmoeRenderer renderer(model, queue);
    Array<float, 4> images({3, 45, 60, 3}, queue);
    renderer.render(views, images.view());
    const auto host = images.to(Device{});
    for (std::size_t i = 0; i < views.size(); ++i) {
      const auto alone = picture(model, views[i], device);
      const float* const values = host.data() + static_cast<std::int64_t>(i) * alone.size();
      EXPECT_TRUE(std::equal(values, values + alone.size(), alone.data())) << "view " << i;
    }
  });
}

TEST_P(SmoeRender, CloseViewsHoldEveryTolerance) {
  cases::SmoeCase c;
  c.dimensions = 4;
  c.components = 500;
  const auto model = cases::make_smoe(c);
  const auto dense = cases::dense_smoe(4, 500, 60, 45);
  std::vector<SmoeView> views;
  for (int i = 0; i < 15; ++i) views.push_back(whole(model, {45, 60}, {0.08 * (i % 5) - 0.9, 0.3 - 0.1 * (i / 5)}));
  auto others = views;
  std::swap(others[3], others[12]);
  others[7].corner = {3.25, 4.5};
  on_each([&](Device device) {
    const auto queue = Queue::create(device);
    for (const auto* const tried : {&model, &dense}) {
      for (const double tolerance : {0.25 / 255, 1e-4, 1e-6}) {
        SmoeRenderOptions options;
        options.tolerance = tolerance;
        SmoeRenderer renderer(*tried, queue, options);
        Array<float, 4> images({std::ssize(views), 45, 60, 3}, queue);
        for (const auto* const batch : {&views, &others}) {
          renderer.render(*batch, images.view());
          const auto host = images.to(Device{});
          double worst = 0;
          for (std::size_t i = 0; i < batch->size(); ++i) {
            Array<float, 3> image({45, 60, 3});
            std::copy_n(host.data() + static_cast<std::int64_t>(i) * image.size(), image.size(), image.data());
            worst = std::max(worst, largest_error(*tried, (*batch)[i], image, 17));
          }
          expect_within(fmt::format("15 views, tolerance {:.0e}", tolerance), worst, tolerance + 2e-7);
        }
      }
    }
  });
}

TEST_P(SmoeRender, HoldsItForEverySizeOfComponents) {
  for (const int channels : {1, 2, 3, 4}) {
    cases::SmoeCase c;
    c.channels = channels;
    c.components = 2000;
    c.width = 240;
    c.height = 180;
    c.large_share = 0;
    const auto model = cases::make_smoe(c);
    // Components from a third of a pixel to about forty pixels.
    for (const std::int64_t height : {23, 45, 180, 1440}) {
      const SmoeView view{{height, 60}, {20, 0}, {60.0 * 180 / static_cast<double>(height), 180}, {}};
      check(fmt::format("{} channels, {} pixels high", channels, height), model, view, 0.25 / 255,
            height > 200 ? 211 : 23);
    }
  }
}

TEST_P(SmoeRender, GivesTheSameBitsEveryTime) {
  cases::SmoeCase many;
  many.components = 5000;
  const auto model = cases::make_smoe(many);
  on_each([&](Device device) {
    const auto first = picture(model, whole(model, {45, 60}), device);
    for (int i = 0; i < 3; ++i) {
      const auto again = picture(model, whole(model, {45, 60}), device);
      EXPECT_TRUE(std::equal(first.data(), first.data() + first.size(), again.data()));
    }
  });
}

TEST_P(SmoeRender, OneComponentIsItsExpert) {
  cases::SmoeCase one;
  one.components = 1;
  const auto model = cases::make_smoe(one);
  on_each([&](Device device) {
    const auto image = picture(model, whole(model, {45, 60}), device);
    for (std::int64_t row = 0; row < 45; ++row) {
      for (std::int64_t column = 0; column < 60; ++column) {
        const double dx = static_cast<double>(column) + 0.5 - static_cast<double>(model.centre[0]);
        const double dy = static_cast<double>(row) + 0.5 - static_cast<double>(model.centre[1]);
        const double expected = static_cast<double>(model.colour[0]) + static_cast<double>(model.slope[0]) * dx +
                                static_cast<double>(model.slope[1]) * dy;
        ASSERT_NEAR(image(row, column, 0), expected, 1e-5) << row << ", " << column;
      }
    }
  });
}

TEST_P(SmoeRender, ViewsOfLightFieldsAreSlices) {
  cases::SmoeCase c;
  c.dimensions = 4;
  c.components = 600;
  const auto model = cases::make_smoe(c);
  for (const auto& at : {std::vector<double>{0, 0}, {0.3, -0.5}, {-1, 1}, {2.5, 0}}) {
    check(fmt::format("view {:g}, {:g}", at[0], at[1]), model, whole(model, {45, 60}, at), 0.25 / 255);
    const auto left = slice(model, at);
    EXPECT_EQ(left.dimensions, 2);
    const auto sliced = picture(left, whole(left, {45, 60}), {});
    const auto seen = picture(model, whole(model, {45, 60}, at), {});
    double worst = 0;
    for (std::int64_t i = 0; i < sliced.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(sliced.data()[i]) - static_cast<double>(seen.data()[i])));
    }
    expect_within("slice first", worst, 0.5 / 255);
  }
}

TEST_P(SmoeRender, AnyPartAtAnySize) {
  const auto model = cases::make_smoe({});
  check("enlarged part", model, {{70, 90}, {10.25, 7.5}, {20, 15.5}, {}}, 1e-3, 3);
  check("beyond the picture", model, {{33, 17}, {-60, -45}, {180, 135}, {}}, 1e-3);
  check("one pixel", model, {{1, 1}, {3, 4}, {1, 1}, {}}, 1e-3);
  check("one row", model, {{1, 200}, {0, 20}, {60, 0.3}, {}}, 1e-3);
}

TEST_P(SmoeRender, OtherSelectionsAndFloat64) {
  const auto model = cases::make_smoe({});
  const auto view = whole(model, {45, 60});
  on_each([&](Device device) {
    for (const auto selection : {SmoeSelection::all, SmoeSelection::window}) {
      SmoeRenderOptions options;
      options.selection = selection;
      options.window_px = 1000;
      expect_within("all components", largest_error(model, view, picture(model, view, device, options)), 1e-5);
    }
    SmoeRenderOptions robust;
    robust.selection = SmoeSelection::all;
    robust.precision = SmoePrecision::robust;
    expect_within("all components, float64", largest_error(model, view, picture(model, view, device, robust)), 2e-7);
    robust.selection = SmoeSelection::bounded;
    robust.tolerance = 1e-6;
    expect_within("bounded, float64", largest_error(model, view, picture(model, view, device, robust)), 1.2e-6);
    SmoeRenderOptions narrow;
    narrow.selection = SmoeSelection::window;
    narrow.window_px = 4;
    EXPECT_GT(largest_error(model, view, picture(model, view, device, narrow)), 1e-3) << "a narrow window has no bound";
  });
}

/// Largest difference from the sum of the components whose centres are within `window` pixels of a pixel's block, at
/// every `step`th pixel. Blocks without components are black.
double largest_error_in_windows(const SmoeModel& model, const SmoeView& view, const Array<float, 3>& image,
                                std::int64_t block, double window, std::int64_t step = 1) {
  const auto experts = cases::experts_of(model);
  const double step_x = view.extent[0] / static_cast<double>(view.size[1]);
  const double step_y = view.extent[1] / static_cast<double>(view.size[0]);
  std::map<std::array<std::int64_t, 2>, std::vector<reference::Expert>> listed;
  double worst = 0;
  for (std::int64_t i = 0; i < view.size[0] * view.size[1]; i += step) {
    const std::int64_t row = i / view.size[1];
    const std::int64_t column = i % view.size[1];
    const auto [entry, is_new] = listed.try_emplace({row / block, column / block});
    if (is_new) {
      const auto within = [&](double centre, double corner, double pixel, std::int64_t at, std::int64_t side) {
        const std::int64_t first = at / block * block;
        const std::int64_t last = std::min(first + block, side) - 1;
        const double place = (centre - corner) / pixel - 0.5;
        return place >= static_cast<double>(first) - window && place <= static_cast<double>(last) + window;
      };
      for (const auto& expert : experts) {
        if (within(expert.centre[0], view.corner[0], step_x, column, view.size[1]) &&
            within(expert.centre[1], view.corner[1], step_y, row, view.size[0])) {
          entry->second.push_back(expert);
        }
      }
    }
    std::vector<double> expected(static_cast<std::size_t>(model.channels));
    if (!entry->second.empty()) {
      expected = reference::mixture(entry->second, {view.corner[0] + (static_cast<double>(column) + 0.5) * step_x,
                                                    view.corner[1] + (static_cast<double>(row) + 0.5) * step_y});
    }
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const double error =
          std::abs(static_cast<double>(image(row, column, static_cast<std::int64_t>(c))) - expected[c]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

TEST_P(SmoeRender, WindowsSurroundBlocks) {
  cases::SmoeCase c;
  c.components = 700;
  c.width = 150;
  c.height = 110;
  const auto flat = cases::make_smoe(c);
  c.dimensions = 4;
  const auto field = cases::make_smoe(c);
  const std::vector<double> at{0.4, -0.7};
  struct Case {
    std::int64_t block;
    double window;
    SmoeView view;
  };
  const SmoeView whole_view = whole(flat, {110, 150});
  const SmoeView part{{77, 83}, {20.3, 10.1}, {61, 95}, {}};
  on_each([&](Device device) {
    for (const Case& wanted :
         {Case{16, 16, whole_view}, Case{32, 5.5, whole_view}, Case{48, 0, whole_view}, Case{64, 16, whole_view},
          Case{128, 7, whole_view}, Case{256, 1, whole_view}, Case{16, 9, part}, Case{64, 3, part}}) {
      const std::int64_t block = wanted.block;
      const double window = wanted.window;
      const SmoeView& view = wanted.view;
      for (const auto precision : {SmoePrecision::fast, SmoePrecision::robust}) {
        SmoeRenderOptions options;
        options.selection = SmoeSelection::window;
        options.window_block_px = block;
        options.window_px = window;
        options.precision = precision;
        const bool robust = precision == SmoePrecision::robust;
        const std::string what =
            fmt::format("blocks of {} pixels and {:g} around, {}", block, window, robust ? "float64" : "float32");
        const auto measure_error = [&](const SmoeModel& model, const SmoeModel& seen, const SmoeView& from) {
          return largest_error_in_windows(seen, view, picture(model, from, device, options), block, window, 11);
        };
        // A float32 weight has an error of about 2e-6 of its logarithm's range, a colour that times the experts'
        // spread.
        expect_within(what, measure_error(flat, flat, view), robust ? 2e-7 : 2e-5);
        if (block != 64) continue;
        // The reference's slice is rounded to float32.
        SmoeView from = view;
        from.at = at;
        expect_within(what + ", light field", measure_error(field, slice(field, at), from), 2e-5);
      }
    }
  });
}

TEST_P(SmoeRender, WindowsOfManyComponentsAreCutAllTheSame) {
  cases::SmoeCase many;
  many.components = 40000;
  const auto model = cases::make_smoe(many);
  const SmoeView view = whole(model, {1, 2560});  // two blocks with half of the components each
  SmoeRenderOptions options;
  options.selection = SmoeSelection::window;
  options.window_block_px = 1280;
  options.window_px = 1;
  on_each([&](Device device) {
    const auto image = picture(model, view, device, options);
    expect_within("windows of 20,000 components", largest_error_in_windows(model, view, image, 1280, 1, 127), 2e-5);
    EXPECT_GT(largest_error(model, view, image, 127), 1e-3) << "the windows are to leave out what matters";
  });
}

TEST(SmoeEvaluate, IsTheSumOfAllComponentsInEveryDimension) {
  for (int d = 1; d <= 4; ++d) {
    cases::SmoeCase c;
    c.dimensions = d;
    c.components = 60;
    const auto model = cases::make_smoe(c);
    const auto experts = cases::experts_of(model);
    const std::int64_t count = 200;
    Array<float, 2> x({count, d});
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const auto axis = static_cast<std::size_t>(i % d);
      x.data()[i] = static_cast<float>(model.low[axis] + (model.high[axis] - model.low[axis]) *
                                                             random_uniform64(7, static_cast<std::uint64_t>(i)));
    }
    for (const auto precision : {SmoePrecision::robust, SmoePrecision::fast}) {
      Array<float, 2> colours({count, 3});
      evaluate(model, x.view(), colours.view(), precision);
      double worst = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const float* const position = x.data() + i * d;
        const auto expected = reference::mixture(experts, {position, position + d});
        for (std::size_t channel = 0; channel < 3; ++channel) {
          worst = std::max(worst, std::abs(static_cast<double>(colours(i, channel)) - expected[channel]));
        }
      }
      const bool robust = precision == SmoePrecision::robust;
      expect_within(fmt::format("{} dimensions, {}", d, robust ? "robust" : "fast"), worst, robust ? 3e-7 : 2e-4);
    }
  }
}

TEST(SmoeModels, BadOnesAreRefused) {
  const auto good = cases::make_smoe({});
  const auto expect_bad = [&](const std::string& text, const std::function<void(SmoeModel&)>& spoil) {
    SmoeModel model = good;
    spoil(model);
    expect_error(ErrorCode::invalid_argument, text, [&] { require_model("model", model); });
  };
  expect_bad("dimensions: expected 1 to 4, got 5", [](auto& m) { m.dimensions = 5; });
  expect_bad("channels: expected 1 to 4, got 0", [](auto& m) { m.channels = 0; });
  expect_bad("components, got 0", [](auto& m) { m.log_weight.clear(); });
  expect_bad("centre: expected 800 numbers, got 799", [](auto& m) { m.centre.pop_back(); });
  expect_bad("nan in component 7", [](auto& m) { m.colour[22] = NAN; });
  expect_bad("inf in component 399", [](auto& m) { m.log_weight.back() = INFINITY; });
  expect_bad("positive definite, got one that is not, in component 5", [](auto& m) { m.covariance[16] = 1e6F; });
  expect_bad("a box of sides of 1e-30 and more, within 1e+30", [](auto& m) { m.high[1] = 0; });
  SmoeRenderer renderer(good);
  Array<float, 3> image({4, 4, 3});
  const auto refuse = [&](const std::string& text, const SmoeView& view) {
    expect_error(ErrorCode::invalid_argument, text, [&] { renderer.render(view, image.view()); });
  };
  refuse("view.size", {{0, 4}, {}, {}, {}});
  refuse("view.extent", {{4, 4}, {}, {1, -1}, {}});
  refuse("view.extent: expected steps from pixel to pixel of 1e-30 to 1e+30, got 2.5e-161",
         {{4, 4}, {}, {1e-160, 1e-160}, {}});
  refuse("view.corner: expected numbers within 1e+30", {{4, 4}, {1e31, 0}, {1, 1}, {}});
  refuse("view.at: expected 0 coordinates, got 2", {{4, 4}, {}, {}, {0, 0}});
  refuse("image: expected shape {5, 4, 3}", {{5, 4}, {}, {}, {}});
  expect_error(ErrorCode::invalid_argument, "tolerance", [&] { SmoeRenderer(good, {}, {.tolerance = 0}); });
  for (const std::int64_t block : {-16, 8, 24, 65552}) {
    expect_error(ErrorCode::invalid_argument, "window_block_px: expected 0 or a multiple of 16 up to 65536",
                 [&] { SmoeRenderer(good, {}, {.window_block_px = block}); });
  }
  expect_error(ErrorCode::invalid_argument, "fixed", [&] { (void)slice(good, std::vector<double>{1, 2}); });
}

}  // namespace
}  // namespace holotone
