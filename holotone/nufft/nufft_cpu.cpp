// Non-uniform FFTs on the CPU: points, spreading or interpolation, pruned FFTs.
#include <holotone/core/thread_memory.hpp>
#include <holotone/nufft/axis_pass_cpu.hpp>
#include <holotone/nufft/nufft_engine.hpp>
#include <holotone/nufft/spread_cpu.hpp>

namespace holotone::nufft {
namespace {

constexpr std::int64_t min_slab_rows = 16;

template <class Real, std::size_t Rank>
SpreadKernel<Real> make_kernel(const Setup<Rank>& setup) {
  if constexpr (std::is_same_v<Real, double>) return SpreadKernel<Real>(setup.window, setup.polynomial_error);
  return SpreadKernel<Real>(setup.window, setup.polynomial_error,
                            longest_float_sum(setup.window, sum_share * setup.tolerance, Rank));
}

template <class Real, std::size_t Rank>
class CpuEngine final : public NufftPlan<Real, Rank>::Engine {
  using Complex = std::complex<Real>;

 public:
  explicit CpuEngine(const Setup<Rank>& setup)
      : setup_(setup), kernel_(make_kernel<Real>(setup)), grid_(make_grid(setup)) {
    for (const bool half : {false, true}) {
      auto& side = sides_[half];
      const auto factor = [&](std::size_t axis) {
        return deconvolution(setup.window, setup.modes[axis], setup.grid[axis], half && axis == Rank - 1);
      };
      const auto x_factor = factor(Rank - 1);
      side.x_factor.assign(x_factor.begin(), x_factor.end());
      side.x_runs = mode_runs(setup.modes[Rank - 1], setup.grid[Rank - 1], half);
      side.columns = static_cast<std::int64_t>(x_factor.size());
      if (half) continue;  // the slower axes are the same
      for (std::size_t axis = 0; axis + 1 < Rank; ++axis) {
        passes_.emplace_back(setup.grid[axis], mode_runs(setup.modes[axis], setup.grid[axis], false), factor(axis));
      }
    }
  }

  void set_points(View<const Real, 2> points) override {
    const Real* const data = points.data();
    const auto first_bad = find_bad(data, points.shape()[0]);
    if (first_bad >= 0) {
      sort(data, 0);
      throw_argument("NufftPlan", "points", "finite coordinates",
                     "one that is not, at point " + std::to_string(first_bad));
    }
    sort(data, points.shape()[0]);
  }

  void type1(const Real* strengths, int components, Complex* modes) override {
    reserve();
    clear();
    if (components == 2) {
      spread<Real, Rank, 2>(points_, kernel_, grid_, strengths, cells_.data());
      fold<2>();
      forward(sides_[0], modes, row_forward());
    } else {
      spread<Real, Rank, 1>(points_, kernel_, grid_, strengths, cells_.data());
      fold<1>();
      forward(sides_[1], modes, row_forward_real());
    }
  }

  void type2(const Complex* modes, int components, Real* values, Real* gradient) override {
    reserve();
    if (components == 2) {
      inverse(sides_[0], modes, row_inverse());
      fill_halo<2>();
      interpolate<Real, Rank, 2>(points_, kernel_, grid_, cells_.data(), values, gradient);
    } else {
      inverse(sides_[1], modes, row_inverse_real());
      fill_halo<1>();
      interpolate<Real, Rank, 1>(points_, kernel_, grid_, cells_.data(), values, gradient);
    }
    if (gradient != nullptr) scale_gradient(gradient, components);
  }

  [[nodiscard]] std::size_t bytes() const override {
    return cells_.bytes() + between_.bytes() + points_.bytes() + memory_.bytes();
  }

 private:
  /// Columns of the modes, which differ between complex and real strengths.
  struct Side {
    std::vector<Real> x_factor;
    std::vector<ModeRun> x_runs;
    std::int64_t columns = 0;
  };

