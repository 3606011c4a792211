#include <holotone/core/error.hpp>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/fields/field_formats_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t max_names = 1000;
constexpr std::size_t longest_text = 1 << 22;
constexpr hssize_t max_values = 64;  // of an attribute of several

extern "C" {
// Called by libhdf5 from C: exceptions must not pass through it.
static herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* data) {
  auto& names = *static_cast<std::vector<std::string>*>(data);
  if (names.size() >= max_names) return 1;
  try {
    names.emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}
}

std::string read_text(hid_t attribute, hid_t type, bool& known) {
  known = false;
  if (H5Tis_variable_str(type) > 0) {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type));
    char* raw = nullptr;
    if (H5Aread(attribute, memory.get(), static_cast<void*>(&raw)) < 0 || raw == nullptr) return {};
    std::string text(raw, strnlen(raw, longest_text));
    H5free_memory(raw);
    known = true;
    return text;
  }
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > longest_text) return {};
  std::string text(size, '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  text.resize(std::min(text.size(), text.find('\0')));
  if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
  known = true;
  return text;
}

// Reads an attribute as text if it is a single number or string. Returns false for others.
bool read_single(hid_t object, const std::string& name, std::string& text) {
  const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return false;
  const Hdf5Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Hdf5Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (!space.valid() || !type.valid() || H5Sget_simple_extent_npoints(space.get()) != 1) return false;
  switch (H5Tget_class(type.get())) {
    case H5T_FLOAT: {
      double value = 0;
      if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0) return false;
      text = number_text(value);
      return true;
    }
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type.get()) == H5T_SGN_2;
      std::int64_t value = 0;
      if (H5Aread(attribute.get(), is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, &value) < 0) return false;
      text = is_signed ? fmt::format("{}", value) : fmt::format("{}", static_cast<std::uint64_t>(value));
      return true;
    }
    case H5T_STRING: {
      bool known = false;
      text = read_text(attribute.get(), type.get(), known);
      return known;
    }
    default: return false;
  }
}

/// Number of values of an attribute; 0: none, or more than are read.
std::size_t count_values(hid_t attribute) {
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = space.valid() ? H5Sget_simple_extent_npoints(space.get()) : 0;
  return count > 0 && count <= max_values ? static_cast<std::size_t>(count) : 0;
}

/// The numbers behind the names of an enumeration, such as h5py's True.
std::vector<double> read_enumerated(hid_t attribute, hid_t type) {
  const std::size_t count = count_values(attribute);
  const Hdf5Handle number(H5Tget_super(type), H5Tclose);
  const std::size_t bytes = H5Tget_size(type);
  if (!number.valid() || count == 0 || bytes == 0 || bytes > sizeof(double)) return {};
  std::vector<double> values(count);
  if (H5Aread(attribute, type, values.data()) < 0 ||
      H5Tconvert(number.get(), H5T_NATIVE_DOUBLE, count, values.data(), nullptr, H5P_DEFAULT) < 0) {
    return {};
  }
  return values;
}

}  // namespace

std::vector<std::string> list_hdf5_attributes(hid_t object) {
  std::vector<std::string> names;
  hsize_t index = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &index, collect_attribute, &names);
  return names;
}

void read_hdf5_attributes(hid_t object, Metadata& metadata) {
  for (const auto& name : list_hdf5_attributes(object)) {
    std::string text;
    if (read_single(object, name, text)) metadata[name] = std::move(text);
  }
}

bool has_hdf5_attribute(hid_t object, const char* name) { return H5Aexists(object, name) > 0; }

std::vector<double> read_attribute_numbers(hid_t object, const char* name) {
  if (!has_hdf5_attribute(object, name)) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  if (!type.valid()) return {};
  const auto kind = H5Tget_class(type.get());
  if (kind == H5T_ENUM) return read_enumerated(attribute.get(), type.get());
  std::vector<double> values(kind == H5T_FLOAT || kind == H5T_INTEGER ? count_values(attribute.get()) : 0);
  if (!values.empty() && H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, values.data()) < 0) values.clear();
  return values;
}

std::vector<std::string> read_attribute_texts(hid_t object, const char* name) {
  if (!has_hdf5_attribute(object, name)) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING) return {};
  const std::size_t count = count_values(attribute.get());
  std::vector<std::string> texts(count);
  if (H5Tis_variable_str(type.get()) > 0) {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type.get()));
    std::vector<char*> raw(count, nullptr);
    if (count == 0 || H5Aread(attribute.get(), memory.get(), static_cast<void*>(raw.data())) < 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
      if (raw[i] == nullptr) continue;
      texts[i].assign(raw[i], strnlen(raw[i], longest_text));
      H5free_memory(raw[i]);
    }
    return texts;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (count == 0 || size == 0 || size > longest_text / max_values) return {};
  std::string raw(count * size, '\0');
  if (H5Aread(attribute.get(), type.get(), raw.data()) < 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view one = std::string_view(raw).substr(i * size, size);
    texts[i] = one.substr(0, one.find('\0'));
    texts[i].resize(texts[i].find_last_not_of(' ') + 1);
  }
  return texts;
}

std::string read_attribute_word(hid_t object, const std::string& name) {
  const auto texts = read_attribute_texts(object, name.c_str());
  if (texts.size() == 1) return texts.front();
  std::string word;
  for (const auto& text : texts) {
    if (text.size() > 1) return {};
    word += text;
  }
  return word;
}

}  // namespace holotone::io
#endif
