#include <cli/common/npy_file.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/npy_detail.hpp>

namespace holotone::cli {

namespace {

std::vector<std::int64_t> extents_of(const Shape<3>& shape) {
  std::vector<std::int64_t> extents{shape[0], shape[1]};
  if (shape[2] > 1) extents.push_back(shape[2]);
  return extents;
}

}  // namespace

void write_npy(const std::string& path, const Array<float, 3>& pixels) {
  std::string bytes = io::npy_header("<f4", extents_of(pixels.shape()));
  for (const float value : pixels.host()) io::store(bytes, value);
  write_file(path, bytes);
}

Array<float, 2> read_npy_map(const std::string& path) {
  const std::string bytes = io::read_bytes_if(path, io::is_npy);
  const auto header = io::parse_npy_header(bytes, path);
  if (header.kind == 'c' || header.shape.size() != 2) {
    throw_io(path, "real numbers of shape {ny, nx}", header.type + " of shape " + header.shape_text());
  }
  const auto ny = static_cast<std::int64_t>(header.shape[0]);
  const auto nx = static_cast<std::int64_t>(header.shape[1]);
  Array<float, 2> map({ny, nx});
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t column = 0; column < nx; ++column) {
      const std::int64_t at = header.fortran_order ? column * ny + row : row * nx + column;
      const char* data = bytes.data() + header.data_begin + static_cast<std::size_t>(at) * header.item_bytes;
      map(row, column) = static_cast<float>(io::load_npy_number(data, header.kind, header.item_bytes, header.order));
    }
  }
  return map;
}

void write_npy(const std::string& path, const Array<std::uint8_t, 3>& pixels) {
  std::string bytes = io::npy_header("|u1", extents_of(pixels.shape()));
  bytes.append(reinterpret_cast<const char*>(pixels.data()), pixels.host().size());
  write_file(path, bytes);
}

}  // namespace holotone::cli
