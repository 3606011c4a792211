// Weighted Voronoi stippling: Lloyd's iterations on samples of the ink.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/lloyd.hpp>
#include <holotone/halftone/sampling.hpp>
#include <limits>

namespace holotone {
namespace {

constexpr std::int64_t max_samples = std::int64_t{1} << 25;
/// Side of the largest box that is not halved, in samples.
constexpr std::int64_t leaf_side = 4;
/// Number of large boxes along a side of the page, and of small boxes along a side of a large one. Boxes are processed
/// in parallel.
constexpr std::int64_t boxes_a_side = 4;
/// Minimum number of samples for parallel work: one thread finishes fewer before others wake up.
constexpr std::int64_t samples_worth_sharing = 1 << 16;

struct Box {
  std::int64_t row, rows, col, cols;
};

/// A dot that may be nearest somewhere in a box.
struct Candidate {
  double x, y;
  std::int32_t index;
};

/// Finds the nearest dots of one box of samples and its halves.
class BoxSearch {
 public:
  BoxSearch(View<std::int32_t, 2> owner, double step_x, double step_y)
      : owner_(owner), step_x_(step_x), step_y_(step_y) {}

  void run(const Box& box, const std::vector<Candidate>& all) {
    stack_.clear();
    keep(box, all.data(), all.size());
    halve(box, 0);
  }

  /// Returns the candidates of a box, for run() of smaller boxes within it.
  [[nodiscard]] std::vector<Candidate> candidates(const Box& box, const std::vector<Candidate>& all) {
    stack_.clear();
    keep(box, all.data(), all.size());
    return stack_;
  }

 private:
  [[nodiscard]] double pixel_x(std::int64_t col) const { return (static_cast<double>(col) + 0.5) * step_x_; }
  [[nodiscard]] double pixel_y(std::int64_t row) const { return (static_cast<double>(row) + 0.5) * step_y_; }

  /// Appends to the stack the candidates that can be nearest to a sample of the box.
  void keep(const Box& box, const Candidate* candidates, std::size_t count) {
    const double left = pixel_x(box.col);
    const double right = pixel_x(box.col + box.cols - 1);
    const double top = pixel_y(box.row);
    const double bottom = pixel_y(box.row + box.rows - 1);
    double farthest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < count; ++i) {
      const Candidate& dot = candidates[i];
      const double dx = std::max(std::abs(dot.x - left), std::abs(dot.x - right));
      const double dy = std::max(std::abs(dot.y - top), std::abs(dot.y - bottom));
      farthest = std::min(farthest, dx * dx + dy * dy);
    }
    farthest *= 1 + 1e-12;  // includes equal distances that round differently
    for (std::size_t i = 0; i < count; ++i) {
      const Candidate dot = candidates[i];
      const double dx = std::max({left - dot.x, dot.x - right, 0.0});
      const double dy = std::max({top - dot.y, dot.y - bottom, 0.0});
      if (dx * dx + dy * dy <= farthest) stack_.push_back(dot);
    }
  }

  /// Halves a box down to leaves. Its candidates are those of the stack from `first` on.
  void halve(const Box& box, std::size_t first) {
    const std::size_t end = stack_.size();
    if (end - first == 1 || (box.rows <= leaf_side && box.cols <= leaf_side)) {
      fill(box, first);
      return;
    }
    Box halves[2] = {box, box};
    if (box.cols >= box.rows) {
      halves[0].cols = box.cols / 2;
      halves[1].col += halves[0].cols;
      halves[1].cols -= halves[0].cols;
    } else {
      halves[0].rows = box.rows / 2;
      halves[1].row += halves[0].rows;
      halves[1].rows -= halves[0].rows;
    }
    for (const Box& half : halves) {
      stack_.reserve(2 * end - first);  // keep() reads from the stack that it appends to
      keep(half, stack_.data() + first, end - first);
      halve(half, end);
      stack_.resize(end);
    }
  }

