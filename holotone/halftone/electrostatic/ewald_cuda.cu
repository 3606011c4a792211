// The Ewald split on CUDA (settings.hpp, Setup, has the steps).
#include <algorithm>
#include <cmath>
#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/cuda_handle.hpp>
#include <holotone/halftone/electrostatic/convolution_cuda.hpp>
#include <holotone/halftone/electrostatic/engine_cuda.cuh>
#include <holotone/halftone/electrostatic/fft_cuda.cuh>
#include <string>

namespace holotone::electrostatic {
namespace {

using block_fft::product;
using cuda::grid_over;
using cuda::threads;

/// Number of cells across the cut-off.
constexpr double cells_a_cutoff = 2;

__global__ void pad_ink_kernel(const float* __restrict__ ink, int ny, int nx, double scale, float* __restrict__ padded,
                               int period_y, int period_x) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= period_x) return;
  for (std::int64_t y = blockIdx.y; y < period_y; y += gridDim.y) {
    const bool inside = y < ny && x < nx;
    padded[y * period_x + x] = inside ? static_cast<float>(scale * static_cast<double>(ink[y * nx + x])) : 0.0F;
  }
}

/// Half spectrum {ny, nx / 2 + 1} of a real array {ny, nx}.
struct HalfSpectrum {
  const float2* values = nullptr;
  int ny = 0;
  int nx = 0;
  /// Value at frequency 0 <= y < ny, 0 <= x < nx.
  [[nodiscard]] __device__ __forceinline__ float2 at(int y, int x) const {
    const bool mirrored = 2 * x > nx;
    if (mirrored) {
      x = nx - x;
      y = y == 0 ? 0 : ny - y;
    }
    const float2 value = values[static_cast<std::int64_t>(y) * (nx / 2 + 1) + x];
    return {value.x, mirrored ? -value.y : value.y};
  }
};

/// InkAliases of one axis, on the device.
struct AliasPointers {
  const float2* factor = nullptr;
  const float* spot = nullptr;
  const int* frequency = nullptr;
};

/// Computes the spectrum of ink on the nodes; one thread per frequency of the half spectrum {ly, lx / 2 + 1}.
__global__ void node_spectrum_kernel(const __grid_constant__ HalfSpectrum ink,
                                     const __grid_constant__ AliasPointers rows,
                                     const __grid_constant__ AliasPointers columns, int lx,
                                     float2* __restrict__ spectrum) {
  const int x = blockIdx.x * threads + threadIdx.x;
  const int y = blockIdx.y;
  if (x > lx / 2) return;
  float2 sum{0, 0};
  for (int j = 3 * y; j < 3 * y + 3; ++j) {
    for (int i = 3 * x; i < 3 * x + 3; ++i) {
      const float a = rows.spot[j] + columns.spot[i];
      const float size = fmaf(a, fmaf(0.5F, a, 1.0F), 1.0F);
      const float2 value =
          product(ink.at(rows.frequency[j], columns.frequency[i]), product(rows.factor[j], columns.factor[i]));
      sum = {fmaf(size, value.x, sum.x), fmaf(size, value.y, sum.y)};
    }
  }
  spectrum[static_cast<std::int64_t>(y) * (lx / 2 + 1) + x] = sum;
}

__global__ void crop_nodes_kernel(const float* __restrict__ padded, int lx, float* __restrict__ nodes, int nx) {
  const int x = blockIdx.x * threads + threadIdx.x;
  const std::int64_t y = blockIdx.y;
  if (x < nx) nodes[y * nx + x] = padded[y * lx + x];
}

