// Parts of encoding that are not time-critical: names, modulation by a panel, packing.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <limits>
#include <numbers>
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
