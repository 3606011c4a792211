#pragma once
#include <cli/common/hologram_job.hpp>
#include <cli/options/picture_options.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/recipes/captured_views.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

/// Capture geometry of the views.
struct ViewGeometry {
  double view_distance_m = 0;  ///< 0: that of the viewing window
  double camera_pitch_m = 0;   ///< 0: from the span and the number of cameras
  double camera_span_m = 0;    ///< from the first to the last camera of a row; 0: by the viewing window or the panel
  double distance_m = 0;
  double size_m = 0;  ///< the larger of the picture's width and height
};

/// A light field, or how a picture is computed hogel by hogel.
struct ViewOptions {
  std::string names;   ///< of the views' pictures, or a model
  std::string depths;  ///< names of depth maps of the views; empty: all at the focus plane's distance
  ViewRows rows = ViewRows::by_parallax;  ///< direction in which %v counts
  std::optional<ViewsGrid> grid;          ///< of views that %u alone counts, or of tiles
  std::optional<std::int64_t> hogel_px;
  std::optional<double> fringe_m;
  std::optional<Viewer> viewer;
  std::optional<double> scale;  ///< writes codes, with this divisor, instead of the field
  ViewGeometry geometry;
};

/// Options of `holotone hologram` for each kind of scene: points, pictures in layers, or hogels of views or a picture.
struct SceneJob {
  HologramJob hologram;
  PictureOptions pictures;
  LayerPhase phase = LayerPhase::random;
  ViewOptions views;

  [[nodiscard]] bool has_image() const { return !pictures.picture.image.empty(); }
  [[nodiscard]] bool of_pictures() const { return has_image() || !pictures.stack.empty(); }
  [[nodiscard]] bool of_views() const { return !views.names.empty(); }
  [[nodiscard]] bool by_hogels() const {
    return of_views() || (has_image() && (views.hogel_px || views.fringe_m || views.viewer || views.scale));
  }
  /// The option or argument that names the scene, as typed.
  [[nodiscard]] std::string source() const;

  /// Options of one kind of scene alone. They hold a reference to the job.
  [[nodiscard]] Applies for_points() const;
  [[nodiscard]] Applies for_image() const;
  [[nodiscard]] Applies for_views() const;
  [[nodiscard]] Applies for_views_or_image() const;
  [[nodiscard]] Applies for_layers() const;
};

}  // namespace holotone::cli
