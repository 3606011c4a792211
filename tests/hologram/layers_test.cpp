// Holograms of layers against a float64 reference, against ray geometry, points and plain propagation, on every device.
#include <holotone/core/random.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <numeric>
#include <tests/reference/layers.hpp>
#include <tests/support/adjoint.hpp>
#include <tests/support/on_each_device.hpp>
#include <tests/support/reference_plane.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::Layer;
using holotone::LayerOptions;
using holotone::LayerPhase;
using holotone::LayerPlan;
using holotone::Queue;
using reference::Plane;
using support::Complex;
using support::Complex64;
using support::reference_plane;
using Values = std::vector<Complex64>;
using Image = Array<float, 2>;

constexpr double green = 532e-9;
/// Bound of layers.hpp for each propagation.
constexpr double promised_error = 1e-6;

/// An image of value(x, y) in metres at every pixel.
template <class Value>
Image image(const FieldGrid& grid, const Value& value) {
  const Plane plane = reference_plane(grid);
  Image result(grid.shape());
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col)
      result(row, col) = static_cast<float>(value(plane.x(col), plane.y(row)));
  }
  return result;
}

Image noise(const FieldGrid& grid, std::uint64_t seed, float floor = 0) {
  std::uint64_t i = 0;
  return image(grid, [&](double, double) { return std::max(holotone::random_uniform(seed, i++) - floor, 0.0F); });
}

/// The plan's field in float64 on the host, from layers in host memory.
Values run(const LayerOptions& options, const std::vector<Layer>& layers, Device device) {
  const Queue queue(device);
  LayerPlan plan(options, queue);
  plan.set_layers(layers);
  Array<Complex, 2> field(options.grid.shape(), queue);
  plan.execute(field.view());
  queue.synchronize();
  const auto host = field.to(Device{});
  return {host.host().begin(), host.host().end()};
}

Values make_light(const Image& intensity, LayerPhase phase, std::uint64_t seed, std::uint64_t first) {
  Values light;
  for (const float value : intensity.host()) {
    const auto draw = static_cast<double>(holotone::random_uniform(seed, first + light.size()));
    light.push_back(std::sqrt(static_cast<double>(value)) *
                    (phase == LayerPhase::random ? reference::turn(draw) : 1.0));
  }
  return light;
}

reference::LayerImage reference_of(const Image& intensity, const Image* mask, double distance_m, LayerPhase phase,
                                   std::uint64_t seed, std::uint64_t number) {
  const auto first = number * static_cast<std::uint64_t>(intensity.size());
  reference::LayerImage layer{make_light(intensity, phase, seed, first), {}, distance_m};
  for (std::int64_t i = 0; i < intensity.size(); ++i) {
    layer.mask.push_back(mask != nullptr ? static_cast<double>(mask->data()[i]) : intensity.data()[i] > 0 ? 1.0 : 0.0);
  }
  return layer;
}

/// Layers of noise; every other layer hides where it shines.
struct Stack {
  static constexpr std::uint64_t seed = 7;
  std::vector<Image> pictures;
  std::vector<Image> masks;
  std::vector<Layer> layers;
  std::vector<reference::LayerImage> images;
};

Stack noise_stack(const FieldGrid& grid, const std::vector<double>& distance_m, LayerPhase phase) {
  Stack stack;
  for (std::size_t i = 0; i < distance_m.size(); ++i) {
    stack.pictures.push_back(noise(grid, i, 0.5F));
    stack.masks.push_back(noise(grid, 100 + i));
    const Image* mask = i % 2 == 1 ? &stack.masks[i] : nullptr;
    stack.layers.push_back({stack.pictures[i].view(), {}, distance_m[i]});
    if (mask != nullptr) stack.layers.back().mask = mask->view();
    stack.images.push_back(reference_of(stack.pictures[i], mask, distance_m[i], phase, Stack::seed, i));
  }
  return stack;
}

double energy(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0, [](double sum, Complex64 v) { return sum + std::norm(v); });
}

class Layers : public support::OnEachDevice {};

