#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/point_cloud/fast/fast_tile_cpu.hpp>
#include <limits>

namespace holotone::point_cloud {
namespace {

using Complex = std::complex<float>;

constexpr std::int64_t slab_rows = 16;
constexpr std::int64_t block = nufft::AxisPass<float>::block;
constexpr int depth_table_size = 4096;
/// Shares of the tolerance: for the error of the window's polynomials, and for the rounding of float32 sums of equal
/// numbers in one bin of points, of which four can meet in a cell. Division by the windows amplifies both, that of sums
/// on three axes.
constexpr double polynomial_share = 0.05;
constexpr double sum_share = 0.15;

std::int64_t modulo(std::int64_t value, std::int64_t period) { return (value % period + period) % period; }

Complex unit(double turns) {
  float sine = 0;
  float cosine = 0;
  sine_cosine(fixed_turns(turns), sine, cosine);
  return {cosine, sine};
}

/// Returns 1 / phihat for the pixels of an axis, from -floor(count / 2) on.
std::vector<float> window_factors(const SpreadWindow& window, std::int64_t count, std::int64_t length) {
  std::vector<float> factor(static_cast<std::size_t>(count));
  const WindowTransform transform(window, 0.5);
  for (std::int64_t i = 0; i < count; ++i) {
    const double frequency = static_cast<double>(i - count / 2) / static_cast<double>(length);
    factor[static_cast<std::size_t>(i)] = static_cast<float>(1 / transform(frequency));
  }
  return factor;
}

/// Computes the Horner step sum = sum rho + value of the sum over planes of value[plane] rho^plane, last plane first.
HOLOTONE_SIMD_CLONES
void horner_step(std::int64_t count, const float* __restrict rho_re, const float* __restrict rho_im,
                 const float* __restrict value, float* __restrict re, float* __restrict im) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float r = re[i] * rho_re[i] - im[i] * rho_im[i];
    const float s = re[i] * rho_im[i] + im[i] * rho_re[i];
    re[i] = r + value[2 * i];
    im[i] = s + value[2 * i + 1];
  }
}

/// value = re + i im, then re + i im times rho.
HOLOTONE_SIMD_CLONES
void turn_step(std::int64_t count, const float* __restrict rho_re, const float* __restrict rho_im, float* __restrict re,
               float* __restrict im, float* __restrict value) {
  for (std::int64_t i = 0; i < count; ++i) {
    value[2 * i] = re[i];
    value[2 * i + 1] = im[i];
    const float r = re[i] * rho_re[i] - im[i] * rho_im[i];
    im[i] = re[i] * rho_im[i] + im[i] * rho_re[i];
    re[i] = r;
  }
}

/// re + i im = exp(2 pi i (turns + slope r)).
HOLOTONE_SIMD_CLONES
void surface_phases(std::int64_t count, const double* __restrict r, double turns, double slope, float* __restrict re,
                    float* __restrict im) {
  for (std::int64_t i = 0; i < count; ++i) sine_cosine(fixed_turns(turns + slope * r[i]), im[i], re[i]);
}

/// Frequencies of one axis on its grid: steps first .. first + count - 1, taken modulo the period by the transform. A
/// whole box is as long as the period and continues in the grid's halo.
struct Box {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool whole = false;
};

}  // namespace

nufft::SpreadKernel<float> fast_kernel(const SpreadWindow& window, double tolerance) {
  return nufft::SpreadKernel<float>(window, polynomial_share * tolerance / window_noise_gain(window),
                                    longest_float_sum(window, sum_share * tolerance, 3));
}

