#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/npy_image_detail.hpp>

namespace holotone::io {

namespace {

std::vector<std::int64_t> extents_of(const Shape<3>& shape) {
  std::vector<std::int64_t> extents{shape[0], shape[1]};
  if (shape[2] > 1) extents.push_back(shape[2]);
  return extents;
}

}  // namespace

void write_npy(const std::string& path, const Array<float, 3>& pixels) {
  std::string bytes = npy_header("<f4", extents_of(pixels.shape()));
  for (const float value : pixels.host()) store(bytes, value);
  write_file(path, bytes);
}

void write_npy(const std::string& path, const Array<std::uint8_t, 3>& pixels) {
  std::string bytes = npy_header("|u1", extents_of(pixels.shape()));
  bytes.append(reinterpret_cast<const char*>(pixels.data()), pixels.host().size());
  write_file(path, bytes);
}

}  // namespace holotone::io