TEST_P(Layers, AStackAgreesWithFloat64) {
  struct Case {
    FieldGrid grid;
    std::vector<double> distance_m;  // far to near
    int propagations;
  };
  const Case cases[] = {{{47, 33, 8e-6, green}, {0.009, 0.006, 0.004}, 3},
                        {{40, 52, 6.4e-6, 638e-9}, {0.005, 0, -0.003, -0.005}, 6},
                        {{33, 47, 8e-6, 450e-9}, {-0.002, -0.006}, 4}};
  on_each([&](Device device) {
    for (const auto& c : cases) {
      for (const auto phase : {LayerPhase::random, LayerPhase::smooth}) {
        const Stack stack = noise_stack(c.grid, c.distance_m, phase);
        const auto got = run({c.grid, phase, Stack::seed}, stack.layers, device);
        support::expect_within(
            std::to_string(stack.layers.size()) + " layers, " + std::string(to_string(phase)),
            support::relative_error(got.data(),
                                    reference::layer_field(stack.images, reference_plane(c.grid), c.grid.wavelength_m)),
            c.propagations * promised_error);
      }
    }
  });
}

TEST_P(Layers, OneLayerIsPlainPropagation) {
  const FieldGrid grid{65, 48, 8e-6, green};
  const Image picture = noise(grid, 3);
  on_each([&](Device device) {
    const Queue queue(device);
    holotone::PropagationPlan plan({.grid = grid, .method = holotone::PropagationMethod::angular_spectrum}, queue);
    for (const double distance : {0.02, -0.013, 0.0}) {
      const auto light = support::upload(make_light(picture, LayerPhase::random, 5, 0), grid.shape(), device);
      Array<Complex, 2> field(grid.shape(), queue);
      plan.execute(light.view(), field.view(), distance);
      const auto host = field.to(Device{});
      const Values expected(host.host().begin(), host.host().end());
      const auto got = run({grid, LayerPhase::random, 5}, {{picture.view(), {}, distance}}, device);
      // Square root, sine, cosine and product each have an error of one or two ulp.
      support::expect_within("one layer at " + std::to_string(distance), support::relative_error(got.data(), expected),
                             4 * 1.2e-7);
    }
  });
}

// A far wall that shines everywhere, behind a dark screen that covers x < 0. A viewer at X sees the part of the wall
// beyond the screen's edge on the straight line from the pupil.
TEST_P(Layers, ANearScreenHidesWhatRaysSay) {
  const FieldGrid grid{192, 96, 4e-6, green};
  const Plane plane = reference_plane(grid);
  const Image wall = image(grid, [](double, double) { return 1; });
  const Image dark = image(grid, [](double, double) { return 0; });
  const Image screen = image(grid, [](double x, double) { return x < 0 ? 1 : 0; });
  constexpr double viewer_m = 0.03;
  on_each([&](Device device) {
    const Queue queue(device);
    const struct { double far, near; } places[] = {{0.008, 0.004}, {0.004, -0.002}};
    for (const auto& place : places) {
      LayerPlan plan({grid, LayerPhase::random, 1}, queue);
      Array<Complex, 2> open(grid.shape(), queue);
      Array<Complex, 2> behind(grid.shape(), queue);
      const Layer far{wall.view(), {}, place.far};
      plan.set_layers({{far}});
      plan.execute(open.view());
      const Layer both[] = {far, {dark.view(), screen.view(), place.near}};
      plan.set_layers(both);
      plan.execute(behind.view());
      const double share = (place.far - place.near) / (place.far + viewer_m);
      for (const double edge : {0.15e-3, 0.0, -0.15e-3}) {
        const double x = -edge * (1 - share) / share;
        // Intensity remaining in each column, through a pupil at x, focused on the wall.
        const auto seen = [&](const Array<Complex, 2>& field) {
          holotone::ReconstructionPlan camera({.grid = grid, .aperture = holotone::Aperture{x, 0, 0.4e-3, viewer_m}},
                                              queue);
          Array<float, 2> intensity(grid.shape(), queue);
          camera.set_field(field.view());
          camera.execute(place.far, intensity.view());
          return intensity.to(Device{});
        };
        const auto with = seen(behind);
        const auto without = seen(open);
        const double penumbra =
            0.2e-3 * share / (1 - share) + 5 * grid.pitch_m;  // half the pupil, plus the blur of diffraction
        double hidden[2] = {};
        double shown[2] = {};
        for (std::int64_t row = 0; row < grid.ny; ++row) {
          for (std::int64_t col = 0; col < grid.nx; ++col) {
            const double at = plane.x(col);
            if (std::abs(at) > 0.3e-3 || std::abs(at - edge) < penumbra) continue;
            auto& sums = at < edge ? hidden : shown;
            sums[0] += static_cast<double>(with(row, col));
            sums[1] += static_cast<double>(without(row, col));
          }
        }
        std::printf("screen at %g, pupil at %+.1e: edge at %+.2e m, hidden %.4f, beside %.4f of the light\n",
                    place.near, x, edge, hidden[0] / hidden[1], shown[0] / shown[1]);
        EXPECT_LT(hidden[0], 0.05 * hidden[1]);
        EXPECT_NEAR(shown[0] / shown[1], 1, 0.1);
      }
    }
  });
}

