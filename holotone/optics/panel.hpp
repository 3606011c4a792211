#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/enum_names.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

enum class Modulation { phase, amplitude };
template <>
inline constexpr auto enum_names<Modulation> =
    std::array{EnumName{Modulation::phase, "phase"}, EnumName{Modulation::amplitude, "amplitude"}};

/// A light modulator (or any plane of pixels) that shows a hologram.
struct Panel {
  std::string name;        ///< value of --panel: "holoeye-pluto-2"
  std::string title;       ///< "Holoeye PLUTO-2.1"
  std::int64_t nx = 1920;  ///< columns
  std::int64_t ny = 1080;  ///< rows
  double pitch_m = 8e-6;   ///< pixel pitch, square
  Modulation modulation = Modulation::phase;
  int bits = 8;  ///< bits per pixel of its input
  /// Phase of each of 2^bits levels in radians, ascending, for unequal steps (TI PLM); empty: equal steps.
  std::vector<double> level_phase_rad;
};

/// Returns every preset, the default (PLUTO-2.1) first. panel.cpp cites the source of each number.
const std::vector<Panel>& panels();

/// Returns the preset of this name. Throws invalid_argument with the nearest preset's name.
const Panel& find_panel(std::string_view name);

}  // namespace holotone
