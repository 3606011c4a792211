#pragma once
// Spreading on the CPU, for the files that instantiate it: spread_*_cpu.cpp. Not for users.
#include <algorithm>
#include <bit>
#include <holotone/nufft/spread_run_cpu.hpp>
#include <memory>

namespace holotone::nufft {
namespace {

constexpr std::ptrdiff_t prefetch_distance = 24;

template <class Real, std::size_t Rank, int Components, int Width>
HOLOTONE_SIMD_CLONES void spread_run(const Run<Real, Rank>& run, const Real* strength, Real* cells) {
  constexpr int lanes = padded(Width);
  for (const auto* point = run.begin; point != run.end; ++point) {
    if (run.end - point > prefetch_distance) {
      __builtin_prefetch(strength + static_cast<std::size_t>(point[prefetch_distance].index) * Components);
    }
    alignas(64) Real x[lanes];
    alignas(64) Real y[lanes];
    weights<Real, Width>(run.coefficient, run.degree, point->place[0], x);
    weights<Real, Width>(run.coefficient, run.degree, point->place[1], y);
    const Real* number = strength + static_cast<std::size_t>(point->index) * Components;
    alignas(64) Real across[lanes * Components];
    for (int i = 0; i < lanes; ++i) {
      for (int c = 0; c < Components; ++c) across[i * Components + c] = number[c] * x[i];
    }
    Real* const corner =
        cells + ((point->cell[1] - run.origin[1]) * run.stride + point->cell[0] - run.origin[0]) * Components;
    if constexpr (Rank == 2) {
      for (int dy = 0; dy < Width; ++dy) {
        Real* const row = corner + dy * run.stride * Components;
        const Real weight = y[dy];
        for (int i = 0; i < lanes * Components; ++i) row[i] += weight * across[i];
      }
    } else {
      alignas(64) Real z[lanes];
      weights<Real, Width>(run.coefficient, run.degree, point->place[2], z);
      for (int dz = 0; dz < Width; ++dz) {
        Real* const plane = corner + (point->cell[2] - run.origin[2] + dz) * run.plane_cells * Components;
        for (int dy = 0; dy < Width; ++dy) {
          Real* const row = plane + dy * run.stride * Components;
          const Real weight = z[dz] * y[dy];
          for (int i = 0; i < lanes * Components; ++i) row[i] += weight * across[i];
        }
      }
    }
  }
}

/// The box of cells that the windows of some points touch, fastest axis first.
template <std::size_t Rank>
struct CellBox {
  std::array<std::int64_t, Rank> origin{};
  std::array<std::int64_t, Rank> extent{};