TEST_P(Layers, AFullScreenStopsAllLight) {
  const FieldGrid grid{40, 36, 8e-6, green};
  const Image wall = noise(grid, 1);
  const Image dark = image(grid, [](double, double) { return 0; });
  const Image screen = image(grid, [](double, double) { return 1; });
  on_each([&](Device device) {
    EXPECT_EQ(energy(run({grid}, {{wall.view(), {}, 0.01}, {dark.view(), screen.view(), 0.005}}, device)), 0);
    // A full screen's own light is the whole field.
    const Layer shining{wall.view(), screen.view(), 0.0};
    const LayerOptions smooth{grid, LayerPhase::smooth};
    EXPECT_EQ(run(smooth, {{wall.view(), {}, 0.01}, shining}, device), run(smooth, {shining}, device));
  });
}

TEST_P(Layers, LightThatStaysOnThePanelKeepsItsEnergy) {
  const FieldGrid grid{128, 120, 8e-6, green};
  const Image spot = image(grid, [](double x, double y) { return std::exp(-2 * (x * x + y * y) / (90e-6 * 90e-6)); });
  const double light = std::accumulate(spot.host().begin(), spot.host().end(), 0.0);
  on_each([&](Device device) {
    for (const double distance : {0.01, -0.02}) {
      const auto field = run({grid, LayerPhase::smooth}, {{spot.view(), {}, distance}}, device);
      support::expect_within("energy at " + std::to_string(distance), std::abs(energy(field) / light - 1), 1e-5);
    }
  });
}

/// Correlation coefficient of refocused intensities.
double correlation(const Values& a, const Values& b) {
  double mean[2] = {};
  const auto n = static_cast<double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    mean[0] += std::norm(a[i]) / n;
    mean[1] += std::norm(b[i]) / n;
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double u = std::norm(a[i]) - mean[0];
    const double v = std::norm(b[i]) - mean[1];
    ab += u * v;
    aa += u * u;
    bb += v * v;
  }
  return ab / std::sqrt(aa * bb);
}

