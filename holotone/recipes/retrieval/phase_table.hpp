#pragma once
// Tables of a panel's phases in text files. Not for users.
#include <string>
#include <vector>

namespace holotone {

/// Phase of each code from a text file (read_phase_lut). Errors begin with the file's name.
std::vector<double> read_phase_table(const std::string& path);

/// Difference of the largest and the smallest phase. Codes without one, NaN, do not count.
double phase_stroke_rad(const std::vector<double>& phases_rad);

}  // namespace holotone
