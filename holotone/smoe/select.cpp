#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/select_pruner.hpp>
#include <limits>
#include <numeric>

namespace holotone::smoe {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

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
  /// Of the tiles [first, end) of a row.
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

/// One level of boxes: 2^level tiles a side.
struct Level {
  Shape<2> count{};
  std::vector<double> least;  ///< L of every box
  std::vector<std::vector<std::uint32_t>> kept;
};

/// Lower bounds by the components in a tile and beside it, and for larger boxes the least of their tiles'.
std::vector<Level> bounds_from_below(std::span<const ImageComponent> components, const Shape<2>& size,
                                     const Shape<2>& tiles) {
  const CentreTiles centres(components, tiles);
  std::vector<Level> levels(1);
  levels[0].count = tiles;
  levels[0].least.assign(static_cast<std::size_t>(tiles[0] * tiles[1]), minus_infinity);
  parallel_for(0, tiles[0], [&](std::int64_t row) {
    Pruner pruner(components, 0);
    for (std::int64_t column = 0; column < tiles[1]; ++column) {
      const auto box = box_of(row, column, 1, size);
      double& best = levels[0].least[static_cast<std::size_t>(row * tiles[1] + column)];
      const auto near = centres.of(row, std::max<std::int64_t>(0, column - 1), std::min(tiles[1], column + 2));
      if (!near.empty()) best = pruner.best_of(near, box);
    }
  });
  do {
    const Level& fine = levels.back();
    Level coarse;
    coarse.count = {(fine.count[0] + 1) / 2, (fine.count[1] + 1) / 2};
    coarse.least.assign(static_cast<std::size_t>(coarse.count[0] * coarse.count[1]),
                        std::numeric_limits<double>::infinity());
    for (std::int64_t row = 0; row < fine.count[0]; ++row) {
      for (std::int64_t column = 0; column < fine.count[1]; ++column) {
        double& least = coarse.least[static_cast<std::size_t>(row / 2 * coarse.count[1] + column / 2)];
        least = std::min(least, fine.least[static_cast<std::size_t>(row * fine.count[1] + column)]);
      }
    }
    levels.push_back(std::move(coarse));
  } while (levels.back().count != Shape<2>{1, 1});
  return levels;
}

/// Levels from here on drop components by their density alone.
constexpr int far_level = 3;
/// Levels above tiles, those that do so counted as one.
constexpr int box_levels = far_level;

/// How far below L a component's density is where all of them together may be dropped: with R the farthest that any expert is from 0 in
/// the picture, r_k and B are at most R, and so is error <= K 2^-depth 2 R.
double far_depth(std::span<const ImageComponent> components, int channels, const Shape<2>& size, double budget) {
  const PixelBox picture{0, static_cast<double>(size[1] - 1), 0, static_cast<double>(size[0] - 1)};
  constexpr std::size_t block = 4096;
  std::vector<double> farthest((components.size() + block - 1) / block);
  parallel_for(0, std::ssize(farthest), [&](std::int64_t i) {
    const auto part = static_cast<std::size_t>(i);
    for (const auto& own : components.subspan(part * block, std::min(block, components.size() - part * block))) {
      farthest[part] = std::max(farthest[part], reach_of(own, channels, picture, {}));
    }
  });
  const double reach = *std::max_element(farthest.begin(), farthest.end());
  return std::max(0.0, std::log2(2 * reach * static_cast<double>(components.size()) / budget));
}

/// The lists of a level's boxes, parts of a larger one whose list and L they start from.
class BoxLists {
 public:
  BoxLists(std::span<const ImageComponent> components, int channels, const Shape<2>& size, int level, double budget,
           double depth, Level& own, const Level& above, Tiles& tiles)
      : components_(components),
        channels_(channels),
        size_(size),
        level_(level),
        budget_(budget),
        depth_(depth),
        own_(own),
        above_(above),
        tiles_(tiles) {}

  void run() {
    own_.kept.resize(own_.least.size());
    // Parts of a box share what is loaded of its list, but those of the whole picture are a task each.
    if (std::ssize(above_.kept) > 1) {
      parallel_for(0, std::ssize(above_.kept), [&](std::int64_t i) {
        const std::int64_t row = 2 * (i / above_.count[1]);
        const std::int64_t column = 2 * (i % above_.count[1]);
        prune({row, std::min(row + 2, own_.count[0])}, {column, std::min(column + 2, own_.count[1])});
      });
    } else {
      parallel_for(0, std::ssize(own_.kept), [&](std::int64_t i) {
        const std::int64_t row = i / own_.count[1];
        const std::int64_t column = i % own_.count[1];
        prune({row, row + 1}, {column, column + 1});
      });
    }
  }

