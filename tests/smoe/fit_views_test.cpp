// Fits of light fields, and their sums over views.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/fit/steps.hpp>
#include <holotone/smoe/render.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using support::expect_error;
using support::expect_within;

constexpr std::int64_t height = 36;
constexpr std::int64_t width = 48;

/// Patches at different depths: each has its own parallax, up to 3 pixels per unit of u and v.
SmoeModel scene(int dimensions) {
  cases::SmoeCase c;
  c.components = 14;
  c.width = width;
  c.height = height;
  c.slope = 0.005;
  c.large_share = 0;
  const auto flat = cases::make_smoe(c);
  SmoeModel model = flat;
  model.dimensions = dimensions;
  model.low = {0, 0, -1, -1};
  model.high = {width, height, 1, 1};
  model.centre.clear();
  model.covariance.clear();
  model.slope.clear();
  const float reach = 2;  // variance in u and v
  for (std::size_t j = 0; j < flat.log_weight.size(); ++j) {
    const float moved = 6 * random_uniform(11, j) - 3;
    const float* const r = flat.covariance.data() + 3 * j;
    const float square = moved * moved * reach;
    model.centre.insert(model.centre.end(), {flat.centre[2 * j], flat.centre[2 * j + 1], 0});
    model.covariance.insert(model.covariance.end(), {r[0] + square, r[1], r[2] + (dimensions == 4 ? square : 0)});
    model.covariance.insert(model.covariance.end(), {moved * reach, 0, reach});
    if (dimensions == 4) {
      model.centre.push_back(0);
      model.covariance.insert(model.covariance.end(), {0, moved * reach, 0, reach});
    }
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const float* const slope = flat.slope.data() + 6 * j + 2 * channel;
      model.slope.insert(model.slope.end(), {slope[0], slope[1], -moved * slope[0]});
      if (dimensions == 4) model.slope.push_back(-moved * slope[1]);
    }
  }
  return model;
}

Array<float, 3> picture(const SmoeModel& model, const std::vector<double>& at) {
  SmoeRenderer renderer(model, {}, {.tolerance = 1e-5});
  Array<float, 3> image({height, width, 3});
  SmoeView view;
  view.size = {height, width};
  view.at = at;
  renderer.render(view, image.view());
  return image;
}

double psnr(const Array<float, 3>& a, const Array<float, 3>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double off = static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]);
    sum += off * off;
  }
  return -10 * std::log10(sum / static_cast<double>(a.size()));
}

/// Views of the scene on a grid of -1, -1/2 .. 1 on every axis.
struct Grid {
  explicit Grid(const SmoeModel& model) {
    const int rows = model.dimensions == 4 ? 5 : 1;
    for (int v = 0; v < rows; ++v) {
      for (int u = 0; u < 5; ++u) {
        std::vector<double> at{0.5 * u - 1};
        if (model.dimensions == 4) at.push_back(0.5 * v - 1);
        images.push_back(picture(model, at));
        places.push_back(std::move(at));
      }
    }
  }
  [[nodiscard]] std::vector<SmoeFitView> views(std::size_t without = SIZE_MAX) const {
    std::vector<SmoeFitView> result;
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (i != without) result.push_back({images[i].view(), places[i]});
    }
    return result;
  }
  std::vector<Array<float, 3>> images;
  std::vector<std::vector<double>> places;
};

class SmoeFitsOfViews : public support::OnEachDevice {};
HOLOTONE_ON_CPU_AND_CUDA(SmoeFitsOfViews);

TEST_P(SmoeFitsOfViews, RecoversPatchesAtDifferentDepths) {
  on_each([](Device device) {
    for (const int dimensions : {3, 4}) {
      const auto truth = scene(dimensions);
      const Grid grid(truth);
      const std::size_t left_out = dimensions == 4 ? 16 : 3;
      SmoeFitter fitter(grid.views(left_out), {.components = 40, .iterations = 150, .views_per_step = 2}, device);
      fitter.run();
      const auto model = fitter.model();
      require_model("fit", model);
      const double unseen = psnr(picture(model, grid.places[left_out]), grid.images[left_out]);
      std::printf("%d dimensions: %.2f dB, the view left out %.2f dB\n", dimensions, fitter.psnr_db(), unseen);
      EXPECT_GT(fitter.psnr_db(), 40);
      EXPECT_GT(unseen, fitter.psnr_db() - 1);
    }
  });
}

