#pragma once
// Attributes of HDF5 objects. Empty if HOLOTONE_HDF5 is off. Not for users.
#if HOLOTONE_HDF5
#include <holotone/core/metadata.hpp>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <string>
#include <vector>

namespace holotone::io {

/// Adds the attributes that are a single number or string.
void read_hdf5_attributes(hid_t object, Metadata& metadata);

/// Names of all attributes, at most 1000.
std::vector<std::string> list_hdf5_attributes(hid_t object);

bool has_hdf5_attribute(hid_t object, const char* name);

/// The numbers of an attribute; empty without one, for one of another type or of more than 64.
std::vector<double> read_attribute_numbers(hid_t object, const char* name);

/// The same of strings.
std::vector<std::string> read_attribute_texts(hid_t object, const char* name);

/// The text of one string, or of an array of characters; empty for others.
std::string read_attribute_word(hid_t object, const std::string& name);

}  // namespace holotone::io
#endif
