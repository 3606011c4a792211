#pragma once
// Archives of NumPy, .npz. Not for users.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::io {

/// An array of an .npz file: little-endian bytes of `type` in C order.
struct NpzArray {
  std::string type;  ///< "<f4", "<f8" or "|u1"
  std::vector<std::int64_t> shape;
  std::string bytes;
};

/// Content of NumPy's .npz: a ZIP archive of .npy files, uncompressed, dated 1 January 1980.
std::string npz_bytes(const std::map<std::string, NpzArray>& arrays);

/// The real numbers of an array, and its shape.
struct NpzNumbers {
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
};

/// The arrays of an .npz file as numpy.savez and savez_compressed write it, by name without ".npy". Throws io for
/// damaged ones and for arrays that are not of real numbers.
std::map<std::string, NpzNumbers> read_npz(const std::string& bytes, const std::string& path);

}  // namespace holotone::io
