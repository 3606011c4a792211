#pragma once
#include <holotone/core/geometry.hpp>
#include <holotone/core/progress.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// What the positions of a scene that is read are relative to.
enum class Coordinates {
  stored,   ///< the file's origin: float32 rounds coordinates far from it
  centred,  ///< Mesh::origin, in float64: the middle of vertices that lie farther from the file's origin than 4 sizes
};

/// Reads a mesh or a point cloud: PLY (ascii, binary little/big endian), OBJ, STL (ascii, binary), XYZ/CSV, NPY ({n,3}
/// or {n,4}: x y z amplitude). PLY and NPY are recognised by content, the others by extension (.obj .stl .xyz .csv .tsv
/// .txt .asc).
///
/// Axes are as stored (y up, z toward the viewer assumed). Coordinates are multiplied by the unit of lengths that a
/// table's columns or comments, the comments of a PLY or OBJ or the header of an STL state ("units: mm").
///
/// Integer colours are sRGB codes and are converted to linear light; float colours are linear, or sRGB codes of 8 bits
/// if one is above 1, of 16 if one is above 255. "intensity" becomes amplitude = sqrt(intensity). Normals that are all
/// zero are left out. Polygons, concave or not planar ones too, are split into triangles. Every count is checked
/// against the file's size before memory is allocated, every index against the number of vertices. NaN coordinates are
/// kept (the plan reports them). Cost O(file size), memory O(file size).
///
/// OBJ: `v` of x y z, of x y z and the weight 1, or of x y z r g b (sRGB of 0 to 1, or codes as above; white where a
/// vertex has none and others have); `vn`; `f` of polygons with indices from 1, or back from -1. Corners that agree in
/// position, normal and colour are one vertex. Normals are left out if a corner of a face has none. Without faces the
/// vertices are points. Curves and surfaces of free form are refused, as are words that are no keyword.
///
/// Mesh::ignored names what is not used: properties of a PLY, columns of a table, statements of an OBJ (`vt`, `l`, `p`,
/// `mtllib`, `usemtl` ...) and vertices that no face of it has. Gaussian splats are refused. Throws io with file, line,
/// row or byte, expected and got.
Mesh read_scene(const std::string& path, Coordinates coordinates = Coordinates::stored);

/// Reads glTF and GLB by assimp, which is not safe on hostile files: read_scene_guarded (guarded.hpp) runs this in a
/// child process. The colour of a vertex is baseColorFactor * COLOR_0 in linear light, without alpha; none if every
/// factor is white and there is no COLOR_0. No file but `path` is opened, except the buffers that it names by `uri`:
/// regular files in its folder or below. The scene that the file shows is read, or its first one, without hidden nodes.
/// Mesh::ignored names textures, emission, transparency, animations and other scenes, which are not applied. Throws io,
/// also for a uri or a link that leads out, for skins, weights of morph targets, instances, accessors that assimp would
/// not read as stated, and for a required extension that changes the geometry other than KHR_mesh_quantization and
/// Draco's; unsupported if built without assimp, and for a name of another ending.
Mesh read_scene_assimp(const std::string& path, Coordinates coordinates = Coordinates::stored);

/// True for an extension of read_scene_assimp.
bool is_assimp_scene(std::string_view path);

/// Returns the paths of the files that a .gltf or .glb names by `uri`, buffers and pictures: its folder, '/' and the
/// name as it stands and with %XX decoded, each once, present or not. Empty for other formats and for unreadable files.
/// Memory and cost O(file size).
std::vector<std::string> scene_side_files(const std::string& path);

/// Writes a cloud as binary PLY, atomically: float x y z amplitude, and if the cloud has them nx ny nz, red green blue
/// (linear light) and phase. read_scene returns the same numbers. Throws io; invalid_argument for an empty cloud or an
/// attribute of another length than position; cancelled by `progress`.
void write_points(const std::string& path, const PointCloud& cloud, Progress& progress = Progress::none());

}  // namespace holotone
