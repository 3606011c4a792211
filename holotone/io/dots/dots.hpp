#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/dots.hpp>
#include <holotone/core/metadata.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/io/images/image.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace holotone {

/// Default side of a pixel if neither the dots nor the caller give one: 96 pixels an inch, as in CSS and SVG.
inline constexpr double default_pixel_m = 0.0254 / 96;

/// Default radius of dots, in pixels: the disc has the area of one pixel, 1 / sqrt(pi).
inline constexpr double default_dot_radius = 0.56418958354775629;

/// Ink of a colour class.
struct Ink {
  std::string name;                    ///< name, such as "black"; label of the layer in SVG
  std::array<std::uint8_t, 3> srgb{};  ///< colour on white paper
};

/// Returns inks for classes 0 .. count - 1: black; black and red; cyan, magenta, yellow; cyan, magenta, yellow, black.
/// Above four, the four and "ink 5" and so on in rotated hues.
std::vector<Ink> default_inks(std::size_t count);

struct DotsReadOptions {
  /// Threshold for pictures: a pixel with a code value (0 black to 1 white) below it is a dot. 0: the picture must have
  /// two levels, and the darker is a dot.
  double threshold = 0;
};

/// Contents of a file of dots.
struct DotsFile {
  Dots dots;
  Metadata metadata;               ///< origin of the dots, if in the file
  std::vector<std::string> notes;  ///< shapes skipped that may be dots and columns without use, one line each
};

/// Reads dots by the name's extension.
///   .csv .tsv .txt .dat .xy  one dot a line: x, y[, radius[, class]], separated by commas, semicolons, tabs or blanks.
///                  A line of names (x y r class, any order; or as a comment) may precede; unknown columns are ignored
///                  with a note; a unit ("x [px]", "x_px") must be pixels. A first line of one whole number is the
///                  count of the lines that follow. Comments begin with # or //; Holotone's comments state the page.
///   .npy           real numbers {n, 2}, {n, 3} (x y radius) or {n, 4} (x y radius class)
///   .svg           circles, and ellipses as circles of the same area, under the transforms of their groups and the
///                  viewBox of pictures inside the picture, at most 256 deep. The radius has half the width of a
///                  stroke. What `display` or `visibility` hides, as attribute, style or by a rule for an element's
///                  name, class or id, is left out; so are, with a note, circles that paint nothing or in the page's
///                  colour, and <use>. The first child of a <switch> that passes is read. Layers of Inkscape that
///                  contain circles become classes in their order. Paths and other shapes that are shown are refused
///                  with their count, but for a rectangle that covers the page; so are entities that contain circles
///   .png .tif .tiff .bmp .jpg .jpeg  a picture of two levels: each dark pixel is a dot at its centre (alpha on white)
/// Lengths keep the file's values and are interpreted as pixels, y down. A page size missing in the file is 0 x 0;
/// dots outside the page are kept. Memory O(file size); every count is checked against the file.
/// Throws io in one line: file, line or row, expected and got. Causes: a coordinate that is not finite, a negative
/// radius, a class outside 0 to 255, a picture of more than two levels (with the threshold to use), no dots.
DotsFile read_dots_file(const std::string& path, const DotsReadOptions& options = {});

/// Returns only the dots of read_dots_file.
Dots read_dots(const std::string& path, const DotsReadOptions& options = {});

struct DotsWriteOptions {
  double pixel_m = 0;       ///< side of a pixel in metres; 0: the dots' own, or default_pixel_m
  double radius = 0;        ///< radius in pixels of dots without radii; 0: default_dot_radius
  double dpi = 0;           ///< PNG: pixels an inch of the raster; 0: one for each pixel of the page
  bool one_bit = false;     ///< PNG: true: a pixel is black if its centre is in a dot; false: covered areas
  int compression = 6;      ///< PNG: zlib level, 0 to 9
  std::vector<Ink> inks{};  ///< inks, at least one for each class; empty: default_inks
  Metadata metadata{};      ///< origin of the dots; stored in CSV, TXT, SVG and PNG
};

/// Writes dots by the name's extension, under a temporary name that is renamed when complete.
///   .csv .txt      a comment with the page, then x,y[,r[,class]] a line (.txt: blanks between); float32 that reads
///                  back the same
///   .npy           float32 {n, 2 to 4}: x y[ r[ class]]; without the page
///   .svg           one <circle> a dot in pixels of the viewBox, the page's size in millimetres, a layer for each ink
///   .pdf           one page of PDF 1.4 in the page's size. A dot is a stroke of no length with a round cap, which is a
///                  disc; inks multiply
///   .png           the page rasterised with square pixels, with its pixels a metre (pHYs). Linear light is 1 - covered
///                  area (exact for a disc and a pixel; discs of one ink sum to 1 at most, inks multiply), as an 8-bit
///                  sRGB code, grey if every ink is grey. Or 1 bit: every dot on the page sets at least its own pixel
/// Columns without data are omitted; classes without radii get `radius`. Lists contain dots outside the page, pages
/// clip them. Cost O(dots), PNG O(pixels + area of the dots). Memory: a bounded piece of the text, PNG O(compressed
/// file + dots + a band of rows).
/// Throws invalid_argument for positions that are not finite, lists of unequal length, a negative radius, a page that
/// is not positive in a format with pages, or too few inks. Likewise for metadata keys that are empty, contain a
/// control character or ": ", or (PNG) are not 1 to 70 printable ASCII characters. Likewise for a raster of more than
/// 2^31 - 1 a side or maximum_image_bytes pixels. Throws io; unsupported for another extension or one_bit with an ink
/// that is not black; cancelled.
void write_dots(const std::string& path, const Dots& dots, const DotsWriteOptions& options = {},
                Progress& progress = Progress::none());

/// True if write_dots supports the extension.
bool is_dots_output(std::string_view path);

/// True if read_dots supports the extension; is_picture_of_dots: true if it reads the file as a picture.
bool is_dots_input(std::string_view path);
bool is_picture_of_dots(std::string_view path);

}  // namespace holotone
