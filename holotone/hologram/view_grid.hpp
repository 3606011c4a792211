#pragma once
#include <atomic>
#include <holotone/core/array.hpp>
#include <holotone/hologram/view_source.hpp>

namespace holotone {

/// Positions of the cameras of a light field, and their common focus plane. All pictures are sheared to this plane: a
/// point on it has the same pixel in every view.
struct ViewGridOptions {
  double view_distance_m = 0;  ///< distance of the cameras' plane in front of the panel, > 0
  double camera_pitch_m = 0;   ///< spacing of the cameras, to the right and up, > 0
  double distance_m = 0;    ///< distance of the focus plane behind the panel (negative: in front), > -view_distance_m
  double size_m = 0;        ///< width of the picture in that plane, > 0; its centre is on the axis
  double pixel_aspect = 1;  ///< height of a pixel over its width, > 0
};

/// Captured views of off-axis pinhole cameras on a plane in front of the panel, as rays.
///
/// A ray from (x, y) on the panel along (cx, cy, cz) intersects the cameras' plane at (x + v cx / cz, y + v cy / cz)
/// and the focus plane at (x - d cx / cz, y - d cy / cz). Its intensity is interpolated bilinearly between the four
/// nearest cameras, each interpolated bilinearly in its picture. Rays up to half a camera pitch beyond the outermost
/// cameras use these; farther rays, and rays beyond the picture's edge, are dark. The light of one row of cameras is
/// not limited vertically.
/// Distances are the focus plane's, or those of the depth maps: of the nearest camera's nearest pixel.
class ViewGrid final : public ViewSource {
 public:
  /// `views`: {V, U, ny, nx, channels} linear light >= 0, row 0 of cameras and of pixels the highest, channels 1 or 3,
  /// in host memory. `depth_m`: {V, U, ny, nx} distance of each pixel's point, or empty. Throws invalid_argument for
  /// other shapes and options out of range.
  ViewGrid(Array<float, 5> views, const ViewGridOptions& options, Array<float, 4> depth_m = {});

  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override { return true; }
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

  /// Share of all rays requested so far that fall outside the camera grid.
  [[nodiscard]] double missed_share() const;

 private:
  /// Light at a position among the cameras and in their pictures, and its distance if `distance_m` is not null.
  float light(double u, double v, double x, double y, int channel, float* distance_m) const;

  Array<float, 5> views_;
  Array<float, 4> depth_m_;
  ViewGridOptions options_;
  mutable std::atomic<std::int64_t> asked_{0};
  mutable std::atomic<std::int64_t> missed_{0};
};

}  // namespace holotone
