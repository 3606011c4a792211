#pragma once
// Shared by the CPU's methods of electrostatic halftoning. Not for users.
#include <algorithm>
#include <cstdint>
#include <holotone/core/parallel.hpp>
#include <holotone/halftone/electrostatic/engine.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace holotone::electrostatic {

/// Number of values that a vector loop processes at once, for any width of the processor's vectors.
constexpr int lanes = 16;

/// Number of dots of one task of a parallel loop.
constexpr std::int64_t task_dots = 2048;

/// Calls body(task, begin, end) for runs of task_dots dots. The runs, and so the sums over them, do not depend on the
/// number of threads.
template <class Body>
void over_dots(std::int64_t count, const Body& body) {
  parallel_for(0, (count + task_dots - 1) / task_dots,
               [&](std::int64_t task) { body(task, task * task_dots, std::min(count, (task + 1) * task_dots)); });
}

/// Dots in the engine's order, x and y in separate arrays. Each array has `lanes` more values than dots, so that
/// vectors may read past the end.
struct DotList {
  std::int64_t count = 0;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> velocity_x;
  std::vector<float> velocity_y;
  std::vector<std::uint32_t> index;  ///< number in the caller's order

  void resize(std::int64_t size) {
    count = size;
    const auto padded = static_cast<std::size_t>(size + lanes);
    for (auto* array : {&x, &y, &velocity_x, &velocity_y}) array->assign(padded, 0.0F);
    index.assign(padded, 0);
  }
  [[nodiscard]] std::size_t bytes() const { return x.capacity() * 4 * sizeof(float) + index.capacity() * 4; }
};

/// Dots sorted into square cells, row by row.
class Cells {
 public:
  Cells(Shape<2> page, double side);

  /// Reorders the dots by cell; the order within a cell is kept.
  void sort(DotList& dots);

  [[nodiscard]] double side() const { return side_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t row(float y) const { return place(y, rows_); }
  [[nodiscard]] std::int64_t column(float x) const { return place(x, columns_); }
  /// First dot of a cell; start(row, columns()) is the first of the next row.
  [[nodiscard]] std::int64_t start(std::int64_t row, std::int64_t column) const {
    return start_[static_cast<std::size_t>(row * columns_ + column)];
  }
  [[nodiscard]] std::size_t bytes() const {
    return start_.capacity() * 4 + next_.capacity() * 4 + cell_.capacity() * 4 + sorted_.bytes();
  }

 private:
  [[nodiscard]] std::int64_t place(float coordinate, std::int64_t count) const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(coordinate * inverse_), 0, count - 1);
  }

  double side_;
  float inverse_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<std::uint32_t> start_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> cell_;
  DotList sorted_;
};

/// Side of the cells for a cut-off: a compromise between few useless candidates (small cells) and long runs (large
/// cells).
constexpr double cell_side(double cutoff) { return cutoff / 2.5; }

/// Near force of a dot: share(s) r / |r|^2 with s = 1 - (r / cutoff)^2 and share = sum over k >= 1 of
/// coefficient[k - 1] s^k, for s > 0.
struct NearKernel {
  double cutoff = 0;
  std::vector<float> coefficient;  ///< 1 to max_terms values
};
constexpr int max_terms = 12;

/// Adds the force of the dots within the cut-off to (force_x, force_y) of every dot, add_same_place included. Cost
/// O(pairs within the cut-off).
class NeighbourSum {
 public:
  virtual ~NeighbourSum() = default;
  /// Called before add and missed, and again for other ink.
  virtual void set_ink(const float*) {}
  /// `dots` are in the order of the cells.
  virtual void add(const DotList& dots, const Cells& order, float* force_x, float* force_y) = 0;
  [[nodiscard]] virtual std::int64_t missed(const DotList& dots, const Cells& order) = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};
std::unique_ptr<NeighbourSum> neighbours_by_cells(const Setup& setup, const NearKernel& kernel);
std::unique_ptr<NeighbourSum> neighbours_by_map(const Setup& setup, const NearKernel& kernel);

/// Adds the force of dot `other` on dot `own` at the same place. Its direction depends only on their numbers.
void add_same_place(std::uint32_t dot, std::uint32_t other, float force, float& force_x, float& force_y);

/// A force field as coefficients of a cubic B-spline at the pixels' centres, or as values there to be interpolated
/// linearly; x and y interleaved, with 2 more on every side of the page. Without a table the field is 0.
class ForceField {
 public:
  enum class Between { spline, linear };
  void set(Shape<2> page, std::vector<float> table, Between between = Between::spline) {
    page_ = page;
    table_ = std::move(table);
    between_ = between;
  }
  /// The whole attraction by the ink in this field.
  void set_attraction(const Setup& setup, const float* ink);
  /// force += charge times the field at the dots [begin, end).
  void add(const DotList& dots, std::int64_t begin, std::int64_t end, float charge, float* force_x,
           float* force_y) const;
  [[nodiscard]] std::size_t bytes() const { return table_.capacity() * sizeof(float); }

 private:
  Shape<2> page_{};
  Between between_ = Between::spline;
  std::vector<float> table_;
};

/// Density of ink for `taylor` and `direct` (InkNodes).
class InkDensity {
 public:
  explicit InkDensity(Setup setup) : setup_(std::move(setup)) {}
  void set_ink(const float* ink, double total);
  /// Computes densities as Method::densities.
  void at(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const;
  [[nodiscard]] std::size_t bytes() const { return nodes_.density.capacity() * sizeof(float); }

 private:
  Setup setup_;
  InkNodes nodes_;
};

/// A method of summing the forces.
class Method {
 public:
  virtual ~Method() = default;
  virtual void set_ink(const float* ink, double total) = 0;
  /// May change the order of the dots.
  virtual void forces(DotList& dots, float* force_x, float* force_y) = 0;
  /// Smoothed density of ink of total charge 1 at the dots [begin, end), at least min_density of its mean; 1/px^2.
  virtual void densities(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const = 0;
  [[nodiscard]] virtual std::int64_t missed_neighbours(DotList& dots) = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual std::string arithmetic() const = 0;
};
std::unique_ptr<Method> ewald_cpu(const Setup& setup);
std::unique_ptr<Method> taylor_cpu(const Setup& setup);
std::unique_ptr<Method> direct_cpu(const Setup& setup);

}  // namespace holotone::electrostatic
