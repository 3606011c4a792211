#include <algorithm>
#include <cmath>
#include <holotone/metrics/loops_detail.hpp>
#include <holotone/metrics/neighbours.hpp>
#include <limits>
#include <numbers>
#include <numeric>

namespace holotone {
namespace {

/// Dots of a region sorted into square cells, row by row.
class Cells {
 public:
  Cells(const std::vector<double>& inside, const Region& region, double side) {
    const auto count = inside.size() / 2;
    // No more cells than a few a dot: cells of an almost empty region only cost memory.
    most_ = std::max(4.0 * static_cast<double>(count), 64.0);
    side_ = std::max(side, std::sqrt(region.area() / most_));
    nx_ = cells_along(region.width);
    ny_ = cells_along(region.height);
    begin_.assign(static_cast<std::size_t>(nx_ * ny_) + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++begin_[cell_of(inside, i) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    auto next = begin_;
    position_.resize(inside.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = next[cell_of(inside, i)]++;
      position_[2 * at] = inside[2 * i];
      position_[2 * at + 1] = inside[2 * i + 1];
    }
  }

  [[nodiscard]] std::int64_t nx() const { return nx_; }
  [[nodiscard]] std::int64_t ny() const { return ny_; }
  [[nodiscard]] std::int64_t reach(double distance) const { return static_cast<std::int64_t>(distance / side_) + 1; }
  [[nodiscard]] const std::vector<double>& position() const { return position_; }
  /// Dots of cells x0..x1 of a row, which lie one after the other.
  [[nodiscard]] std::pair<std::size_t, std::size_t> run(std::int64_t row, std::int64_t x0, std::int64_t x1) const {
    return {begin_[static_cast<std::size_t>(row * nx_ + x0)], begin_[static_cast<std::size_t>(row * nx_ + x1) + 1]};
  }

 private:
  [[nodiscard]] std::int64_t cells_along(double length) const {
    return static_cast<std::int64_t>(std::clamp(std::ceil(length / side_), 1.0, most_));
  }
  [[nodiscard]] std::size_t cell_of(const std::vector<double>& inside, std::size_t i) const {
    const auto x = std::min(static_cast<std::int64_t>(inside[2 * i] / side_), nx_ - 1);
    const auto y = std::min(static_cast<std::int64_t>(inside[2 * i + 1] / side_), ny_ - 1);
    return static_cast<std::size_t>(y * nx_ + x);
  }
  double most_ = 1;
  double side_ = 1;
  std::int64_t nx_ = 1;
  std::int64_t ny_ = 1;
  std::vector<std::size_t> begin_;
  std::vector<double> position_;
};

/// body(first, last) for the runs of cells around (row, column).
template <class Body>
void around(const Cells& cells, std::int64_t row, std::int64_t column, std::int64_t reach, const Body& body) {
  const std::int64_t x0 = std::max<std::int64_t>(column - reach, 0);
  const std::int64_t x1 = std::min(column + reach, cells.nx() - 1);
  const std::int64_t last = std::min(row + reach, cells.ny() - 1);
  for (std::int64_t y = std::max<std::int64_t>(row - reach, 0); y <= last; ++y) {
    const auto [first, end] = cells.run(y, x0, x1);
    if (first < end) body(first, end);
  }
}

/// Pairs that would be measured if every dot were asked.
double candidate_pairs(const Cells& cells, std::int64_t reach) {
  double total = 0;
  const bool threads = cells.ny() * cells.nx() >= metrics::worth_threads;
#pragma omp parallel for schedule(dynamic) reduction(+ : total) if (threads)
  for (std::int64_t row = 0; row < cells.ny(); ++row) {
    for (std::int64_t column = 0; column < cells.nx(); ++column) {
      const auto [first, end] = cells.run(row, column, column);
      if (first == end) continue;
      std::size_t near = 0;
      around(cells, row, column, reach, [&](std::size_t a, std::size_t b) { near += b - a; });
      total += static_cast<double>(end - first) * static_cast<double>(near);
    }
  }
  return total;
}

/// Adds the pairs of every `every`-th dot of one row of cells to the bins.
void count_row(const Cells& cells, std::int64_t row, std::int64_t reach, std::int64_t every, double largest,
               std::vector<std::int64_t>& bins) {
  const auto& position = cells.position();
  const double square = largest * largest;
  const double scale = static_cast<double>(bins.size()) / largest;
  for (std::int64_t column = 0; column < cells.nx(); ++column) {
    const auto [first, end] = cells.run(row, column, column);
    for (std::size_t i = first; i < end; ++i) {
      if (static_cast<std::int64_t>(i) % every != 0) continue;
      const double x = position[2 * i];
      const double y = position[2 * i + 1];
      around(cells, row, column, reach, [&](std::size_t a, std::size_t b) {
        for (std::size_t j = a; j < b; ++j) {
          const double dx = position[2 * j] - x;
          const double dy = position[2 * j + 1] - y;
          const double distance = dx * dx + dy * dy;
          if (distance >= square || j == i) continue;
          ++bins[std::min(static_cast<std::size_t>(std::sqrt(distance) * scale), bins.size() - 1)];
        }
      });
    }
  }
}

/// Integral of 2 pi r c(r) from 0 to r.
double expected_area(double r, const Region& region) {
  const double w = region.width;
  const double h = region.height;
  return std::numbers::pi * r * r * w * h - 4.0 / 3 * r * r * r * (w + h) + r * r * r * r / 2;
}

double largest_distance(const PairCorrelationOptions& options, double density) {
  const double shorter = std::min(options.region.width, options.region.height);
  if (options.largest_distance == 0) return std::min(5 / std::sqrt(density), shorter);
  require_positive("pair_correlation", "largest_distance", options.largest_distance);
  require_range("pair_correlation", "largest_distance", options.largest_distance, 0, shorter);
  return options.largest_distance;
}

/// A balanced k-d tree without pointers: the median of a range splits it, down to leaves.
class NeighbourTree {
 public:
  explicit NeighbourTree(View<const float, 2> position)
      : position_(position.data()), order_(static_cast<std::size_t>(position.shape()[0])), axis_(order_.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
#pragma omp parallel if (position.shape()[0] >= metrics::worth_threads)
#pragma omp single
    build(0, order_.size());
    sorted_.resize(2 * order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      sorted_[2 * i] = position_[2 * order_[i]];
      sorted_[2 * i + 1] = position_[2 * order_[i] + 1];
    }
  }

  /// Squared distance from the dot at place `at` of the tree's order to its nearest other.
  [[nodiscard]] double nearest(std::size_t at) const {
    double best = std::numeric_limits<double>::infinity();
    search(0, order_.size(), at, best);
    return best;
  }
  [[nodiscard]] std::uint32_t dot(std::size_t at) const { return order_[at]; }

 private:
  static constexpr std::size_t leaf = 12;
  static constexpr std::size_t task = 16384;

  struct Box {
    float low[2] = {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
    float high[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  };

  /// The axis of a range is the one it is longer along, and kept with its median's place.
  void build(std::size_t begin, std::size_t end) {
    if (end - begin <= leaf) return;
    Box box;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t a = 0; a < 2; ++a) {
        const float value = position_[2 * order_[i] + a];
        box.low[a] = std::min(box.low[a], value);
        box.high[a] = std::max(box.high[a], value);
      }
    }
    const std::size_t axis = box.high[1] - box.low[1] > box.high[0] - box.low[0] ? 1 : 0;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto place = order_.begin();
    std::nth_element(place + static_cast<std::ptrdiff_t>(begin), place + static_cast<std::ptrdiff_t>(middle),
                     place + static_cast<std::ptrdiff_t>(end), [&](std::uint32_t a, std::uint32_t b) {
                       return position_[2 * a + axis] < position_[2 * b + axis];
                     });
    axis_[middle] = static_cast<std::uint8_t>(axis);
#pragma omp task if (end - begin > task)
    build(begin, middle);
#pragma omp task if (end - begin > task)
    build(middle + 1, end);
#pragma omp taskwait
  }

  void search(std::size_t begin, std::size_t end, std::size_t at, double& best) const {
    while (end - begin > leaf) {
      const std::size_t middle = begin + (end - begin) / 2;
      compare(middle, at, best);
      const std::size_t axis = axis_[middle];
      const double away = static_cast<double>(sorted_[2 * at + axis]) - static_cast<double>(sorted_[2 * middle + axis]);
      const bool left = away < 0;
      search(left ? begin : middle + 1, left ? middle : end, at, best);
      if (away * away >= best) return;
      (left ? begin : end) = left ? middle + 1 : middle;
    }
    for (std::size_t i = begin; i < end; ++i) compare(i, at, best);
  }

  void compare(std::size_t i, std::size_t at, double& best) const {
    if (i == at) return;
    const double dx = static_cast<double>(sorted_[2 * i]) - static_cast<double>(sorted_[2 * at]);
    const double dy = static_cast<double>(sorted_[2 * i + 1]) - static_cast<double>(sorted_[2 * at + 1]);
    best = std::min(best, dx * dx + dy * dy);
  }

  const float* position_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> axis_;
  std::vector<float> sorted_;
};

constexpr std::int64_t rows_between_reports = 64;

}  // namespace

PairCorrelation pair_correlation(View<const float, 2> position, const PairCorrelationOptions& options,
                                 Progress& progress) {
  constexpr std::string_view where = "pair_correlation";
  require_region(where, options.region);
  require_positions(where, position);
  require_range(where, "bins", static_cast<double>(options.bins), 1, 1 << 20);
  require_range(where, "most_pairs", static_cast<double>(options.most_pairs), 1, 1e18);
  const auto inside = positions_in(position, options.region);
  const auto count = static_cast<std::int64_t>(inside.size() / 2);
  if (count < 2) throw_argument(where, "position", "at least two dots in the region", std::to_string(count));

  PairCorrelation result;
  result.points = count;
  result.density = static_cast<double>(count) / options.region.area();
  const double largest = largest_distance(options, result.density);
  const Cells cells(inside, options.region, largest / 3);
  const std::int64_t reach = cells.reach(largest);
  const double candidates = candidate_pairs(cells, reach);
  result.every = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(candidates / static_cast<double>(options.most_pairs))), 1);
  result.every = std::min(result.every, count);

