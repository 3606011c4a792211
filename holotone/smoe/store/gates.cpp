// Quantization of gates, one part of the components at a time; all other parameters are fitted again.
#include <algorithm>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/smoe/store/store_detail.hpp>
#include <numeric>

namespace holotone::smoe {
namespace {

// PSNR of kodim23 with 2,400 components stored at qualities 45, and bytes:
// 8 parts of 30 steps, rates 0.3 to 0.1: 36.51 dB in 16.2 kB; 0.1 to 0.03: 36.3; 0.6 to 0.2: 36.58 in 16.3.
// 16 parts of 15: 36.54 in 16.3; all twice: 36.57 in 16.2. Rounded at once: 35.2.
constexpr std::size_t parts = 8;
constexpr double first_rate = 0.3;
constexpr double last_rate = 0.1;
constexpr double tolerance = 1.0 / 255;
constexpr double last_tolerance = 0.25 / 255;
constexpr std::int64_t select_interval = 20;
constexpr std::int64_t select_interval_of_views = 60;
constexpr std::size_t views_a_step = 2;
constexpr int solve_steps = 30;
constexpr int solve_steps_of_views = 10;
constexpr int hasty = 3;  // divisor of the number of solve steps once the time is over
/// End of the solve for experts, as a fraction of the descent's time.
constexpr double solve_until = 1.4;

/// Replaces the gate of `own` by that of `gate`; the expert's plane is unchanged.
void take_gate(FitComponent& component, const FitComponent& gate) {
  for (std::size_t c = 0; c < component.colour.size(); ++c) {
    for (std::size_t i = 0; i < component.centre.size(); ++i) {
      component.colour[c] += component.slope[c][i] * (gate.centre[i] - component.centre[i]);
    }
  }
  component.centre = gate.centre;
  component.pixels = gate.pixels;
  component.shear = gate.shear;
  component.views = gate.views;
  component.peak = gate.peak;
}

class GateRounding {
  static constexpr std::int64_t none = -1;

 public:
  GateRounding(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps)
      : scene_(scene),
        steps_(steps),
        components_(components_of(model, scene.limits)),
        rounded_(components_),
        part_(components_.size()),
        stored_(model),
        selected_(scene.all.size(), none) {
    scene_.engine->put(components_);
    scene_.engine->restart();
    std::vector<std::uint32_t> order(components_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [](std::uint32_t a, std::uint32_t b) {
      const auto x = random_bits(1, a);
      const auto y = random_bits(1, b);
      return x != y ? x < y : a < b;
    });
    for (std::size_t i = 0; i < order.size(); ++i) part_[order[i]] = i * parts / order.size();
  }

  /// Quantizes the gates of part `part`.
  void round(std::size_t part) {
    const SmoeModel gates = quantised_gates(floats(), steps_);
    const auto as_stored = components_of(gates, scene_.loose);
    const auto d = static_cast<std::size_t>(scene_.dimensions);
    const auto triangle = static_cast<std::size_t>(triangle_size(scene_.dimensions));
    for (std::size_t j = 0; j < components_.size(); ++j) {
      if (part_[j] != part) continue;
      rounded_[j] = as_stored[j];
      take_gate(components_[j], rounded_[j]);
      stored_.log_weight[j] = gates.log_weight[j];
      std::copy_n(gates.centre.begin() + static_cast<std::ptrdiff_t>(j * d), d,
                  stored_.centre.begin() + static_cast<std::ptrdiff_t>(j * d));
      std::copy_n(gates.covariance.begin() + static_cast<std::ptrdiff_t>(j * triangle), triangle,
                  stored_.covariance.begin() + static_cast<std::ptrdiff_t>(j * triangle));
    }
    scene_.engine->put(components_);
    std::fill(selected_.begin(), selected_.end(), none);
  }

