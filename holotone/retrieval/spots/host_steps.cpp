#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/retrieval/spots/host_steps.hpp>
#include <numbers>

namespace holotone::spots {
namespace {

double mean_square(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum / static_cast<double>(values.size());
}

double power(std::span<const Wave> values) {
  double sum = 0;
  for (const auto& value : values) sum += std::norm(value);
  return sum;
}

}  // namespace

void HostSteps::set_light(const Complex* light) {
  place_light(light);
  add_zero_order();
}

void HostSteps::set_spots(const SpotScene& scene) {
  scene_ = scene;
  place_spots(scene_.place);
  value_.resize(scene_.place.size());
  pace_.resize(scene_.place.size());
  for (auto& pace : pace_) pace.before = 0;
  add_zero_order();
}

void HostSteps::add_zero_order() {
  unmodulated_.clear();
  if (options_.response.zero_order == 0 || scene_.place.empty()) return;
  unmodulated_.resize(scene_.place.size());
  sum_unmodulated(unmodulated_);
  const Wave factor = std::polar(options_.response.zero_order, options_.zero_order_phase_rad);
  for (std::size_t m = 0; m < unmodulated_.size(); ++m) unmodulated_[m] *= factor * scene_.shade[m];
}

void HostSteps::start(std::span<const double> weight, std::span<const Wave> unit,
                      std::span<const std::uint8_t> is_free) {
  weight_.assign(weight.begin(), weight.end());
  unit_.assign(unit.begin(), unit.end());
  for (std::size_t m = 0; m < is_free.size(); ++m) {
    if (is_free[m] != 0) pace_[m] = {};
  }
}

void HostSteps::start(std::uint64_t seed) {
  std::vector<Wave> unit;
  for (std::size_t m = 0; m < scene_.place.size(); ++m) {
    unit.push_back(std::polar(1.0, 2 * std::numbers::pi * random_uniform64(seed, m)));
  }
  start(scene_.target, unit, {});
  pace_.assign(unit.size(), {});
}

void HostSteps::read_state(std::span<double> weight, std::span<Wave> unit) const {
  std::ranges::copy(weight_, weight.begin());
  std::ranges::copy(unit_, unit.begin());
}

void HostSteps::take(std::span<const Step> steps) {
  light_.clear();
  for (const auto& step : steps) {
    if (keeps_field(step.kind)) {
      build_from_lack(step);
    } else {
      build_from_weights();
    }
    look(step.levels);
    if (step.kind == StepKind::free || step.kind == StepKind::kept) free_phases();
    if (!keeps_field(step.kind)) weigh(step.kind == StepKind::locked);
    light_.push_back(power(value_));
  }
}

void HostSteps::look(int levels) {
  sum_modulated(value_, levels);
  for (std::size_t m = 0; m < value_.size(); ++m) {
    value_[m] *= scene_.shade[m];
    if (!unmodulated_.empty()) value_[m] += unmodulated_[m];
  }
}

void HostSteps::read(std::span<Wave> value) const { std::ranges::copy(value_, value.begin()); }

void HostSteps::codes(View<std::uint8_t, 2> codes) const {
  require_device("SpotPlan::codes", "codes", Device{}, codes.device());
  Array<float, 2> phase_rad(codes.shape());
  phase(phase_rad.data());
  for (std::int64_t i = 0; i < codes.size(); ++i) {
    const double code = std::round(static_cast<double>(phase_rad.data()[i]) * (128 * std::numbers::inv_pi));
    codes.data()[i] = static_cast<std::uint8_t>(static_cast<int>(code) & 255);
  }
}

void HostSteps::build_from_weights() {
  std::vector<Wave> coefficient(value_.size());
  for (std::size_t m = 0; m < value_.size(); ++m) coefficient[m] = weight_[m] * unit_[m];
  build(coefficient, false);
}

void HostSteps::build_from_lack(const Step& step) {
  double level = 0;
  for (std::size_t m = 0; m < value_.size(); ++m) level += std::norm(value_[m]) / (scene_.target[m] * scene_.target[m]);
  level = std::sqrt(level / static_cast<double>(value_.size()));
  std::vector<Wave> coefficient(value_.size());
  for (std::size_t m = 0; m < value_.size(); ++m) {
    const double size = std::abs(value_[m]);
    const Wave wanted = size > 0 && step.kind == StepKind::kept ? value_[m] / size : unit_[m];
    const double gain = scene_.share.empty() ? step.gain : step.gain * scene_.share[m];
    coefficient[m] = gain * (scene_.target[m] * level * wanted - value_[m]);
  }
  build(coefficient, true);
}

void HostSteps::free_phases() {
  for (std::size_t m = 0; m < value_.size(); ++m) {
    const double size = std::abs(value_[m]);
    if (size > 0) unit_[m] = value_[m] / size;
  }
}

void HostSteps::weigh(bool is_locked) {
  std::vector<double> ratio(value_.size());
  for (std::size_t m = 0; m < value_.size(); ++m) ratio[m] = std::abs(value_[m]) / scene_.target[m];
  const double level = std::sqrt(mean_square(ratio));
  for (std::size_t m = 0; m < value_.size(); ++m) {
    const double change = std::clamp(level / std::max(ratio[m], 1e-30), 1 / max_weight_change, max_weight_change);
    weight_[m] *= is_locked ? static_cast<double>(paced_change(static_cast<float>(change), pace_[m])) : change;
  }
  const double scale = std::sqrt(mean_square(scene_.target) / mean_square(weight_));
  for (double& w : weight_) w *= scale;
}

}  // namespace holotone::spots
