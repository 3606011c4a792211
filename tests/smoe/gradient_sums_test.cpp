// Sums over pixels of every kind against plain loops in float64, and the component lists of these sums.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/smoe/fit/gradient_sums.hpp>
#include <holotone/smoe/render/image_components.hpp>
#include <tests/cases/smoe.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

using smoe::ComponentSums;
using smoe::ImageComponent;
using smoe::PixelSum;
using support::expect_within;

constexpr std::array kinds{PixelSum::gradient, PixelSum::experts, PixelSum::pictures, PixelSum::importance,
                           PixelSum::joint};
const char* const names[] = {"gradient", "experts", "pictures", "importance", "joint"};

std::vector<ImageComponent> slice_components(const cases::SmoeCase& c, const Shape<2>& size) {
  SmoeView view;
  view.size = size;
  view.extent = {c.width, c.height};
  return smoe::image_components(cases::make_smoe(c), view);
}

Array<float, 3> noise(const Shape<3>& shape) {
  Array<float, 3> image(shape);
  for (std::int64_t i = 0; i < image.size(); ++i) image.data()[i] = random_uniform(5, static_cast<std::uint64_t>(i));
  return image;
}

std::vector<double> precisions(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t j = 0; j < count; ++j) values[j] = 20 + 200 * random_uniform64(9, j);
  return values;
}

struct Expected {
  std::vector<ComponentSums> sums;
  double total = 0;
};

/// Adds one pixel's part of the sums over all components.
void add_pixel(PixelSum what, const std::vector<ImageComponent>& components, const std::vector<double>& precision,
               double x, double y, const std::vector<double>& target, Expected& to) {
  const std::size_t q = target.size();
  std::vector<double> density;
  std::vector<std::vector<double>> expert;
  for (std::size_t j = 0; j < components.size(); ++j) {
    const auto& component = components[j];
    const double dx = x - component.x;
    const double dy = y - component.y;
    const double v = component.skew * dx + component.down * dy;
    double value = std::log(2) * (component.peak - component.across * dx * component.across * dx - v * v);
    auto& m = expert.emplace_back();
    for (std::size_t c = 0; c < q; ++c) {
      m.push_back(static_cast<double>(component.colour[c]) + static_cast<double>(component.slope_x[c]) * dx +
                  static_cast<double>(component.slope_y[c]) * dy);
      if (what != PixelSum::joint) continue;
      value += 0.5 * std::log(precision[j]) - 0.5 * precision[j] * (target[c] - m[c]) * (target[c] - m[c]);
    }
    density.push_back(value);
  }
  const double most = *std::max_element(density.begin(), density.end());
  double weights = 0;
  for (const double value : density) weights += std::exp(value - most);
  std::vector<double> r(q);
  double error = 0;
  std::vector<double> picture(q);
  for (std::size_t c = 0; c < q; ++c) {
    for (std::size_t j = 0; j < density.size(); ++j) {
      picture[c] += std::exp(density[j] - most) / weights * expert[j][c];
    }
    r[c] = picture[c] - (what == PixelSum::pictures ? 0 : target[c]);
    error += r[c] * r[c];
  }
  to.total += what == PixelSum::joint ? most + std::log(weights) : error;
  for (std::size_t j = 0; j < density.size(); ++j) {
    const double w = std::exp(density[j] - most) / weights;
    const double dx = x - components[j].x;
    const double dy = y - components[j].y;
    ComponentSums& sum = to.sums[j];
    double s = what == PixelSum::joint ? w : what == PixelSum::importance ? w * error : w * w;
    if (what == PixelSum::gradient) s = 0;
    double without = 0;
    for (std::size_t c = 0; c < q; ++c) {
      const double p = w * (what == PixelSum::joint ? target[c] : r[c]);
      if (what == PixelSum::gradient) s += p * (expert[j][c] - picture[c]);
      if (what == PixelSum::joint) sum.extra += p * target[c];
      sum.p[c][0] += p;
      sum.p[c][1] += p * dx;
      sum.p[c][2] += p * dy;
      const double left = r[c] + (picture[c] - expert[j][c]) * w / std::max(1 - w, 0.02);
      without += left * left;
    }
    if (what == PixelSum::importance) sum.extra += without - error;
    const double moments[] = {1, dx, dy, dx * dx, dx * dy, dy * dy};
    for (std::size_t i = 0; i < 6; ++i) sum.s[i] += s * moments[i];
  }
}