// A pixel of amplitude a at d emits the wave of a point of amplitude a p^2 / (lambda d) and phase kd - pi/2.
TEST_P(Layers, PointsAndLayersOfOneSceneAgreeInFocus) {
  const FieldGrid grid{96, 80, 8e-6, green};
  const Plane plane = reference_plane(grid);
  const double distances[] = {0.024, 0.02};
  std::vector<float> position;
  std::vector<float> amplitude;
  std::vector<float> phase_rad;
  std::vector<Image> pictures;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    pictures.push_back(image(grid, [](double, double) { return 0; }));
    for (std::int64_t row = 10 + 6 * static_cast<std::int64_t>(layer); row < 72; row += 15) {
      for (std::int64_t col = 9 + 8 * static_cast<std::int64_t>(layer); col < 90; col += 17) {
        const float a = 0.5F + 0.5F * holotone::random_uniform(4, position.size());
        for (const double value : {plane.x(col), plane.y(row), -distances[layer]})
          position.push_back(static_cast<float>(value));
        amplitude.push_back(a);
        const double turns = distances[layer] / green - 0.25;
        phase_rad.push_back(static_cast<float>(2 * reference::pi * (turns - std::floor(turns))));
        const double curvature = static_cast<double>(a) * green * distances[layer] / (grid.pitch_m * grid.pitch_m);
        pictures.back()(row, col) = static_cast<float>(curvature * curvature);
      }
    }
  }
  std::vector<reference::LayerImage> expected_layers;
  for (std::size_t i = 0; i < 2; ++i) {
    expected_layers.push_back(reference_of(pictures[i], nullptr, distances[i], LayerPhase::smooth, 0, i));
  }
  const auto expected = reference::layer_field(expected_layers, plane, green);
  const auto count = static_cast<std::int64_t>(amplitude.size());
  on_each([&](Device device) {
    const auto points = holotone::point_cloud_field(
                            {{position.data(), {count, 3}}, {amplitude.data(), {count}}, {phase_rad.data(), {count}}},
                            {green, grid.pitch_m, grid.shape()}, device)
                            .to(Device{});
    const Values of_points(points.host().begin(), points.host().end());
    const auto of_layers =
        run({grid, LayerPhase::smooth},
            {{pictures[1].view(), {}, distances[1]}, {pictures[0].view(), {}, distances[0]}}, device);
    for (const double distance : distances) {
      const auto focused = [&](const Values& field) {
        return reference::angular_spectrum(field, plane, green, -distance, 160, 192, true);
      };
      const double with_reference = correlation(focused(of_layers), focused(expected));
      const double with_points = correlation(focused(of_layers), focused(of_points));
      std::printf("focused at %g: correlation %.7f with the reference, %.4f with points\n", distance, with_reference,
                  with_points);
      EXPECT_GT(with_reference, 1 - 1e-5);
      EXPECT_GT(with_points, 0.998);
    }
  });
}

TEST_P(Layers, ASeedRepeatsAndTheOrderOfAStackIsNoMatter) {
  const FieldGrid grid{31, 24, 8e-6, green};
  const Image a = noise(grid, 1);
  const Image b = noise(grid, 2, 0.6F);
  on_each([&](Device device) {
    const Layer far{a.view(), {}, 0.01};
    const Layer near{b.view(), {}, 0.008};
    EXPECT_EQ(run({grid, LayerPhase::random, 3}, {far, near}, device),
              run({grid, LayerPhase::random, 3}, {far, near}, device));
    EXPECT_NE(run({grid, LayerPhase::random, 3}, {far, near}, device),
              run({grid, LayerPhase::random, 4}, {far, near}, device));
    EXPECT_EQ(run({grid, LayerPhase::smooth}, {far, near}, device),
              run({grid, LayerPhase::smooth}, {near, far}, device));
    EXPECT_NE(run({grid, LayerPhase::random, 3}, {far}, device), run({grid, LayerPhase::smooth, 3}, {far}, device));
  });
}

TEST_P(Layers, APictureWithDepthIsTheStackOfItsLayers) {
  const FieldGrid grid{44, 37, 8e-6, green};
  const Image picture = noise(grid, 5);
  const Image depth = image(grid, [](double x, double y) { return x < 2e-5 ? 0.01 : y < 0 ? 0.006 : -0.004; });
  const double distances[] = {static_cast<double>(0.01F), static_cast<double>(0.006F), static_cast<double>(-0.004F)};
  std::vector<Image> masks;
  std::vector<Image> lights;
  std::vector<Layer> layers;
  for (const double distance : distances) {
    masks.emplace_back(grid.shape());
    lights.emplace_back(grid.shape());
    for (std::int64_t i = 0; i < picture.size(); ++i) {
      masks.back().data()[i] = depth.data()[i] == static_cast<float>(distance) ? 1.0F : 0.0F;
      lights.back().data()[i] = masks.back().data()[i] * picture.data()[i];
    }
  }
  for (std::size_t i = 0; i < 3; ++i) layers.push_back({lights[i].view(), masks[i].view(), distances[i]});
  holotone::RgbdPicture rgbd{picture.view(), depth.view(), 44 * 8e-6};
  rgbd.spacing = holotone::LayerSpacing::distance;
  const LayerOptions options{grid, LayerPhase::smooth};
  on_each([&](Device device) {
    const auto host = layer_field(rgbd, options, device).to(Device{});
    EXPECT_EQ(Values(host.host().begin(), host.host().end()), run(options, layers, device));
  });
}