  [[nodiscard]] std::int64_t cells() const {
    std::int64_t product = 1;
    for (const auto side : extent) product *= side;
    return product;
  }
};

template <class Real, std::size_t Rank>
CellBox<Rank> find_box(const SpreadPoint<Real, Rank>* begin, const SpreadPoint<Real, Rank>* end, int width) {
  auto least = begin->cell;
  auto most = least;
  for (const auto* point = begin; point != end; ++point) {
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      least[axis] = std::min(least[axis], point->cell[axis]);
      most[axis] = std::max(most[axis], point->cell[axis]);
    }
  }
  CellBox<Rank> box;
  for (std::size_t axis = 0; axis < Rank; ++axis) {
    box.origin[axis] = least[axis];
    box.extent[axis] = most[axis] - least[axis] + (axis == 0 ? padded(width) : width);
  }
  return box;
}

/// Returns the run with the cells of the box as its target.
template <class Real, std::size_t Rank>
Run<Real, Rank> run_in(const CellBox<Rank>& box, Run<Real, Rank> run) {
  run.stride = box.extent[0];
  run.plane_cells = box.extent[0] * box.extent[1];
  run.origin = box.origin;
  return run;
}

/// Spreads many points that begin in one cell. The error of float32 sums grows with their length: no more than
/// exact_points are therefore summed at a time, and these sums are added in float64.
template <class Real, std::size_t Rank, int Components, int Width>
void spread_dense(const Run<Real, Rank>& run, std::int64_t exact_points, const Real* strength, Real* cells) {
  const auto box = find_box(run.begin, run.end, Width);
  const auto numbers = static_cast<std::size_t>(box.cells() * Components);
  std::vector<Real> some(numbers);
  std::vector<double> all(numbers, 0.0);
  Run<Real, Rank> mine = run_in(box, run);
  for (mine.begin = run.begin; mine.begin != run.end; mine.begin = mine.end) {
    mine.end = mine.begin + std::min<std::int64_t>(exact_points, run.end - mine.begin);
    std::fill(some.begin(), some.end(), Real(0));
    spread_run<Real, Rank, Components, Width>(mine, strength, some.data());
    for (std::size_t i = 0; i < numbers; ++i) all[i] += static_cast<double>(some[i]);
  }
  const double* from = all.data();
  for (std::int64_t plane = 0; plane < (Rank == 3 ? box.extent[Rank - 1] : 1); ++plane) {
    const std::int64_t planes_before = Rank == 3 ? box.origin[Rank - 1] - run.origin[Rank - 1] + plane : 0;
    for (std::int64_t row = 0; row < box.extent[1]; ++row) {
      Real* const to = cells + (planes_before * run.plane_cells + (box.origin[1] - run.origin[1] + row) * run.stride +
                                box.origin[0] - run.origin[0]) *
                                   Components;
      for (std::int64_t i = 0; i < box.extent[0] * Components; ++i) to[i] += static_cast<Real>(*from++);
    }
  }
}

/// True if more than `most` points begin in one cell, or in cells of the same hash value.
template <class Real, std::size_t Rank>
bool crowds(const SpreadPoint<Real, Rank>* begin, const SpreadPoint<Real, Rank>* end, std::int64_t most) {
  const auto bits = std::min<std::uint64_t>(16, std::bit_width(static_cast<std::uint64_t>(end - begin)));
  std::vector<std::int32_t> count(std::size_t{1} << bits, 0);
  for (const auto* point = begin; point != end; ++point) {
    std::uint64_t cell = 0;
    for (const auto index : point->cell) cell = (cell + static_cast<std::uint64_t>(index)) * 0x9E3779B97F4A7C15U;
    if (++count[static_cast<std::size_t>(cell >> (64 - bits))] > most) return true;
  }
  return false;
}

/// Spreads a bin in which points crowd: cell by cell of those in which they begin.
template <class Real, std::size_t Rank, int Components, int Width>
void spread_crowds(const Run<Real, Rank>& bin, std::int64_t exact_points, const Real* strength, Real* cells) {
  std::vector<SpreadPoint<Real, Rank>> sorted(bin.begin, bin.end);
  const auto before = [](const auto& a, const auto& b) { return a.cell < b.cell; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), before)) std::stable_sort(sorted.begin(), sorted.end(), before);
  Run<Real, Rank> run = bin;
  const auto* const end = sorted.data() + sorted.size();
  for (run.begin = sorted.data(); run.begin != end; run.begin = run.end) {
    run.end = std::find_if(run.begin, end, [&](const auto& point) { return point.cell != run.begin->cell; });
    if (run.end - run.begin > exact_points) {
      spread_dense<Real, Rank, Components, Width>(run, exact_points, strength, cells);
    } else {
      spread_run<Real, Rank, Components, Width>(run, strength, cells);
    }
  }
}

/// Spreads a run; bins in which points crowd by themselves.
template <class Real, std::size_t Rank, int Components, int Width>
void spread_bins(const Run<Real, Rank>& run, std::int64_t exact_points, const Real* strength, Real* cells) {
  Run<Real, Rank> shifted = run;
  for (const auto* bin = run.begin; bin != run.end;) {
    const auto* end = bin + 1;
    while (end != run.end && end->cell[0] / spread_bin_cells == bin->cell[0] / spread_bin_cells) ++end;
    if (end - bin > exact_points && crowds(bin, end, exact_points)) {
      shifted.end = bin;
      spread_run<Real, Rank, Components, Width>(shifted, strength, cells);
      shifted.begin = bin;
      shifted.end = end;
      spread_crowds<Real, Rank, Components, Width>(shifted, exact_points, strength, cells);
      shifted.begin = end;
    }
    bin = end;
  }
  shifted.end = run.end;
  spread_run<Real, Rank, Components, Width>(shifted, strength, cells);
}

/// Part of a slab's points, summed in cells of its own.
template <class Real, std::size_t Rank>
struct SlabPart {
  std::int64_t begin;
  std::int64_t end;
  CellBox<Rank> box;
  std::vector<Real> cells;
};

/// Slabs with more than 1 / heavy_share of all points are split into parts of at least 1 / part_share of them and at
/// least min_part. The shares do not depend on the number of threads, so neither do the sums.
constexpr std::int64_t heavy_share = 16;
constexpr std::int64_t part_share = 64;
constexpr std::int64_t min_part = 32768;
/// Maximum cells of a part's box per point: adding the box must cost less than spreading the points.
constexpr std::int64_t max_cells_a_point = 4;

