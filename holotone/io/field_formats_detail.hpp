#pragma once
// The readers and writers behind read_field and write_field. Not for users.
#include <holotone/io/field_file.hpp>
#include <string>
#include <string_view>

namespace holotone::io {

FieldFile read_npy_field(std::string_view bytes, std::string_view path);
void write_npy_field(const std::string& path, const FieldFile& field);

bool is_ohc(std::string_view bytes);
FieldFile read_ohc(std::string_view bytes, std::string_view path);
void write_ohc(const std::string& path, const FieldFile& field);

FieldFile read_hdf5(const std::string& path);
void write_hdf5(const std::string& path, const FieldFile& field);

/// An uninitialised field after checking both extents: at least 1, and at most maximum_field_bytes in all.
Array<std::complex<float>, 2> make_field(std::uint64_t ny, std::uint64_t nx, std::string_view path);

/// The text of a number that reads back as the same number, as short as can be: "5.32e-07".
std::string number_text(double value);

/// A metadata value as a number; false if it is not one.
bool metadata_number(const Metadata& metadata, const std::string& key, double& value);

}  // namespace holotone::io
