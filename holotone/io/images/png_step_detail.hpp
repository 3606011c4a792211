#pragma once
// Calls of libpng, which reports errors by longjmp. Not for users.
#include <csetjmp>
#include <png.h>

namespace holotone::io {

/// Runs a step whose errors return here, and returns false after one. Neither the step nor what it calls may own
/// objects with a destructor.
template <class Step>
bool survives(png_structp png, const Step& step) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  step();
  return true;
}

}  // namespace holotone::io
