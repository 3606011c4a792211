#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/phase_unit_detail.hpp>
#include <holotone/hologram/stated_wavelength_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/table_text_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/phase_table.hpp>
#include <limits>
#include <numbers>

namespace holotone {

namespace {

PhaseLut read_table(const std::string& path, PhaseUnit unit) {
  try {
    const auto text = io::read_text(path);
    return parse_phase_lut(io::TableText(text, path).get(), unit);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw FileError(path, error);
  }
}

std::string stroke_text(const PhaseLut& lut, double stroke_rad) {
  return fmt::format("a stroke of {:.4g} is read as {} (2 pi times {:.3g})", stroke_rad / radians_in(lut.unit),
                     name_of(lut.unit), stroke_rad / (2 * std::numbers::pi));
}

std::string list_lengths(const std::vector<double>& lengths_m) {
  std::string text;
  for (const double length_m : lengths_m) text += (text.empty() ? "" : ", ") + format_length(length_m);
  return text;
}

/// Wavelengths of the light that differ by more than 1 % from each that a table states; none if it states none.
std::vector<double> other_light(const std::vector<double>& stated_m, const std::vector<double>& light_m) {
  constexpr double tolerance = 0.01;
  std::vector<double> other;
  if (stated_m.empty()) return other;
  for (const double wavelength_m : light_m) {
    const auto is_near = [&](double stated) { return std::abs(wavelength_m - stated) <= tolerance * stated; };
    if (std::ranges::none_of(stated_m, is_near)) other.push_back(wavelength_m);
  }
  return other;
}

/// Nanometres of "at1064", and of a number between the signs of a name, as 1064_wfc, unless pictures have such sides.
std::vector<double> numbers_of_name(const std::string& name) {
  constexpr int sides[] = {400,  480,  512,  600,  640,  720,  768,  800, 1000,
                           1024, 1050, 1080, 1152, 1200, 1272, 1280, 1536};
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_sign = [&](std::size_t at) {
    return at >= name.size() || std::string_view("_-. ").find(name[at]) != std::string_view::npos;
  };
  std::vector<double> metres;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!is_digit(name[at]) || (at > 0 && is_digit(name[at - 1]))) continue;
    std::size_t end = at;
    int number = 0;
    for (; end < name.size() && end < at + 5 && is_digit(name[end]); ++end) number = 10 * number + (name[end] - '0');
    const bool has_at = at >= 2 && name.substr(at - 2, 2) == "at" && (at == 2 || is_sign(at - 3));
    const bool is_alone = (at == 0 || is_sign(at - 1)) && is_sign(end) && std::ranges::count(sides, number) == 0;
    if (number >= 350 && number <= 1700 && (has_at || is_alone)) metres.push_back(1e-9 * number);
  }
  return metres;
}

/// "CAL_LSH0802439_633nm.bmp", "slm4317_at1064_WFC.bmp".
std::vector<double> wavelengths_of_name(const std::string& path) {
  const std::string name = in_plain_letters(std::filesystem::path(path).stem().string());
  auto stated = take_wavelengths(name).metres;
  return stated.empty() ? numbers_of_name(name) : stated;
}

}  // namespace

std::vector<double> read_phase_table(const std::string& path, PhaseUnit unit) {
  auto table = read_table(path, unit).phase_rad;
  for (std::size_t code = 0; code < table.size(); ++code) {
    if (std::abs(table[code]) <= max_phase_rad || std::isnan(table[code])) continue;
    throw_io(path, fmt::format("phases of at most {:g} rad", max_phase_rad),
             fmt::format("{:g} for code {}", table[code], code));
  }
  return table;
}

std::vector<std::string> phase_table_notes(const std::string& path, PhaseUnit unit,
                                           const std::vector<double>& wavelengths_m) {
  std::vector<std::string> notes;
  if (path.empty()) return notes;
  const PhaseLut lut = read_table(path, unit);
  const double stroke_rad = phase_stroke_rad(lut.phase_rad);
  if (!lut.stated) {
    notes.push_back(fmt::format("{} states no unit: {}; --lut-unit or a heading such as phase_rad says otherwise", path,
                                stroke_text(lut, stroke_rad)));
  }
  const auto stated = lut.wavelengths_m.empty() ? wavelengths_of_name(path) : lut.wavelengths_m;
  if (const auto other = other_light(stated, wavelengths_m); !other.empty()) {
    notes.push_back(fmt::format("{} states phases at {}, but the light has {}: they are taken unchanged", path,
                                list_lengths(stated), list_lengths(other)));
  }
  constexpr double turn = 2 * std::numbers::pi;
  const auto levels = std::ranges::count_if(lut.phase_rad, [](double phase) { return !std::isnan(phase); });
  constexpr double rounding = 1e-3;
  if (stroke_rad < turn * (1 - 1 / static_cast<double>(levels) - rounding)) {
    const auto [max_rad, rms_rad] = phase_error_of_levels(lut.phase_rad);
    notes.push_back(
        fmt::format("{}: a stroke of {:.4g} turns, below one: phases beyond it are off by up to {:.3g} rad, "
                    "all by {:.2g} rad rms",
                    path, stroke_rad / turn, max_rad, rms_rad));
  }
  return notes;
}

std::vector<std::string> correction_notes(const std::string& path, const std::vector<double>& wavelengths_m) {
  const auto stated = wavelengths_of_name(path);
  const auto other = other_light(stated, wavelengths_m);
  if (other.empty()) return {};
  return {fmt::format("{} is named as a correction at {}, but the light has {}: it is taken unchanged", path,
                      list_lengths(stated), list_lengths(other))};
}

double phase_stroke_rad(const std::vector<double>& phases_rad) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double low = none;
  double high = none;
  for (const double phase : phases_rad) {
    low = std::fmin(low, phase);
    high = std::fmax(high, phase);
  }
  return std::isnan(low) ? 0 : high - low;
}

}  // namespace holotone