void run_tiles(std::int64_t count, std::vector<FastMemory>& memory, std::string_view stage, Progress& progress,
               const std::function<void(std::int64_t, FastMemory&, const std::function<void()>&)>& run) {
  const bool side_by_side = count >= 4 * thread_count();
  memory.resize(static_cast<std::size_t>(side_by_side ? thread_count() : 1));
  const std::int64_t total = 3 * count;  // stages
  progress.step(stage, 0, total);
  const std::int64_t batch = side_by_side ? 16 * thread_count() : 1;
  for (std::int64_t begin = 0; begin < count; begin += batch) {
    const std::int64_t end = std::min(begin + batch, count);
    if (side_by_side) {
      parallel_for(begin, end,
                   [&](std::int64_t i) { run(i, memory[static_cast<std::size_t>(omp_get_thread_num())], [] {}); });
    } else {
      std::int64_t done = 3 * begin;
      run(begin, memory[0], [&] { progress.step(stage, ++done, total); });
    }
    progress.step(stage, 3 * end, total);
  }
}

PixelPoint PanelTile::clipped(PixelPoint point) const {
  point.row_begin = std::max(point.row_begin, static_cast<std::int32_t>(row_begin));
  point.row_end = std::min(point.row_end, static_cast<std::int32_t>(row_end));
  point.column_begin = std::max(point.column_begin, static_cast<std::int32_t>(column_begin));
  point.column_end = std::min(point.column_end, static_cast<std::int32_t>(column_end));
  return point;
}

/// Frequency ranges of one tile's waves.
struct FastTile::Frame {
  PanelTile tile;
  const TileSurface* surface = nullptr;
  double middle_depth = 0;  ///< of the waves
  double depth_steps = 0;   ///< of the third axis, for a turn a unit of r
  std::int64_t first_plane = 0;
  std::array<Box, 2> box;  ///< rows, columns
  nufft::SpreadGrid<3> grid;
};

/// Some columns of one thread: rho and the sum for every sample, column after column.
struct FastTile::ColumnSums {
  ColumnSums(float* memory, std::int64_t rows, std::int64_t first_column, std::int64_t columns)
      : first(first_column),
        count(columns),
        rho_re(memory),
        rho_im(memory + rows * block),
        re(memory + 2 * rows * block),
        im(memory + 3 * rows * block),
        height(reinterpret_cast<double*>(memory + 4 * rows * block), static_cast<std::size_t>(rows)) {}
  std::int64_t first;
  std::int64_t count;
  float* rho_re;
  float* rho_im;
  float* re;
  float* im;
  std::span<double> height;  ///< of one column
};

FastTile::FastTile(const Shape<2>& shape, const SpreadWindow& window, const nufft::SpreadKernel<float>& kernel)
    : kernel_(&kernel),
      layout_(fast_tile_layout(shape, window)),
      row_line_(layout_.grid[1], 1, fft::line_distance(layout_.grid[1]), FftDirection::inverse),
      column_lines_(layout_.grid[0], block, column_distance(), FftDirection::inverse),
      row_factor_(window_factors(window, shape[0], layout_.grid[0])),
      column_factor_(window_factors(window, shape[1], layout_.grid[1])) {
  depth_table_.resize(depth_table_size + 2);
  const WindowTransform transform(window, 0.5);
  for (std::size_t i = 0; i < depth_table_.size(); ++i) {
    const double frequency = 0.5 / window.upsampling * static_cast<double>(i) / depth_table_size;
    depth_table_[i] = static_cast<float>(1 / transform(frequency));
  }
}

/// Returns 1 / phihat of the third axis for frequencies up to 1 / (2 upsampling) from its middle.
float FastTile::depth_factor(double frequency) const {
  const auto place = static_cast<float>(std::abs(frequency) * 2 * layout_.window.upsampling * depth_table_size);
  const auto index = std::min(static_cast<int>(place), depth_table_size);
  const auto at = static_cast<std::size_t>(index);
  return depth_table_[at] + (place - static_cast<float>(index)) * (depth_table_[at + 1] - depth_table_[at]);
}

