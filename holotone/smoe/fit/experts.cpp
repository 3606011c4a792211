// Experts by linear least squares, with preconditioned conjugate gradients.
#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit/steps.hpp>

namespace holotone::smoe {
namespace {

/// Ridge penalties on a coefficient's change and on slopes, in pixels of weight: they determine coefficients that no
/// pixel determines.
constexpr double ridge = 0.01;
constexpr double slope_ridge = 0.02;

using Coefficients = std::array<double, 5>;  // {a, b}: a + b . z
using Expert = std::array<Coefficients, max_smoe_channels>;

Expert expert_of(const FitComponent& component) {
  Expert expert{};
  for (std::size_t c = 0; c < expert.size(); ++c) {
    const Vector b = whitened_slope(component, component.slope[c]);
    expert[c] = {component.colour[c], b[0], b[1], b[2], b[3]};
  }
  return expert;
}

void set_expert(FitComponent& component, const Expert& expert) {
  for (std::size_t c = 0; c < expert.size(); ++c) {
    component.colour[c] = expert[c][0];
    component.slope[c] = natural_slope(component, {expert[c][1], expert[c][2], expert[c][3], expert[c][4]});
  }
}

/// Cholesky's factor of a component's own normal matrix.
class OwnMatrix {
 public:
  OwnMatrix(const FitSums& sums, std::size_t dimensions) : size_(dimensions + 1) {
    for (std::size_t row = 0; row < size_; ++row) {
      for (std::size_t column = 0; column <= row; ++column) {
        double sum = row == 0 ? sums.s : column == 0 ? sums.s1[row - 1] : sums.s2[below(row - 1, column - 1)];
        if (row == column) sum += ridge + (row > 0 ? slope_ridge : 0);
        for (std::size_t k = 0; k < column; ++k) sum -= l_[row][k] * l_[column][k];
        // Rounding of the sums must not make the matrix indefinite: pivots are at least the ridge.
        l_[row][column] = row == column ? std::sqrt(std::max(sum, ridge)) : sum / l_[column][column];
      }
    }
  }
  [[nodiscard]] Coefficients solve(Coefficients b) const {
    for (std::size_t row = 0; row < size_; ++row) {
      for (std::size_t k = 0; k < row; ++k) b[row] -= l_[row][k] * b[k];
      b[row] /= l_[row][row];
    }
    for (std::size_t row = size_; row-- > 0;) {
      for (std::size_t k = row + 1; k < size_; ++k) b[row] -= l_[k][row] * b[k];
      b[row] /= l_[row][row];
    }
    for (std::size_t row = size_; row < b.size(); ++row) b[row] = 0;
    return b;
  }

 private:
  std::size_t size_;
  std::array<Coefficients, 5> l_{};
};

using Sum = std::array<double, max_smoe_channels>;

Sum inner(const std::vector<Expert>& a, const std::vector<Expert>& b) {
  Sum sum{};
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      for (std::size_t i = 0; i < a[j][c].size(); ++i) sum[c] += a[j][c][i] * b[j][c][i];
    }
  }
  return sum;
}

/// a += factor b, channel by channel.
void add(std::vector<Expert>& a, const Sum& factor, const std::vector<Expert>& b) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t c = 0; c < factor.size(); ++c) {
      for (std::size_t i = 0; i < a[j][c].size(); ++i) a[j][c][i] += factor[c] * b[j][c][i];
    }
  }
}

/// Conjugate gradients for the experts. Channels are independent systems with one matrix; each has its own step length.
class ConjugateGradients {
 public:
  ConjugateGradients(FitEngine& engine, const FitComponents& components, std::span<const std::size_t> views)
      : engine_(engine),
        views_(views),
        moving_(components),
        solution_(components.size()),
        residual_(components.size()) {
    engine_.sum(PixelSum::experts, views, {});
    const auto& sums = engine_.sums();
    for (std::size_t j = 0; j < components.size(); ++j) {
      own_.emplace_back(sums[j], static_cast<std::size_t>(engine.dimensions()));
      solution_[j] = expert_of(components[j]);
      for (std::size_t c = 0; c < solution_[j].size(); ++c) {
        for (std::size_t i = 0; i < 5; ++i) {
          residual_[j][c][i] = -sums[j].p[c][i] - (i > 0 ? slope_ridge * solution_[j][c][i] : 0);
        }
      }
    }
    direction_ = preconditioned();
    product_ = first_ = inner(residual_, direction_);
  }

  /// Performs one iteration; false once all channels have converged.
  bool step() {
    const auto image = apply(direction_);
    const Sum curvature = inner(direction_, image);
    Sum forward{};
    Sum back{};
    for (std::size_t c = 0; c < forward.size(); ++c) {
      forward[c] = curvature[c] > 0 ? product_[c] / curvature[c] : 0;
      back[c] = -forward[c];
    }
    add(solution_, forward, direction_);
    add(residual_, back, image);
    auto next = preconditioned();
    const Sum product = inner(residual_, next);
    bool more = false;
    Sum keep{};
    for (std::size_t c = 0; c < keep.size(); ++c) {
      keep[c] = product_[c] > 0 ? product[c] / product_[c] : 0;
      more = more || product[c] > enough * first_[c];
    }
    product_ = product;
    add(next, keep, direction_);
    direction_ = std::move(next);
    return more;
  }

  void store(FitComponents& components) const {
    for (std::size_t j = 0; j < components.size(); ++j) set_expert(components[j], solution_[j]);
  }

 private:
  static constexpr double enough = 1e-10;

  [[nodiscard]] std::vector<Expert> preconditioned() const {
    std::vector<Expert> result(residual_.size());
    for (std::size_t j = 0; j < result.size(); ++j) {
      for (std::size_t c = 0; c < result[j].size(); ++c) result[j][c] = own_[j].solve(residual_[j][c]);
    }
    return result;
  }
  /// Product of the normal matrix, with its ridges, and experts: the gradient for a black target.
  std::vector<Expert> apply(const std::vector<Expert>& experts) {
    for (std::size_t j = 0; j < experts.size(); ++j) set_expert(moving_[j], experts[j]);
    engine_.put(moving_);
    engine_.sum(PixelSum::pictures, views_, {});
    const auto& sums = engine_.sums();
    std::vector<Expert> image(experts.size());
    for (std::size_t j = 0; j < experts.size(); ++j) {
      for (std::size_t c = 0; c < image[j].size(); ++c) {
        for (std::size_t i = 0; i < 5; ++i) {
          image[j][c][i] = sums[j].p[c][i] + (ridge + (i > 0 ? slope_ridge : 0)) * experts[j][c][i];
        }
      }
    }
    return image;
  }

  FitEngine& engine_;
  std::span<const std::size_t> views_;
  FitComponents moving_;  ///< fixed gating with changing experts
  std::vector<OwnMatrix> own_;
  std::vector<Expert> solution_;
  std::vector<Expert> residual_;
  std::vector<Expert> direction_;
  Sum product_{};
  Sum first_{};
};

}  // namespace

void solve_experts(FitEngine& engine, FitComponents& components, std::span<const std::size_t> views, int steps,
                   const std::function<void()>& report, const std::function<bool()>& is_late) {
  if (is_late && is_late()) return;  // setting up the equations alone needs a sum over all pictures
  ConjugateGradients solver(engine, components, views);
  for (int step = 0; step < steps; ++step) {
    if (is_late && is_late()) break;
    report();
    if (!solver.step()) break;
  }
  solver.store(components);
  engine.put(components);
}

}  // namespace holotone::smoe
