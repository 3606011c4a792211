#pragma once
// One tile of the method `fast` on the CPU: a non-uniform FFT of type 1 on a surface. Its samples X, Y are pixels of
// the panel with r = X^2 + Y^2 (fast_layout.hpp), or frequencies of its spectrum (spectrum_layout.hpp). Not for users.
#include <holotone/core/thread_memory.hpp>
#include <holotone/hologram/point_cloud/choice/fast_layout.hpp>
#include <holotone/hologram/point_cloud/engine_cpu.hpp>
#include <holotone/nufft/axis_pass_cpu.hpp>
#include <holotone/nufft/spread_cpu.hpp>

namespace holotone::point_cloud {

/// A rectangle of pixels whose origin is its middle pixel.
struct PanelTile {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t column_begin = 0;
  std::int64_t column_end = 0;
  [[nodiscard]] Shape<2> shape() const { return {row_end - row_begin, column_end - column_begin}; }
  [[nodiscard]] std::int64_t row() const { return row_begin + (row_end - row_begin) / 2; }
  [[nodiscard]] std::int64_t column() const { return column_begin + (column_end - column_begin) / 2; }
  [[nodiscard]] bool wholly_lit(const PixelPoint& point) const {
    return point.row_begin <= row_begin && point.row_end >= row_end && point.column_begin <= column_begin &&
           point.column_end >= column_end;
  }
  [[nodiscard]] bool lit(const PixelPoint& point) const {
    return point.row_begin < row_end && point.row_end > row_begin && point.column_begin < column_end &&
           point.column_end > column_begin;
  }
  /// Returns the point with its lit range restricted to this tile.
  [[nodiscard]] PixelPoint clipped(PixelPoint point) const;
};

/// A wave in a tile: amplitude exp 2 pi i (turns + column X + row Y + depth r(X, Y)), X, Y from the tile's origin.
struct TileWave {
  double row = 0;     ///< turns a sample
  double column = 0;  ///< turns a sample
  double depth = 0;   ///< turns a unit of r
  double turns = 0;
  std::complex<float> amplitude;
};

/// Third coordinate of a tile's samples.
class TileSurface {
 public:
  TileSurface(double low, double high) : low_(low), high_(high) {}
  virtual ~TileSurface() = default;
  TileSurface(const TileSurface&) = delete;
  TileSurface& operator=(const TileSurface&) = delete;
  [[nodiscard]] double middle() const { return 0.5 * (low_ + high_); }
  [[nodiscard]] double extent() const { return high_ - low_; }
  /// r[i] = r(x, first + i), from low to high.
  virtual void heights(double x, double first, std::span<double> r) const = 0;
  /// True if the sums at the samples are multiplied by `weights`.
  [[nodiscard]] virtual bool weighted() const { return false; }
  /// weight[i] = w(x, first + i).
  virtual void weights(double /*x*/, double /*first*/, std::span<double> /*weight*/) const {}

 private:
  double low_;
  double high_;
};

/// Workspace that tiles reuse in sequence.
struct FastMemory {
  std::vector<TileWave> waves;
  nufft::SpreadPoints<float, 3> sorted;
  std::vector<std::complex<float>> strength;
  std::vector<std::complex<float>> values;  ///< of FastTile::sum_transposed
  std::vector<std::uint32_t> near;          ///< indices of the points that a second sum adds to
  Array<float, 1> cells;
  Array<std::complex<float>, 1> between;
  ThreadMemory<std::complex<float>> lines;
  [[nodiscard]] std::size_t bytes() const {
    return waves.capacity() * sizeof(TileWave) + sorted.bytes() +
           (strength.capacity() + values.capacity()) * sizeof(strength[0]) + near.capacity() * sizeof(near[0]) +
           cells.bytes() + between.bytes() + lines.bytes();
  }
};

/// Returns the window's polynomials with the shares of `tolerance` that are theirs.
nufft::SpreadKernel<float> fast_kernel(const SpreadWindow& window, double tolerance);

/// Calls run(i, memory, stage_done) for i = 0 .. count - 1. Many small tiles run in parallel, one per thread; few large
/// ones in sequence, each on all threads. Each has three stages; run calls stage_done after the first and the second.
void run_tiles(std::int64_t count, std::vector<FastMemory>& memory, std::string_view stage, Progress& progress,
               const std::function<void(std::int64_t, FastMemory&, const std::function<void()>&)>& run);

/// Sums waves over tiles of one shape.
class FastTile {
 public:
  /// Plans the transforms of the lines and computes the window factors. Throws out_of_memory.
  FastTile(const Shape<2>& shape, const SpreadWindow& window, const nufft::SpreadKernel<float>& kernel);

  /// Adds (or, if `write`, writes) memory.waves to the field's samples of `tile`, which has this shape. Calls
  /// stage_done after each of the first two of three stages. Cost O(waves width^3 + planes * samples log(samples)).
  void sum(const PanelTile& tile, const TileSurface& surface, bool write, const FieldOfRows& field, FastMemory& memory,
           const std::function<void()>& stage_done) const;

  /// The transpose of `sum`: memory.values[i] = the sum over the tile of the field times waves[i], by the same steps
  /// backwards.
  void sum_transposed(const PanelTile& tile, const TileSurface& surface, const FieldOfRows& field, FastMemory& memory,
                      const std::function<void()>& stage_done) const;

 private:
  using Complex = std::complex<float>;
  struct Frame;
  struct ColumnSums;
  [[nodiscard]] Frame make_frame(const PanelTile& tile, const TileSurface& surface,
                                 std::span<const TileWave> waves) const;
  void sort(const Frame& frame, FastMemory& memory) const;
  void clear(const Frame& frame, FastMemory& memory) const;
  void transform_rows(const Frame& frame, FastMemory& memory) const;
  void transform_rows_transposed(const Frame& frame, FastMemory& memory) const;
  void transform_columns(const Frame& frame, bool write, const FieldOfRows& field, FastMemory& memory) const;
  void transform_columns_transposed(const Frame& frame, const FieldOfRows& field, FastMemory& memory) const;
  void set_plane_steps(const Frame& frame, const ColumnSums& sums) const;
  void set_factors(const Frame& frame, const ColumnSums& sums) const;
  void gather_columns(const Frame& frame, const Complex* plane, const ColumnSums& sums, Complex* lines) const;
  [[nodiscard]] float depth_factor(double frequency) const;
  [[nodiscard]] std::int64_t column_distance() const { return fft::gathered_distance(layout_.grid[0]); }

  const nufft::SpreadKernel<float>* kernel_;
  FastLayout layout_;
  fft::LinePlan<float> row_line_;
  fft::LinePlan<float> column_lines_;
  std::vector<float> row_factor_;
  std::vector<float> column_factor_;
  std::vector<float> depth_table_;
};

}  // namespace holotone::point_cloud
