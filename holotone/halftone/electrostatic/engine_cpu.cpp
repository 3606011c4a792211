// The engine of the CPU: stores the dots, calls a method for the forces, moves the dots.
#include <array>
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

class CpuEngine final : public ElectrostaticPlan::Engine {
 public:
  explicit CpuEngine(const Setup& setup)
      : setup_(setup),
        page_(setup.page),
        width_(static_cast<float>(setup.page[1])),
        height_(static_cast<float>(setup.page[0])) {
    switch (setup.options.sum) {
      case ForceSum::ewald: method_ = ewald_cpu(setup); break;
      case ForceSum::taylor: method_ = taylor_cpu(setup); break;
      case ForceSum::direct: method_ = direct_cpu(setup); break;
    }
  }

  void set_ink(View<const float, 2> ink) override {
    const auto values = ink.host();
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]) || values[i] < 0) {
        throw_bad_ink(page_, static_cast<std::int64_t>(i), values[i]);
      }
      total += static_cast<double>(values[i]);
    }
    if (total == 0) throw_bad_ink(page_, -1, 0);
    method_->set_ink(values.data(), total);
    edges_.set(page_, edge_table(setup_, values.data(), total));
  }

  void set_positions(View<const float, 2> positions) override {
    const std::int64_t count = positions.shape()[0];
    const float* const data = positions.data();
    for (std::int64_t i = 0; i < 2 * count; ++i) {
      if (!std::isfinite(data[i])) throw_bad_position(i / 2);
    }
    dots_.resize(count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto dot = static_cast<std::size_t>(i);
      dots_.x[dot] = std::clamp(data[2 * i], 0.0F, width_);
      dots_.y[dot] = std::clamp(data[2 * i + 1], 0.0F, height_);
      dots_.index[dot] = static_cast<std::uint32_t>(i);
    }
    for (auto* array : {&force_x_, &force_y_}) array->assign(static_cast<std::size_t>(count), 0.0F);
    sizes_.assign(static_cast<std::size_t>((count + task_dots - 1) / task_dots), {0, 0});
  }

  void positions(View<float, 2> positions) override { give(dots_.x.data(), dots_.y.data(), positions.data()); }

  void forces(View<float, 2> forces) override {
    sum();
    give(force_x_.data(), force_y_.data(), forces.data());
    measure();
  }

  void step(const StepRule& rule) override {
    sum();
    move_all(rule);
    setup_.stage("move");
  }

  void move(View<const float, 2> forces, const StepRule& rule) override {
    const float* const data = forces.data();
    over_dots(dots_.count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto dot = static_cast<std::size_t>(i);
        force_x_[dot] = data[2 * std::size_t{dots_.index[dot]}];
        force_y_[dot] = data[2 * std::size_t{dots_.index[dot]} + 1];
      }
    });
    move_all(rule);
  }

  void shake(float radius, std::uint64_t seed) override {
    over_dots(dots_.count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto dot = static_cast<std::size_t>(i);
        const std::uint64_t counter = 2 * std::uint64_t{dots_.index[dot]};
        const float distance = radius * std::sqrt(random_uniform(seed, counter));
        const float angle = 2 * std::numbers::pi_v<float> * random_uniform(seed, counter + 1);
        dots_.x[dot] = std::clamp(dots_.x[dot] + distance * std::cos(angle), 0.0F, width_);
        dots_.y[dot] = std::clamp(dots_.y[dot] + distance * std::sin(angle), 0.0F, height_);
      }
    });
  }

  ForceStatistics statistics() override {
    std::array<double, 2> sum{};
    for (const auto& part : sizes_) {
      sum[0] += part[0];
      sum[1] += part[1];
    }
    const auto count = static_cast<double>(dots_.count);
    return {sum[0] / count, std::sqrt(sum[1] / count)};
  }

  std::int64_t missed_neighbours() override { return method_->missed_neighbours(dots_); }

  [[nodiscard]] std::size_t bytes() const override {
    return method_->bytes() + edges_.bytes() + dots_.bytes() +
           (force_x_.capacity() + force_y_.capacity()) * sizeof(float);
  }
  [[nodiscard]] std::string arithmetic() const override { return method_->arithmetic(); }

 private:
  void sum() { method_->forces(dots_, force_x_.data(), force_y_.data()); }

  /// Interleaves two arrays in the engine's order to pairs in the caller's order.
  void give(const float* x, const float* y, float* pairs) const {
    over_dots(dots_.count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::size_t to = 2 * std::size_t{dots_.index[static_cast<std::size_t>(i)]};
        pairs[to] = x[i];
        pairs[to + 1] = y[i];
      }
    });
  }

  void measure() {
    over_dots(dots_.count,
              [&](std::int64_t task, std::int64_t begin, std::int64_t end) { measure_part(task, begin, end); });
  }

  void measure_part(std::int64_t task, std::int64_t begin, std::int64_t end) {
    std::array<double, 2> sum{};
    for (std::int64_t i = begin; i < end; ++i) {
      const auto dot = static_cast<std::size_t>(i);
      const double square = static_cast<double>(force_x_[dot]) * static_cast<double>(force_x_[dot]) +
                            static_cast<double>(force_y_[dot]) * static_cast<double>(force_y_[dot]);
      sum[0] += std::sqrt(square);
      sum[1] += square;
    }
    sizes_[static_cast<std::size_t>(task)] = sum;
  }

  void move_all(const StepRule& rule) {
    over_dots(dots_.count, [&](std::int64_t task, std::int64_t begin, std::int64_t end) {
      if (rule.edge_correction > 0) {
        edges_.add(dots_, begin, end, static_cast<float>(rule.edge_correction), force_x_.data(), force_y_.data());
      }
      measure_part(task, begin, end);
      float density[task_dots];
      if (rule.density_scaled) method_->densities(dots_, begin, end, density);
      const auto count = static_cast<float>(dots_.count);
      for (std::int64_t i = begin; i < end; ++i) {
        const float rho = rule.density_scaled ? count * density[i - begin] : 1;
        move_dot(static_cast<std::size_t>(i), rule, rho);
      }
    });
  }

  static void shorten(float& x, float& y, float limit) {
    const float square = x * x + y * y;
    if (square > limit * limit) {
      const float factor = limit / std::sqrt(square);
      x *= factor;
      y *= factor;
    }
  }

  /// Moves one coordinate and clamps it to the page; at an edge the velocity becomes 0.
  static void advance(float& coordinate, float distance, float end, float& velocity) {
    const float to = coordinate + distance;
    coordinate = std::clamp(to, 0.0F, end);
    if (to != coordinate) velocity = 0;
  }

  void move_dot(std::size_t i, const StepRule& rule, float density) {
    const float step = static_cast<float>(rule.tau) / density;
    const float limit = static_cast<float>(rule.largest_move) / std::sqrt(density);
    float x = step * force_x_[i];
    float y = step * force_y_[i];
    float& velocity_x = dots_.velocity_x[i];
    float& velocity_y = dots_.velocity_y[i];
    if (rule.descent == Descent::momentum) {
      const auto kept = velocity_x * x + velocity_y * y < 0 ? 0.0F : static_cast<float>(rule.momentum);
      x += kept * velocity_x;
      y += kept * velocity_y;
      shorten(x, y, limit);
      velocity_x = x;
      velocity_y = y;
    } else {
      shorten(x, y, limit);
    }
    advance(dots_.x[i], x, width_, velocity_x);
    advance(dots_.y[i], y, height_, velocity_y);
  }

  Setup setup_;
  Shape<2> page_;
  float width_;
  float height_;
  std::unique_ptr<Method> method_;
  ForceField edges_;  ///< -grad ln(ink)
  DotList dots_;
  std::vector<float> force_x_;
  std::vector<float> force_y_;
  std::vector<std::array<double, 2>> sizes_;
};

}  // namespace

EnginePointer engine_cpu(const Setup& setup) { return std::make_unique<CpuEngine>(setup); }

}  // namespace holotone::electrostatic
