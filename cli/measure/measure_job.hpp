#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/options/option_table.hpp>
#include <cstdint>
#include <holotone/io/dots/dots.hpp>
#include <holotone/recipes/measure.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// A measurement job, validated as far as possible before files are read.
struct MeasureJob {
  std::string input;
  std::string against;  ///< empty: no image
  std::string output;   ///< empty: no report
  std::optional<std::array<double, 2>> page;
  double threshold = 0;
  int colour_class = -1;  ///< -1: all dots
  bool y_up = false;
  DotMeasureOptions options;
  InkSource ink;
  bool cmyk = false;            ///< compares with the ink of the class
  std::optional<double> black;  ///< none: from the dots' file, else 1
  ConsoleOptions console;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> measure_options(MeasureJob& job);

/// Checks the files and what they say together. Throws invalid_argument or io naming the option.
void complete(const MeasureJob& job);

/// Dots on a page of known size, and the origin of that size.
struct MeasuredDots {
  Dots dots;
  bool page_stated = true;  ///< by the file or by --page
  std::int64_t off_page = 0;
  int classes = 0;  ///< number of classes in the file; 0: it states none
  std::vector<std::string> remarks;
  std::vector<std::string> warnings;
};

/// Selects the class and determines the page: --page, the file's, the unit square if it holds all dots, the image's, or
/// a box around the dots. `image` is empty without --against.
MeasuredDots placed_dots(const MeasureJob& job, DotsFile file, View<const float, 2> image);

/// Image that the dots are compared with.
struct MeasuredAgainst {
  Array<float, 2> ink;  ///< {ny, nx}; empty without --against
  bool colour = false;  ///< the image has colours
};

/// Ink of the image; with --colour cmyk, ink of the class as the dots' metadata state. Throws io if there is none.
MeasuredAgainst read_against(const MeasureJob& job, const Metadata& metadata);

}  // namespace holotone::cli
