// In a tile of at most side x side pixels, the wave of a point is exp(2 pi i (a u^2 + a v^2)) where it lights. Along an
// axis that it lights wholly, points are sorted into side / 16 bins of their local frequency in the middle. With p the
// distance from the middle, f_b the middle of a bin, a0 the mean curvature, its waves times exp(-2 pi i (f_b p + a0
// p^2)) change by less than half a bin and 2 |a - a0| |p| cycles a pixel: 32 nodes, 5 side / 128 pixels apart, hold
// them. Points are summed on 32 x 32 places (coarse_nodes_cuda.cu):
//     lit wholly: C_b, nodes of rows by nodes of columns, for each bin of rows and of columns;
//     cut columns: L_b, pixels of a strip of columns by nodes of rows;
//     cut rows: R_b, pixels of a strip of rows by nodes of columns.
// The pixels are then, by products of matrices,
//     S = sum_by P_by (L_by + sum_bx P_bx C_by,bx^T)^T + sum_bx R_bx P_bx^T,
//     P_b[p, k] = W[p, k] exp(2 pi i (f_b p + a0 p^2)),      of exact waves a0 of the bin,
// W the least-squares interpolation from nodes to pixels for such frequencies.
#include <algorithm>
#include <cmath>
#include <holotone/core/matrix_product/matrix_product_kernel_cuda.hpp>
#include <holotone/hologram/point_cloud/coarse/coarse_sums_cuda.cuh>
#include <holotone/hologram/point_cloud/precision.hpp>
#include <numbers>
#include <vector>