/// The plan's adjoint of a field, for each layer.
std::vector<Array<Complex, 2>> adjoint(LayerPlan& plan, const Values& field, const FieldGrid& grid, std::size_t layers,
                                       Device device) {
  std::vector<Array<Complex, 2>> light;
  std::vector<holotone::View<Complex, 2>> views;
  for (std::size_t i = 0; i < layers; ++i) {
    light.emplace_back(grid.shape(), device);
    views.push_back(light.back().view());
  }
  plan.adjoint(support::upload(field, grid.shape(), device).view(), views);
  for (auto& one : light) one = one.to(Device{});
  return light;
}

// <A_j L, V> = <L, A_j* V> for the light L of each layer in turn, with A_j L of the float64 reference.
TEST_P(Layers, TheAdjointGivesEachLayersPart) {
  struct Case {
    FieldGrid grid;
    std::vector<double> distance_m;  // in any order
  };
  const Case cases[] = {{{24, 33, 8e-6, green}, {0.006, 0.009, 0.004}},
                        {{30, 22, 6.4e-6, 638e-9}, {0.005, -0.004, 0, -0.003}},
                        {{33, 24, 8e-6, 450e-9}, {-0.002, -0.005}}};
  on_each([&](Device device) {
    for (const auto& c : cases) {
      const Stack stack = noise_stack(c.grid, c.distance_m, LayerPhase::random);
      const Values field = make_light(noise(c.grid, 20), LayerPhase::random, 21, 0);
      LayerPlan plan({c.grid, LayerPhase::random, Stack::seed}, device);
      plan.set_layers(stack.layers);
      const auto light = adjoint(plan, field, c.grid, stack.layers.size(), device);
      for (std::size_t j = 0; j < stack.layers.size(); ++j) {
        auto alone = stack.images;
        for (std::size_t i = 0; i < alone.size(); ++i) {
          if (i != j) std::fill(alone[i].light.begin(), alone[i].light.end(), 0);
        }
        std::stable_sort(alone.begin(), alone.end(),
                         [](const auto& a, const auto& b) { return a.distance_m > b.distance_m; });
        support::expect_within(
            "layer at " + std::to_string(c.distance_m[j]) + " of " + std::to_string(stack.layers.size()),
            support::adjoint_error(reference::layer_field(alone, reference_plane(c.grid), c.grid.wavelength_m), field,
                                   stack.images[j].light, light[j].host()),
            1e-5);
      }
    }
  });
}

TEST_P(Layers, TheAdjointOfAPictureGivesEachPixelsPart) {
  const FieldGrid grid{34, 27, 8e-6, green};
  const Image picture = noise(grid, 5);
  const Image depth = image(grid, [](double x, double y) { return x < 2e-5 ? 0.01 : y < 0 ? 0.006 : -0.004; });
  const auto sliced =
      slice_picture({picture.view(), depth.view(), 34 * 8e-6, 0, 0, 3, holotone::LayerSpacing::distance}, grid);
  const Values field = make_light(noise(grid, 20), LayerPhase::random, 21, 0);
  on_each([&](Device device) {
    LayerPlan plan({grid, LayerPhase::random, 2}, device);
    plan.set_picture(sliced);
    Array<Complex, 2> there(grid.shape(), device);
    plan.execute(there.view());
    const auto light = adjoint(plan, field, grid, sliced.distance_m.size(), device);
    Values back(field.size());
    for (std::size_t i = 0; i < back.size(); ++i) back[i] = light[sliced.layer.data()[i]].data()[i];
    support::expect_within("picture",
                           support::adjoint_error(there.to(Device{}).host(), field,
                                                  make_light(sliced.intensity, LayerPhase::random, 2, 0), back),
                           1e-5);
  });
}

