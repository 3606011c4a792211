#pragma once
// Writes HDF5 files by libhdf5, for tests that see its headers.
#if HOLOTONE_HDF5
#include <cstdint>
#include <cstring>
#include <hdf5.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hdf5_support {

/// How a text attribute is stored.
enum class Text {
  variable,     ///< of variable length
  fixed,        ///< ends with a zero byte
  blanks,       ///< padded with blanks
  list_of_one,  ///< an array of one, of variable length
};

/// A file, group or dataset, closed when it goes out of scope.
class Hdf5Object {
 public:
  /// With `user_block` bytes before it.
  static Hdf5Object create_file(const std::string& path, std::int64_t user_block = 0) {
    const hid_t list = H5Pcreate(H5P_FILE_CREATE);
    if (user_block > 0) require(H5Pset_userblock(list, static_cast<hsize_t>(user_block)));
    Hdf5Object file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, list, H5P_DEFAULT), H5Fclose};
    H5Pclose(list);
    return file;
  }
  ~Hdf5Object() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Object(const Hdf5Object&) = delete;
  Hdf5Object& operator=(const Hdf5Object&) = delete;
  Hdf5Object& operator=(Hdf5Object&&) = delete;

  Hdf5Object group(const std::string& name) const {
    return {H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
  }

  /// A dataset of numbers, stored as `type`; none are written for no values.
  Hdf5Object dataset(const std::string& name, const std::vector<std::int64_t>& extents,
                     const std::vector<double>& values, hid_t type = H5T_IEEE_F64LE, hid_t list = H5P_DEFAULT) const {
    Hdf5Object set = make(name, extents, type, list);
    if (!values.empty()) require(H5Dwrite(set.id_, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return set;
  }

  /// The same of compounds {r, i} with i = 0.
  Hdf5Object complex_dataset(const std::string& name, const std::vector<std::int64_t>& extents,
                             const std::vector<double>& values) const {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * sizeof(double));
    require(H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE));
    require(H5Tinsert(type, "i", sizeof(double), H5T_NATIVE_DOUBLE));
    std::vector<double> pairs;
    for (const double value : values) pairs.insert(pairs.end(), {value, 0});
    Hdf5Object set = make(name, extents, type);
    require(H5Dwrite(set.id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pairs.data()));
    H5Tclose(type);
    return set;
  }

  /// A dataset in chunks, of which the one at `start` is written.
  Hdf5Object chunked_dataset(const std::string& name, const std::vector<std::int64_t>& extents,
                             const std::vector<hsize_t>& chunk, const std::vector<hsize_t>& start,
                             const std::vector<double>& values, std::optional<double> fill) const {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    require(H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data()));
    if (fill) require(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &*fill));
    Hdf5Object set = make(name, extents, H5T_IEEE_F64LE, list);
    const hid_t place = H5Dget_space(set.id_);
    const hid_t memory = H5Screate_simple(static_cast<int>(chunk.size()), chunk.data(), nullptr);
    require(H5Sselect_hyperslab(place, H5S_SELECT_SET, start.data(), nullptr, chunk.data(), nullptr));
    require(H5Dwrite(set.id_, H5T_NATIVE_DOUBLE, memory, place, H5P_DEFAULT, values.data()));
    H5Sclose(memory);
    H5Sclose(place);
    H5Pclose(list);
    return set;
  }

  /// A dataset of one text.
  void text_dataset(const std::string& name, const std::string& value, Text form = Text::variable) const {
    const hid_t type = H5Tcopy(H5T_C_S1);
    require(H5Tset_size(type, form == Text::variable ? H5T_VARIABLE : value.size() + 1));
    const Hdf5Object set = make(name, {}, type);
    const char* const pointer = value.c_str();
    const void* const data = form == Text::variable ? static_cast<const void*>(&pointer) : pointer;
    require(H5Dwrite(set.id_, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    H5Tclose(type);
  }

  void text(const std::string& name, const std::string& value, Text form = Text::variable) const {
    const hid_t type = H5Tcopy(H5T_C_S1);
    const bool is_variable = form == Text::variable || form == Text::list_of_one;
    const std::string padded = value + std::string(form == Text::blanks ? 3 : 1, form == Text::blanks ? ' ' : '\0');
    require(H5Tset_size(type, is_variable ? H5T_VARIABLE : padded.size()));
    if (form == Text::blanks) require(H5Tset_strpad(type, H5T_STR_SPACEPAD));
    const hsize_t one = 1;
    const hid_t space = form == Text::list_of_one ? H5Screate_simple(1, &one, nullptr) : H5Screate(H5S_SCALAR);
    const char* const pointer = value.c_str();
    put(name, type, space, is_variable ? static_cast<const void*>(&pointer) : padded.data());
    H5Tclose(type);
  }

  void texts(const std::string& name, const std::vector<std::string>& values) const {
    const hid_t type = H5Tcopy(H5T_C_S1);
    require(H5Tset_size(type, H5T_VARIABLE));
    std::vector<const char*> pointers;
    for (const auto& value : values) pointers.push_back(value.c_str());
    const hsize_t count = values.size();
    put(name, type, H5Screate_simple(1, &count, nullptr), static_cast<const void*>(pointers.data()));
    H5Tclose(type);
  }

  void number(const std::string& name, double value, hid_t type = H5T_IEEE_F64LE) const {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    require(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value));
    H5Aclose(attribute);
    H5Sclose(space);
  }

  void numbers(const std::string& name, const std::vector<double>& values) const {
    const hsize_t count = values.size();
    put(name, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &count, nullptr), values.data());
  }

  void matrix(const std::string& name, const std::vector<hsize_t>& extents, const std::vector<double>& values) const {
    put(name, H5T_NATIVE_DOUBLE, H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
        values.data());
  }

  /// As h5py stores True and False.
  void boolean(const std::string& name, bool value) const {
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    std::int8_t number = 0;
    require(H5Tenum_insert(type, "FALSE", &number));
    number = 1;
    require(H5Tenum_insert(type, "TRUE", &number));
    number = value ? 1 : 0;
    put(name, type, H5Screate(H5S_SCALAR), &number);
    H5Tclose(type);
  }

  void reference(const std::string& name, const std::string& path) const {
    hobj_ref_t to = 0;
    require(H5Rcreate(&to, id_, path.c_str(), H5R_OBJECT, -1));
    const hsize_t one = 1;
    put(name, H5T_STD_REF_OBJ, H5Screate_simple(1, &one, nullptr), &to);
  }

  void soft_link(const std::string& name, const std::string& path) const {
    require(H5Lcreate_soft(path.c_str(), id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }

  void external_link(const std::string& name, const std::string& file, const std::string& path) const {
    require(H5Lcreate_external(file.c_str(), path.c_str(), id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  }

  /// Attaches scales to the dimensions, as the HDF5 Dimension Scale Specification has it; "": none.
  void scales(const std::vector<std::string>& paths) const {
    const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
    std::vector<hobj_ref_t> references(paths.size());
    std::vector<hvl_t> lists(paths.size(), hvl_t{0, nullptr});
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (paths[i].empty()) continue;
      require(H5Rcreate(&references[i], id_, paths[i].c_str(), H5R_OBJECT, -1));
      lists[i] = {1, &references[i]};
    }
    const hsize_t count = paths.size();
    put("DIMENSION_LIST", type, H5Screate_simple(1, &count, nullptr), lists.data());
    H5Tclose(type);
  }

 private:
  Hdf5Object(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) { require(id < 0 ? -1 : 0); }

  static void require(int status) {
    if (status < 0) throw std::runtime_error("libhdf5");
  }

  Hdf5Object make(const std::string& name, const std::vector<std::int64_t>& extents, hid_t type,
                  hid_t list = H5P_DEFAULT) const {
    const std::vector<hsize_t> sizes(extents.begin(), extents.end());
    const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
    Hdf5Object set{H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose};
    H5Sclose(space);
    return set;
  }

  void put(const std::string& name, hid_t type, hid_t space, const void* data) const {
    const hid_t attribute = H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    require(H5Awrite(attribute, type, data));
    H5Aclose(attribute);
    H5Sclose(space);
  }

  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace hdf5_support
#endif
