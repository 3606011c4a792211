// Parts of encoding that are not time-critical: names, modulation by a panel, measured responses, packing.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

namespace holotone {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

}  // namespace

std::string_view to_string(Encoding encoding) { return name_of(encoding); }

std::string list_encodings(const std::function<bool(const EncodingTraits&)>& suits) {
  std::vector<std::string_view> names;
  for (const auto& known : enum_names<Encoding>) {
    if (!suits || suits(encoding_traits(known.value))) names.push_back(known.name);
  }
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  return list;
}

Encoding parse_encoding(std::string_view name) {
  std::string spelt(name);
  std::ranges::replace(spelt, '_', '-');  // names of C++ and Python
  if (const auto found = find_value<Encoding>(spelt)) return *found;
  std::array<std::string_view, enum_names<Encoding>.size()> names;
  std::ranges::transform(enum_names<Encoding>, names.begin(), &EnumName<Encoding>::name);
  const std::string near = nearest_name(name, names.data(), names.size());
  throw_argument("parse_encoding", "encoding", list_encodings(),
                 near.empty() ? fmt::format("'{}'", name) : fmt::format("'{}' (did you mean '{}'?)", name, near));
}

namespace {

struct CodeTable {
  std::vector<Complex> value;  ///< transmission of each code
  std::vector<bool> known;     ///< empty: all
};

CodeTable transmissions(const EncodeOptions& options, const EncodeReport& report, bool zero_order) {
  const std::size_t codes = std::size_t{1} << options.bits;
  CodeTable table;
  if (needs_phase_modulator(options.encoding)) {
    const auto& measured = options.level_phase_rad;
    table.known.resize(codes, true);
    for (std::size_t code = 0; code < codes; ++code) {
      double phase = static_cast<double>(code) / static_cast<double>(codes) * options.phase_range_rad;
      if (!measured.empty()) {
        phase = code < measured.size() ? measured[code] : std::numeric_limits<double>::quiet_NaN();
      }
      table.known[code] = !std::isnan(phase);
      table.value.emplace_back(static_cast<float>(std::cos(phase)), static_cast<float>(std::sin(phase)));
    }
    return table;
  }
  const double low = report.amplitude_min;
  const double high = report.amplitude_max;
  if (!(std::isfinite(low) && std::isfinite(high) && low < high)) {
    throw_argument("modulation_of", "report", "a finite amplitude range with min < max",
                   fmt::format("{:g} .. {:g}", low, high));
  }
  for (std::size_t code = 0; code < codes; ++code) {
    const double share = static_cast<double>(code) / static_cast<double>(codes - 1);
    table.value.emplace_back(static_cast<float>(share * (high - low) + (zero_order ? 0 : low)), 0.0f);
  }
  return table;
}

}  // namespace

Array<Complex, 2> modulation_of(View<const std::uint16_t, 2> codes, const EncodeOptions& options, const FieldGrid& grid,
                                const EncodeReport& report, bool zero_order) {
  require_view("modulation_of", "codes", codes, grid.shape(), Device{});
  require_bounds("modulation_of", "bits", options.bits, bounds_of<&EncodeOptions::bits>);
  require_positive("modulation_of", "grid.pitch_m", grid.pitch_m);
  require_positive("modulation_of", "grid.wavelength_m", grid.wavelength_m);
  const CodeTable table = transmissions(options, report, zero_order);
  Array<Complex, 2> field(grid.shape());
  parallel_for(0, grid.ny, [&](std::int64_t y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      const std::size_t code = codes(y, x);
      if (code >= table.value.size() || (!table.known.empty() && !table.known[code])) {
        throw_argument("modulation_of", "codes", fmt::format("codes of the level table ({} bits)", options.bits),
                       fmt::format("{} at row {}, column {}", code, y, x));
      }
      field(y, x) = table.value[code];
    }
  });
  if (encoding_traits(options.encoding).lit_by_beam) {
    add_beam({options.reference_angle_x_rad, options.reference_angle_y_rad}, grid, 0, field.view());
  }
  return field;
}

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

