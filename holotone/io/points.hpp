#pragma once
#include <holotone/core/geometry.hpp>
#include <holotone/core/progress.hpp>
#include <string>

namespace holotone {

/// Reads a mesh or a point cloud: PLY (ascii, binary little/big endian), STL (ascii, binary), XYZ/CSV, NPY ({n,3} or
/// {n,4}: x y z amplitude). Every count is checked against the file's size before memory is taken.
/// Throws io naming the file (and line or byte), what was expected and what came.
Mesh read_scene(const std::string& path);

/// OBJ and glTF through assimp, which is not safe on hostile files: run it in a child process (the command line does).
Mesh read_scene_assimp(const std::string& path);

/// Writes a cloud as binary PLY (x y z amplitude, colour if there), atomically.
void write_points(const std::string& path, const PointCloud& cloud);

}  // namespace holotone
