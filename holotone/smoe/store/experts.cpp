// Quantization of experts by squared error and bits (rate-distortion optimization), one component at a time.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/model/over_components.hpp>
#include <holotone/smoe/store/store_detail.hpp>

namespace holotone::smoe {
namespace {

/// A turn rounds every `turns`-th component, a round all of them; later rounds change little.
constexpr std::int64_t turns = 4;
constexpr int rounds = 4;
constexpr double tolerance = 0.25 / 255;
/// Ridge penalty on changes, in pixels of weight: determines numbers that no pixel determines.
constexpr double ridge = 0.01;
/// -d(error)/d(bits) over s^2, of numbers rounded to steps s: error s^2 / 24 each, a quarter of it with one bit more.
constexpr double bit_worth = 2 * 0.69314718055994531 / 24;
/// Least value of a mean residual.
constexpr double min_residual = 0.02;

constexpr std::size_t max_coefficients = max_smoe_dimensions + 1;
using Coefficients = std::array<double, max_coefficients>;

/// Equations of one component alone, in the coordinates of its stored numbers: error = |R (v - best)|^2 / 2 + constant,
/// R upper triangular.
struct OwnEquations {
  std::array<Coefficients, max_coefficients> r{};
  std::array<Coefficients, max_smoe_channels> change{};  ///< best minus current values, for each stored channel
};

/// Q of zeta -> z: z = A (X - centre), zeta = U^-1 (X - centre).
Matrix turn_of(const FitComponent& component, const Matrix& u, std::size_t d) {
  Matrix turn{};
  for (std::size_t column = 0; column < d; ++column) {
    const Vector x{u[0][column], u[1][column], u[2][column], u[3][column]};
    const auto [p0, p1] = component.pixels.times(x[0], x[1]);
    const auto [v0, v1] = component.views.times(x[2], x[3]);
    const auto& m = component.shear;
    const Vector z{p0 + m[0][0] * x[2] + m[0][1] * x[3], p1 + m[1][0] * x[2] + m[1][1] * x[3], v0, v1};
    for (std::size_t row = 0; row < d; ++row) turn[row][column] = z[row];
  }
  return turn;
}

OwnEquations own_equations(const FitSums& sums, const FitComponent& component, const Matrix& u, int dimensions,
                           int channels) {
  const auto d = static_cast<std::size_t>(dimensions);
  const Matrix turn = turn_of(component, u, d);
  std::array<Coefficients, max_coefficients> h{};
  h[0][0] = sums.s + ridge;
  std::array<Channels, max_coefficients> gradient{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) gradient[0][c] = sums.p[c][0];
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t a = 0; a < d; ++a) {
      h[0][i + 1] += turn[a][i] * sums.s1[a];
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        gradient[i + 1][c] += turn[a][i] * sums.p[c][a + 1];
      }
      for (std::size_t k = 0; k <= i; ++k) {
        for (std::size_t b = 0; b < d; ++b) {
          h[k + 1][i + 1] += turn[a][i] * turn[b][k] * sums.s2[below(std::max(a, b), std::min(a, b))];
        }
      }
    }
    h[i + 1][i + 1] += ridge;
  }
  OwnEquations result;
  auto& r = result.r;  // h = r^T r
  for (std::size_t row = 0; row <= d; ++row) {
    for (std::size_t column = row; column <= d; ++column) {
      double sum = h[row][column];
      for (std::size_t k = 0; k < row; ++k) sum -= r[k][row] * r[k][column];
      r[row][column] = row == column ? std::sqrt(std::max(sum, ridge)) : sum / r[row][row];
    }
  }
  for (auto& one : gradient) one = decorrelated(one, channels);
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    auto& change = result.change[c];
    for (std::size_t row = 0; row <= d; ++row) {
      double sum = -gradient[row][c];
      for (std::size_t k = 0; k < row; ++k) sum -= r[k][row] * change[k];
      change[row] = sum / r[row][row];
    }
    for (std::size_t row = d + 1; row-- > 0;) {
      for (std::size_t k = row + 1; k <= d; ++k) change[row] -= r[row][k] * change[k];
      change[row] /= r[row][row];
    }
  }
  return result;
}

class ExpertRounding {
 public:
  ExpertRounding(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps)
      : scene_(scene), coded_(quantise(model, steps)), layout_(coded_.layout()) {
    components_ = components_of(dequantise(coded_), scene.loose);
    scene_.engine->put(components_);
    for (const auto view : scene_.sampled) scene_.engine->select(view, tolerance);
    best_ = coded_.values;
  }