Expected expected_sums(PixelSum what, const std::vector<ImageComponent>& components,
                       const std::vector<double>& precision, const Array<float, 3>& target) {
  Expected result;
  result.sums.resize(components.size());
  const auto& [ny, nx, channels] = target.shape();
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      std::vector<double> colour;
      for (std::int64_t c = 0; c < channels; ++c) colour.push_back(static_cast<double>(target(row, column, c)));
      add_pixel(what, components, precision, static_cast<double>(column), static_cast<double>(row), colour, result);
    }
  }
  return result;
}

/// Values at each place in ComponentSums, one per component.
std::vector<std::vector<double>> by_place(const std::vector<ComponentSums>& sums, int channels) {
  std::vector<std::vector<double>> places(static_cast<std::size_t>(7 + 3 * channels));
  for (const auto& sum : sums) {
    std::size_t at = 0;
    for (const double value : sum.s) places[at++].push_back(value);
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
      for (const double value : sum.p[c]) places[at++].push_back(value);
    }
    places[at].push_back(sum.extra);
  }
  return places;
}

/// Largest error at each place relative to the largest value there, at least one squared colour; maximum over places.
double compute_error(const std::vector<ComponentSums>& got, const std::vector<ComponentSums>& expected, int channels) {
  const auto a = by_place(got, channels);
  const auto b = by_place(expected, channels);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double error = 0;
    double largest = 1;
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      const double off = std::abs(a[i][j] - b[i][j]);
      error = std::isnan(off) ? INFINITY : std::max(error, off);
      largest = std::max(largest, std::abs(b[i][j]));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

class SmoeSums : public support::OnEachDevice {};

// float32 densities down to -100: error of 100 * 2^-24 = 6e-6 of the weights. The cost of a component's removal is 50
// times as sensitive if one component has all but 2 % of the weight.
TEST_P(SmoeSums, OfEveryKindAreThoseInFloat64) {
  on_each([](Device device) {
    for (const auto& [components, channels, width, height] :
         {std::array{1, 3, 3, 2}, std::array{5, 3, 1, 1}, std::array{40, 1, 35, 21}, std::array{60, 2, 17, 9},
          std::array{600, 3, 49, 37}, std::array{30, 4, 16, 8}}) {
      cases::SmoeCase c;
      c.components = components;
      c.channels = channels;
      c.width = width;
      c.height = height;
      c.stretch = 0.8;
      c.large_share = 0.1;
      const auto slices = slice_components(c, {height, width});
      const auto target = noise({height, width, channels});
      const auto precision = precisions(slices.size());
      const auto engine = smoe::pixel_engine("test", target.view(), device);
      engine->select(slices, 1e-7);
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const auto what = kinds[kind];
        std::vector<ComponentSums> sums;
        const double total = engine->sum(what, slices, precision, sums);
        const auto expected = expected_sums(what, slices, precision, target);
        const std::string name =
            fmt::format("{}, {} {} {} x {} x {}", to_string(device), names[kind], components, width, height, channels);
        ASSERT_EQ(sums.size(), slices.size());
        const double loose = what == PixelSum::importance ? 1e-4 : 2e-5;
        expect_within(name, compute_error(sums, expected.sums, channels), loose);
        const double scale = std::max(std::abs(expected.total), static_cast<double>(width * height));
        expect_within(name + ", total", std::abs(total - expected.total) / scale, 2e-6);
      }
    }
  });
}

// Lists with a tolerance keep pictures within it, and so does the root mean square distance from the picture of all
// components. The wider picture has three levels of boxes on a GPU.
TEST_P(SmoeSums, ListsKeepTheTolerance) {
  on_each([](Device device) {
    for (const auto& [width, height] : {std::array{301, 203}, std::array{1100, 67}}) {
      cases::SmoeCase c;
      c.components = 3000;
      c.width = width;
      c.height = height;
      c.channels = 1;
      const Shape<2> size{height, width};
      const auto slices = slice_components(c, size);
      Array<float, 3> image({height, width, 1});
      SmoeRenderer renderer(cases::make_smoe(c), {}, {.tolerance = 1e-7});
      SmoeView view;
      view.size = size;
      renderer.render(view, image.view());
      const auto engine = smoe::pixel_engine("test", image.view(), device);
      for (const double tolerance : {1e-2, 1e-3, 1e-5}) {
        engine->select(slices, tolerance);
        std::vector<ComponentSums> sums;
        const double error = engine->sum(PixelSum::experts, slices, {}, sums);
        expect_within(fmt::format("{}, {} x {}, lists for {}", to_string(device), width, height, tolerance),
                      std::sqrt(error / static_cast<double>(image.size())), tolerance);
      }
    }
  });
}

HOLOTONE_ON_CPU_AND_CUDA(SmoeSums);

}  // namespace
}  // namespace holotone
