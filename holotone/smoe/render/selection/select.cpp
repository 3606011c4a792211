// Component lists of tiles, from large boxes to small ones, on the CPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/render/selection/select_pruner.hpp>
#include <limits>
#include <numeric>

namespace holotone::smoe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double minus_infinity = -infinity;

/// Components sorted by the tile that holds their centre; those outside the picture by the nearest one.
class CentreTiles {
 public:
  CentreTiles(std::span<const ImageComponent> components, const Shape<2>& tiles) : tiles_(tiles) {
    begin_.assign(static_cast<std::size_t>(tiles[0] * tiles[1]) + 1, 0);
    std::vector<std::uint32_t> tile(components.size());
    for (std::size_t j = 0; j < components.size(); ++j) {
      tile[j] = static_cast<std::uint32_t>(at(components[j]));
      ++begin_[tile[j] + 1];
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    index_.resize(components.size());
    auto next = begin_;
    for (std::size_t j = 0; j < components.size(); ++j) index_[next[tile[j]]++] = static_cast<std::uint32_t>(j);
  }
  /// Components of the tiles [first, end) of a row.
  [[nodiscard]] std::span<const std::uint32_t> of(std::int64_t row, std::int64_t first, std::int64_t end) const {
    const auto begin = begin_[static_cast<std::size_t>(row * tiles_[1] + first)];
    return std::span(index_).subspan(begin, begin_[static_cast<std::size_t>(row * tiles_[1] + end)] - begin);
  }

 private:
  [[nodiscard]] std::int64_t at(const ImageComponent& component) const {
    const auto [row, column] = tile_of(component, tiles_);
    return row * tiles_[1] + column;
  }

  Shape<2> tiles_;
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> index_;
};

/// Tiles a side of the boxes of the list hierarchy: areas, blocks, and parts of these. Each starts from the list of the
/// enclosing one.
constexpr std::int64_t area_side = 8;
constexpr std::int64_t block_side = 4;
constexpr std::int64_t part_side = 2;
/// Distance from half a tile, in pixels, within which components are searched that may be the densest in it.
constexpr double near_px = 4;
/// Fraction of the share of larger boxes for packs that no block tests.
constexpr double far_share = 1.0 / 3;

/// Depth below L at which `count` components together may be dropped. Their experts, and with them the picture's
/// colours, are no farther than `reach` from 0: the error is at most count 2^-depth 2 reach.
double compute_depth(double count, double reach, double budget) {
  return std::max(0.0, std::log2(2 * count * reach / budget)) + 1e-6;
}

/// Largest distance of any expert from 0 in the picture.
double farthest_of(std::span<const ImageComponent> components, int channels, const Shape<2>& size) {
  const PixelBox picture{0, static_cast<double>(size[1] - 1), 0, static_cast<double>(size[0] - 1)};
  constexpr std::size_t block = 4096;
  std::vector<double> farthest((components.size() + block - 1) / block);
  parallel_for(0, std::ssize(farthest), [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    for (const auto& component : components.subspan(part * block, std::min(block, components.size() - part * block))) {
      farthest[part] = std::max(farthest[part], reach_of(component, channels, picture, {}));
    }
  });
  return *std::max_element(farthest.begin(), farthest.end());
}

/// Rows and columns of tiles, [first, end).
struct TileBox {
  std::int64_t top;
  std::int64_t bottom;
  std::int64_t left;
  std::int64_t right;

  [[nodiscard]] PixelBox pixels(const Shape<2>& size) const {
    return {static_cast<double>(left * tile_shape[1]),
            static_cast<double>(std::min(right * tile_shape[1], size[1]) - 1), static_cast<double>(top * tile_shape[0]),
            static_cast<double>(std::min(bottom * tile_shape[0], size[0]) - 1)};
  }
  /// Calls body(part) for its parts of `side` tiles.
  template <class Body>
  void for_parts(std::int64_t side, const Body& body) const {
    for (std::int64_t row = top; row < bottom; row += side) {
      for (std::int64_t column = left; column < right; column += side) {
        body(TileBox{row, std::min(row + side, bottom), column, std::min(column + side, right)});
      }
    }
  }
};

/// Makes the lists of one area's tiles, on one thread.
class AreaLists {
 public:
  AreaLists(const Packs& packs, int channels, const Shape<2>& size, double tolerance, double far_depth,
            const TileBody& body)
      : packs_(packs),
        size_(size),
        tolerance_(tolerance),
        far_depth_(far_depth),
        columns_(count_tiles(size)[1]),
        body_(body),
        area_(channels),
        block_(channels),
        part_(channels) {}

  void list(const TileBox& area) {
    top_ = area.top;
    left_ = area.left;
    find_least(area);
    const auto box = area.pixels(size_);
    const double least = min_in(area);
    packs_.reaching(box, least - far_depth_, packs_found_);
    area_.load(packs_, packs_found_, box);
    const double reach = static_cast<double>(pruner_.farthest(area_, box));
    const double budget = (1 - far_share) * box_share * tolerance_;
    depth_ = compute_depth(static_cast<double>(area_.size()), reach, budget);
    area.for_parts(block_side, [&](const TileBox& block) { list_block(block, least); });
  }