/// True for a heading that states another unit than radians.
bool states_other_unit(std::string_view heading) {
  static constexpr std::string_view units[] = {"deg", "\xC2\xB0", "mrad", "[pi", "(pi", "wave", "turn"};
  return std::ranges::any_of(units, [&](auto unit) { return heading.find(unit) != std::string_view::npos; });
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

}  // namespace

std::vector<double> read_phase_lut(std::string_view text) {
  std::vector<double> phases;
  std::size_t fields = 0;  // of the first line with numbers; all others must have as many
  std::size_t measured = 0;
  bool heading = false;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = text.find('\n');
    const std::string_view whole = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const std::string_view content = trimmed(whole.substr(0, whole.find('#')));
    if (content.empty()) continue;
    const auto values = parse_numbers(content);
    const bool numeric = content.find_first_of("+-.0123456789") == 0;
    if (values.empty() && !numeric && fields == 0 && !heading) {
      if (states_other_unit(content)) throw_lut(line, "phases in radians", content);
      heading = true;
      continue;
    }
    if (has_decimal_comma(content)) throw_lut(line, "numbers with a decimal point", content);
    if (values.empty() || values.size() > 2 || (fields != 0 && values.size() != fields)) {
      throw_lut(line,
                fields == 1   ? "one phase in radians"
                : fields == 2 ? "code,phase"
                              : "phase, or code,phase",
                content);
    }
    fields = values.size();
    if (!std::isfinite(values.back())) throw_lut(line, "a finite phase in radians", content);
    std::size_t code = phases.size();
    if (fields == 2) {
      const double least = static_cast<double>(phases.size());
      if (!(values[0] >= least && values[0] <= 65535 && values[0] == std::floor(values[0]))) {
        throw_lut(line, fmt::format("a rising whole code, {} to 65535", phases.size()), content);
      }
      code = static_cast<std::size_t>(values[0]);
    }
    if (code > 65535) throw_lut(line, "at most 65536 codes", content);
    append_measured(phases, code, values.back(), line, content);
    ++measured;
  }
  if (measured < 2)
    throw_argument("read_phase_lut", "text", "at least two codes with their phases", fmt::format("{}", measured));
  return phases;
}

double steering_angle_rad(double period_m, double wavelength_m) {
  require_positive("steering_angle_rad", "wavelength_m", wavelength_m);
  if (!(std::isfinite(period_m) && std::abs(period_m) >= wavelength_m)) {
    throw_argument("steering_angle_rad", "period_m",
                   fmt::format("at least the wavelength {:g} either way", wavelength_m), fmt::format("{:g}", period_m));
  }
  return std::asin(wavelength_m / period_m);
}

std::vector<float> random_phases(std::int64_t count, std::uint64_t seed) {
  if (count < 0) throw_argument("random_phases", "count", ">= 0", std::to_string(count));
  std::vector<float> phases(static_cast<std::size_t>(count));
  constexpr auto turn = static_cast<float>(two_pi);
  for (std::size_t i = 0; i < phases.size(); ++i) phases[i] = turn * random_uniform(seed, i);
  return phases;
}

Array<std::uint8_t, 3> pack_16bit(View<const std::uint16_t, 2> codes) {
  require_device("pack_16bit", "codes", Device{}, codes.device());
  Array<std::uint8_t, 3> packed({codes.shape()[0], codes.shape()[1], 3});
  std::uint8_t* target = packed.data();
  for (std::uint16_t code : codes.host()) {
    *target++ = static_cast<std::uint8_t>(code >> 8);
    *target++ = static_cast<std::uint8_t>(code & 0xff);
    *target++ = 0;
  }
  return packed;
}

Array<std::uint16_t, 2> unpack_16bit(View<const std::uint8_t, 3> packed) {
  require_device("unpack_16bit", "packed", Device{}, packed.device());
  if (packed.shape()[2] != 3) {
    throw_argument("unpack_16bit", "packed", "shape {ny, nx, 3}", to_string<3>(packed.shape()));
  }
  Array<std::uint16_t, 2> codes({packed.shape()[0], packed.shape()[1]});
  const auto bytes = packed.host();
  const auto target = codes.host();
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = static_cast<std::uint16_t>(bytes[3 * i] * 256 + bytes[3 * i + 1]);
  }
  return codes;
}

}  // namespace holotone