FastTile::Frame FastTile::make_frame(const PanelTile& tile, const TileSurface& surface,
                                     std::span<const TileWave> waves) const {
  Frame frame;
  frame.tile = tile;
  frame.surface = &surface;
  frame.depth_steps = FastLayout::depth_margin * layout_.window.upsampling * surface.extent();
  constexpr double huge = std::numeric_limits<double>::max();
  double low[3] = {huge, huge, huge};
  double high[3] = {-huge, -huge, -huge};
#pragma omp parallel for reduction(min : low[:3]) reduction(max : high[:3]) schedule(static)
  for (std::int64_t i = 0; i < std::ssize(waves); ++i) {
    const auto& wave = waves[static_cast<std::size_t>(i)];
    const double value[3] = {wave.row, wave.column, wave.depth};
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], value[axis]);
      high[axis] = std::max(high[axis], value[axis]);
    }
  }
  const int width = kernel_->width;
  for (const std::size_t axis : {0, 1}) {
    const std::int64_t period = layout_.grid[axis];
    const double first = std::floor(low[axis] * static_cast<double>(period) - 0.5 * width);
    const double count = std::ceil(high[axis] * static_cast<double>(period) + 0.5 * width) - first + 1;
    frame.box[axis] = count < static_cast<double>(period)
                          ? Box{static_cast<std::int64_t>(first), static_cast<std::int64_t>(count), false}
                          : Box{0, period, true};
  }
  frame.middle_depth = 0.5 * (low[2] + high[2]);
  const double half_depth = 0.5 * (high[2] - low[2]) * frame.depth_steps;
  frame.first_plane = static_cast<std::int64_t>(std::floor(-half_depth - 0.5 * width));
  const auto planes = static_cast<std::int64_t>(std::ceil(half_depth + 0.5 * width)) - frame.first_plane + 1;
  frame.grid.extent = {planes, frame.box[0].count, frame.box[1].count};
  frame.grid.halo = (width + 3) / 4 * 4;
  return frame;
}

/// Sorts the waves, and computes their strengths.
void FastTile::sort(const Frame& frame, FastMemory& memory) const {
  const int width = kernel_->width;
  const auto count = std::ssize(memory.waves);
  memory.strength.resize(memory.waves.size());
  memory.sorted.sort(count, frame.grid, slab_rows, [&](std::int64_t i, nufft::SpreadPoint<float, 3>& target) {
    const auto& wave = memory.waves[static_cast<std::size_t>(i)];
    for (const std::size_t axis : {0, 1}) {
      const Box& box = frame.box[axis];
      const auto period = static_cast<double>(layout_.grid[axis]);
      double step = (axis == 0 ? wave.row : wave.column) * period;
      if (box.whole) {
        step -= std::floor(step / period) * period;
        if (step >= period) step = 0;  // a step just below zero rounds up to the period
      } else {
        step -= static_cast<double>(box.first);
      }
      nufft::place_on_axis(step, width, box.count, target.cell[1 - axis], target.place[1 - axis]);
    }
    const double depth = wave.depth - frame.middle_depth;
    nufft::place_on_axis(depth * frame.depth_steps - static_cast<double>(frame.first_plane), width,
                         frame.grid.extent[0], target.cell[2], target.place[2]);
    memory.strength[static_cast<std::size_t>(i)] = wave.amplitude * unit(wave.turns + depth * frame.surface->middle());
    return true;
  });
}

void FastTile::clear(const Frame& frame, FastMemory& memory) const {
  reserve(memory.cells, 2 * frame.grid.cells());
  const std::int64_t row = 2 * frame.grid.stride();
  parallel_for(0, frame.grid.planes() * frame.grid.rows(),
               [&](std::int64_t i) { std::fill_n(memory.cells.data() + i * row, row, 0.0F); });
}

