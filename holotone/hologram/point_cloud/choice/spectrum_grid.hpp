#pragma once
// The CUDA engine's tiles of plane waves (spectrum_layout.hpp has the formula): all of one shape and summed together,
// as those of fast_grid.hpp. A tile's planes are transformed one by one and summed on its exact surface K, so that a
// tile may be as large as its planes are cheap. Computed on the host. Not for users.
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_layout.hpp>
#include <vector>

namespace holotone::point_cloud {

/// The spectrum of a cloud on the whole panel, its tiles and its window.
struct SpectrumGrid {
  SpectrumLayout layout;
  FastGrid grid;   ///< of one group of rows of tiles; wave_tiles is null: the engine copies `tiles` to the device
  int groups = 1;  ///< summed one after another, so that they fit in memory; the last one ends with the last row
  int tile_rows = 0;
  std::vector<WaveTile> tiles;  ///< of all groups
  SpreadWindow window;
  FastCloud cloud;
  bool near = false;        ///< some points may be nearer than near_m of their tile: a second sum is of near terms
  double microseconds = 0;  ///< estimate; 0: no grid can hold the cloud
};

/// Numbers of the spectrum at most, 2 GiB, with as many for its transform.
constexpr double max_device_spectrum = 268435456.0;

/// Returns an even length of at least `minimum` of which cuFFT transforms columns quickly.
std::int64_t quick_column_length(std::int64_t minimum);

/// Number of parts in which the depth of a product over `extent` complex numbers, a multiple of eight, is summed.
std::int64_t depth_parts(const FastGrid& grid, std::int64_t extent, double tolerance);

/// Returns the extents of the blocks whose spectra are computed one after another: the whole panel if its spectrum
/// fits, else of the blocks of at most rows_at_once rows those of least work, the points' light around them included;
/// none if the light of all reaches too far.
Shape<2> device_spectrum_block(const PointCloudOptions& options, std::int64_t rows_at_once,
                               const PointSummary& summary);

/// Returns the grid of least estimated time on an H200 for a cloud that lights the whole panel; in_groups: of several
/// groups if it must.
SpectrumGrid choose_spectrum_grid(const PointCloudOptions& options, const FastCloud& cloud,
                                  const FastPrecision& precision, bool in_groups = true);

}  // namespace holotone::point_cloud