TEST_P(SmoeFitsOfViews, GoesOnFromAModel) {
  on_each([](Device device) {
    for (const int dimensions : {3, 4}) {
      const auto truth = scene(dimensions);
      const Grid grid(truth);
      SmoeFitter fitter(grid.views(), truth, {.components = truth.count(), .iterations = 0}, device);
      const auto same = fitter.model();
      double worst = 0;
      for (std::size_t i = 0; i < same.covariance.size(); ++i) {
        worst = std::max(worst, static_cast<double>(std::abs(same.covariance[i] - truth.covariance[i])));
      }
      // Covariances are about 30 square pixels, in float32.
      expect_within(fmt::format("{} dimensions, covariances", dimensions), worst, 2e-6);
      fitter.run();
      EXPECT_GT(fitter.psnr_db(), 60);
    }
  });
}

reference::Expert reference_expert(const smoe::FitComponent& component, std::size_t channels) {
  reference::Expert expert{component.peak - std::log(component.pixels.a00 * component.pixels.a11 * component.views.a00 *
                                                     component.views.a11),
                           {},
                           {},
                           {},
                           {}};
  std::array<smoe::Vector, 4> columns{};
  for (std::size_t i = 0; i < 4; ++i) {
    smoe::Vector z{};
    z[i] = 1;
    columns[i] = smoe::unwhitened(component, z);
  }
  expert.centre.assign(component.centre.begin(), component.centre.end());
  expert.covariance.assign(4, std::vector<double>(4));
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      for (const auto& from : columns) expert.covariance[row][column] += from[row] * from[column];
    }
  }
  for (std::size_t c = 0; c < channels; ++c) {
    expert.colour.push_back(component.colour[c]);
    expert.slope.emplace_back(component.slope[c].begin(), component.slope[c].end());
  }
  return expert;
}

/// Half the squared error of the pictures, with all components.
double compute_loss(const smoe::FitComponents& components, const Grid& grid, const std::vector<std::size_t>& which) {
  std::vector<reference::Expert> experts;
  for (const auto& component : components) experts.push_back(reference_expert(component, 3));
  double sum = 0;
  for (const auto i : which) {
    for (std::int64_t row = 0; row < height; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        const auto colour = reference::mixture(
            experts, {static_cast<double>(column), static_cast<double>(row), grid.places[i][0], grid.places[i][1]});
        for (std::int64_t c = 0; c < 3; ++c) {
          const double off = colour[static_cast<std::size_t>(c)] - static_cast<double>(grid.images[i](row, column, c));
          sum += 0.5 * off * off;
        }
      }
    }
  }
  return sum;
}

/// Adds row `k` of A times h to row `i`.
void add_row(smoe::FitComponent& component, std::size_t i, std::size_t k, double h) {
  const std::array<smoe::Vector, 4> rows{
      smoe::Vector{component.pixels.a00, 0, component.shear[0][0], component.shear[0][1]},
      smoe::Vector{component.pixels.a10, component.pixels.a11, component.shear[1][0], component.shear[1][1]},
      smoe::Vector{0, 0, component.views.a00, 0}, smoe::Vector{0, 0, component.views.a10, component.views.a11}};
  const std::array<std::array<double*, 4>, 4> to{
      {{&component.pixels.a00, nullptr, component.shear[0].data(), &component.shear[0][1]},
       {&component.pixels.a10, &component.pixels.a11, component.shear[1].data(), &component.shear[1][1]},
       {nullptr, nullptr, &component.views.a00, nullptr},
       {nullptr, nullptr, &component.views.a10, &component.views.a11}}};
  for (std::size_t column = 0; column < 4; ++column) {
    if (to[i][column]) *to[i][column] += h * rows[k][column];
  }
}

struct Parameter {
  double derivative;
  std::function<void(smoe::FitComponent&, double)> add;
};

