#pragma once
#include <cli/halftone/halftone_job.hpp>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/io/dots.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// The inks of the input, each {ny, nx}, and how large the page is.
struct HalftonePage {
  std::vector<Array<float, 2>> inks;
  std::vector<Ink> printed;  ///< what each is printed with
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double pixel_m = 0;              ///< 0: not stated
  bool clip_does_nothing = false;  ///< it was asked for, and no picture can have numbers to clip
};

/// Reads the pictures and the mask. Throws io and invalid_argument naming the file.
HalftonePage read_page(const HalftoneJob& job);

/// What became of a picture, and the frames that were written.
struct WrittenHalftone : Halftone {
  std::vector<std::string> frames;
  double make_s = 0;  ///< without reading and writing
};

/// Places the dots on the page. Writes frames. Throws naming the option.
WrittenHalftone make_halftone(const HalftoneJob& job, const HalftonePage& page);

/// How the output is to be written.
DotsWriteOptions write_options(const HalftoneJob& job, const HalftonePage& page, const Halftone& halftone);

}  // namespace holotone::cli