/// Computes the spectrum of the ink's near force, x component real and y component imaginary; one thread per frequency.
__global__ void near_spectrum_kernel(const __grid_constant__ HalfSpectrum ink, const float2* __restrict__ factors,
                                     float2* __restrict__ spectrum) {
  const int x = blockIdx.x * threads + threadIdx.x;
  if (x >= ink.nx) return;
  const bool left = 2 * x > ink.nx;
  for (int y = blockIdx.y; y < ink.ny; y += gridDim.y) {
    const bool up = 2 * y > ink.ny;
    const float2 n =
        factors[static_cast<std::int64_t>(up ? ink.ny - y : y) * (ink.nx / 2 + 1) + (left ? ink.nx - x : x)];
    spectrum[static_cast<std::int64_t>(y) * ink.nx + x] = product(ink.at(y, x), {up ? -n.y : n.y, left ? n.x : -n.x});
  }
}

/// Copies the page with a border of two pixels from a periodic array.
__global__ void crop_table_kernel(const float2* __restrict__ periodic, int ny, int nx, float2* __restrict__ table,
                                  int columns) {
  const int x = blockIdx.x * threads + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= columns) return;
  table[static_cast<std::int64_t>(y) * columns + x] =
      periodic[static_cast<std::int64_t>((y + ny - 2) % ny) * nx + (x + nx - 2) % nx];
}

/// `sum` may be `table`.
__global__ void add_tables_kernel(const float2* table, const float2* __restrict__ more, float share, float2* sum,
                                  std::int64_t count) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (k < count) sum[k] = {fmaf(share, more[k].x, table[k].x), fmaf(share, more[k].y, table[k].y)};
}

/// Two-dimensional cuFFT plan with its own work area.
class Transform {
 public:
  Transform(Shape<2> shape, cufftType type, const Queue& queue) {
    long long extents[] = {shape[0], shape[1]};
    const fft::Handle::Layout contiguous{nullptr, 1, 0};
    area_ = Buffer(handle_.plan(2, extents, contiguous, contiguous, type, 1), queue);
    handle_.set_stream(cuda::stream_of(queue));
    handle_.set_work_area(area_.data());
  }
  [[nodiscard]] const fft::Handle& get() const { return handle_; }
  [[nodiscard]] std::size_t bytes() const { return area_.bytes(); }

 private:
  fft::Handle handle_;
  Buffer area_;
};

std::vector<float2> rounded_pairs(const std::vector<double>& table) {
  std::vector<float2> result(table.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = {static_cast<float>(table[2 * i]), static_cast<float>(table[2 * i + 1])};
  }
  return result;
}

/// Tables of the ink: charge on the nodes, near force around the dots.
class InkTables {
 public:
  InkTables(const Setup& setup, const Queue& queue)
      : setup_(setup),
        queue_(queue),
        check_(queue),
        near_factors_(upload(rounded_pairs(near_ink_spectrum(setup)), queue)),
        forward_(setup.period, CUFFT_R2C, queue),
        near_inverse_(setup.period, CUFFT_C2C, queue),
        node_inverse_(setup.grid, CUFFT_C2R, queue),
        padded_({std::max(element_count(setup.period), element_count(setup.grid))}, queue),
        spectrum_({setup.period[0] * (setup.period[1] / 2 + 1)}, queue),
        work_({std::max(element_count(setup.period), setup.grid[0] * (setup.grid[1] / 2 + 1))}, queue),
        nodes_({element_count(setup.used)}, queue),
        table_({(setup.page[0] + 4) * (setup.page[1] + 4)}, queue) {
    for (int axis = 0; axis < 2; ++axis) {
      const InkAliases aliases = ink_aliases(setup, axis);
      std::vector<float2> factor;
      for (const auto& value : aliases.factor) {
        factor.push_back({static_cast<float>(value.real()), static_cast<float>(value.imag())});
      }
      factor_[axis] = upload(factor, queue);
      spot_[axis] = upload(std::vector<float>(aliases.spot.begin(), aliases.spot.end()), queue);
      frequency_[axis] = upload(std::vector<int>(aliases.frequency.begin(), aliases.frequency.end()), queue);
    }
  }

