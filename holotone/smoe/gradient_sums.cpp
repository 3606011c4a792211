#include <algorithm>
#include <cmath>
#include <holotone/smoe/gradient_sums.hpp>
#include <numbers>
#include <numeric>

namespace holotone::smoe {

TilePairs pair_up(const Tiles& tiles, const Shape<2>& size, std::int64_t components) {
  TilePairs pairs;
  pairs.size = size;
  pairs.tiles = tiles.count;
  pairs.begin.assign(1, 0);
  pairs.first.assign(static_cast<std::size_t>(components) + 1, 0);
  for (const auto& tile : tiles.tiles) {
    pairs.index.insert(pairs.index.end(), tile.index.begin(), tile.index.end());
    pairs.begin.push_back(std::ssize(pairs.index));
    for (const auto j : tile.index) ++pairs.first[j + 1];
  }
  std::partial_sum(pairs.first.begin(), pairs.first.end(), pairs.first.begin());
  pairs.places.resize(pairs.index.size());
  auto next = pairs.first;
  for (std::size_t i = 0; i < pairs.index.size(); ++i) {
    pairs.places[static_cast<std::size_t>(next[pairs.index[i]]++)] = static_cast<std::uint32_t>(i);
  }
  return pairs;
}

TargetTiles::TargetTiles(const Shape<2>& size, int channels)
    : size_(size),
      channels_(channels),
      tiles_{(size[0] + tile_shape[0] - 1) / tile_shape[0], (size[1] + tile_shape[1] - 1) / tile_shape[1]},
      data_(static_cast<std::size_t>(tiles_[0] * tiles_[1] * stride())) {
  for (std::int64_t row = 0; row < size[0]; ++row) {
    for (std::int64_t column = 0; column < size[1]; ++column) {
      const std::int64_t tile = row / tile_shape[0] * tiles_[1] + column / tile_shape[1];
      const std::int64_t pixel = row % tile_shape[0] * tile_shape[1] + column % tile_shape[1];
      data_[static_cast<std::size_t>(tile * stride() + channels * tile_shape[0] * tile_shape[1] + pixel)] = 1;
    }
  }
}

TargetTiles::TargetTiles(View<const float, 3> image)
    : TargetTiles({image.shape()[0], image.shape()[1]}, static_cast<int>(image.shape()[2])) {
  for (std::int64_t row = 0; row < size_[0]; ++row) {
    for (std::int64_t column = 0; column < size_[1]; ++column) {
      const std::int64_t tile = row / tile_shape[0] * tiles_[1] + column / tile_shape[1];
      const std::int64_t pixel = row % tile_shape[0] * tile_shape[1] + column % tile_shape[1];
      for (std::int64_t c = 0; c < channels_; ++c) {
        data_[static_cast<std::size_t>(tile * stride() + c * tile_shape[0] * tile_shape[1] + pixel)] =
            image(row, column, c);
      }
    }
  }
}

TargetTiles TargetTiles::black(const Shape<2>& size, int channels) { return TargetTiles(size, channels); }

ComponentGradient component_gradient(const ImageComponent& component, const ComponentSums& sums, int channels) {
  const double unit = std::sqrt(2 * std::numbers::ln2);
  const double a00 = component.across * unit;
  const double a10 = component.skew * unit;
  const double a11 = component.down * unit;
  const auto& [s1, sx, sy, sxx, sxy, syy] = sums.s;
  ComponentGradient gradient;
  gradient.peak = s1;
  gradient.centre = {a00 * sx, a10 * sx + a11 * sy};
  gradient.shape[0] = -a00 * a00 * sxx;
  gradient.shape[1] = -a00 * (a10 * sxx + a11 * sxy);
  gradient.shape[2] = -(a10 * a10 * sxx + 2 * a10 * a11 * sxy + a11 * a11 * syy);
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const auto& [p1, px, py] = sums.p[c];
    gradient.expert[c] = {p1, a00 * px, a10 * px + a11 * py};
  }
  return gradient;
}

}  // namespace holotone::smoe
