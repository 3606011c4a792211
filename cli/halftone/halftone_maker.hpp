#pragma once
#include <cli/halftone/halftone_job.hpp>
#include <holotone/core/array.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/io/dots/dots.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Inks of the input, each {ny, nx}, and page size.
struct HalftonePage {
  std::vector<Array<float, 2>> inks;
  std::vector<Ink> printed;  ///< printed ink of each
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  double pixel_m = 0;              ///< 0: unknown
  bool clip_does_nothing = false;  ///< --clip was given, but no picture can have values to clip
};

/// Reads the pictures and the mask. Throws io and invalid_argument naming the file.
HalftonePage read_page(const HalftoneJob& job);

/// Result of halftoning, with the names of written frames.
struct WrittenHalftone : Halftone {
  std::vector<std::string> frames;
  double make_s = 0;  ///< seconds, without reading and writing
};

/// Places the dots on the page. Writes frames. Throws naming the option.
WrittenHalftone make_halftone(const HalftoneJob& job, const HalftonePage& page);

/// Options for writing the output.
DotsWriteOptions write_options(const HalftoneJob& job, const HalftonePage& page, const Halftone& halftone);

}  // namespace holotone::cli
