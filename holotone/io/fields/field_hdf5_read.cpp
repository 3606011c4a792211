#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <holotone/io/rows_file_detail.hpp>
#include <optional>
#include <vector>
#endif

namespace holotone::io {

#if HOLOTONE_HDF5
namespace {

constexpr std::size_t max_names = 1000;
constexpr std::size_t longest_text = 1 << 22;
constexpr std::uint64_t largest_chunk = std::uint64_t{1} << 30;
constexpr std::uint64_t largest_ratio = 1100;  // deflate reaches 1032

// Links of a group: names of those to objects of the file, and the first file that another leads to.
struct Links {
  std::vector<std::string> names;
  std::string elsewhere;
};

extern "C" {
// Called by libhdf5 from C: exceptions must not pass through it.
static herr_t collect_link(hid_t group, const char* name, const H5L_info_t* info, void* data) {
  auto& links = *static_cast<Links*>(data);
  if (links.names.size() >= max_names) return 1;
  try {
    if (info->type == H5L_TYPE_HARD) {  // soft and external links can point anywhere
      links.names.emplace_back(name);
    } else if (info->type == H5L_TYPE_EXTERNAL && links.elsewhere.empty() && info->u.val_size <= longest_text) {
      std::string value(info->u.val_size, '\0');
      const char* file = nullptr;
      if (H5Lget_val(group, name, value.data(), value.size(), H5P_DEFAULT) >= 0 &&
          H5Lunpack_elink_val(value.data(), value.size(), nullptr, &file, nullptr) >= 0) {
        links.elsewhere = "a link to " + in_quotes(file);
      }
    }
  } catch (...) {
    return -1;
  }
  return 0;
}
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

std::string member_name(hid_t type, unsigned index) {
  char* raw = H5Tget_member_name(type, index);
  if (raw == nullptr) return {};
  std::string name(raw);
  H5free_memory(raw);
  return name;
}

bool is_named(std::string name, std::initializer_list<std::string_view> names) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Type for reading a complex compound into memory; empty if the dataset contains no complex numbers.
std::optional<Hdf5Handle> complex_memory_type(hid_t dataset) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type.valid() || H5Tget_class(type.get()) != H5T_COMPOUND || H5Tget_nmembers(type.get()) != 2)
    return std::nullopt;
  const std::array<std::string, 2> names = {member_name(type.get(), 0), member_name(type.get(), 1)};
  if (!is_named(names[0], {"r", "re", "real"}) || !is_named(names[1], {"i", "im", "imag"})) return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    if (H5Tget_member_class(type.get(), i) != H5T_FLOAT) return std::nullopt;
  }
  Hdf5Handle memory(H5Tcreate(H5T_COMPOUND, 2 * sizeof(float)), H5Tclose);
  if (!memory.valid() || H5Tinsert(memory.get(), names[0].c_str(), 0, H5T_NATIVE_FLOAT) < 0 ||
      H5Tinsert(memory.get(), names[1].c_str(), sizeof(float), H5T_NATIVE_FLOAT) < 0) {
    return std::nullopt;
  }
  return memory;
}

std::vector<std::uint64_t> read_extents(hid_t dataset) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0 || rank > H5S_MAX_RANK) return {};
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != rank) return {};
  return {extents.begin(), extents.end()};
}

// The other file in which the values of a dataset lie; empty: they lie in its own. To be called before what opens the
// other, such as the extents of a virtual dataset.
std::string elsewhere(hid_t dataset) {
  const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose);
  std::array<char, 256> name{};
  if (list.valid() && H5Pget_external_count(list.get()) > 0) {
    H5Pget_external(list.get(), 0, name.size() - 1, name.data(), nullptr, nullptr);
    return "data in " + in_quotes(name.data());
  }
  if (!list.valid() || H5Pget_layout(list.get()) != H5D_VIRTUAL) return {};
  H5Pget_virtual_filename(list.get(), 0, name.data(), name.size());
  return "a virtual dataset of " + in_quotes(name.data());
}

