#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npy_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <numbers>
#include <type_traits>
#include <utility>
#include <variant>

namespace holotone {
namespace {

/// Phase of to_grey's 1: code 2^bits would be one wave, and the largest code is one step below it.
double radians_at_full_scale(const Image& image) {
  const int bits = code_bits(image);
  return bits == 0 ? 1 : 2 * std::numbers::pi * ((1 << bits) - 1) / (1 << bits);
}

/// The unit of phases behind the last '_' of a file's name, as in corr_waves.npy; empty without one.
std::string unit_in_name(const std::string& path) {
  const std::string stem = std::filesystem::path(io::split_part(path).file).stem().string();
  return stem.find('_') == std::string::npos ? std::string() : io::unit_of_name("phase_of_" + stem);
}

/// Radians of a number by the unit in the file's name. Throws io for lengths, which depend on a wavelength.
double radians_of_name(const std::string& path, const std::function<void(const std::string&)>& note) {
  const std::string stem = std::filesystem::path(io::split_part(path).file).stem().string();
  for (const std::string_view length : {"_nm", "_um", "_mm", "_micron", "_microns"}) {
    if (stem.ends_with(length)) {
      throw_io(path, "phases in radians, or in deg, waves or pi as the name states",
               "a name of lengths, " + io::in_quotes(stem));
    }
  }
  const std::string unit = unit_in_name(path);
  if (unit.empty()) return 1;
  const double scale = *io::parse_phase_unit(unit);
  if (note && scale != 1) note(fmt::format("{}: phases in {}, as the file states", path, io::printable(unit)));
  return scale;
}

void require_shape(const std::string& path, const Shape<2>& shape, const Shape<2>& got) {
  if (got == shape) return;
  throw_io(path, fmt::format("the panel's {} x {} pixels", shape[1], shape[0]), fmt::format("{} x {}", got[1], got[0]));
}

/// Throws io for colours, of which the phase is unknown, and for transparency.
void require_grey(const std::string& path, const Image& image) {
  std::visit(
      [&](const auto& pixels) {
        const int bits = code_bits(image);
        const auto opaque =
            static_cast<std::remove_cvref_t<decltype(pixels.host()[0])>>(bits == 0 ? 1 : (1 << bits) - 1);
        const auto channels = static_cast<std::size_t>(pixels.shape()[2]);
        const auto values = pixels.host();
        for (std::size_t i = 0; i < values.size(); i += channels) {
          if (channels >= 3 && (values[i] != values[i + 1] || values[i + 1] != values[i + 2])) {
            throw_io(path, "a grey picture of phases", "a coloured one");
          }
          if (channels % 2 == 0 && values[i + channels - 1] != opaque) {
            throw_io(path, "phases without transparency", "an alpha channel that is not opaque");
          }
        }
      },
      image.pixels);
}

Array<float, 2> read_picture_map(const std::string& path, const Shape<2>& shape,
                                 const std::function<void(const std::string&)>& note) {
  const auto accept = [&](const Shape<3>& got) { require_shape(path, shape, {got[0], got[1]}); };
  const Image image = read_image(path, {.accept = accept, .one_page = true});
  if (image.lossy) throw_io(path, "a correction in PNG, TIFF or BMP without loss", "JPEG, which changes codes");
  require_grey(path, image);
  if (note) std::ranges::for_each(image.notes, note);
  Array<float, 2> map = to_grey(image);
  const std::string unit = unit_in_name(path);
  const bool is_codes = code_bits(image) != 0;
  if (note && is_codes && !unit.empty() && *io::parse_phase_unit(unit) != 2 * std::numbers::pi) {
    note(fmt::format("{}: its name states {}, but its codes are parts of a wave", path, io::printable(unit)));
  }
  const double scale = is_codes ? radians_at_full_scale(image) : radians_of_name(path, note);
  for (float& value : map.host()) value = static_cast<float>(static_cast<double>(value) * scale);
  return map;
}

/// Numbers of an array file, with their type.
struct NpyMap {
  Array<float, 2> values;
  std::string type;
  bool whole = false;
};

NpyMap read_npy_numbers(const std::string& path) {
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
  return {std::move(map), header.type, header.kind != 'f'};
}

/// Phases in radians of an array file. Throws io for integers, which are codes or degrees.
Array<float, 2> read_phases(const std::string& path, const std::function<void(const std::string&)>& note) {
  NpyMap map = read_npy_numbers(path);
  if (map.whole) {
    throw_io(path, "phases in radians as floating point numbers", fmt::format("{} numbers", map.type));
  }
  const double scale = radians_of_name(path, note);
  for (float& value : map.values.host()) value = static_cast<float>(static_cast<double>(value) * scale);
  return std::move(map.values);
}

}  // namespace

Array<float, 2> read_npy_map(const std::string& path) { return read_npy_numbers(path).values; }

Array<float, 2> read_correction(const std::string& path, Shape<2> shape,
                                const std::function<void(const std::string&)>& note) {
  constexpr float usual_rad = 6 * std::numbers::pi_v<float>;
  const bool array = io::has_format(path, io::FileFormat::npy);
  auto map = array ? read_phases(path, note) : read_picture_map(path, shape, note);
  require_shape(path, shape, map.shape());
  for (const float value : map.host()) {
    if (!std::isfinite(value)) throw_io(path, "finite phases", fmt::format("{}", value));
  }
  const auto [low, high] = std::ranges::minmax(std::as_const(map).host());
  if (note && high - low > usual_rad && unit_in_name(path).empty()) {
    note(fmt::format("{}: phases from {:.6g} to {:.6g}, taken as radians", path, low, high));
  }
  return map;
}

}  // namespace holotone