TEST_P(Layers, APartOfThePanelIsRefused) {
  on_each([](Device device) {
    const FieldGrid grid{20, 10, 8e-6, green};
    LayerPlan plan({.grid = grid}, device);
    const auto light = image(grid, [](double, double) { return 1.0F; });
    const Layer layers[] = {{.intensity = light.view(), .distance_m = 0.05}};
    plan.set_layers(layers);
    Array<Complex, 2> field(grid.shape(), device);
    support::expect_error(ErrorCode::unsupported, "LayerPlan::execute: part: expected the whole panel", [&] {
      plan.execute({0, 9}, {field.data(), {9, 20}, device});
    });
    support::expect_error(ErrorCode::unsupported, "StereogramPlan computes parts", [&] {
      plan.execute({0, 9}, {field.data(), {9, 20}, device});
    });
    support::expect_error(ErrorCode::invalid_argument,
                          "part: expected 1 or more rows within rows 0 to 9, got 10 rows from row 1", [&] {
                            plan.execute({1, 10}, field.view());
                          });
    Array<Complex, 2> whole(grid.shape(), device);
    plan.execute({0, 10}, whole.view());
    plan.execute(field.view());
    Queue(device).synchronize();
    const auto a = whole.to(Device{});
    const auto b = field.to(Device{});
    for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a.data()[i], b.data()[i]);
  });
}

TEST_P(Layers, WhatIsWrongIsRefused) {
  const FieldGrid grid{20, 16, 8e-6, green};
  const Image good = noise(grid, 1);
  const Image small({15, 20});
  on_each([&](Device device) {
    const Queue queue(device);
    const auto expect = [](const std::string& text, const auto& call) {
      support::expect_error(ErrorCode::invalid_argument, text, call);
    };
    expect("grid: expected nx and ny", [&] { LayerPlan({{0, 16, 8e-6, green}}, queue); });
    LayerPlan plan({grid}, queue);
    Array<Complex, 2> field(grid.shape(), queue);
    expect("LayerPlan::execute: layers: expected a call of set_layers", [&] { plan.execute(field.view()); });
    expect("layers: expected at least one", [&] { plan.set_layers({}); });
    const Layer bad_shape[] = {{good.view(), {}, 0.1}, {small.view(), {}, 0.2}};
    expect("layer 1: intensity: expected shape {16, 20}, got {15, 20}", [&] { plan.set_layers(bad_shape); });
    const Layer bad_mask[] = {{good.view(), small.view(), 0.1}};
    expect("layer 0: mask", [&] { plan.set_layers(bad_mask); });
    const Layer bad_distance[] = {{good.view(), {}, NAN}};
    expect("layer 0: distance_m: expected a finite number, got nan", [&] { plan.set_layers(bad_distance); });
    const Layer fine[] = {{good.view(), {}, 0.1}};
    plan.set_layers(fine);
    Array<Complex, 2> other({20, 16}, queue);
    expect("field: expected shape {16, 20}", [&] { plan.execute(other.view()); });
    class Stop final : public holotone::Progress {
      bool update(std::string_view, std::int64_t, std::int64_t) override { return false; }
    } stop;
    support::expect_error(ErrorCode::cancelled, "propagating layers", [&] { plan.execute(field.view(), stop); });
    const holotone::View<Complex, 2> light[] = {other.view()};
    expect("LayerPlan::adjoint: light: expected one view for each layer, 1, got 0",
           [&] { plan.adjoint(field.view(), {}); });
    expect("LayerPlan::adjoint: light 0: expected shape {16, 20}", [&] { plan.adjoint(field.view(), light); });
    expect("LayerPlan::adjoint: field: expected shape {16, 20}", [&] { plan.adjoint(other.view(), light); });
    expect("LayerPlan::adjoint: layers: expected a call of set_layers",
           [&] { LayerPlan({grid}, queue).adjoint(field.view(), light); });
  });
}

HOLOTONE_ON_EACH_DEVICE(Layers);

}  // namespace
