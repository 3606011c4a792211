#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/geometry.hpp>
#include <holotone/core/progress.hpp>
#include <vector>

// Light: colour is linear-light RGB and proportional to intensity; a wave's intensity is amplitude^2, so
// amplitude = sqrt(luminance) and shading, a factor of intensity, multiplies amplitude by its square root.

namespace holotone {

/// Where a scene goes in front of or behind the panel.
struct Placement {
  double size_m = 8e-3;     ///< the larger of the x and y extents after scaling, > 0
  double distance_m = 0.2;  ///< the centre's distance behind the panel; negative: in front
  bool keep = false;        ///< leave coordinates as they are (metres, world frame): only checks that they are finite
};

/// Centres the bounding box on the axis, scales it uniformly so that max(x extent, y extent) = size_m, and puts its
/// centre at z = -distance_m. One point goes there unscaled; an empty scene stays empty. Normals keep their direction.
/// Throws invalid_argument if several points have no extent in x and y, for a non-finite position (naming its index),
/// or an option out of range.
void place(PointCloud& cloud, const Placement& placement);
void place(Mesh& mesh, const Placement& placement);

/// Uniform random points on the surface, `count` in all: the cumulated area is cut into `count` equal strata with one
/// point in each, so that every triangle gets its share by area to within two points; inside a triangle
/// P = (1 - sqrt(r1)) A + sqrt(r1) (1 - r2) B + sqrt(r1) r2 C (Osada et al. 2002, Eq. 1).
/// Colour, amplitude, phase and normal are interpolated (flat normals where the mesh has none); amplitude without a
/// stated one is sqrt(luminance), and 1 without colour. Same seed, same points. Cost O(triangles + count).
/// Throws invalid_argument for a mesh without area, count < 1, a vertex index out of range or a non-finite vertex;
/// cancelled if `progress` says so.
PointCloud sample_surface(const Mesh& mesh, std::int64_t count, std::uint64_t seed,
                          Progress& progress = Progress::none());

/// The vertices as a cloud, with sample_surface's amplitude rule. Normals: the mesh's, else those of its triangles
/// weighted by area, else none. Throws like sample_surface for bad indices and vertices.
PointCloud vertices_of(const Mesh& mesh);

/// Relative luminance of linear-light RGB: 0.2126 R + 0.7152 G + 0.0722 B (ITU-R BT.709).
double luminance(const Vec3f& colour);

/// Amplitudes of one colour channel (0 red, 1 green, 2 blue) for --rgb: amplitude sqrt(colour[channel] / luminance),
/// so a white point has its amplitude in all three and a black one none. Without colours: the amplitudes themselves.
std::vector<float> channel_amplitude(const PointCloud& cloud, int channel);

/// Which points no nearer surface hides from the panel, one entry a point. The viewer is far away on the +z side and
/// looks along -z, so the larger z hides the smaller at the same x and y, on either side of the panel.
/// With an occluder (same frame as the cloud) a ray along z decides for each point exactly, save for a margin of
/// 1e-5 of the occluder's size along the surface normal, so that a surface does not hide its own points; `cell_m` is
/// not used. Without, the points themselves are the surface: going away from the viewer through the points of its
/// cell and the eight around it, a point is dropped if a gap of more than two cells comes before it; cell_m = 0:
/// twice the mean spacing of the points. Cost O(points + triangles) times the mean overlap. Throws invalid_argument
/// for non-finite positions.
std::vector<bool> visible_points(const PointCloud& cloud, const Mesh* occluder = nullptr, double cell_m = 0);

/// Drops the points that visible_points says are hidden; returns how many. A cloud without a mesh has to be whole: of
/// thinned points the far ones are seen through the gaps between the near ones. Throws and costs like visible_points.
std::int64_t hide_occluded(PointCloud& cloud, const Mesh* occluder = nullptr, double cell_m = 0);

/// Lambert shading: intensity times |n_z| (ambient + (1 - ambient) max(0, n . l)), l the unit vector along `direction`
/// (world frame, toward the light). The factor |n_z| belongs to points spread evenly by area: seen at a slant they stand
/// 1 / |n_z| times as dense, and without it every silhouette would glow. Throws invalid_argument without normals (one a point), for a zero direction or ambient
/// not in [0, 1].
void shade(PointCloud& cloud, const std::array<double, 3>& direction, double ambient = 0.15);

/// Turns about the vertical axis through the bounding box's centre, counter-clockwise seen from above (+y):
/// what faced the viewer then faces +x after pi/2. Normals turn too.
void turn(PointCloud& cloud, double angle_rad);
void turn(Mesh& mesh, double angle_rad);

/// Tilts about the horizontal x axis through the bounding box's centre; positive tips the top toward the viewer.
void tilt(PointCloud& cloud, double angle_rad);
void tilt(Mesh& mesh, double angle_rad);

/// Keeps the points at which keep[i] is true; all attributes follow.
void select(PointCloud& cloud, const std::vector<bool>& keep);

}  // namespace holotone
