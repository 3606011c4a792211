#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/common/values.hpp>
#include <cstdint>
#include <holotone/io/dots/dots.hpp>
#include <holotone/metrics/spectrum.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr Range class_range = count_range(0, 255);
inline constexpr Range interior_range = number_range(0.01, 1);
inline constexpr Range frequency_range = number_range(0.5, 8);
inline constexpr Range segments_range = count_range(1, 65536);
inline constexpr Range sigma_range = number_range(0.3, 1000);
inline constexpr Range margin_range = number_range(0, 65536);

/// Arguments of `holotone measure`, as typed.
struct MeasureArguments {
  std::string input;
  std::string against;
  std::string output;
  std::string page;
  std::string threshold;
  std::string colour_class;
  bool y_up = false;
  std::string interior = "1";
  std::string segments = "auto";
  std::string window = "rectangle";
  std::string frequency = "2";
  std::string sigma = "auto";
  std::string margin = "0";
  std::string charge;
  InkSource ink;
  std::string colour;
  std::string black;
  ConsoleOptions console;
};

/// A measurement job, validated as far as possible before files are read.
struct MeasureJob {
  std::string input;
  std::string against;  ///< empty: no image
  std::string output;   ///< empty: no report
  std::optional<std::array<double, 2>> page;
  double threshold = 0;
  int colour_class = -1;  ///< -1: all dots
  bool y_up = false;
  double interior = 1;
  std::int64_t segments = 0;  ///< 0: from the number of dots
  SpectrumWindow window = SpectrumWindow::rectangle;
  double frequency = 2;       ///< largest, in multiples of the principal frequency
  std::vector<double> sigma;  ///< pixels of the image; empty: from the dots' spacing
  double margin = 0;
  double charge = 0;  ///< pixels of ink per dot; 0: the image's ink over the dots
  InkSource ink;
  bool cmyk = false;            ///< compares with the ink of the class
  std::optional<double> black;  ///< none: from the dots' file, else 1
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
MeasureJob measure_job(const MeasureArguments& arguments);

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
