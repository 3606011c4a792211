// The near force on the CPU: dots sorted into cells, sums over the pairs within the cut-off.
#include <cmath>
#include <holotone/core/random.hpp>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>
#include <holotone/halftone/electrostatic/lanes_cpu.hpp>
#include <numbers>

namespace holotone::electrostatic {
namespace {

/// Sums over runs of neighbours for one dot.
struct PairSum {
  FloatLanes x{};
  FloatLanes y{};
  FloatLanes inverse{};  ///< of 1 / (v + softening)
};

/// A NearKernel with a compile-time number of terms.
template <int Terms>
struct Share {
  float inverse;  ///< 1 / cutoff^2
  float coefficient[Terms];
  explicit Share(const NearKernel& kernel) : inverse(static_cast<float>(1 / (kernel.cutoff * kernel.cutoff))) {
    for (int k = 0; k < Terms; ++k) coefficient[k] = kernel.coefficient[static_cast<std::size_t>(k)];
  }
};

template <int Terms>
HOLOTONE_ALWAYS_INLINE void add_run(const Share<Terms>& share, float own_x, float own_y, const float* x, const float* y,
                                    std::int64_t begin, std::int64_t end, PairSum& sum) {
  for (std::int64_t i = begin; i < end; i += lanes) {
    FloatLanes dx;
    FloatLanes dy;
    FloatLanes wanted;
    load_lanes(x + i, dx);
    load_lanes(y + i, dy);
    first_lanes(end - i, wanted);
    dx = own_x - dx;
    dy = own_y - dy;
    const FloatLanes v = dx * dx + dy * dy;
    const FloatLanes inverse = wanted / (v + softening);
    FloatLanes s = 1.0F - v * share.inverse;
    keep_positive(s);
    FloatLanes size = s * share.coefficient[Terms - 1];
    for (int k = Terms - 2; k >= 0; --k) size = (size + share.coefficient[k]) * s;
    size *= inverse;
    sum.x += size * dx;
    sum.y += size * dy;
    sum.inverse += inverse;
  }
}

/// Cells, dots and cut-off for the loops.
struct Neighbourhood {
  const Cells* cells;
  const DotList* dots;
  float cutoff;
};

/// Calls action(begin, end) for the runs of dots in the cells that a disc about (x, y) touches, row by row.
template <class Action>
HOLOTONE_ALWAYS_INLINE void over_runs(const Neighbourhood& around, float x, float y, const Action& action) {
  const Cells& cells = *around.cells;
  const auto side = static_cast<float>(cells.side());
  const std::int64_t last = cells.row(y + around.cutoff);
  for (std::int64_t row = cells.row(y - around.cutoff); row <= last; ++row) {
    const float edge = static_cast<float>(row) * side;
    const float away = std::max(std::max(edge - y, y - edge - side), 0.0F);
    const float half = std::sqrt(std::max(around.cutoff * around.cutoff - away * away, 0.0F));
    action(cells.start(row, cells.column(x - half)), cells.start(row, cells.column(x + half) + 1));
  }
}

template <int Terms>
HOLOTONE_SIMD_CLONES void neighbours_task(const NearKernel& kernel, const Neighbourhood& around, float same_place_force,
                                          std::int64_t begin, std::int64_t end, float* force_x, float* force_y) {
  const Share<Terms> share(kernel);
  const DotList& dots = *around.dots;
  for (std::int64_t i = begin; i < end; ++i) {
    const float x = dots.x[static_cast<std::size_t>(i)];
    const float y = dots.y[static_cast<std::size_t>(i)];
    PairSum sum;
    over_runs(around, x, y, [&](std::int64_t from, std::int64_t to) {
      add_run(share, x, y, dots.x.data(), dots.y.data(), from, to, sum);
    });
    force_x[i] += add_lanes(sum.x);
    force_y[i] += add_lanes(sum.y);
    if (add_lanes(sum.inverse) > crowded) {
      over_runs(around, x, y, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t j = from; j < to; ++j) {
          const auto other = static_cast<std::size_t>(j);
          const float dx = x - dots.x[other];
          const float dy = y - dots.y[other];
          if (j == i || dx * dx + dy * dy > static_cast<float>(same_place_px * same_place_px)) continue;
          add_same_place(dots.index[static_cast<std::size_t>(i)], dots.index[other], same_place_force, force_x[i],
                         force_y[i]);
        }
      });
    }
  }
}

using Task = void (*)(const NearKernel&, const Neighbourhood&, float, std::int64_t, std::int64_t, float*, float*);

/// Returns the loop for a run-time number of terms.
Task task_of(std::size_t terms) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr Task tasks[] = {neighbours_task<I + 1>...};
    return tasks[terms - 1];
  }
  (std::make_integer_sequence<int, max_terms>{});
}