  /// Computes the tables. Returns the ink's total.
  double set(View<const float, 2> ink) {
    const auto stream = cuda::stream_of(queue_);
    const double total = check_(ink);
    const auto [period_y, period_x] = std::pair(static_cast<int>(setup_.period[0]), static_cast<int>(setup_.period[1]));
    const auto [ly, lx] = std::pair(static_cast<int>(setup_.grid[0]), static_cast<int>(setup_.grid[1]));
    pad_ink_kernel<<<grid_over(period_x, period_y), threads, 0, stream>>>(ink.data(), static_cast<int>(setup_.page[0]),
                                                                          static_cast<int>(setup_.page[1]), 1 / total,
                                                                          padded_.data(), period_y, period_x);
    forward_.get().execute(padded_.data(), spectrum_.data());
    const HalfSpectrum half{spectrum_.data(), period_y, period_x};
    node_spectrum_kernel<<<grid_over(lx / 2 + 1, ly), threads, 0, stream>>>(half, aliases(0), aliases(1), lx,
                                                                            work_.data());
    node_inverse_.get().execute(work_.data(), padded_.data());
    crop_nodes_kernel<<<grid_over(setup_.used[1], setup_.used[0]), threads, 0, stream>>>(
        padded_.data(), lx, nodes_.data(), static_cast<int>(setup_.used[1]));
    near_spectrum_kernel<<<grid_over(period_x, period_y), threads, 0, stream>>>(half, near_factors_.data(),
                                                                                work_.data());
    near_inverse_.get().execute(work_.data(), work_.data(), CUFFT_INVERSE);
    crop_table_kernel<<<grid_over(setup_.page[1] + 4, setup_.page[0] + 4), threads, 0, stream>>>(
        work_.data(), period_y, period_x, table_.data(), static_cast<int>(setup_.page[1] + 4));
    cuda::check_launch("electrostatic ink tables");
    return total;
  }

  /// Subtracts a table, in float64, from that of the near force.
  void subtract(const std::vector<double>& table) {
    const auto other = upload(rounded_pairs(table), queue_);
    add_tables_kernel<<<cuda::blocks_for(table_.size(), threads), threads, 0, cuda::stream_of(queue_)>>>(
        table_.data(), other.data(), -1.0F, table_.data(), table_.size());
    cuda::check_launch("electrostatic subtract");
    queue_.synchronize();
  }

  [[nodiscard]] const float* nodes() const { return nodes_.data(); }
  [[nodiscard]] const float2* table() const { return table_.data(); }
  [[nodiscard]] std::size_t bytes() const {
    return near_factors_.bytes() + forward_.bytes() + near_inverse_.bytes() + node_inverse_.bytes() + padded_.bytes() +
           spectrum_.bytes() + work_.bytes() + nodes_.bytes() + table_.bytes();
  }

 private:
  [[nodiscard]] AliasPointers aliases(int axis) const {
    return {factor_[axis].data(), spot_[axis].data(), frequency_[axis].data()};
  }

  Setup setup_;
  Queue queue_;
  InkCheck check_;
  Array<float2, 1> near_factors_;
  Array<float2, 1> factor_[2];
  Array<float, 1> spot_[2];
  Array<int, 1> frequency_[2];
  Transform forward_;
  Transform near_inverse_;
  Transform node_inverse_;
  Array<float, 1> padded_;
  Array<float2, 1> spectrum_;
  Array<float2, 1> work_;
  Array<float, 1> nodes_;   ///< charge on the nodes, for a total of 1
  Array<float2, 1> table_;  ///< near force as spline coefficients, for a total of 1
};

NodeAxis node_axis(const Setup& setup, int axis) {
  const double step = axis == 0 ? setup.step_y : setup.step_x;
  NodeAxis result;
  result.count = static_cast<int>(setup.used[static_cast<std::size_t>(axis)]);
  result.margin = static_cast<int>(setup.margin);
  result.step = static_cast<float>(step);
  result.inverse = static_cast<float>(1 / step);
  result.inverse_rest = static_cast<float>(1 / step - static_cast<double>(result.inverse));
  return result;
}