Hdf5Handle open_dataset(hid_t file, const std::string& path) {
  Links links;
  if (H5Literate(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_link, &links) < 0) {
    throw_io(path, "a readable HDF5 root group", "a damaged one");
  }
  auto& names = links.names;
  if (std::find(names.begin(), names.end(), "field") != names.end()) names = {"field"};
  std::optional<Hdf5Handle> found;
  std::size_t count = 0;
  for (const auto& name : names) {
    Hdf5Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) continue;
    if (auto other = elsewhere(dataset.get()); !other.empty()) {
      links.elsewhere = std::move(other);
      continue;
    }
    if (read_extents(dataset.get()).size() != 2 || !complex_memory_type(dataset.get())) continue;
    if (++count == 1) found.emplace(std::move(dataset));
  }
  if (count == 0 && !links.elsewhere.empty()) throw_io(path, "a field in the file itself", links.elsewhere);
  if (count != 1) {
    throw_io(path, "a dataset 'field', or one only, of shape {ny, nx} and compound type {r, i}",
             fmt::format("{} such datasets", count));
  }
  return std::move(*found);
}

// Checks that the declared extents agree with the stored bytes before memory is allocated for them.
void check_storage(hid_t dataset, const std::vector<std::uint64_t>& extents, const std::string& path) {
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Handle list(H5Dget_create_plist(dataset), H5Pclose);
  if (!list.valid()) throw_io(path, "a readable dataset", "a damaged one");
  const int filters = H5Pget_nfilters(list.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const auto filter = H5Pget_filter2(list.get(), static_cast<unsigned>(i), &flags, &values, nullptr, name.size() - 1,
                                       name.data(), nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) {
      throw_io(path, "a compression that this libhdf5 knows, such as gzip",
               fmt::format("filter {} {}", static_cast<int>(filter), in_quotes(name.data())));
    }
  }
  const std::uint64_t size = std::filesystem::file_size(path);
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  if (stored > size) throw_io(path, fmt::format("{} bytes of dataset", stored), fmt::format("a file of {}", size));
  const std::uint64_t item = H5Tget_size(type.get());
  const auto layout = H5Pget_layout(list.get());
  if (layout == H5D_CHUNKED) {
    std::array<hsize_t, 2> chunk{};
    if (H5Pget_chunk(list.get(), 2, chunk.data()) != 2 || chunk[0] == 0 || chunk[1] == 0 || item == 0 ||
        chunk[0] > largest_chunk / chunk[1] / item) {
      throw_io(path, fmt::format("chunks of at most {} bytes", largest_chunk),
               fmt::format("chunks of {} x {} values", chunk[0], chunk[1]));
    }
  } else if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
    throw_io(path, "a contiguous, compact or chunked dataset", "another layout");
  }
  std::uint64_t needed = 0;
  const std::uint64_t possible = layout == H5D_CHUNKED ? stored * largest_ratio : stored;
  if (__builtin_mul_overflow(extents[0], extents[1], &needed) || __builtin_mul_overflow(needed, item, &needed) ||
      needed > possible) {
    throw_io(path, fmt::format("data for shape {{{}, {}}}, {} bytes each", extents[0], extents[1], item),
             fmt::format("{} bytes stored", stored));
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
bool read_attribute(hid_t object, const std::string& name, std::string& text) {
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

void read_attributes(hid_t object, Metadata& metadata) {
  std::vector<std::string> names;
  hsize_t index = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &index, collect_attribute, &names);
  for (const auto& name : names) {
    std::string text;
    if (read_attribute(object, name, text)) metadata[name] = std::move(text);
  }
}

// The field of an HDF5 file, opened and checked, with its values not read yet.
struct OpenField {
  Hdf5Session session;
  Hdf5Handle file;
  Hdf5Handle dataset;
  Shape<2> shape{};

  explicit OpenField(const std::string& path) : file(open_file(path)), dataset(open_dataset(file.get(), path)) {
    const auto extents = read_extents(dataset.get());
    if (extents.size() != 2) throw_io(path, "a readable dataset", "a damaged one");
    for (const auto extent : extents) {
      if (extent == 0 || extent > INT64_MAX) {
        throw_io(path, "at least 1 value", fmt::format("shape {{{}, {}}}", extents[0], extents[1]));
      }
    }
    shape = {static_cast<std::int64_t>(extents[0]), static_cast<std::int64_t>(extents[1])};
    check_storage(dataset.get(), extents, path);
  }

  static Hdf5Handle open_file(const std::string& path) {
    read_first_bytes(path, 1);  // reports a missing or empty file more precisely than libhdf5
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.valid()) throw_io(path, "an HDF5 file", "one that is damaged or of another kind");
    return file;
  }

  void read(hid_t memory_space, hid_t file_space, FieldFile& field, const std::string& path) const {
    const auto type = complex_memory_type(dataset.get());
    if (!type || H5Dread(dataset.get(), type->get(), memory_space, file_space, H5P_DEFAULT, field.values.data()) < 0) {
      throw_io(path, "a readable dataset", "a damaged one");
    }
  }

  void read_metadata(Metadata& metadata) const {
    read_attributes(file.get(), metadata);
    read_attributes(dataset.get(), metadata);
  }
};