namespace holotone::point_cloud {
namespace {

constexpr int nodes = coarse_nodes;
constexpr int max_pixels = 128 * 256 * 256;  ///< of the tiles of a launch: 400 MiB of sums

/// Halves of a row of a matrix: real, then imaginary parts.
HOLOTONE_HOST_DEVICE int matrix_depth(const CoarseShape& shape) { return 2 * count_axis_nodes(shape); }

/// W[p][k]: minimises the mean square of sum_k W[p, k] exp(2 pi i f x_k) - exp(2 pi i f p) over |f| <= widest, and
/// node_error^2 times the sum of W^2: fp16 sums on nodes are that uncertain.
std::vector<double> interpolation(const CoarseShape& shape) {
  const double widest = 0.5 / shape.bins() - 2 * max_coarse_curvature(shape.side) * first_node(shape);
  const auto mean = [widest](double distance) {
    const double angle = 2 * std::numbers::pi * widest * distance;
    return std::abs(angle) < 1e-9 ? 1.0 : std::sin(angle) / angle;
  };
  const auto node = [&shape](int k) { return first_node(shape) + node_spacing_px(shape) * k; };
  // Cholesky's factors of the normal matrix.
  std::vector<double> lower(nodes * nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = mean(node(i) - node(j)) + (i == j ? node_error * node_error : 0);
      for (int k = 0; k < j; ++k) sum -= lower[i * nodes + k] * lower[j * nodes + k];
      lower[i * nodes + j] = i == j ? std::sqrt(sum) : sum / lower[j * nodes + j];
    }
  }
  std::vector<double> weights(static_cast<std::size_t>(shape.side) * nodes);
  for (int p = 0; p < shape.side; ++p) {
    double* const row = &weights[static_cast<std::size_t>(p) * nodes];
    for (int i = 0; i < nodes; ++i) {
      double sum = mean(node(i) - (p - static_cast<double>(shape.middle())));
      for (int k = 0; k < i; ++k) sum -= lower[i * nodes + k] * row[k];
      row[i] = sum / lower[i * nodes + i];
    }
    for (int i = nodes - 1; i >= 0; --i) {
      double sum = row[i];
      for (int k = i + 1; k < nodes; ++k) sum -= lower[k * nodes + i] * row[k];
      row[i] = sum / lower[i * nodes + i];
    }
  }
  return weights;
}

/// Writes P in fp16. Rows 2 p and 2 p + 1 (plain: p), depth {part, bin, node}: [Re -Im; Im Re] (plain: [Re Im]).
__global__ void matrix_kernel(CoarseShape shape, CoarseWave wave, const double* weights, __half* matrix,
                              __half* plain) {
  const int line = count_axis_nodes(shape);
  const auto p = static_cast<int>(blockIdx.x);
  const double place = p - static_cast<double>(shape.middle());
  for (int i = threadIdx.x; i < line; i += blockDim.x) {
    const double frequency = shape.frequency(i / nodes);
    const double turns = (frequency + wave.curvature_of_bin(frequency) * place) * place;
    const double weight = weights[p * nodes + i % nodes];
    double sine = 0;
    double cosine = 0;
    sincospi(2 * turns, &sine, &cosine);
    const __half re = __double2half(weight * cosine);
    const __half im = __double2half(weight * sine);
    __half* const row = matrix + std::int64_t{4} * p * line + i;
    row[0] = row[3 * line] = re;
    row[line] = __hneg(im);
    row[2 * line] = im;
    plain[std::int64_t{2} * p * line + i] = re;
    plain[(std::int64_t{2} * p + 1) * line + i] = im;
  }
}

/// Sums of fp16 are divided by 2 to this power, so that no coherent sum of the points of a row of bins is beyond the
/// range, interpolated to pixels neither: the weights' absolute sum is below 8.
__global__ void exponent_kernel(CoarseShape shape, int tile_count, const int* begins, int* exponents) {
  const int tile = blockIdx.x * blockDim.x + threadIdx.x;
  if (tile >= tile_count) return;
  const int classes = shape.classes();
  const int* const begins_here = begins + static_cast<std::int64_t>(tile) * coarse_kinds * (classes + 1);
  int most = 1;
  for (int bin = 0; bin < shape.bins(); ++bin) {
    const auto of_kind = [&](int kind) {
      const int* const row = begins_here + kind * (classes + 1) + bin * shape.bins();
      return row[shape.bins()] - row[0];
    };
    most = max(most, max(of_kind(lit_wholly) + of_kind(cut_columns), of_kind(cut_rows)));
  }
  exponents[tile] = 10 + (32 - __clz(most)) - 13;
}

constexpr int add_threads = 256;

/// Adds pixels[tile][row][part][column] to the panel.
__global__ void __launch_bounds__(add_threads)
    add_kernel(int side, const CoarseTile* tiles, const int* exponents, const float* pixels, float largest,
               float2* panel, int panel_width) {
  const CoarseTile& tile = tiles[blockIdx.y];
  const int within = blockIdx.x * add_threads + threadIdx.x;
  const int row = within / side;
  const int column = within % side;
  if (row >= tile.rows || column >= tile.columns) return;
  const float grow = scalbnf(largest / node_scale, exponents[blockIdx.y]);
  const float* const pixel = pixels + (std::int64_t{blockIdx.y} * side + row) * 2 * side + column;
  float2& value = panel[std::int64_t{tile.first_row + row} * panel_width + tile.first_column + column];
  value.x += grow * pixel[0];
  value.y += grow * pixel[side];
}

__half* halves(Array<std::uint16_t, 1>& array) { return reinterpret_cast<__half*>(array.data()); }

}  // namespace

void CoarseSums::set(const CoarseShape& shape, const CoarseWave& wave) {
  if (shape_.side == shape.side && wave_ == wave) return;
  shape_ = {};  // none, or in case the following calls fail
  if (shape.side == 0) return;
  if (weights_.empty() || weights_side_ != shape.side) {
    const auto weights = interpolation(shape);
    reserve(weights_, static_cast<std::int64_t>(weights.size()), queue_);
    copy_bytes(weights_.data(), queue_.device(), weights.data(), Device{}, weights.size() * sizeof weights[0], queue_);
    queue_.synchronize();
    weights_side_ = shape.side;
  }
  const std::int64_t elements = std::int64_t{shape.side} * matrix_depth(shape);
  reserve(matrix_, 2 * elements, queue_);
  reserve(plain_, elements, queue_);
  matrix_kernel<<<static_cast<unsigned>(shape.side), 256, 0, cuda::stream_of(queue_)>>>(
      shape, wave, weights_.data(), halves(matrix_), halves(plain_));
  cuda::check_launch("coarse matrix");
  shape_ = shape;
  wave_ = wave;
}

