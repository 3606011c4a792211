#include <holotone/core/error.hpp>
#include <holotone/io/field_formats_detail.hpp>

#if HOLOTONE_HDF5
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/hdf5_handle_detail.hpp>
#include <holotone/io/metadata_text_detail.hpp>
#endif

namespace holotone::io {

#if HOLOTONE_HDF5
namespace {

void require(bool succeeded, const std::string& path, std::string_view step) {
  const int reason = errno;  // what the system had against the last write: libhdf5 says it in no other way
  if (!succeeded) {
    throw_io(path, fmt::format("{} to succeed", step), reason == 0 ? "an HDF5 error" : std::strerror(reason));
  }
}

// A number if its text survives the round trip, or if the key's unit says that it is one.
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

void write_dataset(hid_t file, const FieldFile& field, const std::string& path) {
  const auto shape = field.values.shape();
  const std::array<hsize_t, 2> extents = {static_cast<hsize_t>(shape[0]), static_cast<hsize_t>(shape[1])};
  const Hdf5Handle space(H5Screate_simple(2, extents.data(), nullptr), H5Sclose);
  const Hdf5Handle stored = complex_type(H5T_IEEE_F32LE, sizeof(float));
  const Hdf5Handle memory = complex_type(H5T_NATIVE_FLOAT, sizeof(float));
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // The same field is the same bytes, whenever it is written.
  require(creation.valid() && H5Pset_obj_track_times(creation.get(), false) >= 0, path, "leaving times out");
  const Hdf5Handle dataset(
      H5Dcreate2(file, "field", stored.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose);
  require(dataset.valid(), path, "creating dataset 'field'");
  require(H5Dwrite(dataset.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, field.values.data()) >= 0, path,
          "writing dataset 'field'");
  for (const auto& [key, text] : field.metadata) write_attribute(dataset.get(), key, text, field.metadata, path);
}

}  // namespace

void write_hdf5(const std::string& path, const FieldFile& field) {
  require_metadata("write_field", field.metadata);
  AtomicFile target(path);
  {
    const Hdf5Session session;
    errno = 0;
    Hdf5Handle file(H5Fcreate(target.temporary_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    require(file.valid(), path, "creating the file");
    write_dataset(file.get(), field, path);
    require(file.close(), path, "closing the file");  // the last bytes are written here: a full disk shows
  }
  target.commit();
}
#else
void write_hdf5(const std::string& path, const FieldFile&) {
  throw Error(ErrorCode::unsupported, path + ": expected a build with HDF5, got one without");
}
#endif

}  // namespace holotone::io
