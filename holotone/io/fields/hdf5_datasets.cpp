#include <holotone/core/error.hpp>
#include <holotone/io/fields/hdf5_datasets_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>

#if HOLOTONE_HDF5
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <utility>

namespace holotone::io {
namespace {

constexpr std::size_t max_names = 1000;
constexpr std::size_t longest_text = 1 << 22;
constexpr int max_depth = 16;  // of groups; hard links may lead in a circle

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

bool has_attribute(hid_t object, const char* name) { return H5Aexists(object, name) > 0; }

/// Text of a string attribute of fixed length, as MATLAB writes them; empty without one.
std::string fixed_text(hid_t object, const char* name) {
  if (!has_attribute(object, name)) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute.valid() ? H5Aget_type(attribute.get()) : -1, H5Tclose);
  if (!type.valid() || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) return {};
  constexpr std::size_t longest_class = 256;
  const std::size_t size = H5Tget_size(type.get());
  if (size == 0 || size > longest_class) return {};
  std::string text(size, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

std::string number_type(hid_t type) {
  const auto kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return "of another type";
  const std::string_view name = kind == H5T_FLOAT ? "float" : H5Tget_sign(type) == H5T_SGN_2 ? "int" : "uint";
  return fmt::format("{}{}", name, 8 * H5Tget_size(type));
}

/// "compound of x float32, y float32".
std::string compound_text(hid_t type) {
  constexpr int max_members = 4;
  const int count = H5Tget_nmembers(type);
  std::string text = "compound of ";
  for (int i = 0; i < std::min(count, max_members); ++i) {
    const auto index = static_cast<unsigned>(i);
    const Hdf5Handle member(H5Tget_member_type(type, index), H5Tclose);
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(member_name(type, index)), number_type(member.get()));
  }
  return count > max_members ? fmt::format("{} and {} more", text, count - max_members) : text;
}

/// A dataset that was found, before one is chosen.
struct Found {
  Hdf5Choice choice;
  StoredArray array;
};

/// Sets the kind of numbers. Characters of MATLAB, and its empty arrays, whose extents are stored as numbers, are none.
void set_kind(Found& found) {
  auto& [choice, array] = found;
  const hid_t dataset = choice.dataset.get();
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose);
  const std::string matlab = fixed_text(dataset, "MATLAB_class");
  const std::size_t bits = type.valid() ? 8 * H5Tget_size(type.get()) : 0;
  const auto kind = type.valid() ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  if (complex_memory_type(dataset)) {
    array.kind = StoredArray::Kind::complex;
    array.type = fmt::format("complex{}", bits);
  } else if (kind == H5T_FLOAT || kind == H5T_INTEGER) {
    choice.whole = kind == H5T_INTEGER;
    array.kind = StoredArray::Kind::real;
    array.type = number_type(type.get());
  } else {
    array.type = !matlab.empty()        ? fmt::format("of class {}", in_quotes(matlab))
                 : kind == H5T_COMPOUND ? compound_text(type.get())
                                        : "of another type";
  }
  if (matlab == "char" || has_attribute(dataset, "MATLAB_empty")) {
    array.kind = StoredArray::Kind::other;
    array.type = matlab == "char" ? "characters" : "an empty array";
  }
  choice.complex = array.kind == StoredArray::Kind::complex;
  choice.type = array.type;
  if (!matlab.empty()) choice.reversed = "MATLAB";
}

/// Julia, whose matrices lie column by column, if the user block begins as JLD2's or JLD's; empty for others.
std::string reversing_program(const std::string& path) {
  const std::string first = read_first_bytes(split_part(path).file, 64);
  if (first.starts_with("HDF5-based Julia Data Format")) return "Julia (JLD2)";
  return first.starts_with("Julia data file (HDF5)") ? "Julia (JLD)" : "";
}

/// All datasets below a group.
class DatasetList {
 public:
  explicit DatasetList(std::string program) : program_(std::move(program)) {}

  std::vector<Found> found;
  std::string elsewhere_text;  ///< the first dataset or link that leads out of the file

