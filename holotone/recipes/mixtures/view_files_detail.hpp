#pragma once
// Which files, or which parts of a picture, are the views of a light field. Not for users.
#include <holotone/core/array.hpp>
#include <holotone/recipes/captured_views.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::mixtures {

/// Files of views in rows from left to right, and their numbers.
struct ViewFiles {
  std::vector<std::string> paths{};
  std::vector<ViewNumbers> numbers{};
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  bool one_counter = false;  ///< %u alone, without a grid
};

/// The files of a name with %u, or %u and %v; none for a name without. Throws io for gaps, invalid_argument naming
/// `path` or `grid`.
std::optional<ViewFiles> find_view_files(const std::string& path, const std::optional<ViewsGrid>& grid);

/// Views in one picture: columns x rows tiles.
struct ViewTiles {
  ViewsGrid grid{};
  double aspect = 0;                  ///< of a tile as shown, width over height; 0: square pixels
  bool quilt = false;                 ///< the first tile is the lowest left one, and all views stand in one row
  std::optional<ViewsGrid> unused{};  ///< of the quilt that the name states, where the grid given goes before it
};

/// The tiles that `grid`, or else the name of a quilt ("name_qs8x6a0.75.png"), states; none for one picture.
std::optional<ViewTiles> find_view_tiles(const std::string& path, const std::optional<ViewsGrid>& grid);

/// Cuts the only picture of `views` into tiles. Throws io for a picture that they do not divide; of a quilt the
/// remainder at the right and at the top is left out.
void cut_tiles(CapturedViews& views, const ViewTiles& tiles);

/// The grid in which pictures that were read as one row stand by their parallax; none for a row. With D the mean
/// squared difference of two pictures: D of those that are one row of the grid apart is below half of D across a row.
std::optional<ViewsGrid> find_views_grid(const std::vector<Array<float, 3>>& images);

}  // namespace holotone::mixtures
