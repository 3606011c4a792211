#include <algorithm>
#include <cli/common/code_levels.hpp>
#include <fmt/format.h>

namespace holotone::cli {

ErrorDiffusionOptions code_levels(const Panel& panel, std::optional<Modulation> modulation, std::optional<int> bits) {
  ErrorDiffusionOptions options;
  options.modulation = modulation.value_or(panel.modulation);
  const auto name = [](Modulation one) { return one == Modulation::phase ? "phase" : "amplitude"; };
  const bool preset = !panel.name.empty() && panel.name != "custom";
  if (preset && options.modulation != panel.modulation) {
    reject("--encode", fmt::format("{} for {}", name(panel.modulation), panel.name), name(options.modulation));
  }
  options.bits = bits.value_or(std::min(panel.bits, 8));
  if (options.bits == panel.bits) options.levels = panel.level_phase_rad;
  return options;
}

ErrorDiffusionOptions code_levels(const Panel& panel, const std::string& encoding, const std::string& bits) {
  static constexpr Choice<Modulation> names[] = {{"phase", Modulation::phase}, {"amplitude", Modulation::amplitude}};
  std::optional<Modulation> modulation;
  if (!encoding.empty()) modulation = choose("--encode", encoding, names);
  std::optional<int> stated;
  if (!bits.empty()) stated = static_cast<int>(whole_number("--bits", bits, quantized_bits_range));
  return code_levels(panel, modulation, stated);
}

}  // namespace holotone::cli
