#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/bounds.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

// Light: colour is linear-light RGB and proportional to intensity. A wave's intensity is amplitude^2, so amplitude =
// sqrt(luminance). Shading is a factor of intensity and multiplies amplitude by its square root.

namespace holotone {

/// Size and position of a scene relative to the panel.
struct Placement {
  double size_m = 8e-3;     ///< larger of the x and y extents after scaling, > 0
  double distance_m = 0.2;  ///< distance of the centre behind the panel; negative: in front
  bool keep = false;        ///< keep coordinates (metres, world frame); only checks that they are finite
};

/// No hologram has a scene of more than 100 km.
template <>
inline constexpr Bounds bounds_of<&Placement::size_m>{1e-9, 1e5};
template <>
inline constexpr Bounds bounds_of<&Placement::distance_m>{-1e5, 1e5};

/// Centres the bounding box on the axis, scales it uniformly so that max(x extent, y extent) = size_m, and moves its
/// centre to z = -distance_m; Mesh::origin becomes zero unless coordinates are kept. A single point is moved without
/// scaling; an empty scene stays empty. Normals keep their direction. Throws invalid_argument if several points have no
/// extent in x and y, for a non-finite position (with its index), or an option out of range.
void place(PointCloud& cloud, const Placement& placement);
void place(Mesh& mesh, const Placement& placement);

/// Uniform random points on the surface, `count` in total. The cumulated area is divided into `count` equal strata
/// with one point in each, so that every triangle gets its share by area to within two points. Inside a triangle
///   P = (1 - sqrt(r1)) A + sqrt(r1) (1 - r2) B + sqrt(r1) r2 C (Osada et al. 2002, Eq. 1).
/// Colour, amplitude, phase and normal are interpolated (flat normals if the mesh has none). The default amplitude is
/// sqrt(luminance), and 1 without colour. The same seed gives the same points. Cost O(triangles + count). Throws
/// invalid_argument for a mesh without area, count < 1, a vertex index out of range or a non-finite vertex; cancelled
/// by `progress`.
PointCloud sample_surface(const Mesh& mesh, std::int64_t count, std::uint64_t seed,
                          Progress& progress = Progress::none());

/// The vertices as a cloud, with amplitudes as in sample_surface. Normals: the mesh's, else those of its triangles
/// weighted by area, else none. Throws like sample_surface for bad indices and vertices.
PointCloud vertices_of(const Mesh& mesh);

/// Relative luminance of linear-light RGB: 0.2126 R + 0.7152 G + 0.0722 B (ITU-R BT.709).
double luminance(const Vec3f& colour);

/// Amplitudes of one colour channel (0 red, 1 green, 2 blue) for --rgb: amplitude sqrt(colour[channel] / luminance). A
/// white point has its amplitude in all three, a black one zero. Without colours: the amplitudes themselves.
std::vector<float> channel_amplitude(const PointCloud& cloud, int channel);

/// Visibility from the panel, one entry a point: true unless a nearer surface hides it. The viewer is at infinity on
/// the +z side, so the larger z hides the smaller at the same x and y, on either side of the panel.
///
/// With an occluder (same frame as the cloud) a ray along z tests each point exactly. A margin of 1e-5 of the
/// occluder's size along the surface normal keeps a surface from hiding its own points; `cell_m` is not used.
///
/// Without an occluder the points themselves are the surface. The points of a cell and its eight neighbours are
/// visited from near to far. A point is hidden if a gap of more than two cells precedes it. cell_m = 0: twice the mean
/// spacing of the points.
///
/// Cost O(points + triangles) times the mean overlap. Throws invalid_argument for non-finite positions.
std::vector<bool> visible_points(const PointCloud& cloud, const Mesh* occluder = nullptr, double cell_m = 0);

/// Removes the points that visible_points marks hidden and returns their number. A cloud without a mesh must be
/// complete: in thinned clouds far points show through the gaps between near ones. Throws and costs like
/// visible_points.
std::int64_t hide_occluded(PointCloud& cloud, const Mesh* occluder = nullptr, double cell_m = 0);

/// Lambert shading: intensity times |n_z| (ambient + (1 - ambient) max(0, n . l)), l the unit vector along `direction`
/// (world frame, toward the light). The factor |n_z| is for points spread evenly by area: on a slanted surface their
/// projected density is 1 / |n_z| times as high, and silhouettes would be too bright. Throws invalid_argument without
/// normals (one a point), for a zero direction or ambient outside [0, 1].
void shade(PointCloud& cloud, const std::array<double, 3>& direction, double ambient = 0.15);

/// Rotates about the vertical axis through the bounding box's centre, counter-clockwise seen from above (+y): pi/2
/// turns the front to +x. Also rotates normals.
void turn(PointCloud& cloud, double angle_rad);
void turn(Mesh& mesh, double angle_rad);

/// Rotates about the horizontal x axis through the bounding box's centre; positive tips the top toward the viewer.
void tilt(PointCloud& cloud, double angle_rad);
void tilt(Mesh& mesh, double angle_rad);

/// Keeps the points with keep[i] true, and their attributes.
void select(PointCloud& cloud, const std::vector<bool>& keep);

}  // namespace holotone
