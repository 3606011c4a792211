#include <algorithm>
#include <cmath>
#include <holotone/smoe/fit_steps.hpp>

namespace holotone::smoe {
namespace {

/// What a coefficient's change and a slope cost, in pixels of weight: a tie for what no pixel decides.
constexpr double ridge = 0.01;
constexpr double slope_ridge = 0.02;

using Expert = std::array<std::array<double, 3>, most_smoe_channels>;  // {a, b0, b1}: a + b . z

Expert expert_of(const ImageComponent& own, int channels) {
  const Whitening a = whitening(own);
  Expert expert{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double b1 = static_cast<double>(own.slope_y[c]) / a.a11;
    expert[c] = {static_cast<double>(own.colour[c]), (static_cast<double>(own.slope_x[c]) - a.a10 * b1) / a.a00, b1};
  }
  return expert;
}

void set_expert(ImageComponent& own, const Expert& expert, int channels) {
  const Whitening a = whitening(own);
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    own.colour[c] = static_cast<float>(expert[c][0]);
    own.slope_x[c] = static_cast<float>(a.a00 * expert[c][1] + a.a10 * expert[c][2]);
    own.slope_y[c] = static_cast<float>(a.a11 * expert[c][2]);
  }
}

/// Cholesky's factor of a component's own 3 x 3 matrix.
class OwnMatrix {
 public:
  OwnMatrix(const ImageComponent& component, const ComponentSums& sums) {
    const Whitening a = whitening(component);
    const auto& [s1, sx, sy, sxx, sxy, syy] = sums.s;
    const double m00 = s1 + ridge;
    const double m10 = a.a00 * sx;
    const double m20 = a.a10 * sx + a.a11 * sy;
    const double m11 = a.a00 * a.a00 * sxx + ridge + slope_ridge;
    const double m21 = a.a00 * (a.a10 * sxx + a.a11 * sxy);
    const double m22 = a.a10 * a.a10 * sxx + 2 * a.a10 * a.a11 * sxy + a.a11 * a.a11 * syy + ridge + slope_ridge;
    l00_ = std::sqrt(m00);
    l10_ = m10 / l00_;
    l20_ = m20 / l00_;
    // Rounding of the sums may not make the matrix indefinite: the ridge is its least.
    l11_ = std::sqrt(std::max(m11 - l10_ * l10_, ridge));
    l21_ = (m21 - l20_ * l10_) / l11_;
    l22_ = std::sqrt(std::max(m22 - l20_ * l20_ - l21_ * l21_, ridge));
  }
  [[nodiscard]] std::array<double, 3> solve(const std::array<double, 3>& b) const {
    const double y0 = b[0] / l00_;
    const double y1 = (b[1] - l10_ * y0) / l11_;
    const double y2 = (b[2] - l20_ * y0 - l21_ * y1) / l22_;
    const double x2 = y2 / l22_;
    const double x1 = (y1 - l21_ * x2) / l11_;
    return {(y0 - l10_ * x1 - l20_ * x2) / l00_, x1, x2};
  }

 private:
  double l00_, l10_, l20_, l11_, l21_, l22_;
};

using Sum = std::array<double, most_smoe_channels>;

Sum inner(const std::vector<Expert>& a, const std::vector<Expert>& b) {
  Sum sum{};
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t c = 0; c < sum.size(); ++c) {
      for (std::size_t i = 0; i < 3; ++i) sum[c] += a[j][c][i] * b[j][c][i];
    }
  }
  return sum;
}

/// a += factor b, channel by channel.
void add(std::vector<Expert>& a, const Sum& factor, const std::vector<Expert>& b) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t c = 0; c < factor.size(); ++c) {
      for (std::size_t i = 0; i < 3; ++i) a[j][c][i] += factor[c] * b[j][c][i];
    }
  }
}

/// Channels are systems of their own with one matrix: each has its own step.
class ConjugateGradients {
 public:
  ConjugateGradients(const Components& components, const TilePairs& pairs, const TargetTiles& target)
      : pairs_(pairs),
        black_(TargetTiles::black(target.size(), target.channels())),
        channels_(target.channels()),
        moving_(components),
        solution_(components.size()),
        residual_(components.size()) {
    (void)sum_pixels(PixelSum::experts, components, {}, pairs, target, sums_);
    for (std::size_t j = 0; j < components.size(); ++j) {
      own_.emplace_back(components[j], sums_[j]);
      solution_[j] = expert_of(components[j], channels_);
      residual_[j] = component_gradient(components[j], sums_[j], channels_).expert;
      for (std::size_t c = 0; c < residual_[j].size(); ++c) {
        for (std::size_t i = 0; i < 3; ++i) {
          residual_[j][c][i] = -residual_[j][c][i] - (i > 0 ? slope_ridge * solution_[j][c][i] : 0);
        }
      }
    }
    direction_ = preconditioned();
    product_ = first_ = inner(residual_, direction_);
  }

  /// False once nothing is left to do.
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

  void store(Components& components) const {
    for (std::size_t j = 0; j < components.size(); ++j) set_expert(components[j], solution_[j], channels_);
  }

 private:
  static constexpr double enough = 1e-10;

  [[nodiscard]] std::vector<Expert> preconditioned() const {
    std::vector<Expert> result(residual_.size());
    for (std::size_t j = 0; j < result.size(); ++j) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
        result[j][c] = own_[j].solve(residual_[j][c]);
      }
    }
    return result;
  }
  /// The normal matrix times experts: the gradient of the picture of those experts less nothing.
  std::vector<Expert> apply(const std::vector<Expert>& experts) {
    for (std::size_t j = 0; j < experts.size(); ++j) set_expert(moving_[j], experts[j], channels_);
    (void)sum_pixels(PixelSum::experts, moving_, {}, pairs_, black_, sums_);
    std::vector<Expert> image(experts.size());
    for (std::size_t j = 0; j < experts.size(); ++j) {
      image[j] = component_gradient(moving_[j], sums_[j], channels_).expert;
      for (std::size_t c = 0; c < image[j].size(); ++c) {
        for (std::size_t i = 0; i < 3; ++i) image[j][c][i] += (ridge + (i > 0 ? slope_ridge : 0)) * experts[j][c][i];
      }
    }
    return image;
  }

  const TilePairs& pairs_;
  TargetTiles black_;
  int channels_;
  Components moving_;  ///< the gating, with experts that change
  std::vector<OwnMatrix> own_;
  std::vector<Expert> solution_;
  std::vector<Expert> residual_;
  std::vector<Expert> direction_;
  std::vector<ComponentSums> sums_;
  Sum product_{};
  Sum first_{};
};

}  // namespace

void solve_experts(Components& components, const TilePairs& pairs, const TargetTiles& target, int steps,
                   const std::function<void()>& report) {
  ConjugateGradients solver(components, pairs, target);
  for (int step = 0; step < steps; ++step) {
    report();
    if (!solver.step()) break;
  }
  solver.store(components);
}

}  // namespace holotone::smoe