  void fill(const Box& box, std::size_t first) {
    if (stack_.size() - first == 1) {
      for (std::int64_t row = box.row; row < box.row + box.rows; ++row) {
        std::fill_n(&owner_(row, box.col), box.cols, stack_[first].index);
      }
      return;
    }
    // Processes all samples of a leaf at once, relative to its corner, so that float32 is precise enough.
    constexpr std::size_t samples = leaf_side * leaf_side;
    float x[samples];
    float y[samples];
    float least[samples];
    std::int32_t nearest[samples];
    for (std::size_t s = 0; s < samples; ++s) {
      x[s] = static_cast<float>(step_x_) * static_cast<float>(s % leaf_side);
      y[s] = static_cast<float>(step_y_) * static_cast<float>(s / leaf_side);
      least[s] = std::numeric_limits<float>::infinity();
      nearest[s] = 0;
    }
    for (std::size_t i = first; i < stack_.size(); ++i) {
      const auto dot_x = static_cast<float>(stack_[i].x - pixel_x(box.col));
      const auto dot_y = static_cast<float>(stack_[i].y - pixel_y(box.row));
      for (std::size_t s = 0; s < samples; ++s) {
        const float dx = x[s] - dot_x;
        const float dy = y[s] - dot_y;
        const float distance = dx * dx + dy * dy;
        // Candidates are in the dots' order, so that the first of equally near ones wins.
        const bool nearer = distance < least[s];
        nearest[s] = nearer ? stack_[i].index : nearest[s];
        least[s] = nearer ? distance : least[s];
      }
    }
    for (std::int64_t row = 0; row < box.rows; ++row) {
      for (std::int64_t col = 0; col < box.cols; ++col) {
        owner_(box.row + row, box.col + col) = nearest[row * leaf_side + col];
      }
    }
  }

  View<std::int32_t, 2> owner_;
  double step_x_;
  double step_y_;
  std::vector<Candidate> stack_;
};

/// Splits a box evenly.
std::vector<Box> boxes_of(const Box& whole) {
  const std::int64_t down = std::min(boxes_a_side, whole.rows);
  const std::int64_t across = std::min(boxes_a_side, whole.cols);
  std::vector<Box> boxes;
  for (std::int64_t i = 0; i < down; ++i) {
    for (std::int64_t k = 0; k < across; ++k) {
      const std::int64_t row = whole.rows * i / down;
      const std::int64_t col = whole.cols * k / across;
      boxes.push_back(
          {whole.row + row, whole.rows * (i + 1) / down - row, whole.col + col, whole.cols * (k + 1) / across - col});
    }
  }
  return boxes;
}

void require_dots(std::string_view where, const Dots& dots) {
  if (dots.count() < 1) throw_argument(where, "dots", "at least 1 dot", "none");
  if (dots.count() > std::numeric_limits<std::int32_t>::max()) {
    throw_argument(where, "dots", "less than 2^31 dots", std::to_string(dots.count()));
  }
  require_positive(where, "dots.width", dots.width);
  require_positive(where, "dots.height", dots.height);
  for (std::size_t i = 0; i < dots.position.size(); ++i) {
    if (!std::isfinite(dots.position[i])) {
      throw_argument(where, "dots", "finite positions", fmt::format("{} of dot {}", dots.position[i], i / 2));
    }
  }
}

/// The ink of a dot's cell: sums of w, w x, w y and w |x|^2 about the dot.
struct Moments {
  double ink = 0, x = 0, y = 0, squares = 0;
};

std::vector<Moments> moments_of(const Dots& dots, const Array<std::int32_t, 2>& owner, View<const float, 2> samples) {
  std::vector<Moments> moments(static_cast<std::size_t>(dots.count()));
  const auto [rows, columns] = owner.shape();
  const double step_x = dots.width / static_cast<double>(columns);
  const double step_y = dots.height / static_cast<double>(rows);
  // One thread: the order of the sums, and with it their bits, stays the same.
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < columns; ++col) {
      const auto weight = static_cast<double>(samples(row, col));
      if (weight == 0) continue;
      const auto j = static_cast<std::size_t>(owner(row, col));
      const double dx = (static_cast<double>(col) + 0.5) * step_x - static_cast<double>(dots.position[2 * j]);
      const double dy = (static_cast<double>(row) + 0.5) * step_y - static_cast<double>(dots.position[2 * j + 1]);
      Moments& m = moments[j];
      m.ink += weight;
      m.x += weight * dx;
      m.y += weight * dy;
      m.squares += weight * (dx * dx + dy * dy);
    }
  }
  return moments;
}

/// Moves every dot to its cell's centre, or to a random place if the cell has no ink. Returns the mean distance moved.
double move_to_centres(Dots& dots, const std::vector<Moments>& moments, View<const float, 2> ink, std::uint64_t seed) {
  double moved = 0;
  std::vector<std::size_t> lost;
  for (std::size_t j = 0; j < moments.size(); ++j) {
    const Moments& m = moments[j];
    if (m.ink == 0) {
      lost.push_back(j);
      continue;
    }
    moved += std::hypot(m.x, m.y) / m.ink;
    dots.position[2 * j] += static_cast<float>(m.x / m.ink);
    dots.position[2 * j + 1] += static_cast<float>(m.y / m.ink);
  }
  if (!lost.empty()) {
    const Dots places = importance_sampled_dots(ink, static_cast<std::int64_t>(lost.size()), seed);
    for (std::size_t k = 0; k < lost.size(); ++k) {
      for (std::size_t axis = 0; axis < 2; ++axis) {
        dots.position[2 * lost[k] + axis] = places.position[2 * k + axis];
      }
    }
    moved += static_cast<double>(lost.size()) * std::max(dots.width, dots.height);
  }
  return moved / static_cast<double>(moments.size());
}