  static SpreadGrid<Rank> make_grid(const Setup<Rank>& setup) {
    SpreadGrid<Rank> grid;
    for (std::size_t axis = 0; axis < Rank; ++axis) grid.extent[axis] = setup.grid[axis];
    // The loops work on whole vectors: they touch up to three cells beyond the window.
    grid.halo = (setup.window.width + 3) / 4 * 4;
    return grid;
  }

  void sort(const Real* data, std::int64_t count) {
    const int width = kernel_.width;
    points_.sort(count, grid_, slab_rows(), [&](std::int64_t j, SpreadPoint<Real, Rank>& point) {
      for (std::size_t axis = 0; axis < Rank; ++axis) {
        const auto x = static_cast<double>(data[j * static_cast<std::int64_t>(Rank) + static_cast<std::int64_t>(axis)]);
        const std::int64_t extent = grid_.extent[Rank - 1 - axis];
        place_on_axis(grid_coordinate(x, extent), width, extent, point.cell[axis], point.place[axis]);
      }
      return true;
    });
  }

  static std::int64_t find_bad(const Real* data, std::int64_t count) {
    std::int64_t bad = count;
#pragma omp parallel for reduction(min : bad) schedule(static)
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::size_t axis = 0; axis < Rank; ++axis) {
        if (!std::isfinite(data[j * static_cast<std::int64_t>(Rank) + static_cast<std::int64_t>(axis)]))
          bad = std::min(bad, j);
      }
    }
    return bad == count ? -1 : bad;
  }

  /// Rows of a slab: enough that slabs two apart never touch the same row, few enough that many threads have several
  /// slabs each.
  [[nodiscard]] std::int64_t slab_rows() const {
    return std::clamp<std::int64_t>(setup_.grid[Rank - 2] / 64, std::max<std::int64_t>(min_slab_rows, kernel_.width),
                                    64);
  }

  [[nodiscard]] std::int64_t planes() const { return Rank == 3 ? setup_.grid[0] : 1; }
  [[nodiscard]] std::int64_t plane_cells() const { return grid_.rows() * grid_.stride(); }
  /// Complex numbers from row to row of a grid of real or complex cells.
  template <int Components>
  [[nodiscard]] std::int64_t row_step() const {
    return Components == 2 ? grid_.stride() : grid_.stride() / 2;
  }

  void reserve() {
    const std::int64_t numbers = 2 * grid_.cells();
    holotone::reserve(cells_, numbers);
    std::int64_t block = 0;
    for (const auto& pass : passes_) block = std::max(block, pass.block_size());
    memory_.reserve(block);
    if constexpr (Rank == 3) {
      const std::int64_t between = planes() * setup_.modes[1] * sides_[0].columns;
      holotone::reserve(between_, between);
    }
  }

  void clear() {
    const std::int64_t row = 2 * grid_.stride();
    parallel_for(0, grid_.planes() * grid_.rows(),
                 [&](std::int64_t i) { std::fill_n(cells_.data() + i * row, row, Real(0)); });
  }

  /// Adds the halo to the cells that it represents: planes, then rows, then columns.
  template <int Components>
  void fold() {
    const std::int64_t row = grid_.stride() * Components;
    const std::int64_t ny = setup_.grid[Rank - 2];
    const std::int64_t nx = setup_.grid[Rank - 1];
    const auto at = [&](std::int64_t plane, std::int64_t line) {
      return cells_.data() + (plane * grid_.rows() + line) * row;
    };
    const auto add = [&](Real* target, const Real* source) {
      for (std::int64_t i = 0; i < row; ++i) target[i] += source[i];
    };
    if constexpr (Rank == 3) {
      parallel_for(0, grid_.rows(), [&](std::int64_t line) {
        for (std::int64_t h = 0; h < grid_.halo; ++h) add(at(h % planes(), line), at(planes() + h, line));
      });
    }
    parallel_for(0, planes(), [&](std::int64_t plane) {
      for (std::int64_t h = 0; h < grid_.halo; ++h) add(at(plane, h % ny), at(plane, ny + h));
    });
    parallel_for(0, planes() * ny, [&](std::int64_t i) {
      Real* const line = at(i / ny, i % ny);
      for (std::int64_t h = 0; h < grid_.halo * Components; ++h)
        line[h % (nx * Components)] += line[nx * Components + h];
    });
  }