/// The most accurate polynomials of at most window_terms terms.
WindowTerms window_terms_of(const SpreadWindow& window) {
  WindowPolynomial polynomial;
  double error = 1e-7;
  do {
    polynomial = window_polynomial(window, error);
    error *= 1.5;
  } while (polynomial.degree >= window_terms);
  const auto coefficient = [&](int k, int i) {
    return polynomial.coefficient[static_cast<std::size_t>(k * polynomial.stride + i)];
  };
  // Dots and ink cancel a thousandfold. The polynomials therefore need the charge of the exact window, from which the
  // ink's grid is computed.
  double integral = 0;
  for (int k = 0; k <= polynomial.degree; k += 2) {
    for (int i = 0; i < window.width; ++i) integral += coefficient(k, i) / (k + 1);
  }
  const double correction = window_transform(window, 0) / integral;
  WindowTerms terms;
  for (int i = 0; i < (window.width + 1) / 2; ++i) {
    for (int k = 0; k <= polynomial.degree; ++k) {
      (k % 2 == 0 ? terms.even[i][k / 2] : terms.odd[i][k / 2]) = static_cast<float>(correction * coefficient(k, i));
    }
  }
  return terms;
}

NearTerms near_terms_of(const Setup& setup) {
  NearTerms terms;
  terms.cutoff = static_cast<float>(setup.cutoff);
  terms.inverse2 = static_cast<float>(1 / (setup.cutoff * setup.cutoff));
  const int count = near_terms(setup.window.width);
  const auto coefficient = near_polynomial({setup.split_beta, setup.cutoff}, count);
  for (int k = 0; k < count; ++k) terms.coefficient[k] = static_cast<float>(coefficient[static_cast<std::size_t>(k)]);
  return terms;
}

/// Cells for spreading and for the near force. Narrow cells give few useless candidates, wide cells few rows.
CellGrid choose_cells(const Setup& setup) {
  const double coarsest = std::max(setup.step_x, setup.step_y);
  return make_cells(setup.page, std::max(setup.cutoff / cells_a_cutoff, min_cell_steps * coarsest));
}

std::vector<Pair> influence_of(const Setup& setup) {
  const auto table = far_spectrum(setup);
  std::vector<Pair> result(table.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = {static_cast<float>(table[2 * i]), static_cast<float>(table[2 * i + 1])};
  }
  return result;
}

class EwaldCuda final : public CudaEngine {
 public:
  EwaldCuda(const Setup& setup, const Queue& queue)
      : CudaEngine(setup, choose_cells(setup), queue),
        nodes_{node_axis(setup, 0), node_axis(setup, 1)},
        window_(window_terms_of(setup.window)),
        near_(near_terms_of(setup)),
        ink_(setup, queue),
        edges_(setup, queue),
        points_({setup.options.image == ImageForce::points ? edges_.size() : 0}, queue),
        step_table_({edges_.size()}, queue),
        convolution_(setup.used, setup.grid, influence_of(setup), queue),
        charge_({element_count(setup.used)}, queue),
        field_({element_count(setup.used)}, queue) {}

  void set_ink(View<const float, 2> ink) override {
    const cuda::DeviceScope scope(queue().device());
    edges_.set(ink, ink_.set(ink));
    step_charge_ = 0;
    if (setup().options.image == ImageForce::points) set_points(ink);
  }

  std::int64_t missed_neighbours() override { return 0; }
  [[nodiscard]] std::size_t bytes() const override {
    return CudaEngine::bytes() + ink_.bytes() + edges_.bytes() + points_.bytes() + step_table_.bytes() +
           convolution_.bytes() + charge_.bytes() + field_.bytes();
  }
  [[nodiscard]] std::string arithmetic() const override { return "float32, charge on nodes in fixed point"; }