/// Computes between[plane][row of frequencies][column of pixels]: transforms of the rows, times the columns' window
/// factors.
void FastTile::transform_rows(const Frame& frame, FastMemory& memory) const {
  const auto [planes, rows, box_columns] = frame.grid.extent;
  const std::int64_t length = layout_.grid[1];
  const std::int64_t columns = frame.tile.shape()[1];
  const std::int64_t left = columns / 2;  // columns with X < 0, which the transform puts at its end
  reserve(memory.between, planes * rows * columns);
  memory.lines.reserve(length);
  const auto* const cells = reinterpret_cast<const Complex*>(memory.cells.data());
  const std::int64_t filled = frame.box[1].whole ? box_columns + frame.grid.halo : box_columns;
  const std::int64_t filled_rows = frame.box[0].whole ? rows + frame.grid.halo : rows;
  parallel_for(0, planes * rows, [&, rows = rows](std::int64_t i) {
    Complex* const line = memory.lines.thread_block();
    std::fill_n(line, length, Complex());
    for (std::int64_t r = i % rows; r < filled_rows; r += rows) {
      const Complex* const from = cells + (i / rows * frame.grid.rows() + r) * frame.grid.stride();
      std::int64_t to = modulo(frame.box[1].first, length);
      for (std::int64_t c = 0; c < filled; ++c) {
        line[to] += from[c];
        if (++to == length) to = 0;
      }
    }
    row_line_.execute(line);
    Complex* const target = memory.between.data() + i * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      target[c] = line[c < left ? c - left + length : c - left] * column_factor_[static_cast<std::size_t>(c)];
    }
  });
}

/// transform_rows backwards: cells of the grid from between[plane][row of frequencies][column of pixels].
void FastTile::transform_rows_transposed(const Frame& frame, FastMemory& memory) const {
  const auto [planes, rows, box_columns] = frame.grid.extent;
  const std::int64_t length = layout_.grid[1];
  const std::int64_t columns = frame.tile.shape()[1];
  const std::int64_t left = columns / 2;
  memory.lines.reserve(length);
  auto* const cells = reinterpret_cast<Complex*>(memory.cells.data());
  const std::int64_t filled = frame.box[1].whole ? box_columns + frame.grid.halo : box_columns;
  const std::int64_t filled_rows = frame.box[0].whole ? rows + frame.grid.halo : rows;
  parallel_for(0, planes * rows, [&, rows = rows](std::int64_t i) {
    Complex* const line = memory.lines.thread_block();
    std::fill_n(line, length, Complex());
    const Complex* const from = memory.between.data() + i * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      line[c < left ? c - left + length : c - left] = from[c] * column_factor_[static_cast<std::size_t>(c)];
    }
    row_line_.execute(line);
    for (std::int64_t r = i % rows; r < filled_rows; r += rows) {
      Complex* const target = cells + (i / rows * frame.grid.rows() + r) * frame.grid.stride();
      std::int64_t at = modulo(frame.box[1].first, length);
      for (std::int64_t c = 0; c < filled; ++c) {
        target[c] = line[at];
        if (++at == length) at = 0;
      }
    }
  });
}

/// Gathers some columns of one plane of `between`, each as a line of frequencies.
void FastTile::gather_columns(const Frame& frame, const Complex* plane, const ColumnSums& sums, Complex* lines) const {
  const std::int64_t length = layout_.grid[0];
  const std::int64_t distance = column_distance();
  const std::int64_t columns = frame.tile.shape()[1];
  std::fill_n(lines, block * distance, Complex());
  const Complex* from = plane + sums.first;
  std::int64_t to = modulo(frame.box[0].first, length);
  for (std::int64_t k = 0; k < frame.box[0].count; ++k, from += columns) {
    for (std::int64_t b = 0; b < sums.count; ++b) lines[b * distance + to] = from[b];
    if (++to == length) to = 0;
  }
}

/// Sets rho to the phase of a sample from one plane to the next.
void FastTile::set_plane_steps(const Frame& frame, const ColumnSums& sums) const {
  const auto [rows, columns] = frame.tile.shape();
  const double slope = 1 / frame.depth_steps;
  for (std::int64_t b = 0; b < sums.count; ++b) {
    const auto x = static_cast<double>(sums.first + b - columns / 2);
    frame.surface->heights(x, static_cast<double>(-(rows / 2)), sums.height);
    surface_phases(rows, sums.height.data(), -frame.surface->middle() * slope, slope, sums.rho_re + b * rows,
                   sums.rho_im + b * rows);
  }
}

