#pragma once
// The exact wave of a cloud as its spectrum of plane waves: frequencies, tiles of them, and depths. Not for users.
//
// With f = (fx, fy) in cycles a metre and K(f) = sqrt(1 / lambda^2 - fx^2 - fy^2), the wave exp(i k (r - |d|)) of a
// point (x, y, d) behind the panel has the spectrum
//   i d / (lambda K^2) (1 + i / (2 pi K d)) exp 2 pi i [-fx x - fy y + d (K - 1 / lambda)],
// from Weyl's integral for exp(i k r) / r and exp(i k r) = -i r d/dk (exp(i k r) / r). The same formula with d < 0 is
// the conjugate wave of a point before the panel. Its phase is linear in x, y and d: a non-uniform FFT of type 1 on the
// surface K sums all points on all frequencies, and one inverse FFT gives the panel. Frequencies are m / (period
// pitch). They are cut into tiles, whose origin is their middle; K - 1 / lambda there is
//   k0 + g_row Y + g_column X + r(X, Y),
// so that a tile is a FastTile with the depth d - d0 as its third frequency. r is small in small tiles.
#include <holotone/fft/fft.hpp>
#include <holotone/hologram/point_cloud/choice/fast_layout.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <vector>

namespace holotone::point_cloud {

/// Range of the light on one axis of the spectrum, in indices m >= 0: 1 up to `full`, 0 from `end` on.
struct SpectrumEdge {
  double full = 0;
  double end = 0;
};

/// Spectrum of the light of some points on a rectangle of pixels.
struct SpectrumLayout {
  double wavelength_m = 0;
  double pitch_m = 0;
  Shape<2> period{};       ///< {rows, columns} of the periodic grid, which the light leaves before it returns
  Shape<2> half{};         ///< largest |m| with light
  SpectrumEdge edge[2];    ///< of the light that reaches the rectangle, within that of the band limit
  double middle_m = 0;     ///< d0
  double depth_m[2] = {};  ///< smallest and largest d
  double limit = 0;        ///< s1 of light_of_axis
  bool falloff = false;    ///< amplitudes fall as 1 / r
  Shape<2> tile{};         ///< frequencies
  SpreadWindow window;
  double nanoseconds = 0;  ///< estimate

  /// Returns f of index m on an axis (0: rows), in cycles a metre.
  [[nodiscard]] double frequency(std::size_t axis, double m) const {
    return m / (static_cast<double>(period[axis]) * pitch_m);
  }
  /// Returns K - 1 / lambda. Beyond the cone, where there is no light, K keeps its least value.
  [[nodiscard]] double depth_frequency(double row, double column) const;
  [[nodiscard]] std::int64_t frequencies() const { return (2 * half[0] + 1) * (2 * half[1] + 1); }
};

/// K about a tile's origin: K - 1 / lambda = level + slope[0] Y + slope[1] X + r, low <= r <= high.
struct SpectrumTile {
  double row = 0;     ///< m of the origin
  double column = 0;  ///< m of the origin
  double level = 0;
  double slope[2] = {};  ///< in 1 / m and index
  double low = 0;
  double high = 0;
};
/// The tile of `shape` frequencies from {row, column} on; its origin is its middle one. The range of r is that of
/// `samples` frequencies a side; FastLayout::depth_margin covers what lies between them.
SpectrumTile spectrum_tile(const SpectrumLayout& layout, std::int64_t row, std::int64_t column, const Shape<2>& shape,
                           int samples = 17);

/// Returns the distance below which what a tile's middle leaves of the near term 1 / (2 pi K d) exceeds a share of the
/// tolerance.
double near_distance_m(const SpectrumLayout& layout, const SpectrumTile& tile, const Shape<2>& shape, double tolerance);
/// Returns the light of the frequencies m = -half .. half of one axis, without the cone.
std::vector<float> axis_light(const SpectrumLayout& layout, std::size_t axis);

/// Ranges of a cloud in pixels of a rectangle and in metres, {rows, columns}.
struct SpectrumCloud {
  double low[2];
  double high[2];
  double depth_m[2];
  double nearest_m;  ///< least |d|
};
/// Returns a length of at least `minimum` of which transforms are quick.
using QuickLength = std::int64_t (*)(std::int64_t minimum);
/// The same for rows, in which four numbers are one access from both their begin and their half on.
std::int64_t quick_row_length(std::int64_t minimum);
/// Returns the spectrum, without tiles, of light on a rectangle of pixels.
SpectrumLayout spectrum_layout(const PointCloudOptions& options, const PanelBlock& block, const SpectrumCloud& cloud,
                               QuickLength column_length = fft_friendly_size);

/// Returns the spectrum for points (at least one) on a rectangle of the panel, with tiles and window of least estimated
/// time that keep the window's share of the tolerance. The tile has no frequencies if no grid can hold the depths.
SpectrumLayout choose_spectrum_layout(const PointCloudOptions& options, const PanelBlock& block,
                                      std::span<const PixelPoint> points, const FastCosts& costs);

/// Returns the extents of the blocks of a panel whose spectra are computed one after another: the whole panel if its
/// spectrum has at most 2^27 numbers (1 GiB), else blocks of least work within that, the points' light around them
/// included.
Shape<2> choose_spectrum_block(const PointCloudOptions& options, std::span<const PixelPoint> points);

/// Some points of a list, and their indices in it.
struct LitPoints {
  std::vector<PixelPoint> points;
  std::vector<std::uint32_t> index;
};
/// Returns the points that light some pixel of the block.
LitPoints points_of_block(std::span<const PixelPoint> points, const PanelBlock& block);

/// Numbers of a block's spectrum, at most: 16 GiB.
constexpr double max_spectrum_numbers = 2147483648.0;

/// Returns the point's distance d from the panel in metres. `of`: options or layout.
template <class Of>
double point_distance_m(const Of& of, const PixelPoint& point) {
  return of.pitch_m * of.pitch_m / (2 * of.wavelength_m * point.curvature);
}

}  // namespace holotone::point_cloud
