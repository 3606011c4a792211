#include <charconv>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/tiff/tiff_imagej_detail.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <optional>
#include <string>

namespace holotone::io {
namespace {

/// The rest of the line "key=...".
std::string_view find_line(std::string_view description, std::string_view key) {
  if (!description.starts_with("ImageJ=")) return {};
  const std::string begin = fmt::format("\n{}=", key);
  const auto at = description.find(begin);
  if (at == std::string_view::npos) return {};
  description.remove_prefix(at + begin.size());
  return description.substr(0, description.find_first_of("\r\n"));
}

template <class T>
std::optional<T> find_number(std::string_view description, std::string_view key) {
  const std::string_view text = find_line(description, key);
  T number{};
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// Functions of ImageJ's calibration, "cf".
constexpr int straight_line = 0;
constexpr int no_calibration = 20;

}  // namespace

std::int64_t imagej_pictures(std::string_view description) {
  return find_number<std::int64_t>(description, "images").value_or(0);
}

bool is_imagej_signed(std::string_view description) {
  return find_number<int>(description, "cf").value_or(straight_line) == straight_line &&
         find_number<double>(description, "c0") == -32768.0 && find_number<double>(description, "c1") == 1.0;
}

void note_imagej_calibration(std::string_view description, Image& image, bool as_depth, std::string_view path) {
  const int function = find_number<int>(description, "cf").value_or(straight_line);
  const auto offset = find_number<double>(description, "c0");
  const auto scale = find_number<double>(description, "c1");
  const std::string_view unit = find_line(description, "vunit");
  const std::string_view shown = unit.substr(0, unit.find('\0'));
  const std::string of_unit = shown.empty() || shown == "gray value" ? "" : fmt::format(" in {}", in_quotes(shown));
  if (function == no_calibration) return;
  if (function != straight_line) {
    image.notes.push_back(
        fmt::format("{}: its calibration{} (ImageJ, cf={}) is not applied to the values", path, of_unit, function));
  } else if (offset && scale && (*offset != 0 || *scale != 1)) {
    image.notes.push_back(fmt::format("{}: its scale {:g} and offset {:g}{} (ImageJ) are not applied to the values",
                                      path, *scale, *offset, of_unit));
  } else if (!of_unit.empty()) {
    state_unit(image, shown, as_depth, path);
  }
}

}  // namespace holotone::io
