#include <holotone/io/images/tiff/tiff_gdal_detail.hpp>

#if HOLOTONE_TIFF
#include <charconv>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/tiff/geo_heights_detail.hpp>
#include <holotone/io/images/tiff/tiff_lists_detail.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

namespace holotone::io {
namespace {

constexpr std::uint32_t tag_gdal_metadata = 42112;
constexpr std::uint32_t tag_gdal_no_data = 42113;

constexpr std::uint32_t tag_pixel_scale = 33550;
constexpr std::uint32_t tag_transformation = 34264;
constexpr std::uint32_t tag_tie_points = 33922;

std::optional<double> parse_number(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n+");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

/// Text of the first item of GDALMetadata with this role: scale, offset or unittype.
std::string_view find_item(std::string_view metadata, std::string_view role) {
  const auto at = metadata.find(fmt::format("role=\"{}\"", role));
  if (at == std::string_view::npos) return {};
  const auto begin = metadata.find('>', at);
  if (begin == std::string_view::npos) return {};
  metadata.remove_prefix(begin + 1);
  return metadata.substr(0, metadata.find('<'));
}

std::span<const double> find_numbers(TIFF* file, std::uint32_t tag) {
  if (!is_tiff_list(file, tag, TIFF_DOUBLE)) return {};
  std::uint32_t count = 0;
  const double* numbers = nullptr;
  if (TIFFGetField(file, tag, &count, &numbers) != 1 || numbers == nullptr) return {};
  return {numbers, count};
}

/// As the file's type stores a number: NaN is equal to NaN.
template <class T>
bool is_equal(T stored, double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(stored) == value;
  } else {
    return std::isnan(value) ? std::isnan(stored) : stored == static_cast<T>(value);
  }
}

}  // namespace

std::optional<double> tiff_no_data(TIFF* file) {
  const std::string_view text = find_tiff_text(file, tag_gdal_no_data);
  return text.empty() ? std::nullopt : parse_number(text);
}

void note_no_data(const std::optional<double>& value, Image& image, std::string_view path) {
  if (!value) return;
  std::uint64_t count = 0;
  std::visit(
      [&](const auto& pixels) {
        const auto values = pixels.host();
        const auto channels = static_cast<std::size_t>(pixels.shape()[2]);
        for (std::size_t i = 0; i < values.size(); i += channels) count += is_equal(values[i], *value) ? 1 : 0;
      },
      image.pixels);
  image.no_data = value;
  if (count == 0) return;
  image.notes.push_back(
      fmt::format("{}: {} of value {:g} without data (GDAL_NODATA)", path, counted(count, "pixel"), *value));
}

void note_gdal_metadata(TIFF* file, Image& image, bool as_depth, std::string_view path) {
  const std::string_view metadata = find_tiff_text(file, tag_gdal_metadata);
  const double scale = parse_number(find_item(metadata, "scale")).value_or(1);
  const double offset = parse_number(find_item(metadata, "offset")).value_or(0);
  if (scale != 1 || offset != 0) {
    image.notes.push_back(fmt::format("{}: its scale {:g} and offset {:g} (GDALMetadata) are not applied to the values",
                                      path, scale, offset));
  }
  const std::string_view unit = find_item(metadata, "unittype");
  state_unit(image, unit.empty() && as_depth ? find_height_unit(file, image, path) : std::string(unit), as_depth, path);
}

void note_geographic_places(TIFF* file, Image& image, std::string_view path) {
  const auto scale = find_numbers(file, tag_pixel_scale);
  const auto ties = find_numbers(file, tag_tie_points);  // column, row, value, x, y, z
  const auto matrix = find_numbers(file, tag_transformation);
  bool rises = false;  // y from row to row
  double z_scale = 0;
  double z_offset = 0;
  if (scale.size() >= 3) {
    rises = scale[1] < 0;
    z_scale = scale[2];
    if (ties.size() >= 6) z_offset = ties[5] - (z_scale == 0 ? 1 : z_scale) * ties[2];
  } else if (matrix.size() >= 16) {
    rises = matrix[5] > 0;
    z_scale = matrix[10];
    z_offset = matrix[11];
  }
  if (rises) {
    image.notes.push_back(
        fmt::format("{}: its rows go from south to north (GeoTIFF): the first row is read as the top", path));
  }
  const bool has_values = shape_of(image)[2] < 3;
  if (!has_values || ((z_scale == 0 || z_scale == 1) && z_offset == 0)) return;
  image.notes.push_back(
      fmt::format("{}: its scale {:g} and offset {:g} of heights (GeoTIFF) are not applied to the values", path,
                  z_scale == 0 ? 1 : z_scale, z_offset));
}

std::array<double, 2> geographic_sides(TIFF* file) {
  const auto scale = find_numbers(file, tag_pixel_scale);
  if (scale.size() >= 2) return {std::abs(scale[0]), std::abs(scale[1])};
  const auto matrix = find_numbers(file, tag_transformation);  // rows of four
  if (matrix.size() < 16) return {};
  return {std::hypot(matrix[0], matrix[4]), std::hypot(matrix[1], matrix[5])};
}

}  // namespace holotone::io
#endif
