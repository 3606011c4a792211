// Lists of tiles and pictures in tiles, for sums over pixels; the choice of the backend.
#include <holotone/core/no_backend.hpp>
#include <holotone/smoe/fit/gradient_sums.hpp>
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

TargetTiles::TargetTiles(View<const float, 3> image)
    : size_{image.shape()[0], image.shape()[1]},
      channels_(static_cast<int>(image.shape()[2])),
      tiles_{(size_[0] + tile_shape[0] - 1) / tile_shape[0], (size_[1] + tile_shape[1] - 1) / tile_shape[1]},
      data_(static_cast<std::size_t>(tiles_[0] * tiles_[1] * stride())) {
  constexpr std::int64_t pixels = tile_shape[0] * tile_shape[1];
  for (std::int64_t row = 0; row < size_[0]; ++row) {
    for (std::int64_t column = 0; column < size_[1]; ++column) {
      const std::int64_t tile = row / tile_shape[0] * tiles_[1] + column / tile_shape[1];
      float* const to = data_.data() + tile * stride() + row % tile_shape[0] * tile_shape[1] + column % tile_shape[1];
      for (std::int64_t c = 0; c < channels_; ++c) to[c * pixels] = image(row, column, c);
      to[channels_ * pixels] = 1;
    }
  }
}

PixelEnginePointer pixel_engine(const char* where, View<const float, 3> picture, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return pixel_engine_cpu(picture);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return pixel_engine_cuda(picture, queue);
#endif
    case Backend::opencl: break;
  }
  throw_no_backend(where, queue.device());
}

}  // namespace holotone::smoe
