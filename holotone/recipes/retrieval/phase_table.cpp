#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/phase_table.hpp>
#include <limits>

namespace holotone {

std::vector<double> read_phase_table(const std::string& path) {
  try {
    auto table = read_phase_lut(io::read_text(path));
    for (std::size_t code = 0; code < table.size(); ++code) {
      if (std::abs(table[code]) <= max_phase_rad || std::isnan(table[code])) continue;
      throw_io(path, fmt::format("phases of at most {:g} rad", max_phase_rad),
               fmt::format("{:g} for code {}", table[code], code));
    }
    return table;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw FileError(path, error);
  }
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