/// Sets rho to the factors of samples outside the sum over planes: the phase of the middle depth and of the first
/// plane, the windows' and the surface's.
void FastTile::set_factors(const Frame& frame, const ColumnSums& sums) const {
  const auto [rows, columns] = frame.tile.shape();
  const double slope = 1 / frame.depth_steps;
  const double middle = frame.surface->middle();
  const auto first_plane = static_cast<double>(frame.first_plane);
  for (std::int64_t b = 0; b < sums.count; ++b) {
    const auto x = static_cast<double>(sums.first + b - columns / 2);
    const auto first = static_cast<double>(-(rows / 2));
    float* const re = sums.rho_re + b * rows;
    float* const im = sums.rho_im + b * rows;
    frame.surface->heights(x, first, sums.height);
    surface_phases(rows, sums.height.data(), -first_plane * middle * slope, frame.middle_depth + first_plane * slope,
                   re, im);
    const auto multiply = [&](std::size_t at, float factor) {
      re[at] *= factor;
      im[at] *= factor;
    };
    for (std::size_t at = 0; at < sums.height.size(); ++at) {
      multiply(at, row_factor_[at] * depth_factor((sums.height[at] - middle) * slope));
    }
    if (!frame.surface->weighted()) continue;
    frame.surface->weights(x, first, sums.height);
    for (std::size_t at = 0; at < sums.height.size(); ++at) multiply(at, static_cast<float>(sums.height[at]));
  }
}

/// Transforms the columns, sums over planes and applies the factors, one block of columns at a time.
void FastTile::transform_columns(const Frame& frame, bool write, const FieldOfRows& field, FastMemory& memory) const {
  const auto [rows, columns] = frame.tile.shape();
  const std::int64_t length = layout_.grid[0];
  const std::int64_t distance = column_distance();
  const std::int64_t above = rows / 2;  // rows with Y < 0, which the transform puts at its end
  const std::int64_t planes = frame.grid.extent[0];
  memory.lines.reserve(block * (distance + 2 * rows) + rows);
  parallel_for(0, (columns + block - 1) / block, [&, rows = rows, columns = columns](std::int64_t i) {
    Complex* const lines = memory.lines.thread_block();
    const ColumnSums sums(reinterpret_cast<float*>(lines + block * distance), rows, i * block,
                          std::min(block, columns - i * block));
    set_plane_steps(frame, sums);
    std::fill_n(sums.re, 2 * rows * block, 0.0F);
    for (std::int64_t plane = planes - 1; plane >= 0; --plane) {
      gather_columns(frame, memory.between.data() + plane * frame.box[0].count * columns, sums, lines);
      column_lines_.execute(lines);
      for (std::int64_t b = 0; b < sums.count; ++b) {
        const auto* const line = reinterpret_cast<const float*>(lines + b * distance);
        const auto step = [&](std::int64_t begin, std::int64_t end, std::int64_t from) {
          const std::int64_t at = b * rows + begin;
          horner_step(end - begin, sums.rho_re + at, sums.rho_im + at, line + 2 * from, sums.re + at, sums.im + at);
        };
        step(0, above, length - above);
        step(above, rows, 0);
      }
    }
    set_factors(frame, sums);
    for (std::int64_t row = 0; row < rows; ++row) {
      Complex* const target = &field(frame.tile.row_begin + row, frame.tile.column_begin + sums.first);
      for (std::int64_t b = 0; b < sums.count; ++b) {
        const std::int64_t at = b * rows + row;
        const Complex sum = Complex(sums.re[at], sums.im[at]) * Complex(sums.rho_re[at], sums.rho_im[at]);
        target[b] = write ? sum : target[b] + sum;
      }
    }
  });
}

