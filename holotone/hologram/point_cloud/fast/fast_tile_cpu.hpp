#pragma once
// One tile of the method `fast` on the CPU: the non-uniform FFT of the points that light it wholly. Not for users.
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

/// Workspace that tiles reuse in sequence.
struct FastMemory {
  nufft::SpreadPoints<float, 3> sorted;
  std::vector<std::complex<float>> strength;
  Array<float, 1> cells;
  Array<std::complex<float>, 1> between;
  ThreadMemory<std::complex<float>> lines;
  [[nodiscard]] std::size_t bytes() const {
    return sorted.bytes() + strength.capacity() * sizeof(strength[0]) + cells.bytes() + between.bytes() + lines.bytes();
  }
};

/// Sums waves over tiles of one shape.
class FastTile {
 public:
  /// Plans the transforms of the lines and computes the window factors. Throws out_of_memory.
  FastTile(const Shape<2>& shape, const SpreadWindow& window, const nufft::SpreadKernel<float>& kernel);

  /// Adds (or, if `write`, writes) the waves of points[index[i]] to the field's pixels of `tile`. The tile has this
  /// shape, and all of the points light it wholly. Calls stage_done after each of the first two of three stages. Cost
  /// O(index.size() width^3 + planes * pixels log(pixels)).
  void sum(const PanelTile& tile, std::span<const PixelPoint> points, std::span<const std::uint32_t> index, bool write,
           const FieldOfRows& field, FastMemory& memory, const std::function<void()>& stage_done) const;

 private:
  using Complex = std::complex<float>;
  struct Frame;
  [[nodiscard]] Frame make_frame(const PanelTile& tile, std::span<const PixelPoint> points,
                                 std::span<const std::uint32_t> index) const;
  void spread(const Frame& frame, std::span<const PixelPoint> points, std::span<const std::uint32_t> index,
              FastMemory& memory) const;
  void transform_rows(const Frame& frame, FastMemory& memory) const;
  void transform_columns(const Frame& frame, bool write, const FieldOfRows& field, FastMemory& memory) const;
  void gather_columns(const Frame& frame, const Complex* plane, std::int64_t first, std::int64_t count,
                      Complex* lines) const;
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