  result.pairs.assign(static_cast<std::size_t>(options.bins), 0);
  std::vector<std::vector<std::int64_t>> bins(static_cast<std::size_t>(thread_count()), result.pairs);
  for (std::int64_t row = 0; row < cells.ny(); row += rows_between_reports) {
    progress.step("counting pairs", row, cells.ny());
    const std::int64_t end = std::min(row + rows_between_reports, cells.ny());
#pragma omp parallel for schedule(dynamic) if (candidates > 64.0 * metrics::worth_threads)
    for (std::int64_t y = row; y < end; ++y) {
      count_row(cells, y, reach, result.every, largest, bins[static_cast<std::size_t>(omp_get_thread_num())]);
    }
  }
  for (const auto& part : bins) {
    for (std::size_t i = 0; i < part.size(); ++i) result.pairs[i] += part[i];
  }

  result.step = largest / static_cast<double>(options.bins);
  const double asked = std::ceil(static_cast<double>(count) / static_cast<double>(result.every));
  const double scale = options.region.area() * options.region.area() / (asked * static_cast<double>(count - 1));
  for (std::int64_t i = 0; i < options.bins; ++i) {
    const double a = static_cast<double>(i) * result.step;
    const double expected = expected_area(a + result.step, options.region) - expected_area(a, options.region);
    result.distance.push_back(a + result.step / 2);
    result.value.push_back(static_cast<double>(result.pairs[static_cast<std::size_t>(i)]) * scale / expected);
  }
  return result;
}

std::vector<float> nearest_distances(View<const float, 2> position, Progress& progress) {
  require_positions("nearest_distances", position);
  const std::int64_t count = position.shape()[0];
  if (count > static_cast<std::int64_t>(UINT32_MAX)) {
    throw_argument("nearest_distances", "position", "at most 2^32 - 1 dots", std::to_string(count));
  }
  progress.step("sorting dots", 0, count);
  const NeighbourTree tree(position);
  std::vector<float> distances(static_cast<std::size_t>(count));
  constexpr std::int64_t block = 1 << 17;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    progress.step("finding neighbours", begin, count);
    const std::int64_t end = std::min(begin + block, count);
#pragma omp parallel for schedule(dynamic, 256) if (count >= metrics::worth_threads / 4)
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      distances[tree.dot(at)] = static_cast<float>(std::sqrt(tree.nearest(at)));
    }
  }
  return distances;
}