/// transform_columns backwards: between[plane] from the field times rho^plane.
void FastTile::transform_columns_transposed(const Frame& frame, const FieldOfRows& field, FastMemory& memory) const {
  const auto [rows, columns] = frame.tile.shape();
  const std::int64_t length = layout_.grid[0];
  const std::int64_t distance = column_distance();
  const std::int64_t above = rows / 2;
  const std::int64_t planes = frame.grid.extent[0];
  reserve(memory.between, planes * frame.box[0].count * columns);
  memory.lines.reserve(block * (distance + 2 * rows) + rows);
  parallel_for(0, (columns + block - 1) / block, [&, rows = rows, columns = columns](std::int64_t i) {
    Complex* const lines = memory.lines.thread_block();
    const ColumnSums sums(reinterpret_cast<float*>(lines + block * distance), rows, i * block,
                          std::min(block, columns - i * block));
    set_factors(frame, sums);
    for (std::int64_t row = 0; row < rows; ++row) {
      const Complex* const from = &field(frame.tile.row_begin + row, frame.tile.column_begin + sums.first);
      for (std::int64_t b = 0; b < sums.count; ++b) {
        const std::int64_t at = b * rows + row;
        const Complex value = from[b] * Complex(sums.rho_re[at], sums.rho_im[at]);
        sums.re[at] = value.real();
        sums.im[at] = value.imag();
      }
    }
    set_plane_steps(frame, sums);
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      std::fill_n(lines, block * distance, Complex());
      for (std::int64_t b = 0; b < sums.count; ++b) {
        auto* const line = reinterpret_cast<float*>(lines + b * distance);
        const auto step = [&](std::int64_t begin, std::int64_t end, std::int64_t to) {
          const std::int64_t at = b * rows + begin;
          turn_step(end - begin, sums.rho_re + at, sums.rho_im + at, sums.re + at, sums.im + at, line + 2 * to);
        };
        step(0, above, length - above);
        step(above, rows, 0);
      }
      column_lines_.execute(lines);
      Complex* to = memory.between.data() + plane * frame.box[0].count * columns + sums.first;
      std::int64_t at = modulo(frame.box[0].first, length);
      for (std::int64_t k = 0; k < frame.box[0].count; ++k, to += columns) {
        for (std::int64_t b = 0; b < sums.count; ++b) to[b] = lines[b * distance + at];
        if (++at == length) at = 0;
      }
    }
  });
}

void FastTile::sum(const PanelTile& tile, const TileSurface& surface, bool write, const FieldOfRows& field,
                   FastMemory& memory, const std::function<void()>& stage_done) const {
  if (memory.waves.empty()) {
    for (std::int64_t row = tile.row_begin; write && row < tile.row_end; ++row) {
      std::fill_n(&field(row, tile.column_begin), tile.column_end - tile.column_begin, Complex());
    }
    return;
  }
  const Frame frame = make_frame(tile, surface, memory.waves);
  sort(frame, memory);
  clear(frame, memory);
  nufft::spread<float, 3, 2>(memory.sorted, *kernel_, frame.grid,
                             reinterpret_cast<const float*>(memory.strength.data()), memory.cells.data());
  stage_done();
  transform_rows(frame, memory);
  stage_done();
  transform_columns(frame, write, field, memory);
}

void FastTile::sum_transposed(const PanelTile& tile, const TileSurface& surface, const FieldOfRows& field,
                              FastMemory& memory, const std::function<void()>& stage_done) const {
  memory.values.resize(memory.waves.size());
  if (memory.waves.empty()) return;
  const Frame frame = make_frame(tile, surface, memory.waves);
  transform_columns_transposed(frame, field, memory);
  stage_done();
  clear(frame, memory);
  transform_rows_transposed(frame, memory);
  stage_done();
  sort(frame, memory);
  nufft::interpolate<float, 3, 2>(memory.sorted, *kernel_, frame.grid, memory.cells.data(),
                                  reinterpret_cast<float*>(memory.values.data()), nullptr);
  parallel_for(0, std::ssize(memory.values), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    memory.values[at] *= memory.strength[at];
  });
}

}  // namespace holotone::point_cloud
