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
  FastGrid grid;  ///< wave_tiles is null: the engine copies `tiles` to the device
  std::vector<WaveTile> tiles;
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

/// True if the spectrum of a cloud on the whole panel has at most so many numbers.
bool fits_device_spectrum(const PointCloudOptions& options, const FastCloud& cloud);

/// Returns the grid of least estimated time on an H200 for a cloud that lights the whole panel.
SpectrumGrid choose_spectrum_grid(const PointCloudOptions& options, const FastCloud& cloud,
                                  const FastPrecision& precision);

}  // namespace holotone::point_cloud
