#include <cli/common/command.hpp>
#include <cli/common/console.hpp>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/optics/panel.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace holotone::cli {
namespace {

int run_panels(const ConsoleOptions& console) {
  auto list = nlohmann::json::array();
  for (const Panel& panel : panels()) {
    const std::string_view modulation = name_of(panel.modulation);
    report(console, fmt::format("{:<24} {:<28} {:>4} x {:<4}  {:<8} {}, {} bits{}", panel.name, panel.title, panel.nx,
                                panel.ny, format_length(panel.pitch_m), modulation, panel.bits,
                                panel.level_phase_rad.empty() ? "" : ", unequal steps"));
    list.push_back({{"name", panel.name},
                    {"title", panel.title},
                    {"resolution", {panel.nx, panel.ny}},
                    {"pitch_m", panel.pitch_m},
                    {"modulation", modulation},
                    {"bits", panel.bits},
                    {"level_phase_rad", panel.level_phase_rad}});
  }
  report_json(console, {{"panels", list}});
  return exit_ok;
}

}  // namespace

Command panels_command() {
  const auto console = std::make_shared<ConsoleOptions>();
  return {.name = "panels",
          .purpose = "List the presets of --panel: light modulators with resolution, pitch and bits",
          .examples = {"holotone panels", "holotone hologram teapot.ply -o teapot.png --panel ti-plm-047"},
          .groups = {console_options(*console)},
          .run = [console] { return run_panels(*console); }};
}

}  // namespace holotone::cli
