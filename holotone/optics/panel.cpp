#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/panel.hpp>
#include <numbers>

namespace holotone {
namespace {

/// Phase of the 16 states of TI's phase light modulators. Mirror displacement as a fraction of the full displacement:
/// Texas Instruments' Python package ti-plm 1.1.0 (Martin, 2025), one table for the 0.47" and the 0.67" device. The
/// full displacement is 15/16 of a turn at the wavelength of the device's voltage setting, as that package scales it.
/// A level is the state's rank by displacement, not the electrodes' memory code.
std::vector<double> ti_plm_levels() {
  std::vector<double> levels = {0.0,    0.0126, 0.0259, 0.0495, 0.0710, 0.0878, 0.1382, 0.2153,
                                0.3274, 0.3610, 0.4204, 0.5046, 0.5916, 0.6730, 0.8254, 1.0};
  for (double& level : levels) level *= 15.0 / 16 * 2 * std::numbers::pi;
  return levels;
}

std::vector<Panel> make_panels() {
  constexpr auto phase = Modulation::phase;
  constexpr auto amplitude = Modulation::amplitude;
  return {
      // HOLOEYE, PLUTO-2.1 LCOS phase-only SLM, product data: 1920 x 1080, 8.0 um, 8 bit
      {"holoeye-pluto-2", "Holoeye PLUTO-2.1", 1920, 1080, 8.0e-6, phase, 8, {}},
      // HOLOEYE, GAEA-2 phase-only SLM, product data: 4160 x 2464, 3.74 um, 8 bit
      {"holoeye-gaea-2", "Holoeye GAEA-2", 4160, 2464, 3.74e-6, phase, 8, {}},
      // HOLOEYE, LETO-3 phase-only SLM, product data: 1920 x 1080, 6.4 um, 8 bit
      {"holoeye-leto-3", "Holoeye LETO-3", 1920, 1080, 6.4e-6, phase, 8, {}},
      // HOLOEYE, LUNA phase-only SLM, product data: 1920 x 1080, 4.5 um, 8 bit
      {"holoeye-luna", "Holoeye LUNA", 1920, 1080, 4.5e-6, phase, 8, {}},
      // HOLOEYE, ERIS phase-only SLM, product data: 1920 x 1200, 8.0 um, 8 bit
      {"holoeye-eris", "Holoeye ERIS", 1920, 1200, 8.0e-6, phase, 8, {}},
      // Meadowlark Optics, 1920 x 1152 XY phase series, data sheet: 9.2 um, 8 bit over HDMI (12 bit over PCIe)
      {"meadowlark-1920", "Meadowlark 1920x1152", 1920, 1152, 9.2e-6, phase, 8, {}},
      // Meadowlark Optics, 1024 x 1024 XY phase series, data sheet: 17 um, 8 bit
      {"meadowlark-1024", "Meadowlark 1024x1024", 1024, 1024, 17.0e-6, phase, 8, {}},
      // Hamamatsu, LCOS-SLM X15213 series, data sheet: 1272 x 1024, 12.5 um, 8 bit
      {"hamamatsu-x15213", "Hamamatsu X15213", 1272, 1024, 12.5e-6, phase, 8, {}},
      // Santec, SLM-200, data sheet: 1920 x 1200 (WUXGA), 8.0 um, 10 bit
      {"santec-slm-200", "Santec SLM-200", 1920, 1200, 8.0e-6, phase, 10, {}},
      // Thorlabs, EXULUS-4K1, data sheet: 3840 x 2160, 3.74 um, 8 bit
      {"thorlabs-exulus-4k1", "Thorlabs EXULUS-4K1", 3840, 2160, 3.74e-6, phase, 8, {}},
      // Texas Instruments, DLP6750 (0.67" PLM): 1358 x 800 mirrors, Rocha et al., "Fast and light-efficient wavefront
      // shaping with a MEMS phase-only light modulator", Opt. Express 32(24), 43300 (2024); pitch and levels: ti-plm
      {"ti-dlp6750", "TI DLP6750 PLM", 1358, 800, 10.8e-6, phase, 4, ti_plm_levels()},
      // Texas Instruments, 0.47" PLM, ti-plm 1.1.0: 960 x 540, 10.8 um, 16 states
      {"ti-plm-047", "TI 0.47\" PLM", 960, 540, 10.8e-6, phase, 4, ti_plm_levels()},
      // Texas Instruments, DLP6500 0.65" 1080p DMD, data sheet DLPS040: 1920 x 1080, 7.56 um, on or off
      {"ti-dlp6500", "TI DLP6500 DMD", 1920, 1080, 7.56e-6, amplitude, 1, {}},
      // Texas Instruments, DLP7000 0.7" XGA DMD, data sheet DLPS026: 1024 x 768, 13.68 um, on or off
      {"ti-dlp7000", "TI DLP7000 DMD", 1024, 768, 13.68e-6, amplitude, 1, {}},
  };
}

}  // namespace

const std::vector<Panel>& panels() {
  static const std::vector<Panel> all = make_panels();
  return all;
}

const Panel& find_panel(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& panel : panels()) {
    if (panel.name == name) return panel;
    names.push_back(panel.name);
  }
  const auto near = nearest_name(name, names.data(), names.size());
  if (near.empty())
    throw_argument("", "panel", fmt::format("one of {}", fmt::join(names, ", ")), fmt::format("'{}'", name));
  throw_argument("", "panel", "a known panel", fmt::format("'{}': did you mean {}?", name, near));
}

}  // namespace holotone
