#include <holotone/core/error.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/points/scene_formats_detail.hpp>

namespace holotone::io {

Mesh read_npy_points(std::string_view bytes, std::string_view path, const Origin& origin) {
  const NpyHeader header = parse_npy_header(bytes, path);
  const auto& shape = header.shape;
  if (header.kind == 'c' || shape.size() != 2 || shape[0] == 0 || (shape[1] != 3 && shape[1] != 4)) {
    throw_io(path, "real numbers of shape {n, 3} (x y z) or {n, 4} (x y z amplitude)",
             header.type + " of shape " + header.shape_text());
  }
  const auto count = static_cast<std::size_t>(shape[0]);  // agrees with the file's length
  const auto columns = static_cast<std::size_t>(shape[1]);
  const auto value = [&](std::size_t row, std::size_t column) {
    const std::size_t at = header.fortran_order ? column * count + row : row * columns + column;
    return load_npy_number(bytes.data() + header.data_begin + at * header.item_bytes, header.kind, header.item_bytes,
                           header.order);
  };
  Mesh mesh;
  mesh.position.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    mesh.position.push_back(relative_to(origin, value(i, 0), value(i, 1), value(i, 2)));
    if (columns == 4) mesh.amplitude.push_back(static_cast<float>(value(i, 3)));
  }
  return mesh;
}

}  // namespace holotone::io