 protected:
  void sum_forces(float2* forces, cudaStream_t stream) override {
    ForceInput input = far_field(stream);
    input.attraction.table = ink_.table();
    write_forces(input, setup().window.width, forces, sums(), stream);
  }

  /// Updates the sum of the tables of the ink's attraction and of the edge correction, as a share of the dots' charge.
  void prepare(const StepRule& rule) override {
    const double share = rule.edge_correction;
    if (step_charge_ == count() && step_correction_ == share) return;
    step_charge_ = count();
    step_correction_ = share;
    add_tables_kernel<<<cuda::blocks_for(step_table_.size(), threads), threads, 0, cuda::stream_of(queue())>>>(
        ink_.table(), edges_.data(), static_cast<float>(share / static_cast<double>(count())), step_table_.data(),
        step_table_.size());
    cuda::check_launch("electrostatic step table");
  }

  [[nodiscard]] const EdgeTable& edges() const override { return edges_; }

  void sum_and_move(const MoveRule& rule, cudaStream_t stream) override {
    ForceInput input = far_field(stream);
    input.attraction.table = step_table_.data();
    move_by_forces(input, setup().window.width, rule, moved(), target(), sums(), stream);
  }

  [[nodiscard]] Density density() const override {
    Density result;
    result.y = nodes_.y;
    result.x = nodes_.x;
    result.ink = ink_.nodes();
    const double charge = std::pow(window_transform(setup().window, 0), 2);
    const auto dots = static_cast<double>(count());
    result.scale = static_cast<float>(dots / (charge * setup().step_x * setup().step_y));
    result.least = static_cast<float>(dots * min_density / static_cast<double>(element_count(setup().page)));
    return result;
  }

 private:
  /// The grid holds spots of ink: their whole force, a spline up to the tolerance, is exchanged for that of points.
  void set_points(View<const float, 2> ink) {
    const auto host = copy_of(ink, Device{});
    ink_.subtract(attraction_table(setup().page, host.data()));
    const auto table = rounded_pairs(attraction_table(setup().page, host.data(), ImageForce::points));
    copy_bytes(points_.data(), queue().device(), table.data(), Device{}, points_.bytes(), queue());
    queue().synchronize();
  }

  /// Enqueues the far force on the nodes. Returns the input of the force kernel.
  ForceInput far_field(cudaStream_t stream) {
    ForceInput input = dots_input();
    if (!points_.empty()) input.points.table = points_.data();
    spread({input.place, input.start, ink_.nodes(), static_cast<float>(input.count)}, input.cells, nodes_,
           setup().window.width, window_, charge_.data(), stream);
    setup().stage("spread");
    convolution_.run(charge_.data(), field_.data(), stream);
    setup().stage("transforms");
    input.field = reinterpret_cast<const float2*>(field_.data());
    input.nodes = nodes_;
    input.window = window_;
    input.near = near_;
    return input;
  }

  Nodes nodes_;
  WindowTerms window_;
  NearTerms near_;
  InkTables ink_;
  EdgeTable edges_;
  Array<float2, 1> points_;  ///< with ImageForce::points, for a total of 1; else empty
  Array<float2, 1> step_table_;
  std::int64_t step_charge_ = 0;  ///< number of dots for which the table is valid; 0: none
  double step_correction_ = 0;
  Convolution convolution_;
  Array<float, 1> charge_;
  Array<Pair, 1> field_;
};

}  // namespace

EnginePointer ewald_cuda(const Setup& setup, const Queue& queue) {
  if (setup.options.near == NearField::map) {
    throw_unsupported("ElectrostaticPlan", "near", "cells on " + to_string(queue.device()), "map, which the CPU has");
  }
  return std::make_unique<EwaldCuda>(setup, queue);
}

}  // namespace holotone::electrostatic
