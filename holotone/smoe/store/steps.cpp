// Quantization steps of a file, from the measured harm of each kind of number.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/render.hpp>
#include <holotone/smoe/store/store_detail.hpp>

namespace holotone::smoe {
namespace {

/// Largest number of views in which harm is measured.
constexpr std::size_t max_measured = 4;
/// Allowed harm of experts' numbers over that of gates': later fitting compensates more of the gates' harm.
constexpr double harm_of_experts = 0.2;
/// The same for weights: components around compensate most of it.
constexpr double harm_of_weights = 2;
/// Limits of the ratio of steps to those of smoe_steps.
constexpr double min_factor = 1.0 / 8;
constexpr double largest_factor = 4;
/// Qualities for measuring harm: `middle_quality` of the kind measured, `fine_quality` of all other numbers.
constexpr double fine_quality = 80;
constexpr double middle_quality = 50;

/// Numbers that share a step.
struct Kind {
  std::vector<double SmoeSteps::*> steps;
  std::vector<std::size_t> axes;  ///< axes of centres, if the kind is centres
  double numbers = 0;             ///< count per component
  double harm = 1;                ///< allowed harm over that of others
};

std::vector<Kind> kinds_of(int dimensions, int channels) {
  const double chroma = channels >= 3 ? 2 : 0;
  const double plain = channels - chroma;
  std::vector<Kind> kinds{
      {{}, {0, 1}, 2, 1},
      {{&SmoeSteps::shape}, {}, static_cast<double>(dimensions), 1},
      {{&SmoeSteps::skew}, {}, 0.5 * dimensions * (dimensions - 1), 1},
      {{&SmoeSteps::weight}, {}, 1, harm_of_weights},
      {{&SmoeSteps::colour}, {}, plain, harm_of_experts},
      {{&SmoeSteps::slope}, {}, plain * dimensions, harm_of_experts},
  };
  if (chroma > 0) {
    kinds.push_back({{&SmoeSteps::chroma}, {}, chroma, harm_of_experts});
    kinds.push_back({{&SmoeSteps::slope_chroma}, {}, chroma * dimensions, harm_of_experts});
  }
  if (dimensions > 2) kinds.push_back({{}, {2, 3}, static_cast<double>(dimensions - 2), 1});
  return kinds;
}

void scale(SmoeSteps& steps, const Kind& kind, double factor) {
  for (const auto step : kind.steps) steps.*step *= factor;
  for (const auto axis : kind.axes) steps.centre[axis] *= factor;
}

std::vector<Array<float, 3>> render_pictures(const StoreScene& scene, const SmoeModel& model) {
  SmoeRenderer renderer(model);
  std::vector<Array<float, 3>> pictures;
  const std::size_t count = std::min(max_measured, scene.sampled.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& at = scene.places[scene.sampled[i * scene.sampled.size() / count]];
    auto& picture = pictures.emplace_back(Shape<3>{scene.size[0], scene.size[1], scene.channels});
    renderer.render({scene.size, {}, {}, std::vector<double>(at.begin(), at.begin() + scene.dimensions - 2)},
                    picture.view());
  }
  return pictures;
}

double difference(const std::vector<Array<float, 3>>& a, const std::vector<Array<float, 3>>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::int64_t k = 0; k < a[i].size(); ++k) {
      const double one = static_cast<double>(a[i].data()[k]) - static_cast<double>(b[i].data()[k]);
      sum += one * one;
    }
  }
  return sum;
}

}  // namespace

SmoeSteps balanced_steps(const StoreScene& scene, const SmoeModel& model) {
  const auto kinds = kinds_of(scene.dimensions, scene.channels);
  const auto fine = smoe_steps(model, fine_quality);
  const auto pictures_at = [&](const SmoeSteps& steps) {
    return render_pictures(scene, quantised(model, {.lossless = false, .steps = steps}));
  };
  const auto exact = pictures_at(fine);
  std::vector<double> factor;
  double sum = 0;
  double numbers = 0;
  for (const auto& kind : kinds) {
    auto steps = fine;
    scale(steps, kind, std::exp2((fine_quality - middle_quality) / 10));
    const double harm = std::max(difference(pictures_at(steps), exact), 1e-12) / kind.numbers;
    factor.push_back(0.5 * std::log2(kind.harm / harm));
    sum += kind.numbers * factor.back();
    numbers += kind.numbers;
  }
  auto steps = smoe_steps(model, middle_quality);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    scale(steps, kinds[i], std::clamp(std::exp2(factor[i] - sum / numbers), min_factor, largest_factor));
  }
  return steps;
}

SmoeSteps steps_at(const SmoeSteps& balanced, const SmoeModel& model, double gates, double experts) {
  SmoeSteps steps = balanced;
  const double of_gates = std::exp2((middle_quality - gates) / 10);
  const double of_experts = std::exp2((middle_quality - experts) / 10);
  for (int axis = 0; axis < model.dimensions; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const double reach = std::max({std::abs(model.low[a]), std::abs(model.high[a]), model.high[a] - model.low[a]});
    steps.centre[a] = std::clamp(steps.centre[a] * of_gates, reach * 0x1p-19, reach);
  }
  // Limits of the file format.
  const auto coarsen = [&](double SmoeSteps::*step, double factor, double most) {
    steps.*step = std::min(steps.*step * factor, most);
  };
  coarsen(&SmoeSteps::shape, of_gates, 16);
  coarsen(&SmoeSteps::skew, of_gates, 256);
  coarsen(&SmoeSteps::weight, of_gates, 64);
  for (const auto step : {&SmoeSteps::colour, &SmoeSteps::chroma, &SmoeSteps::slope, &SmoeSteps::slope_chroma}) {
    coarsen(step, of_experts, 1024);
  }
  return steps;
}

}  // namespace holotone::smoe