std::vector<Parameter> list_parameters(const smoe::FitSums& sums) {
  std::vector<Parameter> parameters{{sums.s, [](auto& it, double h) { it.peak += h; }}};
  for (std::size_t i = 0; i < 4; ++i) {
    parameters.push_back({sums.s1[i], [i](auto& it, double h) {
                            smoe::Vector e{};
                            e[i] = h;
                            const auto shift = smoe::unwhitened(it, e);
                            for (std::size_t k = 0; k < 4; ++k) {
                              it.centre[k] += shift[k];
                              for (std::size_t c = 0; c < 3; ++c) it.colour[c] += it.slope[c][k] * shift[k];
                            }
                          }});
    parameters.push_back({sums.p[1][1 + i], [i](auto& it, double h) {
                            smoe::Vector b{};
                            b[i] = h;
                            const auto slope = smoe::natural_slope(it, b);
                            for (std::size_t k = 0; k < 4; ++k) it.slope[1][k] += slope[k];
                          }});
    for (std::size_t k = 0; k < 4; ++k) {
      if ((i < 2 && k < 2 && k > i) || (i >= 2 && (k < 2 || k > i))) continue;
      parameters.push_back({-sums.s2[smoe::below(std::max(i, k), std::min(i, k))],
                            [i, k](auto& it, double h) { add_row(it, i, k, h); }});
    }
  }
  parameters.push_back({sums.p[2][0], [](auto& it, double h) { it.colour[2] += h; }});
  return parameters;
}

TEST_P(SmoeFitsOfViews, SumsAreGradients) {
  on_each([](Device device) {
    auto truth = scene(4);
    for (auto& colour : truth.colour) colour = 1 - colour;
    const Grid grid(scene(4));
    auto components = smoe::components_of(truth, smoe::pixel_limits({height, width}));
    const std::vector<std::size_t> which{1, 20};
    const auto all = grid.views();
    const auto engine = smoe::fit_engine("test", all, device);
    engine->put(components);
    for (const auto i : which) engine->select(i, 1e-7);
    engine->sum(smoe::PixelSum::gradient, which, {});
    const auto& sums = engine->sums();
    const double loss = engine->total();
    expect_within("loss", std::abs(0.5 * loss / compute_loss(components, grid, which) - 1), 1e-6);
    double worst = 0;
    double largest = 0;
    for (std::size_t j = 0; j < components.size(); j += 9) {
      const auto component = components[j];
      for (const auto& parameter : list_parameters(sums[j])) {
        constexpr double step = 1e-4;
        parameter.add(components[j], step);
        const double above = compute_loss(components, grid, which);
        components[j] = component;
        parameter.add(components[j], -step);
        const double below = compute_loss(components, grid, which);
        components[j] = component;
        const double expected = (above - below) / (2 * step);
        worst = std::max(worst, std::abs(parameter.derivative - expected));
        largest = std::max(largest, std::abs(expected));
      }
    }
    // As in gradient_test.cpp: float32 densities, and differences accurate to the square of their step.
    expect_within("gradient", worst / largest, 2e-5);
  });
}

TEST_P(SmoeFitsOfViews, ExpectationMaximisationRaisesItsLikelihood) {
  on_each([](Device device) {
    const Grid grid(scene(4));
    auto components = smoe::components_of(scene(4), smoe::pixel_limits({height, width}));
    for (auto& component : components) {
      component.centre[0] += 2;
      component.colour[0] += 0.1;
    }
    const auto all = grid.views();
    const auto engine = smoe::fit_engine("test", all, device);
    engine->put(components);
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < all.size(); i += 3) which.push_back(i);
    std::vector<double> variance(components.size(), smoe::first_variance);
    double last = -INFINITY;
    double first = 0;
    for (int step = 0; step < 12; ++step) {
      for (const auto view : which) engine->select(view, 1e-6);
      const double likelihood = smoe::maximise_expectation(*engine, components, variance, which);
      if (step == 0) first = likelihood;
      EXPECT_GE(likelihood, last - 1e-5 * std::abs(last)) << "step " << step;
      last = likelihood;
    }
    EXPECT_GT(last, first + 1000);
  });
}

TEST(SmoeFitViews, RefusesBadArguments) {
  const Grid grid(scene(4));
  const auto refuse = [&](const std::string& text, const std::vector<SmoeFitView>& views) {
    expect_error(ErrorCode::invalid_argument, text, [&] { SmoeFitter(std::span(views), SmoeFitOptions{}); });
  };
  refuse("views: expected 1 or more, got none", {});
  auto views = grid.views();
  views[3].at = {0};
  refuse("at: expected 2 coordinates for every view, got 1", views);
  views[3].at = {0, 1.5};
  refuse("at", views);
  for (auto& view : views) view.at.clear();
  refuse("at: expected 1 or 2 coordinates for every view, got 0", views);
  views = grid.views();
  views[7].image = View<const float, 3>(views[7].image.data(), {height - 1, width, 3});
  refuse("image: expected shape {36, 48, 3}, got {35, 48, 3}", views);
}

}  // namespace
}  // namespace holotone
