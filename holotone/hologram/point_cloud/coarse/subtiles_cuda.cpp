#include <algorithm>
#include <holotone/hologram/point_cloud/coarse/subtiles_cuda.cuh>

namespace holotone::point_cloud {
namespace {

/// Subtiles of a tile along an axis: those that a tile of coarse sums has, for each of these.
int shares(int extent, int coarse_side) {
  const int together = std::max(subtile_side, coarse_side);
  return std::max(1, (extent + together - 1) / together) * (together / subtile_side);
}

}  // namespace

Subtiles::Subtiles(const FastGrid& grid)
    : panel_width(grid.panel_width),
      panel_height(grid.panel_height),
      tile_width(grid.tile_width),
      tile_height(grid.tile_height),
      across_tile(shares(grid.tile_width, grid.coarse_side)),
      down_tile(shares(grid.tile_height, grid.coarse_side)),
      width((grid.tile_width + across_tile - 1) / across_tile),
      height((grid.tile_height + down_tile - 1) / down_tile),
      columns(grid.tiles_x * across_tile),
      rows(grid.tiles_y * down_tile) {}

}  // namespace holotone::point_cloud
