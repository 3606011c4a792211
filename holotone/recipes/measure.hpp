#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/dots.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/neighbours.hpp>
#include <holotone/metrics/spectrum.hpp>
#include <optional>
#include <vector>

// How evenly dots are distributed and how well they reproduce an image: what `holotone measure` does to dots.
namespace holotone {

struct DotMeasureOptions {
  double interior = 1;  ///< central share of the page's width and height in which dots are measured, 0.01 to 1
  /// Pieces of the page whose periodograms are averaged, 1 to 65536. 0: 10 as in Ulichney, 1 for fewer than 1000 dots,
  /// above 10 million as many as hold 10^6 each.
  std::int64_t segments = 0;
  SpectrumWindow window = SpectrumWindow::rectangle;
  double frequency = 2;  ///< largest, in multiples of the principal frequency, 0.5 to 8
  /// Standard deviations of the blurs in pixels of the image, 0.3 to 1000. Empty: BlurOptions::sigma; for dots more
  /// than 5 pixels apart, where these would resolve single dots, scaled with their spacing.
  std::vector<double> sigma{};
  double margin = 0;  ///< pixels along the image's edges that are left out, 0 to 65536
  double charge = 0;  ///< ink of one dot in pixels of the image; 0: the image's ink over the number of dots
  /// Called before the memory of the spectrum is allocated; may throw.
  std::function<void(const SpectrumSize& size)> on_spectrum{};
};
template <>
inline constexpr Bounds bounds_of<&DotMeasureOptions::interior>{0.01, 1};
template <>
inline constexpr Bounds bounds_of<&DotMeasureOptions::segments>{0, 65536};
template <>
inline constexpr Bounds bounds_of<&DotMeasureOptions::frequency>{0.5, 8};
template <>
inline constexpr Bounds bounds_of<&DotMeasureOptions::sigma>{0.3, 1000};
template <>
inline constexpr Bounds bounds_of<&DotMeasureOptions::margin>{0, 65536};

/// All measures of dots.
struct DotMeasures {
  std::int64_t inside = 0;  ///< dots in the interior
  double density = 0;       ///< of the interior, dots per square unit of the page
  Spectrum spectrum{};
  Shape<2> pieces{};                       ///< {rows, columns} of the spectrum's pieces
  std::optional<RadialSpectrum> radial{};  ///< none if the interior is too narrow; `spectrum` is then empty too
  RadialSummary summary{};
  std::optional<PairCorrelation> pairs{};  ///< none for a single dot
  NearestSummary nearest{};
  /// Comparison with an image; `blurred` is empty without one.
  Shape<2> image{};    ///< {ny, nx}
  double ink = 0;      ///< ink of the image, pixels
  double charge = 0;   ///< mean pixels of ink per dot
  double spacing = 0;  ///< sqrt(image pixels / dots on the page): mean spacing of dots, pixels of the image
  double scale_x = 1;  ///< pixels of the image per unit of the page
  double scale_y = 1;
  bool wider_blurs = false;  ///< the blurs were scaled with the spacing of the dots
  std::vector<BlurredSimilarity> blurred{};
};

/// Measures dots on their page: averaged periodograms (SpectrumPlan), pair_correlation, distances of neighbours
/// (summarise_nearest), and with `ink` the similarity to an image after blurs (compare_blurred). The page is scaled to
/// the image; charges are proportional to the dots' areas if they have radii.
///
/// `ink`: {ny, nx}, 0 none to 1 full, in host memory; empty: no comparison. Throws invalid_argument for options out of
/// range, a page without size, and an interior without dots; as the measures; cancelled. Cost: that of the measures.
DotMeasures measure_dots(const Dots& dots, View<const float, 2> ink = {}, const DotMeasureOptions& options = {},
                         Progress& progress = Progress::none());

/// Power of a spectrum as codes {512, 512, 1}: -20 dB black to +10 dB white, frequency 0 in the middle. Both axes end
/// at the same maximum. Power is averaged where the spectrum is finer than the picture.
Array<std::uint8_t, 3> spectrum_codes(const Spectrum& spectrum);

/// Clumps: sets of pixels that touch along a side. They consist of dot pixels or, if these are the majority, of the
/// other pixels. In dark areas single-pixel dots touch as well, and the gaps between them are the clumps.
struct DotClumps {
  bool gaps = false;  ///< clumps consist of the pixels that are not dots
  std::int64_t count = 0;
  std::int64_t median = 0;  ///< pixels
  std::int64_t large = 0;   ///< number with more than four times the median
  /// True if the clumps are discs or enlarged pixels rather than dots.
  [[nodiscard]] bool found() const { return median >= 4; }
};

/// `dots` as read_dots reads them from a picture: at pixel centres, row by row. Cost O(dots), or O(pixels) if dots are
/// more than half.
DotClumps find_clumps(const Dots& dots);

/// Number of different colour classes; 0 if the dots have none.
int count_classes(const Dots& dots);

/// The dots of one class, without its number; none if there are none.
Dots select_class(const Dots& dots, int colour_class);

enum class PageSource {
  unit_square,  ///< all dots are on it
  image,        ///< the pixels of the image
  box,          ///< the smallest of whole units that holds the dots and the origin, moved there
};
template <>
inline constexpr auto enum_names<PageSource> =
    std::array{EnumName<PageSource>{PageSource::unit_square, "unit_square"},
               EnumName<PageSource>{PageSource::image, "image"}, EnumName<PageSource>{PageSource::box, "box"}};

/// A page of dots whose file states none.
struct AssumedPage {
  PageSource source = PageSource::unit_square;
  bool holds = true;            ///< all dots are on the page; false only for that of an image
  std::array<double, 4> box{};  ///< least x, least y, largest x, largest y of the dots as they were
};

/// Gives dots without a page the unit square if it holds them, else the page of an image of this shape {ny, nx}, or
/// without an image ({0, 0}) a box around them. Cost O(dots).
AssumedPage assume_page(Dots& dots, const Shape<2>& image = {});

}  // namespace holotone