  /// Opposite of fold: copies to the halo the cells that it represents.
  template <int Components>
  void fill_halo() {
    const std::int64_t row = grid_.stride() * Components;
    const std::int64_t ny = setup_.grid[Rank - 2];
    const std::int64_t nx = setup_.grid[Rank - 1];
    const auto at = [&](std::int64_t plane, std::int64_t line) {
      return cells_.data() + (plane * grid_.rows() + line) * row;
    };
    parallel_for(0, planes() * ny, [&](std::int64_t i) {
      Real* const line = at(i / ny, i % ny);
      for (std::int64_t h = 0; h < grid_.halo * Components; ++h)
        line[nx * Components + h] = line[h % (nx * Components)];
    });
    parallel_for(0, planes(), [&](std::int64_t plane) {
      for (std::int64_t h = 0; h < grid_.halo; ++h) std::copy_n(at(plane, h % ny), row, at(plane, ny + h));
    });
    if constexpr (Rank == 3) {
      parallel_for(0, grid_.rows(), [&](std::int64_t line) {
        for (std::int64_t h = 0; h < grid_.halo; ++h) std::copy_n(at(h % planes(), line), row, at(planes() + h, line));
      });
    }
  }

  /// Calls action(plane, block) for every plane of `outer` and all blocks of columns: first column among the modes,
  /// first column on the grid, count.
  template <class Action>
  void over_blocks(const std::vector<ModeRun>& runs, std::int64_t outer, const Action& action) {
    constexpr std::int64_t block = AxisPass<Real>::block;
    std::vector<ModeRun> blocks;
    for (const auto& run : runs) {
      for (std::int64_t i = 0; i < run.count; i += block) {
        blocks.push_back({run.mode + i, run.frequency + i, std::min(block, run.count - i)});
      }
    }
    const auto per_plane = std::ssize(blocks);
    parallel_for(0, outer * per_plane,
                 [&](std::int64_t i) { action(i / per_plane, blocks[static_cast<std::size_t>(i % per_plane)]); });
  }

  template <class RowPlan>
  void rows(const RowPlan& plan, std::int64_t row_step) {
    auto* const all = reinterpret_cast<Complex*>(cells_.data());
    const std::int64_t ny = setup_.grid[Rank - 2];
    parallel_for(0, planes() * ny,
                 [&](std::int64_t i) { plan.execute(all + (i / ny * grid_.rows() + i % ny) * row_step); });
  }

  template <class RowPlan>
  void forward(const Side& side, Complex* modes, const RowPlan& plan) {
    const std::int64_t step = &side == &sides_[0] ? row_step<2>() : row_step<1>();
    rows(plan, step);
    columns_pass(side, step, modes, true);
    if constexpr (Rank == 3) depth_pass(side, modes, true);
  }

  template <class RowPlan>
  void inverse(const Side& side, const Complex* modes, const RowPlan& plan) {
    const std::int64_t step = &side == &sides_[0] ? row_step<2>() : row_step<1>();
    // The passes read modes and never write them in this direction.
    auto* const given = const_cast<Complex*>(modes);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    clear();
    if constexpr (Rank == 3) depth_pass(side, given, false);
    columns_pass(side, step, given, false);
    rows(plan, step);
  }

