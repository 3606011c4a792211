#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_formats_detail.hpp>

#if HOLOTONE_HDF5
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/fields/hdf5_handle_detail.hpp>
#include <holotone/io/file_handle_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#endif

namespace holotone::io {

#if HOLOTONE_HDF5
namespace {

void require(bool succeeded, const std::string& path, std::string_view step) {
  const int reason = errno;  // system error of the last write, which libhdf5 does not report otherwise
  if (!succeeded) {
    throw_io(path, fmt::format("{} to succeed", step), reason == 0 ? "an HDF5 error" : std::strerror(reason));
  }
}

// True if the value is a number: its text survives the round trip, or the key has a unit.
bool is_number(const std::string& key, const std::string& text, const Metadata& metadata, double& value) {
  if (!metadata_number(metadata, key, value) || !std::isfinite(value)) return false;
  return key.ends_with("_m") || key.ends_with("_rad") || number_text(value) == text ||
         fmt::format("{:.17g}", value) == text;
}

void write_attribute(hid_t dataset, const std::string& key, const std::string& text, const Metadata& metadata,
                     const std::string& path) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  double value = 0;
  if (is_number(key, text, metadata, value)) {
    const Hdf5Handle attribute(H5Acreate2(dataset, key.c_str(), H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
    require(attribute.valid() && H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0, path, "writing " + key);
    return;
  }
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  require(H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0, path,
          "making a string type");
  const Hdf5Handle attribute(H5Acreate2(dataset, key.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  const char* raw = text.c_str();
  require(attribute.valid() && H5Awrite(attribute.get(), type.get(), static_cast<const void*>(&raw)) >= 0, path,
          "writing " + key);
}

Hdf5Handle complex_type(hid_t number, std::size_t bytes) {
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose);
  H5Tinsert(type.get(), "r", 0, number);
  H5Tinsert(type.get(), "i", bytes, number);
  return type;
}

/// Allocates the values' space in the file, which libhdf5 does with the first value written.
void write_first_value(hid_t dataset, hid_t type, const std::string& path) {
  const hsize_t one = 1;
  const std::array<hsize_t, 2> start = {0, 0};
  const std::array<hsize_t, 2> count = {1, 1};
  const Hdf5Handle memory(H5Screate_simple(1, &one, nullptr), H5Sclose);
  const Hdf5Handle place(H5Dget_space(dataset), H5Sclose);
  const std::complex<float> zero = 0;
  require(place.valid() &&
              H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
              H5Dwrite(dataset, type, memory.get(), place.get(), H5P_DEFAULT, &zero) >= 0,
          path, "taking room for dataset 'field'");
}

/// Writes dataset and attributes; with null `values` only allocates their space. Returns the values' offset in the
/// file.
std::uint64_t write_dataset(hid_t file, Shape<2> shape, const std::complex<float>* values, const Metadata& metadata,
                            const std::string& path) {
  const std::array<hsize_t, 2> extents = {static_cast<hsize_t>(shape[0]), static_cast<hsize_t>(shape[1])};
  const Hdf5Handle space(H5Screate_simple(2, extents.data(), nullptr), H5Sclose);
  const Hdf5Handle stored = complex_type(H5T_IEEE_F32LE, sizeof(float));
  const Hdf5Handle memory = complex_type(H5T_NATIVE_FLOAT, sizeof(float));
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // Without times the same field always gives the same bytes.
  require(creation.valid() && H5Pset_obj_track_times(creation.get(), false) >= 0, path, "leaving times out");
  const Hdf5Handle dataset(
      H5Dcreate2(file, "field", stored.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose);
  require(dataset.valid(), path, "creating dataset 'field'");
  if (values == nullptr) {
    write_first_value(dataset.get(), memory.get(), path);
  } else {
    require(H5Dwrite(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, path,
            "writing dataset 'field'");
  }
  for (const auto& [key, text] : metadata) write_attribute(dataset.get(), key, text, metadata, path);
  const haddr_t begin = H5Dget_offset(dataset.get());
  require(begin != HADDR_UNDEF, path, "finding dataset 'field'");
  return begin;
}

std::uint64_t write_file_of(const std::string& name, Shape<2> shape, const std::complex<float>* values,
                            const Metadata& metadata, const std::string& path) {
  const Hdf5Session session;
  errno = 0;
  Hdf5Handle file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  require(file.valid(), path, "creating the file");
  const std::uint64_t begin = write_dataset(file.get(), shape, values, metadata, path);
  require(file.close(), path, "closing the file");  // writes the last bytes, so a full disk is reported here
  return begin;
}

}  // namespace

void write_hdf5(const std::string& path, const FieldFile& field) {
  require_metadata("write_field", field.metadata);
  AtomicFile target(path);
  write_file_of(name_of_opened(target.descriptor(), target.temporary_path()), field.values.shape(), field.values.data(),
                field.metadata, path);
  target.commit();
}

std::uint64_t create_hdf5(const std::string& temporary, Shape<2> shape, const Metadata& metadata,
                          const std::string& path) {
  return write_file_of(temporary, shape, nullptr, metadata, path);
}
#else
std::uint64_t create_hdf5(const std::string&, Shape<2>, const Metadata&, const std::string& path) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}

void write_hdf5(const std::string& path, const FieldFile&) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}
#endif

}  // namespace holotone::io
