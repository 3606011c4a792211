#pragma once
#include <cmath>

namespace holotone {

/// Linear light of an sRGB code value in 0..1 (IEC 61966-2-1, 1999): c / 12.92 up to 0.04045, else
/// ((c + 0.055) / 1.055)^2.4.
inline double srgb_to_linear(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}

/// Inverse of srgb_to_linear.
inline double linear_to_srgb(double linear) {
  return linear <= 0.0031308 ? linear * 12.92 : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
}

}  // namespace holotone