  /// Transforms between the grid's columns and the modes (Rank 2) or `between_` (Rank 3).
  void columns_pass(const Side& side, std::int64_t step, Complex* modes, bool forward) {
    const AxisPass<Real>& pass = passes_[Rank - 2];
    auto* const all = reinterpret_cast<Complex*>(cells_.data());
    Complex* const target = Rank == 3 ? between_.data() : modes;
    const std::int64_t target_plane = setup_.modes[Rank - 2] * side.columns;
    over_blocks(side.x_runs, planes(), [&](std::int64_t plane, const ModeRun& block) {
      const typename AxisPass<Real>::Lines lines{all + plane * grid_.rows() * step + block.frequency,
                                                 step,
                                                 target + plane * target_plane + block.mode,
                                                 side.columns,
                                                 side.x_factor.data() + block.mode,
                                                 block.count};
      forward ? pass.forward(lines, memory_.thread_block()) : pass.inverse(lines, memory_.thread_block());
    });
  }

  /// Transforms between the planes of `between_` and the modes.
  void depth_pass(const Side& side, Complex* modes, bool forward) {
    const AxisPass<Real>& pass = passes_[0];
    const std::int64_t plane = setup_.modes[Rank - 2] * side.columns;
    over_blocks({{0, 0, plane}}, 1, [&](std::int64_t, const ModeRun& block) {
      const typename AxisPass<Real>::Lines lines{
          between_.data() + block.mode, plane, modes + block.mode, plane, nullptr, block.count};
      forward ? pass.forward(lines, memory_.thread_block()) : pass.inverse(lines, memory_.thread_block());
    });
  }

  void scale_gradient(Real* gradient, int components) const {
    const auto count = std::ssize(points_.points());
#pragma omp parallel for schedule(static)
    for (std::int64_t j = 0; j < count; ++j) {
      Real* const derivative = gradient + j * static_cast<std::int64_t>(Rank) * components;
      for (std::size_t axis = 0; axis < Rank; ++axis) {
        const auto steps = static_cast<Real>(setup_.grid[Rank - 1 - axis]);
        for (int c = 0; c < components; ++c) derivative[static_cast<int>(axis) * components + c] *= steps;
      }
    }
  }

  fft::LinePlan<Real>& row_forward() { return made(row_forward_, FftDirection::forward, row_step<2>()); }
  fft::LinePlan<Real>& row_inverse() { return made(row_inverse_, FftDirection::inverse, row_step<2>()); }
  fft::RealLinePlan<Real>& row_forward_real() { return made(row_forward_real_, FftDirection::forward, row_step<1>()); }
  fft::RealLinePlan<Real>& row_inverse_real() { return made(row_inverse_real_, FftDirection::inverse, row_step<1>()); }

  template <class Plan>
  Plan& made(std::unique_ptr<Plan>& plan, FftDirection direction, std::int64_t step) {
    if (!plan) plan = std::make_unique<Plan>(setup_.grid[Rank - 1], 1, step, direction);
    return *plan;
  }

  Setup<Rank> setup_;
  SpreadKernel<Real> kernel_;
  SpreadGrid<Rank> grid_;
  std::array<Side, 2> sides_;  // complex, real
  std::vector<AxisPass<Real>> passes_;
  std::unique_ptr<fft::LinePlan<Real>> row_forward_;
  std::unique_ptr<fft::LinePlan<Real>> row_inverse_;
  std::unique_ptr<fft::RealLinePlan<Real>> row_forward_real_;
  std::unique_ptr<fft::RealLinePlan<Real>> row_inverse_real_;
  SpreadPoints<Real, Rank> points_;
  Array<Real, 1> cells_;
  Array<Complex, 1> between_;
  ThreadMemory<Complex> memory_;
};

}  // namespace

template <class Real, std::size_t Rank>
EnginePointer<Real, Rank> engine_cpu(const Setup<Rank>& setup) {
  return std::make_unique<CpuEngine<Real, Rank>>(setup);
}

template EnginePointer<float, 2> engine_cpu<float, 2>(const Setup<2>&);
template EnginePointer<float, 3> engine_cpu<float, 3>(const Setup<3>&);
template EnginePointer<double, 2> engine_cpu<double, 2>(const Setup<2>&);
template EnginePointer<double, 3> engine_cpu<double, 3>(const Setup<3>&);

}  // namespace holotone::nufft