class CellNeighbours final : public NeighbourSum {
 public:
  CellNeighbours(const Setup& setup, const NearKernel& kernel)
      : kernel_(kernel),
        task_(task_of(kernel.coefficient.size())),
        same_place_force_(static_cast<float>(setup.same_place_force)) {}

  void add(const DotList& dots, const Cells& order, float* force_x, float* force_y) override {
    const Neighbourhood around{&order, &dots, static_cast<float>(kernel_.cutoff)};
    // Crowded dots have many neighbours each, so these runs are shorter than task_dots.
    constexpr std::int64_t run = 256;
    parallel_for(0, (dots.count + run - 1) / run, [&](std::int64_t i) {
      const std::int64_t end = std::min(dots.count, (i + 1) * run);
      task_(kernel_, around, same_place_force_, i * run, end, force_x, force_y);
    });
  }

  std::int64_t missed(const DotList&, const Cells&) override { return 0; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

 private:
  NearKernel kernel_;
  Task task_;
  float same_place_force_;
};

}  // namespace

void add_same_place(std::uint32_t dot, std::uint32_t other, float force, float& force_x, float& force_y) {
  const std::uint64_t pair = (static_cast<std::uint64_t>(std::min(dot, other)) << 32) | std::max(dot, other);
  const float angle = 2 * std::numbers::pi_v<float> * random_uniform(0, pair);
  const float sign = dot < other ? force : -force;
  force_x += sign * std::cos(angle);
  force_y += sign * std::sin(angle);
}

Cells::Cells(Shape<2> page, double side) : side_(side) {
  // Limits the cells to what 32-bit indices can hold and to what a large list of dots needs.
  constexpr double max_cells = 1 << 26;
  const double height = static_cast<double>(page[0]);
  const double width = static_cast<double>(page[1]);
  side_ = std::max(side_, std::sqrt(height * width / max_cells));
  side_ = std::max({side_, height / 32768, width / 32768});
  inverse_ = static_cast<float>(1 / side_);
  side_ = 1 / static_cast<double>(inverse_);
  rows_ = static_cast<std::int64_t>(std::ceil(height / side_));
  columns_ = static_cast<std::int64_t>(std::ceil(width / side_));
  start_.assign(static_cast<std::size_t>(rows_ * columns_) + 1, 0);
}

void Cells::sort(DotList& dots) {
  const std::int64_t count = dots.count;
  const std::int64_t cell_count = rows_ * columns_;
  // Every part of the list counts its dots in each cell. The counts give the dots' destinations, so the order does not
  // depend on the parts.
  const std::int64_t parts = std::clamp<std::int64_t>(count / 16384, 1, thread_count());
  const auto part_begin = [&](std::int64_t part) { return count * part / parts; };
  next_.assign(static_cast<std::size_t>(parts * cell_count), 0);
  cell_.resize(static_cast<std::size_t>(count));
  parallel_for(0, parts, [&](std::int64_t part) {
    std::uint32_t* const counts = next_.data() + part * cell_count;
    for (std::int64_t j = part_begin(part); j < part_begin(part + 1); ++j) {
      const auto dot = static_cast<std::size_t>(j);
      const auto cell = static_cast<std::uint32_t>(row(dots.y[dot]) * columns_ + column(dots.x[dot]));
      cell_[dot] = cell;
      ++counts[cell];
    }
  });
  std::uint32_t total = 0;
  for (std::int64_t cell = 0; cell < cell_count; ++cell) {
    start_[static_cast<std::size_t>(cell)] = total;
    for (std::int64_t part = 0; part < parts; ++part) {
      auto& entry = next_[static_cast<std::size_t>(part * cell_count + cell)];
      const std::uint32_t here = entry;
      entry = total;
      total += here;
    }
  }
  start_.back() = total;
  if (sorted_.count != count) sorted_.resize(count);
  parallel_for(0, parts, [&](std::int64_t part) {
    std::uint32_t* const places = next_.data() + part * cell_count;
    for (std::int64_t j = part_begin(part); j < part_begin(part + 1); ++j) {
      const auto dot = static_cast<std::size_t>(j);
      const std::size_t to = places[cell_[dot]]++;
      sorted_.x[to] = dots.x[dot];
      sorted_.y[to] = dots.y[dot];
      sorted_.velocity_x[to] = dots.velocity_x[dot];
      sorted_.velocity_y[to] = dots.velocity_y[dot];
      sorted_.index[to] = dots.index[dot];
    }
  });
  std::swap(sorted_, dots);
}

std::unique_ptr<NeighbourSum> neighbours_by_cells(const Setup& setup, const NearKernel& kernel) {
  return std::make_unique<CellNeighbours>(setup, kernel);
}

}  // namespace holotone::electrostatic
