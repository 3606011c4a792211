#include <holotone/io/fields/hdf5_beside_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/fields/hdf5_attributes_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

namespace holotone::io {
namespace {

constexpr std::size_t max_names = 1000;
constexpr std::size_t longest_text = 1 << 12;

extern "C" {
// Called by libhdf5 from C: exceptions must not pass through it.
static herr_t collect_member(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto& names = *static_cast<std::vector<std::string>*>(data);
  if (names.size() >= max_names) return 1;
  if (info->type != H5L_TYPE_HARD) return 0;
  try {
    names.emplace_back(name);
  } catch (...) {
    return -1;
  }
  return 0;
}
}

/// A dataset that lies in the file; not valid without one.
Hdf5Handle open_dataset(hid_t group, const std::string& name) {
  H5L_info_t info{};
  if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0 || H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0 ||
      info.type != H5L_TYPE_HARD) {
    return {-1, H5Oclose};
  }
  Hdf5Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object.valid() || H5Iget_type(object.get()) != H5I_DATASET) return {-1, H5Oclose};
  const Hdf5Handle list(H5Dget_create_plist(object.get()), H5Pclose);
  const bool is_here =
      list.valid() && H5Pget_layout(list.get()) != H5D_VIRTUAL && H5Pget_external_count(list.get()) == 0;
  return is_here ? std::move(object) : Hdf5Handle(-1, H5Oclose);
}

hssize_t count_values(const Hdf5Handle& dataset) {
  const Hdf5Handle space(dataset.valid() ? H5Dget_space(dataset.get()) : -1, H5Sclose);
  return space.valid() ? H5Sget_simple_extent_npoints(space.get()) : 0;
}

bool has_numbers(const Hdf5Handle& dataset) {
  const Hdf5Handle type(dataset.valid() ? H5Dget_type(dataset.get()) : -1, H5Tclose);
  const auto kind = type.valid() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  return kind == H5T_FLOAT || kind == H5T_INTEGER;
}

/// A dataset of one value; not valid without one.
Hdf5Handle open_single(hid_t group, const std::string& name) {
  Hdf5Handle object = open_dataset(group, name);
  return count_values(object) == 1 ? std::move(object) : Hdf5Handle(-1, H5Oclose);
}

}  // namespace

std::optional<std::vector<std::uint64_t>> find_member_extents(hid_t group, const std::string& name) {
  const Hdf5Handle dataset = open_dataset(group, name);
  if (!has_numbers(dataset) || read_attribute_word(dataset.get(), "MATLAB_class") == "char") return std::nullopt;
  return read_hdf5_extents(dataset.get());
}

std::vector<std::string> list_hdf5_members(hid_t group) {
  std::vector<std::string> names;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_member, &names);
  return names;
}

std::optional<double> read_member_number(hid_t group, const std::string& name, const std::string& path) {
  const Hdf5Handle dataset = open_single(group, name);
  if (!has_numbers(dataset)) return std::nullopt;
  double value = 0;
  if (H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0) {
    throw_io(path, fmt::format("a readable {}", name), "a damaged one");
  }
  if (!std::isfinite(value)) throw_io(path, fmt::format("a finite {}", name), fmt::format("{:g}", value));
  return value;
}

std::string read_member_text(hid_t group, const std::string& name) {
  const Hdf5Handle dataset = open_single(group, name);
  const Hdf5Handle type(dataset.valid() ? H5Dget_type(dataset.get()) : -1, H5Tclose);
  if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING) return {};
  std::string text;
  if (H5Tis_variable_str(type.get()) > 0) {
    const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(memory.get(), H5T_VARIABLE);
    H5Tset_cset(memory.get(), H5Tget_cset(type.get()));
    char* raw = nullptr;
    if (H5Dread(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&raw)) < 0) return {};
    if (raw == nullptr) return {};
    text.assign(raw, strnlen(raw, longest_text));
    H5free_memory(raw);
    return text;
  }
  const std::size_t size = H5Tget_size(type.get());
  if (size == 0 || size > longest_text) return {};
  text.resize(size);
  if (H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0) return {};
  text.resize(std::min(text.size(), text.find('\0')));
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

void check_cxi_image(const Hdf5Choice& choice, const std::string& path) {
  const Hdf5Handle group = open_hdf5_group(choice);
  if (!group.valid()) return;
  const double shifted = read_member_number(group.get(), "is_fft_shifted", path).value_or(0);
  if (shifted != 0) {
    throw_io(path, "a picture whose quadrants are in their places", fmt::format("is_fft_shifted {:g}", shifted));
  }
  const std::string space = read_member_text(group.get(), "data_space");
  if (!space.empty() && space != "real") throw_io(path, "a picture in real space", "data_space " + in_quotes(space));
}

}  // namespace holotone::io
#endif
