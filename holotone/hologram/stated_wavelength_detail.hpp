#pragma once
// Wavelengths that the words of a table state. Not for users.
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

struct StatedWavelengths {
  std::vector<double> metres{};
  std::string rest{};  ///< the text without them, in which lambda is a unit of phases
};

/// Wavelengths from 100 nm to 20 um in a heading or comment, in small letters of ASCII: "wavelength: 0.633 um",
/// "wavelength_nm = 633", "lambda = 633nm", "measured at 632.8 nm"; several such as "450, 532 and 633 nm", but no
/// range. After "wavelength" or "lambda" a number without a unit is in nm, um or m, whichever is light.
StatedWavelengths take_wavelengths(const std::string& text);

}  // namespace holotone
