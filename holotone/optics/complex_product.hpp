#pragma once
#include <holotone/optics/field.hpp>

namespace holotone {

/// a b, written out: the product of std::complex tests for infinities and does not vectorise.
inline Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace holotone
