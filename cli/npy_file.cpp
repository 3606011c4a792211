#include "npy_file.hpp"
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>

namespace holotone::cli {

void write_npy(const std::string& path, const Array<float, 3>& pixels) {
  const auto& shape = pixels.shape();
  std::vector<std::int64_t> extents{shape[0], shape[1]};
  if (shape[2] > 1) extents.push_back(shape[2]);
  std::string bytes = io::npy_header("<f4", extents);
  for (const float value : pixels.host()) io::store(bytes, value);
  write_file(path, bytes);
}

}  // namespace holotone::cli