Shape<2> sample_shape(const Shape<2>& pixels, std::int64_t dots, std::int64_t samples_per_dot) {
  const double count = static_cast<double>(pixels[0]) * static_cast<double>(pixels[1]);
  const double wanted = static_cast<double>(dots) * static_cast<double>(samples_per_dot);
  auto finer = static_cast<std::int64_t>(std::ceil(std::sqrt(std::max(1.0, wanted / count))));
  while (finer > 1 && count * static_cast<double>(finer * finer) > static_cast<double>(max_samples)) --finer;
  return {pixels[0] * finer, pixels[1] * finer};
}

void check(View<const float, 2> ink, const Dots& start, const LloydOptions& options) {
  constexpr std::string_view where = "lloyd_dots";
  require_ink(where, ink);
  require_dots(where, start);
  if (start.width != static_cast<double>(ink.shape()[1]) || start.height != static_cast<double>(ink.shape()[0])) {
    throw_argument(where, "start", fmt::format("a page of the ink's {} x {} pixels", ink.shape()[1], ink.shape()[0]),
                   fmt::format("{:g} x {:g}", start.width, start.height));
  }
  require_range(where, "iterations", static_cast<double>(options.iterations), 0, 1e9);
  require_range(where, "tolerance", options.tolerance, 0, 1e9);
  require_range(where, "samples_per_dot", static_cast<double>(options.samples_per_dot), 1, 4096);
}

}  // namespace

Array<std::int32_t, 2> nearest_dots(const Dots& dots, const Shape<2>& shape) {
  require_dots("nearest_dots", dots);
  if (shape[0] < 1 || shape[1] < 1) {
    throw_argument("nearest_dots", "shape", "at least 1 x 1 samples", fmt::format("{} x {}", shape[1], shape[0]));
  }
  std::vector<Candidate> all(static_cast<std::size_t>(dots.count()));
  for (std::size_t j = 0; j < all.size(); ++j) {
    all[j] = {static_cast<double>(dots.position[2 * j]), static_cast<double>(dots.position[2 * j + 1]),
              static_cast<std::int32_t>(j)};
  }
  Array<std::int32_t, 2> owner(shape);
  const double step_x = dots.width / static_cast<double>(shape[1]);
  const double step_y = dots.height / static_cast<double>(shape[0]);
  // Few large boxes first: each small box then searches the candidates of its large box, not all dots.
  const auto large = boxes_of({0, shape[0], 0, shape[1]});
  std::vector<std::vector<Box>> small(large.size());
  std::vector<std::vector<Candidate>> near(large.size());
  const auto shared = [&](std::int64_t count, const auto& body) {
    if (shape[0] * shape[1] >= samples_worth_sharing) {
      parallel_for(0, count, body);
    } else {
      for (std::int64_t i = 0; i < count; ++i) body(i);
    }
  };
  shared(static_cast<std::int64_t>(large.size()), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    near[at] = BoxSearch(owner.view(), step_x, step_y).candidates(large[at], all);
    small[at] = boxes_of(large[at]);
  });
  constexpr std::int64_t most = boxes_a_side * boxes_a_side;
  shared(static_cast<std::int64_t>(large.size()) * most, [&](std::int64_t task) {
    const auto& boxes = small[static_cast<std::size_t>(task / most)];
    const auto at = static_cast<std::size_t>(task % most);
    if (at >= boxes.size()) return;
    BoxSearch(owner.view(), step_x, step_y).run(boxes[at], near[static_cast<std::size_t>(task / most)]);
  });
  return owner;
}

LloydResult lloyd_dots(View<const float, 2> ink, const Dots& start, const LloydOptions& options, Progress& progress) {
  check(ink, start, options);
  const Shape<2> shape = sample_shape(ink.shape(), start.count(), options.samples_per_dot);
  const Array<float, 2> samples = resampled_ink(ink, shape);
  const double area = static_cast<double>(ink.size()) / static_cast<double>(shape[0] * shape[1]);
  const double spacing = std::sqrt(start.width * start.height / static_cast<double>(start.count()));
  LloydResult result;
  result.dots = start;
  for (std::int64_t i = 0; i < options.iterations && !result.converged; ++i) {
    progress.step("moving dots", i, options.iterations);
    const auto owner = nearest_dots(result.dots, shape);
    const auto moments = moments_of(result.dots, owner, samples.view());
    double energy = 0;
    for (const Moments& m : moments) energy += m.squares;
    result.energy.push_back(energy * area);
    const double moved = move_to_centres(result.dots, moments, ink, options.seed + static_cast<std::uint64_t>(i) + 1);
    result.converged = moved <= options.tolerance * spacing;
  }
  return result;
}

}  // namespace holotone
