#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/phase_lut.hpp>
#include <holotone/hologram/phase_unit_detail.hpp>
#include <holotone/hologram/stated_wavelength_detail.hpp>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

namespace holotone {
namespace {

/// Replaces control characters by \xNN: a NUL would end the message.
std::string readable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    result += code < 0x20 || code == 0x7f ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return result;
}

[[noreturn]] void throw_lut(std::size_t line, std::string_view expected, std::string_view got) {
  throw_argument("read_phase_lut", fmt::format("line {}", line), expected,
                 fmt::format("'{}'", readable(got.substr(0, 60))));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\v\f";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the numbers of one line; empty if a field is not a number.
std::vector<double> parse_numbers(std::string_view line) {
  std::vector<double> values;
  while (!line.empty()) {
    auto end = line.find_first_of(",; \t");
    const auto value = number(trimmed(line.substr(0, end)));
    if (!value) return {};
    values.push_back(*value);
    if (end == std::string_view::npos) break;
    end = line.find_first_not_of(" \t", end);
    if (end != std::string_view::npos && (line[end] == ',' || line[end] == ';')) ++end;
    line = end == std::string_view::npos || end >= line.size() ? std::string_view{} : trimmed(line.substr(end));
  }
  return values;
}

/// True for a comma that stands for a decimal point: beside another separator, or before a number such as 024.
bool has_decimal_comma(std::string_view line) {
  const auto is_digit = [&](std::size_t at) { return at < line.size() && line[at] >= '0' && line[at] <= '9'; };
  for (auto at = line.find(','); at != std::string_view::npos; at = line.find(',', at + 1)) {
    if (at == 0 || !is_digit(at - 1) || !is_digit(at + 1)) continue;
    if (line.find_first_of("; \t") != std::string_view::npos || (line[at + 1] == '0' && is_digit(at + 2))) return true;
  }
  return false;
}

/// Adds one measured code to the table, and interpolates the codes omitted since the last.
void append_measured(std::vector<double>& phases, std::size_t code, double phase, std::size_t line,
                     std::string_view text) {
  const std::size_t previous = phases.size() - 1;
  if (!phases.empty() && code > phases.size() && !std::isnan(phases.back())) {
    const double from = phases.back();
    if (std::abs(phase - from) > std::numbers::pi + 1e-9) {
      throw_lut(line,
                fmt::format("a phase within pi of code {}'s, {:g}, where codes between are left out (unwrap the curve)",
                            previous, from),
                text);
    }
    for (std::size_t i = previous + 1; i < code; ++i) {
      phases.push_back(from +
                       (phase - from) * static_cast<double>(i - previous) / static_cast<double>(code - previous));
    }
  }
  phases.resize(code, std::numeric_limits<double>::quiet_NaN());
  phases.push_back(phase);
}

/// A line of the table.
struct Measured {
  std::size_t line;
  std::size_t code;
  double phase;
  std::string_view text;
};

/// Lines of a table, and what it states.
struct TableText {
  std::vector<Measured> lines;
  PhaseUnit unit = PhaseUnit::automatic;
  std::vector<double> wavelengths_m;

  /// Takes the wavelengths of a heading or comment; returns the rest of it.
  std::string take_light(std::string_view text) {
    auto stated = take_wavelengths(in_plain_letters(text));
    for (const double metres : stated.metres) {
      if (std::ranges::find(wavelengths_m, metres) == wavelengths_m.end()) wavelengths_m.push_back(metres);
    }
    return std::move(stated.rest);
  }
  void state(const StatedUnit& stated, std::size_t line, std::string_view text) {
    if (!stated.other.empty() || (stated.unit && unit != PhaseUnit::automatic && *stated.unit != unit)) {
      throw_lut(line, "phases in one unit: rad, deg, waves or pi", text);
    }
    if (stated.unit) unit = *stated.unit;
  }
};

void refuse_other_quantity(std::string_view heading, bool is_comment, std::size_t line) {
  const std::string other = other_quantity(heading, is_comment);
  if (!other.empty()) throw_lut(line, fmt::format("phases: {} is no phase", other), heading);
}

TableText read_lines(std::string_view text) {
  TableText table;
  std::size_t fields = 0;  // of the first line with numbers; all others must have as many
  std::size_t next = 0;    // code
  bool heading = false;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    const std::string_view whole = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (whole.starts_with('#')) {
      refuse_other_quantity(whole.substr(1), true, line);
      table.state(unit_in_comment(table.take_light(whole.substr(1))), line, whole);
    }
    const std::string_view content = trimmed(whole.substr(0, whole.find('#')));
    if (content.empty()) continue;
    const auto values = parse_numbers(content);
    const bool numeric = content.find_first_of("+-.0123456789") == 0;
    if (values.empty() && !numeric && fields == 0 && !heading) {
      refuse_other_quantity(content, false, line);
      table.state(unit_in_heading(table.take_light(content)), line, content);
      heading = true;
      continue;
    }
    if (has_decimal_comma(content)) throw_lut(line, "numbers with a decimal point", content);
    if (values.empty() || values.size() > 2 || (fields != 0 && values.size() != fields)) {
      throw_lut(line, fields == 1 ? "one phase" : fields == 2 ? "code,phase" : "phase, or code,phase", content);
    }
    fields = values.size();
    if (!std::isfinite(values.back())) throw_lut(line, "a finite phase", content);
    std::size_t code = next;
    if (fields == 2) {
      if (!(values[0] >= static_cast<double>(next) && values[0] <= 65535 && values[0] == std::floor(values[0]))) {
        throw_lut(line, fmt::format("a rising whole code, {} to 65535", next), content);
      }
      code = static_cast<std::size_t>(values[0]);
    }
    if (code > 65535) throw_lut(line, "at most 65536 codes", content);
    table.lines.push_back({line, code, values.back(), content});
    next = code + 1;
  }
  if (table.lines.size() < 2) {
    throw_argument("read_phase_lut", "text", "at least two codes with their phases",
                   fmt::format("{}", table.lines.size()));
  }
  return table;
}

double stroke_of(const std::vector<Measured>& lines) {
  const auto [low, high] = std::ranges::minmax(lines, {}, &Measured::phase);
  return high.phase - low.phase;
}

/// The unit in which a panel's stroke is likeliest. Measured panels reach about one turn; half a turn or less is taken
/// as radians, which most tables have, unless waves or multiples of pi make it a turn.
PhaseUnit likely_unit(const std::vector<Measured>& lines) {
  const auto codes = static_cast<double>(lines.back().code - lines.front().code + 1);
  const double stroke = stroke_of(lines) * codes / (codes - 1);  // with the step from the last code back to the first
  if (stroke > 2 * std::numbers::pi * max_stroke_turns) return PhaseUnit::deg;
  if (std::abs(stroke - 1) <= 0.25) return PhaseUnit::waves;
  if (std::abs(stroke - 2) <= 0.5) return PhaseUnit::pi;
  return PhaseUnit::rad;
}

}  // namespace

