#include <algorithm>
#include <cmath>
#include <holotone/recipes/scenes/scene_thumbnail_detail.hpp>
#include <limits>

namespace holotone {
namespace {

/// Codes of the nearest points of each pixel.
class DepthPicture {
 public:
  DepthPicture(const std::array<float, 3>& low, const std::array<float, 3>& high, std::int64_t side)
      : low_(low), depth_(std::max(high[2] - low[2], std::numeric_limits<float>::min())), codes_({side, side, 1}) {
    const float extent = std::max({high[0] - low[0], high[1] - low[1], std::numeric_limits<float>::min()});
    scale_ = static_cast<float>(side - 1) / extent;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      margin_[axis] = 0.5F * (static_cast<float>(side - 1) - scale_ * (high[axis] - low[axis]));
    }
    std::ranges::fill(codes_.host(), 0);
  }

  /// Column, row and depth (1 nearest) of a position; y points up.
  [[nodiscard]] std::array<float, 3> place(const std::array<float, 3>& position) const {
    const auto last = static_cast<float>(codes_.shape()[0] - 1);
    return {margin_[0] + scale_ * (position[0] - low_[0]), last - margin_[1] - scale_ * (position[1] - low_[1]),
            (position[2] - low_[2]) / depth_};
  }

  void add(float column, float row, float depth) {
    const auto [ny, nx, channels] = codes_.shape();
    const auto x = static_cast<std::int64_t>(std::lround(column));
    const auto y = static_cast<std::int64_t>(std::lround(row));
    if (x < 0 || y < 0 || x >= nx || y >= ny) return;
    constexpr float darkest = 70;
    const auto code = static_cast<std::uint8_t>(darkest + (255 - darkest) * std::clamp(depth, 0.0F, 1.0F));
    auto& pixel = codes_.data()[y * nx + x];
    pixel = std::max(pixel, code);
  }

  /// All pixels of a triangle, as long as all triangles together have no more than some hundred pixels for each of the
  /// picture's: files may hold millions that cover all of it.
  void add(const std::array<std::array<float, 3>, 3>& corners) {
    float longest = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& a = corners[i];
      const auto& b = corners[(i + 1) % 3];
      longest = std::max({longest, std::abs(a[0] - b[0]), std::abs(a[1] - b[1])});
    }
    const int steps = static_cast<int>(std::ceil(longest));
    left_ -= std::int64_t{steps} * steps / 2;
    if (left_ < 0) return;
    for (int i = 0; i <= steps; ++i) {
      for (int j = 0; j <= steps - i; ++j) {
        const float u = static_cast<float>(i) / static_cast<float>(steps);
        const float v = static_cast<float>(j) / static_cast<float>(steps);
        std::array<float, 3> point{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          point[axis] = (1 - u - v) * corners[0][axis] + u * corners[1][axis] + v * corners[2][axis];
        }
        add(point[0], point[1], point[2]);
      }
    }
  }

  Image image() && { return {std::move(codes_), {}}; }

 private:
  std::array<float, 3> low_;
  float depth_;
  float scale_ = 1;
  std::array<float, 2> margin_{};
  Array<std::uint8_t, 3> codes_;
  std::int64_t left_ = std::int64_t{1} << 24;  ///< pixels of triangles that may still be drawn
};

}  // namespace

Image scene_thumbnail(const Mesh& mesh, const FiniteExtents& extents, std::int64_t side) {
  DepthPicture picture(extents.low, extents.high, side);
  for (const auto& position : mesh.position) {
    if (!is_finite(position)) continue;
    const auto [column, row, depth] = picture.place(position);
    picture.add(column, row, depth);
  }
  for (const auto& triangle : mesh.triangle) {
    std::array<std::array<float, 3>, 3> corners{};
    bool whole = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& position = mesh.position[static_cast<std::size_t>(triangle[i])];
      whole = whole && is_finite(position);
      corners[i] = picture.place(position);
    }
    if (whole) picture.add(corners);
  }
  return std::move(picture).image();
}

}  // namespace holotone