NearestSummary summarise_nearest(View<const float, 2> position, const std::vector<float>& distances,
                                 const Region& region) {
  require_region("summarise_nearest", region);
  if (position.shape() != Shape<2>{static_cast<std::int64_t>(distances.size()), 2}) {
    throw_argument("summarise_nearest", "distances", "one for each dot", std::to_string(distances.size()));
  }
  NearestSummary summary;
  summary.smallest = std::numeric_limits<double>::infinity();
  double sum = 0;
  std::int64_t inside = 0;
  const auto values = position.host();
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (!region.holds(static_cast<double>(values[2 * i]), static_cast<double>(values[2 * i + 1]))) continue;
    ++inside;
    if (!std::isfinite(distances[i])) continue;
    ++summary.points;
    summary.coincident += distances[i] == 0;
    summary.smallest = std::min(summary.smallest, static_cast<double>(distances[i]));
    sum += static_cast<double>(distances[i]);
  }
  if (summary.points == 0) {
    summary.smallest = std::numeric_limits<double>::quiet_NaN();
    summary.mean = summary.smallest_relative = summary.mean_relative = summary.smallest;
    return summary;
  }
  summary.mean = sum / static_cast<double>(summary.points);
  const double hexagonal = hexagonal_distance(static_cast<double>(inside) / region.area());
  summary.smallest_relative = summary.smallest / hexagonal;
  summary.mean_relative = summary.mean / hexagonal;
  return summary;
}

}  // namespace holotone
