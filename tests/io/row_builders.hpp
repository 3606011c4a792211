#pragma once
// Fields in rows, for the tests of their writer and reader.
#include <algorithm>
#include <cstring>
#include <holotone/io/fields/field_rows.hpp>
#include <tests/io/field_builders.hpp>

namespace row_builders {

/// File names of each format that is written by rows.
inline std::vector<std::string> formats() {
  return field_builders::has_hdf5() ? std::vector<std::string>{"x.h5", "x.npy"} : std::vector<std::string>{"x.npy"};
}

inline holotone::View<const std::complex<float>, 2> slice_rows(const holotone::FieldFile& field, std::int64_t first,
                                                               std::int64_t count) {
  const std::int64_t nx = field.values.shape()[1];
  return {field.values.data() + first * nx, {count, nx}};
}

/// Compares bits, including those of non-finite values.
inline void expect_same(const holotone::FieldFile& got, const holotone::FieldFile& expected) {
  ASSERT_EQ(got.values.shape(), expected.values.shape());
  EXPECT_EQ(std::memcmp(got.values.data(), expected.values.data(), expected.values.bytes()), 0);
}

/// Reads the whole field, `step` rows at a time from the bottom.
inline holotone::FieldFile read_by_rows(const std::string& path, std::int64_t step, const std::string& program = {}) {
  const holotone::FieldRowsReader reader(path, program);
  const auto [ny, nx] = reader.shape();
  holotone::FieldFile field{holotone::Array<std::complex<float>, 2>(reader.shape()), reader.metadata()};
  for (std::int64_t end = ny; end > 0; end -= step) {
    const std::int64_t first = std::max<std::int64_t>(end - step, 0);
    reader.read(first, {field.values.data() + first * nx, {end - first, nx}});
  }
  return field;
}

}  // namespace row_builders