/// Returns the parts of a slab; none if it is spread whole.
template <class Real, std::size_t Rank>
std::vector<SlabPart<Real, Rank>> cut_slab(const SpreadPoints<Real, Rank>& points, int width, std::int64_t slab) {
  const auto total = std::ssize(points.points());
  const std::int64_t begin = points.slab_begin(slab);
  const std::int64_t count = points.slab_begin(slab + 1) - begin;
  if (count <= std::max(2 * min_part, total / heavy_share)) return {};
  const std::int64_t parts = count / std::max(min_part, total / part_share);
  std::vector<SlabPart<Real, Rank>> result(static_cast<std::size_t>(parts));
  parallel_for(0, parts, [&](std::int64_t i) {
    auto& part = result[static_cast<std::size_t>(i)];
    part.begin = begin + count * i / parts;
    part.end = begin + count * (i + 1) / parts;
    part.box = find_box(points.points().data() + part.begin, points.points().data() + part.end, width);
  });
  const bool too_wide = std::any_of(result.begin(), result.end(), [](const auto& part) {
    return part.box.cells() > max_cells_a_point * (part.end - part.begin);
  });
  if (too_wide) return {};
  return result;
}

template <class Real, std::size_t Rank, int Components, int Width>
void spread_part(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel, const SpreadGrid<Rank>& grid,
                 const Real* strength, SlabPart<Real, Rank>& part) {
  part.cells.assign(static_cast<std::size_t>(part.box.cells() * Components), Real(0));
  spread_bins<Real, Rank, Components, Width>(run_in(part.box, make_run(points, kernel, grid, part.begin, part.end)),
                                             kernel.exact_points, strength, part.cells.data());
}

/// Adds one row (counted from the slab's first) of the parts' boxes, in the parts' order.
template <class Real, std::size_t Rank, int Components>
void add_row(const std::vector<SlabPart<Real, Rank>>& parts, const SpreadGrid<Rank>& grid, std::int64_t row,
             Real* cells) {
  for (const auto& part : parts) {
    const auto& [origin, extent] = part.box;
    const std::int64_t line = row - origin[1];
    if (line < 0 || line >= extent[1]) continue;
    const std::int64_t planes = Rank == 3 ? extent[Rank - 1] : 1;
    const std::int64_t first_plane = Rank == 3 ? origin[Rank - 1] : 0;
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      const Real* const from = part.cells.data() + (plane * extent[1] + line) * extent[0] * Components;
      Real* const to = cells + (((first_plane + plane) * grid.rows() + row) * grid.stride() + origin[0]) * Components;
      for (std::int64_t i = 0; i < extent[0] * Components; ++i) to[i] += from[i];
    }
  }
}

/// Slab, or part of one, that one thread spreads at a time.
template <class Real, std::size_t Rank>
struct SlabTask {
  std::int64_t slab;
  SlabPart<Real, Rank>* part;  ///< null: the whole slab
};

}  // namespace

template <class Real, std::size_t Rank, int Components>
void spread(const SpreadPoints<Real, Rank>& points, const SpreadKernel<Real>& kernel, const SpreadGrid<Rank>& grid,
            const Real* strength, Real* cells) {
  with_width<Real>(kernel.width, [&](auto width) {
    for (const std::int64_t parity : {0, 1}) {
      std::vector<std::pair<std::int64_t, std::vector<SlabPart<Real, Rank>>>> heavy;
      std::vector<SlabTask<Real, Rank>> tasks;
      for (std::int64_t slab = parity; slab < points.slabs(); slab += 2) {
        auto parts = cut_slab(points, kernel.width, slab);
        if (parts.empty()) {
          tasks.push_back({slab, nullptr});
          continue;
        }
        heavy.emplace_back(slab, std::move(parts));
        for (auto& part : heavy.back().second) tasks.push_back({slab, &part});
      }
      parallel_for(0, std::ssize(tasks), [&](std::int64_t i) {
        const SlabTask<Real, Rank>& task = tasks[static_cast<std::size_t>(i)];
        if (task.part != nullptr) {
          spread_part<Real, Rank, Components, width.value>(points, kernel, grid, strength, *task.part);
        } else {
          spread_bins<Real, Rank, Components, width.value>(
              make_run(points, kernel, grid, points.slab_begin(task.slab), points.slab_begin(task.slab + 1)),
              kernel.exact_points, strength, cells);
        }
      });
      const std::int64_t rows = points.slab_rows() + kernel.width - 1;
      for (const auto& [slab, parts] : heavy) {
        parallel_for(0, rows, [&, first = slab * points.slab_rows(), box = &parts](std::int64_t row) {
          add_row<Real, Rank, Components>(*box, grid, first + row, cells);
        });
      }
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define HOLOTONE_SPREAD(Real, Rank, Components)                                                            \
  template void spread<Real, Rank, Components>(const SpreadPoints<Real, Rank>&, const SpreadKernel<Real>&, \
                                               const SpreadGrid<Rank>&, const Real*, Real*);
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace holotone::nufft