double radians_in(PhaseUnit unit) {
  switch (unit) {
    case PhaseUnit::deg: return std::numbers::pi / 180;
    case PhaseUnit::waves: return 2 * std::numbers::pi;
    case PhaseUnit::pi: return std::numbers::pi;
    default: return 1;
  }
}

PhaseLut parse_phase_lut(std::string_view text, PhaseUnit unit) {
  TableText table = read_lines(text);
  if (unit != PhaseUnit::automatic && table.unit != PhaseUnit::automatic && table.unit != unit) {
    throw_argument("read_phase_lut", "unit", fmt::format("{}, as the table states", name_of(table.unit)),
                   std::string(name_of(unit)));
  }
  PhaseLut lut;
  lut.wavelengths_m = std::move(table.wavelengths_m);
  lut.unit = unit != PhaseUnit::automatic ? unit : table.unit;
  lut.stated = lut.unit != PhaseUnit::automatic;
  if (!lut.stated) lut.unit = likely_unit(table.lines);
  const double scale = radians_in(lut.unit);
  const double turns = stroke_of(table.lines) * scale / (2 * std::numbers::pi);
  if (!(turns <= max_stroke_turns)) {
    throw_argument("read_phase_lut", "text", fmt::format("a stroke of at most {:g} turns", max_stroke_turns),
                   fmt::format("{:.4g} turns, from phases in {}", turns, name_of(lut.unit)));
  }
  for (const auto& [line, code, phase, content] : table.lines) {
    append_measured(lut.phase_rad, code, scale * phase, line, content);
  }
  return lut;
}

std::vector<double> read_phase_lut(std::string_view text, PhaseUnit unit) {
  return parse_phase_lut(text, unit).phase_rad;
}

PhaseError phase_error_of_levels(const std::vector<double>& phase_rad) {
  constexpr double turn = 2 * std::numbers::pi;
  std::vector<double> places;
  for (const double phase : phase_rad) {
    if (std::isfinite(phase)) places.push_back(phase - turn * std::floor(phase / turn));
  }
  if (places.empty()) throw_argument("phase_error_of_levels", "phase_rad", "at least one finite phase", "none");
  std::ranges::sort(places);
  PhaseError error;
  double cubes = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double gap = i + 1 < places.size() ? places[i + 1] - places[i] : places.front() + turn - places.back();
    error.max_rad = std::max(error.max_rad, gap / 2);
    cubes += gap * gap * gap;
  }
  error.rms_rad = std::sqrt(cubes / (12 * turn));
  return error;
}

}  // namespace holotone
