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

/// What became of a picture.
struct Halftone {
  Dots dots;
  double radius = 0;       ///< pixels, where all dots are alike
  double ink_share = 1;    ///< of the picture's ink that all dots hold
  bool bitmap = false;     ///< a pixel of the picture is a dot or none
  std::string start;       ///< how dots were placed first, where a method moves them
  DescentReport report;    ///< of methods that iterate
  ElectrostaticInfo plan;  ///< of forces
  std::int64_t missed_neighbours = 0;
  double energy = 0;      ///< of lloyd and ccvt
  double tour_start = 0;  ///< length of the first way, pixels
  double tour = 0;        ///< of the way taken, pixels
  std::vector<std::string> frames;
  double make_s = 0;  ///< without reading and writing
};

/// Places the dots on the page. Writes frames. Throws naming the option.
Halftone make_halftone(const HalftoneJob& job, const HalftonePage& page);

/// How the output is to be written.
DotsWriteOptions write_options(const HalftoneJob& job, const HalftonePage& page, const Halftone& halftone);

}  // namespace holotone::cli
