#pragma once
// Readers of read_scene; `bytes` is the whole file. Not for users.
#include <holotone/core/geometry.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

Mesh read_ply(std::string_view bytes, std::string_view path);
Mesh read_stl(std::string_view bytes, std::string_view path);
/// Reads XYZ, CSV or TSV: one point per line.
Mesh read_table(std::string_view bytes, std::string_view path);
Mesh read_npy_points(std::string_view bytes, std::string_view path);

/// Returns the linear light of an integer colour code in 0..largest (sRGB); codes outside are clamped.
float linear_of_code(double code, double largest);

/// Names of scene_side_files as they stand in the file and with %XX decoded, without the folder.
std::vector<std::string> scene_side_names(const std::string& path);

}  // namespace holotone::io
