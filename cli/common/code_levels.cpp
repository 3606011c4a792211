#include <algorithm>
#include <cli/common/code_levels.hpp>
#include <fmt/format.h>

namespace holotone::cli {

ErrorDiffusionOptions code_levels(const Panel& panel, const std::string& encoding, const std::string& bits) {
  ErrorDiffusionOptions options;
  options.modulation = panel.modulation;
  if (!encoding.empty()) {
    static constexpr Choice<Modulation> names[] = {{"phase", Modulation::phase}, {"amplitude", Modulation::amplitude}};
    options.modulation = choose("--encode", encoding, names);
  }
  const bool preset = !panel.name.empty() && panel.name != "custom";
  if (preset && options.modulation != panel.modulation) {
    reject("--encode",
           fmt::format("{} for {}", panel.modulation == Modulation::phase ? "phase" : "amplitude", panel.name),
           encoding);
  }
  options.bits = std::min(panel.bits, 8);
  if (!bits.empty()) options.bits = static_cast<int>(whole_number("--bits", bits, quantized_bits_range));
  if (options.bits == panel.bits) options.levels = panel.level_phase_rad;
  return options;
}

}  // namespace holotone::cli
