#include <algorithm>
#include <holotone/fft/line_plan.hpp>

namespace holotone::fft {
namespace {

constexpr int radices[] = {16, 15, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2};

int butterflies_per_item(int length, int radix, int items) { return (length / radix + items - 1) / items; }

/// Steps of values, idle items included, and an exchange after each step.
double cost_of(const LinePlan& plan) {
  constexpr double exchange = 0.7;  // of the time that a step of arithmetic takes
  double cost = 0;
  for (const int radix : plan.radices) {
    cost += exchange + static_cast<double>(butterflies_per_item(plan.length, radix, plan.items)) * radix * plan.items /
                           plan.length;
  }
  return cost;
}

class Search {
 public:
  Search(int length, int max_items, int max_values) : max_items_(max_items), max_values_(max_values) {
    plan_.length = length;
    divide(length, 0);
  }
  [[nodiscard]] std::optional<LinePlan> best() const { return best_; }

 private:
  void divide(int rest, std::size_t first) {
    if (rest == 1) return try_items();
    if (plan_.radices.size() == max_steps) return;
    for (std::size_t i = first; i < std::size(radices); ++i) {
      if (rest % radices[i] != 0) continue;
      plan_.radices.push_back(radices[i]);
      divide(rest / radices[i], i);
      plan_.radices.pop_back();
    }
  }

  void try_items() {
    for (const int radix : plan_.radices) {
      for (int share = 1; share * radix <= max_values_; ++share) {
        plan_.items = ((plan_.length / radix + share - 1) / share + 3) / 4 * 4;
        if (plan_.items <= max_items_) judge();
      }
    }
  }

  void judge() {
    plan_.values = 0;
    for (const int radix : plan_.radices) {
      plan_.values = std::max(plan_.values, radix * butterflies_per_item(plan_.length, radix, plan_.items));
    }
    if (plan_.values > max_values_) return;
    const double cost = cost_of(plan_);
    if (best_ && cost >= best_cost_) return;
    best_ = plan_;
    best_cost_ = cost;
  }

  int max_items_;
  int max_values_;
  LinePlan plan_;
  std::optional<LinePlan> best_;
  double best_cost_ = 0;
};

}  // namespace

std::optional<LinePlan> plan_line(std::int64_t length, int max_items, int max_values) {
  if (length < 2 || length > std::int64_t{1} << 20) return std::nullopt;
  return Search(static_cast<int>(length), max_items, max_values).best();
}

}  // namespace holotone::fft
