#include <algorithm>
#include <cmath>
#include <holotone/io/points/polygon_detail.hpp>

namespace holotone::io {
namespace {

using Corner = std::array<double, 3>;
using Corner2 = std::array<double, 2>;
using Triangle = std::array<std::uint32_t, 3>;

Corner cross(const Corner& a, const Corner& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Corner& a, const Corner& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Corner less(const Corner& a, const Corner& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Twice the signed area of a triangle.
double turn(const Corner2& a, const Corner2& b, const Corner2& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/// The corners as seen against their normal, counter-clockwise; empty if they have no area.
std::vector<Corner2> flattened(const std::vector<Corner>& corners) {
  Corner normal{};
  for (std::size_t i = 2; i < corners.size(); ++i) {
    const Corner part = cross(less(corners[i - 1], corners[0]), less(corners[i], corners[0]));
    for (std::size_t axis = 0; axis < 3; ++axis) normal[axis] += part[axis];
  }
  const double length = std::hypot(normal[0], normal[1], normal[2]);
  if (!(length > 0 && std::isfinite(length))) return {};
  for (double& part : normal) part /= length;
  Corner least{};  // the axis that lies flattest
  const auto by_size = [](double a, double b) { return std::abs(a) < std::abs(b); };
  least[static_cast<std::size_t>(std::min_element(normal.begin(), normal.end(), by_size) - normal.begin())] = 1;
  const Corner right = cross(normal, least);
  const Corner up = cross(normal, right);
  std::vector<Corner2> flat(corners.size());
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner from = less(corners[i], corners[0]);
    flat[i] = {dot(from, right), dot(from, up)};
  }
  return flat;
}

/// True for four corners that turn well to one side, the most frequent polygon.
bool is_convex_quad(const std::vector<Corner>& corners) {
  if (corners.size() != 4) return false;
  const Corner normal = cross(less(corners[2], corners[0]), less(corners[3], corners[1]));
  const double flat = 1e-12 * dot(normal, normal);
  for (std::size_t i = 0; i < 4; ++i) {
    const Corner& at = corners[i];
    if (!(dot(cross(less(corners[(i + 1) % 4], at), less(corners[(i + 2) % 4], at)), normal) > flat)) return false;
  }
  return true;
}

class EarCutter {
 public:
  EarCutter(const std::vector<Corner2>& flat, std::vector<Triangle>& triangles)
      : flat_(flat), triangles_(triangles), before_(flat.size()), after_(flat.size()), state_(flat.size()) {
    const auto count = static_cast<std::uint32_t>(flat.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      before_[i] = (i + count - 1) % count;
      after_[i] = (i + 1) % count;
    }
    for (std::uint32_t i = 0; i < count; ++i) look_at(i);
  }

  [[nodiscard]] bool is_convex() const {
    return std::none_of(state_.begin(), state_.end(), [](State state) { return state == State::reflex; });
  }

  void cut() {
    std::uint32_t at = 0;
    std::size_t left = flat_.size();
    for (std::size_t passed = 0; left > 3 && passed < left;) {
      if (state_[at] == State::flat || is_ear(at)) {
        if (state_[at] != State::flat) triangles_.push_back({before_[at], at, after_[at]});
        after_[before_[at]] = after_[at];
        before_[after_[at]] = before_[at];
        look_at(before_[at]);
        look_at(after_[at]);
        at = before_[at];
        --left;
        passed = 0;
      } else {
        at = after_[at];
        ++passed;
      }
    }
    for (std::uint32_t i = after_[at]; after_[i] != at; i = after_[i]) triangles_.push_back({at, i, after_[i]});
  }

 private:
  /// `blocked` stays so until a neighbour is cut: the ears of the rest are ears of the whole.
  enum class State : std::uint8_t { convex, blocked, flat, reflex };

  void look_at(std::uint32_t i) {
    const Corner2& a = flat_[before_[i]];
    const Corner2& b = flat_[i];
    const Corner2& c = flat_[after_[i]];
    const double turned = turn(a, b, c);
    // Rounding bends straight edges of polygons that lie slanted in space.
    const double noise = 1e-14 * std::hypot(b[0] - a[0], b[1] - a[1]) * std::hypot(c[0] - a[0], c[1] - a[1]);
    state_[i] = turned > noise ? State::convex : turned < -noise ? State::reflex : State::flat;
  }

  bool is_ear(std::uint32_t i) {
    if (state_[i] != State::convex) return false;
    const Corner2& a = flat_[before_[i]];
    const Corner2& b = flat_[i];
    const Corner2& c = flat_[after_[i]];
    for (std::uint32_t k = after_[after_[i]]; k != before_[i]; k = after_[k]) {
      const Corner2& p = flat_[k];
      if (state_[k] != State::reflex || p == a || p == b || p == c) continue;
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0) {
        state_[i] = State::blocked;
        return false;
      }
    }
    return true;
  }

  const std::vector<Corner2>& flat_;
  std::vector<Triangle>& triangles_;
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> after_;
  std::vector<State> state_;
};

}  // namespace

bool split_polygon(const std::vector<Corner>& corners, std::vector<Triangle>& triangles) {
  triangles.clear();
  const auto fan = [&] {
    for (std::uint32_t k = 2; k < corners.size(); ++k) triangles.push_back({0, k - 1, k});
    return true;
  };
  if (corners.size() < 4 || is_convex_quad(corners)) return fan();
  const auto flat = flattened(corners);
  if (flat.empty()) return fan();
  EarCutter ears(flat, triangles);
  if (ears.is_convex()) return fan();
  if (corners.size() > max_concave_corners) return false;
  ears.cut();
  return true;
}

}  // namespace holotone::io
