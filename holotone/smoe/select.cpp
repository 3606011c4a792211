#include <algorithm>
#include <bit>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/select_bounds.hpp>
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
  [[nodiscard]] std::span<const std::uint32_t> of(std::int64_t row, std::int64_t column) const {
    const auto tile = static_cast<std::size_t>(row * tiles_[1] + column);
    return std::span(index_).subspan(begin_[tile], begin_[tile + 1] - begin_[tile]);
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

/// Lower bounds by the components near a tile, and for larger boxes the least of their tiles'.
std::vector<Level> bounds_from_below(std::span<const ImageComponent> components, const Shape<2>& size,
                                     const Shape<2>& tiles) {
  const CentreTiles centres(components, tiles);
  std::vector<Level> levels(1);
  levels[0].count = tiles;
  levels[0].least.assign(static_cast<std::size_t>(tiles[0] * tiles[1]), minus_infinity);
  parallel_for(0, tiles[0], [&](std::int64_t row) {
    for (std::int64_t column = 0; column < tiles[1]; ++column) {
      const auto box = box_of(row, column, 1, size);
      double& best = levels[0].least[static_cast<std::size_t>(row * tiles[1] + column)];
      for (std::int64_t r = std::max<std::int64_t>(0, row - 1); r < std::min(tiles[0], row + 2); ++r) {
        for (std::int64_t c = std::max<std::int64_t>(0, column - 1); c < std::min(tiles[1], column + 2); ++c) {
          for (const auto j : centres.of(r, c)) best = std::max(best, least_density(components[j], box));
        }
      }
    }
  });
  while (levels.back().count != Shape<2>{1, 1}) {
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
  }
  return levels;
}

/// Drops components of one box.
class Pruner {
 public:
  Pruner(std::span<const ImageComponent> components, int channels) : components_(components), channels_(channels) {}

  /// The candidates that stay, where the dropped ones change no colour by more than `budget`.
  std::vector<std::uint32_t> prune(const PixelBox& box, double least, std::span<const std::uint32_t> candidates,
                                   double budget) {
    measure(box, candidates);
    bound(least);
    std::array<double, cost_classes> sum{};
    std::vector<std::uint8_t> class_of(candidates.size(), must_stay);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      double cost = 0;
      const int own = class_of_cost(most_[i], reach_[i], least, spread, budget, cost);
      if (own == must_stay) continue;
      class_of[i] = static_cast<std::uint8_t>(own);
      sum[class_of[i]] += cost;
    }
    int cheapest = cost_classes;  // classes from here on are dropped
    for (double total = 0; cheapest > 0 && total + sum[static_cast<std::size_t>(cheapest - 1)] <= budget;) {
      total += sum[static_cast<std::size_t>(--cheapest)];
    }
    std::vector<std::uint32_t> kept;
    most = minus_infinity;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (class_of[i] != must_stay && class_of[i] >= cheapest) continue;
      kept.push_back(candidates[i]);
      most = std::max(most, most_[i]);
    }
    return kept;
  }

  double most = 0;    ///< largest density of those that stayed
  double spread = 0;  ///< B

 private:
  /// U and r of every candidate.
  void measure(const PixelBox& box, std::span<const std::uint32_t> candidates) {
    most_.resize(candidates.size());
    reach_.resize(candidates.size());
    std::size_t best = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      most_[i] = density_above(components_[candidates[i]], box);
      if (most_[i] > most_[best]) best = i;
    }
    Reference reference{};
    for (int c = 0; c < channels_; ++c) {
      reference[static_cast<std::size_t>(c)] = colour_amid(components_[candidates[best]], c, box);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      reach_[i] = reach_of(components_[candidates[i]], channels_, box, reference);
    }
  }
  void bound(double least) {
    double major = 0;
    double rest = 0;
    for (std::size_t i = 0; i < most_.size(); ++i) {
      if (most_[i] >= least + minor_weight) {
        major = std::max(major, reach_[i]);
      } else {
        rest += std::exp2(most_[i] - least) * reach_[i];
      }
    }
    spread = major + rest;
  }

  std::span<const ImageComponent> components_;
  int channels_;
  std::vector<double> most_;
  std::vector<double> reach_;
};

double best_of(std::span<const ImageComponent> components, std::span<const std::uint32_t> candidates,
               const PixelBox& box, double least) {
  for (const auto j : candidates) least = std::max(least, least_density(components[j], box));
  return least;
}

Tiles bounded(std::span<const ImageComponent> components, int channels, const Shape<2>& size, Tiles tiles,
              double tolerance) {
  auto levels = bounds_from_below(components, size, tiles.count);
  std::vector<std::uint32_t> all(components.size());
  std::iota(all.begin(), all.end(), 0U);
  for (int level = static_cast<int>(levels.size()) - 1; level >= 0; --level) {
    Level& own = levels[static_cast<std::size_t>(level)];
    const Level* const parent =
        static_cast<std::size_t>(level) + 1 < levels.size() ? &levels[static_cast<std::size_t>(level) + 1] : nullptr;
    const double budget =
        level == 0 ? tile_share * tolerance : box_share * tolerance / static_cast<double>(levels.size() - 1);
    own.kept.resize(own.least.size());
    parallel_for(0, std::ssize(own.least), [&](std::int64_t i) {
      const std::int64_t row = i / own.count[1];
      const std::int64_t column = i % own.count[1];
      const auto parent_box = static_cast<std::size_t>(parent ? row / 2 * parent->count[1] + column / 2 : 0);
      const std::span<const std::uint32_t> candidates = parent ? parent->kept[parent_box] : all;
      const auto box = box_of(row, column, std::int64_t{1} << level, size);
      double& least = own.least[static_cast<std::size_t>(i)];
      if (parent) least = std::max(least, parent->least[parent_box]);
      if (level == 0 || least == minus_infinity) least = best_of(components, candidates, box, least);
      Pruner pruner(components, channels);
      auto kept = pruner.prune(box, least, candidates, budget);
      if (level > 0) {
        own.kept[static_cast<std::size_t>(i)] = std::move(kept);
      } else {
        tiles.tiles[static_cast<std::size_t>(i)] = {std::move(kept), least, pruner.most, pruner.spread};
      }
    });
    if (static_cast<std::size_t>(level) + 1 < levels.size()) levels.pop_back();
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
      for (std::int64_t column = first_column; column <= last_column; ++column) {
        for (const auto j : centres.of(row, column)) {
          const auto& component = components[j];
          if (component.x >= block.left - window_px && component.x <= block.right + window_px &&
              component.y >= block.top - window_px && component.y <= block.bottom + window_px) {
            tile.index.push_back(j);
          }
        }
      }
    }
    std::sort(tile.index.begin(), tile.index.end());
    tile.least = best_of(components, tile.index, box, minus_infinity);
    Pruner pruner(components, channels);
    if (!tile.index.empty()) (void)pruner.prune(box, tile.least, tile.index, 0);
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