 private:
  double& min_at(std::int64_t row, std::int64_t column) {
    return least_[static_cast<std::size_t>((row - top_) * area_side + column - left_)];
  }

  /// L of the area's tiles: the smaller value of a tile's halves, each the largest density that a component near it
  /// reaches all over it.
  void find_least(const TileBox& area) {
    const auto box = area.pixels(size_);
    packs_.around(grown(box), packs_found_);
    area_.load(packs_, packs_found_, box);
    for (std::int64_t row = area.top; row < area.bottom; ++row) {
      const auto strip = TileBox{row, row + 1, area.left, area.right}.pixels(size_);
      const auto around = grown(strip);
      places_of_row_.clear();
      for (std::uint32_t i = 0; i < packs_found_.size(); ++i) {
        if (packs_.bounds().meets(packs_found_[i], around)) places_of_row_.push_back(i);
      }
      for (std::int64_t column = area.left; column < area.right; ++column) {
        auto left = TileBox{row, row + 1, column, column + 1}.pixels(size_);
        auto right = left;
        left.right = std::floor(0.5 * (left.left + left.right));
        right.left = std::min(left.right + 1, right.right);
        min_at(row, column) = std::min(best_around(left), best_around(right));
      }
    }
  }

  static PixelBox grown(const PixelBox& box) {
    return {box.left - near_px, box.right + near_px, box.top - near_px, box.bottom + near_px};
  }

  double best_around(const PixelBox& half) {
    const auto around = grown(half);
    places_.clear();
    for (const auto i : places_of_row_) {
      const auto pack = packs_found_[i];
      if (packs_.bounds().left[pack] <= around.right && packs_.bounds().right[pack] >= around.left) {
        places_.push_back(i);
      }
    }
    return static_cast<double>(Pruner::best_of(area_, places_, half));
  }

  double min_of_tiles(const TileBox& tiles) {
    double least = infinity;
    tiles.for_parts(1, [&](const TileBox& tile) { least = std::min(least, min_at(tile.top, tile.left)); });
    return least;
  }

  /// L of an area: the least of its tiles; if a tile has no component near it, the best of the densest bundle.
  double min_in(const TileBox& area) {
    const double least = min_of_tiles(area);
    if (least > minus_infinity) return least;
    const auto box = area.pixels(size_);
    packs_.densest(box, packs_found_);
    area_.load(packs_, packs_found_, box);
    places_.resize(packs_found_.size());
    std::iota(places_.begin(), places_.end(), 0U);
    return static_cast<double>(Pruner::best_of(area_, places_, box));
  }

  void list_block(const TileBox& tiles, double min_above) {
    const double least = raise(tiles, area_, min_above);
    block_.take_places(area_, pruner_.reaching(static_cast<float>(least - depth_)));
    tiles.for_parts(part_side, [&](const TileBox& part) { list_part(part, least); });
  }

  void list_part(const TileBox& tiles, double min_above) {
    const double least = raise(tiles, block_, min_above);
    const auto kept = pruner_.reaching(static_cast<float>(least - depth_));
    part_.take(block_, kept, area_);
    const auto densest = std::lower_bound(kept.begin(), kept.end(), pruner_.densest) - kept.begin();
    // Once for all tiles of the part: experts' distances in it are little larger.
    pruner_.measure(part_, tiles.pixels(size_), static_cast<std::size_t>(densest));
    tiles.for_parts(1, [&](const TileBox& tile) { list_tile(tile, least); });
  }

  /// Locates candidates in a box and returns its L, at least that of the enclosing box.
  double raise(const TileBox& tiles, const Candidates& candidates, double min_above) {
    pruner_.locate(candidates, tiles.pixels(size_));
    return std::max({min_of_tiles(tiles), min_above, static_cast<double>(pruner_.best)});
  }

  void list_tile(const TileBox& tile, double min_above) {
    const double least = raise(tile, part_, min_above);
    pruner_.weigh(static_cast<float>(least));
    body_(tile.top * columns_ + tile.left,
          {pruner_.kept(tile_share * tolerance_), least, static_cast<double>(pruner_.most), pruner_.spread});
  }