  void add(hid_t group, const std::string& name, const std::string& path, int depth = 0) {
    Links links;
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_link, &links) < 0) {
      throw_io(path, depth == 0 ? "a readable HDF5 root group" : "a readable HDF5 group", "a damaged one");
    }
    if (elsewhere_text.empty()) elsewhere_text = links.elsewhere;
    const bool octave = has_attribute(group, "OCTAVE_NEW_FORMAT");
    for (const auto& link : links.names) {
      if (++visited_ > max_names) return;
      if (link == "#refs#" || link == "#subsystem#") continue;  // what MATLAB's cells and objects refer to
      if (!program_.empty() && depth == 0 && (link == "_types" || link == "_creator" || link == "_refs")) continue;
      const std::string full = fmt::format("{}/{}", name, link);
      Hdf5Handle object(H5Oopen(group, link.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.valid()) {  // such as a type of a newer HDF5
        found.push_back({{std::move(object), full, {}, {}, false, {}, false, {}},
                         {full, {}, StoredArray::Kind::other, "that this HDF5 library cannot open"}});
        continue;
      }
      const auto kind = H5Iget_type(object.get());
      if (kind == H5I_GROUP && depth < max_depth) add(object.get(), full, path, depth + 1);
      if (kind == H5I_DATASET && (!octave || link == "value")) {
        add_dataset(std::move(object), octave ? name : full, octave);
      }
    }
  }

 private:
  std::string program_;  ///< that stores dimensions reversed
  std::size_t visited_ = 0;

  void add_dataset(Hdf5Handle dataset, const std::string& name, bool octave) {
    if (auto other = elsewhere(dataset.get()); !other.empty()) {
      elsewhere_text = std::move(other);
      return;
    }
    Found one{{std::move(dataset), name, {}, {}, false, {}, false, octave ? "Octave" : program_}, {}};
    one.choice.extents = read_hdf5_extents(one.choice.dataset.get());
    set_kind(one);
    one.array.name = name;
    one.array.extents = one.choice.extents;
    const std::size_t rank = one.array.extents.size();
    if (!one.choice.reversed.empty() && rank >= 2) std::swap(one.array.extents[rank - 1], one.array.extents[rank - 2]);
    found.push_back(std::move(one));
  }
};

}  // namespace

std::vector<std::uint64_t> read_hdf5_extents(hid_t dataset) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = space.valid() ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0 || rank > H5S_MAX_RANK) return {};
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != rank) return {};
  return {extents.begin(), extents.end()};
}

Hdf5Handle open_hdf5_group(const Hdf5Choice& choice) {
  const Hdf5Handle file(H5Iget_file_id(choice.dataset.get()), H5Fclose);
  const std::string name = choice.name.substr(0, choice.name.rfind('/') + 1);
  return {file.valid() ? H5Oopen(file.get(), name.empty() ? "/" : name.c_str(), H5P_DEFAULT) : -1, H5Oclose};
}

std::vector<Hdf5Handle> open_hdf5_groups(const Hdf5Choice& choice) {
  std::vector<Hdf5Handle> groups;
  const Hdf5Handle file(H5Iget_file_id(choice.dataset.get()), H5Fclose);
  std::string name = choice.name;
  while (file.valid() && !name.empty()) {
    const auto slash = name.rfind('/');
    name.resize(slash == std::string::npos ? 0 : slash);
    Hdf5Handle group(H5Oopen(file.get(), name.empty() ? "/" : name.c_str(), H5P_DEFAULT), H5Oclose);
    if (group.valid()) groups.push_back(std::move(group));
  }
  return groups;
}

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

Hdf5Choice open_hdf5_dataset(hid_t file, std::string_view part, const std::string& path) {
  DatasetList list(reversing_program(path));
  list.add(file, "", path);
  std::vector<StoredArray> arrays;
  for (const auto& one : list.found) arrays.push_back(one.array);
  const bool none = std::ranges::all_of(arrays, [](const auto& one) { return one.kind == StoredArray::Kind::other; });
  if (none && !list.elsewhere_text.empty()) throw_io(path, "a field in the file itself", list.elsewhere_text);
  const auto chosen = choose_array(arrays, part, path);
  Hdf5Choice choice = std::move(list.found[chosen.index].choice);
  choice.slice = chosen.slice;
  choice.also = chosen.also;
  return choice;
}

}  // namespace holotone::io
#endif
