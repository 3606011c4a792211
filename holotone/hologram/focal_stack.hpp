#pragma once
#include <holotone/core/progress.hpp>
#include <holotone/hologram/layers.hpp>
#include <vector>

namespace holotone {

struct FocalStackOptions {
  std::vector<double> focus_m = {};  ///< planes in focus, behind the panel > 0; each > -viewer_m
  double pupil_m = 4e-3;             ///< diameter of the viewer's round pupil, > 0
  double viewer_m = 0.5;             ///< its distance in front of the panel, > 0
};

/// Diameter, in the plane in focus, of the disc of light of a point: D |d - f| / (v + d), with pupil diameter D at
/// distance v, the point at d and the plane in focus at f. Throws invalid_argument for a pupil that is not > 0, or
/// distances that are not finite or not in front of the viewer.
/// Source: Potmesil and Chakravarty, "A lens and aperture camera model for synthetic image generation", SIGGRAPH 1981:
/// the circle of confusion, projected to the plane in focus.
double blur_diameter_m(const FocalStackOptions& options, double distance_m, double focus_m);

/// Pictures of a scene for a viewer focused at several distances, by incoherent blur of its layers.
///
/// Each layer's mask m and light m I are convolved with the disc of blur_diameter_m in pixels, weighted by the area of
/// the disc on each pixel: M and L. The layers are composited from far to near, T the light and C the coverage:
///   T <- (1 - M) T + L,   C <- (1 - M) C + M;   at last T / C
/// T starts at 0; C starts at 0 on the picture and at 1 on pixels outside of it, which count as a dark background. A
/// disc of at most a pixel leaves a layer as it is. The picture continues neither beyond the panel nor behind nearer
/// layers: at such edges the division by C gives the mean of the light that is there, and no dark halo appears. Light
/// that a blurred near edge would uncover is thus a copy of its neighbours. A slanted surface of several layers stays
/// evenly bright for the same reason.
///
/// `picture` of slice_picture, {ny, nx} of `grid` in host memory. Returns a picture {ny, nx} for each plane of
/// focus_m, in host memory: linear light in the units of the picture.
/// Throws invalid_argument for options out of range, no plane, another shape or device, intensities that are not
/// finite or negative, layers that are not in order, behind the viewer, or without a distance; cancelled by `progress`.
/// Relative l2 error against float64: below 1e-6. FFTs leave errors of 1e-6 of a layer's brightest pixel.
/// Cost of a plane: a layer of n pixels with a disc of K pixels takes n K multiply-adds, or three FFTs of the panel and
/// the largest disc if that is less; at most 2 x 2 panels. Memory without the result: 8 bytes a pixel, 4 a pixel of the
/// disc and 16 a sample of the FFTs, for any number of layers and planes.
std::vector<Array<float, 2>> focal_stack(const SlicedPicture& picture, const FieldGrid& grid,
                                         const FocalStackOptions& options, Progress& progress = Progress::none());

}  // namespace holotone