  CodedModel run(const std::function<void()>& report, const std::function<bool()>& is_late) {
    for (int round = 0; round < rounds; ++round) {
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        if (is_late && is_late()) return best();
        report();
        look();
        if (turn == 0) prepare_round();
        const std::int64_t count = (coded_.info.count - turn + turns - 1) / turns;
        over_components(count, [&](std::size_t i) { round_one(turn + turns * static_cast<std::int64_t>(i)); });
      }
    }
    look();
    return std::move(coded_);
  }

 private:
  /// Numbers of the least error so far; initially those of plain rounding.
  CodedModel best() {
    coded_.values = best_;
    choose_predictors(coded_);
    return std::move(coded_);
  }

  /// Sums over the pictures of the current numbers. With many components per pixel, moving a quarter of them at once
  /// overshoots: if the error exceeds that of plain rounding, restores the best numbers and halves later moves.
  void look() {
    sum_pictures();
    const double error = scene_.engine->total();
    if (std::isinf(first_)) first_ = error;
    if (error < min_error_) {
      min_error_ = error;
      best_ = coded_.values;
    } else if (!(error <= first_)) {
      coded_.values = best_;
      share_ *= 0.5;
      sum_pictures();
    }
  }
  void sum_pictures() {
    components_ = components_of(dequantise(coded_), scene_.loose);
    scene_.engine->put(components_);
    scene_.engine->sum(PixelSum::experts, scene_.sampled, {});
    sums_ = scene_.engine->sums();
  }

  [[nodiscard]] const std::int32_t* numbers(std::int64_t j) const { return coded_.values.data() + j * layout_.size(); }

  void prepare_round() {
    choose_predictors(coded_);
    expected_ = expected_numbers(coded_);
    const auto count = static_cast<double>(coded_.info.count);
    std::vector<double> residual(static_cast<std::size_t>(layout_.size()));
    double worth = 0;
    for (std::int64_t j = 0; j < coded_.info.count; ++j) {
      const std::int32_t* const numbers_here = numbers(j);
      for (int p = layout_.colour(); p < layout_.size(); ++p) {
        const std::int64_t base = expected_[static_cast<std::size_t>(j * layout_.size() + p)];
        residual[static_cast<std::size_t>(p)] += static_cast<double>(std::abs(numbers_here[p] - base)) / count;
      }
      const double step = expert_frame(coded_, numbers_here).colour[0];
      worth += sums_[static_cast<std::size_t>(j)].s * step * step / count;
    }
    lambda_ = bit_worth * worth;
    bits_.clear();
    for (const double mean : residual) bits_.push_back(std::log2(1 + 1 / std::max(mean, min_residual)));
  }

  /// Number n of least cost: curvature (step n - target)^2 / 2 + lambda bits.
  [[nodiscard]] std::int32_t chosen(double target, double step, double curvature, int p, std::int64_t base) const {
    constexpr double most = max_steps;
    const double place = std::clamp(target / step, -most, most);
    const auto below_it = static_cast<std::int64_t>(std::floor(place));
    const bool is_above = place > static_cast<double>(base);
    const auto inward = is_above ? below_it - 1 : below_it + 2;
    std::int64_t best = 0;
    double least = INFINITY;
    for (const std::int64_t n : {below_it, below_it + 1, inward, base, std::int64_t{0}}) {
      const auto residual = static_cast<double>(std::abs(n - base));
      const double bits = (residual > 0 ? 1 : 0) + residual * bits_[static_cast<std::size_t>(p)];
      const double away = step * (static_cast<double>(n) - place);
      const double cost = 0.5 * curvature * away * away + lambda_ * bits;
      if (cost < least && std::abs(n) <= max_steps) {
        least = cost;
        best = n;
      }
    }
    return static_cast<std::int32_t>(best);
  }

  void round_one(std::int64_t j) {
    const auto component = static_cast<std::size_t>(j);
    std::int32_t* const numbers_here = coded_.values.data() + j * layout_.size();
    const auto frame = expert_frame(coded_, numbers_here);
    const auto equations =
        own_equations(sums_[component], components_[component], frame.u, layout_.dimensions, layout_.channels);
    const auto& r = equations.r;
    const auto d = static_cast<std::size_t>(layout_.dimensions);
    for (int c = 0; c < layout_.channels; ++c) {
      const auto channel = static_cast<std::size_t>(c);
      Coefficients off{};  // chosen minus best values
      for (std::size_t i = d + 1; i-- > 0;) {
        const int p =
            i == 0 ? layout_.colour() + c : layout_.slope() + c * layout_.dimensions + static_cast<int>(i) - 1;
        const double step = i == 0 ? frame.colour[channel] : frame.slope[channel];
        const double best = static_cast<double>(numbers_here[p]) * step + share_ * equations.change[channel][i];
        double target = best;
        for (std::size_t k = i + 1; k <= d; ++k) target -= r[i][k] * off[k] / r[i][i];
        const std::int64_t base = expected_[static_cast<std::size_t>(j * layout_.size() + p)];
        numbers_here[p] = chosen(target, step, r[i][i] * r[i][i], p, base);
        off[i] = static_cast<double>(numbers_here[p]) * step - best;
      }
    }
  }

  StoreScene& scene_;
  CodedModel coded_;
  CodedLayout layout_;
  FitComponents components_;
  std::vector<FitSums> sums_;
  std::vector<std::int32_t> best_;  ///< numbers of the least error so far
  double min_error_ = INFINITY;
  double first_ = INFINITY;  ///< error of plain rounding
  double share_ = 1;         ///< fraction of the way to its own best that a component moves
  std::vector<std::int64_t> expected_;
  std::vector<double> bits_;  ///< bits per unit of a residual, for each number of a component
  double lambda_ = 0;
};

}  // namespace

CodedModel rounded_experts(StoreScene& scene, const SmoeModel& model, const SmoeSteps& steps,
                           const std::function<void()>& report, const std::function<bool()>& is_late) {
  return ExpertRounding(scene, model, steps).run(report, is_late);
}

}  // namespace holotone::smoe