// Sets the position and type of the values in `layout`. Returns false unless they lie row by row in the file as IEEE
// numbers.
bool find_values(const OpenField& open, FieldLayout& layout) {
  const Hdf5Handle list(H5Dget_create_plist(open.dataset.get()), H5Pclose);
  const Hdf5Handle type(H5Dget_type(open.dataset.get()), H5Tclose);
  const Hdf5Handle file_list(H5Fget_create_plist(open.file.get()), H5Pclose);
  hsize_t user_block = 0;
  if (!list.valid() || H5Pget_layout(list.get()) != H5D_CONTIGUOUS || !file_list.valid() ||
      H5Pget_userblock(file_list.get(), &user_block) < 0 || user_block != 0) {
    return false;
  }
  const haddr_t begin = H5Dget_offset(open.dataset.get());
  const Hdf5Handle number(H5Tget_member_type(type.get(), 0), H5Tclose);
  const Hdf5Handle other(H5Tget_member_type(type.get(), 1), H5Tclose);
  if (begin == HADDR_UNDEF || !number.valid() || !other.valid() || H5Tequal(number.get(), other.get()) <= 0) {
    return false;
  }
  for (const auto& [known, order] : {std::pair{H5T_IEEE_F32LE, std::endian::little},
                                     {H5T_IEEE_F64LE, std::endian::little},
                                     {H5T_IEEE_F32BE, std::endian::big},
                                     {H5T_IEEE_F64BE, std::endian::big}}) {
    if (H5Tequal(number.get(), known) <= 0) continue;
    layout.data_begin = begin;
    layout.value_bytes = H5Tget_size(type.get());
    layout.real_at = H5Tget_member_offset(type.get(), 0);
    layout.imaginary_at = H5Tget_member_offset(type.get(), 1);
    layout.number_bytes = H5Tget_size(number.get());
    layout.order = order;
    return true;
  }
  return false;
}

std::int64_t chunk_rows_of(const OpenField& open) {
  const Hdf5Handle list(H5Dget_create_plist(open.dataset.get()), H5Pclose);
  std::array<hsize_t, 2> chunk{};
  if (!list.valid() || H5Pget_layout(list.get()) != H5D_CHUNKED || H5Pget_chunk(list.get(), 2, chunk.data()) != 2) {
    return 1;
  }
  return static_cast<std::int64_t>(std::min<hsize_t>(chunk[0], static_cast<hsize_t>(open.shape[0])));
}

}  // namespace

FieldFile read_hdf5(const std::string& path) {
  const OpenField open(path);
  FieldFile field;
  field.values = make_field(static_cast<std::uint64_t>(open.shape[0]), static_cast<std::uint64_t>(open.shape[1]), path);
  open.read(H5S_ALL, H5S_ALL, field, path);
  open.read_metadata(field.metadata);
  return field;
}

FieldLayout hdf5_layout(const std::string& path) {
  const OpenField open(path);
  FieldLayout layout;
  layout.shape = open.shape;
  layout.packed = !find_values(open, layout);
  if (layout.packed) layout.chunk_rows = chunk_rows_of(open);
  open.read_metadata(layout.metadata);
  return layout;
}

FieldFile read_hdf5_rows(const std::string& path, std::int64_t first_row, std::int64_t count) {
  const OpenField open(path);
  check_rows_of_field("read_hdf5_rows", open.shape, first_row, {count, open.shape[1]});
  FieldFile field;
  field.values = make_field(static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(open.shape[1]), path);
  const std::array<hsize_t, 2> start = {static_cast<hsize_t>(first_row), 0};
  const std::array<hsize_t, 2> extents = {static_cast<hsize_t>(count), static_cast<hsize_t>(open.shape[1])};
  const Hdf5Handle memory(H5Screate_simple(2, extents.data(), nullptr), H5Sclose);
  const Hdf5Handle place(H5Dget_space(open.dataset.get()), H5Sclose);
  if (!memory.valid() || !place.valid() ||
      H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, extents.data(), nullptr) < 0) {
    throw_io(path, "a readable dataset", "a damaged one");
  }
  open.read(memory.get(), place.get(), field, path);
  return field;
}
#else
FieldFile read_hdf5(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}

FieldLayout hdf5_layout(const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}

FieldFile read_hdf5_rows(const std::string& path, std::int64_t, std::int64_t) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}
#endif

}  // namespace holotone::io
