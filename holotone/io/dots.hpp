#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/dots.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/image.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// Side of a pixel where neither the dots nor the caller state one: 96 pixels an inch, as CSS and SVG count.
inline constexpr double default_pixel_m = 0.0254 / 96;

/// Radius, in pixels, of dots that state none: the disc has the area of one pixel, 1 / sqrt(pi).
inline constexpr double default_dot_radius = 0.56418958354775629;

/// What a colour class is printed with.
struct Ink {
  std::string name;                    ///< "black"; the label of its layer in SVG
  std::array<std::uint8_t, 3> srgb{};  ///< colour on white paper
};

/// Inks for classes 0 .. count - 1: black; black and red; cyan, magenta, yellow; the same and black; above four, these and
/// "ink 5" and so on in turned hues.
std::vector<Ink> default_inks(std::size_t count);

struct DotsReadOptions {
  /// Of a picture: a pixel whose code value (0 black to 1 white) is below this is a dot. 0: the picture must have two levels,
  /// of which the darker is a dot.
  double threshold = 0;
};

/// What a file of dots holds.
struct DotsFile {
  Dots dots;
  Metadata metadata;               ///< how the dots came to be, where the file says so
  std::vector<std::string> notes;  ///< what was passed over and may be dots, a line each
};

/// Reads dots by the name's extension.
///   .csv .tsv .txt .dat .xy  one dot a line: x, y[, radius[, class]], separated by commas, semicolons, tabs or blanks. A line
///                  of names (x y r class, any order; a comment may be it) goes before; unknown columns are passed over.
///                  A first line of one whole number is the count of the lines that follow. Comments begin with # or //; ours
///                  state the page.
///   .npy           real numbers {n, 2}, {n, 3} (x y radius) or {n, 4} (x y radius class)
///   .svg           circles, and ellipses as circles of the same area, under the transforms of their groups, at most 256 deep;
///                  layers of Inkscape that hold circles become classes in their order; other shapes are passed over,
///                  <use> with a note; entities that hold circles are refused
///   .png .tif .tiff .bmp .jpg .jpeg  a picture of two levels: each dark pixel is a dot at its centre (alpha on white)
/// Lengths stay as the file states them and are taken for pixels, y down. A page size that the file does not state is 0 x 0;
/// dots off the page are kept. Memory O(file size); every count is checked against the file. Throws io in one line, naming the file, the
/// line or row, what was expected and what came: a coordinate that is not finite, a negative radius, a class outside 0 to
/// 255, a picture of more than two levels (with the threshold that would do), no dot at all.
DotsFile read_dots_file(const std::string& path, const DotsReadOptions& options = {});

/// Its dots alone.
Dots read_dots(const std::string& path, const DotsReadOptions& options = {});

struct DotsWriteOptions {
  double pixel_m = 0;       ///< side of a pixel in metres; 0: the dots' own, or default_pixel_m
  double radius = 0;        ///< pixels, of dots that state none; 0: default_dot_radius
  double dpi = 0;           ///< PNG: pixels an inch of the raster; 0: one for each pixel of the page
  bool one_bit = false;     ///< PNG: black where a pixel's centre is within a dot, instead of covered areas
  int compression = 6;      ///< PNG: zlib level, 0 to 9
  std::vector<Ink> inks{};  ///< at least one for each class, or none: default_inks
  Metadata metadata{};      ///< how the dots came to be; CSV, TXT, SVG and PNG carry it
};

/// Writes dots by the name's extension, under a temporary name that is renamed when complete.
///   .csv .txt      a comment that states the page, then x,y[,r[,class]] a line (.txt: blanks between); float32 that read back
///                  the same
///   .npy           float32 {n, 2 to 4}: x y[ r[ class]]; holds no page
///   .svg           one <circle> a dot in pixels of the viewBox, the page's size in millimetres, a layer for each ink
///   .pdf           one page of PDF 1.4 in the page's size: a dot is a stroke of no length with a round cap, which is a disc;
///                  inks multiply
///   .png           the page rasterised with square pixels, with its pixels a metre (pHYs): linear light 1 - covered area (exact for a disc
///                  and a pixel; discs of one ink add up to 1 at most, inks multiply) as an 8-bit sRGB code, grey if every
///                  ink is; or 1 bit, in which every dot on the page sets at least the pixel it is in
/// A column is left out where the dots state nothing for it; a class without radii gets `radius`. Dots off the page are
/// written to the lists and cut off by the pages. Cost O(dots), PNG O(pixels + area of the dots); memory a bounded piece of the text,
/// PNG O(compressed file + dots + a band of rows). Throws invalid_argument for positions that are not finite, lists of
/// another length than the dots', a negative radius, a page that a format with one needs and that is not positive, or too
/// few inks; metadata keys that are empty, hold a control character or ": ", or (PNG) are not 1 to 70 printable
/// ASCII characters; a raster of more than 2^31 - 1 a side or maximum_image_bytes pixels; io; unsupported for another
/// extension or one_bit with an ink that is not black; cancelled.
void write_dots(const std::string& path, const Dots& dots, const DotsWriteOptions& options = {},
                Progress& progress = Progress::none());

/// Whether write_dots knows the extension.
bool is_dots_output(std::string_view path);

/// Whether read_dots knows the extension, and whether as a picture.
bool is_dots_input(std::string_view path);
bool is_picture_of_dots(std::string_view path);

}  // namespace holotone