void CoarseSums::add(const MaskedPoints& points, const CoarseWork& work, const unsigned* list, std::int64_t listed,
                     float largest_amplitude, float2* panel, int panel_width) {
  const auto stream = cuda::stream_of(queue_);
  const int classes = shape_.classes();
  const int tile_count = work.tile_count;
  reserve(sorted_, listed, queue_);
  reserve(counts_, std::int64_t{work.segment_count} * classes, queue_);
  reserve(begins_, std::int64_t{tile_count} * coarse_kinds * (classes + 1), queue_);
  reserve(exponents_, tile_count, queue_);
  sort_coarse(shape_, work, list, counts_.data(), begins_.data(), sorted_.data(), stream);
  exponent_kernel<<<cuda::blocks_for(tile_count, add_threads), add_threads, 0, stream>>>(
      shape_, tile_count, begins_.data(), exponents_.data());
  cuda::check_launch("coarse exponents");
  const int most = max_pixels / (shape_.side * shape_.side);
  for (int first = 0; first < tile_count; first += most) {
    add_tiles(points, work.tiles + first, first, std::min(most, tile_count - first), largest_amplitude, panel,
              panel_width);
  }
}

void CoarseSums::add_tiles(const MaskedPoints& points, const CoarseTile* tiles, int first, int count,
                           float largest_amplitude, float2* panel, int panel_width) {
  const auto stream = cuda::stream_of(queue_);
  const std::int64_t side = shape_.side;
  const std::int64_t depth = matrix_depth(shape_);
  const std::int64_t line = count_axis_nodes(shape_);
  reserve(on_nodes_, count * line * depth, queue_);
  reserve(lines_, count * side * depth, queue_);
  reserve(cut_rows_, count * 2 * side * depth, queue_);
  reserve(pixels_, count * 2 * side * side, queue_);
  const SortedTiles work{tiles, count, sorted_.data(),
                         begins_.data() + std::int64_t{first} * coarse_kinds * (shape_.classes() + 1),
                         exponents_.data() + first};
  node_sums_.sum(shape_, points, work, wave_, largest_amplitude,
                 {halves(on_nodes_), halves(lines_), halves(cut_rows_)});
  const auto multiply = [&](std::int64_t rows, std::int64_t columns, std::int64_t batch, const void* a, const void* b,
                            void* c, bool half_output, bool accumulate) {
    cuda::MatrixProductShape product;
    product.rows = rows;
    product.columns = columns;
    product.depth = depth;
    product.batch = batch;
    product.share_a = true;
    product.half_output = half_output;
    cuda::enqueue_hopper_product(product, a, b, c, accumulate, stream);
  };
  // Lines of columns, [tile][column][part][bin and node of rows], += P C^T.
  multiply(2 * side, line, count, matrix_.data(), on_nodes_.data(), lines_.data(), true, true);
  // Pixels [tile][row][part][column] = R P^T, += P lines^T.
  multiply(count * 2 * side, side, 1, cut_rows_.data(), plain_.data(), pixels_.data(), false, false);
  multiply(2 * side, side, count, matrix_.data(), lines_.data(), pixels_.data(), false, true);
  add_kernel<<<dim3(static_cast<unsigned>(side * side / add_threads), static_cast<unsigned>(count)), add_threads, 0,
               stream>>>(shape_.side, work.tiles, work.exponents, pixels_.data(), largest_amplitude, panel,
                         panel_width);
  cuda::check_launch("coarse pixels");
}

}  // namespace holotone::point_cloud