  /// Descent step of all parameters except the gates of parts up to `part`.
  void step(std::size_t part, double rate) {
    const auto batch = next_batch();
    const auto interval = scene_.all.size() > 1 ? select_interval_of_views : select_interval;
    FitEngine& engine = *scene_.engine;
    for (const auto view : batch) {
      if (selected_[view] != none && iteration_ - selected_[view] < interval) continue;
      engine.select(view, tolerance);
      selected_[view] = iteration_;
    }
    engine.sum(PixelSum::gradient, batch, {});
    engine.descend(rate);
    engine.get(components_);
    for (std::size_t j = 0; j < components_.size(); ++j) {
      if (part_[j] <= part) take_gate(components_[j], rounded_[j]);
    }
    engine.put(components_);
    ++iteration_;
  }

  /// Solves for the experts and returns the model. `is_late`: true once this fraction of the descent's time is over.
  SmoeModel finish(const std::function<void()>& report, const std::function<bool(double)>& is_late) {
    const bool in_haste = is_late && is_late(1);
    const auto is_over = [&] { return is_late && is_late(solve_until); };
    if (!is_over()) {
      for (const auto view : scene_.all) scene_.engine->select(view, last_tolerance);
    }
    const int full = scene_.all.size() > 1 ? solve_steps_of_views : solve_steps;
    solve_experts(*scene_.engine, components_, scene_.all, in_haste ? full / hasty : full, report, is_over);
    const auto d = static_cast<std::size_t>(scene_.dimensions);
    const auto q = static_cast<std::size_t>(scene_.channels);
    for (std::size_t j = 0; j < components_.size(); ++j) {
      for (std::size_t c = 0; c < q; ++c) {
        stored_.colour[j * q + c] = static_cast<float>(components_[j].colour[c]);
        for (std::size_t i = 0; i < d; ++i) {
          stored_.slope[(j * q + c) * d + i] = static_cast<float>(components_[j].slope[c][i]);
        }
      }
    }
    return std::move(stored_);
  }

 private:
  /// Current model with weights that are not normalized to 1: gates already rounded must not shift.
  [[nodiscard]] SmoeModel floats() const {
    SmoeModel model = model_of(components_, scene_.dimensions, scene_.channels, scene_.size);
    for (std::size_t j = 0; j < components_.size(); ++j) {
      const auto& component = components_[j];
      model.log_weight[j] = static_cast<float>(component.peak - std::log(component.pixels.a00 * component.pixels.a11 *
                                                                         component.views.a00 * component.views.a11));
    }
    return model;
  }

  std::vector<std::size_t> next_batch() {
    std::vector<std::size_t> batch;
    const auto count = scene_.all.size();
    while (batch.size() < std::min(count, views_a_step)) {
      const auto at = static_cast<std::size_t>(looks_) % count;
      if (at == 0) {
        order_.resize(count);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        const auto round = static_cast<std::uint64_t>(looks_) / count;
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return random_bits(round, a) < random_bits(round, b); });
      }
      ++looks_;
      const auto view = order_[at];
      if (std::find(batch.begin(), batch.end(), view) == batch.end()) batch.push_back(view);
    }
    return batch;
  }

  StoreScene& scene_;
  SmoeSteps steps_;
  FitComponents components_;
  FitComponents rounded_;          ///< gates of the rounded parts
  std::vector<std::size_t> part_;  ///< part of each component
  SmoeModel stored_;
  std::vector<std::int64_t> selected_;  ///< step of each view's lists; none: invalid
  std::vector<std::size_t> order_;      ///< order of views in this round
  std::int64_t looks_ = 0;              ///< views used so far
  std::int64_t iteration_ = 0;
};

}  // namespace

SmoeModel rounded_gates(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps, std::int64_t descent,
                        const std::function<void()>& report, const std::function<bool(double)>& is_late) {
  GateRounding rounding(scene, model, steps);
  std::int64_t done = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    rounding.round(part);
    if (part + 1 == parts) break;
    const auto until = descent * static_cast<std::int64_t>(part + 1) / static_cast<std::int64_t>(parts - 1);
    const double share_of_parts = static_cast<double>(part + 1) / static_cast<double>(parts - 1);
    for (; done < until; ++done) {
      if (is_late && is_late(share_of_parts)) {
        done = until;
        break;
      }
      report();
      const double share = static_cast<double>(done) / static_cast<double>(descent);
      rounding.step(part, first_rate * std::pow(last_rate / first_rate, share));
    }
  }
  return rounding.finish(report, is_late);
}

}  // namespace holotone::smoe