 private:
  /// Boxes of rows and columns [first, end) that are parts of one box above.
  void prune(const Shape<2>& rows, const Shape<2>& columns) {
    PixelBox boxes[Pruner::most_boxes];
    std::size_t indices[Pruner::most_boxes];
    std::size_t count = 0;
    for (std::int64_t row = rows[0]; row < rows[1]; ++row) {
      for (std::int64_t column = columns[0]; column < columns[1]; ++column) {
        indices[count] = static_cast<std::size_t>(row * own_.count[1] + column);
        boxes[count++] = box_of(row, column, std::int64_t{1} << level_, size_);
      }
    }
    const auto whole = static_cast<std::size_t>(rows[0] / 2 * above_.count[1] + columns[0] / 2);
    const auto& candidates = above_.kept[whole];
    Pruner pruner(components_, channels_);
    if (level_ < far_level) {
      pruner.measure(candidates, {boxes, count});
    } else {
      pruner.locate(candidates, {boxes, count});
    }
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t i = indices[b];
      double& least = own_.least[i];
      least = std::max({least, above_.least[whole], pruner.best(b)});
      if (level_ >= far_level) {
        own_.kept[i] = pruner.reaching(b, least - depth_);
        continue;
      }
      pruner.weigh(b, least);
      auto kept = pruner.kept(budget_);
      if (level_ > 0) {
        own_.kept[i] = std::move(kept);
      } else {
        tiles_.tiles[i] = {std::move(kept), least, pruner.most, pruner.spread};
      }
    }
  }

  std::span<const ImageComponent> components_;
  int channels_;
  const Shape<2>& size_;
  int level_;
  double budget_;
  double depth_;
  Level& own_;
  const Level& above_;
  Tiles& tiles_;
};

Tiles bounded(std::span<const ImageComponent> components, int channels, const Shape<2>& size, Tiles tiles,
              double tolerance) {
  auto levels = bounds_from_below(components, size, tiles.count);
  auto& all = levels.back().kept.emplace_back(components.size());
  std::iota(all.begin(), all.end(), 0U);
  const double above_tiles = box_share * tolerance / box_levels;
  const double depth = far_depth(components, channels, size, above_tiles);
  for (auto level = static_cast<int>(levels.size()) - 2; level >= 0; --level) {
    const double budget = level == 0 ? tile_share * tolerance : above_tiles;
    BoxLists(components, channels, size, level, budget, depth, levels[static_cast<std::size_t>(level)], levels.back(),
             tiles)
        .run();
    levels.pop_back();
  }
  return tiles;
}

/// The pixels of a tile's block, which holds all of it.
PixelBox block_of(const PixelBox& tile, std::int64_t block_px, const Shape<2>& size) {
  if (block_px == 0) return tile;
  const auto side = static_cast<double>(block_px);
  const double left = std::floor(tile.left / side) * side;
  const double top = std::floor(tile.top / side) * side;
  return {left, std::min(left + side, static_cast<double>(size[1])) - 1, top,
          std::min(top + side, static_cast<double>(size[0])) - 1};
}

/// Lists that no bound was asked for, with what the sums over them have to know. A tile's candidates are the components whose centres
/// stand in the tiles that the window meets.
Tiles listed(std::span<const ImageComponent> components, int channels, const Shape<2>& size, Tiles tiles,
             double window_px, std::int64_t block_px) {
  const CentreTiles centres(components, tiles.count);
  const auto range = [&](double from, double to, std::int64_t side, std::int64_t count) {
    const auto tile = [&](double pixel) {
      const double place = std::floor((pixel + 0.5) / static_cast<double>(side));
      return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(count - 1)));
    };
    return std::pair(tile(from - window_px), tile(to + window_px));
  };
  parallel_for(0, std::ssize(tiles.tiles), [&](std::int64_t i) {
    const auto box = box_of(i / tiles.count[1], i % tiles.count[1], 1, size);
    const auto block = block_of(box, block_px, size);
    auto& tile = tiles.tiles[static_cast<std::size_t>(i)];
    const auto [first_row, last_row] = range(block.top, block.bottom, tile_shape[0], tiles.count[0]);
    const auto [first_column, last_column] = range(block.left, block.right, tile_shape[1], tiles.count[1]);
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
    if (tile.index.empty()) return;
    Pruner pruner(components, channels);
    pruner.measure(tile.index, {&box, 1});
    tile.least = pruner.best(0);
    pruner.weigh(0, tile.least);
    tile.most = pruner.most;
    tile.spread = pruner.spread;
  });
  return tiles;
}

}  // namespace

PixelBox Tiles::box(std::int64_t tile, const Shape<2>& size) const {
  return box_of(tile / count[1], tile % count[1], 1, size);
}

Tiles select_components(std::span<const ImageComponent> components, int channels, const Shape<2>& size,
                        const SmoeRenderOptions& options) {
  Tiles tiles;
  tiles.count = {(size[0] + tile_shape[0] - 1) / tile_shape[0], (size[1] + tile_shape[1] - 1) / tile_shape[1]};
  tiles.tiles.resize(static_cast<std::size_t>(tiles.count[0] * tiles.count[1]));
  switch (options.selection) {
    case SmoeSelection::bounded: return bounded(components, channels, size, std::move(tiles), options.tolerance);
    case SmoeSelection::window:
      return listed(components, channels, size, std::move(tiles), options.window_px, options.window_block_px);
    case SmoeSelection::all: break;
  }
  return listed(components, channels, size, std::move(tiles), std::numeric_limits<double>::infinity(), 0);
}

}  // namespace holotone::smoe