  const Packs& packs_;
  const Shape<2>& size_;
  double tolerance_;
  double far_depth_;
  std::int64_t columns_;  ///< columns of tiles in the picture
  const TileBody& body_;
  std::int64_t top_ = 0;  ///< first row of tiles of the area
  std::int64_t left_ = 0;
  std::array<double, area_side * area_side> least_{};  ///< L of its tiles
  double depth_ = 0;
  std::vector<std::uint32_t> packs_found_;
  std::vector<std::uint32_t> places_of_row_;
  std::vector<std::uint32_t> places_;
  Candidates area_;
  Candidates block_;
  Candidates part_;
  Pruner pruner_;
};

void bounded(std::span<const ImageComponent> components, int channels, const Shape<2>& size, double tolerance,
             const TileBody& body) {
  const Packs packs(components, channels);
  const double far_depth = compute_depth(static_cast<double>(components.size()),
                                         farthest_of(components, channels, size), far_share * box_share * tolerance);
  const auto parts = [](std::int64_t count) { return (count + area_side - 1) / area_side; };
  const auto count = count_tiles(size);
  const std::int64_t columns = parts(count[1]);
  parallel_for(0, parts(count[0]) * columns, [&](std::int64_t i) {
    const std::int64_t row = i / columns * area_side;
    const std::int64_t column = i % columns * area_side;
    AreaLists(packs, channels, size, tolerance, far_depth, body)
        .list({row, std::min(row + area_side, count[0]), column, std::min(column + area_side, count[1])});
  });
}

/// Pixels of the window block that contains a tile.
PixelBox find_block(const PixelBox& tile, std::int64_t block_px, const Shape<2>& size) {
  if (block_px == 0) return tile;
  const auto side = static_cast<double>(block_px);
  const double left = std::floor(tile.left / side) * side;
  const double top = std::floor(tile.top / side) * side;
  return {left, std::min(left + side, static_cast<double>(size[1])) - 1, top,
          std::min(top + side, static_cast<double>(size[0])) - 1};
}

/// Lists without an error bound (`window` and `all`), with the bounds that their sums need. A tile's candidates are the
/// components with centres in the tiles that the window meets.
void listed(std::span<const ImageComponent> components, int channels, const Shape<2>& size, double window_px,
            std::int64_t block_px, const TileBody& body) {
  const auto count = count_tiles(size);
  const CentreTiles centres(components, count);
  const auto range = [&](double from, double to, std::int64_t side, std::int64_t tiles) {
    const auto tile = [&](double pixel) {
      const double place = std::floor((pixel + 0.5) / static_cast<double>(side));
      return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(tiles - 1)));
    };
    return std::pair(tile(from - window_px), tile(to + window_px));
  };
  parallel_for(0, count[0] * count[1], [&](std::int64_t i) {
    const auto box = tile_box(i, size);
    const auto block = find_block(box, block_px, size);
    TileComponents tile;
    const auto [first_row, last_row] = range(block.top, block.bottom, tile_shape[0], count[0]);
    const auto [first_column, last_column] = range(block.left, block.right, tile_shape[1], count[1]);
    for (std::int64_t row = first_row; row <= last_row; ++row) {
      for (const auto j : centres.of(row, first_column, last_column + 1)) {
        const auto& component = components[j];
        if (component.x >= block.left - window_px && component.x <= block.right + window_px &&
            component.y >= block.top - window_px && component.y <= block.bottom + window_px) {
          tile.index.push_back(j);
        }
      }
    }
    std::sort(tile.index.begin(), tile.index.end());
    tile.least = minus_infinity;
    tile.most = minus_infinity;
    if (tile.index.empty()) return body(i, std::move(tile));
    Candidates candidates(channels);
    candidates.load(components, tile.index, box);
    Pruner pruner;
    pruner.locate(candidates, box);
    pruner.measure(candidates, box, pruner.densest);
    pruner.weigh(pruner.best);
    tile.least = static_cast<double>(pruner.best);
    tile.most = static_cast<double>(pruner.most);
    tile.spread = pruner.spread;
    body(i, std::move(tile));
  });
}

}  // namespace

Shape<2> count_tiles(const Shape<2>& size) {
  return {(size[0] + tile_shape[0] - 1) / tile_shape[0], (size[1] + tile_shape[1] - 1) / tile_shape[1]};
}

PixelBox tile_box(std::int64_t tile, const Shape<2>& size) {
  const std::int64_t columns = count_tiles(size)[1];
  return box_of(tile / columns, tile % columns, 1, size);
}

void list_tiles(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                const SmoeRenderOptions& options, const TileBody& body) {
  switch (options.selection) {
    case SmoeSelection::bounded: return bounded(components, channels, size, options.tolerance, body);
    case SmoeSelection::window:
      return listed(components, channels, size, options.window_px, options.window_block_px, body);
    case SmoeSelection::all: return listed(components, channels, size, infinity, 0, body);
  }
}

Tiles select_components(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                        const SmoeRenderOptions& options) {
  Tiles tiles{count_tiles(size), {}};
  tiles.tiles.resize(static_cast<std::size_t>(tiles.count[0] * tiles.count[1]));
  list_tiles(components, channels, size, options, [&](std::int64_t tile, TileComponents&& list) {
    tiles.tiles[static_cast<std::size_t>(tile)] = std::move(list);
  });
  return tiles;
}

}  // namespace holotone::smoe
