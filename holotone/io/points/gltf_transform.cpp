#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/points/gltf_json_detail.hpp>

namespace holotone::io {
namespace {

class TransformReader {
 public:
  TransformReader(const Json& node, std::string_view name, std::string_view path)
      : node_(node), name_(name), path_(path) {}

  GltfTransform read() const {
    if (!member_in(node_, "matrix").is_null()) return read_matrix();
    const auto t = numbers<3>("translation", {0, 0, 0});
    const auto s = numbers<3>("scale", {1, 1, 1});
    const auto [x, y, z, w] = read_rotation();
    return {s[0] * (1 - 2 * (y * y + z * z)),
            s[1] * 2 * (x * y - z * w),
            s[2] * 2 * (x * z + y * w),
            t[0],
            s[0] * 2 * (x * y + z * w),
            s[1] * (1 - 2 * (x * x + z * z)),
            s[2] * 2 * (y * z - x * w),
            t[1],
            s[0] * 2 * (x * z - y * w),
            s[1] * 2 * (y * z + x * w),
            s[2] * (1 - 2 * (x * x + y * y)),
            t[2],
            0,
            0,
            0,
            1};
  }

 private:
  GltfTransform read_matrix() const {
    for (const char* const member : {"translation", "rotation", "scale"}) {
      if (!member_in(node_, member).is_null()) fail(fmt::format("a matrix or a {} of {}", member, name_), "both");
    }
    const auto columns = numbers<16>("matrix", {});
    GltfTransform rows{};
    for (std::size_t i = 0; i < 16; ++i) rows[i] = columns[i % 4 * 4 + i / 4];
    constexpr double rounding = 1e-6;
    const double off = std::abs(rows[12]) + std::abs(rows[13]) + std::abs(rows[14]) + std::abs(rows[15] - 1);
    if (!(off < rounding)) {
      fail(fmt::format("a matrix of {} whose last row is 0 0 0 1", name_),
           fmt::format("{:g} {:g} {:g} {:g}", rows[12], rows[13], rows[14], rows[15]));
    }
    return rows;
  }

  std::array<double, 4> read_rotation() const {
    constexpr double tolerance = 1e-3;
    auto rotation = numbers<4>("rotation", {0, 0, 0, 1});
    const double length = std::hypot(std::hypot(rotation[0], rotation[1]), std::hypot(rotation[2], rotation[3]));
    if (!(std::abs(length - 1) < tolerance)) {
      fail(fmt::format("a unit quaternion as rotation of {}", name_), fmt::format("one of length {:.4g}", length));
    }
    for (double& value : rotation) value /= length;
    return rotation;
  }

  template <std::size_t N>
  std::array<double, N> numbers(const char* member, std::array<double, N> values) const {
    const Json& list = member_in(node_, member);
    if (list.is_null()) return values;
    const auto is_number = [](const Json& value) { return value.is_number(); };
    if (!list.is_array() || list.size() != N || !std::all_of(list.begin(), list.end(), is_number)) {
      fail(fmt::format("{} numbers as {} of {}", N, member, name_), in_quotes(list.dump()));
    }
    for (std::size_t i = 0; i < N; ++i) values[i] = list[i].get<double>();
    return values;
  }

  [[noreturn]] void fail(std::string_view expected, std::string_view got) const { throw_io(path_, expected, got); }

  const Json& node_;
  std::string_view name_;
  std::string_view path_;
};

}  // namespace

GltfTransform read_gltf_transform(const Json& node, std::string_view name, std::string_view path) {
  return TransformReader(node, name, path).read();
}

}  // namespace holotone::io
