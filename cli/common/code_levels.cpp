#include <algorithm>
#include <cli/common/code_levels.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/option_value.hpp>
#include <fmt/format.h>

namespace holotone::cli {

ErrorDiffusionOptions code_levels(const Panel& panel, std::optional<Modulation> modulation, std::optional<int> bits) {
  constexpr std::string_view function = "code_levels";
  constexpr Bounds bits_bounds = bounds_of<&ErrorDiffusionOptions::bits>;
  ErrorDiffusionOptions options;
  options.modulation = modulation.value_or(panel.modulation);
  const bool preset = !panel.name.empty() && panel.name != "custom";
  if (preset && options.modulation != panel.modulation) {
    throw_argument(function, "modulation", fmt::format("{} for {}", name_of(panel.modulation), panel.name),
                   fmt::format("'{}'", name_of(options.modulation)));
  }
  options.bits = bits.value_or(std::min(panel.bits, static_cast<int>(bits_bounds.high)));
  if (options.bits > bits_bounds.high) {
    throw_argument(function, "bits", to_text(bits_bounds, ValueUnit::count), fmt::format("'{}'", options.bits));
  }
  if (options.bits == panel.bits) options.levels = panel.level_phase_rad;
  return options;
}

void remark_few_bits(const ConsoleOptions& console, int bits, const ImageWriteOptions& writing,
                     const std::string& output) {
  if (bits > 3 || writing.scaled_bits > 0 || names_monitor(output)) return;
  remark(console,
         "codes of few bits look black in a viewer of pictures; a panel takes them as they are; --scale-codes writes "
         "them up to white");
}

}  // namespace holotone::cli
