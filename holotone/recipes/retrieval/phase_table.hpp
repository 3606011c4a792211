#pragma once
// Tables of a panel's phases in text files. Not for users.
#include <holotone/hologram/phase_lut.hpp>
#include <string>
#include <vector>

namespace holotone {

/// Phase of each code from a text file (read_phase_lut). Errors begin with the file's name.
std::vector<double> read_phase_table(const std::string& path, PhaseUnit unit = PhaseUnit::automatic);

/// What a table leaves open, a line each that begins with the file's name: a unit that is not stated, wavelengths that
/// it or its name (slm_633nm.csv) states and that differ from those of the light, and the error of phases beyond a
/// stroke below one turn. Empty without a path.
std::vector<std::string> phase_table_notes(const std::string& path, PhaseUnit unit,
                                           const std::vector<double>& wavelengths_m = {});

/// A line if the name of a map of corrections states wavelengths (CAL_633nm.bmp) that differ from one of the light's.
std::vector<std::string> correction_notes(const std::string& path, const std::vector<double>& wavelengths_m);

/// Difference of the largest and the smallest phase. Codes without one, NaN, do not count.
double phase_stroke_rad(const std::vector<double>& phases_rad);

}  // namespace holotone
