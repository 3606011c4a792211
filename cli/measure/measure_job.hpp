#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/ink_source.hpp>
#include <cli/common/values.hpp>
#include <cstdint>
#include <holotone/io/dots.hpp>
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

/// What follows `holotone measure`, as typed.
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
  InkArguments ink;
  std::string colour;
  std::string black;
  ConsoleOptions console;
};

/// What is to be done, checked as far as it can be before a file is read.
struct MeasureJob {
  std::string input;
  std::string against;  ///< empty: no image
  std::string output;   ///< empty: no report
  std::optional<std::array<double, 2>> page;
  double threshold = 0;
  int colour_class = -1;  ///< -1: every dot
  bool y_up = false;
  double interior = 1;
  std::int64_t segments = 0;  ///< 0: by the number of dots
  SpectrumWindow window = SpectrumWindow::rectangle;
  double frequency = 2;       ///< largest, in multiples of the principal frequency
  std::vector<double> sigma;  ///< pixels of the image; empty: by the dots' spacing
  double margin = 0;
  double charge = 0;  ///< pixels of ink a dot; 0: the image's ink over the dots
  InkSource ink;
  bool cmyk = false;            ///< the image's ink is that of the class
  std::optional<double> black;  ///< none: as the dots' file says, else 1
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
MeasureJob measure_job(const MeasureArguments& arguments);

/// Dots on a page whose size is known, and how it came to be known.
struct MeasuredDots {
  Dots dots;
  bool page_stated = true;  ///< by the file or by --page
  std::int64_t off_page = 0;
  int classes = 0;  ///< different ones in the file; 0: it states none
  std::vector<std::string> remarks;
  std::vector<std::string> warnings;
};

/// Takes the class that was asked for and finds the page: that of the file, --page, the image's if the
/// dots lie on it, the unit square, or what holds the dots. `image` is empty without --against.
MeasuredDots placed_dots(const MeasureJob& job, DotsFile file, View<const float, 2> image);

/// What the dots are held against.
struct MeasuredAgainst {
  Array<float, 2> ink;  ///< {ny, nx}; empty without --against
  bool colour = false;  ///< the image has colours
};

/// The image's ink; that of a class as the dots' metadata say they were made. Throws io where there is none.
MeasuredAgainst read_against(const MeasureJob& job, const Metadata& metadata);

}  // namespace holotone::cli
