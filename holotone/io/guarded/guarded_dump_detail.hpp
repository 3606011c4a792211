#pragma once
// Format of a guarded child's output: private to guarded.cpp and its tests. Not for users. Numbers are raw, because
// both ends are the same program on the same machine; the parent checks all of them.
#include <holotone/core/error.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

std::string dump_scene(const Mesh& mesh);
std::string dump_field(const FieldFile& field);
std::string dump_numbers(const FieldNumbers& numbers);
std::string dump_layout(const FieldLayout& layout);
std::string dump_pixels(const Array<float, 3>& pixels);
std::string dump_error(ErrorCode code, std::string_view message);

/// Inverses of the above. They throw the error of a dump_error, or io naming `path` for anything not exactly a dump:
/// wrong lengths, attributes without vertices, indices out of range.
Mesh parse_scene(std::string_view dump, std::string_view path);
FieldFile parse_field(std::string_view dump, std::string_view path);
FieldNumbers parse_numbers(std::string_view dump, std::string_view path);
/// Checks the layout for consistency, not against the file (see check_layout).
FieldLayout parse_layout(std::string_view dump, std::string_view path);
Array<float, 3> parse_pixels(std::string_view dump, std::string_view path);

}  // namespace holotone::io
