#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/smoe/fit.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Pictures of files that a model is fitted to or compared with: one, or the views of a light field.
namespace holotone {

inline constexpr std::int64_t max_view_number = 9999;

/// Numbers of a view in its file's name; no v if the pattern has no %v.
struct ViewNumbers {
  std::int64_t u = 0;
  std::optional<std::int64_t> v{};
  bool operator==(const ViewNumbers&) const = default;
};

/// Direction in which %v counts.
enum class ViewRows {
  by_parallax,  ///< that for which shifts have the same sign from view to view rightward and downward (find_parallax)
  down,
  up,
};
template <>
inline constexpr auto enum_names<ViewRows> =
    std::array{EnumName<ViewRows>{ViewRows::by_parallax, "auto"}, EnumName<ViewRows>{ViewRows::down, "down"},
               EnumName<ViewRows>{ViewRows::up, "up"}};

/// Grid of views that are numbered, or tiles of a picture, row by row from the left.
struct ViewsGrid {
  std::int64_t columns = 1;
  std::int64_t rows = 1;
  bool serpentine = false;  ///< every second row runs from the right to the left
};

struct ViewsReadOptions {
  ViewRows rows = ViewRows::by_parallax;  ///< direction of the rows
  bool linear = false;                    ///< as linear light (to_linear), else as codes (to_float)
  std::optional<ViewsGrid> grid{};        ///< of the views of a name with %u alone, or of one picture
  bool as_depth = false;                  ///< maps of depths, as of ImageReadOptions
};

/// One picture, or the views of a light field row by row.
struct CapturedViews {
  std::string name{};                     ///< as it was given, such as "view_%v_%u.png"
  std::vector<std::string> paths{};       ///< file of each picture
  std::vector<Array<float, 3>> images{};  ///< {ny, nx, channels}: code values / largest code, or linear light
  std::vector<std::vector<double>> at{};  ///< position {u, v} or {u} of each view; {} of a single picture
  std::vector<ViewNumbers> numbers{};     ///< of each view; none for a single picture
  int bits = 8;                           ///< bits of the files' codes, 8 or 16; 0: float
  bool linear = false;                    ///< the images are linear light
  std::int64_t columns = 1;               ///< columns of the grid of views
  std::int64_t rows = 1;
  bool up = false;                   ///< true if the first row is the lowest
  bool swapped = false;              ///< true if the parallax shows that %u and %v are exchanged
  double pixel_aspect = 1;           ///< height of a pixel over its width
  std::vector<std::string> notes{};  ///< Image::notes of the first picture
};

/// The pictures as fit_mixture and compare_mixture take them; valid as long as `views` and unchanged.
std::vector<SmoeFitView> fit_views(const CapturedViews& views);

/// True if a file's name has %u, or %u and %v. Throws invalid_argument for counters that make no grid.
bool names_views(const std::string& path);

/// The same, or a picture that holds several: by `grid`, or a quilt by its name.
bool holds_views(const std::string& path, const std::optional<ViewsGrid>& grid = {});

/// Reads a picture (read_image), or, for a name such as "view_%v_%u.png", all matching files as one grid without gaps:
/// %u counts to the right, %v along `rows`. With %u alone the views stand in one row, or in `grid`. Positions run from
/// -1 to 1, u right and v down. A picture with `grid` is cut into as many tiles, the first at the upper left. A quilt
/// ("name_qs8x6a0.75.png": columns, rows and aspect of a view) is one row of views, from its lowest left tile on
/// upwards (docs.lookingglassfactory.com, Quilts).
///
/// Throws io naming the files that are missing, or differ in size or number of channels, or hold numbers that are not
/// finite; invalid_argument for counters that make no grid, for views of %u alone whose parallax is that of a grid
/// (from 3 columns on), and for PFM and OpenEXR, which are light, unless `linear`; cancelled. Reports `reading`.
CapturedViews read_views(const std::string& path, const ViewsReadOptions& options = {},
                         Progress& progress = Progress::none());

/// Moves views out of `views` and returns them; the others keep their numbers and positions. Throws invalid_argument
/// for a view that does not exist, or if fewer than 2 remain; what was moved is then lost.
CapturedViews hold_out(CapturedViews& views, std::span<const ViewNumbers> numbers);

}  // namespace holotone
